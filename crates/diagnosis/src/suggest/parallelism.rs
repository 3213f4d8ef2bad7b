//! Suggestions about the number of vertices and files.

use job::script::{Dialect, Script};

use super::case::{Case, Proposal};
use crate::Suggested;
use crate::rewrite::{Rewrite, hint};
use report::{SuggestionKind, text};

/// A heavy stage on few vertices.
pub(super) fn parallelism_too_low(case: &Case<'_>) -> Vec<Suggested> {
    let mut found = vec![case.finish(more_partitions(case))];
    let inputs = Proposal::new(
        SuggestionKind::Layout,
        "parallelism too low gzip single file input partitions",
        text!("让输入可以由更多顶点读取", "let more vertices read the input"),
    )
    .step(text!("一个 .gz 文件只能由一个顶点读取：拆成多个约 1 GB 的文件，或存为结构化流", "one .gz file is read by one vertex: store several files of about 1 GB, or a structured stream"))
    .step(text!("写出方把 `INTO n` 调大，使每个分区约 0.5–1 GB", "have the writer use a larger `INTO n`, 0.5 to 1 GB a partition"))
    .pro(text!("读取阶段随令牌数扩展", "reading scales with the tokens"))
    .con(text!("需要改上游", "the writer has to change"));
    found.push(case.finish(inputs));
    let hints = Proposal::new(
        SuggestionKind::Investigate,
        "hints limiting parallelism MAXDOP PARTITIONCOUNT tokens",
        text!("检查限制并行度的提示与参数", "look for hints and parameters that limit the vertices"),
    )
    .step(text!("脚本中过小的 PARTITIONCOUNT / MAXDOP、过小的 ROWCOUNT 提示会减少分区数", "a PARTITIONCOUNT, MAXDOP or ROWCOUNT hint that is too small lowers the number of partitions"))
    .step(text!("提交时的令牌数（AU）是否低于该阶段的顶点数", "were fewer tokens (AUs) asked for than the stage has vertices"))
    .pro(text!("改动小", "a small change"))
    .con(text!("令牌增加会提高费用", "more tokens cost more"));
    found.push(case.finish(hints));
    found
}

/// Very many short vertices.
pub(super) fn tiny_vertices(case: &Case<'_>) -> Vec<Suggested> {
    let mut proposal = more_partitions(case);
    let count = case.partitions();
    let named = count.map_or_else(String::new, |count| format!("（约 {count} 个）"));
    let named_en = count.map_or_else(String::new, |count| format!(" (about {count})"));
    proposal.topic = "tiny vertices too many partitions PARTITIONCOUNT start-up";
    proposal.title = text!(
        "减少分区数{named}，让每个顶点至少有几十秒的工作",
        "use fewer partitions{named_en}, so that each vertex has work for tens of seconds"
    );
    proposal.steps = vec![
        text!(
            "调小或删除 PARTITIONCOUNT 提示；每个分区约 256 MB–1 GB",
            "lower the PARTITIONCOUNT hint or take it away; 256 MB to 1 GB a partition"
        ),
        text!(
            "检查上游估计的行数是否过大（ROWCOUNT 提示、过期统计）",
            "see whether the rows are estimated too high (ROWCOUNT hints, old statistics)"
        ),
    ];
    proposal.pros = vec![text!("启动和调度开销下降", "less start-up and scheduling")];
    proposal.cons = vec![text!(
        "分区过大时可能溢出到磁盘",
        "partitions that are too large may spill"
    )];
    let merge = Proposal::new(
        SuggestionKind::Rewrite,
        "merge small steps fewer stages",
        text!(
            "合并小步骤，减少阶段",
            "merge small steps into fewer stages"
        ),
    )
    .step(text!(
        "把连续的小聚合写成一次 GROUP BY，或让它们共用一次读取",
        "write small aggregations as one GROUP BY, or let them share one read"
    ))
    .pro(text!("阶段更少，等待更少", "fewer stages, less waiting"))
    .con(text!("脚本结构需要调整", "the script has to be rearranged"));
    vec![case.finish(proposal), case.finish(merge)]
}

