//! Rules for `skew.*`: some vertices get far more data than others.

use job::facts::{OperatorFacts, value};
use job::model::{Edge, ExchangeKind, Operator};

use super::support::{Symptom, lacks, rule};
use crate::facts::{at, events_source, fact};
use crate::measurements::exchange::feeds_join;
use crate::measurements::hot::{DEFAULT_EXPLAINS, VALUES_PER_PARTITION};
use crate::measurements::skew::{
    MIN_LAYOUT_RATIO, MIN_NAMED_RATIO, MIN_RATIO, has_unknown_join, imbalance,
};
use crate::rule::Examination;
use crate::settings::Threshold;
use crate::uneven::Uneven;
use crate::view::View;
use report::format::{Names, Number, PARTITION, ROW, Seconds, Share, VERTEX};
use report::{Cause, Evidence, Text, text};

rule! { JOIN_HOT_KEY = JoinHotKey, examine;
    "少数连接键值占了连接所在顶点的大部分行", "few values of a join key carry most rows of a join's vertices";
    needs StageGraph, PerVertexData;
    helps TableStatistics, RuntimeCounters, VertexEvents;
    thresholds MIN_RATIO, MIN_NAMED_RATIO;
    unless "输入均匀：慢是因为行宽、用户代码或机器", "even input: wide rows, user code or the machine is the reason";
    unless "只有一个顶点：最大值等于总数，不能说明倾斜", "only one vertex: the maximum equals the total and is no evidence of skew";
    unless "拉平输入几乎不省时间", "even input would save hardly any time";
    cleared "各顶点得到的数据量相近", "the vertices get about equal amounts of data";
}

rule! { GROUP_HOT_KEY = GroupHotKey like JOIN_HOT_KEY;
    "少数分组键值占了聚合或 REDUCE 所在顶点的大部分行", "few values of a grouping key carry most rows of an aggregation's or REDUCE's vertices";
}

rule! { NULL_OR_DEFAULT_KEY = NullOrDefaultKey like JOIN_HOT_KEY;
    "热点值是空值、空串或默认值", "the hot value is null, empty or a default";
    thresholds MIN_RATIO, MIN_NAMED_RATIO, DEFAULT_EXPLAINS;
}

rule! { LOW_CARDINALITY_KEY = LowCardinalityKey like JOIN_HOT_KEY;
    "键的不同值少于分区数，部分顶点没有数据", "fewer distinct key values than partitions: some vertices get no rows";
    thresholds MIN_RATIO, MIN_NAMED_RATIO, VALUES_PER_PARTITION;
}

rule! { PARTITION_LAYOUT = PartitionLayout like JOIN_HOT_KEY;
    "存储分区或范围分区本身不均匀，与算子无关", "the stored or range partitions themselves are uneven, independent of the operator";
    thresholds MIN_LAYOUT_RATIO;
}

/// Examines every stage with a plan that allows this kind of skew.
fn examine(view: &View<'_>, result: &mut Examination) {
    let cause = result.cause;
    for stage in 0..view.job.stages.len() {
        let uneven = view.uneven.iter().find(|u| u.stage == stage);
        match uneven {
            Some(u) if u.cause == cause => {
                result.found(view, symptom(view, u));
                if let Some(found) = result.candidates.last_mut() {
                    found.at_most = u.at_most;
                }
            }
            None if cause == Cause::JoinHotKey && has_unknown_join(view, stage) => {
                lacks! { result, view, PerVertexData, Some(stage);
                "不知道 {stage} 的连接输出的行在各顶点间如何分布", "the distribution of the join's output over the vertices of {stage} is unknown", stage = view.name(stage) }
            }
            _ if !could_be(view, cause, stage) => {}
            // an event log never has statistics of a column
            Some(u) if view.job.spark.is_none() && unnamed(view, cause, u) => {
                lacks! { result, view, TableStatistics, Some(stage);
                "{stage} 的数据不均匀，但没有键的统计信息说明是哪种键值造成的", "the input of {stage} is uneven, and without statistics of the key the values that cause it are unknown", stage = view.name(stage) }
            }
            Some(u) => result.attributed(view, u.cause, stage),
            None => even(view, stage, result),
        }
    }
}

