//! Measures the accuracy of diagnoses, on simulated jobs with mechanisms that were left out when confidences were fitted.
//!
//! ```text
//! accuracy [--seed S] [--each N] [--mixed N] [--threads N] [--only NAME,…] [--failures FOLDER] [--fit] [--write FILE]
//! ```
//!
//! `--each` jobs of every mechanism and near miss (default 12) give the tables by cause and mechanism; `--mixed` jobs
//! (default 400), with one or two causes, healthy, with withheld files or failed, all of held-out mechanisms, give the
//! totals. `--failures` lists every job that is not right and keeps its folder, `--fit` fits the confidences to all jobs, `--write` replaces
//! the tables in a document.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line helper"
)]

mod fit;
mod score;
mod tables;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use score::{Scored, score};
use simulator::{Cause, Mechanisms, Request, Scale, Set, SimulatedJob, Way, ways};

type Failure = Box<dyn Error + Send + Sync>;

struct Args {
    seed: u64,
    each: usize,
    mixed: usize,
    threads: usize,
    only: Option<Vec<String>>,
    failures: Option<PathBuf>,
    fit: bool,
    write: Option<String>,
}

fn main() -> Result<(), Failure> {
    let args = parse(std::env::args().skip(1))?;
    let by_mechanism = run(&single_tasks(&args), &args)?;
    let mixed = run(&mixed_tasks(&args), &args)?;
    if args.failures.is_some() {
        for s in by_mechanism.iter().chain(&mixed).filter(|s| !s.right()) {
            println!("{}", s.complaint());
        }
    }
    if args.fit {
        let weights = fit::fit(by_mechanism.iter().flat_map(|s| &s.judged));
        fit::save(weights, args.seed, by_mechanism.len())?;
        println!("fitted {weights:?}");
    }
    let text = tables::text(&by_mechanism, &mixed, args.seed);
    match &args.write {
        Some(path) => tables::replace(Path::new(path), &text)?,
        None => println!("{text}"),
    }
    Ok(())
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Args, Failure> {
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let mut args = Args {
        seed: 20_261_122,
        each: 12,
        mixed: 400,
        threads,
        only: None,
        failures: None,
        fit: false,
        write: None,
    };
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--seed" => args.seed = value()?.parse()?,
            "--each" => args.each = value()?.parse()?,
            "--mixed" => args.mixed = value()?.parse()?,
            "--threads" => args.threads = value()?.parse()?,
            "--only" => args.only = Some(value()?.split(',').map(str::to_owned).collect()),
            "--write" => args.write = Some(value()?),
            "--failures" => args.failures = Some(value()?.into()),
            "--fit" => args.fit = true,
            _ => return Err(format!("unknown option {word}").into()),
        }
    }
    Ok(args)
}

enum Task {
    Single(Way, Request),
    Mixed(Set, usize),
}

impl Task {
    fn simulate(&self) -> Option<SimulatedJob> {
        match self {
            Self::Single(_, request) => simulator::simulate(request),
            Self::Mixed(set, index) => set.job(*index, None),
        }
    }

    /// Name of its folder.
    fn label(&self) -> String {
        match self {
            Self::Single(way, request) => format!("{}-{}", way.name, request.seed),
            Self::Mixed(set, index) => format!("mixed-{}-{index}", set.seed),
        }
    }
}

fn single_tasks(args: &Args) -> Vec<Task> {
    let wanted = |way: &Way| {
        let only = args.only.as_ref();
        only.is_none_or(|names| names.iter().any(|n| n == way.name))
    };
    let mut tasks = Vec::new();
    for (w, way) in ways().into_iter().enumerate().filter(|(_, w)| wanted(w)) {
        for i in 0..args.each {
            let seed = args.seed.wrapping_mul(1_000_003) + (w * 1000 + i) as u64;
            let request = if way.near_miss {
                Request {
                    near_miss: Some(way.cause),
                    ..Request::healthy(seed)
                }
            } else {
                Request::single(way.cause, seed)
            };
            let mechanisms = Mechanisms::Only(vec![way.name.to_owned()]);
            tasks.push(Task::Single(
                way,
                Request {
                    mechanisms,
                    ..request
                },
            ));
        }
    }
    tasks
}

fn mixed_tasks(args: &Args) -> Vec<Task> {
    let set = Set {
        seed: args.seed,
        scale: Scale::Usual,
        mechanisms: Mechanisms::HeldOut,
    };
    (0..args.mixed)
        .map(|index| Task::Mixed(set.clone(), index))
        .collect()
}

/// Simulates, diagnoses and scores jobs on several threads; results keep the sequence of the tasks.
fn run(tasks: &[Task], args: &Args) -> Result<Vec<Scored>, Failure> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| -> Result<(), Failure> {
        let work = || -> Result<(), Failure> {
            let folder = tempfile::tempdir()?;
            while let Some((index, task)) = {
                let index = next.fetch_add(1, Ordering::Relaxed);
                tasks.get(index).map(|t| (index, t))
            } {
                let Some(job) = task.simulate() else {
                    eprintln!("no job shows {}", task.label());
                    continue;
                };
                let home = folder.path().join("job");
                job.write(&home)?;
                let scored = score(&home, &job.truth, task.label())?;
                if let (Some(kept), false) = (&args.failures, scored.right()) {
                    job.write(&kept.join(task.label()))?;
                    let truth = serde_json::to_string_pretty(&job.truth)?;
                    std::fs::write(kept.join(task.label() + ".json"), truth)?;
                }
                std::fs::remove_dir_all(&home)?;
                if let Ok(mut done) = done.lock() {
                    done.push((index, scored));
                }
            }
            Ok(())
        };
        let workers: Vec<_> = (0..args.threads.max(1))
            .map(|_| scope.spawn(work))
            .collect();
        for worker in workers {
            worker.join().map_err(|_| "a worker panicked")??;
        }
        Ok(())
    })?;
    let mut done = done.into_inner()?;
    done.sort_by_key(|d| d.0);
    Ok(done.into_iter().map(|d| d.1).collect())
}
