//! The causes of the contract, and their classes in the specification.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{JobEngine, Language, StaticText, Text, spark_words};

macro_rules! causes {
    ($($variant:ident = $code:literal, $type:ident, $zh:literal, $en:literal;)*) => {
        /// A cause of the report contract, described by its code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Cause { $($variant),* }

        impl Cause {
            /// Every cause, in the sequence of the contract.
            pub const ALL: &'static [Cause] = &[$(Cause::$variant),*];

            /// Code in reports: `skew.join_hot_key`.
            pub fn code(self) -> &'static str {
                match self { $(Cause::$variant => $code),* }
            }

            /// Title of the cause in a few words: `hot key in a join`.
            pub fn title(self) -> StaticText {
                match self { $(Cause::$variant => Text { zh: $zh, en: $en }),* }
            }

            pub fn problem_type(self) -> ProblemType {
                match self { $(Cause::$variant => ProblemType::$type),* }
            }

            pub fn from_code(code: &str) -> Option<Cause> {
                match code { $($code => Some(Cause::$variant),)* _ => None }
            }
        }
    };
}

causes! {
    JoinHotKey = "skew.join_hot_key", DataSkew, "连接键存在热点值", "hot key in a join";
    GroupHotKey = "skew.group_hot_key", DataSkew, "分组键存在热点值", "hot key in an aggregation";
    NullOrDefaultKey = "skew.null_or_default_key", DataSkew, "键中空值或默认值过多", "too many rows with a null or default key";
    LowCardinalityKey = "skew.low_cardinality_key", DataSkew, "分区键的不同值太少", "too few distinct key values";
    PartitionLayout = "skew.partition_layout", DataSkew, "分区大小不均", "uneven partitions";
    RedundantRepartition = "shuffle.redundant_repartition", ExcessiveShuffle, "多余的重新分区", "redundant repartition";
    UnusedColumns = "shuffle.unused_columns", ExcessiveShuffle, "Shuffle 中带有无用的列", "unused columns in a shuffle";
    LateFilter = "shuffle.late_filter", ExcessiveShuffle, "过滤太晚", "filter applied too late";
    MissedBroadcast = "shuffle.missed_broadcast", ExcessiveShuffle, "连接的小表没有广播", "small join side not broadcast";
    SerialGather = "shuffle.serial_gather", ExcessiveShuffle, "大量数据汇集到单个顶点", "large gather into one vertex";
    UnalignedInput = "shuffle.unaligned_input", ExcessiveShuffle, "输入的存储分区与用法不符", "input stored on other keys than needed";
    HeapPressure = "gc.heap_pressure", Other, "垃圾回收开销过高", "heavy garbage collection";
    Spill = "memory.spill", Other, "数据落盘", "data spilled to disk";
    MemoryEstimateTooLow = "memory.estimate_too_low", Other, "内存估计过低", "memory estimate too low";
    Misestimate = "cardinality.misestimate", Other, "行数估计错误", "wrong row estimate";
    JoinExplosion = "join.explosion", Other, "连接输出膨胀", "join output explosion";
    CpuBoundUdo = "udo.cpu_bound", Other, "用户代码太慢", "slow user code";
    ParallelismTooLow = "parallelism.too_low", Other, "并行度过低", "too little parallelism";
    TinyVertices = "parallelism.tiny_vertices", Other, "过小的顶点太多", "too many tiny vertices";
    SmallFiles = "io.small_files", Other, "小文件太多", "too many small files";
    VertexRetries = "failure.vertex_retries", Other, "顶点反复重试", "vertex retries";
    SlowMachine = "failure.slow_machine", Other, "机器过慢", "slow machine";
    UserCodeFailure = "failure.user_code", Other, "用户代码抛出异常", "exception in user code";
    CompileFailure = "failure.compile", Other, "编译失败", "compile error";
    LimitFailure = "failure.limit", Other, "超出系统限制", "limit exceeded";
    InputFailure = "failure.input", Other, "输入缺失、损坏、不匹配或无权访问", "input missing, unreadable, mismatching or forbidden";
    ExternalFailure = "failure.external", Other, "作业之外的原因：存储、服务、系统或被停止", "cause outside the job: storage, service, system or a stop";
    QueueWait = "queue.wait", Other, "等待资源过久", "long wait for capacity";
    DriverBottleneck = "driver.bottleneck", Other, "Driver 成为瓶颈", "driver bottleneck";
    ExecutorLost = "executor.lost", Other, "Executor 丢失", "lost executors";
    BroadcastTooLarge = "broadcast.too_large", Other, "广播的数据过大", "broadcast too large";
    IneffectiveCache = "cache.ineffective", Other, "相同的数据反复计算", "same data computed again and again";
    OverAllocation = "allocation.over", Other, "分配的 Executor 过多", "too many executors";
    UnderAllocation = "allocation.under", Other, "分配的 Executor 过少", "too few executors";
    FetchWait = "shuffle.fetch_wait", ExcessiveShuffle, "等待 Shuffle 数据", "waiting for shuffled data";
    IdleSlots = "parallelism.idle_slots", Other, "任务少于槽位", "fewer tasks than slots";
    CommitOnDriver = "driver.commit", Other, "Driver 提交输出过慢", "slow commit on the driver";
    CostlyExpression = "compute.costly_expression", Other, "表达式开销过高", "costly expression";
    ScanWithoutFilter = "io.scan_without_filter", Other, "读取了不需要的分区", "partitions read in vain";
    OverProvisionedMemory = "memory.over_provisioned", Other, "内存分配过多", "more memory than needed";
    UnexplainedOverhead = "overhead.unexplained", Other, "原因不明的开销", "overhead of unknown cause";
    UnexplainedStraggler = "straggler.unexplained", Other, "原因不明的长尾", "straggler of unknown cause";
}

