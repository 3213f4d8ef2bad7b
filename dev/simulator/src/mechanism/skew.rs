//! Mechanisms of skew: keys, nulls, few values, stored partitions.

use super::{Mechanism, Place, Spot};
use crate::cause::Cause;
use crate::data::{Clustering, Column, KeySpace, Ty};
use crate::plan::{Expr, JoinKind, Op, Spec};
use crate::rng::Rng;
use crate::templates::{Slots, Template};
use crate::words::DEFAULTS;
use Template::*;

pub(super) static ALL: &[Mechanism] = &[
    Mechanism::new(
        Cause::JoinHotKey,
        "few_hot_join_values",
        &[EnrichJoin, SameKey],
        |p| {
            heat(p.spec, p.slots, &mut p.rng, 0.2 * p.size, false);
            Some(Spot::at(p.slots.join?))
        },
    ),
    Mechanism::new(
        Cause::JoinHotKey,
        "several_medium_join_values",
        &[EnrichJoin, TwoLevels, Chain],
        |p| {
            several_medium(p)?;
            Some(Spot::at(p.slots.join?))
        },
    ),
    Mechanism::new(
        Cause::JoinHotKey,
        "hot_after_filter",
        &[EnrichJoin, Chain],
        |p| {
            hot_after_filter(p)?;
            Some(Spot::at(p.slots.join?).or(&[p.slots.clean]))
        },
    ),
    Mechanism::new(
        Cause::GroupHotKey,
        "few_hot_group_values",
        &[Sessions, Distinct],
        |p| {
            heat(p.spec, p.slots, &mut p.rng, 0.22 * p.size, false);
            Some(Spot::at(p.slots.by_key?))
        },
    ),
    Mechanism::new(Cause::GroupHotKey, "hot_combination", &[Pairs], |p| {
        // The attribute has a frequent value anyway; together they are one hot pair.
        let mut rng = p.rng.clone();
        let share = (0.45 * p.size).min(0.6);
        let column = p.key()?;
        column.heavy = vec![(value(column.ty, &mut rng), share)];
        Some(Spot::at(p.slots.by_key?))
    }),
    Mechanism::new(
        Cause::GroupHotKey,
        "hot_in_one_of_two_streams",
        &[Union],
        |p| {
            heat(p.spec, p.slots, &mut p.rng, 0.34 * p.size, false);
            Some(Spot::at(p.slots.by_key?))
        },
    ),
    Mechanism::new(
        Cause::NullOrDefaultKey,
        "null_or_default_value",
        &[Sessions, EnrichJoin],
        |p| {
            heat(p.spec, p.slots, &mut p.rng, 0.26 * p.size, true);
            if let Some(Op::Join { kind, .. }) = p.slots.join.map(|j| &mut p.spec.nodes[j].op) {
                *kind = JoinKind::LeftOuter;
            }
            Some(Spot::at(p.main()))
        },
    ),
    Mechanism::new(
        Cause::NullOrDefaultKey,
        "null_coalesced_to_default",
        &[Sessions, EnrichJoin, TwoLevels],
        null_coalesced,
    ),
    Mechanism::new(
        Cause::NullOrDefaultKey,
        "unmatched_outer_join",
        &[Accounts],
        |p| {
            let share = p.rng.range(0.2, 0.32) * p.size;
            let join = p.slots.join?;
            if let Op::Join { matched, .. } = &mut p.spec.nodes[join].op {
                *matched = 1.0 - share.min(0.6);
            }
            Some(Spot::at(p.slots.by_key?).or(&[join]))
        },
    ),
    Mechanism::new(
        Cause::LowCardinalityKey,
        "few_values",
        &[Sessions, Distinct],
        |p| {
            let distinct = p.rng.whole(4, 9) as f64;
            if let Some(c) = p.key() {
                c.heavy.clear();
                c.distinct = distinct;
            }
            Some(Spot::at(p.slots.by_key?))
        },
    ),
    Mechanism::new(
        Cause::LowCardinalityKey,
        "few_pairs_of_values",
        &[Pairs],
        |p| {
            let group = p.slots.by_key?;
            let Op::Group { keys, .. } = p.spec.nodes[group].op.clone() else {
                return None;
            };
            for key in &keys {
                let distinct = p.rng.whole(2, 3) as f64;
                let column = p.spec.tables[p.slots.fact].column_mut(key)?;
                column.heavy.clear();
                column.distinct = distinct;
            }
            Some(Spot::at(group))
        },
    ),
    Mechanism::new(
        Cause::LowCardinalityKey,
        "few_values_after_filter",
        &[Distinct, Pairs],
        |p| {
            let count = p.rng.whole(5, 8);
            let key = p.slots.key.clone();
            let clean = p.slots.clean;
            let Op::Select { filters, .. } = &mut p.spec.nodes[clean].op else {
                return None;
            };
            let filter = filters.first_mut()?;
            filter.only_hot = Some(key);
            let each = filter.keeps / count as f64;
            let mut rng = p.rng.clone();
            let column = p.key()?;
            column.heavy = (0..count)
                .map(|_| (value(column.ty, &mut rng), each))
                .collect();
            Some(Spot::at(p.slots.by_key?).or(&[clean]))
        },
    ),
    Mechanism::new(
        Cause::PartitionLayout,
        "uneven_time_ranges",
        &[Star, Features, Sessions],
        uneven_ranges,
    ),
    Mechanism::new(
        Cause::PartitionLayout,
        "stored_by_a_hot_key",
        &[Star, Features, Sessions, Union],
        stored_by_hot_key,
    ),
    Mechanism::new(
        Cause::PartitionLayout,
        "one_large_compressed_file",
        &[DailyFiles],
        |p| {
            let (table, node) = p.slots.files?;
            let split = p.spec.env.split_bytes;
            let large = p.rng.range(4.0, 7.0) * p.size;
            let t = &mut p.spec.tables[table];
            let n = ((t.bytes() / split).ceil() as usize).max(8);
            let mut weights = vec![1.0; n];
            weights[p.rng.index(n)] = large;
            weights.iter_mut().for_each(|w| *w *= p.rng.range(0.9, 1.1));
            t.files = n as u32;
            t.clustering = Clustering {
                partitions: n as u32,
                weights,
                ..Clustering::none()
            };
            t.gzip = true;
            t.path = t.path.replace(".tsv", ".tsv.gz");
            Some(Spot::at(node).or(&[p.slots.clean]))
        },
    ),
];

