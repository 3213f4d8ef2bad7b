//! The rules, one file per cause or family of causes, and the thresholds that they use.

mod allocation;
mod broadcast_too_large;
mod cache_ineffective;
mod driver_bottleneck;
mod dropped_cache;
mod estimate_too_low;
mod executor_lost;
mod failure;
mod heap_pressure;
mod join_explosion;
mod late_filter;
mod memory_over_provisioned;
mod misestimate;
mod missed_broadcast;
mod nested_loop;
mod parallelism_too_low;
mod queue_wait;
mod range_sample;
mod redundant_repartition;
mod serial_gather;
mod skew;
mod slow_machine;
mod small_files;
mod spill;
mod support;
#[cfg(test)]
mod tests;
mod tiny_vertices;
mod udo;
mod unaligned_input;
mod unused_columns;
mod vertex_retries;
mod wide_cache;

pub use dropped_cache::RECOMPUTED;
pub use range_sample::SAMPLED;
use std::sync::LazyLock;

use job::model::{FileKind, JobEngine};
use report::Cause;

use crate::rule::Rule;
use crate::settings::{FILES_PER_ROUND, MIN_RELEVANCE, MIN_SHARE, Threshold};
use crate::view::View;

static RULES: [&Rule; 36] = [
    &skew::JOIN_HOT_KEY,
    &skew::GROUP_HOT_KEY,
    &skew::NULL_OR_DEFAULT_KEY,
    &skew::LOW_CARDINALITY_KEY,
    &skew::PARTITION_LAYOUT,
    &redundant_repartition::RULE,
    &unused_columns::RULE,
    &late_filter::RULE,
    &missed_broadcast::RULE,
    &serial_gather::RULE,
    &unaligned_input::RULE,
    &heap_pressure::RULE,
    &spill::RULE,
    &estimate_too_low::RULE,
    &misestimate::RULE,
    &join_explosion::RULE,
    &udo::RULE,
    &parallelism_too_low::RULE,
    &tiny_vertices::RULE,
    &small_files::RULE,
    &vertex_retries::RULE,
    &slow_machine::RULE,
    &failure::USER_CODE,
    &failure::COMPILE,
    &failure::LIMIT,
    &failure::INPUT,
    &failure::EXTERNAL,
    &queue_wait::RULE,
    &driver_bottleneck::RULE,
    &executor_lost::RULE,
    &broadcast_too_large::RULE,
    &cache_ineffective::RULE,
    &allocation::OVER,
    &allocation::UNDER,
    &driver_bottleneck::COMMIT,
    &memory_over_provisioned::RULE,
];

/// Every rule, in the order of the contract.
pub fn rules() -> &'static [&'static Rule] {
    &RULES
}

/// Every threshold: first the global ones, then the thresholds of the rules.
pub fn thresholds() -> &'static [&'static Threshold] {
    static ALL: LazyLock<Vec<&'static Threshold>> = LazyLock::new(|| {
        let mut all = vec![&MIN_SHARE, &MIN_RELEVANCE, &FILES_PER_ROUND];
        for threshold in rules().iter().flat_map(|r| r.thresholds.iter().copied()) {
            if !all.iter().any(|known| known.name == threshold.name) {
                all.push(threshold);
            }
        }
        all
    });
    &ALL
}

/// Whether the rule of a cause runs on jobs of an engine. Spark has no stored layouts for compiling
/// jobs and no memory reserved by a compiler, and its logs have no columns or estimates.
pub(crate) fn applies(cause: Cause, engine: Option<JobEngine>) -> bool {
    let of_scope = matches!(
        cause,
        Cause::UnusedColumns
            | Cause::LateFilter
            | Cause::UnalignedInput
            | Cause::MemoryEstimateTooLow
            | Cause::Misestimate
    );
    let engine = engine.unwrap_or(JobEngine::Scope);
    cause.occurs_in(engine) && !(of_scope && engine == JobEngine::Spark)
}

/// Whether the folder comes from a local run: one machine, no queue, no scheduler.
pub(crate) fn is_local(view: &View<'_>) -> bool {
    view.job
        .files
        .iter()
        .any(|f| matches!(f.kind, FileKind::VertexStdout | FileKind::VertexCommand))
}
