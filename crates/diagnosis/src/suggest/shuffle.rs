//! Suggestions against needless movement of data.

use job::script::{Dialect, Script, Statement};

use super::case::{Case, Proposal};
use crate::Suggested;
use crate::rewrite::hint::Side;
use crate::rewrite::{aggregate, filter, hint, layout, projection};
use report::format::ROW;
use report::{SuggestionKind, text};

/// Rows partitioned again on keys they are partitioned by.
pub(super) fn redundant_repartition(case: &Case<'_>) -> Vec<Suggested> {
    let keys = case.keys();
    let list = keys.join(", ");
    let rowset = case.rowset();
    let rewrite = case
        .statement
        .zip(case.script)
        .filter(|_| !keys.is_empty())
        .and_then(|(statement, script)| partition_on_common_key(script, statement, &keys));
    let hinted = Proposal::new(
        SuggestionKind::Hint,
        "repartition once and reuse PARTITION hint",
        text!("只分区一次：让 {rowset} 沿用已有的按 {list} 的分区", "partition once: let {rowset} reuse the partitioning on {list}", rowset = rowset),
    )
    .step(text!("在第一次需要这些键的语句上固定分区（PARTITION 提示，REQUIRED=true），后面的连接、聚合、REDUCE 用同样的键和分区数", "fix the partitioning where the keys are needed first (PARTITION hint, REQUIRED=true), and use the same keys and count in the joins, groups and REDUCEs after it"))
    .step(text!("按 (A, B) 分组时，按 A 分区就已足够：不要为更多的键再次分区", "for a group by (A, B) a partitioning on A is enough: don't partition again for more keys"))
    .step(text!("避免在两次使用之间用 PROCESS 或改名隐藏键列，否则优化器会丢失分区信息", "don't hide the key behind a PROCESS or a new name in between: the optimizer forgets the partitioning then"))
    .pro(text!("少一次全量移动", "one full move of the data less"))
    .con(text!("提示固定了计划，数据变化后需复查", "the hint fixes the plan: look again when the data changes"))
    .rewrite(rewrite);
    let reorder = Proposal::new(
        SuggestionKind::Rewrite,
        "reorder operators same keys share exchange",
        text!(
            "把使用同一键的运算放在一起，{rowset} 之前不要换键",
            "put what uses the same key together, without another key before {rowset}",
            rowset = rowset
        ),
    )
    .step(text!(
        "先完成所有按同一键的连接和聚合，再处理其他键",
        "do all joins and groups on one key before those on another"
    ))
    .step(text!(
        "UDO 不改变键时，在 PRODUCE 中原样输出键列",
        "where user code leaves the key alone, PRODUCE it under its name"
    ))
    .pro(text!(
        "不需要提示，优化器自己就能复用",
        "no hint needed, the optimizer can reuse it by itself"
    ))
    .con(text!(
        "要确认调整顺序不改变结果",
        "make sure that the order does not matter"
    ));
    let mut found = Vec::new();
    match without_forced_partitioning(case) {
        Some(suggestion) => found.push(suggestion),
        None => found.push(case.finish(hinted)),
    }
    found.push(case.finish(reorder));
    found
}

/// Takes away a PARTITION hint that forces another partitioning on the same keys.
fn without_forced_partitioning(case: &Case<'_>) -> Option<Suggested> {
    let (script, statement) = case.script.zip(case.statement)?;
    let forced = statement
        .hints
        .iter()
        .find(|hint| hint.name == "PARTITION")?;
    let text = script.slice(&forced.span).to_owned();
    let proposal = Proposal::new(
        SuggestionKind::Hint,
        "PARTITION hint forces repartition remove",
        text!("删除 `{text}`：数据已按这些键分区，提示强迫它再分一次", "take `{text}` away: the rows are partitioned by these keys already, and the hint forces it once more"),
    )
    .step(text!("没有提示时优化器会沿用上一步的分区；确实要改分区数时，改在第一次分区的语句上", "without it the optimizer reuses the partitioning of the step before; if another count is needed, set it where the rows are partitioned first"))
    .pro(text!("少一次全量移动，结果不变", "one full move of the data less, same result"))
    .con(text!("该步的分区数与上一步相同", "this step then has as many partitions as the one before"))
    .rewrite(hint::remove(script, statement, forced));
    case.finish_checked(proposal)
}

