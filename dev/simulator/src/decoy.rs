//! Things that look bad and are not, in healthy jobs and next to real causes.

use crate::data::{Clustering, TableKind};
use crate::mechanism::heat;
use crate::plan::{Dialect, Hint, Op, Spec};
use crate::rng::Rng;
use crate::templates::{Slots, helper_item};

/// Things that look bad and are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Decoy {
    Hints,
    ScaryCode,
    HotFiltered,
    SkewHandled,
    OtherClustering,
    Imbalance,
    FewRetries,
    DataGrew,
    WideRows,
    Warnings,
    UnevenColumn,
}

/// All decoys with their names.
pub(crate) const DECOYS: [(Decoy, &str); 11] = [
    (Decoy::Hints, "hints"),
    (Decoy::ScaryCode, "scary_code"),
    (Decoy::HotFiltered, "hot_filtered"),
    (Decoy::SkewHandled, "skewjoin_handled"),
    (Decoy::OtherClustering, "cluster_other"),
    (Decoy::Imbalance, "imbalance"),
    (Decoy::FewRetries, "few_retries"),
    (Decoy::DataGrew, "data_grew"),
    (Decoy::WideRows, "wide_rows"),
    (Decoy::Warnings, "warnings"),
    (Decoy::UnevenColumn, "uneven_column"),
];

/// Adds a decoy; returns false if the job has no place for it.
pub(crate) fn decoy(spec: &mut Spec, slots: &Slots, decoy: Decoy) -> bool {
    let mut rng = Rng::new(spec.seed ^ 0xdec0 ^ decoy as u64);
    let scope = spec.dialect == Dialect::Scope;
    match decoy {
        Decoy::Hints => {
            if scope {
                spec.nodes[slots.clean]
                    .hints
                    .push(Hint::RowSize(rng.whole(40, 90) as u32));
            } else {
                let keeps = if let Op::Select { filters, .. } = &spec.nodes[slots.clean].op {
                    filters.iter().map(|f| f.keeps).product::<f64>()
                } else {
                    1.0
                };
                let near = (spec.tables[slots.fact].rows * keeps * rng.range(0.8, 1.25) / 1e6)
                    .ceil()
                    * 1e6;
                spec.nodes[slots.clean].hints.push(Hint::RowCount(near));
            }
            true
        }
        Decoy::ScaryCode => {
            let Some(Op::Reduce { udo, .. } | Op::Process { udo, .. }) =
                slots.udo.map(|n| &mut spec.nodes[n].op)
            else {
                return false;
            };
            udo.scary = true;
            true
        }
        Decoy::HotFiltered => {
            if slots.join.or(slots.by_key).is_none() {
                return false;
            }
            hot_filtered(spec, slots, &mut rng)
        }
        Decoy::SkewHandled => {
            let Some(join) = slots
                .join
                .filter(|_| scope && slots.again.is_none() && slots.second.is_none())
            else {
                return false;
            };
            heat(spec, slots, &mut rng, 0.15, false);
            spec.nodes[join].hints.push(Hint::SkewJoin);
            true
        }
        // Stored on a key that no statement uses; little of it crosses the exchange.
        Decoy::OtherClustering => {
            let split = spec.env.split_bytes;
            let t = &mut spec.tables[slots.fact];
            // After a processor, the helpful layout is unknown.
            let processed = slots.udo.is_some() && slots.by_key.or(slots.again).is_none();
            if slots.second.is_some() || processed || t.kind == TableKind::Text {
                return false;
            }
            let count = ((t.bytes() / split).ceil() as u32).max(4);
            t.clustering = Clustering::hash("RecordId", count);
            true
        }
        // The largest partition is somewhat larger than the others.
        Decoy::Imbalance => {
            let column = spec.tables[slots.fact].column_mut(&slots.key);
            let Some(first) = column.and_then(|c| c.heavy.first_mut()) else {
                return false;
            };
            first.1 = rng.range(0.004, 0.009);
            true
        }
        Decoy::FewRetries => {
            spec.env.fail_rate = rng.range(0.015, 0.025);
            true
        }
        Decoy::DataGrew => {
            spec.tables[slots.fact].previous = Some(rng.range(0.25, 0.45));
            true
        }
        Decoy::WideRows => {
            if slots.udo.is_none() || slots.by_key.is_some() || slots.again.is_some() {
                return false;
            }
            let t = &mut spec.tables[slots.fact];
            let wide = t.columns.len() - 1;
            t.columns[wide].width = rng.range(500.0, 900.0).round();
            true
        }
        Decoy::Warnings => true,
        Decoy::UnevenColumn => {
            // A frequent value in a column that is no partitioning key.
            let t = &mut spec.tables[slots.fact];
            let Some(c) = t
                .columns
                .iter_mut()
                .find(|c| c.name.ends_with("State") || c.name == "Verdict" || c.name == "Outcome")
            else {
                return false;
            };
            if let Some(first) = c.heavy.first_mut() {
                first.1 = 0.93;
            }
            c.heavy.truncate(1);
            true
        }
    }
}

/// A frequent key that is filtered out before the exchange.
fn hot_filtered(spec: &mut Spec, slots: &Slots, rng: &mut Rng) -> bool {
    let share = rng.range(0.2, 0.4);
    let key = slots.key.clone();
    let Some(c) = spec.tables[slots.fact].column_mut(&key) else {
        return false;
    };
    if !c.nullable {
        return false;
    }
    c.nulls = share;
    if let Op::Select { filters, .. } = &mut spec.nodes[slots.clean].op {
        filters.push(crate::plan::Filter {
            text: format!("{key} != null"),
            uses: vec![key.clone()],
            keeps: 1.0 - share,
            believed: 1.0 - share,
            drops_hot: Some(key),
            ..crate::plan::Filter::default()
        });
    }
    true
}

/// Adds a helper call that does no harm.
pub(crate) fn harmless_helper(spec: &mut Spec, slots: &Slots) {
    let text = spec.tables[slots.fact]
        .columns
        .iter()
        .rev()
        .find(|c| c.width > 60.0)
        .map(|c| c.name.clone());
    if let (Some(uses), TableKind::SStream) = (text, spec.tables[slots.fact].kind)
        && let Op::Select { items, .. } = &mut spec.nodes[slots.clean].op
    {
        items.push(helper_item("ShortText", "TextUtil", &uses));
    }
}
