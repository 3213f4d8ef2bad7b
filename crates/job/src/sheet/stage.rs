//! The measures of a stage and of its operators.

use report::Source;
use report::measure::{Fold, StageSheet, Value, Values, book};

use super::{Filler, at};
use crate::facts::{Derived, OperatorFacts, Spread, StageFacts};
use crate::model::{Edge, ExchangeKind, OperatorKind, Stage};
use crate::runs::StageRuns;

/// The known statistics of a number that is spread over vertices.
#[derive(Default)]
struct Spreading {
    total: Option<Value>,
    mean: Option<Value>,
    median: Option<Value>,
    max: Option<Value>,
    max_over_mean: Option<Value>,
}

impl Filler<'_> {
    pub(super) fn stage(&self, index: usize, tokens: Option<&Value>) -> StageSheet {
        let (stage, facts) = (&self.job.stages[index], &self.facts[index]);
        let mut values = Values::default();
        let has_run = !self.job.never_ran(index);
        let vertices = vertices(stage, facts).filter(|_| has_run);
        if has_run {
            self.times(&mut values, stage, facts, vertices.as_ref());
            let waves = vertices.clone().zip(tokens.cloned());
            values.set(&book::WAVES, waves.and_then(|(n, tokens)| n.over(tokens)));
            values.set(&book::ROWS_IN, self.rows_in(index));
            values.set(&book::ROWS_OUT, self.rows_out(index));
            amounts(&mut values, stage, facts, vertices.as_ref());
            troubles(&mut values, stage, facts);
            self.spilled(&mut values, index);
        }
        values.set(&book::VERTICES, vertices.clone());
        let operators = 0..stage.operators.len();
        StageSheet {
            values,
            operators: operators
                .map(|operator| self.operator(index, operator, vertices.as_ref()))
                .collect(),
        }
    }

    fn times(
        &self,
        values: &mut Values,
        stage: &Stage,
        facts: &StageFacts,
        vertices: Option<&Value>,
    ) {
        let run = spreading(stage, facts.run_ms.as_ref(), RUN, vertices);
        let share = run
            .total
            .clone()
            .and_then(|own| own.over(self.all_run_ms(stage)?));
        values.set(&book::BUSY, run.total);
        values.set(&book::BUSY_SHARE, share);
        values.set(&book::MEAN_RUN, run.mean);
        values.set(&book::MEDIAN_RUN, run.median);
        values.set(&book::MAX_RUN, run.max);
        values.set(&book::RUN_MAX_OVER_MEAN, run.max_over_mean);
        let Some(runs) = &stage.runs else { return };
        let span = runs.runs.iter().map(|r| r.created_ms).min();
        let span = span.zip(runs.runs.iter().map(|r| r.ended_ms).max());
        let field =
            |fold, number: f64, name: &str| Value::folded(number, fold, field(stage, runs, name));
        let span = span.map(|(begin, end)| end.saturating_sub(begin) as f64);
        values.set(
            &book::SPAN,
            span.and_then(|ms| field(Fold::Span, ms, "created to ended")),
        );
        if let Some(waits) = facts.waits.as_ref().map(|d| d.value) {
            let queue = field(Fold::Mean, waits.queue_ms, "created to started");
            let start = field(Fold::Mean, waits.start_ms, "started to running");
            values.set(&book::WAIT, Value::sum([queue.clone(), start.clone()]));
            values.set(&book::QUEUE, queue);
            values.set(&book::START, start);
        }
        let lost = field(Fold::Sum, runs.wasted_ms, "running to ended, lost");
        values.set(&book::LOST_WORK, lost);
        values.set(
            &book::FAILED,
            field(Fold::Count, runs.failed as f64, "failed"),
        );
        values.set(
            &book::REVOKED,
            field(Fold::Count, runs.revoked as f64, "revoked"),
        );
        values.set(
            &book::ABANDONED,
            field(Fold::Count, runs.abandoned as f64, "abandoned"),
        );
    }

    /// Run time of all vertices of the job.
    fn all_run_ms(&self, stage: &Stage) -> Option<Value> {
        let known = self.facts.iter().filter_map(|f| f.run_ms.as_ref());
        let total = known.map(|d| d.value.total).sum();
        let source = Source {
            file: stage.runs.as_ref()?.file.clone(),
            locator: Some(format!("*/{RUN}")),
        };
        Value::folded(total, Fold::Sum, source)
    }

    /// Counted rows over the channels into a stage and of its extractors.
    fn rows_in(&self, index: usize) -> Option<Value> {
        let channels = self.job.edges_into(index).map(|edge| self.received(edge));
        let read = self.rows_of(index, OperatorKind::Extract);
        let counted = Value::sum(channels.chain(read))?;
        // each query over cached data repeats the scan that filled the cache
        let details = &self.facts[index].per_vertex;
        let of_tasks = spreading(
            &self.job.stages[index],
            details.rows_read.as_ref(),
            "Records Read",
            None,
        );
        let is_broadcast = |edge: &Edge| edge.exchange == ExchangeKind::Broadcast;
        let is_less = |tasks: &Value| tasks.number() > 0.0 && tasks.number() < counted.number();
        // rows of a cache are counted by batches
        let mut operators = self.job.stages[index].operators.iter();
        let reads_cache = operators.any(|o| o.class_name.starts_with("InMemoryTableScan"));
        let of_tasks = of_tasks.total.filter(is_less).filter(|_| !reads_cache);
        match of_tasks.filter(|_| !self.job.edges_into(index).any(is_broadcast)) {
            Some(of_tasks) => Some(of_tasks),
            None => Some(counted),
        }
    }

    /// Bytes that a stage spills, where only all of its temporary data is counted: without the channels to other stages.
    fn spilled(&self, values: &mut Values, index: usize) {
        let spills = values.get(&book::SPILLS).is_some_and(|n| n > 0.0);
        let temporary = values.value(&book::TEMPORARY).cloned();
        let Some(temporary) =
            temporary.filter(|_| spills && values.value(&book::SPILLED).is_none())
        else {
            return;
        };
        let channels = self.channels_out_of(index).into_iter();
        let written = channels.map(|e| {
            self.crossing(e, super::Side::Written, super::Amount::Bytes)?
                .times(-1.0)
        });
        let rest = Value::sum(std::iter::once(Some(temporary)).chain(written));
        values.set(&book::SPILLED, rest.filter(|rest| rest.number() > 0.0));
    }

    /// The channels out of a stage, each once.
    fn channels_out_of(&self, index: usize) -> Vec<&Edge> {
        let mut channels: Vec<&Edge> = self.job.edges_out_of(index).collect();
        channels.sort_by(|a, b| a.channel.cmp(&b.channel));
        channels.dedup_by(|a, b| a.channel == b.channel);
        channels
    }

    /// Rows over the channels out of a stage, each once, and those that it stores.
    fn rows_out(&self, index: usize) -> Option<Value> {
        let written = self.channels_out_of(index).into_iter();
        let written = written.map(|e| self.crossing(e, super::Side::Written, super::Amount::Rows));
        Value::sum(written.chain(self.rows_of(index, OperatorKind::Output)))
    }

    fn rows_of(
        &self,
        index: usize,
        kind: OperatorKind,
    ) -> impl Iterator<Item = Option<Value>> + '_ {
        let operators = self.job.stages[index].operators.iter().enumerate();
        let of_kind = operators.filter(move |(_, o)| o.kind == kind);
        of_kind.map(move |(operator, _)| at(&self.facts[index].operator(operator)?.rows))
    }

    fn operator(&self, stage: usize, operator: usize, vertices: Option<&Value>) -> Values {
        let mut values = Values::default();
        let facts = self.facts[stage].operator(operator);
        if let Some(facts) = facts {
            values.set(&book::OPERATOR_ROWS, at(&facts.rows));
            values.set(
                &book::OPERATOR_SPREAD,
                largest(facts, vertices).map(|(_, ratio)| ratio),
            );
            values.set(&book::OWN_TIME, at(&facts.own_ms));
            values.set(&book::OPERATOR_BYTES, at(&facts.bytes));
            values.set(&book::OPERATOR_SPILLED, at(&facts.spilled_bytes));
            values.set(&book::OPERATOR_SPILLS, at(&facts.spilled));
            values.set(&book::OPERATOR_MEMORY, at(&facts.peak_memory));
        }
        values.set(&book::ROWS_TAKEN, self.rows_taken(stage, operator));
        values.set(&book::ESTIMATED_ROWS, self.estimate(stage, operator));
        values
    }

    /// Rows of all inputs of an operator.
    fn rows_taken(&self, stage: usize, operator: usize) -> Option<Value> {
        let facts = &self.facts[stage];
        let own = (*facts.of_operator.get(operator)?)?;
        let counted = facts.counted_below(own).into_iter();
        let rows = counted.map(|n| {
            let input = &facts.operators[n];
            let mut edges = self.job.edges_into(stage);
            // every vertex reads a broadcast, but its rows are the same
            let is_it = |e: &&Edge| {
                let is_broadcast = e.exchange == ExchangeKind::Broadcast;
                is_broadcast && e.uid.is_some() && e.uid == input.uid
            };
            match edges.find(is_it) {
                Some(edge) => self.crossing(edge, super::Side::Written, super::Amount::Rows),
                None => at(&input.rows),
            }
        });
        Value::sum(rows)
    }

    /// The optimizer's rows of an operator.
    pub(super) fn estimate(&self, stage: usize, operator: usize) -> Option<Value> {
        let plan = self.job.plan.as_ref()?;
        let node = self.job.estimate_of(stage, operator)?.value;
        let group = node.group.as_ref();
        let source = Source {
            file: plan.file.clone(),
            locator: group.map(|g| format!("TableGroupProperties[@Grp={g}]/@Card")),
        };
        Value::at(node.card?, source)
    }
}