/// A PARTITION hint on the first of the keys that the rowset before already is partitioned by.
fn partition_on_common_key(
    script: &Script,
    statement: &Statement,
    keys: &[String],
) -> Option<crate::rewrite::Rewrite> {
    if script.dialect != Dialect::Scope {
        return None;
    }
    let flow = script.flow();
    let rowset = flow.of_statement(statement.index)?;
    let before = rowset
        .inputs
        .iter()
        .map(|&input| &flow.rowsets[input].leaves);
    let shared = before
        .map(|leaves| &leaves.keys)
        .find(|held| !held.is_empty() && held.iter().all(|key| keys.contains(key)));
    let columns = shared.map_or_else(|| keys.join(", "), |shared| shared.join(", "));
    let rest = format!("({columns})=(PARTITIONFUNCTION=HASH, REQUIRED=true)");
    hint::add(script, statement, "PARTITION", &rest)
}

/// Columns that cross an exchange for nothing.
pub(super) fn unused_columns(case: &Case<'_>) -> Vec<Suggested> {
    let columns = case
        .evidence_text("columns never read")
        .unwrap_or_default()
        .to_owned();
    let listed = if columns.is_empty() {
        String::new()
    } else {
        format!(" ({columns})")
    };
    let rewrite = case
        .script
        .and_then(|script| projection::drop_columns(script, &|c| case.reads(c)));
    let proposal = Proposal::new(
        SuggestionKind::Rewrite,
        "early projection drop unused columns",
        text!("从 SELECT 列表中去掉之后没有用到的列{listed}", "leave the columns that nobody reads later out of the SELECT lists{listed}"),
    )
    .step(text!("从最早出现这些列的语句开始删除，一直到不再使用它们的地方", "take them out from the statement where they appear first, down to where they are not used any more"))
    .step(text!("REDUCE / PROCESS 的输入只传它读取的列；优化器看不到用户代码，不会自动裁剪", "give REDUCE and PROCESS only the columns they read: the optimizer cannot see into user code and prunes nothing"))
    .step(text!("用户代码若按位置或遍历 schema 访问列，先确认它不依赖被删的列", "if user code goes by position or over the schema, make sure that it does not need them"))
    .pro(text!("输出列不变，移动的字节数按列宽减少", "same output columns, fewer bytes moved"))
    .con(text!("用户代码以后需要这些列时要再加回来", "should the code need them one day, they have to come back"))
    .rewrite(rewrite);
    let mut found = vec![case.finish(proposal)];
    let wide = Proposal::new(
        SuggestionKind::Rewrite,
        "late materialization wide columns join back",
        text!("若最后仍需要宽列：先只带键走完，再连接回来", "if wide columns are needed in the end: carry the key only, and join them back"),
    )
    .step(text!("在交换之前把宽列（URL、UserAgent、JSON）换成主键，最后对少量结果行再连接一次", "replace wide columns (URLs, user agents, JSON) by a key before the exchange, and join once more on the few rows of the result"))
    .pro(text!("大行不再跨网络", "wide rows stay where they are"))
    .con(text!("多一次连接，只在结果行很少时合算", "one more join: pays off where few rows are left"));
    found.push(case.finish(wide));
    found
}

