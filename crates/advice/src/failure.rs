//! Suggestions for jobs that failed, were retried or had to wait.

use job::model::JobError;

use crate::case::Case;
use crate::ended;
use crate::proposal::{Gain, Proposal, advice};
use crate::vertices::smaller_partitions;
use ::failure::Class;
use diagnosis::Suggested;
use diagnosis::impact::replay;
use report::format::{Seconds, TOKEN};
use report::{Text, text};

pub(crate) fn vertex_retries(case: &Case<'_>) -> Vec<Suggested> {
    let why = advice! { Investigate, Gain::Whole, "vertex retries failures revocations duplicates cause";
        title("先查清 {place} 的顶点为何失败，再消除原因：代码、内存、输入还是机器", "find out why vertices of {place} fail and remove the cause: code, memory, input or machine", place = case.place());
        step("比较失败尝试的退出码和机器：集中在少数机器上是机器问题，集中在同一输入上是数据问题", "compare exit codes and machines of the failed attempts: few machines mean a machine, one input means data");
        step("被撤销（Revoked）说明下游读不到它的输出，或容量被抢占：看临时数据的存放和优先级", "Revoked means that a reader lost its output or that capacity was preempted: look at temporary data and at the priority");
        step("原因一时无法消除、而顶点运行很久时，用更多分区让每次重做的部分变小", "if the cause stays for now and vertices run long, more partitions make each repetition smaller");
        pro("消除原因后不再有重复的工作", "no work is repeated once the cause is gone");
        con("需要查看失败顶点的日志", "requires reading the logs of the failed vertices");
    };
    vec![case.finish(why)]
}

pub(crate) fn slow_machine(case: &Case<'_>) -> Vec<Suggested> {
    let machine = match case.evidence_text("machine") {
        Some(name) => text!("机器 {name}", "machine {name}"),
        None => text!("慢的机器", "the slow machine"),
    };
    let report = advice! { Investigate, Gain::Whole, "slow machine straggler duplicate execution";
        title("向运维报告{machine}，不要为此改脚本", "report {machine} to the operators; don't change the script for it", machine = machine);
        step("先重跑一次：不再出现就与脚本无关，不必再做什么", "run the job again first: if the slowness does not come back, the script is not to blame and no further action is needed");
        step("多次出现时，把机器名、时间和慢的倍数交给运维：同样多的数据在别的机器上正常", "if it comes back, give the operators the machine's name, the time and the slowdown: the same amount of data runs well on other machines");
        step("只有经常因此误期时，才用更小、更多波的分区降低对单台机器的依赖", "only if such machines often make the job late, depend less on one with smaller partitions in several waves");
        pro("健康的脚本保持不变", "a healthy script stays as it is");
        con("取决于运维；重跑可能又分到同一台机器", "depends on the operators; another run may get the same machine");
    };
    vec![case.finish(report)]
}

/// Failed on an input, or for a cause outside the job.
pub(crate) fn outside(case: &Case<'_>) -> Vec<Suggested> {
    let found = ended::shared(case, class(case));
    found.into_iter().map(|p| case.finish(p)).collect()
}

/// The class of the failure that a finding is about.
pub(crate) fn class(case: &Case<'_>) -> Class {
    let cause = case.finding.cause;
    let own = case.view.failure().map(|f| f.class);
    own.filter(|class| class.cause() == cause)
        .unwrap_or_else(|| Class::usual(cause))
}

/// The error that ended the job.
fn error<'a>(case: &Case<'a>) -> Option<&'a JobError> {
    case.view.failure().and_then(|f| f.error)
}

