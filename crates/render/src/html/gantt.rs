//! The time account as a Gantt chart: a row for each stage and each kind of wait on one time axis.

use report::format::{Seconds, Share};
use report::{Report, SegmentKind, Text, TimeAccount, text};
use runs::RunSummary;
use serde::Serialize;

use crate::account::{self, Row};
use crate::words::Words;

/// Marks on the time axis at most, so that their labels fit on a phone.
const TICKS: f64 = 5.0;
/// Steps of the time axis that people count in, in seconds.
const STEPS: [f64; 14] = [
    1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0, 21_600.0,
    86_400.0,
];
/// Rows of stages; the shortest of more stages share one row, so that the findings stay near.
const ROWS: usize = 16;
/// Parts narrower than this share of the axis have no room for a label.
const LABEL: f64 = 0.07;

/// The account as a chart of the page.
#[derive(Serialize)]
pub(super) struct Gantt<'a> {
    /// Kinds of segments, most seconds first.
    kinds: Vec<Kind>,
    lines: Vec<Line<'a>>,
    ticks: Vec<Tick>,
    /// Distance of two ticks in percent of the axis.
    step: f64,
}

#[derive(Serialize)]
struct Kind {
    class: SegmentKind,
    title: String,
    time: String,
    share: String,
    percent: f64,
}

/// A row of the chart.
#[derive(Serialize)]
struct Line<'a> {
    name: String,
    /// Findings that claim a part of the row.
    findings: Vec<&'a str>,
    parts: Vec<Part<'a>>,
    time: String,
    share: String,
    charts: String,
}

/// A segment in its row.
#[derive(Serialize)]
struct Part<'a> {
    class: SegmentKind,
    title: String,
    stage: String,
    from: String,
    time: String,
    share: String,
    left: f64,
    width: f64,
    labelled: bool,
    finding: Option<&'a str>,
    evidence: Vec<&'a str>,
}

#[derive(Serialize)]
struct Tick {
    left: f64,
    label: String,
}

pub(super) fn gantt<'a>(
    report: &'a Report,
    summary: &RunSummary,
    words: Words,
) -> Option<Gantt<'a>> {
    let time = report.time.as_ref()?;
    let total = time.total_seconds();
    let mut groups: Vec<(Lane<'a>, Vec<Row<'a>>)> = Vec::new();
    for row in account::rows(time) {
        let lane = Lane::of(&row);
        match groups.iter_mut().find(|(known, _)| *known == lane) {
            Some((_, rows)) => rows.push(row),
            None => groups.push((lane, vec![row])),
        }
    }
    fold(&mut groups);
    let line = |(lane, rows): (Lane<'a>, Vec<Row<'a>>)| {
        let sum: f64 = rows.iter().map(|row| row.seconds).sum();
        Line {
            charts: lane.charts(report, summary, words),
            findings: claims(&rows),
            name: lane.name(summary, words),
            time: words.say(Seconds(sum)),
            share: words.say(Share(sum / total)),
            parts: rows.into_iter().map(|row| part(row, time, words)).collect(),
        }
    };
    let step = STEPS.into_iter().find(|step| total / step <= TICKS);
    let step = step.unwrap_or(total);
    let ticks = (0..=(total / step) as u32).map(|n| f64::from(n) * step);
    Some(Gantt {
        kinds: kinds(time, words),
        lines: groups.into_iter().map(line).collect(),
        ticks: ticks
            .map(|at| Tick {
                left: percent(at / total),
                label: tick(at, step, words),
            })
            .collect(),
        step: percent(step / total),
    })
}

/// Leaves at most [`ROWS`] rows: the shortest stages without a finding share the last one.
fn fold<'a>(groups: &mut Vec<(Lane<'a>, Vec<Row<'a>>)>) {
    let seconds = |rows: &[Row]| rows.iter().map(|row| row.seconds).sum::<f64>();
    let may_fold = |(lane, rows): &(Lane, Vec<Row>)| {
        matches!(lane, Lane::Stage(_)) && rows.iter().all(|row| row.findings.is_empty())
    };
    let mut lengths: Vec<f64> = groups
        .iter()
        .filter(|g| may_fold(g))
        .map(|g| seconds(&g.1))
        .collect();
    let most = (ROWS - 1).saturating_sub(groups.len() - lengths.len());
    if groups.len() <= ROWS || lengths.len() <= most {
        return;
    }
    lengths.sort_by(|a, b| b.total_cmp(a));
    let least = lengths[most];
    let is_short = |group: &mut (Lane, Vec<Row>)| may_fold(group) && seconds(&group.1) <= least;
    let short: Vec<_> = groups.extract_if(.., is_short).collect();
    let stages = short.len();
    let rows = short.into_iter().flat_map(|(_, rows)| rows).collect();
    groups.push((Lane::Others(stages), rows));
}

