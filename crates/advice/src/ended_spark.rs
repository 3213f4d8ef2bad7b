//! Suggestions for applications that failed, by the class of the failure.

use crate::case::Case;
use crate::ended;
use crate::proposal::{Gain, Proposal, advice};
use crate::{computed, failed};
use ::failure::Class;
use diagnosis::whence;
use report::text;

/// Advice on a failure of an application.
pub(crate) fn proposals(case: &Case<'_>, class: Class) -> Vec<Proposal> {
    use Class::*;
    let mut found = match class {
        UserCode => vec![user_code()],
        BadValue => vec![bad_value()],
        Constraint => vec![constraint()],
        NotSerializable => vec![not_serializable()],
        PythonWorker => vec![python_worker(case)],
        Dependency => vec![dependency()],
        OutputExists => vec![output_exists()],
        Compile => vec![analysis()],
        HeapFull | MemoryDenied => vec![heap(case)],
        DriverHeap => vec![driver_heap(case)],
        OffHeap => vec![off_heap(case)],
        Overhead if !failed::has_containers(case) => vec![lost(case)],
        Physical | Overhead => vec![overhead(case, class)],
        Virtual => vec![virtual_memory(case)],
        Native => vec![native(case)],
        PythonMemory => vec![python_memory(case)],
        Disk => vec![disk()],
        ResultSize => vec![result_size(case)],
        Kryo => vec![kryo(case)],
        RpcMessage => vec![rpc_message(case)],
        Threads => vec![threads()],
        Generated => vec![generated()],
        ValueSize | TempData | VertexMemory | Time | OtherLimit => vec![other_limit()],
        BroadcastTimeout => vec![broadcast_timeout(case)],
        BroadcastSize => vec![broadcast_size()],
        Lost | FetchFailed => vec![lost(case)],
        Preempted => vec![preempted(case)],
        Unknown => vec![ended::unknown(case)],
        InputMissing | InputUnreadable | InputMismatch | InputForbidden | Quota | Throttled
        | Service | Conflict | System | Stopped => ended::shared(case, class),
    };
    for proposal in found.iter_mut().filter(|p| p.topic.is_empty()) {
        proposal.topic = class.topic();
    }
    found
}

advice! { fn user_code() = Rewrite, Gain::none_by_itself(), "";
    title("在函数里处理出错的数据", "handle the data that the function fails on");
    step("按异常里的文件和行修改函数：先确定是数据不符合预期，还是代码有错", "change the function at the file and line of the exception: find out first whether the data is unexpected or the code is wrong");
    step("用 filter 找出出错的行；再决定修正、单独存放还是让作业失败", "find the rows with filter, then decide whether to repair them, to store them apart, or to fail");
    step("需要容忍时，对空值、零和格式错误返回 NULL，或用 try_divide、try_cast，并计数", "if bad rows are acceptable, return NULL for null, zero and malformed values, or use try_divide and try_cast, and count them");
    pro("作业能够完成", "the job gets to its end");
    con("静默的 NULL 会掩盖数据问题，要计数", "silent NULLs hide bad data: count them");
}

advice! { fn bad_value() = Rewrite, Gain::none_by_itself(), "";
    title("处理不能转换或计算的值", "handle the values that cannot be converted or computed");
    step("异常给出了表达式和值：用 try_cast、try_divide、try_add、try_to_timestamp 找出有多少行如此", "the exception names the expression and the value: count such rows with try_cast, try_divide, try_add or try_to_timestamp");
    step("与上次成功的输入比较：格式变了就找写入方", "compare with the input of the last good run: if the format changed, talk to its writer");
    step("不要整体关闭 spark.sql.ansi.enabled：那样会悄悄产生 NULL 或溢出的值", "don't turn spark.sql.ansi.enabled off for everything: that yields NULLs and overflowed values silently");
    pro("坏值不再使作业失败", "bad values no longer fail the job");
    con("要决定坏值的去向", "someone has to decide where bad values go");
}

