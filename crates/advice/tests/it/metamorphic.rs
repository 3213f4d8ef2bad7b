//! Invariants of every job: taking information away never makes it healthy and never adds a cause,
//! and a change without meaning does not change its diagnosis.

use std::collections::BTreeMap;
use std::path::Path;

use diagnosis::Diagnosis;
use report::{Cause, Finding, Verdict};
use simulator::{Scale, cases, job_of_set};
use testkit::shared;

use crate::mutate::{Folder, Mutant, equivalents, removals};
use crate::support::diagnose;

/// Least confidence of a likely cause.
const LIKELY: f64 = 0.5;

/// Seed of the simulated jobs that only these tests use.
const SEED: u64 = 424_243;

fn diagnosed(folder: &Folder) -> Diagnosis {
    let files: Vec<_> = folder
        .iter()
        .map(|(name, bytes)| (name.as_str(), job::kind_of(bytes), bytes.as_slice()))
        .collect();
    diagnose(&job::read_memory(&files, &job::Options::default()))
}

fn folder_at(path: &Path) -> Folder {
    let entries = std::fs::read_dir(path).expect("a folder");
    let files = entries.flatten().filter(|e| e.path().is_file());
    files
        .map(|e| {
            let name = e.file_name().to_string_lossy().into_owned();
            (name, std::fs::read(e.path()).expect("a file"))
        })
        .collect()
}

/// Errors in the mutants of one folder, and the number of mutants.
#[derive(Default)]
struct Tally {
    mutants: usize,
    violations: Vec<String>,
}

impl Tally {
    fn removals(&mut self, name: &str, folder: &Folder, every: usize) {
        let whole = diagnosed(folder);
        for mutant in removals(folder, every) {
            self.mutants += 1;
            let less = diagnosed(&mutant.folder);
            if whole.verdict != Verdict::Healthy && less.verdict == Verdict::Healthy {
                let causes: Vec<&str> = whole.findings.iter().map(|f| f.cause.code()).collect();
                let was = format!("{:?} {}", whole.verdict, causes.join(", "));
                self.note(name, &mutant, &format!("healthy, was {was}"));
            }
            for finding in &less.findings {
                if finding.confidence >= LIKELY && !known(finding, &whole, &less) {
                    let (cause, sure) = (finding.cause, finding.confidence);
                    self.note(name, &mutant, &format!("new: {cause} ({sure:.2})"));
                }
            }
        }
    }

    fn equivalents(&mut self, name: &str, folder: &Folder) {
        let outcome = |d: &Diagnosis| {
            let causes: BTreeMap<_, _> = d.findings.iter().map(|f| (f.cause, f.severity)).collect();
            (d.verdict, causes)
        };
        let whole = outcome(&diagnosed(folder));
        for mutant in equivalents(folder) {
            self.mutants += 1;
            let other = outcome(&diagnosed(&mutant.folder));
            if other != whole {
                self.note(name, &mutant, &format!("{whole:?} became {other:?}"));
            }
        }
    }

    fn note(&mut self, name: &str, mutant: &Mutant, what: &str) {
        self.violations
            .push(format!("{name} without {}: {what}", mutant.what));
    }
}

/// Whether the whole folder shows the cause too: by its own name; in the same stage, by a more specific kind of uneven
/// input or of tiny vertices; or as the effect of a cause that is also found without the information.
fn known(finding: &Finding, whole: &Diagnosis, less: &Diagnosis) -> bool {
    let is_skew = |f: &Finding| f.problem_type == report::ProblemType::DataSkew;
    let rule = whole.rules.iter().find(|r| r.cause == finding.cause);
    let explaining = rule.filter(|r| r.outcome == report::RuleResult::Explained);
    let by = explaining.and_then(|r| r.by.as_deref());
    let origin = whole.findings.iter().find(|f| Some(f.id.as_str()) == by);
    let is_effect = origin.is_some_and(|o| less.findings.iter().any(|f| f.cause == o.cause));
    is_effect
        || whole.findings.iter().any(|f| {
            let is_kind = (is_skew(f) && is_skew(finding))
                || (f.cause == Cause::SmallFiles && finding.cause == Cause::TinyVertices);
            f.cause == finding.cause || (is_kind && f.stage == finding.stage)
        })
}

