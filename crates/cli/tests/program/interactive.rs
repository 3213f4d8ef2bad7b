//! The question at the end of an analysis: asked only on a terminal, and only if configured.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::contains;

use crate::support::{Answer, User, case, expert_flags, items};

/// Starts the program in a terminal, using `script` from util-linux; `None`, and a printed line, if there is
/// no such command.
fn start(user: &User, arguments: &[&str]) -> Option<Child> {
    let known = Command::new("script").arg("--version").output();
    if !known.is_ok_and(|out| String::from_utf8_lossy(&out.stdout).contains("util-linux")) {
        testkit::skip("questions on a terminal", "util-linux has no `script` here");
        return None;
    }
    let mut program = user.process();
    program.args(expert_flags()).arg("analyze");
    program.arg(case("join-hot-key-skew")).args(arguments);
    let words = [program.get_program()]
        .into_iter()
        .chain(program.get_args());
    let quoted: Vec<String> = words.map(|word| format!("'{}'", word.display())).collect();
    let terminal = Command::new("script")
        .args(["--quiet", "--return", "--command"])
        .args([&quoted.join(" "), "/dev/null"])
        .env_clear()
        .envs(program.get_envs().filter_map(|(k, v)| Some((k, v?))))
        .env("TERM", "xterm-256color")
        .current_dir(user.home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("script starts");
    Some(terminal)
}

/// Runs the program in a terminal and types `answer`.
fn on_a_terminal(user: &User, arguments: &[&str], answer: &str) -> Option<String> {
    let mut terminal = start(user, arguments)?;
    let mut keyboard = terminal.stdin.take().expect("stdin");
    keyboard.write_all(answer.as_bytes()).expect("typed");
    let output = terminal.wait_with_output().expect("ends");
    drop(keyboard);
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{shown}");
    Some(shown)
}

/// A user who wants to be asked.
fn willing() -> User {
    let user = User::new();
    user.configure("ask = true\n");
    user
}

fn learnt(user: &User) -> Vec<Value> {
    let effect = user.run("feedback effect --format json").json();
    items(&effect["kinds"]).to_vec()
}

#[test]
fn on_a_terminal_the_answer_is_stored() {
    let user = willing();
    let Some(shown) = on_a_terminal(&user, &["--lang", "en"], "S1 -S2\n") else {
        return;
    };
    contains(shown, ["Which suggestions do you plan to apply?"]);
    let learnt = learnt(&user);
    let accepted: f64 = learnt.iter().filter_map(|k| k["accepted"].as_f64()).sum();
    let ignored: f64 = learnt.iter().filter_map(|k| k["ignored"].as_f64()).sum();
    assert!(accepted > 0.9 && ignored > 0.4, "{learnt:?}");
}

#[test]
fn enter_skips_the_question_and_nonsense_is_asked_again() {
    let user = willing();
    let Some(shown) = on_a_terminal(&user, &["--lang", "zh"], "S9\n\n") else {
        return;
    };
    assert_eq!(shown.matches("您打算采用哪些建议").count(), 2, "{shown}");
    assert!(learnt(&user).is_empty());
}

#[test]
fn an_interrupt_at_the_question_ends_the_program() {
    let user = willing();
    let Some(mut terminal) = start(&user, &["--lang", "en"]) else {
        return;
    };
    let mut keyboard = terminal.stdin.take().expect("stdin");
    let mut screen = terminal.stdout.take().expect("stdout");
    let (mut shown, mut piece) = (String::new(), [0; 4096]);
    while !shown.contains("Which suggestions") {
        let read = screen.read(&mut piece).expect("output");
        assert!(read > 0, "{shown}");
        shown += &String::from_utf8_lossy(&piece[..read]);
    }
    keyboard.write_all(b"\x03").expect("typed");
    let typed = Instant::now();
    let ended = terminal.wait().expect("ends");
    assert_eq!(ended.code(), Some(130));
    // A second, and one more for a busy machine.
    let took = typed.elapsed();
    assert!(took < Duration::from_secs(2), "{took:?}");
}

#[test]
fn nothing_is_asked_where_nobody_wants_to_be_asked() {
    let user = willing();
    for flags in [&["--quiet"][..], &["--format", "json"], &["--no-store"]] {
        let Some(shown) = on_a_terminal(&user, flags, "S1\n") else {
            return;
        };
        assert!(!shown.contains("Which suggestions"), "{flags:?}: {shown}");
    }
    let mut piped = user.expert();
    piped.arg("analyze").arg(case("join-hot-key-skew"));
    let answer = Answer::of(piped.write_stdin("S1\n"));
    assert!(!answer.err.contains("Which suggestions"), "{answer:?}");
    // By default an analysis ends with its report.
    user.configure("");
    if let Some(shown) = on_a_terminal(&user, &[], "S1\n") {
        assert!(!shown.contains("Which suggestions"), "{shown}");
    }
    assert!(learnt(&user).is_empty());
}
