//! Causes that are present without being injected, found by removing each.

use crate::cause::Cause;
use crate::plan::{Hint, Spec};
use crate::request::Request;
use crate::templates::{Scale, Slots};
use crate::trial::elapsed;

/// A healthy job loses less than this to anything that can be measured.
const HEALTHY_BELOW: f64 = 0.018;

/// Returns costly causes that were not injected, each measured by removing it.
pub(crate) fn symptoms(spec: &Spec, slots: &Slots, now: f64, request: &Request) -> Vec<Cause> {
    if request.fails() || request.scale == Scale::Huge {
        return Vec::new();
    }
    let mut out = Vec::new();
    let mut test = |cause: Cause, change: &dyn Fn(&mut Spec)| {
        let mut other = spec.clone();
        change(&mut other);
        let share = (now - elapsed(&other)) / now;
        if share > HEALTHY_BELOW && !request.causes.contains(&cause) {
            out.push(cause);
        }
    };
    test(Cause::Spill, &|s| s.env.sort_memory = 1e15);
    test(Cause::HeapPressure, &|s| {
        s.each_udo(|u| u.gc = u.gc.min(0.05))
    });
    test(Cause::CpuBound, &|s| {
        s.each_udo(|u| u.cpu_us = u.cpu_us.min(2.5))
    });
    test(Cause::VertexRetries, &|s| {
        s.env.fail_rate = 0.0;
        s.env.fails = None;
        s.env.memory_low = None;
    });
    test(Cause::Misestimate, &|s| {
        s.tables.iter_mut().for_each(|t| t.believed = 1.0);
        s.nodes
            .iter_mut()
            .for_each(|n| n.hints.retain(|h| !matches!(h, Hint::RowCount(_))));
    });
    let key = slots.key.clone();
    let by_other = spec.tables[slots.fact].clustering.kind == "hash"
        && spec.tables[slots.fact].clustering.keys != [key.clone()];
    if by_other && slots.second.is_none() {
        test(Cause::UnalignedInput, &|s| {
            s.tables[slots.fact].clustering.keys = vec![key.clone()];
        });
    }
    test(Cause::PartitionLayout, &|s| {
        s.tables
            .iter_mut()
            .for_each(|t| t.clustering.weights.clear())
    });
    let key = slots.key.clone();
    test(Cause::JoinHotKey, &|s| {
        if let Some(c) = s.tables[slots.fact].column_mut(&key) {
            *c = c.flattened();
        }
    });
    out
}
