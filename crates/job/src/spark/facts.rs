//! Typed facts of a stage from the tasks and the metrics of its plan nodes. No other module knows
//! Spark's names for them.

use std::collections::HashMap;
use std::sync::Arc;

use super::plan::{Metrics, Pieces, is_read_side, is_wrapper, kind, scale};
use super::tasks::{Quantity, Tasks};
use crate::facts::{
    Account, Derived, Details, Gc, Measured, OperatorFacts, PerVertex, Place, Role, Spread,
    StageFacts, TimeSplit,
};
use crate::model::{Operator, OperatorKind, Source, StageAttempt};
use crate::runs::StageRuns;

/// Sources of the numbers of one stage.
pub(super) struct StageSource<'a> {
    pub(super) file: &'a str,
    pub(super) stage: &'a str,
    pub(super) record: &'a StageAttempt,
    pub(super) runs: Option<&'a StageRuns>,
    pub(super) tasks: &'a Tasks,
    /// Place of the numbers of the whole stage.
    pub(super) shared: Arc<Place>,
}

impl StageSource<'_> {
    fn place(&self, operator: Option<&str>) -> Arc<Place> {
        Arc::new(Place::Log {
            file: self.file.into(),
            stage: self.stage.into(),
            operator: operator.map(Into::into),
        })
    }

    fn measured(&self, value: f64, metric: &'static str) -> Measured {
        let place = Arc::clone(&self.shared);
        Measured {
            value,
            metric,
            place,
        }
    }

    fn total(&self, of: Quantity, metric: &'static str) -> Option<Measured> {
        Some(self.measured(self.tasks.total(of)?, metric))
    }

    /// A number over the tasks; `None` if the log lost some of them.
    fn spread(&self, of: Quantity, metric: &'static str) -> Option<Derived<Spread>> {
        let (all, worst) = self.tasks.spread(of).filter(|_| !self.record.lost_events)?;
        let attempts = &self.record.attempts;
        let slowest = attempts.iter().find(|t| t.index == worst && t.succeeded);
        let total = Source {
            file: self.file.to_owned(),
            locator: Some(format!("{}/{metric}", self.stage)),
        };
        let line = slowest.map(|t| Source {
            file: self.file.to_owned(),
            locator: Some(format!("line {}", t.line)),
        });
        Some(Derived {
            value: Spread::of(&all, worst)?,
            sources: line.into_iter().chain([total]).collect(),
        })
    }

    /// Facts of the stage except its operators.
    pub(super) fn facts(&self) -> StageFacts {
        use Quantity as Q;
        let run_ms = self.total(Q::Run, RUN);
        let gc_ms = self.total(Q::Gc, GC);
        let share = run_ms.as_ref().zip(gc_ms.as_ref());
        // each task of an executor reports the pauses of all its tasks
        let percent = share.map(|(run, gc)| match run.value > 0.0 {
            true => (gc.value / run.value * 100.0).min(100.0),
            false => 0.0,
        });
        let counts = self.tasks.counts;
        let count = |n: u64, metric| Some(self.measured(n as f64, metric));
        StageFacts {
            vertices: Some(Derived {
                value: u64::from(self.record.tasks).max(1),
                sources: vec![self.measured(0.0, "Number of Tasks").source()],
            }),
            run_ms: self.spread(Q::Held, "Task Info"),
            waits: self.runs.and_then(TimeSplit::of_runs),
            bytes_read: self.spread(Q::BytesRead, "Bytes Read"),
            bytes_written: self.spread(Q::BytesWritten, "Bytes Written"),
            counted: run_ms.clone().map(|run_ms| {
                Box::new(Account {
                    vertices: count(u64::from(self.record.tasks), "Number of Tasks"),
                    succeeded: count(counts.completed, "Success"),
                    failed: count(counts.failed, "ExceptionFailure"),
                    revoked: count(counts.revoked, "ExecutorLostFailure"),
                    run_ms: Some(run_ms),
                    failed_ms: count(self.tasks.failed_ms, "ExceptionFailure"),
                    cpu_ms: self.total(Q::Cpu, CPU),
                    bytes_read: self.total(Q::BytesRead, "Bytes Read"),
                    bytes_written: self.total(Q::BytesWritten, "Bytes Written"),
                    temp_written: self.total(Q::ShuffleWritten, "Shuffle Bytes Written"),
                    ..Account::default()
                })
            }),
            gc: Gc {
                mean_percent: percent.map(|p| self.measured(p, GC)),
                max_percent: percent.map(|_| self.measured(self.tasks.worst_gc * 100.0, GC)),
                ms: gc_ms,
                ..Gc::default()
            },
            per_vertex: self.per_vertex(),
            ..StageFacts::default()
        }
    }

    /// Distributions over the tasks; none if only totals were kept.
    fn per_vertex(&self) -> Details {
        use Quantity as Q;
        if self.tasks.is_shed() {
            return Details::default();
        }
        Details::from(PerVertex {
            rows_read: self.spread(Q::RowsRead, "Records Read"),
            rows_written: self.spread(Q::RowsWritten, "Records Written"),
            stored_bytes_read: self.spread(Q::Input, "Input Metrics/Bytes Read"),
            stored_bytes_written: self.spread(Q::Output, "Output Metrics/Bytes Written"),
            exchange_bytes_read: self.spread(Q::ShuffleRead, "Shuffle Read Metrics"),
            exchange_rows_read: self.spread(Q::ShuffleReadRows, "Total Records Read"),
            exchange_bytes_written: self.spread(Q::ShuffleWritten, "Shuffle Bytes Written"),
            exchange_rows_written: self.spread(Q::ShuffleWrittenRows, "Shuffle Records Written"),
            task_ms: self.spread(Q::Run, RUN),
            cpu_ms: self.spread(Q::Cpu, CPU),
            gc_ms: self.spread(Q::Gc, GC),
            startup_ms: self.spread(Q::Startup, "Executor Deserialize Time"),
            scheduler_delay_ms: self.spread(Q::Delay, "Task Info"),
            fetch_wait_ms: self.spread(Q::FetchWait, "Fetch Wait Time"),
            exchange_write_ms: self.spread(Q::ShuffleWriteTime, "Shuffle Write Time"),
            memory_spilled: self.spread(Q::MemorySpilled, "Memory Bytes Spilled"),
            disk_spilled: self.spread(Q::DiskSpilled, "Disk Bytes Spilled"),
            peak_memory: self.spread(Q::PeakMemory, "Peak Execution Memory"),
            result_bytes: self.spread(Q::Result, "Result Size"),
        })
    }

    /// Facts of Python functions without a plan: their input in bytes. Python batches rows, so
    /// records of an RDD don't count them.
    pub(super) fn unplanned_code(&self, code: &Operator) -> OperatorFacts {
        OperatorFacts {
            uid: code.uid,
            name: code.class_name.as_str().into(),
            role: Role::ManagedCode,
            bytes: self.total(Quantity::BytesRead, "Bytes Read"),
            ..OperatorFacts::default()
        }
    }
}

