//! The committed cases equal the simulator's output, on every machine.

use simulator::{CAUSES, COMMITTED, cases};
use std::collections::BTreeMap;
use std::path::Path;

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
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases");
    for name in COMMITTED {
        let case = cases().into_iter().find(|c| c.name == name).expect(name);
        let job = case.simulate();
        let committed = read(&root.join(name).join("job"));
        assert!(
            committed == job.files,
            "{name} differs; if that is meant: simulate-jobs --committed tests/cases"
        );
        let truth = std::fs::read(root.join(name).join("truth.json")).expect("a truth");
        let truth: serde_json::Value = serde_json::from_slice(&truth).expect("JSON");
        assert_eq!(truth, job.truth, "{name}");
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
