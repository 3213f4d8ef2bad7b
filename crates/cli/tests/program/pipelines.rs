//! Budgets, baselines and messages, as pipelines use them; the examples of the documentation run here.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;
use simulator::{Rerun, simulate_reruns};
use testkit::contains;

use crate::support::{User, case, index, root, write_twins};

/// Writes runs of one simulated job into `run-0`, `run-1`, ….
fn write_runs(user: &User, reruns: &[Rerun]) {
    let request = simulator::Request {
        tidy: true,
        ..simulator::Request::healthy(4)
    };
    let runs = simulate_reruns(&request, reruns).expect("runs");
    for (n, run) in runs.iter().enumerate() {
        run.write(&user.path(&format!("run-{n}"))).expect("written");
    }
}

fn luck(luck: u64) -> Rerun {
    Rerun {
        luck,
        ..Rerun::default()
    }
}

fn status(user: &User, line: &str) -> (Option<i32>, String, String) {
    let mut program = user.expert();
    let done = program.args(line.split(' ')).output().expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (done.status.code(), text(done.stdout), text(done.stderr))
}

#[test]
fn a_budget_is_kept_broken_or_cannot_be_told() {
    let user = User::new();
    write_twins(&user.path("good"), &user.path("bad"));
    let analyze = |rest: &str| status(&user, &format!("analyze {rest} --lang en --no-store"));
    assert_eq!(
        analyze("good --budget time=2h,cost=500,findings=high").0,
        Some(0)
    );
    let (code, _, errors) = analyze("bad --budget time=1s,cost=500,findings=high --junit out.xml");
    assert_eq!(code, Some(10), "{errors}");
    contains(
        &errors,
        ["over budget:", "limit 1.0 s", "hot key", "within budget:"],
    );
    let junit = user.read("out.xml");
    contains(
        &junit,
        [
            "tests=\"3\" failures=\"2\" skipped=\"0\"",
            "name=\"time\"><failure message=\"run time without compilation",
        ],
    );
    let (code, out, _) = analyze("bad --budget findings=high --github --format markdown");
    assert_eq!(code, Some(10));
    contains(
        &out,
        [
            "::error title=",
            "findings::found%3A".replace("%3A", ":").as_str(),
        ],
    );
    // The script alone has neither time nor cost.
    std::fs::create_dir(user.path("bare")).expect("made");
    let is_script = |name: &Path| {
        name.extension()
            .is_some_and(|e| e == "script" || e == "usql")
    };
    let files = std::fs::read_dir(user.path("good"))
        .expect("files")
        .flatten();
    let script = files
        .map(|f| f.path())
        .find(|p| is_script(p))
        .expect("a script");
    std::fs::copy(
        &script,
        user.path("bare").join(script.file_name().expect("a name")),
    )
    .expect("copied");
    assert_eq!(analyze("bare --budget time=1h").0, Some(11));
    assert_eq!(status(&user, "analyze good --budget price=3").0, Some(2));
}

#[test]
fn a_run_is_compared_with_the_good_runs_before_it() {
    let user = User::new();
    let few = Rerun {
        tokens: 0.15,
        ..luck(9)
    };
    write_runs(&user, &[luck(0), luck(1), luck(2), luck(3), luck(4), few]);
    let check = |n: usize| {
        status(
            &user,
            &format!("analyze run-{n} --lang en --baseline last-good"),
        )
    };
    assert_eq!(check(0).0, Some(11), "there is no run before it");
    for n in 1..5 {
        assert_eq!(check(n).0, Some(0));
    }
    let (code, _, errors) = check(5);
    assert_eq!(code, Some(10), "{errors}");
    contains(
        &errors,
        ["more than its own spread; compared with a good run (A): B ran with"],
    );
    let (code, text, _) = status(&user, "history last --lang en --color never");
    assert_eq!(code, Some(0));
    contains(
        &text,
        [
            "6 runs, 1 regression",
            "capacity fell",
            "Most likely reason, compared with",
        ],
    );
    let (_, json, _) = status(&user, "history last --format json --limit 2");
    let history: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(history["runs"].as_array().map(Vec::len), Some(2));
    assert_eq!(history["runs"][1]["is_first_regression"], true);
    assert_eq!(
        status(&user, "history last --baseline last-good").0,
        Some(10)
    );
    assert_eq!(status(&user, "history weekly").0, Some(3));
}

/// Bodies of the requests that arrive at an address.
fn receiver() -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}/hook", listener.local_addr().expect("bound"));
    let (send, received) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream);
            let (mut length, mut line) = (0, String::new());
            while reader.read_line(&mut line).is_ok_and(|n| n > 2) {
                let lower = line.to_ascii_lowercase();
                if let Some(value) = lower.strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap_or(0);
                }
                line.clear();
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).expect("a body");
            let _ = reader
                .get_mut()
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            let _ = send.send(String::from_utf8(body).expect("UTF-8"));
        }
    });
    (address, received)
}

