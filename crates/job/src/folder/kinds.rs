//! Kinds of files and their readers.

use crate::model::{FileKind, Job};
use crate::read::{self, Input};
use crate::spark::driver_log;

pub(super) fn order(kind: FileKind) -> u8 {
    use FileKind as K;
    match kind {
        // read first: decides whether files of the other engine belong to the job
        K::SparkEvents => 0,
        K::VertexDef => 1,
        K::Algebra => 2,
        K::RuntimeStatistics => 3,
        K::Tables => 4,
        K::InternalStatistics => 5,
        K::StreamInfo => 6,
        K::PartitionLastRows => 7,
        K::Script | K::Error => 8,
        _ => 9,
    }
}

/// Maximum number of bytes read from a file of a kind. Files written by people are small: a script of
/// 10,000 lines has 400 KB.
pub(super) fn most_bytes(kind: FileKind) -> u64 {
    match kind {
        FileKind::Script | FileKind::Codegen => 16 << 20,
        _ => u64::MAX,
    }
}

pub(super) fn take(kind: FileKind, input: &Input<'_>, job: &mut Job) {
    use FileKind as K;
    match kind {
        K::VertexDef => read::vertex_def::read(input, job),
        K::RuntimeStatistics => read::statistics::read(input, job),
        K::VertexStdout => read::tree::read(input, job),
        K::OptimizerPlan => read::plan::read(input, job),
        K::OperatorPlanMap => read::plan::read_map(input, job),
        K::StreamInfo => read::streams::read(input, job),
        K::PartitionLastRows => read::streams::last_rows(input, job),
        K::Tables => read::tables::read(input, job),
        K::JobInfo => read::job_info::read(input, job),
        K::RestJob => read::rest::read_job(input, job),
        K::RestStatistics => read::rest::statistics(input, job),
        K::Error => read::error::read(input, job),
        K::CompileResult => read::compiler::result(input, job),
        K::CompilerPlan => read::compiler::plan(input, job),
        K::Ast => read::compiler::syntax_tree(input, job),
        K::Warnings | K::CompilerTimers | K::UserDiagnostics => read::compiler::xml(input, job),
        K::CommandLine => read::job_info::command_line(input, job),
        K::Algebra => read::algebra::read(input, job),
        K::InternalStatistics => read::internal::read(input, job),
        K::VertexCommand => read::vertex_command::read(input, job),
        K::Codegen => read::codegen::read(input, job),
        K::DriverLog => driver_log::read(input, job),
        _ => {}
    }
}
