//! From the files of a folder to the report: several files, told apart by their content and
//! separated by a line `=====`, are read and diagnosed.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use report::{Language, Verdict};

static OPTIONS: LazyLock<job::Options> = LazyLock::new(job::Options::default);

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let files: Vec<(String, &str)> = text
        .split("=====\n")
        .enumerate()
        .map(|(n, part)| (format!("f{n}"), part))
        .collect();
    let known: Vec<(&str, job::model::FileKind, &[u8])> = files
        .iter()
        .map(|(name, part)| {
            let bytes = part.as_bytes();
            (name.as_str(), job::kind_of(bytes), bytes)
        })
        .collect();
    let job = job::read_memory(&known, &OPTIONS);
    let settings = diagnosis::Settings::default();
    let found = diagnosis::diagnose(&job, &OPTIONS.catalogue, &settings, Language::En);
    assert_eq!(
        found.verdict == Verdict::Problem,
        !found.findings.is_empty()
    );
    for finding in &found.findings {
        assert!((0.0..=1.0).contains(&finding.confidence), "{finding:?}");
        assert!(finding.impact.iter().all(|i| i.seconds_saved.is_finite()));
    }
    let evidence = |id: &String| found.evidence.iter().any(|e| e.id == *id);
    assert!(found.rules.iter().flat_map(|r| &r.evidence).all(evidence));
});
