//! Many jobs in one call: which folders are jobs, one line per job, resuming, and a summary. The caller supplies the analysis.

mod folders;
mod line;
mod resume;
mod summary;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

pub(crate) use folders::{is_job, jobs_under};
pub(crate) use line::{Done, Line, Outcome};
pub(crate) use resume::Earlier;
pub(crate) use summary::Summary;

/// Analyzes the jobs on `workers` threads and passes each result to `take` as it comes, until `take` returns false. Memory grows with the
/// workers, not the jobs. `analyze` must not panic.
pub(crate) fn run<T: Send>(
    jobs: Vec<PathBuf>,
    workers: usize,
    analyze: &(dyn Fn(&Path) -> T + Sync),
    take: &mut dyn FnMut(T) -> bool,
) {
    let jobs = Mutex::new(jobs.into_iter());
    let stopped = AtomicBool::new(false);
    // A worker that is ahead waits until its result is taken.
    let (sender, lines) = mpsc::sync_channel(workers);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, jobs, stopped) = (sender.clone(), &jobs, &stopped);
            scope.spawn(move || {
                while !stopped.load(Ordering::Relaxed) {
                    let next = jobs.lock().ok().and_then(|mut jobs| jobs.next());
                    let Some(job) = next else { break };
                    if sender.send(analyze(&job)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for line in lines {
            if !take(line) {
                stopped.store(true, Ordering::Relaxed);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_gives_one_line_on_any_number_of_workers() {
        for workers in [1, 3, 16] {
            let jobs: Vec<PathBuf> = (0..100).map(|n| PathBuf::from(format!("{n}"))).collect();
            let mut lines = Vec::new();
            let name = |job: &Path| job.display().to_string();
            run(jobs, workers, &name, &mut |line| {
                lines.push(line);
                true
            });
            lines.sort_by_key(|l| l.parse::<u32>().unwrap_or(u32::MAX));
            let wanted: Vec<String> = (0..100).map(|n| n.to_string()).collect();
            assert_eq!(lines, wanted);
        }
    }

    #[test]
    fn taking_no_more_stops_the_workers() {
        let jobs = vec![PathBuf::from("a"); 10_000];
        let mut taken = 0;
        run(jobs, 2, &|_| String::new(), &mut |_| {
            taken += 1;
            taken < 5
        });
        assert!(taken < 100, "{taken}");
    }
}
