//! The tree of run-time counters of one stage: operators, channels, allocators, nested like in the
//! engine. The tree is generic and also holds unknown counters.

use std::sync::Arc;

/// A name that occurs many times and is stored once.
pub type Name = Arc<str>;

/// Named numbers in the file's order. Nodes with the same names share them: a job has millions of
/// counters and a few dozen lists of names.
#[derive(Clone, PartialEq, Default)]
pub struct Counters {
    names: Arc<Vec<Name>>,
    numbers: Vec<f64>,
}

impl Counters {
    /// Empty counters; names are taken from `names` as long as the numbers fit them.
    pub(crate) fn like(names: &Arc<Vec<Name>>) -> Counters {
        Counters {
            names: Arc::clone(names),
            numbers: Vec::with_capacity(names.len()),
        }
    }

    /// Adds the number of the next name that was expected.
    pub(crate) fn push_expected(&mut self, number: f64) {
        debug_assert!(self.numbers.len() < self.names.len());
        self.numbers.push(number);
    }

    /// Drops expected names without a number.
    pub(crate) fn end(&mut self) {
        if self.names.len() > self.numbers.len() {
            self.names = Arc::new(self.names[..self.numbers.len()].to_vec());
        }
    }

    /// Adds a number under any name.
    pub(crate) fn push(&mut self, name: Name, number: f64) {
        self.end();
        Arc::make_mut(&mut self.names).push(name);
        self.numbers.push(number);
    }

    /// The names, to be shared with further nodes.
    pub(crate) fn names(&self) -> &Arc<Vec<Name>> {
        &self.names
    }

    /// Sets the number of that name, adding the name if it is new.
    pub fn set(&mut self, name: &str, number: f64) {
        match self.names.iter().position(|n| **n == *name) {
            Some(at) => self.numbers[at] = number,
            None => self.push(Name::from(name), number),
        }
    }

    pub fn get(&self, name: &str) -> Option<f64> {
        let at = self.names.iter().position(|n| **n == *name)?;
        self.numbers.get(at).copied()
    }

    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Name, f64)> {
        self.names.iter().zip(self.numbers.iter().copied())
    }
}

impl FromIterator<(Name, f64)> for Counters {
    fn from_iter<I: IntoIterator<Item = (Name, f64)>>(items: I) -> Self {
        let (names, numbers): (Vec<Name>, Vec<f64>) = items.into_iter().unzip();
        Counters {
            names: Arc::new(names),
            numbers,
        }
    }
}

impl std::fmt::Debug for Counters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// A node of the tree: `Sort`, `Extractor`, `ManagedMemory`, `Time`, ….
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CounterNode {
    pub name: Name,
    /// `opId`: uid of the operator, or of the channel for `Output` and `Extractor`.
    pub op_id: Option<u32>,
    /// Numeric attributes in the file's order.
    pub values: Counters,
    /// Other attributes as written (`name="SessionReducer"`); mostly empty.
    pub texts: Vec<(Name, String)>,
    /// Index of the parent; `None` for children of the stage node.
    pub parent: Option<usize>,
    /// 1-based line, for trees read from text.
    pub line: Option<u32>,
}

impl CounterNode {
    pub fn value(&self, name: &str) -> Option<f64> {
        self.values.get(name)
    }

    /// The attribute of that name that is not a number.
    pub fn text(&self, name: &str) -> Option<&str> {
        let found = self.texts.iter().find(|(n, _)| **n == *name);
        found.map(|(_, text)| text.as_str())
    }
}

/// Counters of one stage. Totals are over its completed vertices, `max…` and `avg…` per vertex.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CounterTree {
    pub stage: String,
    /// File they were read from (the first one, for a local run).
    pub file: String,
    /// Counters of the vertex itself (memory peaks).
    pub vertex: CounterNode,
    /// All further nodes in pre-order.
    pub nodes: Vec<CounterNode>,
    /// Number of merged vertices; `None` if the file has only aggregates.
    pub merged_vertices: Option<u32>,
}

impl CounterTree {
    pub fn node(&self, name: &str) -> Option<&CounterNode> {
        self.nodes.iter().find(|n| *n.name == *name)
    }

    pub fn nodes_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a CounterNode> {
        self.nodes.iter().filter(move |n| *n.name == *name)
    }

    /// First node with that `opId`. Channels and operators share one numbering.
    pub fn by_op_id(&self, op_id: u32) -> Option<&CounterNode> {
        self.nodes.iter().find(|n| n.op_id == Some(op_id))
    }
}
