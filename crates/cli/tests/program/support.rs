//! Where tests run the program: a data folder per user, and one knowledge index for all.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;
pub(crate) use testkit::copy;
pub(crate) use testkit::knowledge::root;

/// The folder of the simulated cases, with `NAME/job` and `NAME/truth.json`.
pub(crate) fn cases() -> &'static Path {
    simulator::cases_in(env!("CARGO_TARGET_TMPDIR"))
}

/// The job folder of a simulated case.
pub(crate) fn case(name: &str) -> PathBuf {
    cases().join(name).join("job")
}

/// A user with an empty data folder.
pub(crate) struct User {
    pub(crate) home: TempDir,
}

impl User {
    pub(crate) fn new() -> User {
        User {
            home: TempDir::new().expect("a temporary folder"),
        }
    }

    /// The program with this user's folders and without anything from the environment of the tests.
    pub(crate) fn program(&self) -> Command {
        Command::from_std(self.process())
    }

    /// The same, for tests that talk to it while it runs.
    pub(crate) fn process(&self) -> std::process::Command {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_scopeagent"));
        command
            .env_clear()
            .env("HOME", self.home.path())
            .env("XDG_CONFIG_HOME", self.home.path().join("config"))
            .env("XDG_DATA_HOME", self.home.path().join("data"))
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .current_dir(self.home.path());
        command
    }

    /// The program with the project's knowledge and its index.
    pub(crate) fn expert(&self) -> Command {
        self.knowing(index())
    }

    /// The program with the project's knowledge and an index of it in this folder.
    pub(crate) fn knowing(&self, index: &Path) -> Command {
        let mut command = self.program();
        command.args(flags(index));
        command
    }

    /// Runs the program with the project's knowledge.
    pub(crate) fn run(&self, line: &str) -> Answer {
        Answer::of(self.expert().args(words(line)))
    }

    /// Runs the program with the knowledge in the user's folder, or else the built-in one.
    pub(crate) fn run_plain(&self, line: &str) -> Answer {
        Answer::of(self.program().args(words(line)))
    }

    /// Analyzes a job.
    pub(crate) fn analyze(&self, job: &Path, flags: &str) -> Answer {
        Answer::of(self.expert().arg("analyze").arg(job).args(words(flags)))
    }

    /// Returns the JSON report on a job.
    pub(crate) fn report(&self, job: &Path, flags: &str) -> Value {
        self.analyze(job, &format!("{flags} --format json")).json()
    }

    /// Returns the runs that were saved, the newest first.
    pub(crate) fn runs(&self) -> Vec<Value> {
        self.run_plain("runs list --format json").list()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect(name)
    }

    /// Writes the user's own configuration.
    pub(crate) fn configure(&self, text: &str) {
        self.write("config/scopeagent/config.toml", text);
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }
}

fn flags(index: &Path) -> [OsString; 4] {
    let knowledge = root().join("knowledge").into();
    [
        "--knowledge".into(),
        knowledge,
        "--index".into(),
        index.into(),
    ]
}

/// The flags for the project's knowledge and its index.
pub(crate) fn expert_flags() -> [OsString; 4] {
    flags(index())
}

/// The elements of a JSON array.
#[track_caller]
pub(crate) fn items(value: &Value) -> &[Value] {
    value.as_array().expect("an array")
}

/// The texts in a field of each element of a JSON array.
#[track_caller]
pub(crate) fn texts<'v>(list: &'v Value, field: &str) -> Vec<&'v str> {
    let texts = items(list).iter().map(|item| &item[field]);
    texts.filter_map(Value::as_str).collect()
}

/// Splits a command line at spaces outside of single quotes.
pub(crate) fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split('\'').enumerate().flat_map(|(i, part)| {
        let quoted = i % 2 == 1;
        part.split(move |c: char| !quoted && c.is_whitespace())
            .filter(move |word| quoted || !word.is_empty())
    })
}

/// How the program ended and what it printed.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Answer {
    pub(crate) fn of(command: &mut Command) -> Answer {
        let output = command.output().expect("it runs");
        Answer {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).expect("UTF-8"),
            err: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }

    #[track_caller]
    pub(crate) fn text(self) -> String {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self.out
    }

    #[track_caller]
    pub(crate) fn json(self) -> Value {
        serde_json::from_str(&self.text()).expect("JSON")
    }

    #[track_caller]
    pub(crate) fn list(self) -> Vec<Value> {
        serde_json::from_str(&self.text()).expect("a JSON array")
    }

    /// Returns the program's stderr, after it ended with this status.
    #[track_caller]
    pub(crate) fn refused(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self.err
    }
}

/// A knowledge folder with one playbook and room for cases.
pub(crate) fn small_knowledge(folder: &Path) {
    for place in ["experience", "cases"] {
        fs::create_dir_all(folder.join(place)).expect("made");
    }
    let playbook = "experience/skew-join-hot-key.md";
    for file in [playbook, "glossary.toml", "files.toml"] {
        fs::copy(root().join("knowledge").join(file), folder.join(file)).expect("copied");
    }
}

/// A good and a bad run of one job.
pub(crate) fn write_twins(good: &Path, bad: &Path) {
    let request = simulator::Request {
        tidy: true,
        ..simulator::Request::single(simulator::Cause::JoinHotKey, 7)
    };
    let twins = simulator::simulate_twins(&request).expect("twins");
    twins.0.write(good).expect("written");
    twins.1.write(bad).expect("written");
}

/// The index of the project's knowledge, built once per test run.
pub(crate) fn index() -> &'static Path {
    static INDEX: OnceLock<TempDir> = OnceLock::new();
    let folder = INDEX.get_or_init(|| {
        let folder = TempDir::new().expect("a temporary folder");
        let user = User::new();
        user.knowing(folder.path()).arg("index").assert().success();
        folder
    });
    folder.path()
}
