//! Suggestions for jobs that failed, were retried or had to wait.

use job::model::JobError;

use super::case::Case;
use super::proposal::{Gain, Proposal};
use super::vertices::smaller_partitions;
use crate::Suggested;
use crate::impact::replay;
use report::format::{Seconds, TOKEN};
use report::{SuggestionKind, Text, text};

/// Work lost to failed, revoked or duplicated vertices.
pub(super) fn vertex_retries(case: &Case<'_>) -> Vec<Suggested> {
    let why = Proposal::new(
        SuggestionKind::Investigate,
        "vertex retries failures revocations duplicates cause",
        Gain::Whole,
        text!("先查清 {place} 的顶点为何失败，再消除原因：代码、内存、输入还是机器", "find out why vertices of {place} fail and remove the cause: code, memory, input or machine", place = case.place()),
    )
    .step(text!("比较失败尝试的退出码和机器：集中在少数机器上是机器问题，集中在同一输入上是数据问题", "compare exit codes and machines of the failed attempts: few machines mean a machine, one input means data"))
    .step(text!("被撤销（Revoked）说明下游读不到它的输出，或容量被抢占：看临时数据的存放和优先级", "Revoked means that a reader lost its output or that capacity was preempted: look at temporary data and at the priority"))
    .step(text!("用户代码偶发异常：捕获坏行并计数，不要让整个顶点重来", "occasional exceptions in user code: catch and count bad rows rather than losing the vertex"))
    .pro(text!("消除原因后不再有重复的工作", "without the cause nothing is done twice"))
    .con(text!("需要查看失败顶点的日志", "requires reading the logs of the failed vertices"));
    let shorter = Proposal::new(
        SuggestionKind::Parameter,
        "shorter vertices less lost work checkpoint",
        Gain::Unknown(text!("取决于今后失败多少次", "it depends on how often vertices will fail")),
        text!("让每次重试损失更少", "make each retry cheaper"),
    )
    .step(text!("顶点运行很久时使用更多分区，使每个只跑几分钟；失败时重做的部分就小", "where vertices run long, use more partitions so that each runs for minutes and little is done again"))
    .step(text!("把很长的作业拆成两个，中间结果写成可靠存储的数据", "split a very long job in two and store the intermediate result"))
    .pro(text!("任何原因的重试都变便宜", "retries get cheaper, whatever the cause"))
    .con(text!("启动开销增加；顶点仍应至少运行一分钟", "more start-up; a vertex should still run for a minute"));
    vec![case.finish(why), case.finish(shorter)]
}

/// A few vertices are slow without more data.
pub(super) fn slow_machine(case: &Case<'_>) -> Vec<Suggested> {
    let machine = match case.evidence_text("machine") {
        Some(name) => text!("机器 {name}", "machine {name}"),
        None => text!("慢的机器", "the slow machine"),
    };
    let report = Proposal::new(
        SuggestionKind::Investigate,
        "slow machine straggler duplicate execution",
        Gain::Whole,
        text!("向运维报告{machine}，不要为此改脚本", "report {machine} to the operators; don't change the script for it", machine = machine),
    )
    .step(text!("先重跑一次：不再出现就与脚本无关，不必再做什么", "run the job again first: if it does not come back, the script is not to blame and nothing else is needed"))
    .step(text!("多次出现时，把机器名、时间和慢的倍数交给运维：同样多的数据在别的机器上正常", "if it does, give the operators its name, the time and how much slower it was: as much data runs well elsewhere"))
    .pro(text!("健康的脚本保持不变", "a healthy script stays as it is"))
    .con(text!("取决于运维；重跑可能又分到同一台机器", "depends on the operators; another run may get the same machine"));
    let robust = Proposal::new(
        SuggestionKind::Parameter,
        "straggler mitigation smaller partitions backup vertices",
        Gain::Unknown(text!("取决于慢机器多久出现一次", "it depends on how often a slow machine turns up")),
        text!("只在经常误期时：用更小、更多波的分区降低对单台机器的依赖", "only if it often makes the job late: depend less on one machine, with smaller partitions in several waves"),
    )
    .step(text!("每个顶点跑几分钟，慢机器只会拖住很少的数据，其余由别的机器接手", "with vertices of a few minutes a slow machine holds up little, and the others take over the rest"))
    .pro(text!("对偶发的慢机器普遍有效", "helps against any occasional slow machine"))
    .con(text!("每次运行都要付启动开销", "every run pays for the start-ups"));
    vec![case.finish(report), case.finish(robust)]
}