/// Time of the completed attempts, as events give it.
const RUN: &str = "running to ended";

/// A field of all attempts of a stage.
fn field(stage: &Stage, runs: &StageRuns, name: &str) -> Source {
    Source {
        file: runs.file.clone(),
        locator: Some(format!("{}/{name}", stage.name)),
    }
}

/// Vertices that ran to their end: counted in the events, or as another file states them.
fn vertices(stage: &Stage, facts: &StageFacts) -> Option<Value> {
    let counted = facts.vertices.as_ref()?;
    let number = counted.value as f64;
    match counted.sources.first()? {
        stated if stated.locator.is_some() => Value::at(number, stated.clone()),
        whole => {
            let field = Source {
                file: whole.file.clone(),
                locator: Some(format!("{}/completed", stage.name)),
            };
            Value::folded(number, Fold::Count, field)
        }
    }
}

/// The values of a spread: folded from every vertex, else from the statistics of its stage, which have largest and total.
fn spreading(
    stage: &Stage,
    spread: Option<&Derived<Spread>>,
    name: &str,
    vertices: Option<&Value>,
) -> Spreading {
    let Some(Derived { value, sources }) = spread else {
        return Spreading::default();
    };
    if value.p50.is_some() {
        let log = sources.last().filter(|s| s.locator.is_some()).cloned();
        let runs = stage.runs.as_ref();
        let Some(place) = log.or_else(|| Some(field(stage, runs?, name))) else {
            return Spreading::default();
        };
        let fold = |number: f64, fold| Value::folded(number, fold, place.clone());
        let (max, mean) = (fold(value.max, Fold::Max), fold(value.mean, Fold::Mean));
        return Spreading {
            total: fold(value.total, Fold::Sum),
            median: value.p50.and_then(|median| fold(median, Fold::Median)),
            max_over_mean: max.clone().zip(mean.clone()).and_then(|(a, b)| a.over(b)),
            max,
            mean,
        };
    }
    let mut stated = sources.iter().cloned();
    let max = stated.next().and_then(|place| Value::at(value.max, place));
    let total = stated
        .next()
        .and_then(|place| Value::at(value.total, place));
    let mean = total
        .clone()
        .zip(vertices.cloned())
        .and_then(|(total, n)| total.over(n));
    Spreading {
        max_over_mean: max.clone().zip(mean.clone()).and_then(|(a, b)| a.over(b)),
        median: None,
        total,
        mean,
        max,
    }
}

