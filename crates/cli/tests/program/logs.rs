//! What goes to stderr, how much and in which form; completions, man page, exit statuses.

use serde_json::{Value, json};

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
    let lines: Vec<Value> = answer
        .err
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
        .collect();
    assert!(
        lines.iter().all(|l| l["timestamp"].is_string()
            && l["level"].is_string()
            && l["message"].is_string())
    );
    let steps = lines
        .iter()
        .filter(|l| l["message"] == "step finished")
        .count();
    assert!(steps >= 5, "only {steps} steps are logged");
    assert!(lines.iter().any(|l| l["file"] == "ScopeVertexDef.xml"));
    let error = user
        .run_plain("--log-format json runs show nothing")
        .refused(3);
    let error: Value = serde_json::from_str(&error).expect("one object");
    assert_eq!(
        (&error["level"], &error["status"]),
        (&json!("ERROR"), &json!(3))
    );
    let hint = error["hint"].as_str();
    assert!(hint.is_some_and(|h| h.contains("runs list")));
}

#[test]
fn levels_and_quiet_decide_how_much() {
    let user = User::new();
    assert!(analyzed(&user, "").err.contains("offline reasoner"));
    assert_eq!(analyzed(&user, "--quiet").err, "");
    assert_eq!(analyzed(&user, "--log-level warn").err, "");
    assert!(
        analyzed(&user, "--log-level debug")
            .err
            .contains("file read")
    );
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
    let commands = [
        "analyze", "batch", "compare", "case", "feedback", "runs", "search", "index",
    ];
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let text = user.run_plain(&format!("completions {shell}")).text();
        assert!(commands.iter().all(|c| text.contains(c)), "{shell}");
    }
    let page = user.run_plain("man").text();
    assert!(page.contains("EXIT STATUS") && page.contains("130"));
    user.run_plain("man --dir pages").text();
    for command in commands {
        let page = user.path(&format!("pages/scopeagent-{command}.1"));
        assert!(page.is_file(), "{} is missing", page.display());
    }
}