/// A filter that runs after an exchange.
pub(super) fn late_filter(case: &Case<'_>) -> Vec<Suggested> {
    let rowset = case.rowset();
    let rewrite = case
        .statement
        .zip(case.script)
        .and_then(|(statement, script)| push_filter(script, statement));
    let proposal = Proposal::new(
        SuggestionKind::Rewrite,
        "early filter push down before join",
        text!("把 {rowset} 之后的过滤移到交换之前", "filter before the exchange rather than in or after {rowset}", rowset = rowset),
    )
    .step(text!("条件只用到连接一侧的列：在该侧参加连接之前就过滤", "the condition needs one side of the join only: filter that side before it joins"))
    .step(text!("左外连接只能提前左侧的条件；右侧的条件提前会改变结果", "in a left outer join only conditions on the left side may move; one on the right side would change the result"))
    .step(text!("优化器不会自动下推含用户函数的条件，所以要手工写在前面", "the optimizer does not push conditions with user functions down by itself: write them early"))
    .pro(text!("被过滤的行不再移动、排序和连接", "rows that are filtered out are neither moved, sorted nor joined"))
    .pro(text!("结果不变", "same result"))
    .con(text!("用户函数会在更多的行上执行（在连接减少行数时）", "a user function runs on more rows where the join would have dropped some"))
    .rewrite(rewrite);
    vec![case.finish(proposal)]
}

/// Moves the filter of the statement, or of the statement that reads it.
fn push_filter(script: &Script, statement: &Statement) -> Option<crate::rewrite::Rewrite> {
    filter::push_down(script, statement).or_else(|| {
        let flow = script.flow();
        let readers = &flow.of_statement(statement.index)?.readers;
        readers.iter().find_map(|&reader| {
            let reader = script.statements.get(flow.rowsets[reader].statement)?;
            filter::push_down(script, reader)
        })
    })
}

/// A small side that is repartitioned.
pub(super) fn missed_broadcast(case: &Case<'_>) -> Vec<Suggested> {
    let join = case.statement.and_then(|statement| {
        let (number, join) = case.join()?;
        let rows = |input: usize| case.rows_behind(statement.query.inputs.get(input)?);
        let side = match (rows(join.left), rows(join.right)) {
            (Some(left), Some(right)) if left < right => Side::Left,
            _ => Side::Right,
        };
        Some((statement, number, side))
    });
    let side = join.map_or(Side::Right, |(_, _, side)| side);
    let (word, zh, en) = match side {
        Side::Left => ("BROADCASTLEFT", "左", "left"),
        Side::Right => ("BROADCASTRIGHT", "右", "right"),
    };
    let rewrite = join
        .zip(case.script)
        .and_then(|((statement, number, side), script)| {
            hint::broadcast(script, statement, number, side)
        });
    let rowset = case.rowset();
    let broadcast = Proposal::new(
        SuggestionKind::Hint,
        "broadcast join hint BROADCASTRIGHT small table",
        text!("在 {rowset} 中用 {word} 广播较小的{zh}侧", "broadcast the small {en} side in {rowset} with {word}", rowset = rowset),
    )
    .step(text!("在连接词中写明策略：`INNER {word} JOIN`", "name the strategy in the join: `INNER {word} JOIN`"))
    .step(text!("确认小表在最大的一天也放得进一个顶点的内存（通常 < 1 GB）", "make sure that the small side fits into a vertex's memory even on its largest day (usually < 1 GB)"))
    .pro(text!("大的一侧完全不用移动，也不受热点键影响", "the big side does not move at all, and hot keys don't matter"))
    .con(text!("小表变大后会拖垮每个顶点，需要监控其大小", "should the small side grow, every vertex suffers: watch its size"))
    .rewrite(rewrite);
    let mut found = vec![case.finish(broadcast)];
    found.extend(wrong_row_count(case));
    let statistics = Proposal::new(
        SuggestionKind::Hint,
        "ROWCOUNT hint statistics broadcast",
        text!("让优化器知道小表真实的行数", "let the optimizer know how many rows the small side has"),
    )
    .step(text!("给小表加 ROWCOUNT 提示（U-SQL：`OPTION(ROWCOUNT=n)` 或 `CREATE STATISTICS`），优化器就会自己选择广播", "give the small side a ROWCOUNT hint (U-SQL: `OPTION(ROWCOUNT=n)` or `CREATE STATISTICS`); the optimizer chooses to broadcast by itself then"))
    .step(text!("删除写大了的旧 ROWCOUNT 提示", "take away old ROWCOUNT hints that say too much"))
    .pro(text!("其他连接也会得到更好的计划", "other joins get better plans too"))
    .con(text!("提示过期后又会误导优化器", "an outdated hint misleads again"));
    found.push(case.finish(statistics));
    found
}

