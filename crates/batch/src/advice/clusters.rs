//! The clusters of a store, the costliest first.

use std::collections::HashMap;

use crate::cluster::ClusterKey;
use crate::error::{Error, Result};
use crate::newest::newest_results;
use crate::store::Store;
use crate::tables::{FindingRow, Rows};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cluster {
    pub(super) key: ClusterKey,
    /// Avoidable seconds of all its findings.
    pub(super) seconds: f64,
    /// Key of the result with the costliest finding.
    pub(super) result: String,
    pub(super) finding: String,
    highest: f64,
}

/// Reads all results.
pub(super) async fn clusters(store: &Store) -> Result<Vec<Cluster>> {
    let mut found: HashMap<ClusterKey, Cluster> = HashMap::new();
    newest_results::<Error>(store, |stored| {
        for row in Rows::of(stored).findings {
            match found.get_mut(&row.cluster) {
                Some(cluster) => cluster.add(&row),
                None => {
                    found.insert(row.cluster.clone(), Cluster::of(&row));
                }
            }
        }
        Ok(())
    })
    .await?;
    let mut clusters: Vec<Cluster> = found.into_values().collect();
    clusters.sort_by(|a, b| {
        let costlier = b.seconds.total_cmp(&a.seconds);
        costlier.then_with(|| a.key.cmp(&b.key))
    });
    Ok(clusters)
}

impl Cluster {
    fn of(row: &FindingRow) -> Cluster {
        let seconds = row.avoidable_seconds.unwrap_or(0.0);
        Cluster {
            key: row.cluster.clone(),
            seconds,
            result: row.job.key.clone(),
            finding: row.finding.id.clone(),
            highest: seconds,
        }
    }

    fn add(&mut self, row: &FindingRow) {
        let seconds = row.avoidable_seconds.unwrap_or(0.0);
        self.seconds += seconds;
        // ties are decided by the key, so the choice does not depend on the order of reading
        let is_costlier =
            seconds > self.highest || seconds == self.highest && row.job.key < self.result;
        if is_costlier {
            self.highest = seconds;
            self.result.clone_from(&row.job.key);
            self.finding.clone_from(&row.finding.id);
        }
    }
}
