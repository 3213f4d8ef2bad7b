//! Suggestions about memory, estimates and user code.

use job::script::{Hint, Script, Statement};

use super::case::{Case, Proposal};
use super::parallelism::more_partitions;
use crate::Suggested;
use crate::rewrite::{Rewrite, hint};
use report::{SuggestionKind, text};

/// Garbage collection takes much of the time.
pub(super) fn heap_pressure(case: &Case<'_>) -> Vec<Suggested> {
    let class = case.class();
    let code = Proposal::new(
        SuggestionKind::Rewrite,
        "garbage collection heap pressure managed code allocation",
        text!("减少 {class} 每行的对象分配，不要缓存整组的行", "allocate less per row in {class}, and don't keep whole groups of rows", class = class),
    )
    .step(text!("不要把一个键的所有行放进 List / Dictionary：用 PRESORT 后逐行处理，只保留滚动状态", "don't put all rows of a key into a list or dictionary: PRESORT, go row by row, keep a running state"))
    .step(text!("复用缓冲区、StringBuilder 和输出行；把正则、编码器等放到静态字段", "reuse buffers, string builders and the output row; keep regular expressions, encoders and the like in static fields"))
    .step(text!("用原生表达式（SELECT、内置聚合）替代能替代的 C#，原生代码不经过托管堆", "replace C# by native expressions where possible (SELECT, built-in aggregates): they don't touch the managed heap"))
    .pro(text!("GC 时间通常降到几个百分点", "collections usually fall to a few per cent"))
    .con(text!("需要改代码并做回归测试", "the code has to change and be tested"));
    let columns = Proposal::new(
        SuggestionKind::Rewrite,
        "fewer columns into managed operators, smaller groups",
        text!(
            "让托管算子的输入更小",
            "give the managed operator less to hold"
        ),
    )
    .step(text!(
        "在 REDUCE / PROCESS 之前去掉它不读的列，尤其是长字符串",
        "drop the columns that it does not read, above all long strings, before REDUCE or PROCESS"
    ))
    .step(text!(
        "先预聚合，使每个键的行数变少",
        "aggregate before, so that each key has fewer rows"
    ))
    .step(text!(
        "增加分区数，使每个顶点处理的键更少（对单个大键无效）",
        "use more partitions, so that each vertex has fewer keys (of no use for one big key)"
    ))
    .pro(text!("不改用户代码", "the code stays as it is"))
    .con(text!(
        "治标：分配方式不变时，数据增长后会复发",
        "treats the symptom: it comes back as the data grows"
    ));
    vec![
        case.finish(code),
        case.finish(columns),
        case.finish(more_partitions(case)),
    ]
}

/// Sorts or hash tables spill.
pub(super) fn spill(case: &Case<'_>) -> Vec<Suggested> {
    let rowset = case.rowset();
    let shrink = Proposal::new(
        SuggestionKind::Rewrite,
        "spill sort hash memory reduce rows columns before",
        text!(
            "在 {rowset} 之前减少要排序的行和列",
            "let fewer rows and columns come to the sort in {rowset}",
            rowset = rowset
        ),
    )
    .step(text!(
        "把过滤、投影、预聚合移到排序或哈希之前",
        "filter, project and aggregate before the sort or the hash table"
    ))
    .step(text!(
        "输入按所需键 SORTED 存储，或让一次排序同时满足 REDUCE 和输出的顺序，省掉排序",
        "store the input SORTED by the key, or let one sort serve both the REDUCE and the output"
    ))
    .pro(text!("排序可在内存中完成", "the sort stays in memory"))
    .con(text!(
        "需要确认下游不需要被去掉的数据",
        "make sure that nobody needs what is dropped"
    ));
    let estimate = Proposal::new(
        SuggestionKind::Hint,
        "ROWSIZE hint memory estimate spill",
        text!("修正行宽或行数的估计，让编译器多给内存", "correct the estimated row size or count, so that the compiler sets aside more memory"),
    )
    .step(text!("行比估计宽时加 `[ROWSIZE=字节数]`；行数估低时加 `[ROWCOUNT=行数]`（U-SQL：OPTION）", "`[ROWSIZE=bytes]` where rows are wider than expected, `[ROWCOUNT=rows]` where there are more (U-SQL: OPTION)"))
    .pro(text!("不改逻辑", "the logic stays as it is"))
    .con(text!("提示需随数据维护", "hints have to follow the data"));
    vec![
        case.finish(more_partitions(case)),
        case.finish(shrink),
        case.finish(estimate),
    ]
}

