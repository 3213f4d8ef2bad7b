//! `__ScopeRuntimeStatistics__.xml`: the counters of every stage (form of a cluster job; modeled
//! on readers of such files, since none is public).

use super::names::Names;
use super::{Input, StageIndex};
use crate::bounds::Quota;
use crate::counters::{CounterTree, Name};
use crate::model::Job;
use crate::problem::Problem;
use crate::xml::{Tag, Token, Xml};

/// Nodes kept of one stage; real ones have at most some hundred.
const NODES_PER_STAGE: usize = 5_000;

/// Numbers out of range are reported one by one up to this many.
const MAX_ODD: usize = 5;

struct Odd {
    place: String,
    name: String,
    value: String,
}

/// Reads the counters of every stage; each child of the root is one.
pub(crate) fn read(input: &Input<'_>, job: &mut Job) {
    let mut index = StageIndex::of(job, input.name);
    let room = job.room_for(Quota::Counters);
    let mut builder = Builder {
        trees: Vec::new(),
        current: None,
        open: Vec::new(),
        names: Names::within(room),
        odd: Vec::new(),
    };
    let mut xml = Xml::new(input.text);
    let fault = loop {
        match xml.next() {
            Ok(Token::Open(tag)) if xml.depth() == 2 => builder.open_stage(input.name, &tag),
            Ok(Token::Open(tag)) if xml.depth() > 2 => builder.open_node(&tag),
            Ok(Token::Close) if xml.depth() == 1 => builder.close_stage(),
            Ok(Token::Close) => builder.close_node(),
            Ok(Token::Open(_) | Token::Text(_)) => {}
            Ok(Token::End) => break None,
            Err(fault) => break Some(fault),
        }
    };
    builder.close_stage();
    let left = builder.names.left();
    job.keeps(Quota::Counters, room - left, input.name);
    if left == 0 {
        job.left_out(Quota::Counters, room, input.name);
    }
    for tree in builder.trees {
        if let Some(at) = index.at(job, &tree.stage) {
            job.stages[at].counters = Some(tree);
        }
    }
    for odd in builder.odd.into_iter().take(MAX_ODD) {
        let problem = Problem::OutOfRange(odd.name, odd.value);
        job.note(input.name, Some(odd.place), &problem);
    }
    job.fault(input.name, fault);
}

struct Builder {
    trees: Vec<CounterTree>,
    current: Option<CounterTree>,
    /// Position of each open node, if it was kept.
    open: Vec<Option<usize>>,
    names: Names,
    odd: Vec<Odd>,
}

impl Builder {
    fn open_stage(&mut self, file: &str, tag: &Tag<'_>) {
        self.close_stage();
        let id = tag.get("id").filter(|id| id.starts_with("SV"));
        let Some(mut vertex) = self.names.node(tag) else {
            return;
        };
        vertex.name = Name::default();
        vertex.op_id = None;
        self.current = Some(CounterTree {
            stage: id.unwrap_or_else(|| tag.name().to_owned()),
            file: file.to_owned(),
            vertex,
            // stages of one job have about as many nodes
            nodes: Vec::with_capacity(self.trees.last().map_or(0, |t| t.nodes.len()).min(64)),
            ..CounterTree::default()
        });
        self.note_odd();
    }

    fn open_node(&mut self, tag: &Tag<'_>) {
        let Some(tree) = &mut self.current else {
            return;
        };
        let node = self
            .names
            .node(tag)
            .filter(|_| tree.nodes.len() < NODES_PER_STAGE);
        self.open.push(node.is_some().then_some(tree.nodes.len()));
        if let Some(mut node) = node {
            node.parent = self.open.iter().rev().skip(1).find_map(|at| *at);
            tree.nodes.push(node);
        }
        self.note_odd();
    }

    /// Names the place of numbers out of range in the tag that was read last.
    fn note_odd(&mut self) {
        let stage = self.current.as_ref().map_or("", |tree| &tree.stage);
        if self.odd.len() >= MAX_ODD {
            return;
        }
        for (node, name, value) in self.names.take_odd() {
            let place = match &*node {
                node if node == stage => format!("{stage}/@{name}"),
                node => format!("{stage}/{node}/@{name}"),
            };
            self.odd.push(Odd { place, name, value });
        }
    }

    fn close_node(&mut self) {
        self.open.pop();
    }

    /// Keeps the tree if it is a stage: it has a stage's name, or operators. A collector's note about
    /// itself has neither.
    fn close_stage(&mut self) {
        self.open.clear();
        let is_stage = |tree: &CounterTree| {
            let rest = tree.stage.strip_prefix("SV");
            let number = rest.and_then(|rest| rest.bytes().next());
            number.is_some_and(|b| b.is_ascii_digit()) || !tree.nodes.is_empty()
        };
        self.trees.extend(self.current.take().filter(is_stage));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_another_shape_are_read_as_well() {
        let text = "<A><SV1><Sort opId=\"1\" a=\"1\" b=\"2\"/><Sort a=\"3\" opId=\"2\" b=\"4\"/><Sort b=\"5\"/>\
                    <Sort  a=\"-6\"  c=\"1234567890123456\"/><Sort a=\"7\" b='8' c=\"\"/></SV1></A>";
        let mut job = Job::default();
        read(&Input::new("f.xml", text), &mut job);
        let tree = job.stages[0].counters.as_ref().expect("counters");
        let of = |at: usize| -> Vec<(&str, f64)> {
            let values = tree.nodes[at].values.iter();
            values.map(|(name, value)| (&**name, value)).collect()
        };
        assert_eq!(tree.nodes[1].op_id, Some(2));
        assert_eq!(of(0), vec![("a", 1.0), ("b", 2.0)]);
        assert_eq!(of(1), vec![("a", 3.0), ("b", 4.0)]);
        assert_eq!(of(2), vec![("b", 5.0)]);
        assert_eq!(of(3), vec![("a", -6.0), ("c", 1_234_567_890_123_456.0)]);
        assert_eq!(of(4), vec![("a", 7.0), ("b", 8.0)]);
        assert_eq!(tree.nodes[4].text("c"), Some(""));
    }

    #[test]
    fn nested_counters_and_their_places() {
        let text = "<AggregatedStats><SV1_Extract maxWorkingSetPeakSize='9'>\
                    <Output opId='4' rowCount='10' maxRowCount='1e1'><Sort opId='3' rowCount='bad'/></Output>\
                    <Time elapsedTime='7'/></SV1_Extract><Stage id='SV2_Reduce'/><CollectorInfo version='4'/></AggregatedStats>";
        let mut job = Job::default();
        read(&Input::new("f.xml", text), &mut job);
        assert_eq!(job.stages.len(), 2);
        let tree = job.stages[0].counters.as_ref().expect("counters");
        assert_eq!(tree.vertex.value("maxWorkingSetPeakSize"), Some(9.0));
        let output = tree.by_op_id(4).expect("output");
        assert_eq!(output.value("maxRowCount"), Some(10.0));
        let sort = tree.node("Sort").expect("a sort");
        assert_eq!((sort.value("rowCount"), sort.parent), (None, Some(0)));
        assert_eq!(sort.text("rowCount"), Some("bad"));
        assert_eq!(tree.node("Time").and_then(|n| n.parent), None);
        assert_eq!(job.stages[1].name, "SV2_Reduce");
    }
}
