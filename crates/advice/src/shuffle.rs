//! Suggestions against needless movement of data.

use job::script::{HintForm, Script, Statement, StatementKind};

use crate::case::Case;
use crate::proposal::{Gain, Proposal, advice};
use diagnosis::Suggested;
use report::format::{Bytes, Names, ROW};
use report::{Text, text};
use rewrite::hint::{self, Side};
use rewrite::{Rewrite, aggregate, filter, layout, projection, window};

pub(crate) fn redundant_repartition(case: &Case<'_>) -> Vec<Suggested> {
    if let Some(removed) = without_forced_partitioning(case) {
        return vec![removed];
    }
    let rewrite = case
        .located()
        .filter(|_| !case.usql() && !case.keys().is_empty());
    let rewrite = rewrite.and_then(|(script, s)| partition_on_common_key(script, s, &case.keys()));
    let title = text!(
        "只分区一次：让 {rowset} 沿用已有的按 {keys} 的分区",
        "partition once: let {rowset} reuse the partitioning on {keys}",
        rowset = case.rowset(),
        keys = case.key_names()
    );
    let by_order = advice! { Rewrite, Gain::Whole, "repartition once reuse same keys order of operators";
        title(title.clone());
        step("按 (A, B) 分组时按 A 分区就够：先完成按同一键的连接和聚合，再换键", "a group by (A, B) is satisfied by a partitioning on A: do all joins and groups on one key before those on another");
        step("让键保持为同一列：不要在两次使用之间用 PROCESS、表达式或改名把它隐藏起来", "keep the key one column: don't hide it behind a PROCESS, an expression or a new name in between");
        pro("不需要提示，优化器自己就能复用", "no hint needed: the optimizer can reuse it by itself");
        con("要确认调整顺序不改变结果；较窄的键可能倾斜，先看它的最大值", "make sure that the order does not change the result; a narrower key can be skewed: look at its most frequent values first");
    };
    let hinted = advice! { Hint, Gain::Whole, "repartition once and reuse PARTITION hint";
        title(title);
        step("在这些键第一次用到的地方用 PARTITION 提示固定分区，之后的连接、聚合、REDUCE 用同样的键和分区数", "fix the partitioning with a PARTITION hint where the keys are needed first; use the same keys and count in the joins, groups and REDUCEs after it");
        pro("只加一行，少一次全量移动", "one line, and one full move of the data less");
        con("提示把计划固定下来，数据变化后要复查；较窄的键可能倾斜", "the hint fixes the plan: look again when the data changes; a narrower key may be skewed");
        rewrite(rewrite);
    };
    vec![
        case.finish_checked(hinted)
            .unwrap_or_else(|| case.finish(by_order)),
    ]
}

/// Removes a PARTITION hint that forces another partitioning on the same keys.
fn without_forced_partitioning(case: &Case<'_>) -> Option<Suggested> {
    let (script, statement) = case.located()?;
    let mut hints = statement.hints.iter();
    let forced = hints.find(|h| h.name == "PARTITION" && h.form == HintForm::Attribute)?;
    let written = script.slice(&forced.span).to_owned();
    let proposal = advice! { Hint, Gain::Whole, "PARTITION hint forces repartition remove";
        title("删除 `{written}`：数据已按这些键分区，提示强迫它再分一次", "remove `{written}`: the rows are partitioned by these keys already, and the hint forces it once more");
        step("没有提示时优化器会沿用上一步的分区；确实要改分区数时，改在第一次分区的语句上", "without it the optimizer reuses the partitioning of the step before; if another count is needed, set it at the first partitioning of the rows");
        pro("少一次全量移动，结果不变", "one full move of the data less, same result");
        con("该步的分区数变成与上一步相同", "this step then has as many partitions as the one before");
        rewrite(hint::remove(script, statement, forced));
    };
    case.finish_checked(proposal)
}

/// A PARTITION hint on the first partitioning key of the rowset before.
fn partition_on_common_key(
    script: &Script,
    statement: &Statement,
    keys: &[String],
) -> Option<Rewrite> {
    let flow = script.flow();
    let rowset = flow.of_statement(statement.index)?;
    let mut before = rowset
        .inputs
        .iter()
        .map(|&input| &flow.rowsets[input].leaves.keys);
    let shared = before.find(|held| !held.is_empty() && held.iter().all(|key| keys.contains(key)));
    let columns = shared.map_or_else(|| keys.join(", "), |shared| shared.join(", "));
    let rest = format!("({columns})=(PARTITIONFUNCTION=HASH, REQUIRED=true)");
    hint::add(script, statement, "PARTITION", &rest)
}

