//! The run that a question is about.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use job::script::{Script, Statement};
use report::format::Noun;
use report::{Evidence, JobEngine, Report};
use runs::compare::ComparedRun;
use runs::{EdgeSummary, OperatorSummary, RunSummary};

/// Finds the run of the same job before this one; asked only if the question is about it.
pub type Earlier<'a> = dyn Fn() -> Option<ComparedRun> + 'a;

/// The run that a question is about.
pub struct Asked<'a> {
    pub report: &'a Report,
    pub summary: &'a RunSummary,
    pub earlier: &'a Earlier<'a>,
    /// Evidence that earlier answers of the conversation added.
    pub cited: &'a [Evidence],
    statements: OnceCell<Vec<Statement>>,
    on_path: OnceCell<BTreeMap<String, f64>>,
    channels: OnceCell<Channels>,
}

/// Indices of the edges into and out of each stage.
pub(crate) struct Channels {
    pub(crate) into: Vec<Vec<usize>>,
    pub(crate) out_of: Vec<Vec<usize>>,
}

impl<'a> Asked<'a> {
    pub fn new(
        report: &'a Report,
        summary: &'a RunSummary,
        earlier: &'a Earlier<'a>,
        cited: &'a [Evidence],
    ) -> Asked<'a> {
        Asked {
            report,
            summary,
            earlier,
            cited,
            statements: OnceCell::new(),
            on_path: OnceCell::new(),
            channels: OnceCell::new(),
        }
    }

    /// The engine's word for a vertex.
    pub(crate) fn vertex(&self) -> Noun {
        JobEngine::vertex(self.report.job.engine)
    }

    pub(crate) fn statements(&self) -> &[Statement] {
        self.statements.get_or_init(|| {
            let script = self.summary.script.as_ref();
            script
                .map(|s| Script::parse(&s.file, s.text.clone()).statements)
                .unwrap_or_default()
        })
    }

    /// The text of a statement of the script.
    pub(crate) fn text_of(&self, statement: &Statement) -> &'a str {
        let script = self.summary.script.as_ref();
        let text = script.and_then(|s| s.text.get(statement.span.clone()));
        text.unwrap_or_default()
    }

    /// The operators of all stages.
    pub(crate) fn operators(&self) -> impl Iterator<Item = &'a OperatorSummary> + Clone {
        self.summary.stages.iter().flat_map(|s| &s.operators)
    }

    pub(crate) fn channels(&self) -> &Channels {
        self.channels.get_or_init(|| {
            let RunSummary { stages, edges, .. } = self.summary;
            let by_stage = |stage: fn(&EdgeSummary) -> usize| {
                let mut by_stage = vec![Vec::new(); stages.len()];
                for (at, edge) in edges.iter().enumerate() {
                    if let Some(of) = by_stage.get_mut(stage(edge)) {
                        of.push(at);
                    }
                }
                by_stage
            };
            Channels {
                into: by_stage(|edge| edge.to),
                out_of: by_stage(|edge| edge.from),
            }
        })
    }

    /// Seconds of the critical path by stage.
    pub(crate) fn on_path(&self) -> &BTreeMap<String, f64> {
        self.on_path.get_or_init(|| {
            let mut seconds = BTreeMap::new();
            let segments = self.report.time.iter().flat_map(|time| &time.segments);
            for segment in segments {
                if let Some(stage) = &segment.stage {
                    *seconds.entry(stage.clone()).or_insert(0.0) += segment.seconds;
                }
            }
            seconds
        })
    }

    /// The stage meant by "this stage": the main finding's, else the longest on the critical path.
    pub(crate) fn suspect(&self) -> Option<usize> {
        let found = self.report.findings.iter().find_map(|f| f.stage.as_deref());
        let path = self.on_path();
        let longest = path.iter().max_by(|a, b| a.1.total_cmp(b.1));
        let name = found.or(longest.map(|(name, _)| name.as_str()))?;
        self.summary.stage_named(name)
    }
}
