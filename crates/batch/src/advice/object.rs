//! The advice on a cluster, as an object of the store.

use std::collections::HashMap;

use agent::conclusion::Advice;
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use report::{Engine, Usage};
use serde::{Deserialize, Serialize};

use crate::cluster::ClusterKey;
use crate::error::{Error, Result};
use crate::result::{Program, hash};
use crate::store::{CONCURRENT, Store};

/// Version of [`ClusterAdvice`].
pub(super) const ADVICE_VERSION: u32 = 2;

/// `advice/<key>.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClusterAdvice {
    /// Always 2.
    pub version: u32,
    /// BLAKE3 hash of the cluster and the program.
    pub key: String,
    /// [`ClusterKey::id`].
    pub cluster: String,
    pub cause: String,
    pub script: Option<String>,
    pub role: Option<String>,
    /// Key of the result with the cluster's costliest finding, which the model was asked about.
    pub result: String,
    /// That finding.
    pub finding: String,
    pub program: Program,
    /// Name or address of the job with that finding.
    pub job: String,
    /// The model's advice on that finding; `None` with a `reason`.
    pub advice: Option<Advice>,
    /// The advice as one paragraph.
    pub text: String,
    /// Why there is no advice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub engine: Option<Engine>,
    pub usage: Usage,
    /// Parts of the answer that the check left out or marked.
    pub remarks: Vec<String>,
}

/// The name of the advice on a cluster.
pub(super) fn key_of(cluster: &ClusterKey, program: &Program) -> String {
    hash([&cluster.id(), &program.version, &program.configuration])
}

pub(super) fn path_of(key: &str) -> Path {
    Path::from(format!("advice/{key}.json"))
}

pub(super) fn to_json(place: &str, object: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(object).map_err(|source| Error::Unreadable {
        place: place.to_owned(),
        source,
    })
}

impl ClusterAdvice {
    pub(crate) fn model(&self) -> String {
        let model = self.engine.as_ref().and_then(|e| e.model.clone());
        model.unwrap_or_default()
    }
}

/// The newest advice on each cluster of a store.
pub(crate) async fn newest(store: &Store) -> Result<HashMap<String, ClusterAdvice>> {
    let mut newest = HashMap::new();
    for object in all(store).await? {
        if object.advice.is_some() {
            newest.entry(object.cluster.clone()).or_insert(object);
        }
    }
    Ok(newest)
}

/// All advice that can be read, the newest first.
pub(super) async fn all(store: &Store) -> Result<Vec<ClusterAdvice>> {
    let mut listed = store.below("advice", None).await?;
    listed.sort_by(|a, b| {
        let newer = b.last_modified.cmp(&a.last_modified);
        newer.then_with(|| a.location.cmp(&b.location))
    });
    let read =
        futures::stream::iter(listed).map(|meta| async move { read(store, &meta.location).await });
    let mut read = read.buffered(CONCURRENT);
    let mut found = Vec::new();
    while let Some(advice) = read.try_next().await? {
        found.extend(advice);
    }
    Ok(found)
}

/// The advice in an object; `None` if there is none or it has another version, so that it is requested again.
pub(super) async fn read(store: &Store, path: &Path) -> Result<Option<ClusterAdvice>> {
    let bytes = store.try_read(path).await?;
    let advice = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    Ok(advice.filter(|a: &ClusterAdvice| a.version == ADVICE_VERSION))
}
