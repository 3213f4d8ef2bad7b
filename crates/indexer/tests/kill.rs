//! A writer that is killed at any moment leaves the old generation or the new one.
//!
//! The writer is this test program started again; `INDEXER_KILL_ROUNDS` sets the number of kills (25 if unset).

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use indexer::build::update;
use indexer::verify::verify;
use indexer::{Index, Query, Settings};

const CHILD: &str = "INDEXER_KILL_CHILD";
const ROUNDS: &str = "INDEXER_KILL_ROUNDS";
const DOCUMENTS: usize = 300;

fn write(folder: &Path, version: usize) {
    for document in 0..DOCUMENTS {
        // A third stays as it is, so that both ways of updating are killed.
        let version = if version % 2 == 1 && document % 3 > 0 {
            version - 1
        } else {
            version
        };
        let text = format!(
            "# Document {document}\n\n## Fix\n\nuse salt number{document}x, state version{version}x\n"
        );
        fs::write(folder.join(format!("doc{document}.md")), text).expect("written");
    }
}

/// Text of every chunk in the state that the index serves.
fn state(index: &Path) -> Vec<String> {
    let open = Index::open(index, &Settings::default()).expect("the index opens after a kill");
    (0..DOCUMENTS)
        .map(|document| {
            open.chunk(&format!("doc{document}.md#fix"))
                .expect("every chunk is there")
                .text
        })
        .collect()
}

/// What `knowledge` says now.
fn wanted(knowledge: &Path) -> Vec<String> {
    (0..DOCUMENTS)
        .map(|document| {
            let text =
                fs::read_to_string(knowledge.join(format!("doc{document}.md"))).expect("read");
            text.trim_end().to_owned()
        })
        .collect()
}

#[test]
fn a_killed_writer_leaves_a_whole_generation() {
    if let Ok(folder) = std::env::var(CHILD) {
        let folder = Path::new(&folder);
        let (knowledge, index) = (folder.join("knowledge"), folder.join("index"));
        update(&knowledge, &index, &Settings::default(), &mut |_| {}).expect("updated");
        return;
    }
    let rounds: u64 = std::env::var(ROUNDS)
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(25);
    let folder = tempfile::tempdir().expect("a folder");
    let (knowledge, index) = (folder.path().join("knowledge"), folder.path().join("index"));
    fs::create_dir(&knowledge).expect("a folder");
    write(&knowledge, 0);
    let run = || {
        let program = std::env::current_exe().expect("this program");
        let mut command = Command::new(program);
        command.args([
            "--exact",
            "a_killed_writer_leaves_a_whole_generation",
            "--nocapture",
        ]);
        command
            .env(CHILD, folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.spawn().expect("started")
    };
    assert!(run().wait().expect("ended").success());
    let mut version = 1;
    write(&knowledge, version);
    let started = Instant::now();
    assert!(run().wait().expect("ended").success());
    let whole = started.elapsed();

    let (mut killed, mut old, mut new) = (0, 0, 0);
    for round in 0..rounds {
        version += 1;
        let before = state(&index);
        write(&knowledge, version);
        let after = wanted(&knowledge);
        let mut child = run();
        std::thread::sleep(moment(round, whole));
        let was_running = child.try_wait().expect("asked").is_none();
        child.kill().expect("killed");
        child.wait().expect("ended");
        killed += usize::from(was_running);
        let now = state(&index);
        assert!(
            now == before || now == after,
            "round {round}: neither the old nor the new state"
        );
        if now == after {
            new += 1
        } else {
            old += 1
        }
        let verified = verify(&index, &Settings::default(), &mut |_| {}).expect("verified");
        assert!(
            verified.is_whole(),
            "round {round}: {:?}",
            verified.problems
        );
    }
    eprintln!(
        "{rounds} rounds, {killed} killed while running, {old} left the old and {new} the new generation"
    );
    assert!(killed > 0, "no kill came in time");
    assert!(
        run().wait().expect("ended").success(),
        "the next writer goes on"
    );
    assert_eq!(state(&index), wanted(&knowledge));
    let hits = Index::open(&index, &Settings::default())
        .expect("opened")
        .search(&Query::new("salt", 3))
        .expect("searched");
    assert_eq!(hits.len(), 3);
}

/// A moment within the run, spread by the golden ratio: even coverage, repeatable, no two alike.
fn moment(round: u64, whole: Duration) -> Duration {
    let share = (round as f64 * 0.618_033_988_75).fract();
    whole.mul_f64(share * 1.1)
}
