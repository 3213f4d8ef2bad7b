//! The sentences of a comparison in both languages.

use super::{Comparison, FindingChange, Gap, Origin, PlanChange, PlanChangeKind, ReasonKind, Side};
use crate::wording::{bytes, duration};
use report::format::figure;
use report::{JobState, Language};

/// Words reasons; `A` and `B` stand for the two runs.
pub(crate) struct Said {
    language: Language,
    slow: &'static str,
    fast: &'static str,
}

impl Said {
    pub(crate) fn new(language: Language, slow_is_b: bool) -> Said {
        let (slow, fast) = if slow_is_b { ("B", "A") } else { ("A", "B") };
        Said {
            language,
            slow,
            fast,
        }
    }

    fn pick(&self, zh: String, en: String) -> String {
        match self.language {
            Language::Zh => zh,
            Language::En => en,
        }
    }

    pub(crate) fn failure(
        &self,
        failed_is_b: bool,
        failed: JobState,
        other: JobState,
        error: Option<&str>,
    ) -> String {
        let (bad, good) = if failed_is_b { ("B", "A") } else { ("A", "B") };
        let because_zh = error.map(|e| format!("：{e}")).unwrap_or_default();
        let because_en = error.map(|e| format!(": {e}")).unwrap_or_default();
        self.pick(
            format!(
                "{bad} {}，{good} {}{because_zh}",
                state_zh(failed),
                state_zh(other)
            ),
            format!(
                "{bad} {}, {good} {}{because_en}",
                state_en(failed),
                state_en(other)
            ),
        )
    }

    pub(crate) fn no_difference(&self) -> String {
        self.pick(
            "两次运行的用时相差不大".to_owned(),
            "both took about the same time".to_owned(),
        )
    }

    pub(crate) fn finding(&self, change: &FindingChange, slow: f64, fast: Option<f64>) -> String {
        let cause = &change.cause;
        let (in_zh, in_en) = match &change.stage {
            Some(stage) => (format!("（{stage}）"), format!(" in {stage}")),
            None => Default::default(),
        };
        match fast {
            None => self.pick(
                format!(
                    "`{cause}`{in_zh}只出现在 {}，约 {}",
                    self.slow,
                    duration(slow)
                ),
                format!(
                    "`{cause}`{in_en} is only in {} (about {})",
                    self.slow,
                    duration(slow)
                ),
            ),
            Some(fast) => self.pick(
                format!(
                    "`{cause}`{in_zh}在 {} 中约 {}，在 {} 中约 {}",
                    self.slow,
                    duration(slow),
                    self.fast,
                    duration(fast)
                ),
                format!(
                    "`{cause}`{in_en} costs about {} in {} and {} in {}",
                    duration(slow),
                    self.slow,
                    duration(fast),
                    self.fast
                ),
            ),
        }
    }

    pub(crate) fn data_bytes(&self, ratio: f64, slow: f64, fast: f64) -> String {
        self.data(ratio, &bytes(slow), &bytes(fast))
    }

    pub(crate) fn data_rows(&self, ratio: f64, slow: f64, fast: f64) -> String {
        let rows = |n: f64| match self.language {
            Language::Zh => format!("{} 行", figure(n)),
            Language::En => format!("{} rows", figure(n)),
        };
        self.data(ratio, &rows(slow), &rows(fast))
    }

    fn data(&self, ratio: f64, slow: &str, fast: &str) -> String {
        self.pick(
            format!(
                "{} 的输入是 {} 的 {ratio:.1} 倍（{slow} 对 {fast}）",
                self.slow, self.fast
            ),
            format!(
                "the input of {} is {ratio:.1} times that of {} ({slow} against {fast})",
                self.slow, self.fast
            ),
        )
    }

    pub(crate) fn tokens(&self, few: f64, many: f64) -> String {
        self.pick(
            format!(
                "{} 只有 {few:.0} 个令牌，{} 有 {many:.0} 个",
                self.slow, self.fast
            ),
            format!(
                "{} ran with {few:.0} tokens, {} with {many:.0}",
                self.slow, self.fast
            ),
        )
    }

    pub(crate) fn queue(&self, slow: f64, fast: f64) -> String {
        self.pick(
            format!(
                "{} 排队 {}，{} 排队 {}",
                self.slow,
                duration(slow),
                self.fast,
                duration(fast)
            ),
            format!(
                "{} waited {} in the queue, {} {}",
                self.slow,
                duration(slow),
                self.fast,
                duration(fast)
            ),
        )
    }