const RUN: &str = "Executor Run Time";
const CPU: &str = "Executor CPU Time";
const GC: &str = "JVM GC Time";

/// Builds the operators' facts of one stage, piece by piece.
pub(super) struct Counting<'a> {
    pub(super) source: &'a StageSource<'a>,
    pub(super) metrics: &'a Metrics<'a>,
    pub(super) stage: usize,
}

impl Counting<'_> {
    /// Value and maximum of a node's metric in this stage.
    fn metric(
        &self,
        pieces: &Pieces,
        node: usize,
        name: &'static str,
        place: &Arc<Place>,
    ) -> (Option<Measured>, Option<Measured>) {
        let raw = pieces.raw[node].metrics.iter().find(|(n, _, _)| n == name);
        let Some((_, id, unit)) = raw else {
            return (None, None);
        };
        let measured = |value: f64| Measured {
            value: value * scale(unit),
            metric: name,
            place: Arc::clone(place),
        };
        // tasks send no update for a count of zero
        let found = self.metrics.of_stage[self.stage]
            .get(id)
            .copied()
            .unwrap_or_default();
        let max = Some(found.max).filter(|_| !self.source.record.lost_events);
        (Some(measured(found.sum)), max.map(measured))
    }

    /// Adds the facts of the nodes of a piece that runs in this stage, in pre-order.
    pub(super) fn piece(&self, pieces: &Pieces, piece: usize, to: &mut Vec<OperatorFacts>) {
        let mut place_of: HashMap<usize, usize> = HashMap::new();
        if let Some(exchange) = pieces.written_by[piece] {
            place_of.insert(exchange, to.len());
            to.push(self.written(pieces, exchange));
        }
        for node in pieces.own[piece].iter().copied() {
            let name = &pieces.raw[node].name;
            if is_wrapper(name) {
                continue;
            }
            let consumer = pieces.consumer(node);
            let parent = consumer.and_then(|c| place_of.get(&c).copied());
            let fact = match pieces.exchange(node) {
                Some(exchange) => self.read(pieces, exchange, parent),
                None => {
                    place_of.insert(node, to.len());
                    self.operator(pieces, node, parent)
                }
            };
            to.push(fact);
        }
    }

    fn base(
        &self,
        pieces: &Pieces,
        node: usize,
        parent: Option<usize>,
    ) -> (OperatorFacts, Arc<Place>) {
        let name = pieces.raw[node].name.trim();
        let uid = pieces.nodes[node].uid;
        let place = self.source.place(Some(&format!("{name}[{uid}]")));
        let facts = OperatorFacts {
            uid: Some(uid),
            name: name.into(),
            parent,
            ..OperatorFacts::default()
        };
        (facts, place)
    }

    fn operator(&self, pieces: &Pieces, node: usize, parent: Option<usize>) -> OperatorFacts {
        let (facts, place) = self.base(pieces, node, parent);
        let get = |name| self.metric(pieces, node, name, &place);
        let raw = &pieces.raw[node];
        let kind = kind(&raw.name, &raw.text);
        let (rows, rows_max) = get("number of output rows");
        // the driver counts the rows of a command
        let of_driver = pieces.nodes[node].metric("number of output rows");
        let of_driver = of_driver.filter(|_| raw.name.trim().starts_with("Execute "));
        let rows = rows.map(|rows| Measured {
            value: of_driver.unwrap_or(rows.value),
            ..rows
        });
        let rows_max = rows_max.filter(|_| of_driver.is_none());
        let (spilled, spilled_max) = get("spill size");
        let own = match kind {
            OperatorKind::Sort => get("sort time").0,
            OperatorKind::Extract => get("scan time").0,
            _ => None,
        };
        let bytes = match kind {
            OperatorKind::Extract => get("size of files read").0.filter(|m| m.value > 0.0),
            _ => None,
        };
        OperatorFacts {
            role: role(kind),
            most_spilled: spilled.as_ref().map(|m| m.value),
            peak_memory: get("peak memory").0,
            own_ms: own,
            rows,
            rows_max,
            bytes,
            spilled_bytes: spilled,
            spilled_bytes_max: spilled_max,
            ..facts
        }
    }

    /// The writing side of an exchange.
    fn written(&self, pieces: &Pieces, node: usize) -> OperatorFacts {
        let (facts, place) = self.base(pieces, node, None);
        let get = |name| self.metric(pieces, node, name, &place);
        let (rows, rows_max) = get("shuffle records written");
        // the driver counts the broadcast rows and bytes
        let of_driver = |metric: &'static str| {
            let value = pieces.nodes[node].metric(metric)?;
            let place = Arc::clone(&place);
            Some(Measured {
                value,
                metric,
                place,
            })
        };
        let rows = rows.or_else(|| of_driver("number of output rows"));
        let bytes = get("shuffle bytes written").0;
        OperatorFacts {
            role: Role::ChannelWriter,
            bytes: bytes.or_else(|| of_driver("data size")),
            own_ms: get("shuffle write time").0,
            rows,
            rows_max,
            ..facts
        }
    }

    /// The reading side of an exchange.
    fn read(&self, pieces: &Pieces, node: usize, parent: Option<usize>) -> OperatorFacts {
        let (facts, place) = self.base(pieces, node, parent);
        let get = |name| self.metric(pieces, node, name, &place);
        let (rows, rows_max) = get("records read");
        let (local, remote) = (get("local bytes read").0, get("remote bytes read").0);
        let any = pieces.raw[node]
            .metrics
            .iter()
            .any(|(name, _, _)| is_read_side(name));
        OperatorFacts {
            role: Role::ChannelReader,
            remote_bytes: remote.clone().filter(|_| any),
            bytes: both(local, remote).filter(|_| any),
            own_ms: get("fetch wait time").0,
            rows,
            rows_max,
            ..facts
        }
    }
}

