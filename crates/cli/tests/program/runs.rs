//! Runs that are saved, and feedback on them.

use serde_json::{Value, json};

use testkit::contains;

use crate::support::{User, case, copy, items};

#[test]
fn a_run_is_saved_listed_shown_and_deleted() {
    let user = User::new();
    let report = user.report(&case("healthy"), "");
    let rows = user.runs();
    assert_eq!(rows.len(), 1);
    let row = [&rows[0]["run_id"], &rows[0]["verdict"]];
    assert_eq!(row, [&report["run_id"], &json!("healthy")]);
    let run = report["run_id"].as_str().expect("run");
    let show = format!("runs show {run} --format json");
    assert_eq!(user.run_plain(&show).json(), report);
    user.run_plain(&format!("runs delete {run}")).text();
    assert!(user.runs().is_empty());
    user.run_plain(&show).refused(3);
}

#[test]
fn a_run_that_fails_is_saved_with_its_reason() {
    let user = User::new();
    user.run("analyze no/such/folder").refused(3);
    let rows = user.runs();
    assert_eq!(rows[0]["status"], "failed");
    contains(
        rows[0]["failure"].as_str().expect("a reason"),
        ["no/such/folder"],
    );
}

#[test]
fn background_feedback_teaches_and_its_effect_is_shown() {
    let user = User::new();
    let report = user.report(&case("join-hot-key-skew"), "--lang en");
    let run = report["run_id"].as_str().expect("run");
    let feedback = |rest: &str| user.run_plain(&format!("feedback {run} accept {rest}"));
    feedback("S1 --note done --saved-seconds 17").text();
    let effect = user.run("feedback effect --format json").json();
    assert_eq!(effect["kinds"][0]["cause"], "skew.join_hot_key");
    assert!(effect["kinds"][0]["preference"].as_f64() > Some(0.0));
    let moved = items(&effect["moved"]);
    let rank = |m: &Value, when: &str| m[when].as_u64().unwrap_or(u64::MAX);
    let rises = |m: &Value| rank(m, "rank_after") <= rank(m, "rank_before");
    // Accepted passages don't fall.
    assert!(!moved.is_empty() && moved.iter().all(rises), "{moved:?}");
    feedback("S99").refused(3);
    feedback("").refused(2);
}

#[test]
fn eight_processes_write_at_once() {
    let user = User::new();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| user.analyze(&case("healthy"), "").text());
        }
    });
    let finished = |run: &&Value| run["status"] == "finished";
    assert_eq!(user.runs().iter().filter(finished).count(), 8);
}

#[test]
fn a_run_is_shown_in_another_language_as_long_as_its_job_is_there() {
    let user = User::new();
    let job = user.path("job");
    copy(&case("join-hot-key-skew"), &job);
    user.report(&job, "--lang en");
    contains(
        user.run("runs show last").text(),
        ["Problem found: hot key in a join"],
    );
    let shown = user.run("runs show last --lang zh");
    contains(&shown.err, ["另一种语言"]);
    assert_eq!(shown.err.lines().count(), 1, "{}", shown.err);
    contains(shown.text(), ["发现问题", "连接"]);
    std::fs::remove_dir_all(&job).expect("removed");
    let shown = user.run("runs show last --lang zh");
    contains(&shown.err, ["按原样显示"]);
    contains(shown.text(), ["Where the time went"]);
    assert_eq!(user.runs().len(), 1, "nothing else is saved");
}

#[test]
fn a_mistyped_run_or_path_is_named_with_the_nearest() {
    let user = User::new();
    testkit::copy(&case("join-hot-key-skew"), &user.path("jobs/route"));
    let report = user.report(&user.path("jobs/route"), "--lang en");
    let run = report["run_id"].as_str().expect("run");
    let name = report["job"]["name"].as_str().expect("a name");
    for (asked, near) in [
        ("jobs/rout", "did you mean `jobs/route`?"),
        (&name[1..], run),
        ("jobs", "analyzes it"),
        ("elsewhere", "`scopeagent runs list`"),
    ] {
        for line in [
            format!("ask {asked} why"),
            format!("whatif {asked}"),
            format!("fix {asked} S1"),
            format!("compare last {asked}"),
        ] {
            if asked == "jobs" && !line.starts_with("ask") && !line.starts_with("fix") {
                continue;
            }
            let said = user.run(&format!("{line} --lang en")).refused(3);
            contains(said, [asked, near]);
        }
    }
    std::fs::create_dir(user.path("elsewhare")).expect("made");
    let said = user.run("history elsewhere --lang en").refused(3);
    contains(said, ["`scopeagent runs list`"]);
    let of_folder = user.run("fix jobs/route S1 --lang en").text();
    assert_eq!(of_folder, user.run("fix last S1 --lang en").text());
}

#[test]
fn a_file_has_the_format_of_its_name() {
    let user = User::new();
    let job = case("join-hot-key-skew");
    for (out, format, start) in [
        ("a.html", "", "<!doctype html>"),
        ("a.md", "", "# "),
        ("a.md", "--format json", "{"),
    ] {
        let line = format!("--out {out} {format} --lang en");
        user.analyze(&job, &line).text();
        let text = user.read(out).to_ascii_lowercase();
        assert!(text.starts_with(start), "{line}: {text:.80}");
    }
    let listed = user.run("runs list --limit 2 --lang en");
    contains(&listed.err, ["the newest 2 of 3 runs"]);
}

#[test]
fn piped_output_keeps_to_the_columns_of_the_variable() {
    let user = User::new();
    let mut program = user.expert();
    program
        .env("COLUMNS", "80")
        .arg("analyze")
        .arg(case("join-hot-key-skew"));
    let text = crate::support::Answer::of(&mut program).text();
    let account = text
        .split("Where the time went")
        .nth(1)
        .expect("an account");
    let account = account
        .split("Findings")
        .next()
        .expect("before the findings");
    assert!(
        account.lines().all(|line| line.chars().count() <= 80),
        "{account}"
    );
}
