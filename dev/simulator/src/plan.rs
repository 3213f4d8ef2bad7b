//! The logical plan of a simulated script, and all other parameters of its run.
//!
//! Script text, compiled stages, estimates and truth all come from this plan.

use crate::data::{Column, Table, Ty};

/// Index of a node in [`Spec::nodes`].
pub(crate) type NodeId = usize;

/// Language of the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// SCOPE (Cosmos).
    Scope,
    /// U-SQL.
    Usql,
}

/// One output column of a SELECT.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    /// Name of the output column.
    pub(crate) name: String,
    /// `None`: the input column of the same name; else an expression.
    pub(crate) expr: Option<Expr>,
}

/// A computed column.
#[derive(Debug, Clone)]
pub(crate) struct Expr {
    /// Text in the script.
    pub(crate) text: String,
    /// Input columns.
    pub uses: Vec<String>,
    /// The column that comes out.
    pub(crate) column: Column,
    /// Calls C# code.
    pub(crate) managed: bool,
}

/// A condition of a WHERE clause.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    /// Text in the script.
    pub(crate) text: String,
    /// Input columns.
    pub uses: Vec<String>,
    /// Share of the rows that pass.
    pub(crate) keeps: f64,
    /// Share that the optimizer believes to pass.
    pub(crate) believed: f64,
    /// Removes the frequent values (and nulls) of this column.
    pub(crate) drops_hot: Option<String>,
    /// Every row of the frequent values of this column passes, so that they are more frequent afterwards.
    pub(crate) passes_hot: Option<String>,
    /// Keeps only the frequent values of this column.
    pub(crate) only_hot: Option<String>,
    /// Calls C# code, which the optimizer does not move.
    pub(crate) managed: bool,
    /// That code, if it is not the usual cheap test.
    pub(crate) code: Option<Code>,
}

/// Cost of C# code in an expression.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Code {
    /// Microseconds of CPU per row.
    pub(crate) cpu_us: f64,
    /// Share of its time in garbage collection.
    pub(crate) gc: f64,
    /// Bytes held on the managed heap.
    pub(crate) heap: f64,
}

/// Kind of a join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JoinKind {
    /// INNER JOIN.
    Inner,
    /// LEFT OUTER JOIN.
    LeftOuter,
}

/// User code.
#[derive(Debug, Clone)]
pub(crate) struct Udo {
    pub(crate) class: String,
    /// Input columns that the code reads.
    pub(crate) reads: Vec<String>,
    /// Microseconds of CPU per row.
    pub(crate) cpu_us: f64,
    /// Share of its time in garbage collection.
    pub(crate) gc: f64,
    /// Bytes held on the managed heap.
    pub(crate) heap: f64,
    /// Frightening but dead code, as a decoy.
    pub(crate) scary: bool,
    /// Cause seeded in the code: an expensive loop.
    pub(crate) busy: bool,
    /// Cause seeded in the code: keeps every row of its input.
    pub(crate) hoards: bool,
    /// Cause seeded in the code: allocates many short-lived objects for every row.
    pub(crate) churns: bool,
    /// Emits a row for every word.
    pub(crate) splits: bool,
}

/// Operation of a statement.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    /// Reads a table.
    Read {
        /// Index in [`Spec::tables`].
        table: usize,
    },
    /// Projects and filters.
    Select {
        input: NodeId,
        /// Columns.
        items: Vec<Item>,
        /// Conditions, joined by AND.
        filters: Vec<Filter>,
    },
    /// Joins on one column each.
    Join {
        /// Left input (alias `l`).
        left: NodeId,
        /// Right input (alias `r`).
        right: NodeId,
        keys: (String, String),
        kind: JoinKind,
        /// Columns: from the right side if true.
        items: Vec<(bool, String)>,
        /// Rows of the right side for each key.
        fan_out: f64,
        /// Share of the left rows that have a partner.
        matched: f64,
    },
    /// Groups and aggregates.
    Group {
        input: NodeId,
        /// Keys; empty: one row over all.
        keys: Vec<String>,
        /// (function, argument or empty, output name).
        aggs: Vec<(&'static str, String, String)>,
    },
    /// REDUCE by user code.
    Reduce {
        input: NodeId,
        key: String,
        /// PRESORT column.
        presort: String,
        /// Output columns.
        produce: Vec<Column>,
        /// Output rows per input row (at least one per key).
        ratio: f64,
        /// Code.
        udo: Udo,
    },
    /// PROCESS by user code.
    Process {
        input: NodeId,
        /// Output columns.
        produce: Vec<Column>,
        /// Output rows per input row, actual and as the optimizer believes.
        ratio: f64,
        believed: f64,
        /// Code.
        udo: Udo,
    },
    /// UNION ALL.
    Union {
        /// Inputs with equal columns.
        inputs: Vec<NodeId>,
    },
    /// Writes a rowset.
    Output {
        input: NodeId,
        /// File name.
        file: String,
        /// CLUSTERED BY, for structured streams.
        clustered: Option<String>,
        /// ORDER BY of the whole output.
        order: Option<String>,
    },
}

