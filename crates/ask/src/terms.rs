//! Definitions of terms: "what does capacity wait mean".

use report::measure::{Entity, Measure, book};
use report::{Cause, SegmentKind, StaticText, text};

use crate::names::{Known, Named};
use crate::phrases::Phrases;
use crate::said::Said;
use crate::{Asked, found, rank, time};

/// A term by its names, with the kind of time that it stands for.
struct Term {
    kind: Option<SegmentKind>,
    zh: Phrases,
    en: Phrases,
    says: StaticText,
}

const fn term(
    kind: Option<SegmentKind>,
    zh: Phrases,
    en: Phrases,
    says_zh: &'static str,
    says_en: &'static str,
) -> Term {
    let says = StaticText {
        zh: says_zh,
        en: says_en,
    };
    Term { kind, zh, en, says }
}

use SegmentKind as Kind;

#[rustfmt::skip]
const TERMS: &[Term] = &[
    term(Some(Kind::CapacityWait), "等待资源|资源等待|等待令牌|等待 executor", "capacity wait|wait for capacity|wait for executors|waiting for capacity",
        "等待资源：顶点已可运行，但令牌或 Executor 的槽位都被占用",
        "capacity wait is time in which vertices are ready to run, but all tokens or executor slots are in use"),
    term(Some(Kind::Queue), "排队|排队时间", "queue|queuing|queueing|queue time",
        "排队：作业已提交，但集群还没有资源启动它",
        "queue is the time after submission in which the cluster has no capacity to start the job"),
    term(Some(Kind::Compile), "编译|编译时间", "compilation|compiling|compile time",
        "编译：把脚本变成执行计划和代码的时间，与数据和资源无关",
        "compilation turns the script into a plan and code; its time does not depend on data or resources"),
    term(Some(Kind::Startup), "启动|启动时间|启动开销", "start-up|startup|start-up time|startup time",
        "启动：顶点分到机器之后、开始处理数据之前的时间，用于启动进程和加载代码",
        "start-up is the time between a vertex's placement on a machine and its first row: starting the process, loading code"),
    term(Some(Kind::Exchange), "shuffle|洗牌|数据交换|交换", "shuffle|exchange|a shuffle|shuffling",
        "Shuffle：按键重新分配各行，每一行写出后由下一阶段的另一个顶点读取",
        "exchange (shuffle) sends each row to the vertex of the next stage that is responsible for its key"),
    term(Some(Kind::Straggler), "长尾|拖尾", "straggler|stragglers|long tail",
        "长尾：阶段的大多数顶点已结束，仍在等待最慢的几个顶点的时间",
        "a straggler is a vertex that still runs when nearly all others of its stage have ended; the stage waits for it"),
    term(Some(Kind::Spill), "落盘|溢写|溢出", "spill|spilling|spills|spilled",
        "落盘：内存放不下排序、连接或聚合的数据，于是写到磁盘再读回",
        "spilling writes data of a sort, join or aggregation to disk, and reads it again, because it does not fit into memory"),
    term(Some(Kind::Gc), "gc|垃圾回收", "gc|garbage collection|gc time",
        "垃圾回收：托管代码（.NET、JVM）释放内存时暂停工作的时间",
        "garbage collection is time in which managed code (.NET, JVM) pauses to free memory"),
    term(Some(Kind::UserCode), "用户代码|udf|udo|自定义函数", "user code|udf|udo|a udf",
        "用户代码：脚本作者自己写的 C#、Python、Java 或 Scala 函数，优化器看不到其内部",
        "user code is C#, Python, Java or Scala that the author of the script wrote; the optimizer can't look into it"),
    term(Some(Kind::Driver), "driver|作业管理器", "driver|job manager",
        "Driver（作业管理器）：提交阶段、汇总结果的进程；它工作时各阶段可能都在等待",
        "the driver (job manager) is the process that submits stages and gathers results; while it works, stages may wait"),
    term(Some(Kind::Retry), "重试", "retry|retries",
        "重试：尝试失败或被收回之后，同样的工作再做一遍",
        "retries repeat work of attempts that failed or were revoked"),
    term(None, "被收回|收回|revoked|撤销", "revoked|revocation|revoked attempt|revoked vertex",
        "被收回：调度器收回了正在运行的尝试（例如令牌或机器另有用途），或者它的输出后来丢失；不是程序出错，同样的工作会再做一遍",
        "a revoked attempt was taken back by the scheduler, for example because its token or machine was needed elsewhere, or its output was lost; the program is not at fault, and the work is repeated"),
    term(None, "失败|失败的尝试|failed", "failed|failure|failed attempt|failed vertex|failed task",
        "失败：尝试因错误而结束，例如异常、内存超限或读取失败；会重试几次，仍失败则作业失败",
        "a failed attempt ended with an error, such as an exception, too little memory or an unreadable input; it is retried a few times, then the job fails"),
    term(None, "被放弃|abandoned", "abandoned|discarded|duplicate",
        "被放弃：同一顶点的另一个尝试先完成，这个尝试的结果不再需要",
        "an abandoned attempt lost against a duplicate of its vertex that ended first"),
    term(None, "推测执行", "speculation|speculative execution|speculative task",
        "推测执行：为太慢的 Task 再启动一个副本，先结束的有效",
        "speculative execution starts a copy of a slow task; the one that ends first counts"),
    term(None, "退出码 137|exit code 137|137", "exit code 137|137",
        "退出码 137：进程被 SIGKILL（128 + 9）强制结束，多半因为内存超出容器的上限，也可能是被抢占",
        "exit code 137 means that the process was killed by SIGKILL (128 + 9), mostly for more memory than its container may use, or by preemption"),
    term(None, "job|spark job", "job|spark job|a job",
        "Job：应用的一个动作（如写出、count）引起的一组 Stage",
        "a job of Spark is the set of stages that one action, such as a write or a count, starts"),
    term(None, "算子|operator", "operator|an operator",
        "算子：执行计划中的一步，如扫描、连接、聚合、排序；一个阶段由若干算子组成",
        "an operator is one step of the plan, such as a scan, a join, an aggregation or a sort; a stage consists of operators"),
    term(Some(Kind::Idle), "空闲", "idle|idle time", "空闲：没有阶段在运行，也没有别的解释", "idle is time without a running stage"),
    term(None, "关键路径|临界路径", "critical path",
        "关键路径：从提交到结束、前后相接、决定总时间的一串工作和等待；只有缩短它，作业才会更快",
        "the critical path is the chain of work and waits from submission to end that decides the total time; only a shorter critical path makes the job faster"),
    term(None, "数据倾斜|倾斜", "skew|data skew",
        "数据倾斜：一个分区比其他分区大得多，处理它的顶点拖住整个阶段",
        "data skew means that one partition is much larger than the others, so its vertex holds up the stage"),
    term(None, "热点键|热点值|热点 key|热点", "hot key|hot keys",
        "热点键：出现在大量行中的键值，这些行都落到同一个顶点",
        "a hot key is a value in very many rows, which all go to one vertex"),
    term(None, "顶点|task|vertex|任务", "vertex|vertices|task|tasks",
        "顶点（Spark 称 Task）：阶段中处理一个分区的执行单位", "a vertex is the work on one partition of a stage"),
    term(None, "阶段|stage", "stage|a stage",
        "阶段：两次 Shuffle 之间的算子，由一组顶点并行执行", "a stage is the operators between two exchanges, run by vertices in parallel"),
    term(None, "令牌|token", "token|tokens", "令牌：允许一个顶点运行的许可；令牌数是同时运行的顶点数的上限",
        "a token allows one vertex to run; their number limits how many vertices run at once"),
    term(None, "au", "au|aus|analytics unit", "AU：U-SQL 作业的计算单位；AU 数是同时运行的顶点数的上限",
        "an AU is the unit of compute of a U-SQL job; their number limits how many vertices run at once"),
    term(None, "executor|执行器", "executor|executors", "Executor：运行 Task 的 JVM 进程，有若干槽位和一份内存",
        "an executor is a JVM process that runs tasks; it has slots and memory"),
    term(None, "波次", "wave|waves", "波次：顶点多于令牌时，一个阶段要分几轮运行",
        "waves are the rounds in which a stage runs if it has more vertices than there are tokens"),
    term(None, "分区", "partition|partitions", "分区：由同一个顶点处理的那部分行", "a partition is the part of the rows that one vertex works on"),
    term(None, "广播|广播连接|broadcast join", "broadcast|broadcast join",
        "广播连接：把小表整个发给大表的每个顶点，大表因此不必 Shuffle",
        "a broadcast join sends the small side to every vertex of the large side, so that the large side isn't shuffled"),
    term(None, "aqe|自适应查询执行|自适应执行", "aqe|adaptive query execution",
        "AQE：Spark 运行时按实际大小调整计划：合并小分区、拆分倾斜分区、改用广播",
        "AQE is Spark's adaptive query execution: during the run it merges small partitions, splits skewed ones, and switches to broadcasts by actual sizes"),
    term(None, "重新分区|重分区", "repartition|repartitioning", "重新分区：按另一个键或分区数再次 Shuffle 各行",
        "a repartition shuffles rows again, by another key or into another number of partitions"),
    term(None, "顶点小时", "vertex-hour|vertex-hours|vertex hours", "顶点小时：所有顶点运行时间之和", "vertex-hours are the run time of all vertices together"),
    term(None, "核小时", "core-hour|core-hours|core hours|executor-core-hour", "核小时：Executor 的核数乘以占用时间",
        "core-hours are the cores of the executors times the time they are held"),
    term(None, "fetch wait|等待 shuffle 数据", "fetch wait|fetch wait time", "Fetch 等待：Task 等待别的机器把 Shuffle 数据传过来的时间",
        "fetch wait is time in which tasks wait for shuffled data from other machines"),
    term(None, "可避免|可以避免", "avoidable|avoidable time", "可避免：按重放估计，全部问题修复后能省下的时间",
        "avoidable is the time saved with every finding fixed, estimated by a replay of the run"),
    term(None, "置信度", "confidence", "置信度：原因成立的可能性，由支持和反对它的测量得出",
        "confidence is how likely the cause is, from the measurements for and against it"),
    term(None, "顶点小时浪费|浪费的顶点小时|浪费", "vertex-hours wasted|wasted vertex-hours|wasted|vertex hours wasted",
        "浪费的顶点小时：失败和被收回的尝试用掉的时间，加上修复全部问题后不再需要的工作",
        "wasted vertex-hours are the hours of failed and revoked attempts, and of the work that fixing the findings would avoid"),
    term(None, "pod", "pod|pods", "pod：集群中由一组高速互联的机器组成的单元；跨 pod 的读取经过更慢的上层网络",
        "a pod is a group of machines of the cluster with a fast network between them; reads from other pods go over a slower network"),
    term(None, "局部聚合|部分聚合|预聚合", "partial aggregation|partial aggregate|local aggregation|pre-aggregation",
        "局部聚合：在 Shuffle 之前先合并同一顶点内相同键的行，减少要传输的行数",
        "a partial aggregation combines the rows of a key within a vertex before the exchange, so that fewer rows are moved"),
    term(None, "gather|汇集", "gather|gathering", "gather：把所有行送到一个顶点的交换", "a gather is an exchange that sends all rows to one vertex"),
    term(None, "哈希连接", "hash join", "哈希连接：把较小的一侧放进内存中的哈希表，另一侧逐行查找；不需要排序",
        "a hash join puts the smaller side into a hash table in memory and looks up each row of the other side; it needs no sort"),
    term(None, "归并连接|合并连接|排序合并连接", "merge join|sort-merge join|sort merge join",
        "归并连接：两侧都按连接键排序，然后并行向前比较", "a merge join sorts both sides by the join key and walks through them together"),
    term(None, "退出码 143|exit code 143|143", "exit code 143|143", "退出码 143：进程收到 SIGTERM（128 + 15）而结束，多半是应用结束或资源管理器要求它退出",
        "exit code 143 means that the process was asked to end by SIGTERM (128 + 15), mostly at the end of the application or by the resource manager"),
    term(None, "基数|行数估计|估计行数", "cardinality|row estimate|estimated rows", "行数估计：优化器在运行前预计的行数，决定分区数和连接方式",
        "the row estimate is the optimizer's expectation before the run; it decides the number of partitions and the kind of join"),
];

