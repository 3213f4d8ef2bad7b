//! Facts that the RDDs of a stage show without a plan: Python, and the purpose of its shuffles.

use super::event::Rdds;
use crate::model::{ExchangeKind, OperatorKind};

/// Summary of a stage's RDDs.
#[derive(Debug, Default)]
pub(super) struct Lineage {
    /// Whether rows go through Python.
    pub(super) python: bool,
    /// The source RDDs, by their numbers; none if the stage may start from cached ones.
    pub(super) sources: Vec<u32>,
    /// Partitions of the last RDD.
    pub(super) partitions: u32,
    /// Whether it joins the rows of several RDDs by their keys.
    cogroups: bool,
    /// Whether it takes two RDDs partition by partition.
    zips: bool,
    /// API method that created the RDD behind a shuffle.
    shuffled_by: String,
}

impl Lineage {
    pub(super) fn of(rdds: &Rdds<'_>) -> Lineage {
        let cached = !rdds.cached.is_empty();
        Lineage {
            python: rdds.python,
            sources: match cached {
                true => Vec::new(),
                false => rdds.sources.clone(),
            },
            partitions: rdds.last.map_or(0, |(_, partitions)| partitions),
            cogroups: rdds.cogroups,
            zips: rdds.zips,
            shuffled_by: rdds.shuffled_by.clone().unwrap_or_default(),
        }
    }

    /// Kind of the shuffle that a stage reads, and the operation on its rows. `written_at` is
    /// the call site of the stage that writes it: for Python, only that call site names the method. `several` tells whether
    /// it reads several shuffles.
    pub(super) fn shuffle(&self, written_at: &str, several: bool) -> (ExchangeKind, OperatorKind) {
        let called = written_at.split(" at ").next().unwrap_or_default();
        let known = shuffle_of(called).or_else(|| shuffle_of(&self.shuffled_by));
        match known {
            _ if self.cogroups || self.zips && several => (ExchangeKind::Hash, OperatorKind::Join),
            Some(known) => known,
            None => (ExchangeKind::Hash, OperatorKind::Other),
        }
    }
}

/// The shuffle of a method of the RDD API.
fn shuffle_of(method: &str) -> Option<(ExchangeKind, OperatorKind)> {
    Some(match method {
        "join" | "leftOuterJoin" | "rightOuterJoin" | "fullOuterJoin" | "cogroup" | "groupWith"
        | "subtract" | "subtractByKey" | "intersection" => (ExchangeKind::Hash, OperatorKind::Join),
        "groupBy" | "groupByKey" | "reduceByKey" | "aggregateByKey" | "combineByKey"
        | "foldByKey" | "distinct" => (ExchangeKind::Hash, OperatorKind::Aggregate),
        "sortBy" | "sortByKey" | "repartitionAndSortWithinPartitions" => {
            (ExchangeKind::Range, OperatorKind::Sort)
        }
        "repartition" | "coalesce" => (ExchangeKind::RoundRobin, OperatorKind::Other),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffles_of_rdds_are_known_by_the_method_that_asks_for_them() {
        use ExchangeKind::{Hash, Range, RoundRobin};
        use OperatorKind::{Aggregate, Join, Other, Sort};
        for (written_at, scope, cogroups, expected) in [
            // Python shuffles with partitionBy for every method
            (
                "groupByKey at a.py:3",
                "partitionBy",
                false,
                (Hash, Aggregate),
            ),
            ("join at a.py:3", "partitionBy", false, (Hash, Join)),
            ("map at A.scala:7", "reduceByKey", false, (Hash, Aggregate)),
            ("map at A.scala:7", "join", true, (Hash, Join)),
            ("map at A.scala:7", "sortByKey", false, (Range, Sort)),
            (
                "repartition at a.py:3",
                "repartition",
                false,
                (RoundRobin, Other),
            ),
            ("partitionBy at a.py:3", "partitionBy", false, (Hash, Other)),
        ] {
            let lineage = Lineage {
                cogroups,
                shuffled_by: scope.to_owned(),
                ..Lineage::default()
            };
            assert_eq!(
                lineage.shuffle(written_at, false),
                expected,
                "{written_at} {scope}"
            );
        }
    }
}
