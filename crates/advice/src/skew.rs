//! Suggestions against skew.

use job::model::OperatorKind;
use job::script::{Dialect, StatementKind};

use crate::case::Case;
use crate::edits::{spread, without_hot_rows};
use crate::proposal::{Gain, Proposal, advice};
use diagnosis::Suggested;
use diagnosis::impact::{Saved, scale_run};
use diagnosis::measurements::spill::surplus_ms;
use report::format::{DISTINCT_VALUE, Names, ROW, Ratio, Share};
use report::{Text, text};
use rewrite::hint::{self, Side};
use rewrite::names::literal;
use rewrite::{aggregate, salted_join, split, window};

pub(crate) fn join_hot_key(case: &Case<'_>) -> Vec<Suggested> {
    let mut found = vec![skew_hint(case)];
    found.extend(split_join(case).or_else(|| case.finish_worthwhile(salted(case))));
    found
}

pub(crate) fn group_hot_key(case: &Case<'_>) -> Vec<Suggested> {
    let hint = skew_factor(case).into_iter();
    hint.chain(grouped_in_levels(case)).collect()
}

/// Two-level rewrites; steps if no rewrite is proven.
fn grouped_in_levels(case: &Case<'_>) -> Vec<Suggested> {
    let distinct = crate::shuffle::distinct_in_two_steps(case).into_iter();
    let mut found: Vec<Suggested> = distinct.chain(two_levels(case)).collect();
    if found.is_empty() {
        found.push(case.finish(by_hand(case)));
    }
    found
}

/// The hot value is null, empty or a default.
pub(crate) fn null_or_default_key(case: &Case<'_>) -> Vec<Suggested> {
    let mut found = vec![filter_value(case)];
    match case.join() {
        Some(_) => found.extend(split_join(case)),
        None => found.extend(group_hot_key(case)),
    }
    found
}

/// Fewer key values than partitions.
pub(crate) fn low_cardinality_key(case: &Case<'_>) -> Vec<Suggested> {
    let mut found: Vec<Suggested> = few_values_hint(case).into_iter().collect();
    if case.join().is_some() {
        // A join on a coarse key often has a small side, which need not meet the other by key.
        let broadcast = crate::shuffle::broadcast_small_side(case);
        found.extend(broadcast.and_then(|broadcast| case.finish_checked(broadcast)));
    }
    if found.is_empty() || case.join().is_none() {
        found.extend(grouped_in_levels(case));
    }
    found
}

pub(crate) fn partition_layout(case: &Case<'_>) -> Vec<Suggested> {
    let table = case.stage.and_then(|stage| {
        let mut extracts = case.view.extracts(stage);
        extracts.find_map(|(_, operator)| case.view.table_of(stage, operator))
    });
    let source = match table {
        Some(table) => text!(" {name} ", "{name}", name = table.name),
        None => text!(
            " {place} 的输入",
            "the input of {place}",
            place = case.place()
        ),
    };
    let keys = table
        .and_then(|table| table.clustering.as_ref())
        .map(|c| c.keys.as_slice());
    let now = match keys.filter(|keys| !keys.is_empty()) {
        Some(keys) => text!(
            "现在按 {keys} 存储：",
            "it is clustered by {keys} now: ",
            keys = Names(keys)
        ),
        None => Text::default(),
    };
    let relayout = advice! { Layout, Gain::Whole, "stored partitions uneven layout CLUSTERED BY INTO";
        title("让写出{source}的作业写成均匀的分区", "have the job that writes {source} store even partitions", source = source);
        [case.usql()] step("{now}把分布键换成取值更多、更均匀的列（`DISTRIBUTED BY HASH (<键>) INTO <n>`），没有合适的列时用 `ROUND ROBIN`；多次插入后用 `ALTER TABLE … REBUILD`", "{now}distribute by a column with more and evener values (`DISTRIBUTED BY HASH (<key>) INTO <n>`), or by `ROUND ROBIN` if there is none; after many inserts `ALTER TABLE … REBUILD`", now = now);
        [!case.usql()] step("{now}改用取值更多、更均匀的键，或再加一列：`HASH CLUSTERED BY <键> INTO <n>`，n 约为数据量 / 1 GB", "{now}cluster by a key with more and evener values, or add a column: `HASH CLUSTERED BY <keys> INTO <n>`, n about the size / 1 GB", now = now);
        step("范围分区请重新取样边界", "sample the bounds of range partitions again");
        pro("所有读取者都受益", "every reader benefits");
        con("上游作业要改，数据重新写出后才生效", "the writing job has to change, and only newly written data is even");
        con("依赖旧存储键的读取者会多一次重分区", "readers that rely on the old key have to repartition");
    };
    spread_rows(case)
        .into_iter()
        .chain([case.finish(relayout)])
        .collect()
}

