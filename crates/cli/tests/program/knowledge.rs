//! The knowledge base from the command line: built on first use, searched, checked.

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