/// A stage that is not uneven: its imbalance is within the limit, or unknown.
fn even(view: &View<'_>, stage: usize, result: &mut Examination) {
    let Some(imbalance) = imbalance(view, stage) else {
        lacks! { result, view, PerVertexData, Some(stage);
        "不知道 {stage} 的数据在各顶点间如何分布", "the distribution of the data of {stage} over its vertices is unknown", stage = view.name(stage) }
        return;
    };
    let (edge, ratio) = (imbalance.edge, imbalance.ratio);
    let limit = view.limit(limit(result.cause));
    result.under(ratio / limit, || {
        let rows = rows_node(view, stage, edge);
        let largest = rows.and_then(|node| view.measured(&node.rows_max, "rows"));
        let mut facts: Vec<Evidence> = largest.into_iter().collect();
        facts.extend(ratio_fact(view, stage, rows, ratio, edge.is_none()));
        facts
    });
}

/// Least ratio of largest to mean input for a kind of skew.
fn limit(cause: Cause) -> &'static Threshold {
    if cause == Cause::PartitionLayout {
        &MIN_LAYOUT_RATIO
    } else {
        &MIN_RATIO
    }
}

/// Whether only statistics of the key could show that an uneven input is of this kind.
fn unnamed(view: &View<'_>, cause: Cause, u: &Uneven) -> bool {
    let Some(edge) = u.edge.map(|e| &view.job.edges[e]) else {
        return false;
    };
    let known = |key: &String| view.column_statistics(edge, key).is_some();
    matches!(cause, Cause::NullOrDefaultKey | Cause::LowCardinalityKey)
        && !edge.keys.iter().all(known)
}

fn symptom(view: &View<'_>, u: &Uneven) -> Symptom {
    let edge = u.edge.map(|e| &view.job.edges[e]);
    let input = || match edge {
        Some(edge) => view.consumer_of(edge),
        None => view.extracts(u.stage).next(),
    };
    let operator = u.join.or_else(|| Some(input()?.0));
    Symptom {
        stage: Some(u.stage),
        lines: operator.and_then(|operator| view.lines(u.stage, operator)),
        summary: summarize(view, u),
        evidence: evidence(view, u),
        saved: u.saved.clone(),
        method: "schedule replayed with even input",
        strength: strength(u),
    }
}

/// Strength of the evidence: the ratio over the threshold, and whether a value of the key explains it.
fn strength(u: &Uneven) -> f64 {
    let ratio = (u.ratio / 2.0).log2().clamp(0.0, 2.0) / 2.0;
    let named = match u.cause {
        Cause::LowCardinalityKey => u.distinct.is_some(),
        Cause::PartitionLayout => true,
        _ => u.hot.is_some(),
    };
    0.5 + 0.3 * ratio + if named { 0.2 } else { 0.0 }
}

fn summarize(view: &View<'_>, u: &Uneven) -> Text {
    let stage = view.name(u.stage);
    let share = Share(u.largest_share.min(1.0));
    let ratio = format!("{:.1}", u.ratio);
    if u.join.is_some() {
        return text!(
            "{stage} 的连接输出不均匀：最大的顶点输出 {share} 的行，是均值的 {ratio} 倍，因为它有匹配最多的键值",
            "the output of the join in {stage} is uneven: one vertex writes {share} of the rows, {ratio} times the mean, because its key has the most matches",
            share = share,
        );
    }
    let named = u.edge.map(|e| view.job.edges[e].keys.as_slice());
    let keys = match named.filter(|keys| !keys.is_empty()) {
        Some(keys) => text!("{keys}", "{keys}", keys = Names(keys)),
        // an RDD has keys without names
        None => text!("键值", "its keys"),
    };
    match u.cause {
        Cause::JoinHotKey | Cause::GroupHotKey | Cause::NullOrDefaultKey => {
            let what = if u.cause == Cause::JoinHotKey {
                text!("连接", "join")
            } else {
                text!("聚合", "aggregation")
            };
            let amount = match u.of_rows {
                true => text!("行", "rows"),
                false => text!("字节", "bytes"),
            };
            text!(
                "{stage} 的{what}按 {keys} 分区时数据倾斜：最大的顶点得到 {share} 的{amount}，是均值的 {ratio} 倍{hot}",
                "the {what} in {stage} is skewed on {keys}: one vertex gets {share} of the {amount}, {ratio} times the mean{hot}",
                keys = keys,
                what = what,
                amount = amount,
                share = share,
                hot = hot_words(u),
            )
        }
        Cause::LowCardinalityKey => {
            let distinct = u.distinct.map_or_else(Text::default, |n| {
                text!(
                    "，键只有约 {n} 个不同值",
                    "; the key has only about {n} distinct values",
                    n = Number(n as f64),
                )
            });
            text!(
                "{stage} 按 {keys} 分成 {partitions}{distinct}，有 {empty}几乎没有数据，最大顶点是均值的 {ratio} 倍",
                "{stage} is partitioned on {keys} into {partitions}{distinct}; {empty} get almost no data, the largest gets {ratio} times the mean",
                keys = keys,
                partitions = PARTITION.count(u.vertices as f64),
                distinct = distinct,
                empty = VERTEX.count(u.empty as f64),
            )
        }
        _ => text!(
            "{stage} 读取的分区本身不均匀：最大分区是均值的 {ratio} 倍，占 {share}",
            "the partitions that {stage} reads are uneven themselves: the largest is {ratio} times the mean, {share} of all",
            share = share
        ),
    }
}

