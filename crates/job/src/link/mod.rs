//! Links script lines, operators, stages, counters and estimates together.

mod edges;
mod fit;
mod lines;
mod path;
mod script;

use crate::model::{Codegen, FileKind, Job, JobState, PlanNode, Source};
use crate::read::{self, job_info::Rank};
use crate::script::StatementKind;

pub use path::PathStep;
pub use script::ScriptFit;

/// A linked value, with a confidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Located<T> {
    pub value: T,
    /// 1.0 if a file states the link (uid, file and line, plan map), less if it was inferred.
    pub confidence: f64,
    /// Place of the link in the files.
    pub source: Option<Source>,
}

/// First and last 1-based line of a piece of the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lines {
    pub first: u32,
    pub last: u32,
}

impl Lines {
    pub fn contains(self, line: u32) -> bool {
        (self.first..=self.last).contains(&line)
    }
}

impl From<Lines> for [u32; 2] {
    fn from(lines: Lines) -> [u32; 2] {
        [lines.first, lines.last]
    }
}

impl Job {
    /// Links the files read so far; can be repeated after further files.
    pub(crate) fn link(&mut self) {
        self.link_edges();
        self.link_times();
        self.link_user_code();
        self.link_errors();
    }

    /// Computes missing times: the run time from start and end, the queue time from the states.
    fn link_times(&mut self) {
        let info = &mut self.info;
        let entered = |names: &[&str]| {
            let mut states = info.states.iter();
            let found = states.find(|(state, _)| names.contains(&state.as_str()));
            found.map(|(_, ms)| *ms)
        };
        let waited = entered(&["WaitingForCapacity", "Queued"]).zip(entered(&["Running"]));
        if let (None, Some((from, to))) =
            (info.queued_seconds, waited.filter(|(from, to)| to >= from))
        {
            info.queued_seconds = Some((to - from) as f64 / 1e3);
            if let Some(source) = info.sources.get("started_ms").cloned() {
                info.sources.insert("queued_seconds", source);
            }
        }
        if let (None, Some(start), Some(end)) =
            (info.elapsed_seconds, info.started_ms, info.ended_ms)
            && end > start
        {
            info.elapsed_seconds = Some((end - start) as f64 / 1e3);
            if let Some(source) = info.sources.get("ended_ms").cloned() {
                info.sources.insert("elapsed_seconds", source);
            }
        }
    }

    /// Takes the user's C# from the script if no file of generated code was read.
    fn link_user_code(&mut self) {
        let Some(script) = self.script.as_ref().filter(|_| self.codegen.is_none()) else {
            return;
        };
        let statements = script.statements.iter();
        let blocks = statements.filter(|s| s.kind == StatementKind::CsBlock);
        let classes = blocks.flat_map(|block| {
            let lines_before = block.lines.0.saturating_sub(1);
            read::codegen::classes(script.slice(&block.span), lines_before)
        });
        let classes: Vec<_> = classes.collect();
        if !classes.is_empty() {
            self.codegen = Some(Codegen {
                file: script.file.clone(),
                classes,
            });
        }
    }

    /// Puts the decisive error first, and finds the expression behind an error in generated code.
    fn link_errors(&mut self) {
        // a record of the job manager may wrap the more specific error of the vertex
        let is_wrapper = |id: &String| id.contains("VertexFailedFast");
        self.errors
            .sort_by_key(|e| e.id.as_ref().is_some_and(is_wrapper));
        // a local run has no record of its state; a vertex that left an error file failed
        let mut files = self.files.iter();
        let found = files.find(|f| f.kind == FileKind::Error && f.read);
        if let (Some(file), false) = (found, self.errors.is_empty()) {
            let (file, locator) = (file.name.clone(), None);
            let source = Source { file, locator };
            self.info
                .offer_state(Rank::Events, JobState::Failed, source);
        }
        let Some(codegen) = &self.codegen else { return };
        for error in self.errors.iter_mut().filter(|e| e.expression.is_none()) {
            let mut classes = codegen.classes.iter();
            let class = classes.find(|c| Some(&c.name) == error.class_name.as_ref());
            if let Some([only]) = class.map(|c| c.expressions.as_slice()) {
                error.expression = Some(only.clone());
            }
        }
    }

    pub fn stage_index(&self, name: &str) -> Option<usize> {
        self.stages.iter().position(|s| s.name == name)
    }

    /// The optimizer's estimate for an operator.
    pub fn estimate_of(&self, stage: usize, operator: usize) -> Option<Located<&PlanNode>> {
        let operator = self.stages.get(stage)?.operators.get(operator)?;
        let plan = self.plan.as_ref()?;
        let located = |value, file: Option<&String>, place: String| {
            let (file, locator) = (file.cloned(), Some(place));
            Located {
                value,
                confidence: 1.0,
                source: file.map(|file| Source { file, locator }),
            }
        };
        let group = plan.group_of_operator.get(&operator.id);
        if let Some(node) = group.and_then(|group| plan.by_group(group)) {
            let place = format!("Mapping[@OperatorId={}]/@PhyPlanGroupNo", operator.id);
            return Some(located(node, plan.map_file.as_ref(), place));
        }
        let node = plan.by_hts(operator.signature.as_deref()?)?;
        let (id, group) = (&node.element_id, node.group.as_deref().unwrap_or_default());
        let place = format!("{id}/OpInfo/TableGroupProperties[@Grp={group}]/@HTS");
        Some(located(node, Some(&plan.file), place))
    }
}
