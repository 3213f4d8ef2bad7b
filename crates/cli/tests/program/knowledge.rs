//! The knowledge base from the command line: built on first use, searched, checked.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::{User, root};

fn hits(user: &User, arguments: &[&str]) -> Vec<Value> {
    let output = user
        .expert()
        .arg("search")
        .args(arguments)
        .args(["--format", "json"])
        .output()
        .expect("runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn chinese_and_english_questions_find_the_playbook() {
    let user = User::new();
    for query in [
        "数据倾斜 热点键 怎么处理",
        "one hot key makes the join slow",
        "SKEWJOIN",
    ] {
        let found = hits(&user, &[query, "-k", "5"]);
        assert_eq!(found.len(), 5);
        assert!(
            found.iter().any(|h| h["chunk"]["id"]
                .as_str()
                .is_some_and(|id| id.contains("skew"))),
            "{query}"
        );
    }
}

#[test]
fn the_built_in_knowledge_needs_no_folder() {
    let user = User::new();
    let output = user
        .program()
        .args(["search", "spill", "--format", "json"])
        .output()
        .expect("runs");
    let found: Vec<Value> = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(found.iter().any(|h| {
        h["chunk"]["id"]
            .as_str()
            .is_some_and(|id| id.contains("spill"))
    }));
}

/// The index of the built-in knowledge in a user's data folder.
fn own_index(user: &User) -> PathBuf {
    let mut folders = vec![user.home.path().join("data")];
    while let Some(folder) = folders.pop() {
        if folder.ends_with("builtin-index") {
            return folder;
        }
        let entries = fs::read_dir(&folder).expect("listed").flatten();
        folders.extend(entries.map(|e| e.path()).filter(|path| path.is_dir()));
    }
    panic!("no index in the data folder");
}

fn ask(user: &User) {
    let output = user.program().args(["search", "spill"]).output();
    let output = output.expect("runs");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    assert!(!output.stdout.is_empty());
}

#[test]
fn first_starts_at_the_same_moment_all_answer() {
    let user = User::new();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| ask(&user));
        }
    });
}

#[test]
fn a_later_start_does_not_write_the_built_in_index() {
    let user = User::new();
    ask(&user);
    let writer = own_index(&user).join("LOCK");
    let first = fs::read_to_string(&writer).expect("read");
    ask(&user);
    assert_eq!(fs::read_to_string(&writer).expect("read"), first);
}

#[test]
fn the_built_in_index_mends_itself() {
    let user = User::new();
    ask(&user);
    let index = own_index(&user);
    let generation = || {
        let name = fs::read_to_string(index.join("CURRENT")).expect("read");
        index.join(name.trim())
    };
    for version in ["format", "chunker", "analyser", "embedder"] {
        let path = generation().join("manifest.json");
        let manifest = fs::read(&path).expect("read");
        let mut manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
        manifest[version] = match version {
            "format" => 0.into(),
            _ => "another".into(),
        };
        fs::write(&path, manifest.to_string()).expect("written");
        ask(&user);
        assert_ne!(generation().join("manifest.json"), path, "{version}");
    }
    for file in ["manifest.json", ".vec", "meta.json"] {
        let damaged = generation();
        let folders = [damaged.clone(), damaged.join("bm25")];
        let entries = folders
            .iter()
            .flat_map(|f| fs::read_dir(f).expect("listed").flatten());
        let mut paths = entries.map(|entry| entry.path());
        let path = paths.find(|path| path.to_string_lossy().ends_with(file));
        fs::write(path.expect("there"), "cut").expect("written");
        ask(&user);
        assert_ne!(generation(), damaged, "{file}");
    }
    fs::write(index.join("CURRENT"), "nonsense").expect("written");
    ask(&user);
}

#[test]
fn the_projects_knowledge_is_clean() {
    let output = User::new().expert().arg("lint").output().expect("runs");
    let findings = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{findings}");
}

#[test]
fn the_index_is_whole() {
    User::new()
        .expert()
        .args(["index", "verify"])
        .assert()
        .success();
}

#[test]
fn a_second_update_changes_nothing() {
    let user = User::new();
    let copy = user.home.path().join("index");
    let update = || {
        let mut command = user.program();
        command
            .arg("--knowledge")
            .arg(root().join("knowledge"))
            .arg("--index")
            .arg(&copy);
        let output = command
            .args(["index", "--format", "json"])
            .output()
            .expect("runs");
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    assert_eq!(update()["rebuilt"], true);
    let again = update();
    assert_eq!(
        (&again["rebuilt"], &again["embedded"]),
        (&Value::from(false), &Value::from(0))
    );
}

#[test]
fn init_writes_a_place_to_work_in() {
    let user = User::new();
    user.program().args(["init", "."]).assert().success();
    assert!(user.home.path().join("scopeagent.toml").is_file());
    user.program().args(["lint"]).assert().success();
    user.program().args(["init", "."]).assert().code(2);
}

#[test]
fn several_that_need_the_first_index_wait_for_one_that_builds_it() {
    let user = User::new();
    let experience = user.home.path().join("knowledge/experience");
    std::fs::create_dir_all(&experience).expect("made");
    let playbook = "experience/skew-join-hot-key.md";
    let from = root().join("knowledge").join(playbook);
    std::fs::copy(from, user.home.path().join("knowledge").join(playbook)).expect("copied");
    let errors: Vec<String> = std::thread::scope(|scope| {
        let search = || {
            let output = user.program().args(["search", "hot key"]).output();
            let output = output.expect("runs");
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            (!output.status.success()).then_some(errors)
        };
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(search)).collect();
        let ended = threads
            .into_iter()
            .filter_map(|t| t.join().expect("no panic"));
        ended.collect()
    });
    assert!(errors.is_empty(), "{errors:?}");
}
