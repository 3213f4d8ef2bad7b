//! The readers that the first byte of an input chooses from.

use job::model::FileKind;

/// In the order of the letters that begin the seeds: `a` is the first. Only add at the end.
pub(crate) const KINDS: [FileKind; 25] = [
    FileKind::VertexDef,
    FileKind::RuntimeStatistics,
    FileKind::OptimizerPlan,
    FileKind::OperatorPlanMap,
    FileKind::Algebra,
    FileKind::StreamInfo,
    FileKind::PartitionLastRows,
    FileKind::InternalStatistics,
    FileKind::VertexCommand,
    FileKind::JobInfo,
    FileKind::Warnings,
    FileKind::CompileResult,
    FileKind::CompilerTimers,
    FileKind::UserDiagnostics,
    FileKind::Tables,
    FileKind::RestJob,
    FileKind::RestStatistics,
    FileKind::Error,
    FileKind::CompilerPlan,
    FileKind::VertexStdout,
    FileKind::VertexEvents,
    FileKind::Codegen,
    FileKind::CommandLine,
    FileKind::Script,
    FileKind::Ast,
];

/// The reader that an input is for.
pub(crate) fn choose(byte: u8) -> FileKind {
    KINDS[usize::from(byte.wrapping_sub(b'a')) % KINDS.len()]
}
