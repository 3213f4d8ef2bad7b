//! One finding with the context of its suggestions: its stage, its statement, its keys.

use std::cell::Cell;

use job::Job;
use job::model::Edge;
use job::script::flow::user_code;
use job::script::{Dialect, Join, RowsetRef, Script, Statement, StatementKind};

use diagnosis::impact::Saved;
use diagnosis::located;
use diagnosis::{Candidate, Uneven, View};
use report::format::Names;
use report::{Evidence, EvidenceValue, Finding, Text, text};

/// A finding in its job.
pub(crate) struct Case<'a> {
    pub(crate) view: &'a View<'a>,
    pub(crate) job: &'a Job,
    /// Id that the finding will have.
    pub(crate) id: String,
    pub(crate) finding: &'a Finding,
    evidence: &'a [Evidence],
    /// Index of the stage that the finding names.
    pub(crate) stage: Option<usize>,
    /// The script, if it was read.
    pub(crate) script: Option<&'a Script>,
    /// The statement that the finding names.
    pub(crate) statement: Option<&'a Statement>,
    /// Whether a suggestion has claimed the finding's whole saving.
    pub(crate) claimed: Cell<bool>,
}

impl<'a> Case<'a> {
    pub(crate) fn new(view: &'a View<'a>, index: usize, found: &'a Candidate) -> Case<'a> {
        let finding = &found.finding;
        let script = view.job.script.as_ref();
        let named_stage = finding.stage.as_deref();
        Case {
            view,
            job: view.job,
            id: format!("F{}", index + 1),
            finding,
            evidence: &found.evidence,
            stage: named_stage.and_then(|name| view.job.stage_index(name)),
            script,
            claimed: Cell::new(false),
            statement: script
                .zip(finding.script_lines)
                .and_then(|(script, lines)| named(script, lines)),
        }
    }

    /// Whether it is a U-SQL job: by its script, else by the plan, which only U-SQL jobs have.
    pub(crate) fn usql(&self) -> bool {
        let plan = |file: &job::model::JobFile| file.name.contains("__SystemInternalInfo__");
        match self.script {
            Some(script) => script.dialect == Dialect::USql,
            None => self.job.files.iter().any(plan),
        }
    }

    /// Whether the stage belongs to an execution of SQL or of a DataFrame.
    pub(crate) fn is_of_sql(&self) -> bool {
        let stage = self.stage;
        stage.is_some_and(|stage| located::is_planned(self.job, stage))
    }

    /// Whether the finding's stage reads files without a plan.
    pub(crate) fn lists_files(&self) -> bool {
        let stage = self.stage;
        stage.is_some_and(|stage| located::lists_files(self.job, stage))
    }

    /// Whether it is an application of Structured Streaming.
    pub(crate) fn is_streaming(&self) -> bool {
        self.job
            .spark
            .as_ref()
            .is_some_and(|app| app.is_streaming())
    }

    /// Whether an operator of the finding's stage has such a name.
    pub(crate) fn has_operator(&self, is_meant: impl Fn(&str) -> bool) -> bool {
        let stage = self.stage.and_then(|at| self.job.stages.get(at));
        stage.is_some_and(|stage| stage.operators.iter().any(|o| is_meant(&o.id)))
    }

    /// Whether the program asks for all exchanges that the stage reads.
    pub(crate) fn is_asked_for(&self) -> bool {
        let read = self.stage.zip(self.job.spark.as_deref());
        read.is_some_and(|(stage, app)| {
            let read = app.stages[stage].reads.iter();
            let mut read = read.filter_map(|at| app.exchanges.get(*at)).peekable();
            read.peek().is_some() && read.all(|exchange| exchange.asked_for().is_some())
        })
    }

    /// Whether no task of the stage reads files or a shuffle.
    pub(crate) fn reads_no_files(&self) -> bool {
        let facts = self.stage.and_then(|at| self.view.facts.get(at));
        let bytes = facts.and_then(|f| f.bytes_read.as_ref());
        bytes.is_none_or(|read| read.value.total <= 0.0) && self.edges().next().is_none()
    }

    pub(crate) fn located(&self) -> Option<(&'a Script, &'a Statement)> {
        self.script.zip(self.statement)
    }

    /// The statement that binds an input, if no other statement reads it.
    pub(crate) fn sole_definition(&self, input: &RowsetRef) -> Option<&'a Statement> {
        let script = self.script?;
        let definition = input.definition?;
        let rowset = script.flow().of_statement(definition)?;
        let alone = rowset.readers.len() == 1;
        script.statements.get(definition).filter(|_| alone)
    }

    /// Columns that a user-defined class reads, if its code shows them.
    pub(crate) fn reads(&self, class: &str) -> Option<Vec<String>> {
        columns_read(self.job, class)
    }

