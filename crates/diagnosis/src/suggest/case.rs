//! One finding with what a suggestion needs to know about it: its statement, and small helpers to
//! put suggestions together.

use job::Job;
use job::script::flow::user_code;
use job::script::{Join, Script, Statement, StatementKind};

use crate::model::{Finding, Suggestion, SuggestionKind, Text, Value};
use crate::rewrite::{Checked, Rewrite};

/// A finding in its job.
pub(super) struct Case<'a> {
    pub(super) job: &'a Job,
    pub(super) index: usize,
    pub(super) finding: &'a Finding,
    /// The script, if it was read.
    pub(super) script: Option<&'a Script>,
    /// The statement that the finding names.
    pub(super) statement: Option<&'a Statement>,
}

/// A suggestion in the making.
pub(super) struct Draft {
    pub(super) kind: SuggestionKind,
    pub(super) title: Text,
    pub(super) steps: Vec<Text>,
    pub(super) rewrite: Option<Rewrite>,
    pub(super) pros: Vec<Text>,
    pub(super) cons: Vec<Text>,
    pub(super) topic: &'static str,
}

/// A sentence in both languages.
pub(super) fn t(zh: impl Into<String>, en: impl Into<String>) -> Text {
    Text {
        zh: zh.into(),
        en: en.into(),
    }
}

impl Draft {
    pub(super) fn new(kind: SuggestionKind, topic: &'static str, title: Text) -> Draft {
        Draft {
            kind,
            title,
            steps: Vec::new(),
            rewrite: None,
            pros: Vec::new(),
            cons: Vec::new(),
            topic,
        }
    }

    pub(super) fn step(mut self, zh: impl Into<String>, en: impl Into<String>) -> Draft {
        self.steps.push(t(zh, en));
        self
    }

    pub(super) fn pro(mut self, zh: impl Into<String>, en: impl Into<String>) -> Draft {
        self.pros.push(t(zh, en));
        self
    }

    pub(super) fn con(mut self, zh: impl Into<String>, en: impl Into<String>) -> Draft {
        self.cons.push(t(zh, en));
        self
    }

    pub(super) fn rewrite(mut self, rewrite: Option<Rewrite>) -> Draft {
        self.rewrite = rewrite;
        self
    }
}