/// A ROWCOUNT hint on the way to the join that says far more than the table has.
fn wrong_row_count(case: &Case<'_>) -> Option<Suggested> {
    let (script, statement) = case.script.zip(case.statement)?;
    let (hinted, hint, rows) = statement.query.inputs.iter().find_map(|input| {
        let rows = case.rows_behind(input)?;
        let definition = script.statements.get(input.definition?)?;
        let hint = definition
            .hints
            .iter()
            .find(|hint| hint.name == "ROWCOUNT")?;
        let says: f64 = hint.value.as_deref()?.parse().ok()?;
        // Filters only make rows fewer, so a hint above the table's rows is wrong for sure.
        (says > rows as f64 * 2.0).then_some((definition, hint, rows))
    })?;
    let proposal = Proposal::new(
        SuggestionKind::Hint,
        "wrong ROWCOUNT hint",
        text!(
            "改正 ROWCOUNT 提示：源表只有 {rows}",
            "correct the ROWCOUNT hint: the table has {rows} only",
            rows = ROW.count(rows as f64)
        ),
    )
    .step(text!(
        "把提示改成真实行数，或者删除它",
        "set it to the true number, or take it away"
    ))
    .pro(text!(
        "优化器自己就会选择广播",
        "the optimizer then chooses to broadcast by itself"
    ))
    .con(text!("行数变化时要维护", "has to be kept up to date"))
    .rewrite(hint::change(script, hinted, hint, |text| {
        hint::with_number(text, "ROWCOUNT", rows)
    }));
    case.finish_checked(proposal)
}

/// A large intermediate gathered into one vertex.
pub(super) fn serial_gather(case: &Case<'_>) -> Vec<Suggested> {
    let mut found = Vec::new();
    found.extend(distinct_in_two_steps(case));
    let sorted = case.statement.is_some_and(|s| {
        !s.query.order_by.is_empty() || s.output.as_ref().is_some_and(|o| !o.sorted_by.is_empty())
    });
    found.push(case.finish(if sorted {
        parallel_sort(case)
    } else {
        partial_first(case)
    }));
    found
}

/// Distinct values first, spread by the value.
pub(super) fn distinct_in_two_steps(case: &Case<'_>) -> Option<Suggested> {
    let (script, statement) = case.script.zip(case.statement)?;
    let rewrite = aggregate::distinct_first(script, statement)?;
    let rowset = case.rowset();
    let proposal = Proposal::new(
        SuggestionKind::Rewrite,
        "COUNT DISTINCT two steps pre-aggregation",
        text!("{rowset} 的 COUNT(DISTINCT) 分两步：先按值去重，再计数", "count distinct values in {rowset} in two steps: deduplicate by value, then count", rowset = rowset),
    )
    .step(text!("第一步按键和值分组：按值分布在许多顶点上，与键的多少、冷热无关", "the first step groups by key and value: it is spread by the value over many vertices, however few or hot the keys are"))
    .step(text!("第二步只数第一步的行，可以先在各顶点局部计数", "the second step counts rows of the first, locally on each vertex before they meet"))
    .pro(text!("结果不变，不需要盐，也不依赖具体的值", "same result, without salt or values in the script"))
    .con(text!("多一次分区", "one more exchange"))
    .rewrite(Some(rewrite));
    case.finish_checked(proposal)
}

