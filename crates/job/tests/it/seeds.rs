//! Runs the seeds of the fuzz targets, and a corpus if there is one, as plain tests.

#[path = "../../../../tests/fuzz/kinds.rs"]
mod kinds;

use std::path::{Path, PathBuf};

fn inputs(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz");
    ["seeds", "corpus"]
        .iter()
        .filter_map(|part| std::fs::read_dir(root.join(part).join(target)).ok())
        .flatten()
        .flatten()
        .map(|entry| (entry.path(), std::fs::read(entry.path()).expect("readable")))
        .collect()
}

#[test]
fn readers_take_any_input() {
    let inputs = inputs("readers");
    let options = job::Options::default();
    for kind in kinds::KINDS {
        let seeded = inputs
            .iter()
            .any(|(_, bytes)| bytes.first().is_some_and(|b| kinds::choose(*b) == kind));
        assert!(seeded, "no seed for {kind:?}");
    }
    for (path, bytes) in inputs {
        let Some((choice, file)) = bytes.split_first() else {
            continue;
        };
        for end in [file.len(), file.len() / 2, file.len() / 3] {
            let job = job::read_memory(&[("file", kinds::choose(*choice), &file[..end])], &options);
            assert!(job.diagnostics.len() <= 20, "{}", path.display());
        }
    }
}

#[test]
fn seeds_are_recognized_by_their_content() {
    for (path, bytes) in inputs("readers") {
        let name = path.file_name().expect("a name").to_string_lossy();
        // deliberately hard, or of a form that only its folder explains
        if ["nested", "cut", "bomb", "nul", "numbers"].contains(&&*name) {
            continue;
        }
        let Some((choice, file)) = bytes.split_first() else {
            continue;
        };
        assert_eq!(job::kind_of(file), kinds::choose(*choice), "{name}");
    }
}

#[test]
fn folders_in_memory_are_read_as_one_job() {
    let is_seed = |path: &Path| path.parent().is_some_and(|p| p.ends_with("seeds/analysis"));
    for (path, bytes) in inputs("analysis").into_iter().filter(|(p, _)| is_seed(p)) {
        let text = String::from_utf8(bytes).expect("seeds are text");
        let parts = text.split("=====\n").map(str::as_bytes);
        let files: Vec<_> = parts.map(|p| ("file", job::kind_of(p), p)).collect();
        let job = job::read_memory(&files, &job::Options::default());
        let whole = job.script.is_some() && !job.stages.is_empty() && !job.tables.is_empty();
        assert!(whole, "{}", path.display());
    }
}

#[test]
fn scripts_are_lossless() {
    for (path, bytes) in inputs("script") {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let script = job::script::Script::parse("seed", text.clone());
        assert_eq!(script.tree().print(&text), text, "{}", path.display());
    }
}

/// Mutations like in fuzzing, from a fixed seed, so that a failure is reproducible.
/// `SCOPEAGENT_MUTATIONS` is the number per seed; a few hundred take seconds.
#[test]
fn mutated_seeds_are_taken() {
    let rounds = std::env::var("SCOPEAGENT_MUTATIONS").ok();
    let rounds = rounds.and_then(|n| n.parse().ok());
    let options = job::Options::default();
    let mut random = Random(42);
    let all = inputs("readers");
    for (_, seed) in &all {
        for _ in 0..rounds.unwrap_or(40) {
            let other = &all[random.below(all.len())].1;
            let bytes = mutate(seed, other, &mut random);
            let Some((choice, file)) = bytes.split_first() else {
                continue;
            };
            let job = job::read_memory(&[("file", kinds::choose(*choice), file)], &options);
            for stage in 0..job.stages.len().min(8) {
                let facts = job.stage_facts(stage);
                let _ = (facts.spills(), facts.own_ms());
            }
            let _ = (job.critical_path(), job::kind_of(file));
        }
    }
}

struct Random(u64);

impl Random {
    /// A number below `n`, which is not 0 (SplitMix64).
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

/// Flips, cuts, repeats or splices pieces of a seed.
fn mutate(seed: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len().max(1)).min(bytes.len());
        let length = random.below(24).min(bytes.len() - at);
        match random.below(6) {
            0 if at < bytes.len() => bytes[at] = random.below(256) as u8,
            1 => drop(bytes.drain(at..at + length)),
            2 => {
                let piece = bytes[at..at + length].repeat(random.below(40));
                bytes.splice(at..at, piece);
            }
            3 => {
                let from = random.below(other.len().max(1)).min(other.len());
                let to = (from + random.below(64)).min(other.len());
                bytes.splice(at..at, other[from..to].iter().copied());
            }
            4 => bytes.truncate(at),
            _ => {
                let hard = "\" < & ]]> \0 -1 99999999999999999999 { [ \u{feff} /* @\" %";
                let pieces: Vec<&str> = hard.split(' ').collect();
                bytes.splice(at..at, pieces[random.below(pieces.len())].bytes());
            }
        }
    }
    bytes
}
