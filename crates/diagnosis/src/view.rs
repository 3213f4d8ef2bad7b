//! A job with the derived data that all rules need, computed once.
//!
//! Answers questions about the plan and the counters, without judging them.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use job::Job;
use job::code::Part;
use job::facts::{OperatorFacts, StageFacts, value};
use job::model::{
    ColumnStatistics, Edge, ExchangeKind, JobState, Operator, OperatorKind, SparkNode, Stage,
    Table, Task,
};

use crate::impact::{Basis, Fix, RunModel, Saved, StageWork};
use crate::inputs::Tables;
use crate::properties::Derived;
use crate::scans::scans;
use crate::settings::{LEAST_UNKNOWN_S, MIN_SHARE, Settings, Threshold};
use crate::uneven::Uneven;
use crate::whatif::{Change, Curve, WhatIf};
use failure::Failure;
use report::format::Share;
use report::{Language, Text, text};

/// A job as the rules see it.
#[derive(Debug)]
pub struct View<'a> {
    pub job: &'a Job,
    pub settings: &'a Settings,
    pub language: Language,
    /// The run as work; `None` if no file shows the cost of its stages.
    pub run: Option<RunModel>,
    pub facts: Vec<Arc<StageFacts>>,
    inputs: Vec<Vec<usize>>,
    outputs: Vec<Vec<usize>>,
    derived: Derived<'a>,
    tables: Tables<'a>,
    /// Operators of each stage by a channel that they read.
    readers: Vec<HashMap<&'a str, Vec<usize>>>,
    /// Nodes of plans that scan files, by the stages that run them.
    pub(crate) scans: HashMap<usize, Vec<&'a SparkNode>>,
    /// Seconds lost to missing tokens; `None` before the time account is made, or if unknown.
    pub(crate) short_s: Option<f64>,
    /// Pace of the job's own sorts, 1 being usual; computed on first use.
    pub(crate) sort_pace: OnceCell<f64>,
    /// Slowdown of tasks because they share cores; computed on first use.
    pub(crate) contention: OnceCell<f64>,
    /// Milliseconds of a Python task without rows, if measured; computed on first use.
    pub(crate) python_task: OnceCell<Option<f64>>,
    /// Time over tokens or executors; computed on first use.
    curve: OnceCell<Option<Curve>>,
    failure: Option<Failure<'a>>,
    /// Stages with uneven input; filled in by `diagnose`.
    pub uneven: Vec<Uneven>,
}

