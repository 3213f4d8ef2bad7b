//! The run store: one SQLite file with every run, its findings and suggestions, and the feedback on
//! them.
//!
//! Several processes may use it concurrently (WAL). A run holds a lock file while it is in progress;
//! a run that is `running` without a held lock was killed, and the next process that opens the store
//! marks it `interrupted`. A store that may not be written is open for reading.

mod error;
mod feedback;
mod filter;
mod listed;
mod lock;
mod old;
mod runs;
mod schema;
mod turns;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, Params, Row};

pub use error::StoreError;
pub use feedback::{Action, Feedback, FeedbackRow};
pub use filter::{RunFilter, RunOrder};
pub use listed::{ClusterRow, Listed, ListedFinding};
pub use lock::OpenRun;
pub use runs::{RunFacets, RunRow, RunStatus};
pub use turns::Turn;

/// Name of the file in the data folder.
pub const FILE_NAME: &str = "runs.sqlite";

/// How long to wait for another process. Writes take milliseconds; one that holds the store for longer is stuck.
const PATIENCE: Duration = Duration::from_secs(5);

/// Prepared statements that a reader keeps: lists have one per combination of filters.
const STATEMENTS: usize = 64;

pub struct Store {
    connection: Connection,
    path: PathBuf,
    locks: PathBuf,
    /// Why the store can only be read.
    refusal: Option<Arc<StoreError>>,
}

impl Store {
    /// Opens the store in a data folder. Creates missing files, and migrates an older one. A read-only store can still be read, and
    /// writing fails with [`StoreError::ReadOnly`].
    ///
    /// # Errors
    /// If the store is damaged, in use for longer than a few seconds, or of a newer program.
    pub fn open(data: &Path) -> Result<Store, StoreError> {
        match Store::open_to_write(data) {
            Err(error) if error.is_refusal() => Store::open_to_read(data, error),
            opened => opened,
        }
    }

    /// Returns false if the store could only be opened to read.
    pub fn can_write(&self) -> bool {
        self.refusal.is_none()
    }

    /// Opens an existing store for reading only, next to a writer; readers never wait. `None` if there is no file of this version.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn reader(data: &Path) -> Result<Option<Store>, StoreError> {
        let path = data.join(FILE_NAME);
        if !path.is_file() {
            return Ok(None);
        }
        let (connection, version) = open_read_only(&path).map_err(|e| database(&path, e))?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok((version == schema::VERSION).then(|| Store {
            connection,
            path,
            locks: data.join("running"),
            refusal: None,
        }))
    }

    /// Changes whenever another connection or process has changed the store.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn version(&self) -> Result<i64, StoreError> {
        let version = self.select("PRAGMA data_version", [], |row| row.get(0))?;
        Ok(version.into_iter().next().unwrap_or_default())
    }

    fn open_to_write(data: &Path) -> Result<Store, StoreError> {
        let locks = data.join("running");
        let path = data.join(FILE_NAME);
        let unwritable = |path: &Path| {
            let path = path.to_owned();
            move |source| StoreError::Folder { path, source }
        };
        fs::create_dir_all(&locks).map_err(unwritable(&locks))?;
        // SQLite would wait for the writer of a pipe.
        if path.exists() && !path.is_file() {
            let error = std::io::Error::other("it is not a regular file");
            return Err(unwritable(&path)(error));
        }
        let connection = Connection::open(&path).map_err(|e| database(&path, e))?;
        let mut store = Store {
            connection,
            path,
            locks,
            refusal: None,
        };
        store.prepare()?;
        store.mark_interrupted()?;
        lock::remove_orphans(&store.locks);
        Ok(store)
    }

    fn open_to_read(data: &Path, refusal: StoreError) -> Result<Store, StoreError> {
        let path = data.join(FILE_NAME);
        let opened = match path.try_exists() {
            // Whether there are runs is unknown.
            Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => return Err(refusal),
            Ok(true) => open_read_only(&path),
            // There are no runs.
            Ok(false) | Err(_) => Connection::open_in_memory().and_then(|mut connection| {
                let version = schema::migrate(&mut connection)?;
                Ok((connection, version))
            }),
        };
        let (connection, version) = opened.map_err(|e| database(&path, e))?;
        check_version(&path, version)?;
        if version < schema::VERSION {
            // The tables of an earlier version must be migrated first.
            return Err(refusal);
        }
        Ok(Store {
            connection,
            path,
            locks: data.join("running"),
            refusal: Some(Arc::new(refusal)),
        })
    }

    /// Switches to WAL and migrates, one process at a time: SQLite's busy timeout does not cover
    /// another process that switches at the same moment.
    fn prepare(&mut self) -> Result<(), StoreError> {
        let gate = self.locks.join(lock::GATE);
        let _held = lock::hold(&gate, PATIENCE)
            .map_err(|source| StoreError::Folder { path: gate, source })?;
        let found = self.write(|connection| {
            connection.busy_timeout(PATIENCE)?;
            connection.pragma_update(None, "journal_mode", "WAL")?;
            connection.pragma_update(None, "synchronous", "NORMAL")?;
            connection.pragma_update(None, "foreign_keys", "ON")?;
            schema::migrate(connection)
        })?;
        check_version(&self.path, found)
    }

    fn write<T>(
        &mut self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.check_writable()?;
        work(&mut self.connection).map_err(|source| database(&self.path, source))
    }

    fn execute(&self, sql: &str, values: impl Params) -> Result<(), StoreError> {
        self.check_writable()?;
        let done = self.connection.execute(sql, values);
        done.map(drop).map_err(|e| database(&self.path, e))
    }

    fn select<T>(
        &self,
        sql: &str,
        values: impl Params,
        row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let rows = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            statement
                .query_map(values, row)?
                .collect::<rusqlite::Result<_>>()
        };
        rows().map_err(|e| database(&self.path, e))
    }

    fn check_writable(&self) -> Result<(), StoreError> {
        let Some(refusal) = &self.refusal else {
            return Ok(());
        };
        Err(StoreError::ReadOnly {
            path: self.path.clone(),
            source: Arc::clone(refusal),
        })
    }
}

/// Opens a file in a folder that may be read-only too. Returns the version of its tables.
fn open_read_only(path: &Path) -> rusqlite::Result<(Connection, u32)> {
    let open = |name: &str, flags: OpenFlags| {
        let flags = flags | OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(name, flags)?;
        connection.busy_timeout(PATIENCE)?;
        let version = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        Ok((connection, version))
    };
    let name = path.to_string_lossy();
    // Without shared memory no process can be writing: the file is taken as it is.
    open(&name, OpenFlags::empty()).or_else(|_| {
        let escaped = name
            .replace('%', "%25")
            .replace('?', "%3f")
            .replace('#', "%23");
        let uri = format!("file:{escaped}?immutable=1");
        open(&uri, OpenFlags::SQLITE_OPEN_URI)
    })
}

fn check_version(path: &Path, found: u32) -> Result<(), StoreError> {
    if found > schema::VERSION {
        return Err(StoreError::TooNew {
            path: path.to_owned(),
            found,
            known: schema::VERSION,
        });
    }
    Ok(())
}

fn database(path: &Path, source: rusqlite::Error) -> StoreError {
    StoreError::Database {
        path: path.to_owned(),
        source,
    }
}
