//! Near misses of causes in memory, estimates, code, attempts and waiting.

use super::{NearMiss, as_it_is, failing, fan, memory, near, scary};
use crate::cause::Cause;
use crate::compile::compile;
use crate::data::TableKind;
use crate::decoy::Decoy;
use crate::decoy::decoy;
use crate::plan::{Dialect, Ending, Hint, JoinKind, Op, Place, Slow};
use crate::templates::Template::*;

pub(super) static ALL: &[NearMiss] = &[
    // A large heap that is hardly collected.
    near(
        Cause::HeapPressure,
        "large_heap",
        &[Sessions, Features],
        |s, at, r| {
            let (Op::Reduce { udo, .. } | Op::Process { udo, .. }) = &mut s.nodes[at.udo?].op
            else {
                return None;
            };
            udo.heap = r.range(1.2e9, 1.6e9);
            udo.gc = r.range(0.05, 0.08);
            Some(())
        },
    ),
    // Collections take a tenth of the time of code that takes little.
    near(
        Cause::HeapPressure,
        "some_collections",
        &[Union, Renamed, SameKey],
        |s, at, r| {
            let (Op::Reduce { udo, .. } | Op::Process { udo, .. }) = &mut s.nodes[at.udo?].op
            else {
                return None;
            };
            udo.gc = r.range(0.08, 0.12);
            Some(())
        },
    ),
    // Memory is nearly full, without a spill.
    near(
        Cause::Spill,
        "memory_nearly_full",
        &[Sessions, SameKey],
        |s, _, _| memory(s, 1.01),
    ),
    near(
        Cause::Spill,
        "largest_vertex_spills",
        &[Distinct, Accounts, TwoLevels],
        |s, _, _| memory(s, 0.97),
    ),
    near(
        Cause::EstimateTooLow,
        "few_retries_of_reducers",
        &[Sessions, SameKey],
        |s, at, _| decoy(s, at, Decoy::FewRetries).then_some(()),
    ),
    near(
        Cause::EstimateTooLow,
        "few_crashes",
        &[Chain, Union],
        |s, _, r| failing(s, r, Ending::Crash),
    ),
    // The estimate is off, and the partitions are given by hand.
    near(
        Cause::Misestimate,
        "wrong_estimate_right_partitions",
        &[Sessions, SameKey],
        |s, at, _| {
            let main = at.by_key.or(at.join)?;
            let physical = compile(s);
            let count = physical.stages[physical.stage_of(main)?].vertices as u32;
            s.nodes[main].hints.push(Hint::PartitionCount(count));
            s.tables[at.fact].believed /= 12.0;
            (s.dialect == Dialect::Scope).then_some(())
        },
    ),
    // A small table is estimated a hundred times too small, and broadcast as it should be.
    near(
        Cause::Misestimate,
        "wrong_estimate_of_a_small_table",
        &[Star, Snowflake],
        |s, _, r| {
            s.tables.get_mut(1)?.believed /= r.range(50.0, 200.0);
            Some(())
        },
    ),
    near(
        Cause::Explosion,
        "slightly_more_rows",
        &[EnrichJoin],
        |s, at, _| fan(s, at, 1.25),
    ),
    // User code that emits several rows for each is no join.
    near(
        Cause::Explosion,
        "user_code_emits_more_rows",
        &[Tokens],
        as_it_is,
    ),
    near(
        Cause::CpuBound,
        "code_that_never_runs",
        &[Sessions, Features],
        scary,
    ),
    // Code of ordinary cost takes much of a balanced stage that has little else to do.
    near(
        Cause::CpuBound,
        "ordinary_code",
        &[Renamed, Union],
        |s, _, r| {
            let cpu = r.range(1.6, 2.4);
            s.each_udo(|u| u.cpu_us = cpu);
            Some(())
        },
    ),
    // Few partitions, because there is little data.
    near(
        Cause::TooLow,
        "little_data",
        &[Distinct, Features],
        |s, at, _| {
            s.tables[at.fact].rows = (s.tables[at.fact].rows * 0.2).round();
            Some(())
        },
    ),
    // Few tokens, though enough vertices.
    near(
        Cause::TooLow,
        "few_tokens",
        &[Totals, Pairs, Chain],
        |s, _, r| {
            s.env.tokens = r.whole(4, 6) as u32;
            Some(())
        },
    ),
    near(
        Cause::TinyVertices,
        "small_last_stage",
        &[Star, DailyFiles],
        as_it_is,
    ),
    // Many vertices with enough to do.
    near(
        Cause::TinyVertices,
        "many_full_vertices",
        &[EnrichJoin, Totals],
        |s, _, _| {
            s.env.split_bytes *= 0.6;
            s.env.max_partitions *= 2;
            Some(())
        },
    ),
    near(
        Cause::SmallFiles,
        "a_few_more_files",
        &[DailyFiles],
        |s, at, _| {
            s.tables[at.files?.0].files += 6;
            Some(())
        },
    ),
    // As many files as a split would give vertices.
    near(
        Cause::SmallFiles,
        "files_of_split_size",
        &[Sessions, Totals],
        |s, at, _| {
            let split = s.env.split_bytes;
            let table = &mut s.tables[at.fact];
            table.files = (table.bytes() / split * 1.3).ceil() as u32;
            (table.kind == TableKind::SStream).then_some(())
        },
    ),
    near(
        Cause::VertexRetries,
        "few_retries",
        &[Star, EnrichJoin],
        |s, at, _| decoy(s, at, Decoy::FewRetries).then_some(()),
    ),
    near(
        Cause::VertexRetries,
        "few_preemptions",
        &[Chain, Distinct],
        |s, _, r| failing(s, r, Ending::Revoked),
    ),
    // One vertex is somewhat slow, and not alone on the critical path.
    near(
        Cause::SlowMachine,
        "slightly_slow_vertex",
        &[Star, EnrichJoin],
        |s, at, _| {
            let place = Place::Vertices(at.clean, 1);
            s.env.slow = Some(Slow {
                place,
                cpu: 1.35,
                wait: 1.35,
            });
            Some(())
        },
    ),
    near(
        Cause::SlowMachine,
        "slightly_slow_machines",
        &[Chain, Totals],
        |s, _, _| {
            s.env.slow = Some(Slow {
                place: Place::Machines(6),
                cpu: 1.3,
                wait: 1.3,
            });
            Some(())
        },
    ),
    near(
        Cause::UserCode,
        "suspicious_code_that_never_runs",
        &[Sessions, Features],
        scary,
    ),
    near(
        Cause::UserCode,
        "null_keys_that_code_expects",
        &[Union, Renamed],
        scary,
    ),
    near(Cause::Compile, "compiles", &[Star, Distinct], as_it_is),
    near(
        Cause::Compile,
        "compiles_with_many_joins",
        &[Chain, Snowflake],
        as_it_is,
    ),
    // A long vertex that stays below the limit.
    near(Cause::Limit, "below_the_limit", &[Sessions], as_it_is),
    near(
        Cause::Limit,
        "outer_join_below_the_limit",
        &[Accounts, TwoLevels],
        |s, at, _| {
            let Op::Join { kind, .. } = &mut s.nodes[at.join?].op else {
                return None;
            };
            *kind = JoinKind::LeftOuter;
            fan(s, at, 1.2)
        },
    ),
    near(
        Cause::QueueWait,
        "short_queue",
        &[Star, Distinct],
        |s, _, r| {
            s.env.queue_s = r.range(8.0, 12.0);
            Some(())
        },
    ),
    // Capacity is gone for a moment.
    near(
        Cause::QueueWait,
        "short_loss_of_capacity",
        &[Chain, Totals],
        |s, _, r| {
            let run = crate::trial::elapsed(s);
            let from = run * r.range(0.2, 0.6);
            s.env.grants = vec![(from, 0), (from + run * 0.012, s.env.tokens)];
            Some(())
        },
    ),
];
