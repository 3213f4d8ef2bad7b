//! The nodes of plans that scan files, by the stages that run them.

use std::collections::HashMap;

use job::Job;
use job::model::SparkNode;

/// Files that a stage scans.
#[derive(Debug)]
pub struct Scanned<'a> {
    pub node: &'a SparkNode,
    pub files: f64,
    pub bytes: f64,
}

pub(crate) const COALESCE: &str = "Coalesce";
pub(crate) const EXISTING_RDD: &str = "Scan ExistingRDD";

/// Nodes of plans that scan files or an existing RDD, or merge partitions, by the stages that run them.
pub(crate) fn scans(job: &Job) -> HashMap<usize, Vec<&SparkNode>> {
    let named = |node: &SparkNode| [COALESCE, EXISTING_RDD].contains(&node.name.as_str());
    let mut scans: HashMap<usize, Vec<&SparkNode>> = HashMap::new();
    let plans = job.spark.iter().flat_map(|app| &app.executions);
    let nodes = plans.flat_map(|e| &e.plan);
    for node in nodes.filter(|node| named(node) || scanned(node).is_some()) {
        for stage in &node.stages {
            scans.entry(*stage).or_default().push(node);
        }
    }
    scans
}

pub(crate) fn scanned(node: &SparkNode) -> Option<Scanned<'_>> {
    Some(Scanned {
        node,
        files: node.metric("number of files read")?,
        bytes: node.metric("size of files read")?,
    })
}