/// Rows of the vertex with most of them at an operator, and how often the mean that is.
fn largest(operator: &OperatorFacts, vertices: Option<&Value>) -> Option<(Value, Value)> {
    let (rows, max) = (
        at(&operator.rows)?,
        operator.rows_max.as_ref()?.to_largest()?,
    );
    let ratio = max.clone().over(rows.over(vertices?.clone())?)?;
    Some((max, ratio))
}

/// Rows that the vertices read: of each vertex where the engine counts them, else at the largest input.
fn rows_read(stage: &Stage, facts: &StageFacts, vertices: Option<&Value>) -> Spreading {
    let counted = spreading(
        stage,
        facts.per_vertex.rows_read.as_ref(),
        "Records Read",
        vertices,
    );
    if counted.max.as_ref().is_some_and(|max| max.number() > 0.0) {
        return counted;
    }
    let inputs = facts.operators.iter().filter(|o| o.role.is_input());
    let known = inputs.filter_map(|o| largest(o, vertices));
    let Some((max, ratio)) = known.max_by(|a, b| a.0.number().total_cmp(&b.0.number())) else {
        return Spreading::default();
    };
    Spreading {
        max: Some(max),
        max_over_mean: Some(ratio),
        ..Spreading::default()
    }
}

fn amounts(values: &mut Values, stage: &Stage, facts: &StageFacts, vertices: Option<&Value>) {
    let rows = rows_read(stage, facts, vertices);
    let total = values.value(&book::ROWS_IN).cloned();
    let mean = total.zip(vertices.cloned());
    let mean = rows.mean.or_else(|| mean.and_then(|(n, of)| n.over(of)));
    values.set(&book::ROWS_MEAN, mean);
    values.set(&book::ROWS_MEDIAN, rows.median);
    values.set(&book::ROWS_MAX, rows.max);
    values.set(&book::ROWS_MAX_OVER_MEAN, rows.max_over_mean);
    let read = spreading(stage, facts.bytes_read.as_ref(), "bytes read", vertices);
    values.set(&book::BYTES_READ, read.total);
    values.set(&book::READ_MEAN, read.mean);
    values.set(&book::READ_MEDIAN, read.median);
    values.set(&book::READ_MAX, read.max);
    values.set(&book::READ_MAX_OVER_MEAN, read.max_over_mean);
    let remote = facts
        .operators
        .iter()
        .filter_map(|o| o.remote_bytes.as_ref());
    values.set(&book::NETWORK, Value::sum(remote.map(at)));
    let stated = facts.stated.as_ref();
    values.set(
        &book::CROSS_POD,
        stated.and_then(|account| at(&account.cross_pod)),
    );
    let written = spreading(
        stage,
        facts.bytes_written.as_ref(),
        "bytes written",
        vertices,
    );
    values.set(&book::BYTES_WRITTEN, written.total);
    values.set(&book::WRITTEN_MEAN, written.mean);
    values.set(&book::WRITTEN_MEDIAN, written.median);
    values.set(&book::WRITTEN_MAX, written.max);
    // an event log counts shuffled bytes there, which are no temporary data of a job
    let stated = facts.stated.as_ref().filter(|_| facts.gc.ms.is_none());
    let temporary = stated.and_then(|account| at(&account.temp_written));
    values.set(&book::TEMPORARY, temporary);
}

