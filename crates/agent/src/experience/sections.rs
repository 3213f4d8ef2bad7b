//! The section of the knowledge base that each kind of suggestion needs. The search is the fallback for suggestions without one.

use indexer::{Chunk, Evidence, Hit, Match, section_id};
use report::{JobEngine, Language};

use super::Asker;
use super::dialect::names_others;

/// A section, and the beginning of the topics that lead to it.
struct Row {
    topic: &'static str,
    page: &'static str,
    zh: &'static str,
    en: &'static str,
}

macro_rules! sections {
    ($($topic:literal, $page:literal, $zh:literal, $en:literal;)*) => {
        /// Of equal topics, the first whose page is about the job's engine and dialect; of several, the longest. A topic may begin
        /// with the code of its cause.
        const SECTIONS: &[Row] = &[$(Row { topic: $topic, page: $page, zh: $zh, en: $en }),*];
    };
}

sections! {
    "slow machine straggler", "failure-slow-machine", "报告机器", "Report the machine";
    "straggler slow machine lock", "spark-unexplained-straggler", "调用在等待，或某个值特别费时", "A call that waits, or a value that takes long";
    "straggler slow machine lock", "unexplained-straggler", "给代码设上限", "Bound the code";
    "vertex retries", "failure-vertex-retries", "查清原因，先解决确定性失败", "Find the cause, deterministic ones first";
    "user code exception", "failure-user-code", "让表达式能容忍非法值", "Guard the expression";
    "user code exception", "spark-user-code-failure", "处理坏值", "Handle the bad value";
    "user code overflow", "numeric-types", "先放宽再相乘，除法用小数", "Widen before you multiply, divide as fractions";
    "ANSI cast", "spark-user-code-failure", "处理坏值", "Handle the bad value";
    "duplicate key MERGE", "spark-merge-rewrites", "攒一攒再合并，先整理源数据", "Collect changes, prepare the source";
    "Task not serializable", "spark-compile-errors", "发不出去的东西，在执行器上创建", "Create what can't be shipped on the executor";
    "python worker exited", "spark-python-memory", "给 Python 单独的内存", "Give Python its own memory";
    "python memory", "spark-python-memory", "给 Python 单独的内存", "Give Python its own memory";
    "dependency conflict", "spark-dependency-conflicts", "Spark 自带的不要打包", "Don't bundle what Spark brings";
    "assembly could not load", "assembly-conflicts", "依赖全部注册、全部引用", "Register and reference the whole closure";
    "output path already exists", "spark-backfill", "幂等，每一批提交一次", "Idempotent, one commit per chunk";
    "failure exception stack", "where-logs-are", "找到第一个原因", "Find the first cause";
    "job cancelled", "where-logs-are", "找到第一个原因", "Find the first cause";
    "AnalysisException", "spark-compile-errors", "让列名唯一", "Make names unique";
    "compile error syntax", "failure-compile", "先看报错的位置，再看它的前一行", "Take the position literally";
    "missing input path", "missing-input", "编译时就做决定", "Decide at compile time";
    "missing input path", "spark-missing-input", "尽早、明确地失败", "Fail early, and loudly";
    "missing input replaced", "spark-missing-input", "写入方不要抽走文件", "Writers that don't pull files away";
    "missing input replaced", "missing-input", "上游：路径不可变", "Producers: immutable paths";
    "corrupt file", "spark-missing-input", "文件损坏或被截断", "Damaged or truncated files";
    "corrupt file", "extract-bad-rows", "在源头", "At the source";
    "schema mismatch", "schema-drift", "该失败就失败", "Fail on purpose";
    "access denied", "access-denied", "申请什么", "What to ask for";
    "storage throttling", "spark-storage-throttling", "少发请求", "Send fewer requests";
    "storage throttling", "fails-now-and-then", "外部服务", "Service";
    "network connection refused", "fails-now-and-then", "外部服务", "Service";
    "concurrent writers", "spark-concurrent-writers", "同一时间只有一个写入者", "One writer at a time";
    "concurrent writers", "usql-concurrent-writes", "由调度保证只有一个写入者", "One writer, enforced by the scheduler";
    "system error", "fails-now-and-then", "整个作业的重试", "Retries of the whole job";
    "time limit exceeded", "failure-limit", "顶点超时", "Vertex time limit";
    "temporary data limit", "failure-limit", "临时数据超限", "Temporary data";
    "vertex memory", "gc-heap-pressure", "少存，少分配", "Keep less, allocate less";
    "limit exceeded setting", "failure-limit", "顶点超时", "Vertex time limit";
    "limit exceeded setting", "spark-limits", "少产生一些", "Produce less";
    "no space left", "failure-limit", "临时数据超限", "Temporary data";
    "no space left", "spark-local-disk-full", "在对的挂载点上加空间", "More room, on the right mount";
    "storage quota", "storage-growth", "急救：什么都写不进去", "First aid: nothing can be written";
    "row too big", "row-and-column-limits", "截断，并记下截了多少", "Cut, and count what was cut";
    "OutOfMemoryError Java heap", "spark-out-of-memory", "加大不够的那一部分", "Enlarge the part that ran out";
    "unable to acquire memory", "spark-out-of-memory", "让任务变小", "Make the task smaller";
    "driver OutOfMemoryError", "spark-out-of-memory", "驱动程序", "Driver";
    "direct buffer memory", "spark-out-of-memory", "加大不够的那一部分", "Enlarge the part that ran out";
    "YARN physical memory", "spark-out-of-memory", "加大不够的那一部分", "Enlarge the part that ran out";
    "YARN virtual memory", "spark-out-of-memory", "加大不够的那一部分", "Enlarge the part that ran out";
    "OOMKilled exit code", "spark-out-of-memory", "加大不够的那一部分", "Enlarge the part that ran out";
    "exit code 134", "spark-executor-lost", "先看为什么丢失", "Read why it was lost";
    "executor lost", "spark-executor-lost", "先看为什么丢失", "Read why it was lost";
    "preemption spot", "spark-executor-lost", "机器会被收回", "Machines that go away";
    "FetchFailedException", "spark-executor-lost", "洗牌文件放到外面", "Keep shuffle files outside";
    "spark.driver.maxResultSize", "spark-max-result-size", "数据行：别往回拿", "Rows: don't bring them";
    "kryo buffer", "spark-large-tasks-and-frames", "Kryo", "Kryo";
    "spark.rpc.message", "spark-large-tasks-and-frames", "本地数据：写成文件，或多切几片", "Local data: as a file, or in more slices";
    "unable to create native thread", "spark-udf-cost", "只初始化一次", "Set up once";
    "StackOverflowError", "spark-wide-plans", "循环里截断血缘", "Cut the lineage in loops";
    "broadcast timeout", "spark-broadcast-too-large", "缩小这一侧", "Make the side smaller";
    "cannot broadcast", "spark-broadcast-too-large", "去掉起因", "Remove the reason";
    "queue wait priority", "queue-wait", "换个时间，或换优先级", "Another time, or another priority";
    "queue wait tokens", "queue-wait", "按实际使用申请令牌", "Request what the job uses";
    "garbage collection heap", "gc-heap-pressure", "少存，少分配", "Keep less, allocate less";
    "fewer columns into managed", "shuffle-unused-columns", "交换之前先投影", "Project before the exchange";
    "spill sort hash", "memory-spill", "排序前去掉宽列", "Narrower rows";
    "smaller partitions", "memory-spill", "缩小分区（SCOPE）", "Smaller partitions (SCOPE)";
    "smaller partitions", "hints-usql", "顶点多一些或少一些", "More or fewer vertices";
    "less memory per vertex", "gc-heap-pressure", "少存，少分配", "Keep less, allocate less";
    "memory estimate too low", "memory-estimate-too-low", "写明实际行宽（SCOPE）", "Tell the compiler how wide the rows are (SCOPE)";
    "CREATE STATISTICS", "cardinality-misestimate", "删掉或更正提示（SCOPE）", "Remove or correct the hint (SCOPE)";
    "CREATE STATISTICS", "cardinality-misestimate", "建统计信息（U-SQL 表）", "Give the optimizer statistics (U-SQL)";
    "ROWCOUNT hint", "cardinality-misestimate", "删掉或更正提示（SCOPE）", "Remove or correct the hint (SCOPE)";
    "ROWCOUNT hint", "cardinality-misestimate", "在误差的源头更正（U-SQL）", "Put the hint where the error begins (U-SQL)";
    "join explosion", "join-explosion", "先让一侧的键唯一", "Make one side unique first";
    "user code CPU bound", "udo-cpu-bound", "正则只构造一次，开销小的判断放前面", "Make the code cheaper";
    "call user code on fewer", "udo-cpu-bound", "先过滤，再进用户代码", "Send fewer rows into the code";
    "repartition once reuse", "shuffle-redundant-repartition", "键只算一次", "Keep the key a column";
    "repartition once and", "shuffle-redundant-repartition", "一次分区，多次使用", "Group on the narrow key first, in one exchange";
    "PARTITION hint forces", "shuffle-redundant-repartition", "删掉要求另一个分区数的提示", "Remove the hint that asks for another count";
    "early projection", "shuffle-unused-columns", "交换之前先投影", "Project before the exchange";
    "early filter", "shuffle-late-filter", "移到输入端", "Move the filter to the input";
    "broadcast join hint", "shuffle-missed-broadcast", "在连接上写明广播", "Name the strategy in the join";
    "wrong ROWCOUNT", "shuffle-missed-broadcast", "或者纠正估计", "Or correct the estimate and let the optimizer decide";
    "top n two steps local top per key", "safe-salting", "聚合：两步归并", "Aggregate: merge twice";
    "top n two steps", "shuffle-serial-gather", "两步 TOP-N", "Top-n in two steps";
    "COUNT DISTINCT", "shuffle-serial-gather", "全局去重计数", "Distinct counts without a gather";
    "global sort", "shuffle-serial-gather", "去掉没人需要的顺序（SCOPE）", "Don't sort what nobody reads in order (SCOPE)";
    "global sort", "shuffle-serial-gather", "用表代替全局排序（U-SQL）", "A table instead of a global sort (U-SQL)";
    "serial REDUCE ALL", "skew-group-hot-key", "加盐后归并两次", "Salt, reduce, reduce again";
    "serial aggregate", "safe-salting", "聚合：两步归并", "Aggregate: merge twice";
    "unaligned input", "shuffle-unaligned-input", "让写入方按下游的键写（SCOPE）", "Store the input on the key its readers use";
    "unaligned input", "shuffle-unaligned-input", "U-SQL 表", "Store the input on the key its readers use";
    "stored partitions uneven", "skew-partition-layout", "由写表的一方修改（SCOPE）", "Write the table differently (SCOPE)";
    "stored partitions uneven", "skew-partition-layout", "U-SQL 表", "U-SQL tables";
    "PARTITION hint ROUNDROBIN", "skew-partition-layout", "表不归你管时", "In the reading job, if someone else owns the table";
    "SKEWFACTOR hint", "skew-group-hot-key", "告诉优化器", "Tell the optimizer";
    "SKEWJOIN hint", "skew-join-hot-key", "用 SKEWJOIN 提示（SCOPE）", "Ask the optimizer for a skew join (SCOPE)";
    "hot key split", "skew-join-hot-key", "热点拆分", "Split the hot key off";
    "salting join", "safe-salting", "连接：大表加盐，小表按盐复制", "Join: one copy per salt";
    "salting two-level", "safe-salting", "聚合：两步归并", "Aggregate: merge twice";
    "pre-aggregation partial", "skew-low-cardinality-key", "换更细的键，最后再合并", "Use a finer key";
    "recursive reducer", "skew-group-hot-key", "加盐后归并两次", "Salt, reduce, reduce again";
    "LOWDISTINCTNESS", "skew-low-cardinality-key", "提示", "Tell the optimizer";
    "null default key in an aggregation", "skew-null-default-key", "提前过滤", "In an aggregation";
    "null default key", "skew-null-default-key", "提前过滤", "Filter before the exchange";
    "parallelism too low", "parallelism-too-low", "让输入可拆分", "Make the input divisible";
    "hints limiting parallelism", "waiting-during-run", "先算加令牌划不划算", "Decide whether more tokens pay off";
    "PARTITION hint PARTITIONCOUNT", "parallelism-too-low", "显式给出分区数（SCOPE）", "Ask for more partitions (SCOPE)";
    "PARTITION hint PARTITIONCOUNT", "hints-usql", "顶点多一些或少一些", "More or fewer vertices";
    "more distributions", "parallelism-too-low", "增加表的分布数（U-SQL）", "Give the table more distributions (U-SQL)";
    "tiny vertices", "parallelism-tiny-vertices", "去掉 PARTITIONCOUNT 或调小（SCOPE）", "Remove the hint or scale it down (SCOPE)";
    "tiny vertices", "hints-usql", "顶点多一些或少一些", "More or fewer vertices";
    "tiny vertices stored", "parallelism-tiny-vertices", "合并小输入", "Merge small inputs";
    "merge small files", "io-small-files", "一次合并，多次读取", "Compact once, read many times";
    "small files InputFileGrouping", "io-small-files", "U-SQL：让一个顶点读多个文件", "Let a vertex read several files (U-SQL)";
    "spark AQE skew join", "spark-skew-join-hot-key", "让 AQE 拆分", "Let AQE split it";
    "spark salting", "spark-skew-join-hot-key", "给热点键加盐", "Salt the hot keys";
    "skew.null_or_default_key spark salting", "spark-skew-null-key", "只连接其余的行", "Join the others only";
    "spark two-phase", "spark-skew-group-hot-key", "分两级聚合", "Aggregate in two levels";
    "spark window skew", "spark-skew-group-hot-key", "窗口与整组处理：让每个键的行少一些", "Windows and whole groups: fewer rows per key";
    "spark file layout", "spark-skew-partition-layout", "写成可以切分的文件", "Write files that can be split";
    "spark broadcast join", "spark-missed-broadcast", "加提示", "Hint";
    "spark repartition", "spark-redundant-repartition", "删掉它", "Delete it";
    "spark window without", "spark-serial-gather", "给窗口加上分区", "Give the window a partition";
    "spark coalesce to one", "spark-serial-gather", "并行写出，外部合并", "Write in parallel, merge outside";
    "memory.spill spark executor memory", "spark-spill", "缩小分区，或给每个任务更多内存", "Smaller partitions, or more memory per task";
    "gc.heap_pressure spark executor memory", "spark-gc-pressure", "给每个任务更多堆内存", "More heap per task";
    "spark executor memory", "spark-out-of-memory", "加大不够的那一部分", "Enlarge the part that ran out";
    "spark late filter", "spark-late-filter", "把过滤移到数据交换之前", "Move the filter before the exchange";
    "spark nested loop", "spark-join-algorithms", "把 OR 拆成两个等值连接", "Split an OR into two equi-joins";
    "spark join explosion", "spark-join-explosion", "让一侧的键唯一", "Make one side unique";
    "spark python udf", "spark-udf-cost", "用内置函数", "Use built-in functions";
    "spark pandas udf", "spark-udf-cost", "成批传输", "Transfer in batches";
    "spark parallelism gzip", "spark-parallelism-too-low", "读取", "Reading";
    "spark parallelism coalesce", "spark-parallelism-too-low", "coalesce 换成 repartition", "coalesce → repartition";
    "spark parallelism shuffle", "spark-parallelism-too-low", "洗牌", "Shuffles";
    "spark locality wait", "spark-locality", "任务很短，或缓存集中在少数 Executor", "Short tasks, or cached data on few executors";
    "spark shuffle fetch wait", "spark-shuffle-fetch-wait", "块少一些、大一些", "Fewer, larger blocks";
    "spark partition pruning", "spark-scan-without-filter", "写上分区列", "Name the partition column";
    "spark structured streaming", "spark-growing-batches", "给状态设界限，只写变化的部分", "Bound the state, and write only what changed";
    "spark commit output", "spark-slow-commit", "少写文件、少写分区", "Fewer files and partitions";
    "spark costly expression regular", "spark-expensive-expressions", "换便宜的文本函数", "Cheaper text functions";
    "spark costly expression json", "spark-expensive-expressions", "只解析一次，只取需要的字段", "Parse once, with just the fields you need";
    "spark costly expression", "spark-expensive-expressions", "先物化再过滤", "Materialize before filtering";
    "spark shuffle partitions", "spark-tiny-tasks", "让 AQE 合并", "Let AQE merge them";
    "spark fewer partitions in code", "spark-tiny-tasks", "改小数字", "Smaller numbers";
    "spark fewer partitions of RDDs", "spark-tiny-tasks", "RDD 与机器学习：分区数是参数", "RDDs and ML: the number is an argument";
    "spark fewer partitions of state", "spark-streaming-batches", "状态分区数", "State partitions";
    "spark small files", "spark-small-files", "合并已有文件", "Compact what is there";
    "spark json schema", "spark-schema-inference", "直接给出模式", "Give a schema";
    "spark count isEmpty", "spark-driver-bottleneck", "数据留在集群里，循环不放在 Driver", "Keep the data in the cluster, and loops out of the driver";
    "spark driver collect", "spark-driver-bottleneck", "数据留在集群里，循环不放在 Driver", "Keep the data in the cluster, and loops out of the driver";
    "spark driver micro-batches", "spark-streaming-batches", "用 availableNow，加限制", "availableNow with a limit";
    "spark broadcast too large", "spark-broadcast-too-large", "去掉起因", "Remove the reason";
    "spark cache", "spark-cache-ineffective", "缓存多次使用的数据", "Cache what is used several times";
    "spark dynamic allocation", "spark-allocation-over", "让执行器可以释放", "Let executors go";
    "spark executor size", "spark-executor-sizing", "内存或核没有用满", "Memory or cores unused";
    "spark executors maxExecutors", "spark-allocation-under", "增加执行器", "More executors";
    "spark task failures", "spark-task-retries", "消除异常的根源", "Remove the cause of the exception";
    "spark slow executor", "spark-slow-executor", "推测执行", "Speculation";
    "spark wait for executors", "spark-queue-wait", "预先准备", "Start warm";
}

