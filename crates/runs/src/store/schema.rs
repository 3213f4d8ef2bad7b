//! The tables, as a list of migrations; `PRAGMA user_version` says how many were applied.

use rusqlite::{Connection, TransactionBehavior};

/// Version of the tables that this program writes.
pub(super) const VERSION: u32 = MIGRATIONS.len() as u32;

/// Never edit a migration that was released; add one.
const MIGRATIONS: &[&str] = &[
    include_str!("v1.sql"),
    // Data for comparisons of runs.
    "ALTER TABLE runs ADD COLUMN shape TEXT;",
    // One summary instead of `picture` and `shape`, which stay for the runs that have them. The
    // dropped tables had no reader.
    "ALTER TABLE runs ADD COLUMN summary TEXT;
     DROP TABLE experiences;
     DROP TABLE steps;",
    concat!(include_str!("v4.sql"), include_str!("listed.sql")),
    // Questions about saved runs.
    "CREATE TABLE turns (
        id            INTEGER PRIMARY KEY,
        run_id        TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
        turn          TEXT NOT NULL
     ) STRICT;
     CREATE INDEX turns_by_run ON turns (run_id);",
    // Lists are read in the order of an index, so that a late page needs no sorting and no earlier rows.
    "DROP INDEX runs_by_time;
     DROP INDEX runs_by_avoidable;
     DROP INDEX runs_by_owner;
     DROP INDEX runs_by_week;
     DROP INDEX runs_by_script;
     CREATE INDEX runs_by_time ON runs (created_at, run_id);
     CREATE INDEX runs_by_avoidable ON runs (avoidable_seconds, created_at, run_id);
     CREATE INDEX runs_by_owner ON runs (owner, avoidable_seconds, created_at, run_id);
     CREATE INDEX runs_by_week ON runs (week, avoidable_seconds, created_at, run_id);
     CREATE INDEX runs_by_script ON runs (script, avoidable_seconds, created_at, run_id);",
    // Analyses of one job, of which a list shows the newest.
    "CREATE INDEX runs_by_job ON runs (job, run_id);",
    // Lists name a cause in the words of the engine.
    "ALTER TABLE runs ADD COLUMN engine TEXT;
     UPDATE runs SET engine = (SELECT json_extract(report, '$.job.engine') FROM documents d WHERE d.run_id = runs.run_id AND json_valid(report));",
];

/// Fills the columns that runs are listed by; `WHERE run_id = …` may follow.
pub(super) const LIST: &str = include_str!("listed.sql");

/// Applies missing migrations in one transaction, so that a kill leaves the old version. Returns
/// the version that the file had or now has; a newer file is left alone.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<u32> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found: u32 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if found >= VERSION {
        return Ok(found);
    }
    for migration in &MIGRATIONS[found as usize..] {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()?;
    Ok(VERSION)
}
