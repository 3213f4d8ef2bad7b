//! The names in a question: stages, operators, inputs, columns, files, findings, suggestions, script lines, by the job's own
//! names. A name that the run lacks is reported with its nearest neighbors.

use std::ops::Range;

use job::script::hints;

use crate::spelling::{
    Place, STAGE, is_capital, is_constant, is_name, is_setting, is_stage_number, short,
    stage_numbers,
};
use crate::subject::{Kind, Near, Subject, Unknown};
use crate::{Asked, record};
use runs::RunSummary;

/// Neighbors shown for a name that the run does not have.
const NEAR: usize = 3;

/// Least similarity of a neighboring name: one or two letters of ten differ.
const SIMILAR: f64 = 0.55;

/// Least similarity at which the nearest name is taken to be meant, and the margin within which other names are as near.
const CERTAIN: f64 = 0.85;
const AS_NEAR: f64 = 0.15;

/// Characters of a value that is hardly in a question by chance.
const LITERAL: usize = 6;

/// Names listed if there is no near name.
const LISTED: usize = 8;

/// The names in a question, and its text without the names.
#[derive(Debug, Default)]
pub(crate) struct Named {
    pub(crate) subjects: Vec<Subject>,
    pub(crate) unknown: Vec<Unknown>,
    /// The names as written.
    pub(crate) names: Vec<String>,
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
            // "/data/out/days" is the output `days`
            if let (true, Some((folder, _))) = (found.is_empty(), place.name().rsplit_once('/')) {
                let span = span.start + folder.len() + 1..span.end;
                let of_file = known.find(&Place { question, span }).into_iter();
                found.extend(
                    of_file.filter(|s| matches!(s, Subject::Operator(..) | Subject::Input(_))),
                );
            }
            // `dbo.Visits` is the input `Visits`
            if let (true, Some((owner, _))) = (found.is_empty(), place.name().rsplit_once('.')) {
                let span = span.start + owner.len() + 1..span.end;
                let of_table = known.find(&Place { question, span }).into_iter();
                found.extend(of_table.filter(|s| matches!(s, Subject::Input(_))));
            }
            if found.is_empty() {
                // a word of the script such as ROW_NUMBER, or of a query's description
                let is_of_script = is_constant(place.name()) && known.is_in_script(place.name());
                if is_of_script || known.is_described(place.name()) {
                    named.names.push(place.name().to_owned());
                    named.rest.push_str(&question[rest_from..span.start]);
                    named.rest.push(' ');
                    rest_from = span.end;
                    continue;
                }
                if !known.is_missed(&place) {
                    continue;
                }
                let unknown = known.unknown(&place);
                // Such a name is most likely misspelled: the answer is about the nearest name.
                let is_same_number = |near: &&Near| digits(&near.name).eq(digits(&unknown.name));
                let meant = unknown.near.first().filter(|near| near.alike >= CERTAIN);
                let meant = meant.filter(is_same_number);
                found.extend(meant.map(|near| near.subject.clone()));
                named.unknown.push(unknown);
            }
            if !found.is_empty() {
                named.names.push(place.name().to_owned());
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
        named.attempt(known.run);
        named.last(known.run);
        named.lines(known.run);
        named
    }
}

/// The digits of a name: `Stage 2` and `Stage 3` are no misspellings of each other.
fn digits(name: &str) -> impl Iterator<Item = char> + '_ {
    name.chars().filter(char::is_ascii_digit)
}

/// Names that only findings have: errors, methods, calls of the driver.
fn of_findings<'a>(run: &'a Asked<'a>) -> impl Iterator<Item = (String, Kind, Subject)> + 'a {
    run.report.findings.iter().flat_map(|f| {
        let evidence = run.report.evidence_of(&f.evidence).map(|e| e.text.as_str());
        let texts = evidence.chain([f.summary.as_str()]);
        let is_outside = |c: char| !c.is_ascii_alphanumeric() && c != '_';
        let words = texts.flat_map(move |text| text.split(is_outside));
        let named = words.filter(|word| is_name(word) && word.len() > 5);
        named.map(|word| (word.to_owned(), Kind::Any, Subject::Finding(f.id.clone())))
    })
}

