//! Measurements of stages, inputs and the time of a job, in lines that a model can quote. Quantities missing from the files are
//! left out.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeSet, HashMap, HashSet};

use diagnosis::{InputReader, input_readers, notable_values};
use job::Job;
use job::model::{ColumnStatistics, Edge, Stage, Table};
use report::format::{DISTINCT_VALUE, Noun, PARTITION, ROW, Seconds, Share, list};
use report::measure::{Better, Measure, Sheet, Unit, Values, book};
use report::{
    Evidence, JobEngine, JobState, JobSummary, Language, Localize, Segment, Text, TimeAccount,
    engine_words, text,
};
use serde::Serialize;

use crate::merge::union;
use crate::wording::{self, Lines, named};

/// Stages that are described: at some 250 tokens each they fill the share of a context of 200,000.
pub(crate) const STAGES: usize = 120;

/// Columns of an input that are named besides the keys of the job.
const COLUMNS: usize = 8;

/// Values of a column that are described.
const VALUES: usize = 3;

/// Share of the time below which the parts of an account are summed up.
const SMALL: f64 = 0.03;

/// A largest value is noteworthy from this many times the mean on.
const UNEVEN: f64 = 1.3;

/// Waiting for a token and starting are noteworthy from this share of a vertex's run on.
const NOTABLE_WAIT: f64 = 0.2;

/// Memory is noteworthy from this share of its limit on.
const NOTABLE_MEMORY: f64 = 0.5;

/// Lines about one thing.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Measures {
    pub lines: Vec<String>,
}

impl From<Lines> for Measures {
    fn from(Lines { lines, .. }: Lines) -> Measures {
        Measures { lines }
    }
}

/// An input of the job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableRow {
    pub name: String,
    /// Place in the order of relevance, from 0.
    #[serde(skip)]
    pub rank: usize,
    #[serde(flatten)]
    pub measures: Measures,
    /// Evidence that the lines of `measures` cite.
    #[serde(skip)]
    pub evidence: Vec<Evidence>,
}

/// Where the time of the job went, by stage and kind; small parts are summed up in one line. Nothing for a failed job: it
/// did not do its work, so its times are no explanation.
pub(crate) fn time(
    account: Option<&TimeAccount>,
    job: &JobSummary,
    language: Language,
) -> Measures {
    let account = account.filter(|_| job.state != JobState::Failed);
    let lines = account.map(|account| by_stage(account, language));
    let lines = lines.into_iter().flatten();
    let lines = lines.map(|line| engine_words(line, job.engine, language));
    let lines = lines.collect();
    Measures { lines }
}

fn by_stage(account: &TimeAccount, language: Language) -> Vec<String> {
    let total = account.total_seconds();
    let sums = account.sums(|s| (s.time_use(), &s.stage));
    let rows = sums
        .iter()
        .map(|sum| (sum.segments().collect(), sum.seconds()));
    let is_small = |(_, seconds): &(Vec<&Segment>, f64)| *seconds < SMALL * total;
    let (small, mut rows): (Vec<_>, Vec<_>) = rows.partition(is_small);
    if !small.is_empty() {
        let seconds = small.iter().map(|(_, seconds)| seconds).sum();
        let segments = small.into_iter().flat_map(|(row, _)| row).collect();
        rows.push((segments, seconds));
    }
    let line = |(row, seconds): (Vec<&Segment>, f64)| {
        let kinds = union(Vec::new(), row.iter().map(|s| s.time_use()));
        let kinds = kinds.iter().map(|k| k.title_in(None).localize(language));
        let kinds: Vec<String> = kinds.collect();
        let is_of_one = row.iter().all(|s| s.stage == row[0].stage);
        let stage = row[0].stage.as_deref().filter(|_| is_of_one);
        text!(
            "{kinds}{stage}：{time}，占 {share}{finding}",
            "{kinds}{stage}: {time}, {share}{finding}",
            kinds = list(&kinds, language),
            stage = stage.map(|stage| text!("，阶段 {stage}", ", {stage}")),
            time = Seconds(seconds),
            share = Share(seconds / total),
            finding = claims(&row, seconds)
        )
        .into(language)
    };
    rows.into_iter().map(line).collect()
}

