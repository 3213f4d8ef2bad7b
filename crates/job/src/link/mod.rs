//! Ties script lines, operators, stages, counters and estimates together.

mod edges;

use crate::counters::CounterNode;
use crate::model::{Channel, Job, OperatorKind, PlanNode, Source};

/// A thing that was found, and how sure it is the right one.
#[derive(Debug, Clone, PartialEq)]
pub struct Located<T> {
    /// What was found.
    pub value: T,
    /// 1.0 where a file says so (uid, file and line, plan map), less where it was concluded.
    pub confidence: f64,
    /// Where the tie is written.
    pub source: Option<Source>,
}

/// First and last 1-based line of a piece of the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lines {
    /// First line.
    pub first: u32,
    /// Last line.
    pub last: u32,
}

impl Job {
    /// Ties together what has been read so far. Safe to run again after more was read.
    pub(crate) fn link(&mut self) {
        self.link_edges();
        self.link_times();
    }

    /// Run time from start and end where no file says it.
    fn link_times(&mut self) {
        let info = &mut self.info;
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

    /// Index of the stage of that name.
    pub fn stage_index(&self, name: &str) -> Option<usize> {
        self.stages.iter().position(|s| s.name == name)
    }

    /// Script lines of the statement that an operator came from.
    pub fn line_of(&self, stage: usize, operator: usize) -> Option<Located<Lines>> {
        let _ = (stage, operator);
        None
    }

    /// Stages (indices) that run a statement of the script, by the statement's index; the stage
    /// with most operators of it first.
    pub fn stage_of(&self, statement: usize) -> Vec<Located<usize>> {
        let _ = statement;
        Vec::new()
    }

    /// Stages (indices) that run code of these script lines.
    pub fn stages_of_lines(&self, lines: Lines) -> Vec<Located<usize>> {
        let _ = lines;
        Vec::new()
    }

    /// Run-time counters of an operator.
    pub fn counters_of(&self, stage: usize, operator: usize) -> Option<Located<&CounterNode>> {
        let stage = self.stages.get(stage)?;
        let (tree, operator) = (stage.counters.as_ref()?, stage.operators.get(operator)?);
        let source = |node| tree.source(node, "rowCount");
        let by_uid = operator.uid.and_then(|uid| tree.by_op_id(uid));
        if let Some(node) = by_uid {
            return Some(Located {
                value: node,
                confidence: 1.0,
                source: Some(source(node)),
            });
        }
        // an output is known by the number of its channel only
        let channel = |channels: &[Channel], name: &str| {
            let uid = channels.first()?.uid?;
            tree.nodes
                .iter()
                .find(|n| n.name == *name && n.op_id == Some(uid))
        };
        let node = match operator.kind {
            OperatorKind::Extract => channel(&operator.inputs, "Extractor"),
            _ => channel(&operator.outputs, "Output"),
        }?;
        Some(Located {
            value: node,
            confidence: 0.9,
            source: Some(source(node)),
        })
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
