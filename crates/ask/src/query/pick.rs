//! The measures that the words of a question ask for.

use report::measure::{Entity, Measure, book};

use super::Query;
use crate::amount::Amounts;
use crate::subject::Subject;
use crate::word::Thing;
use crate::word::Word::*;

/// Sum, mean, median, maximum and spread over the vertices of a stage.
type Statistics = [Option<&'static Measure>; 5];

#[rustfmt::skip]
const TIMES: Statistics = [
    Some(&book::SPAN), Some(&book::MEAN_RUN), Some(&book::MEDIAN_RUN), Some(&book::MAX_RUN), Some(&book::RUN_MAX_OVER_MEAN),
];
#[rustfmt::skip]
const ROWS_READ: Statistics = [
    Some(&book::ROWS_IN), Some(&book::ROWS_MEAN), Some(&book::ROWS_MEDIAN), Some(&book::ROWS_MAX), Some(&book::ROWS_MAX_OVER_MEAN),
];
const ROWS_WRITTEN: Statistics = [Some(&book::ROWS_OUT), None, None, None, None];
#[rustfmt::skip]
const READ: Statistics = [
    Some(&book::BYTES_READ), Some(&book::READ_MEAN), Some(&book::READ_MEDIAN), Some(&book::READ_MAX), Some(&book::READ_MAX_OVER_MEAN),
];
#[rustfmt::skip]
const WRITTEN: Statistics = [
    Some(&book::BYTES_WRITTEN), Some(&book::WRITTEN_MEAN), Some(&book::WRITTEN_MEDIAN), Some(&book::WRITTEN_MAX), None,
];

impl Query<'_> {
    /// Whether it is about a single vertex: "the largest vertex".
    pub(super) fn is_of_vertex(&self) -> bool {
        self.names(Thing::Vertex) && self.has(Most) && !self.names(Thing::Stage)
    }

    /// The measures of a kind of thing that are asked for.
    pub(super) fn measures(&self, entity: Entity) -> Vec<&'static Measure> {
        let named = self.scan.words.iter().filter_map(|word| match word {
            Of(measure) => Some(*measure),
            _ => None,
        });
        let named: Vec<&'static Measure> = named.collect();
        if named == [&book::BUSY_SLOTS] && entity == Entity::Executor {
            return vec![&book::EXECUTOR_BUSY];
        }
        if named == [&book::BUSY] && entity == Entity::Operator {
            return vec![&book::OWN_TIME];
        }
        if !named.is_empty() {
            let fits = |m: &&Measure| m.entity == entity || entity == Entity::Job;
            let fitting: Vec<_> = named.into_iter().filter(fits).collect();
            // "how much is shuffled from SV1 to SV3?"
            return match fitting.is_empty() && entity == Entity::Exchange {
                true => vec![&book::BYTES_CROSSING],
                false => fitting,
            };
        }
        match entity {
            Entity::Job => self.of_whole(),
            Entity::Stage => self.of_stage(),
            Entity::Operator => self.of_operator(),
            Entity::Exchange => self.of_exchange(),
            Entity::Input => self.of_input(),
            Entity::Column => Vec::new(),
            Entity::Executor => match () {
                _ if self.has(Lost) => vec![&book::EXECUTOR_LOST],
                _ if self.has(Arrived) || self.has(When) => vec![&book::EXECUTOR_ADDED],
                _ if self.names(Thing::Vertex) => vec![&book::TASKS_RUN],
                _ if self.is_time() => vec![&book::EXECUTOR_BUSY],
                _ => Vec::new(),
            },
            Entity::Execution => match self.is_time() {
                true => vec![&book::EXECUTION_TIME],
                false => Vec::new(),
            },
        }
    }

    /// The measure of a ranking without a measure: "the largest input".
    pub(super) fn default_measure(&self, entity: Entity) -> Option<&'static Measure> {
        let amount = [Rows, Bytes, Data, In, Out, Spread];
        if self.scan.has_any(&amount) && entity != Entity::Input && entity != Entity::Exchange {
            return None;
        }
        Some(match entity {
            Entity::Operator => &book::OWN_TIME,
            Entity::Exchange => &book::BYTES_CROSSING,
            Entity::Input => &book::STORED_BYTES,
            Entity::Executor => &book::EXECUTOR_BUSY,
            Entity::Execution => &book::EXECUTION_TIME,
            _ => return None,
        })
    }

    fn of_whole(&self) -> Vec<&'static Measure> {
        let Amounts { rows, bytes, .. } = Amounts::of(&self.scan);
        // without a part of the job, only its inputs are meant by "read"
        if !self.has(In) || self.has(Out) {
            return Vec::new();
        }
        let asked = [(rows, &book::INPUT_ROWS), (bytes, &book::INPUT_BYTES)];
        let asked = asked.into_iter().filter(|(is_asked, _)| *is_asked);
        asked.map(|(_, measure)| measure).collect()
    }

    fn of_stage(&self) -> Vec<&'static Measure> {
        let Amounts {
            rows,
            bytes,
            read,
            written,
        } = Amounts::of(&self.scan);
        let has = |word| self.has(word);
        let vertex = self.names(Thing::Vertex);
        let is_amount = rows || bytes;
        let is_time = self.is_time() || has(Median) || has(Mean);
        let kinds = [
            (rows && read, ROWS_READ),
            (rows && written, ROWS_WRITTEN),
            (bytes && read, READ),
            (bytes && written, WRITTEN),
            (is_time && !is_amount, TIMES),
            (has(Spread) && !is_amount && !self.is_time(), TIMES),
            (has(Spread) && !is_amount && !self.is_time(), ROWS_READ),
        ];
        let each = vertex && has(Each) && !has(Most) && !has(Median);
        let statistics = [
            false,
            has(Mean) || each,
            has(Median),
            vertex && has(Most),
            has(Spread) || has(Times) && has(Mean) && has(Most),
        ];
        let asks_total = !statistics.contains(&true);
        let mut asked: Vec<&'static Measure> = Vec::new();
        for (_, measures) in kinds.into_iter().filter(|(is_asked, _)| *is_asked) {
            let own = measures.into_iter().enumerate();
            let own = own.filter(|(at, _)| statistics[*at] || *at == 0 && asks_total);
            asked.extend(own.filter_map(|(_, measure)| measure));
        }
        let ranks_stages = has(Most) && self.names(Thing::Stage);
        if asked.is_empty() && vertex && (has(Number) || ranks_stages) {
            asked.push(&book::VERTICES);
        }
        asked
    }

    fn of_operator(&self) -> Vec<&'static Measure> {
        let has = |word| self.has(word);
        let is_in = has(In) || self.names(Thing::Input);
        let is_amount = has(Rows) || has(Data) || is_in || has(Out);
        match () {
            _ if self.names(Thing::Column) && !has(Rows) => Vec::new(),
            _ if has(Spread) => vec![&book::OPERATOR_SPREAD],
            _ if has(Bytes) => Vec::new(),
            _ if self.is_time() && !is_amount => vec![&book::OWN_TIME],
            // the rows that a scan reads are those that it produces
            _ if is_amount && is_in && self.is_scan() => vec![&book::OPERATOR_ROWS],
            _ if is_amount && is_in && !has(Out) => vec![&book::ROWS_TAKEN],
            _ if is_amount && is_in => vec![&book::ROWS_TAKEN, &book::OPERATOR_ROWS],
            _ if is_amount && !has(Out) && self.is_operator() => {
                vec![&book::ROWS_TAKEN, &book::OPERATOR_ROWS]
            }
            _ if is_amount => vec![&book::OPERATOR_ROWS],
            _ => Vec::new(),
        }
    }

    /// Whether every named operator reads an input of the job.
    fn is_scan(&self) -> bool {
        let stages = &self.run.summary.stages;
        self.subjects.iter().all(|s| match s {
            Subject::Operator(at, o) => stages[*at].operators[*o].kind == "extract",
            subject => matches!(subject, Subject::Input(_)),
        })
    }

    /// Whether it names an operator that takes in rows of others: "how many rows does the reducer have?" asks for both sides.
    fn is_operator(&self) -> bool {
        let stages = &self.run.summary.stages;
        self.subjects.iter().any(|subject| match subject {
            Subject::Operator(at, o) => {
                let kind = stages[*at].operators[*o].kind.as_str();
                matches!(
                    kind,
                    "process" | "reduce" | "combine" | "join" | "transform"
                )
            }
            _ => false,
        })
    }

    fn of_exchange(&self) -> Vec<&'static Measure> {
        let Amounts { rows, bytes, .. } = Amounts::of(&self.scan);
        let partitions = self.names(Thing::Partition);
        let is_amount = self.scan.has_any(&[Rows, Bytes, Data]);
        let only_partitions = partitions && !is_amount;
        let asked = [
            (rows && !only_partitions, &book::ROWS_CROSSING),
            (bytes && !only_partitions, &book::BYTES_CROSSING),
            (partitions && !is_amount, &book::PARTITIONS),
        ];
        let asked = asked.into_iter().filter(|(is_asked, _)| *is_asked);
        asked.map(|(_, measure)| measure).collect()
    }

    fn of_input(&self) -> Vec<&'static Measure> {
        let Amounts { rows, bytes, .. } = Amounts::of(&self.scan);
        let has = |word| self.has(word);
        if self.names(Thing::Partition) && !self.names(Thing::Input) {
            return match () {
                _ if has(Most) => vec![&book::PARTITION_MAX],
                _ if has(Least) => vec![&book::PARTITION_MIN],
                _ if has(Mean) => vec![&book::PARTITION_MEAN],
                _ if has(Apart) || has(Spread) || bytes => {
                    vec![
                        &book::PARTITION_MIN,
                        &book::PARTITION_MEAN,
                        &book::PARTITION_MAX,
                    ]
                }
                _ => vec![&book::STORED_PARTITIONS],
            };
        }
        let files = self.names(Thing::File);
        let asked = [
            (rows, &book::STORED_ROWS),
            (bytes, &book::STORED_BYTES),
            (files, &book::STORED_FILES),
        ];
        let asked = asked.into_iter().filter(|(is_asked, _)| *is_asked);
        asked.map(|(_, measure)| measure).collect()
    }
}
