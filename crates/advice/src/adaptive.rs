//! The reason why adaptive execution (AQE) did not split a skewed partition of a join, and settings that change this.

use job::model::{Application, Execution, SparkNode};
use report::format::{Bytes, Names, Number};
use report::{Text, text};

use crate::case::Case;
use crate::setting::{ADVISORY, ENABLED, SKEW_FACTOR, SKEW_THRESHOLD, Wanted, size};

const SKEW_ENABLED: &str = "spark.sql.adaptive.skewJoin.enabled";
const FORCE: &str = "spark.sql.adaptive.forceOptimizeSkewedJoin";

/// Share of the hot partition for the threshold: above every ordinary partition, clearly below the hot one.
const THRESHOLD_SHARE: f64 = 0.5;

/// Share of the measured ratio for the factor, which leaves room for the next run.
const FACTOR_SHARE: f64 = 0.8;

/// Parts of a split partition for each slot.
const PARTS_PER_SLOT: f64 = 2.0;

/// Least ratio to the median partition for a split to be worthwhile.
const LEAST_RATIO: f64 = 2.0;

/// The reason, and the settings that remove it; no settings if AQE cannot split the partition.
pub(crate) struct Unsplit {
    pub(crate) why: Text,
    pub(crate) settings: Vec<Wanted>,
}

/// The skewed partition of one side of a join, and the median partition of that side, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Partition {
    pub(crate) hot: f64,
    pub(crate) median: f64,
}

impl Partition {
    /// Parts of the hot partition that are as large as the median one.
    pub(crate) fn parts(self) -> f64 {
        (self.hot / self.median.max(1.0)).ceil().max(2.0)
    }
}

/// Measures the skewed partition: the largest task's input less its even share of the other side.
pub(crate) fn partition(case: &Case<'_>) -> Option<Partition> {
    let stage = case.stage?;
    let read = case.view.facts[stage]
        .per_vertex
        .exchange_bytes_read
        .as_ref()?;
    let read = read.value;
    let hot = case.uneven().and_then(|u| u.edge);
    let others = case.view.numbered_inputs(stage);
    let others = others.filter(|(at, _)| hot.is_some_and(|hot| hot != *at));
    let other: f64 = others.filter_map(|(_, edge)| edge.bytes_written).sum();
    let other = other / read.vertices.max(1) as f64;
    let own = |bytes: f64| (bytes - other).max(0.0);
    let partition = Partition {
        hot: own(read.max),
        median: own(read.p50.unwrap_or(read.mean)),
    };
    (partition.hot > partition.median).then_some(partition)
}

/// Finds out why the partition was not split, and what would change that.
pub(crate) fn unsplit(case: &Case<'_>) -> Unsplit {
    let never = |why| Unsplit {
        why,
        settings: Vec::new(),
    };
    let app = case.job.spark.as_deref();
    if let Some(why) = app.and_then(|app| impossible(case, app)) {
        return never(why);
    }
    let Some(partition) = partition(case) else {
        return never(text!(
            "没有记录各分区的大小",
            "the sizes of the partitions are not recorded",
        ));
    };
    let ratio = partition.hot / partition.median.max(1.0);
    if ratio < LEAST_RATIO {
        return never(text!(
            "按字节计，最大的分区只有中位数的 {ratio} 倍",
            "by bytes, the largest partition is only {ratio} times the median one",
            ratio = format!("{ratio:.1}"),
        ));
    }
    let (why, mut settings) = switched_off(case).unwrap_or_default();
    let Some(app) = app.filter(|_| why.en.is_empty()) else {
        settings.extend(limits(case, partition));
        return Unsplit { why, settings };
    };
    if extra_shuffle(case, app) {
        let reason = text!(
            "切分会多一次 Shuffle；倾斜的代价更高",
            "splitting adds a shuffle, which costs less than the skew",
        );
        return Unsplit {
            why: text!(
                "后面的运算需要连接的分区方式，切分会多一次 Shuffle",
                "a later operator relies on the partitioning of the join, so that a split would add a shuffle",
            ),
            settings: case
                .set(FORCE, "true", reason)
                .into_iter()
                .chain(limits(case, partition))
                .collect(),
        };
    }
    let settings = limits(case, partition);
    let why = match settings.is_empty() {
        true => text!(
            "分区超过了所有的界限；同一个键的行只能按写出它们的 Task 切分",
            "the partition is above every limit; rows of one key are only split by the tasks that wrote them",
        ),
        false => below(case, partition),
    };
    Unsplit { why, settings }
}

