//! Suggestions about memory, estimates and user code.

use job::script::StatementKind;

use crate::case::Case;
use crate::proposal::{Gain, Proposal, advice};
use crate::vertices::{smaller_partitions, use_free_tokens};
use diagnosis::Suggested;
use diagnosis::measurements::spill::surplus_ms;
use report::format::{Bytes, Names, ROW};
use report::text;
use rewrite::{Rewrite, hint, projection};

pub(crate) fn heap_pressure(case: &Case<'_>) -> Vec<Suggested> {
    let code = advice! { Rewrite, Gain::Whole, "garbage collection heap pressure managed code allocation";
        title("减少 {class} 每行的对象分配，不要缓存整组的行", "allocate less per row in {class}, and don't keep whole groups of rows", class = case.class());
        step(match case.statement.is_some_and(|s| s.kind == StatementKind::Reduce) {
        true => text!("不要把一个键的所有行放进 List / Dictionary：用 PRESORT 让引擎排序，代码只保留滚动状态", "don't put all rows of a key into a list or dictionary: let the engine sort with PRESORT and keep a running state only"),
        false => text!("不要在字段中累积行；逐行处理并立即输出", "don't collect rows in fields; process and emit them one by one"),
    });
        step("复用缓冲区、StringBuilder 和输出行；把 Regex、编码器等放到静态只读字段", "reuse buffers, string builders and the output row; keep regular expressions, encoders and similar objects in static read-only fields");
        step("能写成 SELECT 或内置聚合的部分改为原生表达式，它们不经过托管堆", "write what you can as SELECT or built-in aggregates: they don't touch the managed heap");
        pro("从根源上减少垃圾回收", "collects less garbage because there is less");
        con("要改代码并做回归测试", "the code has to change and be tested");
    };
    let mut found: Vec<Suggested> = fewer_columns(case).into_iter().collect();
    found.push(case.finish(code));
    found.extend(use_free_tokens(case, 0.0));
    found
}

/// Drops unused columns from the input of user code, if the script shows them.
fn fewer_columns(case: &Case<'_>) -> Option<Suggested> {
    let (rewrite, dropped) = projection::drop_columns(case.script?, &|c| case.reads(c))?;
    let columns: Vec<String> = dropped.into_iter().flat_map(|d| d.columns).collect();
    let proposal = advice! { Rewrite, Gain::Unknown(text!("取决于这些列在堆上占多少", "it depends on how much of the heap these columns take")), "fewer columns into managed operators";
        title("不再把没有用到的列传给 {class}：{columns}", "stop passing unused columns to {class}: {columns}", class = case.class(), columns = Names(&columns));
        step("下面的修改从 SELECT 列表中去掉这些列；每个字符串列的每一行都是一个托管对象", "the change below removes them from the SELECT lists; every row of a string column is an object on the heap");
        pro("不改用户代码，输出列不变", "neither the code nor the output columns change");
        con("代码按位置访问列时要先确认", "check first whether the code accesses columns by position");
        rewrite(Some(rewrite));
    };
    case.finish_checked(proposal)
}

pub(crate) fn spill(case: &Case<'_>) -> Vec<Suggested> {
    let spilled = case.stage.map_or(0.0, |stage| {
        case.view.run_seconds(stage, surplus_ms(case.view, stage))
    });
    let shrink = advice! { Rewrite, Gain::Whole, "spill sort hash memory reduce rows columns before";
        title("在 {rowset} 之前减少要排序或放进哈希表的行和列", "reduce the rows and columns before the sort or hash table in {rowset}", rowset = case.rowset());
        step("把过滤、投影、预聚合移到它之前；宽列先换成主键，最后再连接回来", "filter, project and aggregate before it; carry a key instead of wide columns and join the columns back at the end");
        step("输入已按所需键 SORTED 存储时可以省掉排序", "an input that is stored SORTED by the key needs no sort");
        pro("对任何分区数都有效", "works for any number of partitions");
        con("要确认下游不需要被去掉的数据", "make sure that no reader needs the dropped data");
    };
    let mut found: Vec<Suggested> = row_size_hint(case, Gain::up_to_the_optimizer())
        .into_iter()
        .collect();
    found.extend(smaller_partitions(case, spilled));
    found.push(case.finish(shrink));
    found
}

