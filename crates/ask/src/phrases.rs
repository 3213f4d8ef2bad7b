//! Phrases of users for each quantity and each group of causes, in both languages.
//!
//! English phrases match whole words, and the last word may end in `*`; Chinese phrases match anywhere.

use report::{Cause, ProblemType, SegmentKind};

/// A question about a job, a stage, an input, ….
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// Whether it is a problem.
    Verdict,
    /// Why it is slow or failed.
    Reason,
    /// What to change.
    Remedy,
    /// The saving of the changes.
    Gain,
    /// Where the time goes.
    Account,
    /// How long it takes.
    Duration,
    /// Its share of the time.
    Share,
    /// How long it takes to do one thing.
    Segment(SegmentKind),
    /// Whether computing or data takes the time.
    Bound,
    /// Stages with one vertex.
    Single,
    /// Settings and their values.
    Settings,
    /// Which stage it is.
    Which,
    Stages,
    Cost,
    Inputs,
    /// Which code it is.
    Place,
    /// Its sources and its readers.
    Flow,
    /// Differences from the run before.
    Change,
    /// Undecided causes.
    Missing,
    /// Where numbers come from.
    Sources,
    /// Who ran it, when and where.
    Identity,
}

impl Quantity {
    /// Whether it is a number, which a question about a part of the run may leave the part out of: "and how many rows?".
    pub(crate) fn is_measure(self) -> bool {
        use Quantity::*;
        matches!(self, Duration | Share | Segment(_) | Place | Flow)
    }
}

/// Phrases with `|` between them.
pub(crate) type Phrases = &'static str;

