//! Kinds of files and their readers.

use crate::model::{FileKind, Job};
use crate::read::{self, Input};

pub(super) fn order(kind: FileKind) -> u8 {
    use FileKind as K;
    match kind {
        K::VertexDef => 0,
        K::Algebra => 1,
        K::RuntimeStatistics => 2,
        K::Tables => 3,
        K::InternalStatistics => 4,
        K::StreamInfo => 5,
        K::PartitionLastRows => 6,
        K::Script | K::Error => 7,
        _ => 8,
    }
}

pub(super) fn take(kind: FileKind, input: &Input<'_>, job: &mut Job) {
    use FileKind as K;
    match kind {
        K::VertexDef => read::vertex_def(input, job),
        K::RuntimeStatistics => read::statistics(input, job),
        K::VertexStdout => read::stdout(input, job),
        K::OptimizerPlan => read::plan(input, job),
        K::OperatorPlanMap => read::plan_map(input, job),
        K::StreamInfo => read::stream_info(input, job),
        K::PartitionLastRows => read::last_rows(input, job),
        K::Tables => read::tables(input, job),
        K::JobInfo => read::job_info(input, job),
        K::RestJob => read::rest_job(input, job),
        K::RestStatistics => read::rest_statistics(input, job),
        K::Error => read::error(input, job),
        K::CompileResult => read::compile_result(input, job),
        K::Warnings => read::warnings(input, job),
        K::CompilerTimers => read::compiler_timers(input, job),
        K::CommandLine => read::command_line(input, job),
        K::Algebra => read::algebra(input, job),
        K::InternalStatistics => read::internal(input, job),
        K::VertexCommand => read::vertex_command(input, job),
        K::Codegen => read::codegen(input, job),
        K::UserDiagnostics => read::user_log(input, job),
        K::CompilerPlan => read::compiler_plan(input, job),
        K::Ast => read::ast(input, job),
        _ => {}
    }
}
