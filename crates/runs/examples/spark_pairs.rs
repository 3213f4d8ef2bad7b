//! Compares real Spark runs with their fixed twins and counts how often the first reason is the known cause.
//!
//! `cargo run --example spark_pairs -- FOLDER…`: each folder has a `truth.json` with scenarios in pairs, `X` and `X.fixed`, and
//! the path of each log.

#![expect(clippy::print_stdout, reason = "a command-line helper")]

use std::path::Path;

use agent::offline::Offline;
use agent::{Analysis, Request, Services, Silent};
use report::Language;
use runs::RunSummary;
use runs::compare::{ComparedRun, Origin, Reason, ReasonKind, compare};
use serde_json::Value;

async fn analyzed(log: &Path) -> Option<ComparedRun> {
    let request = Request {
        job: log.to_path_buf(),
        language: Some(Language::En),
        ..Request::default()
    };
    let (catalogue, settings) = (job::Catalogue::builtin(), diagnosis::Settings::default());
    let services = Services::new(&catalogue, &settings, Box::new(Offline));
    let analyzed = agent::analyze(&request, &services, &mut Silent)
        .await
        .ok()?;
    let Analysis { report, job, .. } = analyzed;
    Some(ComparedRun {
        report,
        summary: RunSummary::of(&job),
        origin: Origin::Folder,
    })
}

/// The causes that are right for a scenario.
fn causes(truth: &Value) -> Vec<String> {
    let text = |v: &Value| v.as_str().map(str::to_owned);
    let causes = truth["causes"].as_array().into_iter().flatten();
    let named = causes.flat_map(|c| {
        let others = c["alternatives"].as_array().into_iter().flatten();
        std::iter::once(&c["cause"])
            .chain(others)
            .filter_map(text)
            .collect::<Vec<_>>()
    });
    named.collect()
}

/// Whether a reason is a finding of the cause or, where the analysis has none, the property that the cause changes.
fn names(reason: &Reason, cause: &str) -> bool {
    use ReasonKind::{Driver, Imbalance, Plan, Rows, Settings, Vertices, WorkPerRow};
    let group = cause.split('.').next().unwrap_or_default();
    reason.cause.as_deref() == Some(cause)
        || match reason.kind {
            Vertices => group == "parallelism",
            Settings => matches!(group, "parallelism" | "shuffle" | "memory"),
            Rows | Plan => matches!(group, "cache" | "shuffle" | "join" | "io"),
            Imbalance => group == "skew",
            WorkPerRow => matches!(group, "udo" | "compute" | "gc" | "memory"),
            Driver => matches!(group, "driver" | "overhead"),
            _ => false,
        }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut right, mut pairs) = (0, 0);
    for folder in std::env::args_os().skip(1) {
        let folder = Path::new(&folder);
        let truth: Vec<Value> = serde_json::from_slice(&std::fs::read(folder.join("truth.json"))?)?;
        for slow in &truth {
            let scenario = slow["scenario"].as_str().unwrap_or_default();
            let fixed = format!("{scenario}.fixed");
            let Some(fast) = truth.iter().find(|t| t["scenario"] == fixed.as_str()) else {
                continue;
            };
            // The cause costs memory or executors, but no time.
            if slow["resource_only"] == true {
                continue;
            }
            let log = |t: &Value| folder.join(t["log"].as_str().unwrap_or_default());
            let (Some(a), Some(b)) = (analyzed(&log(fast)).await, analyzed(&log(slow)).await)
            else {
                println!("unreadable: {scenario}");
                continue;
            };
            let comparison = compare(&a, &b, Language::En);
            let first = comparison.reasons.first();
            let is_right =
                first.is_some_and(|reason| causes(slow).iter().any(|c| names(reason, c)));
            pairs += 1;
            right += usize::from(is_right);
            if !is_right {
                println!("missed: {scenario}: {}", comparison.headline);
                for f in &comparison.findings {
                    println!("  {:?} {} {:?} {:?}", f.status, f.cause, f.stage, f.seconds);
                }
                for reason in &comparison.reasons {
                    println!(
                        "    {:?} {:.2} {}",
                        reason.kind,
                        reason.share.unwrap_or(0.0),
                        reason.text
                    );
                }
            }
        }
    }
    println!("{right} of {pairs} pairs right");
    Ok(())
}
