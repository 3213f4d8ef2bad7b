//! Advice by cluster: one call per cluster, one budget for all calls, and its effect on the report.

use std::fs;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::llm::think::step_of;
use testkit::llm::{Recorded, Server, Turn};
use testkit::{contains, lacks};

use crate::support::{User, case, copy, expert_flags};

const CASES: [&str; 4] = [
    "join-hot-key-skew",
    "excessive-shuffle",
    "late-filter",
    "user-code-failure",
];

/// A model that recommends the first suggestion, after a while.
fn adviser(delay: Duration) -> Server {
    Server::agreeing_unless(move |request| Some(Turn::json(&advice(request)).delay(delay)))
}

fn advice(request: &Recorded) -> Value {
    assert_eq!(step_of(request), "think5");
    let why = "that is where the time is lost";
    let recommended = json!({ "suggestion": "S1", "why": why, "trade_offs": "none", "evidence": [], "experiences": [] });
    let is_shown = request.prompt().contains("\nS1 (");
    json!({
        "recommendations": if is_shown { vec![recommended] } else { Vec::new() },
        "additional": [],
        "text": "Apply the first suggestion, S1.",
        "answer": { "text": "", "evidence": [] },
    })
}

/// A user with two copies of several jobs, analyzed into `store`.
fn user(server: &Server) -> User {
    let user = User::new();
    let config = format!(
        "[llm]\ndefault = \"test\"\n[llm.profiles.test]\nprovider = \"openai_compatible\"\nmodel = \"scripted\"\nbase_url = \"{}\"\nretries = 0\nprice_per_million_in = 1.0\nprice_per_million_out = 10.0\n",
        server.url()
    );
    user.configure(&config);
    for name in CASES {
        for copied in ["one", "two"] {
            copy(
                &case(name),
                &user.path("jobs").join(format!("{name}-{copied}")),
            );
        }
    }
    user.run("batch run jobs --out store --lang en");
    user
}

fn advise(user: &User, store: &str, flags: &str) -> Child {
    let mut command = user.process();
    command
        .args(expert_flags())
        .args(["--quiet", "batch", "advise", store])
        .args(flags.split_whitespace())
        .stdout(Stdio::null());
    command.spawn().expect("started")
}

fn files(user: &User, folder: &str) -> Vec<Value> {
    let listed = fs::read_dir(user.path(folder))
        .into_iter()
        .flatten()
        .flatten();
    let texts = listed.map(|entry| fs::read_to_string(entry.path()).expect("read"));
    texts
        .map(|text| serde_json::from_str(&text).expect("JSON"))
        .collect()
}

#[test]
fn each_cluster_is_asked_about_once_and_the_report_names_the_job() {
    let server = adviser(Duration::from_millis(150));
    let user = user(&server);
    assert!(
        server.requests().is_empty(),
        "facts come first, without an LLM"
    );
    let mut killed = advise(&user, "store", "--concurrency 2");
    while server.requests().is_empty() {
        thread::sleep(Duration::from_millis(10));
    }
    let refused = user.run("batch advise store --lang en");
    contains(refused.err, ["another process is asking", "advising.json"]);
    killed.kill().expect("killed");
    killed.wait().expect("ended");
    fs::remove_file(user.path("store/advising.json")).expect("the lock of the killed process");
    // calls that were under way are repeated
    let mut worker = advise(&user, "store", "--concurrency 2");
    assert!(worker.wait().expect("ended").success());
    let advice = files(&user, "store/advice");
    let clusters: std::collections::HashSet<&str> = advice
        .iter()
        .filter_map(|a| a["cluster"].as_str())
        .collect();
    assert!(clusters.len() >= CASES.len() && clusters.len() == advice.len());
    assert!(advice.iter().all(|a| a["advice"].is_object()), "{advice:?}");
    let calls = server.requests().len();
    assert!(
        calls >= advice.len() && calls <= advice.len() + 2,
        "{calls} calls for {}",
        advice.len()
    );
    let again = user.run("batch advise store --format json").json();
    assert_eq!(again["known"], json!(advice.len()));
    assert_eq!(server.requests().len(), calls, "no cluster is left to ask");

    user.run("batch report store --lang en");
    contains(
        user.read("store/report/index.html"),
        ["Apply the first suggestion", "(scripted, for job "],
    );
    let table = user.read("store/report/clusters.csv");
    let of_clusters = table.matches("Apply the first suggestion, S1.").count();
    assert_eq!(of_clusters, table.lines().count() - 1, "{table}");
    contains(table, ["advice,advised,model", "scripted"]);
}

