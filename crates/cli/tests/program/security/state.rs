//! The run store and the index when they are read-only, in use, or damaged.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use testkit::contains;

use crate::support::{Answer, User, case, expert_flags, small_knowledge, words};

const STORE: &str = "data/scopeagent/runs.sqlite";

/// A shell with a limit on file size in blocks of 512 bytes; a longer file is an error, as on a full
/// disk.
fn limited(user: &User, blocks: usize, arguments: impl IntoIterator<Item = OsString>) -> Answer {
    let program = user.process();
    let mut command = assert_cmd::Command::new("sh");
    command
        .args([
            "-c",
            &format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\""),
        ])
        .arg(program.get_program())
        .args(arguments)
        .env("HOME", user.home.path())
        .env("XDG_CONFIG_HOME", user.path("config"))
        .env("XDG_DATA_HOME", user.path("data"))
        .current_dir(user.home.path());
    Answer::of(&mut command)
}

#[track_caller]
fn has_no_id(answer: &Answer, hint: &str) {
    contains(&answer.err, ["warning: the run is not saved", hint]);
    assert_eq!(answer.code, Some(0), "{answer:#?}");
    let report: serde_json::Value = serde_json::from_str(&answer.out).expect("JSON");
    assert_eq!(report["run_id"], "");
}

#[test]
fn a_run_that_cannot_be_saved_has_no_id_and_the_hint_fits() {
    let job = case("healthy");
    let json = "--format json";

    let damaged = User::new();
    damaged.write(STORE, &"no database ".repeat(1000));
    has_no_id(&damaged.analyze(&job, json), "is damaged: move it away");
    for format in ["text", "markdown", "html"] {
        let shown = damaged.analyze(&job, &format!("--format {format}")).text();
        assert!(
            !shown.contains(" · run") && !shown.contains("Run:"),
            "{shown}"
        );
    }

    let in_use = User::new();
    in_use.analyze(&job, json).text();
    let other = Connection::open(in_use.path(STORE)).expect("opened");
    let lock = "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;";
    other.execute_batch(lock).expect("locked");
    has_no_id(
        &in_use.analyze(&job, json),
        "the other process has finished",
    );
    drop(other);
    assert_eq!(in_use.runs().len(), 1, "the store is whole");

    let no_folder = User::new();
    no_folder.write("data", "a file");
    has_no_id(&no_folder.analyze(&job, json), "choose another data folder");
    assert!(no_folder.runs().is_empty());

    let full = User::new();
    let flags = expert_flags().into_iter();
    let line = [
        "analyze".into(),
        job.clone().into(),
        "--format".into(),
        "json".into(),
    ];
    has_no_id(&limited(&full, 8, flags.chain(line)), "free some space");
}

#[test]
fn what_killed_processes_leave_behind_is_removed() {
    let user = User::new();
    user.analyze(&case("healthy"), "").text();
    for file in ["01KILLED.lock", "01KILLED.new"] {
        user.write(&format!("data/scopeagent/running/{file}"), "");
    }
    assert_eq!(user.runs().len(), 1);
    let left = fs::read_dir(user.path("data/scopeagent/running")).expect("listed");
    let left: Vec<_> = left.flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["open.lock"]);
}

/// Takes or returns the permission to write a folder and everything below.
#[cfg(unix)]
fn allow_writing(path: &Path, is_allowed: bool) {
    use std::os::unix::fs::PermissionsExt;
    let mode = match (path.is_dir(), is_allowed) {
        (true, true) => 0o755,
        (true, false) => 0o555,
        (false, true) => 0o644,
        (false, false) => 0o444,
    };
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("listed").flatten() {
            allow_writing(&entry.path(), is_allowed);
        }
    }
}

/// Runs the program as a user without any files; the administrator could write everywhere.
#[cfg(unix)]
fn run_as_nobody(user: &User, line: &str) -> Answer {
    use std::os::unix::process::CommandExt;
    let mut command = user.process();
    if fs::write("/proc/self/oom_score_adj", "0").is_ok() {
        const NOBODY: u32 = 65534;
        command.uid(NOBODY).gid(NOBODY);
    }
    command.args(words(line));
    Answer::of(&mut assert_cmd::Command::from_std(command))
}

