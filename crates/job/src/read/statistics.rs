//! `__ScopeRuntimeStatistics__.xml`: the counters of every stage (form of a cluster job; modelled
//! on readers of such files, since none is public).

use foldhash::{HashMap, HashSet};

use super::{Input, StageIndex, number};
use crate::counters::{CounterNode, CounterTree, Name};
use crate::model::Job;
use crate::text::head;
use crate::xml::{Attributes, Fault, Tag, Token, Xml};

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
        let mut rest = tag.attributes_written();
        let mut same = true;
        loop {
            let expected = shape.get(node.values.len());
            if let Some((value, after)) = expected.and_then(|name| counter(rest, name)) {
                node.values
                    .extend(expected.map(|name| (name.clone(), value)));
                rest = after;
                continue;
            }
            let mut attributes = Attributes { rest };
            let Some((name, value)) = attributes.next() else {
                break;
            };
            same &= name == "opId";
            self.add(node, name, &value);
            rest = attributes.rest;
        }
        let shape = if same && shape.len() == node.values.len() {
            shape
        } else {
            node.values.iter().map(|(name, _)| name.clone()).collect()
        };
        self.shapes.insert(node.name.clone(), shape);
    }

    /// Adds an attribute: as a number if it is one.
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

/// The value of ` name="123"` if the text begins with it, and what follows.
fn counter<'a>(text: &'a str, name: &str) -> Option<(f64, &'a str)> {
    let value = text
        .strip_prefix(' ')?
        .strip_prefix(name)?
        .strip_prefix("=\"")?;
    let mut whole = 0_u64;
    for (at, byte) in value.bytes().enumerate().take(16) {
        match byte {
            b'0'..=b'9' if at < 15 => whole = whole * 10 + u64::from(byte - b'0'),
            b'"' if at > 0 => return Some((whole as f64, &value[at + 1..])),
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_another_shape_are_read_as_well() {
        let text = "<A><SV1><Sort opId=\"1\" a=\"1\" b=\"2\"/><Sort a=\"3\" opId=\"2\" b=\"4\"/><Sort b=\"5\"/>\
                    <Sort  a=\"-6\"  c=\"1234567890123456\"/><Sort a=\"7\" b='8' c=\"\"/></SV1></A>";
        let mut job = Job::default();
        read(
            &Input {
                name: "f.xml",
                text,
            },
            &mut job,
        );
        let tree = job.stages[0].counters.as_ref().expect("counters");
        let of = |at: usize| -> Vec<(&str, f64)> {
            tree.nodes[at]
                .values
                .iter()
                .map(|(n, v)| (n.as_str(), *v))
                .collect()
        };
        assert_eq!(
            (tree.nodes[1].op_id, of(0), of(1)),
            (
                Some(2),
                vec![("a", 1.0), ("b", 2.0)],
                vec![("a", 3.0), ("b", 4.0)]
            )
        );
        assert_eq!(
            (of(2), of(3)),
            (
                vec![("b", 5.0)],
                vec![("a", -6.0), ("c", 1_234_567_890_123_456.0)]
            )
        );
        assert_eq!(
            (of(4), tree.nodes[4].text("c")),
            (vec![("a", 7.0), ("b", 8.0)], Some(""))
        );
    }

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
