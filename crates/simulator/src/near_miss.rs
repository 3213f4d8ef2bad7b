//! Jobs that resemble a cause and must not be reported, one for every cause.

use crate::cause::Cause;
use crate::data::Clustering;
use crate::decoy::{Decoy, decoy};
use crate::plan::{Filter, Hint, Item, Op, Spec};
use crate::rng::Rng;
use crate::templates::{Slots, Template};

/// Templates that can show the near miss.
pub(crate) fn templates(cause: Cause) -> &'static [Template] {
    use Template::*;
    match cause {
        Cause::JoinHotKey => &[EnrichJoin],
        Cause::GroupHotKey => &[Features, DailyFiles],
        Cause::NullOrDefaultKey => &[EnrichJoin, Sessions],
        Cause::LowCardinalityKey => &[Star, DailyFiles],
        Cause::PartitionLayout | Cause::LateFilter | Cause::Explosion => &[EnrichJoin],
        Cause::RedundantRepartition => &[SameKey],
        Cause::UnusedColumns => &[EnrichJoin, Distinct],
        Cause::MissedBroadcast => &[EnrichJoin, SameKey],
        Cause::SerialGather => &[Star, DailyFiles],
        Cause::UnalignedInput => &[Paired],
        Cause::HeapPressure | Cause::CpuBound | Cause::UserCode => &[Sessions, Features],
        Cause::Spill | Cause::EstimateTooLow | Cause::Misestimate => &[Sessions, SameKey],
        Cause::TooLow => &[Distinct, Features],
        Cause::TinyVertices => &[Star, DailyFiles],
        Cause::SmallFiles => &[DailyFiles],
        Cause::VertexRetries | Cause::SlowMachine => &[Star, EnrichJoin],
        Cause::Compile | Cause::QueueWait => &[Star, Distinct],
        Cause::Limit => &[Sessions],
    }
}

/// Makes the job resemble the cause; `None` if it has no place for it.
pub(crate) fn apply(spec: &mut Spec, slots: &Slots, cause: Cause) -> Option<()> {
    let mut rng = Rng::new(spec.seed ^ 0x9ea2);
    match cause {
        // The hot key is there, and the join already splits it.
        Cause::JoinHotKey => decoy(spec, slots, Decoy::SkewHandled).then_some(()),
        // A hot group key, but after partial aggregation every vertex sends one row per key.
        Cause::GroupHotKey => {
            let column = spec.tables[slots.fact].column_mut(&slots.key)?;
            let first = column.heavy.first_mut()?;
            first.1 = rng.range(0.2, 0.35);
            Some(())
        }
        // Nulls are frequent in the table and filtered before the exchange.
        Cause::NullOrDefaultKey => decoy(spec, slots, Decoy::HotFiltered).then_some(()),
        // Few groups, finished in one vertex after partial aggregation: as it should be.
        Cause::LowCardinalityKey
        // Nothing needs to be repartitioned, broadcast or realigned in these jobs.
        | Cause::RedundantRepartition
        | Cause::MissedBroadcast
        | Cause::UnalignedInput
        | Cause::TinyVertices => Some(()),
        // Stored partitions differ, but little.
        Cause::PartitionLayout => {
            let split = spec.env.split_bytes;
            let t = &mut spec.tables[slots.fact];
            let n = ((t.bytes() / split).ceil() as usize).max(6);
            let weights = (0..n).map(|_| rng.range(0.85, 1.1)).collect();
            t.clustering = Clustering { kind: "range", keys: vec!["EventTime".into()], partitions: n as u32, weights };
            Some(())
        }
        // Wide columns are selected, but never reach an exchange.
        Cause::UnusedColumns => {
            let wide: Vec<String> = spec.tables[slots.fact].columns.iter().rev().take(2).map(|c| c.name.clone()).collect();
            let Op::Select { items, .. } = &mut spec.nodes[slots.clean].op else { return None };
            items.extend(wide.into_iter().map(|name| Item { name, expr: None }));
            Some(())
        }
        // The filter after the join needs a column of the other side.
        Cause::LateFilter => {
            let Op::Select { filters, .. } = &mut spec.nodes[slots.after_join?].op else { return None };
            filters.push(Filter {
                text: "Segment != \"Test\"".into(),
                uses: vec!["Segment".into()],
                keeps: 0.9,
                believed: 0.9,
                drops_hot: None,
                managed: false,
            });
            Some(())
        }
        // A global order over a few rows.
        Cause::SerialGather => {
            let last = spec.nodes.iter().rposition(|n| matches!(n.op, Op::Output { .. }))?;
            let small = (0..=last).rev().find(|&n| {
                matches!(spec.nodes[n].op, Op::Output { .. }) && Some(n) != slots.large_output
            })?;
            let Op::Output { order, clustered, .. } = &mut spec.nodes[small].op else { return None };
            *clustered = None;
            *order = Some("RowsSeen".into());
            Some(())
        }
        // A large heap that is hardly collected.
        Cause::HeapPressure => {
            let (Op::Reduce { udo, .. } | Op::Process { udo, .. }) = &mut spec.nodes[slots.udo?].op else { return None };
            udo.heap = rng.range(1.2e9, 1.6e9);
            udo.gc = rng.range(0.05, 0.08);
            Some(())
        }
        Cause::CpuBound | Cause::UserCode => decoy(spec, slots, Decoy::ScaryCode).then_some(()),
        // Memory is nearly full, and nothing spills.
        Cause::Spill => {
            let physical = crate::compile::compile(spec);
            let held = physical.live().flat_map(|(_, s)| &s.ops).flat_map(|o| o.held.clone()).fold(0.0, f64::max);
            spec.env.sort_memory = held * 1.01;
            Some(())
        }
        Cause::EstimateTooLow | Cause::VertexRetries => decoy(spec, slots, Decoy::FewRetries).then_some(()),
        // The estimate is off, and the partitions are given by hand.
        Cause::Misestimate => {
            let main = slots.by_key.or(slots.join)?;
            let physical = crate::compile::compile(spec);
            let count = physical.stages[physical.stage_of(main)?].vertices as u32;
            spec.nodes[main].hints.push(Hint::PartitionCount(count));
            spec.tables[slots.fact].believed /= 12.0;
            (spec.dialect == crate::plan::Dialect::Scope).then_some(())
        }
        Cause::Explosion => {
            let Op::Join { fan_out, .. } = &mut spec.nodes[slots.join?].op else { return None };
            *fan_out = 1.25;
            Some(())
        }
        // Few partitions, because there is little data.
        Cause::TooLow => {
            spec.tables[slots.fact].rows = (spec.tables[slots.fact].rows * 0.2).round();
            Some(())
        }
        Cause::SmallFiles => {
            let (table, _) = slots.files?;
            spec.tables[table].files += 6;
            Some(())
        }
        // One vertex is somewhat slow, and not alone on the critical path.
        Cause::SlowMachine => {
            spec.env.slow = Some((slots.clean, 1, 1.35));
            Some(())
        }
        Cause::Compile => Some(()),
        // A long vertex that stays below the limit.
        Cause::Limit => Some(()),
        Cause::QueueWait => {
            spec.env.queue_s = rng.range(8.0, 12.0);
            Some(())
        }
    }
}
