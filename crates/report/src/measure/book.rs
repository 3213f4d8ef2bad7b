//! The measures. An id is unique among the measures of an entity.

use super::Better::{Less, More, Neither};
use super::Entity::{Column, Exchange, Execution, Executor, Input, Job, Operator, Stage};
use super::Unit::{
    Bytes, Count, Files, Ms, Partitions, Ratio, Rows, Seconds, Share, Tokens, Vertices,
};
use super::{Better, Entity, Measure, Unit};
use crate::StaticText;

macro_rules! measures {
    ($($(#[$doc:meta])* $name:ident = $entity:ident $id:literal $unit:ident $better:ident
        title $title:tt says $sentence:tt asked $words:tt;)*) => {
        $($(#[$doc])*
        pub static $name: Measure = measure(
            ($id, $entity, $unit, $better), $title, $sentence, $words);)*

        /// Every measure, in the order of the views.
        pub static ALL: &[&Measure] = &[$(&$name),*];
    };
}

type Words = (&'static str, &'static str);

const fn measure(
    (id, entity, unit, better): (&'static str, Entity, Unit, Better),
    title: Words,
    sentence: Words,
    words: Words,
) -> Measure {
    Measure {
        id,
        entity,
        unit,
        better,
        title: both(title),
        sentence: both(sentence),
        words: both(words),
    }
}

const fn both((zh, en): Words) -> StaticText {
    StaticText { zh, en }
}

/// The measures of an entity, in the order of the views.
pub fn of(entity: Entity) -> impl Iterator<Item = &'static Measure> {
    ALL.iter().copied().filter(move |m| m.entity == entity)
}

/// Words of questions about an amount of rows, and of bytes.
const ROWS: Words = (
    "多少行|行数|几行数据|多少条|多少数据|数据量|多少记录",
    "how many rows|rows|row count|number of rows|records|how much data",
);
const BYTES: Words = (
    "多少字节|字节|多少数据|数据量|多大|大小|多少 gb|多少gb|多少 gib|多少 mb|多少 tb",
    "bytes|how big|how large|size|how much data|gigabytes|how many gib|how many gb|how many mb|volume|mb|gb|gib|mib",
);
/// Words of questions about an even spread.
const SPREAD: Words = (
    "均匀|倾斜|不均|分布|平衡|最大的顶点|最大的 task|最大的任务|差多少|差别大|差距",
    "even|evenly|uneven*|skew*|balanced|imbalance*|spread|largest vertex|largest task|biggest task|max over mean",
);
const LONGEST: Words = (
    "均匀|倾斜|不均|分布|平衡",
    "even|evenly|uneven*|skew*|balanced|imbalance*|spread|max over mean",
);
const WAITS: Words = (
    "排队|队列等待|队列里|等待资源|等资源|等待令牌|等机器|启动时间|启动开销|启动|等了|等那么|等这么|等多久|等多长|等待|才开始|这么晚开始|开始得",
    "queue*|queuing|wait*|capacity|start-up|startup|starting|start so late|started so late|start late|started late|before it started",
);
const LOST: Words = (
    "重试|重跑|尝试|失败了几|失败了多少|几个失败|多少失败|多少个失败|失败次数|任务失败|task 失败|顶点失败|vertex 失败|失败的 task|失败的 vertex|\
     失败的顶点|失败的任务|被收回|被取消|撤销",
    "retr*|rerun*|re-run*|reran|attempt*|failed vert*|failed tasks|tasks failed|vertices failed|vertices fail|tasks fail|failures|how many failed|\
     revoked|revocation*|cancelled|canceled",
);
const SPILL: Words = ("落盘|溢出|溢写|spill", "spill*");
const COLLECTING: Words = ("垃圾回收|gc", "gc|garbage");
const MEMORY: Words = ("内存", "memory|ram|heap");
const TEMP: Words = (
    "临时数据|临时存储|临时空间",
    "temp data|temp|temporary data|temporary storage",
);
/// No question is about it alone.
const NONE: Words = ("", "");

measures! {
    ELAPSED = Job "elapsed_seconds" Seconds Less
        title ("运行时间", "run time") says ("作业运行 {value}", "the job ran {value}") asked NONE;
    QUEUED = Job "queued_seconds" Seconds Less
        title ("排队", "queue") says ("作业排队 {value}", "the job queued {value}") asked NONE;
    COMPILED = Job "compile_seconds" Seconds Less
        title ("编译", "compilation") says ("编译用时 {value}", "compiling took {value}") asked NONE;
    /// Run time of all vertices.
    VERTEX_TIME = Job "vertex_seconds" Seconds Less
        title ("顶点总时间", "vertex time") says ("所有顶点共运行 {value}", "all vertices ran {value}") asked NONE;
    LOST_TIME = Job "lost_seconds" Seconds Less
        title ("无效尝试", "lost attempts") says ("无效尝试共用 {value}", "lost attempts took {value}") asked NONE;
    /// Vertices that may run concurrently.
    TOKENS = Job "tokens" Tokens Neither
        title ("令牌", "tokens") says ("作业可用 {value}", "the job may use {value}")
        asked (
            "多少令牌|多少个令牌|令牌数|几个令牌|多少 token|多少个 token|token 数|几个 token|多少 au|多少个 au|几个 au|多少槽|多少个槽|\
             多少核|多少个核|几个核|几核|核数|多少个 core|多少 core",
            "how many tokens|number of tokens|tokens does|tokens did|how many aus|how many slots|number of slots|how many cores|\
             number of cores",
        );
    EXECUTORS = Job "executors" Count Neither
        title ("Executor", "executors") says ("应用有过 {value} 个 Executor", "executors of the application: {value}")
        asked (
            "多少 executor|多少个 executor|几个 executor|executor 数|executor 的数量|executor 有多少|多少执行器|多少个执行器",
            "how many executors|number of executors|executor count|how many workers|count of executors",
        );
    /// Part of the task slots that ran a task on average, over the run time.
    BUSY_SLOTS = Job "busy_slots" Share More
        title ("忙碌的槽位", "busy slots")
        says ("运行期间平均有 {value} 的槽位在执行任务", "on average over the run time, {value} of the task slots run a task")
        asked (
            "忙碌|在忙|核在用|核在跑|利用率|平均用了|平均用到|实际用到|实际在用|空着|闲着|空闲的核",
            "busy|cores used|cores were used|utilization|utilisation|utilized|used on average|actually used|in use|sitting idle|idle cores",
        );
    /// From the submission of the application to the registration of its first executor.
    FIRST_EXECUTOR = Job "first_executor_seconds" Seconds Less
        title ("第一个 Executor", "first executor")
        says ("提交应用 {value}后第一个 Executor 就绪", "the first executor registered {value} after the submission of the application")
        asked ("第一个 executor|首个 executor", "first executor|first worker");
    SPARK_JOBS = Job "spark_jobs" Count Neither
        title ("Spark Job", "Spark jobs") says ("应用提交了 {value} 个 Spark Job", "Spark jobs that the application submitted: {value}")
        asked (
            "多少 job|多少个 job|几个 job|job 数|多少 spark job|多少个 spark job|几个 spark job",
            "how many jobs|how many spark jobs|number of jobs|number of spark jobs|jobs did|job count",
        );
    EXECUTIONS = Job "sql_executions" Count Neither
        title ("SQL 执行", "SQL executions") says ("应用执行了 {value} 次 SQL 查询", "SQL queries that the application ran: {value}")
        asked (
            "多少查询|多少个查询|几个查询|多少 sql|多少个 sql|几个 sql|几条 sql|多少条 sql|sql 数|查询数",
            "how many queries|how many sql|number of queries|number of sql|sql queries|query count|how many executions",
        );
    /// Share of the time of all vertices.
    JOB_GC_SHARE = Job "gc_share" Share Less
        title ("垃圾回收占比", "share of garbage collection")
        says ("所有顶点的运行时间有 {value} 用于垃圾回收", "the vertices spend {value} of their time in garbage collection") asked COLLECTING;
    /// Memory of cached RDDs and DataFrames, at their largest.
    CACHED = Job "cached_bytes" Bytes Neither
        title ("缓存数据", "cached data") says ("缓存的数据在内存中占 {value}", "cached data takes {value} of memory")
        asked ("缓存|cache", "cach*|persist*");
    STAGES = Job "stages" Count Neither
        title ("阶段", "stages") says ("作业有 {value} 个阶段", "stages of the job: {value}") asked NONE;
    JOB_VERTICES = Job "vertices" Vertices Neither
        title ("顶点", "vertices") says ("作业共有 {value}", "the job has {value}") asked NONE;
    INPUT_ROWS = Job "input_rows" Rows Neither
        title ("输入行数", "input rows") says ("作业输入 {value}", "the job reads {value}") asked NONE;
    INPUT_BYTES = Job "input_bytes" Bytes Neither
        title ("输入大小", "input size") says ("作业输入 {value}", "the job reads {value}") asked NONE;
    /// Bytes that crossed between stages.
    SHUFFLED = Job "shuffled_bytes" Bytes Less
        title ("阶段间传输", "between stages") says ("阶段之间传输 {value}", "{value} cross between stages")
        asked (
            "传输多少|传输了多少|shuffle 多少|shuffle 了多少|shuffle 数据量|shuffle 量|多少 shuffle|多少数据 shuffle|交换了多少",
            "shuffled|shuffle size|shuffle volume|data shuffle|much shuffle",
        );

    /// From the creation of the first vertex to the end of the last.
    SPAN = Stage "span_ms" Ms Less
        title ("用时", "wall time")
        says ("{name} 从第一个顶点到最后一个用时 {value}", "{name} takes {value} from its first vertex to its last")
        asked NONE;
    /// Vertices that were to run; some of them did not run to their end.
    PLANNED = Stage "planned_vertices" Vertices Neither
        title ("计划的顶点", "planned vertices") says ("{name} 计划有 {value}", "{name} was to have {value}") asked NONE;
    /// Vertices that ran to their end.
    VERTICES = Stage "vertices" Vertices Neither
        title ("顶点", "vertices") says ("{name} 有 {value}", "{name} has {value}")
        asked (
            "多少顶点|多少个顶点|几个顶点|顶点数|顶点数量|多少任务|多少个任务|几个任务|任务数|多少 task|多少 vert|\
             多少个 task|多少个 vert|几个 task|几个 vert|task 数|vertex 数|顶点有多少|并行度",
            "how many vertices|how many vertex|how many tasks|number of vertices|number of tasks|vertex count|\
             task count|count of vertices|vertices does|vertices are|degree of parallelism|parallelism of|parallelism in",
        );
    /// Vertices over tokens.
    WAVES = Stage "waves" Ratio Neither
        title ("波次", "waves") says ("{name} 的顶点数是令牌数的 {value}", "{name} has {value} as many vertices as tokens") asked NONE;
    QUEUE = Stage "queue_ms" Ms Less
        title ("等待资源", "queue")
        says ("{name} 的顶点平均等待资源 {value}", "the vertices of {name} wait {value} for capacity on average") asked NONE;
    START = Stage "start_ms" Ms Less
        title ("启动", "start-up")
        says ("{name} 的顶点平均启动用时 {value}", "the vertices of {name} take {value} to start on average") asked NONE;
    /// Mean time that a vertex waited for a machine and started up.
    WAIT = Stage "wait_ms" Ms Less
        title ("等待", "wait")
        says ("{name} 的顶点等待资源和启动平均共用 {value}", "the vertices of {name} wait for capacity and start up for {value} on average")
        asked WAITS;
    MEAN_RUN = Stage "mean_run_ms" Ms Less
        title ("平均运行", "mean run")
        says ("{name} 的顶点平均运行 {value}", "the vertices of {name} run {value} on average") asked NONE;
    MEDIAN_RUN = Stage "median_run_ms" Ms Less
        title ("运行中位数", "median run")
        says ("{name} 的顶点运行时间中位数为 {value}", "the median vertex of {name} runs {value}") asked NONE;
    MAX_RUN = Stage "max_run_ms" Ms Less
        title ("最长运行", "max run")
        says ("{name} 最慢的顶点运行了 {value}", "the slowest vertex of {name} ran {value}") asked LONGEST;
    RUN_MAX_OVER_MEAN = Stage "run_max_over_mean" Ratio Less
        title ("最长/平均", "max/mean run")
        says ("{name} 最慢的顶点的运行时间是平均的 {value}", "the slowest vertex of {name} ran {value} the mean") asked LONGEST;
    /// Run time of all vertices.
    BUSY = Stage "busy_ms" Ms Less
        title ("顶点总时间", "vertex time")
        says ("{name} 的顶点共运行 {value}", "the vertices of {name} run {value} in all") asked NONE;
    /// Share of the run time of all vertices of the job.
    BUSY_SHARE = Stage "busy_share" Share Neither
        title ("占顶点总时间", "share of vertex time")
        says ("{name} 占所有顶点运行时间的 {value}", "{name} takes {value} of the run time of all vertices") asked NONE;
    /// From storage and from other stages.
    ROWS_IN = Stage "rows_in" Rows Neither
        title ("输入行数", "rows in") says ("{name} 读入 {value}", "{name} reads {value}") asked ROWS;
    ROWS_OUT = Stage "rows_out" Rows Neither
        title ("输出行数", "rows out") says ("{name} 输出 {value}", "{name} writes {value}") asked ROWS;
    ROWS_MEAN = Stage "rows_mean" Rows Neither
        title ("平均输入行数", "mean rows in") says ("{name} 的顶点平均读入 {value}", "the vertices of {name} read {value} each on average")
        asked NONE;
    ROWS_MEDIAN = Stage "rows_median" Rows Neither
        title ("输入行数中位数", "median rows in")
        says ("{name} 的顶点读入行数的中位数为 {value}", "the median vertex of {name} reads {value}") asked NONE;
    /// Rows of the vertex with most of them: of all its inputs if each vertex is known, else of the largest one.
    ROWS_MAX = Stage "rows_max" Rows Less
        title ("最多行数", "max rows")
        says ("{name} 行数最多的顶点有 {value}", "the largest vertex of {name} has {value}") asked SPREAD;
    ROWS_MAX_OVER_MEAN = Stage "rows_max_over_mean" Ratio Less
        title ("最多/平均行数", "max/mean rows")
        says ("{name} 行数最多的顶点是平均的 {value}", "the largest vertex of {name} has {value} the mean rows") asked SPREAD;
    BYTES_READ = Stage "bytes_read" Bytes Neither
        title ("读取", "read") says ("{name} 读取 {value}", "{name} reads {value}") asked BYTES;
    READ_MEAN = Stage "read_mean" Bytes Neither
        title ("平均读取", "mean read") says ("{name} 的顶点平均读取 {value}", "the vertices of {name} read {value} each on average")
        asked NONE;
    READ_MEDIAN = Stage "read_median" Bytes Neither
        title ("读取中位数", "median read")
        says ("{name} 的顶点读取量的中位数为 {value}", "the median vertex of {name} reads {value}") asked NONE;
    READ_MAX = Stage "read_max" Bytes Less
        title ("最多读取", "max read")
        says ("{name} 读取最多的顶点读取 {value}", "the vertex of {name} that reads most reads {value}") asked NONE;
    READ_MAX_OVER_MEAN = Stage "read_max_over_mean" Ratio Less
        title ("最多/平均读取", "max/mean read")
        says ("{name} 读取最多的顶点是平均的 {value}", "the vertex of {name} that reads most reads {value} the mean") asked SPREAD;
    BYTES_WRITTEN = Stage "bytes_written" Bytes Neither
        title ("写出", "written") says ("{name} 写出 {value}", "{name} writes {value}") asked BYTES;
    WRITTEN_MEAN = Stage "written_mean" Bytes Neither
        title ("平均写出", "mean written")
        says ("{name} 的顶点平均写出 {value}", "the vertices of {name} write {value} each on average") asked NONE;
    WRITTEN_MEDIAN = Stage "written_median" Bytes Neither
        title ("写出中位数", "median written")
        says ("{name} 的顶点写出量的中位数为 {value}", "the median vertex of {name} writes {value}") asked NONE;
    WRITTEN_MAX = Stage "written_max" Bytes Neither
        title ("最多写出", "max written")
        says ("{name} 写出最多的顶点写出 {value}", "the vertex of {name} that writes most writes {value}") asked NONE;
    /// Bytes that a stage writes to temporary storage: channels and spilled data.
    TEMPORARY = Stage "temp_bytes" Bytes Less
        title ("临时数据", "temporary data")
        says ("{name} 写出 {value} 临时数据（数据通道和落盘）", "{name} writes {value} of temporary data (channels and spills)")
        asked TEMP;
    /// Bytes that a stage fetches from other machines.
    NETWORK = Stage "network_bytes" Bytes Less
        title ("网络传输", "network")
        says ("{name} 通过网络读取 {value}", "{name} reads {value} over the network") asked ("网络", "network|over the wire");
    /// Bytes that a stage reads from machines of other pods of the cluster.
    CROSS_POD = Stage "cross_pod_bytes" Bytes Less
        title ("跨 pod 读取", "cross-pod read")
        says ("{name} 从其他 pod 的机器读取 {value}", "{name} reads {value} from machines of other pods")
        asked ("跨 pod|跨pod|其他 pod|别的 pod", "cross-pod|cross pod|crosspod|other pod*|another pod|between pods|across pods");
    /// Time that the vertices wait for shuffled data.
    FETCH_WAIT = Stage "fetch_wait_ms" Ms Less
        title ("等待 Shuffle 数据", "fetch wait")
        says ("{name} 的顶点等待 Shuffle 数据共 {value}", "the vertices of {name} wait {value} in all for shuffled data")
        asked ("fetch|等待 shuffle|等 shuffle|shuffle 等待|拉取", "fetch*|shuffle read wait|wait for shuffle*|waiting for shuffle*");
    CPU_TIME = Stage "cpu_ms" Ms Neither
        title ("CPU 时间", "CPU time")
        says ("{name} 的顶点共用 {value} CPU 时间", "the vertices of {name} use {value} of CPU time in all") asked ("cpu", "cpu");
    GC_SHARE = Stage "gc_share" Share Less
        title ("垃圾回收", "garbage collection")
        says ("{name} 的时间有 {value} 用于垃圾回收", "{name} spends {value} of its time in garbage collection")
        asked COLLECTING;
    /// Of all tasks.
    GC_TIME = Stage "gc_ms" Ms Less
        title ("垃圾回收时间", "garbage collection time")
        says ("{name} 的顶点垃圾回收共用 {value}", "the vertices of {name} collect garbage for {value} in all") asked COLLECTING;
    SPILLED = Stage "spilled_bytes" Bytes Less
        title ("落盘数据", "spilled")
        says ("{name} 落盘 {value}", "{name} spills {value} to disk") asked SPILL;
    /// The size of spilled rows in memory.
    MEMORY_SPILLED = Stage "memory_spilled_bytes" Bytes Less
        title ("落盘数据在内存中的大小", "spilled, in memory")
        says ("{name} 落盘的数据在内存中占 {value}", "the rows that {name} spills take {value} in memory") asked SPILL;
    /// Operators that went to disk.
    SPILLS = Stage "spills" Count Less
        title ("落盘算子", "spilling operators")
        says ("{name} 有 {value} 个算子落盘", "operators of {name} that spill: {value}")
        asked SPILL;
    /// Memory of the largest vertex.
    MEMORY_PEAK = Stage "memory_peak_bytes" Bytes Less
        title ("内存", "memory") says ("{name} 的内存峰值为 {value}", "the memory of {name} peaks at {value}") asked MEMORY;
    /// Memory of the sorts, joins and aggregations of the vertex with most of it.
    WORKING_MEMORY = Stage "working_memory_bytes" Bytes Less
        title ("执行内存", "execution memory")
        says ("{name} 的顶点执行内存最多 {value}", "a vertex of {name} uses up to {value} of execution memory") asked MEMORY;
    /// Bytes that the compiler allows a vertex.
    MEMORY_LIMIT = Stage "memory_limit_bytes" Bytes Neither
        title ("内存上限", "memory limit")
        says ("{name} 的顶点最多可用 {value} 内存", "a vertex of {name} may use {value} of memory") asked MEMORY;
    FAILED = Stage "failed_attempts" Count Less
        title ("失败", "failed") says ("{name} 失败的尝试：{value}", "failed attempts of {name}: {value}") asked LOST;
    REVOKED = Stage "revoked_attempts" Count Less
        title ("被收回", "revoked") says ("{name} 被收回的尝试：{value}", "revoked attempts of {name}: {value}") asked LOST;
    ABANDONED = Stage "abandoned_attempts" Count Less
        title ("放弃的副本", "abandoned")
        says ("{name} 中被取消的尝试（副本先完成或作业结束）：{value}", "cancelled attempts of {name}, because a duplicate or the job ended first: {value}")
        asked LOST;
    /// Run time of failed, revoked and abandoned attempts.
    LOST_WORK = Stage "lost_ms" Ms Less
        title ("无效尝试", "lost attempts")
        says ("{name} 中没有结果的尝试（失败、被收回、取消）用了 {value}", "the attempts of {name} without a result (failed, revoked, cancelled) took {value}") asked LOST;

    /// Rows put out.
    OPERATOR_ROWS = Operator "rows" Rows Neither
        title ("行数", "rows") says ("{name} 输出 {value}", "{name} produces {value}") asked ROWS;
    /// Rows of all its inputs.
    ROWS_TAKEN = Operator "rows_in" Rows Neither
        title ("输入行数", "rows in") says ("{name} 读入 {value}", "{name} takes in {value}") asked NONE;
    OPERATOR_SPREAD = Operator "rows_max_over_mean" Ratio Less
        title ("最大/平均", "max/mean")
        says ("{name} 行数最多的顶点是平均的 {value}", "the largest vertex at {name} has {value} the mean rows") asked SPREAD;
    ESTIMATED_ROWS = Operator "estimated_rows" Rows Neither
        title ("估计", "estimated")
        says ("优化器估计 {name} 输出 {value}", "the optimizer expected {value} from {name}") asked ROWS;
    OWN_TIME = Operator "exclusive_ms" Ms Less
        title ("自身用时", "own time") says ("{name} 自身用时 {value}", "{name} itself takes {value}") asked NONE;
    /// Read from or written to a channel or a store.
    OPERATOR_BYTES = Operator "bytes" Bytes Neither
        title ("大小", "bytes") says ("{name} 读写 {value}", "{name} moves {value}") asked NONE;
    /// The size of spilled rows in memory.
    OPERATOR_SPILLED = Operator "memory_spilled_bytes" Bytes Less
        title ("落盘数据在内存中的大小", "spilled, in memory")
        says ("{name} 落盘的数据在内存中占 {value}", "the rows that {name} spills take {value} in memory") asked SPILL;
    /// Buckets or runs that went to disk.
    OPERATOR_SPILLS = Operator "spills" Count Less
        title ("落盘次数", "spills") says ("{name} 落盘 {value} 次", "spills of {name}: {value}") asked SPILL;
    /// Over all vertices.
    OPERATOR_MEMORY = Operator "peak_memory_bytes" Bytes Less
        title ("内存", "memory") says ("{name} 的内存峰值合计 {value}", "the memory of {name} peaks at {value} over all vertices")
        asked NONE;

    PARTITIONS = Exchange "partitions" Partitions Neither
        title ("分区", "parts") says ("{name} 有 {value}", "{name} has {value}")
        asked ("分区数|多少分区|多少个分区|几个分区", "how many partitions|number of partitions|partition count");
    ROWS_CROSSING = Exchange "rows" Rows Less
        title ("行数", "rows") says ("{name} 传输 {value}", "{value} cross {name}") asked ROWS;
    BYTES_CROSSING = Exchange "bytes" Bytes Less
        title ("大小", "bytes") says ("{name} 传输 {value}", "{value} cross {name}") asked BYTES;

    STORED_ROWS = Input "rows" Rows Neither
        title ("行数", "rows") says ("{name} 有 {value}", "{name} has {value}") asked ROWS;
    STORED_BYTES = Input "bytes" Bytes Neither
        title ("大小", "size") says ("{name} 的大小为 {value}", "{name} has {value}") asked BYTES;
    STORED_FILES = Input "files" Files Neither
        title ("文件数", "files") says ("{name} 有 {value}", "{name} has {value}") asked NONE;
    STORED_PARTITIONS = Input "partitions" Partitions Neither
        title ("分区", "partitions") says ("{name} 存储为 {value}", "{name} is stored in {value}") asked NONE;
    PARTITION_MAX = Input "partition_bytes_max" Bytes Less
        title ("最大分区", "largest partition")
        says ("{name} 最大的分区为 {value}", "the largest partition of {name} has {value}") asked NONE;
    PARTITION_MIN = Input "partition_bytes_min" Bytes Neither
        title ("最小分区", "smallest partition")
        says ("{name} 最小的分区为 {value}", "the smallest partition of {name} has {value}") asked NONE;
    PARTITION_MEAN = Input "partition_bytes_mean" Bytes Neither
        title ("平均分区", "mean partition")
        says ("{name} 的分区平均 {value}", "the partitions of {name} have {value} on average") asked NONE;
    EXPECTED_ROWS = Input "estimated_rows" Rows Neither
        title ("估计行数", "estimated rows")
        says ("优化器估计 {name} 有 {value}", "the optimizer expected {value} in {name}") asked NONE;

    TASKS_RUN = Executor "tasks" Count Neither
        title ("Task", "tasks") says ("{name} 执行了 {value} 个 Task", "tasks that {name} ran: {value}") asked NONE;
    EXECUTOR_BUSY = Executor "busy_ms" Ms Neither
        title ("忙碌时间", "busy time")
        says ("{name} 上的 Task 共运行 {value}", "the tasks of {name} ran {value} in all") asked NONE;
    EXECUTOR_CORES = Executor "cores" Count Neither
        title ("核", "cores") says ("{name} 有 {value} 个核", "cores of {name}: {value}") asked NONE;
    /// From the submission of the application to its registration.
    EXECUTOR_ADDED = Executor "added_seconds" Seconds Neither
        title ("就绪于", "registered after")
        says ("{name} 在提交 {value}后就绪", "{name} registered {value} after the submission") asked NONE;
    /// From the submission of the application to its removal, if it was lost.
    EXECUTOR_LOST = Executor "lost_seconds" Seconds Neither
        title ("丢失于", "lost after")
        says ("{name} 在提交 {value}后丢失", "{name} was lost {value} after the submission") asked NONE;
    EXECUTION_TIME = Execution "span_ms" Ms Less
        title ("用时", "wall time") says ("{name} 用时 {value}", "{name} takes {value}") asked NONE;

    DISTINCT = Column "distinct" Count Neither
        title ("不同值", "distinct values") says ("{name} 有 {value} 个不同值", "distinct values of {name}: {value}") asked NONE;
    NULLS = Column "nulls" Rows Neither
        title ("空值行数", "null rows") says ("{name} 有 {value} 为空值", "{name} is null in {value}") asked NONE;
}