/// A value of a key.
fn value(ty: Ty, rng: &mut Rng) -> String {
    match ty {
        Ty::Text => format!("{:08x}-{}", rng.next() >> 32, rng.whole(11, 99)),
        _ => rng.whole(1_000_000_000, 9_999_999_999).to_string(),
    }
}

/// Makes some values of the key frequent, or one null or default value.
pub(crate) fn heat(spec: &mut Spec, slots: &Slots, rng: &mut Rng, share: f64, empty: bool) {
    let Some(c) = spec.tables[slots.fact].column_mut(&slots.key) else {
        return;
    };
    let share = (share * rng.range(0.85, 1.2)).min(0.7);
    if empty {
        if c.nullable && rng.chance(0.5) {
            c.nulls = share;
        } else {
            let numbers = ["0", "-1"];
            let value = if c.ty == Ty::Text {
                rng.pick(DEFAULTS)
            } else {
                rng.pick(&numbers)
            };
            c.heavy.insert(0, (value.to_owned(), share));
        }
        return;
    }
    let several = rng.whole(1, 3);
    for i in 0..several {
        let value = match c.ty {
            Ty::Text => format!("{:08x}-{}", rng.next() >> 32, 11 + i),
            _ => rng.whole(1_000_000_000, 9_999_999_999).to_string(),
        };
        c.heavy.insert(
            i as usize,
            (value, share / several as f64 * (1.2 - 0.2 * i as f64)),
        );
    }
    c.heavy.sort_by(|a, b| b.1.total_cmp(&a.1));
}