impl Cause {
    /// Its title in the words of an engine.
    pub fn title_in(self, engine: Option<JobEngine>) -> Text {
        let Text { zh, en } = self.title();
        match engine {
            Some(JobEngine::Spark) => Text {
                zh: spark_words(zh, Language::Zh).trim().to_owned(),
                en: spark_words(en, Language::En),
            },
            _ => Text {
                zh: zh.to_owned(),
                en: en.to_owned(),
            },
        }
    }

    /// Whether jobs of an engine can have this cause.
    pub fn occurs_in(self, engine: JobEngine) -> bool {
        use Cause::*;
        match (self, engine) {
            (_, JobEngine::Spark) => true,
            (
                DriverBottleneck
                | ExecutorLost
                | BroadcastTooLarge
                | IneffectiveCache
                | OverAllocation
                | UnderAllocation
                | FetchWait
                | IdleSlots
                | CommitOnDriver
                | CostlyExpression
                | ScanWithoutFilter
                | OverProvisionedMemory
                | UnexplainedOverhead,
                JobEngine::Scope | JobEngine::Usql,
            ) => false,
            (_, JobEngine::Scope | JobEngine::Usql) => true,
        }
    }
}

/// The title of a cause by its code, in the words of an engine; the code itself of a cause that this version does not know.
pub fn title_of(code: &str, engine: Option<JobEngine>, language: Language) -> String {
    Cause::from_code(code).map_or_else(
        || code.to_owned(),
        |cause| cause.title_in(engine).pick(language).to_owned(),
    )
}

/// Codes, separated by commas.
pub fn codes(causes: &[Cause]) -> String {
    let codes: Vec<&str> = causes.iter().map(|c| c.code()).collect();
    codes.join(", ")
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

impl Serialize for Cause {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.code())
    }
}

impl<'de> Deserialize<'de> for Cause {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Cause, D::Error> {
        let code = Cow::<str>::deserialize(d)?;
        Cause::from_code(&code)
            .ok_or_else(|| serde::de::Error::custom(format!("unknown cause `{code}`")))
    }
}

impl JsonSchema for Cause {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Cause".into()
    }

    // Not an enum: a reader must accept causes that a later version adds.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

/// Class of a problem.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ProblemType {
    /// Few vertices get most of the rows.
    DataSkew,
    /// More rows cross the network than necessary.
    ExcessiveShuffle,
    Other,
    /// No problem.
    None,
}

impl ProblemType {
    pub const ALL: [ProblemType; 4] = {
        use ProblemType::*;
        [DataSkew, ExcessiveShuffle, Other, None]
    };

    /// Code in reports and in the index's facets.
    pub fn code(self) -> &'static str {
        match self {
            ProblemType::DataSkew => "data_skew",
            ProblemType::ExcessiveShuffle => "excessive_shuffle",
            ProblemType::Other => "other",
            ProblemType::None => "none",
        }
    }
}
