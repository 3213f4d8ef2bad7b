//! An index kept open across calls.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::graphs::Graphs;
use super::index::{Index, Models};
use crate::error::OpenError;
use crate::settings::Settings;
use crate::store::stamp::State;
use crate::store::{GRAPHS, generation};

/// An index for a process that stays: models are loaded once, the newest generation is served, and many vectors are searched by an HNSW
/// graph. [`Index::open`] is for a process that asks a few questions.
pub struct Session {
    folder: PathBuf,
    models: Arc<Models>,
    graphs: Arc<Graphs>,
    /// The index, and the state of the folder when it was opened.
    open: Mutex<(Arc<Index>, Option<State>)>,
}

impl Session {
    /// Opens the index in `folder`. [`Settings::graph_from`] rows or more get a graph, which is built in the background and kept for the next
    /// session; until then they are scanned.
    pub fn open(folder: &Path, settings: &Settings) -> Result<Session, OpenError> {
        let state = generation::state(folder);
        let held = generation::hold(folder, true)?;
        let models = Arc::new(Models::load(settings)?);
        let graphs = Graphs::new(folder.join(GRAPHS), settings.graph_from);
        let open = Index::of(held, Arc::clone(&models), Arc::clone(&graphs))?;
        Ok(Session {
            folder: folder.to_owned(),
            models,
            graphs,
            open: Mutex::new((Arc::new(open), state)),
        })
    }

    /// The index as it is now: opened again if it was updated since the last call. Costs one question to the file system otherwise.
    ///
    /// # Errors
    /// When the new generation cannot be opened, as after an update with another embedder.
    pub fn current(&self) -> Result<Arc<Index>, OpenError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let newest = generation::state(&self.folder);
        if newest.is_some() && newest != open.1 {
            let held = generation::hold(&self.folder, true)?;
            let (models, graphs) = (Arc::clone(&self.models), Arc::clone(&self.graphs));
            *open = (Arc::new(Index::of(held, models, graphs)?), newest);
        }
        Ok(Arc::clone(&open.0))
    }

    /// Waits until the graphs that are missing are built. For measurements; a search does not need them.
    pub fn wait_for_graphs(&self) {
        self.graphs.wait();
    }
}
