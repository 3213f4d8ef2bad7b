//! `scopeagent analyze`: job folders in, one report each out.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agent::{Event, Observer, Request};
use batch::Opened;
use report::Localize;
use report::format::Seconds;
use runs::compare::{ComparedRun, Origin};
use runs::history::JobHistory;
use server::{Analysis, Analyst, ReasonerChoice, Result, Session, Task, error};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::args::{Analyze, ReportFormat};
use crate::config::Config;
use crate::exit::Exit;
use crate::pipeline::Gate;
use crate::render;
use crate::session;
use crate::sources;
use crate::terminal::{Progress, Terminal};
use crate::worker::Pool;

pub(crate) fn run(args: &Analyze, config: &Config, terminal: &Terminal) -> Result<Exit> {
    one_job_where_needed(args)?;
    let runtime = session::runtime()?;
    let cancel = CancellationToken::new();
    let asking = Arc::new(AtomicBool::new(false));
    session::end_on_interrupt(
        runtime.handle(),
        cancel.clone(),
        Arc::clone(&asking),
        *terminal,
    );
    let session = session::open(config, terminal, &runtime)?;
    let pool = args
        .limits
        .is_given()
        .then(|| Pool::new(args.limits.budget(), terminal));
    // The documents are looked at while the jobs are analyzed.
    let changed = super::count_changes(&session::knowledge(config)?);
    let call = Call {
        args,
        asks: config.ask == Some(true),
        asking,
        analyst: pool.as_ref().map_or(&session, |pool| pool),
        session: &session,
        terminal,
        cancel,
        runtime: runtime.handle(),
        gate: RefCell::default(),
    };
    let exit = call.all_jobs()?;
    super::warn_if_stale(changed, terminal);
    Ok(exit)
}

/// A page and the calls of an LLM belong to one job.
fn one_job_where_needed(args: &Analyze) -> Result<()> {
    let one_only = [
        (
            ReportFormat::of(args.format, &args.target) == ReportFormat::Html,
            "--format html",
        ),
        (args.transcript.is_some(), "--transcript"),
        (args.replay.is_some(), "--replay"),
    ];
    let wrong = one_only.into_iter().find(|(given, _)| *given);
    match wrong.filter(|_| args.jobs.len() > 1) {
        None => Ok(()),
        Some((_, flag)) => Err(error!(
            Usage: "`{flag}` 只能用于一个作业", "`{flag}` takes one job";
            "请逐个分析作业", "analyze the jobs one by one"
        )),
    }
}

struct Call<'a> {
    args: &'a Analyze,
    asks: bool,
    /// Whether a question waits for its answer.
    asking: Arc<AtomicBool>,
    analyst: &'a dyn Analyst,
    session: &'a Session,
    terminal: &'a Terminal,
    cancel: CancellationToken,
    runtime: &'a Handle,
    gate: RefCell<Gate>,
}

