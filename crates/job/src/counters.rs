//! The tree of run-time counters of one stage: operators, channels, allocators, as the engine
//! nests them. Kept generic: a counter that nobody foresaw is still there.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::model::Source;

/// A name that occurs many times and is stored once. Compares with and derefs to `str`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(Arc<str>);

impl Name {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Name {
    fn default() -> Self {
        Name(Arc::from(""))
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Name(Arc::from(text))
    }
}

impl std::ops::Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        &*self.0 == other
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        &*self.0 == *other
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.0)
    }
}

impl std::fmt::Debug for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(&*self.0, f)
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// A node of the tree: `Sort`, `Extractor`, `ManagedMemory`, `Time`, ….
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct CounterNode {
    /// Element name.
    pub name: Name,
    /// `opId`: uid of the operator, or of the channel for `Output` and `Extractor`.
    pub op_id: Option<u32>,
    /// Numeric attributes in the file's order.
    pub values: Vec<(Name, f64)>,
    /// Other attributes as written (`name="SessionReducer"`); mostly empty.
    pub texts: Vec<(Name, String)>,
    /// Index of the parent; `None` for children of the stage node.
    pub parent: Option<usize>,
    /// 1-based line, for trees read from text.
    pub line: Option<u32>,
}

impl CounterNode {
    /// The counter of that name, if the file has it.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|(n, _)| n == name).map(|(_, v)| *v)
    }
}

/// Counters of one stage. Totals are over its completed vertices, `max…` and `avg…` per vertex.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct CounterTree {
    /// Name of the stage.
    pub stage: String,
    /// File they were read from (the first one, for a local run).
    pub file: String,
    /// Counters of the vertex itself (memory peaks).
    pub vertex: CounterNode,
    /// All further nodes in pre-order.
    pub nodes: Vec<CounterNode>,
    /// Vertices whose counters were merged; `None` where the file gives only aggregates.
    pub merged_vertices: Option<u32>,
}

impl CounterNode {
    /// The attribute of that name that is not a number.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.texts
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, v)| v.as_str())
    }
}

impl CounterTree {
    /// First node of that name.
    pub fn node(&self, name: &str) -> Option<&CounterNode> {
        self.nodes.iter().find(|n| n.name == name)
    }

    /// Nodes of that name, in order.
    pub fn nodes_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a CounterNode> {
        self.nodes.iter().filter(move |n| n.name == name)
    }

    /// First node with that `opId`. Channels and operators share one numbering.
    pub fn by_op_id(&self, op_id: u32) -> Option<&CounterNode> {
        self.nodes.iter().find(|n| n.op_id == Some(op_id))
    }

    /// Where a counter of a node stands: `SV3_Combine/Sort[@opId=5]/@rowCount`.
    pub fn source(&self, node: &CounterNode, counter: &str) -> Source {
        let place = match node.op_id {
            Some(id) => format!("{}/{}[@opId={id}]/@{counter}", self.stage, node.name),
            None if node.name.is_empty() => format!("{}/@{counter}", self.stage),
            None => format!("{}/{}/@{counter}", self.stage, node.name),
        };
        Source {
            file: self.file.clone(),
            locator: Some(place),
        }
    }
}
