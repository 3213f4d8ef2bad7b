//! A number with its unit, sign and bound.

use std::ops::Range;

/// The unit or the counted thing of a number, in base units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Seconds,
    Bytes,
    /// Shares and factors: 22 % is 0.22, 3.6 times is 3.6.
    Ratio,
    Rows,
    Vertices,
    /// Other things that are counted, by their English plural.
    Count(&'static str),
    /// A line of the script.
    Line,
    /// The number of a stage, task or executor: part of a name.
    Index,
    Plain,
}

/// The side of a limit that a phrase names: `below 2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    Below,
    Above,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Quantity {
    /// The number as it is written, without its unit.
    pub(crate) span: Range<usize>,
    /// End of the unit.
    pub(crate) end: usize,
    /// In the base unit.
    pub(crate) value: f64,
    /// The number in the unit that it is written with.
    pub(crate) raw: f64,
    /// Another reading: GB as GiB.
    pub(crate) other: Option<f64>,
    /// Half of the last digit, in the base unit.
    pub(crate) half: f64,
    pub(crate) unit: Unit,
    pub(crate) is_percent: bool,
    pub(crate) is_hedged: bool,
    pub(crate) is_negative: bool,
    pub(crate) bound: Option<Bound>,
    /// Less, shorter or lower by this much.
    pub(crate) is_down: bool,
    /// Quoted as code.
    pub(crate) is_code: bool,
}
