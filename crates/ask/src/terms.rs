//! Definitions of terms: "what does capacity wait mean".

use std::ops::Range;
use std::sync::LazyLock;

use report::measure::{Entity, Measure, book};
use report::{Cause, SegmentKind, StaticText};

use crate::reading::Reading;
use crate::said::Said;
use crate::term::{Term, term};
use crate::word::{Cue, Word};
use crate::{Asked, found, plan, rank, thing, time};

use SegmentKind as Kind;

#[rustfmt::skip]
const TERMS: &[Term] = &[
    term(Some(Kind::CapacityWait), "等待资源|资源等待|等待令牌|等待 executor", "capacity wait|wait for capacity|wait for executors|waiting for capacity",
        "等待资源：顶点已可运行，但令牌或 Executor 的槽位都被占用",
        "capacity wait is time spent waiting for a token or slot: vertices are ready to run, but all tokens or executor slots are in use"),
    term(Some(Kind::Queue), "排队|排队时间", "queue|queuing|queueing|queue time",
        "排队：作业已提交，但集群还没有资源启动它",
        "queue is the time from submission to start: the cluster has no capacity for the job yet"),
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
        "garbage collection is the time that managed code (.NET, JVM) pauses to free memory"),
    term(Some(Kind::UserCode), "用户代码|udf|udo|自定义函数", "user code|udf|udo|a udf",
        "用户代码：脚本作者自己写的 C#、Python、Java 或 Scala 函数，优化器看不到其内部",
        "user code is C#, Python, Java or Scala that the author of the script wrote; the optimizer can't look into it"),
    term(Some(Kind::Driver), "driver|作业管理器", "driver|job manager",
        "Driver（作业管理器）：提交阶段、汇总结果的进程；它工作时各阶段可能都在等待",
        "the driver (job manager) is the process that submits stages and gathers results; while it works, stages may wait"),
    term(Some(Kind::Retry), "重试", "retry|retries",
        "重试：尝试失败或被收回之后，同样的工作再做一遍",
        "retries repeat work of attempts that failed or were revoked"),
    term(None, "被收回|收回|revoked|revoke|撤销", "revoked|revoke|revokes|revocation|revoked attempt|revoked vertex",
        "被收回：调度器收回了正在运行的尝试（例如令牌或机器另有用途），或者它的输出后来丢失；不是程序出错，同样的工作会再做一遍",
        "a revoked attempt was taken back by the scheduler, for example because its token or machine was needed elsewhere, or its output was lost; the program is not at fault, and the work is repeated"),
    term(None, "失败|失败的尝试|failed", "failed|failure|failed attempt|failed vertex|failed task",
        "失败：尝试因错误而结束，例如异常、内存超限或读取失败；会重试几次，仍失败则作业失败",
        "a failed attempt ended with an error, such as an exception, too little memory or an unreadable input; it is retried a few times, then the job fails"),
    term(None, "被放弃|abandoned", "abandoned|discarded|duplicate",
        "被放弃：同一顶点的另一个尝试先完成，这个尝试的结果不再需要",
        "an abandoned attempt lost against a duplicate of its vertex that ended first"),
    term(None, "退出码 50|退出码 52", "exit code 50|exit code 52",
        "退出码 50 和 52：Executor 的 JVM 因未捕获的异常结束，52 是内存不足（OutOfMemoryError）",
        "exit codes 50 and 52 mean that the JVM of the executor ended with an uncaught exception; 52 is an OutOfMemoryError"),
    term(None, "退出码 134|退出码 139", "exit code 134|exit code 139",
        "退出码 134 和 139：进程因 SIGABRT（128 + 6）或 SIGSEGV（128 + 11）崩溃，多半出自本机代码",
        "exit codes 134 and 139 mean that the process crashed by SIGABRT (128 + 6) or SIGSEGV (128 + 11), mostly in native code"),
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
        "waves are rounds: a stage with more vertices than there are tokens runs in several"),
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
        "fetch wait is the time that tasks wait for shuffled data from other machines"),
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

/// Words of users, and the operators of plans.
pub(crate) fn all() -> impl Iterator<Item = &'static Term> {
    TERMS.iter().chain(plan::OPERATORS)
}

/// Says the definition of a name.
pub(crate) fn of_name(said: &mut Said<'_>, name: &str) {
    let mut all = all();
    let term = all.find(|term| term.en.split('|').any(|own| own == name));
    term.iter().for_each(|term| said.say(term.says.into()));
}

