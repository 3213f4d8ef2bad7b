//! Mechanisms of the run: machines, attempts, capacity, and failures.

use super::work::{busy, explode};
use super::{Mechanism, Place, Spot, heat};
use crate::cause::Cause;
use crate::plan::{Ending, Fails, Place as At, Slow};
use crate::templates::Template;
use crate::trial;
use Template::*;

pub(super) static ALL: &[Mechanism] = &[
    Mechanism::new(
        Cause::VertexRetries,
        "failing_stage",
        &[EnrichJoin, Sessions, Star],
        |p| {
            p.spec.env.fails = Some(Fails {
                place: At::Stage(p.slots.clean),
                rate: p.rng.range(0.34, 0.46),
                ending: Ending::Mixed,
            });
            Some(Spot::at(p.slots.clean).or(&[0]))
        },
    ),
    Mechanism::new(
        Cause::VertexRetries,
        "preempted_by_other_jobs",
        &[EnrichJoin, Sessions, Chain, Distinct],
        |p| {
            p.spec.env.fails = Some(Fails {
                place: At::Anywhere,
                rate: p.rng.range(0.28, 0.4),
                ending: Ending::Revoked,
            });
            Some(any_stage(p))
        },
    ),
    Mechanism::new(
        Cause::VertexRetries,
        "flaky_machines",
        &[EnrichJoin, Sessions, Star, Union],
        |p| {
            p.spec.env.fails = Some(Fails {
                place: At::Machines(p.rng.whole(18, 27)),
                rate: 0.97,
                ending: if p.rng.chance(0.5) {
                    Ending::Crash
                } else {
                    Ending::Unreadable
                },
            });
            Some(any_stage(p))
        },
    ),
    Mechanism::new(
        Cause::SlowMachine,
        "slow_vertices",
        &[Sessions, Features, Star],
        |p| {
            let factor = p.rng.range(4.0, 6.5) * p.size.max(0.8);
            let main = p.main();
            let place = At::Vertices(main, p.rng.whole(1, 2) as u32);
            p.spec.env.slow = Some(Slow {
                place,
                cpu: factor,
                wait: factor,
            });
            Some(Spot::at(main))
        },
    ),
    Mechanism::new(
        Cause::SlowMachine,
        "slow_disk",
        &[Sessions, Star, Totals, Distinct],
        |p| {
            let place = At::Vertices(p.slots.clean, p.rng.whole(1, 2) as u32);
            let wait = p.rng.range(9.0, 16.0) * p.size;
            p.spec.env.slow = Some(Slow {
                place,
                cpu: 1.0,
                wait,
            });
            Some(Spot::at(p.slots.clean).or(&[0]))
        },
    ),
    Mechanism::new(
        Cause::SlowMachine,
        "slow_rack",
        &[Sessions, EnrichJoin, Chain, Union],
        |p| {
            let factor = p.rng.range(3.5, 5.5) * p.size;
            let place = At::Machines(p.rng.whole(2, 4));
            p.spec.env.slow = Some(Slow {
                place,
                cpu: factor,
                wait: factor,
            });
            Some(any_stage(p))
        },
    ),
    Mechanism::new(
        Cause::QueueWait,
        "queued_before_the_start",
        &[Paired, Star, Distinct, DailyFiles],
        |p| {
            p.spec.env.queue_s = p.rng.range(500.0, 1800.0) * p.size;
            Some(Spot::everywhere())
        },
    ),
    Mechanism::new(
        Cause::QueueWait,
        "capacity_lost_during_the_run",
        &[Sessions, Star, EnrichJoin, Chain],
        |p| {
            let run = trial::elapsed(p.spec);
            let from = run * p.rng.range(0.1, 0.7);
            let pause = run * p.rng.range(0.3, 1.2) * p.size;
            p.spec.env.grants = vec![(from, 0), (from + pause, p.spec.env.tokens)];
            Some(Spot::everywhere())
        },
    ),
    Mechanism::new(
        Cause::QueueWait,
        "tokens_granted_late",
        &[Sessions, Star, Distinct, Snowflake],
        |p| {
            let run = trial::elapsed(p.spec);
            let few = p.rng.whole(1, 2) as u32;
            let until = run * p.rng.range(0.5, 1.2) * p.size;
            p.spec.env.grants = vec![(0.0, few), (until, p.spec.env.tokens)];
            Some(Spot::everywhere())
        },
    ),
    Mechanism::new(Cause::UserCode, "overflow", &[Sessions, Features], |p| {
        Some(Spot::at(p.slots.udo?))
    }),
    Mechanism::new(
        Cause::UserCode,
        "null_reference",
        &[Sessions, Tokens, Union, SameKey],
        |p| Some(Spot::at(p.slots.udo?)),
    ),
    Mechanism::new(
        Cause::UserCode,
        "bad_row_in_condition",
        &[EnrichJoin, Chain, Totals],
        |p| Some(Spot::at(p.slots.clean)),
    ),
    Mechanism::new(
        Cause::Compile,
        "misspelt_keyword",
        &[EnrichJoin, Sessions, Star],
        |p| Some(Spot::at(p.slots.clean)),
    ),
    Mechanism::new(
        Cause::Compile,
        "unknown_name",
        &[Chain, Distinct, Union],
        |p| Some(Spot::at(p.slots.clean)),
    ),
    Mechanism::new(
        Cause::Compile,
        "invalid_csharp",
        &[EnrichJoin, Chain, Totals],
        |p| Some(Spot::at(p.slots.clean)),
    ),
    Mechanism::new(
        Cause::Limit,
        "hot_key_or_explosion",
        &[Sessions, EnrichJoin],
        |p| {
            if p.slots.join.is_some() {
                let fan = p.rng.range(60.0, 110.0);
                return Some(explode(p, fan, false)?.because_of(Cause::Explosion));
            }
            heat(p.spec, p.slots, &mut p.rng, 0.55, false);
            p.size = 1.0;
            busy(p)?;
            Some(Spot::at(p.main()).because_of(Cause::GroupHotKey))
        },
    ),
    Mechanism::new(
        Cause::Limit,
        "every_vertex_too_long",
        &[Sessions, Features, Union],
        |p| Some(busy(p)?.because_of(Cause::CpuBound)),
    ),
    Mechanism::new(
        Cause::Limit,
        "explosion_before_reducer",
        &[TwoLevels, Accounts],
        |p| {
            let fan = p.rng.range(60.0, 110.0);
            Some(explode(p, fan, true)?.because_of(Cause::Explosion))
        },
    ),
];

/// A cause of the whole run, which shows in any stage.
fn any_stage(p: &Place<'_>) -> Spot {
    let all: Vec<usize> = (0..p.spec.nodes.len()).collect();
    Spot::at(p.main()).or(&all)
}