/// Phrases in Chinese and English for each quantity.
#[rustfmt::skip]
pub(crate) const QUANTITIES: &[(Quantity, Phrases, Phrases)] = &[
    (Quantity::Verdict, "正常|有问题|是问题|问题吗|什么问题|健康|需要优化|能不能优化|可以优化|要优化|需要处理|要不要|值得|有没有|是否|是不是|例行检查|检查一下",
        "main problem|biggest problem|the problem|a problem|any problem*|problem with|an issue|any issue*|wrong|healthy|normal|ok|okay|fine|should we|should i worry|do we need|need to worry|worth|anything to|\
        anything we|check|could this|can this"),
    (Quantity::Reason, "为什么|为何|为啥|超时|出错|出的错|抛出|原因|怎么回事|怎么会|怎么这么|怎么跑|怎么花|咋|什么问题|定位|卡在|导致|失败|挂了|挂掉|报错|错误|异常|崩溃|被杀|杀掉|杀死|退出码|根因|炸了|性能问题|慢|瓶颈",
        "why|why's|timeout|timed out|time-out|reason*|cause*|what happened|what is wrong|blew up|blow* up|broke|breaks|what's wrong|what went wrong|how come|explain|\
        hold* up|slow|too long|so long|fail*|crash*|died|killed|exception*|error|errors|error message|exit code|threw|end|ended|bottleneck*|misses its sla|due to|\
        responsible"),
    (Quantity::Remedy, "再快|跑成功|跑通|成功|怎样让|怎么让|如何让|怎么改|能改|可改|以改|要改|改的|改法|怎么办|建议|优化|解决|修改|改进|改善|提速|加快|加速|缩短|压到|降到|更快|调优|怎么调|先做什么|先改|改哪|改什么|值得改|能直接用|该改|先优化|从哪里入手|从哪入手|从哪开始|从哪里开始|从何入手|第一件事|首要|最先|最值得|最划算|见效最快|先解决|先处理|先看|怎么修|该修|修哪|修什么|先修|修复|第一步|避免",
        "first thing|first step|worth fixing|worth changing|leave it alone|next step*|one change|one thing|single change|which change|best change|most effective|payoff|pays off|bang for the buck|sooner|quickest fix|\
        where would you start|where do we start|where should i start|where should we start|start with|begin with|prioritize|prioritise|succeed*|what would you do|would you change|what should|what can|what could|should i change|should we change|to change|can we do|can i do|do about|fix*|optimi*|improv*|\
        speed*|faster|suggest*|recommend*|advise|advice|tune|tuning|reduce|shorten|cut|solve|avoid|remedy|run faster|quick win*|quickest win*|biggest win*|easiest win*|\
        low-hanging|do first|change first|fix first|where do i start|where to start"),
    (Quantity::Gain, "能省|节省|省多少|省下|收益|能快多少|快多少|提升多少|减少多少|多大影响|影响多大",
        "save*|saving*|gain*|benefit*|how much faster|half the time|in half|impact|worth doing|how much would|how much time would"),
    (Quantity::Account, "时间都|时间花|花在|时间去|耗在|瓶颈|时间线|关键路径|时间分布|主要耗时",
        "minutes go|minutes went|seconds go|seconds went|hours go|hours went|time lost|time is lost|time go|time goes|time went|time gone|takes the time|took the time|spend*|spent|bottleneck*|critical path|breakdown|takes so long|took so long|take so long|\
        timeline"),
    (Quantity::Duration, "多久|多长时间|耗时|用时|时长|运行时间|执行时间|几分钟|多少时间|多少分钟|多少秒",
        "how long|duration|run time|runtime|running time|elapsed|wall time|how many minutes|how many seconds|how much time|how fast"),
    (Quantity::Share, "占总时间|占全程|占多少时间|时间占比|百分之几|百分比|占多大比例|占比", "share of the time|share of the run|what share|which share|percentage|percent|% of the"),
    (Quantity::Bound, "cpu 密集|cpu密集|io 密集|io密集|i/o 密集|计算密集|cpu 瓶颈|io 瓶颈|i/o 瓶颈|cpu 还是|io 还是|i/o 还是|受限于|受 cpu|受 io|cpu 限制|cpu 受限|jvm 还是|python 还是|还是 python|还是在 python|还是 jvm|还是在 jvm|还是在等|还是等待",
        "cpu bound|cpu-bound|io bound|io-bound|i o bound|o-bound|bound by|limited by|compute bound|compute-bound|cpu or|io or cpu|jvm or|python or|or python|or in python|or the jvm|in the jvm|cpu-limited|cpu limited|or waiting|mostly waiting|just waiting|is i o|i o time|io time"),
    (Quantity::Single, "只有一个任务|只有一个顶点|只有 1 个|只有1个|只用一个任务|只用一个顶点|单任务|单个任务|单顶点|单个顶点|一个任务的|一个顶点的",
        "one task|single task|single-task|one vertex|single vertex|single-vertex"),
    (Quantity::Settings, "设置|设为|设成|设的|设多少|应该设|配置|参数|开了|开启|启用|打开了", "set to|setting*|configur*|enabled|disabled|turned on|turned off|switched on|parameter*"),
    (Quantity::Which, "排名|排行|排个序|哪个阶段|哪个 stage|哪一个阶段|哪一个 stage|哪一步|哪些阶段|哪个stage|哪些 stage|哪几个阶段|哪几个 stage|最慢|最耗时|最大的|最长|最重|最费时",
        "rank|ranks|ranked|ranking|which stage*|what stage*|wich stage*|which one|which step*|slowest|longest|biggest|largest|heaviest|most expensive"),
    (Quantity::Stages, "多少阶段|多少个阶段|几个阶段|几个 stage|阶段数|多少个 stage|多少 stage|哪些阶段", "how many stages|jobs and stages|stages and|number of stages|stage count|list the stages|what stages|which stages"),
    (Quantity::Cost, "美元|多少块|成本|费用|花费多少|资源消耗|vertex-hour|au-hour|au 小时|顶点小时|核小时|令牌小时|多少资源|多少钱",
        "dollars|usd|euros|cost*|expensive|price|vertex hours|vertex-hours|au hours|au-hours|core hours|resources|money"),
    (Quantity::Inputs, "哪些表|哪张表|哪个表|输入表|哪些输入|哪个输入|最大的输入|最大的表|什么表|读了哪些|读哪些|输入有哪些|多少个输入|读取哪些|输入有多|输入数据有多|输入多大",
        "which table|which tables|what tables|inputs|input tables|which input|which inputs|what input|largest input|biggest input|largest table|biggest table|\
        input data|what does it read|what data|which files does it read|how many inputs|how many tables"),
    (Quantity::Place, "第几行|哪一行|哪行|哪几行|哪里设的|哪里设置|脚本哪|哪段代码|哪段脚本|哪条语句|哪个语句|在哪里|代码在哪|脚本里的哪|对应的脚本|对应脚本",
        "which line*|what line*|which statement*|which code|what code|which part of the script|where in the script|where is|script lines|line number*|\
        lines of the script"),
    (Quantity::Flow, "上游|下游|依赖|输入来自|数据来自|读自|谁读|写给", "upstream|downstream|depend*|feeds|fed by|reads from|read from|comes from|waits for|consumer*|producer*"),
    (Quantity::Change, "变慢了|变了|变化|上次|上一次|上周|昨天|比之前|和之前|跟之前|之前的运行|之前跑|以前|突然|越来越|改动后|上线后|前几天|比平时|比往常|回归|不一样",
        "chang* since|changed|what changed|last run|last week|last time|yesterday|than before|as before|before the change|used to|went up|compared to|compared with|\
        previous|regress*|twice as long|than usual|last change|earlier run|different from|suddenly|since"),
    (Quantity::Missing, "缺什么|缺哪|缺的|缺了|缺少|还需要什么|哪些文件|什么文件|补充什么|信息不足|不确定|没法判断",
        "files should|files do you need|provide|missing|what else do you need|which file*|what file*|need more|cannot be decided|not decided|unsure|uncertain"),
    (Quantity::Sources, "依据|证据|哪里来的|怎么知道|来源|怎么得出|根据什么", "evidence|how do you know|source of|based on|prove|proof|where does that number|how sure|confiden*"),
    (Quantity::Identity, "谁提交|谁跑的|提交人|什么时候提交|什么时候跑|什么时候开始|什么时候运行|几点|哪个队列|什么队列|虚拟集群|集群|vc|作业 id|作业id",
        "contact|which user|who submitted|who ran|who owns|owner|when was|when did|which queue|cluster|vc|virtual cluster|job id|submitted by"),
];

