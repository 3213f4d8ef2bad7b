//! `scopeagent analyze`: one job folder in, one report out.

use agent::picture::Picture;
use agent::report::{Report, Severity, SuggestionKind};
use agent::store::{OpenRun, Store};
use agent::{AnalyzeError, Depth, Event, Limits, Observer, Prompts, Request, Services};
use tokio_util::sync::CancellationToken;

use crate::args::{self, Analyze};
use crate::config::{Config, Language};
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::knowledge::Knowledge;
use crate::llm::Reasoners;
use crate::render;
use crate::terminal::{Progress, Terminal};

/// Runs the command.
pub(crate) fn run(args: &Analyze, config: &Config, terminal: &Terminal) -> Result<Exit> {
    if args.dry_run {
        return dry_run(args, config, terminal);
    }
    let (report, picture) = kept(args, config, terminal)?;
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

/// Makes the report and keeps it in the run store. A store that fails costs the run its place
/// there, not the user his answer.
fn kept(args: &Analyze, config: &Config, terminal: &Terminal) -> Result<(Report, Picture)> {
    let run_id = ulid::Ulid::generate().to_string();
    let mut place = if args.no_store {
        None
    } else {
        begin(&run_id, args, config, terminal)
    };
    let made = make(&run_id, args, config, terminal);
    let stored = match (&made, place.take()) {
        (Ok((report, picture)), Some((mut store, run))) => store.finish(run, report, picture),
        (Err(error), Some((store, run))) => store.fail(run, &error.to_string()),
        (_, None) => Ok(()),
    };
    if let Err(error) = stored {
        terminal.remark(&format!("the run is not kept: {error}"));
    }
    made
}

fn begin(
    run_id: &str,
    args: &Analyze,
    config: &Config,
    terminal: &Terminal,
) -> Option<(Store, OpenRun)> {
    let language = request(run_id, args, config).report_language();
    let job = args.job.display().to_string();
    let begun = super::runs::open(config).and_then(|store| {
        let run = store
            .begin(run_id, &job, args.question.as_deref(), language)
            .map_err(super::runs::error)?;
        Ok((store, run))
    });
    begun
        .map_err(|error| terminal.remark(&format!("the run is not kept: {error}")))
        .ok()
}

fn request(run_id: &str, args: &Analyze, config: &Config) -> Request {
    Request {
        job: args.job.clone(),
        run_id: Some(run_id.to_owned()),
        question: args.question.clone(),
        language: args.lang.or(config.language).map(language),
        depth: match args.depth {
            args::Depth::Quick => Depth::Quick,
            args::Depth::Normal => Depth::Normal,
            args::Depth::Deep => Depth::Deep,
        },
        hypotheses: args.hypotheses,
    }
}

fn make(
    run_id: &str,
    args: &Analyze,
    config: &Config,
    terminal: &Terminal,
) -> Result<(Report, Picture)> {
    let reasoners = Reasoners::choose(args, config)?;
    terminal.remark(&reasoners.said);
    let (transcript, replay) = (reasoners.transcript.clone(), reasoners.replay.clone());
    let (mut report, picture) = answer(run_id, args, config, reasoners, terminal)?;
    if let Some(replay) = replay {
        replay.restore(&mut report);
    }
    if let Some(Err(error)) = transcript.map(|t| t.finish(&report)) {
        terminal.remark(&format!("the transcript is not complete: {error}"));
    }
    Ok((report, picture))
}

/// Shows what would be sent.
fn dry_run(args: &Analyze, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let reasoners = Reasoners::choose(args, config)?;
    let previews = reasoners.previews.clone().unwrap_or_default();
    answer(
        &ulid::Ulid::generate().to_string(),
        args,
        config,
        reasoners,
        terminal,
    )?;
    let previews = previews.lock().map(|p| p.clone()).unwrap_or_default();
    terminal.print(&if args.format == args::ReportFormat::Json {
        super::json(&previews)?
    } else {
        render::previews(&previews)
    })?;
    Ok(Exit::Success)
}

fn answer(
    run_id: &str,
    args: &Analyze,
    config: &Config,
    reasoners: Reasoners,
    terminal: &Terminal,
) -> Result<(Report, Picture)> {
    let knowledge = Knowledge::locate(config)?;
    let index = knowledge.open(terminal)?;
    let catalogue = knowledge.catalogue()?;
    let thresholds = settings(config)?;
    let learnt = super::feedback::preferences(config).unwrap_or_default();
    let chunk_prior = |causes: &[String], chunk: &str| learnt.chunk(causes, chunk);
    let kind_prior = |cause: &str, kind: SuggestionKind| learnt.kind(cause, kind.code());
    let request = request(run_id, args, config);
    let cancel = CancellationToken::new();
    let services = Services {
        catalogue: &catalogue,
        diagnosis: &thresholds,
        reading: job::Options::default(),
        index: Some(&index),
        reasoner: reasoners.first,
        fallbacks: reasoners.fallbacks,
        prompts: prompts(config)?,
        prior: Some(&chunk_prior),
        kind_prior: Some(&kind_prior),
        limits: Limits::default(),
        cancel: cancel.clone(),
    };
    let mut shown = Shown {
        progress: terminal.progress("analyze"),
        picture: Picture::default(),
    };
    let outcome = runtime()?.block_on(async {
        tokio::spawn(async move {
            // Without a signal handler Ctrl-C ends the process, which is an answer too.
            if tokio::signal::ctrl_c().await.is_ok() {
                cancel.cancel();
            }
        });
        agent::analyze(&request, &services, &mut shown).await
    });
    shown.progress.finish();
    outcome
        .map(|report| (report, shown.picture))
        .map_err(|error| analyze_error(&error))
}

/// What LLM calls run on.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|e| {
            CliError::from_source(Exit::Failure, &e).hint("the system refuses new threads")
        })
}

