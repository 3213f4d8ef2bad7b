//! The words around a report in both languages.

use report::format::Noun;
use report::{
    Cause, JobEngine, JobState, Language, Localize, Report, SegmentKind, Severity, SuggestionKind,
    TimeUse,
};
use runs::compare::{FindingStatus, PlanChangeKind};

/// One phrase in both languages.
type Phrase = (&'static str, &'static str);

/// Headings and labels, chosen by language and by the engine of the job, where one job is shown.
#[derive(Debug, Clone, Copy)]
pub struct Words(pub Language, pub Option<JobEngine>);

impl Words {
    /// Words about no job in particular.
    pub fn new(language: Language) -> Words {
        Words(language, None)
    }

    pub fn of(report: &Report) -> Words {
        Words(report.language, report.job.engine)
    }

    /// The engine's word for the units of work of a stage.
    pub fn vertex(self) -> Noun {
        JobEngine::vertex(self.1)
    }

    /// The engine's word for what the report is about.
    pub fn subject(self) -> &'static str {
        match self.1 {
            Some(JobEngine::Spark) => self.pick(("应用", "Application")),
            _ => self.pick(("作业", "Job")),
        }
    }

    pub fn cause(self, cause: Cause) -> String {
        self.say(cause.title_in(self.1))
    }

    /// A text in the words of the engine.
    pub fn in_engine(self, text: impl Localize) -> String {
        let text = report::engine_words(self.say(text), self.1, self.0);
        text.trim().to_owned()
    }

    pub fn kind(self, kind: SegmentKind) -> String {
        self.say(kind.title_in(self.1))
    }

    pub fn time_use(self, time_use: TimeUse) -> String {
        self.say(time_use.title_in(self.1))
    }
}

macro_rules! phrases {
    ($($name:ident = $zh:literal, $en:literal;)*) => {
        impl Words {
            $(pub fn $name(self) -> &'static str {
                self.pick(($zh, $en))
            })*

            /// The phrase of that name, for templates; `?` for an unknown name, which a test
            /// excludes.
            pub fn by_name(self, name: &str) -> &'static str {
                match name {
                    $(stringify!($name) => self.$name(),)*
                    _ => "?",
                }
            }
        }
    };
}

phrases! {
    findings = "发现", "Findings";
    evidence = "证据", "Evidence";
    more_evidence = "更多证据", "More evidence";
    suggestions = "建议", "Suggestions";
    first = "先改", "Fix first";
    experience = "相关经验", "Experience";
    missing = "缺少的信息", "Missing information";
    diagnostics = "读取时的问题", "Reading problems";
    steps = "推理步骤", "Reasoning steps";
    files_read = "读取的文件", "Files read";
    question = "问题", "Question";
    answer = "回答", "Answer";
    run = "运行编号", "Run";
    gain = "收益", "Gain";
    pros = "优点", "Pros";
    cons = "代价", "Cons";
    whole_job = "整个作业", "whole job";
    confidence = "置信度", "confidence";
    semicolon = "；", "; ";
    colon = "：", ": ";
    comma = "、", ", ";
    time = "耗时构成", "Where the time went";
    what = "项目", "what";
    from = "起始", "from";
    seconds = "用时", "time";
    share = "占比", "share";
    finding = "发现", "finding";
    per_stage = "各阶段与等待", "Stages and waits";
    per_stage_legend = "仅列出关键路径上的时间；带编号的部分由相应的发现造成。点开一行可看每段的起止、证据与各顶点的分布。", "Time on the critical path only; parts with an id are claimed by that finding. Open a row for exact times, evidence and the spread over vertices.";
    mean = "均值", "mean";
    would_decide = "补齐后可判断", "needed to check for";
    in_folder = "文件在目录中", "in the folder";
    not_in_folder = "目录中没有", "not in the folder";
    without_it = "文件在目录中，但没有这项信息", "in the folder, but does not hold it";
    proven = "已检查：可解析、列不变、提示已知；结果不变（已证明）", "checked: parses, keeps its columns, hints known; same result (proven)";
    tested = "已检查：可解析、列不变、提示已知；结果不变（改前改后都在生成的数据上执行过）", "checked: parses, keeps its columns, hints known; same result (both scripts executed on generated rows)";
    undecided = "可解析、列不变、提示已知；不知道结果是否不变", "parses, keeps its columns, hints known; unknown whether the result stays the same";
    other_result = "改动会改变结果，未列出 diff", "changes the result; the diff was left out";
    by_rules = "规则", "rules";
    by_llm = "LLM", "LLM";
    partly_verified = "部分检查未通过", "some checks failed";
    reasoned_by = "分析方式", "Analyzed by";
    offline = "离线规则（未使用 LLM）", "offline rules (no LLM)";
    after_model = "离线规则；模型完成的步骤：", "offline rules; steps by the model: ";
    is_partial = "分析被中断，报告不完整。", "The analysis was interrupted; this report is partial.";
    unverified = "未证实", "unverified";
    hint = "办法", "hint";
    rules = "规则", "Rules";
    fired = "触发", "fired";
    cleared = "排除", "cleared";
    abstained = "弃权", "abstained";
    not_applicable = "不适用", "not applicable";
    explained = "由其他问题引起", "explained";
    stage_graph = "阶段图", "Stages";
    stage_graph_legend = "颜色：占全部顶点时间的比例；线宽：传输的字节数；粗框：关键路径；红框：发现所在的阶段。", "Color: share of all vertex time. Line width: bytes transferred. Heavy frame: critical path. Red frame: stage of a finding.";
    timeline = "令牌使用", "Use of tokens over time";
    timeline_legend = "各阶段同时运行的顶点数，叠加显示；虚线为可用令牌数。", "Vertices running concurrently, stacked by stage; the dashed line is the number of tokens.";
    script = "脚本", "Script";
    run_time_per_vertex = "每个顶点的运行时间", "run time per vertex";
    why = "原因", "Why";
    the_whole_job = "整个作业", "The whole job";
    not_shown = "未显示（--all 全部显示）", "not shown (--all shows all)";
    was = "原为", "was";
    only_a = "只在 A 中", "only in A";
    only_b = "只在 B 中", "only in B";
    stage = "阶段", "stage";
    stages_heading = "阶段", "Stages";
    stages_alike = "没有明显变化，或变化较小", "changed little or not at all";
    critical_path = "关键路径", "critical path";
    plan = "执行计划", "Plan";
    inputs = "输入", "Inputs";
    inputs_alike = "没有明显变化", "changed little or not at all";
    stored_as = "存储方式", "stored as";
    estimates = "估计行数 / 实际行数", "Estimated / actual rows";
    operator = "算子", "operator";
    script_same = "没有变化", "unchanged";
    script_unknown = "有一次运行没有脚本", "one run has no script";
    not_compared = "无法比较", "Not compared";
    accept = "采纳", "Accept";
    ignore = "忽略", "Ignore";
    accepted = "已采纳", "Accepted";
    ignored = "已忽略", "Ignored";
    undo = "撤销", "Undo";
    download_diff = "下载 diff", "Download diff";
    or = "或", "or";
    logarithmic = "对数高度", "log height";
    bytes_read_per_vertex = "每个顶点读取的字节数", "bytes read per vertex";
}