/// Kinds of time by the words that name them besides their titles.
#[rustfmt::skip]
pub(crate) const SEGMENTS: &[(SegmentKind, Phrases, Phrases)] = &[
    (SegmentKind::Compile, "编译", "compil*"),
    (SegmentKind::Queue, "排队|队列等|队列里", "queue*|queuing"),
    (SegmentKind::CapacityWait, "等待资源|等资源|等待令牌|等机器|等了|等那么|等这么|等多久|等待|才开始", "wait*|capacity"),
    (SegmentKind::Startup, "启动时间|启动开销|启动", "start-up|startup|starting"),
    (SegmentKind::Gc, "垃圾回收|gc", "gc|garbage"),
    (SegmentKind::Spill, "落盘|溢出|溢写", "spill*"),
    (SegmentKind::Sort, "排序", "sort|sorts|sorting"),
    (SegmentKind::Exchange, "洗牌|shuffle|数据交换", "shuffl*|exchange*|network"),
    (SegmentKind::Retry, "重试|失败的顶点|重跑", "retr*|failed attempts|failed vert*|failed tasks"),
    (SegmentKind::Straggler, "长尾|拖尾", "straggler*|long tail"),
    (SegmentKind::UserCode, "用户代码|udo|udf|自定义函数", "user code|udo*|udf*|c#|python"),
    (SegmentKind::Read, "读取时间|读数据", "reading"),
    (SegmentKind::Driver, "作业管理器|驱动程序", "job manager|driver"),
    (SegmentKind::Idle, "空档|空隙|空窗|空闲|没有 task 在|没有任务在|没有顶点在", "gap|gaps|idle*|no task*|no vertex|no vertices|nothing run*"),
];

/// The causes that people call by one name.
type Topic = (fn(Cause) -> bool, Phrases, Phrases);

#[rustfmt::skip]
pub(crate) const TOPICS: &[Topic] = &[
    (|c| c.problem_type() == ProblemType::DataSkew, "倾斜|热点|分布不均|数据不均|不均匀|哪个值", "skew*|hot key*|uneven*|imbalance*|unbalanced|which value|heaviest key"),
    (|c| c == Cause::NullOrDefaultKey, "空值|默认值|null|默认的", "null|nulls|default key|default value|default guid|default id*"),
    (|c| c == Cause::FetchWait, "fetch|等待 shuffle|拉取", "fetch*"),
    (|c| c.problem_type() == ProblemType::ExcessiveShuffle, "洗牌|shuffle|重新分区|数据交换", "shuffl*|repartition*"),
    (|c| c == Cause::HeapPressure, "垃圾回收|gc", "gc|garbage"),
    (|c| c == Cause::Spill, "落盘|溢出|溢写|spill", "spill*"),
    (|c| matches!(c, Cause::MemoryEstimateTooLow | Cause::Spill | Cause::HeapPressure), "内存", "memory|oom|out of memory"),
    (|c| matches!(c, Cause::Misestimate | Cause::MemoryEstimateTooLow), "估计|基数|预估", "estimat*|cardinality|misestimat*"),
    (|c| c == Cause::JoinExplosion, "膨胀|笛卡尔", "explo*|cartesian|cross join|fan-out"),
    (|c| c == Cause::CpuBoundUdo, "用户代码|udo|udf|自定义函数", "user code|udo*|udf*|cpu"),
    (|c| matches!(c, Cause::ParallelismTooLow | Cause::TinyVertices | Cause::SerialGather), "并行|顶点太多|顶点太少|任务太多|任务太少|单个顶点|单核|这么多顶点|顶点这么多|这么多任务|这么多 task",
        "parallel*|too few|too many vertices|too many tasks|so many vertices|so many tasks|so many small tasks|one core|single vertex|one vertex"),
    (|c| c == Cause::SmallFiles, "小文件", "small file*|many files|tiny file*"),
    (|c| c == Cause::VertexRetries, "重试|重跑|失败最多|上失败", "retr*|failed attempts|revoked|failures|failed most"),
    (|c| c == Cause::SlowMachine, "慢机器|机器慢|坏机器|节点慢|机器有问题|机器问题", "slow machine*|bad machine*|slow node*|bad node*|machine*|hardware"),
    (|c| c == Cause::QueueWait, "排队|等待资源", "queue*|queuing|capacity"),
    (|c| c == Cause::MissedBroadcast || c == Cause::BroadcastTooLarge, "广播", "broadcast*"),
    (|c| c == Cause::LateFilter, "过滤|where 提前|where 条件|把 where|先 where|谓词|下推", "filter*|predicate*|pushdown|push down|pushed down"),
    (|c| c == Cause::UnusedColumns, "无用的列|多余的列|没用的列", "unused column*|too many columns"),
    (|c| c == Cause::IneffectiveCache, "缓存|重复|几遍|多少遍|读了几次|读了多少次|算了几次",
        "cach*|computed again|recomput*|recalculat*|over and over|repeat*|more than once|same thing|same data|same computation|read again|how many times|again and again"),
    (|c| matches!(c, Cause::OverAllocation | Cause::UnderAllocation), "执行器太|executor 太|资源分配",
        "too many executors|too few executors|idle executors|allocat*"),
    (|c| c == Cause::ExecutorLost, "丢失|executor 挂|executor 死|executor 被杀|executor 丢|掉线|重跑|再跑|又跑|又运行|重新运行|跑了几次|跑了两次",
        "executor* die*|executor* dead|executor* killed|executor* crash*|executor* gone|recomputed|computed again|computed twice|ran again|run again|rerun|re-run|\
        run twice|ran twice|lost executor*|executor lost|executors lost|executors were lost|executor was lost|lose executor*|losing executor*"),
    (|c| c == Cause::DriverBottleneck, "驱动程序|空档|空隙|空窗", "driver|gap|gaps"),
];

