//! Bad input: a clear error with a remedy and status 3, or a report with diagnostics; never a panic.

use std::fs;

use serde_json::Value;
use testkit::{contains, lacks};

use crate::support::{Answer, User, case, copy, items, root, small_knowledge};

#[test]
fn what_is_no_job_folder_is_named_with_a_remedy() {
    let user = User::new();
    fs::create_dir(user.path("nothing")).expect("made");
    user.write("photos/holiday.png", "\u{89}PNG\0\u{1}\u{2}");
    user.write("scope.script", "x = SELECT a FROM b;");
    for (job, named) in [
        ("no/such/folder", "no/such/folder"),
        ("nothing", "empty"),
        ("photos", "photos"),
        ("scope.script", "scope.script"),
    ] {
        let answer = user.analyze(&user.path(job), "");
        assert_eq!(answer.out, "", "stdout carries data only");
        contains(answer.refused(3), ["error:", "hint:", named]);
    }
}

/// The report on a copy of a case with one changed file, and the diagnostic that names the file.
fn report_on_damaged(name: &str, change: fn(&mut Vec<u8>)) -> (Value, Value) {
    let user = User::new();
    copy(&case("join-hot-key-skew"), &user.path("job"));
    let path = user.path("job").join(name);
    let mut bytes = fs::read(&path).expect("file");
    change(&mut bytes);
    fs::write(&path, bytes).expect("write");
    let report = user.report(&user.path("job"), "");
    let mut diagnostics = items(&report["diagnostics"]).iter();
    let named = diagnostics.find(|d| d["file"] == name).cloned();
    (report, named.expect("a diagnostic names the file"))
}

#[test]
fn a_truncated_file_is_a_diagnostic_and_the_rest_is_read() {
    let statistics = "__ScopeRuntimeStatistics__.xml";
    let (report, named) = report_on_damaged(statistics, |bytes| bytes.truncate(bytes.len() / 2));
    assert!(named["message"].as_str().is_some_and(|m| !m.is_empty()) && named["hint"].is_string());
    assert_eq!(report["job"]["stages"], 3, "the definition file was read");
}

#[test]
fn garbage_and_a_script_that_does_not_parse_are_diagnostics() {
    report_on_damaged("ScopeVertexDef.xml", |bytes| {
        bytes
            .iter_mut()
            .filter(|b| **b == b'"')
            .for_each(|b| *b = 0);
    });
    report_on_damaged("scope.script", |bytes| {
        bytes.extend_from_slice(b"\nBroken = SELECT FROM WHERE GROUP (((;\n");
    });
}

#[test]
fn a_file_that_is_there_is_never_said_to_be_missing() {
    let user = User::new();
    copy(&case("join-hot-key-skew"), &user.path("job"));
    let file = user.path("job/ScopeVertexDef.xml");
    let check = |without_it: bool, said: [&str; 2], unsaid: [&str; 2]| {
        for (language, (said, unsaid)) in ["en", "zh"].into_iter().zip(said.into_iter().zip(unsaid))
        {
            let flags = format!("--lang {language} --verbose");
            let text = user.analyze(&user.path("job"), &flags).text();
            contains(&text, [format!("ScopeVertexDef.xml{said}").as_str()]);
            lacks(&text, [format!("ScopeVertexDef.xml{unsaid}").as_str()]);
        }
        let report = user.report(&user.path("job"), "");
        let mut missing = items(&report["missing_information"]).iter();
        let missing = missing.find(|m| m["file"] == "ScopeVertexDef.xml");
        let missing = missing.expect("it is missing");
        let seen = [&missing["present"], &missing["without_it"]];
        assert_eq!(seen, [false, without_it]);
    };
    let there = [
        " (in the folder, but does not hold it)",
        "（文件在目录中，但没有这项信息）",
    ];
    let absent = [" (not in the folder)", "（目录中没有）"];
    for content in [&b""[..], b"\x89PNG\0\x01\x02"] {
        fs::write(&file, content).expect("written");
        check(true, there, absent);
    }
    fs::remove_file(&file).expect("removed");
    check(false, absent, there);
}

