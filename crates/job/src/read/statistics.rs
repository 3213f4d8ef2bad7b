//! `__ScopeRuntimeStatistics__.xml`: the counters of every stage (form of a cluster job; modelled
//! on readers of such files, since none is public).

use foldhash::{HashMap, HashSet};

use super::{Input, StageIndex, number};
use crate::counters::{CounterNode, CounterTree, Name};
use crate::model::Job;
use crate::text::head;
use crate::xml::{Fault, Tag, Token, Xml};

/// Reads the counters of every stage; each child of the root is one.
pub(crate) fn read(input: &Input<'_>, job: &mut Job) {
    let mut builder = Builder::default();
    let fault = walk(input, &mut builder).err();
    builder.close_stage();
    let mut index = StageIndex::of(job);
    for tree in builder.trees {
        if let Some(at) = index.at(job, &tree.stage) {
            job.stages[at].counters = Some(tree);
        }
    }
    if let Some(fault) = fault {
        job.fault(input.name, fault);
    }
}

fn walk(input: &Input<'_>, builder: &mut Builder) -> Result<(), Fault> {
    let mut xml = Xml::new(input.text);
    loop {
        match xml.next()? {
            Token::Open(tag) if xml.depth() == 2 => builder.open_stage(input.name, &tag),
            Token::Open(tag) if xml.depth() > 2 => builder.open_node(&tag),
            Token::Close if xml.depth() == 1 => builder.close_stage(),
            Token::Close => builder.close_node(),
            Token::End => return Ok(()),
            Token::Open(_) | Token::Text(_) => {}
        }
    }
}

#[derive(Default)]
struct Builder {
    trees: Vec<CounterTree>,
    current: Option<CounterTree>,
    open: Vec<usize>,
    names: Interner,
}

impl Builder {
    fn open_stage(&mut self, file: &str, tag: &Tag<'_>) {
        self.close_stage();
        let id = tag.get("id").filter(|id| id.starts_with("SV"));
        let mut vertex = CounterNode::default();
        self.names.fill(&mut vertex, tag);
        vertex.op_id = None;
        self.current = Some(CounterTree {
            stage: id.unwrap_or_else(|| tag.name().to_owned()),
            file: file.to_owned(),
            vertex,
            ..CounterTree::default()
        });
    }

    fn open_node(&mut self, tag: &Tag<'_>) {
        let Some(tree) = &mut self.current else {
            return;
        };
        let mut node = CounterNode {
            name: self.names.get(tag.name()),
            parent: self.open.last().copied(),
            ..CounterNode::default()
        };
        self.names.fill(&mut node, tag);
        self.open.push(tree.nodes.len());
        tree.nodes.push(node);
    }

    fn close_node(&mut self) {
        self.open.pop();
    }

    /// Keeps what was read if it is a stage: by the grammar of their names, or because it holds
    /// operators. A note of the collector about itself is not.
    fn close_stage(&mut self) {
        self.open.clear();
        let is_stage = |tree: &CounterTree| {
            let number = tree
                .stage
                .strip_prefix("SV")
                .and_then(|rest| rest.bytes().next());
            number.is_some_and(|b| b.is_ascii_digit()) || !tree.nodes.is_empty()
        };
        self.trees.extend(self.current.take().filter(is_stage));
    }
}

/// Counters of one node; real ones have about forty.
const MAX_VALUES: usize = 1_000;

/// Characters kept of an attribute that is not a number.
const MAX_TEXT: usize = 1_000;

/// Stores each name once. A job has a few hundred names and up to millions of uses.
#[derive(Default)]
pub(super) struct Interner {
    names: HashSet<Name>,
    /// Names of the last node of each name: the next one nearly always has the same.
    shapes: HashMap<Name, Vec<Name>>,
}

impl Interner {
    pub(super) fn get(&mut self, text: &str) -> Name {
        match self.names.get(text) {
            Some(name) => name.clone(),
            None => {
                let name = Name::from(text);
                self.names.insert(name.clone());
                name
            }
        }
    }

    fn fill(&mut self, node: &mut CounterNode, tag: &Tag<'_>) {
        let shape = self.shapes.remove(node.name.as_str()).unwrap_or_default();
        node.values.reserve_exact(shape.len());
        for (name, value) in tag.attributes() {
            let expected = shape.get(node.values.len()).filter(|n| **n == name);
            match (expected, number(&value)) {
                (Some(name), Some(value)) => node.values.push((name.clone(), value)),
                _ => self.add(node, name, &value),
            }
        }
        let same = shape.len() == node.values.len()
            && shape
                .iter()
                .zip(&node.values)
                .all(|(a, (b, _))| Name::same(a, b));
        let shape = if same {
            shape
        } else {
            node.values.iter().map(|(n, _)| n.clone()).collect()
        };
        self.shapes.insert(node.name.clone(), shape);
    }

    /// Adds an attribute if it is a number.
    pub(super) fn add(&mut self, node: &mut CounterNode, name: &str, value: &str) {
        if name == "opId" {
            node.op_id = value.trim().parse().ok();
        } else if node.values.len() + node.texts.len() >= MAX_VALUES {
            // made up
        } else if let Some(value) = number(value) {
            node.values.push((self.get(name), value));
        } else {
            node.texts
                .push((self.get(name), head(value, MAX_TEXT).to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_counters_and_their_places() {
        let text = "<AggregatedStats><SV1_Extract maxWorkingSetPeakSize='9'>\
                    <Output opId='4' rowCount='10' maxRowCount='1e1'><Sort opId='3' rowCount='bad'/></Output>\
                    <Time elapsedTime='7'/></SV1_Extract><Stage id='SV2_Reduce'/><CollectorInfo version='4'/></AggregatedStats>";
        let mut job = Job::default();
        read(
            &Input {
                name: "f.xml",
                text,
            },
            &mut job,
        );
        assert_eq!(job.stages.len(), 2);
        let tree = job.stages[0].counters.as_ref().expect("counters");
        assert_eq!(tree.vertex.value("maxWorkingSetPeakSize"), Some(9.0));
        let output = tree.by_op_id(4).expect("output");
        assert_eq!(output.value("maxRowCount"), Some(10.0));
        assert_eq!(tree.node("Sort").and_then(|n| n.value("rowCount")), None);
        assert_eq!(
            tree.node("Sort").and_then(|n| n.text("rowCount")),
            Some("bad")
        );
        assert_eq!(tree.node("Sort").and_then(|n| n.parent), Some(0));
        assert_eq!(tree.node("Time").and_then(|n| n.parent), None);
        let place = tree.source(output, "rowCount").locator;
        assert_eq!(
            place.as_deref(),
            Some("SV1_Extract/Output[@opId=4]/@rowCount")
        );
        assert_eq!(job.stages[1].name, "SV2_Reduce");
    }
}
