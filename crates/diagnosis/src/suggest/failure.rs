//! Suggestions for jobs that failed, were retried or had to wait.

use super::case::{Case, Proposal};
use crate::Suggested;
use report::{SuggestionKind, text};

/// Work lost to failed, revoked or duplicated vertices.
pub(super) fn vertex_retries(case: &Case<'_>) -> Vec<Suggested> {
    let place = case.place();
    let why = Proposal::new(
        SuggestionKind::Investigate,
        "vertex retries failures revocations duplicates cause",
        text!("先查清 {place} 的顶点为何失败：代码、内存、输入还是机器", "first find out why vertices of {place} fail: code, memory, input or machine", place = place),
    )
    .step(text!("比较失败尝试的退出码和机器：集中在少数机器上是机器问题，集中在同一输入上是数据问题", "compare exit codes and machines of the failed attempts: few machines mean a machine, one input means data"))
    .step(text!("被撤销（Revoked）说明下游读不到它的输出或被抢占：看临时数据的存放和优先级", "Revoked means that a reader lost its output or that it was preempted: look at temporary data and at the priority"))
    .step(text!("用户代码偶发异常：捕获坏行并计数，不要让整个顶点重来", "occasional exceptions in user code: catch and count bad rows rather than losing the vertex"))
    .pro(text!("对症下药", "addresses the cause"))
    .con(text!("需要查看日志", "requires reading the logs"));
    let shorter = Proposal::new(
        SuggestionKind::Parameter,
        "shorter vertices less lost work checkpoint",
        text!("让每次重试损失更少", "make each retry cheaper"),
    )
    .step(text!(
        "增加分区数，使单个顶点只跑几分钟；失败时重做的部分就小",
        "use more partitions, so that a vertex runs for minutes only and little is done again"
    ))
    .step(text!(
        "把很长的作业拆成两个，中间结果落盘",
        "split a very long job in two and store the intermediate result"
    ))
    .pro(text!(
        "任何原因的重试都变便宜",
        "retries get cheaper, whatever the cause"
    ))
    .con(text!("启动开销略增", "slightly more start-up"));
    vec![case.finish(why), case.finish(shorter)]
}

/// A few vertices are slow without more data.
pub(super) fn slow_machine(case: &Case<'_>) -> Vec<Suggested> {
    let machine = case.evidence_text("machine").map(str::to_owned);
    let (zh, en) = machine.map_or_else(
        || ("慢的机器".to_owned(), "the slow machine".to_owned()),
        |name| (format!("机器 {name}"), format!("machine {name}")),
    );
    let report = Proposal::new(
        SuggestionKind::Investigate,
        "slow machine straggler duplicate execution",
        text!("报告{zh}，不要为此改脚本", "report {en}; don't change the script for it"),
    )
    .step(text!("把机器名、时间和慢的倍数交给集群运维；同样数据在别的机器上正常", "give the machine's name, the time and how much slower it was to the operators of the cluster: the same data runs well elsewhere"))
    .step(text!("重跑一次作业确认：不再出现就与脚本无关", "run the job again: if it does not come back, the script is not to blame"))
    .pro(text!("避免对健康的脚本做无谓的改动", "no needless change of a healthy script"))
    .con(text!("取决于运维", "depends on the operators"));
    let robust = Proposal::new(
        SuggestionKind::Parameter,
        "straggler mitigation smaller partitions backup vertices",
        text!("降低对单台机器的依赖", "depend less on a single machine"),
    )
    .step(text!("使用更多、更小的分区，慢机器只会拖住少量数据，备份执行也更快接手", "use more and smaller partitions: a slow machine holds up little, and a duplicate takes over sooner"))
    .pro(text!("对偶发的慢机器普遍有效", "helps against any occasional slow machine"))
    .con(text!("启动开销略增", "slightly more start-up"));
    vec![case.finish(report), case.finish(robust)]
}