/// The findings that claim time of a row, in parentheses, each with its seconds unless it claims the whole row.
fn claims(row: &[&Segment], seconds: f64) -> Option<Text> {
    let mut claimed: Vec<(&str, f64)> = Vec::new();
    for segment in row {
        let Some(id) = segment.finding.as_deref() else {
            continue;
        };
        match claimed.iter_mut().find(|(known, _)| *known == id) {
            Some((_, sum)) => *sum += segment.seconds,
            None => claimed.push((id, segment.seconds)),
        }
    }
    let claim = |(id, claimed): &(&str, f64)| match *claimed < seconds {
        true => text!("{id}：{part}", "{id}: {part}", part = Seconds(*claimed)),
        false => text!("{id}", "{id}"),
    };
    let claims: Vec<Text> = claimed.iter().map(claim).collect();
    let joined = Text::joined(&claims, ["，", ", "]);
    (!claims.is_empty()).then(|| text!("（{claims}）", " ({claims})", claims = joined))
}

/// The stages in the order of relevance: named by the findings, then on the critical path, then the longest.
pub(crate) fn ranked(
    job: &Job,
    account: Option<&TimeAccount>,
    findings: &[report::Finding],
) -> Vec<usize> {
    let found: HashSet<&str> = findings.iter().filter_map(|f| f.stage.as_deref()).collect();
    let mut on_path: HashMap<&str, f64> = HashMap::new();
    for segment in account.iter().flat_map(|account| &account.segments) {
        if let Some(stage) = segment.stage.as_deref() {
            *on_path.entry(stage).or_default() += segment.seconds;
        }
    }
    let weight = |(index, stage): (usize, &Stage)| {
        let name = stage.name.as_str();
        let ran = stage.runs.as_ref().map_or(0.0, |runs| runs.run_ms.total);
        let path_s = on_path.get(name).copied().unwrap_or(0.0);
        (found.contains(name), path_s, ran, Reverse(index))
    };
    let mut stages: Vec<_> = job.stages.iter().enumerate().map(weight).collect();
    stages.sort_by(|a, b| b.partial_cmp(a).unwrap_or(Ordering::Equal));
    stages.into_iter().map(|s| s.3.0).collect()
}

/// Seconds of the critical path that a stage takes.
fn on_path(account: Option<&TimeAccount>, stage: &str) -> f64 {
    let segments = account.iter().flat_map(|account| &account.segments);
    let own = segments.filter(|s| s.stage.as_deref() == Some(stage));
    own.map(|s| s.seconds).sum()
}

/// A measure of a stage. A prompt shows it from a multiple of the third measure on that the second one reaches, or of 1.
struct Shown(
    &'static Measure,
    &'static Measure,
    Option<&'static Measure>,
    f64,
);

const fn always(measure: &'static Measure) -> Shown {
    Shown(measure, measure, None, f64::NEG_INFINITY)
}

const fn uneven(measure: &'static Measure, max_over_mean: &'static Measure) -> Shown {
    Shown(measure, max_over_mean, None, UNEVEN)
}

const fn wait(measure: &'static Measure) -> Shown {
    Shown(measure, measure, Some(&book::MEAN_RUN), NOTABLE_WAIT)
}

const fn memory(measure: &'static Measure) -> Shown {
    let (peak, limit) = (&book::MEMORY_PEAK, Some(&book::MEMORY_LIMIT));
    Shown(measure, peak, limit, NOTABLE_MEMORY)
}

/// Measures of a stage, by line. A trouble that is absent is left out.
const LINES: [&[Shown]; 6] = [
    &[
        always(&book::MEAN_RUN),
        uneven(&book::MEDIAN_RUN, &book::RUN_MAX_OVER_MEAN),
        always(&book::MAX_RUN),
        uneven(&book::RUN_MAX_OVER_MEAN, &book::RUN_MAX_OVER_MEAN),
    ],
    &[wait(&book::QUEUE), wait(&book::START)],
    &[
        always(&book::ROWS_IN),
        always(&book::ROWS_OUT),
        uneven(&book::ROWS_MAX, &book::ROWS_MAX_OVER_MEAN),
        uneven(&book::ROWS_MAX_OVER_MEAN, &book::ROWS_MAX_OVER_MEAN),
    ],
    &[
        always(&book::BYTES_READ),
        uneven(&book::READ_MAX, &book::READ_MAX_OVER_MEAN),
        uneven(&book::READ_MAX_OVER_MEAN, &book::READ_MAX_OVER_MEAN),
        always(&book::BYTES_WRITTEN),
    ],
    &[
        always(&book::GC_SHARE),
        always(&book::SPILLS),
        memory(&book::MEMORY_PEAK),
        memory(&book::MEMORY_LIMIT),
    ],
    &[
        always(&book::FAILED),
        always(&book::REVOKED),
        always(&book::LOST_WORK),
    ],
];

impl Shown {
    fn is_notable(&self, values: &Values) -> bool {
        let Shown(_, value, base, least) = self;
        let base = base.map_or(Some(1.0), |base| values.get(base));
        values.get(value).unwrap_or(0.0) >= least * base.unwrap_or(0.0)
    }
}

