//! A writer that is killed at any moment leaves the old generation or the new one.
//!
//! The writer is this test program, started again; `INDEXER_KILL_ROUNDS` sets the number of kills (default 25).

use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use indexer::Query;

use crate::support::World;

const ROUNDS: &str = "INDEXER_KILL_ROUNDS";
const DOCUMENTS: usize = 300;

/// Odd versions change a third of the documents, even versions all of them, so that both kinds of update
/// are killed.
fn write(world: &World, version: usize) {
    world.write_version(DOCUMENTS, version);
    if version % 2 == 1 {
        for document in (0..DOCUMENTS).filter(|document| document % 3 > 0) {
            let path = format!("doc{document}.md");
            let text = fs::read_to_string(world.knowledge().join(&path)).expect("read");
            let (old, new) = (version - 1, format!("version{version}x"));
            world.write(&path, &text.replace(&new, &format!("version{old}x")));
        }
    }
}

/// Text of every chunk in the state that the index serves.
fn state(world: &World) -> Vec<String> {
    let open = world.open();
    let text = |document| {
        let chunk = open.chunk(&format!("doc{document}.md#fix"));
        chunk.expect("every chunk is there").text
    };
    (0..DOCUMENTS).map(text).collect()
}

/// The state after an update.
fn wanted(world: &World) -> Vec<String> {
    let text = |document| {
        let path = world.knowledge().join(format!("doc{document}.md"));
        let text = fs::read_to_string(path).expect("read");
        text.trim_end().to_owned()
    };
    (0..DOCUMENTS).map(text).collect()
}

#[test]
fn a_killed_writer_leaves_a_whole_generation() {
    if let Some(world) = World::of_parent() {
        world.update();
        return;
    }
    let rounds = std::env::var(ROUNDS).ok().and_then(|n| n.parse().ok());
    let rounds: u64 = rounds.unwrap_or(25);
    let world = World::new();
    let run = || -> Child {
        let mut command = world.child(&[], "kill::a_killed_writer_leaves_a_whole_generation");
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("started")
    };
    let succeeds = || run().wait().expect("ended").success();
    write(&world, 0);
    assert!(succeeds());
    write(&world, 1);
    let started = Instant::now();
    assert!(succeeds());
    let whole = started.elapsed();

    let (mut killed, mut new) = (0, 0);
    for round in 0..rounds {
        let before = state(&world);
        write(&world, 2 + round as usize);
        let after = wanted(&world);
        let mut child = run();
        std::thread::sleep(moment(round, whole));
        killed += usize::from(child.try_wait().expect("asked").is_none());
        child.kill().expect("killed");
        child.wait().expect("ended");
        let now = state(&world);
        // either the old state or the new one
        assert!(now == before || now == after, "round {round}");
        new += usize::from(now == after);
        world.assert_whole(&format!("round {round}"));
    }
    eprintln!("{rounds} rounds, {killed} killed while running, {new} left the new generation");
    assert!(killed > 0, "no kill came in time");
    assert!(succeeds(), "the next writer continues");
    assert_eq!(state(&world), wanted(&world));
    let hits = world.open().search(&Query::new("salt", 3));
    assert_eq!(hits.expect("searched").len(), 3);
}

/// A moment within the run, spread by the golden ratio: even coverage, repeatable, no two alike.
fn moment(round: u64, whole: Duration) -> Duration {
    let share = (round as f64 * 0.618_033_988_75).fract();
    whole.mul_f64(share * 1.1)
}
