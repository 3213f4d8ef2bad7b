//! What goes to stderr, how much and in which form; completions, man page, exit statuses.

use serde_json::Value;

use crate::support::{User, case};

fn analyzed(user: &User, flags: &[&str]) -> (String, String) {
    let output = user
        .expert()
        .args(flags)
        .arg("analyze")
        .arg(case("join-hot-key-skew"))
        .output()
        .expect("runs");
    assert!(output.status.success());
    (
        String::from_utf8(output.stdout).expect("UTF-8"),
        String::from_utf8(output.stderr).expect("UTF-8"),
    )
}

#[test]
fn the_json_log_is_one_object_a_line_and_stdout_stays_the_report() {
    let user = User::new();
    let (out, log) = analyzed(&user, &["--log-format", "json", "--log-level", "debug"]);
    assert!(out.starts_with("Problem found"));
    let lines: Vec<Value> = log
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
    assert!(steps >= 5, "{steps} steps are told");
    assert!(lines.iter().any(|l| l["file"] == "ScopeVertexDef.xml"));
    let output = user
        .program()
        .args(["--log-format", "json", "runs", "show", "nothing"])
        .output()
        .expect("runs");
    let error: Value = serde_json::from_slice(&output.stderr).expect("one object");
    assert_eq!(
        (&error["level"], &error["status"]),
        (&Value::from("ERROR"), &Value::from(3))
    );
    assert!(
        error["hint"]
            .as_str()
            .is_some_and(|h| h.contains("runs list"))
    );
}

#[test]
fn levels_and_quiet_say_how_much() {
    let user = User::new();
    assert!(analyzed(&user, &[]).1.contains("offline reasoner"));
    assert_eq!(analyzed(&user, &["--quiet"]).1, "");
    assert_eq!(analyzed(&user, &["--log-level", "warn"]).1, "");
    assert!(
        analyzed(&user, &["--log-level", "debug"])
            .1
            .contains("file read")
    );
    let output = user
        .program()
        .args(["--quiet", "runs", "show", "nothing"])
        .output()
        .expect("runs");
    assert!(
        String::from_utf8_lossy(&output.stderr).starts_with("error:"),
        "errors are always told"
    );
}

#[test]
fn colours_come_only_where_they_are_wanted() {
    let user = User::new();
    let coloured = |flags: &[&str], no_color: bool| {
        let mut command = user.expert();
        command.args(flags).arg("analyze").arg(case("healthy"));
        if no_color {
            command.env("NO_COLOR", "1");
        }
        command.output().expect("runs").stdout.contains(&0x1b)
    };
    assert!(!coloured(&[], false), "a pipe has no colours");
    assert!(coloured(&["--color", "always"], false));
    assert!(!coloured(&["--color", "never"], false));
    assert!(!coloured(&["--no-color", "--color", "always"], false));
    assert!(!coloured(&[], true), "NO_COLOR is honoured");
}

#[test]
fn completions_and_man_pages_know_every_command() {
    let user = User::new();
    let commands = [
        "analyze", "batch", "compare", "case", "feedback", "runs", "search", "index",
    ];
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = user
            .program()
            .args(["completions", shell])
            .output()
            .expect("runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success() && commands.iter().all(|c| text.contains(c)),
            "{shell}"
        );
    }
    let output = user.program().arg("man").output().expect("runs");
    let page = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(page.contains("EXIT STATUS") && page.contains("130"));
    user.program()
        .args(["man", "--dir", "pages"])
        .assert()
        .success();
    for command in commands {
        let path = user
            .home
            .path()
            .join("pages")
            .join(format!("scopeagent-{command}.1"));
        assert!(path.is_file(), "{} is missing", path.display());
    }
}