/// `WaitingForCapacity` with blanks.
pub(crate) fn spaced(text: &str) -> String {
    let mut spaced = String::new();
    for c in text.chars() {
        if c.is_ascii_uppercase() && spaced.ends_with(|c: char| c.is_ascii_lowercase()) {
            spaced.push(' ');
        }
        spaced.push(c);
    }
    spaced
}

/// Whether a word is the name of a definition in another spelling.
pub(crate) fn knows(word: &str) -> bool {
    let name = plain(&spaced(word));
    name.contains(' ') && NAMES.iter().any(|(known, _)| *known == name)
}

/// Whether a text has a name of a term.
pub(crate) fn is_named(term: &Term, text: &str) -> bool {
    let text = plain(text);
    let mut names = crate::vocabulary::texts(term.zh, term.en);
    names.any(|name| place_of(&text, name).is_some())
}

/// A name of the program with its definition.
#[derive(Clone, Copy)]
enum Definition {
    Term(&'static Term),
    Measure(&'static Measure),
    Cause(Cause),
}

/// A name with spaces in place of hyphens, so that spellings with either are the same.
fn plain(text: &str) -> String {
    text.to_lowercase()
        .replace(['-', '_', '’', '`', '"', '“', '”'], " ")
}

/// The definitions by their names, the longest first; a term goes before a cause or a measure of its name.
static NAMES: LazyLock<Vec<(String, Definition)>> = LazyLock::new(|| {
    let both = |title: StaticText| [title.zh, title.en];
    let terms = all().flat_map(|term| {
        let names = term.zh.split('|').chain(term.en.split('|'));
        names.map(move |name| (name, Definition::Term(term)))
    });
    let causes = Cause::ALL.iter().flat_map(|cause| {
        let tail = cause.code().split_once('.').map_or("", |(_, tail)| tail);
        let names = both(cause.title()).into_iter().chain([cause.code(), tail]);
        names.map(|name| (name, Definition::Cause(*cause)))
    });
    let measures = book::ALL.iter().flat_map(|m| {
        let names = both(m.title).into_iter().chain([m.id]);
        names.map(|name| (name, Definition::Measure(m)))
    });
    let all = terms.chain(causes).chain(measures);
    let mut names: Vec<(String, Definition)> = all.map(|(n, d)| (plain(n), d)).collect();
    names.retain(|(name, _)| !name.is_empty());
    names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    names
});

/// Where a text has a name as whole words, also in the plural.
fn place_of(text: &str, name: &str) -> Option<Range<usize>> {
    let is_part = |c: char| c.is_ascii_alphanumeric();
    let is_word = name.is_ascii();
    let mut places = text.match_indices(name).filter_map(|(at, found)| {
        let plural = text[at + found.len()..].starts_with('s') && is_word;
        let end = at + found.len() + usize::from(plural);
        let mut after = text[end..].chars();
        // "spark.executor.memory" is another name
        let goes_on = after.next() == Some('.') && after.next().is_some_and(is_part);
        let is_whole = !text[..at].ends_with(|c| is_part(c) || c == '.');
        let is_whole = is_whole && !text[end..].starts_with(is_part) && !goes_on;
        (is_whole || !is_word).then_some(at..end)
    });
    places.next()
}

/// The name of the one term whose definition a question asks for.
pub(crate) fn named(question: &str) -> Option<&'static str> {
    let one = asked(question);
    let [own] = one[..] else { return None };
    let text = plain(question);
    let of_own = NAMES
        .iter()
        .filter(|(_, definition)| match (definition, own) {
            (Definition::Term(a), Definition::Term(b)) => std::ptr::eq(*a, b),
            (Definition::Measure(a), Definition::Measure(b)) => *a == b,
            (Definition::Cause(a), Definition::Cause(b)) => *a == b,
            _ => false,
        });
    let mut there = of_own.filter(|(name, _)| place_of(&text, name).is_some());
    there.next().map(|(name, _)| name.as_str())
}

/// The definitions that a question asks for, after statements such as "I'm new to SCOPE.".
fn asked(question: &str) -> Vec<Definition> {
    let last = question.trim_end_matches(['?', '？', '.', '。', ',', '，', ' ']);
    let last = last.rsplit_once(['.', '。', '!', '！']);
    match (defined(question), last) {
        (none, Some((_, last))) if none.is_empty() && last.starts_with(' ') => defined(last),
        (asked, _) => asked,
    }
}

/// The definitions that a text asks for: it has their names and no other content.
fn defined(question: &str) -> Vec<Definition> {
    let mut rest = plain(question);
    let mut found: Vec<(usize, Definition)> = Vec::new();
    for (name, definition) in NAMES.iter() {
        if let Some(place) = place_of(&rest, name) {
            found.push((place.start, *definition));
            // the same length keeps the other places valid
            let blank = " ".repeat(place.len());
            rest.replace_range(place, &blank);
        }
    }
    found.sort_by_key(|(at, _)| *at);
    // "are there any in this job?" asks for no definition of a job
    if found.len() > 1 {
        let is_job =
            |d: &Definition| matches!(d, Definition::Term(term) if term.en.starts_with("job"));
        found.retain(|(_, definition)| !is_job(definition));
    }
    // "what does MapInPandas do to the run time?" asks for a time
    let is_plan = |d: &Definition| match d {
        Definition::Term(term) => plan::OPERATORS.iter().any(|of_plan| of_plan.en == term.en),
        _ => false,
    };
    let is_measured = found.len() > 1 && found.iter().any(|(_, d)| is_plan(d));
    match !is_measured && only_defines(&rest, found.len() > 1) {
        true => found
            .into_iter()
            .map(|(_, definition)| definition)
            .collect(),
        false => Vec::new(),
    }
}

/// Whether a text only asks for a definition: of one name that was taken out of it, or of several.
fn only_defines(rest: &str, are_several: bool) -> bool {
    let scan = Reading::of(rest);
    let is_around = |word: &Word| {
        matches!(
            word,
            Word::Filler | Word::Which | Word::Define | Word::Other | Word::Mean | Word::Each
        )
    };
    let is_around = |word: &Word| is_around(word) || are_several && *word == Word::Apart;
    let says_what = scan.shows(Cue::What);
    let is_question = scan.shows(Cue::Is);
    let asks = scan.has(Word::Define)
        || says_what && is_question
        || scan.has(Word::Mean) && says_what
        || scan.shows(Cue::Purpose)
        || are_several && scan.shows(Cue::Differs);
    // "what is its limit?" asks for a number
    let asks = asks && !scan.points_back() && !scan.shows(Cue::Target);
    let others = scan
        .words
        .iter()
        .filter(|word| **word == Word::Other)
        .count();
    let defines = scan
        .words
        .iter()
        .filter(|word| **word == Word::Define)
        .count();
    asks && scan.left.is_empty() && others <= defines && scan.words.iter().all(is_around)
}

impl Definition {
    /// Says the definition, and how much of it the run has.
    fn say(&self, said: &mut Said<'_>, run: &Asked<'_>) {
        match self {
            Definition::Term(term) => {
                said.say(term.says.into());
                let has_some = |kind: &SegmentKind| time::seconds_of(run, *kind, None) > 0.0;
                if let Some(kind) = term.kind.filter(has_some) {
                    time::time_of(said, run, kind, None);
                }
                let is_it = |id: &str| term.en.split('|').any(|name| plain(id).starts_with(name));
                let is_plan = plan::OPERATORS.iter().any(|of_plan| of_plan.en == term.en);
                for (at, stage) in run.summary.stages.iter().enumerate().filter(|_| is_plan) {
                    let operators = stage.operators.iter().enumerate();
                    let found = operators.filter(|(_, o)| is_it(&o.id));
                    found.for_each(|(o, _)| thing::operator(said, run, at, o));
                }
                let causes = Reading::of(&format!("{} {}", term.zh, term.en)).causes();
                let findings = run.report.findings.iter();
                let findings = findings.filter(|f| causes.contains(&f.cause));
                findings.for_each(|f| found::finding(said, f, false));
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

/// Says the definitions that a question asks for. Returns false for any other question.
pub(crate) fn define(said: &mut Said<'_>, run: &Asked<'_>, question: &str) -> bool {
    // "what is the driver memory?" asks for a setting
    if Reading::of(question)
        .settings()
        .any(|key| run.summary.settings.contains_key(key) && key.contains("emory"))
    {
        return false;
    }
    let asked = match asked(question) {
        none if none.is_empty() => self::asked(&spaced(question)),
        asked => asked,
    };
    let is_one = asked.len() == 1;
    for definition in &asked {
        match definition {
            Definition::Term(term) if !is_one => said.say(term.says.into()),
            other => other.say(said, run),
        }
    }
    !asked.is_empty()
}