/// Failed in user code.
pub(super) fn user_code(case: &Case<'_>) -> Vec<Suggested> {
    let error = case.job.errors.first();
    let named = error.and_then(|e| e.expression.clone().or_else(|| e.class_name.clone()));
    let what = named.map_or_else(String::new, |what| format!(" (`{what}`)"));
    let guard = Proposal::new(
        SuggestionKind::Rewrite,
        "user code exception null check TryParse bad rows",
        Gain::Whole,
        text!(
            "在{place}的用户代码{what}中处理异常输入",
            "handle bad input in the user code{what} at {place}",
            place = error_place(case)
        ),
    )
    .step(check_for(error))
    .step(text!(
        "把坏行写到单独的输出并计数，超过比例再让作业失败",
        "send bad rows to an output of their own and count them; fail only above a share"
    ))
    .step(text!(
        "用失败顶点的输入在本地重现，再加成单元测试",
        "reproduce it locally with the failed vertex's input, and make a unit test of it"
    ))
    .pro(text!(
        "作业不再因个别行失败",
        "single rows no longer fail the job"
    ))
    .con(text!(
        "可能掩盖数据质量问题，所以要计数",
        "may hide bad data, hence the count"
    ));
    let source = Proposal::new(
        SuggestionKind::Investigate,
        "bad input data filter before user code",
        Gain::none_by_itself(),
        text!(
            "检查输入数据最近是否变化",
            "check whether the input changed recently"
        ),
    )
    .step(text!(
        "与上一次成功运行比较列的空值率、长度和取值范围",
        "compare null shares, lengths and ranges of the columns with the last good run"
    ))
    .step(text!(
        "急需恢复时，在用户代码之前过滤坏行",
        "to restore production first, filter the bad rows before the user code"
    ))
    .pro(text!(
        "能看出是代码还是上游的问题",
        "shows whether the code or its input is to blame"
    ))
    .con(text!("被过滤的行没有结果", "filtered rows have no result"));
    vec![case.finish(guard), case.finish(source)]
}

/// The check that the exception asks for.
fn check_for(error: Option<&JobError>) -> Text {
    let said = error.map_or_else(String::new, |e| {
        let details = [Some(&e.message), e.details.as_ref(), e.internal.as_ref()];
        details
            .into_iter()
            .flatten()
            .fold(String::new(), |all, text| all + text)
    });
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

/// Where the first error is.
fn error_place(case: &Case<'_>) -> Text {
    match case.job.errors.first().and_then(|error| error.script_line) {
        Some(line) => text!("第 {line} 行", "line {line}"),
        None => case.rowset(),
    }
}

/// Failed to compile.
pub(super) fn compile(case: &Case<'_>) -> Vec<Suggested> {
    let mut proposal = Proposal::new(
        SuggestionKind::Rewrite,
        "compile error syntax script",
        Gain::Whole,
        text!(
            "修正{place}的编译错误",
            "fix the compile error at {place}",
            place = error_place(case)
        ),
    );
    let reported = case.job.errors.first().map(|error| error.message.as_str());
    if let Some(message) = reported.filter(|message| !message.is_empty()) {
        proposal = proposal.step(text!(
            "编译器报告：{message}",
            "the compiler reports: {message}"
        ));
    }
    if let Some(error) = case.script.and_then(|script| script.errors.first()) {
        let (line, message) = (error.line, &error.message);
        proposal = proposal.step(text!(
            "语法检查：第 {line} 行，{message}",
            "the syntax check reports on line {line}: {message}"
        ));
    }
    let proposal = proposal
        .step(text!("检查该行及上一行：缺少的逗号、分号、括号，拼错的列名，未引用的程序集", "look at that line and the one before: a missing comma, semicolon or bracket, a misspelled column, an assembly that is not referenced"))
        .step(text!("提交前先在本地编译，并把它加入代码评审", "compile locally before submitting, and make that part of the review"))
        .pro(text!("不消耗运行时间就能发现", "found without using any run time"))
        .con(text!("编译器一次可能只报第一个错误", "the compiler may report only the first of several errors"));
    vec![case.finish(proposal)]
}

/// Failed on a limit.
pub(super) fn limit(case: &Case<'_>) -> Vec<Suggested> {
    let message = case
        .job
        .errors
        .first()
        .map_or("", |error| error.message.as_str());
    let kind = LimitKind::of(message);
    let mut proposal = Proposal::new(
        SuggestionKind::Rewrite,
        "limit exceeded vertex time memory temporary data",
        Gain::Whole,
        match kind {
            LimitKind::Storage => text!(
                "让 {place} 产生更少的临时数据",
                "let {place} make less temporary data",
                place = case.place()
            ),
            _ => text!(
                "让 {place} 的单个顶点处理更少的数据",
                "let a single vertex of {place} handle less",
                place = case.place()
            ),
        },
    );
    proposal = match kind {
        LimitKind::Time => proposal.step(text!("单个顶点运行超时：先消除该阶段的倾斜，再增加分区；提高令牌数没有帮助", "a vertex ran too long: remove the skew of the stage first, then use more partitions; more tokens don't help")),
        LimitKind::Memory => proposal.step(text!("单个顶点超过内存上限：逐行处理，不缓存整组；分散热点键；使用更小的分区", "a vertex went over its memory: go row by row, keep no groups; spread hot keys; use smaller partitions")),
        LimitKind::Storage => proposal
            .step(text!("每次交换之前先过滤和投影，去掉多对多连接；把作业拆成两段可释放前半的数据", "filter and project before each exchange, avoid many-to-many joins; cutting the job in two frees what the first half holds"))
            .step(text!("上限按令牌计算时，加倍令牌能让作业先跑完，但不解决问题", "where the limit is per token, twice the tokens get the job through but fix nothing")),
        LimitKind::Unknown => proposal.step(text!("先看错误信息指的是哪个上限：顶点时间、内存还是临时数据", "see which limit the error names: vertex time, memory or temporary data")),
    };
    let proposal = proposal
        .step(text!(
            "同时报告了倾斜或行数放大时，先按那条建议处理",
            "where skew or a multiplying join is reported as well, follow that suggestion first"
        ))
        .pro(text!("作业可以跑完", "the job can finish"))
        .con(text!(
            "只提高上限会推迟问题",
            "raising the limit alone only puts it off"
        ));
    let cut = Proposal::new(
        SuggestionKind::Parameter,
        "split job smaller range incremental",
        Gain::Instead(text!("上述修改", "that change")),
        text!(
            "权宜之计：缩小一次处理的范围",
            "as a stopgap, handle a smaller range at a time"
        ),
    )
    .step(text!(
        "按天或按小时增量处理，而不是一次处理整个历史",
        "go day by day or hour by hour rather than through all history at once"
    ))
    .pro(text!(
        "不改逻辑，立即可用",
        "works at once, with the same logic"
    ))
    .con(text!(
        "跨范围的聚合要另外合并；单个热点键仍会超限",
        "totals across ranges have to be put together; a single hot key still hits the limit"
    ));
    let mut found = vec![case.finish(proposal)];
    if matches!(kind, LimitKind::Memory | LimitKind::Time) {
        found.extend(smaller_partitions(case, 0.0));
    }
    found.push(case.finish(cut));
    found
}

/// The limit that an error names.
#[derive(Clone, Copy)]
enum LimitKind {
    Time,
    Memory,
    Storage,
    Unknown,
}

impl LimitKind {
    fn of(message: &str) -> LimitKind {
        let message = message.to_ascii_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| message.contains(word));
        if has(&["memory", "outofmemory", "heap"]) {
            LimitKind::Memory
        } else if has(&["temp", "storage", "disk", "space"]) {
            LimitKind::Storage
        } else if has(&["time", "hour", "duration"]) {
            LimitKind::Time
        } else {
            LimitKind::Unknown
        }
    }
}

