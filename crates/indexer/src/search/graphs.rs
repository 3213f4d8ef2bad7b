//! The graph of a session: opened from disk, or built in the background while the rows are scanned.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::store::graph::Graph;
use crate::store::vectors::Vectors;

pub(crate) struct Graphs {
    folder: PathBuf,
    /// Least number of rows for a graph.
    from_rows: usize,
    /// The file of vectors and its graph.
    ready: Mutex<Option<(String, Arc<Graph>)>>,
    builder: Mutex<Option<JoinHandle<()>>>,
}

impl Graphs {
    pub(crate) fn new(folder: PathBuf, from_rows: usize) -> Arc<Graphs> {
        Arc::new(Graphs {
            folder,
            from_rows,
            ready: Mutex::default(),
            builder: Mutex::default(),
        })
    }

    /// Every row is scanned.
    pub(crate) fn none() -> Arc<Graphs> {
        Graphs::new(PathBuf::new(), usize::MAX)
    }

    /// The graph for a search among a number of rows of a file; `None` if a scan takes less time.
    pub(crate) fn over(&self, file: &str, rows: usize) -> Option<Arc<Graph>> {
        let ready = locked(&self.ready);
        let (known, graph) = ready.as_ref()?;
        (known == file && rows >= self.from_rows).then(|| Arc::clone(graph))
    }

    /// Opens the graph of a file of vectors. Builds one if it is missing, or if enough rows are newer than the graph; if another one is
    /// being built, the next commit asks again.
    pub(crate) fn want(self: &Arc<Self>, file: &str, vectors: &Arc<Vectors>, rows: usize) {
        let mut ready = locked(&self.ready);
        let known = ready.take().filter(|(known, _)| known == file);
        if rows < self.from_rows {
            return;
        }
        let open = || Graph::open(&self.folder, file, rows).map(Arc::new);
        *ready = known.or_else(|| Some((file.to_owned(), open()?)));
        let covered = ready.as_ref().map_or(0, |(_, graph)| graph.rows());
        let mut builder = locked(&self.builder);
        let is_building = builder
            .as_ref()
            .is_some_and(|builder| !builder.is_finished());
        if rows.saturating_sub(covered) < self.from_rows || is_building {
            return;
        }
        let (session, folder) = (Arc::downgrade(self), self.folder.clone());
        let (file, vectors) = (file.to_owned(), Arc::clone(vectors));
        *builder = Some(std::thread::spawn(move || {
            let is_over = || session.strong_count() == 0;
            let built = Graph::build(&vectors, rows, &folder, &file, is_over);
            // Without a graph, as in a folder that cannot be written, the rows are scanned.
            if let (Ok(Some(graph)), Some(graphs)) = (built, session.upgrade()) {
                *locked(&graphs.ready) = Some((file, Arc::new(graph)));
            }
        }));
    }

    /// Waits until no graph is being built.
    pub(crate) fn wait(&self) {
        // A panic of the builder leaves the scan.
        let _ = locked(&self.builder).take().map(JoinHandle::join);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
