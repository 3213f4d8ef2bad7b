//! Analyses of simulated jobs, with an index of the real knowledge base.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex};

use agent::experience::ExperienceSource;
use agent::facts::{Answerer, MeasuredAnswer};
use agent::model::LlmReasoner;
use agent::offline::Offline;
use agent::{AnalyzeError, Event, Reasoner, Request, Services};
use ask::Asked;
use llm::{LlmOptions, Model, Profile, Provider};
use report::{ReasonerKind, Report, Step};
use runs::RunSummary;
use testkit::knowledge::index;
pub(crate) use testkit::knowledge::root;
use testkit::llm::Server;
use tokio_util::sync::CancellationToken;

pub(crate) fn case(name: &str) -> PathBuf {
    simulator::cases_in(env!("CARGO_TARGET_TMPDIR"))
        .join(name)
        .join("job")
}

/// The job of a case with a file of an unknown kind, so that THINK 4 has something to ask for.
fn unread(name: &str) -> PathBuf {
    static MADE: LazyLock<Mutex<BTreeSet<String>>> = LazyLock::new(Mutex::default);
    let whole = case(name);
    let folder = whole.with_file_name("unread");
    let mut made = MADE.lock().expect("no test fails here");
    if made.insert(name.to_owned()) {
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir(&folder).expect("a folder");
        for file in std::fs::read_dir(&whole).expect("the job").flatten() {
            let copy = folder.join(file.file_name());
            std::fs::hard_link(file.path(), copy).expect("a link");
        }
        std::fs::write(folder.join("remarks.bin"), "none").expect("a file");
    }
    folder
}

pub(crate) const CASES: [&str; 3] = ["join-hot-key-skew", "excessive-shuffle", "healthy"];

/// Changes that a test makes to an analysis.
pub(crate) struct Setting {
    pub(crate) reasoner: Box<dyn Reasoner>,
    pub(crate) fallbacks: Vec<Box<dyn Reasoner>>,
    pub(crate) source: Option<&'static dyn ExperienceSource>,
    pub(crate) answerer: &'static Answerer<'static>,
    pub(crate) rounds: u32,
    pub(crate) redact: bool,
    pub(crate) cancel: CancellationToken,
}

impl Setting {
    pub(crate) fn offline() -> Setting {
        Setting::with(Offline).indexed()
    }

    /// Without experience, which is tested offline.
    pub(crate) fn with(reasoner: impl Reasoner + 'static) -> Setting {
        Setting {
            reasoner: Box::new(reasoner),
            fallbacks: Vec::new(),
            source: None,
            answerer: &measured_answer,
            rounds: 8,
            redact: false,
            cancel: CancellationToken::new(),
        }
    }

    /// Asks a server.
    pub(crate) fn asking(server: &Server) -> Setting {
        Setting::with(asking(&profile(server)))
    }

    pub(crate) fn indexed(self) -> Setting {
        let source = Some(index() as &dyn ExperienceSource);
        Setting { source, ..self }
    }

    pub(crate) fn redacted(self) -> Setting {
        Setting {
            redact: true,
            ..self
        }
    }

    pub(crate) fn or_offline(mut self) -> Setting {
        self.fallbacks.push(Box::new(Offline));
        self
    }
}

/// A profile that points at a server, with short patience.
pub(crate) fn profile(server: &Server) -> Profile {
    let mut profile = Profile::new(Provider::Compatible, "scripted");
    profile.base_url = Some(server.url());
    profile.read_timeout_seconds = Some(2.0);
    profile.timeout_seconds = Some(20.0);
    profile
}

pub(crate) const KEY: &str = "key-for-tests-0123456789";

/// A profile of any provider, with a key.
pub(crate) fn profile_of(provider: Provider, model: &str, server: &Server) -> Profile {
    let mut profile = profile(server);
    (profile.provider, profile.model) = (provider, model.to_owned());
    profile.api_key = Some(KEY.into());
    profile
}

/// Answers come in a stream.
pub(crate) fn streaming() -> LlmOptions {
    LlmOptions {
        stream: true,
        ..LlmOptions::default()
    }
}

pub(crate) fn asking(profile: &Profile) -> LlmReasoner {
    asking_with(profile, streaming())
}

pub(crate) fn asking_with(profile: &Profile, options: LlmOptions) -> LlmReasoner {
    LlmReasoner::new(model(profile), options)
}

pub(crate) fn model(profile: &Profile) -> Model {
    let server = llm::Server::new(profile, None).expect("a sound profile");
    Model::new(profile.clone(), Arc::new(server))
}

