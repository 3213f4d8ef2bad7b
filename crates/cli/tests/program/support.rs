//! A place to run the program in: its own data folder, a knowledge index shared by all tests.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// The root of the project.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder of the simulated cases, with `NAME/job` and `NAME/truth.json`.
pub(crate) fn cases() -> &'static Path {
    simulator::cases_in(env!("CARGO_TARGET_TMPDIR"))
}

/// The job folder of a simulated case.
pub(crate) fn case(name: &str) -> PathBuf {
    cases().join(name).join("job")
}

/// One user with a data folder of his own.
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

    /// The same for those who talk with it while it runs.
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

    /// The program with the project's knowledge.
    pub(crate) fn expert(&self) -> Command {
        let mut command = self.program();
        command
            .arg("--knowledge")
            .arg(root().join("knowledge"))
            .arg("--index")
            .arg(index());
        command
    }

    /// The JSON report on a job.
    pub(crate) fn report(&self, job: &Path, arguments: &[&str]) -> Value {
        let output = self
            .expert()
            .arg("analyze")
            .arg(job)
            .args(["--format", "json"])
            .args(arguments)
            .output()
            .expect("it runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "{} ended with {}: {errors}",
            job.display(),
            output.status
        );
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|e| panic!("stdout of {} is not JSON: {e}", job.display()))
    }
}

/// The index of the project's knowledge, built once a test run.
pub(crate) fn index() -> &'static Path {
    static INDEX: OnceLock<TempDir> = OnceLock::new();
    let folder = INDEX.get_or_init(|| {
        let folder = TempDir::new().expect("a temporary folder");
        let user = User::new();
        let mut command = user.program();
        command
            .arg("--knowledge")
            .arg(root().join("knowledge"))
            .arg("--index")
            .arg(folder.path());
        command.arg("index").assert().success();
        folder
    });
    folder.path()
}
