//! Suggestions for stages of Spark with tasks of unequal size.

use report::{Text, text};

use crate::adaptive;
use crate::case::Case;
use crate::proposal::{Gain, Proposal, advice};
use report::format::Number;

/// Largest number of copies of the small side of a salted join.
const MOST_SALTS: f64 = 64.0;
const SALTS_PER_SLOT: f64 = 4.0;

/// Parts for the rows of a hot key: as large as the other partitions, but not many more than the slots.
pub(crate) fn salts(case: &Case<'_>) -> f64 {
    let slots = case.view.run.as_ref().map_or(1, |run| run.tokens) as f64;
    let most = (SALTS_PER_SLOT * slots).clamp(SALTS_PER_SLOT, MOST_SALTS);
    adaptive::partition(case).map_or(8.0, |p| p.parts().min(most))
}

pub(crate) fn join_skew(case: &Case<'_>) -> Vec<Proposal> {
    let keys = case.key_list();
    let adaptive::Unsplit { why, settings } = adaptive::unsplit(case);
    let splits = !settings.is_empty();
    let parts = salts(case);
    let last = Number(parts - 1.0);
    let copies = adaptive::hot_side(case).is_none_or(|(_, copies)| copies);
    let reason = why.clone();
    let split = splits.then(|| advice! { Parameter, Gain::Whole, "spark AQE skew join threshold";
        title("让 AQE 切分倾斜的分区", "let AQE split the skewed partition");
        step("Spark 没有自己切分：{why}", "Spark did not split it automatically: {why}", why = why);
        settings(settings);
        pro("不改代码", "no change to the code");
        con("小分区更多", "more small partitions");
    });
    let salt = advice! { Rewrite, Gain::Whole, "spark salting hot key join";
        title("单独处理 {keys} 的热点值", "handle the hot values of {keys} separately", keys = case.key_names());
        [!splits] step("AQE 不能切分：{why}", "AQE cannot split it: {why}", why = reason);
        step("空值或默认值不会匹配：SQL 用 WHERE {keys} IS NOT NULL 分开连接再 UNION ALL，DataFrame 用 filter 与 unionByName", "null or default values have no match: join without them and add them with UNION ALL (SQL: WHERE {keys} IS NOT NULL; DataFrame: filter and unionByName)", keys = keys);
        [!copies] step("真正的热点值：对内连接加随机列 salt（0–{last}），没有匹配的行用 LEFT ANTI 连接单独算出，再 UNION ALL：被复制的一侧若保留未匹配的行，每个 salt 都会重复一次", "real hot values: salt an inner join (0 to {last}), and add the rows without a match from a left anti join with UNION ALL: if the copied side keeps its unmatched rows, each appears once per salt", last = last);
        [copies] step("真正的热点值：大的一侧加随机列 salt（0–{last}），小的一侧用 explode(sequence(0, {last})) 复制，再按 {keys}, salt 连接", "real hot values: add a random column salt (0 to {last}) to the big side, copy the small side with explode(sequence(0, {last})), and join on {keys}, salt", keys = keys, last = last);
        pro("任何版本都有效", "works in every version");
        con("小的一侧变大 {parts} 倍；代码更复杂", "the small side grows {parts} times; the code gets harder to read", parts = Number(parts));
    };
    split.into_iter().chain([salt]).collect()
}

pub(crate) fn group_skew(case: &Case<'_>) -> Vec<Proposal> {
    let keys = case.key_names();
    let needs_groups = |name: &str| {
        name.starts_with("Window") || name.contains("MapGroups") || name.contains("CoGroups")
    };
    if case.has_operator(needs_groups) {
        return vec![whole_groups(keys)];
    }
    let needs_keys = |name: &str| name.contains("Aggregate") || name.contains("Join");
    if case.is_asked_for() && !case.has_operator(needs_keys) {
        return vec![without_keys(keys)];
    }
    let parts = salts(case);
    vec![
        advice! { Rewrite, Gain::Whole, "spark two-phase aggregation salted group by";
            title("分两步聚合：先按 {keys} 与随机列，再按 {keys}", "aggregate in two steps: by {keys} and a random column first, then by {keys}", keys = keys);
            step("DataFrame：withColumn(\"salt\", (rand() * {parts}).cast(\"int\"))，groupBy(keys, salt) 聚合，再 groupBy(keys) 合并", "DataFrame: withColumn(\"salt\", (rand() * {parts}).cast(\"int\")), aggregate with groupBy(keys, salt), then merge with groupBy(keys)", parts = Number(parts));
            step("collect_list 和 collect_set 在 Shuffle 前不能缩小数据：能用 sum、count、max_by 就不要收集整行", "collect_list and collect_set cannot shrink before the shuffle: prefer sum, count, max_by to collecting rows");
            step("AQE 只切分连接，不切分聚合", "AQE splits joins only, not aggregations");
            pro("热点键的工作分给多个任务", "several tasks share the work of the hot key");
            con("多一次 Shuffle；聚合函数必须能分步合并", "one more shuffle; the aggregate must be mergeable");
        },
    ]
}

