//! Contents of a right answer: derived from the truth about a job and from its files, not from the code that writes prompts.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, iter};

use job::Job;
use report::{Language, Localize, Report, SegmentKind};
use serde_json::Value;

use super::question::{Asks, asks, goal_minutes};
use super::reading::{has_duration, has_rows, script_lines};

/// Number of segments that an answer names, and their minimum share of the time.
const SEGMENTS: usize = 3;
const WORTH_NAMING: f64 = 0.05;

/// Words of each cause, in both languages; a line that explains it has one of them.
const CAUSES: [(&str, &[&str], &[&str]); 26] = [
    ("skew.join_hot_key", &["倾斜"], &["skewed"]),
    ("skew.group_hot_key", &["倾斜"], &["skewed"]),
    (
        "skew.null_or_default_key",
        &["空值", "为空", "默认值"],
        &["null", "default"],
    ),
    (
        "skew.low_cardinality_key",
        &["不同值"],
        &["distinct values"],
    ),
    ("skew.partition_layout", &["分区"], &["partition"]),
    (
        "shuffle.redundant_repartition",
        &["重新分区", "Shuffle"],
        &["repartition", "exchange"],
    ),
    ("shuffle.unused_columns", &["列"], &["column"]),
    ("shuffle.late_filter", &["过滤"], &["filter"]),
    ("shuffle.missed_broadcast", &["广播"], &["broadcast"]),
    (
        "shuffle.serial_gather",
        &["一个顶点", "单个顶点"],
        &["one vertex", "single vertex"],
    ),
    ("shuffle.unaligned_input", &["存储"], &["stored"]),
    ("gc.heap_pressure", &["垃圾回收"], &["garbage collection"]),
    ("memory.spill", &["落盘", "溢出"], &["spill"]),
    ("memory.estimate_too_low", &["内存"], &["memory"]),
    (
        "cardinality.misestimate",
        &["估计", "预计"],
        &["estimate", "expected"],
    ),
    ("join.explosion", &["行"], &["rows"]),
    (
        "udo.cpu_bound",
        &["每行", "用户代码"],
        &["per row", "user code"],
    ),
    ("parallelism.too_low", &["个顶点"], &["vertex", "vertices"]),
    ("parallelism.tiny_vertices", &["个顶点"], &["vertices"]),
    ("io.small_files", &["个文件"], &["files"]),
    (
        "failure.vertex_retries",
        &["失败", "重试", "收回"],
        &["failed", "retr", "revoked"],
    ),
    ("failure.slow_machine", &["机器"], &["machine"]),
    (
        "failure.user_code",
        &["异常"],
        &["exception", "threw", "throws"],
    ),
    ("failure.compile", &["编译"], &["compil"]),
    (
        "failure.limit",
        &["限制", "上限", "超过", "超出"],
        &["limit", "exceed"],
    ),
    ("queue.wait", &["等待", "排队"], &["wait", "queue"]),
];

/// Causes of failed jobs; a job that succeeded is not suspected of them.
const ENDS: [&str; 3] = ["failure.user_code", "failure.compile", "failure.limit"];

/// Required content of one line of an answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Need {
    /// One word of each list.
    words: Vec<Vec<String>>,
    /// Durations.
    seconds: Vec<f64>,
    rows: Vec<f64>,
    /// Ranges of the script; the line must point into one of them. Empty for any place.
    script: Vec<[u64; 2]>,
}

impl Need {
    fn words(words: &[&str]) -> Need {
        Need::default().and(words)
    }

    fn and(mut self, words: &[impl AsRef<str>]) -> Need {
        self.words
            .push(words.iter().map(|w| w.as_ref().to_lowercase()).collect());
        self
    }

    fn seconds(mut self, seconds: f64) -> Need {
        self.seconds.push(seconds);
        self
    }

    fn rows(mut self, rows: f64) -> Need {
        self.rows.push(rows);
        self
    }

    pub(super) fn is_met_by(&self, line: &str) -> bool {
        let lower = line.to_lowercase();
        let points = script_lines(line);
        let overlaps = |[a, b]: &[u64; 2]| points.iter().any(|[c, d]| a <= d && c <= b);
        self.words
            .iter()
            .all(|any| any.iter().any(|word| lower.contains(word)))
            && self.seconds.iter().all(|s| has_duration(line, *s))
            && self.rows.iter().all(|rows| has_rows(line, *rows))
            && (self.script.is_empty() || self.script.iter().any(overlaps))
    }
}

