//! The names in a question: stages, operators, inputs, columns, files, findings, suggestions, script lines, by the job's own
//! names. A name that the run lacks is reported with its nearest neighbors.

use std::ops::Range;

use job::script::hints;
use report::{Text, text};

use crate::Asked;

/// Neighbors shown for a name that the run does not have.
const NEAR: usize = 3;

/// Least similarity of a neighboring name: one or two letters of ten differ.
const SIMILAR: f64 = 0.55;

/// Least similarity at which the nearest name is taken to be meant, and the margin within which other names are as near.
const CERTAIN: f64 = 0.85;
const AS_NEAR: f64 = 0.15;

/// Names listed if there is no near name.
const LISTED: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Subject {
    Job,
    /// By its index in the summary.
    Stage(usize),
    /// By the indices of its stage and its own.
    Operator(usize, usize),
    Input(usize),
    Column(String),
    File(String),
    /// A setting of Spark by its key.
    Setting(String),
    Finding(String),
    Suggestion(String),
    Evidence(String),
    Lines(u32, u32),
}

/// The kind that a word next to a name gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Stage,
    Operator,
    Input,
    Column,
    File,
    /// Any kind of name that the run should know.
    Any,
}

/// A name that the run does not have.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unknown {
    name: String,
    kind: Kind,
    /// The nearest names, nearest first.
    near: Vec<Near>,
    /// Names of its kind where none is near.
    others: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
struct Near {
    alike: f64,
    name: String,
    subject: Subject,
}

const KINDS: &[(Kind, &[&str], &[&str])] = &[
    (Kind::Stage, &["阶段"], &["stage", "stages"]),
    (Kind::Operator, &["算子"], &["operator"]),
    (Kind::Input, &["表", "输入"], &["table", "input", "dataset"]),
    (
        Kind::Column,
        &["列", "字段", "键"],
        &["column", "field", "key"],
    ),
    (Kind::File, &["文件"], &["file"]),
];

/// The names in a question, and its text without the names.
#[derive(Debug, Default)]
pub(crate) struct Named {
    pub(crate) subjects: Vec<Subject>,
    pub(crate) unknown: Vec<Unknown>,
    pub(crate) rest: String,
}

impl Named {
    pub(crate) fn of(question: &str, known: &Known<'_>) -> Named {
        let mut named = Named::default();
        let mut rest_from = 0;
        for span in known.spans(question) {
            if span.start < rest_from {
                continue;
            }
            let place = Place {
                question,
                span: span.clone(),
            };
            let mut found = known.find(&place);
            if found.is_empty() {
                if !known.is_missed(&place) {
                    continue;
                }
                let unknown = known.unknown(&place);
                // Such a name is most likely misspelled: the answer is about the nearest name.
                let meant = unknown.near.first().filter(|near| near.alike >= CERTAIN);
                found.extend(meant.map(|near| near.subject.clone()));
                named.unknown.push(unknown);
            }
            for subject in found {
                if !named.subjects.contains(&subject) {
                    named.subjects.push(subject);
                }
            }
            named.rest.push_str(&question[rest_from..span.start]);
            named.rest.push(' ');
            rest_from = span.end;
        }
        named.rest.push_str(&question[rest_from..]);
        named.lines(known.run);
        named
    }

    /// Finds script lines: `line 35`, `lines 35-40`, `第 35 行`, `第 35–40 行`, but not counts of rows.
    fn lines(&mut self, run: &Asked<'_>) {
        let last = run
            .summary
            .script
            .as_ref()
            .map_or(0, |s| s.text.lines().count());
        let lower = self.rest.to_lowercase();
        let after = ["lines ", "line ", "第"]
            .iter()
            .find_map(|word| lower.split_once(word));
        let Some((_, after)) = after else { return };
        let mut numbers = after
            .trim_start()
            .split(|c: char| !c.is_ascii_digit())
            .map(str::parse::<u32>);
        let Some(Ok(first)) = numbers.next() else {
            return;
        };
        let is_range = after
            .trim_start()
            .trim_start_matches(|c: char| c.is_ascii_digit());
        let is_range = is_range
            .trim_start()
            .starts_with(['-', '–', '—', '到', '~', '至']);
        let to = match numbers.find_map(Result::ok) {
            Some(to) if is_range && to >= first => to,
            _ => first,
        };
        if (1..=last).contains(&(first as usize)) {
            self.subjects.push(Subject::Lines(first, to));
        }
    }
}