/// Vertices fail because the memory estimate is too small.
pub(super) fn memory_estimate(case: &Case<'_>) -> Vec<Suggested> {
    let class = case.class();
    let size = Proposal::new(
        SuggestionKind::Hint,
        "memory estimate too low ROWSIZE COLSIZE retry",
        text!("把真实的行宽告诉编译器，使首次运行就分到足够的内存", "tell the compiler how wide rows really are, so that the first attempt gets enough memory"),
    )
    .step(text!("从运行统计取平均行宽（bytes / rowCount），在产生宽行的语句上加 `[ROWSIZE=n]`（U-SQL：`OPTION(ROWSIZE=n)`）", "take the mean row size from the run-time statistics (bytes / rowCount) and put `[ROWSIZE=n]` on the statement that makes the wide rows (U-SQL: `OPTION(ROWSIZE=n)`)"))
    .step(text!("byte[]、长字符串列按真实大小声明 COLSIZE", "declare COLSIZE for byte[] and long string columns"))
    .rewrite(case.row_size_hint())
    .pro(text!("不再先失败再以更多内存重试", "no more failing first and retrying with more memory"))
    .con(text!("每个顶点占用更多内存，可能降低并行度", "vertices reserve more memory, fewer may run at once"));
    let less = Proposal::new(
        SuggestionKind::Rewrite,
        "less memory per vertex streaming user code",
        text!("让 {class} 占用更少的内存", "let {class} need less memory", class = class),
    )
    .step(text!("大的词典、模型文件按需加载或拆分；不要在静态字段中累积每行的数据", "load large dictionaries and models as needed or in parts; don't collect rows in static fields"))
    .step(text!("逐行处理而不是整组缓存", "go row by row rather than holding whole groups"))
    .pro(text!("对任何数据规模都有效", "works at any size"))
    .con(text!("需要改代码", "the code has to change"));
    vec![
        case.finish(size),
        case.finish(less),
        case.finish(more_partitions(case)),
    ]
}