/// A reason that no setting removes.
fn impossible(case: &Case<'_>, app: &Application) -> Option<Text> {
    let of_stage = &app.stages[case.stage?];
    let execution = of_stage.execution.and_then(|e| app.executions.get(e));
    let version = case.release().unwrap_or(u32::MAX);
    if app.is_streaming() {
        return Some(text!(
            "流查询的微批次不使用自适应执行",
            "micro-batches of a streaming query don't use adaptive execution",
        ));
    }
    let Some(execution) = execution else {
        return Some(text!(
            "自适应执行只用于 SQL 和 DataFrame，不用于 RDD",
            "adaptive execution is for SQL and DataFrames, not for RDDs",
        ));
    };
    if version < 300 {
        return Some(text!(
            "Spark 3.0 之前的版本没有倾斜处理",
            "versions before Spark 3.0 have no handling of skew",
        ));
    }
    let join = join_of(execution, case.stage?)?;
    let node = &execution.plan[join];
    if node.name.starts_with("ShuffledHashJoin") && version < 302 {
        return Some(text!(
            "Spark 3.2 之前不切分 ShuffledHashJoin",
            "before Spark 3.2 a ShuffledHashJoin is not split",
        ));
    }
    let edge = case.uneven().and_then(|u| case.job.edges.get(u.edge?));
    let exchange = app
        .exchanges
        .iter()
        .find(|x| edge.is_some_and(|e| e.uid == Some(x.uid)))?;
    if let Some(origin) = exchange.asked_for() {
        return Some(text!(
            "代码中的 repartition（{origin}）规定了分区，自适应执行不改变它；去掉 repartition 即可",
            "a repartition in the code ({origin}) sets the partitions, and adaptive execution leaves them alone; remove it",
        ));
    }
    let left = is_left(execution, join, exchange.uid)?;
    let kind = kind_of(&node.text)?;
    if !splits(kind, left) {
        return Some(text!(
            "{kind} 连接的这一侧不能切分",
            "this side of a {kind} join cannot be split",
        ));
    }
    let writers: Vec<u64> = (exchange.writers.iter())
        .filter_map(|stage| case.view.vertices(*stage))
        .collect();
    (writers.iter().sum::<u64>() == 1).then(|| {
        text!(
            "只有一个 Task 写出这一侧，而分区只能按写出它的 Task 切分；先用更多 Task 读取",
            "one task writes this side, and a partition is only split by the tasks that wrote it; read it with more tasks first",
        )
    })
}

/// The settings to switch on, if adaptive execution or its handling of skew is off.
fn switched_off(case: &Case<'_>) -> Option<(Text, Vec<Wanted>)> {
    let off = [ENABLED, SKEW_ENABLED]
        .into_iter()
        .filter(|key| !case.is_on(key));
    let off: Vec<&'static str> = off.collect();
    let keys: Vec<String> = off.iter().map(|key| (*key).to_owned()).collect();
    let why = text!("{keys} 已关闭", "{keys} is off", keys = Names(&keys));
    let on = |key: &&'static str| {
        let reason = text!(
            "没有它，Spark 不切分分区",
            "without it Spark splits no partition"
        );
        case.set(key, "true", reason)
    };
    (!off.is_empty()).then(|| (why, off.iter().filter_map(on).collect()))
}

/// The limits under which the measured partition is split into even parts.
fn limits(case: &Case<'_>, partition: Partition) -> Vec<Wanted> {
    let Partition { hot, median } = partition;
    let slots = case.view.run.as_ref().map_or(1, |run| run.tokens) as f64;
    let threshold = hot * THRESHOLD_SHARE;
    let ratio = hot / median.max(1.0);
    // several parts for each slot, so that the other partitions find free slots meanwhile
    let part = median.max(hot / (PARTS_PER_SLOT * slots.max(2.0)));
    let lower = |key, to: f64, reason: Text| {
        let is_above = case.number(key).is_none_or(|now| now > to);
        is_above.then(|| case.set(key, size(to), reason)).flatten()
    };
    let factor = (ratio * FACTOR_SHARE).floor().max(1.0);
    let too_strict = case.number(SKEW_FACTOR).is_none_or(|now| now >= ratio);
    let threshold = lower(
        SKEW_THRESHOLD,
        threshold,
        text!(
            "最大的分区 {hot}，中位数 {median}",
            "the largest partition has {hot}, the median one {median}",
            hot = Bytes(hot),
            median = Bytes(median),
        ),
    );
    let factor = too_strict.then(|| {
        let ratio = Number((ratio * 10.0).round() / 10.0);
        let reason = text!(
            "最大的分区是中位数的 {ratio} 倍",
            "the largest partition is {ratio} times the median one",
            ratio = ratio,
        );
        case.set(SKEW_FACTOR, factor, reason)
    });
    let advisory = lower(
        ADVISORY,
        part,
        text!(
            "最大的分区分成 {parts} 份，供 {slots} 个槽位",
            "it makes {parts} parts of the largest partition, for {slots} slots",
            parts = Number((hot / part).ceil()),
            slots = Number(slots),
        ),
    );
    [threshold, factor.flatten(), advisory]
        .into_iter()
        .flatten()
        .collect()
}