#[test]
fn wrong_usage_is_status_2() {
    let user = User::new();
    user.run_plain("analyze").refused(2);
    user.run_plain("analyze x --format pdf").refused(2);
    user.run("analyze x --reasoner llm").refused(2);
}

#[test]
fn a_typo_in_the_configuration_is_named() {
    let user = User::new();
    user.write("scopeagent.toml", "langauge = \"en\"\n");
    let errors = user.run_plain("config show").refused(2);
    contains(errors, ["langauge", "scopeagent.toml"]);
    let user = User::new();
    user.configure("[llm]\ndefault = \"x\"\n");
    let errors = user.analyze(&case("join-hot-key-skew"), "").refused(2);
    contains(errors, ["there is no profile `x`"]);
}

#[test]
fn an_input_that_cannot_be_read_is_named_with_its_reason() {
    let user = User::new();
    let log = "app-20261122005702-0000.zstd";
    let job = root().join("tests/cases/spark-join-hot-key");
    let whole = fs::read(job.join(log)).expect("a log");
    for path in ["cut.zstd", "cut/log.zstd"] {
        user.write(path, "");
        fs::write(user.path(path), &whole[..1000]).expect("written");
    }
    fs::create_dir_all(user.path("hidden/.git")).expect("made");
    for (line, said) in [
        ("analyze cut.zstd", "cut off before its first event"),
        ("analyze cut", "cut off before its first event"),
        ("analyze hidden", "no file of a SCOPE"),
    ] {
        contains(user.run(line).refused(3), [said]);
    }
    let errors = user.analyze(&job, "--script nosuch.py").refused(3);
    contains(errors, ["nosuch.py", "check the path"]);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_no_job() {
    let user = User::new();
    let made = std::process::Command::new("mkfifo")
        .arg(user.path("pipe"))
        .status();
    assert!(made.expect("mkfifo runs").success());
    contains(user.run("analyze pipe").refused(3), ["not a regular file"]);
}

/// An unread file could be the missing one, so the program draws no conclusion.
#[test]
fn a_folder_of_more_files_than_a_job_has_is_refused() {
    let user = User::new();
    copy(&case("join-hot-key-skew"), &user.path("job"));
    for n in 0..10_000 {
        fs::write(user.path("job").join(format!("{n}.tmp")), "").expect("written");
    }
    for line in ["analyze job", "inspect job"] {
        let error = user.run(line).refused(3);
        contains(&error, ["more than 10000 files", "a single job"]);
    }
}

#[test]
fn an_outdated_index_is_mentioned_or_rebuilt_and_an_unreadable_one_named() {
    let user = User::new();
    small_knowledge(&user.path("knowledge"));
    user.run_plain("index --quiet").text();
    let job = case("healthy");
    let analyze = || {
        let mut program = user.program();
        Answer::of(program.args(["--lang", "en", "analyze"]).arg(&job))
    };
    lacks(analyze().err, ["changed since"]);
    user.write("knowledge/experience/new.md", "# New\n\nWords.\n");
    contains(
        analyze().err,
        ["1 document changed since the index was built"],
    );
    let meta = user.path("index/meta.json");
    let written = fs::read_to_string(&meta).expect("an index");
    let (before, payload) = written.split_once("\"payload\": \"").expect("a payload");
    let format = payload.split_once(' ').expect("its format").1;
    fs::write(meta, format!("{before}\"payload\": \"1 {format}")).expect("written");
    contains(analyze().err, ["older version", "index"]);
    lacks(analyze().err, ["older version"]);
    user.write("index/meta.json", "no manifest");
    for answer in [
        analyze(),
        user.run_plain("search hot"),
        user.run_plain("index verify"),
    ] {
        let error = answer.refused(3);
        contains(
            &error,
            ["meta.json", "`scopeagent index --full` rebuilds it"],
        );
        assert_eq!(error.matches("--full").count(), 1, "{error}");
    }
}
