//! Makes a store of many results out of a few real reports, to measure `batch report` at a size that nobody analyzes for a test.
//!
//! ```text
//! many_results REPORTS COUNT STORE [OUT]
//! ```
//!
//! REPORTS is a folder of reports as `analyze --format json` prints them. Each result is one of them with another id, owner, queue, script,
//! time of submission and size. With OUT the report of the batch is written as well, and its time and memory are printed.

use std::error::Error;
use std::path::Path;
use std::time::Instant;
use std::{env, fs};

use batch::{Aggregate, tables};
use report::Language;
use serde_json::{Value, json};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Of all results, one in so many is a failure.
const FAILED: u64 = 50;
/// Seconds of a week, and the first submission: 2025-06-02.
const WEEK: u64 = 7 * 86_400;
const FIRST: u64 = 1_748_822_400;

fn main() -> Result<()> {
    let args: Vec<String> = env::args().collect();
    let [_, reports, count, store, rest @ ..] = args.as_slice() else {
        return Err("usage: many_results REPORTS COUNT STORE [OUT]".into());
    };
    let (count, store) = (count.parse()?, Path::new(store));
    let mut texts: Vec<_> = fs::read_dir(reports)?.flatten().map(|e| e.path()).collect();
    texts.sort();
    let reports = texts.iter().map(|path| Ok(serde_json::from_slice(&fs::read(path)?)?));
    let reports: Vec<Value> = reports.collect::<Result<_>>()?;
    if reports.is_empty() {
        return Err("no reports".into());
    }
    for n in 0..count {
        let key = format!("{:016x}", scatter(n)).repeat(4);
        let path = store.join(tables::path_of(&key));
        if path.exists() {
            continue;
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, serde_json::to_vec(&result(n, &key, &reports))?)?;
    }
    rest.first().map_or(Ok(()), |out| write(store, Path::new(out)))
}

/// A fixed permutation of the numbers: splitmix64.
fn scatter(n: u64) -> u64 {
    let mut z = n.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn result(n: u64, key: &str, reports: &[Value]) -> Value {
    let random = |salt: u64, below: u64| scatter(n ^ salt.wrapping_mul(0x51_7cc1_b727_220a_95)) % below;
    let uri = format!("s3://logs/cluster-{}/job-{n:06}", random(1, 4));
    let head = json!({ "version": 1, "key": key, "uri": uri, "etag": format!("{n:x}") });
    let mut result = head;
    if random(2, FAILED) == 0 {
        let reasons = ["no file of a job in the folder", "the job took more than 300 s", "out of memory: more than 2.0 GiB"];
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
    job["submitted"] = json!(jiff::Timestamp::from_second(submitted as i64).map(|t| t.to_string()).ok());
    job["script_shape"] = json!(format!("{:016x}", scatter(script ^ name.len() as u64)));
    job["script_hash"] = json!(format!("{:016x}", scatter(n)));
    for field in ["elapsed_seconds", "total_seconds"] {
        scaled(&mut job[field], scale);
    }
    scaled(&mut report["time"]["avoidable_seconds"], scale);
    scaled(&mut report["cost"]["vertex_hours"], scale);
    scaled(&mut report["cost"]["wasted_vertex_hours"], scale);
    for finding in report["findings"].as_array_mut().into_iter().flatten() {
        scaled(&mut finding["impact"]["seconds_saved"], scale);
    }
    for segment in report["time"]["segments"].as_array_mut().into_iter().flatten() {
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

fn write(store: &Path, out: &Path) -> Result<()> {
    let started = Instant::now();
    let mut aggregate = Aggregate::create(out, &format!("{}/", store.canonicalize()?.display()))?;
    let mut folders: Vec<_> = fs::read_dir(store.join("results"))?.flatten().map(|e| e.path()).collect();
    folders.sort();
    for folder in folders {
        let mut paths: Vec<_> = fs::read_dir(folder)?.flatten().map(|e| e.path()).collect();
        paths.sort();
        for path in paths {
            aggregate.add(serde_json::from_slice(&fs::read(path)?)?)?;
        }
    }
    let written = aggregate.finish(Language::parse(&env::var("REPORT_LANG").unwrap_or_default()).unwrap_or(Language::En))?;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default().to_owned();
    std::io::Write::write_all(
        &mut std::io::stdout(),
        format!("{} jobs, {} failed, {:.1} s, {peak}\n", written.jobs, written.failed, started.elapsed().as_secs_f64()).as_bytes(),
    )?;
    Ok(())
}
