//! `scopeagent batch`: many job folders in one call, one JSON line a job.

use std::fs::File;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Instant;

use agent::Silent;

use crate::analysis::{self, Analyst};
use crate::args::{Batch, Format};
use crate::batch::{self, Done, Earlier, Line, Outcome, Summary};
use crate::config::Config;
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::keeper::Keeper;
use crate::reasoners::{Asked, Reasoners};
use crate::render;
use crate::terminal::{Bar, Terminal};

/// Runs the command.
pub(crate) fn run(args: &Batch, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let started = Instant::now();
    let earlier = args
        .out
        .as_deref()
        .map(|path| open(path, args.retry_failed))
        .transpose()?;
    let (file, done, mut summary) = match earlier {
        Some(earlier) => (Some(earlier.file), earlier.done, earlier.summary),
        None => Default::default(),
    };
    let jobs: Vec<PathBuf> = args
        .jobs
        .iter()
        .flat_map(|f| batch::jobs_under(f))
        .collect();
    let total = jobs.len();
    let left: Vec<PathBuf> = jobs
        .into_iter()
        .filter(|job| !done.contains(&absolute(job)))
        .collect();
    if left.len() < total {
        terminal.remark(&format!(
            "{} of {total} jobs are done already",
            total - left.len()
        ));
    }
    let keeper = Keeper::open(config, !args.no_store, terminal);
    let analyst = Analyst::open(config, keeper.learnt(), terminal)?;
    analyst.stop_on_interrupt();
    // Chosen once beforehand, so that a wrong profile is told before the first job.
    terminal.remark(&Reasoners::choose(&asked(args), config)?.said);
    let workers = usize::from(args.workers).max(1).min(left.len().max(1));
    let bar = terminal.bar(total - left.len(), total);
    let one = |job: &Path| line(args, config, &keeper, &analyst, job);
    let new = left.len();
    let mut out = Out {
        file,
        terminal,
        failure: None,
    };
    batch::run(left, workers, &one, &mut |text| {
        let written = taken(&text, &mut summary, &bar, &mut out);
        written && !analyst.is_stopped()
    });
    bar.finish();
    if let Some(failure) = out.failure {
        return Err(failure);
    }
    finish(args, &summary, new, started, terminal)?;
    if analyst.is_stopped() {
        return Ok(Exit::Interrupted);
    }
    let nothing = summary.done == 0 && summary.failed > 0;
    Ok(if nothing { Exit::Input } else { Exit::Success })
}

/// Where lines go: the file, else stdout.
struct Out<'a> {
    file: Option<File>,
    terminal: &'a Terminal,
    failure: Option<CliError>,
}

/// Counts and writes a line; whether to go on.
fn taken(text: &str, summary: &mut Summary, bar: &Bar, out: &mut Out<'_>) -> bool {
    match serde_json::from_str::<Line>(text) {
        // A job that was stopped in its middle is done by the next call.
        Ok(line) => {
            summary.add(&line);
            bar.step(line.job.rsplit('/').next().unwrap_or_default());
            if let Outcome::Failed { error } = &line.outcome {
                let first = error.lines().next().unwrap_or_default();
                bar.aside(|| tracing::warn!("{}: {first}", line.job));
            }
        }
        Err(_) => return true,
    }
    let written = match &mut out.file {
        Some(file) => file.write_all(format!("{text}\n").as_bytes()).map_err(|e| {
            CliError::from_source(Exit::Failure, &e).hint("the output file cannot be written")
        }),
        None => out.terminal.print(&format!("{text}\n")),
    };
    if let Err(error) = written {
        out.failure = Some(error);
        return false;
    }
    true
}

/// The line of one job; empty if it was stopped in its middle.
fn line(
    args: &Batch,
    config: &Config,
    keeper: &Keeper<'_>,
    analyst: &Analyst,
    job: &Path,
) -> String {
    let started = Instant::now();
    // A fault of the program in one job must not cost the others.
    let made = catch_unwind(AssertUnwindSafe(|| {
        let request = analysis::request(job, &args.thinking, config);
        let run = keeper.begin(&request);
        let made = Reasoners::choose(&asked(args), config)
            .and_then(|reasoners| analyst.analyze(&request, reasoners, &mut Silent));
        keeper.finish(run, &made);
        made
    }));
    let outcome = match made {
        Ok(Ok(made)) if made.report.partial => return String::new(),
        Ok(Ok(made)) => Outcome::Done(Box::new(Done::of(made.report, args.reports))),
        Ok(Err(error)) => Outcome::Failed {
            error: told(&error),
        },
        Err(_) => Outcome::Failed {
            error: "the program failed on this job; please report it".to_owned(),
        },
    };
    let line = Line {
        job: absolute(job),
        took_seconds: started.elapsed().as_secs_f64(),
        outcome,
    };
    serde_json::to_string(&line).unwrap_or_default()
}

/// An error with what led to it, in a line.
fn told(error: &CliError) -> String {
    let mut parts = vec![error.message().to_owned()];
    parts.extend(error.causes().iter().cloned());
    parts.join(": ")
}

fn finish(
    args: &Batch,
    summary: &Summary,
    new: usize,
    started: Instant,
    terminal: &Terminal,
) -> Result<()> {
    let took = started.elapsed().as_secs_f64();
    if args.out.is_none() {
        // stdout holds the lines; the table goes where remarks go.
        terminal.remark(render::batch::table(summary, new, took).trim_end());
        return Ok(());
    }
    terminal.print(&match args.format {
        Format::Json => super::json(summary)?,
        Format::Text => render::batch::table(summary, new, took),
    })
}

fn open(path: &Path, again: bool) -> Result<Earlier> {
    Earlier::open(path, again).map_err(|e| {
        CliError::from_source(Exit::Usage, &e).hint(format!(
            "`{}` must be new, or a file that `batch --out` wrote",
            path.display()
        ))
    })
}

/// One spelling for each folder, wherever a call is made from.
fn absolute(job: &Path) -> String {
    job.canonicalize()
        .or_else(|_| std::path::absolute(job))
        .unwrap_or_else(|_| job.to_path_buf())
        .display()
        .to_string()
}

fn asked(args: &Batch) -> Asked<'_> {
    Asked {
        thinking: &args.thinking,
        dry_run: false,
        transcript: None,
        replay: None,
    }
}
