//! Suggestions: for every finding one or more, with a verified diff if the
//! script can be rewritten safely, and as steps otherwise.
//!
//! Knows the fixes for each cause, their sequence (the smallest change first), and
//! the saving of each of them alone; `rewrite` makes and checks the diffs.

mod adaptive;
mod cache;
mod case;
mod computed;
mod edits;
mod ended;
mod ended_spark;
mod failed;
mod failure;
mod hot_key;
mod mechanism;
mod program;
mod proposal;
mod resources;
mod setting;
mod shuffle;
mod sides;
mod skew;
mod spark;
mod straggler;
#[cfg(test)]
mod tests;
mod uneven;
mod user_code;
mod vertices;

use diagnosis::whatif::{Unanswerable, WhatIf};
use diagnosis::{Candidate, Diagnosis, Settings, Suggested, View};
use job::{Catalogue, Job};
use report::{Cause, Language, SameResult, Suggestion, Verified};

use case::Case;

pub use case::columns_read;

/// Examines a job with every rule and proposes changes; sentences are in `language`.
pub fn diagnose(
    job: &Job,
    catalogue: &Catalogue,
    settings: &Settings,
    language: Language,
) -> Diagnosis {
    diagnosis::diagnose(job, catalogue, settings, language, suggest)
}

/// [`diagnose`], and the run, which can be replayed with changes.
pub fn what_if(
    job: &Job,
    catalogue: &Catalogue,
    settings: &Settings,
    language: Language,
) -> (Diagnosis, Result<WhatIf, Unanswerable>) {
    diagnosis::what_if(job, catalogue, settings, language, suggest)
}

/// Suggestions for the findings of a job, in the same sequence; for each finding, the smallest change
/// first. Suggestions with unknown gain come last, except for a failed job: a run without an end has no
/// time to compare with.
fn suggest(view: &View<'_>, findings: &[Candidate]) -> Vec<Suggested> {
    let of = |(index, found)| of_cause(&Case::new(view, index, found));
    let mut all: Vec<Suggested> = findings.iter().enumerate().flat_map(of).collect();
    if !view.failed() {
        all.sort_by_key(|s| s.suggestion.seconds_saved.is_none());
    }
    // a diff with a known gain is proposed once
    let gaining = all.iter().map(|s| &s.suggestion);
    let gaining = gaining.filter(|s| s.seconds_saved.is_some());
    let gaining: Vec<String> = gaining.filter_map(|s| s.diff.clone()).collect();
    let repeats = |s: &Suggestion| s.diff.as_ref().is_some_and(|diff| gaining.contains(diff));
    all.retain(|s| s.suggestion.seconds_saved.is_some() || !repeats(&s.suggestion));
    for (index, suggested) in all.iter_mut().enumerate() {
        suggested.suggestion.id = format!("S{}", index + 1);
    }
    all
}

/// Checks a script from elsewhere like the ones of `rewrite`: it
/// parses without new errors, outputs and every name bound in it keep their columns, and it adds
/// only known hints. Equality of the rows is left unknown. All checks fail if the job has no
/// script.
pub fn verify_script(job: &Job, text: &str) -> Verified {
    let Some(script) = &job.script else {
        return Verified {
            parses: false,
            columns_preserved: false,
            hints_known: false,
            same_result: SameResult::Unknown,
        };
    };
    let touched = rewrite::changed(script, text);
    rewrite::verify(script, text, &touched, &|class| columns_read(job, class))
}

fn of_cause(case: &Case<'_>) -> Vec<Suggested> {
    if case.job.spark.is_some() {
        return spark::suggest(case);
    }
    match case.finding.cause {
        Cause::JoinHotKey => skew::join_hot_key(case),
        Cause::GroupHotKey => skew::group_hot_key(case),
        Cause::NullOrDefaultKey => skew::null_or_default_key(case),
        Cause::LowCardinalityKey => skew::low_cardinality_key(case),
        Cause::PartitionLayout => skew::partition_layout(case),
        Cause::RedundantRepartition => shuffle::redundant_repartition(case),
        Cause::UnusedColumns => shuffle::unused_columns(case),
        Cause::LateFilter => shuffle::late_filter(case),
        Cause::MissedBroadcast => shuffle::missed_broadcast(case),
        Cause::SerialGather => shuffle::serial_gather(case),
        Cause::UnalignedInput => shuffle::unaligned_input(case),
        Cause::HeapPressure => resources::heap_pressure(case),
        Cause::Spill => resources::spill(case),
        Cause::MemoryEstimateTooLow => resources::memory_estimate(case),
        Cause::Misestimate => resources::misestimate(case),
        Cause::JoinExplosion => resources::join_explosion(case),
        Cause::CpuBoundUdo => resources::cpu_bound(case),
        Cause::ParallelismTooLow => vertices::parallelism_too_low(case),
        Cause::TinyVertices => vertices::tiny_vertices(case),
        Cause::SmallFiles => vertices::small_files(case),
        Cause::VertexRetries => failure::vertex_retries(case),
        Cause::SlowMachine => failure::slow_machine(case),
        Cause::UserCodeFailure => failure::user_code(case),
        Cause::CompileFailure => failure::compile(case),
        Cause::LimitFailure => failure::limit(case),
        Cause::InputFailure | Cause::ExternalFailure => failure::outside(case),
        Cause::QueueWait => failure::queue_wait(case),
        Cause::UnexplainedStraggler => vec![case.finish(straggler::investigate(case))],
        Cause::DriverBottleneck
        | Cause::ExecutorLost
        | Cause::BroadcastTooLarge
        | Cause::IneffectiveCache
        | Cause::OverAllocation
        | Cause::UnderAllocation
        | Cause::FetchWait
        | Cause::IdleSlots
        | Cause::ScanWithoutFilter
        | Cause::OverProvisionedMemory
        | Cause::UnexplainedOverhead
        | Cause::CommitOnDriver
        | Cause::CostlyExpression => Vec::new(),
    }
}