/// A word of a question with its surroundings.
struct Place<'q> {
    question: &'q str,
    span: Range<usize>,
}

impl Place<'_> {
    fn name(&self) -> &str {
        &self.question[self.span.clone()]
    }

    fn is_quoted(&self) -> bool {
        let before = self.question[..self.span.start].chars().next_back();
        matches!(before, Some('`' | '"' | '“' | '「' | '\''))
    }

    fn is_chinese(&self) -> bool {
        report::Language::of(self.question) == report::Language::Zh
    }

    fn begins_sentence(&self) -> bool {
        let before = self.question[..self.span.start].trim_end();
        before.is_empty() || before.ends_with(['.', '?', '!', '。', '？', '！', '，', ','])
    }

    /// The kind named by the word before or after.
    fn kind(&self) -> Option<Kind> {
        let trimmed: &[char] = &[
            ' ', '`', '"', '“', '”', '\'', '「', '」', '：', ':', '这', '个', '该', '的', '是',
        ];
        let before = self.question[..self.span.start]
            .trim_end_matches(trimmed)
            .to_lowercase();
        let after = self.question[self.span.end..]
            .trim_start_matches(trimmed)
            .to_lowercase();
        let is_end = |word: &str| {
            before
                .strip_suffix(word)
                .is_some_and(|head| !head.ends_with(|c: char| c.is_ascii_alphanumeric()))
        };
        let is_start = |word: &str| {
            after
                .strip_prefix(word)
                .is_some_and(|tail| !tail.starts_with(|c: char| c.is_ascii_alphanumeric()))
        };
        let mut kinds = KINDS.iter();
        let found = kinds.find(|(_, zh, en)| {
            let says = |zh_fits: &dyn Fn(&str) -> bool, en_fits: &dyn Fn(&str) -> bool| {
                zh.iter().any(|w| zh_fits(w)) || en.iter().any(|w| en_fits(w))
            };
            says(&|w| before.ends_with(w), &is_end) || says(&|w| after.starts_with(w), &is_start)
        });
        found.map(|(kind, ..)| *kind)
    }
}

/// The names of a run.
pub(crate) struct Known<'a> {
    run: &'a Asked<'a>,
    names: Vec<(String, Kind, Subject)>,
}

