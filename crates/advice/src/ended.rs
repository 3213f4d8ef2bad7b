//! Suggestions for failures common to both engines: inputs, storage, services, the system, a stop.

use crate::case::Case;
use crate::proposal::{Gain, Proposal, advice};
use ::failure::Class;
use diagnosis::whence;
use report::{Text, text};

/// Advice on failures outside the job's own script, for both engines.
pub(crate) fn shared(case: &Case<'_>, class: Class) -> Vec<Proposal> {
    use Class::*;
    let mut found = match class {
        InputMissing => vec![missing(case)],
        InputUnreadable => vec![unreadable(case)],
        InputMismatch => vec![mismatch(case)],
        InputForbidden => vec![forbidden()],
        Quota => vec![quota()],
        Throttled => vec![throttled(case)],
        Service => vec![service()],
        Conflict => vec![conflict()],
        System => vec![system(case)],
        Stopped => vec![stopped(case)],
        _ => Vec::new(),
    };
    let failure = case.view.failure();
    let message = failure.and_then(|f| f.error).map_or("", |e| &e.message);
    let is_replaced = [
        "have been updated",
        "FILE_NOT_EXIST",
        "SparkFileNotFoundException",
    ]
    .iter()
    .any(|sign| class == InputMissing && message.contains(sign));
    for proposal in &mut found {
        proposal.topic = match is_replaced {
            true => "missing input replaced while it was read",
            false => class.topic(),
        };
    }
    found
}

fn is_spark(case: &Case<'_>) -> bool {
    case.job.spark.is_some()
}

/// The engine's word for the job.
fn job(case: &Case<'_>) -> Text {
    match is_spark(case) {
        true => text!("应用", "application"),
        false => text!("作业", "job"),
    }
}