/// Even partitions right after reading, if costly user code follows in the same stage.
fn spread_rows(case: &Case<'_>) -> Option<Suggested> {
    let (script, statement) = case.located().filter(|_| !case.usql())?;
    let stage = case.stage?;
    let costly = |kind| matches!(kind, OperatorKind::Process | OperatorKind::Reduce);
    let mut operators = case.job.stages[stage].operators.iter();
    if !operators.any(|operator| costly(operator.kind)) {
        return None;
    }
    let count = case.view.vertices(stage)?;
    let rest = format!("=(PARTITIONFUNCTION=ROUNDROBIN, PARTITIONCOUNT={count}, REQUIRED=true)");
    let proposal = advice! { Hint, Gain::Unknown(text!("多出的一次数据移动要花多少时间，现有文件看不出来", "no file shows the cost of moving the data once more")), "PARTITION hint ROUNDROBIN repartition";
        title("读取后先把 {rowset} 轮转摊平，再运行用户代码", "spread {rowset} round robin after reading, before the user code runs", rowset = case.rowset());
        step("在读取语句上加提示：读取仍不均匀，但用户代码得到同样多的行", "put the hint on the reading statement: reading stays uneven, but the user code gets even shares");
        pro("不必等上游改动", "the writing job does not have to change");
        con("多移动一次数据，只有用户代码比读取更费时才合算", "moves the data once more: pays off only if the user code takes longer than the reading");
        rewrite(hint::add(script, statement, "PARTITION", &rest));
    };
    case.finish_checked(proposal)
}