pub(crate) fn user_code(case: &Case<'_>) -> Vec<Suggested> {
    let error = error(case);
    if case
        .view
        .failure()
        .is_some_and(|f| f.class == Class::Unknown)
    {
        return vec![case.finish(ended::unknown(case))];
    }
    if case
        .view
        .failure()
        .is_some_and(|f| f.class == Class::Dependency)
    {
        return vec![case.finish(assembly(case))];
    }
    let named = error.and_then(|e| e.expression.clone().or_else(|| e.class_name.clone()));
    let what = named.map_or_else(Text::default, |what| text!("（`{what}`）", " (`{what}`)"));
    let mut guard = advice! { Rewrite, Gain::Whole, "user code exception null check TryParse bad rows";
        title("在{place}的用户代码{what}中处理异常输入", "handle bad input in the user code{what} at {place}", place = error_place(case), what = what);
        step(check_for(error));
        step("把坏行写到单独的输出并计数，超过比例再让作业失败", "send bad rows to a separate output and count them; fail only above a share");
        step("与上一次成功运行比较输入列的空值率、长度和取值范围，看是不是上游变了", "compare null shares, lengths and ranges of the input's columns with the last good run, to see whether the writer changed");
        step("用失败顶点的输入在本地重现，再加成单元测试", "reproduce it locally with the failed vertex's input, and turn it into a unit test");
        pro("作业不再因个别行失败", "single rows no longer fail the job");
        con("可能掩盖数据质量问题，所以要计数", "may hide bad data, hence the count");
    };
    if error.is_some_and(|error| all_words(error).contains("Overflow")) {
        guard.topic = "user code overflow wider type";
    }
    vec![case.finish(guard)]
}

