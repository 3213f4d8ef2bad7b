//! Suggestions about the number of vertices and files.

use job::script::{HintForm, Script, Statement, StatementKind};

use crate::case::Case;
use crate::proposal::{Gain, Proposal, advice};
use diagnosis::Suggested;
use diagnosis::impact::regroup;
use diagnosis::measurements::sizing::{fitting_vertices, merged_vertices};
use report::format::{FILE, PARTITION, TOKEN, VERTEX};
use report::{Text, text};
use rewrite::{Rewrite, hint};

pub(crate) fn parallelism_too_low(case: &Case<'_>) -> Vec<Suggested> {
    let fitting = case
        .stage
        .and_then(|stage| fitting_vertices(case.view, stage));
    let proposal = match (
        case.evidence_text("compressed"),
        case.free_tokens(),
        fitting,
    ) {
        (Some(kind), _, _) => divisible_input(case, kind),
        (None, Some(_), Some(count)) => more_partitions(case, count as u64, Gain::Whole),
        _ => look_for_limits(case),
    };
    vec![case.finish(proposal)]
}

advice! {
    /// An input of files that can't be split, so each file needs one vertex.
    fn divisible_input(case: &Case<'_>, kind: &str) = Layout, Gain::Whole, "parallelism too low gzip single file input partitions";
    title("把 {place} 的输入存成可以并行读取的多个部分", "store the input of {place} in parts that can be read in parallel", place = case.place());
    step("每个 {kind} 文件只能由一个顶点读取：让写出方改写成多个约 500 MB 的文件，或不压缩的结构化存储", "one {kind} file is read by one vertex: have the writer produce several files of about 500 MB, or uncompressed structured data");
    pro("所有读取者都能并行读取", "every reader can read in parallel");
    con("需要改上游，下一次写出后才生效", "the writer has to change; it takes effect with its next run");
}

advice! {
    /// Advice if free tokens are uncertain.
    fn look_for_limits(case: &Case<'_>) = Investigate, Gain::none_by_itself(), "hints limiting parallelism MAXDOP PARTITIONCOUNT tokens";
    title("先确认 {place} 运行时是否有空闲令牌，再决定是否增加分区", "find out whether tokens were free while {place} ran before using more partitions", place = case.place());
    step("令牌（AU）多于该阶段的顶点数时，增加分区才有用；否则更多的顶点只会排队", "more partitions help only if there are more tokens (AUs) than the stage has vertices; otherwise they just queue");
    step("查看脚本中限制顶点数的提示，以及上游继承下来的分区数", "look for hints that limit the vertices, and for a partition count inherited from the stage before");
    pro("避免无效的改动", "avoids a change without effect");
    con("需要作业的令牌数或 `JobInfo.xml`", "needs the number of tokens or `JobInfo.xml`");
}

pub(crate) fn tiny_vertices(case: &Case<'_>) -> Vec<Suggested> {
    let count = case
        .stage
        .and_then(|stage| merged_vertices(case.view, stage));
    let written = case.partition_hints().next();
    let target = match count {
        Some(count) => text!("，约 {count} 个即可", " to about {count}"),
        None => Text::default(),
    };
    let old = written.map_or("", |(_, hint)| {
        case.script.map_or("", |s| s.slice(&hint.span))
    });
    let rewrite = count.and_then(|count| case.partition_hint(count as u64));
    let mut proposal = advice! { Hint, Gain::Whole, "tiny vertices too many partitions PARTITIONCOUNT start-up";
        title("降低 {rowset} 的分区数{target}", "lower the partitions of {rowset}{target}", rowset = case.rowset(), target = target);
        [!old.is_empty()] step("调低 `{old}`，或删除它让优化器决定", "lower `{old}`, or remove it and let the optimizer decide");
        [old.is_empty() && !case.usql()] step("在产生这些分区的语句上加 `[PARTITION=(PARTITIONCOUNT=n)]`", "put `[PARTITION=(PARTITIONCOUNT=n)]` on the statement that makes the partitions");
        [old.is_empty() && case.usql()] step("用 `OPTION(ROWCOUNT=n)` 写出真实行数；U-SQL 没有直接设置分区数的提示", "state the true number of rows with `OPTION(ROWCOUNT=n)`; U-SQL has no hint that sets the partitions");
        step("检查上游的行数是否被高估（ROWCOUNT 提示、过期的统计信息）", "check whether the rows upstream are overestimated (a ROWCOUNT hint, old statistics)");
        pro("启动和调度的开销下降", "less time goes into start-up and scheduling");
        con("分区过大时可能落盘", "partitions that are too large may spill");
        rewrite(rewrite);
    };
    if case.edges().next().is_none() {
        proposal.topic = "tiny vertices stored partitions";
    }
    vec![case.finish(proposal)]
}

pub(crate) fn small_files(case: &Case<'_>) -> Vec<Suggested> {
    let files = case
        .job
        .tables
        .iter()
        .filter_map(|table| table.file_count)
        .max();
    let title = match files {
        Some(count) => text!(
            "在上游把 {files}合并成 256 MB–1 GB 的文件",
            "merge the {files} upstream into files of 256 MB to 1 GB",
            files = FILE.count(count as f64)
        ),
        None => text!(
            "在上游把小文件合并成 256 MB–1 GB 的文件",
            "merge the small files upstream into files of 256 MB to 1 GB"
        ),
    };
    let merge = advice! { Layout, Gain::Whole, "merge small files compaction upstream";
        title(title);
        step("让采集端按大小或按小时滚动文件", "have the collector roll its files by size or by the hour");
        step(match case.usql() {
            true => text!("或由一个每日作业合并后写入表；表中碎片用 `ALTER TABLE … REBUILD` 合并", "or have a daily job load them into a table; `ALTER TABLE … REBUILD` merges the pieces of a table"),
            false => text!("或由一个每日作业合并后写成结构化流，其他作业都读它", "or have a daily job write them as one structured stream for all other jobs"),
        });
        pro("所有读取者都受益", "every reader benefits");
        con("多一个合并步骤，数据稍晚可见", "one more step; the data is visible a little later");
    };
    let grouping = advice! { Parameter, Gain::Whole, "small files InputFileGrouping one vertex per file";
        title("让一个顶点读取多个小文件", "let one vertex read several small files");
        step("在脚本开头加 `SET @@FeaturePreviews = \"InputFileGrouping:on\";`：默认每个文件一个顶点", "put `SET @@FeaturePreviews = \"InputFileGrouping:on\";` at the top of the script: by default every file gets a vertex");
        pro("数据和写出方都不用改", "neither the data nor its writer has to change");
        con("这是预览特性，行为随运行时版本而异；列出大量文件的编译开销不变", "a preview feature that varies by runtime version; listing the many files at compile time still costs the same");
        rewrite(case.script.and_then(group_input_files));
    };
    let first = case.usql().then(|| case.finish(grouping));
    first.into_iter().chain([case.finish(merge)]).collect()
}

fn group_input_files(script: &Script) -> Option<Rewrite> {
    if script.text.contains("InputFileGrouping") {
        return None;
    }
    let first = script.statements.iter().find(|s| s.makes_rowset())?;
    let mut rewrite = Rewrite::default();
    let line = "SET @@FeaturePreviews = \"InputFileGrouping:on\";";
    rewrite.line_before(script, first.index, line);
    Some(rewrite)
}

/// More vertices for a stage that is slow for another reason, while tokens are free: one per
/// token, with `surplus_s` of work gone.
pub(crate) fn use_free_tokens(case: &Case<'_>, surplus_s: f64) -> Option<Suggested> {
    case.free_tokens()?;
    let tokens = case.job.info.tokens?;
    let uneven = case.view.is_uneven(case.stage?);
    let saved = case.saved_by(move |stage| regroup(stage, tokens as usize, surplus_s));
    let more = more_partitions(case, u64::from(tokens), Gain::Own(Some(saved?)));
    case.finish_worthwhile(more).filter(|_| !uneven)
}

/// Smaller partitions, which need less memory each.
pub(crate) fn smaller_partitions(case: &Case<'_>, surplus_s: f64) -> Option<Suggested> {
    let stage = case.stage.filter(|stage| !case.view.is_uneven(*stage))?;
    let now = case.view.vertices(stage)?;
    let count = (fitting_vertices(case.view, stage)? as u64).max(now * 2);
    let saved = case.saved_by(move |stage| regroup(stage, count as usize, surplus_s));
    let mut proposal = more_partitions(case, count, Gain::Own(saved));
    if proposal.topic != STORED {
        proposal.topic = "smaller partitions PARTITIONCOUNT memory spill";
    }
    proposal.title = text!(
        "把 {rowset} 分成更小的分区：{count} 个，现在是 {now} 个",
        "use smaller partitions in {rowset}: {count} rather than {now}",
        rowset = case.rowset(),
    );
    proposal.pros = vec![text!(
        "每个顶点的数据更少，能放进内存",
        "each vertex holds less, which fits into memory"
    )];
    case.finish_worthwhile(proposal)
}

/// Topic of partitions that only the writer of a U-SQL table can change.
const STORED: &str = "more distributions stored table INTO";

/// Another number of partitions, by the existing hint or by a new one.
fn more_partitions(case: &Case<'_>, count: u64, gain: Gain) -> Proposal {
    let now = case
        .stage
        .and_then(|stage| case.view.vertices(stage))
        .unwrap_or(1);
    let tokens = match case.job.info.tokens {
        Some(tokens) => text!(
            "（作业有 {tokens}）",
            " (the job has {tokens})",
            tokens = TOKEN.count(f64::from(tokens))
        ),
        None => Text::default(),
    };
    let stored = case.edges().next().is_none();
    let rows: f64 = case.edges().filter_map(|edge| edge.rows_read).sum();
    let rows = if rows > 0.0 {
        format!("{rows:.0}")
    } else {
        "n".to_owned()
    };
    let mut proposal = advice! { Hint, gain, "PARTITION hint PARTITIONCOUNT more partitions parallelism";
        title("给 {rowset} {count}，现在只有 {now}{tokens}", "give {rowset} {count}; it has {now} now{tokens}", rowset = case.rowset(), count = PARTITION.count(count as f64), now = VERTEX.count(now as f64), tokens = tokens);
        [case.usql() && stored] step("加大输入表的分布数：`DISTRIBUTED BY … INTO {count}`", "use more distributions in the input table: `DISTRIBUTED BY … INTO {count}`");
        [case.usql() && !stored] step("用 `OPTION(ROWCOUNT={rows})` 写出输入的真实行数，让优化器选择更多分区", "state the true rows of its input with `OPTION(ROWCOUNT={rows})`, so that the optimizer chooses more partitions");
        [case.usql()] con("U-SQL 没有直接设置分区数的提示，是否生效要看执行计划", "U-SQL has no hint that sets the number; check the plan");
        [!case.usql()] step("在分区所在的语句上设置 PARTITIONCOUNT={count}，下次运行核对该阶段的顶点数", "set PARTITIONCOUNT={count} where the rows are partitioned, and check the vertices of the stage in the next run");
        [!case.usql()] con("数字固定在脚本里，数据量变化后要调整；不写 REQUIRED=true 时优化器可能忽略它", "the number is fixed in the script and has to be adapted to the data; without REQUIRED=true the optimizer may ignore it");
        pro("逻辑和结果不变", "same logic, same result");
        con("对单个热点键没有作用", "does not help against a single hot key");
        rewrite(case.partition_hint(count));
    };
    if case.usql() && stored {
        proposal.topic = STORED;
    }
    proposal
}

impl<'a> Case<'a> {
    /// Tokens that the finding's stage leaves unused; `None` if there are none, or if unknown.
    pub(crate) fn free_tokens(&self) -> Option<u64> {
        let tokens = u64::from(self.job.info.tokens?);
        let vertices = self.view.vertices(self.stage?)?;
        tokens.checked_sub(vertices).filter(|free| *free > 0)
    }

    /// The hints that set the partitions of the statement, or of inputs without other readers.
    fn partition_hints(&self) -> impl Iterator<Item = (&'a Statement, &'a job::script::Hint)> {
        let inputs = self.statement.into_iter().flat_map(|s| &s.query.inputs);
        let before = inputs.filter_map(|input| self.sole_definition(input));
        let all = self.statement.into_iter().chain(before.collect::<Vec<_>>());
        all.flat_map(|s| s.hints.iter().map(move |hint| (s, hint)))
            .filter(|(_, h)| h.name == "PARTITION" && h.form == HintForm::Attribute)
    }

    /// Sets the number of partitions (SCOPE only): in the existing hints; else by a new hint
    /// on the grouped or processed rowset, or on the join itself.
    fn partition_hint(&self, count: u64) -> Option<Rewrite> {
        let (script, statement) = self.located().filter(|_| !self.usql())?;
        let number = |text: &str| hint::with_number(text, "PARTITIONCOUNT", count);
        if let Some((of, old)) = self.partition_hints().next() {
            return hint::change(script, of, old, number);
        }
        let input = statement.query.inputs.first();
        let before = input.and_then(|input| self.sole_definition(input));
        let before = before.filter(|s| s.kind == StatementKind::Select);
        let user_code = matches!(
            statement.kind,
            StatementKind::Reduce | StatementKind::Process
        );
        match (before.filter(|_| user_code), self.keys()) {
            (Some(before), keys) if keys.is_empty() => {
                let rest = format!(
                    "=(PARTITIONFUNCTION=ROUNDROBIN, PARTITIONCOUNT={count}, REQUIRED=true)"
                );
                hint::add(script, before, "PARTITION", &rest)
            }
            (Some(before), keys) => {
                let keys = keys.join(", ");
                let rest = format!(
                    "({keys})=(PARTITIONFUNCTION=HASH, PARTITIONCOUNT={count}, REQUIRED=true)"
                );
                hint::add(script, before, "PARTITION", &rest)
            }
            (None, _) => hint::add(
                script,
                statement,
                "PARTITION",
                &format!("=(PARTITIONCOUNT={count})"),
            ),
        }
    }
}