/// Settings by the names that people give them.
#[rustfmt::skip]
pub(crate) const SETTINGS: &[(&str, Phrases, Phrases)] = &[
    ("priority", "优先级", "priority"),
    ("spark.version", "哪个版本|什么版本|版本号|spark 版本|spark 的版本", "spark version|which version|what version|version of spark"),
    ("spark.sql.adaptive.enabled", "aqe|自适应", "aqe|adaptive"),
    ("spark.sql.shuffle.partitions", "shuffle 分区|shuffle 的分区|shuffle partition",
        "shuffle partition*|partitions for shuffl*|partitions used for shuffl*|partitions are used for shuffl*"),
    ("spark.executor.memory", "executor 内存|executor 的内存|执行内存|执行器内存",
        "executor memory|memory per executor|memory does an executor|memory does each executor|memory do the executors|memory does one executor"),
    ("spark.cores.max", "最多多少核|总核数上限", "max cores|maximum cores"),
    ("spark.executor.cores", "executor 核|executor 的核|每个 executor 多少核|每个 executor 几核", "executor cores|cores per executor|cores does each executor"),
    ("spark.driver.memory", "driver 内存|driver 的内存", "driver memory"),
    ("spark.sql.autoBroadcastJoinThreshold", "自动广播阈值|广播阈值|广播的阈值", "broadcast threshold|broadcast join threshold|threshold for broadcast*"),
    ("spark.speculation", "推测执行", "speculation|speculative execution"),
    ("spark.task.maxFailures", "最多允许失败|允许失败几次|失败几次|最大失败次数|失败上限", "max failures|task failures allowed|may fail|failures are allowed|allowed to fail"),
    ("spark.default.parallelism", "默认并行度", "default parallelism"),
    ("spark.serializer", "序列化", "serializer"),
    ("spark.executor.memoryOverhead", "堆外内存|memory overhead", "memory overhead|overhead memory"),
    ("spark.sql.ansi.enabled", "ansi", "ansi"),
    ("spark.master", "master 是什么", "which master|spark master"),
    ("spark.dynamicAllocation.enabled", "动态分配", "dynamic allocation"),
    ("spark.memory.fraction", "内存比例", "memory fraction"),
    ("spark.sql.files.maxPartitionBytes", "输入分区大小|文件分区大小", "max partition bytes|input partition size|input split size"),
];

/// The phrases of all tables.
pub(crate) fn all() -> impl Iterator<Item = (Phrases, Phrases)> {
    let quantities = QUANTITIES.iter().map(|(_, zh, en)| (*zh, *en));
    let segments = SEGMENTS.iter().map(|(_, zh, en)| (*zh, *en));
    let topics = TOPICS.iter().map(|(_, zh, en)| (*zh, *en));
    let settings = SETTINGS.iter().map(|(_, zh, en)| (*zh, *en));
    quantities.chain(segments).chain(topics).chain(settings)
}