/// Very many small files.
pub(super) fn small_files(case: &Case<'_>) -> Vec<Suggested> {
    let mut found = Vec::new();
    let usql = case.script.filter(|script| script.dialect == Dialect::USql);
    let rewrite = usql.and_then(group_input_files);
    let grouping = Proposal::new(
        SuggestionKind::Parameter,
        "small files InputFileGrouping one vertex per file",
        text!("让一个顶点读取多个小文件", "let one vertex read several small files"),
    )
    .step(text!("U-SQL：在脚本开头加 `SET @@FeaturePreviews = \"InputFileGrouping:on\";`（默认一个文件一个顶点）", "U-SQL: `SET @@FeaturePreviews = \"InputFileGrouping:on\";` at the top of the script (the default is one vertex a file)"))
    .step(text!("SCOPE：用结构化流或 streamset 读取合并后的数据，而不是成千上万个文本文件", "SCOPE: read structured streams, or a streamset over merged data, rather than thousands of text files"))
    .pro(text!("不需要改数据", "the data stays as it is"))
    .con(text!("预览特性；单个大文件不受影响", "a preview feature; large files are not affected"))
    .rewrite(rewrite);
    found.push(case.finish(grouping));
    let merge = Proposal::new(
        SuggestionKind::Layout,
        "merge small files compaction upstream",
        text!("在上游把小文件合并成 256 MB–1 GB 的文件", "merge small files into ones of 256 MB to 1 GB upstream"),
    )
    .step(text!("采集端按小时或按大小滚动文件；或用一个每日作业合并后写成 SSTREAM", "have the collector roll files by the hour or by size, or merge them in a daily job into an SSTREAM"))
    .pro(text!("所有读取者都受益，元数据开销也减少", "every reader benefits, and there is less metadata"))
    .con(text!("多一个合并步骤，数据可见时间稍晚", "one more step; data is visible a little later"));
    found.push(case.finish(merge));
    found
}

fn group_input_files(script: &Script) -> Option<Rewrite> {
    let set = script.text.contains("InputFileGrouping");
    let first = script
        .statements
        .iter()
        .find(|statement| statement.makes_rowset())?;
    if set {
        return None;
    }
    let mut rewrite = Rewrite::default();
    let line = "SET @@FeaturePreviews = \"InputFileGrouping:on\";";
    rewrite.line_before(script, first.index, line);
    Some(rewrite)
}

/// Another number of partitions, by the hint that is there or by a new one.
pub(super) fn more_partitions(case: &Case<'_>) -> Proposal {
    let count = case.partitions();
    let named = count.map_or_else(String::new, |count| format!("（约 {count} 个）"));
    let named_en = count.map_or_else(String::new, |count| format!(" (about {count})"));
    let rowset = case.rowset();
    Proposal::new(
        SuggestionKind::Hint,
        "PARTITION hint PARTITIONCOUNT more partitions parallelism",
        text!("给 {rowset} 更多分区{named}", "give {rowset} more partitions{named_en}", rowset = rowset),
    )
    .step(text!("SCOPE：`[PARTITION=(PARTITIONCOUNT=n)]`，n ≈ 阶段读取的字节数 / 256 MB；不加 REQUIRED=true 时优化器可能忽略", "SCOPE: `[PARTITION=(PARTITIONCOUNT=n)]`, n about the bytes that the stage reads / 256 MB; without REQUIRED=true the optimizer may ignore it"))
    .step(text!("U-SQL：加大表的分布数，或用 ROWCOUNT 提示让优化器选择更多分区", "U-SQL: more buckets in the table's distribution, or a ROWCOUNT hint that makes the optimizer choose more partitions"))
    .pro(text!("每个顶点的数据变少，内存和时间都下降", "less data, memory and time for each vertex"))
    .con(text!("分区过多会产生大量短小的顶点；对单个热点键无效", "too many make tiny vertices; of no use against one hot key"))
    .rewrite(count.and_then(|count| case.partition_count(count)))
}

impl Case<'_> {
    /// Sets the number of partitions of the finding's statement (SCOPE).
    fn partition_count(&self, count: u64) -> Option<Rewrite> {
        let (script, statement) = self.script.zip(self.statement)?;
        if script.dialect != Dialect::Scope {
            return None;
        }
        let old = statement.hints.iter().find(|hint| hint.name == "PARTITION");
        match old {
            Some(old) => hint::change(script, statement, old, |text| {
                hint::with_number(text, "PARTITIONCOUNT", count)
            }),
            None => {
                let rest = format!("=(PARTITIONCOUNT={count})");
                hint::add(script, statement, "PARTITION", &rest)
            }
        }
    }
}
