//! Causes of the report contract, and their places in a job.

use crate::plan::NodeId;

/// A reason why a job is slow, expensive or fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each variant is the code that `code` returns")]
pub enum Cause {
    JoinHotKey,
    GroupHotKey,
    NullOrDefaultKey,
    LowCardinalityKey,
    PartitionLayout,
    RedundantRepartition,
    UnusedColumns,
    LateFilter,
    MissedBroadcast,
    SerialGather,
    UnalignedInput,
    HeapPressure,
    Spill,
    EstimateTooLow,
    Misestimate,
    Explosion,
    CpuBound,
    TooLow,
    TinyVertices,
    SmallFiles,
    VertexRetries,
    SlowMachine,
    UserCode,
    Compile,
    Limit,
    QueueWait,
}

/// Every cause with its code.
pub const CAUSES: [(Cause, &str); 26] = [
    (Cause::JoinHotKey, "skew.join_hot_key"),
    (Cause::GroupHotKey, "skew.group_hot_key"),
    (Cause::NullOrDefaultKey, "skew.null_or_default_key"),
    (Cause::LowCardinalityKey, "skew.low_cardinality_key"),
    (Cause::PartitionLayout, "skew.partition_layout"),
    (Cause::RedundantRepartition, "shuffle.redundant_repartition"),
    (Cause::UnusedColumns, "shuffle.unused_columns"),
    (Cause::LateFilter, "shuffle.late_filter"),
    (Cause::MissedBroadcast, "shuffle.missed_broadcast"),
    (Cause::SerialGather, "shuffle.serial_gather"),
    (Cause::UnalignedInput, "shuffle.unaligned_input"),
    (Cause::HeapPressure, "gc.heap_pressure"),
    (Cause::Spill, "memory.spill"),
    (Cause::EstimateTooLow, "memory.estimate_too_low"),
    (Cause::Misestimate, "cardinality.misestimate"),
    (Cause::Explosion, "join.explosion"),
    (Cause::CpuBound, "udo.cpu_bound"),
    (Cause::TooLow, "parallelism.too_low"),
    (Cause::TinyVertices, "parallelism.tiny_vertices"),
    (Cause::SmallFiles, "io.small_files"),
    (Cause::VertexRetries, "failure.vertex_retries"),
    (Cause::SlowMachine, "failure.slow_machine"),
    (Cause::UserCode, "failure.user_code"),
    (Cause::Compile, "failure.compile"),
    (Cause::Limit, "failure.limit"),
    (Cause::QueueWait, "queue.wait"),
];

impl Cause {
    /// Code in the report contract.
    pub fn code(self) -> &'static str {
        CAUSES.iter().find(|c| c.0 == self).map_or("", |c| c.1)
    }

    /// The cause of a code.
    pub fn parse(code: &str) -> Option<Self> {
        CAUSES.iter().find(|c| c.1 == code).map(|c| c.0)
    }

    /// Problem type of the report contract.
    pub fn problem_type(self) -> &'static str {
        match self.code().split('.').next() {
            Some("skew") => "data_skew",
            Some("shuffle") => "excessive_shuffle",
            _ => "other",
        }
    }

    /// Whether the job fails.
    pub fn is_fatal(self) -> bool {
        matches!(self, Self::UserCode | Self::Compile | Self::Limit)
    }
}

/// Place of a cause.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    pub(crate) cause: Cause,
    pub(crate) mechanism: &'static str,
    /// The statement with the affected stage; `None`: the whole job.
    pub(crate) node: Option<NodeId>,
    /// Statements that are right as well.
    pub(crate) also: Vec<NodeId>,
    /// Stages that write the exchange are right as well.
    pub(crate) writers: bool,
    /// Why the job ran into a limit.
    pub(crate) root: Option<Cause>,
}
