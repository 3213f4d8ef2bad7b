//! The session: resources shared by analyses, opened once and used from any thread.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::model::Preview;
use agent::{Event, Observer, Prompts, Request, Services, Silent};
use indexer::Index;
use llm::LlmConfig;
use report::{Language, Report, SuggestionKind, say};
use runs::RunSummary;
use runs::feedback::Preferences;
use runs::store::{FILE_NAME, OpenRun, Store, StoreError};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::error::Result;
use crate::knowledge::{Knowledge, OpenIndex};
use crate::monitor::Monitor;
use crate::reasoner::{self, KeySource, Mode, ReasonerChoice, Reasoners};
use crate::searches::Searches;

pub struct Settings {
    pub knowledge: Knowledge,
    /// Folder of the run store.
    pub data: PathBuf,
    pub thresholds: diagnosis::Settings,
    pub prompts: Prompts,
    pub llm: LlmConfig,
    /// Fetches the keys of LLM profiles.
    pub keys: KeySource,
    /// Language of reports; `None` takes the language of the question.
    pub language: Option<Language>,
    /// Whether the session outlives a single call. Graphs that speed up the search of a large index then pay off.
    pub is_resident: bool,
}

/// Index, run store and feedback for any number of analyses. Index and store are opened when they are first needed.
pub struct Session {
    settings: Settings,
    catalogue: job::Catalogue,
    runtime: Handle,
    monitor: Arc<dyn Monitor>,
    index: Mutex<Option<OpenIndex>>,
    store: Mutex<Option<Store>>,
    /// Idle readers of the store.
    readers: Mutex<Vec<Store>>,
    /// Sees changes of the store.
    watch: Mutex<Option<Store>>,
    searches: Searches,
    /// The reasoner that was last announced.
    announced: Mutex<String>,
}

#[derive(Serialize, Deserialize)]
pub struct Task {
    pub request: Request,
    pub reasoner: ReasonerChoice,
    /// Whether to save the run.
    pub save: bool,
    /// Whether feedback counts.
    pub learned: bool,
    /// Ends the analysis early, with a partial report. Another process gets a new one.
    #[serde(skip)]
    pub cancel: CancellationToken,
}

/// A report with the summary of its job.
#[derive(Debug, Serialize, Deserialize)]
pub struct Analysis {
    pub report: Report,
    pub summary: RunSummary,
}

impl Analysis {
    /// Masks the secrets that the program uses before anything is rendered, cut or saved: a server may repeat its key, and a job may
    /// contain it.
    fn without_secrets(self) -> Analysis {
        Analysis {
            report: masked(self.report),
            summary: masked(self.summary),
        }
    }
}

fn masked<T: Serialize + DeserializeOwned>(value: T) -> T {
    if !llm::has_secrets() {
        return value;
    }
    let Ok(mut fields) = serde_json::to_value(&value) else {
        return value;
    };
    match llm::hide_in(&mut fields) {
        // A secret that is equal to a code of the report stays: the code reveals no secret.
        true => serde_json::from_value(fields).unwrap_or(value),
        false => value,
    }
}

/// Who analyzes jobs: the session of this process, or workers that may die alone.
pub trait Analyst: Send + Sync {
    /// Analyzes one job. Blocks; must not be called from a thread that serves asynchronous tasks.
    ///
    /// # Errors
    /// If the job cannot be read, the LLM failed without a fallback, or the job took more than it may.
    fn analyze(&self, task: Task, observer: &mut dyn Observer) -> Result<Analysis>;
}

impl Analyst for Session {
    fn analyze(&self, task: Task, observer: &mut dyn Observer) -> Result<Analysis> {
        Session::analyze(self, task, observer)
    }
}

impl Session {
    /// # Errors
    /// If the catalogue of the knowledge folder is invalid.
    pub fn new(settings: Settings, runtime: Handle, monitor: Arc<dyn Monitor>) -> Result<Session> {
        Ok(Session {
            catalogue: settings.knowledge.catalogue()?,
            settings,
            runtime,
            monitor,
            index: Mutex::default(),
            store: Mutex::default(),
            readers: Mutex::default(),
            watch: Mutex::default(),
            searches: Searches::default(),
            announced: Mutex::default(),
        })
    }