advice! { fn constraint() = Rewrite, Gain::none_by_itself(), "";
    title("写入前找出违反约束的行", "find the rows that break the constraint before writing");
    step("异常给出了键、列或约束：用 groupBy(键).count().filter(\"count > 1\") 或 filter(列 IS NULL) 统计这样的行", "the message names key, column or constraint: count such rows with groupBy(key).count().filter(\"count > 1\") or with filter(column IS NULL)");
    step("一个键有多行时，先按时间保留最新一行（row_number）再 MERGE 或写入；连接造成的重复，先修正连接条件", "where a key has several rows, keep the latest one (row_number) before MERGE or the write; if a join made them, correct its condition first");
    step("Task 重试或重跑会再次写入同样的行：用 upsert 或临时表加一次性提交，使写入幂等", "a repeated task or another run writes the same rows again: make the write idempotent with an upsert, or a staging table and one commit");
    step("值太长或为空时，与目标表的定义比较，确认改数据还是改表", "where a value is too long or null, compare with the definition of the target, and decide whether data or table changes");
    pro("目标表保持一致", "the target stays consistent");
    con("要决定保留哪一行", "somebody has to decide which row to keep");
}

advice! { fn not_serializable() = Rewrite, Gain::none_by_itself(), "";
    title("不要让函数带上不能序列化的对象", "keep the object out of the function that is sent to executors");
    step("异常的 “Serialization stack” 说明是哪个对象：连接、客户端、锁、SparkContext，或所在的整个类", "the serialization stack of the exception names the object: a connection, a client, a lock, the SparkContext, or the whole enclosing class");
    step("在 mapPartitions 或 foreachPartition 里创建它，每个分区一次；Scala 可用 @transient lazy val", "create it inside mapPartitions or foreachPartition, once per partition; in Scala a @transient lazy val does");
    step("函数里用到类的字段时，先复制到局部变量，使它不引用 this", "copy fields of the class that the function uses to local variables, so that it doesn't refer to this");
    pro("函数可以送到 Executor", "the function can be sent to executors");
    con("对象按分区或 Executor 重复创建", "the object is created once per partition or executor");
}