/// The section that a suggestion with this topic needs, followed by those that share its chunk; `None` if no page about the job's
/// engine and dialect has one.
pub(super) fn named(asker: &Asker<'_>, topic: &str) -> Option<Hit> {
    let words = topic.split_once(' ').map_or(topic, |(_, words)| words);
    let fits = |row: &&Row| topic.starts_with(row.topic) || words.starts_with(row.topic);
    let mut rows: Vec<&Row> = SECTIONS.iter().filter(fits).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.topic.len()));
    let mut sections = rows
        .iter()
        .filter_map(|row| asker.source.chunk(&row.id(asker.facts.language)));
    let serves = |section: &Chunk| {
        section.engine.serves(asker.engine()) && !is_of_other_dialect(section, asker.dialect())
    };
    let section = sections.find(serves)?;
    section.with_sections(serves).map(hit)
}

impl Row {
    fn id(&self, language: Language) -> String {
        let page = language.select("-zh.md", ".md");
        let headings = language.select(["修复", self.zh], ["Fix", self.en]);
        section_id(&format!("experience/{}{page}", self.page), &headings)
    }
}

/// A section that was named rather than found.
fn hit(section: Chunk) -> Hit {
    Hit {
        chunk: section.into(),
        fit: Match::Strong,
        evidence: Evidence::default(),
        rank: 1,
        score: f32::NAN,
        bm25_rank: None,
        bm25_score: None,
        vector_rank: None,
        vector_score: None,
        question_score: None,
        fused: 0.0,
        boost: 0.0,
        prior: 0.0,
        rerank_score: None,
    }
}

/// Whether a section is about a dialect other than the job's: its innermost heading or its title with a dialect names only others.
pub(super) fn is_of_other_dialect(section: &Chunk, engine: Option<JobEngine>) -> bool {
    let own = match engine {
        Some(own @ (JobEngine::Scope | JobEngine::Usql)) => own,
        _ => return false,
    };
    let mut headings = section.heading_path.iter().rev().chain([&section.title]);
    let named = headings.find(|h| h.contains("SCOPE") || h.contains("U-SQL"));
    named.is_some_and(|heading| names_others(heading, own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_section_is_in_the_knowledge_of_both_languages() {
        let index = testkit::knowledge::index();
        for language in [Language::Zh, Language::En] {
            let ids = SECTIONS.iter().map(|row| row.id(language));
            let lost: Vec<String> = ids.filter(|id| index.chunk(id).is_none()).collect();
            assert!(lost.is_empty(), "{lost:#?}");
        }
    }
}