    pub(crate) fn monitor(&self) -> &dyn Monitor {
        &*self.monitor
    }

    /// Whether an LLM answers in this mode and with this profile.
    pub(crate) fn uses_llm(&self, mode: Mode, profile: Option<&str>) -> bool {
        mode != Mode::Offline && (profile.is_some() || !self.settings.llm.profiles.is_empty())
    }

    pub(crate) fn thresholds(&self) -> &diagnosis::Settings {
        &self.settings.thresholds
    }

    /// The newest generation of the index; builds a missing index.
    pub fn index(&self) -> Result<Arc<Index>> {
        let mut open = locked(&self.index);
        let session = match &mut *open {
            Some(session) => session,
            none => {
                let Settings {
                    knowledge,
                    is_resident,
                    ..
                } = &self.settings;
                none.insert(knowledge.open(*is_resident, self.monitor())?)
            }
        };
        session.current()
    }

    /// The text of a document of the knowledge base; `None` if it is not there any more.
    pub(crate) fn document(&self, name: &str) -> Option<String> {
        self.settings.knowledge.document(name)
    }

    /// Works with the run store; creates a missing store.
    pub fn with_store<T>(
        &self,
        work: impl FnOnce(&mut Store) -> std::result::Result<T, StoreError>,
    ) -> Result<T> {
        // A thread that panicked left at most an open transaction behind, which SQLite rolls back.
        let mut open = locked(&self.store);
        let store = match open.take() {
            Some(store) if store.can_write() => store,
            // A full disk or a missing permission may have been temporary.
            _ => Store::open(&self.settings.data)?,
        };
        Ok(work(open.insert(store))?)
    }

    /// Reads the run store without waiting for who writes it.
    pub(crate) fn read_store<T>(
        &self,
        work: impl FnOnce(&Store) -> std::result::Result<T, StoreError>,
    ) -> Result<T> {
        let kept = locked(&self.readers).pop();
        let Some(reader) = kept.map_or_else(|| self.reader(), |r| Ok(Some(r)))? else {
            return self.with_store(|store| work(store));
        };
        let done = work(&reader);
        locked(&self.readers).push(reader);
        Ok(done?)
    }

    /// Changes whenever the run store does.
    pub(crate) fn store_version(&self) -> Result<i64> {
        let mut watch = locked(&self.watch);
        if watch.is_none() {
            *watch = self.reader()?;
        }
        // A missing file cannot change.
        Ok(watch.as_ref().map_or(Ok(0), Store::version)?)
    }

    /// A reader of the store; creates a missing store, or returns `None` if creating is not
    /// allowed.
    fn reader(&self) -> Result<Option<Store>> {
        self.with_store(|_| Ok(()))?;
        Ok(Store::reader(&self.settings.data)?)
    }

    /// Chooses the reasoner and announces it, so that a wrong profile is reported before the first job is read. Returns the announcement.
    pub fn check_reasoner(&self, choice: &ReasonerChoice) -> Result<String> {
        let description = self.reasoners(choice)?.description;
        self.announce(&description);
        match choice.dry_run {
            // The model that would be asked.
            true => reasoner::description(choice, &self.settings.llm),
            false => Ok(description),
        }
    }

    pub(crate) fn reasoners(&self, choice: &ReasonerChoice) -> Result<Reasoners> {
        Reasoners::choose(choice, &self.settings.llm, self.settings.keys)
    }

    fn announce(&self, description: &str) {
        let mut announced = locked(&self.announced);
        if *announced != description {
            self.monitor.remark(description);
            description.clone_into(&mut announced);
        }
    }