/// The known values of some measures, under their titles; a trouble that is absent is left out. `None` without any.
pub(crate) fn said<'m>(
    measures: impl IntoIterator<Item = &'m Measure>,
    values: &Values,
    vertex: Noun,
    language: Language,
) -> Option<String> {
    let parts = measures.into_iter().filter_map(|measure| {
        let number = values.get(measure)?;
        let is_absent =
            number == 0.0 && (measure.better == Better::Less || measure.unit == Unit::Bytes);
        let part = measure.labeled(number, vertex).into(language);
        (!is_absent).then_some(part)
    });
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| parts.join(language.select("，", ", ")))
}

/// The measurements and the sources of a stage; if `whole`, including the unremarkable ones.
pub(crate) fn stage(
    job: &Job,
    sheet: &Sheet,
    index: usize,
    account: Option<&TimeAccount>,
    whole: bool,
    language: Language,
) -> Lines {
    let stage = &job.stages[index];
    let mut measures = Lines::new(language);
    let has_run = !job.never_ran(index);
    if !has_run {
        measures.say(text!(
            "没有运行，只有计划",
            "did not run: only its plan is known"
        ));
    }
    let vertex = JobEngine::vertex(job.engine());
    let values = &sheet.stages[index].values;
    for line in LINES {
        let shown = line.iter().filter(|s| whole || s.is_notable(values));
        let line = said(shown.map(|s| s.0), values, vertex, language);
        measures.lines.extend(line);
    }
    let times = begin_and_end(job, stage, on_path(account, &stage.name));
    times.into_iter().for_each(|times| measures.say(times));
    for edge in job.edges_into(index) {
        measures.say(exchange(job, edge, has_run, language));
    }
    measures
}

/// When a stage began and ended, in time since the job was submitted, and its seconds on the critical path.
fn begin_and_end(job: &Job, stage: &Stage, path: f64) -> Option<Text> {
    let path = (path > 0.0).then(|| {
        text!(
            "，在关键路径上占 {path}",
            ", takes {path} of the critical path",
            path = Seconds(path)
        )
    });
    let runs = stage.runs.iter().flat_map(|runs| &runs.runs);
    let from = runs.clone().map(|run| run.created_ms).min()?;
    let to = runs.map(|run| run.ended_ms).max()?;
    let begin = job.info.submitted_ms.or(job.info.started_ms)?;
    let [from, to] = [from, to].map(|ms| Seconds(ms.saturating_sub(begin) as f64 / 1e3));
    Some(text!(
        "第 {from}开始，第 {to}结束{path}",
        "starts at {from} and ends at {to}{path}",
        from = from,
        to = to,
        path = path
    ))
}

/// The data that a stage reads over a channel; if the stage never ran, the data written for it.
fn exchange(job: &Job, edge: &Edge, is_read: bool, language: Language) -> Text {
    let keys = named(&edge.keys, language).map(|keys| text!("，键 {keys}", " on {keys}"));
    let amounts = [
        (edge.partitions.map(f64::from), "partitions"),
        (edge.rows_read.or(edge.rows_written), "rows"),
        (edge.bytes_read.or(edge.bytes_written), "bytes"),
    ];
    let amounts = wording::amounts(&amounts, language).map(|some| match is_read {
        true => text!("：{some}", ": {some}"),
        false => text!("：已写出 {some}，未读取", ": {some}, written but not read"),
    });
    let from = job.stages.get(edge.from).map_or("?", |from| &from.name);
    let kind = edge.exchange.code();
    text!(
        "来自 {from}（{kind}{keys}）{amounts}",
        "from {from} ({kind}{keys}){amounts}",
        keys = keys,
        amounts = amounts
    )
}

/// The inputs of the job: those that the findings name, then the largest.
pub(crate) fn tables(job: &Job, findings: &[report::Finding], language: Language) -> Vec<TableRow> {
    let inputs = Inputs::of(job);
    let is_named = |table: &Table| findings.iter().any(|f| f.summary.contains(&table.name));
    let mut tables: Vec<&Table> = job.tables.iter().collect();
    tables.sort_by_key(|table| Reverse((is_named(table), table.bytes)));
    let row = |(rank, table): (usize, &&Table)| TableRow {
        name: table.name.clone(),
        rank,
        measures: inputs.measured(table, false, language).into(),
        evidence: Vec::new(),
    };
    tables.iter().enumerate().map(row).collect()
}

/// The inputs of a job, by their use.
pub(crate) struct Inputs<'a> {
    job: &'a Job,
    /// Columns that the job joins, groups, sorts or partitions by.
    keys: BTreeSet<&'a str>,
    readers: Vec<InputReader<'a>>,
}