impl<'a> View<'a> {
    pub fn new(job: &'a Job, settings: &'a Settings, language: Language) -> View<'a> {
        let n = job.stages.len();
        let mut inputs = vec![Vec::new(); n];
        let mut outputs = vec![Vec::new(); n];
        for (i, edge) in job
            .edges
            .iter()
            .enumerate()
            .filter(|(_, e)| e.from < n && e.to < n)
        {
            outputs[edge.from].push(i);
            inputs[edge.to].push(i);
        }
        let facts = job.facts();
        let mut view = View {
            job,
            settings,
            language,
            run: RunModel::of(job, &facts),
            facts,
            inputs,
            outputs,
            derived: Derived::none(job),
            tables: Tables::of(job),
            readers: job.stages.iter().map(readers).collect(),
            scans: scans(job),
            short_s: None,
            sort_pace: OnceCell::new(),
            contention: OnceCell::new(),
            python_task: OnceCell::new(),
            curve: OnceCell::new(),
            failure: failure::deciding(job),
            uneven: Vec::new(),
        };
        view.derived = Derived::of(job, |stage, operator| {
            (view.table_of(stage, operator), view.vertices(stage))
        });
        view
    }

    /// Time over tokens or executors; `None` if the run cannot be replayed with others.
    pub fn curve(&self) -> Option<&Curve> {
        let computed = || {
            let run = WhatIf::new(self.job, self.run.as_ref(), Vec::new()).ok()?;
            run.curve(&Change::default(), &[]).ok()
        };
        self.curve.get_or_init(computed).as_ref()
    }

    /// Why the job failed; `None` if it succeeded, or if no file shows why.
    pub fn failure(&self) -> Option<&Failure<'a>> {
        self.failure.as_ref()
    }

    /// Subtracts the seconds lost to missing tokens from the working time: the replay has all tokens.
    pub(crate) fn leave_out_shortages(&mut self, short_s: Option<f64>) {
        self.short_s = short_s;
        if let (Some(run), Some(short_s)) = (&mut self.run, short_s) {
            run.working_s = (run.working_s - short_s).max(run.replayed_s.min(run.working_s));
        }
    }

    /// Physical properties of the rows between operators.
    pub(crate) fn derived(&self) -> &Derived<'a> {
        &self.derived
    }

    pub fn limit(&self, threshold: &Threshold) -> f64 {
        self.settings.get(threshold)
    }

    /// Whether missing information could hide a relevant share of the run.
    pub(crate) fn matters(&self, share: f64) -> bool {
        let elapsed = self.run.as_ref().map(|run| run.elapsed_s);
        let seconds = elapsed.map_or(f64::INFINITY, |elapsed| share * elapsed);
        share >= self.limit(&MIN_SHARE) && (seconds >= LEAST_UNKNOWN_S || self.failed())
    }

    /// Share of the time from submission to end, the base of the time account; of the run time if the submission is unknown.
    pub fn share_of_total(&self, seconds: f64) -> Option<f64> {
        let info = &self.job.info;
        let total = info.total_seconds().or(info.elapsed_seconds);
        Some(seconds / total.filter(|total| *total > 0.0)?)
    }

    /// [`View::share_of_total`] in parentheses; empty if it is unknown.
    pub fn saved_share(&self, seconds: f64) -> Text {
        self.share_of_total(seconds)
            .map_or_else(Text::default, |share| {
                text!(
                    "（占总时间的 {share}）",
                    " ({share} of the total time)",
                    share = Share(share)
                )
            })
    }

    pub fn failed(&self) -> bool {
        self.job.info.state == JobState::Failed
    }

    /// Whether the files have the optimizer's estimates for all inputs of a stage and of earlier stages.
    pub fn has_estimates(&self, stage: usize) -> bool {
        let expected = |s: usize, o: usize| {
            let node = self.job.estimate_of(s, o);
            node.is_some_and(|n| n.value.card.is_some())
        };
        let mut upstream = self.upstream(stage).into_iter();
        upstream.all(|s| self.extracts(s).all(|(o, _)| expected(s, o)))
    }

    /// Whether the operators of a stage and the sources of its rows are known.
    pub fn is_connected(&self, stage: usize) -> bool {
        // a stage of an application without a plan and without input stages has no operators
        let app = self.job.spark.as_deref();
        let planned = app.and_then(|app| app.stages.get(stage)?.execution);
        if app.is_some() && planned.is_none() && self.inputs(stage).next().is_none() {
            return true;
        }
        // the first micro-batch of a stream may have no rows: nothing flows into such a stage
        let reads_nothing = |t: &Task| {
            t.measured && t.input_bytes == 0 && t.input_rows == 0 && t.shuffle_read_bytes == 0
        };
        let tasks = app.and_then(|app| Some(&app.stages.get(stage)?.attempts));
        let is_empty = tasks.is_some_and(|t| !t.is_empty() && t.iter().all(reads_nothing));
        if is_empty && self.inputs(stage).next().is_none() {
            return true;
        }
        let known = |e: &Edge| match e.exchange {
            ExchangeKind::Unknown => false,
            // keys of an RDD are values computed by its code
            ExchangeKind::Hash => !e.keys.is_empty() || (app.is_some() && planned.is_none()),
            _ => true,
        };
        let operators = &self.job.stages[stage].operators;
        // plans of applications name columns only if they are needed
        let described = app.is_some() || operators.iter().all(Operator::is_described);
        let reads = self.inputs(stage).next().is_some() || self.extracts(stage).next().is_some();
        !operators.is_empty() && described && reads && self.inputs(stage).all(known)
    }

    /// Vertices of a stage. Truncated events count too few of them; the statistics don't.
    pub fn vertices(&self, stage: usize) -> Option<u64> {
        let facts = &self.facts[stage];
        let stated = facts.stated.as_ref().and_then(|s| value(&s.vertices));
        let counted = facts.vertices.as_ref().map(|d| d.value);
        counted.max(stated.map(|n| n as u64))
    }

    /// Failed attempts of a stage, by its statistics; 0 without statistics.
    pub(crate) fn stated_failures(&self, stage: usize) -> f64 {
        let stated = self.facts[stage].stated.as_ref();
        stated.and_then(|s| value(&s.failed)).unwrap_or(0.0)
    }

    pub fn inputs(&self, stage: usize) -> impl Iterator<Item = &'a Edge> + '_ {
        self.inputs[stage].iter().map(|e| &self.job.edges[*e])
    }

    /// Edges into a stage that partition by hash.
    pub(crate) fn hashed_inputs(&self, stage: usize) -> impl Iterator<Item = &'a Edge> + '_ {
        self.inputs(stage)
            .filter(|e| e.exchange == ExchangeKind::Hash)
    }

    /// Edges into a stage, with their indices in the job.
    pub fn numbered_inputs(&self, stage: usize) -> impl Iterator<Item = (usize, &'a Edge)> + '_ {
        self.inputs[stage].iter().map(|e| (*e, &self.job.edges[*e]))
    }

    pub fn outputs(&self, stage: usize) -> impl Iterator<Item = &'a Edge> + '_ {
        self.outputs[stage].iter().map(|e| &self.job.edges[*e])
    }

    /// Own time of all operators of a stage, in milliseconds; 0 without counters.
    pub fn stage_ms(&self, stage: usize) -> f64 {
        self.facts[stage].own_ms()
    }

    pub fn node(&self, stage: usize, uid: Option<u32>) -> Option<&OperatorFacts> {
        self.facts[stage].by_uid(uid)
    }

    /// Own time of an operator or channel, in milliseconds.
    pub fn node_ms(&self, stage: usize, uid: Option<u32>) -> Option<f64> {
        value(&self.node(stage, uid)?.own_ms)
    }

    pub fn reader_of(&self, edge: &Edge) -> Option<(usize, &'a Operator)> {
        let reader = *self.readers_of(edge.to, &edge.channel).first()?;
        Some((reader, self.job.stages[edge.to].operators.get(reader)?))
    }

    /// Positions of the operators of a stage that read a channel.
    fn readers_of(&self, stage: usize, channel: &str) -> &[usize] {
        let readers = self.readers.get(stage);
        let readers = readers.and_then(|readers| readers.get(channel));
        readers.map_or(&[], Vec::as_slice)
    }

    /// Operators of a stage that take the output of one of its operators.
    pub fn readers_within(
        &self,
        stage: usize,
        operator: &Operator,
    ) -> impl Iterator<Item = (usize, &'a Operator)> {
        let outputs = operator.outputs.iter();
        let found: BTreeSet<usize> = outputs
            .flat_map(|c| self.readers_of(stage, &c.id).iter().copied())
            .collect();
        let operators = &self.job.stages[stage].operators;
        found.into_iter().map(|at| (at, &operators[at]))
    }

    /// The operator that needs the partitioning of an edge: the first after its sorts and unions.
    pub fn consumer_of(&self, edge: &Edge) -> Option<(usize, &'a Operator)> {
        let (mut index, mut operator) = self.reader_of(edge)?;
        for _ in 0..8 {
            if !matches!(operator.kind, OperatorKind::Sort | OperatorKind::Union) {
                break;
            }
            match self.readers_within(edge.to, operator).next() {
                Some(next) => (index, operator) = next,
                None => break,
            }
        }
        Some((index, operator))
    }

    /// Sort that an edge feeds, if its reader sorts first.
    pub fn sort_of(&self, edge: &Edge) -> Option<&OperatorFacts> {
        let (_, operator) = self.reader_of(edge)?;
        let sort = Some(operator).filter(|o| o.kind == OperatorKind::Sort)?;
        self.node(edge.to, sort.uid)
    }

    /// Milliseconds spent writing and reading an exchange.
    pub fn exchange_ms(&self, edge: &Edge) -> f64 {
        self.node_ms(edge.from, edge.uid).unwrap_or(0.0)
            + self.node_ms(edge.to, edge.uid).unwrap_or(0.0)
    }

    /// Whether rows are moved between machines on this edge.
    pub fn is_shuffle(edge: &Edge) -> bool {
        matches!(
            edge.exchange,
            ExchangeKind::Hash
                | ExchangeKind::Range
                | ExchangeKind::RoundRobin
                | ExchangeKind::Gather
        )
    }

    pub fn extracts(&self, stage: usize) -> impl Iterator<Item = (usize, &'a Operator)> {
        self.job.stages[stage]
            .operators
            .iter()
            .enumerate()
            .filter(|(_, o)| o.kind == OperatorKind::Extract)
    }

    /// Script lines of a part of the program that the action of a stage needs.
    pub(crate) fn lines_needed(&self, stage: usize, part: Part) -> Option<(u32, u32)> {
        let place = self.job.place_needed(stage, part)?;
        let lines = self.job.lines_of(&place)?;
        Some((lines.first, lines.last))
    }

    /// First and last script line of an operator's statement.
    pub fn lines(&self, stage: usize, operator: usize) -> Option<(u32, u32)> {
        if let Some(found) = self.job.line_of(stage, operator) {
            return Some((found.value.first, found.value.last));
        }
        let line = self.job.stages[stage].operators.get(operator)?.line?;
        let statement = self
            .job
            .script
            .as_ref()
            .and_then(|s| s.statement_at_line(line));
        Some(statement.map_or((line, line), |s| s.lines))
    }

    /// Saving of the run with `edit` applied to its work; `None` if the work is unknown, or if
    /// the job failed (its run does not show the time of a successful one).
    pub fn saved(
        &self,
        edit: impl Fn(&mut Vec<StageWork>) + Send + Sync + 'static,
    ) -> Option<Saved> {
        if self.failed() {
            return None;
        }
        self.run.as_ref()?.saved(Fix::work(edit))
    }

    /// Saving of the run with `edit` applied to the work of one stage; `None` as for [`View::saved`].
    pub fn saved_in(
        &self,
        stage: usize,
        edit: impl Fn(&mut StageWork) + Send + Sync + 'static,
    ) -> Option<Saved> {
        if self.failed() {
            return None;
        }
        self.run.as_ref()?.saved(Fix::stage(stage, edit))
    }

    /// Source of a stage's work.
    pub fn basis(&self, stage: usize) -> Basis {
        self.run.as_ref().map_or(Basis::Unknown, |r| r.basis[stage])
    }

    /// Largest share of the run that any cause in this stage could cost; 1 if unknown.
    pub fn stake(&self, stage: usize) -> f64 {
        match &self.run {
            Some(run) if !run.stages[stage].vertices.is_empty() => run.stake(stage),
            _ => 1.0,
        }
    }

    /// Whether the files have the rows of a stage's operators, but not their time.
    pub fn is_untimed(&self, stage: usize) -> bool {
        let operators = &self.facts[stage].operators;
        self.job.spark.is_none() && !operators.is_empty() && self.stage_ms(stage) <= 0.0
    }

    /// Converts `ms` of a stage's operator time to a fraction of its run time.
    pub fn fraction(&self, stage: usize, ms: f64) -> f64 {
        let all = self.stage_ms(stage);
        if all > 0.0 {
            (ms / all).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    /// Converts `ms` of a stage's operator time to seconds of its vertices' run time.
    pub fn run_seconds(&self, stage: usize, ms: f64) -> f64 {
        let run = self.run.as_ref().map_or(0.0, |r| r.stages[stage].run_s());
        run * self.fraction(stage, ms)
    }

    /// Whether a stage has relevant uneven input.
    pub fn is_uneven(&self, stage: usize) -> bool {
        self.uneven.iter().any(|u| u.stage == stage && u.matters)
    }

    pub fn table_of(&self, stage: usize, operator: &Operator) -> Option<&'a Table> {
        self.tables
            .of_operator(operator, || self.bytes_extracted(stage, operator))
    }

    pub fn bytes_extracted(&self, stage: usize, operator: &Operator) -> Option<f64> {
        value(&self.node(stage, operator.uid)?.bytes)
    }

    /// The stage itself and all stages before it.
    pub fn upstream(&self, stage: usize) -> Vec<usize> {
        let mut seen = vec![false; self.job.stages.len()];
        let mut open = vec![stage];
        let mut found = Vec::new();
        while let Some(s) = open.pop() {
            if !std::mem::replace(&mut seen[s], true) {
                found.push(s);
                open.extend(self.inputs(s).map(|e| e.from));
            }
        }
        found
    }

    /// Statistics of a column that reaches an edge, from the largest table upstream that has it.
    pub fn column_statistics(
        &self,
        edge: &Edge,
        column: &str,
    ) -> Option<(&'a Table, &'a ColumnStatistics)> {
        self.upstream(edge.from)
            .into_iter()
            .flat_map(|s| self.extracts(s).map(move |(_, o)| (s, o)))
            .filter_map(|(s, o)| self.table_of(s, o))
            .filter_map(|t| Some((t, t.columns.iter().find(|c| c.name == column)?)))
            .max_by_key(|(t, _)| t.rows)
    }

    /// Mean width of a column: from table statistics, else by its type.
    pub(crate) fn column_width(&self, name: &str, type_name: &str) -> f64 {
        let stated = self
            .job
            .tables
            .iter()
            .flat_map(|t| &t.columns)
            .find(|c| c.name == name)
            .and_then(|c| c.avg_width);
        stated.unwrap_or(match type_name {
            "bool" | "byte" | "sbyte" => 1.0,
            "short" | "ushort" | "char" => 2.0,
            "int" | "uint" | "float" => 4.0,
            "long" | "ulong" | "double" | "DateTime" => 8.0,
            "decimal" | "Guid" => 16.0,
            _ => 24.0,
        })
    }

    pub fn name(&self, stage: usize) -> &'a str {
        &self.job.stages[stage].name
    }
}

/// Operators of a stage by the channels that they read.
fn readers(stage: &Stage) -> HashMap<&str, Vec<usize>> {
    let mut readers: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, operator) in stage.operators.iter().enumerate() {
        for channel in &operator.inputs {
            let known = readers.entry(channel.id.as_str()).or_default();
            if known.last() != Some(&at) {
                known.push(at);
            }
        }
    }
    readers
}