    /// Analyzes one job and saves the run. Blocks; must not be called from a thread that serves asynchronous tasks. A store that fails
    /// costs the run its place there, not the user the answer; the report then has no id.
    pub fn analyze(&self, mut task: Task, observer: &mut dyn Observer) -> Result<Analysis> {
        let request = &mut task.request;
        request.language = request.language.or(self.settings.language);
        let run_id = &mut request.run_id;
        run_id.get_or_insert_with(|| ulid::Ulid::generate().to_string());
        let run = task.save.then(|| self.begin(&task.request)).flatten();
        let analysis = self.reason(&task, observer).map(Analysis::without_secrets);
        let is_kept = run.is_some_and(|run| self.finish(run, &analysis));
        analysis.map(|mut analysis| {
            if task.save && !is_kept {
                analysis.report.run_id.clear();
            }
            analysis
        })
    }

    fn reason(&self, task: &Task, observer: &mut dyn Observer) -> Result<Analysis> {
        let reasoners = self.reasoners(&task.reasoner)?;
        let (transcript, replay) = (reasoners.transcript.clone(), reasoners.replay.clone());
        let index = self.index()?;
        let preferences = match task.learned {
            true => self.preferences(task.save),
            false => Preferences::default(),
        };
        let mut analysis = self.run(task, reasoners, Some(&index), &preferences, observer)?;
        if let Some(replay) = replay {
            replay.restore(&mut analysis.report);
        }
        if let Some(Err(error)) = transcript.map(|t| t.finish(&analysis.report)) {
            let error = error.to_string();
            let warning = say!(
                "记录不完整：{error}",
                "the transcript is incomplete: {error}"
            );
            self.monitor.warn(&warning);
        }
        Ok(analysis)
    }

    /// The prompts for a task, step by step, without sending them.
    pub fn preview(&self, mut task: Task, observer: &mut dyn Observer) -> Result<Vec<Preview>> {
        let language = &mut task.request.language;
        *language = language.or(self.settings.language);
        let reasoners = self.reasoners(&task.reasoner)?;
        let previews = reasoners.previews.clone().unwrap_or_default();
        let index = self.index()?;
        let preferences = self.preferences(false);
        self.run(&task, reasoners, Some(&index), &preferences, observer)?;
        let previews = locked(&previews).clone();
        Ok(previews)
    }

    /// Reads and diagnoses a job, without experience, an LLM or a saved run.
    pub(crate) fn diagnose(&self, job: &Path) -> Result<Analysis> {
        let task = Task {
            request: Request {
                job: job.to_owned(),
                language: self.settings.language,
                depth: agent::Depth::Quick,
                ..Request::default()
            },
            reasoner: ReasonerChoice::default(),
            save: false,
            learned: false,
            cancel: CancellationToken::new(),
        };
        let nothing = Preferences::default();
        self.run(&task, Reasoners::offline(""), None, &nothing, &mut Silent)
    }

    fn run(
        &self,
        task: &Task,
        reasoners: Reasoners,
        index: Option<&Arc<Index>>,
        preferences: &Preferences,
        observer: &mut dyn Observer,
    ) -> Result<Analysis> {
        let remembered = index.map(|index| self.searches.over(index));
        let chunk_prior = |causes: &[String], chunk: &str| preferences.chunk(causes, chunk);
        let kind_prior = |cause: &str, kind: SuggestionKind| preferences.kind(cause, kind.code());
        let answerer = |report: &Report, job: &job::Job| self.measured_answer(report, job);
        let description = reasoners.description.clone();
        let services = Services {
            index: remembered.as_ref().map(|index| index as _),
            prior: (!preferences.is_empty()).then_some(&chunk_prior as _),
            kind_prior: Some(&kind_prior),
            answerer: Some(&answerer),
            ..self.services(reasoners, task.reasoner.redact, &task.cancel)
        };
        let mut observer = Announcing {
            session: self,
            description,
            observer,
        };
        let analyzed = agent::analyze(&task.request, &services, &mut observer);
        let agent::Analysis { report, job, code } = self.runtime.block_on(analyzed)?;
        let summary = RunSummary {
            code,
            ..RunSummary::of(&job)
        };
        Ok(Analysis { report, summary })
    }

