//! The sheet of a job: every measure that its files give, with the places of each number, for both engines alike.

mod stage;

use std::sync::Arc;

use report::Source;
use report::measure::{Fold, InputSheet, Sheet, Value, Values, book};

use crate::facts::{Measured, StageFacts};
use crate::model::{Application, Edge, ExchangeKind, Execution, Executor, Job, Table};

impl Job {
    /// Everything that was measured of the run.
    pub fn sheet(&self) -> Sheet {
        let filler = Filler {
            job: self,
            facts: self.facts(),
        };
        filler.sheet()
    }
}

struct Filler<'a> {
    job: &'a Job,
    /// Of every stage.
    facts: Vec<Arc<StageFacts>>,
}

/// A number of a file as a value.
fn at<'m>(measured: impl Into<Option<&'m Measured>>) -> Option<Value> {
    measured.into()?.to_value()
}

impl Filler<'_> {
    fn sheet(&self) -> Sheet {
        let job = self.job;
        let tokens = self.tokens();
        let stages: Vec<_> = (0..job.stages.len())
            .map(|index| self.stage(index, tokens.as_ref()))
            .collect();
        let exchanges: Vec<Values> = job.edges.iter().map(|e| self.exchange(e)).collect();
        let inputs: Vec<InputSheet> = job.tables.iter().map(|t| self.input(t)).collect();
        let mut values = Values::default();
        let seconds = |number: Option<f64>, field| self.stated(number?, field);
        let info = &job.info;
        values.set(&book::ELAPSED, self.elapsed());
        values.set(
            &book::QUEUED,
            seconds(info.queued_seconds, "queued_seconds"),
        );
        values.set(
            &book::COMPILED,
            seconds(info.compile_seconds, "compile_seconds"),
        );
        let of_stages =
            |measure| Value::sum(stages.iter().map(|s| s.values.value(measure).cloned()));
        let in_seconds = |measure| of_stages(measure).and_then(|ms| ms.times(1e-3));
        values.set(&book::VERTEX_TIME, in_seconds(&book::BUSY));
        values.set(&book::LOST_TIME, in_seconds(&book::LOST_WORK));
        let collecting = of_stages(&book::GC_TIME).zip(of_stages(&book::BUSY));
        let collecting = collecting.and_then(|(gc, busy)| gc.over(busy));
        values.set(&book::JOB_GC_SHARE, collecting);
        values.set(&book::TOKENS, tokens);
        self.application(&mut values);
        values.set(&book::JOB_VERTICES, of_stages(&book::VERTICES));
        let of_inputs =
            |measure| Value::sum(inputs.iter().map(|i| i.values.value(measure).cloned()));
        let of_roots = |measure| {
            let roots = stages.iter().enumerate();
            let roots = roots.filter(|(at, _)| job.edges_into(*at).next().is_none());
            Value::sum(roots.map(|(_, stage)| stage.values.value(measure).cloned()))
        };
        let rows = of_inputs(&book::STORED_ROWS).or_else(|| of_roots(&book::ROWS_IN));
        values.set(&book::INPUT_ROWS, rows);
        let bytes = of_inputs(&book::STORED_BYTES).or_else(|| of_roots(&book::BYTES_READ));
        values.set(&book::INPUT_BYTES, bytes);
        let crossing = exchanges
            .iter()
            .map(|e| e.value(&book::BYTES_CROSSING).cloned());
        values.set(&book::SHUFFLED, Value::sum(crossing));
        Sheet {
            job: values,
            stages,
            exchanges,
            inputs,
            executors: self.executors(),
            executions: self.executions(),
        }
    }

    fn executors(&self) -> Vec<Values> {
        let app = self.job.spark.as_deref();
        let begun = self.job.info.submitted_ms;
        let of_executor = |(app, e): (&Application, &Executor)| {
            let mut values = Values::default();
            let of_tasks = |number: f64, fold| {
                let locator = Some(format!("TaskEnd[Executor ID={}]", e.id));
                let file = app.file.clone();
                Value::folded(number, fold, Source { file, locator })
            };
            values.set(&book::TASKS_RUN, of_tasks(e.tasks as f64, Fold::Count));
            values.set(&book::EXECUTOR_BUSY, of_tasks(e.busy_ms as f64, Fold::Sum));
            let after = |at: Option<i64>| {
                let seconds = at.zip(begun).map(|(at, begun)| (at - begun) as f64 / 1e3);
                Value::at(seconds?, app.at_line(e.line))
            };
            let cores = e.cores.map(f64::from);
            let cores = cores.and_then(|n| Value::at(n, app.at_line(e.line)));
            values.set(&book::EXECUTOR_CORES, cores);
            values.set(&book::EXECUTOR_ADDED, after(e.added_ms));
            let lost = e.removed_ms.filter(|_| e.lost);
            values.set(&book::EXECUTOR_LOST, after(lost));
            values
        };
        let all = app
            .iter()
            .flat_map(|app| app.executors.iter().map(move |e| (*app, e)));
        all.map(of_executor).collect()
    }

    fn executions(&self) -> Vec<Values> {
        let app = self.job.spark.as_deref();
        let of_execution = |(app, e): (&Application, &Execution)| {
            let mut values = Values::default();
            let ms = e.started_ms.zip(e.ended_ms).map(|(from, to)| to - from);
            let ms = ms.and_then(|ms| Value::at(ms as f64, app.at_line(e.line)));
            values.set(&book::EXECUTION_TIME, ms);
            values
        };
        let all = app
            .iter()
            .flat_map(|app| app.executions.iter().map(move |e| (*app, e)));
        all.map(of_execution).collect()
    }

    /// The optimizer's rows of the operator that reads an input.
    fn expected_rows(&self, table: &Table) -> Option<Value> {
        let id = table.stream_id.as_deref()?;
        let mut stages = self.job.stages.iter().enumerate();
        let (stage, operator) = stages.find_map(|(at, stage)| {
            let mut operators = stage.operators.iter();
            Some((at, operators.position(|o| o.id == id)?))
        })?;
        self.estimate(stage, operator)
    }

    /// A number of the job's own information.
    fn stated(&self, number: f64, field: &str) -> Option<Value> {
        let sources = &self.job.info.sources;
        let mut fields = [field, "ended_ms", "started_ms"].into_iter();
        let source = fields.find_map(|field| sources.get(field)).cloned();
        Value::at(number, source.or_else(|| self.whole_log())?)
    }

    fn whole_log(&self) -> Option<Source> {
        let file = self.job.spark.as_ref()?.file.clone();
        Some(Source {
            file,
            locator: None,
        })
    }

    /// The run time: stated, or the end less the start.
    fn elapsed(&self) -> Option<Value> {
        let info = &self.job.info;
        let elapsed = info.elapsed_seconds?;
        let place = |field: &str| info.sources.get(field);
        let between = place("started_ms").zip(place("ended_ms"));
        let is_between = place("elapsed_seconds") == place("ended_ms");
        match between.filter(|(start, end)| is_between && start.file == end.file) {
            Some((start, end)) => {
                let [from, to] = [start, end].map(|s| s.locator.as_deref().unwrap_or("*"));
                let span = Source {
                    file: end.file.clone(),
                    locator: Some(format!("{from} to {to}")),
                };
                Value::folded(elapsed * 1e3, Fold::Span, span)?.times(1e-3)
            }
            None => self.stated(elapsed, "elapsed_seconds"),
        }
    }

    /// Executors, jobs and executions of an application.
    fn application(&self, values: &mut Values) {
        let Some(app) = self.job.spark.as_deref() else {
            return;
        };
        let counted = |n: usize, field: &str| {
            let records = Source {
                file: app.file.clone(),
                locator: Some(field.to_owned()),
            };
            Value::folded(n as f64, Fold::Count, records)
        };
        let added = || app.executors.iter().filter(|e| e.added_ms.is_some());
        values.set(
            &book::EXECUTORS,
            counted(added().count(), "Executor Info/Total Cores"),
        );
        if app.untold_actions.is_empty() {
            let (jobs, executions) = (app.jobs.len(), app.executions.len());
            let started = "SparkListenerSQLExecutionStart/executionId";
            values.set(
                &book::SPARK_JOBS,
                counted(jobs, "SparkListenerJobStart/Job ID"),
            );
            values.set(&book::EXECUTIONS, counted(executions, started));
        }
        let cached: f64 = app.cached.iter().map(|c| c.memory_bytes as f64).sum();
        let sizes = Source {
            file: app.file.clone(),
            locator: Some("RDD Info/Memory Size".to_owned()),
        };
        // logs of newer versions state no sizes
        let cached = Some(cached).filter(|bytes| *bytes > 0.0);
        let cached = cached.and_then(|bytes| Value::folded(bytes, Fold::Sum, sizes));
        values.set(&book::CACHED, cached);
        let busy = values.value(&book::VERTEX_TIME).cloned();
        let busy = busy.zip(values.value(&book::ELAPSED).cloned());
        let slots = values.value(&book::TOKENS).cloned();
        let busy = busy.and_then(|(busy, elapsed)| busy.over(elapsed)?.over(slots?));
        values.set(&book::BUSY_SLOTS, busy);
        let submitted = self.job.info.sources.get("submitted_ms");
        let begun = self.job.info.submitted_ms.zip(submitted);
        let first = added()
            .min_by_key(|e| e.added_ms)
            .filter(|e| e.id != "driver");
        let waited = begun.zip(first).and_then(|((begun, from), executor)| {
            let span = Source {
                file: app.file.clone(),
                locator: Some(format!(
                    "{} to SparkListenerExecutorAdded/Timestamp",
                    from.locator.as_deref()?
                )),
            };
            let ms = executor.added_ms? - begun;
            Value::folded(ms as f64, Fold::Span, span)?.times(1e-3)
        });
        values.set(&book::FIRST_EXECUTOR, waited);
    }

    /// Slots of all executors of an application, or the tokens that a file states.
    fn tokens(&self) -> Option<Value> {
        let tokens = f64::from(self.job.info.tokens?);
        let Some(log) = self.whole_log() else {
            return self.stated(tokens, "tokens");
        };
        let cores = Source {
            locator: Some("Executor Info/Total Cores".to_owned()),
            ..log
        };
        Value::folded(tokens, Fold::Sum, cores)
    }

    fn exchange(&self, edge: &Edge) -> Values {
        let mut values = Values::default();
        let partitions = edge.partitions.and_then(|n| {
            let place = self.partitions_of(edge).or_else(|| self.channel(edge));
            Value::at(f64::from(n), place?)
        });
        values.set(&book::PARTITIONS, partitions);
        values.set(
            &book::ROWS_CROSSING,
            self.crossing(edge, Side::Written, Amount::Rows),
        );
        values.set(
            &book::BYTES_CROSSING,
            self.crossing(edge, Side::Written, Amount::Bytes),
        );
        values
    }

    /// Where the number of partitions of an edge is: at its partitioner, at its channel, or in the plan of its execution.
    fn partitions_of(&self, edge: &Edge) -> Option<Source> {
        if let Some(app) = &self.job.spark {
            let exchange = app.exchanges.iter().find(|e| Some(e.uid) == edge.uid)?;
            return Some(app.at_line(app.executions.get(exchange.execution)?.line));
        }
        let from = self.job.stages.get(edge.from)?;
        let mut operators = from.operators.iter();
        let partitioner = operators.find(|o| Some(&o.id) == edge.partitioner.as_ref());
        match partitioner.filter(|o| o.partition_count == edge.partitions) {
            Some(partitioner) => from.definition(&format!("{}/@args", partitioner.id)),
            None => from.definition(&format!("output[@id={}]/@numberOfOutputs", edge.channel)),
        }
    }

    /// The channel of an edge at the stage that writes it.
    fn channel(&self, edge: &Edge) -> Option<Source> {
        let from = self.job.stages.get(edge.from)?;
        let defined = from.defined_in.clone();
        Some(Source {
            file: defined.or_else(|| Some(self.whole_log()?.file))?,
            locator: Some(format!("{}/{}", from.name, edge.channel)),
        })
    }

    /// Rows or bytes of a channel: the counters of the operators that write or read it.
    fn crossing(&self, edge: &Edge, side: Side, amount: Amount) -> Option<Value> {
        let number = side.of(edge, amount)?;
        let stage = match side {
            Side::Written => edge.from,
            Side::Read => edge.to,
        };
        let facts = self.facts.get(stage)?;
        let role = match side {
            Side::Written => crate::facts::Role::ChannelWriter,
            Side::Read => crate::facts::Role::ChannelReader,
        };
        let counted = facts.operators.iter();
        let counted = counted.filter(|o| edge.uid.is_some() && o.uid == edge.uid && o.role == role);
        let counters = counted.filter_map(|o| match amount {
            Amount::Rows => o.rows.as_ref(),
            Amount::Bytes => o.bytes.as_ref(),
        });
        let counted = Value::sum(counters.map(at));
        let of_tasks = || {
            let spread = match amount {
                Amount::Rows => facts.per_vertex.exchange_rows_written.as_ref(),
                Amount::Bytes => facts.per_vertex.exchange_bytes_written.as_ref(),
            };
            let source = spread?.sources.last()?.clone();
            Value::folded(spread?.value.total, Fold::Sum, source)
        };
        let is_it = |value: &Value| (value.number() - number).abs() <= 1e-9 * number.abs();
        counted
            .filter(is_it)
            .or_else(|| of_tasks().filter(is_it))
            .or_else(|| Value::at(number, self.channel(edge)?))
    }

    /// What the readers of a channel read; where that isn't counted, what was written for them.
    fn received(&self, edge: &Edge) -> Option<Value> {
        self.crossing(edge, Side::Read, Amount::Rows)
            .or_else(|| self.crossing(edge, Side::Written, Amount::Rows))
    }
}

