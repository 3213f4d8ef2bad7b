//! Faults that a reader can find, each with its message and its remedy.

use report::format::{ATTEMPT, LINE};
use report::{DiagnosticSeverity, StaticText, Text, text};

use crate::bounds::Quota;
use crate::until::Early;

type Remedy = (&'static str, &'static str);

const FETCH: Remedy = (
    "此处之前的内容已读取；如果文件被截断，请重新获取",
    "everything before this place was read; fetch the file again if it was cut off",
);
const FETCH_LOG: Remedy = (
    "此处之前的事件都已读取；如果应用已经结束，请重新获取日志",
    "all events before this place were read; fetch the log again if the application has ended",
);
const ATTEMPTS: Remedy = (
    "分布中缺少这些尝试的数值；如果文件被截断，请重新获取",
    "the distributions lack these attempts; fetch the file again if it was cut off",
);
const MORE_TIME: Remedy = (
    "可用 `--time-limit` 放宽分析时间",
    "`--time-limit` allows more time",
);
const AGAIN: Remedy = ("请重新分析该作业", "analyze the job again");
const SPLIT_LOG: Remedy = (
    "请按时间分段分析日志的各部分",
    "analyze parts of the log by time",
);

/// Each fault: severity, message and remedy, Chinese first.
macro_rules! problems {
    ($($(#[$doc:meta])* $severity:ident $name:ident $(($($field:ident: $type:ty),*))?
        ($zh:literal, $en:literal $(, $word:ident = $value:expr)?) $remedy:expr;)*) => {
        /// A file or part that could not be read completely.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub(crate) enum Problem {
            $($(#[$doc])* $name $(($($type),*))?,)*
        }

        impl Problem {
            /// Severity, message and remedy.
            pub(crate) fn describe(&self) -> (DiagnosticSeverity, Text, Text) {
                let (severity, message, (zh, en)): (_, _, Remedy) = match self {
                    $(Problem::$name $(($($field),*))? => {
                        (DiagnosticSeverity::$severity, text!($zh, $en $(, $word = $value)?), $remedy)
                    })*
                };
                (severity, message, StaticText { zh, en }.into())
            }
        }
    };
}

problems! {
    Error TooDeep(n: usize) ("嵌套超过 {n} 层", "nested deeper than {n} elements") FETCH;
    Error TooMany(n: usize) ("元素超过 {n} 个", "has more than {n} elements") FETCH;
    Error StillOpen(n: usize) ("文件结束时还有 {n} 个元素没有关闭", "ends with {n} elements still open") FETCH;
    Error NoElement ("没有任何元素", "has no element") FETCH;
    /// Text that is not of its format (`XML`, `JSON`).
    Error Malformed(format: &'static str, error: String) ("{format} 格式有误：{error}", "malformed {format}: {error}") FETCH;
    Error Unreadable(error: String) ("无法读取：{error}", "cannot be read: {error}")
        ("请检查文件的权限", "check the file's permissions");

    /// Only this number of bytes of a file was read.
    Warning OnlyFirst(n: u64) ("只读取了前 {n} 字节", "only the first {n} bytes were read")
        ("这类文件通常小得多", "files of this kind are usually much smaller");
    Warning OnlyFirstOfUtf16(n: u64) ("只读取了前 {n} 字节", "only the first {n} bytes were read")
        ("请另存为 UTF-8，UTF-8 文件无论多大都能读取", "save the file as UTF-8, which has no size limit");
    Warning NotOfEncoding(encoding: &'static str) ("含有不属于 {encoding} 的字节", "contains bytes that are not {encoding}")
        ("这些字节已被替换；请把文件另存为 UTF-8", "they were replaced; save the file as UTF-8");
    Warning Nul ("含有 NUL 字符", "contains NUL characters")
        ("文件已损坏，或按二进制方式复制；请重新复制", "the file is damaged or was copied as binary; copy it again");
    Warning Entities ("声明了实体，实体不会展开", "declares entities, which are not expanded")
        ("对实体的引用保持原样；请保存一份不含实体的文件", "references to them stay as written; save the file without them");
    Warning LeftOut(kind: Quota, n: usize) ("超过 {n} {what}，其余的已忽略", "more than {n} {what}; the rest are left out", what = kind.describe())
        (
            "真实作业远没有这么多；请检查文件是否损坏，或是否混入了其他作业的文件",
            "real jobs have far fewer; check whether the file is damaged or belongs to several jobs",
        );
    Warning NameNotUnicode ("文件名不是 Unicode", "the name is not Unicode") ("请重命名该文件", "rename the file");
    Warning Link ("链接不会被跟随", "a link is not followed")
        ("如果该文件属于这个作业，请把它复制到文件夹中", "copy the file into the folder if it belongs to the job");
    /// A socket, a pipe, a device.
    Warning NoFile ("既不是文件也不是文件夹", "neither a file nor a folder")
        ("如果其内容属于这个作业，请存为文件", "save its content as a file if it belongs to the job");
    Warning NotOfSpark
        ("属于 SCOPE 或 U-SQL 作业，而该文件夹是 Spark 应用的", "belongs to a SCOPE or U-SQL job, but the folder belongs to a Spark application")
        ("未读取；请把两者放在不同的文件夹中分别分析", "it was not read; put them into separate folders and analyze each");

    /// A script that did not run: witness operators of the plan with a statement in it, and all witness operators.
    Warning OtherScript(found: usize, of: usize)
        (
            "这个脚本不是实际运行的脚本：计划中 {of} 个可核对的算子只有 {found} 个与它的语句相符",
            "this script is not the one that ran: only {found} of {of} operators of the plan match its statements"
        )
        (
            "没有使用它，需要脚本的规则不作判断；请放入该次运行的脚本（作业页面可下载）",
            "it is not used, and rules that need the script abstain; add the script of that run (the job page has it)",
        );
    /// A program that did not run: names of columns of the plans in it, and all these names.
    Warning OtherProgram(found: usize, of: usize)
        (
            "这个程序不是该应用运行的程序：日志中来自程序的 {of} 个名称（列、调用位置、应用名）只有 {found} 个在其中",
            "this is not the program that the application ran: it has only {found} of the {of} names in the log that a program gives (columns, call sites, the application)"
        )
        ("没有使用它；请用 --script 给出该应用的程序", "it is not used; give the application's program with --script");
    Warning ShiftedScript(by: i64) ("脚本的行与计划中的行相差 {by} 行", "lines of the script differ by {by} from those in the plan")
        ("行号已按语句内容对齐", "lines are aligned by the content of the statements");
    /// An error in the script, as the parser reports it.
    Warning Syntax(error: String) ("语法错误：{error}", "{error}")
        ("已跳过该语句；其余语句都已读取", "the statement is skipped; all others are read");
    Warning NoStatement ("没有任何语句", "contains no statement")
        ("脚本本身已说明其内容，不需要该文件", "this file is not needed: the script itself has the same information");

    Warning NoCounters ("没有计数器", "contains no counters")
        (
            "顶点可能在写出计数器之前就失败了；请查看它的错误文件",
            "the vertex may have failed before it wrote its counters; look for its error file",
        );
    Warning NoStage ("没有写明是哪个 stage", "names no stage")
        ("未使用该文件中各输入的大小；请重新获取文件", "the sizes of its inputs are not used; fetch the file again");
    Warning Metadata(error: String) ("表的元数据无法解码：{error}", "the table metadata cannot be decoded: {error}")
        ("缺少各输入的行数与分区；请重新获取文件", "rows and partitions of the inputs are missing; fetch the file again");
    Warning NoTables ("没有表的列表", "has no list of tables")
        ("应为含有 `tables` 列表的对象", "expected an object with a list `tables`");
    Warning TableWithoutName ("有一张表没有名字", "a table without a name")
        ("请给这张表写上 `name` 或 `path`", "give the table a `name` or a `path`");
    /// Rows of a table's partitions differ from its metadata.
    Warning RowsDiffer(stream: String, here: u64, there: u64)
        (
            "`{stream}` 各分区的行数与表的元数据不一致（总数 {here}，元数据为 {there}）",
            "the rows of the partitions of `{stream}` add up to {here}, but the table's metadata says {there}"
        )
        (
            "已采用表的元数据：该文件有时会重复另一个流的数值",
            "the table's metadata was used: this file is known to repeat values of another stream",
        );
    /// A number that cannot be used: attribute and value.
    Warning OutOfRange(name: String, value: String) ("`{name}` 的值 `{value}` 超出范围", "`{value}` is out of range for `{name}`")
        ("按未知处理；其余计数器都已读取", "it is treated as unknown; all other counters are read");

    Warning Attempt ("有一次顶点尝试无法读取", "an attempt that cannot be read") ATTEMPTS;
    Warning LongLine ("有一行太长，无法读取", "a line that is too long to read") ATTEMPTS;
    Warning CutLine ("文件在这一行被截断", "the file is cut off in this line") ATTEMPTS;
    Warning MoreLines(n: u64) ("还有 {n} 行无法读取", "further unreadable lines: {n}") ATTEMPTS;
    Warning MoreAttempts(n: u64) ("还有 {n} 次尝试超出可保留的数量", "{attempts} beyond the limit", attempts = ATTEMPT.count(*n as f64)) ATTEMPTS;

    /// Lines of an event log without an event.
    Warning UnreadableEvents(n: u64) ("有 {n} 行不是事件", "{lines} without an event", lines = LINE.count(*n as f64))
        ("这些行已跳过；请检查日志是否完整复制", "they were skipped; check that the log was copied completely");
    Warning CutEvent ("日志在这一行被截断", "the log is cut off in this line") FETCH_LOG;
    Warning CutLog(error: String) ("日志在压缩块中被截断（{error}）", "the log is cut off within a compressed block ({error})") FETCH_LOG;
    Warning TooDemanding(why: String) ("日志无法解压：{why}", "the log cannot be decompressed: {why}")
        ("请用 `zstd -d --long=31` 解压后再分析", "decompress it with `zstd -d --long=31`, and analyze that");
    /// The deadline passed before the file was opened.
    Warning NoTime ("未读取：分析时间已到", "not read: the time limit was reached") MORE_TIME;
    /// The deadline passed at a line.
    Warning TimeIsUp(line: u64) ("只读到第 {line} 行：分析时间已到", "only read up to line {line}: the time limit was reached") MORE_TIME;
    /// The analysis was cancelled before the file was opened.
    Warning NotStarted ("未读取：分析被中断", "not read: the analysis was interrupted") AGAIN;
    /// The analysis was cancelled at a line.
    Warning Interrupted(line: u64) ("只读到第 {line} 行：分析被中断", "only read up to line {line}: the analysis was interrupted") AGAIN;
    /// A log with hardly any events up to a line.
    Warning NoEvents(line: u64) ("前 {line} 行大多不是事件，其余未读取", "most of the first {line} lines are not events; the rest was not read")
        ("请检查这是否是事件日志", "check that this is an event log");
    /// A part of a log without its beginning, with the time range of its events.
    Warning PartOfLog(from: String, to: String)
        (
            "这是日志的一部分，从 {from} 到 {to}；其中没有应用的开始",
            "this is a part of a log, from {from} to {to}; it lacks the start of the application"
        )
        (
            "结论只针对这段时间；要分析整个应用，请给出日志的所有部分",
            "the report is about this time only; give all parts of the log to analyze the whole application",
        );
    Warning NoApplicationEnd
        ("日志中没有应用的结束：它仍在运行，或 Driver 已崩溃", "the log has no end of the application: it is still running, or its driver died")
        (
            "应用结束后请重新获取日志；如果 Driver 已崩溃，请把驱动日志放在旁边",
            "fetch the log again when the application has ended; if its driver died, add the driver's log",
        );
    Warning UnknownEvents(events: u64, kinds: String) ("跳过了 {events} 个未知类型的事件：{kinds}", "skipped events of unknown kinds: {events} ({kinds})")
        ("其余事件都已读取，不影响结论", "all other events were read; this does not affect the result");
    /// A completed stage with fewer ends of tasks than tasks.
    Warning EventsLost(stage: String, ended: u64, expected: u64)
        (
            "{stage} 已完成，但 {expected} 个任务中只记录了 {ended} 个的结束",
            "{stage} completed, but the log has the end of only {ended} of its {expected} tasks"
        )
        (
            "Spark 丢失了事件，不据此计算各任务的分布；可调大 `spark.scheduler.listenerbus.eventqueue.capacity`",
            "Spark dropped events, so no distribution over these tasks is computed; raise `spark.scheduler.listenerbus.eventqueue.capacity`",
        );
    /// Number of events with impossible times, and the first of these times.
    Warning ImpossibleTimes(events: u64, first: String)
        ("有不可能的时间，未采用：共 {events} 处，第一个为 {first}", "impossible times were not used: {events} in all, the first {first}")
        (
            "请检查写日志的机器的时钟，以及日志是否被改动",
            "check the clock of the machine that wrote the log, and whether the log was changed",
        );
    Warning ImpossiblyLong(hours: i64) ("按日志的时间，应用运行了 {hours} 小时", "by the times in the log, the application ran for {hours} h")
        ("很可能有时间戳错误，与时间有关的结论都不可靠", "a timestamp is probably wrong, so no conclusion about time is reliable");
    Warning MoreOfLog(most: usize)
        (
            "Stage 尝试、Job 或 SQL 执行超过 {most} 个：只采用了其中耗时最多的",
            "more than {most} stage attempts, jobs or SQL executions: only the costliest are used"
        )
        SPLIT_LOG;
    Warning MoreEdges(most: usize)
        (
            "Stage 之间的依赖太多：只保留 {most} 条，每个 Stage 保留它最后等到的",
            "the stages have too many dependencies: {most} are kept, for each stage the ones that it waited for last"
        )
        SPLIT_LOG;
    /// Details of the costliest stages and executions only, to bound memory.
    Warning TotalsOnly
        (
            "日志很大：只保留了耗时最多的 Stage 与 SQL 执行的细节，其余只有总量",
            "the log is large: details were kept of the costliest stages and SQL executions, totals of all others"
        )
        (
            "其余 Stage 单独看都不重要；要看细节，请分析日志的一部分",
            "each of the others has little effect; analyze a part of the log to see its details",
        );
}

impl Problem {
    /// Reading stopped at a line; 0 before the file was opened.
    pub(crate) fn stopped(early: Early, line: u64) -> Problem {
        match (early, line) {
            (Early::TimeIsUp, 0) => Problem::NoTime,
            (Early::TimeIsUp, _) => Problem::TimeIsUp(line),
            (Early::Cancelled, 0) => Problem::NotStarted,
            (Early::Cancelled, _) => Problem::Interrupted(line),
        }
    }

    pub(crate) fn is_early_stop(&self) -> bool {
        use Problem::{Interrupted, NoTime, NotStarted, TimeIsUp};
        matches!(self, NoTime | TimeIsUp(_) | NotStarted | Interrupted(_))
    }
}
