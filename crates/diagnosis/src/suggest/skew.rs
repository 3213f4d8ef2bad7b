//! Suggestions against skew.

use job::script::{Dialect, StatementKind};

use super::case::{Case, Proposal};
use crate::Suggested;
use crate::rewrite::hint;
use crate::rewrite::{aggregate, split, window};
use report::{SuggestionKind, text};

/// Few values of a join key.
pub(super) fn join_hot_key(case: &Case<'_>) -> Vec<Suggested> {
    let mut found = Vec::new();
    found.extend(split_join(case));
    found.push(skew_join_hint(case));
    found.push(case.finish(aggregate_before_join(case)));
    found
}

/// Few values of a group or reduce key.
pub(super) fn group_hot_key(case: &Case<'_>) -> Vec<Suggested> {
    let mut found = Vec::new();
    found.extend(super::shuffle::distinct_in_two_steps(case));
    found.extend(salted(case));
    if case
        .statement
        .is_none_or(|statement| statement.kind == StatementKind::Reduce)
    {
        found.push(recursive_reducer(case));
    } else {
        found.push(partial_aggregates(case));
    }
    found.extend(skew_factor_hint(case));
    found
}

/// The hot value is null, empty or a default.
pub(super) fn null_or_default_key(case: &Case<'_>) -> Vec<Suggested> {
    let mut found = Vec::new();
    found.extend(split_join(case));
    found.extend(super::shuffle::distinct_in_two_steps(case));
    found.extend(salted(case));
    found.push(filter_defaults(case));
    found.extend(skew_factor_hint(case));
    found
}

/// Fewer key values than partitions.
pub(super) fn low_cardinality_key(case: &Case<'_>) -> Vec<Suggested> {
    let mut found = Vec::new();
    found.extend(super::shuffle::distinct_in_two_steps(case));
    found.extend(salted(case));
    let keys = case.keys();
    let hint_text = format!("({})", keys.join(", "));
    let rewrite = case.statement.zip(case.script).filter(|_| !keys.is_empty());
    let rewrite = rewrite.and_then(|(statement, script)| {
        hint::add(script, statement, "LOWDISTINCTNESS", &hint_text)
    });
    let list = keys.join(", ");
    let proposal = Proposal::new(
        SuggestionKind::Hint,
        "LOWDISTINCTNESS hint low cardinality",
        text!("用 LOWDISTINCTNESS 告诉优化器 {list} 的不同值很少", "tell the optimizer with LOWDISTINCTNESS that {list} has few distinct values"),
    )
    .step(text!("在语句上加提示，使优化器先做局部聚合、减少分区数", "put the hint on the statement, so that the optimizer aggregates locally first and uses fewer partitions"))
    .step(text!("把另一个取值多的列加入分区键（再按原键汇总），让数据分到更多顶点", "add a second key with many values to the partitioning (and aggregate again on the first), so that more vertices get rows"))
    .pro(text!("只加一行，结果不变", "one line, same result"))
    .con(text!("只有局部聚合能减少数据时才有效", "helps only where local aggregation shrinks the data"))
    .rewrite(rewrite);
    found.push(case.finish(proposal));
    found
}

/// Stored partitions are uneven.
pub(super) fn partition_layout(case: &Case<'_>) -> Vec<Suggested> {
    let place = case.place();
    let rowset = case.rowset();
    let relayout = Proposal::new(
        SuggestionKind::Layout,
        "stored partitions uneven layout CLUSTERED BY INTO",
        text!("让上游作业把 {place} 读取的数据写成均匀的分区", "have the job that writes the input of {place} store even partitions", place = place),
    )
    .step(text!("在写出该数据的作业中改用取值更多、更均匀的键：`HASH CLUSTERED BY <键> INTO <n>`，n 取数据量 / 1 GB", "in the job that writes it, cluster by a key with more, evener values: `HASH CLUSTERED BY <keys> INTO <n>`, n = size / 1 GB"))
    .step(text!("范围分区请重新取样边界，或改为哈希分区", "for range partitions sample the bounds again, or hash instead"))
    .pro(text!("所有读取者都受益", "every reader benefits"))
    .con(text!("需要改上游作业，并且要等它重新写出数据", "the upstream job has to change and write its data again"));
    let rewrite = case
        .statement
        .zip(case.script)
        .and_then(|(statement, script)| {
            let spec = "=(PARTITIONFUNCTION=ROUNDROBIN)";
            hint::add(script, statement, "PARTITION", spec)
        });
    let round_robin = Proposal::new(
        SuggestionKind::Hint,
        "PARTITION hint ROUNDROBIN repartition",
        text!(
            "读入后把 {rowset} 轮转重分区，代价大的运算前先摊平",
            "repartition {rowset} round robin right after reading, before the costly work",
            rowset = rowset
        ),
    )
    .step(text!(
        "在读取语句上加 PARTITION 提示，使后面的运算得到同样多的行",
        "put the PARTITION hint on the reading statement, so that what follows gets even shares"
    ))
    .pro(text!(
        "不必等上游改动",
        "no change of the writing job is needed"
    ))
    .con(text!(
        "多一次数据移动；读取之后没有昂贵运算时不值得",
        "moves the data once more; not worth it if nothing costly follows"
    ))
    .rewrite(rewrite);
    let split_files = Proposal::new(
        SuggestionKind::Parameter,
        "smaller extents split large partitions reading",
        text!("让每个读取顶点读得更少", "let each reading vertex read less"),
    )
    .step(text!("降低单顶点读取上限（SCOPE 编译选项 -SplitPartitionThreshold；压缩文件改为多个小文件），使大分区由多个顶点读取", "lower what one vertex may read (compiler option -SplitPartitionThreshold; several smaller files in place of one compressed one), so that several vertices share a large partition"))
    .pro(text!("不改脚本", "the script does not change"))
    .con(text!("顶点数增加", "more vertices"));
    vec![
        case.finish(relayout),
        case.finish(round_robin),
        case.finish(split_files),
    ]
}