#[test]
fn all_calls_share_one_budget() {
    let server = adviser(Duration::from_millis(50));
    let user = user(&server);
    for _ in 0..2 {
        let mut worker = advise(&user, "store", "--max-calls 2 --concurrency 4");
        assert!(worker.wait().expect("ended").success());
    }
    assert_eq!(server.requests().len(), 2);
    let stopped = user
        .run("batch advise store --max-calls 2 --format json")
        .json();
    contains(
        stopped["stopped"].as_str().expect("a reason"),
        ["2 of 2 calls"],
    );
    assert_eq!(stopped["spent"]["calls"], 2);
    // a call may cost 0.17 at most: 16,000 tokens out; prompts are short
    let cheap = user
        .run("batch advise store --max-cost 0.0001 --format json")
        .json();
    assert_eq!(cheap["advised"], 0);
    assert_eq!(server.requests().len(), 2);
    let rest = user
        .run("batch advise store --max-cost 5 --format json")
        .json();
    assert!(
        rest["stopped"].is_null() && rest["advised"].as_u64() > Some(0),
        "{rest}"
    );
}

#[test]
fn a_dry_run_counts_the_calls_and_asks_nothing() {
    let server = adviser(Duration::ZERO);
    let user = user(&server);
    let planned = || {
        user.run("batch advise store --dry-run --format json")
            .json()
    };
    let all = planned();
    assert_eq!(all["calls"], all["clusters"]);
    let number = |name: &str| all[name].as_f64().expect(name);
    let (read, written, cost) = (number("tokens_in"), number("tokens_out"), number("cost"));
    assert!(written > 0.0 && read > 1000.0 * number("calls"), "{all}");
    // The prices of the profile: 1 per million tokens to read, 10 per million to write.
    assert!((cost - (read + 10.0 * written) / 1e6).abs() < 1e-9, "{all}");
    assert_eq!(all["is_list_price"], false);
    let text = user.run("batch advise store --dry-run --lang en").text();
    let first = text.lines().next().unwrap_or_default();
    contains(first, ["calls; ", "tokens to send", "price: about"]);
    contains(text, ["think5 · ", "[THINK 5] Advice"]);
    assert!(server.requests().is_empty() && files(&user, "store/advice").is_empty());
    user.run("batch advise store --max-calls 1").text();
    let rest = planned();
    assert_eq!(rest["calls"].as_u64(), all["calls"].as_u64().map(|n| n - 1));
}

#[test]
fn a_server_that_fails_is_said_and_leaves_the_clusters_to_the_next_call() {
    let works = Arc::new(AtomicBool::new(false));
    let switch = Arc::clone(&works);
    let server = Server::start([]).rule(move |request| {
        Some(match switch.load(Ordering::Relaxed) {
            true => Turn::json(&advice(request)),
            false => Turn::error(401, "bad key"),
        })
    });
    let user = user(&server);
    for _ in 0..6 {
        contains(user.run("batch advise store").err, ["bad key"]);
    }
    works.store(true, Ordering::Relaxed);
    let advised = user.run("batch advise store --format json").json();
    assert_eq!(advised["advised"], advised["clusters"]);
}

mod security {
    use super::*;

    #[test]
    fn with_redact_no_name_of_a_job_is_sent() {
        let server = adviser(Duration::ZERO);
        let user = user(&server);
        user.run("batch advise store --redact").text();
        let requests = server.requests();
        assert!(!requests.is_empty());
        for request in requests {
            lacks(
                request.prompt(),
                ["RouteQuality", user.path("jobs").to_str().expect("UTF-8")],
            );
        }
    }
}
