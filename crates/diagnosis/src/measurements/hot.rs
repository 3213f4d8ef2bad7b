//! Why an exchange is uneven: the values of its key, by the statistics of tables.

use job::model::{Edge, ExchangeKind, Source, Table};

use super::exchange::{feeds_join, has_own_partitioner};
use crate::settings::threshold;
use crate::uneven::{HotValue, Uneven};
use crate::view::View;
use report::Cause;

threshold! {
    /// Largest number of distinct key values per partition for a low-cardinality key.
    pub(crate) VALUES_PER_PARTITION = 3.0, "ratio", "skew.values_per_partition";
    "每个分区平均不到三个键值时，哈希后必有空分区（λ=3 时 5 % 为空）", "with under three values a partition, hashing leaves partitions empty (5 % at λ = 3)";
    "Poisson distribution"
}

threshold! {
    /// Least part of the hot vertex's rows that a null or default value must explain.
    pub(crate) DEFAULT_EXPLAINS = 0.4, "share", "skew.default_explains";
    "空值或默认值须解释最大顶点多数的行；过滤会使统计略有偏差", "the null or default value must explain most of the largest vertex; filters blur the statistics";
    "physics"
}

/// Names the kind of an uneven exchange, and its hot value.
pub(super) fn classify(view: &View<'_>, found: &mut Uneven) {
    let Some(edge) = found.edge.map(|e| &view.job.edges[e]) else {
        return;
    };
    if edge.exchange == ExchangeKind::Range {
        return;
    }
    found.distinct = distinct_values(view, edge);
    let partitions = edge.partitions.map_or(found.vertices, u64::from) as f64;
    // statistics count the values of the whole table; filters may leave few
    let counted = found.distinct.map(|n| n as f64 / partitions);
    let left = values_per_partition(found.empty, partitions);
    let are_few = |n: &f64| *n <= view.limit(&VALUES_PER_PARTITION);
    let few = counted.as_ref().is_some_and(are_few) || left.as_ref().is_some_and(are_few);
    let explains = found.largest_share * view.limit(&DEFAULT_EXPLAINS);
    let explained = |hot: &HotValue| hot.share >= explains;
    found.hot = hottest(view, edge).filter(explained);
    if found.hot.is_none() {
        found.hot = unmatched(view, found).filter(explained);
    }
    found.cause = if !feeds_join(view, edge) && has_own_partitioner(view, edge) {
        Cause::PartitionLayout
    } else if few {
        Cause::LowCardinalityKey
    } else if found
        .hot
        .as_ref()
        .is_some_and(|h| is_default(h.value.as_deref()))
    {
        Cause::NullOrDefaultKey
    } else if found.hot.is_none() && found.empty > 0 {
        // Hashing leaves no partition empty if there are many more values than partitions.
        Cause::LowCardinalityKey
    } else if feeds_join(view, edge) {
        Cause::JoinHotKey
    } else {
        Cause::GroupHotKey
    };
    if found.cause == Cause::LowCardinalityKey && !counted.as_ref().is_some_and(are_few) {
        found.distinct = None;
    }
}

/// Number of key values per partition that leaves this many partitions empty, if hashing deals them out by
/// chance; `None` if too few are empty for an estimate.
fn values_per_partition(empty: u64, partitions: f64) -> Option<f64> {
    (empty >= 2).then(|| (partitions / empty as f64).ln())
}

/// Distinct values of the whole key: the product over its columns, at most the rows; `None` if a
/// column has no statistics.
fn distinct_values(view: &View<'_>, edge: &Edge) -> Option<u64> {
    let mut product = 1_u64;
    for key in &edge.keys {
        let (_, column) = view.column_statistics(edge, key)?;
        product = product.saturating_mul(column.distinct?.max(1));
    }
    (!edge.keys.is_empty()).then_some(product)
}