fn hot_words(u: &Uneven) -> Text {
    let Some(hot) = &u.hot else {
        return Text::default();
    };
    let (share, column) = (Share(hot.share), &hot.column);
    // statistics count the rows of the table; filters may leave fewer
    match (&hot.value, &hot.table) {
        (None, None) => text!(
            "；{column} 来自外连接可能没有匹配的一侧，没有匹配的行约占 {share}，键都为空",
            "; {column} is null in rows without a match in the outer join before, about {share} of all",
            share = share,
        ),
        (None, Some(table)) => text!(
            "，表 {table} 有 {share} 的行 {column} 为空",
            ", and {column} is null in {share} of the rows of {table}",
            share = share,
        ),
        (Some(v), Some(table)) => text!(
            "，{column} 的值 `{v}` 占表 {table} 行数的 {share}",
            ", and the value `{v}` of {column} is in {share} of the rows of {table}",
            share = share,
        ),
        (Some(v), None) => text!(
            "，{column} 的热点值是 `{v}`",
            ", and `{v}` is the hot value of {column}",
        ),
    }
}

fn evidence(view: &View<'_>, u: &Uneven) -> Vec<Evidence> {
    let mut facts = Vec::new();
    let join = u.join.map(|at| &view.job.stages[u.stage].operators[at]);
    let rows = match join {
        Some(join) => view.node(u.stage, join.uid),
        // the vertex with most bytes may have few rows
        None => rows_node(view, u.stage, u.edge).filter(|_| u.of_rows),
    };
    if let Some(input) = rows
        && let Some(largest) = &input.rows_max
        && let Some(all) = &input.rows
    {
        facts.extend(match largest.metric == all.metric {
            true => view.measured_largest(largest, "rows"),
            false => view.measured(largest, "rows"),
        });
        facts.extend(view.measured(&input.rows, "rows"));
    } else if let Some(stated) = &view.facts[u.stage].stated {
        facts.extend(view.measured(&stated.bytes_read_max, "bytes"));
    }
    let is_stored = u.edge.is_none() && u.join.is_none();
    facts.extend(ratio_fact(view, u.stage, rows, u.ratio, is_stored));
    facts.extend(hot_fact(view, u));
    facts.extend(hot_column_fact(view, u));
    facts.extend(slowest(view, u.stage));
    facts
}

/// Largest over mean rows of a stage, where they were counted.
fn ratio_fact(
    view: &View<'_>,
    stage: usize,
    rows: Option<&OperatorFacts>,
    ratio: f64,
    is_stored: bool,
) -> Option<Evidence> {
    let stated = || {
        let stated = view.facts[stage].stated.as_ref()?;
        let (max, read) = (stated.bytes_read_max.as_ref()?, stated.bytes_read.as_ref()?);
        let n = stated.vertices.as_ref()?;
        let metric = format!("{} / ({} / {})", max.metric, read.metric, n.metric);
        Some((metric, max.source()))
    };
    let by_rows = || {
        let (max, all) = (rows?.rows_max.as_ref()?, rows?.rows.as_ref()?);
        let metric = format!("{} / ({} / vertices)", max.metric, all.metric);
        Some((metric, max.source()))
    };
    let by_events = || {
        let metric = "max bytes read / mean bytes read".to_owned();
        Some((metric, events_source(&view.job.stages[stage])?))
    };
    let (metric, source) = by_rows().or_else(stated).or_else(by_events)?;
    let limit = view.limit(match is_stored {
        true => &MIN_LAYOUT_RATIO,
        false => &MIN_RATIO,
    });
    let fact = fact! { view, &metric, ratio, "ratio", source;
    "{stage} 最大顶点是均值的 {shown} 倍", "the largest vertex of {stage} has {shown} times the mean", stage = view.name(stage), shown = format!("{ratio:.1}") };
    Some(fact.expecting(format!("<= {limit:.1}")))
}

