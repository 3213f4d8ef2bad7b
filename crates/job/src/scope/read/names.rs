//! Stores each counter name once, and expects a node to have the counters of the previous node of its
//! name: a job has a few hundred names and up to millions of uses.

use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use super::number;
use crate::counters::{CounterNode, Counters, Name};
use crate::text::head;
use crate::xml::{Attributes, Tag};

/// Counters of one node; real ones have about forty.
const MAX_VALUES: usize = 1_000;

/// Characters kept of an attribute that is not a number.
const MAX_TEXT: usize = 1_000;

/// Numbers out of range are reported one by one up to this many of a file.
const MAX_ODD: usize = 5;

pub(super) struct Names {
    /// Bytes of memory that may still be taken.
    left: usize,
    known: HashSet<Name>,
    /// Node, attribute and value of numbers out of range.
    odd: Vec<(Name, String, String)>,
    /// Index in `shapes` of each name of a node.
    nodes: HashMap<Name, usize>,
    shapes: Vec<Shape>,
}

/// Layout of the previous node of a name.
struct Shape {
    node: Name,
    counters: Arc<Vec<Name>>,
    /// ` name="` for each counter: the text before its number.
    written: Vec<Box<str>>,
}

impl Names {
    /// Names for counters that take up to about `bytes` bytes of memory.
    pub(super) fn within(bytes: usize) -> Names {
        Names {
            left: bytes,
            known: HashSet::default(),
            odd: Vec::new(),
            nodes: HashMap::default(),
            shapes: Vec::new(),
        }
    }

    /// Remaining bytes; 0 after an omission.
    pub(super) fn left(&self) -> usize {
        self.left
    }

    fn takes(&mut self, bytes: usize) -> bool {
        let fits = bytes <= self.left;
        self.left = if fits { self.left - bytes } else { 0 };
        fits
    }

    /// Charges the memory of a node. Its counters are added one by one.
    pub(super) fn charge(&mut self) {
        self.takes(size_of::<CounterNode>());
    }

    pub(super) fn get(&mut self, text: &str) -> Name {
        match self.known.get(text) {
            Some(name) => name.clone(),
            None => {
                self.takes(4 * size_of::<Name>() + text.len());
                let name = Name::from(text);
                self.known.insert(name.clone());
                name
            }
        }
    }

    /// The node of a tag; `None` if the memory limit is reached.
    pub(super) fn node(&mut self, tag: &Tag<'_>) -> Option<CounterNode> {
        if !self.takes(size_of::<CounterNode>()) {
            return None;
        }
        let at = match self.nodes.get(tag.name()) {
            Some(at) => *at,
            None => {
                let name = self.get(tag.name());
                self.nodes.insert(name.clone(), self.shapes.len());
                self.shapes.push(Shape {
                    node: name,
                    counters: Arc::default(),
                    written: Vec::new(),
                });
                self.takes(size_of::<Shape>() + 64);
                self.shapes.len() - 1
            }
        };
        let shape = &self.shapes[at];
        let mut node = CounterNode {
            name: shape.node.clone(),
            values: Counters::like(&shape.counters),
            ..CounterNode::default()
        };
        let mut rest = tag.attributes_written();
        loop {
            let shape = &self.shapes[at];
            if Arc::ptr_eq(node.values.names(), &shape.counters) {
                rest = shape.take(&mut node, rest);
            }
            let mut attributes = Attributes { rest };
            let Some((name, value)) = attributes.next() else {
                break;
            };
            self.add(&mut node, name, &value);
            rest = attributes.rest;
        }
        node.values.end();
        self.takes(node.values.len() * size_of::<f64>());
        let shape = &mut self.shapes[at];
        if !Arc::ptr_eq(node.values.names(), &shape.counters) {
            *shape = Shape::of(shape.node.clone(), node.values.names());
            // its own list of names
            self.takes(node.values.len() * size_of::<Name>());
        }
        Some(node)
    }

    /// Adds an attribute: as a number if it is one.
    pub(super) fn add(&mut self, node: &mut CounterNode, name: &str, value: &str) {
        if name == "opId" {
            node.op_id = value.trim().parse().ok();
            if node.op_id.is_none() {
                self.note_odd(node, name, value);
            }
        } else if node.values.len() + node.texts.len() >= MAX_VALUES || self.left == 0 {
            // a real node has fewer counters
        } else if let Some(value) = number(value) {
            self.takes(size_of::<f64>() + size_of::<Name>());
            node.values.push(self.get(name), value);
        } else {
            // `1e999` and `NaN` are numbers, but unusable
            if value.trim().parse::<f64>().is_ok() {
                self.note_odd(node, name, value);
            }
            let text = head(value, MAX_TEXT).to_owned();
            self.takes(size_of::<(Name, String)>() + text.len());
            node.texts.push((self.get(name), text));
        }
    }

    fn note_odd(&mut self, node: &CounterNode, name: &str, value: &str) {
        if self.odd.len() < MAX_ODD {
            let (name, value) = (head(name, MAX_TEXT), head(value, MAX_TEXT));
            self.odd
                .push((node.name.clone(), name.to_owned(), value.to_owned()));
        }
    }

    /// Numbers out of range of the nodes since the last call: node, attribute and value.
    pub(super) fn take_odd(&mut self) -> Vec<(Name, String, String)> {
        std::mem::take(&mut self.odd)
    }
}

impl Shape {
    fn of(node: Name, counters: &Arc<Vec<Name>>) -> Shape {
        let written = counters.iter().map(|name| format!(" {name}=\""));
        Shape {
            node,
            counters: Arc::clone(counters),
            written: written.map(Into::into).collect(),
        }
    }

    /// Takes counters as long as they are the expected ones, and `opId` at any position. Returns the rest
    /// of the text.
    fn take<'a>(&self, node: &mut CounterNode, mut rest: &'a str) -> &'a str {
        while let Some(written) = self.written.get(node.values.len()) {
            let counter = rest.strip_prefix(&**written).and_then(whole_number);
            if let Some((value, after)) = counter {
                node.values.push_expected(value as f64);
                rest = after;
                continue;
            }
            let id = rest.strip_prefix(" opId=\"").and_then(whole_number);
            let Some((id, after)) =
                id.and_then(|(id, after)| Some((u32::try_from(id).ok()?, after)))
            else {
                break;
            };
            node.op_id = Some(id);
            rest = after;
        }
        rest
    }
}

/// The number at the beginning of the text, and the text after its closing quote. Up to 15 digits,
/// which are exact in a float.
fn whole_number(text: &str) -> Option<(u64, &str)> {
    let mut whole = 0_u64;
    for (at, byte) in text.bytes().enumerate().take(16) {
        match byte {
            b'0'..=b'9' if at < 15 => whole = whole * 10 + u64::from(byte - b'0'),
            b'"' if at > 0 => return Some((whole, &text[at + 1..])),
            _ => return None,
        }
    }
    None
}
