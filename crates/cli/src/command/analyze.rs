//! `scopeagent analyze`: one job folder in, one report out.

use agent::{Event, Observer};
use server::{Analyst, ReasonerChoice, Result, Task};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::args::{Analyze, ReportFormat};
use crate::config::Config;
use crate::exit::Exit;
use crate::render;
use crate::session;
use crate::terminal::{Progress, Terminal};
use crate::worker::Pool;

pub(crate) fn run(args: &Analyze, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let runtime = session::runtime()?;
    let session = session::open(config, terminal, &runtime)?;
    let task = task(args);
    let mut display = Display {
        terminal,
        progress: None,
        cancel: Some(task.cancel.clone()),
        runtime: runtime.handle(),
    };
    if args.dry_run {
        let previews = session.preview(&task, &mut display);
        drop(display);
        terminal.print(&match args.format {
            ReportFormat::Json => super::json(&previews?)?,
            _ => render::previews(&previews?),
        })?;
        return Ok(Exit::Success);
    }
    let pool;
    let analyst: &dyn Analyst = if args.limits.is_given() {
        pool = Pool::new(args.limits.budget(), terminal);
        &pool
    } else {
        &session
    };
    let analysis = analyst.analyze(task, &mut display);
    drop(display);
    let analysis = analysis?;
    let report = &analysis.report;
    let summary = &analysis.summary;
    terminal.print(&render::report(report, summary, args.format, args.verbose)?)?;
    let is_text = args.format == ReportFormat::Text;
    if args.explain_rules && is_text {
        let columns = render::layout::stdout_width();
        terminal.print(&render::explained::render(report, columns))?;
    }
    if report.partial {
        return Ok(Exit::Interrupted);
    }
    if config.ask != Some(false)
        && is_text
        && !args.no_store
        && !report.run_id.is_empty()
        && terminal.is_interactive()
    {
        super::plans::ask_for_plans(report, &session, terminal);
    }
    let found = args
        .fail_on
        .is_some_and(|limit| report.findings.iter().any(|f| f.severity >= limit));
    Ok(Exit::found(found))
}

fn task(args: &Analyze) -> Task {
    Task {
        request: session::request(args.job.clone(), &args.thinking),
        reasoner: ReasonerChoice {
            dry_run: args.dry_run,
            transcript: args.transcript.clone(),
            replay: args.replay.clone(),
            ..session::reasoner(&args.thinking)
        },
        save: !args.no_store,
        cancel: CancellationToken::new(),
    }
}

fn log(event: Event<'_>) {
    match event {
        Event::JobOpened { files } => tracing::debug!(files, "job opened"),
        Event::FileRead { file, round } => tracing::debug!(file, round, "file read"),
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

/// Shows on stderr what the analysis is doing, and ends it early on Ctrl-C. Both start with its first event: until then an index may be
/// built, which has its own progress line and nothing to save.
struct Display<'a> {
    terminal: &'a Terminal,
    progress: Option<Progress>,
    cancel: Option<CancellationToken>,
    runtime: &'a Handle,
}

impl Observer for Display<'_> {
    fn event(&mut self, event: Event<'_>) {
        if let Some(cancel) = self.cancel.take() {
            session::cancel_on_interrupt(self.runtime, cancel);
        }
        let progress = self
            .progress
            .get_or_insert_with(|| self.terminal.progress("analyze"));
        match event {
            Event::JobOpened { files } => progress.show("files", 0, files),
            Event::FileRead { file, .. } => progress.show(file, 0, 0),
            Event::StepStarted { step, title } => {
                progress.show(&format!("{} {title}", step.id()), 0, 0);
            }
            Event::Retry {
                reason, attempt, ..
            } => progress.show(&format!("{reason} (retry {attempt})"), 0, 0),
            Event::Fallback { reason } => progress.show(reason, 0, 0),
            _ => {}
        }
        match event {
            // Tokens of an answer come by the thousand; they leave the line where it is.
            Event::Retry { .. } | Event::Fallback { .. } => progress.aside(|| log(event)),
            _ => log(event),
        }
    }
}
