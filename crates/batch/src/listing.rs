//! The newest result of each planned job as a row of a list, while further results come in.

use std::collections::{HashMap, HashSet};

use futures::TryStreamExt;
use report::format::cut;
use report::measure::book;
use runs::store::{Listed, ListedFinding, RunRow, RunStatus};

use crate::cluster::without_numbers;
use crate::error::Result;
use crate::result::{RESULT_VERSION, Status};
use crate::store::Store;
use crate::tables::{FindingRow, JobRow, Rows, Stored, code};

impl Store {
    /// Passes on the jobs with results that are not `known` yet, the oldest result first, and adds these results to `known`. A later
    /// result of a job replaces an earlier one; results that are not planned or unreadable are skipped. Returns the number of planned
    /// jobs.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub async fn follow(
        &self,
        known: &mut HashSet<String>,
        mut each: impl FnMut(Listed),
    ) -> Result<usize> {
        let entries = self.manifest().await?.into_values();
        let planned: HashMap<String, String> = entries.map(|e| (e.uri, e.etag)).collect();
        let mut keys = self.newest().await?;
        keys.retain(|key| !known.contains(key));
        keys.reverse();
        let mut results = self.read_each(&keys);
        while let Some(bytes) = results.try_next().await? {
            let Ok(stored) = serde_json::from_slice::<Stored>(&bytes) else {
                continue;
            };
            let is_planned = planned.get(&stored.uri) == Some(&stored.etag);
            if is_planned && stored.version == RESULT_VERSION {
                each(listed(&Rows::of(stored)));
            }
        }
        drop(results);
        known.extend(keys);
        Ok(planned.len())
    }
}

fn listed(rows: &Rows) -> Listed {
    let job = &*rows.job;
    Listed {
        row: RunRow {
            run_id: job.key.clone(),
            job: job.uri.clone(),
            job_name: job.name.clone(),
            question: None,
            status: match job.status {
                Status::Done => RunStatus::Finished,
                Status::Failed => RunStatus::Failed,
            },
            verdict: job.verdict.as_ref().map(code),
            problem_type: job.problem_type.as_ref().map(code),
            top_cause: job.cause.map(str::to_owned),
            findings: rows.findings.len() as u32,
            reasoner: None,
            model: None,
            created_at: job.submitted.map(|at| at.to_string()).unwrap_or_default(),
            finished_at: None,
            failure: job.reason.clone(),
            owner: job.owner.clone(),
            script: script(job),
            week: job.week.map(|monday| {
                let week = monday.iso_week_date();
                format!("{:04}-W{:02}", week.year(), week.week())
            }),
            elapsed_seconds: job.total_seconds.or(job.values.get(&book::ELAPSED)),
            avoidable_seconds: job.avoidable_seconds,
            engine: job.engine,
        },
        findings: rows.findings.iter().map(finding).collect(),
    }
}

fn finding(row: &FindingRow) -> ListedFinding {
    ListedFinding {
        cause: row.finding.cause.code(),
        severity: row.finding.severity,
        confidence: row.finding.confidence,
        role: row.cluster.role.clone(),
        seconds: row.avoidable_seconds,
        advice: row.suggestion.as_ref().map(|s| s.title.clone()),
    }
}

/// Name of a recurring job's script for people.
fn script(job: &JobRow) -> Option<String> {
    let shape = job.script_shape.as_deref().map(|shape| cut(shape, 6));
    let name = job.name.as_deref().map(without_numbers);
    match (name, shape) {
        (Some(name), Some(shape)) => Some(format!("{name} ({shape})")),
        (Some(name), None) => Some(name),
        (None, shape) => shape.map(str::to_owned),
    }
}