#[cfg(unix)]
#[test]
fn a_read_only_home_is_enough_to_read_and_to_analyze() {
    let user = User::new();
    testkit::copy(&case("join-hot-key-skew"), &user.path("job"));
    user.run_plain("analyze job --format json").text();
    allow_writing(user.home.path(), false);
    let run = |line: &str| run_as_nobody(&user, line);

    assert_eq!(run("runs list --format json").list().len(), 1);
    assert_eq!(
        run("runs show last --format json").json()["verdict"],
        "problem"
    );
    for line in [
        "search spill",
        "index info",
        "index verify",
        "feedback effect",
        "rules",
    ] {
        let answer = run(line);
        assert_eq!(answer.err, "", "{line}");
        answer.text();
    }
    let analyze = "analyze job --format json";
    has_no_id(&run(analyze), "choose another data folder");
    for line in [
        "feedback last accept S1",
        "runs delete last",
        "index --full",
    ] {
        contains(run(line).refused(3), ["error:", "hint: choose another"]);
    }

    // Nor does it need anything to be there.
    allow_writing(user.home.path(), true);
    fs::remove_dir_all(user.path("data")).expect("removed");
    allow_writing(user.home.path(), false);
    assert!(run("runs list --format json").list().is_empty());
    let answer = run(analyze);
    contains(&answer.err, ["the index is built for this call only"]);
    has_no_id(&answer, "choose another data folder");
    allow_writing(user.home.path(), true);
}

/// Files of the current generation, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("listed").flatten() {
        let path = entry.path();
        let name = entry.file_name();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false if name == "READERS" || name == ".tantivy-writer.lock" => {}
            false => found.push(path),
        }
    }
    found.sort();
    found
}

/// Damages that a disk or an editor may do to a file.
fn damages(whole: &[u8]) -> Vec<Vec<u8>> {
    let mut flipped = whole.to_vec();
    if let Some(byte) = flipped.get_mut(whole.len() * 2 / 3) {
        *byte ^= 0x41;
    }
    let mut all = vec![Vec::new(), whole[..whole.len() / 2].to_vec(), flipped];
    all.retain(|content| content != whole);
    all
}

#[test]
fn a_damaged_index_is_named_and_rebuilt() {
    let user = User::new();
    small_knowledge(&user.path("knowledge"));
    user.run_plain("index").text();
    let mut files = files(&user.path("index"));
    files.retain(|file| !file.ends_with("LOCK"));
    assert!(files.len() > 7, "{files:?}");
    for file in &files {
        let whole = fs::read(file).expect("read");
        let name = file.file_name().expect("a name").to_string_lossy();
        for content in damages(&whole) {
            fs::write(file, &content).expect("written");
            for line in ["search 'hot key'", "index info", "index"] {
                let errors = user.run_plain(line).refused(3);
                assert!(!errors.contains("panicked"), "{errors}");
                contains(&errors, ["error:", "hint: `scopeagent index --full`"]);
                contains(&errors, [&*name]);
            }
            let verified = user.run_plain("index verify");
            assert!(!verified.err.contains("panicked"), "{verified:?}");
            assert!(
                matches!(verified.code, Some(3 | 10)),
                "{name}: {verified:?}"
            );
        }
        fs::write(file, &whole).expect("restored");
    }
    user.run_plain("search 'hot key'").text();
    for file in &files {
        fs::write(file, "cut").expect("written");
    }
    user.run_plain("index --rebuild").text();
    user.run_plain("index verify").text();
}

/// A pipe would block its reader.
#[cfg(unix)]
#[test]
fn a_file_of_the_index_that_is_no_file_is_refused() {
    let user = User::new();
    small_knowledge(&user.path("knowledge"));
    user.run_plain("index").text();
    let files = files(&user.path("index"));
    let ends = |end: &str| {
        files
            .iter()
            .find(|file| file.to_string_lossy().ends_with(end))
    };
    for end in ["meta.json", ".vec", ".store"] {
        let file = ends(end).expect("there");
        let name = &*file.file_name().expect("a name").to_string_lossy();
        let aside = user.path("aside");
        fs::rename(file, &aside).expect("moved");
        let made = std::process::Command::new("mkfifo").arg(file).status();
        assert!(made.expect("started").success());
        contains(user.run_plain("search 'hot key'").refused(3), [name]);
        fs::remove_file(file).expect("removed");
        std::os::unix::fs::symlink(&aside, file).expect("linked");
        contains(user.run_plain("search 'hot key'").refused(3), [name]);
        fs::remove_file(file).expect("removed");
        fs::rename(&aside, file).expect("moved back");
    }
    user.run_plain("search 'hot key'").text();
}
