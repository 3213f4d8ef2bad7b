//! `scopeagent analyze`: one job folder in, one report out.

use agent::{Event, Observer};
use report::Severity;

use crate::analysis::{self, Analyst, Made};
use crate::args::{self, Analyze};
use crate::config::Config;
use crate::error::Result;
use crate::exit::Exit;
use crate::keeper::{self, Keeper};
use crate::reasoners::{Asked, Reasoners};
use crate::render;
use crate::terminal::{Progress, Terminal};

/// Runs the command.
pub(crate) fn run(args: &Analyze, config: &Config, terminal: &Terminal) -> Result<Exit> {
    if args.dry_run {
        return dry_run(args, config, terminal);
    }
    let keeper = Keeper::open(config, !args.no_store, terminal);
    let Made {
        report, picture, ..
    } = watched(terminal, |shown| {
        let open = |learnt| {
            let analyst = Analyst::open(config, learnt, terminal)?;
            analyst.stop_on_interrupt();
            Ok(analyst)
        };
        keeper::kept(args, config, &keeper, open, shown)
    })?;
    terminal.print(&render::report(
        &report,
        &picture,
        args.format,
        args.verbose,
    )?)?;
    if args.explain_rules && args.format == args::ReportFormat::Text {
        terminal.print(&render::explained::render(
            &report,
            render::layout::stdout_width(),
        ))?;
    }
    if report.partial {
        return Ok(Exit::Interrupted);
    }
    let asks = config.ask != Some(false) && args.format == args::ReportFormat::Text;
    if asks && !args.no_store && terminal.is_interactive() {
        super::ask::ask(&report, &keeper, terminal);
    }
    let limit = args.fail_on.map(severity);
    let found = limit.is_some_and(|limit| report.findings.iter().any(|f| f.severity >= limit));
    Ok(if found { Exit::Found } else { Exit::Success })
}

/// Shows what would be sent.
fn dry_run(args: &Analyze, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let reasoners = Reasoners::choose(&Asked::from(args), config)?;
    let previews = reasoners.previews.clone().unwrap_or_default();
    let keeper = Keeper::open(config, false, terminal);
    let analyst = Analyst::open(config, keeper.learnt(), terminal)?;
    let request = analysis::request(&args.job, &args.thinking, config);
    analyst.stop_on_interrupt();
    watched(terminal, |shown| {
        analyst.analyze(&request, reasoners, shown)
    })?;
    let previews = previews.lock().map(|p| p.clone()).unwrap_or_default();
    terminal.print(&if args.format == args::ReportFormat::Json {
        super::json(&previews)?
    } else {
        render::previews(&previews)
    })?;
    Ok(Exit::Success)
}

/// Analyses with a progress line on stderr.
fn watched(
    terminal: &Terminal,
    analyse: impl FnOnce(&mut dyn Observer) -> Result<Made>,
) -> Result<Made> {
    let mut shown = Shown {
        terminal,
        progress: None,
    };
    let made = analyse(&mut shown);
    if let Some(progress) = shown.progress {
        progress.finish();
    }
    made
}

fn severity(severity: args::Severity) -> Severity {
    match severity {
        args::Severity::Low => Severity::Low,
        args::Severity::Medium => Severity::Medium,
        args::Severity::High => Severity::High,
        args::Severity::Critical => Severity::Critical,
    }
}

/// Writes an event into the log.
fn noted(event: Event<'_>) {
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

/// Shows on stderr what the analysis is doing, from its first event on: the index may have a
/// progress line of its own before.
struct Shown<'a> {
    terminal: &'a Terminal,
    progress: Option<Progress>,
}

impl Observer for Shown<'_> {
    fn event(&mut self, event: Event<'_>) {
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
            // Pieces of an answer come by the thousand; the line stays where it is for them.
            Event::Retry { .. } | Event::Fallback { .. } => progress.aside(|| noted(event)),
            _ => noted(event),
        }
    }
}