/// Words before and after the term of a question for a definition.
const ASKS: &[(&str, &str)] = &[
    ("what does ", " mean"),
    ("what do ", " mean"),
    ("what does ", " stand for"),
    ("what is meant by ", ""),
    ("meaning of ", ""),
    ("definition of ", ""),
    ("define ", ""),
    ("how is ", " defined"),
    ("什么是", ""),
    ("什么叫", ""),
    ("何为", ""),
    ("", "是什么意思"),
    ("", "是啥意思"),
    ("", "什么意思"),
    ("", "是指什么"),
    ("", "指的是什么"),
    ("", "指什么"),
    ("", "的含义"),
    ("", "的定义"),
    ("", "怎么定义"),
    ("", "怎么理解"),
];

/// The same for questions with other possible subjects: "what is the largest input?".
const MAY_ASK: &[(&str, &str)] = &[
    ("what exactly is ", ""),
    ("what is ", ""),
    ("what's ", ""),
    ("what are ", ""),
    ("explain ", ""),
    ("describe ", ""),
    ("解释一下", ""),
    ("解释", ""),
    ("", "是什么"),
    ("", "是啥"),
];

const MARKS: &[char] = &[
    '?', '？', '。', '.', '!', '"', '“', '”', '`', '\'', ' ', '，', ',', ':', '：',
];

