//! Arguments of a call and the destination of its answer: several jobs, files, one stage, fixes,
//! the schema.

use std::fs;

use serde_json::Value;
use testkit::{contains, lacks};

use crate::support::{Answer, User, case, copy, items, texts};

#[test]
fn several_jobs_in_one_call_and_the_bad_one_decides_the_status() {
    let user = User::new();
    let (first, second) = (case("join-hot-key-skew"), case("healthy"));
    let analyze = |jobs: &[&std::path::Path], flags: &[&str]| {
        Answer::of(user.expert().arg("analyze").args(jobs).args(flags))
    };
    let both = analyze(&[&first, &second], &["--format", "json"]).text();
    let reports = serde_json::Deserializer::from_str(&both).into_iter::<Value>();
    let verdicts: Vec<Value> = reports
        .map(|report| report.expect("a report")["verdict"].clone())
        .collect();
    assert_eq!(verdicts, ["problem", "healthy"]);
    // The others are analyzed all the same.
    let answer = analyze(&[&user.path("none"), &second], &[]);
    contains(&answer.out, ["Healthy"]);
    contains(answer.refused(3), ["none", "does not exist"]);
    let page = analyze(&[&first, &second], &["--format", "html"]);
    contains(page.refused(2), ["`--format html` takes one job"]);
}

#[test]
fn an_answer_goes_to_the_file_that_is_named() {
    let user = User::new();
    let job = case("join-hot-key-skew");
    let job = job.display();
    for (line, start) in [
        (format!("analyze '{job}'"), "Problem found"),
        (format!("analyze '{job}' -f html"), "<!doctype html>"),
        ("runs show last -f markdown".to_owned(), "# "),
        ("runs export last".to_owned(), "{"),
        (format!("inspect '{job}' -f json"), "{"),
        (format!("compare last '{job}'"), ""),
        (format!("compare last '{job}' -f html"), "<!doctype html>"),
        ("schema".to_owned(), "{"),
    ] {
        let piped = user.run(&line).text();
        let answer = user.run(&format!("{line} -o answer --color always"));
        assert_eq!(answer.text(), "", "{line}");
        let written = user.read("answer");
        assert!(written.starts_with(start), "{line}: {written}");
        lacks(&written, ["\u{1b}"]);
        if !line.starts_with("analyze") {
            assert_eq!(written, piped, "{line}");
        }
    }
    // A call that fails leaves the file alone.
    user.run("runs show none -o answer").refused(3);
    contains(user.read("answer"), ["$schema"]);
    let refused = user.run("schema -o no/such/folder").refused(1);
    contains(refused, ["no/such/folder", "is not writable"]);
    // An analysis with an unwritable answer is not started.
    let line = format!("analyze '{job}' -o no/such/folder");
    let refused = user.run(&line).refused(1);
    assert!(
        refused.starts_with("error: `no/such/folder` is not"),
        "{refused}"
    );
}

#[test]
fn the_schema_describes_the_report() {
    let user = User::new();
    let schema = user.run_plain("schema").json();
    let report = user.report(&case("join-hot-key-skew"), "");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    assert!(validator.is_valid(&report));
    assert!(!validator.is_valid(&Value::from("report")));
}

#[test]
fn one_stage_is_shown_alone() {
    let user = User::new();
    let job = case("join-hot-key-skew");
    let inspect = |flags: &str| user.run(&format!("inspect '{}' {flags}", job.display()));
    let whole = inspect("-f json").json();
    let (stages, stage) = (items(&whole["stages"]), &whole["stages"][1]["name"]);
    let (stage, other) = (stage.as_str().expect("a name"), &stages[0]["name"]);
    let one = inspect(&format!("-f json --stage {stage}")).json();
    assert_eq!(texts(&one["stages"], "name"), [stage]);
    for left_out in ["files", "tables", "diagnostics"] {
        assert!(one.get(left_out).is_none(), "{left_out}");
    }
    for statement in items(&one["script"]) {
        assert!(items(&statement["stages"]).contains(&Value::from(stage)));
    }
    let text = inspect(&format!("--stage {stage}")).text();
    contains(&text, [stage, "Channels"]);
    lacks(&text, ["Files", "Inputs"]);
    let operators = format!("Operators of {}", other.as_str().expect("a name"));
    lacks(&text, [operators.as_str()]);
    contains(inspect("--lang zh").text(), ["阶段", "通道", "的算子"]);
}

#[test]
fn a_fix_is_shown_and_applied_to_the_script_that_was_analyzed() {
    let user = User::new();
    let job = user.path("job");
    copy(&case("join-hot-key-skew"), &job);
    let report = user.report(&job, "");
    let suggestion = items(&report["suggestions"])
        .iter()
        .find(|s| s["diff"].is_string())
        .expect("a diff");
    let (id, diff) = (&suggestion["id"], &suggestion["diff"]);
    let id = id.as_str().expect("an id");
    let shown = user.run_plain(&format!("fix last {id}")).text();
    let diff = diff.as_str().expect("text");
    assert_eq!(shown, diff.replace("\r\n", "\n"));

    let script = job.join("scope.script");
    let before = fs::read_to_string(&script).expect("the script");
    let fix = || user.run_plain(&format!("fix last {id} --write"));
    let fixed = fix();
    assert_eq!(fixed.code, Some(0), "{fixed:?}");
    contains(fixed.err, ["scope.script.bak", "feedback"]);
    let after = fs::read_to_string(&script).expect("the script");
    assert_ne!(before, after);
    assert_eq!(user.read("job/scope.script.bak"), before);
    // The script has every added line.
    let added = diff.lines();
    for line in added.filter(|l| l.starts_with('+') && !l.starts_with("+++")) {
        contains(&after, [&line[1..]]);
    }
    // The script changed in between: it stays untouched.
    contains(fix().refused(3), ["changed since it was analyzed"]);
    assert_eq!(fs::read_to_string(&script).expect("the script"), after);
    // The script of the user's own repository.
    user.write("mine.script", &before);
    let own = format!("fix last {id} --write --script mine.script");
    user.run_plain(&own).text();
    assert_eq!(user.read("mine.script"), after);
    contains(
        user.run_plain("fix last S99").refused(3),
        ["S99", "it has S1"],
    );
}

#[test]
fn every_effective_value_is_shown_with_its_origin() {
    let user = User::new();
    user.configure("ask = true\n[diagnosis]\nmin_share = 0.1\n");
    let short = user.run_plain("config show -f json").list();
    assert_eq!(short.len(), 2);
    let all = user.run_plain("config show --all -f json").json();
    let origin = |key: &str| {
        let entry = items(&all).iter().find(|e| e["key"] == key);
        let entry = entry.unwrap_or_else(|| panic!("{key} is missing"));
        (entry["value"].clone(), entry["origin"].clone())
    };
    let data = user.path("data/scopeagent").display().to_string();
    assert_eq!(origin("data"), (data.into(), "built-in".into()));
    assert_eq!(origin("ask").0, "true");
    assert!(
        origin("ask")
            .1
            .as_str()
            .expect("a file")
            .ends_with("config.toml")
    );
    assert_eq!(origin("diagnosis.min_share").0, "0.1");
    for key in [
        "index",
        "knowledge",
        "language",
        "diagnosis.skew.max_over_mean",
    ] {
        assert_eq!(origin(key).1, "built-in", "{key}");
    }
}