advice! { fn python_worker(case: &Case<'_>) = Investigate, Gain::none_by_itself(), "";
    title("查明 Python worker 为什么退出", "find out why the Python worker exited");
    step("看该 Task 所在 Executor 的 stderr：{logs}；那里有段错误、`Killed` 或库的报错", "read the stderr of the executor of that task: {logs}; a segmentation fault, `Killed` or an error of a library is there", logs = whence::logs(case.job));
    settings(case.set("spark.python.worker.faulthandler.enabled", "true", text!("再运行一次，会打印崩溃时的 Python 调用栈", "another run then prints the Python stack of the crash")));
    step("被系统杀掉时是内存：提高 spark.executor.memoryOverhead 或 spark.executor.pyspark.memory，减小 pandas 与 Arrow 的批次（spark.sql.execution.arrow.maxRecordsPerBatch）", "if the system killed it, it was memory: raise spark.executor.memoryOverhead or spark.executor.pyspark.memory, and make batches of pandas and Arrow smaller (spark.sql.execution.arrow.maxRecordsPerBatch)");
    step("崩溃时核对本机库（numpy、pyarrow、数据库驱动）与 Python 的版本是否匹配；代码里不要调用 os._exit 或 sys.exit", "if it crashed, check that the versions of native libraries (numpy, pyarrow, database drivers) fit the Python version; code must not call os._exit or sys.exit");
    pro("区分内存、本机库与代码", "tells memory, native library and code apart");
    con("日志可能已被清理，需要再运行一次", "logs may be gone, and the job has to run again");
}

advice! { fn dependency() = Investigate, Gain::none_by_itself(), "";
    title("补齐依赖，或统一它的版本", "add the dependency, or use one version of it");
    step("用 --packages、--jars、--py-files 或 spark.archives 提供缺少的类或模块；Driver 与 Executor 都要有", "provide the missing class or module with --packages, --jars, --py-files or spark.archives; driver and executors both need it");
    step("NoSuchMethodError、InvalidClassException：集群自带另一个版本；按 Spark 与 Scala 的版本选择，或打包时重定位（shade）", "NoSuchMethodError, InvalidClassException: the cluster has another version; choose the one for its Spark and Scala, or relocate it when packaging (shade)");
    step("Python 版本不同时设置 spark.pyspark.python 与 spark.pyspark.driver.python", "if Python versions differ, set spark.pyspark.python and spark.pyspark.driver.python");
    pro("应用能够启动", "the application can start");
    con("要与集群的版本一起维护", "has to be maintained with the versions of the cluster");
}

advice! { fn output_exists() = Rewrite, Gain::none_by_itself(), "";
    title("决定如何处理已有的输出", "decide how to handle the existing output");
    step("先看已有的数据是上次运行的结果、残留还是别的作业的：这决定覆盖还是另写一处", "check first whether the data is a good result, a leftover or another job's: that decides between replacing it and writing elsewhere");
    step("按运行日期或分区写入；确要替换时使用 mode(\"overwrite\")（分区表配合 spark.sql.sources.partitionOverwriteMode=dynamic）", "write by date of run or by partition; to replace data on purpose use mode(\"overwrite\"), with spark.sql.sources.partitionOverwriteMode=dynamic on partitioned tables");
    step("推测执行或重试的 Task 写同一个文件时，改用 Spark 的写入接口而不是自己写文件", "if speculative or repeated tasks write the same file, use Spark's writers instead of writing files yourself");
    pro("重跑不再因残留失败", "another run no longer fails on leftovers");
    con("覆盖会删除旧数据", "overwriting deletes the old data");
}

advice! { fn analysis() = Rewrite, Gain::none_by_itself(), "";
    title("按分析器的报错修改查询", "change the query where the analyzer says");
    step("列：与 printSchema() 的列名比较；大小写、别名、join 之后的重名列；报错里通常有“Did you mean”", "columns: compare with printSchema(): case, aliases, columns of the same name after a join; the message often has \"Did you mean\"");
    step("表或视图：核对 catalog、database 与临时视图的会话；表是否已被改名或删除", "tables and views: check catalog, database and the session of temporary views, and whether a table was renamed or dropped");
    step("提交前用 explain() 或小样本运行一次：分析不读数据", "run explain() or a small sample before submitting: analysis reads no data");
    pro("不用占用集群就能发现", "found without occupying a cluster");
    con("一次只报第一个错误", "only the first error is reported");
}

advice! { fn heap(case: &Case<'_>) = Parameter, Gain::Whole, "";
    title("让每个 Task 有足够的堆内存", "give each task enough heap");
    step("先看 Task 的数据量是否不均：倾斜时先消除倾斜，加内存只能推迟", "see first whether the tasks' data is uneven: if so, remove the skew, because more memory only delays the failure");
    step("也可增加分区（或 repartition），让每个 Task 的数据更少；collect_list、宽行和大分组也要缩小", "or use more partitions (or repartition), so that each task has less data; make collect_list, wide rows and large groups smaller as well");
    settings(computed::heap(case));
    pro("不再因堆内存不足失败", "no more failures because of too little heap");
    con("更大的 Executor 更贵，也更难调度", "larger executors cost more and are harder to place");
}

advice! { fn driver_heap(case: &Case<'_>) = Rewrite, Gain::Whole, "";
    title("让 Driver 少收集数据，或给它更多内存", "bring less to the driver, or give it more memory");
    step("把 collect()、toPandas()、大的广播改为写出、limit() 或 toLocalIterator()", "replace collect(), toPandas() and large broadcasts by writing, limit() or toLocalIterator()");
    settings(failed::twice(case, "spark.driver.memory"));
    step("Task 和文件极多时，它们的状态也占 Driver 内存：合并小文件，减少分区", "with very many tasks and files their status takes memory of the driver too: compact files, use fewer partitions");
    pro("Driver 不再因内存不足退出", "the driver no longer dies of memory");
    con("更大的 Driver 更贵", "a larger driver costs more");
}

advice! { fn off_heap(case: &Case<'_>) = Parameter, Gain::Whole, "";
    title("给堆外内存留出空间", "leave room for off-heap memory");
    step("直接内存另由 -XX:MaxDirectMemorySize 限制，元空间由 -XX:MaxMetaspaceSize 限制", "-XX:MaxDirectMemorySize bounds direct memory as well, -XX:MaxMetaspaceSize metaspace");
    step("大的 Shuffle 块占直接内存：降低 spark.reducer.maxSizeInFlight，或增加分区使块更小", "large shuffle blocks take direct memory: lower spark.reducer.maxSizeInFlight, or use more partitions for smaller blocks");
    settings(failed::overhead(case));
    pro("不再因堆外内存不足失败", "no more failures because of too little off-heap memory");
    con("只加大 spark.executor.memory 没有帮助：那是堆", "raising spark.executor.memory alone doesn't help: that is heap");
}

advice! { fn overhead(case: &Case<'_>, class: Class) = Parameter, Gain::Whole, "";
    title("提高容器的额外内存（overhead），而不是堆", "raise the overhead of the container, not the heap");
    step("Python 用量单独设上限：spark.executor.pyspark.memory；或减少 spark.executor.cores，使同时运行的 Task 更少", "bound Python by itself with spark.executor.pyspark.memory, or lower spark.executor.cores so that fewer tasks run at once");
    step("一个 Task 的数据远多于其他时先消除倾斜", "if a task has far more data than others, remove the skew first");
    [class == Class::Overhead] step("先确认是内存：退出码 137 只说明被强制结束；{logs}（OOMKilled、内核日志）", "make sure that it was memory: exit code 137 only says that it was killed; {logs} (OOMKilled, kernel log)", logs = whence::logs(case.job));
    settings(failed::overhead(case));
    pro("容器不再被结束", "containers are no longer killed");
    con("每个节点能放的 Executor 可能更少", "fewer executors may fit on a node");
}

advice! { fn virtual_memory(case: &Case<'_>) = Parameter, Gain::Whole, "";
    title("放宽 YARN 的虚拟内存检查", "relax YARN's check of virtual memory");
    step("虚拟内存是地址空间，不是用量：让管理员设置 yarn.nodemanager.vmem-check-enabled=false，或提高 yarn.nodemanager.vmem-pmem-ratio", "virtual memory is address space, not usage: ask the administrators for yarn.nodemanager.vmem-check-enabled=false or a larger yarn.nodemanager.vmem-pmem-ratio");
    step("不能改集群时，提高 overhead：上限随容器大小成比例", "if the cluster cannot be changed, raise the overhead: the limit is a multiple of the container");
    settings(failed::overhead(case));
    pro("容器不再被结束", "containers are no longer killed");
    con("提高 overhead 会占用并不需要的物理内存", "more overhead reserves physical memory that is not needed");
}

advice! { fn native(case: &Case<'_>) = Investigate, Gain::none_by_itself(), "";
    title("查明哪个本机库崩溃", "find the native library that crashed");
    step("看 Executor 的 stderr 与 hs_err_pid*.log：{logs}；“Problematic frame”说明是哪个库", "read the executor's stderr and hs_err_pid*.log: {logs}; \"Problematic frame\" names the library", logs = whence::logs(case.job));
    step("写着“insufficient memory”或 malloc 失败时，是本机内存：提高 spark.executor.memoryOverhead", "if it says \"insufficient memory\" or that malloc failed, it is native memory: raise spark.executor.memoryOverhead");
    step("否则换用该库或 JVM 的其他版本；总在同一台主机时请运维检查内存硬件", "otherwise use another version of that library or of the JVM; if it is always the same host, have its memory checked");
    pro("对准真正的原因：加大堆没有帮助", "aims at the cause: a larger heap doesn't help");
    con("崩溃文件可能随容器消失", "the crash file may be gone with its container");
}

advice! { fn python_memory(case: &Case<'_>) = Parameter, Gain::Whole, "";
    title("给 Python 进程更多内存，或让它一次处理更少", "give Python more memory, or less at once");
    step("Python 不使用 JVM 的堆：提高 overhead", "Python doesn't use the heap of the JVM: raise the overhead");
    settings(failed::overhead(case));
    step("减小批次：spark.sql.execution.arrow.maxRecordsPerBatch；applyInPandas 的每组都要装进内存，先拆分大的组", "use smaller batches: spark.sql.execution.arrow.maxRecordsPerBatch; each group of applyInPandas has to fit into memory, so split large ones first");
    step("出在 Driver 时，不要 toPandas() 整个结果", "if it is the driver, don't call toPandas() on all of a result");
    pro("Python 进程不再因内存不足退出", "Python no longer dies of memory");
    con("小批次略慢", "small batches are a little slower");
}

advice! { fn disk() = Investigate, Gain::Whole, "";
    title("给 Shuffle 与落盘数据足够的本地磁盘", "give shuffles and spills enough local disk");
    step("看是哪块盘：spark.local.dir（YARN：yarn.nodemanager.local-dirs）或 /tmp；指向更大或多块磁盘", "see which disk it is: spark.local.dir (YARN: yarn.nodemanager.local-dirs) or /tmp; use a larger one or several");
    step("减少写到磁盘的数据：先过滤、去掉多余列，避免膨胀的连接；倾斜的 Task 也会写满一块盘", "write less: filter first, drop columns, avoid joins that multiply rows; a skewed task fills a disk as well");
    step("Kubernetes：提高 ephemeral-storage，或把 spark.local.dir 挂到卷上；长驻应用要 unpersist() 和清理 checkpoint", "Kubernetes: raise ephemeral-storage, or mount a volume for spark.local.dir; long-lived applications must unpersist() and clean checkpoints");
    pro("不再因磁盘写满失败", "the job no longer fails on a full disk");
    con("加内存没有帮助", "more memory doesn't help");
}

advice! { fn result_size(case: &Case<'_>) = Rewrite, Gain::Whole, "";
    title("减少返回 Driver 的结果：更少的 Task，或更小的结果", "return less to the driver: fewer tasks, or smaller results");
    step("collect()、toPandas() 改为写出，或先聚合、limit()", "replace collect() and toPandas() by writing, or aggregate or limit() first");
    step("没有收集时，上限被每个 Task 的状态占满：减少 Task（coalesce、合并小文件、更大的 spark.sql.files.maxPartitionBytes）；增加分区会更糟", "if no data is collected, the limit is filled by the status of each task: use fewer tasks (coalesce, compacted files, a larger spark.sql.files.maxPartitionBytes); more partitions make it worse");
    step("结果确实需要时才提高 spark.driver.maxResultSize，并同时提高 spark.driver.memory", "raise spark.driver.maxResultSize only if the result is needed, along with spark.driver.memory");
    settings(failed::result_size(case));
    pro("Driver 的内存也不再有危险", "the driver's memory is safe as well");
    con("设为 0（不限）会让 Driver 内存不足", "0 (no limit) risks the driver's memory");
}

advice! { fn kryo(case: &Case<'_>) = Parameter, Gain::Whole, "";
    title("提高 spark.kryoserializer.buffer.max", "raise spark.kryoserializer.buffer.max");
    settings(failed::buffer(case));
    step("报错里的“Serialization trace”说明是哪个对象：矩阵、广播或一组的全部行能拆开更好", "the \"Serialization trace\" names the object: better still, split that matrix, broadcast or group");
    pro("只改一个设置", "one setting");
    con("缓冲区按核占用 Executor 内存", "each core's buffer takes memory of the executor");
}

advice! { fn rpc_message(case: &Case<'_>) = Rewrite, Gain::Whole, "";
    title("不要把大数据放进 Task", "keep large data out of tasks");
    step("函数引用的大对象改用 broadcast()；parallelize 的大列表改为写成文件再读，或使用更多分区", "use broadcast() for large objects that functions refer to; write large lists to a file rather than parallelize them, or use more partitions");
    step("做不到时才提高上限", "raise the limit only if that is not possible");
    settings(failed::message_size(case));
    pro("Task 的发送也更快", "tasks are sent faster too");
    con("要改代码", "the code changes");
}

advice! { fn threads() = Investigate, Gain::none_by_itself(), "";
    title("提高线程或打开文件的上限，或少用一些", "raise the limit of threads or open files, or use fewer");
    step("看哪个上限：`ulimit -u`（线程）、`ulimit -n`（文件）、容器的 pids 上限", "see which limit it is: `ulimit -u` (threads), `ulimit -n` (files), the pids limit of the container");
    step("代码里每行或每个分区都新建的客户端、线程池改为每个 Executor 一个", "use one client or thread pool per executor rather than one per row or partition");
    step("打开文件过多时减少分区写入的文件：写之前按分区列 repartition", "with too many open files, write fewer per task: repartition by the partition columns before writing");
    pro("不再达到上限", "the limit is no longer reached");
    con("系统上限要由管理员修改", "limits of the system are up to its administrators");
}

advice! { fn generated() = Rewrite, Gain::none_by_itself(), "";
    title("让计划更小", "make the plan smaller");
    step("循环中的 withColumn、union、join 每轮都让计划变长：一次 select，或定期 checkpoint()、写出再读", "withColumn, union and join in a loop make the plan longer with each turn: use one select, or checkpoint() or write and read now and then");
    step("权宜之计：-Xss 加大 Driver 的线程栈（StackOverflowError）；spark.sql.codegen.wholeStage=false（64 KB）", "as a stopgap, a larger -Xss for the driver (StackOverflowError), or spark.sql.codegen.wholeStage=false (64 KB)");
    pro("分析也更快", "analysis gets faster too");
    con("要改代码", "the code changes");
}

advice! { fn other_limit() = Investigate, Gain::none_by_itself(), "";
    title("找出异常所说的上限", "find the limit that the exception names");
    step("异常给出了设置或大小：先减少该处的数据，再考虑提高上限", "the exception names a setting or a size: make the data there smaller first, then think of raising the limit");
    step("时间上限：看哪个 Stage 占了时间，先按那里的建议处理", "a time limit: see which stage takes the time, and follow the suggestions for it first");
    pro("对准被触及的上限", "aims at the limit that was hit");
    con("只提高上限会推迟问题", "raising the limit alone only delays the failure");
}

advice! { fn broadcast_timeout(case: &Case<'_>) = Hint, Gain::Whole, "";
    title("不要等这次广播：缩小它，或改用 Shuffle 连接", "don't wait for this broadcast: make it smaller, or shuffle instead");
    step("广播的一侧先过滤和投影；估计不准时去掉 BROADCAST 提示，或用 SHUFFLE_HASH、MERGE", "filter and project the broadcast side first; if its estimate is wrong, remove the hint BROADCAST or use SHUFFLE_HASH or MERGE");
    step("计算这一侧很慢、而结果很小时，才提高 spark.sql.broadcastTimeout（现在是 {limit} 秒）或先物化它", "only if that side is slow to compute and small, raise spark.sql.broadcastTimeout ({limit} s now) or materialize it first", limit = case.value("spark.sql.broadcastTimeout"));
    step("超时也可能因为没有空闲的核在算这一侧：看当时的 Task", "a timeout may also mean that no core was free to compute that side: look at the tasks at that time");
    pro("查询不再因超时失败", "the query no longer fails on the timeout");
    con("Shuffle 连接要移动两侧的数据", "a shuffled join moves both sides");
}

advice! { fn broadcast_size() = Hint, Gain::Whole, "";
    title("不要广播这么大的一侧", "don't broadcast a side as large as this");
    step("去掉 BROADCAST 提示，或改为 SHUFFLE_HASH、MERGE", "remove the hint BROADCAST, or use SHUFFLE_HASH or MERGE");
    step("没有提示时降低 spark.sql.autoBroadcastJoinThreshold（-1 关闭），或先过滤、聚合这一侧；统计信息过时时更新它", "without a hint, lower spark.sql.autoBroadcastJoinThreshold (-1 turns it off), or filter and aggregate that side first; refresh its statistics if they are old");
    step("没有等值条件的连接只能广播：加上等值条件", "a join without an equality can only broadcast: add one");
    pro("不再受 8 GB、5.12 亿行与 Driver 内存的限制", "the limits of 8 GB, 512 M rows and the driver's memory no longer apply");
    con("两侧都要 Shuffle", "both sides are shuffled");
}

advice! {
    /// Lost executors without a reason in the log.
    pub(crate) fn lost(case: &Case<'_>) = Investigate, Gain::none_by_itself(), "executor lost heartbeat timed out node";
    title("查看丢失的 Executor 的 stderr", "read the stderr of the executors that were lost");
    step("{logs}", "{logs}", logs = whence::logs(case.job));
    step("退出码 50 是未捕获的异常，52 是堆内存不足，56 是心跳中断，137 是被强制结束（内存超限或抢占），134、139 是本机代码崩溃，143 是被要求结束", "exit code 50 means an uncaught exception, 52 out of heap, 56 lost heartbeats, 137 killed (over its memory, or preempted), 134 and 139 a crash of native code, 143 terminated on request");
    step("心跳超时多半是长时间的垃圾回收或主机过载：先看 GC 时间，不要只加大 spark.network.timeout", "a heartbeat timeout is mostly long garbage collection or an overloaded host: look at the GC time, don't just raise spark.network.timeout");
    step("节点常被收回时打开 spark.decommission.enabled，或用外部 Shuffle 服务保住数据", "if nodes are often taken away, turn on spark.decommission.enabled, or keep shuffle data in an external shuffle service");
    pro("区分内存、主机与抢占", "tells memory, host and preemption apart");
    con("日志可能已被清理", "the logs may be gone");
}

advice! { fn preempted(case: &Case<'_>) = Parameter, Gain::none_by_itself(), "";
    title("让应用承受 Executor 被收回", "make the application survive the loss of executors");
    settings(failed::decommission(case));
    step("用外部或远程的 Shuffle 服务；Driver 放在不会被收回的节点上", "use an external or remote shuffle service; run the driver on a node that is not taken away");
    step("有时限的作业换用不被抢占的队列或按需节点", "for a job with a deadline use a queue without preemption, or on-demand nodes");
    pro("收回节点只损失少量工作", "losing a node costs little work");
    con("按需节点更贵", "on-demand nodes cost more");
}