/// Vertices fail because the memory estimate is too small.
pub(crate) fn memory_estimate(case: &Case<'_>) -> Vec<Suggested> {
    let mut found: Vec<Suggested> = row_size_hint(case, Gain::Whole).into_iter().collect();
    let less = advice! { Rewrite, Gain::Whole, "less memory per vertex streaming user code";
        title("让 {class} 占用更少的内存", "reduce the memory that {class} needs", class = case.class());
        step("大词典、模型文件按需加载，或改成广播连接；不要在静态字段中累积行", "load large dictionaries and models as needed, or turn them into a broadcast join; don't collect rows in static fields");
        step("逐行处理而不是缓存整组；先去掉它不读的列", "process row by row instead of holding whole groups; drop the columns it does not read first");
        pro("对任何数据规模都有效", "works at any size");
        con("要改代码并测试", "the code has to change and be tested");
    };
    if found.is_empty() {
        found.extend(smaller_partitions(case, 0.0));
    }
    found.push(case.finish(less));
    found
}

/// Mean row size of the stage's largest input as a ROWSIZE hint; SCOPE only, since U-SQL's
/// ROWSIZE is not publicly described.
fn row_size_hint(case: &Case<'_>, gain: Gain) -> Option<Suggested> {
    let (script, statement) = case.located().filter(|_| !case.usql())?;
    let sizes = case
        .edges()
        .filter_map(|edge| edge.bytes_read.zip(edge.rows_read));
    let (bytes, rows) = sizes
        .filter(|(_, rows)| *rows > 0.0)
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    let size = (bytes / rows).round();
    let made_by = statement.query.inputs.first()?.definition?;
    let made_by = script.statements.get(made_by)?;
    let proposal = advice! { Hint, gain, "memory estimate too low ROWSIZE COLSIZE spill retry";
        title("用 ROWSIZE 告诉编译器一行实际约 {size}", "tell the compiler with ROWSIZE that a row takes about {size}", size = Bytes(size));
        step("平均行宽取自本次运行：{bytes} / {rows}", "the mean width of this run: {bytes} / {rows}", bytes = Bytes(bytes), rows = ROW.count(rows));
        pro("只加一行，逻辑不变；内存预算按真实行宽制定", "one line, same logic; memory is set aside for rows as they are");
        con("每个顶点预留的内存增加，能同时运行的顶点可能变少；平均值不涵盖少数极宽的行", "vertices reserve more memory, so fewer may run at once; a mean does not cover a few huge rows");
        rewrite((size >= 1.0).then(|| hint::add(script, made_by, "ROWSIZE", &format!("={size}")))?);
    };
    case.finish_checked(proposal)
}

pub(crate) fn misestimate(case: &Case<'_>) -> Vec<Suggested> {
    if let Some(hint) = row_count_hint(case) {
        return vec![hint];
    }
    let proposal = advice! { Parameter, Gain::Whole, "CREATE STATISTICS refresh statistics cardinality";
        title("让优化器得到输入的真实统计", "give the optimizer true statistics of the inputs");
        [case.usql()] step("对表建统计：`CREATE STATISTICS … ON T (列) WITH FULLSCAN`；统计不会自动更新，数据大变后执行 `UPDATE STATISTICS`", "create statistics on tables: `CREATE STATISTICS … ON T (column) WITH FULLSCAN`; nothing updates them by itself: run `UPDATE STATISTICS` after large changes");
        [!case.usql()] step("文本输入没有统计：改存为结构化流；暂时不能改时，在读取语句上写 ROWCOUNT 和 ROWSIZE", "text has no statistics: store it as a structured stream; until then put ROWCOUNT and ROWSIZE on the statement that reads it");
        pro("所有使用该输入的作业都受益", "every job that reads them benefits");
        con("收集统计或改存储本身要扫描数据", "collecting statistics or rewriting the data requires a scan");
    };
    vec![case.finish(proposal)]
}

