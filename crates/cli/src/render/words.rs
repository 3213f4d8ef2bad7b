//! The words around a report in both languages.

use agent::report::{Language, ProblemType, Severity, SuggestionKind, Verdict};

/// One phrase in both languages.
type Phrase = (&'static str, &'static str);

/// Headings and labels, chosen by language.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words(pub(crate) Language);

macro_rules! phrases {
    ($($name:ident = $zh:literal, $en:literal;)*) => {
        impl Words {
            $(pub(crate) fn $name(self) -> &'static str {
                self.pick(($zh, $en))
            })*

            /// The phrase of that name, for templates; `?` if there is none, which a test excludes.
            pub(crate) fn by_name(self, name: &str) -> &'static str {
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
    suggestions = "建议", "Suggestions";
    experience = "相关经验", "Experience";
    missing = "缺少的信息", "Missing information";
    diagnostics = "读取时的问题", "Reading problems";
    steps = "推理步骤", "Reasoning steps";
    files_read = "读取的文件", "Files read";
    question = "问题", "Question";
    job = "作业", "Job";
    run = "运行编号", "Run";
    gain = "收益", "Gain";
    pros = "优点", "Pros";
    cons = "代价", "Cons";
    expected = "正常应为", "expected";
    whole_job = "整个作业", "whole job";
    lines = "脚本行", "script lines";
    line = "脚本行", "script line";
    confidence = "置信度", "confidence";
    saves = "可节省", "saves";
    semicolon = "；", "; ";
    mean = "均值", "mean";
    tokens = "个令牌", "tokens";
    would_decide = "可判定", "would decide";
    in_folder = "文件在目录中", "in the folder";
    not_in_folder = "目录中没有", "not in the folder";
    verified = "已检查：可解析、列不变、提示已知", "checked: parses, keeps its columns, hints known";
    partly_verified = "未全部通过检查", "not every check passed";
    reasoned_by = "推理者", "Reasoned by";
    offline = "离线推理（未使用 LLM）", "offline reasoner (no LLM)";
    no_findings = "没有发现问题。", "Nothing found.";
    unverified = "未证实", "unverified";
    hint = "办法", "hint";
    stages = "个阶段", "stages";
    vertices = "个顶点", "vertices";
    rules = "规则", "Rules";
    fired = "触发", "fired";
    cleared = "排除", "cleared";
    abstained = "弃权", "abstained";
    stage_graph = "阶段图", "Stages";
    stage_graph_legend = "颜色：占全部顶点时间的比例；线宽：传输的字节数；粗框：关键路径；红框：发现所在的阶段。", "Colour: share of all vertex time. Line width: bytes that crossed. Heavy frame: critical path. Red frame: stage of a finding.";
    timeline = "令牌使用", "Tokens in use over time";
    timeline_legend = "各阶段同时运行的顶点数，叠加显示；虚线为可用令牌数。", "Vertices running at once, stages stacked; the dashed line is the number of tokens.";
    script = "脚本", "Script";
    run_time_per_vertex = "每个顶点的运行时间", "run time per vertex";
    bytes_read_per_vertex = "每个顶点读取的字节数", "bytes read per vertex";
}

impl Words {
    fn pick(self, phrase: Phrase) -> &'static str {
        match self.0 {
            Language::Zh => phrase.0,
            Language::En => phrase.1,
        }
    }

    /// A share (0..1) of the run time.
    pub(crate) fn share_of_run(self, share: f64) -> String {
        match self.0 {
            Language::Zh => format!("占运行时间 {:.0} %", share * 100.0),
            Language::En => format!("{:.0} % of the run", share * 100.0),
        }
    }

    /// The verdict as a heading.
    pub(crate) fn verdict(self, verdict: Verdict) -> &'static str {
        self.pick(match verdict {
            Verdict::Problem => ("存在问题", "Problem found"),
            Verdict::Healthy => ("健康", "Healthy"),
            Verdict::InsufficientInformation => (
                "信息不足，无法判断",
                "Cannot be decided: information is missing",
            ),
        })
    }

    /// The class of a problem.
    pub(crate) fn problem_type(self, problem: ProblemType) -> &'static str {
        self.pick(match problem {
            ProblemType::DataSkew => ("数据倾斜", "data skew"),
            ProblemType::ExcessiveShuffle => ("过多 Shuffle", "excessive shuffle"),
            ProblemType::Other => ("其他问题", "other"),
            ProblemType::None => ("无", "none"),
        })
    }

    /// A severity.
    pub(crate) fn severity(self, severity: Severity) -> &'static str {
        self.pick(match severity {
            Severity::Critical => ("致命", "critical"),
            Severity::High => ("高", "high"),
            Severity::Medium => ("中", "medium"),
            Severity::Low => ("低", "low"),
        })
    }

    /// The kind of a suggestion.
    pub(crate) fn suggestion_kind(self, kind: SuggestionKind) -> &'static str {
        self.pick(match kind {
            SuggestionKind::Rewrite => ("改写脚本", "rewrite"),
            SuggestionKind::Hint => ("提示", "hint"),
            SuggestionKind::Parameter => ("参数", "parameter"),
            SuggestionKind::Layout => ("存储布局", "layout"),
            SuggestionKind::Investigate => ("先调查", "investigate"),
        })
    }
}
