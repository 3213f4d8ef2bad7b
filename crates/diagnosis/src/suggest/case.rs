//! One finding with what a suggestion needs to know about it: its statement, and small helpers to
//! put suggestions together.

use job::Job;
use job::script::flow::user_code;
use job::script::{Join, Script, Statement, StatementKind};

use crate::Suggested;
use crate::rewrite::{Checked, Rewrite};
use crate::rule::Candidate;
use report::format::{Seconds, Share};
use report::{
    Evidence, EvidenceValue, Finding, Language, Origin, Suggestion, SuggestionKind, Text, text,
};

/// A finding in its job.
pub(super) struct Case<'a> {
    pub(super) job: &'a Job,
    /// Id that the finding will have.
    id: String,
    pub(super) finding: &'a Finding,
    evidence: &'a [Evidence],
    language: Language,
    /// The script, if it was read.
    pub(super) script: Option<&'a Script>,
    /// The statement that the finding names.
    pub(super) statement: Option<&'a Statement>,
}

/// A suggestion in the making.
pub(super) struct Proposal {
    pub(super) kind: SuggestionKind,
    pub(super) title: Text,
    pub(super) steps: Vec<Text>,
    pub(super) rewrite: Option<Rewrite>,
    pub(super) pros: Vec<Text>,
    pub(super) cons: Vec<Text>,
    pub(super) topic: &'static str,
}

impl Proposal {
    pub(super) fn new(kind: SuggestionKind, topic: &'static str, title: Text) -> Proposal {
        Proposal {
            kind,
            title,
            steps: Vec::new(),
            rewrite: None,
            pros: Vec::new(),
            cons: Vec::new(),
            topic,
        }
    }

    pub(super) fn step(mut self, text: Text) -> Proposal {
        self.steps.push(text);
        self
    }

    pub(super) fn pro(mut self, text: Text) -> Proposal {
        self.pros.push(text);
        self
    }

    pub(super) fn con(mut self, text: Text) -> Proposal {
        self.cons.push(text);
        self
    }

    pub(super) fn rewrite(mut self, rewrite: Option<Rewrite>) -> Proposal {
        self.rewrite = rewrite;
        self
    }
}

impl<'a> Case<'a> {
    pub(super) fn new(
        job: &'a Job,
        index: usize,
        found: &'a Candidate,
        language: Language,
    ) -> Case<'a> {
        let finding = &found.finding;
        let script = job.script.as_ref();
        let statement = script
            .zip(finding.script_lines)
            .and_then(|(script, lines)| named(script, lines));
        Case {
            job,
            id: format!("F{}", index + 1),
            finding,
            evidence: &found.evidence,
            language,
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

    /// The suggestion; without a diff if the rewrite does not pass its checks.
    pub(super) fn finish(&self, proposal: Proposal) -> Suggested {
        let rewrite = proposal.rewrite.as_ref();
        let checked = rewrite.and_then(|rewrite| self.check(rewrite));
        let (diff, verified) = checked.map(|c| (c.diff, c.verified)).unzip();
        let language = self.language;
        let code = self.finding.cause.code();
        // A topic is in English; the title finds what readers of another language can read.
        let topic = match language {
            Language::En => format!("{code} {}", proposal.topic),
            Language::Zh => format!("{code} {} {}", proposal.topic, proposal.title.zh),
        };
        let all = |texts: Vec<Text>| texts.into_iter().map(|t| t.into(language)).collect();
        let suggestion = Suggestion {
            id: String::new(),
            finding: Some(self.id.clone()),
            kind: proposal.kind,
            title: proposal.title.into(language),
            steps: all(proposal.steps),
            diff,
            verified,
            gain: self.gain().into(language),
            pros: all(proposal.pros),
            cons: all(proposal.cons),
            sources: Vec::new(),
            origin: Origin::Rules,
            unverified: Vec::new(),
        };
        Suggested { suggestion, topic }
    }

    /// The suggestion if its rewrite passes its checks; without a diff it would be empty words.
    pub(super) fn finish_checked(&self, proposal: Proposal) -> Option<Suggested> {
        let suggested = self.finish(proposal);
        suggested.suggestion.diff.is_some().then_some(suggested)
    }

    /// What the finding's impact promises.
    fn gain(&self) -> Text {
        let Some(impact) = &self.finding.impact else {
            return text!(
                "现有数据不足以估计收益",
                "the gain cannot be estimated from the available data",
            );
        };
        let time = Seconds(impact.seconds_saved);
        match impact.share_of_elapsed {
            Some(share) => text!(
                "最多约节省 {time}（占运行时间的 {share}）",
                "up to about {time} ({share} of the run)",
                time = time,
                share = Share(share),
            ),
            None => text!("最多约节省 {time}", "up to about {time}", time = time),
        }
    }

    fn value(&self, metric: &str) -> Option<&'a EvidenceValue> {
        let mut evidence = self.evidence.iter();
        Some(&evidence.find(|e| e.metric == metric)?.value)
    }

    /// Text value of the evidence with that metric.
    pub(super) fn evidence_text(&self, metric: &str) -> Option<&'a str> {
        match self.value(metric)? {
            EvidenceValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Rows in the evidence that were counted in the run, not estimated by the optimizer.
    pub(super) fn counted_rows(&self) -> Option<f64> {
        let plan = self.job.plan.as_ref().map(|plan| &plan.file);
        let mut rows = (self.evidence.iter()).filter(|e| e.unit.as_deref() == Some("rows"));
        match rows.find(|e| Some(&e.source.file) != plan)?.value {
            EvidenceValue::Number(number) => Some(number),
            _ => None,
        }
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
        let found = joins.iter().position(fits).unwrap_or(0);
        Some((found, joins.get(found)?))
    }

    /// Stage of the finding, or words for the whole job.
    pub(super) fn place(&self) -> Text {
        match &self.finding.stage {
            Some(stage) => text!("{stage}", "{stage}"),
            None => text!("整个作业", "the job"),
        }
    }

    /// Name of the rowset that the statement binds, for sentences.
    pub(super) fn rowset(&self) -> Text {
        let target = self.statement.and_then(|s| s.target.as_ref());
        match (target, self.finding.script_lines) {
            (Some(name), _) => text!("`{name}`", "`{name}`"),
            (None, Some([first, _])) => {
                text!("第 {first} 行的语句", "the statement on line {first}")
            }
            (None, None) => text!("对应的语句", "the statement"),
        }
    }
}

/// The statement that shares most lines with the finding; of equals the one that makes rows.
fn named(script: &Script, lines: [u32; 2]) -> Option<&Statement> {
    let shared = |statement: &Statement| {
        let first = statement.lines.0.max(lines[0]);
        let last = statement.lines.1.min(lines[1]);
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