/// Corrects the ROWCOUNT hint of the statement, or adds one with the counted rows.
fn row_count_hint(case: &Case<'_>) -> Option<Suggested> {
    let (script, statement) = case.located()?;
    let actual = case.counted_rows();
    let old = statement.hints.iter().find(|hint| hint.name == "ROWCOUNT");
    let (title, rewrite): (_, Option<Rewrite>) = match (old, actual) {
        (Some(old), Some(rows)) => {
            let says = old
                .value
                .as_deref()?
                .parse()
                .map(|says| ROW.count(says))
                .ok()?;
            (
                text!(
                    "改正过期的 ROWCOUNT 提示：写的是 {says}，实际有 {rows}",
                    "correct the outdated ROWCOUNT hint: it says {says}, there are {rows}",
                    says = says,
                    rows = ROW.count(rows as f64)
                ),
                hint::change(script, statement, old, |text| {
                    hint::with_number(text, "ROWCOUNT", rows)
                }),
            )
        }
        (Some(old), None) => {
            let written = script.slice(&old.span).to_owned();
            (
                text!(
                    "删除过期的 `{written}`，让优化器自己估计",
                    "remove the outdated `{written}` and let the optimizer estimate"
                ),
                hint::remove(script, statement, old),
            )
        }
        (None, Some(rows)) => (
            text!(
                "给 {rowset} 加 ROWCOUNT={rows}，让计划按真实规模制定",
                "hint {rowset} with ROWCOUNT={rows}, so that the plan fits the true size",
                rowset = case.rowset(),
                rows = rows.to_string()
            ),
            hint::add(script, statement, "ROWCOUNT", &format!("={rows}")),
        ),
        (None, None) => return None,
    };
    let proposal = advice! { Hint, Gain::Whole, "ROWCOUNT hint cardinality estimate outdated";
        title(title);
        step("重新编译，比较分区数与连接方式是否改变；在注释中写明数字来自哪次运行", "compile again and see whether partitions and joins change; note in a comment which run the number is from");
        pro("只改一行，结果不变", "one line, same result");
        con("数据规模变化后要更新，否则又会误导优化器", "has to be kept up to date, or it misleads again");
        rewrite(rewrite);
    };
    case.finish_checked(proposal)
}

pub(crate) fn join_explosion(case: &Case<'_>) -> Vec<Suggested> {
    let keys = case.key_names();
    let unique = advice! { Rewrite, Gain::Whole, "join explosion many-to-many deduplicate aggregate before join";
        title("让 {rowset} 的至少一侧在键 {keys} 上唯一", "make the key {keys} unique on at least one side of {rowset}", rowset = case.rowset(), keys = keys);
        step("先查是否漏了连接条件（日期、版本、市场等）：多对多往往是少写了一个键", "first see whether a condition is missing (date, version, market): a many-to-many join often lacks one key");
        step("只检查是否存在时改用 `LEFT SEMIJOIN`", "use `LEFT SEMIJOIN` if only existence matters");
        step("否则连接前把一侧去重：按 {keys} 取 MAX，或用 ROW_NUMBER 只留最新一行", "otherwise deduplicate one side before: a MAX by {keys}, or its latest row by ROW_NUMBER", keys = keys);
        step("必须多对多而结果只要总数时，两侧先分别聚合，用计数的乘积代替展开：`SUM(a.Cnt * b.Cnt)`", "if it must be many-to-many and only totals are wanted, aggregate both sides first and multiply the counts: `SUM(a.Cnt * b.Cnt)`");
        pro("输出行数回到输入的规模", "the output is about as large as the input");
        con("会改变结果：去重规则要与业务确认", "changes the result: agree on which duplicates to keep");
    };
    vec![case.finish(unique)]
}

pub(crate) fn cpu_bound(case: &Case<'_>) -> Vec<Suggested> {
    let code = advice! { Rewrite, Gain::Whole, "user code CPU bound UDO optimize regex native expression";
        title("优化 {class}：时间花在计算上，不在数据分布上", "make {class} faster: the time goes into computing, not into uneven data", class = case.class());
        step("把 Regex、解析器、词典的构造移出逐行代码（静态只读字段，RegexOptions.Compiled）", "take the construction of regular expressions, parsers and dictionaries out of the row loop (static read-only fields, RegexOptions.Compiled)");
        step("先做便宜的判断；能用内置表达式的（子串、比较、哈希）不用 C#", "run cheap tests first; use built-in expressions for substrings, comparisons and hashes");
        pro("每行成本直接下降", "each row costs less");
        con("要改代码并测量", "the code has to change and be measured");
    };
    let less = advice! { Rewrite, Gain::Unknown(text!("取决于值重复多少次", "it depends on how often values repeat")), "call user code on fewer rows filter deduplicate first";
        title("让 {class} 处理更少的行", "call {class} for fewer rows", class = case.class());
        step("先用便宜的条件过滤；对它读的列先去重，每个不同的值只算一次，再连接回去", "filter with cheap conditions first; deduplicate the columns it reads, compute once per distinct value, and join back");
        pro("不改用户代码就能见效", "works without a change of the code");
        con("去重再连接多两次交换：每个值至少重复几次才合算", "two more exchanges: pays off only if values repeat several times");
    };
    let mut found: Vec<Suggested> = use_free_tokens(case, 0.0).into_iter().collect();
    found.extend([case.finish(code), case.finish(less)]);
    found
}
