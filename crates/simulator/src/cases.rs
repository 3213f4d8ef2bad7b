//! The cases kept with the project: for every cause one job that shows it and one that resembles it and does not.

use crate::cause::Cause;
use crate::plan::Dialect;
use crate::request::{Kind, Request};
use crate::templates::Scale;

/// A case: `tests/cases/<name>/{job,truth.json}`.
#[derive(Debug, Clone)]
pub struct Case {
    /// Folder.
    pub name: &'static str,
    /// What is simulated.
    pub request: Request,
}

/// Name of the case that shows a cause; its near miss has `near-` in front.
const NAMES: [(Cause, &str, &str); 26] = [
    (
        Cause::JoinHotKey,
        "join-hot-key-skew",
        "near-join-hot-key-skew",
    ),
    (
        Cause::GroupHotKey,
        "group-hot-key-skew",
        "near-group-hot-key-skew",
    ),
    (
        Cause::NullOrDefaultKey,
        "null-key-skew",
        "near-null-key-skew",
    ),
    (
        Cause::LowCardinalityKey,
        "low-cardinality-key",
        "near-low-cardinality-key",
    ),
    (
        Cause::PartitionLayout,
        "partition-layout",
        "near-partition-layout",
    ),
    (
        Cause::RedundantRepartition,
        "excessive-shuffle",
        "near-excessive-shuffle",
    ),
    (
        Cause::UnusedColumns,
        "unused-columns",
        "near-unused-columns",
    ),
    (Cause::LateFilter, "late-filter", "near-late-filter"),
    (
        Cause::MissedBroadcast,
        "missed-broadcast",
        "near-missed-broadcast",
    ),
    (Cause::SerialGather, "serial-gather", "near-serial-gather"),
    (
        Cause::UnalignedInput,
        "unaligned-input",
        "near-unaligned-input",
    ),
    (Cause::HeapPressure, "heap-pressure", "near-heap-pressure"),
    (Cause::Spill, "memory-spill", "near-memory-spill"),
    (
        Cause::EstimateTooLow,
        "memory-estimate-too-low",
        "near-memory-estimate-too-low",
    ),
    (
        Cause::Misestimate,
        "cardinality-misestimate",
        "near-cardinality-misestimate",
    ),
    (Cause::Explosion, "join-explosion", "near-join-explosion"),
    (Cause::CpuBound, "udo-cpu-bound", "near-udo-cpu-bound"),
    (
        Cause::TooLow,
        "parallelism-too-low",
        "near-parallelism-too-low",
    ),
    (Cause::TinyVertices, "tiny-vertices", "near-tiny-vertices"),
    (Cause::SmallFiles, "small-files", "near-small-files"),
    (
        Cause::VertexRetries,
        "vertex-retries",
        "near-vertex-retries",
    ),
    (Cause::SlowMachine, "slow-machine", "near-slow-machine"),
    (
        Cause::UserCode,
        "user-code-failure",
        "near-user-code-failure",
    ),
    (Cause::Compile, "compile-failure", "near-compile-failure"),
    (Cause::Limit, "limit-exceeded", "near-limit-exceeded"),
    (Cause::QueueWait, "queue-wait", "near-queue-wait"),
];

/// Every case, in the order of the causes; `healthy` comes last.
pub fn cases() -> Vec<Case> {
    let mut out = Vec::new();
    for (i, (cause, name, near)) in NAMES.into_iter().enumerate() {
        // Every third case is U-SQL where the cause allows it.
        let only_scope = [
            Cause::RedundantRepartition,
            Cause::TooLow,
            Cause::TinyVertices,
        ];
        let usql = i % 3 == 2 && !only_scope.contains(&cause);
        let dialect = Some(if usql { Dialect::Usql } else { Dialect::Scope });
        let seed = 1000 + i as u64;
        let shown = Request {
            scale: Scale::Small,
            dialect,
            tidy: true,
            ..Request::single(cause, seed)
        };
        out.push(Case {
            name,
            request: shown,
        });
        let silent = Request {
            kind: Kind::None,
            near_miss: Some(cause),
            scale: Scale::Small,
            dialect: Some(Dialect::Scope),
            tidy: true,
            ..Request::healthy(seed + 500)
        };
        out.push(Case {
            name: near,
            request: silent,
        });
    }
    let healthy = Request {
        scale: Scale::Small,
        dialect: Some(Dialect::Scope),
        tidy: true,
        ..Request::healthy(7)
    };
    out.push(Case {
        name: "healthy",
        request: healthy,
    });
    out
}
