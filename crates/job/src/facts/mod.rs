//! Typed facts of stages and operators, independent of the engine that ran them.
//!
//! A front end fills in the values that its files contain; all others are `None`, never 0. Thresholds
//! and judgments belong to the rules.

mod spread;

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, LazyLock};

use report::Source;
use report::measure::{Fold, Value};

pub use spread::{Spread, TimeSplit};

/// A value computed from numbers of the files.
#[derive(Debug, Clone, PartialEq)]
pub struct Derived<T> {
    pub value: T,
    /// Inputs of the computation, the most significant first.
    pub sources: Vec<Source>,
}

/// A number as it is in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    pub value: f64,
    /// The name that the file gives it: `maxRowCount`.
    pub metric: &'static str,
    pub(crate) place: Arc<Place>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Place {
    /// An operator, a channel or the stage itself (empty name) in a tree of counters.
    Node {
        file: Arc<str>,
        stage: Arc<str>,
        name: Arc<str>,
        uid: Option<u32>,
    },
    /// A stage in a JSON list of statistics.
    Statistics {
        file: String,
        pointer: String,
        stage: String,
    },
    /// A stage of an event log, or an operator in it.
    Log {
        file: Arc<str>,
        stage: Arc<str>,
        operator: Option<Arc<str>>,
    },
}

impl Measured {
    pub fn source(&self) -> Source {
        let metric = self.metric;
        let (file, locator) = match &*self.place {
            Place::Node {
                file,
                stage,
                name,
                uid,
            } => {
                let node = match uid {
                    Some(uid) => format!("/{name}[@opId={uid}]"),
                    None if name.is_empty() => String::new(),
                    None => format!("/{name}"),
                };
                (file.to_string(), format!("{stage}{node}/@{metric}"))
            }
            Place::Statistics { file, pointer, .. } => {
                (file.clone(), format!("{pointer}/{metric}"))
            }
            Place::Log { file, .. } => (file.to_string(), format!("{}/{metric}", self.subject())),
        };
        Source {
            file,
            locator: Some(locator),
        }
    }

    /// The number with its place. In an event log that is a metric of all tasks of a stage.
    pub fn to_value(&self) -> Option<Value> {
        self.folded(Fold::Sum)
    }

    /// The same for a number that is the largest of any vertex.
    pub fn to_largest(&self) -> Option<Value> {
        self.folded(Fold::Max)
    }

    fn folded(&self, fold: Fold) -> Option<Value> {
        match &*self.place {
            Place::Log { .. } => Value::folded(self.value, fold, self.source()),
            _ => Value::at(self.value, self.source()),
        }
    }

    /// Measured entity, for a reader: `SV3_Combine/Sort[5]`.
    pub fn subject(&self) -> String {
        match &*self.place {
            Place::Statistics { stage, .. } => stage.clone(),
            Place::Log {
                stage, operator, ..
            } => match operator {
                Some(operator) => format!("{stage}/{operator}"),
                None => stage.to_string(),
            },
            Place::Node {
                stage, name, uid, ..
            } => match uid {
                _ if name.is_empty() => stage.to_string(),
                Some(uid) => format!("{stage}/{name}[{uid}]"),
                None => format!("{stage}/{name}"),
            },
        }
    }
}

/// The value, if the number is known.
pub fn value<'a>(measured: impl Into<Option<&'a Measured>>) -> Option<f64> {
    measured.into().map(|m| m.value)
}

/// Role of a counted operator, as far as rules distinguish them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    ChannelReader,
    ChannelWriter,
    StoredInput,
    Sort,
    /// Sorts as part of another operator.
    PartialSort,
    /// Unites its inputs. Its time includes the time of its inputs.
    Union,
    /// Runs managed code: the user's or generated.
    ManagedCode,
    #[default]
    Other,
}

impl Role {
    /// Whether its rows are input of the stage.
    pub fn is_input(self) -> bool {
        matches!(self, Role::ChannelReader | Role::StoredInput)
    }
}

/// Facts of an operator, or of one side of a channel.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OperatorFacts {
    /// The operator's number in the counters. Channels and operators share one numbering.
    pub uid: Option<u32>,
    /// The engine's name for it: `Sort`, `ScopeReduce`.
    pub name: Arc<str>,
    pub role: Role,
    /// The operator that takes its rows, by its index in [`StageFacts::operators`].
    pub parent: Option<usize>,
    /// Output rows, over all vertices.
    pub rows: Option<Measured>,
    /// Rows of the vertex with most of them.
    pub rows_max: Option<Measured>,
    /// Rows that a hash join builds its table from and probes it with.
    pub build_rows: Option<Measured>,
    pub probe_rows: Option<Measured>,
    /// Bytes read from or written to a channel or a store.
    pub bytes: Option<Measured>,
    /// The part of them that came from other machines, where the engine counts it.
    pub remote_bytes: Option<Measured>,
    /// Milliseconds in the operator itself, without its inputs, over all vertices.
    pub own_ms: Option<Measured>,
    /// Buckets or levels that went to disk; 0 if the counter shows none.
    pub spilled: Option<Measured>,
    /// Buckets spilled by the vertex with most of them, and by the mean vertex.
    pub spilled_max: Option<Measured>,
    pub spilled_mean: Option<Measured>,
    /// The largest spill counter of the operator, regardless of its unit.
    pub most_spilled: Option<f64>,
    /// Bytes that went to disk, if the engine counts them; over all vertices, and of the vertex
    /// with most of them.
    pub spilled_bytes: Option<Measured>,
    pub spilled_bytes_max: Option<Measured>,
    /// Bytes of memory at the peak, over all vertices.
    pub peak_memory: Option<Measured>,
}