impl<'a> Known<'a> {
    pub(crate) fn of(run: &'a Asked<'a>) -> Known<'a> {
        let (report, summary) = (run.report, run.summary);
        let mut names: Vec<(String, Kind, Subject)> = Vec::new();
        let job = &report.job;
        names.extend(
            job.name
                .iter()
                .chain(&job.id)
                .map(|n| (n.clone(), Kind::Any, Subject::Job)),
        );
        for (at, stage) in summary.stages.iter().enumerate() {
            names.push((stage.name.clone(), Kind::Stage, Subject::Stage(at)));
            for (operator, o) in stage.operators.iter().enumerate() {
                names.push((
                    o.id.clone(),
                    Kind::Operator,
                    Subject::Operator(at, operator),
                ));
            }
        }
        for (at, input) in summary.inputs.iter().enumerate() {
            names.push((input.name.clone(), Kind::Input, Subject::Input(at)));
            names.extend(
                short(&input.name).map(|n| (n.to_owned(), Kind::Input, Subject::Input(at))),
            );
        }
        let files = report.files_read.iter().map(|f| &f.file);
        let files = files.chain(report.missing_information.iter().map(|m| &m.file));
        names.extend(files.map(|f| (f.clone(), Kind::File, Subject::File(f.clone()))));
        let ids = report.findings.iter().chain(&report.notes);
        names.extend(ids.map(|f| (f.id.clone(), Kind::Any, Subject::Finding(f.id.clone()))));
        let ids = report.suggestions.iter().map(|s| &s.id);
        names.extend(ids.map(|id| (id.clone(), Kind::Any, Subject::Suggestion(id.clone()))));
        for e in &report.evidence {
            names.push((e.id.clone(), Kind::Any, Subject::Evidence(e.id.clone())));
            names.push((e.metric.clone(), Kind::Any, Subject::Evidence(e.id.clone())));
        }
        let keys = summary
            .stages
            .iter()
            .flat_map(|s| &s.operators)
            .flat_map(|o| &o.keys);
        let columns = keys.chain(summary.edges.iter().flat_map(|e| &e.keys));
        let columns = columns.chain(
            summary
                .inputs
                .iter()
                .flat_map(|i| &i.columns)
                .map(|c| &c.name),
        );
        names.extend(columns.map(|c| (c.clone(), Kind::Column, Subject::Column(c.clone()))));
        for statement in run.statements() {
            let (first, last) = statement.lines;
            let target = statement
                .target
                .iter()
                .map(|t| t.trim_start_matches('@').to_owned());
            names.extend(target.map(|t| (t, Kind::Any, Subject::Lines(first, last))));
        }
        let others = summary.private_names.iter();
        names.extend(others.map(|n| (n.clone(), Kind::Column, Subject::Column(n.clone()))));
        names.retain(|(name, ..)| name.chars().count() > 1);
        Known { run, names }
    }

    /// Where names may be: known names with blanks in them, then words.
    fn spans(&self, question: &str) -> Vec<Range<usize>> {
        let lower = question.to_ascii_lowercase();
        let long = self.names.iter().filter(|(name, ..)| name.contains(' '));
        let mut spans: Vec<Range<usize>> = long
            .flat_map(|(name, ..)| {
                let name = name.to_ascii_lowercase();
                let ends = |end: usize| !lower[end..].starts_with(|c: char| c.is_ascii_digit());
                let found = lower
                    .match_indices(name.as_str())
                    .map(|(at, n)| at..at + n.len());
                found.filter(|span| ends(span.end)).collect::<Vec<_>>()
            })
            .collect();
        spans.extend(stage_numbers(&lower));
        let is_part =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '/' | '#' | '-');
        let mut start = None;
        for (at, c) in question.char_indices().chain([(question.len(), ' ')]) {
            match (is_part(c), start) {
                (true, None) => start = Some(at),
                (false, Some(from)) => {
                    let word = &question[from..at];
                    let kept = word.trim_end_matches(['.', '-', '/', '#']).len();
                    spans.push(from..from + kept);
                    start = None;
                }
                _ => {}
            }
        }
        spans.retain(|span| !span.is_empty());
        spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
        spans
    }

    /// The subject that a place names.
    fn find(&self, place: &Place<'_>) -> Vec<Subject> {
        let name = place.name();
        if is_setting(name) {
            let mut known = self.run.summary.settings.keys();
            let known = known.find(|key| key.eq_ignore_ascii_case(name));
            return vec![Subject::Setting(
                known.map_or(name, String::as_str).to_owned(),
            )];
        }
        let kind = place.kind();
        // A word in the very letters of a name is that name, unless every sentence begins like it.
        let is_written = is_capital(name) && (place.is_chinese() || !place.begins_sentence());
        let fits = |(known, what, subject): &&(String, Kind, Subject)| {
            // a hint such as ROWCOUNT is no counter
            let is_metric = matches!(subject, Subject::Evidence(id) if id != known);
            known.eq_ignore_ascii_case(name)
                && (!is_metric || known == name)
                && (is_name(known)
                    || place.is_quoted()
                    || kind == Some(*what)
                    || is_written && known == name
                    || *what == Kind::Input && known.len() > 3)
        };
        let mut found: Vec<&(String, Kind, Subject)> = self.names.iter().filter(fits).collect();
        if found.iter().any(|(_, what, _)| Some(*what) == kind) {
            found.retain(|(_, what, _)| Some(*what) == kind);
        }
        if let Some((.., subject)) = found.first() {
            return vec![subject.clone()];
        }
        self.numbered(name)
            .map(Subject::Stage)
            .into_iter()
            .collect()
    }

    /// `SV3` or `stage 3`: the stage of that number.
    fn numbered(&self, name: &str) -> Option<usize> {
        let lower = name.to_ascii_lowercase();
        let digits = lower.trim_start_matches(|c: char| !c.is_ascii_digit());
        let word = lower[..lower.len() - digits.len()].trim_end();
        let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        let is_stage = matches!(word, "sv" | "stage" | "s" | "阶段");
        let stages = &self.run.summary.stages;
        (is_number && is_stage).then(|| {
            stages.iter().position(|s| {
                let s = s.name.to_ascii_lowercase();
                s.strip_prefix("sv")
                    .and_then(|s| s.strip_prefix(digits))
                    .is_some_and(|s| s.starts_with('_') || s.is_empty())
                    || s == format!("stage {digits}")
            })
        })?
    }

    /// Whether a word must be a name that the run lacks.
    fn is_missed(&self, place: &Place<'_>) -> bool {
        let name = place.name();
        let is_hint = || hints::find(&name.to_uppercase()).is_some();
        let is_number = name.bytes().all(|b| !b.is_ascii_alphabetic());
        let claims = place.kind().is_some();
        let is_job = !claims && self.run.report.job.name.is_none();
        let looks = is_name(name)
            || place.is_quoted() && claims
            || claims && is_capital(name) && !place.begins_sentence()
            || is_stage_number(name);
        looks && !is_number && !is_hint() && !is_job && report::Cause::from_code(name).is_none()
    }

    /// The nearest names of the run for a name that it lacks.
    fn unknown(&self, place: &Place<'_>) -> Unknown {
        let name = place.name();
        let kind = match is_stage_number(name) {
            true => Kind::Stage,
            false => place.kind().unwrap_or(Kind::Any),
        };
        let lower = name.to_lowercase();
        let is_kind = |k: Kind| kind == Kind::Any || kind == k;
        let mut near: Vec<Near> = Vec::new();
        for (known, k, subject) in &self.names {
            let alike = strsim::normalized_damerau_levenshtein(&lower, &known.to_lowercase());
            let is_new = near.iter().all(|n| n.name != *known);
            if is_kind(*k) && alike >= SIMILAR && is_new {
                near.push(Near {
                    alike,
                    name: known.clone(),
                    subject: subject.clone(),
                });
            }
        }
        near.sort_by(|a, b| b.alike.total_cmp(&a.alike));
        let best = near.first().map_or(0.0, |n| n.alike);
        near.retain(|n| n.alike >= best - AS_NEAR);
        near.truncate(NEAR);
        let mut others: Vec<String> = Vec::new();
        for (known, k, _) in &self.names {
            if kind == *k && others.len() < LISTED && !others.contains(known) {
                others.push(known.clone());
            }
        }
        Unknown {
            name: name.to_owned(),
            kind,
            near,
            others,
        }
    }
}