/// Estimates that lead to a wrong plan.
pub(super) fn misestimate(case: &Case<'_>) -> Vec<Suggested> {
    let mut found = Vec::new();
    let actual = case.counted_rows().map(|rows| rows as u64);
    if let Some((script, statement, old)) = case.row_count_hint() {
        let rewrite = match actual {
            Some(rows) => hint::change(script, statement, old, |text| {
                hint::with_number(text, "ROWCOUNT", rows)
            }),
            None => hint::remove(script, statement, old),
        };
        let says = old.value.clone().unwrap_or_default();
        let is = actual.map_or_else(|| "?".to_owned(), |rows| rows.to_string());
        let proposal = Proposal::new(
            SuggestionKind::Hint,
            "wrong ROWCOUNT hint outdated",
            text!("改正过期的 ROWCOUNT 提示（写的是 {says}，实际约 {is}）", "correct the outdated ROWCOUNT hint (it gives {says}, there are about {is})"),
        )
        .step(text!("用实际行数替换；数据会继续增长时，删除提示让优化器自己估计", "put the true number there; if the data keeps growing, take the hint away and let the optimizer estimate"))
        .pro(text!("优化器按真实规模选择分区数和连接方式", "partitions and joins are chosen for the true size"))
        .con(text!("提示需要维护", "hints have to be kept up to date"))
        .rewrite(rewrite);
        found.extend(case.finish_checked(proposal));
    } else if let Some(rows) = actual {
        let rewrite = case
            .script
            .zip(case.statement)
            .and_then(|(script, statement)| {
                hint::add(script, statement, "ROWCOUNT", &format!("={rows}"))
            });
        let rowset = case.rowset();
        let proposal = Proposal::new(
            SuggestionKind::Hint,
            "ROWCOUNT hint cardinality estimate",
            text!(
                "给 {rowset} 加 ROWCOUNT={rows}，让计划按真实规模制定",
                "hint {rowset} with ROWCOUNT={rows}, so that the plan fits the true size",
                rowset = rowset
            ),
        )
        .step(text!(
            "重新编译并比较分区数与连接方式是否改变",
            "compile again, and see whether partitions and joins have changed"
        ))
        .pro(text!("只加一行，结果不变", "one line, same result"))
        .con(text!("数据规模变化后要更新", "has to follow the data"))
        .rewrite(rewrite);
        found.extend(case.finish_checked(proposal));
    }
    let statistics = Proposal::new(
        SuggestionKind::Parameter,
        "CREATE STATISTICS refresh statistics cardinality",
        text!("更新输入的统计信息", "refresh the statistics of the inputs"),
    )
    .step(text!("U-SQL 表：`CREATE STATISTICS IF NOT EXISTS s ON db.dbo.T(col) WITH FULLSCAN`，数据大变后重建（不会自动更新）", "U-SQL tables: `CREATE STATISTICS IF NOT EXISTS s ON db.dbo.T(col) WITH FULLSCAN`; create them again after large changes, they are not updated by themselves"))
    .step(text!("文本输入没有统计：改存为结构化流，或加 ROWCOUNT / ROWSIZE 提示", "text has no statistics: store it as a structured stream, or hint ROWCOUNT and ROWSIZE"))
    .pro(text!("所有使用该输入的作业都受益", "every job that reads them gains"))
    .con(text!("收集统计本身要扫描数据", "collecting them scans the data"));
    found.push(case.finish(statistics));
    found
}

/// A join that multiplies rows.
pub(super) fn join_explosion(case: &Case<'_>) -> Vec<Suggested> {
    let keys = case.keys().join(", ");
    let rowset = case.rowset();
    let unique = Proposal::new(
        SuggestionKind::Rewrite,
        "join explosion many-to-many deduplicate aggregate before join",
        text!("让 {rowset} 的至少一侧在键 {keys} 上唯一", "make the key {keys} unique on at least one side of {rowset}", rowset = rowset),
    )
    .step(text!("确认是否漏了连接条件（日期、版本、市场等），多对多往往是少写了一个键", "see whether a condition is missing (date, version, market): a many-to-many join often lacks one key"))
    .step(text!("连接前对右侧去重或聚合：`SELECT 键, MAX(…) … GROUP BY 键`，或用 ROW_NUMBER 只留最新一行", "deduplicate or aggregate the right side before: `SELECT key, MAX(…) … GROUP BY key`, or keep its latest row by ROW_NUMBER"))
    .step(text!("只检查是否存在时用 `LEFT SEMIJOIN`", "use `LEFT SEMIJOIN` where only existence matters"))
    .pro(text!("输出行数回到输入的规模", "the output is about as large as the input again"))
    .con(text!("去重规则要与业务确认", "what to keep of duplicates has to be agreed on"));
    let push = Proposal::new(
        SuggestionKind::Rewrite,
        "aggregate both sides before many-to-many join",
        text!("若必须多对多：先分别聚合，再连接", "if it must be many-to-many: aggregate both sides first, join then"),
    )
    .step(text!("结果只要总数时，用两侧计数的乘积代替展开：`SUM(a.Cnt * b.Cnt)`", "where only totals are wanted, multiply the counts rather than the rows: `SUM(a.Cnt * b.Cnt)`"))
    .step(text!("把连接之后的过滤条件尽量放进 ON", "put filters that follow the join into its ON"))
    .pro(text!("中间结果小几个数量级", "intermediate rows shrink by orders of magnitude"))
    .con(text!("只适用于可分解的聚合", "only for aggregates that can be taken apart"));
    vec![case.finish(unique), case.finish(push)]
}