    /// Works with the services for advice: a reasoner, and experience. Returns also the prompts of a dry run.
    ///
    /// # Errors
    /// If the reasoner cannot be set up, or there is no index.
    pub fn with_services<T>(
        &self,
        choice: &ReasonerChoice,
        cancel: &CancellationToken,
        work: impl FnOnce(&Services<'_>) -> T,
    ) -> Result<(T, Vec<Preview>)> {
        let reasoners = self.reasoners(choice)?;
        let previews = reasoners.previews.clone().unwrap_or_default();
        let index = self.index()?;
        let remembered = self.searches.over(&index);
        let services = Services {
            index: Some(&remembered),
            ..self.services(reasoners, choice.redact, cancel)
        };
        let done = work(&services);
        let previews = locked(&previews).clone();
        Ok((done, previews))
    }

    /// The services for an analysis, without experience and feedback.
    pub(crate) fn services(
        &self,
        reasoners: Reasoners,
        redact: bool,
        cancel: &CancellationToken,
    ) -> Services<'_> {
        Services {
            reading: job::Options::with(self.catalogue.clone()),
            fallbacks: reasoners.fallbacks,
            prompts: self.settings.prompts.clone(),
            redact,
            cancel: cancel.clone(),
            ..Services::new(&self.catalogue, &self.settings.thresholds, reasoners.first)
        }
    }

    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Works with the run store if there is one. None is created for the sake of reading it.
    pub(crate) fn with_store_if_any<T: Default>(
        &self,
        work: impl FnOnce(&mut Store) -> std::result::Result<T, StoreError>,
    ) -> Result<T> {
        match self.settings.data.join(FILE_NAME).is_file() {
            true => self.with_store(work),
            false => Ok(T::default()),
        }
    }

    /// Preferences learned from all feedback. A store is never created just to read it. If the run is to be saved,
    /// [`Session::begin`] has opened the store, or has waited for it in vain and reported that.
    fn preferences(&self, save: bool) -> Preferences {
        let is_there = match save {
            true => locked(&self.store).is_some(),
            false => self.settings.data.join(FILE_NAME).is_file(),
        };
        let rows = is_there.then(|| self.with_store(|store| store.feedback()));
        match rows.transpose() {
            Ok(rows) => Preferences::learn(&rows.unwrap_or_default(), jiff::Timestamp::now()),
            Err(error) => {
                let error = error.one_line();
                let warning = say!("没有使用反馈：{error}", "feedback is ignored: {error}");
                self.monitor.warn(&warning);
                Preferences::default()
            }
        }
    }

    fn begin(&self, request: &Request) -> Option<OpenRun> {
        // Readers of the run may be in another folder.
        let absolute = || std::path::absolute(&request.job).unwrap_or_else(|_| request.job.clone());
        let job = request.origin.clone();
        let job = job.unwrap_or_else(|| absolute().display().to_string());
        let (run_id, question) = (request.run_id.as_deref()?, request.question.as_deref());
        let language = request.report_language();
        self.saved(self.with_store(|store| store.begin(run_id, &job, question, language)))
    }

    /// Returns whether the run is saved.
    fn finish(&self, run: OpenRun, analysis: &Result<Analysis>) -> bool {
        let outcome = self.with_store(|store| match analysis {
            Ok(analysis) => store.finish(run, &analysis.report, &analysis.summary),
            Err(error) => store.fail(run, &llm::hide(&error.one_line())),
        });
        self.saved(outcome).is_some()
    }

    fn saved<T>(&self, outcome: Result<T>) -> Option<T> {
        let warn = |error: &crate::Error| {
            let (reason, hint) = (error.one_line(), error.hint.as_deref().unwrap_or_default());
            self.monitor.warn(&say!(
                "这次运行没有保存：{reason}；{hint}",
                "the run is not saved: {reason}; {hint}"
            ));
        };
        outcome.inspect_err(warn).ok()
    }
}

/// Announces the reasoner once the job is open, so that an error about the job comes alone.
struct Announcing<'a> {
    session: &'a Session,
    description: String,
    observer: &'a mut dyn Observer,
}

impl Observer for Announcing<'_> {
    fn event(&mut self, event: Event<'_>) {
        if let Event::JobOpened { .. } = event
            && !self.description.is_empty()
        {
            self.session.announce(&self.description);
        }
        self.observer.event(event);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
