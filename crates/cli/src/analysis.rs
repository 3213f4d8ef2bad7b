//! One analysis, from its arguments to the report that is kept. Every front that analyses a job
//! goes through here; what differs between them is a [`Front`].

use agent::picture::Picture;
use agent::report::{Report, SuggestionKind};
use agent::store::{OpenRun, Store};
use agent::{AnalyzeError, Depth, Event, Limits, Observer, Prompts, Request, Services};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::args::{self, Analyze};
use crate::command::{feedback, runs};
use crate::config::{Config, Language};
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::knowledge::Knowledge;
use crate::llm::Reasoners;
use crate::terminal::Terminal;

/// What a front brings to an analysis.
pub(crate) struct Front<'a> {
    /// Where remarks go.
    pub(crate) terminal: Terminal,
    /// What LLM calls run on. The analysis itself blocks the thread that it is called from.
    pub(crate) runtime: &'a Handle,
    /// Who hears what happens.
    pub(crate) observer: &'a mut dyn Observer,
    /// What ends it early.
    pub(crate) stop: Stop,
}

/// What ends an analysis early; the report of what was done by then is still made.
pub(crate) enum Stop {
    /// Ctrl-C. Before and after the analysis it ends the process, as usual.
    CtrlC,
    /// The token of whoever asked.
    Token(CancellationToken),
}

impl Stop {
    fn arm(&self, runtime: &Handle) -> CancellationToken {
        match self {
            Stop::Token(token) => token.clone(),
            Stop::CtrlC => {
                let token = CancellationToken::new();
                let cancel = token.clone();
                runtime.spawn(async move {
                    // Without a signal handler Ctrl-C ends the process, which is an answer too.
                    if tokio::signal::ctrl_c().await.is_ok() {
                        cancel.cancel();
                    }
                });
                token
            }
        }
    }
}

/// Makes the report and keeps it in the run store. A store that fails costs the run its place
/// there, not the user his answer.
pub(crate) fn kept(
    args: &Analyze,
    config: &Config,
    front: &mut Front<'_>,
) -> Result<(Report, Picture)> {
    let run_id = ulid::Ulid::generate().to_string();
    let terminal = front.terminal;
    let mut place = if args.no_store {
        None
    } else {
        begin(&run_id, args, config, &terminal)
    };
    let made = make(&run_id, args, config, front);
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
    // Whoever looks at the run later stands in another folder.
    let job = std::path::absolute(&args.job).unwrap_or_else(|_| args.job.clone());
    let begun = runs::open(config).and_then(|store| {
        let run = store
            .begin(
                run_id,
                &job.display().to_string(),
                args.question.as_deref(),
                language,
            )
            .map_err(runs::error)?;
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
    front: &mut Front<'_>,
) -> Result<(Report, Picture)> {
    let reasoners = Reasoners::choose(args, config)?;
    front.terminal.remark(&reasoners.said);
    let (transcript, replay) = (reasoners.transcript.clone(), reasoners.replay.clone());
    let (mut report, picture) = answer(run_id, args, config, reasoners, front)?;
    if let Some(replay) = replay {
        replay.restore(&mut report);
    }
    if let Some(Err(error)) = transcript.map(|t| t.finish(&report)) {
        front
            .terminal
            .remark(&format!("the transcript is not complete: {error}"));
    }
    Ok((report, picture))
}

/// Makes the report with these reasoners, and keeps nothing.
pub(crate) fn answer(
    run_id: &str,
    args: &Analyze,
    config: &Config,
    reasoners: Reasoners,
    front: &mut Front<'_>,
) -> Result<(Report, Picture)> {
    let knowledge = Knowledge::locate(config)?;
    let index = knowledge.open(&front.terminal)?;
    let catalogue = knowledge.catalogue()?;
    let thresholds = settings(config)?;
    let learnt = feedback::preferences(config).unwrap_or_default();
    let chunk_prior = |causes: &[String], chunk: &str| learnt.chunk(causes, chunk);
    let kind_prior = |cause: &str, kind: SuggestionKind| learnt.kind(cause, kind.code());
    let request = request(run_id, args, config);
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
        cancel: front.stop.arm(front.runtime),
    };
    let mut drawn = Drawn {
        observer: &mut *front.observer,
        picture: Picture::default(),
    };
    let outcome = front
        .runtime
        .block_on(agent::analyze(&request, &services, &mut drawn));
    outcome
        .map(|report| (report, drawn.picture))
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

/// Keeps what can be drawn of the job, and passes everything on.
struct Drawn<'a> {
    observer: &'a mut dyn Observer,
    picture: Picture,
}

impl Observer for Drawn<'_> {
    fn event(&mut self, event: Event<'_>) {
        if let Event::Finished { job } = event {
            self.picture = Picture::of(job);
        }
        self.observer.event(event);
    }
}