/// The limit that the partition does not reach.
fn below(case: &Case<'_>, Partition { hot, median }: Partition) -> Text {
    let (threshold, factor) = (case.value(SKEW_THRESHOLD), case.value(SKEW_FACTOR));
    let is_small = case
        .number(SKEW_THRESHOLD)
        .is_some_and(|limit| hot <= limit);
    let is_even = case.number(SKEW_FACTOR).is_some_and(|f| hot <= f * median);
    match (is_small, is_even) {
        (true, _) => text!(
            "最大的分区 {hot}，不到 {threshold}",
            "the largest partition has {hot}, less than {threshold}",
            hot = Bytes(hot),
        ),
        (false, true) => text!(
            "最大的分区不到中位数的 {factor} 倍",
            "the largest partition is under {factor} times the median one",
        ),
        (false, false) => text!(
            "切成的份太大（{size}）",
            "its parts would be too large ({size})",
            size = case.value(ADVISORY),
        ),
    }
}

/// The shuffled join of a stage, by its position in the plan.
pub(crate) fn join_of(execution: &Execution, stage: usize) -> Option<usize> {
    let is_join = |n: &SparkNode| {
        n.name.starts_with("SortMergeJoin") || n.name.starts_with("ShuffledHashJoin")
    };
    execution
        .plan
        .iter()
        .position(|n| is_join(n) && n.stages.contains(&stage))
}

/// Whether an exchange is on the left side of a join; `None` if it is on neither.
pub(crate) fn is_left(execution: &Execution, join: usize, exchange: u32) -> Option<bool> {
    let plan = &execution.plan;
    let mut at = plan.iter().position(|n| n.uid == exchange)?;
    for _ in 0..plan.len() {
        match plan[at].parent? {
            parent if parent == join => {
                return Some(plan.iter().position(|n| n.parent == Some(join)) == Some(at));
            }
            parent => at = parent,
        }
    }
    None
}

/// Join type in the text of a join.
pub(crate) fn kind_of(text: &str) -> Option<&str> {
    const KINDS: [&str; 7] = [
        "LeftOuter",
        "RightOuter",
        "FullOuter",
        "LeftSemi",
        "LeftAnti",
        "Inner",
        "Cross",
    ];
    let after = text.rsplit("], ").next()?;
    KINDS.into_iter().find(|kind| after.starts_with(kind))
}

/// Whether a join of a kind keeps its result when this side is split and the other one copied.
fn splits(kind: &str, left: bool) -> bool {
    match kind {
        "Inner" | "Cross" => true,
        "LeftOuter" | "LeftSemi" | "LeftAnti" => left,
        "RightOuter" => !left,
        _ => false,
    }
}

/// Whether the skewed side of the join is the left one, and whether the other side may be copied, as for a salt: no unmatched row of
/// it is part of the result. `None` if the plan does not tell.
pub(crate) fn hot_side(case: &Case<'_>) -> Option<(bool, bool)> {
    let app = case.job.spark.as_deref()?;
    let stage = case.stage?;
    let execution = app.executions.get(app.stages.get(stage)?.execution?)?;
    let join = join_of(execution, stage)?;
    let edge = case.job.edges.get(case.uneven()?.edge?)?;
    let left = is_left(execution, join, edge.uid?)?;
    Some((left, splits(kind_of(&execution.plan[join].text)?, left)))
}

/// Whether operators after the join, in its stage, rely on its partitioning: a complete aggregation, a window, another
/// join.
fn extra_shuffle(case: &Case<'_>, app: &Application) -> bool {
    let Some(stage) = case.stage else {
        return false;
    };
    let execution = app.stages[stage]
        .execution
        .and_then(|e| app.executions.get(e));
    let Some((execution, join)) = execution.and_then(|e| Some((e, join_of(e, stage)?))) else {
        return false;
    };
    let (mut at, mut aggregates) = (join, 0);
    for _ in 0..execution.plan.len() {
        let parent = execution.plan[at].parent.map(|p| (p, &execution.plan[p]));
        let Some((next, node)) = parent.filter(|(_, node)| node.stages.contains(&stage)) else {
            break;
        };
        if node.name.contains("Exchange") || node.name.contains("QueryStage") {
            break;
        }
        aggregates += u32::from(node.name.contains("Aggregate"));
        let relies = node.name.starts_with("Window")
            || node.name.contains("MergeJoin")
            || node.name.starts_with("ShuffledHashJoin");
        if relies || aggregates > 1 {
            return true;
        }
        at = next;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sides_that_keep_no_unmatched_rows_of_the_other_are_split() {
        for (text, left, expected) in [
            ("SortMergeJoin [a#1L], [b#2L], Inner", true, true),
            (
                "SortMergeJoin [a#1L], [b#2L], LeftOuter, (c#3 > 1)",
                true,
                true,
            ),
            ("SortMergeJoin [a#1L], [b#2L], LeftOuter", false, false),
            (
                "SortMergeJoin(skew=true) [a#1L], [b#2L], RightOuter",
                false,
                true,
            ),
            ("SortMergeJoin [a#1L], [b#2L], FullOuter", true, false),
            (
                "ShuffledHashJoin [a#1L], [b#2L], LeftSemi, BuildRight",
                true,
                true,
            ),
        ] {
            let kind = kind_of(text).expect(text);
            assert_eq!(splits(kind, left), expected, "{text} {left}");
        }
    }
}