impl<'a> Case<'a> {
    pub(super) fn new(job: &'a Job, index: usize, finding: &'a Finding) -> Case<'a> {
        let script = job.script.as_ref();
        let statement = script
            .zip(finding.script_lines)
            .and_then(|(script, lines)| named(script, lines));
        Case {
            job,
            index,
            finding,
            script,
            statement,
        }
    }

    /// Columns that a user-defined class reads, if its code tells.
    pub(super) fn reads(&self, class: &str) -> Option<Vec<String>> {
        reads(self.job, class)
    }

    /// The diff of a rewrite, if it passes its checks.
    pub(super) fn check(&self, rewrite: &Rewrite) -> Option<Checked> {
        let script = self.script?;
        rewrite.checked(script, &|class| self.reads(class))
    }

    /// The suggestion; without a diff, if the rewrite does not pass its checks.
    pub(super) fn finish(&self, draft: Draft) -> Suggestion {
        let checked = draft
            .rewrite
            .as_ref()
            .and_then(|rewrite| self.check(rewrite));
        let (diff, verified) = checked.map(|c| (c.diff, c.verified)).unzip();
        Suggestion {
            finding: self.index,
            kind: draft.kind,
            title: draft.title,
            steps: draft.steps,
            diff,
            verified,
            gain: self.gain(),
            pros: draft.pros,
            cons: draft.cons,
            topic: format!("{} {}", self.finding.cause.code(), draft.topic),
        }
    }

    /// The suggestion, if its rewrite passes its checks; without a diff it would say nothing.
    pub(super) fn finish_checked(&self, draft: Draft) -> Option<Suggestion> {
        let suggestion = self.finish(draft);
        suggestion.diff.is_some().then_some(suggestion)
    }

    /// What the finding's impact promises.
    fn gain(&self) -> Text {
        let Some(impact) = &self.finding.impact else {
            return t(
                "收益无法从现有数据估计",
                "the gain cannot be estimated from the data at hand",
            );
        };
        let seconds = impact.seconds_saved;
        match impact.share_of_elapsed {
            Some(share) => t(
                format!(
                    "最多约省 {seconds:.0} 秒（运行时间的 {:.0} %）",
                    share * 100.0
                ),
                format!(
                    "up to about {seconds:.0} s ({:.0} % of the run)",
                    share * 100.0
                ),
            ),
            None => t(
                format!("最多约省 {seconds:.0} 秒"),
                format!("up to about {seconds:.0} s"),
            ),
        }
    }

    /// Text value of the evidence with that metric.
    pub(super) fn evidence_text(&self, metric: &str) -> Option<&'a str> {
        self.finding
            .evidence
            .iter()
            .find(|fact| fact.metric == metric)
            .and_then(|fact| match &fact.value {
                Value::Text(text) => Some(text.as_str()),
                _ => None,
            })
    }

    /// Number of the evidence with that metric.
    pub(super) fn evidence_number(&self, metric: &str) -> Option<f64> {
        self.finding
            .evidence
            .iter()
            .find(|fact| fact.metric == metric)
            .and_then(|fact| match fact.value {
                Value::Number(number) => Some(number),
                _ => None,
            })
    }

    /// The join of the statement that the finding is about: the one on the keys by which rows
    /// reach its stage; the first, if that does not tell.
    pub(super) fn join(&self) -> Option<(usize, &'a Join)> {
        let joins = &self.statement?.query.joins;
        let stage = self
            .finding
            .stage
            .as_deref()
            .and_then(|name| self.job.stage_index(name));
        let keys: Vec<&String> = self
            .job
            .edges
            .iter()
            .filter(|edge| Some(edge.to) == stage)
            .flat_map(|edge| &edge.keys)
            .collect();
        let fits = |join: &Join| {
            !join.keys.is_empty()
                && join
                    .keys
                    .iter()
                    .all(|(l, r)| keys.contains(&&l.name) || keys.contains(&&r.name))
        };
        let found =
            joins
                .iter()
                .position(fits)
                .or(if joins.is_empty() { None } else { Some(0) })?;
        Some((found, &joins[found]))
    }

    /// Stage of the finding, or words for the whole job.
    pub(super) fn place(&self) -> Text {
        match &self.finding.stage {
            Some(stage) => t(stage.clone(), stage.clone()),
            None => t("整个作业", "the job"),
        }
    }

    /// Name of the rowset that the statement binds, for texts.
    pub(super) fn rowset(&self) -> Text {
        let target = self
            .statement
            .and_then(|statement| statement.target.clone());
        match (target, self.finding.script_lines) {
            (Some(name), _) => t(format!("`{name}`"), format!("`{name}`")),
            (None, Some((first, _))) => t(
                format!("第 {first} 行的语句"),
                format!("the statement in line {first}"),
            ),
            (None, None) => t("对应的语句", "the statement"),
        }
    }
}

/// The statement that shares most lines with the finding; of equals the one that makes rows.
fn named(script: &Script, lines: (u32, u32)) -> Option<&Statement> {
    let shared = |statement: &Statement| {
        let first = statement.lines.0.max(lines.0);
        let last = statement.lines.1.min(lines.1);
        (last + 1).saturating_sub(first)
    };
    let candidates = script
        .statements
        .iter()
        .filter(|statement| shared(statement) > 0);
    candidates.max_by_key(|statement| (shared(statement), statement.makes_rowset()))
}

/// What a user-defined class reads: by the C# blocks of the script, else by the generated code.
pub(super) fn reads(job: &Job, class: &str) -> Option<Vec<String>> {
    let script = job.script.as_ref()?;
    let blocks = script
        .statements
        .iter()
        .filter(|s| s.kind == StatementKind::CsBlock);
    let mut found =
        blocks.filter_map(|block| user_code::columns_read(script.slice(&block.span), class));
    if let Some(columns) = found.next() {
        return Some(columns);
    }
    let name = class.rsplit('.').next()?;
    let classes = &job.codegen.as_ref()?.classes;
    classes
        .iter()
        .find(|known| known.name == name)?
        .columns_read
        .clone()
}
