//! Sample jobs of another simulator, read in place.

use crate::support::{score_folder, summarize};
use testkit::shared;

#[test]
fn the_sample_jobs_reach_the_floors() {
    let Some(jobs) = shared("jobs-dev") else {
        return;
    };
    let mut scored = Vec::new();
    let mut truths: Vec<_> = std::fs::read_dir(jobs.join("truth"))
        .expect("truths")
        .flatten()
        .map(|e| e.path())
        .collect();
    truths.sort();
    for path in truths {
        let text = std::fs::read_to_string(&path).expect("a truth can be read");
        let truth: serde_json::Value = serde_json::from_str(&text).expect("a truth is JSON");
        let folder = jobs.join(truth["job"].as_str().expect("a job has a name"));
        scored.push(score_folder(&folder, &truth));
    }
    assert!(scored.len() >= 20, "{} jobs", scored.len());
    summarize(&scored).assert_floors();
}
