//! Facts that the RDDs of a stage show without a plan: Python, and the purpose of its shuffles.

use super::event::{RddInfo, RddScope, StageInfo};
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
    /// API method that created the RDD behind a shuffle.
    shuffled_by: String,
}

impl Lineage {
    pub(super) fn of(info: &StageInfo<'_>) -> Lineage {
        let last = info.rdds.iter().max_by_key(|r| r.id.id());
        let reads = |r: &&RddInfo<'_>| r.name.0.starts_with("Shuffled");
        let scope = info.rdds.iter().filter(reads).find_map(|r| {
            let scope: RddScope<'_> = serde_json::from_str(&r.scope.0).ok()?;
            scope.name.text()
        });
        let is = |name: &str| info.rdds.iter().any(|r| r.name.0 == name);
        let cached = info.rdds.iter().any(|r| r.level.memory || r.level.disk);
        let sources = info.rdds.iter().filter(|r| r.parents.is_empty() && !cached);
        Lineage {
            python: is("PythonRDD"),
            sources: sources.map(|r| r.id.id()).collect(),
            partitions: last.map_or(0, |r| r.partitions.id()),
            cogroups: is("CoGroupedRDD"),
            shuffled_by: scope.unwrap_or_default(),
        }
    }

    /// Kind of the shuffle that a stage reads, and the operation on its rows. `written_at` is
    /// the call site of the stage that writes it: for Python, only that call site names the method.
    pub(super) fn shuffle(&self, written_at: &str) -> (ExchangeKind, OperatorKind) {
        let called = written_at.split(" at ").next().unwrap_or_default();
        let known = shuffle_of(called).or_else(|| shuffle_of(&self.shuffled_by));
        match known {
            _ if self.cogroups => (ExchangeKind::Hash, OperatorKind::Join),
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
                lineage.shuffle(written_at),
                expected,
                "{written_at} {scope}"
            );
        }
    }
}