advice! { fn missing(case: &Case<'_>) = Investigate, Gain::none_by_itself(), "";
    title("让输入存在，或明确缺少时怎么办", "provide the input, or decide how the job handles a missing one");
    step("核对异常里的路径：日期、分区、大小写；上游是否按时完成", "check the path in the message: date, partition, case; and whether its writer was on time");
    [is_spark(case)] step("“底层文件可能已更新”：另一个作业在读取期间改写了它；不要原地覆盖，或在读取前 REFRESH TABLE，重跑即可", "\"the underlying files have been updated\": another job rewrote it while this one was reading; don't overwrite in place, or REFRESH TABLE before reading; another run then works");
    [is_spark(case)] step("推断不出模式说明目录为空：给出 schema，并先检查是否有文件", "a schema that cannot be inferred means an empty folder: give a schema, and check for files first");
    [!is_spark(case)] step("过期或改名的流：恢复它或改路径", "a stream that expired or was renamed: restore it or change the path");
    [!is_spark(case) && !case.usql()] step("可选的输入先判断：#IF (EXISTS(@path))", "for optional input test first: #IF (EXISTS(@path))");
    [!is_spark(case) && case.usql()] step("可选的输入先判断：IF FILE.EXISTS(@path) THEN", "for optional input test first: IF FILE.EXISTS(@path) THEN");
    step("由数据到达触发作业，而不是按固定时间", "trigger the {job} on the arrival of its data, not at a fixed time", job = job(case));
    pro("缺少输入时立刻知道是哪个", "a missing input is known at once");
    con("跳过缺少的输入会使结果不完整：只对可选的输入这样做", "skipping a missing input makes the result incomplete: do so for optional input only");
}

advice! { fn unreadable(case: &Case<'_>) = Investigate, Gain::none_by_itself(), "";
    title("找出损坏的文件，并让写入方重写它", "find the damaged file and have its writer rewrite it");
    step("异常给出了文件：看大小是否为 0、扩展名与格式是否一致、是否在写入时读取", "the message names the file: see whether it is empty, has the format of its name, or was read while being written");
    [is_spark(case)] step("spark.sql.files.ignoreCorruptFiles=true 只用于找出其余的坏文件：它会悄悄丢掉数据", "use spark.sql.files.ignoreCorruptFiles=true only to check the other files: it drops data silently");
    [is_spark(case)] step("HDFS 的 BlockMissingException：`hdfs fsck <path> -files -blocks -locations`", "BlockMissingException of HDFS: `hdfs fsck <path> -files -blocks -locations`");
    [!is_spark(case)] step("编码与分隔符：核对 EXTRACT 的 encoding、rowDelimiter、quoting；不要直接 silent:true，它会丢掉行", "encoding and delimiters: check encoding, rowDelimiter and quoting of the EXTRACT; don't just set silent:true, which drops rows");
    pro("结果完整", "the result is complete");
    con("要等写入方", "depends on the writer");
}

advice! { fn mismatch(case: &Case<'_>) = Rewrite, Gain::none_by_itself(), "";
    title("使声明的模式与输入一致", "make the declared schema and the input agree");
    step("异常给出了文件与列：比较它与其他文件的列数和类型，看写入方什么时候改的", "the message names file and column: compare number and types of columns with other files, and see when the writer changed them");
    [is_spark(case)] step("Parquet：按新类型重写旧文件，或分开读取后转换再合并；mergeSchema 不能调和不同的类型；spark.sql.parquet.enableVectorizedReader=false 不能代替修正", "Parquet: rewrite old files with the new type, or read both apart, cast and union; mergeSchema cannot reconcile types, and spark.sql.parquet.enableVectorizedReader=false is no fix");
    [is_spark(case)] step("Delta：有意增加的列用 mergeSchema=true；有意的类型变化才用 overwriteSchema=true", "Delta: mergeSchema=true for columns that were added on purpose; overwriteSchema=true only for an intended change of types");
    [!is_spark(case)] step("EXTRACT 的列数、类型与可空性（int?、DateTime?）按文件修改；分隔符在文本里出现时使用 quoting:true", "adapt number, types and nullability (int?, DateTime?) of the EXTRACT's columns; if texts contain the delimiter, use quoting:true");
    [!is_spark(case)] step("坏行先用全部为 string 的 EXTRACT 找出来；silent:true 会丢掉它们，只在可以接受时使用", "find the bad rows with an EXTRACT of strings only; silent:true drops them, so use it only where that is acceptable");
    pro("以后的模式变化更早发现", "later changes are found earlier");
    con("旧文件可能要重写", "old files may have to be rewritten");
}

advice! { fn forbidden() = Investigate, Gain::none_by_itself(), "";
    title("取得权限，或更新凭据", "get the permission, or renew the credentials");
    step("看是哪个身份、哪个路径、哪种操作（异常里的 403、AccessDenied、Permission denied）", "see which identity, which path and which operation it is (403, AccessDenied, Permission denied in the message)");
    step("向该数据的所有者申请读或写权限：目录的每一级都要可进入（x）；云存储核对角色、ACL 与 KMS 密钥", "ask the owner of the data for read or write access: each folder above needs execute; in cloud storage check role, ACL and KMS key");
    step("运行很久后才失败时是凭据过期：用 keytab（--principal、--keytab）、托管身份或可续期的令牌", "if it fails only after hours, the credentials expired: use a keytab (--principal, --keytab), a managed identity or tokens that renew");
    pro("重跑即可成功", "another run then works");
    con("不要用更高权限的账号绕过", "don't bypass the problem with a more powerful account");
}

advice! { fn quota() = Investigate, Gain::none_by_itself(), "";
    title("腾出配额，或申请更多", "free some of the quota, or ask for more");
    step("看是空间还是文件数的配额（HDFS：`hdfs dfs -count -q -h <dir>`）", "see whether it is the quota of space or of names (HDFS: `hdfs dfs -count -q -h <dir>`)");
    step("与数据所有者确认后清理临时目录和旧的中间结果；合并小文件", "agree with the owners before clearing temporary folders and old intermediate results; compact small files");
    pro("写入可以继续", "writing can continue");
    con("删除前要确认没有人再用", "make sure that the data is no longer used before deleting it");
}

advice! { fn throttled(case: &Case<'_>) = Parameter, Gain::none_by_itself(), "";
    title("让请求更少、更分散，并耐心重试", "send fewer requests, spread them, and retry patiently");
    step("减少请求：合并小文件，减少分区与 Task，少做列举和改名", "send fewer: compact small files, use fewer partitions and tasks, list and rename less");
    [is_spark(case)] step("重试退避：S3 用 fs.s3a.attempts.maximum、fs.s3a.retry.limit 与 fs.s3a.retry.throttle.interval，ABFS 用 fs.azure.io.retry.max.retries；EMR 用 fs.s3.maxRetries", "retry with backoff: fs.s3a.attempts.maximum, fs.s3a.retry.limit and fs.s3a.retry.throttle.interval for S3, fs.azure.io.retry.max.retries for ABFS, fs.s3.maxRetries on EMR");
    [is_spark(case)] step("写入用不改名的提交器（S3A magic/staging committer、EMRFS 优化提交器、Delta）；把热的前缀拆开", "write with a committer that doesn't rename (S3A magic or staging committer, EMRFS-optimized committer, Delta); spread hot prefixes");
    step("错开同时访问同一账户的作业；持续不足时向存储方申请提高限额", "don't run jobs on the same account at once; if it never suffices ask the provider for a higher limit");
    pro("数据和代码没有错：不用改结果", "neither data nor code is at fault: results stay");
    con("更少的并发可能略慢", "less concurrency may be a little slower");
}

advice! { fn service() = Investigate, Gain::none_by_itself(), "";
    title("查看服务当时是否可用，再重跑", "see whether the service was up, then run again");
    step("异常给出了主机与端口或服务：查它当时的状态、网络与防火墙、证书与域名", "the message names host and port, or a service: look at its state at that time, at network and firewall, certificate and name");
    step("偶尔发生：重跑，并为这一调用加上有限次数、带退避的重试与超时", "if it is rare: run again, and give that call a timeout and a bounded number of retries with backoff");
    step("每次都发生：多半是地址、凭据或网络规则改变；总在高峰时，减少并发连接", "if it is always: mostly an address, credentials or a network rule changed; at peak times use fewer concurrent connections");
    pro("不用改数据处理", "the processing stays as it is");
    con("写外部系统的 Task 重试时可能写两次：写入要幂等", "tasks that write to other systems may write twice when repeated: make writes idempotent");
}

advice! { fn conflict() = Rewrite, Gain::none_by_itself(), "";
    title("让写入者互不冲突，或重试事务", "keep writers apart, or retry the transaction");
    step("重跑通常即可：另一个事务已先提交", "another run usually works: the other transaction committed first");
    step("MERGE、UPDATE、DELETE 的条件里写明分区，使并发的写入者只碰各自的分区", "name the partition in the condition of MERGE, UPDATE and DELETE, so that concurrent writers touch only their own");
    step("把 OPTIMIZE 等维护与写入错开；并发追加用 append 而不是覆盖", "run maintenance such as OPTIMIZE apart from writes; append rather than overwrite if there are several writers");
    pro("表保持一致：冲突的写入被拒绝，没有写坏", "the table is intact: the conflicting write was rejected");
    con("重试要从头计算", "a retry starts from the beginning");
}

advice! { fn system(case: &Case<'_>) = Investigate, Gain::none_by_itself(), "";
    title("重新提交；再次发生时交给平台支持", "resubmit; if it happens again, ask the platform's support");
    step("系统错误不是脚本或数据的错：先原样重跑一次", "a system error is no fault of script or data: run the {job} again as it is", job = job(case));
    step("每次都在同一处失败时，把作业编号、错误号与内部诊断交给支持；可能由某个特殊的输入或算子触发，用最小的例子确认", "if it always fails at the same place, give support the id of the {job}, the error id and the internal diagnostics; a special input or operator may trigger it: a minimal example shows which", job = job(case));
    [is_spark(case)] step("Spark 的内部错误：换一个补丁版本，或先关闭异常指向的优化", "an internal error of Spark: use another patch release, or turn off the optimization that the stack points at for now");
    pro("不改脚本", "the script doesn't change");
    con("取决于支持", "depends on support");
}

advice! { fn stopped(case: &Case<'_>) = Investigate, Gain::none_by_itself(), "";
    title("查明是谁或什么停止了它", "find out who or which program stopped it");
    step("看是否有人或调度器取消了它、超过了调度的时限、集群被关闭，或程序自己先结束", "see whether somebody or the scheduler cancelled it, a time limit of the schedule passed, the cluster was shut down, or the program itself ended first");
    [is_spark(case)] step("“SparkContext was shut down”时其他异常（Filesystem closed、Interrupted）只是后果：看 Driver 的日志，{logs}", "with \"SparkContext was shut down\" other exceptions (Filesystem closed, Interrupted) only follow from it: read the driver's log, {logs}", logs = whence::logs(case.job));
    [is_spark(case)] step("程序里的 stop() 或 sys.exit 不能早于还在运行的线程或流；Driver 内存不足也会这样结束", "stop() or sys.exit in the program must not come before threads or streams that still run; a driver that runs out of memory ends like this too");
    step("没有其他原因时原样重跑", "without another cause, run it again as it is");
    pro("不去修改没有问题的代码", "correct code stays as it is");
    con("停止的原因常在别的日志里", "the reason of a stop is often in another log");
}

advice! {
    /// An exception of unknown class: quoted, with the place of the logs.
    pub(crate) fn unknown(case: &Case<'_>) = Investigate, Gain::none_by_itself(), "";
    title("从最内层的异常和它的位置入手", "start from the innermost exception and its place");
    step("读异常最后一个“Caused by”与第一行自己的代码；它属于代码、数据还是环境", "read the last \"Caused by\" and the first line of your own code: it is the code, the data or the environment");
    [is_spark(case)] step("完整的日志：{logs}", "the whole log: {logs}", logs = whence::logs(case.job));
    step("与上次成功的运行比较：代码、输入、版本、设置哪个变了", "compare with the last good run: code, input, versions or settings changed");
    pro("不盲目改设置", "no blind change of settings");
    con("需要读日志", "the log has to be read");
}
