//! Many jobs: results in a store, resumption, sharing, bad folders.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use testkit::contains;

use crate::support::{User, case, copy};

/// A user with a folder of three jobs, one of them unreadable, and a foreign file.
fn user() -> User {
    let user = User::new();
    copy(&case("join-hot-key-skew"), &user.path("jobs/a"));
    copy(&case("healthy"), &user.path("jobs/b"));
    user.write("jobs/c/photo.png", "\u{89}P\0\u{1}");
    user.write("jobs/README.md", "# Old jobs\n");
    user
}

/// The files of results below a store with their contents, sorted by name.
pub(crate) fn objects(store: &Path) -> Vec<(String, String)> {
    let folders = fs::read_dir(store.join("results")).into_iter().flatten();
    let files = folders
        .flatten()
        .flat_map(|folder| fs::read_dir(folder.path()).expect("listed"));
    let files = files.map(|file| file.expect("an entry").path());
    // an unfinished file of a killed process has no `.json` at its end
    let whole = files.filter(|path| path.extension().is_some_and(|e| e == "json"));
    let mut read: Vec<(String, String)> = whole
        .map(|path| {
            let name = path.file_name().expect("a name").display().to_string();
            (name, fs::read_to_string(&path).expect("read"))
        })
        .collect();
    read.sort();
    read
}

/// The results of a store, sorted by job.
pub(crate) fn results(store: &Path) -> Vec<Value> {
    let objects = objects(store).into_iter();
    let mut results: Vec<Value> = objects
        .map(|(_, text)| serde_json::from_str(&text).expect("JSON"))
        .collect();
    results.sort_by_key(|result| result["uri"].as_str().map(str::to_owned));
    results
}

fn counts(summary: &Value) -> [u64; 3] {
    ["known", "done", "failed"].map(|name| summary[name].as_u64().expect(name))
}

#[test]
fn a_call_without_new_jobs_says_so() {
    let user = User::new();
    copy(&case("healthy"), &user.path("jobs/b"));
    user.run("batch run jobs --out store --lang en").text();
    let again = user.run("batch run jobs --out store --lang en").text();
    assert_eq!(again, "nothing new: 1 job done\n");
}

#[test]
fn a_failed_call_leaves_no_folder() {
    let user = User::new();
    user.run("batch report store").refused(2);
    user.run("batch run jobs --out store").refused(3);
    assert!(!user.path("store").exists());
}

#[test]
fn every_job_has_a_result_and_a_bad_one_does_not_stop_the_rest() {
    let user = user();
    let answer = user.run("batch run jobs --out store");
    contains(&answer.err, ["3 jobs found: 3 new", "jobs/c"]);
    contains(answer.text(), ["3 jobs", "skew.join_hot_key"]);
    let results = results(&user.path("store"));
    let seen: Vec<&Value> = results.iter().map(|l| &l["status"]).collect();
    assert_eq!(seen, ["done", "done", "failed"]);
    let report = &results[0]["report"];
    assert_eq!(report["findings"][0]["cause"], "skew.join_hot_key");
    assert_eq!(report["job"]["path"], results[0]["uri"]);
    assert_eq!(results[1]["report"]["verdict"], "healthy");
    assert!(
        results[2]["reason"]
            .as_str()
            .is_some_and(|e| e.contains('c'))
    );
    assert!(user.runs().is_empty(), "a batch saves no runs");
}

#[test]
fn a_call_resumes_where_the_last_one_stopped() {
    let user = user();
    let run = |line: &str| counts(&user.run(&format!("batch run --format json {line}")).json());
    let plan = user.run("batch plan jobs --out store --format json").json();
    assert_eq!(plan, json!({ "jobs": 3, "new": 3, "changed": 0 }));
    assert_eq!(run("store"), [0, 2, 1]);
    let first = objects(&user.path("store"));
    assert_eq!(run("store"), [3, 0, 0]);
    assert_eq!(
        run("jobs --out store"),
        [3, 0, 0],
        "planned again, nothing changed"
    );
    // A lost result, or a result of a killed call, is made again with the same bytes.
    let lost = &first[0].0;
    let place = format!("store/results/{}", &lost[..2]);
    fs::remove_file(user.path(&place).join(lost)).expect("removed");
    user.write(&format!("{place}/{lost}#1"), "{\"version\":");
    assert_eq!(
        run("store"),
        [
            2,
            u64::from(first[0].1.contains("\"done\"")),
            u64::from(first[0].1.contains("\"failed\""))
        ]
    );
    assert_eq!(objects(&user.path("store")), first);
    assert_eq!(run("store --retry-failed"), [2, 0, 1]);
    // Another configuration has other results, and so has another state of a job.
    assert_eq!(run("store --lang zh"), [0, 2, 1]);
    user.write("jobs/b/notes.txt", "slow\n");
    assert_eq!(run("jobs --out store"), [2, 1, 0]);
    assert_eq!(results(&user.path("store")).len(), 7);
}

#[test]
fn batches_that_share_a_store_lose_nothing() {
    let user = user();
    for name in ["d", "e", "f", "g"] {
        copy(&case("healthy"), &user.path("jobs").join(name));
    }
    let rounds = std::env::var("SCOPEAGENT_BATCH_ROUNDS").ok();
    let rounds: usize = rounds.and_then(|n| n.parse().ok()).unwrap_or(3);
    let mut first = Vec::new();
    for round in 0..rounds {
        let start = || {
            let mut command = user.process();
            command
                .args(crate::support::expert_flags())
                .args(["--quiet", "batch", "run", "jobs", "--out", "store"])
                .stdout(std::process::Stdio::null());
            command.spawn().expect("started")
        };
        for mut batch in [start(), start()] {
            assert!(batch.wait().expect("ended").success());
        }
        let found = objects(&user.path("store"));
        assert_eq!(found.len(), 7, "round {round}");
        if round > 0 {
            assert_eq!(found, first, "every process writes the same bytes");
        }
        first = found;
        fs::remove_dir_all(user.path("store")).expect("removed");
    }
}

