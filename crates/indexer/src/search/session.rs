//! An index kept open across calls.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::graphs::Graphs;
use super::index::{Index, Models};
use crate::error::OpenError;
use crate::settings::Settings;
use crate::store::{GRAPHS, generation};

/// An index for a process that stays: models are loaded once, the newest generation is served, and large segments are searched by an HNSW
/// graph. [`Index::open`] is for a process that asks a few questions.
pub struct Session {
    folder: PathBuf,
    models: Arc<Models>,
    graphs: Arc<Graphs>,
    open: Mutex<Arc<Index>>,
}

impl Session {
    /// Opens the index in `folder`. Segments of [`Settings::graph_from`] rows or more get a graph, which is built in the background and kept
    /// for the next session; until then they are scanned.
    pub fn open(folder: &Path, settings: &Settings) -> Result<Session, OpenError> {
        let held = generation::hold(folder)?;
        held.check()?;
        let models = Arc::new(Models::load(settings)?);
        let graphs = Arc::new(Graphs::new(folder.join(GRAPHS), settings.graph_from));
        let open = Index::of(held, Arc::clone(&models), Arc::clone(&graphs))?;
        Ok(Session {
            folder: folder.to_owned(),
            models,
            graphs,
            open: Mutex::new(Arc::new(open)),
        })
    }

    /// The index as it is now: opened again if it was updated since the last call. Costs the reading of one small file otherwise.
    ///
    /// # Errors
    /// When the new generation cannot be opened, as after an update with another embedder.
    pub fn current(&self) -> Result<Arc<Index>, OpenError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let newest = generation::current_name(&self.folder);
        if newest.is_some_and(|name| name != open.held.manifest.generation) {
            let held = generation::hold(&self.folder)?;
            held.check()?;
            let (models, graphs) = (Arc::clone(&self.models), Arc::clone(&self.graphs));
            *open = Arc::new(Index::of(held, models, graphs)?);
        }
        Ok(Arc::clone(&open))
    }

    /// Waits until the graphs that are missing are built. For measurements; a search does not need them.
    pub fn wait_for_graphs(&self) {
        self.graphs.wait();
    }
}
