//! The section that each kind of suggestion needs: a heading of a playbook, by a part of it in both languages. The search is the
//! fallback for suggestions without one.

use indexer::Chunk;
use report::JobEngine;

/// Beginning of a suggestion's topic, and part of a heading in Chinese and English; `|` separates alternatives.
const SECTIONS: [(&str, &str, &str); 79] = [
    ("slow machine straggler", "报告机器", "Report the machine"),
    (
        "user code exception",
        "能容忍非法值|处理坏值",
        "Guard the expression|Handle the bad value",
    ),
    (
        "compile error syntax",
        "先看报错的位置",
        "Take the position literally",
    ),
    (
        "queue wait priority",
        "错峰",
        "Move the job to another time",
    ),
    (
        "queue wait tokens",
        "按实际使用申请",
        "Request what the job uses",
    ),
    ("garbage collection heap", "减少对象分配", "Allocate once"),
    (
        "fewer columns into managed",
        "减少进入 C#",
        "Move work out of C#",
    ),
    ("spill sort hash memory", "去掉宽列", "Narrower rows"),
    ("smaller partitions", "缩小分区", "Smaller partitions"),
    (
        "less memory per vertex",
        "减少每个顶点",
        "Hold less in user code",
    ),
    (
        "memory estimate too low",
        "写明实际行宽",
        "Tell the compiler",
    ),
    (
        "CREATE STATISTICS",
        "建统计信息",
        "Give the optimizer statistics",
    ),
    (
        "ROWCOUNT hint",
        "删掉或更正提示",
        "Remove or correct the hint",
    ),
    ("join explosion", "让一侧的键唯一", "Make one side unique"),
    (
        "user code CPU bound",
        "正则只构造一次",
        "Make the code cheaper",
    ),
    ("call user code on fewer", "先过滤，再进", "Send fewer rows"),
    ("repartition once", "一次分区", "Group on the narrow key"),
    (
        "PARTITION hint forces",
        "另一个分区数的提示",
        "Remove the hint",
    ),
    (
        "early projection",
        "交换之前先投影",
        "Project before the exchange",
    ),
    ("early filter", "移到输入端", "Move the filter to the input"),
    ("broadcast join hint", "写明广播", "Name the strategy"),
    ("wrong ROWCOUNT", "纠正估计", "correct the estimate"),
    ("top n two steps", "两步 TOP-N", "Top-n in two steps"),
    (
        "COUNT DISTINCT two steps",
        "全局去重计数",
        "Distinct counts",
    ),
    ("global sort", "必须全局有序", "A total order"),
    (
        "unaligned input",
        "按下游的键写",
        "Store the input on the key",
    ),
    (
        "stored partitions uneven",
        "由写表的一方修改",
        "Write the table differently",
    ),
    (
        "PARTITION hint ROUNDROBIN",
        "表不归你管",
        "In the reading job",
    ),
    (
        "SKEWFACTOR hint skewed join",
        "SKEWJOIN",
        "Ask the optimizer",
    ),
    ("SKEWJOIN hint", "SKEWJOIN", "Ask the optimizer"),
    ("hot key split", "热点拆分", "Split the hot key off"),
    ("salting join", "加盐", "Salting"),
    ("salting two-level", "加盐后归并", "Salt, reduce"),
    (
        "pre-aggregation partial",
        "换更细的键|改成两步",
        "Use a finer key|Aggregate before the shuffle",
    ),
    (
        "recursive reducer",
        "代替归约器",
        "Make the reducer recursive",
    ),
    (
        "SKEWFACTOR hint skewed agg",
        "告诉优化器",
        "Tell the optimizer",
    ),
    ("LOWDISTINCTNESS", "提示", "Tell the optimizer"),
    ("null default key", "提前过滤", "Filter before the exchange"),
    ("vertex retries", "确定性失败", "Deterministic failures"),
    (
        "parallelism too low",
        "让输入可拆分",
        "Make the input divisible",
    ),
    (
        "tiny vertices",
        "去掉 PARTITIONCOUNT",
        "Remove the hint or scale",
    ),
    ("merge small files", "一次合并", "Compact once"),
    (
        "small files InputFileGrouping",
        "读多个文件",
        "Let a vertex read",
    ),
    (
        "PARTITION hint PARTITIONCOUNT",
        "显式给出分区数",
        "Ask for more partitions",
    ),
    ("time limit exceeded", "顶点超时", "Vertex time limit"),
    ("temporary data limit", "临时数据", "Temporary data"),
    ("access denied", "申请什么", "What to ask for"),
    ("storage throttling", "少发请求", "Send fewer requests"),
    ("kryo buffer", "Kryo", "Kryo"),
    ("spark.driver.maxResultSize", "别往回拿", "don't bring them"),
    ("YARN physical memory", "加大不够的", "Enlarge the part"),
    (
        "OutOfMemoryError Java heap",
        "加大不够的",
        "Enlarge the part",
    ),
    ("spark AQE skew join", "让 AQE 拆分", "Let AQE split"),
    ("spark salting hot key", "给热点键加盐", "Salt the hot keys"),
    ("spark two-phase", "分两级聚合", "Aggregate in two levels"),
    (
        "spark file layout",
        "可以切分的文件",
        "files that can be split",
    ),
    ("spark broadcast join", "加提示", "Hint"),
    ("spark repartition", "删掉它", "Delete it"),
    ("spark window", "给窗口加上分区", "Give the window"),
    (
        "spark executor memory",
        "给每个任务更多",
        "More memory per task|More heap per task",
    ),
    ("spark late filter", "移到数据交换之前", "Move the filter"),
    (
        "spark join explosion",
        "让一侧的键唯一",
        "Make one side unique",
    ),
    ("spark python udf", "用内置函数", "Use built-in"),
    ("spark costly expression", "只解析一次", "Parse once"),
    ("spark shuffle partitions", "让 AQE 合并", "Let AQE merge"),
    ("spark small files", "合并已有文件", "Compact what is there"),
    ("spark driver collect", "数据留在集群", "Keep the data"),
    ("spark broadcast too large", "去掉起因", "Remove the reason"),
    ("spark cache", "缓存多次使用", "Cache what is used"),
    ("spark dynamic allocation", "可以释放", "Let executors go"),
    ("spark task failures", "异常的根源", "Remove the cause"),
    (
        "spark wait for executors",
        "申请合适的大小",
        "Ask for what fits",
    ),
    (
        "no space left",
        "在对的挂载点上加空间",
        "More room, on the right mount",
    ),
    (
        "python memory",
        "给 Python 单独的内存",
        "Give Python its own memory",
    ),
    (
        "python worker exited",
        "给 Python 单独的内存",
        "Give Python its own memory",
    ),
    ("dependency conflict", "不要打包", "Don't bundle"),
    ("row too big", "截断，并记下", "Cut, and count"),
    (
        "concurrent writers",
        "只有一个写入者",
        "One writer at a time",
    ),
    ("OOMKilled exit code", "加大不够的", "Enlarge the part"),
];