/// Five to eight values with some percent of the rows each.
fn several_medium(p: &mut Place<'_>) -> Option<()> {
    let count = p.rng.whole(5, 8);
    let each = p.rng.range(0.05, 0.07) * p.size;
    let mut rng = p.rng.clone();
    let column = p.key()?;
    for _ in 0..count {
        let value = value(column.ty, &mut rng);
        column.heavy.insert(0, (value, each * rng.range(0.8, 1.2)));
    }
    column.heavy.sort_by(|a, b| b.1.total_cmp(&a.1));
    Some(())
}

/// A value with a few percent of the rows, which all pass a selective filter.
fn hot_after_filter(p: &mut Place<'_>) -> Option<()> {
    let share = p.rng.range(0.04, 0.06) * p.size;
    let key = p.slots.key.clone();
    let mut rng = p.rng.clone();
    let column = p.key()?;
    column.heavy = vec![(value(column.ty, &mut rng), share)];
    let Op::Select { filters, .. } = &mut p.spec.nodes[p.slots.clean].op else {
        return None;
    };
    let filter = filters.get_mut(1)?;
    filter.passes_hot = Some(key);
    filter.keeps = share + (1.0 - share) * filter.keeps * 0.7;
    Some(())
}

/// Rows without a key get a default one in the script, so that the table holds nulls and the exchange does not.
fn null_coalesced(p: &mut Place<'_>) -> Option<Spot> {
    let share = p.rng.range(0.22, 0.32) * p.size;
    let key = p.slots.key.clone();
    let column = p.key()?;
    if !column.nullable {
        return None;
    }
    column.nulls = share;
    let mut filled = column.clone();
    filled.nulls = 0.0;
    filled.nullable = false;
    filled.heavy = vec![("0".to_owned(), share)];
    let clean = p.slots.clean;
    let Op::Select { items, .. } = &mut p.spec.nodes[clean].op else {
        return None;
    };
    items.iter_mut().find(|i| i.name == key)?.expr = Some(Expr {
        text: format!("({key} ?? 0)"),
        uses: vec![key.clone()],
        column: filled,
        managed: false,
    });
    if let Some(Op::Join { kind, .. }) = p.slots.join.map(|j| &mut p.spec.nodes[j].op) {
        *kind = JoinKind::LeftOuter;
    }
    Some(Spot::at(p.main()).or(&[clean]))
}

/// Stored partitions of very different sizes.
fn uneven_ranges(p: &mut Place<'_>) -> Option<Spot> {
    let split = p.spec.env.split_bytes;
    let t = &mut p.spec.tables[p.slots.fact];
    let n = ((t.bytes() / split).ceil() as usize).max(6);
    let mut weights = vec![1.0; n];
    let big = p.rng.whole(1, 2) as usize;
    for i in 0..big {
        let place = (p.rng.index(n) + i) % n;
        weights[place] = (n as f64 * 0.16 * p.size.max(0.6)).max(4.0);
    }
    weights.iter_mut().for_each(|w| *w *= p.rng.range(0.9, 1.1));
    t.clustering = Clustering {
        kind: "range",
        keys: vec!["EventTime".into()],
        partitions: n as u32,
        weights,
    };
    Some(Spot::at(p.slots.clean).or(&[0]))
}

/// The stream is stored by a column with a hot value.
fn stored_by_hot_key(p: &mut Place<'_>) -> Option<Spot> {
    let split = p.spec.env.split_bytes;
    let hot = p.rng.range(0.22, 0.3) * p.size;
    let t = &mut p.spec.tables[p.slots.fact];
    let n = ((t.bytes() / split).ceil() as usize).max(12);
    let name = t.columns[3].name.clone();
    let rows = t.rows;
    let column: &mut Column = t.column_mut(&name)?;
    column.distinct = 9_000.0;
    column.heavy = vec![(column.heavy.first()?.0.clone(), hot)];
    let space = KeySpace::of(&[column], rows);
    let weights = space
        .spread(rows, n, p.spec.seed)
        .iter()
        .map(|s| s.0.max(1.0) / rows * n as f64)
        .collect();
    t.clustering = Clustering {
        weights,
        ..Clustering::hash(&name, n as u32)
    };
    Some(Spot::at(p.slots.clean).or(&[0]))
}
