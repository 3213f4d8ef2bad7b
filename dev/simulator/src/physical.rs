//! The compiled plan: stages of operators with the rows that each vertex sees.

use crate::data::Column;
use crate::plan::NodeId;

/// How rows get from one stage to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exchange {
    /// Hash partitioned.
    Hash,
    /// Everything to one vertex.
    Gather,
    /// Everything to every vertex.
    Broadcast,
}

/// Kind of a physical operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Get,
    Extract,
    Filter,
    ManagedFilter,
    Sort,
    MergeJoin,
    HashJoin,
    PartialAggregate,
    Aggregate,
    Reduce,
    Process,
    Union,
    Partition(Exchange),
    Output,
}

/// Where an operator gets its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// An operator of the same stage.
    Op(usize),
    /// An exchange.
    Channel(usize),
    Table(usize),
}

/// Placement of rows over the vertices of a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Placement {
    /// Anywhere.
    Any,
    /// By hash of the keys.
    Hash(Vec<String>),
    /// All in one vertex.
    Single,
}

impl Placement {
    /// Whether rows with equal `keys` are together.
    pub(crate) fn fits(&self, keys: &[String]) -> bool {
        match self {
            Self::Any => false,
            Self::Single => true,
            Self::Hash(have) => !have.is_empty() && have.iter().all(|k| keys.contains(k)),
        }
    }
}

/// A physical operator.
#[derive(Debug, Clone)]
pub(crate) struct PhysOp {
    pub(crate) kind: Kind,
    pub(crate) node: NodeId,
    pub(crate) sources: Vec<Source>,
    /// Keys of sorts, exchanges, joins, groups; `left|right` for joins.
    pub(crate) keys: Vec<String>,
    pub(crate) columns: Vec<Column>,
    pub(crate) placement: Placement,
    /// Rows out, by vertex.
    pub(crate) rows: Vec<f64>,
    /// Rows in, by vertex (all inputs).
    pub(crate) rows_in: Vec<f64>,
    /// Distinct keys of a grouping or joining operator, by vertex.
    pub(crate) distinct: Vec<f64>,
    /// Bytes that the operator reads or writes, by vertex.
    pub(crate) bytes: Vec<f64>,
    /// Bytes that the operator holds, by vertex.
    pub(crate) held: Vec<f64>,
    /// Bytes spilled, by vertex.
    pub(crate) spilled: Vec<f64>,
    /// Own time by vertex, and how much of it is CPU; milliseconds.
    pub(crate) ms: Vec<f64>,
    pub(crate) cpu_ms: Vec<f64>,
    /// Estimated rows.
    pub(crate) estimate: f64,
    /// Identity in the files, given after compilation.
    pub(crate) id: String,
    pub(crate) uid: u32,
    pub(crate) out_uid: u32,
    pub(crate) group: (u32, u32),
    /// Sends its rows on through this channel.
    pub(crate) channel: Option<usize>,
}

impl PhysOp {
    /// Mean bytes of a row.
    pub(crate) fn width(&self) -> f64 {
        row_width(&self.columns)
    }

    /// Bytes of a row that the optimizer expects.
    pub(crate) fn believed_width(&self) -> f64 {
        let widths = self.columns.iter().map(|c| c.width * c.believed_width);
        widths.sum::<f64>().max(4.0) + 2.0
    }

    /// Rows out over all vertices.
    pub(crate) fn total(&self) -> f64 {
        self.rows.iter().sum()
    }

    /// Schema text.
    pub(crate) fn schema(&self) -> String {
        schema(&self.columns)
    }
}

/// Schema text of columns.
pub(crate) fn schema(columns: &[Column]) -> String {
    columns
        .iter()
        .map(Column::schema)
        .collect::<Vec<_>>()
        .join(",")
}

/// Mean bytes of a row in flight.
pub(crate) fn row_width(columns: &[Column]) -> f64 {
    columns.iter().map(|c| c.width).sum::<f64>().max(4.0) + 2.0
}

/// An exchange between stages.
#[derive(Debug, Clone)]
pub(crate) struct Channel {
    pub(crate) from_stage: usize,
    pub(crate) from_op: usize,
    pub(crate) to_stage: usize,
    pub(crate) kind: Exchange,
    pub(crate) count: usize,
    /// Rows arriving, by vertex of the reading stage.
    pub(crate) rows: Vec<f64>,
    /// Distinct keys arriving.
    pub(crate) distinct: Vec<f64>,
    pub(crate) width: f64,
}

/// A stage.
#[derive(Debug, Clone)]
pub(crate) struct Stage {
    pub(crate) name: String,
    pub(crate) vertices: usize,
    pub(crate) ops: Vec<PhysOp>,
    /// Merged into another one.
    pub(crate) dead: bool,
    /// Run time of each vertex in seconds, without start-up.
    pub(crate) run_s: Vec<f64>,
    pub(crate) read: Vec<f64>,
    pub(crate) written: Vec<f64>,
    /// Share of garbage collection, for stages with user code.
    pub(crate) gc: f64,
    pub(crate) heap: f64,
    pub(crate) managed: bool,
}

/// The compiled job.
#[derive(Debug, Clone)]
pub(crate) struct Physical {
    pub(crate) stages: Vec<Stage>,
    pub(crate) channels: Vec<Channel>,
}

impl Physical {
    /// Stages that a stage reads from.
    pub(crate) fn parents(&self, stage: usize) -> Vec<usize> {
        let mut out: Vec<usize> = self
            .channels
            .iter()
            .filter(|c| c.to_stage == stage)
            .map(|c| c.from_stage)
            .collect();
        out.sort_unstable();
        out.dedup();
        out
    }

    /// Stages of the running job.
    pub(crate) fn live(&self) -> impl Iterator<Item = (usize, &Stage)> {
        self.stages.iter().enumerate().filter(|(_, s)| !s.dead)
    }

    /// The stage with the main work of a node (sorts, joins, groups, user code), otherwise its last one.
    pub(crate) fn stage_of(&self, node: NodeId) -> Option<usize> {
        let works = |op: &PhysOp| {
            op.node == node
                && !matches!(
                    op.kind,
                    Kind::Partition(_) | Kind::PartialAggregate | Kind::Sort
                )
        };
        let mut found = None;
        for (i, stage) in self.live() {
            if stage.ops.iter().any(works) {
                found = Some(i);
            }
        }
        found.or_else(|| {
            self.live()
                .filter(|(_, s)| s.ops.iter().any(|o| o.node == node))
                .map(|(i, _)| i)
                .last()
        })
    }

    /// Stages that send rows to `stage`.
    pub(crate) fn writers_to(&self, stage: usize) -> Vec<usize> {
        self.parents(stage)
    }
}