/// Hot rows by broadcast, the others as before.
fn split_join(case: &Case<'_>) -> Option<Suggested> {
    let (script, statement) = case.script.zip(case.statement)?;
    let (number, join) = case.join()?;
    let (left_key, _) = join.keys.first()?;
    let input = statement.query.inputs.first()?;
    let hot = case.hot_keys(input, &left_key.name)?;
    let values = hot.inside(&left_key.name);
    let rewrite = split::hot_key_split(script, statement, number, &hot)?;
    let rowset = case.rowset();
    let proposal = Proposal::new(
        SuggestionKind::Rewrite,
        "hot key split UNION ALL broadcast join",
        text!("把 {rowset} 中 {values} 的行拆出来用广播连接，其余照旧，再 UNION ALL", "split the rows with {values} off {rowset}, join them by broadcast, the others as before, and UNION ALL", rowset = rowset),
    )
    .step(text!("热点键的行不再集中到一个顶点：右侧只取这些键的行并广播", "the rows of the hot key no longer meet in one vertex: of the right side only theirs are taken, and broadcast"))
    .step(text!("定期按最新统计检查热点值；值变化时更新条件", "check the hot values against fresh statistics now and then, and update the condition"))
    .pro(text!("结果与原来完全相同", "the result is exactly the same"))
    .pro(text!("其余行的分布恢复均匀", "all other rows are spread evenly again"))
    .con(text!("左侧读两遍（优化器通常会共用）", "the left side is read twice (the optimizer usually shares it)"))
    .con(text!("热点值写在脚本里", "the hot values are written into the script"))
    .rewrite(Some(rewrite));
    case.finish_checked(proposal)
}

fn skew_join_hint(case: &Case<'_>) -> Suggested {
    let scope = case
        .script
        .is_none_or(|script| script.dialect == Dialect::Scope);
    let side = case.hot_side();
    let rewrite = case
        .statement
        .zip(case.script)
        .and_then(|(statement, script)| {
            let join = statement.query.joins.first()?;
            match script.dialect {
                Dialect::Scope => {
                    let rest = format!("=(SKEW={side}, REPARTITION=FULLJOIN)");
                    hint::add(script, statement, "SKEWJOIN", &rest)
                }
                Dialect::USql => {
                    let key = &join.keys.first()?.0.name;
                    hint::add(script, statement, "SKEWFACTOR", &format!("({key})=0.8"))
                }
            }
        });
    let name = if scope { "SKEWJOIN" } else { "SKEWFACTOR" };
    let proposal = Proposal::new(
        SuggestionKind::Hint,
        "SKEWJOIN SKEWFACTOR hint skewed join",
        text!("给连接加 {name} 提示，让运行时把热点键拆到多个顶点", "hint the join with {name}, so that the run time spreads the hot key over several vertices"),
    )
    .step(text!("SCOPE：语句前加 `[SKEWJOIN=(SKEW=FROMLEFT, REPARTITION=FULLJOIN)]`，SKEW 取热点所在的一侧", "SCOPE: `[SKEWJOIN=(SKEW=FROMLEFT, REPARTITION=FULLJOIN)]` before the statement, SKEW being the side of the hot key"))
    .step(text!("U-SQL：先 `CREATE STATISTICS`，再用 `OPTION(SKEWFACTOR(键)=0.8)`", "U-SQL: `CREATE STATISTICS` first, then `OPTION(SKEWFACTOR(key)=0.8)`"))
    .pro(text!("只加一行，结果不变，不依赖具体的值", "one line, same result, no values in the script"))
    .con(text!("另一侧对应热点键的行会被复制到多个顶点", "rows of the other side with that key are copied to several vertices"))
    .rewrite(rewrite);
    case.finish(proposal)
}