/// A statement of the script.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// Rowset name (without `@`); empty for outputs.
    pub(crate) name: String,
    /// What it does.
    pub(crate) op: Op,
    /// Hints in front of the statement.
    pub(crate) hints: Vec<Hint>,
    /// Comment above the statement.
    pub(crate) comment: Option<String>,
}

/// A hint and its effect in the compiler.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Hint {
    /// `[ROWCOUNT=n]` or `OPTION(ROWCOUNT=n)`: the estimate.
    RowCount(f64),
    /// `[ROWSIZE=n]`: harmless.
    RowSize(u32),
    /// Partitions of the exchange that the statement needs.
    PartitionCount(u32),
    /// One partition.
    Serial,
    /// Repartitions although the partitioning fits.
    Repartition(u32),
    /// `SKEWJOIN`: hot keys are split over the partitions.
    SkewJoin,
    /// Forces a repartitioned join (`PAIR`).
    Pair,
}

/// Where machines misbehave.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
    /// All vertices of the stage of this node.
    Stage(NodeId),
    /// Some vertices of the stage of this node.
    Vertices(NodeId, u32),
    /// Work on the first machines of the cluster.
    Machines(u64),
    /// Any vertex.
    Anywhere,
}

/// How attempts end that fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Revoked, crashed, or with unreadable input.
    Mixed,
    /// Revoked by the scheduler for other jobs.
    Revoked,
    /// The process crashes.
    Crash,
    /// The input cannot be read.
    Unreadable,
}

/// Attempts that fail.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fails {
    pub(crate) place: Place,
    /// Probability.
    pub(crate) rate: f64,
    pub(crate) ending: Ending,
}

/// Vertices that run slowly, by factors on their CPU and on their waiting time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slow {
    pub(crate) place: Place,
    pub(crate) cpu: f64,
    pub(crate) wait: f64,
}

/// Vertices that need more memory than estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryLow {
    /// Every vertex, once or twice.
    Every,
    /// Only operators with much data.
    Large,
    /// Every vertex, three times.
    Thrice,
}

/// Properties of cluster and run.
#[derive(Debug, Clone)]
pub(crate) struct Env {
    /// Tokens (vertices that run at a time).
    pub(crate) tokens: u32,
    /// Megabytes a second read from disk.
    pub(crate) disk_mbs: f64,
    /// Megabytes a second over the network.
    pub(crate) net_mbs: f64,
    /// Factor on all CPU costs.
    pub(crate) cpu: f64,
    /// Seconds to start a vertex.
    pub(crate) start_s: f64,
    /// Bytes that a sort or hash table may hold.
    pub(crate) sort_memory: f64,
    /// Bytes that an exchange partition should have.
    pub(crate) partition_bytes: f64,
    /// Bytes of a leaf vertex.
    pub(crate) split_bytes: f64,
    /// Probability that an attempt fails (by node of the stage, or all).
    pub(crate) fail_rate: f64,
    /// Attempts that fail more often than the others.
    pub(crate) fails: Option<Fails>,
    /// Memory is estimated too low for the stage of this node.
    pub(crate) memory_low: Option<(NodeId, MemoryLow)>,
    /// Vertices that run on slow machines.
    pub(crate) slow: Option<Slow>,
    /// Tokens granted from a second of the run on, if fewer than asked for; ascending.
    pub(crate) grants: Vec<(f64, u32)>,
    /// Sorts of a vertex share the memory of one.
    pub(crate) shared_memory: bool,
    /// Spread of vertex times.
    pub(crate) jitter: f64,
    /// Tells the noise of one run of the job from that of another.
    pub(crate) luck: u64,
    /// Seconds in the queue.
    pub(crate) queue_s: f64,
    /// Estimated bytes up to which the smaller side of a join is broadcast.
    pub(crate) broadcast_bytes: f64,
    /// Estimated bytes up to which an aggregate is finished in one vertex.
    pub(crate) gather_bytes: f64,
    /// Largest number of partitions of an exchange.
    pub(crate) max_partitions: u32,
}