/// The thresholds in force.
pub(crate) fn settings(config: &Config) -> Result<diagnosis::Settings> {
    diagnosis::Settings::from_table(&config.diagnosis).map_err(|e| {
        CliError::from_source(Exit::Usage, &e)
            .hint("`scopeagent rules` lists every threshold with its default")
    })
}

fn prompts(config: &Config) -> Result<Prompts> {
    match &config.prompts {
        None => Ok(Prompts::built_in()),
        Some(folder) => Prompts::with_folder(folder).map_err(|e| {
            CliError::from_source(Exit::Usage, &e)
                .hint("mend the template, or remove it to use the built-in one")
        }),
    }
}

fn analyze_error(error: &AnalyzeError) -> CliError {
    match error {
        AnalyzeError::Job(e) => CliError::from_source(Exit::Input, e).hint(e.hint()),
        AnalyzeError::Reasoner { source, .. } => {
            CliError::from_source(Exit::Llm, error).hint(source.hint())
        }
        AnalyzeError::Prompt { .. } => CliError::from_source(Exit::Usage, error)
            .hint("mend the template in the prompts folder, or remove it"),
    }
}

fn language(lang: Language) -> agent::Language {
    match lang {
        Language::Zh => agent::Language::Zh,
        Language::En => agent::Language::En,
    }
}

fn severity(severity: args::Severity) -> Severity {
    match severity {
        args::Severity::Low => Severity::Low,
        args::Severity::Medium => Severity::Medium,
        args::Severity::High => Severity::High,
        args::Severity::Critical => Severity::Critical,
    }
}

/// Shows on stderr what the analysis is doing, and keeps what can be drawn of the job.
struct Shown {
    progress: Progress,
    picture: Picture,
}

impl Observer for Shown {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::JobOpened { files } => self.progress.show("files", 0, files),
            Event::FileRead { file, .. } => self.progress.show(file, 0, 0),
            Event::StepStarted { step, title } => {
                self.progress.show(&format!("{} {title}", step.id()), 0, 0)
            }
            Event::Retry {
                reason, attempt, ..
            } => self
                .progress
                .show(&format!("{reason} (retry {attempt})"), 0, 0),
            Event::Fallback { reason } => self.progress.show(reason, 0, 0),
            Event::Finished { job } => self.picture = Picture::of(job),
            _ => {}
        }
    }
}