fn aggregate_before_join(case: &Case<'_>) -> Proposal {
    let rowset = case.rowset();
    Proposal::new(
        SuggestionKind::Investigate,
        "pre-aggregation before join",
        text!("检查能否在 {rowset} 的连接之前先聚合或去重", "see whether rows can be aggregated or deduplicated before the join in {rowset}", rowset = rowset),
    )
    .step(text!("若连接之后只用到按键汇总的值，先按连接键分组再连接，热点键只剩一行", "if only totals by the key are used after the join, group by the join key first: one row is left of the hot key"))
    .step(text!("确认热点值是真实数据，而不是默认值或测试流量；后者应当先过滤", "make sure that the hot value is real data, not a default or test traffic, which should be filtered first"))
    .pro(text!("同时减少传输的数据", "moves less data as well"))
    .con(text!("只有下游不需要明细时才成立", "only where nobody needs the single rows"))
}

/// Two levels, by a salt.
fn salted(case: &Case<'_>) -> Option<Suggested> {
    let (script, statement) = case.script.zip(case.statement)?;
    if statement.kind != StatementKind::Select {
        return None;
    }
    let salt = case.salt(statement, &case.keys(), aggregate::SALTS)?;
    let rewrite = aggregate::two_level(script, statement, &salt)
        .or_else(|| window::two_level_rank(script, statement, &salt))?;
    let rowset = case.rowset();
    let proposal = Proposal::new(
        SuggestionKind::Rewrite,
        "salting two-level aggregation",
        text!("给 {rowset} 加盐（`{salt}`），分两级计算：先按键和盐，再按键", "salt {rowset} by `{salt}` and work in two levels: by key and salt, then by key", rowset = rowset),
    )
    .step(text!("第一级把热点键分到多个顶点，每个顶点只留下部分结果", "the first level spreads the hot key over many vertices, and each keeps a partial result only"))
    .step(text!("第二级只汇总部分结果，每个键最多几十行", "the second level puts partial results together, a few dozen rows a key at most"))
    .pro(text!("结果不变，不依赖具体的热点值", "same result, whatever the hot values are"))
    .con(text!("多一次分区；没有热点时略慢", "one more exchange; slightly slower where nothing is hot"))
    .con(text!("按名次取行时，名次并列的行仍然不确定取哪一行", "where rows are taken by rank, ties are as arbitrary as before"))
    .rewrite(Some(rewrite));
    case.finish_checked(proposal)
}

fn recursive_reducer(case: &Case<'_>) -> Suggested {
    let class = case.statement.and_then(|s| s.query.using_class.clone());
    let name = class.unwrap_or_else(|| "聚合".to_owned());
    let name_en = if name == "聚合" {
        "the aggregation".to_owned()
    } else {
        name.clone()
    };
    let proposal = Proposal::new(
        SuggestionKind::Rewrite,
        "recursive reducer associative IsRecursive",
        text!("把 {name} 改成可递归的，使同一键可以分几级处理", "make {name_en} recursive, so that one key can be processed in several levels"),
    )
    .step(text!("确认计算满足结合律，并且输入与输出的列相同", "make sure that it is associative and that its input and output columns are the same"))
    .step(text!("SCOPE：重写 `IsRecursive` 返回 true；U-SQL：`[SqlUserDefinedReducer(IsRecursive = true)]`", "SCOPE: override `IsRecursive` to return true; U-SQL: `[SqlUserDefinedReducer(IsRecursive = true)]`"))
    .step(text!("若与顺序有关（会话切分等），先按键和时间段 REDUCE，再合并相邻段；异常键（机器人、测试账号）先滤掉", "if it depends on order (sessions and the like), REDUCE by key and time slice first and merge neighbouring slices; filter out odd keys (robots, test accounts) before"))
    .pro(text!("热点键不再受单个顶点限制", "the hot key is no longer bound to one vertex"))
    .con(text!("需要改代码并验证结果", "the code has to change and be tested"));
    case.finish(proposal)
}

fn partial_aggregates(case: &Case<'_>) -> Suggested {
    let rowset = case.rowset();
    let proposal = Proposal::new(
        SuggestionKind::Rewrite,
        "pre-aggregation partial aggregates replace user aggregates",
        text!("让 {rowset} 的聚合可以先在各顶点局部完成", "let the aggregation in {rowset} be done locally first", rowset = rowset),
    )
    .step(text!("SUM、COUNT、MIN、MAX 会自动局部聚合；LIST、FIRST、用户聚合不会：能换则换，或先按更细的键聚合一次", "SUM, COUNT, MIN and MAX are aggregated locally by themselves; LIST, FIRST and user aggregates are not: replace them, or group by a finer key first"))
    .step(text!("按热点键加一列（日期、哈希余数）先聚合，再按原键汇总", "group by the hot key and one more column (a date, a remainder) first, then by the key alone"))
    .pro(text!("热点键到达聚合顶点时只剩少量部分结果", "few partial results are left of the hot key when it reaches its vertex"))
    .con(text!("只适用于可分级合并的聚合", "only for aggregates that can be put together"));
    case.finish(proposal)
}