/// Failed in user code.
pub(super) fn user_code(case: &Case<'_>) -> Vec<Suggested> {
    let error = case.job.errors.first();
    let place = error.and_then(|error| error.script_line).map_or_else(
        || case.rowset(),
        |line| text!("第 {line} 行", "line {line}"),
    );
    let what = error.and_then(|error| {
        error
            .expression
            .clone()
            .or_else(|| error.class_name.clone())
    });
    let what = what.map_or_else(String::new, |what| format!(" (`{what}`)"));
    let guard = Proposal::new(
        SuggestionKind::Rewrite,
        "user code exception null check TryParse bad rows",
        text!("在{place}的用户代码{what}中处理异常输入", "handle bad input in the user code{what} at {place}", place = place),
    )
    .step(text!("按错误中的类型补检查：空值用 `?.` / `== null`，数字和日期用 TryParse，除法先判 0，下标先判长度", "add the check that the error asks for: `?.` or `== null` for nulls, TryParse for numbers and dates, zero before a division, the length before an index"))
    .step(text!("把坏行写到单独的输出并计数，超过比例再让作业失败", "send bad rows to an output of their own and count them; fail only above a share"))
    .step(text!("用失败顶点的输入在本地重现，再加成单元测试", "reproduce it locally with the failed vertex's input, and make a unit test of it"))
    .pro(text!("作业不再因个别行失败", "single rows no longer fail the job"))
    .con(text!("可能掩盖数据质量问题，所以要计数", "may hide bad data, hence the count"));
    let source = Proposal::new(
        SuggestionKind::Investigate,
        "bad input data filter before user code",
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
        "在用户代码之前加过滤条件，先恢复生产",
        "add a filter before the user code to restore production first"
    ))
    .pro(text!("可以很快恢复", "gets the job running again quickly"))
    .con(text!("被过滤的行没有结果", "filtered rows have no result"));
    vec![case.finish(guard), case.finish(source)]
}

/// Failed to compile.
pub(super) fn compile(case: &Case<'_>) -> Vec<Suggested> {
    let error = case.job.errors.first();
    let message = error.map_or("", |error| error.message.as_str());
    let place = error.and_then(|error| error.script_line).map_or_else(
        || case.rowset(),
        |line| text!("第 {line} 行", "line {line}"),
    );
    let own = case.script.and_then(|script| script.errors.first());
    let mut proposal = Proposal::new(
        SuggestionKind::Rewrite,
        "compile error syntax script",
        text!(
            "修正{place}的编译错误",
            "fix the compile error at {place}",
            place = place
        ),
    );
    if !message.is_empty() {
        proposal = proposal.step(text!(
            "编译器报告：{message}",
            "the compiler reports: {message}"
        ));
    }
    if let Some(error) = own {
        proposal = proposal.step(text!(
            "语法检查：第 {line} 行，{message}",
            "the syntax check reports on line {line}: {message}",
            line = error.line.to_string(),
            message = error.message
        ));
    }
    let proposal = proposal
        .step(text!("检查该行及上一行：缺少的逗号、分号、括号，拼错的列名，未引用的程序集", "look at that line and the one before: a missing comma, semicolon or bracket, a misspelt column, an assembly that is not referenced"))
        .step(text!("提交前先在本地编译（VS / `scope.exe compile`），把它加入代码评审", "compile locally before submitting, and make that part of the review"))
        .pro(text!("不消耗运行时间就能发现", "found without using any run time"))
        .con(text!("无", "none"));
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
    let place = case.place();
    let mut proposal = Proposal::new(
        SuggestionKind::Rewrite,
        "limit exceeded vertex time memory temporary data",
        text!(
            "让 {place} 的单个顶点处理更少的数据",
            "let a single vertex of {place} handle less",
            place = place
        ),
    );
    proposal = match kind {
        LimitKind::Time => proposal.step(text!("单个顶点超过 5 小时：先消除该阶段的倾斜，再增加分区；提高令牌数没有帮助", "one vertex ran over five hours: remove the skew of the stage first, then use more partitions; more tokens don't help")),
        LimitKind::Memory => proposal.step(text!("单个顶点超过内存上限：逐行处理，不要缓存整组；加 ROWSIZE 提示；分散热点键", "one vertex went over its memory: go row by row, keep no groups; hint ROWSIZE; spread hot keys")),
        LimitKind::Storage => proposal.step(text!("临时数据超限：提前过滤和投影，去掉多对多连接，把作业拆成两段", "too much temporary data: filter and project early, avoid many-to-many joins, cut the job in two")),
        LimitKind::Unknown => proposal.step(text!("查错误信息中的上限：顶点时间（5 小时）、内存（6 GB）、临时数据", "see which limit the error names: vertex time (5 h), memory (6 GB), temporary data")),
    };
    let proposal = proposal
        .step(text!(
            "同时出现的倾斜或行数放大才是根因时，先按那条建议处理",
            "where skew or a multiplying join is reported as well, follow that suggestion first"
        ))
        .pro(text!("作业可以跑完", "the job can finish"))
        .con(text!(
            "提高上限只是推迟问题",
            "a higher limit only puts it off"
        ));
    let mut found = vec![case.finish(proposal)];
    let cut = Proposal::new(
        SuggestionKind::Parameter,
        "split job smaller range incremental",
        text!("缩小一次处理的范围", "handle a smaller range at a time"),
    )
    .step(text!(
        "按天或按小时增量处理，而不是一次处理整个历史",
        "go day by day or hour by hour rather than through all history at once"
    ))
    .pro(text!("立即可用的权宜之计", "works at once, as a stopgap"))
    .con(text!(
        "跨范围的聚合要另外合并",
        "totals across ranges have to be put together"
    ));
    found.push(case.finish(cut));
    found
}