/// A hint on the join: SKEWJOIN in SCOPE; U-SQL only has one for the uneven column.
fn skew_hint(case: &Case<'_>) -> Suggested {
    let now = match case.uneven() {
        Some(uneven) => text!(
            "（现在是 {ratio}）",
            " ({ratio} now)",
            ratio = Ratio(uneven.ratio)
        ),
        None => Text::default(),
    };
    let check = text!(
        "下次运行看 {place} 最大顶点与均值之比{now}：降到 2 以下说明提示生效",
        "in the next run compare the largest vertex of {place} with the mean{now}: below 2 the hint works",
        place = case.place(),
        now = now
    );
    if case.usql() {
        let side = case.hot_side();
        let rewrite = case.located().and_then(|(script, statement)| {
            let (_, join) = case.join()?;
            let (left, right) = join.keys.first()?;
            let (input, key) = match side {
                Side::Left => (join.left, left),
                Side::Right => (join.right, right),
            };
            let of = script
                .statements
                .get(statement.query.inputs.get(input)?.definition?)?;
            hint::add(script, of, "SKEWFACTOR", &format!("({})=0.8", key.name))
        });
        return case.finish(
            advice! { Hint, Gain::up_to_the_optimizer(), "SKEWFACTOR hint skewed join statistics";
                title("用 SKEWFACTOR 告诉优化器连接键 {keys} 很不均匀", "tell the optimizer with SKEWFACTOR that the join key {keys} is uneven", keys = case.key_names());
                step("在连接之前、含热点的那一侧行集上加 `OPTION(SKEWFACTOR({keys})=0.8)`：0 为均匀，1 为严重倾斜", "put `OPTION(SKEWFACTOR({keys})=0.8)` on the rowset of the hot side, before the join: 0 is even, 1 heavily skewed", keys = case.key_list());
                step(check);
                pro("只改一行，结果不变", "one line, same result");
                con("提示影响其后的所有语句，而且不保证连接会被拆分", "affects all later statements, and the join is not guaranteed to be split");
                rewrite(rewrite);
            },
        );
    }
    let side = match case.hot_side() {
        Side::Left => "FROMLEFT",
        Side::Right => "FROMRIGHT",
    };
    let written = format!("=(SKEW={side}, REPARTITION=SPLITJOIN)");
    let hot = case.hot_value();
    let value = hot.unwrap_or_default();
    let rewrite = case
        .located()
        .and_then(|(script, statement)| hint::add(script, statement, "SKEWJOIN", &written));
    let proposal = advice! { Hint, Gain::Whole, "SKEWJOIN hint skewed join";
        title("给 {rowset} 的连接加 SKEWJOIN 提示，把热点键的行分到多个顶点", "hint the join in {rowset} with SKEWJOIN, so that the rows of the hot key go to several vertices", rowset = case.rowset());
        step("在语句前加 `[SKEWJOIN{written}]`：SKEW 是热点所在的一侧", "put `[SKEWJOIN{written}]` before the statement; SKEW names the side of the hot value");
        step(check);
        [hot.is_some()] step("确认 `{value}` 是真实数据；若是测试账号或爬虫，先过滤掉更好", "make sure that `{value}` is real; if it is a test account or a crawler, filtering it out is better");
        pro("只加一行，结果不变，不依赖具体的值", "one line, same result, no values in the script");
        con("提示只是请求；REPARTITION 各取值的确切含义没有公开，SPLITJOIN 无效时试 SPLITBROADCASTJOIN 或 FULLJOIN", "only a request, and the exact meaning of the REPARTITION values is not public: if SPLITJOIN has no effect, try SPLITBROADCASTJOIN or FULLJOIN");
        con("另一侧同键的行会被复制到多个顶点", "rows of the other side with that key are copied to several vertices");
        rewrite(rewrite);
    };
    case.finish(proposal)
}

/// Hot rows by broadcast, the others as before.
fn split_join(case: &Case<'_>) -> Option<Suggested> {
    let (script, statement) = case.located()?;
    let (number, join) = case.join().filter(|_| case.hot_side() == Side::Left)?;
    let (left_key, _) = join.keys.first()?;
    let input = statement.query.inputs.first()?;
    let (hot, share) = case.hot_keys(input, &left_key.name)?;
    let values = hot.inside(&left_key.name);
    let table = case
        .stored(input, &left_key.name)
        .map(|stored| &stored.table.name);
    let table = table.map_or_else(Text::default, |table| {
        text!("，按表 {table} 的行数", " of the rows of {table}")
    });
    let unique = one_row_per_key(case);
    let rewrite = split::hot_key_split(script, statement, number, &hot)?;
    let proposal = advice! { Rewrite, Gain::Own(saved_by_split(case, share)), "hot key split UNION ALL broadcast join";
        title("把 {rowset} 中 {values} 的行（约占 {share}{table}）拆出来用广播连接，其余照旧，再 UNION ALL", "split the rows with {values} (about {share}{table}) off {rowset}, join them by broadcast, the others as before, and UNION ALL", rowset = case.rowset(), share = Share(share), table = table);
        step("热点行留在读取它们的顶点上：对侧只取这些键的行并广播", "the hot rows stay where they are read: of the other side only their keys are taken, and broadcast");
        step(unique.unwrap_or_else(|| text!("先确认对侧这些键的行很少，放得进一个顶点的内存", "make sure that the other side has few rows with these keys, so that they fit into a vertex's memory")));
        pro("结果与原来完全相同，效果确定", "the result is exactly the same, and the effect is certain");
        con("热点值写在脚本里，换了热点就要更新", "the hot values are in the script and have to be kept up to date");
        con("左侧被两条语句读取（优化器通常会共用一次读取）", "two statements read the left side (the optimizer usually shares the read)");
        rewrite(Some(rewrite));
    };
    case.finish_checked(proposal)
}