fn troubles(values: &mut Values, stage: &Stage, facts: &StageFacts) {
    let details = &facts.per_vertex;
    let spread = |of: &Option<Derived<Spread>>, name| spreading(stage, of.as_ref(), name, None);
    let cpu = spread(&details.cpu_ms, "CPU time").total.or_else(|| {
        let files = [&facts.counted, &facts.stated];
        files
            .into_iter()
            .flatten()
            .find_map(|file| at(&file.cpu_ms))
    });
    let files = [&facts.stated, &facts.counted].into_iter().flatten();
    let mut planned = files.filter_map(|file| {
        let stated = file.vertices.as_ref()?;
        Value::at(stated.value, stated.source())
    });
    values.set(&book::PLANNED, planned.next());
    values.set(&book::CPU_TIME, cpu);
    let fetch = spread(&details.fetch_wait_ms, "fetch wait");
    values.set(&book::FETCH_WAIT, fetch.total);
    let spilled = spread(&details.disk_spilled, "disk spilled");
    values.set(&book::SPILLED, spilled.total);
    let in_memory = spread(&details.memory_spilled, "memory spilled");
    values.set(&book::MEMORY_SPILLED, in_memory.total);
    let working = spread(&details.peak_memory, "peak memory");
    values.set(&book::WORKING_MEMORY, working.max);
    values.set(&book::GC_SHARE, gc_share(facts));
    values.set(&book::GC_TIME, at(&facts.gc.ms));
    let spills = facts.spills().and_then(|n| {
        let mut counted = facts.operators.iter();
        let counted = counted.find_map(|o| o.spilled.as_ref().or(o.spilled_bytes.as_ref()))?;
        let operators = Source {
            file: counted.source().file,
            locator: Some(format!("{}/operators that spill", stage.name)),
        };
        Value::folded(n as f64, Fold::Count, operators)
    });
    values.set(&book::SPILLS, spills);
    values.set(&book::MEMORY_PEAK, at(facts.memory_peak()));
    let limit = facts.memory_limit.filter(|_| facts.memory_peak().is_some());
    let limit = limit.zip(stage.definition("EstimatedLimitMemory/@processMemory"));
    values.set(
        &book::MEMORY_LIMIT,
        limit.and_then(|(bytes, place)| Value::at(bytes, place)),
    );
}

/// Share of the time in garbage collection, by the times of all tasks or as a counter states it in percent.
fn gc_share(facts: &StageFacts) -> Option<Value> {
    let run = facts.counted.as_ref().and_then(|c| at(&c.run_ms));
    let by_times = at(&facts.gc.ms).zip(run).and_then(|(gc, run)| gc.over(run));
    let percent = || facts.gc.mean_percent.as_ref().or(facts.gc.percent.as_ref());
    by_times.or_else(|| at(percent())?.times(0.01))
}