impl Unknown {
    /// That the run has no such thing, and the names nearest to it.
    pub(crate) fn sentence(&self) -> Text {
        let name = &self.name;
        let missing = match self.kind {
            Kind::Stage => text!(
                "这次运行中没有阶段 `{name}`",
                "this run has no stage `{name}`"
            ),
            Kind::Operator => text!(
                "这次运行中没有算子 `{name}`",
                "this run has no operator `{name}`"
            ),
            Kind::Input => text!(
                "这次运行的输入中没有 `{name}`",
                "this run has no input `{name}`"
            ),
            Kind::Column => text!(
                "这次运行的键中没有列 `{name}`",
                "no key of this run is called `{name}`"
            ),
            Kind::File => text!(
                "这次运行没有读取文件 `{name}`",
                "no file `{name}` was read for this run"
            ),
            Kind::Any => text!("这次运行中没有 `{name}`", "this run has no `{name}`"),
        };
        let quoted = |names: &mut dyn Iterator<Item = &String>| {
            let names: Vec<String> = names.map(|n| format!("`{n}`")).collect();
            Text {
                zh: names.join("、"),
                en: names.join(", "),
            }
        };
        let hint = match (self.near.is_empty(), self.others.is_empty()) {
            (false, _) => text!(
                "；相近的有：{near}",
                "; the nearest: {near}",
                near = quoted(&mut self.near.iter().map(|n| &n.name))
            ),
            (true, false) => text!(
                "；有：{others}",
                "; there are {others}",
                others = quoted(&mut self.others.iter())
            ),
            (true, true) => Text::default(),
        };
        text!(
            "{missing}{hint}",
            "{missing}{hint}",
            missing = missing,
            hint = hint
        )
    }
}

