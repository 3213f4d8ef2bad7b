//! The cases kept with the project are what the simulator writes: on this machine as on the one that wrote them.

use simulator::{CAUSES, cases, simulate_as};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases")
}

fn read(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    std::fs::read_dir(folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .map(|entry| entry.expect("an entry"))
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, std::fs::read(entry.path()).expect("a file"))
        })
        .collect()
}

#[test]
fn committed_cases_are_what_is_simulated() {
    for case in cases() {
        let job = simulate_as(&case.request, case.name, "cases").expect("a job");
        let committed = read(&folder().join(case.name).join("job"));
        let names: Vec<&String> = committed.keys().collect();
        assert_eq!(names, job.files.keys().collect::<Vec<_>>(), "{}", case.name);
        for (name, bytes) in &job.files {
            assert!(
                committed[name] == *bytes,
                "{}/{name} differs; if that is meant: simulate-jobs --cases tests/cases",
                case.name
            );
        }
        let truth = std::fs::read(folder().join(case.name).join("truth.json")).expect("a truth");
        let truth: serde_json::Value = serde_json::from_slice(&truth).expect("JSON");
        assert_eq!(truth, job.truth, "{}", case.name);
    }
}

#[test]
fn every_cause_has_a_case_and_a_near_miss() {
    let all = cases();
    for (cause, code) in CAUSES {
        assert!(all.iter().any(|c| c.request.causes == [cause]), "{code}");
        assert!(
            all.iter().any(|c| c.request.near_miss == Some(cause)),
            "near miss of {code}"
        );
    }
}
