//! Output on stderr, by level and format; completions, man page, exit statuses.

use serde_json::{Value, json};
use testkit::contains;

use crate::support::{Answer, User, case};

fn analyzed(user: &User, flags: &str) -> Answer {
    let answer = user.analyze(&case("join-hot-key-skew"), flags);
    assert_eq!(answer.code, Some(0), "{answer:#?}");
    answer
}

#[test]
fn the_json_log_is_one_object_a_line_and_stdout_stays_the_report() {
    let user = User::new();
    let answer = analyzed(&user, "--log-format json --log-level debug");
    assert!(answer.out.starts_with("Problem found"));
    let object = |line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    let lines: Vec<Value> = answer.err.lines().map(object).collect();
    for field in ["timestamp", "level", "message"] {
        assert!(lines.iter().all(|l| l[field].is_string()), "{field}");
    }
    let ends = lines.iter().filter(|l| l["message"] == "step finished");
    assert!(ends.count() >= 5, "{}", answer.err);
    assert!(lines.iter().any(|l| l["file"] == "ScopeVertexDef.xml"));
    let unknown = user.run_plain("--log-format json runs show nothing");
    let error: Value = serde_json::from_str(&unknown.refused(3)).expect("one object");
    let seen = [&error["level"], &error["status"]];
    assert_eq!(seen, [&json!("ERROR"), &json!(3)]);
    contains(error["hint"].as_str().expect("a hint"), ["runs list"]);
}

#[test]
fn levels_and_quiet_decide_how_much() {
    let user = User::new();
    contains(analyzed(&user, "").err, ["offline reasoner"]);
    assert_eq!(analyzed(&user, "--quiet").err, "");
    assert_eq!(analyzed(&user, "--log-level warn").err, "");
    contains(analyzed(&user, "--log-level debug").err, ["file read"]);
    let errors = user.run_plain("--quiet runs show nothing").refused(3);
    assert!(errors.starts_with("error:"), "errors are always printed");
}

#[test]
fn colors_are_printed_only_where_they_are_wanted() {
    let user = User::new();
    let colored = |flags: &[&str], no_color: bool| {
        let mut command = user.expert();
        command.args(flags).arg("analyze").arg(case("healthy"));
        if no_color {
            command.env("NO_COLOR", "1");
        }
        command.output().expect("runs").stdout.contains(&0x1b)
    };
    assert!(!colored(&[], false), "a pipe has no colors");
    assert!(colored(&["--color", "always"], false));
    assert!(!colored(&["--color", "never"], false));
    assert!(!colored(&["--no-color", "--color", "always"], false));
    assert!(!colored(&[], true), "NO_COLOR is honored");
}

#[test]
fn completions_and_man_pages_know_every_command() {
    let user = User::new();
    let commands = "analyze batch compare case feedback runs search index";
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let text = user.run_plain(&format!("completions {shell}")).text();
        contains(text, commands.split(' '));
    }
    contains(user.run_plain("man").text(), ["EXIT STATUS", "130"]);
    user.run_plain("man --dir pages").text();
    for command in commands.split(' ') {
        let page = user.path(&format!("pages/scopeagent-{command}.1"));
        assert!(page.is_file(), "{} is missing", page.display());
    }
}