/// A sentence that a key of the right side has at most one row, if the statistics prove it.
fn one_row_per_key(case: &Case<'_>) -> Option<Text> {
    let (_, join) = case.join()?;
    let (_, key) = join.keys.first()?;
    let input = case.statement?.query.inputs.get(join.right)?;
    let stored = case.unique(input, &key.name)?;
    let (table, column) = (&stored.table.name, &stored.column.name);
    Some(text!(
        "对侧每个键最多一行（{table}.{column} 有 {distinct}，表有 {rows}），广播的行不会多于热点键的个数",
        "the other side has one row per key at most ({table}.{column} has {distinct} in {rows}): no more rows are broadcast than there are hot keys",
        distinct = DISTINCT_VALUE.count(stored.column.distinct? as f64),
        rows = ROW.count(stored.table.rows? as f64),
    ))
}

/// Saving if the rows of the hot keys are joined in the stage that reads them, and the others evenly.
fn saved_by_split(case: &Case<'_>, share: f64) -> Option<Saved> {
    let stage = case.stage?;
    let surplus_s = case.surplus_s()?;
    let from = case.job.edges.get(case.uneven()?.edge?)?.from;
    case.view.saved(move |stages| {
        without_hot_rows(&mut stages[stage], surplus_s, share);
        let moved = stages[stage].run_s() / (1.0 - share).max(0.01) * share;
        let reads = stages[from].run_s();
        if reads > 0.0 {
            scale_run(&mut stages[from], 1.0 + moved / reads);
        }
    })
}

/// Every key of the hot side in parts, with one copy of the other side per part: needs no hot values.
fn salted(case: &Case<'_>) -> Proposal {
    let side = case.hot_side();
    let wanted = case.uneven().map_or(8.0, |u| u.ratio.ceil());
    let parts = (wanted as u32).clamp(2, salted_join::MAX_PARTS);
    let salt = case.located().and_then(|(script, statement)| {
        let (_, join) = case.join().filter(|(number, _)| *number == 0)?;
        let is_left = side == Side::Left;
        let hot = if is_left { join.left } else { join.right };
        let keys = join.keys.iter();
        let keys = keys.map(|(left, right)| if is_left { left } else { right });
        let keys: Vec<String> = keys.map(|key| key.name.clone()).collect();
        let input = statement.query.inputs.get(hot)?;
        let salt = case.join_salt(input, &keys, parts)?;
        let rewrite = salted_join::salted_join(script, statement, side, &salt, parts);
        Some((salt, rewrite))
    });
    let (hot_zh, other_zh, hot_en, other_en) = match side {
        Side::Left => ("左", "右", "left", "right"),
        Side::Right => ("右", "左", "right", "left"),
    };
    let by = match &salt {
        Some((salt, _)) => text!("`{salt}`", "`{salt}`"),
        None => text!(
            "行内某个 id 对 {parts} 取的非负余数",
            "the non-negative remainder of an id of the row by {parts}"
        ),
    };
    advice! { Rewrite, Gain::Own(saved_by_salt(case, f64::from(parts))), "salting join replicate other side unknown hot values";
        title("给 {rowset} 的{hot_zh}侧加盐、{other_zh}侧复制 {parts} 份，按键和盐连接", "salt the {hot_en} side of {rowset}, copy the {other_en} side {parts} times, and join on key and salt", rowset = case.rowset());
        step("{hot_zh}侧每行的盐取{by}，不能用随机数：顶点重跑时同一行必须去同一个分区", "give every row of the {hot_en} side a salt, {by}; never a random number: a repeated vertex must send a row to the same place", by = by);
        step("{other_zh}侧每行复制成盐 0 到 {last} 各一份，连接条件加上盐相等", "copy every row of the {other_en} side once for each salt from 0 to {last}, and add the salts to the condition", last = (parts - 1).to_string());
        pro("不需要知道热点值，热点变化后仍有效", "needs no hot values, and works when they change");
        con("{other_zh}侧放大 {parts} 倍，只在它较小时合算", "the {other_en} side grows {parts} times: pays off only if it is small");
        con("只适用于不单独保留{other_zh}侧行的连接；最热的键仍留下 1/{parts}", "only for joins that keep no unmatched rows of the {other_en} side; 1/{parts} of the hottest key stays together");
        rewrite(salt.and_then(|(_, rewrite)| rewrite));
    }
}

