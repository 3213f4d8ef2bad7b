//! Facts computed from what the files hold, each with the places that it was computed from.

use crate::model::{Edge, Job, Source};

/// A value computed from numbers of the files.
#[derive(Debug, Clone, PartialEq)]
pub struct Derived<T> {
    /// The value.
    pub value: T,
    /// What it was computed from.
    pub sources: Vec<Source>,
}

/// How a number is spread over the vertices of a stage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Sum over the vertices.
    pub total: f64,
    /// Largest of one vertex.
    pub max: f64,
    /// `total / vertices`.
    pub mean: f64,
    /// `max / mean`; 1 where nothing is spread (one vertex, or all zero).
    pub max_over_mean: f64,
    /// Vertices that the mean is over.
    pub vertices: u64,
    /// Smallest, where vertex events tell.
    pub min: Option<f64>,
    /// Median, where vertex events tell.
    pub p50: Option<f64>,
    /// 95th percentile, where vertex events tell.
    pub p95: Option<f64>,
}

/// Mean milliseconds per completed vertex in each phase.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TimeSplit {
    /// From created to process started: waiting for a machine.
    pub queue_ms: f64,
    /// From process started to running: start-up.
    pub start_ms: f64,
    /// From running to ended.
    pub run_ms: f64,
}

/// One step of the critical path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathStep {
    /// Index of the stage.
    pub stage: usize,
    /// Vertex that the path goes through.
    pub vertex: u32,
    /// Milliseconds since 1970 at which the vertex was created.
    pub from_ms: i64,
    /// Milliseconds since 1970 at which it ended.
    pub to_ms: i64,
}

/// Share of a stage's time that went into garbage collection, in 0..1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GcShare {
    /// Mean over the vertices.
    pub mean: Option<f64>,
    /// Worst vertex.
    pub max: Option<f64>,
}

/// A sort or hash table that went to disk.
#[derive(Debug, Clone, PartialEq)]
pub struct Spill {
    /// Index into the stage's counter nodes.
    pub node: usize,
    /// The counter that shows it (`maxSpillBucketCount`).
    pub counter: String,
    /// Its value.
    pub value: f64,
}

/// Memory peak of a vertex against what was set aside.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryUse {
    /// Largest working set or private bytes of one vertex.
    pub peak_bytes: f64,
    /// The compiler's limit for the process.
    pub limit_bytes: Option<f64>,
}

/// Time an operator spent itself, not in its inputs, summed over the vertices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExclusiveTime {
    /// Index into the stage's counter nodes.
    pub node: usize,
    /// Milliseconds.
    pub ms: f64,
    /// Share of the sum over all operators of the stage.
    pub share: f64,
}

impl Job {
    /// Vertices of a stage.
    pub fn vertex_count(&self, stage: usize) -> Option<Derived<u64>> {
        let _ = stage;
        None
    }

    /// Rows of a counter node (index into the stage's nodes) per vertex.
    pub fn rows_per_vertex(&self, stage: usize, node: usize) -> Option<Derived<Spread>> {
        let _ = (stage, node);
        None
    }

    /// Bytes that the vertices of a stage read.
    pub fn bytes_read_per_vertex(&self, stage: usize) -> Option<Derived<Spread>> {
        let _ = stage;
        None
    }

    /// Bytes that the vertices of a stage wrote.
    pub fn bytes_written_per_vertex(&self, stage: usize) -> Option<Derived<Spread>> {
        let _ = stage;
        None
    }

    /// Milliseconds that the completed vertices of a stage ran.
    pub fn run_ms_per_vertex(&self, stage: usize) -> Option<Derived<Spread>> {
        let _ = stage;
        None
    }

    /// Queue, start and run time of the vertices of a stage.
    pub fn time_split(&self, stage: usize) -> Option<Derived<TimeSplit>> {
        let _ = stage;
        None
    }

    /// Vertices of the stage divided by the tokens of the job.
    pub fn waves(&self, stage: usize) -> Option<Derived<f64>> {
        let _ = stage;
        None
    }

    /// The chain of vertices that decided when the job ended, first to last.
    pub fn critical_path(&self) -> Option<Derived<Vec<PathStep>>> {
        None
    }

    /// Edges on which rows are repartitioned (hash, range) or gathered.
    pub fn shuffle_edges(&self) -> impl Iterator<Item = &Edge> {
        self.edges.iter()
    }

    /// Edges on which every reader gets all rows.
    pub fn broadcast_edges(&self) -> impl Iterator<Item = &Edge> {
        self.edges.iter()
    }

    /// Where bytes and rows of an edge were read.
    pub fn edge_sources(&self, edge: &Edge) -> Vec<Source> {
        let _ = edge;
        Vec::new()
    }

    /// Garbage collection share of a stage.
    pub fn gc_share(&self, stage: usize) -> Option<Derived<GcShare>> {
        let _ = stage;
        None
    }

    /// Spills of a stage; empty if there were none, `None` if no file tells.
    pub fn spills(&self, stage: usize) -> Option<Derived<Vec<Spill>>> {
        let _ = stage;
        None
    }

    /// Memory of a stage.
    pub fn memory_use(&self, stage: usize) -> Option<Derived<MemoryUse>> {
        let _ = stage;
        None
    }

    /// Exclusive times of a stage, largest first.
    pub fn exclusive_times(&self, stage: usize) -> Vec<Derived<ExclusiveTime>> {
        let _ = stage;
        Vec::new()
    }
}
