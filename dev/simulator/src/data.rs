//! Input data of a simulated job: tables, columns and the distribution of their values.
//!
//! Values are not stored row by row. A column knows its most frequent values with their share of the rows
//! and how many distinct values share the rest; partitioning hashes those values, so that skew, empty
//! partitions and nulls arise as they do in a real exchange.

use crate::rng::{hash_text, mix, normal, unit};

/// Type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ty {
    /// 32-bit integer.
    Int,
    /// 64-bit integer.
    Long,
    Double,
    Text,
    /// Date and time.
    Date,
    Guid,
}

impl Ty {
    /// Name in a script and in a schema.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Int => "int",
            Self::Long => "long",
            Self::Double => "double",
            Self::Text => "string",
            Self::Date => "DateTime",
            Self::Guid => "Guid",
        }
    }

    /// Name of the type in generated C#.
    pub(crate) fn clr(self) -> &'static str {
        match self {
            Self::Int => "System.Int32",
            Self::Long => "System.Int64",
            Self::Double => "System.Double",
            Self::Text => "System.String",
            Self::Date => "System.DateTime",
            Self::Guid => "System.Guid",
        }
    }

    /// Bytes of a value that is not a text.
    pub(crate) fn width(self) -> f64 {
        match self {
            Self::Int => 4.0,
            Self::Guid => 16.0,
            Self::Long | Self::Double | Self::Date | Self::Text => 8.0,
        }
    }
}

/// A column with the distribution of its values.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// Type.
    pub(crate) ty: Ty,
    /// Whether it may be null.
    pub(crate) nullable: bool,
    /// Mean bytes of a value.
    pub(crate) width: f64,
    /// Bytes that the optimizer expects, relative to the truth.
    pub(crate) believed_width: f64,
    /// Share of the rows that hold null.
    pub(crate) nulls: f64,
    /// Most frequent values and their share of the rows, most frequent first.
    pub(crate) heavy: Vec<(String, f64)>,
    /// Distinct values, including the frequent ones.
    pub(crate) distinct: f64,
}

impl Column {
    /// A column with evenly frequent values.
    pub(crate) fn new(name: &str, ty: Ty, width: f64, distinct: f64) -> Self {
        let width = if ty == Ty::Text { width } else { ty.width() };
        Self {
            name: name.to_owned(),
            ty,
            nullable: false,
            width,
            believed_width: 1.0,
            nulls: 0.0,
            heavy: Vec::new(),
            distinct,
        }
    }

    /// Adds a Zipf-like head with the given labels to the column.
    pub(crate) fn with_head(mut self, labels: &[&str], first: f64, falloff: f64) -> Self {
        let mut share = first;
        for label in labels {
            self.heavy.push(((*label).to_owned(), share));
            share *= falloff;
        }
        self.distinct = self.distinct.max(labels.len() as f64);
        self
    }

    /// Schema entry, as in `UserId:long?`.
    pub(crate) fn schema(&self) -> String {
        let mark = if self.nullable { "?" } else { "" };
        format!("{}:{}{mark}", self.name, self.ty.name())
    }

    /// The same column, with nulls in a share of the rows.
    pub(crate) fn with_nulls(mut self, share: f64) -> Self {
        self.nullable = true;
        if share > 0.0 {
            self.heavy.iter_mut().for_each(|h| h.1 *= 1.0 - share);
            self.nulls += share * (1.0 - self.nulls);
        }
        self
    }

    /// The same column with every value equally frequent and no nulls.
    pub(crate) fn flattened(&self) -> Self {
        Self {
            heavy: Vec::new(),
            nulls: 0.0,
            ..self.clone()
        }
    }
}

/// How a table is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableKind {
    /// Structured stream.
    SStream,
    /// Text files.
    Text,
    /// U-SQL catalogue table.
    Catalog,
}

/// How the rows of a table are spread over its stored partitions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Clustering {
    /// `hash`, `range` or `none`.
    pub(crate) kind: &'static str,
    pub(crate) keys: Vec<String>,
    /// Stored partitions.
    pub(crate) partitions: u32,
    /// Relative size of each partition; empty if they are even.
    pub(crate) weights: Vec<f64>,
}

impl Clustering {
    /// Not clustered.
    pub(crate) fn none() -> Self {
        Self {
            kind: "none",
            keys: Vec::new(),
            partitions: 0,
            weights: Vec::new(),
        }
    }

    /// Hash clustered and sorted on one key.
    pub(crate) fn hash(key: &str, partitions: u32) -> Self {
        Self {
            kind: "hash",
            keys: vec![key.to_owned()],
            partitions,
            weights: Vec::new(),
        }
    }
}

/// An input table.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) name: String,
    /// Path of the stream or of the files.
    pub(crate) path: String,
    /// Storage.
    pub(crate) kind: TableKind,
    pub(crate) rows: f64,
    pub(crate) columns: Vec<Column>,
    /// Stored layout.
    pub(crate) clustering: Clustering,
    /// Files (1 for a stream).
    pub(crate) files: u32,
    /// `gzip` files cannot be split.
    pub(crate) gzip: bool,
    /// Rows that the optimizer expects, relative to the truth.
    pub(crate) believed: f64,
    /// Rows of the previous run, relative to this one, if known.
    pub(crate) previous: Option<f64>,
}

impl Table {
    /// Mean bytes of a row as stored.
    pub(crate) fn row_bytes(&self) -> f64 {
        self.columns
            .iter()
            .map(|c| c.width * (1.0 - c.nulls))
            .sum::<f64>()
            + 2.0
    }