/// Bytes from the same executor and from others.
fn both(local: Option<Measured>, remote: Option<Measured>) -> Option<Measured> {
    match (local, remote) {
        (Some(local), Some(remote)) => Some(Measured {
            value: local.value + remote.value,
            metric: "local bytes read + remote bytes read",
            place: local.place,
        }),
        (local, remote) => local.or(remote),
    }
}

fn role(kind: OperatorKind) -> Role {
    match kind {
        OperatorKind::Extract => Role::StoredInput,
        OperatorKind::Sort => Role::Sort,
        OperatorKind::Union => Role::Union,
        OperatorKind::Process => Role::ManagedCode,
        _ => Role::Other,
    }
}

/// Task time outside the timed operators: waiting for Python if rows go
/// through it, and the rest of the run time.
pub(super) fn rest(source: &StageSource<'_>, facts: &mut StageFacts) {
    use Quantity as Q;
    let total = |q| source.tasks.total(q).unwrap_or(0.0);
    let Some(run) = source.tasks.total(Q::Run) else {
        return;
    };
    let is_code = |o: &OperatorFacts| o.role == Role::ManagedCode;
    let code = facts.operators.iter().position(is_code);
    if let Some(code) = code.filter(|_| source.record.python) {
        let jvm = total(Q::Cpu) + total(Q::FetchWait) + total(Q::ShuffleWriteTime);
        let scans = facts.operators.iter();
        let scans = scans.filter(|o| o.role == Role::StoredInput);
        let scanned: f64 = scans.filter_map(|o| Some(o.own_ms.as_ref()?.value)).sum();
        let waited = (run - jvm).max(0.0).min((run - scanned).max(0.0));
        let metric = "Executor Run Time - Executor CPU Time";
        facts.operators[code].own_ms = Some(source.measured(waited, metric));
    }
    let known = facts.own_ms();
    if run > known {
        facts.operators.push(OperatorFacts {
            name: "pipeline".into(),
            own_ms: Some(source.measured(run - known, "Executor Run Time - time of operators")),
            ..OperatorFacts::default()
        });
    }
}