    pub(crate) fn script(&self, added: usize, removed: usize, plan: Option<&PlanChange>) -> String {
        let zh = plan.map(|p| format!("，计划随之改变：{}", self.change(p)));
        let en = plan.map(|p| format!(", and the plan with it: {}", self.change(p)));
        self.pick(
            format!(
                "脚本改了（+{added} −{removed} 行）{}",
                zh.unwrap_or_default()
            ),
            format!(
                "the script changed (+{added} −{removed} lines){}",
                en.unwrap_or_default()
            ),
        )
    }

    pub(crate) fn plan(&self, changes: usize, first: Option<&PlanChange>) -> String {
        let first = first.map(|p| self.change(p)).unwrap_or_default();
        self.pick(
            format!("脚本没变，计划变了 {changes} 处：{first}"),
            format!("the plan changed in {changes} places without the script: {first}"),
        )
    }

    fn change(&self, change: &PlanChange) -> String {
        let place = &change.place;
        match (&change.a, &change.b) {
            (Some(a), Some(b)) => self.pick(
                format!("{place} 从 {a} 变为 {b}"),
                format!("{place} went from {a} to {b}"),
            ),
            _ => {
                let (zh, en) = match change.kind {
                    PlanChangeKind::StageAppeared
                    | PlanChangeKind::ChannelAppeared
                    | PlanChangeKind::OperatorAppeared => ("只在 B 中", "is only in B"),
                    _ => ("只在 A 中", "is only in A"),
                };
                self.pick(format!("{place} {zh}"), format!("{place} {en}"))
            }
        }
    }

    pub(crate) fn machines(&self, seconds: f64) -> String {
        self.pick(
            format!(
                "{} 的顶点等机器的时间更长（关键路径上共约 {}）",
                self.slow,
                duration(seconds)
            ),
            format!(
                "the vertices of {} waited longer for machines (about {} on the critical path)",
                self.slow,
                duration(seconds)
            ),
        )
    }

    pub(crate) fn lost_work(&self, slow: f64, fast: f64) -> String {
        self.pick(
            format!(
                "{} 中失败和重跑的尝试占 {}，{} 中为 {}",
                self.slow,
                duration(slow),
                self.fast,
                duration(fast)
            ),
            format!(
                "lost attempts ran {} in {} and {} in {}",
                duration(slow),
                self.slow,
                duration(fast),
                self.fast
            ),
        )
    }

    pub(crate) fn imbalance(&self, stage: &str, slow: f64, fast: f64) -> String {
        self.pick(
            format!("{stage} 最慢的顶点在 {} 中是均值的 {slow:.1} 倍，在 {} 中是 {fast:.1} 倍", self.slow, self.fast),
            format!(
                "the slowest vertex of {stage} took {slow:.1} times the mean in {}, {fast:.1} times in {}",
                self.slow, self.fast
            ),
        )
    }

    pub(crate) fn work_per_row(&self, stage: &str, slower: f64) -> String {
        self.pick(
            format!(
                "{stage} 每行的时间在 {} 中是 {} 的 {slower:.1} 倍",
                self.slow, self.fast
            ),
            format!(
                "each row of {stage} took {slower:.1} times as long in {} as in {}",
                self.slow, self.fast
            ),
        )
    }

    pub(crate) fn unknown(&self, stage: Option<&str>, seconds: Option<f64>) -> String {
        match (stage, seconds) {
            (Some(stage), Some(seconds)) => self.pick(
                format!(
                    "没有单一原因；增加最多的是 {stage}（{}）",
                    duration(seconds)
                ),
                format!(
                    "no single one; {stage} grew most (by {})",
                    duration(seconds)
                ),
            ),
            _ => self.pick(
                "保存的数据不足以说明原因".to_owned(),
                "what is known of the runs does not tell".to_owned(),
            ),
        }
    }
}

fn state_zh(state: JobState) -> &'static str {
    match state {
        JobState::Succeeded => "成功",
        JobState::Failed => "失败",
        JobState::Cancelled => "被取消",
        JobState::Unknown => "结果未知",
    }
}

fn state_en(state: JobState) -> &'static str {
    match state {
        JobState::Succeeded => "succeeded",
        JobState::Failed => "failed",
        JobState::Cancelled => "was cancelled",
        JobState::Unknown => "ended in a way no file tells",
    }
}