fn parallel_sort(case: &Case<'_>) -> Proposal {
    let rowset = case.rowset();
    let rewrite = case
        .statement
        .zip(case.script)
        .and_then(|(statement, script)| layout::cluster_sorted_output(script, statement));
    Proposal::new(
        SuggestionKind::Layout,
        "global sort serial CLUSTERED SORTED output",
        text!("去掉 {rowset} 的全局排序，改为分区内有序的输出", "replace the global sort in {rowset} by an output that is sorted in partitions", rowset = rowset),
    )
    .step(text!("输出结构化流并写 `CLUSTERED BY k SORTED BY k`：范围分区并行写出，读者仍得到有序数据", "write a structured stream with `CLUSTERED BY k SORTED BY k`: range partitions are written in parallel, and readers still get sorted rows"))
    .step(text!("只需要前 N 行时用 `TOP N … ORDER BY`：每个顶点先取前 N", "if only the first N rows are needed, `TOP N … ORDER BY`: each vertex takes its N first"))
    .step(text!("没有读者依赖顺序时，直接删除 ORDER BY", "if nobody needs the order, drop the ORDER BY"))
    .pro(text!("不再由单个顶点处理全部数据", "no single vertex handles all rows any more"))
    .con(text!("文本输出会变成多个有序片段，需与读者确认", "a text output would come in several sorted pieces: ask its readers"))
    .rewrite(rewrite)
}

fn partial_first(case: &Case<'_>) -> Proposal {
    let rowset = case.rowset();
    Proposal::new(
        SuggestionKind::Rewrite,
        "serial aggregate partial aggregation salt REDUCE ALL",
        text!("先在各顶点上做部分聚合，再汇总 {rowset}", "aggregate partially on every vertex before {rowset} puts it together", rowset = rowset),
    )
    .step(text!("给聚合加上一个中间键（如日期或哈希余数），第一级并行，第二级只汇总少量行", "group by an extra key (a date, a remainder) first, in parallel, and let a second level sum up the few rows"))
    .step(text!("用户聚合或 REDUCE ALL 改成可递归（满足结合律）的实现", "make user aggregates and REDUCE ALL recursive (associative)"))
    .step(text!("COUNT(DISTINCT x) 拆成按 x 分组加计数", "split COUNT(DISTINCT x) into a group by x and a count"))
    .pro(text!("串行部分只处理部分结果", "the serial part sees partial results only"))
    .con(text!("中位数、列表等无法分级合并", "medians, lists and the like cannot be put together"))
}

/// Inputs stored on other keys than every consumer needs.
pub(super) fn unaligned_input(case: &Case<'_>) -> Vec<Suggested> {
    let keys = case.keys();
    let list = if keys.is_empty() {
        "<key>".to_owned()
    } else {
        keys.join(", ")
    };
    let layout = Proposal::new(
        SuggestionKind::Layout,
        "unaligned input CLUSTERED BY stored keys co-located join",
        text!("让输入按 {list} 存储，消费者就不必每次重分区", "store the input clustered by {list}, so that no run has to repartition it"),
    )
    .step(text!("写出该输入的作业：`OUTPUT … TO SSTREAM … HASH CLUSTERED BY {list} SORTED BY {list} INTO <n>`", "in the job that writes it: `OUTPUT … TO SSTREAM … HASH CLUSTERED BY {list} SORTED BY {list} INTO <n>`"))
    .step(text!("U-SQL 表：`DISTRIBUTED BY HASH ({list})`，两侧用同样的分布数", "U-SQL tables: `DISTRIBUTED BY HASH ({list})`, with the same number of buckets on both sides"))
    .step(text!("两侧的键、类型、顺序和分区数都相同，连接才能原地进行", "keys, types, order and count have to be equal on both sides for a join in place"))
    .pro(text!("每次运行都省下一次全量移动和排序", "every run saves a full move and a sort"))
    .con(text!("写出方要多做一次；其他按旧键读取的作业会变慢", "the writer does it once more; jobs that use the old key get slower"));
    let once = Proposal::new(
        SuggestionKind::Layout,
        "materialise repartitioned copy once reuse",
        text!(
            "多个作业都要同样的键时，写一份重排过的副本",
            "where several jobs need the same key, keep one rearranged copy"
        ),
    )
    .step(text!(
        "每天用一个作业写出按 {list} 聚簇的副本，其他作业都读它",
        "one job a day writes a copy clustered by {list}; the others read that"
    ))
    .pro(text!(
        "不影响原数据的读者",
        "readers of the original are not affected"
    ))
    .con(text!("多一份存储", "costs storage"));
    vec![case.finish(layout), case.finish(once)]
}