impl Call<'_> {
    /// One job after the other. A job that cannot be analyzed doesn't keep the others from it; its error decides the exit status.
    fn all_jobs(&self) -> Result<Exit> {
        let mut out = self.terminal.out(&self.args.target);
        out.check()?;
        let mut exit = Exit::Success;
        let mut failed = None;
        for (n, job) in self.args.jobs.iter().enumerate() {
            let gap = if n > 0 { "\n" } else { "" };
            let done = self.one_job(job, &mut |text| out.write(&format!("{gap}{text}")));
            match done {
                Ok(Exit::Interrupted) if self.cancel.is_cancelled() => {
                    return Ok(Exit::Interrupted);
                }
                Ok(Exit::Success) => {}
                Ok(other) => exit = other,
                Err(error) => {
                    if let Some(earlier) = failed.replace(error) {
                        self.terminal.fail(&earlier);
                    }
                }
            }
        }
        let kept = self.gate.borrow().finish(&self.args.gate, self.terminal)?;
        if exit == Exit::Success {
            exit = kept;
        }
        failed.map_or(Ok(exit), Err)
    }

    fn one_job(&self, job: &Path, write: &mut dyn FnMut(&str) -> Result<()>) -> Result<Exit> {
        let args = self.args;
        let format = ReportFormat::of(args.format, &args.target);
        let opened = sources::open(job)?;
        let cancel = self.token();
        // the clock stops with the job
        let _done = cancel.clone().drop_guard();
        let task = || self.task(job, opened.as_ref(), &cancel);
        let mut display = Display {
            terminal: self.terminal,
            progress: None,
            asked: false,
        };
        if args.dry_run {
            let previews = self.session.preview(task(), &mut display);
            drop(display);
            write(&match format {
                ReportFormat::Json => super::json(&previews?)?,
                _ => render::previews(&previews?),
            })?;
            return Ok(Exit::Success);
        }
        let analysis = self.analyst.analyze(task(), &mut display);
        drop(display);
        let mut analysis = analysis?;
        if args.no_store {
            // no command finds a run that is not saved
            analysis.report.run_id.clear();
        }
        let (report, summary) = (&analysis.report, &analysis.summary);
        let mut text = render::report(report, summary, format, args.verbose)?;
        let is_text = format == ReportFormat::Text;
        if args.explain_rules && is_text {
            text += &render::explained::render(report, render::layout::stdout_width());
        }
        write(&text)?;
        if report.partial {
            if !self.cancel.is_cancelled() {
                let seconds = args.time_limit;
                self.terminal.remark(&report::say!(
                    "分析超过 {seconds} 秒，报告不完整；可用 `--time-limit` 放宽",
                    "the analysis took longer than {seconds} s, so the report is partial; `--time-limit` allows more"
                ));
            }
            return Ok(Exit::Interrupted);
        }
        if self.asks && is_text && !report.run_id.is_empty() && self.terminal.is_interactive() {
            self.asking.store(true, Ordering::Relaxed);
            super::plans::ask_for_plans(report, self.session, self.terminal);
            self.asking.store(false, Ordering::Relaxed);
        }
        if args.gate.is_given() {
            let history = self.history(&analysis)?;
            let mut gate = self.gate.borrow_mut();
            gate.check(&args.gate, report, history.as_ref());
        }
        let found = args
            .fail_on
            .is_some_and(|limit| report.findings.iter().any(|f| f.severity >= limit));
        Ok(Exit::found(found))
    }

    /// The history of the job, with this run as its newest; `None` without a baseline.
    fn history(&self, analysis: &Analysis) -> Result<Option<JobHistory>> {
        if self.args.gate.baseline.is_none() {
            return Ok(None);
        }
        let run = ComparedRun {
            report: analysis.report.clone(),
            summary: analysis.summary.clone(),
            origin: Origin::Folder,
        };
        let history = self.session.history_of(run)?;
        Ok(Some(history))
    }

    /// Time limit for the analysis of a job; `None` if a worker's budget limits it.
    fn time(&self) -> Option<Duration> {
        let limits = &self.args.limits;
        let limit = self.args.time_limit;
        (!limits.is_given()).then(|| Duration::from_secs(limit))
    }

    /// A token for one job: cancelled with all of them, or when the job's time is over.
    fn token(&self) -> CancellationToken {
        let token = self.cancel.child_token();
        if let Some(time) = self.time() {
            let timed = token.clone();
            self.runtime.spawn(async move {
                tokio::select! {
                    () = tokio::time::sleep(time) => timed.cancel(),
                    () = timed.cancelled() => {}
                }
            });
        }
        token
    }

    fn task(&self, job: &Path, opened: Option<&Opened>, cancel: &CancellationToken) -> Task {
        let args = self.args;
        let folder = opened.map_or(job, |opened| &opened.path);
        Task {
            request: Request {
                origin: opened.and_then(|opened| opened.origin.clone()),
                links: opened.map_or_else(Vec::new, |opened| opened.links.clone()),
                script: (args.script.clone())
                    .or_else(|| opened.is_none().then(|| script_beside(job))?),
                time: self.time(),
                ..session::request(folder.to_owned(), &args.thinking)
            },
            reasoner: ReasonerChoice {
                dry_run: args.dry_run,
                transcript: args.transcript.clone(),
                replay: args.replay.clone(),
                ..session::reasoner(&args.thinking)
            },
            save: !args.no_store,
            learned: true,
            cancel: cancel.clone(),
        }
    }
}