pub(crate) fn unused_columns(case: &Case<'_>) -> Vec<Suggested> {
    let columns = case.evidence_text("columns never read");
    let listed = columns.map_or_else(Text::default, |columns| {
        let columns: Vec<&str> = columns.split(", ").collect();
        text!("（{columns}）", " ({columns})", columns = Names(&columns))
    });
    let rewrite = case
        .script
        .and_then(|script| projection::drop_columns(script, &|c| case.reads(c)));
    let (rewrite, dropped) = rewrite.unzip();
    let each = |d: &projection::Dropped| {
        let rowset = &d.rowset;
        text!(
            "`{rowset}`：{columns}",
            "`{rowset}`: {columns}",
            columns = Names(&d.columns)
        )
    };
    let declared: Vec<Text> = dropped.iter().flatten().map(each).collect();
    let declared = Text::joined(&declared, ["；", "; "]);
    let proposal = advice! { Rewrite, Gain::Whole, "early projection drop unused columns";
        title("从 SELECT 列表中去掉之后没有用到的列{listed}", "drop the columns that are not used later from the SELECT lists{listed}", listed = listed);
        [dropped.is_some()] step("下面的修改去掉这些列：{declared}", "the change below removes these columns: {declared}", declared = declared);
        [dropped.is_none()] step("从最早出现这些列的语句开始删除，一直到不再使用它们的地方", "remove them from the statement of their first appearance down to the last use");
        [case.usql()] step("在 REDUCE / PROCESS 上用 `REQUIRED` 声明代码读取的列，编译器就能自动裁剪", "declare the columns that the code reads with `REQUIRED` on REDUCE or PROCESS, and the compiler prunes the others");
        step("用户代码若按位置或遍历 schema 访问列，先确认它不依赖被删的列", "if user code accesses columns by position or by schema, make sure that it does not need them");
        pro("输出列不变，移动的字节按列宽减少", "same output columns, and fewer bytes are moved");
        con("用户代码以后读取这些列时要加回来，否则运行时报错", "if the code reads them one day, they have to be added again, or it fails at run time");
        rewrite(rewrite);
    };
    vec![case.finish(proposal)]
}

pub(crate) fn late_filter(case: &Case<'_>) -> Vec<Suggested> {
    let rewrite = case
        .located()
        .and_then(|(script, statement)| push_filter(script, statement));
    let proposal = advice! { Rewrite, Gain::Whole, "early filter push down before join";
        title("把 {rowset} 中或之后的过滤移到交换之前", "filter before the exchange rather than in or after {rowset}", rowset = case.rowset());
        [rewrite.is_some()] step("条件只用到连接一侧的列，被过滤的行只影响它自己的输出行", "the condition needs one side of the join only, and a row that it drops takes only its own output rows with it");
        [rewrite.is_none()] step("条件只用到一侧的列：在该侧参加连接之前过滤；混合条件拆开，只移动这一部分", "if the condition needs one side only, filter that side before the join; split a mixed condition and move that part");
        [rewrite.is_none()] step("外连接只能移动保留侧的条件；REDUCE 之前只能移动键上的条件", "in an outer join only conditions on the kept side may move, before a REDUCE only conditions on its key");
        pro("被过滤的行不再移动、排序和连接", "filtered rows are not moved, sorted or joined");
        con("条件若调用用户函数，会在连接本来会去掉的行上也执行", "if the condition calls a user function, it also runs on rows that the join would have dropped");
        rewrite(rewrite);
    };
    vec![case.finish(proposal)]
}

/// Moves the filter of the statement, or of the statement that reads it.
fn push_filter(script: &Script, statement: &Statement) -> Option<Rewrite> {
    filter::push_down(script, statement).or_else(|| {
        let flow = script.flow();
        let readers = &flow.of_statement(statement.index)?.readers;
        readers.iter().find_map(|&reader| {
            let reader = script.statements.get(flow.rowsets[reader].statement)?;
            filter::push_down(script, reader)
        })
    })
}

