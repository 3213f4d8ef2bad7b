//! The graphs of a session: opened from disk, or built in the background while their segment is scanned.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

use crate::store::graph::Graph;
use crate::store::vectors::Vectors;

/// Without a place there are no graphs, and every segment is scanned.
#[derive(Default)]
pub(crate) struct Graphs {
    /// The folder, and the number of rows that a segment must have for a graph.
    place: Option<(PathBuf, usize)>,
    state: Mutex<State>,
    idle: Condvar,
}

#[derive(Default)]
struct State {
    /// By checksum of the segment.
    ready: HashMap<String, Arc<Graph>>,
    wanted: Vec<(String, Arc<Vectors>)>,
    is_building: bool,
}

impl Graphs {
    pub(crate) fn new(folder: PathBuf, from_rows: usize) -> Graphs {
        Graphs {
            place: Some((folder, from_rows)),
            ..Graphs::default()
        }
    }

    /// The graph of the segment with this checksum.
    pub(crate) fn get(&self, sum: &str) -> Option<Arc<Graph>> {
        self.place.as_ref()?;
        self.state().ready.get(sum).cloned()
    }

    /// Opens the graphs of these segments (checksum and vectors), requests missing ones, and forgets all others.
    pub(crate) fn want(self: &Arc<Self>, segments: &[(&str, &Arc<Vectors>)]) {
        let Some((folder, from_rows)) = &self.place else {
            return;
        };
        let mut state = self.state();
        let known = |sum: &str| segments.iter().any(|(other, _)| *other == sum);
        state.ready.retain(|sum, _| known(sum));
        state.wanted.clear();
        for (sum, vectors) in segments.iter().filter(|(_, v)| v.len() >= *from_rows) {
            if state.ready.contains_key(*sum) {
                continue;
            }
            let sum = (*sum).to_owned();
            match Graph::open(folder, &sum, vectors.len()) {
                Some(graph) => drop(state.ready.insert(sum, Arc::new(graph))),
                None => state.wanted.push((sum, Arc::clone(vectors))),
            }
        }
        if !state.wanted.is_empty() && !state.is_building {
            state.is_building = true;
            let (session, folder) = (Arc::downgrade(self), folder.clone());
            std::thread::spawn(move || build(&session, folder));
        }
    }

    /// Waits until no graph is being built.
    pub(crate) fn wait(&self) {
        let is_building = |state: &mut State| state.is_building;
        let done = self.idle.wait_while(self.state(), is_building);
        drop(done.unwrap_or_else(PoisonError::into_inner));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Builds the requested graphs, one after the other, until the session ends.
fn build(session: &Weak<Graphs>, folder: PathBuf) {
    while let Some(graphs) = session.upgrade() {
        let mut state = graphs.state();
        let Some((sum, vectors)) = state.wanted.pop() else {
            state.is_building = false;
            graphs.idle.notify_all();
            return;
        };
        drop(state);
        drop(graphs);
        let built = Graph::build(&vectors, &folder, &sum, || session.strong_count() == 0);
        // Without its graph, as in a folder that cannot be written, a segment is scanned.
        if let (Ok(Some(graph)), Some(graphs)) = (built, session.upgrade()) {
            graphs.state().ready.insert(sum, Arc::new(graph));
        }
    }
}
