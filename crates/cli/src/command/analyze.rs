//! `scopeagent analyze`: one job folder in, one report out.

use agent::report::Severity;
use agent::{Event, Observer};

use crate::analysis::{self, Front, Stop};
use crate::args::{self, Analyze};
use crate::config::Config;
use crate::error::Result;
use crate::exit::Exit;
use crate::llm::Reasoners;
use crate::render;
use crate::terminal::{Progress, Terminal};

/// Runs the command.
pub(crate) fn run(args: &Analyze, config: &Config, terminal: &Terminal) -> Result<Exit> {
    if args.dry_run {
        return dry_run(args, config, terminal);
    }
    let (report, picture) = shown(terminal, |front| analysis::kept(args, config, front))?;
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
    let limit = args.fail_on.map(severity);
    let found = limit.is_some_and(|limit| report.findings.iter().any(|f| f.severity >= limit));
    Ok(if found { Exit::Found } else { Exit::Success })
}

/// Analyses in the foreground of a terminal: progress on stderr, Ctrl-C ends it with what there is.
fn shown<T>(terminal: &Terminal, analyse: impl FnOnce(&mut Front<'_>) -> Result<T>) -> Result<T> {
    let runtime = analysis::runtime()?;
    let mut observer = Shown {
        terminal: *terminal,
        progress: None,
    };
    let outcome = analyse(&mut Front {
        terminal: *terminal,
        runtime: runtime.handle(),
        observer: &mut observer,
        stop: Stop::CtrlC,
    });
    if let Some(progress) = observer.progress {
        progress.finish();
    }
    outcome
}

/// Shows what would be sent.
fn dry_run(args: &Analyze, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let reasoners = Reasoners::choose(args, config)?;
    let previews = reasoners.previews.clone().unwrap_or_default();
    let run_id = ulid::Ulid::generate().to_string();
    shown(terminal, |front| {
        analysis::answer(&run_id, args, config, reasoners, front)
    })?;
    let previews = previews.lock().map(|p| p.clone()).unwrap_or_default();
    terminal.print(&if args.format == args::ReportFormat::Json {
        super::json(&previews)?
    } else {
        render::previews(&previews)
    })?;
    Ok(Exit::Success)
}

fn severity(severity: args::Severity) -> Severity {
    match severity {
        args::Severity::Low => Severity::Low,
        args::Severity::Medium => Severity::Medium,
        args::Severity::High => Severity::High,
        args::Severity::Critical => Severity::Critical,
    }
}

/// Shows on stderr what the analysis is doing, from its first event on: the index may have a
/// progress line of its own before.
struct Shown {
    terminal: Terminal,
    progress: Option<Progress>,
}

impl Observer for Shown {
    fn event(&mut self, event: Event<'_>) {
        let progress = self
            .progress
            .get_or_insert_with(|| self.terminal.progress("analyze"));
        match event {
            Event::JobOpened { files } => progress.show("files", 0, files),
            Event::FileRead { file, .. } => progress.show(file, 0, 0),
            Event::StepStarted { step, title } => {
                progress.show(&format!("{} {title}", step.id()), 0, 0)
            }
            Event::Retry {
                reason, attempt, ..
            } => progress.show(&format!("{reason} (retry {attempt})"), 0, 0),
            Event::Fallback { reason } => progress.show(reason, 0, 0),
            _ => {}
        }
    }
}
