//! Physical properties of the rows between operators, as an optimizer sees them: their distribution
//! over the vertices, and their sort order.
//!
//! Every operator requires properties of its inputs and delivers others. An alternative plan
//! changes some exchanges ([`Change`]); deriving the properties again shows the requirements that
//! it no longer meets, where an exchange has to be added. Knows neither rules nor costs.

pub(crate) mod dataflow;
mod derive;

use job::model::{Edge, ExchangeKind};

pub(crate) use derive::{Change, Derived, Exchange};

/// Names of columns that hold the same value.
pub(crate) type Names = Vec<String>;

/// Function from a row's keys to its vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Hash,
    Range,
}

/// Partitioning keys: rows with equal keys are together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Keys {
    pub(crate) function: Function,
    pub(crate) names: Vec<Names>,
    /// Number of partitions, if known.
    pub(crate) parts: Option<u32>,
}

impl Keys {
    pub(crate) fn hash(keys: &[String], parts: Option<u32>) -> Keys {
        Keys {
            function: Function::Hash,
            names: keys.iter().map(|k| vec![k.clone()]).collect(),
            parts,
        }
    }

    /// Whether rows are together by `keys`: rows that are together by some columns are together by
    /// every set of columns that contains them.
    pub(crate) fn serve(&self, keys: &[String]) -> bool {
        !self.names.is_empty() && self.names.iter().all(|names| has_any(names, keys))
    }

    /// Whether the two sides of a join are spread alike: by the same function over the same keys of
    /// the join in the same sequence.
    fn match_on(&self, right: &Keys, keys: &[String], right_keys: &[String]) -> bool {
        let pairs = || keys.iter().zip(right_keys);
        let paired =
            |(l, r): (&Names, &Names)| pairs().any(|(x, y)| l.contains(x) && r.contains(y));
        let same_count = self.parts.zip(right.parts).is_none_or(|(n, m)| n == m);
        self.function == right.function
            && self.names.len() == right.names.len()
            && same_count
            && self.names.iter().zip(&right.names).all(paired)
    }
}

/// How rows are spread over the vertices of a stage.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) enum Partitioning {
    /// No file shows it, or user code hides it.
    #[default]
    Unknown,
    /// Spread without a key, or by a key that is no longer a column.
    Scattered,
    Keyed(Keys),
    /// One vertex has all rows.
    Single,
    /// Every vertex has all rows.
    Everywhere,
}

impl Partitioning {
    /// Partitioning that an exchange of the plan delivers to its reader.
    pub(crate) fn of_exchange(edge: &Edge) -> Partitioning {
        let keys = Keys::hash(&edge.keys, edge.partitions);
        match edge.exchange {
            ExchangeKind::Hash | ExchangeKind::Range if edge.partitions == Some(1) => {
                Partitioning::Single
            }
            ExchangeKind::Hash if !edge.keys.is_empty() => Partitioning::Keyed(keys),
            ExchangeKind::Range if !edge.keys.is_empty() => Partitioning::Keyed(Keys {
                function: Function::Range,
                ..keys
            }),
            ExchangeKind::RoundRobin => Partitioning::Scattered,
            ExchangeKind::Gather => Partitioning::Single,
            ExchangeKind::Broadcast => Partitioning::Everywhere,
            _ => Partitioning::Unknown,
        }
    }

    /// Whether rows that are equal in these columns are together.
    pub(crate) fn serves(&self, keys: &[String]) -> bool {
        match self {
            Partitioning::Single => true,
            Partitioning::Keyed(have) => have.serve(keys),
            _ => false,
        }
    }

    /// Whether the inputs of a join meet: spread alike, or one of them everywhere.
    pub(crate) fn meets(
        &self,
        right: &Partitioning,
        keys: &[String],
        right_keys: &[String],
    ) -> bool {
        use Partitioning::{Everywhere, Keyed, Single};
        match (self, right) {
            (Everywhere, _) | (_, Everywhere) | (Single, Single) => true,
            (Keyed(left), Keyed(right)) => left.match_on(right, keys, right_keys),
            _ => false,
        }
    }
}

/// Properties of an operator's output rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Delivered {
    pub(crate) partitioning: Partitioning,
    /// Sort keys of the rows of a vertex, the most significant first.
    pub(crate) order: Vec<Names>,
}

impl Delivered {
    /// Rows in no order.
    pub(crate) fn spread(partitioning: Partitioning) -> Delivered {
        Delivered {
            partitioning,
            order: Vec::new(),
        }
    }

    /// Whether the rows of each vertex are in an order of `keys`, in any sequence.
    pub(crate) fn is_sorted_on(&self, keys: &[String]) -> bool {
        let prefix = self.order.iter().take(keys.len());
        self.order.len() >= keys.len() && prefix.clone().all(|names| has_any(names, keys))
    }
}

/// Partitioning that an operator requires of one input.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Required {
    /// No requirement.
    Any,
    /// Rows with equal values of these columns together.
    Together(Vec<String>),
    /// Both inputs of a join spread alike on its keys, or one of them everywhere.
    Matched,
    /// Unknown for lack of information.
    Unknown,
}

fn has_any(names: &Names, keys: &[String]) -> bool {
    names.iter().any(|n| keys.contains(n))
}