/// The limit that an error names.
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
    let tokens = case.job.info.tokens;
    let named = tokens.map_or_else(String::new, |tokens| format!("（现在 {tokens}）"));
    let named_en = tokens.map_or_else(String::new, |tokens| format!(" (now {tokens})"));
    let submit = Proposal::new(
        SuggestionKind::Parameter,
        "queue wait tokens priority submission time",
        text!(
            "作业大部分时间在排队：调整提交方式，而不是脚本",
            "the job mostly waited in the queue: change how it is submitted, not the script"
        ),
    )
    .step(text!(
        "请求更少的令牌{named}：能更早开始，总时间往往更短",
        "ask for fewer tokens{named_en}: it starts sooner, and is often done sooner"
    ))
    .step(text!(
        "错开整点高峰，或与同一 VC 的其他定时作业错峰",
        "avoid the full hour, and the other scheduled jobs of the virtual cluster"
    ))
    .step(text!(
        "确有时限的作业提高优先级（数字更小），批处理降低",
        "give jobs with a deadline a higher priority (a smaller number), batch jobs a lower one"
    ))
    .pro(text!("不用改脚本", "the script does not change"))
    .con(text!(
        "令牌少时运行阶段会变长",
        "with fewer tokens the run itself takes longer"
    ));
    let capacity = Proposal::new(
        SuggestionKind::Investigate,
        "capacity virtual cluster quota queue",
        text!("检查虚拟集群的容量与占用者", "look at the capacity of the virtual cluster and who uses it"),
    )
    .step(text!("查看等待期间占用令牌的作业；长作业移到夜间或别的 VC", "see which jobs held the tokens meanwhile; move long ones to the night or to another cluster"))
    .step(text!("长期不足时申请扩容", "ask for more capacity if it is always short"))
    .pro(text!("解决所有作业的等待", "helps every job that waits"))
    .con(text!("需要协调与预算", "takes agreement and money"));
    vec![case.finish(submit), case.finish(capacity)]
}