/// Whether a chunk is the section that a suggestion with this topic needs; `None` if the topic names none.
pub(super) fn named(topic: &str) -> Option<impl Fn(&Chunk) -> bool> {
    // The code of the cause comes first.
    let (_, words) = topic.split_once(' ')?;
    let known = SECTIONS
        .iter()
        .filter(|(start, ..)| words.starts_with(start));
    let (_, zh, en) = known.max_by_key(|(start, ..)| start.len())?;
    Some(move |chunk: &Chunk| {
        let mut parts = chunk.language.select(zh, en).split('|');
        // Short sections share a chunk; its text has the headings of all.
        let inside = chunk
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("### "));
        let mut headings: Vec<&str> = inside.collect();
        headings.extend(chunk.heading_path.last().map(String::as_str));
        parts.any(|part| headings.iter().any(|heading| heading.contains(part)))
    })
}

/// Whether a chunk is about the dialect of another engine: U-SQL for a SCOPE job, and SCOPE for a U-SQL job.
pub(super) fn is_of_other_dialect(chunk: &Chunk, engine: Option<JobEngine>) -> bool {
    let headings = chunk.heading_path.iter().chain([&chunk.title]);
    let names = |dialect: &str| headings.clone().any(|heading| heading.contains(dialect));
    match engine {
        Some(JobEngine::Scope) => names("U-SQL") && !names("SCOPE"),
        Some(JobEngine::Usql) => names("SCOPE") && !names("U-SQL"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use report::Language;

    use super::*;

    #[test]
    fn every_named_section_is_in_the_knowledge_of_both_languages() {
        let pages = testkit::knowledge::root().join("knowledge/experience");
        let pages = std::fs::read_dir(pages).expect("the playbooks").flatten();
        let texts: Vec<(Language, String)> = pages
            .map(|page| {
                let is_zh = page.file_name().to_string_lossy().ends_with("-zh.md");
                let language = if is_zh { Language::Zh } else { Language::En };
                (
                    language,
                    std::fs::read_to_string(page.path()).expect("a page"),
                )
            })
            .collect();
        let headings = |language: Language| -> Vec<&str> {
            let own = texts.iter().filter(|(of, _)| *of == language);
            let lines = own.flat_map(|(_, text)| text.lines());
            lines.filter_map(|line| line.strip_prefix("### ")).collect()
        };
        for (language, at) in [(Language::Zh, 1), (Language::En, 2)] {
            let headings = headings(language);
            for (topic, zh, en) in SECTIONS {
                let parts = [topic, zh, en][at];
                let mut parts = parts.split('|');
                let is_known = |part: &str| headings.iter().any(|heading| heading.contains(part));
                assert!(parts.all(is_known), "{topic}: {zh} {en}");
            }
        }
    }
}
