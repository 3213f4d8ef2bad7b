//! Every diff that the analyser suggests for a simulated job applies, and the changed script gives the rows that the
//! script gave.

use diagnosis::Settings;
use job::script::Script;
use job::{Catalogue, Job};
use report::{Language, Suggestion};
use simulator::exec::World;
use simulator::{CAUSES, Dialect, Mechanisms, Request, Scale, simulate};
use std::path::Path;
use std::process::Command;

/// Seeds a cause and dialect.
const SEEDS: u64 = 3;

fn suggestions(job: &Job) -> Vec<Suggestion> {
    let settings = Settings::default();
    let found = diagnosis::diagnose(job, &Catalogue::builtin(), &settings, Language::En);
    found
        .suggestions
        .into_iter()
        .map(|s| s.suggestion)
        .collect()
}

/// Applies a unified diff strictly: context and removed lines must stand where they are said to stand.
fn apply(text: &str, diff: &str) -> Result<String, String> {
    let old: Vec<&str> = text.split_inclusive('\n').collect();
    let mut out: Vec<String> = Vec::new();
    let mut at = 0;
    for line in diff.split_inclusive('\n') {
        if line.starts_with("---") || line.starts_with("+++") || line.starts_with('\\') {
            continue;
        }
        if let Some(head) = line.strip_prefix("@@ -") {
            let first: usize = head
                .split([',', ' '])
                .next()
                .and_then(|n| n.parse().ok())
                .ok_or("hunk head")?;
            let start = first.saturating_sub(1).max(at);
            out.extend(old[at..start].iter().map(|l| (*l).to_owned()));
            at = start;
        } else if let Some(added) = line.strip_prefix('+') {
            out.push(added.to_owned());
        } else {
            let expected = &line[1.min(line.len())..];
            let found = old.get(at).copied().unwrap_or("");
            if found.trim_end() != expected.trim_end() {
                return Err(format!("line {}: `{found}` is not `{expected}`", at + 1));
            }
            if line.starts_with(' ') {
                out.push(found.to_owned());
            }
            at += 1;
        }
    }
    out.extend(old[at..].iter().map(|l| (*l).to_owned()));
    Ok(out.concat())
}

/// `patch --dry-run`, where there is that program.
fn patch_accepts(script: &Path, diff: &str) -> Option<bool> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("diff");
    std::fs::write(&file, diff).expect("writes");
    let run = Command::new("patch")
        .args(["--dry-run", "--force", "--silent"])
        .arg(script)
        .arg(&file)
        .output()
        .ok()?;
    Some(run.status.success())
}

struct Tally {
    diffs: usize,
    wrong: Vec<String>,
}

impl Tally {
    fn report(&self) {
        assert!(
            self.wrong.is_empty(),
            "{} of {} diffs:\n{}",
            self.wrong.len(),
            self.diffs,
            self.wrong.join("\n\n")
        );
    }
}

/// Checks every diff for the job in `folder`.
fn check_folder(folder: &Path, name: &str, seed: u64, tally: &mut Tally) {
    let job = job::load(folder).expect("loads");
    let Some(before) = job.script.clone() else {
        return;
    };
    let file = before.file.clone();
    let world = World::of_folder(folder, seed).expect("tables");
    for suggestion in suggestions(&job) {
        let Some(diff) = &suggestion.diff else {
            continue;
        };
        tally.diffs += 1;
        let about = format!("{name}: {}", suggestion.title);
        if patch_accepts(&folder.join(&file), diff) == Some(false) {
            tally.wrong.push(format!("{about}: patch refuses\n{diff}"));
        }
        let outcome = apply(&before.text, diff).and_then(|text| {
            let after = Script::parse(&file, text);
            world.compare(&before, &after).map_err(|e| e.to_string())
        });
        match outcome {
            Ok(None) => {}
            Ok(Some(difference)) => tally.wrong.push(format!("{about}: {difference}\n{diff}")),
            Err(error) => tally.wrong.push(format!("{about}: {error}\n{diff}")),
        }
    }
}

fn check(request: &Request, name: &str, tally: &mut Tally) {
    if let Some(simulated) = simulate(request) {
        let folder = tempfile::tempdir().expect("a folder");
        simulated.write(folder.path()).expect("writes");
        check_folder(folder.path(), name, request.seed, tally);
    }
}

#[test]
fn suggested_rewrites_keep_the_rows() {
    let mut tally = Tally {
        diffs: 0,
        wrong: Vec::new(),
    };
    for (cause, code) in CAUSES {
        for dialect in [Dialect::Scope, Dialect::Usql] {
            for seed in 0..SEEDS {
                let request = Request {
                    mechanisms: Mechanisms::All,
                    scale: Scale::Small,
                    dialect: Some(dialect),
                    ..Request::single(cause, 900 + seed)
                };
                check(&request, &format!("{code} {dialect:?} {seed}"), &mut tally);
            }
        }
    }
    assert!(tally.diffs > 50, "only {} diffs", tally.diffs);
    tally.report();
}

/// Jobs of another simulator, read where they lie.
#[test]
fn rewrites_of_the_shared_jobs_keep_the_rows() {
    let Some(jobs) = testkit::shared("jobs-dev") else {
        return;
    };
    let mut tally = Tally {
        diffs: 0,
        wrong: Vec::new(),
    };
    for folder in std::fs::read_dir(jobs)
        .expect("listed")
        .map(|e| e.expect("an entry").path())
    {
        // Without metadata there are no tables to fill.
        if folder.join("tables.json").is_file() {
            let name = folder.display().to_string();
            check_folder(&folder, &name, 1, &mut tally);
        }
    }
    tally.report();
}