/// A path without its folders, and without its ending.
fn short(path: &str) -> impl Iterator<Item = &str> {
    let file = path.rsplit('/').next().filter(|f| *f != path);
    let base = path
        .rsplit('/')
        .next()
        .and_then(|f| f.rsplit_once('.'))
        .map(|(base, _)| base);
    file.into_iter().chain(base)
}

/// `stage 3` and `阶段 3`, whether or not there is such a stage.
fn stage_numbers(lower: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for word in ["stage", "阶段"] {
        for (at, _) in lower.match_indices(word) {
            let rest = &lower[at + word.len()..];
            let blanks = rest.len() - rest.trim_start_matches(' ').len();
            let digits = rest[blanks..]
                .bytes()
                .take_while(u8::is_ascii_digit)
                .count();
            if digits > 0 {
                found.push(at..at + word.len() + blanks + digits);
            }
        }
    }
    found
}

fn is_stage_number(name: &str) -> bool {
    let lower = name.to_lowercase();
    let rest = lower
        .strip_prefix("stage")
        .or_else(|| lower.strip_prefix("阶段"));
    rest.is_some_and(|r| !r.trim().is_empty() && r.trim().bytes().all(|b| b.is_ascii_digit()))
}

/// `spark.sql.shuffle.partitions`.
fn is_setting(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    lower
        .strip_prefix("spark.")
        .is_some_and(|rest| !rest.is_empty())
}

fn is_capital(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|c| c.is_ascii_uppercase())
        && letters.any(|c| c.is_ascii_lowercase())
}

/// Whether a word can only be a name: `Join_5`, `ClickLog`, `tables.json`, `SV3`.
fn is_name(word: &str) -> bool {
    let has = |test: fn(&u8) -> bool| word.bytes().any(|b| test(&b));
    let letters = has(u8::is_ascii_alphabetic);
    let pairs = word.as_bytes().windows(2);
    let has_hump = pairs
        .clone()
        .any(|p| p[0].is_ascii_lowercase() && p[1].is_ascii_uppercase());
    let is_file = word.rsplit_once('.').is_some_and(|(base, end)| {
        !base.is_empty()
            && (2..=6).contains(&end.len())
            && end.bytes().all(|b| b.is_ascii_alphabetic())
    });
    let is_id = word.len() <= 5
        && matches!(word.as_bytes(), [b'E' | b'F' | b'S' | b'N', rest @ ..] if !rest.is_empty() && rest.iter().all(u8::is_ascii_digit));
    let is_numbered = word.len() > 2
        && word[..2].eq_ignore_ascii_case("sv")
        && word.as_bytes()[2].is_ascii_digit();
    letters
        && (word.contains('_') || word.contains(' ') || has_hump || is_file || is_id || is_numbered)
}