/// Everything that decides a job.
#[derive(Debug, Clone)]
pub(crate) struct Spec {
    /// Seed of all noise.
    pub(crate) seed: u64,
    /// Name of the template.
    pub(crate) template: &'static str,
    pub(crate) job_name: String,
    /// Script language.
    pub(crate) dialect: Dialect,
    /// Virtual cluster or database.
    pub(crate) realm: String,
    /// Inputs.
    pub(crate) tables: Vec<Table>,
    /// Statements.
    pub(crate) nodes: Vec<Node>,
    /// Cluster and run.
    pub(crate) env: Env,
    /// Helper functions in C#: (class, method, argument type, result type).
    pub(crate) helpers: Vec<(String, String, Ty, Ty)>,
}

impl Spec {
    /// Seed of the noise of times and failures.
    pub(crate) fn noise(&self) -> u64 {
        self.seed ^ self.env.luck
    }

    /// Changes every piece of user code.
    pub(crate) fn each_udo(&mut self, change: impl Fn(&mut Udo)) {
        for node in &mut self.nodes {
            if let Op::Reduce { udo, .. } | Op::Process { udo, .. } = &mut node.op {
                change(udo);
            }
        }
    }

    /// Inputs of a node.
    pub(crate) fn inputs(&self, node: NodeId) -> Vec<NodeId> {
        match &self.nodes[node].op {
            Op::Read { .. } => Vec::new(),
            Op::Select { input, .. }
            | Op::Group { input, .. }
            | Op::Reduce { input, .. }
            | Op::Process { input, .. }
            | Op::Output { input, .. } => vec![*input],
            Op::Join { left, right, .. } => vec![*left, *right],
            Op::Union { inputs } => inputs.clone(),
        }
    }

    /// Output columns of a node, with the distribution of their values before any filter.
    pub(crate) fn columns(&self, node: NodeId) -> Vec<Column> {
        match &self.nodes[node].op {
            Op::Read { table } => self.tables[*table].columns.clone(),
            Op::Select { input, items, .. } => {
                let from = self.columns(*input);
                items.iter().filter_map(|i| item_column(i, &from)).collect()
            }
            Op::Join {
                left,
                right,
                items,
                kind,
                matched,
                ..
            } => {
                let (l, r) = (self.columns(*left), self.columns(*right));
                let outer = *kind == JoinKind::LeftOuter;
                let pick = |(of_right, name): &(bool, String)| {
                    let mut c = if *of_right { &r } else { &l }
                        .iter()
                        .find(|c| c.name == *name)?
                        .clone();
                    if *of_right && outer {
                        c = c.with_nulls(1.0 - matched);
                    }
                    Some(c)
                };
                items.iter().filter_map(pick).collect()
            }
            Op::Group { input, keys, aggs } => {
                let from = self.columns(*input);
                let mut out: Vec<Column> = keys
                    .iter()
                    .filter_map(|k| from.iter().find(|c| c.name == *k))
                    .map(Column::flattened)
                    .collect();
                out.extend(
                    aggs.iter()
                        .map(|(f, arg, name)| agg_column(f, arg, name, &from)),
                );
                out
            }
            Op::Reduce { produce, .. } | Op::Process { produce, .. } => produce.clone(),
            Op::Union { inputs } => inputs.first().map(|&n| self.columns(n)).unwrap_or_default(),
            Op::Output { input, .. } => self.columns(*input),
        }
    }
}

/// The output column of a SELECT item.
pub(crate) fn item_column(item: &Item, from: &[Column]) -> Option<Column> {
    match &item.expr {
        None => from.iter().find(|c| c.name == item.name).cloned(),
        Some(expr) => Some(Column {
            name: item.name.clone(),
            ..expr.column.clone()
        }),
    }
}

/// The output column of an aggregate.
fn agg_column(function: &str, arg: &str, name: &str, from: &[Column]) -> Column {
    let ty = match function {
        "COUNT" | "COUNTD" => Ty::Long,
        "AVG" => Ty::Double,
        "SUM" => Ty::Long,
        _ => from
            .iter()
            .find(|c| c.name == arg)
            .map_or(Ty::Long, |c| c.ty),
    };
    let width = from.iter().find(|c| c.name == arg).map_or(8.0, |c| c.width);
    let mut column = Column::new(name, ty, width, 1e5);
    column.nullable = true;
    column
}