/// The first line: the difference and its most probable reason.
pub(crate) fn headline(comparison: &Comparison) -> String {
    let zh = comparison.language == Language::Zh;
    let reason = comparison.reasons.first();
    let text = reason.map_or("", |r| r.text.as_str());
    let times = difference(comparison);
    let same = reason.is_some_and(|r| r.kind == ReasonKind::NoDifference);
    match (times, zh) {
        (Some(times), true) if same => format!("{times}：{text}。"),
        (Some(times), false) if same => format!("{times}: {text}."),
        (Some(times), true) => format!("{times}；最可能的原因：{text}。"),
        (Some(times), false) => format!("{times}; most probable reason: {text}."),
        (None, true) => format!("至少一次运行没有用时；最可能的差别：{text}。"),
        (None, false) => {
            format!("A run does not tell how long it took; most probable difference: {text}.")
        }
    }
}

fn difference(comparison: &Comparison) -> Option<String> {
    let (a, b) = (comparison.a.elapsed_seconds?, comparison.b.elapsed_seconds?);
    let by = duration((b - a).abs());
    let percent = if a > 0.0 {
        format!("{:.0} %", (b - a).abs() / a * 100.0)
    } else {
        "–".to_owned()
    };
    let b_took = duration(b);
    Some(match (comparison.language, b >= a) {
        (Language::Zh, true) => format!("B 用时 {b_took}，比 A 长 {by}（{percent}）"),
        (Language::Zh, false) => format!("B 用时 {b_took}，比 A 短 {by}（{percent}）"),
        (Language::En, true) => format!("B took {b_took}, {by} ({percent}) longer than A"),
        (Language::En, false) => format!("B took {b_took}, {by} ({percent}) less than A"),
    })
}

/// What a side does not tell, so that it is not taken for "no difference".
pub(crate) fn gaps(a: &Side, b: &Side, language: Language) -> Vec<Gap> {
    let mut gaps = Vec::new();
    for (name, side) in [("A", a), ("B", b)] {
        let mut add = |what: &str, zh: String, en: String| {
            let reason = match language {
                Language::Zh => zh,
                Language::En => en,
            };
            gaps.push(Gap {
                what: what.to_owned(),
                reason,
            });
        };
        if side.origin == Origin::Drawn {
            add(
                "plan",
                format!(
                    "{name} 由旧版本保存，目录已不在或已是另一作业：没有行数、算子、估计和输入；请重新分析"
                ),
                format!(
                    "{name} was kept by an older program and its folder is gone or another job's: \
                     no rows, operators, estimates or inputs; analyze it again"
                ),
            );
            continue;
        }
        let shape = &side.shape;
        if shape.job.elapsed_seconds.is_none() {
            add(
                "times",
                format!("{name} 没有作业用时（缺 JobInfo.xml 或 profile）"),
                format!("{name} has no run time of the job (JobInfo.xml or profile is missing)"),
            );
        }
        if shape.stages.iter().all(|s| s.rows_in.is_none()) {
            add(
                "rows",
                format!("{name} 没有运行时统计（缺 __ScopeRuntimeStatistics__.xml）"),
                format!(
                    "{name} has no run-time counters (__ScopeRuntimeStatistics__.xml is missing)"
                ),
            );
        }
        if shape.stages.iter().all(|s| s.operators.is_empty()) {
            add(
                "plan",
                format!("{name} 没有算子（缺 ScopeVertexDef.xml）"),
                format!("{name} has no operators (ScopeVertexDef.xml is missing)"),
            );
        }
        let mut operators = shape.stages.iter().flat_map(|s| &s.operators);
        if operators.all(|o| o.estimated_rows.is_none()) {
            add(
                "estimates",
                format!("{name} 没有优化器估计（缺 __ScopeInternalInfo__.xml）"),
                format!("{name} has no estimates (__ScopeInternalInfo__.xml is missing)"),
            );
        }
        if shape.inputs.is_empty() {
            add(
                "inputs",
                format!("{name} 没有输入的元数据"),
                format!("{name} has no metadata of its inputs"),
            );
        }
        if side.script.is_none() {
            add(
                "script",
                format!("{name} 没有脚本"),
                format!("{name} has no script"),
            );
        }
    }
    gaps
}