/// The job mostly waited.
pub(super) fn queue_wait(case: &Case<'_>) -> Vec<Suggested> {
    let submit = Proposal::new(
        SuggestionKind::Parameter,
        "queue wait priority submission time",
        Gain::Whole,
        text!("作业大部分时间在排队：换个时间提交，或调整优先级，而不是改脚本", "the job mostly waited in the queue: submit it at another time or priority rather than changing the script"),
    )
    .step(text!("避开整点和同一队列其他定时作业的高峰，最好由输入到达触发", "avoid the full hour and the other scheduled jobs of the queue; best, trigger it on the arrival of its input"))
    .step(text!("有时限的作业用更高的优先级（数字更小），其余降低", "give a job with a deadline a higher priority (a smaller number), the others a lower one"))
    .step(text!("长期不足时查看谁占用了容量，再申请扩容", "if capacity is always short, see who holds it and ask for more"))
    .pro(text!("不用改脚本", "the script does not change"))
    .con(text!("优先级只改变排队的先后，别的作业会因此等得更久", "a priority only changes the order: other jobs wait longer instead"));
    fewer_tokens(case)
        .into_iter()
        .chain([case.finish(submit)])
        .collect()
}

/// As many tokens as the run keeps busy on average, where that is far fewer than it asks for.
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
    let proposal = Proposal::new(
        SuggestionKind::Parameter,
        "queue wait tokens AUs request fewer",
        Gain::Unknown(text!(
            "要看较少的令牌能提前多久得到",
            "it depends on how much earlier fewer tokens are free"
        )),
        text!(
            "把请求的令牌从 {asked} 降到约 {used}",
            "ask for about {used} rather than {asked}",
            used = TOKEN.count(used as f64),
            asked = asked.to_string()
        ),
    )
    .step(text!(
        "本次运行平均只占用约 {used}；请求越少，越早能同时得到",
        "this run kept only about {used} busy on average; fewer are free at once sooner",
        used = TOKEN.count(used as f64)
    ))
    .pro(text!(
        "更早开始，费用更低，也让别的作业少等",
        "starts sooner, costs less, and lets other jobs wait less"
    ))
    .con(longer);
    Some(case.finish(proposal))
}