/// Words around a term that belong to no name.
const BEFORE: &[&str] = &[
    "a ",
    "an ",
    "the ",
    "what ",
    "term ",
    "your ",
    "这里的",
    "这里",
    "报告里的",
    "报告里",
    "所谓的",
    "所谓",
    "给我讲讲",
    "给我解释一下",
    "讲讲",
    "请问",
    "请",
    "一下",
    "术语",
];
const AFTER: &[&str] = &[
    " here",
    " in spark",
    " in scope",
    " in this report",
    " in the report",
    " in this job",
    " is",
    " means",
    " to me",
    " exactly",
    " please",
    "这个词",
    "是什么",
    "呢",
    "时间的意思",
];

/// A name without the words around it.
fn bare(text: &str) -> String {
    let mut text = text.trim_matches(MARKS);
    loop {
        let before = BEFORE.iter().find_map(|word| text.strip_prefix(word));
        let after = AFTER.iter().find_map(|word| text.strip_suffix(word));
        match before.or(after) {
            Some(shorter) => text = shorter.trim_matches(MARKS),
            None => return text.to_owned(),
        }
    }
}

/// The term that a question wants defined.
fn asked(question: &str, forms: &[(&str, &str)]) -> Option<String> {
    let lower = question.trim().to_lowercase().replace('’', "'");
    let text = lower.trim_matches(MARKS);
    forms.iter().find_map(|(before, after)| {
        let (_, rest) = text.split_once(before)?;
        let inside = match *after {
            "" => rest,
            after => rest.split_once(after)?.0,
        };
        Some(bare(inside)).filter(|name| !name.is_empty())
    })
}

