//! A process that is killed at any moment leaves the run store and the index whole.
//!
//! `SCOPEAGENT_KILL_ROUNDS` sets the number of kills of each command. `scripts/test-attack` kills inside single writes.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::batch::results;
use crate::support::{User, case, copy, expert_flags, small_knowledge};

const ROUNDS: &str = "SCOPEAGENT_KILL_ROUNDS";
const USUAL_ROUNDS: u32 = 3;

/// Runs a command to its end once, then kills it at moments spread over that time. `check` gets the number of the round.
fn kill(name: &str, command: &dyn Fn() -> Command, check: &mut dyn FnMut(u32)) {
    let rounds = std::env::var(ROUNDS).ok().and_then(|n| n.parse().ok());
    let rounds: u32 = rounds.unwrap_or(USUAL_ROUNDS);
    let spawn = || {
        let mut command = command();
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().expect("starts")
    };
    let started = Instant::now();
    let ended = spawn().wait_with_output().expect("ended");
    assert!(ended.status.success(), "{name}");
    let whole = started.elapsed();
    let mut killed = 0;
    for round in 0..rounds {
        let mut child = spawn();
        std::thread::sleep(moment(round, whole));
        killed += u32::from(child.try_wait().expect("asked").is_none());
        // On Unix this is signal 9.
        child.kill().expect("killed");
        // Its workers have its stderr too, and close it when they have noticed.
        child.wait_with_output().expect("ended");
        check(round);
    }
    assert!(killed > 0, "{name} was never killed");
    let shown = format!("{name}: {rounds} rounds, {killed} killed before the end, all whole\n");
    // libtest does not swallow direct writes to the stream.
    std::io::stderr()
        .write_all(shown.as_bytes())
        .expect("shown");
}

/// Moments that are dense in any interval, for any number of rounds.
fn moment(round: u32, whole: Duration) -> Duration {
    const GOLDEN: f64 = 0.618_033_988_749_895;
    whole.mul_f64((f64::from(round) * GOLDEN).fract() * 1.1)
}

/// The store opens, is consistent, and no run pretends to be running.
fn assert_store_is_whole(user: &User) {
    let data = user.path("data/scopeagent");
    let store = runs::store::Store::open(&data).expect("opens");
    let all = store.runs(&runs::store::RunFilter::default());
    for run in all.expect("listed") {
        assert_ne!(run.status, runs::store::RunStatus::Running);
        let report = store.report(&run.run_id).expect("readable");
        let is_finished = run.status == runs::store::RunStatus::Finished;
        assert_eq!(report.is_some(), is_finished, "{run:?}");
    }
    let locks = fs::read_dir(data.join("running")).expect("listed");
    assert_eq!(locks.count(), 1, "only the gate");
    let raw = Connection::open(data.join(runs::store::FILE_NAME)).expect("opens");
    let whole: String = raw
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("checked");
    assert_eq!(whole, "ok");
    let orphans = raw.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| {
        row.get(0)
    });
    assert_eq!(orphans, Ok(0));
}

fn assert_index_is_whole(user: &User, folder: &str) {
    let settings = indexer::Settings::default();
    let verified = indexer::verify::verify(&user.path(folder), &settings, &mut |_| {});
    let verified = verified.expect("opens");
    assert!(verified.is_whole(), "{:?}", verified.problems);
}

#[test]
fn analyze() {
    let user = User::new();
    // the first command also builds the index of the built-in knowledge
    user.analyze(&case("join-hot-key-skew"), "").text();
    let command = || {
        let mut command = user.process();
        command
            .args(expert_flags())
            .arg("analyze")
            .arg(case("join-hot-key-skew"));
        command
    };
    kill("analyze", &command, &mut |_| assert_store_is_whole(&user));
}

#[test]
fn feedback() {
    let user = User::new();
    user.analyze(&case("join-hot-key-skew"), "").text();
    let command = || {
        let mut command = user.process();
        command.args(["feedback", "last", "accept", "S1", "--note", "done"]);
        command
    };
    kill("feedback", &command, &mut |_| {
        assert_store_is_whole(&user);
        let store = runs::store::Store::open(&user.path("data/scopeagent")).expect("opens");
        assert_eq!(
            store.feedback().expect("read").len(),
            1,
            "replaced, never lost"
        );
    });
}

#[test]
fn index() {
    let user = User::new();
    small_knowledge(&user.path("knowledge"));
    let note = user.path("knowledge/experience/note.md");
    let write = |version: u32| {
        let text = format!("# Note\n\n## Fix\n\nversion{version}x helps against skew.\n");
        fs::write(&note, text).expect("written");
    };
    write(0);
    user.run_plain("index").text();
    write(1);
    let command = || {
        let mut command = user.process();
        command.arg("index");
        command
    };
    kill("index", &command, &mut |round| {
        assert_index_is_whole(&user, "index");
        write(round + 2);
    });
    let command = user.run_plain("index");
    command.text();
    let meta = fs::read_to_string(user.path("index/meta.json")).expect("read");
    let meta = meta.replace('-', "");
    let files = fs::read_dir(user.path("index")).expect("listed").flatten();
    let names = files.map(|entry| entry.file_name().to_string_lossy().replace('-', ""));
    let is_left = |name: &String| {
        let segment = name.split('.').next().unwrap_or_default();
        name.contains('.') && name != "meta.json" && !meta.contains(segment)
    };
    let left: Vec<String> = names.filter(is_left).collect();
    assert_eq!(left, [""; 0], "files of killed writers are removed");
}

#[test]
fn batch() {
    let user = User::new();
    let jobs = ["healthy", "join-hot-key-skew", "late-filter"];
    for name in jobs {
        copy(&case(name), &user.path("jobs").join(name));
    }
    user.analyze(&case("healthy"), "").text();
    let command = || {
        // Each round starts where the killed one stopped, until all is done.
        let mut command = user.process();
        command
            .args(expert_flags())
            .args(["batch", "run", "jobs", "--out", "store"]);
        command
    };
    let mut done = 0;
    kill("batch", &command, &mut |_| {
        let found = results(&user.path("store"));
        assert!(found.iter().all(|result| result["status"] == "done"));
        if found.len() == jobs.len() {
            done += 1;
            fs::remove_dir_all(user.path("store")).expect("removed");
        }
    });
    assert!(done > 0);
}
