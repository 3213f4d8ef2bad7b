//! Classes of failures: the cause of the contract, the failure in words, and the query for experience.

use report::{Cause, StaticText, Text};

macro_rules! classes {
    ($($variant:ident = $cause:ident, $zh:literal, $en:literal, $topic:literal;)*) => {
        /// Class of a failure.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Class { $($variant),* }

        impl Class {
            #[cfg(test)]
            pub const ALL: &'static [Class] = &[$(Class::$variant),*];

            pub fn cause(self) -> Cause {
                match self { $(Class::$variant => Cause::$cause),* }
            }

            /// The failure in words: `the disk is full`.
            pub fn words(self) -> StaticText {
                match self { $(Class::$variant => Text { zh: $zh, en: $en }),* }
            }

            /// Keywords for finding experience.
            pub fn topic(self) -> &'static str {
                match self { $(Class::$variant => $topic),* }
            }
        }
    };
}

classes! {
    UserCode = UserCodeFailure, "用户代码抛出异常", "user code threw an exception",
        "user code exception null check TryParse bad rows";
    BadValue = UserCodeFailure, "某个值无法转换或计算", "a value cannot be converted or computed",
        "ANSI cast divide by zero overflow try_cast bad value";
    Constraint = UserCodeFailure, "数据违反目标的约束", "rows break a constraint of their target",
        "duplicate key MERGE multiple source rows matched constraint null column";
    NotSerializable = UserCodeFailure, "函数引用了不能序列化的对象", "a function refers to an object that cannot be serialized",
        "Task not serializable NotSerializableException closure";
    PythonWorker = UserCodeFailure, "Python worker 进程崩溃", "a Python worker crashed",
        "python worker exited unexpectedly crashed memory segfault";
    Dependency = UserCodeFailure, "缺少依赖或依赖版本不符", "a dependency is missing or has the wrong version",
        "dependency conflict ClassNotFoundException NoSuchMethodError ModuleNotFoundError";
    OutputExists = UserCodeFailure, "输出位置已有数据", "the output already exists",
        "output path already exists write mode overwrite";
    Unknown = UserCodeFailure, "以未归类的异常失败", "failed with an exception of no known class",
        "failure exception stack log";
    Compile = CompileFailure, "没有通过编译或分析", "the query does not pass the compiler or the analyzer",
        "AnalysisException unresolved column table not found syntax compile error";
    InputMissing = InputFailure, "输入不存在", "an input is missing",
        "missing input path does not exist file not found refresh table";
    InputUnreadable = InputFailure, "输入损坏或不可读", "an input is damaged or unreadable",
        "corrupt file unreadable input footer checksum";
    InputMismatch = InputFailure, "输入与声明的模式不符", "an input does not match its declared schema",
        "schema mismatch schema drift column type input";
    InputForbidden = InputFailure, "没有访问权限", "access is forbidden",
        "access denied permission 403 credentials expired";
    Throttled = ExternalFailure, "存储或服务限流", "the storage or a service throttles requests",
        "storage throttling 503 SlowDown 429 retries prefixes fewer requests";
    Service = ExternalFailure, "存储、服务或网络出错", "the storage, a service or the network failed",
        "network connection refused timeout service unavailable retry";
    Conflict = ExternalFailure, "另一个写入者同时修改了同一张表", "another writer changed the table at the same time",
        "concurrent writers conflict ConcurrentAppendException";
    System = ExternalFailure, "系统内部错误", "the system itself failed",
        "system error internal error resubmit support";
    Stopped = ExternalFailure, "被外部停止", "stopped from outside",
        "job cancelled SparkContext was shut down killed by user stopped";
    HeapFull = LimitFailure, "Executor 的 JVM 堆内存不足", "an executor ran out of JVM heap",
        "OutOfMemoryError Java heap space executor memory";
    DriverHeap = LimitFailure, "Driver 的 JVM 堆内存不足", "the driver ran out of JVM heap",
        "driver OutOfMemoryError collect broadcast driver memory";
    MemoryDenied = LimitFailure, "Task 申请不到执行内存", "a task did not get the execution memory that it requested",
        "unable to acquire memory SparkOutOfMemoryError sort aggregation";
    OffHeap = LimitFailure, "堆外（直接）内存或元空间不足", "direct (off-heap) memory or metaspace ran out",
        "direct buffer memory OutOfDirectMemoryError off-heap overhead";
    Physical = LimitFailure, "容器超过物理内存上限，被 YARN 结束", "YARN killed the container for its physical memory",
        "YARN physical memory container killed memoryOverhead";
    Virtual = LimitFailure, "容器超过虚拟内存上限，被 YARN 结束", "YARN killed the container for its virtual memory",
        "YARN virtual memory vmem-check container killed";
    Overhead = LimitFailure, "容器被强制结束（退出码 137），很可能超过内存上限", "the container was killed (exit code 137), most likely over its memory limit",
        "OOMKilled exit code 137 container memory overhead";
    Native = LimitFailure, "本机代码崩溃或本机内存不足（退出码 134、139）", "native code crashed or native memory ran out (exit code 134 or 139)",
        "exit code 134 139 SIGABRT SIGSEGV native crash";
    PythonMemory = LimitFailure, "Python 进程内存不足", "a Python process ran out of memory",
        "python memory MemoryError pandas arrow";
    VertexMemory = LimitFailure, "顶点内存不足", "a vertex ran out of memory",
        "vertex memory OutOfMemoryException extractor reducer";
    Disk = LimitFailure, "磁盘已满", "a disk is full",
        "no space left on device local disk full shuffle spill";
    Quota = LimitFailure, "存储配额已用完", "a storage quota is used up",
        "storage quota exceeded HDFS";
    TempData = LimitFailure, "临时数据超过上限", "temporary data exceeds its limit",
        "temporary data limit exceeded";
    Time = LimitFailure, "超过时间上限", "a time limit was exceeded",
        "time limit exceeded vertex timeout";
    ValueSize = LimitFailure, "一个值或一行超过大小上限", "a value or a row exceeds its size limit",
        "row too big string too long 128 KB 4 MB limit";
    ResultSize = LimitFailure, "Task 的结果总量超过 spark.driver.maxResultSize", "the results of the tasks exceed spark.driver.maxResultSize",
        "spark.driver.maxResultSize too many tasks results collect";
    Kryo = LimitFailure, "Kryo 序列化缓冲区不足", "the Kryo serialization buffer is too small",
        "kryo buffer overflow spark.kryoserializer.buffer.max";
    RpcMessage = LimitFailure, "一个 Task 或消息超过 spark.rpc.message.maxSize", "a task or message exceeds spark.rpc.message.maxSize",
        "spark.rpc.message.maxSize large task closure";
    Threads = LimitFailure, "线程或打开文件数达到上限", "the limit of threads or open files is reached",
        "unable to create native thread too many open files ulimit";
    Generated = LimitFailure, "计划或生成的代码太大", "the plan or the generated code is too large",
        "StackOverflowError 64 KB method large plan codegen";
    OtherLimit = LimitFailure, "超出系统限制", "a limit was exceeded",
        "limit exceeded setting";
    BroadcastTimeout = BroadcastTooLarge, "广播超时", "a broadcast timed out",
        "broadcast timeout spark.sql.broadcastTimeout autoBroadcastJoinThreshold";
    BroadcastSize = BroadcastTooLarge, "广播的一侧太大", "a broadcast side is too large",
        "cannot broadcast table larger than 8 GB broadcast memory";
    Lost = ExecutorLost, "Executor 丢失", "executors were lost",
        "executor lost heartbeat timed out node";
    Preempted = ExecutorLost, "Executor 被抢占或节点被收回", "executors were preempted or their nodes taken away",
        "preemption spot decommission node lost";
    FetchFailed = ExecutorLost, "读不到 Shuffle 数据", "shuffle data could not be fetched",
        "FetchFailedException MetadataFetchFailed shuffle output lost";
}

/// Weight of a class: an exception of the job itself decides before its possible effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Follows from another failure, which may be in another text.
    Effect,
    Reason,
}

impl Class {
    pub fn weight(self) -> Weight {
        use Class::*;
        match self {
            Lost | FetchFailed | Stopped | Preempted => Weight::Effect,
            _ => Weight::Reason,
        }
    }

    /// The class for advice if only the cause is known.
    pub fn usual(cause: Cause) -> Class {
        match cause {
            Cause::CompileFailure => Class::Compile,
            Cause::LimitFailure => Class::OtherLimit,
            Cause::InputFailure => Class::InputMissing,
            Cause::ExternalFailure => Class::System,
            Cause::ExecutorLost => Class::Lost,
            Cause::BroadcastTooLarge => Class::BroadcastSize,
            _ => Class::UserCode,
        }
    }

    /// Whether less work per vertex or task avoids the failure.
    pub fn is_of_work(self) -> bool {
        use Class::*;
        matches!(
            self,
            HeapFull
                | MemoryDenied
                | OffHeap
                | Physical
                | Virtual
                | Overhead
                | PythonMemory
                | VertexMemory
                | Disk
                | TempData
                | Time
                | OtherLimit
        )
    }
}