impl<'a> Inputs<'a> {
    pub(crate) fn of(job: &'a Job) -> Inputs<'a> {
        let operators = job.stages.iter().flat_map(|stage| &stage.operators);
        let keys = operators.flat_map(|o| o.keys.iter().chain(&o.right_keys));
        Inputs {
            job,
            keys: keys.map(String::as_str).collect(),
            readers: input_readers(job),
        }
    }

    /// Size and layout of an input, the values of its keys, and the names of some other columns; `whole`, the values of all columns.
    pub(crate) fn measured(&self, table: &Table, whole: bool, language: Language) -> Lines {
        let mut measures = Lines::new(language);
        measures.lines.extend(sizes(table, language));
        if let Some(by) = named(&self.readers_of(table), language) {
            measures.say(text!("由 {by} 读取", "read by {by}"));
        }
        if let Some(layout) = &table.clustering {
            let kind = &layout.kind;
            let sorted = named(&layout.sorted_by, language);
            let partitions = layout.partitions.map(|n| PARTITION.count(f64::from(n)));
            let stored = match named(&layout.keys, language) {
                None => text!("存储时未按键分区", "stored without a key"),
                Some(keys) => text!("按 {keys} 存储（{kind}）", "stored by {keys} ({kind})"),
            };
            measures.say(text!(
                "{stored}{sorted}{partitions}",
                "{stored}{sorted}{partitions}",
                stored = stored,
                sorted = sorted.map(|by| text!("，按 {by} 排序", ", sorted by {by}")),
                partitions = partitions.map(|n| text!("，{n}", ", {n}", n = n))
            ));
        }
        let is_known = |c: &&ColumnStatistics| c.distinct.is_some() || !c.top_values.is_empty();
        let is_key = |c: &&ColumnStatistics| whole || self.keys.contains(c.name.as_str());
        let known = table.columns.iter().filter(is_known);
        let (keys, others): (Vec<_>, Vec<_>) = known.partition(is_key);
        for column in keys {
            measures.say(of_column(self.job, (table, column), language));
        }
        let others = others.into_iter().take(COLUMNS);
        let others: Vec<String> = others.map(|c| distinct(c).localize(language)).collect();
        if !others.is_empty() {
            let others = list(&others, language);
            measures.say(text!("其他列：{others}", "other columns: {others}"));
        }
        measures
    }

    /// Stage, operator and rowset of each reader of an input.
    fn readers_of(&self, table: &Table) -> Vec<String> {
        let readers = self.readers.iter().filter(|r| std::ptr::eq(r.table, table));
        let named = readers.map(|r| match r.rowset {
            Some(rowset) => format!("{}/{} ({rowset})", r.stage, r.operator),
            None => format!("{}/{}", r.stage, r.operator),
        });
        named.collect()
    }
}

/// Rows, bytes and files of an input; `None` if no size is known.
pub(crate) fn sizes(table: &Table, language: Language) -> Option<String> {
    let sizes = [
        (table.rows, "rows"),
        (table.bytes, "bytes"),
        (table.file_count, "files"),
    ];
    let sizes = sizes.map(|(n, unit)| (n.map(|n| n as f64), unit));
    wording::amounts(&sizes, language)
}

/// A column with the number of its distinct values.
fn distinct(column: &ColumnStatistics) -> Text {
    let n = column.distinct.map(|n| DISTINCT_VALUE.count(n as f64));
    let (name, n) = (&column.name, n.map(|n| text!("（{n}）", " ({n})", n = n)));
    text!("{name}{n}", "{name}{n}", n = n)
}

fn of_column(job: &Job, (table, column): (&Table, &ColumnStatistics), language: Language) -> Text {
    let mut parts: Vec<String> = Vec::new();
    if let Some(distinct) = column.distinct.map(|n| n as f64) {
        parts.push(DISTINCT_VALUE.count(distinct).localize(language));
    }
    if let Some(nulls @ 1..) = column.nulls {
        let text = text!("空值 {n}", "null in {n}", n = ROW.count(nulls as f64));
        parts.push(text.into(language));
    }
    for top in notable_values(job, table, column).take(VALUES) {
        let (value, n) = (&top.value, top.rows as f64);
        let rows = table.rows.filter(|rows| *rows > 0);
        let share = rows.map(|rows| Share(n / rows as f64));
        let text = text!(
            "`{value}` 有 {n}{share}",
            "`{value}` in {n}{share}",
            n = ROW.count(n),
            share = share.map(|share| text!("，{share}", ", {share}", share = share))
        );
        parts.push(text.into(language));
    }
    let (name, parts) = (&column.name, parts.join(language.select("；", "; ")));
    text!("{name}：{parts}", "{name}: {parts}")
}

#[cfg(test)]
mod tests;