pub(crate) fn missed_broadcast(case: &Case<'_>) -> Vec<Suggested> {
    let corrected = wrong_row_count(case);
    let broadcast = broadcast_small_side(case).unwrap_or_else(|| {
        advice! { Hint, Gain::Whole, "broadcast join hint BROADCASTRIGHT small table";
            title("在 {rowset} 中广播较小的一侧", "broadcast the small side in {rowset}", rowset = case.rowset());
            step("小的一侧在 JOIN 之后写 `BROADCASTRIGHT JOIN`，在之前写 `BROADCASTLEFT JOIN`", "write `BROADCASTRIGHT JOIN` if the small side is behind the JOIN, `BROADCASTLEFT JOIN` if it is before");
            step("确认小的一侧在最大的一天也放得进一个顶点的内存", "make sure that the small side fits into a vertex's memory even on its largest day");
            pro("大的一侧完全不用移动", "the big side does not move at all");
            con("提示是命令：小表变大后会拖垮每个顶点", "a hint is a command: should the small side grow, every vertex suffers");
        }
    });
    corrected
        .into_iter()
        .chain([case.finish(broadcast)])
        .collect()
}

/// The strategy word that broadcasts the side of the join that is known to be small.
pub(crate) fn broadcast_small_side(case: &Case<'_>) -> Option<Proposal> {
    let (script, statement) = case.located()?;
    let (number, side, edge) = case.small_side()?;
    let (word, zh, en) = match side {
        Side::Left => ("BROADCASTLEFT", "左", "left"),
        Side::Right => ("BROADCASTRIGHT", "右", "right"),
    };
    let size = match edge.and_then(|edge| edge.bytes_written.zip(edge.rows_written)) {
        Some((bytes, rows)) => text!(
            "（{rows}，{bytes}）",
            " ({rows}, {bytes})",
            rows = ROW.count(rows),
            bytes = Bytes(bytes)
        ),
        None => Text::default(),
    };
    Some(
        advice! { Hint, Gain::Whole, "broadcast join hint BROADCASTRIGHT small table";
            title("在 {rowset} 中用 {word} 广播较小的{zh}侧{size}", "broadcast the small {en} side{size} in {rowset} with {word}", rowset = case.rowset(), size = size);
            step("在连接词中写明策略：`{word} JOIN`", "name the strategy in the join: `{word} JOIN`");
            step("确认小的一侧在最大的一天也放得进一个顶点的内存", "make sure that the small side fits into a vertex's memory even on its largest day");
            pro("大的一侧完全不用移动，也不受热点键影响", "the big side does not move at all, and hot keys don't matter");
            con("提示是命令：小表变大后会拖垮每个顶点，要监控它的大小", "a hint is a command: should the small side grow, every vertex suffers; watch its size");
            [case.usql()] con("提示无法满足时，编译报“no plan”错误", "if the hint cannot be met, the compiler reports a “no plan” error");
            rewrite(hint::broadcast(script, statement, number, side));
        },
    )
}

/// A ROWCOUNT hint on the way to the join with far more rows than the table has.
fn wrong_row_count(case: &Case<'_>) -> Option<Suggested> {
    let (script, statement) = case.located()?;
    let (hinted, hint, rows) = statement.query.inputs.iter().find_map(|input| {
        let rows = case.rows_behind(input)?;
        let definition = script.statements.get(input.definition?)?;
        let hint = definition.hints.iter().find(|h| h.name == "ROWCOUNT")?;
        let says: f64 = hint.value.as_deref()?.parse().ok()?;
        // filters only reduce rows, so a hint above the table's rows is certainly wrong
        (says > rows as f64 * 2.0).then_some((definition, hint, rows))
    })?;
    let says = hint
        .value
        .as_deref()?
        .parse()
        .map(|says| ROW.count(says))
        .ok()?;
    let proposal = advice! { Hint, Gain::Whole, "wrong ROWCOUNT hint statistics broadcast";
        title("改正 ROWCOUNT 提示：写的是 {says}，源表只有 {rows}", "correct the ROWCOUNT hint: it says {says}, the table has only {rows}", says = says, rows = ROW.count(rows as f64));
        step("写成真实行数，或者删除它", "set it to the true number, or remove it");
        pro("从根源上改正：优化器自己就会选择广播，其他语句也受益", "fixes the cause: the optimizer can choose to broadcast on its own, and other statements benefit too");
        con("仍由优化器决定；行数变化时提示要维护", "the optimizer still decides; the hint has to follow the rows");
        rewrite(hint::change(script, hinted, hint, |text| hint::with_number(text, "ROWCOUNT", rows)));
    };
    case.finish_checked(proposal)
}