/// A job, its truth, and the program's measurements.
pub(super) struct Facts<'a> {
    pub(super) folder: &'a Path,
    pub(super) truth: &'a Value,
    /// Code of the cause that a healthy job resembles.
    pub(super) resembles: Option<&'static str>,
    /// By the rules alone.
    pub(super) report: &'a Report,
    pub(super) job: &'a Job,
    pub(super) language: Language,
}

fn texts(list: &Value) -> Vec<&str> {
    let items = list.as_array().into_iter().flatten();
    items.filter_map(Value::as_str).collect()
}

impl Facts<'_> {
    /// Required content of the answer to a question.
    pub(super) fn needed_for(&self, question: &str) -> Vec<Need> {
        let mut needs = self.causes();
        needs.extend(self.verdict());
        for asked in asks(question) {
            match asked {
                Asks::WhyFailed => needs.extend(self.error()),
                Asks::AboutStage => needs.extend(self.stages(question)),
                Asks::WhereTimeGoes => needs.extend(self.time()),
                Asks::SlowerThanBefore => needs.push(self.earlier_run()),
                Asks::Goal => needs.extend(self.goal(question)),
                Asks::WhatToChange => needs.extend(self.changes()),
                // The verdict says it, and the stages say how they differ.
                Asks::IsItHealthy | Asks::CompareStages => {}
            }
        }
        needs
    }

    fn zh_or_en<'w>(&self, zh: &'w [&'w str], en: &'w [&'w str]) -> &'w [&'w str] {
        self.language.select(zh, en)
    }

    /// Every true cause: its code, in words, with its stage and its place in the script.
    fn causes(&self) -> Vec<Need> {
        let causes = self.truth["causes"].as_array().into_iter().flatten();
        let need = |cause: &Value| {
            let code = cause["cause"].as_str().expect("a code");
            let known = CAUSES.iter().find(|(known, ..)| *known == code);
            let (_, zh, en) = known.expect("words of the cause");
            let mut need = Need::words(&[code]).and(self.zh_or_en(zh, en));
            let stages = texts(&cause["stages_ok"]);
            if !stages.is_empty() {
                need = need.and(&stages);
            }
            if !cause["script_lines"].is_null() {
                let places = cause["lines_ok"].as_array().into_iter().flatten();
                let end = |place: &Value, n: usize| place[n].as_u64().expect("a line");
                need.script = places.map(|p| [end(p, 0), end(p, 1)]).collect();
            }
            need
        };
        causes.map(need).collect()
    }

    /// The healthy verdict, with the measurement that rules the near miss out; or the missing file and its causes.
    fn verdict(&self) -> Vec<Need> {
        match self.truth["verdict"].as_str() {
            Some("healthy") => {
                let word = self.zh_or_en(&["程序判断：正常"], &["verdict: healthy"]);
                let ruled_out = self.resembles.filter(|code| !ENDS.contains(code));
                let ruled_out = ruled_out.map(|code| Need::words(&[code]));
                iter::once(Need::words(word)).chain(ruled_out).collect()
            }
            Some("insufficient_information") => {
                let files = texts(&self.truth["withheld"]["files"]);
                // Those that are the same thing seen from another side may stand for them.
                let mut causes = texts(&self.truth["withheld"]["would_decide"]);
                causes.extend(texts(&self.truth["acceptable_extra"]));
                let titles = causes
                    .iter()
                    .filter_map(|code| report::Cause::from_code(code));
                let titles = titles.map(|c| c.title().localize(self.language));
                let named: Vec<String> = titles
                    .chain(causes.iter().map(|c| (*c).to_owned()))
                    .collect();
                vec![Need::words(&files).and(&named)]
            }
            _ => Vec::new(),
        }
    }

    /// The message of the error file.
    fn error(&self) -> Option<Need> {
        let text = fs::read_to_string(self.folder.join("Error")).ok()?;
        let error: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).expect("JSON");
        let message = error["message"].as_str().expect("a message");
        Some(Need::words(&[message]))
    }

    /// The named stages: run times of their vertices, bytes read, and share of the time, if files have them.
    fn stages(&self, question: &str) -> Vec<Need> {
        let mut needs = Vec::new();
        for (index, stage) in self.job.stages.iter().enumerate() {
            let name = stage.name.as_str();
            if !is_named(name, question) {
                continue;
            }
            needs.push(Need::words(&[name]));
            let facts = self.job.stage_facts(index);
            if let Some(run) = &facts.run_ms {
                needs.push(Need::words(&[name]).seconds(run.value.max / 1e3));
            }
            let read = |e: &job::model::Edge| e.rows_read.or(e.rows_written);
            let rows: Option<Vec<f64>> = self.job.edges_into(index).map(read).collect();
            if let Some(rows) = rows.filter(|rows| !rows.is_empty()) {
                needs.push(Need::words(&[name]).rows(rows.iter().sum()));
            }
            let on_path = self.on_path(|segment| segment.stage.as_deref() == Some(name));
            if on_path > 0.0 {
                needs.push(Need::words(&[name]).seconds(on_path));
            }
        }
        assert!(
            !needs.is_empty(),
            "no stage of the job is named: {question}"
        );
        needs
    }

    fn on_path(&self, wanted: impl Fn(&report::Segment) -> bool) -> f64 {
        let segments = self.report.time.iter().flat_map(|time| &time.segments);
        segments.filter(|s| wanted(s)).map(|s| s.seconds).sum()
    }

    /// The time from submission to end, and its largest parts by kind and stage.
    fn time(&self) -> Vec<Need> {
        let mut needs = Vec::new();
        let info = &self.job.info;
        for (field, known) in [
            ("elapsed_seconds", info.elapsed_seconds),
            ("total_seconds", info.total_seconds()),
        ] {
            let seconds = self.truth[field].as_f64().filter(|_| known.is_some());
            needs.extend(seconds.map(|s| Need::default().seconds(s)));
        }
        let mut parts: BTreeMap<(String, Option<&str>), f64> = BTreeMap::new();
        let segments = self.report.time.iter().flat_map(|time| &time.segments);
        for segment in segments {
            let kind: SegmentKind = segment.kind;
            let title = kind.title().localize(self.language);
            *parts.entry((title, segment.stage.as_deref())).or_default() += segment.seconds;
        }
        let mut parts: Vec<_> = parts.into_iter().collect();
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        let total = self.on_path(|_| true);
        let large = parts
            .into_iter()
            .filter(|(_, s)| *s >= WORTH_NAMING * total);
        needs.extend(large.take(SEGMENTS).map(|((kind, stage), seconds)| {
            let need = Need::words(&[&kind]).seconds(seconds);
            stage.map_or(need.clone(), |stage| need.and(&[stage]))
        }));
        needs
    }

    fn earlier_run(&self) -> Need {
        Need::words(self.zh_or_en(&["更早的一次运行"], &["no earlier run"]))
    }

    /// The goal, and the run time with all fixes.
    fn goal(&self, question: &str) -> Option<Need> {
        let elapsed = self.job.info.elapsed_seconds?;
        let half = ["一半", "half"].iter().any(|word| question.contains(word));
        let goal = if half {
            elapsed / 2.0
        } else {
            60.0 * goal_minutes(elapsed)
        };
        let time = self.report.time.as_ref();
        let saved = time
            .and_then(|time| time.avoidable_seconds)
            .filter(|s| *s > 0.0);
        let reached = saved.map_or(elapsed, |saved| elapsed - saved);
        Some(Need::default().seconds(goal).seconds(reached))
    }

    /// For the first finding what to do, and what it saves.
    fn changes(&self) -> Option<Need> {
        let finding = self.report.findings.first()?;
        let mut suggestions = self.report.suggestions.iter();
        let fix = suggestions.find(|s| s.finding.as_ref() == Some(&finding.id))?;
        let need = Need::words(&[fix.title.as_str()]);
        let impact = finding.impact.as_ref().filter(|i| i.seconds_saved > 0.0);
        Some(impact.map_or(need.clone(), |impact| need.seconds(impact.seconds_saved)))
    }
}

/// Whether a text has a name that does not go on.
fn is_named(name: &str, text: &str) -> bool {
    let goes_on = |rest: &str| rest.starts_with(|c: char| c == '_' || c.is_ascii_alphanumeric());
    text.split(name).skip(1).any(|rest| !goes_on(rest))
}