impl OperatorFacts {
    pub fn has_spilled(&self) -> bool {
        self.spilled.as_ref().is_some_and(|m| m.value > 0.0)
    }
}

/// Totals of a stage from one kind of file. Times are in milliseconds over all vertices.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Account {
    /// Planned vertices, and completed ones.
    pub vertices: Option<Measured>,
    pub succeeded: Option<Measured>,
    pub failed: Option<Measured>,
    pub revoked: Option<Measured>,
    /// Time of the attempts with used output, and of the failed attempts.
    pub run_ms: Option<Measured>,
    pub failed_ms: Option<Measured>,
    pub cpu_ms: Option<Measured>,
    /// Bytes read from machines of other pods.
    pub cross_pod: Option<Measured>,
    pub bytes_read: Option<Measured>,
    /// Bytes read by the vertex with most of them, and with fewest.
    pub bytes_read_max: Option<Measured>,
    pub bytes_read_min: Option<Measured>,
    pub bytes_written: Option<Measured>,
    /// Bytes written to temporary storage: channels and spills.
    pub temp_written: Option<Measured>,
}

/// Garbage collection of a stage; times in percent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Gc {
    pub mean_percent: Option<Measured>,
    /// Of the worst vertex.
    pub max_percent: Option<Measured>,
    /// Used if the file has no values per vertex.
    pub percent: Option<Measured>,
    /// Full collections of the mean vertex.
    pub full_collections: Option<Measured>,
    /// Milliseconds of all code, over all vertices; `None` if only managed code is measured.
    pub ms: Option<Measured>,
}

/// Numbers that every vertex of a stage reports, spread over the completed vertices. `None` if the
/// engine doesn't measure it, or if events of some vertices are lost. Times are in
/// milliseconds, sizes in bytes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PerVertex {
    /// From storage and exchanges.
    pub rows_read: Option<Derived<Spread>>,
    /// To storage and exchanges.
    pub rows_written: Option<Derived<Spread>>,
    pub stored_bytes_read: Option<Derived<Spread>>,
    pub stored_bytes_written: Option<Derived<Spread>>,
    pub exchange_bytes_read: Option<Derived<Spread>>,
    pub exchange_rows_read: Option<Derived<Spread>>,
    pub exchange_bytes_written: Option<Derived<Spread>>,
    pub exchange_rows_written: Option<Derived<Spread>>,
    /// Running the task's own code, including garbage collection and waiting for its input.
    pub task_ms: Option<Derived<Spread>>,
    pub cpu_ms: Option<Derived<Spread>>,
    pub gc_ms: Option<Derived<Spread>>,
    /// Before the task's own code runs: loading it, and the scheduler's delay.
    pub startup_ms: Option<Derived<Spread>>,
    pub scheduler_delay_ms: Option<Derived<Spread>>,
    pub fetch_wait_ms: Option<Derived<Spread>>,
    pub exchange_write_ms: Option<Derived<Spread>>,
    /// Spilled data: size in memory, and on disk.
    pub memory_spilled: Option<Derived<Spread>>,
    pub disk_spilled: Option<Derived<Spread>>,
    /// Memory of sorts, joins and aggregations.
    pub peak_memory: Option<Derived<Spread>>,
    /// Results sent to the driver.
    pub result_bytes: Option<Derived<Spread>>,
}

/// [`PerVertex`], boxed only if known: a large job has many stages without these details.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Details(Option<Box<PerVertex>>);

impl From<PerVertex> for Details {
    fn from(known: PerVertex) -> Details {
        Details(Some(Box::new(known)))
    }
}

impl Deref for Details {
    type Target = PerVertex;

    fn deref(&self) -> &PerVertex {
        static NOTHING: LazyLock<PerVertex> = LazyLock::new(PerVertex::default);
        self.0.as_deref().unwrap_or(&NOTHING)
    }
}

impl DerefMut for Details {
    fn deref_mut(&mut self) -> &mut PerVertex {
        self.0.get_or_insert_default()
    }
}

