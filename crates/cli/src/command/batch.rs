//! `scopeagent batch`: many job folders in one call, one JSON line per job.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use agent::Silent;
use report::visible_line;
use server::{Analyst, Error, ErrorKind, Explain, Result, Task};
use tokio_util::sync::CancellationToken;

use crate::args::Batch;
use crate::batch::{self, Done, Earlier, Line, Outcome, Summary};
use crate::config::Config;
use crate::exit::Exit;
use crate::render;
use crate::session;
use crate::terminal::{Bar, Terminal};
use crate::worker::Pool;

pub(crate) fn run(args: &Batch, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let started = Instant::now();
    let (file, done, mut summary) = match &args.out {
        Some(path) => {
            let earlier = open(path, args.retry_failed)?;
            (Some(earlier.file), earlier.done, earlier.summary)
        }
        None => Default::default(),
    };
    let jobs = args.jobs.iter().flat_map(|f| batch::jobs_under(f));
    let mut left: Vec<PathBuf> = jobs.collect();
    let total = left.len();
    left.retain(|job| !done.contains(&absolute(job)));
    let new = left.len();
    if let skipped @ 1.. = total - new {
        terminal.remark(&format!("{skipped} of {total} jobs are already done"));
    }
    let runtime = session::runtime()?;
    let session = session::open_resident(config, terminal, &runtime)?;
    session.index()?;
    let cancel = CancellationToken::new();
    session::cancel_on_interrupt(runtime.handle(), cancel.clone());
    let announced = session.check_reasoner(&session::reasoner(&args.thinking))?;
    let workers = usize::from(args.workers).max(1).min(new.max(1));
    let bar = terminal.bar(total - new, total);
    let mut out = Out {
        file,
        terminal,
        failure: None,
    };
    let pool = Pool::new(args.limits.budget(), terminal);
    pool.was_said(announced);
    let analyze = |job: &Path| line(args, &pool, &cancel, job);
    batch::run(left, workers, &analyze, &mut |line| {
        // A job that was stopped halfway is left to the next call.
        let written = line.is_none_or(|line| {
            summary.add(&line);
            show(&line, &bar);
            out.write(&line)
        });
        written && !cancel.is_cancelled()
    });
    bar.finish();
    if let Some(failure) = out.failure {
        return Err(failure);
    }
    finish(args, &summary, new, started, terminal)?;
    if cancel.is_cancelled() {
        return Ok(Exit::Interrupted);
    }
    let nothing = summary.done == 0 && summary.failed > 0;
    Ok(if nothing { Exit::Input } else { Exit::Success })
}

/// Receives the lines: the file, else stdout.
struct Out<'a> {
    file: Option<File>,
    terminal: &'a Terminal,
    failure: Option<Error>,
}

impl Out<'_> {
    /// Writes a line; returns whether to continue.
    fn write(&mut self, line: &Line) -> bool {
        let written = super::json_line(line).and_then(|text| match &mut self.file {
            Some(file) => {
                let hint = "the output file cannot be written";
                file.write_all(llm::hide(&text).as_bytes())
                    .explain(ErrorKind::Other, hint)
            }
            None => self.terminal.print(&text),
        });
        self.failure = written.err();
        self.failure.is_none()
    }
}

fn show(line: &Line, bar: &Bar) {
    bar.step(line.job.rsplit('/').next().unwrap_or_default());
    if let Outcome::Failed { error } = &line.outcome {
        let first = error.lines().next().unwrap_or_default();
        let (job, first) = (visible_line(&line.job), visible_line(first));
        bar.aside(|| tracing::warn!("{job}: {first}"));
    }
}

/// Analyzes one job; `None` if it was stopped halfway.
fn line(args: &Batch, pool: &Pool, cancel: &CancellationToken, job: &Path) -> Option<Line> {
    let started = Instant::now();
    let task = Task {
        request: session::request(job.to_owned(), &args.thinking),
        reasoner: session::reasoner(&args.thinking),
        save: !args.no_store,
        cancel: cancel.clone(),
    };
    let outcome = match pool.analyze(task, &mut Silent) {
        Ok(analysis) if analysis.report.partial => return None,
        Err(_) if cancel.is_cancelled() => return None,
        Ok(analysis) => Outcome::Done(Box::new(Done::of(analysis.report, args.reports))),
        Err(error) => Outcome::Failed {
            error: error.one_line(),
        },
    };
    Some(Line {
        job: absolute(job),
        took_seconds: started.elapsed().as_secs_f64(),
        outcome,
    })
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
        // The lines are on stdout; the table goes to stderr.
        terminal.remark(render::batch::table(summary, new, took).trim_end());
        return Ok(());
    }
    super::show(terminal, args.format, summary, || {
        render::batch::table(summary, new, took)
    })
}

fn open(path: &Path, retry_failed: bool) -> Result<Earlier> {
    let path_shown = path.display();
    let hint = format!("`{path_shown}` must be new, or a file that `batch --out` wrote");
    Earlier::open(path, retry_failed).explain(ErrorKind::Usage, hint)
}

/// One spelling for each folder, wherever a call is made from.
fn absolute(job: &Path) -> String {
    job.canonicalize()
        .or_else(|_| std::path::absolute(job))
        .unwrap_or_else(|_| job.to_path_buf())
        .display()
        .to_string()
}
