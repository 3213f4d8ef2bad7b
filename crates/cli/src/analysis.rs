//! Analyses as the program makes them: index, catalogue, thresholds, templates and what feedback
//! has taught are opened once and serve any number of jobs, from any thread.

use agent::{Analysis, AnalyzeError, Limits, Observer, Prompts, Request, Services};
use indexer::Index;
use report::{Report, SuggestionKind};
use runs::feedback::Preferences;
use runs::picture::Picture;
use runs::shape::JobShape;
use tokio::runtime::{Handle, Runtime};
use tokio_util::sync::CancellationToken;

use crate::args::{self, Thinking};
use crate::config::{Config, Language};
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::knowledge::Knowledge;
use crate::reasoners::Reasoners;
use crate::terminal::Terminal;

/// Everything that analyses share.
pub(crate) struct Analyst {
    index: Option<Index>,
    catalogue: job::Catalogue,
    thresholds: diagnosis::Settings,
    prompts: Prompts,
    learnt: Preferences,
    runtime: Runner,
    cancel: CancellationToken,
}

/// What LLM calls run on. An analysis blocks the thread that it is called from.
enum Runner {
    /// Of its own.
    Own(Runtime),
    /// That of whoever asks.
    Shared(Handle),
}

impl Runner {
    fn handle(&self) -> &Handle {
        match self {
            Runner::Own(runtime) => runtime.handle(),
            Runner::Shared(handle) => handle,
        }
    }
}

/// What an analysis gives.
pub(crate) struct Made {
    pub(crate) report: Report,
    /// What can be drawn of the job.
    pub(crate) picture: Picture,
    /// What the job is compared by.
    pub(crate) shape: JobShape,
}

impl Analyst {
    /// Opens what the configuration names; builds the index if there is none.
    pub(crate) fn open(
        config: &Config,
        learnt: Preferences,
        terminal: &Terminal,
    ) -> Result<Analyst> {
        let runtime = Runner::Own(runtime()?);
        Analyst::with_experience(config, learnt, terminal, runtime)
    }

    /// The same on a runtime that is there, until `cancel` stops it.
    pub(crate) fn open_on(
        runtime: Handle,
        cancel: CancellationToken,
        config: &Config,
        learnt: Preferences,
        terminal: &Terminal,
    ) -> Result<Analyst> {
        let runtime = Runner::Shared(runtime);
        let analyst = Analyst::with_experience(config, learnt, terminal, runtime)?;
        Ok(Analyst { cancel, ..analyst })
    }

    fn with_experience(
        config: &Config,
        learnt: Preferences,
        terminal: &Terminal,
        runtime: Runner,
    ) -> Result<Analyst> {
        let knowledge = Knowledge::locate(config)?;
        let analyst = Analyst::new(config, knowledge.catalogue()?, runtime)?;
        Ok(Analyst {
            index: Some(knowledge.open(terminal)?),
            learnt,
            ..analyst
        })
    }

    /// Without experience, where only the facts and findings are wanted.
    pub(crate) fn of_facts(config: &Config) -> Result<Analyst> {
        let catalogue = Knowledge::locate(config)?.catalogue()?;
        Analyst::new(config, catalogue, Runner::Own(runtime()?))
    }

    fn new(config: &Config, catalogue: job::Catalogue, runtime: Runner) -> Result<Analyst> {
        Ok(Analyst {
            index: None,
            catalogue,
            thresholds: settings(config)?,
            prompts: prompts(config)?,
            learnt: Preferences::default(),
            runtime,
            cancel: CancellationToken::new(),
        })
    }

    /// From now on Ctrl-C ends analyses early, with what they have; a second one ends the program.
    pub(crate) fn stop_on_interrupt(&self) {
        let cancel = self.cancel.clone();
        self.runtime.handle().spawn(async move {
            // Without a signal handler Ctrl-C ends the process, which is an answer too.
            if tokio::signal::ctrl_c().await.is_ok() {
                cancel.cancel();
            }
            if tokio::signal::ctrl_c().await.is_ok() {
                std::process::exit(Exit::Interrupted as i32);
            }
        });
    }

    /// Whether Ctrl-C was pressed.
    pub(crate) fn is_stopped(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Analyses one job.
    pub(crate) fn analyze(
        &self,
        request: &Request,
        reasoners: Reasoners,
        observer: &mut dyn Observer,
    ) -> Result<Made> {
        let chunk_prior = |causes: &[String], chunk: &str| self.learnt.chunk(causes, chunk);
        let kind_prior = |cause: &str, kind: SuggestionKind| self.learnt.kind(cause, kind.code());
        let services = Services {
            catalogue: &self.catalogue,
            diagnosis: &self.thresholds,
            reading: job::Options::default(),
            index: self.index.as_ref().map(|index| index as _),
            reasoner: reasoners.first,
            fallbacks: reasoners.fallbacks,
            prompts: self.prompts.clone(),
            prior: Some(&chunk_prior),
            kind_prior: Some(&kind_prior),
            limits: Limits::default(),
            cancel: self.cancel.clone(),
        };
        let analysis = agent::analyze(request, &services, observer);
        match self.runtime.handle().block_on(analysis) {
            Ok(Analysis { report, job }) => Ok(Made {
                report,
                picture: Picture::of(&job),
                shape: JobShape::of(&job),
            }),
            Err(error) => Err(analyze_error(&error)),
        }
    }
}

/// What is asked about a job.
pub(crate) fn request(job: &std::path::Path, thinking: &Thinking, config: &Config) -> Request {
    Request {
        job: job.to_path_buf(),
        run_id: Some(ulid::Ulid::generate().to_string()),
        question: thinking.question.clone(),
        language: thinking.lang.or(config.language).map(language),
        depth: match thinking.depth {
            args::Depth::Quick => agent::Depth::Quick,
            args::Depth::Normal => agent::Depth::Normal,
            args::Depth::Deep => agent::Depth::Deep,
        },
        hypotheses: thinking.hypotheses,
    }
}

/// The language in the words of the agent.
pub(crate) fn language(lang: Language) -> report::Language {
    match lang {
        Language::Zh => report::Language::Zh,
        Language::En => report::Language::En,
    }
}

/// What LLM calls run on.
pub(crate) fn runtime() -> Result<Runtime> {
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
