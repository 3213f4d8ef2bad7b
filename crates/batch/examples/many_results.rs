//! Makes a store of many results out of a few real reports, to measure `batch report` at a size that is too expensive to
//! analyze.
//!
//! ```text
//! many_results REPORTS COUNT STORE
//! ```
//!
//! REPORTS is a folder of reports, in the format of `analyze --format json`. Each result is a copy of a report with another id, owner,
//! queue, script, time of submission and size. Results that are in STORE already stay.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use batch::{Entry, tables};
use serde_json::{Value, json};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// One result of this many is a failure.
const FAILED: u64 = 50;
/// Seconds of a week, and the first submission: 2025-06-02.
const WEEK: u64 = 7 * 86_400;
const FIRST: u64 = 1_748_822_400;

fn main() -> Result<()> {
    let args: Vec<String> = env::args().collect();
    let [_, reports, count, store] = args.as_slice() else {
        return Err("usage: many_results REPORTS COUNT STORE".into());
    };
    let (count, store) = (count.parse()?, Path::new(store));
    let mut texts: Vec<_> = fs::read_dir(reports)?.flatten().map(|e| e.path()).collect();
    texts.sort();
    let reports = texts
        .iter()
        .map(|path| Ok(serde_json::from_slice(&fs::read(path)?)?));
    let reports: Vec<Value> = reports.collect::<Result<_>>()?;
    if reports.is_empty() {
        return Err("no reports".into());
    }
    let mut manifest = Vec::new();
    for n in 0..count {
        let key = format!("{:016x}", scatter(n)).repeat(4);
        serde_json::to_writer(&mut manifest, &entry(n))?;
        manifest.push(b'\n');
        let path = store.join(tables::path_of(&key));
        if path.exists() {
            continue;
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, serde_json::to_vec(&result(n, &key, &reports))?)?;
    }
    fs::create_dir_all(store.join("manifest"))?;
    fs::write(
        store.join("manifest/00000000000000000000000000.jsonl"),
        manifest,
    )?;
    Ok(())
}

fn entry(n: u64) -> Entry {
    Entry {
        uri: format!("s3://logs/cluster-{}/job-{n:06}", random(n, 1, 4)),
        etag: format!("{n:x}"),
        size: 1 << 20,
    }
}

/// A fixed permutation of the numbers: splitmix64.
fn scatter(n: u64) -> u64 {
    let mut z = n
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number below another, different for each purpose.
fn random(n: u64, purpose: u64, below: u64) -> u64 {
    scatter(n ^ purpose.wrapping_mul(0x517c_c1b7_2722_0a95)) % below
}

fn result(n: u64, key: &str, reports: &[Value]) -> Value {
    let random = |purpose, below| random(n, purpose, below);
    let entry = entry(n);
    let program = json!({ "version": "0", "configuration": "" });
    let mut result = json!({
        "version": 1, "key": key, "uri": entry.uri, "etag": entry.etag, "size": entry.size, "program": program,
    });
    if random(2, FAILED) == 0 {
        let reasons = [
            "no file of a job in the folder",
            "the job took more than 300 s",
            "out of memory: more than 2.0 GiB",
        ];
        result["status"] = json!("failed");
        result["tries"] = json!(5);
        result["reason"] = json!(reasons[random(3, 3) as usize]);
        return result;
    }
    let mut report = reports[random(4, reports.len() as u64) as usize].clone();
    let scale = 0.2 + (random(5, 1000) as f64 / 200.0).powi(2);
    let script = random(6, 40) * random(7, 40) / 8;
    let job = &mut report["job"];
    job["id"] = json!(format!("{:08x}-{n:06}", scatter(n) >> 32));
    let name = job["name"].as_str().unwrap_or("Job").to_owned();
    job["name"] = json!(format!("{name}_{script}_{:02}", 1 + random(8, 28)));
    job["owner"] = json!(format!("user{:02}", random(9, 9) * random(10, 9)));
    job["queue"] = json!(format!("cosmos.queue{}", random(11, 4) * random(12, 4)));
    let submitted = FIRST + random(13, 52) * WEEK + random(14, WEEK);
    job["submitted"] = json!(
        jiff::Timestamp::from_second(submitted as i64)
            .map(|t| t.to_string())
            .ok()
    );
    job["script_shape"] = json!(format!("{:016x}", scatter(script ^ name.len() as u64)));
    job["script_hash"] = json!(format!("{:016x}", scatter(n)));
    for field in ["elapsed_seconds", "total_seconds"] {
        scaled(&mut job[field], scale);
    }
    for number in [
        "/time/avoidable_seconds",
        "/cost/vertex_hours",
        "/cost/wasted_vertex_hours",
    ] {
        if let Some(value) = report.pointer_mut(number) {
            scaled(value, scale);
        }
    }
    for finding in report["findings"].as_array_mut().into_iter().flatten() {
        if let Some(value) = finding.pointer_mut("/impact/seconds_saved") {
            scaled(value, scale);
        }
    }
    let segments = report
        .pointer_mut("/time/segments")
        .and_then(Value::as_array_mut);
    for segment in segments.into_iter().flatten() {
        scaled(&mut segment["start_seconds"], scale);
        scaled(&mut segment["seconds"], scale);
    }
    result["status"] = json!("done");
    result["report"] = report;
    result
}

fn scaled(value: &mut Value, scale: f64) {
    if let Some(number) = value.as_f64() {
        *value = json!(number * scale);
    }
}