/// Saving with a hot key in `parts`, and as many copies of the join's smaller input.
fn saved_by_salt(case: &Case<'_>, parts: f64) -> Option<Saved> {
    let surplus_s = case.surplus_s()?;
    let bytes: Vec<f64> = case.edges().filter_map(|edge| edge.bytes_written).collect();
    let all: f64 = bytes.iter().sum();
    let copied = bytes.iter().copied().fold(f64::MAX, f64::min);
    let growth = if bytes.len() < 2 || all <= 0.0 {
        1.0
    } else {
        1.0 + copied * (parts - 1.0) / all
    };
    case.saved_by(move |stage| {
        spread(stage, surplus_s, parts);
        scale_run(stage, growth);
    })
}

fn two_levels(case: &Case<'_>) -> Option<Suggested> {
    let (script, statement) = case.located()?;
    let salt = case.salt(
        statement.query.inputs.first()?,
        &case.keys(),
        aggregate::SALTS,
    )?;
    let aggregated = aggregate::two_level(script, statement, &salt);
    let ranked = || window::two_level_rank(script, statement, &salt);
    let is_rank = aggregated.is_none();
    let rewrite = aggregated.or_else(ranked)?;
    let saved = case.surplus_s().and_then(|surplus_s| {
        case.saved_by(move |stage| spread(stage, surplus_s, f64::from(aggregate::SALTS)))
    });
    let mut proposal = advice! { Rewrite, Gain::Own(saved), "salting two-level aggregation";
        title("给 {rowset} 加盐（`{salt}`），分两级计算：先按键和盐，再按键", "salt {rowset} by `{salt}` and work in two levels: by key and salt, then by key", rowset = case.rowset());
        step("第一级把热点键分到多个顶点，各自只留下部分结果", "the first level spreads the hot key over many vertices and keeps only their partial results");
        step("第二级只处理部分结果，每个键最多 {salts} 份", "the second level reads only partial results, at most {salts} per key", salts = aggregate::SALTS.to_string());
        pro("结果不变，不依赖具体的热点值", "same result; does not depend on the hot values");
        con("多一次分区；没有热点时略慢", "one more exchange; slightly slower without hot values");
        [is_rank] con("名次并列时取哪一行，和原来一样不确定", "the choice among tied rows is as arbitrary as before");
        rewrite(Some(rewrite));
    };
    if is_rank {
        proposal.topic = "top n two steps local top per key and salt ROW_NUMBER";
    }
    case.finish_checked(proposal)
}