/// The two terms of a question for their difference.
fn compared(question: &str) -> Option<[String; 2]> {
    const ENDS: [&str; 5] = [
        "有什么区别",
        "有什么不同",
        "的区别",
        "有何区别",
        "区别是什么",
    ];
    let lower = question.trim().to_lowercase();
    let between = lower
        .split_once("difference between ")
        .map(|(_, rest)| rest);
    let differ = || lower.contains("differ from ").then_some(lower.as_str());
    let end = || ENDS.iter().find_map(|end| lower.get(..lower.find(end)?));
    let rest = between.or_else(differ).or_else(end)?;
    let separators = [" and ", " vs ", " differ from ", "和", "与", "跟"];
    let (one, other) = separators.iter().find_map(|s| rest.split_once(s))?;
    let without = |text: &str| {
        let text = ["how does ", "how do "]
            .iter()
            .find_map(|start| text.strip_prefix(start))
            .unwrap_or(text);
        bare(text)
    };
    Some([without(one), without(other)])
}

/// Whether two names are the same but for hyphens and a plural.
fn is_alike(name: &str, known: &str) -> bool {
    let plain = |text: &str| {
        let text = text.to_lowercase().replace(['-', '_'], " ");
        text.strip_suffix('s').unwrap_or(&text).replace(' ', "")
    };
    plain(name) == plain(known)
}

