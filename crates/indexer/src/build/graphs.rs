//! The graphs of large segments, for settings that ask for them. A cache: the index is served with or without.

use std::path::Path;

use super::{Phase, Progress};
use crate::error::BuildError;
use crate::settings::{Settings, VectorSearch};
use crate::store::GRAPHS;
use crate::store::files::write_error;
use crate::store::generation;
use crate::store::graph::{self, Graph};
use crate::store::vectors::Vectors;

/// Builds the graphs that the current generation lacks and removes those of segments that are gone.
pub(crate) fn update(
    index: &Path,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), BuildError> {
    let folder = index.join(GRAPHS);
    let held = generation::hold(index)?;
    let manifest = &held.manifest;
    let large: Vec<_> = manifest
        .segments
        .iter()
        .filter(|segment| segment.rows >= settings.graph_from)
        .filter_map(|segment| Some((segment, manifest.files.get(&segment.vectors_file())?)))
        .collect();
    let sums: Vec<&str> = large.iter().map(|(_, sum)| sum.blake3.as_str()).collect();
    graph::collect(&folder, &sums);
    if settings.vector_search != VectorSearch::Resident {
        return Ok(());
    }
    for (done, (segment, sum)) in large.iter().enumerate() {
        progress(Progress {
            phase: Phase::Graph,
            done,
            total: large.len(),
        });
        let path = held.folder.join(segment.vectors_file());
        if Graph::load(&folder, &sum.blake3).is_some() {
            continue;
        }
        let vectors = Vectors::open(&path)
            .map_err(|reason| BuildError::from(generation::damaged(&path, &reason)))?;
        let saved = Graph::build(&vectors, &sum.blake3).save(&folder);
        saved.map_err(|reason| write_error(&folder)(std::io::Error::other(reason)))?;
    }
    Ok(())
}
