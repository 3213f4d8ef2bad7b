//! Files that users install: the archive of a release, and the files that build it.

use std::process::Command;

use testkit::knowledge::root;
use testkit::{contains, lacks, skip};

use crate::support::User;

#[cfg(unix)]
#[test]
fn an_archive_has_the_program_with_manual_and_completions() {
    if Command::new("bash").arg("--version").output().is_err() {
        return skip("the archive of a release", "there is no bash");
    }
    use std::os::unix::fs::PermissionsExt;
    let user = User::new();
    let program = env!("CARGO_BIN_EXE_scopeagent");
    // A program with debug information takes long to pack.
    user.write(
        "scopeagent",
        &format!("#!/bin/sh\nexec '{program}' \"$@\"\n"),
    );
    let runs = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(user.path("scopeagent"), runs).expect("set");
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(user.home.path())
            .output()
            .expect("starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let script = root().join("scripts/package").display().to_string();
    run(&script, &["scopeagent", "dist/scopeagent-v1.tar.gz"]);
    let listed = run("tar", &["-tzf", "dist/scopeagent-v1.tar.gz"]);
    for part in [
        "scopeagent",
        "README.md",
        "LICENSE-MIT",
        "man/scopeagent-runs-show.1",
        "completions/scopeagent.bash",
        "completions/scopeagent.powershell",
    ] {
        let path = format!("scopeagent-v1/{part}\n");
        contains(&listed, [path.as_str()]);
    }
}

#[test]
fn the_image_is_small_and_runs_as_nobody_special() {
    let recipe = std::fs::read_to_string(root().join("Dockerfile")).expect("the recipe");
    let last = recipe.rsplit("FROM ").next().expect("a stage");
    contains(last, ["-slim", "USER 10001", "ENTRYPOINT [\"scopeagent\"]"]);
    lacks(last, ["cargo build", "USER root"]);
}