/// Steps without a proven rewrite: user code, or aggregates that cannot be combined from parts.
fn by_hand(case: &Case<'_>) -> Proposal {
    let reduces = case
        .statement
        .is_none_or(|s| s.kind == StatementKind::Reduce);
    if !reduces {
        return advice! { Rewrite, Gain::Whole, "pre-aggregation partial aggregates finer key";
            title("在 {rowset} 之前先按更细的键处理一次，再按 {keys} 汇总", "work on a finer key before {rowset}, then combine the results by {keys}", rowset = case.rowset(), keys = case.key_names());
            step("加一个由行内数据算出的列（日期、id 的余数）一起分组，第二级再按原键合并部分结果", "group by one more column that comes from the row (a date, the remainder of an id), then merge the partial results by the original key");
            step("平均值保存为总和与个数；LIST、中位数和用户聚合不能这样合并", "carry averages as sum and count; LIST, medians and user aggregates cannot be merged like this");
            pro("到达热点顶点时只剩部分结果", "only partial results reach the hot vertex");
            con("只适用于可以分级合并的计算", "only for results that can be computed in parts");
        };
    }
    let hot = case.hot_value();
    let value = hot.unwrap_or_default();
    let attribute = match case.script.map(|script| script.dialect) {
        Some(Dialect::USql) => text!(
            "在类上声明 `[SqlUserDefinedReducer(IsRecursive = true)]`",
            "declare `[SqlUserDefinedReducer(IsRecursive = true)]` on the class"
        ),
        _ => text!(
            "在类中重写 `IsRecursive`，返回 true",
            "override `IsRecursive` in the class to return true"
        ),
    };
    advice! { Rewrite, Gain::Whole, "recursive reducer associative IsRecursive";
        title("让 {class} 分几级处理同一个键", "let {class} process one key in several levels", class = case.class());
        step("仅当计算满足结合律、且输出能再作为输入时：{attribute}", "only if it is associative and can take its own output as input: {attribute}", attribute = attribute);
        step("不能递归时，先按 {keys} 加一个盐列 REDUCE，再用能合并部分结果的代码按 {keys} REDUCE", "if it cannot be recursive, REDUCE by {keys} and a salt first, then by {keys} with code that merges the partial results", keys = case.key_list());
        step("与顺序有关（会话切分等）时按天等自然边界切分", "if it depends on order (sessions), cut at a natural boundary such as the day");
        [hot.is_some()] step("确认 `{value}` 是真实数据；若是测试账号或爬虫，先过滤掉更好", "make sure that `{value}` is real; if it is a test account or a crawler, filtering it out is better");
        pro("热点键不再受单个顶点限制", "the hot key is no longer bound to one vertex");
        con("要改代码；计数而不累加的代码递归后会得到错误结果，而且不报错", "the code has to change; code that counts rows rather than adding up counts gives wrong results when recursive, without an error");
    }
}

/// SKEWFACTOR on the grouped rowset: only for aggregates that the engine can split.
fn skew_factor(case: &Case<'_>) -> Option<Suggested> {
    let (script, statement) = case.located()?;
    if !aggregate::can_be_split(&statement.query) || case.keys().is_empty() {
        return None;
    }
    let key = case.keys().first()?.clone();
    let of = script
        .statements
        .get(statement.query.inputs.first()?.definition?)?;
    let proposal = advice! { Hint, Gain::up_to_the_optimizer(), "SKEWFACTOR hint skewed aggregation";
        title("用 SKEWFACTOR 告诉优化器 {key} 很不均匀", "tell the optimizer with SKEWFACTOR that {key} is uneven");
        step("提示写在聚合之前的行集上：0 为均匀，1 为严重倾斜，优化器据此选择多级聚合", "the hint goes on the rowset before the aggregation: 0 is even, 1 heavily skewed; the optimizer may choose several levels");
        pro("只改一行，结果不变", "one line, same result");
        con("是否采用由优化器决定，并且影响其后的所有语句：请对比执行计划", "the optimizer may ignore it, and it affects all later statements: compare the plans");
        rewrite(hint::add(script, of, "SKEWFACTOR", &format!("({key})=0.8")));
    };
    case.finish_checked(proposal)
}

/// LOWDISTINCTNESS: known for SCOPE only, and of use only before aggregates that can be split.
fn few_values_hint(case: &Case<'_>) -> Option<Suggested> {
    let (script, statement) = case.located().filter(|_| !case.usql())?;
    if !aggregate::can_be_split(&statement.query) {
        return None;
    }
    let list = case.keys().join(", ");
    let proposal = advice! { Hint, Gain::up_to_the_optimizer(), "LOWDISTINCTNESS hint low cardinality";
        title("用 LOWDISTINCTNESS 告诉优化器 {list} 的不同值很少", "tell the optimizer with LOWDISTINCTNESS that {list} has few distinct values", list = case.key_names());
        step("提示促使优化器先做局部聚合、减少分区数", "it makes the optimizer aggregate locally first and use fewer partitions");
        pro("只加一行，结果不变", "one line, same result");
        con("公开资料没有说明它的确切作用：请对比执行计划", "its exact effect is not publicly described: compare the plans");
        rewrite(hint::add(
        script,
        statement,
        "LOWDISTINCTNESS",
        &format!("({list})"),
    ));
    };
    case.finish_checked(proposal)
}