impl Words {
    fn pick(self, phrase: Phrase) -> &'static str {
        match self.0 {
            Language::Zh => phrase.0,
            Language::En => phrase.1,
        }
    }

    /// The value as it reads in the language of the report.
    pub fn say(self, value: impl Localize) -> String {
        value.localize(self.0)
    }

    /// How a job ended.
    pub fn state(self, state: JobState) -> &'static str {
        self.pick(match state {
            JobState::Succeeded => ("成功", "succeeded"),
            JobState::Failed => ("失败", "failed"),
            JobState::Cancelled => ("已取消", "cancelled"),
            JobState::Unknown => ("结束状态未知", "unknown end"),
        })
    }

    /// How a job ended, if not well.
    pub fn bad_end(self, report: &Report) -> Option<&'static str> {
        let job = &report.job;
        match job.is_unfinished() {
            // the log may have an end beyond the part that was read
            true if report.partial => None,
            true => Some(self.pick(("尚未结束", "unfinished"))),
            false => job.state.is_bad().then(|| self.state(job.state)),
        }
    }

    /// How a finding changed between two runs.
    pub fn finding_status(self, status: FindingStatus) -> &'static str {
        self.pick(match status {
            FindingStatus::New => ("新增", "new"),
            FindingStatus::Worse => ("加重", "worse"),
            FindingStatus::Better => ("减轻", "better"),
            FindingStatus::Gone => ("消失", "gone"),
            FindingStatus::Same => ("不变", "same"),
        })
    }

    /// Kind of change in a plan.
    pub fn plan_change(self, kind: PlanChangeKind) -> &'static str {
        self.pick(match kind {
            PlanChangeKind::StageAppeared => ("新增阶段", "new stage"),
            PlanChangeKind::StageGone => ("消失的阶段", "removed stage"),
            PlanChangeKind::ExchangeChanged => ("交换方式改变", "different exchange"),
            PlanChangeKind::KeysChanged => ("分区键改变", "different keys"),
            PlanChangeKind::PartitionsChanged => ("分区数改变", "different number of partitions"),
            PlanChangeKind::ChannelAppeared => ("新增通道", "new channel"),
            PlanChangeKind::ChannelGone => ("消失的通道", "removed channel"),
            PlanChangeKind::OperatorAppeared => ("新增算子", "new operator"),
            PlanChangeKind::OperatorGone => ("消失的算子", "removed operator"),
            PlanChangeKind::OperatorChanged => ("算子的键改变", "operator with different keys"),
        })
    }

    /// A severity.
    pub fn severity(self, severity: Severity) -> &'static str {
        self.pick(match severity {
            Severity::Critical => ("致命", "critical"),
            Severity::High => ("高", "high"),
            Severity::Medium => ("中", "medium"),
            Severity::Low => ("低", "low"),
        })
    }

    /// The kind of a suggestion.
    pub fn suggestion_kind(self, kind: SuggestionKind) -> &'static str {
        self.pick(match kind {
            SuggestionKind::Rewrite => ("改写脚本", "rewrite"),
            SuggestionKind::Hint => ("提示", "hint"),
            SuggestionKind::Parameter => ("参数", "parameter"),
            SuggestionKind::Layout => ("存储布局", "layout"),
            SuggestionKind::Investigate => ("先排查", "investigate"),
        })
    }
}