#[test]
fn shards_share_the_jobs() {
    let user = user();
    user.run("batch plan jobs --out store").text();
    let mut analyzed = 0;
    for shard in ["0/2", "1/2"] {
        let answer = user.run(&format!("batch run store --shard {shard} --format json"));
        let summary: Value = serde_json::from_str(&answer.out).expect("JSON");
        analyzed += counts(&summary)[1..].iter().sum::<u64>();
        assert_eq!(results(&user.path("store")).len() as u64, analyzed);
    }
    assert_eq!(analyzed, 3);
}

#[test]
fn jobs_may_be_archives() {
    let user = User::new();
    copy(&case("join-hot-key-skew"), &user.path("a"));
    let mut tar = tar::Builder::new(fs::File::create(user.path("a.tar")).expect("created"));
    tar.append_dir_all("month/a", user.path("a"))
        .expect("appended");
    tar.finish().expect("written");
    let (folder, archive) = (user.path("a"), user.path("a.tar"));
    let cause = |report: &Value| report["findings"][0]["cause"].clone();
    let report = user.report(&archive, "");
    assert_eq!(report["job"]["path"], archive.display().to_string());
    assert_eq!(cause(&report), cause(&user.report(&folder, "")));
    let inspected = user.run("inspect a.tar --format json").json();
    assert_eq!(inspected["path"], archive.display().to_string());
    let compared = user.run("compare a a.tar --format json").json();
    assert_eq!(compared["b"]["path"], archive.display().to_string());
    user.run("batch run a.tar --out store").text();
    assert_eq!(
        cause(&results(&user.path("store"))[0]["report"]),
        "skew.join_hot_key"
    );
    let url = format!("file://{}", archive.display());
    assert_eq!(
        cause(&user.report(Path::new(&url), "--no-store")),
        "skew.join_hot_key"
    );
}

#[test]
fn what_cannot_be_done_is_said_with_a_remedy() {
    let user = user();
    user.write("notes.txt", "hello\n");
    for (line, code, said) in [
        ("batch run jobs/c --out store", 3, "jobs/c"),
        ("batch run nowhere --out store", 3, "nowhere"),
        ("batch run jobs", 2, "batch plan"),
        ("batch run jobs nowhere", 2, "--out STORE"),
        ("batch run store --shard 2/2", 2, "INDEX"),
        ("batch run jobs --out notes.txt", 3, "notes.txt"),
        ("batch plan ftp://host/jobs --out store", 2, "s3://"),
        ("analyze ftp://host/job", 2, "s3://"),
    ] {
        let error = user.run(line).refused(code);
        assert!(error.contains(said), "{line}: {error}");
    }
    assert_eq!(user.read("notes.txt"), "hello\n");
}

/// A NATS server with JetStream, and the folder of its data.
struct Nats {
    process: std::process::Child,
    url: String,
}

impl Nats {
    /// `None` if the program is not installed.
    fn start(program: &Path, data: &Path) -> Nats {
        let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("an address").port();
        drop(free);
        let process = std::process::Command::new(program)
            .args(["-js", "-a", "127.0.0.1", "-p", &port.to_string(), "-sd"])
            .arg(data)
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("started");
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        let url = format!("nats://127.0.0.1:{port}");
        Nats { process, url }
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn nats_server() -> Option<std::path::PathBuf> {
    let named = std::env::var_os("SCOPEAGENT_NATS_SERVER").map(std::path::PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join("nats-server"));
    let found = named.into_iter().chain(found).find(|path| path.is_file());
    if found.is_none() {
        let why = "there is no nats-server in PATH (set SCOPEAGENT_NATS_SERVER)";
        testkit::skip("batch enqueue, batch work", why);
    }
    found
}

#[test]
fn a_queue_hands_out_the_jobs_whoever_dies() {
    let Some(program) = nats_server() else { return };
    let user = user();
    let nats = Nats::start(&program, &user.path("nats"));
    let run = |line: &str| user.run(&format!("batch {line} --nats {} --format json", nats.url));
    user.run("batch plan jobs --out store").text();
    contains(run("work store").refused(2), ["batch enqueue"]);
    let jobs = |n: u64, known: u64| json!({ "jobs": n, "known": known, "copies": 1 });
    assert_eq!(run("enqueue store").json(), jobs(3, 0));
    contains(run("work store --lang zh").refused(2), ["另一个版本或配置"]);
    let mut killed = user.process();
    killed.args(crate::support::expert_flags()).args([
        "batch",
        "work",
        "store",
        "--ack-wait",
        "3",
        "--workers",
        "1",
        "--nats",
        &nats.url,
    ]);
    let mut killed = killed.spawn().expect("started");
    while user.path("store/results").read_dir().is_err()
        && killed.try_wait().expect("a state").is_none()
    {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    killed.kill().expect("killed");
    killed.wait().expect("ended");
    run("work store --ack-wait 3").json();
    let results = results(&user.path("store"));
    let seen: Vec<&Value> = results.iter().map(|l| &l["status"]).collect();
    assert_eq!(seen, ["done", "done", "failed"]);
    assert_eq!(run("enqueue store").json(), jobs(0, 3));
    // The same bytes as without a queue.
    let queued = objects(&user.path("store"));
    user.run("batch run jobs --out other").text();
    assert_eq!(objects(&user.path("other")), queued);
}
