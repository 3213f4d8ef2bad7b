//! Bounds on the numbers in files, and on the size of a job in memory.
//!
//! Job files come from anywhere. Every number passes through here before it sizes, sums or is
//! compared with another number, and every list that a file can make grow takes from one budget per job.
//! Each bound is far above the values of real jobs; every omission is reported.

use report::{Text, text};

/// Rows, bytes and other counts: up to 2^53 a float holds a whole number exactly, and 9 PB or 9
/// quadrillion rows are more than any job reads.
const MAX_COUNT: u64 = 1 << 53;

/// Vertices, partitions, files, tokens, priorities: the largest real jobs have some 250,000 vertices.
const MAX_PARTS: u32 = 10_000_000;

/// Any other number: 10^18 ns are 31 years, and sums of millions of them stay finite and exact
/// enough.
const MAX_NUMBER: f64 = 1e18;

/// Durations, in seconds: 100 years.
const MAX_SECONDS: f64 = 3.2e9;

/// A count, if it is possible.
pub(crate) fn count(number: u64) -> Option<u64> {
    (number <= MAX_COUNT).then_some(number)
}

/// A number of vertices, partitions or tokens, if it is possible.
pub(crate) fn parts(number: u64) -> Option<u32> {
    u32::try_from(number).ok().filter(|n| *n <= MAX_PARTS)
}

/// Like [`parts`], for a number that was read as a float; fractions are cut off.
pub(crate) fn parts_of(number: f64) -> Option<u32> {
    (0.0..=f64::from(MAX_PARTS))
        .contains(&number)
        .then_some(number as u32)
}

/// A number of any kind, if it is finite and small enough for sums.
pub(crate) fn number(number: f64) -> Option<f64> {
    (-MAX_NUMBER..=MAX_NUMBER)
        .contains(&number)
        .then_some(number)
}

/// A duration in seconds, if it is possible.
pub(crate) fn seconds(number: f64) -> Option<f64> {
    (-MAX_SECONDS..=MAX_SECONDS)
        .contains(&number)
        .then_some(number)
}

/// Operators of one stage; real ones have at most some hundred.
pub(crate) const OPERATORS_PER_STAGE: usize = 2_000;

/// Inputs or outputs of one operator: a union of a year of hours has some 9,000.
pub(crate) const CHANNELS_PER_OPERATOR: usize = 10_000;

/// Columns of one rowset or table: the engine allows some thousand.
pub(crate) const COLUMNS_PER_ROWSET: usize = 10_000;

/// A list that a file could make grow without end; limited per job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quota {
    Stages,
    Operators,
    Channels,
    Columns,
    Edges,
    PlanNodes,
    Tables,
    Partitions,
    Values,
    Counters,
    Errors,
    Fields,
    Lookups,
}

const KINDS: usize = 13;

impl Quota {
    /// Maximum number of items per job.
    pub(crate) const fn most(self) -> usize {
        match self {
            // real jobs have up to a few thousand
            Quota::Stages => 50_000,
            // about ten per stage
            Quota::Operators => 300_000,
            Quota::Channels => 600_000,
            // of the schemas of all channels and tables
            Quota::Columns => 2_000_000,
            Quota::Edges => 300_000,
            Quota::PlanNodes => 100_000,
            // streamsets have some thousand files
            Quota::Tables => 10_000,
            // a stream has at most some ten thousand
            Quota::Partitions => 1_000_000,
            // frequent values of columns, attributes of plan nodes
            Quota::Values => 1_000_000,
            // bytes of counters in memory; a stage of 50 nodes takes 30 KB
            Quota::Counters => 512 << 20,
            Quota::Errors => 1_000,
            // further fields and states of the job
            Quota::Fields => 10_000,
            // comparisons with the tables known so far, some seconds of work
            Quota::Lookups => 500_000_000,
        }
    }

    pub(crate) fn describe(self) -> Text {
        match self {
            Quota::Stages => text!("个 stage", "stages"),
            Quota::Operators => text!("个算子", "operators"),
            Quota::Channels => text!("个通道", "channels"),
            Quota::Columns => text!("列", "columns"),
            Quota::Edges => text!("条 stage 之间的边", "edges between stages"),
            Quota::PlanNodes => text!("个计划节点", "plan nodes"),
            Quota::Tables => text!("张表", "tables"),
            Quota::Partitions => text!("个分区", "partitions"),
            Quota::Values => text!("个取值", "values"),
            Quota::Counters => text!("字节的计数器", "bytes of counters"),
            Quota::Errors => text!("个错误", "errors"),
            Quota::Fields => text!("个字段", "fields"),
            Quota::Lookups => text!("次查表", "lookups of tables"),
        }
    }
}

/// Remaining quotas of a job.
#[derive(Debug, Clone)]
pub struct Budget {
    pub(crate) left: [usize; KINDS],
    /// Quotas with a reported overrun; each is reported once.
    pub(crate) reported: [bool; KINDS],
}

impl Default for Budget {
    fn default() -> Budget {
        use Quota as K;
        let kinds = [
            K::Stages,
            K::Operators,
            K::Channels,
            K::Columns,
            K::Edges,
            K::PlanNodes,
            K::Tables,
            K::Partitions,
            K::Values,
            K::Counters,
            K::Errors,
            K::Fields,
            K::Lookups,
        ];
        let mut left = [0; KINDS];
        for kind in kinds {
            left[kind as usize] = kind.most();
        }
        Budget {
            left,
            reported: [false; KINDS],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_cannot_be_are_none() {
        let huge = i64::MAX as u64;
        assert_eq!((count(huge), count(1 << 53)), (None, Some(1 << 53)));
        assert_eq!((parts(huge), parts(u64::from(u32::MAX))), (None, None));
        assert_eq!((parts(12), parts_of(12.7)), (Some(12), Some(12)));
        for bad in [f64::NAN, f64::INFINITY, 1e308, -1e308] {
            assert_eq!(
                (number(bad), seconds(bad), parts_of(bad)),
                (None, None, None)
            );
        }
        assert_eq!((parts_of(-1.0), seconds(-1.0)), (None, Some(-1.0)));
    }
}