advice! {
    /// An assembly or a resource is missing on the vertex.
    fn assembly(case: &Case<'_>) = Rewrite, Gain::Whole, "assembly could not load file dependency version";
    title("补齐程序集及其依赖", "provide the assembly and what it depends on");
    step("用 REFERENCE ASSEMBLY 或 REFERENCE 引用缺少的程序集；注册时带上它的依赖与本机文件", "reference the missing assembly (REFERENCE ASSEMBLY, REFERENCE); register it with its dependencies and native files");
    step("版本不一致时统一到一个版本；64 位、.NET 版本要与运行时相符", "if versions differ use one; 64 bit and the version of .NET must suit the runtime");
    step("在 {place} 处确认用到的类型", "see which type {place} uses", place = error_place(case));
    pro("重跑即可成功", "another run then works");
    con("要随程序集一起维护", "has to be maintained with the assembly");
}

/// The check that the exception asks for.
fn check_for(error: Option<&JobError>) -> Text {
    let said = error.map_or_else(String::new, all_words);
    let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
    if has(&["NullReference", "ArgumentNull", "Nullable object"]) {
        text!(
            "使用前判空：`?.`、`??` 或 `== null`",
            "test for null before use: `?.`, `??` or `== null`"
        )
    } else if has(&["FormatException", "correct format", "InvalidCast"]) {
        text!(
            "用 TryParse 代替 Parse 和强制转换",
            "use TryParse rather than Parse or a cast"
        )
    } else if has(&["Overflow"]) {
        text!(
            "改用更宽的类型（long、decimal），或先检查范围",
            "use a wider type (long, decimal), or check the range first"
        )
    } else if has(&["OutOfRange", "outside the bounds"]) {
        text!(
            "取下标或子串之前检查长度",
            "check the length before taking an index or a substring"
        )
    } else if has(&["DivideByZero"]) {
        text!(
            "除法之前判断除数是否为 0",
            "test the divisor for zero first"
        )
    } else if has(&["KeyNotFound"]) {
        text!(
            "用 TryGetValue 代替按键取值",
            "use TryGetValue rather than indexing by key"
        )
    } else {
        text!(
            "按异常的类型补上检查：空值、格式、范围、长度",
            "add the check that the exception asks for: null, format, range or length"
        )
    }
}

fn all_words(error: &JobError) -> String {
    let more = [&error.description, &error.details, &error.internal];
    let more = more.into_iter().flatten();
    more.fold(error.message.clone(), |all, text| all + "\n" + text)
}

/// Place of the first error.
fn error_place(case: &Case<'_>) -> Text {
    match error(case).and_then(|error| error.script_line) {
        Some(line) => text!("第 {line} 行", "line {line}"),
        None => case.rowset(),
    }
}

pub(crate) fn compile(case: &Case<'_>) -> Vec<Suggested> {
    let reported = error(case).map_or("", |error| error.message.as_str());
    let own = case.script.and_then(|script| script.errors.first());
    let (line, message) = own.map_or((0, ""), |error| (error.line, error.message.as_str()));
    let proposal = advice! { Rewrite, Gain::Whole, "compile error syntax script";
        title("修正{place}的编译错误", "fix the compile error at {place}", place = error_place(case));
        [!reported.is_empty()] step("编译器报告：{reported}", "the compiler reports: {reported}");
        [own.is_some()] step("语法检查：第 {line} 行，{message}", "the syntax check reports on line {line}: {message}");
        step("检查该行及上一行：缺少的逗号、分号、括号，拼错的列名，未引用的程序集", "look at that line and the one before: a missing comma, semicolon or bracket, a misspelled column, an assembly that is not referenced");
        step("提交前先在本地编译，并把它加入代码评审", "compile locally before submitting, and make that part of the review");
        pro("不消耗运行时间就能发现", "found without using any run time");
        con("编译器一次可能只报第一个错误", "the compiler may report only the first of several errors");
    };
    vec![case.finish(proposal)]
}

pub(crate) fn limit(case: &Case<'_>) -> Vec<Suggested> {
    let class = class(case);
    match class {
        Class::ValueSize => return vec![case.finish(value_size(case))],
        Class::Quota => {
            let found = ended::shared(case, class).into_iter();
            return found.map(|p| case.finish(p)).collect();
        }
        _ => {}
    }
    let storage = matches!(class, Class::TempData | Class::Disk);
    let memory =
        class.is_of_work() && !storage && !matches!(class, Class::Time | Class::OtherLimit);
    let too_much = match storage {
        true => text!("临时数据", "temporary data"),
        false => text!("单个顶点的工作", "work for a single vertex"),
    };
    let mut proposal = advice! { Rewrite, Gain::Whole, "";
        title("减少 {place} {too_much}", "make less {too_much} in {place}", place = case.place(), too_much = too_much);
        [class == Class::Time] step("单个顶点运行超时：先消除该阶段的倾斜，再增加分区；提高令牌数没有帮助", "a vertex ran too long: remove the skew of the stage first, then use more partitions; more tokens don't help");
        [memory] step("单个顶点超过内存上限：逐行处理，不缓存整组或整个文件（提取器不要把输入读进 MemoryStream）；分散热点键；使用更小的分区", "a vertex went over its memory: go row by row, keep no groups or whole files (an extractor must not copy its input to a MemoryStream); spread hot keys; use smaller partitions");
        [memory] step("提取器一次读整个文件（AtomicFileProcessing）时，把输入拆成更小的文件", "where an extractor takes a file as a whole (AtomicFileProcessing), split the input into smaller files");
        [storage] step("每次交换之前先过滤和投影，去掉多对多连接；把作业拆成两段可释放前半的数据", "filter and project before each exchange, avoid many-to-many joins; splitting the job in two frees the temporary data of the first half");
        [storage] step("上限按令牌计算时，加倍令牌能让作业先跑完，但不解决问题", "if the limit is per token, doubling the tokens lets the job finish but does not fix the problem");
        [!storage && !memory && class != Class::Time] step("先看错误信息指的是哪个上限：顶点时间、内存还是临时数据", "see which limit the error names: vertex time, memory or temporary data");
        step("同时报告了倾斜或行数放大时，先按那条建议处理", "if skew or a multiplying join is reported as well, follow that suggestion first");
        step("权宜之计：按天或按小时增量处理，而不是一次处理整个历史", "as a stopgap, process one day or hour at a time instead of the whole history");
        pro("作业可以跑完", "the job can finish");
        con("只提高上限会推迟问题", "raising the limit alone only delays the failure");
    };
    proposal.topic = class.topic();
    let mut found = vec![case.finish(proposal)];
    if memory || class == Class::Time {
        found.extend(smaller_partitions(case, 0.0));
    }
    found
}

advice! {
    /// A string, a column or a row exceeds the engine's limit.
    fn value_size(case: &Case<'_>) = Rewrite, Gain::Whole, "row too big string too long 128 KB 4 MB limit byte[]";
    title("让 {place} 的值不超过上限：字符串 128 KB，一行 4 MB", "keep values of {place} within the limits: 128 KB for a string, 4 MB for a row", place = case.rowset());
    step("读入长文本时声明为 byte[]，或用自己的提取器在读取时截断、拆成多列", "declare long texts as byte[], or cut or split them while reading, in an extractor of your own");
    step("先确认值确实这么长：未闭合的引号或错误的分隔符会把许多行并成一个值（quoting、rowDelimiter）", "make sure that the value really is that long: an open quote or a wrong delimiter joins many rows into one value (quoting, rowDelimiter)");
    step("聚合出的长字符串或 MAP/ARRAY 先限制个数，或分成多行", "limit aggregated strings, maps and arrays, or write them as several rows");
    step("silent:true 只会丢掉这些行（字符串超长时也不一定），不要用它掩盖", "silent:true only drops such rows, and not in every case: don't use it to hide the problem");
    pro("作业可以跑完", "the job can finish");
    con("空值检查没有帮助；截断会丢失内容，要与使用者确认", "null checks don't help; cutting loses content: ask the readers");
}

pub(crate) fn queue_wait(case: &Case<'_>) -> Vec<Suggested> {
    let submit = advice! { Parameter, Gain::Whole, "queue wait priority submission time";
        title("作业大部分时间在排队：换个时间提交，或调整优先级，而不是改脚本", "the job mostly waited in the queue: submit it at another time or priority rather than changing the script");
        step("避开整点和同一队列其他定时作业的高峰，最好由输入到达触发", "avoid the full hour and the other scheduled jobs of the queue; best, trigger it on the arrival of its input");
        step("有时限的作业用更高的优先级（数字更小），其余降低", "give a job with a deadline a higher priority (a smaller number), the others a lower one");
        step("长期不足时查看谁占用了容量，再申请扩容", "if capacity is always short, see who holds it and ask for more");
        pro("不用改脚本", "the script does not change");
        con("优先级只改变排队的先后，别的作业会因此等得更久", "a priority only changes the order: other jobs wait longer instead");
    };
    fewer_tokens(case)
        .into_iter()
        .chain([case.finish(submit)])
        .collect()
}

/// Fewer tokens: the average number that the run keeps busy, if it is far below the requested number.
fn fewer_tokens(case: &Case<'_>) -> Option<Suggested> {
    let run = case.view.run.as_ref().filter(|run| run.tokens_known)?;
    let asked = run.tokens;
    let vertices = run.stages.iter().flat_map(|stage| &stage.vertices);
    let busy: f64 = vertices.map(|vertex| vertex.total_s()).sum();
    let used = (busy / run.replayed_s).ceil().max(1.0) as usize;
    if used * 2 > asked {
        return None;
    }
    let longer = replay(&run.stages, used) * run.elapsed_s / run.replayed_s - run.elapsed_s;
    let longer = match longer >= 1.0 {
        true => text!(
            "运行阶段约延长 {time}",
            "the run itself takes about {time} longer",
            time = Seconds(longer)
        ),
        false => text!(
            "运行阶段可能略微延长",
            "the run itself may take slightly longer"
        ),
    };
    let proposal = advice! { Parameter, Gain::Unknown(text!("要看较少的令牌能提前多久得到", "it depends on how much sooner fewer tokens are available" )), "queue wait tokens AUs request fewer";
        title("把请求的令牌从 {asked} 降到约 {used}", "request about {used} instead of {asked}", used = TOKEN.count(used as f64), asked = asked.to_string());
        step("本次运行平均只占用约 {used}；请求越少，越早能同时得到", "this run kept only about {used} busy on average; a smaller number is available sooner", used = TOKEN.count(used as f64));
        pro("更早开始，费用更低，也让别的作业少等", "starts sooner, costs less, and lets other jobs wait less");
        con(longer);
    };
    Some(case.finish(proposal))
}