/// The rows of a null or default value, which rarely mean anything.
fn filter_value(case: &Case<'_>) -> Suggested {
    let keys = case.key_names();
    let first = case.keys().into_iter().next();
    let first = first.unwrap_or_else(|| "<key>".to_owned());
    let value = case.hot_value();
    let shown = match value {
        Some(value) => text!("`{value}`", "`{value}`"),
        None => text!("空值或默认值", "null or a default"),
    };
    let condition = match value {
        Some("NULL") => format!("{first} != null"),
        Some(value) => {
            let number = literal(value, "long");
            let written = number
                .or_else(|| literal(value, "string"))
                .unwrap_or_default();
            format!("{first} != {written}")
        }
        None => format!("{first} != <value>"),
    };
    let share = case
        .uneven()
        .and_then(|u| u.hot.as_ref())
        .map(|hot| hot.share);
    let saved = share.zip(case.surplus_s()).and_then(|(share, surplus_s)| {
        case.saved_by(move |stage| without_hot_rows(stage, surplus_s, share))
    });
    let join = case.join().is_some();
    let mut proposal = advice! { Investigate, Gain::Own(saved), "null default key filter before join";
        title("确认 {keys} 为 {shown} 的行是否有意义；没有就尽早过滤", "find out whether rows with {keys} = {shown} mean anything, and filter them early if not", keys = keys, shown = shown);
        [join] step("内连接：对侧没有这个值时，在连接前加 `WHERE {condition}` 不会少任何行", "inner join: if the other side lacks the value, `WHERE {condition}` before it loses no row");
        [join] step("外连接必须保留这些行时：让它们绕过连接，最后用 UNION ALL 合并", "if an outer join has to keep the rows, let them bypass it and add them by UNION ALL");
        [!join] step("没有人需要这一组时，先用 `WHERE {condition}` 过滤", "if that group is not needed, filter it out first with `WHERE {condition}`");
        step("从源头查清为什么会写入这个值", "find out at the source why that value is written");
        pro("只加一个条件，数据量和倾斜都减少", "one condition; less data and no skew");
        con("过滤可能改变结果，要与使用者确认；有些表里默认值是真实的键", "a filter may change the result: ask its users; in some tables a default is a real key");
    };
    if !join {
        proposal.topic = "null default key in an aggregation filter before group";
    }
    case.finish(proposal)
}

impl Case<'_> {
    /// Seconds of the stage that only its uneven input causes, such as spilling.
    fn surplus_s(&self) -> Option<f64> {
        let stage = self.stage?;
        Some(self.view.run_seconds(stage, surplus_ms(self.view, stage)))
    }

    /// The uneven side of the join: the one behind the uneven exchange, else the
    /// one with the more frequent value in its statistics.
    fn hot_side(&self) -> Side {
        let edge = self.uneven().and_then(|u| self.job.edges.get(u.edge?));
        let made = |left: bool| {
            let (_, join) = self.join()?;
            let input = if left { join.left } else { join.right };
            let input = self.statement?.query.inputs.get(input)?;
            Some(self.is_made_in(input, edge?.from))
        };
        match (made(true), made(false)) {
            (Some(true), Some(false)) => return Side::Left,
            (Some(false), Some(true)) => return Side::Right,
            _ => {}
        }
        let rows = |left: bool| {
            let (_, join) = self.join()?;
            let (l, r) = join.keys.first()?;
            let (input, key) = if left {
                (join.left, l)
            } else {
                (join.right, r)
            };
            let stored = self.stored(self.statement?.query.inputs.get(input)?, &key.name)?;
            let top = stored.column.top_values.first().map_or(0, |top| top.rows);
            Some(top.max(stored.column.nulls.unwrap_or(0)))
        };
        match (rows(true).unwrap_or(0), rows(false).unwrap_or(0)) {
            (left, right) if right > left => Side::Right,
            _ => Side::Left,
        }
    }
}