#[derive(Clone, Copy)]
enum Side {
    Written,
    Read,
}

#[derive(Clone, Copy)]
enum Amount {
    Rows,
    Bytes,
}

impl Side {
    fn of(self, edge: &Edge, amount: Amount) -> Option<f64> {
        // a broadcast is read by every vertex
        let is_broadcast = edge.exchange == ExchangeKind::Broadcast;
        match (self, amount) {
            (Side::Written, Amount::Rows) => edge.rows_written,
            (Side::Written, Amount::Bytes) => edge.bytes_written,
            (Side::Read, Amount::Rows) => edge.rows_read,
            (Side::Read, Amount::Bytes) => edge.bytes_read.filter(|_| !is_broadcast),
        }
    }
}

impl Filler<'_> {
    fn input(&self, table: &Table) -> InputSheet {
        let mut sheet = input(table);
        sheet
            .values
            .set(&book::EXPECTED_ROWS, self.expected_rows(table));
        sheet
    }
}

/// Sizes of the stored partitions of an input.
fn partitions(values: &mut Values, table: &Table) {
    let stated = table.clustering.as_ref().and_then(|c| c.partitions);
    let sizes = || table.partitions.iter().map(|p| p.bytes as f64);
    let count = match sizes().count() {
        0 => stated.map(f64::from),
        n => Some(n as f64),
    };
    let fields = ["partitions", "partition_rows", "clustering", "columns"];
    let mut sources = fields.iter().filter_map(|field| table.sources.get(field));
    let Some((count, source)) = count.zip(sources.next()) else {
        return;
    };
    values.set(
        &book::STORED_PARTITIONS,
        Value::folded(count, Fold::Count, source.clone()),
    );
    let total: f64 = sizes().sum();
    if total <= 0.0 {
        return;
    }
    for (measure, number, fold) in [
        (&book::PARTITION_MAX, sizes().reduce(f64::max), Fold::Max),
        (&book::PARTITION_MIN, sizes().reduce(f64::min), Fold::Min),
        (&book::PARTITION_MEAN, Some(total / count), Fold::Mean),
    ] {
        let value = number.and_then(|number| Value::folded(number, fold, source.clone()));
        values.set(measure, value);
    }
}

fn input(table: &Table) -> InputSheet {
    let source = |field: &str| {
        let mut fields = [field, "columns", "bytes", "rows"].into_iter();
        fields.find_map(|field| table.sources.get(field)).cloned()
    };
    let count = |number: Option<u64>, field: &str| Value::at(number? as f64, source(field)?);
    let mut values = Values::default();
    values.set(&book::STORED_ROWS, count(table.rows, "rows"));
    values.set(&book::STORED_BYTES, count(table.bytes, "bytes"));
    values.set(&book::STORED_FILES, count(table.file_count, "file_count"));
    partitions(&mut values, table);
    let column = |column: &crate::model::ColumnStatistics| {
        let mut values = Values::default();
        let count = |n: Option<u64>| count(n, "columns");
        values.set(&book::DISTINCT, count(column.distinct));
        values.set(&book::NULLS, count(column.nulls));
        values
    };
    InputSheet {
        values,
        columns: table.columns.iter().map(column).collect(),
    }
}
