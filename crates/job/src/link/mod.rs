//! Links script lines, operators, stages, counters and estimates together.

mod edges;
mod fit;
mod lines;

use crate::model::{Codegen, FileKind, Job, JobError, JobState, PlanNode, Source};
use crate::read;
use crate::script::StatementKind;

/// A thing that was found, and how sure it is the right one.
#[derive(Debug, Clone, PartialEq)]
pub struct Located<T> {
    pub value: T,
    /// 1.0 where a file says so (uid, file and line, plan map), less where it was inferred.
    pub confidence: f64,
    /// Where the files state the link.
    pub source: Option<Source>,
}

/// First and last 1-based line of a piece of the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lines {
    pub first: u32,
    pub last: u32,
}

impl Job {
    /// Links what has been read so far; can be repeated after more was read.
    pub(crate) fn link(&mut self) {
        self.link_edges();
        self.link_times();
        self.link_user_code();
        self.link_errors();
    }

    /// Run time from start and end, and queue time from the states, where no file says them.
    fn link_times(&mut self) {
        let info = &mut self.info;
        let entered = |names: &[&str]| {
            let found = info
                .states
                .iter()
                .find(|(state, _)| names.contains(&state.as_str()));
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

    /// Takes the user's C# from the script where no file of generated code was read.
    fn link_user_code(&mut self) {
        let Some(script) = self.script.as_ref().filter(|_| self.codegen.is_none()) else {
            return;
        };
        let blocks = script
            .statements
            .iter()
            .filter(|s| s.kind == StatementKind::CsBlock);
        let classes: Vec<_> = blocks
            .flat_map(|block| {
                read::classes(script.slice(&block.span), block.lines.0.saturating_sub(1))
            })
            .collect();
        if !classes.is_empty() {
            self.codegen = Some(Codegen {
                file: script.file.clone(),
                classes,
            });
        }
    }

    /// Puts the error that decided first, and finds the expression behind one in generated code.
    fn link_errors(&mut self) {
        // a record of the job manager may wrap the error of the vertex, which says more
        let wrapper = |e: &JobError| {
            e.id.as_deref()
                .is_some_and(|id| id.contains("VertexFailedFast"))
        };
        self.errors.sort_by_key(wrapper);
        // a local run has no record of its state; a vertex that left an error file failed
        let found = self
            .files
            .iter()
            .find(|f| f.kind == FileKind::Error && f.read);
        if let (Some(file), false) = (found, self.errors.is_empty()) {
            let source = Source {
                file: file.name.clone(),
                locator: None,
            };
            self.info
                .offer_state(read::Rank::Events, JobState::Failed, source);
        }
        let Some(codegen) = &self.codegen else { return };
        for error in self.errors.iter_mut().filter(|e| e.expression.is_none()) {
            let class = codegen
                .classes
                .iter()
                .find(|c| Some(&c.name) == error.class_name.as_ref());
            if let Some([only]) = class.map(|c| c.expressions.as_slice()) {
                error.expression = Some(only.clone());
            }
        }
    }

    pub fn stage_index(&self, name: &str) -> Option<usize> {
        self.stages.iter().position(|s| s.name == name)
    }

    /// What the optimizer expected of an operator.
    pub fn estimate_of(&self, stage: usize, operator: usize) -> Option<Located<&PlanNode>> {
        let operator = self.stages.get(stage)?.operators.get(operator)?;
        let plan = self.plan.as_ref()?;
        let mapped = plan.group_of_operator.get(&operator.id).and_then(|group| {
            let place = format!("Mapping[@OperatorId={}]/@PhyPlanGroupNo", operator.id);
            let source = plan.map_file.clone().map(|file| Source {
                file,
                locator: Some(place),
            });
            Some(Located {
                value: plan.by_group(group)?,
                confidence: 1.0,
                source,
            })
        });
        mapped.or_else(|| {
            let node = plan.by_hts(operator.signature.as_deref()?)?;
            Some(Located {
                value: node,
                confidence: 1.0,
                source: Some(plan.source(node, "HTS")),
            })
        })
    }
}