/// The findings that claim one of the rows, each once.
fn claims<'a>(rows: &[Row<'a>]) -> Vec<&'a str> {
    let mut ids: Vec<&str> = rows.iter().flat_map(|row| &row.findings).copied().collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Subject of a row of the chart.
#[derive(Debug, PartialEq)]
enum Lane<'a> {
    Stage(&'a str),
    Wait(SegmentKind),
    /// The number of stages without a row.
    Others(usize),
}

impl<'a> Lane<'a> {
    fn of(row: &Row<'a>) -> Lane<'a> {
        let kind = row.kind();
        match row.stages.first() {
            Some(stage) if !kind.is_wait() => Lane::Stage(stage),
            _ => Lane::Wait(kind),
        }
    }

    fn name(&self, summary: &RunSummary, words: Words) -> String {
        match self {
            Lane::Stage(stage) => match work(stage, summary, words) {
                Some(work) => format!("{stage} · {work}"),
                None => (*stage).to_owned(),
            },
            Lane::Wait(kind) => words.kind(*kind),
            Lane::Others(stages) => {
                words.in_engine(text!("其余 {stages} 个阶段", "{stages} other stages"))
            }
        }
    }

    /// How time and bytes are spread over the vertices of the stage, unless a finding shows it.
    fn charts(&self, report: &Report, summary: &RunSummary, words: Words) -> String {
        let Lane::Stage(name) = self else {
            return String::new();
        };
        let shown = report
            .findings
            .iter()
            .any(|f| f.stage.as_deref() == Some(name));
        let stage = summary.stages.iter().find(|s| s.name == *name && !shown);
        stage.map_or_else(String::new, |s| super::charts::spread(s, words))
    }
}

/// The main work of a Spark stage; its name is only a number.
fn work(stage: &str, summary: &RunSummary, words: Words) -> Option<String> {
    let number = stage.strip_prefix("Stage ")?;
    if !number.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let known = summary.stages.iter().find(|s| s.name == stage)?;
    let has = |kind: &&(&str, Text)| known.operators.iter().any(|o| o.kind == kind.0);
    let kinds = [
        ("join", text!("连接", "join")),
        ("window", text!("窗口函数", "window")),
        ("aggregate", text!("聚合", "aggregation")),
        ("process", text!("用户代码", "user code")),
        ("output", text!("写出", "output")),
        ("extract", text!("读取", "input")),
        ("sort", text!("排序", "sort")),
    ];
    let found = kinds.iter().find(has)?;
    Some(words.say(found.1.clone()))
}

fn part<'a>(row: Row<'a>, time: &TimeAccount, words: Words) -> Part<'a> {
    let total = time.total_seconds();
    let (seconds, share) = row.amounts(time, words);
    Part {
        class: row.kind(),
        title: row.title(1, words),
        stage: row.place(words),
        from: words.say(Seconds(row.start_seconds())),
        time: seconds,
        share,
        left: percent(row.start_seconds() / total),
        width: percent(row.seconds / total),
        labelled: row.seconds / total >= LABEL,
        finding: row.findings.first().copied(),
        evidence: row.evidence,
    }
}

fn kinds(time: &TimeAccount, words: Words) -> Vec<Kind> {
    let total = time.total_seconds();
    let sums = time.sums(|s| s.kind).into_iter();
    let mut sums: Vec<(SegmentKind, f64)> = sums.map(|s| (s.first.kind, s.seconds())).collect();
    sums.sort_by(|a, b| b.1.total_cmp(&a.1));
    let kind = |(kind, sum): (SegmentKind, f64)| Kind {
        class: kind,
        title: words.kind(kind),
        time: words.say(Seconds(sum)),
        share: words.say(Share(sum / total)),
        percent: percent(sum / total),
    };
    sums.into_iter().map(kind).collect()
}

/// With two digits, which is finer than a screen.
fn percent(share: f64) -> f64 {
    (share * 10_000.0).round() / 100.0
}

/// A time in the unit that its axis counts in.
fn tick(at: f64, step: f64, words: Words) -> String {
    let in_units = |unit: f64| format!("{:.0}", at / unit);
    words.say(match step {
        3600.0.. => text!("{n} 小时", "{n} h", n = in_units(3600.0)),
        60.0.. => text!("{n} 分", "{n} min", n = in_units(60.0)),
        _ => text!("{n} 秒", "{n} s", n = in_units(1.0)),
    })
}