/// Runs `check` on every folder, on as many threads as there are processors.
fn check(folders: Vec<(String, Folder)>, check: impl Fn(&mut Tally, &str, &Folder) + Sync) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let size = folders.len().div_ceil(threads).max(1);
    let check = &check;
    let tallies: Vec<Tally> = std::thread::scope(|scope| {
        let parts: Vec<_> = folders
            .chunks(size)
            .map(|part| {
                scope.spawn(move || {
                    let mut tally = Tally::default();
                    for (name, folder) in part {
                        check(&mut tally, name, folder);
                    }
                    tally
                })
            })
            .collect();
        let ended = parts.into_iter().map(|p| p.join().expect("no panic"));
        ended.collect()
    });
    let mutants: usize = tallies.iter().map(|t| t.mutants).sum();
    let violations: Vec<String> = tallies.into_iter().flat_map(|t| t.violations).collect();
    assert!(mutants > 0, "nothing was checked");
    assert!(
        violations.is_empty(),
        "{mutants} mutants, {} violations:\n{}",
        violations.len(),
        violations.join("\n")
    );
}

/// The jobs in `tests/cases`.
fn committed() -> Vec<(String, Folder)> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases");
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(cases).expect("cases").flatten() {
        let job = entry.path().join("job");
        if job.is_dir() {
            let name = entry.file_name().to_string_lossy().into_owned();
            folders.push((name, folder_at(&job)));
        }
    }
    folders
}

fn simulated_cases() -> Vec<(String, Folder)> {
    let simulated = |case: simulator::Case| {
        let job = simulator::simulate(&case.request).expect("a case can be simulated");
        (case.name.to_owned(), job.files)
    };
    cases().into_iter().map(simulated).collect()
}

fn fresh(seed: u64, count: usize) -> Vec<(String, Folder)> {
    let job = |i| {
        Some((
            format!("job-{i:03}"),
            job_of_set(seed, i, None, Scale::Small)?.files,
        ))
    };
    (0..count).filter_map(job).collect()
}

#[test]
fn taking_a_file_away_from_a_case_is_sound() {
    let mut folders = committed();
    folders.extend(simulated_cases());
    folders.retain(|(name, _)| !name.starts_with("near-"));
    check(folders, |tally, name, folder| {
        tally.removals(name, folder, usize::MAX);
    });
}

#[test]
fn taking_information_out_of_the_files_of_a_case_is_sound() {
    check(committed(), |tally, name, folder| {
        tally.removals(name, folder, 9)
    });
}

#[test]
fn the_same_job_written_differently_gets_the_same_diagnosis() {
    check(committed(), Tally::equivalents);
}

#[test]
fn taking_a_file_away_from_a_real_job_is_sound() {
    let Some(jobs) = shared("real/jobs") else {
        return;
    };
    let folders = std::fs::read_dir(jobs).expect("jobs").flatten();
    let folders = folders.map(|e| {
        let name = e.file_name().to_string_lossy().into_owned();
        (name, folder_at(&e.path()))
    });
    check(folders.collect(), |tally, name, folder| {
        tally.removals(name, folder, 3);
        tally.equivalents(name, folder);
    });
}

/// `METAMORPHIC_SEED` and `METAMORPHIC_JOBS` set which jobs are simulated and how many, and
/// `METAMORPHIC_EVERY` that only every n-th change within a file is tried.
#[test]
#[ignore = "takes minutes"]
fn every_mutant_of_fresh_jobs_is_sound() {
    let number = |name: &str| std::env::var(name).ok()?.parse::<usize>().ok();
    let every = number("METAMORPHIC_EVERY").unwrap_or(1);
    let seed = number("METAMORPHIC_SEED").map_or(SEED, |seed| seed as u64);
    let mut folders = fresh(seed, number("METAMORPHIC_JOBS").unwrap_or(200));
    folders.extend(committed());
    folders.extend(simulated_cases());
    check(folders, |tally, name, folder| {
        tally.removals(name, folder, every);
        tally.equivalents(name, folder);
    });
}