/// User code dominates.
pub(super) fn cpu_bound(case: &Case<'_>) -> Vec<Suggested> {
    let class = case.class();
    let code = Proposal::new(
        SuggestionKind::Rewrite,
        "user code CPU bound UDO optimise regex native expression",
        text!("优化用户代码 {class}：时间在计算上，不在数据分布上", "make {class} faster: the time goes into computing, not into uneven data", class = class),
    )
    .step(text!("把正则、解析器、词典的构造移出逐行代码（静态只读字段，RegexOptions.Compiled）", "take the construction of regular expressions, parsers and dictionaries out of the row loop (static read-only fields, RegexOptions.Compiled)"))
    .step(text!("能用内置表达式的（子串、比较、哈希）改为原生，避免托管与原生之间的转换", "use built-in expressions for substrings, comparisons, hashes: no crossing between native and managed code"))
    .step(text!("缓存重复输入的结果（如相同的 URL、UserAgent）", "cache results for inputs that repeat (the same URL, the same user agent)"))
    .pro(text!("每行成本直接下降", "each row costs less"))
    .con(text!("需要改代码并做性能测试", "the code has to change and be measured"));
    let less = Proposal::new(
        SuggestionKind::Rewrite,
        "call user code on fewer rows filter deduplicate first",
        text!(
            "让用户代码处理更少的行",
            "call the user code for fewer rows"
        ),
    )
    .step(text!(
        "先用便宜的条件过滤，再调用昂贵的函数",
        "filter with cheap conditions first, call the costly function then"
    ))
    .step(text!(
        "对输入列先去重（GROUP BY），只对不同的值计算一次，再连接回去",
        "deduplicate its input (GROUP BY), compute once per distinct value, and join back"
    ))
    .pro(text!(
        "不改用户代码就能见效",
        "works without a change of the code"
    ))
    .con(text!(
        "重复少时没有收益",
        "no gain where values hardly repeat"
    ));
    let mut partitions = more_partitions(case);
    partitions.title = text!(
        "在有空闲令牌时增加该阶段的并行度",
        "use more vertices for the stage while tokens are free"
    );
    vec![
        case.finish(code),
        case.finish(less),
        case.finish(partitions),
    ]
}

impl Case<'_> {
    /// Class of the user code that the finding is about, for texts.
    fn class(&self) -> report::Text {
        let class = self
            .statement
            .and_then(|statement| statement.query.using_class.clone());
        match class {
            Some(name) => text!("`{name}`", "`{name}`"),
            None => text!("用户代码", "the user code"),
        }
    }

    /// Mean row size of the stage's largest input as a ROWSIZE hint.
    fn row_size_hint(&self) -> Option<Rewrite> {
        let (script, statement) = self.script.zip(self.statement)?;
        let stage = self.job.stage_index(self.finding.stage.as_deref()?)?;
        let inputs = self.job.edges.iter().filter(|edge| edge.to == stage);
        let sizes = inputs.filter_map(|edge| Some((edge.bytes_read?, edge.rows_read?)));
        let (bytes, rows) = sizes.max_by(|a, b| a.0.total_cmp(&b.0))?;
        let size = (bytes / rows).round();
        let known = rows > 0.0 && size >= 1.0;
        known.then(|| hint::add(script, statement, "ROWSIZE", &format!("={size}")))?
    }

    /// The ROWCOUNT hint of the finding's statement.
    fn row_count_hint(&self) -> Option<(&Script, &Statement, &Hint)> {
        let (script, statement) = self.script.zip(self.statement)?;
        let hint = statement
            .hints
            .iter()
            .find(|hint| hint.name == "ROWCOUNT")?;
        Some((script, statement, hint))
    }
}