    /// Unevenness of the stage, if the finding is about it.
    pub(crate) fn uneven(&self) -> Option<&'a Uneven> {
        let mut all = self.view.uneven.iter();
        all.find(|u| Some(u.stage) == self.stage && u.cause == self.finding.cause)
    }

    /// Saving of an edit of the finding's stage.
    pub(crate) fn saved_by(
        &self,
        edit: impl Fn(&mut diagnosis::impact::StageWork) + Send + Sync + 'static,
    ) -> Option<Saved> {
        let stage = self.stage?;
        self.view.saved_in(stage, edit)
    }

    /// The value of a key that the evidence names; `NULL` for null.
    pub(crate) fn hot_value(&self) -> Option<&'a str> {
        self.evidence_text("hot_key_value")
    }

    /// Text value of the evidence with that metric.
    pub(crate) fn evidence_text(&self, metric: &str) -> Option<&'a str> {
        let mut evidence = self.evidence.iter();
        match &evidence.find(|e| e.metric == metric)?.value {
            EvidenceValue::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn evidence_number(&self, metric: &str) -> Option<f64> {
        match self.evidence.iter().find(|e| e.metric == metric)?.value {
            EvidenceValue::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Rows in the evidence that were counted in the run, not estimated by the optimizer.
    pub(crate) fn counted_rows(&self) -> Option<u64> {
        let plan = self.job.plan.as_ref().map(|plan| &plan.file);
        let mut rows = (self.evidence.iter()).filter(|e| e.unit.as_deref() == Some("rows"));
        match rows.find(|e| Some(&e.source.file) != plan)?.value {
            EvidenceValue::Number(number) => Some(number as u64),
            _ => None,
        }
    }

    /// Exchanges into the finding's stage.
    pub(crate) fn edges(&self) -> impl Iterator<Item = &'a Edge> {
        let stage = self.stage;
        self.job.edges.iter().filter(move |e| Some(e.to) == stage)
    }

    /// The join of the finding's statement: the one with the keys of the exchange into its stage,
    /// else the first.
    pub(crate) fn join(&self) -> Option<(usize, &'a Join)> {
        let joins = &self.statement?.query.joins;
        let keys: Vec<&String> = self.edges().flat_map(|edge| &edge.keys).collect();
        let fits = |join: &Join| {
            let mut pairs = join.keys.iter();
            !join.keys.is_empty()
                && pairs.all(|(l, r)| keys.contains(&&l.name) || keys.contains(&&r.name))
        };
        let found = joins.iter().position(fits).unwrap_or(0);
        Some((found, joins.get(found)?))
    }

    /// Keys that bring rows of the finding's statement together; without a statement,
    /// the keys of the uneven exchange into its stage, or of any.
    pub(crate) fn keys(&self) -> Vec<String> {
        let Some(statement) = self.statement else {
            let uneven = self.uneven().and_then(|u| self.job.edges.get(u.edge?));
            let all = self.edges().filter(|_| uneven.is_none());
            let keys = uneven.into_iter().chain(all).map(|edge| &edge.keys);
            return keys
                .max_by_key(|keys| keys.len())
                .cloned()
                .unwrap_or_default();
        };
        let query = &statement.query;
        let columns = |keys: &[job::script::Expression]| -> Vec<String> {
            let columns = keys.iter().filter_map(|key| key.as_column());
            columns.map(|key| key.name.clone()).collect()
        };
        if !query.on.is_empty() {
            query.on.iter().map(|key| key.name.clone()).collect()
        } else if !query.group_by.is_empty() {
            columns(&query.group_by)
        } else if !query.joins.is_empty() {
            let keys = query.joins.iter().flat_map(|join| &join.keys);
            keys.map(|(left, _)| left.name.clone()).collect()
        } else {
            let windows = query.aggregates.iter().map(|window| &window.partition_by);
            windows.flat_map(|keys| columns(keys)).collect()
        }
    }

    /// The keys for code; `<key>` if they are not known.
    pub(crate) fn key_list(&self) -> String {
        self.key_names().en
    }

    /// The keys for a sentence; `<key>` if they are not known.
    pub(crate) fn key_names(&self) -> Text {
        match self.keys().as_slice() {
            [] => text!("<key>", "<key>"),
            keys => text!("{keys}", "{keys}", keys = Names(keys)),
        }
    }

    /// Stage of the finding, or words for the whole job.
    pub(crate) fn place(&self) -> Text {
        match &self.finding.stage {
            Some(stage) => text!("{stage}", "{stage}"),
            None => text!("整个作业", "the job"),
        }
    }

    /// Name of the rowset that the statement binds, for sentences.
    pub(crate) fn rowset(&self) -> Text {
        let target = self.statement.and_then(|s| s.target.as_ref());
        match (target, self.finding.script_lines) {
            (Some(name), _) => text!("`{name}`", "`{name}`"),
            (None, Some([first, _])) => {
                text!("第 {first} 行的语句", "the statement on line {first}")
            }
            (None, None) => text!("对应的语句", "the statement"),
        }
    }

    /// Class of the user code that the finding is about, for texts.
    pub(crate) fn class(&self) -> Text {
        match self.statement.and_then(|s| s.query.using_class.as_ref()) {
            Some(name) => text!("`{name}`", "`{name}`"),
            None => text!("用户代码", "the user code"),
        }
    }
}

/// The statement that shares most lines with the finding; among equals, one that produces rows.
fn named(script: &Script, lines: [u32; 2]) -> Option<&Statement> {
    let shared = |statement: &Statement| {
        let first = statement.lines.0.max(lines[0]);
        let last = statement.lines.1.min(lines[1]);
        (last + 1).saturating_sub(first)
    };
    let candidates = script.statements.iter().filter(|s| shared(s) > 0);
    candidates.max_by_key(|statement| (shared(statement), statement.makes_rowset()))
}

/// Columns that a user-defined class reads, by the C# of the script, else by the generated code; `None`
/// if it may read any.
pub fn columns_read(job: &Job, class: &str) -> Option<Vec<String>> {
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
    let known = classes.iter().find(|known| known.name == name)?;
    known.columns_read.clone()
}
