//! The sheet of a job: every measure that its files give, with the places of each number, for both engines alike.

mod stage;

use std::sync::Arc;

use report::Source;
use report::measure::{Fold, InputSheet, Sheet, Value, Values, book};

use crate::facts::{Measured, StageFacts};
use crate::model::{Edge, ExchangeKind, Job, Table};

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
        let tokens = job
            .info
            .tokens
            .and_then(|n| self.stated(f64::from(n), "tokens"));
        let stages: Vec<_> = (0..job.stages.len())
            .map(|index| self.stage(index, tokens.as_ref()))
            .collect();
        let exchanges: Vec<Values> = job.edges.iter().map(|e| self.exchange(e)).collect();
        let inputs: Vec<InputSheet> = job.tables.iter().map(input).collect();
        let mut values = Values::default();
        let seconds = |number: Option<f64>, field| self.stated(number?, field);
        let info = &job.info;
        values.set(
            &book::ELAPSED,
            seconds(info.elapsed_seconds, "elapsed_seconds"),
        );
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
        values.set(&book::TOKENS, tokens);
        values.set(&book::STAGES, self.number_of_stages());
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
        }
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

    fn number_of_stages(&self) -> Option<Value> {
        let stages = &self.job.stages;
        let defined = stages.iter().find_map(|s| s.defined_in.clone());
        let counted = || {
            stages
                .iter()
                .find_map(|s| Some(s.counters.as_ref()?.file.clone()))
        };
        let file = defined
            .or_else(counted)
            .or_else(|| Some(self.whole_log()?.file))?;
        let stated = Source {
            file,
            locator: Some("stages".to_owned()),
        };
        Value::folded(stages.len() as f64, Fold::Count, stated)
    }

    fn exchange(&self, edge: &Edge) -> Values {
        let mut values = Values::default();
        let definition = || {
            let from = self.job.stages.get(edge.from)?;
            let partitioner = edge.partitioner.as_ref()?;
            from.definition(&format!("{partitioner}/@args"))
        };
        let place = || definition().or_else(|| self.channel(edge));
        let partitions = edge
            .partitions
            .and_then(|n| Value::at(f64::from(n), place()?));
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
    let partitions = Some(table.partitions.len()).filter(|n| *n > 0);
    let partitions =
        partitions.and_then(|n| Value::folded(n as f64, Fold::Count, source("partitions")?));
    values.set(&book::STORED_PARTITIONS, partitions);
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