pub(crate) fn serial_gather(case: &Case<'_>) -> Vec<Suggested> {
    if let Some(distinct) = distinct_in_two_steps(case) {
        return vec![distinct];
    }
    let query = case.statement.map(|statement| &statement.query);
    let output = case
        .statement
        .and_then(|statement| statement.output.as_ref());
    let ordered = query.is_some_and(|q| !q.order_by.is_empty());
    let first = query.is_some_and(|q| q.top.is_some())
        || ordered
            && case
                .located()
                .is_some_and(|(script, s)| script.slice(&s.query.span).contains("FETCH"))
        || query.is_some_and(|q| {
            q.aggregates
                .iter()
                .any(|a| a.over && a.partition_by.is_empty())
        });
    let sorted = ordered || output.is_some_and(|output| !output.sorted_by.is_empty());
    vec![case.finish(match (first, sorted) {
        (true, _) => first_rows_in_two_levels(case),
        (false, true) => parallel_sort(case),
        (false, false) => partial_first(case),
    })]
}

/// The first N of each vertex before the first N of all.
fn first_rows_in_two_levels(case: &Case<'_>) -> Proposal {
    let rewrite = case.located().and_then(|(script, statement)| {
        let salt = case.salt(statement.query.inputs.first()?, &[], aggregate::SALTS)?;
        window::two_level_top(script, statement, &salt)
            .or_else(|| window::two_level_rank(script, statement, &salt))
    });
    let rowset = case.rowset();
    let last = match case.usql() {
        true => text!(
            "再用 `ORDER BY … FETCH N ROWS` 从这些行中取前 N",
            "then take the first N of those with `ORDER BY … FETCH N ROWS`"
        ),
        false => text!(
            "再用 `TOP N … ORDER BY` 从这些行中取前 N",
            "then take the first N of those with `TOP N … ORDER BY`"
        ),
    };
    advice! { Rewrite, Gain::Whole, "top n two steps local top per bucket ROW_NUMBER";
        title("{rowset} 分两级取前 N：各顶点先取自己的前 N，汇集后再取", "take the top N in {rowset} in two levels: first the top N of each vertex, then the top N of all", rowset = rowset);
        step("按行内某个 id 的余数分桶，用 `ROW_NUMBER() OVER (PARTITION BY 桶 ORDER BY …)` 在各桶中并行取前 N", "divide the rows by the remainder of an id, and take the first N of each part in parallel with `ROW_NUMBER() OVER (PARTITION BY part ORDER BY …)`");
        step(last);
        pro("汇集到一个顶点的只有桶数 × N 行", "only parts × N rows are gathered into the one vertex");
        con("多一次并行的分区；名次并列时取哪一行，和原来一样不确定", "one more exchange, in parallel; the choice among tied rows is as arbitrary as before");
        rewrite(rewrite);
    }
}

/// Distinct values first, spread by the value.
pub(crate) fn distinct_in_two_steps(case: &Case<'_>) -> Option<Suggested> {
    let (script, statement) = case.located()?;
    let rewrite = aggregate::distinct_first(script, statement)?;
    let proposal = advice! { Rewrite, Gain::Whole, "COUNT DISTINCT two steps pre-aggregation";
        title("{rowset} 的 COUNT(DISTINCT) 分两步：先按值去重，再计数", "count distinct values in {rowset} in two steps: deduplicate by value, then count", rowset = case.rowset());
        step("第一步按键和值分组：按值分布在许多顶点上，与键的多少、冷热无关", "the first step groups by key and value: it is spread by the value over many vertices, even with few or hot keys");
        step("第二步只数第一步的行，可以先在各顶点局部计数", "the second step counts rows of the first, locally on each vertex before they meet");
        pro("结果不变，不需要盐，也不依赖具体的值", "same result, without salt or values in the script");
        con("多一次分区；值本身倾斜时第一步仍不均匀", "one more exchange; if the values themselves are skewed, the first step stays uneven");
        rewrite(Some(rewrite));
    };
    case.finish_checked(proposal)
}