/// The input that comes through an exchange, else the largest stored one.
fn rows_node<'a>(
    view: &'a View<'_>,
    stage: usize,
    edge: Option<usize>,
) -> Option<&'a OperatorFacts> {
    let rows = |o: &Operator| value(&view.node(stage, o.uid)?.rows).map(|r| r as u64);
    let uid = match edge {
        Some(edge) => view.job.edges[edge].uid,
        None => {
            let (_, largest) = view.extracts(stage).max_by_key(|(_, o)| rows(o))?;
            largest.uid
        }
    };
    view.node(stage, uid)
}

fn hot_fact(view: &View<'_>, u: &Uneven) -> Option<Evidence> {
    let hot = u.hot.as_ref()?;
    let source = hot.source.clone()?;
    let shown = hot.value.clone().unwrap_or_else(|| "NULL".to_owned());
    let (share, rows) = (Share(hot.share), ROW.count(hot.rows as f64));
    let sentence = match &hot.table {
        Some(table) => text!(
            "{table}.{column} 中 `{shown}` 有 {rows}，占该表行数的 {share}",
            "`{shown}` is in {rows} of {table}.{column}, {share} of the table's rows",
            column = hot.column,
            share = share,
            rows = rows,
        ),
        None => text!(
            "外连接对约 {rows}（{share}）找不到匹配，它们的 {column} 为空；任何已知的键值都没有这么多行",
            "the outer join finds no match for about {rows} ({share}) and sets their {column} to null; no known value of the key has more rows",
            column = hot.column,
            share = share,
            rows = rows,
        ),
    };
    Some(view.word("hot_key_value", &shown, source, sentence))
}

/// The column of the hot value, for rewriting the script.
fn hot_column_fact(view: &View<'_>, u: &Uneven) -> Option<Evidence> {
    let hot = u.hot.as_ref()?;
    Some(
        fact! { view, "hot_key_column", &hot.column, hot.source.clone()?;
        "热点键的列是 {column}", "the hot key is in column {column}", column = hot.column },
    )
}

/// The slowest vertex against the median, where there are events.
fn slowest(view: &View<'_>, stage: usize) -> Option<Evidence> {
    let runs = view.job.stages[stage].runs.as_ref()?;
    let source = at(&runs.file, view.name(stage));
    let (max, median) = (runs.run_ms.max / 1000.0, runs.run_ms.p50 / 1000.0);
    Some(fact! { view, "slowest vertex", max, "s", source;
    "{stage} 最慢的顶点运行 {time}，中位数为 {median}", "the slowest vertex of {stage} ran {time}, the median {median}", stage = view.name(stage), time = Seconds(max), median = Seconds(median) })
}

/// Whether a stage could have this kind of skew, by its plan.
fn could_be(view: &View<'_>, cause: Cause, stage: usize) -> bool {
    if view.vertices(stage).is_some_and(|n| n < 2) || view.failed() {
        return false;
    }
    let mut hashed = view
        .inputs(stage)
        .filter(|e| e.exchange == ExchangeKind::Hash && e.partitions.is_none_or(|p| p > 1))
        .peekable();
    match cause {
        Cause::PartitionLayout => {
            let ranged = |e: &Edge| e.exchange == ExchangeKind::Range;
            hashed.peek().is_none()
                && (view.extracts(stage).next().is_some() || view.inputs(stage).any(ranged))
        }
        Cause::JoinHotKey => hashed.any(|e| feeds_join(view, e)),
        Cause::GroupHotKey => hashed.any(|e| !feeds_join(view, e)),
        _ => hashed.peek().is_some(),
    }
}
