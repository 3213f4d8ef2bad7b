//! How rows, bytes and time are spread over the vertices of a stage.

use super::Derived;
use crate::model::{Job, Source, Stage};
use crate::runs::{Distribution, StageRuns};

/// How a number is spread over the vertices of a stage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Sum over the vertices.
    pub total: f64,
    /// Largest of one vertex.
    pub max: f64,
    /// `total / vertices`.
    pub mean: f64,
    /// `max / mean`; 1 where nothing can be spread (one vertex, or all zero).
    pub max_over_mean: f64,
    /// Vertices that the mean is over.
    pub vertices: u64,
    /// Smallest, where the files tell.
    pub min: Option<f64>,
    /// Median, where vertex events tell.
    pub p50: Option<f64>,
    /// 95th percentile, where vertex events tell.
    pub p95: Option<f64>,
}

impl Spread {
    fn new(total: f64, max: f64, vertices: u64) -> Option<Spread> {
        if vertices == 0 {
            return None;
        }
        let mean = total / vertices as f64;
        let max_over_mean = if vertices == 1 || mean <= 0.0 {
            1.0
        } else {
            max / mean
        };
        Some(Spread {
            total,
            max,
            mean,
            max_over_mean,
            vertices,
            min: None,
            p50: None,
            p95: None,
        })
    }

    fn of(distribution: &Distribution) -> Option<Spread> {
        let spread = Spread::new(distribution.total, distribution.max, distribution.count)?;
        Some(Spread {
            min: Some(distribution.min),
            p50: Some(distribution.p50),
            p95: Some(distribution.p95),
            ..spread
        })
    }
}

impl Job {
    /// Vertices of a stage that ran to their end: vertex events count them; else the stage
    /// statistics, the vertices of a local run, or the pieces that a reader of the stage takes.
    pub fn vertex_count(&self, stage: usize) -> Option<Derived<u64>> {
        let found = self.stages.get(stage)?;
        let one = |value: u64, source: Option<Source>| {
            (value > 0).then(|| Derived {
                value,
                sources: source.into_iter().collect(),
            })
        };
        let summary = |name: &str| {
            let n = found.summary.as_ref()?.values.get(name).copied()?;
            one(n as u64, found.summary_source(name))
        };
        let succeeded = summary("succeededCount");
        let events = found
            .runs
            .as_ref()
            .and_then(|r| one(r.completed, Some(file(r))));
        // events of a profile that was cut off count too few
        let better = match (&events, &succeeded) {
            (Some(events), Some(stated)) if stated.value > events.value => succeeded,
            (Some(_), _) => events,
            _ => succeeded,
        };
        better
            .or_else(|| summary("totalCount"))
            .or_else(|| {
                let tree = found.counters.as_ref()?;
                let file = Source {
                    file: tree.file.clone(),
                    locator: None,
                };
                one(u64::from(tree.merged_vertices?), Some(file))
            })
            .or_else(|| self.vertices_by_pieces(stage))
    }

    /// A reader that takes one piece from each of n vertices says n; a stage that reads hash or
    /// range partitions has a vertex for each.
    fn vertices_by_pieces(&self, stage: usize) -> Option<Derived<u64>> {
        let told_by_reader = |(stage, name): (&Stage, &str)| {
            let operators = stage.operators.iter();
            let input = operators
                .flat_map(|o| &o.inputs)
                .find(|i| i.id.split('[').next() == Some(name))?;
            let count = input.count.filter(|n| *n > 1)?;
            Some((
                u64::from(count),
                stage.definition(&format!("input[@id={}]/@numberOfInputs", input.id)),
            ))
        };
        let readers = self.edges.iter().filter(|e| e.from == stage);
        let by_reader = readers
            .filter_map(|e| Some((self.stages.get(e.to)?, e.channel.as_str())))
            .find_map(told_by_reader);
        let by_writer = || {
            let edge = self.edges.iter().find(|e| {
                use crate::model::ExchangeKind as X;
                e.to == stage && matches!(e.exchange, X::Hash | X::Range | X::Gather)
            })?;
            let gathered = edge.exchange == crate::model::ExchangeKind::Gather;
            let n = if gathered {
                1
            } else {
                u64::from(edge.partitions?)
            };
            let writer = self.stages.get(edge.from)?;
            Some((
                n,
                writer.definition(&format!("output[@id={}]/@numberOfOutputs", edge.channel)),
            ))
        };
        let (value, source) = by_reader.or_else(by_writer)?;
        Some(Derived {
            value,
            sources: source.into_iter().collect(),
        })
    }

