//! The batch as one self-contained HTML page: totals, groups, trend, what to fix first, and a table of all jobs that filters and sorts.
//!
//! The markup has headings and empty tables; the page's script fills them from the data in the page. The page's policy allows the script
//! by its hash. The page loads no other file.

mod cluster;
mod collect;
mod data;
mod form;
mod overview;
#[cfg(test)]
mod tests;
mod words;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use report::{Language, text};
use sha2::{Digest as _, Sha256};

use crate::advice::ClusterAdvice;
use crate::tables::{ClusterRow, Fresh, Rows, TableError};
use collect::Collected;
pub(crate) use overview::Earlier;
pub use overview::{New, Overview, Worst};
use words::Words;

const SCRIPT: &str = include_str!("page.js");

/// Why the page could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    #[error(transparent)]
    File(#[from] TableError),
    #[error("the data of the page cannot be written")]
    Data(#[from] serde_json::Error),
    #[error("the form of the page does not fit its data")]
    Form(#[from] minijinja::Error),
}

/// The page, while results come in. Keeps a compact row of each.
#[derive(Debug, Default)]
pub struct Page {
    collected: Collected,
}

impl Page {
    /// A page that links to the results at `store`, relative to itself or absolute; empty or ending in `/`.
    pub fn new(store: &str) -> Page {
        Page {
            collected: Collected::new(store),
        }
    }

    /// Jobs that have no result yet.
    pub fn set_pending(&mut self, jobs: usize) {
        self.collected.pending = jobs;
    }

    /// Keys of the jobs with the reports most worth reading: the costliest jobs, and the costliest member of each costly
    /// cluster.
    pub fn costliest(&self, jobs: usize) -> Vec<String> {
        let ranked = self.collected.ranked();
        let analyzed = ranked
            .iter()
            .filter(|j| j.ending != collect::Ending::Failed);
        let clusters = self.collected.ranked_clusters().into_iter().take(jobs);
        let members = clusters.filter_map(|c| self.collected.jobs.get(c.costliest));
        let mut keys: Vec<String> = analyzed
            .take(jobs)
            .copied()
            .chain(members)
            .map(|j| j.key.clone())
            .collect();
        keys.sort();
        keys.dedup();
        keys
    }

    /// Links these jobs to pages of their own, which the caller writes to [`page_of`] the key.
    pub fn link_pages(&mut self, keys: impl IntoIterator<Item = String>) {
        self.collected.paged.extend(keys);
    }

    /// Shows costs as money: the price of an hour of each unit, and the sign before amounts.
    pub fn set_prices(
        &mut self,
        currency: &str,
        prices: impl IntoIterator<Item = (&'static str, f64)>,
    ) {
        self.collected.currency = currency.to_owned();
        self.collected.prices.extend(prices);
    }

    pub fn add(&mut self, rows: &Rows) {
        self.collected.add(rows);
    }

    /// Compares each run with the earlier runs of its script, when all are there.
    pub(crate) fn mark_regressions(&mut self) {
        self.collected.mark_regressions();
    }

    /// Shows a model's advice on a cluster instead of the rules' suggestion for its costliest finding.
    pub(crate) fn advise(&mut self, advice: &HashMap<String, ClusterAdvice>, language: Language) {
        let collected = &mut self.collected;
        for cluster in &mut collected.clusters {
            let Some(advised) = advice.get(&cluster.id) else {
                continue;
            };
            let note = text!(
                "（{model} 针对作业 {job} 给出）",
                " ({model}, for job {job})",
                model = advised.model(),
                job = &advised.job
            );
            let words = advised.text.clone() + &note.into(language);
            cluster.advice = Some(collected.suggestions.index(&words));
        }
    }

    /// The clusters as rows of a table, by priority.
    pub(crate) fn clusters(&self, advice: &HashMap<String, ClusterAdvice>) -> Vec<ClusterRow> {
        let collected = &self.collected;
        let scripts = collected.scripts.labels();
        let row = |cluster: &cluster::Cluster| {
            let advised = advice.get(&cluster.id);
            let usage = advised.map(|a| &a.usage);
            let costliest = collected.jobs.get(cluster.costliest);
            let script = cluster.script.and_then(|s| scripts.get(s as usize));
            ClusterRow {
                cluster: cluster.id.clone(),
                cause: collected
                    .causes
                    .of(Some(cluster.cause))
                    .unwrap_or_default()
                    .to_owned(),
                script: script.cloned(),
                stage_role: cluster.role.clone(),
                jobs: cluster.jobs,
                findings: cluster.findings,
                avoidable_seconds: cluster.seconds,
                costliest: costliest.map(|j| j.key.clone()).unwrap_or_default(),
                suggestion: collected
                    .suggestions
                    .of(cluster.suggestion)
                    .map(str::to_owned),
                advice: advised.map(|a| a.text.clone()),
                advised: advised.map(|a| a.result.clone()),
                model: advised.map(|a| a.model()),
                calls: usage.map(|u| u.calls),
                cost: usage.and_then(|u| u.cost),
            }
        };
        collected.ranked_clusters().into_iter().map(row).collect()
    }

    /// Writes `index.html` into a folder; returns its path.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, folder: &Path, language: Language) -> Result<PathBuf, PageError> {
        let html = self.render(language)?;
        let (fresh, mut file) = Fresh::create(folder, "index.html")?;
        std::io::Write::write_all(&mut file, html.as_bytes()).map_err(|e| fresh.failed(e))?;
        Ok(fresh.finish(file)?)
    }

    /// The page as a text.
    ///
    /// # Errors
    /// If the built-in form does not fit, which a test excludes.
    pub fn render(&self, language: Language) -> Result<String, PageError> {
        let words = Words(language);
        let data = data::json(&self.collected, words)?;
        form::fill(&self.collected, words, SCRIPT, &script_hash(), data)
    }
}

/// Path of a job's page, relative to the page of the batch.
pub fn page_of(key: &str) -> String {
    format!("jobs/{key}.html")
}

/// SHA-256 of the page's script, as a content security policy names it.
fn script_hash() -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(SCRIPT)))
}