fn received(messages: &Receiver<String>) -> Value {
    let body = messages
        .recv_timeout(Duration::from_secs(30))
        .expect("a message");
    serde_json::from_str(&body).expect("JSON")
}

#[test]
fn a_batch_report_is_announced_in_each_form() {
    let user = User::new();
    testkit::copy(&case("join-hot-key-skew"), &user.path("jobs/one"));
    assert_eq!(status(&user, "batch run jobs --out store").0, Some(0));
    let (address, messages) = receiver();
    let mut said = Vec::new();
    for form in ["json", "slack", "teams"] {
        let line =
            format!("batch report store --lang en --notify {address} --notify-format {form}");
        let (code, _, errors) = status(&user, &line);
        assert_eq!(code, Some(0), "{errors}");
        said.push(received(&messages));
    }
    assert_eq!(said[0]["text"], "1 job");
    let facts = |said: &Value| said["facts"].to_string();
    contains(
        facts(&said[0]),
        [
            "1 with a problem, 0 healthy",
            "17 s (7.6 %",
            "RouteQuality_V3",
            "SKEWJOIN",
        ],
    );
    assert!(!facts(&said[0]).contains("since the last report"));
    let shown = said[1]["blocks"][0]["text"]["text"].to_string();
    contains(shown, ["*new since the last report*: nothing"]);
    testkit::copy(&case("late-filter"), &user.path("jobs/two"));
    assert_eq!(status(&user, "batch run jobs --out store").0, Some(0));
    status(
        &user,
        &format!("batch report store --lang en --notify {address}"),
    );
    contains(
        facts(&received(&messages)),
        ["1 job, 1 with a problem; kinds of finding"],
    );
    assert_eq!(said[1]["blocks"][0]["text"]["type"], "mrkdwn");
    let card = &said[2]["attachments"][0]["content"];
    assert_eq!(card["type"], "AdaptiveCard");
    contains(card["body"][0]["text"].to_string(), ["batch results"]);
    let unreachable = "batch report store --notify http://127.0.0.1:9/secret";
    let (code, _, errors) = status(&user, unreachable);
    assert_eq!(code, Some(1));
    assert!(!errors.contains("secret"), "{errors}");
}

/// An example of the documentation, with the built program in the path.
fn example(user: &User, mut command: Command, address: &str) -> Option<(Option<i32>, String)> {
    let folder = Path::new(env!("CARGO_BIN_EXE_scopeagent"))
        .parent()
        .expect("a folder");
    let mut path = folder.as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let done = command
        .current_dir(user.home.path())
        .env_clear()
        .env("HOME", user.home.path())
        .env("XDG_DATA_HOME", user.path("data"))
        .env("PATH", path)
        .env("SCOPEAGENT_NOTIFY", address)
        .env("SCOPEAGENT_LANG", "en")
        .env("JOB", "bad")
        .env("SCOPEAGENT_KNOWLEDGE", root().join("knowledge"))
        .env("SCOPEAGENT_INDEX", index())
        .output();
    let Ok(done) = done else {
        testkit::skip("examples of pipelines", "bash or python3 cannot be started");
        return None;
    };
    let text =
        String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    Some((done.status.code(), text))
}

fn examples() -> PathBuf {
    root().join("docs/examples")
}

#[test]
fn the_example_for_airflow_fails_the_task_and_sends_the_result() {
    let user = User::new();
    write_twins(&user.path("good"), &user.path("bad"));
    let (address, messages) = receiver();
    for (job, expected, verdict) in [("good", 0, "healthy"), ("bad", 1, "problem")] {
        let mut command = Command::new("python3");
        command.arg(examples().join("airflow_check.py")).arg(job);
        let Some((code, text)) = example(&user, command, &address) else {
            return;
        };
        assert_eq!(code, Some(expected), "{text}");
        assert_eq!(received(&messages)["verdict"], verdict);
    }
}

#[test]
fn the_example_for_github_actions_fails_the_step_with_annotations() {
    let user = User::new();
    write_twins(&user.path("good"), &user.path("bad"));
    let workflow =
        std::fs::read_to_string(examples().join("github-actions.yml")).expect("the example");
    let (_, script) = workflow.split_once("run: |\n").expect("a script");
    let script: String = script
        .lines()
        .map(|line| format!("{}\n", line.trim_start()))
        .collect();
    let mut command = Command::new("bash");
    command.arg("-ec").arg(script);
    let Some((code, text)) = example(&user, command, "") else {
        return;
    };
    assert_eq!(code, Some(10), "{text}");
    contains(&text, ["::error title=", "::notice title="]);
    contains(
        user.read("scopeagent.xml"),
        ["<testsuite name=\"scopeagent\""],
    );
    contains(user.read("summary.md"), ["hot key"]);
}
