//! Simulated jobs: equal seeds produce equal bytes, and the truth holds in the files.

use simulator::{Cause, Mechanisms, Request, Scale, SimulatedJob, job_of_set, simulate, ways};
use std::collections::BTreeMap;

fn text<'a>(job: &'a SimulatedJob, file: &str) -> &'a str {
    std::str::from_utf8(&job.files[file]).expect("files are UTF-8")
}

/// FNV-1a over all files, so that a change of any byte shows.
fn fingerprint(files: &BTreeMap<String, Vec<u8>>) -> u64 {
    let mut h = 0xcbf2_9ce4_8422_2325_u64;
    for (name, bytes) in files {
        for byte in name.bytes().chain(bytes.iter().copied()) {
            h = (h ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    h
}

#[test]
fn same_seed_gives_same_bytes() {
    for index in 0..6 {
        let a = job_of_set(11, index, None, Scale::Small).expect("a job");
        let b = job_of_set(11, index, None, Scale::Small).expect("a job");
        assert_eq!(fingerprint(&a.files), fingerprint(&b.files));
        assert_eq!(a.truth, b.truth);
    }
}

#[test]
fn another_seed_gives_another_job() {
    let a = simulate(&Request::single(Cause::JoinHotKey, 1)).expect("a job");
    let b = simulate(&Request::single(Cause::JoinHotKey, 2)).expect("a job");
    assert_ne!(fingerprint(&a.files), fingerprint(&b.files));
}

#[test]
fn every_mechanism_costs_something_in_its_stage() {
    for way in ways().into_iter().filter(|w| !w.near_miss) {
        let (cause, code) = (way.cause, way.cause.code());
        let job = simulate(&Request {
            mechanisms: Mechanisms::Only(vec![way.name.to_owned()]),
            ..Request::single(cause, 77)
        })
        .unwrap_or_else(|| panic!("no job shows {}", way.name));
        assert_eq!(job.truth["mechanisms"], serde_json::json!([way.name]));
        let causes = job.truth["causes"].as_array().expect("causes");
        let found = causes
            .iter()
            .find(|c| c["cause"] == code)
            .expect("its cause");
        if !cause.is_fatal() {
            assert!(
                found["seconds_saved"].as_f64().expect("seconds") > 0.0,
                "{code}"
            );
        }
        if let Some(stage) = found["stage"].as_str() {
            assert!(
                text(&job, "ScopeVertexDef.xml").contains(&format!("id=\"{stage}\"")),
                "{code}"
            );
        }
        let script = text(&job, job.truth["script_file"].as_str().expect("script"));
        if let Some(last) = found["script_lines"][1].as_u64() {
            assert!(last as usize <= script.lines().count(), "{code}");
        }
    }
}

#[test]
fn hot_key_shows_in_the_largest_vertex() {
    let job = simulate(&Request {
        tidy: true,
        ..Request::single(Cause::GroupHotKey, 5)
    })
    .expect("a job");
    let stage = job.truth["causes"][0]["stage"]
        .as_str()
        .expect("stage")
        .to_owned();
    let stats: serde_json::Value =
        serde_json::from_slice(&job.files["JobStatistics.json"]).expect("JSON");
    let entry = stats["stages"]
        .as_array()
        .expect("stages")
        .iter()
        .find(|s| s["stageName"] == stage.as_str())
        .expect("the stage");
    let mean =
        entry["dataRead"].as_f64().expect("bytes") / entry["totalCount"].as_f64().expect("count");
    let max = entry["maxVertexDataRead"].as_f64().expect("bytes");
    assert!(max / mean > 1.8, "{max} / {mean}");
}

#[test]
fn vertex_events_agree_with_the_statistics() {
    let job = simulate(&Request {
        tidy: true,
        ..Request::healthy(9)
    })
    .expect("a job");
    let stats: serde_json::Value =
        serde_json::from_slice(&job.files["JobStatistics.json"]).expect("JSON");
    for stage in stats["stages"].as_array().expect("stages") {
        let name = stage["stageName"].as_str().expect("name");
        let completed = text(&job, "profile")
            .lines()
            .filter(|l| {
                l.starts_with("---HiPriTime")
                    && l.contains(&format!(",{name}["))
                    && l.contains(",Completed,")
            })
            .count();
        assert_eq!(
            completed as u64,
            stage["succeededCount"].as_u64().expect("count"),
            "{name}"
        );
    }
}
