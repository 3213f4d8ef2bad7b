//! Jobs, an index of the real knowledge base, and analyses of the former with the latter.

use std::path::PathBuf;

use agent::model::LlmReasoner;
use agent::offline::Offline;
use agent::{AnalyzeError, Event, Prompts, Reasoner, Request, Services};
use llm::{LlmOptions, Model, Profile, Provider, Server};
use report::Report;
use serde_json::{Value, json};
pub(crate) use testkit::knowledge::{index, root};
use tokio_util::sync::CancellationToken;

pub(crate) fn case(name: &str) -> PathBuf {
    simulator::cases_in(env!("CARGO_TARGET_TMPDIR"))
        .join(name)
        .join("job")
}

pub(crate) const CASES: [&str; 3] = ["join-hot-key-skew", "excessive-shuffle", "healthy"];

/// What a test changes about an analysis.
pub(crate) struct Setting {
    pub(crate) reasoner: Box<dyn Reasoner>,
    pub(crate) fallbacks: Vec<Box<dyn Reasoner>>,
    pub(crate) indexed: bool,
    pub(crate) source: Option<&'static dyn agent::experience::ExperienceSource>,
    pub(crate) rounds: u32,
    pub(crate) cancel: CancellationToken,
}

impl Setting {
    pub(crate) fn offline() -> Setting {
        Setting {
            reasoner: Box::new(Offline),
            fallbacks: Vec::new(),
            indexed: true,
            source: None,
            rounds: 8,
            cancel: CancellationToken::new(),
        }
    }

    pub(crate) fn with(reasoner: impl Reasoner + 'static) -> Setting {
        // Tests of the LLM path look at its requests; experience is tested offline.
        Setting {
            reasoner: Box::new(reasoner),
            indexed: false,
            ..Setting::offline()
        }
    }

    pub(crate) fn or_offline(mut self) -> Setting {
        self.fallbacks.push(Box::new(Offline));
        self
    }
}

/// A profile that points at a server, with short patience.
pub(crate) fn profile(base_url: &str) -> Profile {
    let mut profile = Profile::new(Provider::Compatible, "scripted");
    profile.base_url = Some(base_url.to_owned());
    profile.read_timeout_seconds = Some(1.0);
    profile.timeout_seconds = Some(5.0);
    profile
}

/// How many requests asked for a step.
pub(crate) fn asked_for(server: &testkit::llm::Server, step: &str) -> usize {
    let requests = server.requests();
    requests.iter().filter(|r| step_of(r) == step).count()
}

/// A reasoner that asks a server.
pub(crate) fn asking(profile: &Profile) -> LlmReasoner {
    asking_with(
        profile,
        LlmOptions {
            stream: true,
            ..LlmOptions::default()
        },
    )
}

pub(crate) fn asking_with(profile: &Profile, options: LlmOptions) -> LlmReasoner {
    let server = Server::new(profile, None).expect("a sound profile");
    LlmReasoner::new(
        Model::new(profile.clone(), std::sync::Arc::new(server)),
        options,
    )
}

/// Analyses a job and collects what was told meanwhile, as lines.
pub(crate) async fn run(
    request: &Request,
    setting: Setting,
) -> (Result<Report, AnalyzeError>, Vec<String>) {
    let catalogue = job::Catalogue::builtin();
    let thresholds = diagnosis::Settings::default();
    let services = Services {
        catalogue: &catalogue,
        diagnosis: &thresholds,
        reading: job::Options::default(),
        index: match setting.source {
            Some(source) => Some(source),
            None if setting.indexed => Some(index()),
            None => None,
        },
        reasoner: setting.reasoner,
        fallbacks: setting.fallbacks,
        prompts: Prompts::built_in(),
        prior: None,
        kind_prior: None,
        limits: agent::Limits {
            rounds: setting.rounds,
            ..agent::Limits::default()
        },
        cancel: setting.cancel,
    };
    let mut told = Vec::new();
    let mut observer = |event: Event<'_>| told.push(format!("{event:?}"));
    let result = sendable(agent::analyze(request, &services, &mut observer)).await;
    (result.map(|analysis| analysis.report), told)
}

/// An analysis may be moved to another thread, as servers do.
fn sendable<F: Future + Send>(analysis: F) -> F {
    analysis
}

/// Runs cases beside each other, each on a thread of its own, so that the work of one does not
/// eat up the patience of another.
pub(crate) fn side_by_side<T: Send>(cases: Vec<T>, run: impl AsyncFn(T) + Sync) {
    let run = &run;
    std::thread::scope(|scope| {
        for case in cases {
            scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .expect("a runtime");
                runtime.block_on(run(case));
            });
        }
    });
}

/// A request about a simulated job.
pub(crate) fn about(case_name: &str) -> Request {
    Request {
        job: case(case_name),
        ..Request::default()
    }
}

/// Conclusions of the steps that follow the schema and claim nothing.
pub(crate) fn plain(step: &str) -> Value {
    match step {
        "think1" => {
            json!({ "problem_type": "none", "also": [], "findings": [], "evidence": [], "text": "class" })
        }
        "think2" => json!({ "modules": [], "text": "code" }),
        "think3" => json!({ "causes": [], "text": "causes" }),
        "think4" => json!({ "needs_files": false, "files": [], "lookups": [], "basis": "enough" }),
        "think5" => json!({ "recommendations": [], "additional": [], "text": "advice" }),
        _ => json!({ "hypotheses": [], "text": "none" }),
    }
}

/// The step that a recorded request asks for, by the heading of its template; the last counts.
pub(crate) fn step_of(request: &testkit::llm::Recorded) -> &'static str {
    let prompt = request.prompt();
    let at = |mark: &str| prompt.rfind(mark);
    let steps = [
        ("think1", "[THINK 1] "),
        ("think2", "[THINK 2] "),
        ("think3", "[THINK 3] "),
        ("think4", "[THINK 4] "),
        ("think5", "[THINK 5] "),
        ("hypotheses", "[Hypotheses]\n"),
        ("hypotheses", "[假设推理]\n"),
    ];
    steps
        .into_iter()
        .max_by_key(|(_, mark)| at(mark))
        .map_or("", |(step, _)| step)
}

/// Several steps asked for at once.
pub(crate) fn is_merged(request: &testkit::llm::Recorded) -> bool {
    let asked = request.conversation();
    asked.contains("[THINK 1] ") && asked.contains("[THINK 3] ")
}

/// A server that concludes every step without claiming anything.
pub(crate) fn agreeable() -> testkit::llm::Server {
    testkit::llm::Server::start([])
        .rule(|request| Some(testkit::llm::Turn::json(&agreeable_answer(request))))
}

pub(crate) fn agreeable_answer(request: &testkit::llm::Recorded) -> Value {
    if is_merged(request) {
        json!({ "think1": plain("think1"), "think2": plain("think2"), "think3": plain("think3") })
    } else {
        plain(step_of(request))
    }
}