fn parallel_sort(case: &Case<'_>) -> Proposal {
    let rewrite = case
        .located()
        .filter(|_| !case.usql())
        .and_then(|(script, statement)| layout::cluster_sorted_output(script, statement));
    advice! { Layout, Gain::Whole, "global sort serial CLUSTERED SORTED output";
        title("去掉 {rowset} 的全局排序，改为分区内有序的输出", "replace the global sort in {rowset} by an output sorted within partitions", rowset = case.rowset());
        step("没有读者依赖顺序时，直接删除 ORDER BY", "if no reader needs the order, drop the ORDER BY");
        [case.usql()] step("需要按键查找时写入表：`INDEX i CLUSTERED (k) DISTRIBUTED BY RANGE (k)`", "if readers look rows up by key, write a table: `INDEX i CLUSTERED (k) DISTRIBUTED BY RANGE (k)`");
        [!case.usql()] step("需要顺序时输出结构化流并写 `CLUSTERED BY k SORTED BY k`：范围分区并行写出，读者仍得到有序数据", "if they do, write a structured stream with `CLUSTERED BY k SORTED BY k`: range partitions are written in parallel, and readers still get sorted rows");
        pro("不再由单个顶点处理全部数据", "no single vertex handles all rows any more");
        con("要的是一个有序文本文件时不适用；范围分区遇到倾斜的键会不均匀", "not if one sorted text file is required; ranges of a skewed key are uneven");
        rewrite(rewrite);
    }
}

fn partial_first(case: &Case<'_>) -> Proposal {
    let user_code = case
        .statement
        .is_some_and(|s| s.kind == StatementKind::Reduce);
    let mut proposal = advice! { Rewrite, Gain::Whole, "serial aggregate partial aggregation salt";
        title("先在各顶点上部分聚合，再由 {rowset} 汇总", "aggregate partially on many vertices before {rowset} combines the results", rowset = case.rowset());
        [user_code] step("REDUCE ALL 先按一个余数列并行 REDUCE，再合并；代码要能接受自己的输出", "REDUCE by a remainder in parallel before the REDUCE ALL that merges; the code has to take its own output");
        [!user_code] step("第一级按行内某个 id 的余数分组并行聚合，第二级只汇总少量行", "group by the remainder of an id first, in parallel, and let a second level sum up the few rows");
        [!user_code] step("COUNT(DISTINCT x) 拆成按 x 分组加计数", "split COUNT(DISTINCT x) into a group by x and a count");
        pro("串行部分只处理部分结果", "the serial part sees partial results only");
        con("中位数、列表等无法分级合并", "medians, lists and similar aggregates cannot be combined from parts");
    };
    if user_code {
        proposal.topic = "serial REDUCE ALL salt";
    }
    proposal
}

pub(crate) fn unaligned_input(case: &Case<'_>) -> Vec<Suggested> {
    let list = case.key_list();
    let count = case.edges().filter_map(|edge| edge.partitions).max();
    let into = count.map_or_else(|| "<n>".to_owned(), |count| count.to_string());
    let store = |usql: bool| match usql {
        true => text!(
            "写入表并声明 `INDEX i CLUSTERED ({list}) DISTRIBUTED BY HASH ({list}) INTO {into}`",
            "write a table with `INDEX i CLUSTERED ({list}) DISTRIBUTED BY HASH ({list}) INTO {into}`"
        ),
        false => text!(
            "写成 `OUTPUT … TO SSTREAM … HASH CLUSTERED BY {list} SORTED BY {list} INTO {into}`",
            "write `OUTPUT … TO SSTREAM … HASH CLUSTERED BY {list} SORTED BY {list} INTO {into}`"
        ),
    };
    let layout = advice! { Layout, Gain::Whole, "unaligned input CLUSTERED BY stored keys co-located join";
        title("让输入按 {list} 存储，消费者就不必每次重分区", "store the input by {list}, so that no run has to repartition it", list = case.key_names());
        step("在写出该输入的作业中{store}", "in the job that writes it, {store}", store = store(case.usql()));
        step("写出方不能改时，由一个每日作业写一份按 {list} 重排的副本，供需要这个键的作业读取", "if the writer cannot change, have one job per day write a copy stored by {list} for the jobs that need this key", list = case.key_names());
        step("连接的两侧要有相同的键、类型、顺序和分区数，才能原地连接", "both sides of a join need the same keys, types, order and count to be joined in place");
        pro("每次运行都省下一次全量移动和排序", "every run saves a full move and a sort");
        con("写出方多做一次；按旧键读取的作业会变慢；{list} 倾斜时存储也会倾斜", "the writer does the work once; jobs that use the old key get slower; if {list} is skewed, so is the stored data", list = case.key_names());
    };
    vec![case.finish(layout)]
}