    /// Rows of a counter node (index into the stage's nodes) per vertex, from `rowCount` and
    /// `maxRowCount`.
    pub fn rows_per_vertex(&self, stage: usize, node: usize) -> Option<Derived<Spread>> {
        let tree = self.stages.get(stage)?.counters.as_ref()?;
        let node = tree.nodes.get(node)?;
        let (total, max) = (node.value("rowCount")?, node.value("maxRowCount")?);
        let vertices = self.vertex_count(stage)?;
        let mut sources = vec![
            tree.source(node, "maxRowCount"),
            tree.source(node, "rowCount"),
        ];
        sources.extend(vertices.sources);
        Some(Derived {
            value: Spread::new(total, max, vertices.value)?,
            sources,
        })
    }

    /// Bytes that the vertices of a stage read: from vertex events, else from the stage statistics.
    pub fn bytes_read_per_vertex(&self, stage: usize) -> Option<Derived<Spread>> {
        let found = self.stages.get(stage)?;
        self.of_events(found, |runs| &runs.bytes_read).or_else(|| {
            let value = |name: &str| found.summary.as_ref()?.values.get(name).copied();
            let (total, max) = (value("dataRead")?, value("maxVertexDataRead")?);
            let vertices = self.vertex_count(stage)?;
            let min = value("minVertexDataRead");
            let spread = Spread {
                min,
                ..Spread::new(total, max, vertices.value)?
            };
            let sources = ["maxVertexDataRead", "dataRead", "succeededCount"];
            let sources = sources
                .iter()
                .filter_map(|name| found.summary_source(name))
                .collect();
            Some(Derived {
                value: spread,
                sources,
            })
        })
    }

    /// Bytes that the vertices of a stage wrote, from vertex events.
    pub fn bytes_written_per_vertex(&self, stage: usize) -> Option<Derived<Spread>> {
        self.of_events(self.stages.get(stage)?, |runs| &runs.bytes_written)
    }

    /// Milliseconds that the completed vertices of a stage ran, from vertex events.
    pub fn run_ms_per_vertex(&self, stage: usize) -> Option<Derived<Spread>> {
        self.of_events(self.stages.get(stage)?, |runs| &runs.run_ms)
    }

    fn of_events(
        &self,
        stage: &Stage,
        of: impl Fn(&StageRuns) -> &Distribution,
    ) -> Option<Derived<Spread>> {
        let runs = stage.runs.as_ref()?;
        Some(Derived {
            value: Spread::of(of(runs))?,
            sources: vec![file(runs)],
        })
    }
}

fn file(runs: &StageRuns) -> Source {
    Source {
        file: runs.file.clone(),
        locator: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_vertex_is_never_skewed() {
        let one = Spread::new(10.0, 10.0, 1).expect("a vertex");
        assert_eq!(one.max_over_mean, 1.0);
        let four = Spread::new(40.0, 30.0, 4).expect("vertices");
        assert_eq!((four.mean, four.max_over_mean), (10.0, 3.0));
        assert_eq!(Spread::new(0.0, 0.0, 5).map(|s| s.max_over_mean), Some(1.0));
        assert_eq!(Spread::new(0.0, 0.0, 0), None);
    }
}
