//! Generated rows: few enough to run in no time, and varied enough to tell scripts apart.
//!
//! Values of all tables come from one small domain per type, so that keys of any names match sometimes
//! and sometimes not; a row mostly holds the values of one entity, so that keys of several
//! columns match too. For every literal of the scripts there are values just below and above it.

use std::collections::{BTreeMap, BTreeSet};

use crate::functions::mix;
use crate::kind::{Column, Kind};

/// A value to be stored.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Null,
    Whole(i64),
    Real(f64),
    Text(String),
}

/// Rows of a table.
pub(crate) type Table = Vec<Vec<Cell>>;

/// Literals and columns in the scripts that matter for generating rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hints {
    /// Literals in comparisons with a column, by its name.
    pub(crate) literals: BTreeMap<String, Vec<Cell>>,
    /// All literals.
    pub(crate) all: Vec<Cell>,
    /// Columns used for ordering or summing: a wide range of values avoids ties.
    pub(crate) wide: BTreeSet<String>,
}

/// Parameters for generating the rows of one run.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    seed: u64,
    rows: u64,
    /// Number of entities.
    domain: u64,
    /// Share of null among values that can be null, in percent.
    nulls: u64,
    /// Share of one hot entity, in percent.
    hot: u64,
    /// Share of rows that repeat an earlier one, in percent.
    repeated: u64,
    /// Share of values that are close to a literal, in percent.
    close: u64,
    /// Position of the table that has this many rows only.
    short: Option<(usize, u64)>,
}

/// Shapes of the runs for scripts that read this number of tables.
pub(crate) fn shapes(tables: usize) -> Vec<Shape> {
    // rows, domain, nulls, hot, repeated, close
    const SHAPES: [[u64; 6]; 12] = [
        [24, 12, 12, 0, 15, 45],
        [24, 12, 12, 50, 15, 45],
        [14, 4, 12, 0, 15, 45],
        [36, 40, 4, 0, 0, 30],
        [30, 30, 0, 0, 0, 15],
        [24, 12, 40, 0, 15, 45],
        [24, 8, 12, 0, 15, 80],
        [24, 6, 0, 0, 40, 80],
        [40, 10, 3, 0, 0, 60],
        [40, 60, 3, 0, 0, 50],
        [6, 3, 10, 0, 15, 45],
        [3, 2, 12, 0, 15, 60],
    ];
    let shape = |(seed, numbers): (u64, [u64; 6])| {
        let [rows, domain, nulls, hot, repeated, close] = numbers;
        Shape {
            seed,
            rows,
            domain,
            nulls,
            hot,
            repeated,
            close,
            short: None,
        }
    };
    let mut all: Vec<Shape> = (1..).zip(SHAPES).map(shape).collect();
    let base = all[0].clone();
    // each of the first tables empty, or with one row; further tables would behave alike
    for table in 0..tables.min(5) {
        let seed = 20 + table as u64;
        all.push(Shape {
            seed,
            short: Some((table, 0)),
            ..base.clone()
        });
        all.push(Shape {
            seed: seed + 20,
            short: Some((table, 1)),
            ..base.clone()
        });
    }
    all
}

/// A sequence of numbers that depends on its seed alone.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = mix(self.0);
        self.0 >> 8
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }

    fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        of.get(self.below(of.len() as u64) as usize)
    }
}

/// Rows for the table at a position among all tables.
pub(crate) fn rows(shape: &Shape, position: usize, columns: &[Column], hints: &Hints) -> Table {
    let mut rng = Rng(mix(shape.seed) ^ mix(1000 + position as u64));
    let count = match shape.short {
        Some((short, rows)) if short == position => rows,
        _ => shape.rows,
    };
    let mut table: Table = Vec::new();
    for _ in 0..count {
        let repeated = rng.percent(shape.repeated);
        if let Some(row) = rng.one(&table).filter(|_| repeated).cloned() {
            table.push(row);
            continue;
        }
        let entity = match rng.percent(shape.hot) {
            true => 1,
            false => rng.below(shape.domain),
        };
        let whole = rng.percent(50);
        let row = columns.iter().map(|column| {
            let entity = if whole || rng.percent(60) {
                entity
            } else {
                rng.below(shape.domain)
            };
            cell(column, entity, shape, hints, &mut rng)
        });
        table.push(row.collect());
    }
    table
}

fn cell(column: &Column, entity: u64, shape: &Shape, hints: &Hints, rng: &mut Rng) -> Cell {
    if column.nullable && rng.percent(shape.nulls) {
        return Cell::Null;
    }
    if rng.percent(shape.close) {
        let own = hints.literals.get(&column.name);
        if let Some(literal) = own.and_then(|own| rng.one(own)).cloned()
            && let Some(cell) = close_to(&literal, column.kind, rng)
        {
            return cell;
        }
        if own.is_none()
            && rng.percent(25)
            && let Some(literal) = rng.one(&hints.all).cloned()
            && let Some(cell) = close_to(&literal, column.kind, rng)
        {
            return cell;
        }
    }
    if hints.wide.contains(&column.name) && shape.seed.is_multiple_of(2) {
        return value(column.kind, 100 + rng.below(1 << 20));
    }
    value(column.kind, entity)
}

/// Value of an entity.
fn value(kind: Kind, entity: u64) -> Cell {
    let number = entity as i64;
    match kind {
        Kind::Bool => Cell::Whole(number & 1),
        Kind::Int | Kind::Long | Kind::Opaque => Cell::Whole(number),
        // Quarters, which are exact, so that sums don't depend on the order.
        Kind::Real | Kind::Decimal => Cell::Real(number as f64 + 0.25 * (number % 4) as f64),
        Kind::Text => Cell::Text(format!("v{entity}")),
        // Five hours apart, so that some are on one day.
        Kind::Time => Cell::Whole(1_700_000_000 + number * 18_000),
    }
}

/// The literal, or a value next to it.
fn close_to(literal: &Cell, kind: Kind, rng: &mut Rng) -> Option<Cell> {
    let step = rng.below(5) as i64;
    let offset = match step {
        0 => -1,
        1 => 1,
        _ => 0,
    };
    match (literal, kind) {
        (Cell::Whole(n), Kind::Int) => i32::try_from(n.checked_add(offset)?)
            .ok()
            .map(|n| Cell::Whole(n.into())),
        (Cell::Whole(n), Kind::Long | Kind::Opaque | Kind::Time) => {
            n.checked_add(offset).map(Cell::Whole)
        }
        (Cell::Whole(n), Kind::Real | Kind::Decimal) => {
            Some(Cell::Real(*n as f64 + 0.25 * offset as f64))
        }
        (Cell::Real(x), Kind::Real | Kind::Decimal) => Some(Cell::Real(x + 0.25 * offset as f64)),
        (Cell::Text(text), Kind::Text) => Some(Cell::Text(match step {
            0 => swapped_case(text),
            1 => format!("{text}x"),
            _ => text.clone(),
        })),
        _ => None,
    }
}

fn swapped_case(text: &str) -> String {
    let swap = |c: char| match c.is_ascii_lowercase() {
        true => c.to_ascii_uppercase(),
        false => c.to_ascii_lowercase(),
    };
    text.chars().map(swap).collect()
}