    /// Bytes stored.
    pub(crate) fn bytes(&self) -> f64 {
        (self.rows * self.row_bytes()).round()
    }

    /// The column of this name.
    pub(crate) fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|c| c.name == name)
    }

    /// The column of this name, to change it.
    pub(crate) fn column_mut(&mut self, name: &str) -> Option<&mut Column> {
        self.columns.iter_mut().find(|c| c.name == name)
    }
}

/// How the rows of a rowset divide over the values of some keys.
#[derive(Debug, Clone)]
pub(crate) struct KeySpace {
    /// Hash and share of rows of each frequent key.
    pub(crate) heavy: Vec<(u64, f64)>,
    /// Number of other keys.
    pub(crate) others: f64,
}

/// Keys kept apart when columns are combined; more would not change the largest partition.
const HEADS_COMBINED: usize = 24;

impl KeySpace {
    /// Combines the columns of a key.
    pub(crate) fn of(columns: &[&Column], rows: f64) -> Self {
        let mut heavy: Vec<(u64, f64)> = vec![(0, 1.0)];
        let mut distinct = 1.0_f64;
        for column in columns {
            let mut head: Vec<(u64, f64)> = column
                .heavy
                .iter()
                .take(HEADS_COMBINED)
                .map(|(v, s)| (hash_text(7, v), *s))
                .collect();
            if column.nulls > 0.0 {
                head.push((hash_text(7, "\u{0}null"), column.nulls));
            }
            heavy = heavy
                .iter()
                .flat_map(|(h, s)| head.iter().map(move |(g, t)| (mix(h ^ g), s * t)))
                .collect();
            heavy.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            heavy.truncate(200);
            distinct = (distinct * column.distinct.max(1.0)).min(rows.max(1.0));
        }
        let others = (distinct - heavy.len() as f64).max(if heavy.is_empty() { 1.0 } else { 0.0 });
        Self { heavy, others }
    }

    /// Share of the rows on keys that are not frequent.
    fn rest(&self) -> f64 {
        (1.0 - self.heavy.iter().map(|h| h.1).sum::<f64>()).max(0.0)
    }

    /// Number of distinct keys.
    pub(crate) fn distinct(&self) -> f64 {
        self.heavy.len() as f64 + self.others
    }

    /// Hashes the keys over partitions: (rows, distinct keys) of each.
    pub(crate) fn spread(&self, rows: f64, partitions: usize, seed: u64) -> Vec<(f64, f64)> {
        let mut out = vec![(0.0, 0.0); partitions];
        for (hash, share) in &self.heavy {
            let slot = &mut out[(mix(hash ^ seed) % partitions as u64) as usize];
            slot.0 += rows * share;
            slot.1 += 1.0;
        }
        if self.others < 1.0 {
            let total: f64 = self.heavy.iter().map(|h| h.1).sum();
            out.iter_mut().for_each(|slot| slot.0 /= total.max(1e-12));
            return out;
        }
        let rest = rows * self.rest();
        if self.others <= 4096.0 {
            // So few keys that each one counts: hash every one of them.
            for key in 0..self.others as u64 {
                let slot = &mut out[(mix(mix(key ^ 0x5eed) ^ seed) % partitions as u64) as usize];
                slot.0 += rest / self.others.floor();
                slot.1 += 1.0;
            }
        } else {
            // Many keys: the count of each partition is binomial, close to normal.
            let mean = self.others / partitions as f64;
            let keys: Vec<f64> = (0..partitions as u64)
                .map(|i| (mean + mean.sqrt() * normal(seed, "keys", i)).max(mean * 0.5))
                .collect();
            let total: f64 = keys.iter().sum();
            for (slot, key) in out.iter_mut().zip(keys) {
                slot.0 += rest * key / total;
                slot.1 += self.others * key / total;
            }
        }
        out
    }

    /// Distinct keys expected among `rows` rows drawn from the rowset.
    pub(crate) fn seen_in(&self, rows: f64) -> f64 {
        let heavy: f64 = self
            .heavy
            .iter()
            .map(|(_, share)| 1.0 - libm::exp(-rows * share))
            .sum();
        let rest = rows * self.rest();
        let others = if self.others < 1.0 {
            0.0
        } else {
            self.others * (1.0 - libm::exp(-rest / self.others))
        };
        (heavy + others).min(rows)
    }
}

/// Relative sizes of stored partitions: even within two percent.
pub(crate) fn even_weights(count: usize, seed: u64) -> Vec<f64> {
    (0..count as u64)
        .map(|i| 1.0 + 0.02 * (unit(mix(seed ^ mix(i))) - 0.5))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hot_key_lands_in_one_partition() {
        let column = Column::new("k", Ty::Long, 8.0, 1e6).with_head(&["a"], 0.4, 1.0);
        let space = KeySpace::of(&[&column], 1e8);
        let spread = space.spread(1e8, 20, 1);
        let max = spread.iter().map(|s| s.0).fold(0.0, f64::max);
        assert!((max - 4.3e7).abs() < 2e6, "{max}");
        assert!((spread.iter().map(|s| s.0).sum::<f64>() - 1e8).abs() < 1.0);
    }

    #[test]
    fn few_values_leave_partitions_empty() {
        let column = Column::new("k", Ty::Text, 8.0, 6.0);
        let spread = KeySpace::of(&[&column], 1e8).spread(1e8, 40, 1);
        assert!(spread.iter().filter(|s| s.0 == 0.0).count() >= 34);
    }
}