/// A report, and the events on the way to it, as lines.
pub(crate) struct Outcome {
    pub(crate) report: Report,
    /// The summary that is saved next to the report.
    pub(crate) summary: RunSummary,
    pub(crate) events: Vec<String>,
}

impl Deref for Outcome {
    type Target = Report;

    fn deref(&self) -> &Report {
        &self.report
    }
}

impl Outcome {
    #[track_caller]
    pub(crate) fn step(&self, id: &str) -> &Step {
        self.steps.iter().find(|s| s.id == id).expect("the step")
    }

    pub(crate) fn has_read(&self, file: &str) -> bool {
        self.files_read.iter().any(|f| f.file.contains(file))
    }

    /// How many events there were of a kind.
    pub(crate) fn count(&self, kind: &str) -> usize {
        let events = self.events.iter();
        events.filter(|event| event.starts_with(kind)).count()
    }

    /// Why another reasoner took over; empty if none did.
    pub(crate) fn fallback(&self) -> &str {
        self.engine.fallback.as_deref().unwrap_or_default()
    }

    pub(crate) fn hints(&self) -> Vec<&str> {
        let diagnostics = self.diagnostics.iter();
        diagnostics.filter_map(|d| d.hint.as_deref()).collect()
    }

    #[track_caller]
    pub(crate) fn is_by_llm(&self) {
        let engine = &self.engine;
        assert_eq!(engine.reasoner, ReasonerKind::Llm, "{engine:?}");
    }
}

/// Analyzes a job with a server of an LLM and no fallback.
pub(crate) async fn ask(server: &Server, request: &Request) -> Outcome {
    run(request, Setting::asking(server)).await
}

pub(crate) async fn run(request: &Request, setting: Setting) -> Outcome {
    try_run(request, setting).await.expect("a report")
}

/// The program's own answer to the question of a report, without an earlier run.
fn measured_answer(report: &Report, job: &job::Job) -> Option<MeasuredAnswer> {
    let question = report.question.as_deref()?;
    let summary = RunSummary::of(job);
    let run = Asked::new(report, &summary, &|| None, &[]);
    Some(ask::answer(question, &[], &run))
}

pub(crate) fn services(setting: Setting) -> Services<'static> {
    static CATALOGUE: LazyLock<job::Catalogue> = LazyLock::new(job::Catalogue::builtin);
    static DIAGNOSIS: LazyLock<diagnosis::Settings> = LazyLock::new(diagnosis::Settings::default);
    Services {
        index: setting.source,
        fallbacks: setting.fallbacks,
        answerer: Some(setting.answerer),
        rounds: setting.rounds,
        redact: setting.redact,
        cancel: setting.cancel,
        ..Services::new(&CATALOGUE, &DIAGNOSIS, setting.reasoner)
    }
}

pub(crate) async fn try_run(request: &Request, setting: Setting) -> Result<Outcome, AnalyzeError> {
    let services = services(setting);
    let mut events = Vec::new();
    let mut observer = |event: Event<'_>| events.push(format!("{event:?}"));
    let analysis = sendable(agent::analyze(request, &services, &mut observer)).await?;
    let summary = RunSummary {
        code: analysis.code,
        ..RunSummary::of(&analysis.job)
    };
    let report = analysis.report;
    Ok(Outcome {
        report,
        summary,
        events,
    })
}

/// An analysis may be moved to another thread, as servers do.
fn sendable<F: Future + Send>(analysis: F) -> F {
    analysis
}

/// Runs cases concurrently, one per thread, so that the work of one doesn't exhaust the patience of
/// another. A failed assertion shows its case as the name of the thread.
pub(crate) fn concurrently<T: Debug + Send>(
    cases: impl IntoIterator<Item = T>,
    run: impl AsyncFn(T) + Sync,
) {
    let run = &run;
    std::thread::scope(|scope| {
        for case in cases {
            let thread = std::thread::Builder::new().name(format!("{case:?}"));
            let work = move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build();
                runtime.expect("a runtime").block_on(run(case));
            };
            thread.spawn_scoped(scope, work).expect("a thread");
        }
    });
}

/// A request about a simulated job.
pub(crate) fn about(case_name: &str) -> Request {
    Request {
        job: unread(case_name),
        ..Request::default()
    }
}

pub(crate) fn skewed() -> Request {
    about("join-hot-key-skew")
}

pub(crate) fn healthy() -> Request {
    about("healthy")
}

/// The first placeholder for a masked name that a request shows.
pub(crate) fn placeholder(request: &testkit::llm::Recorded) -> Option<String> {
    let prompt = request.prompt();
    let mut words = prompt.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.find(|w| w.starts_with("name_")).map(str::to_owned)
}