impl Gc {
    /// Share of the time of the mean vertex, 0 to 1.
    pub fn mean_share(&self) -> Option<f64> {
        let percent = value(&self.mean_percent).or(value(&self.percent))?;
        Some(percent / 100.0)
    }

    /// Share of the time of the worst vertex, 0 to 1.
    pub fn max_share(&self) -> Option<f64> {
        let percent = value(&self.max_percent).or(value(&self.percent))?;
        Some(percent / 100.0)
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct StageFacts {
    /// Completed vertices.
    pub vertices: Option<Derived<u64>>,
    /// Milliseconds that the completed vertices ran, from vertex events.
    pub run_ms: Option<Derived<Spread>>,
    /// Mean milliseconds of waiting and running.
    pub waits: Option<Derived<TimeSplit>>,
    /// Bytes that the vertices read and wrote.
    pub bytes_read: Option<Derived<Spread>>,
    pub bytes_written: Option<Derived<Spread>>,
    /// Operators and channels that were counted, in pre-order: inputs follow their readers.
    pub operators: Vec<OperatorFacts>,
    /// By the operator's index in its stage.
    pub(crate) of_operator: Vec<Option<usize>>,
    /// By the counters of its operators; `None` if there are none.
    pub counted: Option<Box<Account>>,
    /// By the statistics of the service; `None` if there are none.
    pub stated: Option<Box<Account>>,
    pub gc: Gc,
    pub per_vertex: Details,
    /// Largest private bytes of a vertex.
    pub private_peak: Option<Measured>,
    /// Largest working set of a vertex.
    pub working_set_peak: Option<Measured>,
    /// Bytes that the compiler allows a vertex.
    pub memory_limit: Option<f64>,
}

impl StageFacts {
    pub fn operator(&self, index: usize) -> Option<&OperatorFacts> {
        self.operators.get((*self.of_operator.get(index)?)?)
    }

    /// Position of the operator or channel with this uid in [`StageFacts::operators`].
    pub fn position(&self, uid: Option<u32>) -> Option<usize> {
        let uid = uid?;
        self.operators.iter().position(|o| o.uid == Some(uid))
    }

    /// Facts of the operator or channel with this uid.
    pub fn by_uid(&self, uid: Option<u32>) -> Option<&OperatorFacts> {
        self.operators.get(self.position(uid)?)
    }

    /// Positions of all operators that feed an operator, directly or not.
    pub fn below(&self, position: usize) -> impl Iterator<Item = usize> + '_ {
        let is_below = move |at: &usize| self.above(*at).any(|parent| parent == position);
        (position + 1..self.operators.len()).filter(is_below)
    }

    /// Positions of the operators that an operator's rows go through, nearest first.
    pub fn above(&self, position: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.operators[position].parent, |at| {
            self.operators[*at].parent
        })
    }

    /// Rows of each input of an operator, counted at the nearest operators below with known rows.
    pub fn rows_in(&self, position: usize) -> Vec<f64> {
        let counted = self.counted_below(position).into_iter();
        counted
            .filter_map(|at| value(&self.operators[at].rows))
            .collect()
    }

    /// Positions of the nearest operators below one with known rows.
    pub(crate) fn counted_below(&self, position: usize) -> Vec<usize> {
        let mut counted = Vec::new();
        for at in self.below(position) {
            let covered = || self.above(at).any(|parent| counted.contains(&parent));
            if self.operators[at].rows.is_some() && !covered() {
                counted.push(at);
            }
        }
        counted
    }

    /// Rows of an operator over the vertices of the stage.
    pub fn rows_spread(&self, operator: &OperatorFacts) -> Option<Spread> {
        let vertices = self.vertices.as_ref()?.value;
        Spread::new(value(&operator.rows)?, value(&operator.rows_max)?, vertices)
    }

    /// Number of operators that spilled; `None` without spill counters.
    pub fn spills(&self) -> Option<usize> {
        let known = self.operators.iter().filter_map(|o| o.most_spilled);
        let counted: Vec<f64> = known.collect();
        (!counted.is_empty()).then(|| counted.iter().filter(|n| **n > 0.0).count())
    }

    /// Memory of the largest vertex: private bytes where they are counted, else the working set.
    pub fn memory_peak(&self) -> Option<&Measured> {
        let private = self.private_peak.as_ref();
        private.or(self.working_set_peak.as_ref())
    }

    /// Vertices over the tokens of the job: with 3.2 the stage runs in four rounds, if no other stage
    /// runs at the same time.
    pub fn waves(&self, tokens: Option<u32>) -> Option<f64> {
        let tokens = tokens.filter(|n| *n > 0)?;
        Some(self.vertices.as_ref()?.value as f64 / f64::from(tokens))
    }

    /// Own time of all operators in milliseconds; 0 if unknown.
    pub fn own_ms(&self) -> f64 {
        let counted = self.operators.iter().filter(|o| o.role != Role::Union);
        counted.filter_map(|o| value(&o.own_ms)).sum()
    }
}