fn skew_factor_hint(case: &Case<'_>) -> Option<Suggested> {
    let (script, statement) = case.script.zip(case.statement)?;
    let keys = case.keys();
    let key = keys.first()?;
    let rewrite = hint::add(script, statement, "SKEWFACTOR", &format!("({key})=0.8"));
    let proposal = Proposal::new(
        SuggestionKind::Hint,
        "SKEWFACTOR hint skewed aggregation",
        text!("用 SKEWFACTOR 告诉优化器 {key} 分布很不均匀", "tell the optimizer with SKEWFACTOR that {key} is very uneven"),
    )
    .step(text!("0.5 表示略不均匀，1 表示极不均匀；优化器据此选择多级聚合", "0.5 means somewhat, 1 very uneven; the optimizer chooses aggregation in several levels by it"))
    .pro(text!("只加一行，结果不变", "one line, same result"))
    .con(text!("是否采用由优化器决定，需对比执行计划", "the optimizer may not follow it: compare the plans"))
    .rewrite(rewrite);
    case.finish_checked(proposal)
}

fn filter_defaults(case: &Case<'_>) -> Suggested {
    let value = case
        .evidence_text("most frequent value")
        .unwrap_or("NULL")
        .to_owned();
    let keys = case.keys().join(", ");
    let proposal = Proposal::new(
        SuggestionKind::Investigate,
        "null default key filter before join group",
        text!("确认 {keys} 为 `{value}` 的行是否有意义；没有就尽早过滤", "find out whether rows with {keys} = `{value}` mean anything, and filter them early if not"),
    )
    .step(text!("内连接中这些行本来就没有匹配：在连接前加 `WHERE 键 != null AND 键 != \"\"`", "in an inner join they match nothing anyway: add `WHERE key != null AND key != \"\"` before it"))
    .step(text!("必须保留时单独处理：拆成两支，只让有值的一支参加连接或聚合，最后 UNION ALL", "if they must stay, treat them apart: two branches, only the one with values is joined or grouped, UNION ALL at the end"))
    .step(text!("从源头修正：为什么写入了空值或默认值", "fix the source: find out why it writes null or a default"))
    .pro(text!("减少数据量，同时消除倾斜", "less data, and no skew"))
    .con(text!("过滤会改变结果，需与使用者确认", "a filter changes the result: ask those who use it"));
    case.finish(proposal)
}

impl Case<'_> {
    /// Keys of the finding's statement by which rows are brought together.
    pub(super) fn keys(&self) -> Vec<String> {
        let Some(statement) = self.statement else {
            return Vec::new();
        };
        let query = &statement.query;
        let columns: Vec<String> = match statement.kind {
            StatementKind::Reduce => query.on.iter().map(|key| key.name.clone()).collect(),
            _ if !query.group_by.is_empty() => {
                let keys = query.group_by.iter().filter_map(|key| key.as_column());
                keys.map(|key| key.name.clone()).collect()
            }
            _ if !query.joins.is_empty() => {
                let keys = query.joins.iter().flat_map(|join| &join.keys);
                keys.map(|(left, _)| left.name.clone()).collect()
            }
            _ => {
                let windows = query
                    .aggregates
                    .iter()
                    .flat_map(|window| &window.partition_by);
                windows
                    .filter_map(|key| key.as_column())
                    .map(|key| key.name.clone())
                    .collect()
            }
        };
        columns
    }

    /// `FROMLEFT` or `FROMRIGHT`: the side of the join whose statistics show the hot value.
    fn hot_side(&self) -> &'static str {
        let hot = |left: bool| {
            let statement = self.statement?;
            let (_, join) = self.join()?;
            let (l, r) = join.keys.first()?;
            let (input, key) = if left {
                (join.left, l)
            } else {
                (join.right, r)
            };
            let stored = self.stored(statement.query.inputs.get(input)?, &key.name)?;
            let top = stored.column.top_values.first().map_or(0, |top| top.rows);
            Some(top.max(stored.column.nulls.unwrap_or(0)))
        };
        match (hot(true).unwrap_or(0), hot(false).unwrap_or(0)) {
            (left, right) if right > left => "FROMRIGHT",
            _ => "FROMLEFT",
        }
    }
}