/// The names of operators without their numbers, and their names in the run-time statistics.
fn shared_names(summary: &RunSummary) -> Vec<(String, Subject)> {
    let mut shared: Vec<(String, Subject)> = Vec::new();
    for (at, stage) in summary.stages.iter().enumerate() {
        for (operator, o) in stage.operators.iter().enumerate() {
            let base = o.id.rsplit_once('_').map(|(base, _)| base.to_owned());
            let of_statistics = record::in_statistics(o);
            for name in base.into_iter().chain(of_statistics) {
                let named = (name, Subject::Operator(at, operator));
                if !shared.contains(&named) {
                    shared.push(named);
                }
            }
        }
    }
    shared
}

/// A column as written, and with blanks: "user id" is `UserId`.
fn spellings(column: &String) -> impl Iterator<Item = (String, Kind, Subject)> {
    let spaced = crate::terms::spaced(column).replace('_', " ");
    let names = std::iter::once(column.clone()).chain((spaced != *column).then_some(spaced));
    let subject = Subject::Column(column.clone());
    names.map(move |name| (name, Kind::Column, subject.clone()))
}

/// The names of a run.
pub(crate) struct Known<'a> {
    pub(crate) run: &'a Asked<'a>,
    names: Vec<(String, Kind, Subject)>,
    /// Names that several operators share: `MapInPandas` of `MapInPandas_11`, and `MergeJoin` of the run-time statistics.
    shared: Vec<(String, Subject)>,
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
                let named = [&o.id].into_iter().chain(&o.names);
                let subject = || Subject::Operator(at, operator);
                names.extend(named.map(|n| (n.clone(), Kind::Operator, subject())));
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
            // "slowest vertex" is a metric, but ordinary words in a question
            if !e.metric.contains(' ') {
                names.push((e.metric.clone(), Kind::Any, Subject::Evidence(e.id.clone())));
            }
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
        names.extend(columns.flat_map(spellings));
        let columns = summary.inputs.iter().flat_map(|i| &i.columns);
        let values = columns.filter_map(|c| Some((&c.name, &c.top.as_ref()?.0)));
        let is_plain = |value: &str| value.chars().all(char::is_alphabetic);
        let values = values.filter(|(_, v)| v.len() >= LITERAL || v.len() > 2 && !is_plain(v));
        names.extend(values.map(|(c, v)| (v.clone(), Kind::Value, Subject::Column(c.clone()))));
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
        let shared = shared_names(summary);
        let is_other = |(name, ..): &(String, Kind, Subject)| {
            names.iter().all(|(known, ..)| known != name)
                && shared.iter().all(|(known, _)| known != name)
        };
        let of_findings: Vec<_> = of_findings(run).filter(is_other).collect();
        names.extend(of_findings);
        names.retain(|(name, ..)| name.chars().count() > 1);
        Known { run, names, shared }
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
        // "autoBroadcastJoinThreshold" is a setting as well
        let mut keys = self.run.summary.settings.keys();
        let last = |key: &&String| {
            key.rsplit('.')
                .next()
                .is_some_and(|end| end.eq_ignore_ascii_case(name))
        };
        if let Some(key) = keys.find(|key| is_name(name) && last(key)) {
            return vec![Subject::Setting(key.clone())];
        }
        let kind = place.kind();
        // A word in the very letters of a name is that name, unless every sentence begins like it.
        let is_written = is_capital(name) && (place.is_chinese() || !place.begins_sentence());
        let fits = |(known, what, subject): &&(String, Kind, Subject)| {
            // a hint such as ROWCOUNT is no counter
            let is_metric = matches!(subject, Subject::Evidence(id) if id != known);
            known.eq_ignore_ascii_case(name)
                && (!is_metric || known == name && is_name(known))
                && (is_name(known)
                    || *what == Kind::Value && !known.chars().all(char::is_alphabetic)
                    || place.is_quoted()
                    || kind == Some(*what)
                    || is_written && known == name
                    || *what == Kind::Input && known.len() > 3
                    || *what == Kind::Operator && place.is_chinese() && known == name)
        };
        let mut found: Vec<&(String, Kind, Subject)> = self.names.iter().filter(fits).collect();
        if found.iter().any(|(_, what, _)| Some(*what) == kind) {
            found.retain(|(_, what, _)| Some(*what) == kind);
        }
        // an output often has the name of its job
        if kind.is_none() && found.iter().any(|(.., subject)| *subject == Subject::Job) {
            found.retain(|(.., subject)| *subject == Subject::Job);
        }
        let attempts: Vec<Subject> = self.numbered(name).map(Subject::Stage).collect();
        let is_operator = is_name(name) || kind == Some(Kind::Operator);
        if found.is_empty() && attempts.is_empty() && is_operator {
            let shared = self.shared.iter();
            let shared = shared.filter(|(known, _)| known.eq_ignore_ascii_case(name));
            return shared.map(|(_, subject)| subject.clone()).collect();
        }
        match found.first() {
            // a stage that ran again has several attempts of that name
            Some((.., Subject::Stage(_))) | None => {}
            Some((.., subject)) => return vec![subject.clone()],
        }
        if let (true, Some((.., subject))) = (attempts.is_empty(), found.first()) {
            return vec![subject.clone()];
        }
        attempts
    }

    /// `SV3` or `stage 3`: the stage of that number, with all its attempts.
    fn numbered(&self, name: &str) -> impl Iterator<Item = usize> {
        let lower = name.to_ascii_lowercase();
        let lower = lower.trim_start_matches('第').trim_end_matches(STAGE);
        let lower = match lower.starts_with(|c: char| c.is_ascii_digit() || c == ' ')
            && name.starts_with('第')
        {
            true => format!("stage {}", lower.trim()),
            false => lower.to_owned(),
        };
        let digits = lower.trim_start_matches(|c: char| !c.is_ascii_digit());
        let word = lower[..lower.len() - digits.len()].trim_end();
        let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        let is_stage = matches!(word, "sv" | "stage" | "s" | "阶段");
        let stages = &self.run.summary.stages;
        let digits = digits.to_owned();
        let of_number = move |name: &str| {
            let name = name.to_ascii_lowercase();
            let rest = name
                .strip_prefix("sv")
                .or_else(|| name.strip_prefix("stage "));
            let rest = rest.and_then(|rest| rest.strip_prefix(digits.as_str()));
            rest.is_some_and(|r| r.is_empty() || r.starts_with('_') || r.starts_with(" (attempt"))
        };
        let stages = stages.iter().enumerate();
        stages
            .filter(move |(_, s)| is_number && is_stage && of_number(&s.name))
            .map(|(at, _)| at)
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
        let is_code = || report::Cause::from_code(name).is_some();
        let is_known = || crate::terms::knows(name) || self.is_in_script(name);
        looks && !is_number && !is_hint() && !is_job && !is_code() && !is_known()
    }

    /// Whether the description of a query has a name, such as the file of a call.
    fn is_described(&self, name: &str) -> bool {
        let mut executions = self.run.summary.executions.iter();
        let has = |text: &String| text.contains(name);
        is_name(name) && executions.any(|e| e.description.as_ref().is_some_and(has))
    }

    /// Whether the script has a word, such as a method: the run may well be about it.
    fn is_in_script(&self, name: &str) -> bool {
        let script = self.run.summary.script.as_ref();
        // "visits.cache()" would be a call on `visits`
        let is_call =
            |(of, call): (&str, &str)| of.len() > 3 && !is_capital(call) && self.is_in_script(of);
        name.len() > 3 && script.is_some_and(|s| s.text.contains(name))
            || name.rsplit_once('.').is_some_and(is_call)
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
            if kind != Kind::Any && kind == *k && others.len() < LISTED && !others.contains(known) {
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
