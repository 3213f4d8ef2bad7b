//! Which saved runs are listed, and in which order.

use rusqlite::ToSql;

#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    /// Only runs with this text in the job folder, job name or script.
    pub job: Option<String>,
    /// Only runs of exactly this job folder.
    pub folder: Option<String>,
    /// Only the newest run of each job folder.
    pub newest: bool,
    /// Only runs with a finding of this cause.
    pub cause: Option<String>,
    pub owner: Option<String>,
    pub week: Option<String>,
    /// File of the script.
    pub script: Option<String>,
    pub order: RunOrder,
    /// Leaves out this many.
    pub skip: usize,
    /// At most this many; `None` for all.
    pub limit: Option<usize>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RunOrder {
    #[default]
    Newest,
    /// Most avoidable seconds first.
    Avoidable,
}

impl RunFilter {
    /// The condition, and its values.
    pub(super) fn condition(&self) -> (String, Vec<&dyn ToSql>) {
        let parts: [(&Option<String>, &str); 6] = [
            (&self.folder, "job = ?"),
            (
                &self.job,
                "(instr(job, ?) > 0 OR instr(coalesce(job_name, ''), ?) > 0 OR instr(coalesce(script, ''), ?) > 0)",
            ),
            (
                &self.cause,
                // Without the sign all runs with the cause would be read and sorted; with it, rows come in the order of the list.
                "+run_id IN (SELECT run_id FROM findings WHERE cause = ?)",
            ),
            (&self.owner, "owner = ?"),
            (&self.week, "week = ?"),
            (&self.script, "script = ?"),
        ];
        let (mut sql, mut values) = (String::new(), Vec::new());
        for (value, condition) in &parts {
            let Some(value) = value else { continue };
            sql += if sql.is_empty() { " WHERE " } else { " AND " };
            sql += condition;
            let times = condition.matches('?').count();
            values.extend(std::iter::repeat_n(value as &dyn ToSql, times));
        }
        if self.newest {
            sql += if sql.is_empty() { " WHERE " } else { " AND " };
            // Identifiers start with the time of the run.
            sql += "NOT EXISTS (SELECT 1 FROM runs later WHERE later.job = runs.job AND later.run_id > runs.run_id)";
        }
        (sql, values)
    }

    /// Limit and offset, as SQL has them.
    pub(super) fn part(&self) -> (i64, i64) {
        let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        (self.limit.map_or(-1, number), number(self.skip))
    }
}