/// The only script beside a log. In a folder of many files, it may belong to another log.
fn script_beside(log: &Path) -> Option<PathBuf> {
    const MOST_FILES: usize = 64;
    if !log.is_file() {
        return None;
    }
    let folder = log.canonicalize().ok()?.parent()?.to_owned();
    let entries = std::fs::read_dir(folder).ok()?.take(MOST_FILES + 1);
    let files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    if files.len() > MOST_FILES {
        return None;
    }
    let is_script = |path: &PathBuf| {
        let extension = path.extension().and_then(|e| e.to_str());
        matches!(extension, Some("py" | "sql" | "scala")) && std::fs::File::open(path).is_ok()
    };
    let mut scripts = files.into_iter().filter(is_script);
    scripts.next().filter(|_| scripts.next().is_none())
}

fn log(event: Event<'_>) {
    match event {
        Event::JobOpened { files } => tracing::debug!(files, "job opened"),
        Event::FileRead { file, round } => tracing::debug!(file = &*file, round, "file read"),
        Event::Diagnosed { findings, missing } => tracing::debug!(findings, missing, "diagnosed"),
        Event::StepStarted { step, .. } => tracing::debug!(step = step.id(), "step started"),
        Event::StepFinished {
            step, elapsed_ms, ..
        } => tracing::debug!(step = step.id(), elapsed_ms, "step finished"),
        Event::Retry {
            step,
            attempt,
            reason,
            wait_ms,
        } => tracing::warn!(step = step.id(), attempt, wait_ms, "asked again: {reason}"),
        Event::Fallback { reason } => tracing::warn!("{reason}"),
        _ => {}
    }
}

/// Shows the progress of an analysis on stderr, starting with its first event: until then an index may be built, which has its own
/// progress line.
struct Display<'a> {
    terminal: &'a Terminal,
    progress: Option<Progress>,
    /// Whether a model has written something in this step.
    asked: bool,
}

impl Observer for Display<'_> {
    fn event(&mut self, event: Event<'_>) {
        let progress = self
            .progress
            .get_or_insert_with(|| self.terminal.progress("analyze"));
        match &event {
            Event::JobOpened { files } => progress.show("files", 0, *files),
            Event::FileRead { file, .. } => progress.show(file, 0, 0),
            Event::StepStarted { step, title } => {
                progress.show(&format!("{} {title}", step.id()), 0, 0);
            }
            Event::Retry {
                reason, attempt, ..
            } => progress.show(&format!("{reason} (retry {attempt})"), 0, 0),
            Event::Fallback { reason } => progress.show(reason, 0, 0),
            Event::Token { .. } | Event::Thinking { .. } => self.asked = true,
            // Steps of a model take minutes, and the moving line is only seen on a terminal.
            Event::StepFinished {
                step, elapsed_ms, ..
            } if std::mem::take(&mut self.asked) && progress.is_hidden() => {
                let took = Seconds(elapsed_ms / 1e3).localize(report::interface());
                self.terminal.remark(&format!("{} · {took}", step.id()));
            }
            _ => {}
        }
        match event {
            // Tokens of an answer come by the thousand; they don't move the progress line.
            Event::Retry { .. } | Event::Fallback { .. } => progress.aside(|| log(event)),
            _ => log(event),
        }
    }
}