advice! {
    /// A repartition in the program, before operators that don't need the rows of a key together.
    fn without_keys(keys: Text) = Rewrite, Gain::Whole, "spark repartition by column uneven partitions";
    title("不按 {keys} 重新分区", "repartition without {keys}", keys = keys);
    step("repartition(n) 不带列时均匀分配行；之后的算子不需要同一键的行在一起", "repartition(n) without columns deals out the rows evenly; no operator after it needs the rows of a key together");
    step("若写出时按列分目录，加一列或 rand() 再分区，让一个值的行分给几个任务", "if the output has a folder for each value, repartition by one more column or rand(), so that several tasks share the rows of a value");
    pro("各任务得到同样多的行", "all tasks get equally many rows");
    con("一个值的行分到多个任务和文件", "the rows of a value are in several tasks and files");
}

advice! {
    /// A window or a function of whole groups: one task needs all rows of a key, so a salt would change the result.
    fn whole_groups(keys: Text) = Rewrite, Gain::Whole, "spark window skew partition by group hot key";
    title("减少 {keys} 的热点值的行", "leave fewer rows to the hot values of {keys}", keys = keys);
    step("窗口函数和按组的 Python 函数需要一个键的全部行在同一个任务中：不要加随机列，结果会改变", "windows and Python functions of groups need all rows of a key in one task: don't add a random column, which changes the result");
    step("热点值是空值、默认值或测试数据时，先过滤掉，或单独计算后 UNION ALL", "if the hot value is null, a default or test data, filter it out first, or compute it separately and add it with UNION ALL");
    step("在此之前过滤、聚合，只保留需要的列；语义允许时在分区键中加一列（如日期）", "filter, aggregate and drop unused columns before; add a column such as the date to the partition key if the meaning allows");
    pro("热点任务的行更少，结果不变", "the hot task has fewer rows, with the same result");
    con("真正的热点键仍由一个任务处理", "a real hot key stays with one task");
}

advice! { pub(crate) fn layout() = Layout, Gain::Whole, "spark file layout row groups split";
    title("写入大小均匀、可切分的文件", "write files of even size that can be split");
    step("生成这些文件的作业在写之前使用 REBALANCE 提示，或 df.repartition(n)；Parquet 行组保持在 128 MB 以内", "in the job that writes them, use the hint REBALANCE or df.repartition(n) before writing; keep row groups of Parquet under 128 MB");
    step("RDD 的 partitionBy(n, 函数)：换一个能把键分匀的函数，或不给函数，用键的散列值", "partitionBy(n, function) of an RDD: use a function that spreads the keys evenly, or none, which takes their hash");
    step("一时改不了文件：读取之后先 repartition，再做昂贵的运算", "if the files must stay: repartition after reading, before expensive work");
    pro("所有读取者都受益", "every reader gains");
    con("需要重写已有文件；repartition 多一次 Shuffle", "existing files have to be rewritten; repartition is one more shuffle");
}

advice! { pub(crate) fn even_slices() = Rewrite, Gain::Unknown(text!("没有记录各份的大小", "the sizes of the slices are not recorded")), "spark jdbc partitionColumn lowerBound parallelize uneven slices";
    title("让各任务的那一份数据一样多", "give each task an equal slice");
    step("按分位数而不是等宽区间划分键（JDBC：给 predicates 列表，而不是 lowerBound 和 upperBound）", "divide the key at its quantiles, not into ranges of equal width (JDBC: a list of predicates instead of lowerBound and upperBound)");
    step("或分成多得多的份，如现在的 10 倍：空闲的槽位接着处理下一份", "or make far more slices, such as ten times as many: a slot that is done takes the next one");
    pro("没有任务独自运行到最后", "no task runs alone at the end");
    con("分位数需要先查询一次", "quantiles need a query before");
}