/// The most frequent value of a one-column key, null included.
fn hottest(view: &View<'_>, edge: &Edge) -> Option<HotValue> {
    let [key] = edge.keys.as_slice() else {
        return None;
    };
    let (table, column) = view.column_statistics(edge, key)?;
    let rows = table.rows.filter(|r| *r > 0)?;
    let of = |value: Option<&str>, count: u64| HotValue {
        column: key.clone(),
        value: value.map(str::to_owned),
        rows: count,
        share: count as f64 / rows as f64,
        table: Some(table.name.clone()),
        source: source_of(table),
    };
    let null = column.nulls.filter(|n| *n > 0).map(|n| of(None, n));
    let top = column
        .top_values
        .first()
        .map(|v| of(Some(&v.value), v.rows));
    match (null, top) {
        (Some(null), Some(top)) => Some(if null.rows >= top.rows { null } else { top }),
        (null, top) => null.or(top),
    }
}

/// The nulls that an outer join fills in. They are the reason if the possible values of the key explain less than
/// half of the largest vertex's rows above the mean: each row gets the value of its match, so the frequency of a
/// value is bounded by its own share and by the hottest row of the join's key.
fn unmatched(view: &View<'_>, found: &Uneven) -> Option<HotValue> {
    let at = found.edge?;
    let edge = &view.job.edges[at];
    let [key] = edge.keys.as_slice() else {
        return None;
    };
    let (join, kept) = view.derived().nulled_by(at, key)?;
    let keys = [&join.operator.keys, &join.operator.right_keys][kept];
    let [kept_key] = keys.as_slice() else {
        return None;
    };
    let top_share = |column: &str| {
        let (table, column) = view.column_statistics(edge, column)?;
        let rows = table.rows.filter(|r| *r > 0)?;
        let even = 1.0 / column.distinct?.max(1) as f64;
        let top = column.top_values.first();
        Some(top.map_or(even, |v| v.rows as f64 / rows as f64))
    };
    let excess = found.largest_share - 1.0 / found.vertices as f64;
    if top_share(key)? + top_share(kept_key)? >= 0.5 * excess {
        return None;
    }
    let rows = edge.rows_written.unwrap_or(0.0) * excess;
    Some(HotValue {
        column: key.clone(),
        value: None,
        rows: rows as u64,
        share: excess,
        table: None,
        source: view.job.stages[join.stage].definition(&join.operator.id),
    })
}

fn source_of(table: &Table) -> Option<Source> {
    table
        .sources
        .get("columns")
        .or_else(|| table.sources.values().next())
        .cloned()
}

/// Values that mean "none", in lower case without quotes and brackets.
const NONE: &str = "-1 | null | nil | none | na | n/a | nan | unknown | undefined | unspecified | default | anonymous | anon | \
    guest | empty | missing | not set | notset | other | - | ? | dummy | test | -2147483648 | 2147483647 | \
    -9223372036854775808 | 9223372036854775807 | ffffffff-ffff-ffff-ffff-ffffffffffff";

/// Whether a value means "none": null, empty, zero, minus one and common words for
/// unknown.
fn is_default(value: Option<&str>) -> bool {
    let Some(value) = value else { return true };
    let plain = value
        .trim()
        .trim_matches(|c| matches!(c, '"' | '(' | ')' | '<' | '>' | '#' | '{' | '}'))
        .to_lowercase();
    let zeros = plain.contains('0')
        && plain
            .chars()
            .all(|c| matches!(c, '0' | '-' | '.' | ':' | 't' | 'z' | ' '));
    zeros
        || plain.is_empty()
        || NONE.split(" | ").any(|none| none == plain)
        || plain.starts_with("0001-01-01")
        || plain.starts_with("1900-01-01")
        || plain.starts_with("1970-01-01")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_stand_for_none_are_told_from_real_ones() {
        for value in [
            "",
            "0",
            "-1",
            "N/A",
            "(null)",
            "00000000-0000-0000-0000-000000000000",
            "unknown",
            "0001-01-01",
        ] {
            assert!(is_default(Some(value)), "{value}");
        }
        assert!(is_default(None));
        for value in ["en-US", "7093984517510", "weather", "10", "A0118035", "100"] {
            assert!(!is_default(Some(value)), "{value}");
        }
    }
}