fn is_named(name: &str, names: Phrases) -> bool {
    names.split('|').any(|known| is_alike(name, known))
}

/// A name of the program with its definition.
enum Definition {
    Term(&'static Term),
    Measure(&'static Measure),
    Cause(Cause),
}

impl Definition {
    fn of(name: &str) -> Option<Definition> {
        let mut terms = TERMS.iter();
        let term = terms.find(|term| is_named(name, term.zh) || is_named(name, term.en));
        let titles = |title: StaticText| is_alike(name, title.zh) || is_alike(name, title.en);
        let measure = || {
            let mut measures = book::ALL.iter();
            measures
                .find(|m| is_alike(name, m.id) || titles(m.title))
                .copied()
        };
        let cause = || {
            let mut causes = Cause::ALL.iter();
            let tail = |cause: &Cause| cause.code().split_once('.').map_or("", |(_, tail)| tail);
            causes
                .find(|c| name == c.code() || titles(c.title()) || is_alike(name, tail(c)))
                .copied()
        };
        term.map(Definition::Term)
            .or_else(|| cause().map(Definition::Cause))
            .or_else(|| measure().map(Definition::Measure))
    }

    /// The term with the longest name in a text: "CPU-bound user code".
    fn within(text: &str) -> Option<Definition> {
        const SHORTEST: usize = 6;
        let named = TERMS.iter().flat_map(|term| {
            let names = term.zh.split('|').chain(term.en.split('|'));
            names.map(move |name| (name, term))
        });
        let inside = named.filter(|(name, _)| name.len() >= SHORTEST && text.contains(name));
        let longest = inside.max_by_key(|(name, _)| name.len());
        longest.map(|(_, term)| Definition::Term(term))
    }

    /// Says the definition, and how much of it the run has.
    fn say(&self, said: &mut Said<'_>, run: &Asked<'_>) {
        match self {
            Definition::Term(term) => {
                said.say(term.says.into());
                let has_some = |kind: &SegmentKind| time::seconds_of(run, *kind, None) > 0.0;
                if let Some(kind) = term.kind.filter(has_some) {
                    time::time_of(said, run, kind, None);
                }
            }
            Definition::Measure(measure) => {
                said.say(measure.explained(run.vertex()));
                if matches!(measure.entity, Entity::Stage | Entity::Job) {
                    rank::most(said, run, &[measure]);
                }
            }
            Definition::Cause(cause) => {
                let rules = diagnosis::rules();
                if let Some(rule) = rules.iter().find(|rule| rule.cause == *cause) {
                    said.say(rule.what.into());
                }
                let findings = run.report.findings.iter().filter(|f| f.cause == *cause);
                findings.for_each(|f| found::finding(said, f, false));
            }
        }
    }
}

/// Says the definition that a question asks for. Returns false for any other question.
pub(crate) fn define(said: &mut Said<'_>, run: &Asked<'_>, question: &str) -> bool {
    let both = compared(question).map(|names| names.map(|name| Definition::of(&name)));
    if let Some([Some(one), Some(other)]) = both {
        for definition in [one, other] {
            match definition {
                Definition::Term(term) => said.say(term.says.into()),
                other => other.say(said, run),
            }
        }
        return true;
    }
    // "explain X" with a word or two asks for a definition as well
    let is_brief = |name: &String| {
        let words = name.split(' ').count();
        let is_other = ["why", "how", "this", "that", "it"]
            .iter()
            .any(|w| name.starts_with(w));
        words <= 3 && !is_other
    };
    let explained = || asked(question, &[("explain ", "")]).filter(is_brief);
    let strict = asked(question, ASKS).or_else(explained);
    let name = strict.clone().or_else(|| asked(question, MAY_ASK));
    let within = || strict.as_deref().and_then(Definition::within);
    let found = name.as_deref().and_then(Definition::of).or_else(within);
    if let Some(definition) = found {
        definition.say(said, run);
        return true;
    }
    // the meaning of a name of the run is for its own module
    let unknown = strict.filter(|name| Named::of(name, &Known::of(run)).subjects.is_empty());
    let Some(name) = unknown else {
        return false;
    };
    said.say(text!(
        "没有理解这个问题：没有“{name}”的定义",
        "I did not understand the question: there is no definition of \"{name}\""
    ));
    true
}
