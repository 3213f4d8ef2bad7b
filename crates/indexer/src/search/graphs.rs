//! The graph of a session: opened from disk, or built in the background while the rows are scanned.

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

use crate::store::graph::Graph;
use crate::store::vectors::Vectors;

/// Without a place there are no graphs, and every row is scanned.
#[derive(Default)]
pub(crate) struct Graphs {
    /// The folder, and the number of rows from which a graph is built.
    place: Option<(PathBuf, usize)>,
    state: Mutex<State>,
    idle: Condvar,
}

#[derive(Default)]
struct State {
    /// The file of vectors and its graph.
    ready: Option<(String, Arc<Graph>)>,
    wanted: Option<Wanted>,
    is_building: bool,
}

struct Wanted {
    file: String,
    vectors: Arc<Vectors>,
    rows: usize,
}

impl Graphs {
    pub(crate) fn new(folder: PathBuf, from_rows: usize) -> Graphs {
        Graphs {
            place: Some((folder, from_rows)),
            ..Graphs::default()
        }
    }

    /// The graph for a search among this many rows; `None` if a scan takes less time.
    pub(crate) fn over(&self, rows: usize) -> Option<Arc<Graph>> {
        self.place.as_ref().filter(|(_, from)| rows >= *from)?;
        let state = self.state();
        state.ready.as_ref().map(|(_, graph)| Arc::clone(graph))
    }

    /// Opens the graph of a file of vectors. Requests one if it is missing, or if so many rows are newer that they deserve one.
    pub(crate) fn want(self: &Arc<Self>, file: &str, vectors: &Arc<Vectors>, rows: usize) {
        let Some((folder, from_rows)) = &self.place else {
            return;
        };
        let mut state = self.state();
        state.wanted = None;
        if rows < *from_rows {
            state.ready = None;
            return;
        }
        let known = state.ready.take().filter(|(known, _)| known == file);
        let open = || Some((file.to_owned(), Arc::new(Graph::open(folder, file, rows)?)));
        state.ready = known.or_else(open);
        let covered = state.ready.as_ref().map_or(0, |(_, graph)| graph.rows());
        if rows.saturating_sub(covered) < *from_rows {
            return;
        }
        state.wanted = Some(Wanted {
            file: file.to_owned(),
            vectors: Arc::clone(vectors),
            rows,
        });
        if !state.is_building {
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

/// Builds the requested graph, and what is requested meanwhile, until the session ends.
fn build(session: &Weak<Graphs>, folder: PathBuf) {
    while let Some(graphs) = session.upgrade() {
        let mut state = graphs.state();
        let Some(wanted) = state.wanted.take() else {
            state.is_building = false;
            graphs.idle.notify_all();
            return;
        };
        drop(state);
        drop(graphs);
        let Wanted {
            file,
            vectors,
            rows,
        } = wanted;
        let is_over = || session.strong_count() == 0;
        let built = Graph::build(&vectors, rows, &folder, &file, is_over);
        // Without a graph, as in a folder that cannot be written, the rows are scanned.
        if let (Ok(Some(graph)), Some(graphs)) = (built, session.upgrade()) {
            graphs.state().ready = Some((file, Arc::new(graph)));
        }
    }
}
