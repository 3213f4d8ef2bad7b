//! What all requests share, and how they get their work done.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use minijinja::value::{Serde, Value};
use minijinja::{Environment, context};
use report::Language;
use runs::store::RunFacets;
use secrecy::{ExposeSecret, SecretString};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::analyses::Analyses;
use super::templates::environment;
use super::visitor::Visitor;
use super::{Options, check_token};
use crate::error::{Error, ErrorKind, Explain, Result};
use crate::places::Places;
use crate::reasoner::ReasonerChoice;
use crate::roots::Roots;
use crate::session::{Analyst, Session};

/// Pages made at the same time at most; a large report takes memory.
const MAX_PAGES: usize = 8;
/// Bytes of rendered reports that are kept.
const MAX_KEPT: usize = 64 << 20;
/// How long what runs can be filtered by is kept; it is read over all runs.
const FACETS_AGE: Duration = Duration::from_secs(5);

pub(super) struct App {
    pub(super) session: Arc<Session>,
    pub(super) roots: Roots,
    pub(super) uploads: std::path::PathBuf,
    pub(super) hosts: Vec<String>,
    pub(super) reasoner: ReasonerChoice,
    pub(super) analyst: Arc<dyn Analyst>,
    pub(super) analyses: Analyses,
    /// Analyses at the same time.
    pub(super) places: Places,
    pages: Places,
    /// Everything that still runs, to be waited for at the end.
    pub(super) running: TaskTracker,
    /// Ends everything.
    pub(super) stop: CancellationToken,
    pub(super) token: Option<SecretString>,
    /// In every form; only who can read a page knows it.
    pub(super) form_token: String,
    /// In the cookie of who has logged in.
    pub(super) login: String,
    chinese: Environment<'static>,
    english: Environment<'static>,
    bodies: Mutex<Bodies>,
    facets: Mutex<Option<(Instant, Arc<RunFacets>)>>,
}

/// Rendered reports, the oldest first.
#[derive(Default)]
struct Bodies {
    kept: VecDeque<(String, Arc<str>)>,
    bytes: usize,
}

impl App {
    pub(super) fn new(
        session: Arc<Session>,
        options: Options,
        stop: CancellationToken,
    ) -> Result<App> {
        let token = options.token;
        check_token(options.address, token.as_ref().map(|t| t.expose_secret()))?;
        let hint = "the folder for uploads is in the data folder";
        std::fs::create_dir_all(&options.uploads).explain(ErrorKind::Other, hint)?;
        let mut roots = options.roots;
        roots.push(options.uploads.clone());
        Ok(App {
            session,
            roots: Roots::new(&roots)?,
            uploads: options.uploads,
            hosts: options.hosts,
            reasoner: options.reasoner,
            analyst: options.analyst,
            analyses: Analyses::default(),
            places: Places::for_analyses(),
            pages: Places::new(MAX_PAGES),
            running: TaskTracker::new(),
            stop,
            token,
            form_token: secret()?,
            login: secret()?,
            chinese: environment(Language::Zh).map_err(|e| template(&e))?,
            english: environment(Language::En).map_err(|e| template(&e))?,
            bodies: Mutex::default(),
            facets: Mutex::default(),
        })
    }

    /// Whether a form with this token comes from a page of this server.
    pub(super) fn is_own_form(&self, token: &str) -> bool {
        same(token, &self.form_token)
    }

    /// The templates of a language.
    pub(super) fn templates(&self, language: Language) -> &Environment<'static> {
        match language {
            Language::Zh => &self.chinese,
            Language::En => &self.english,
        }
    }

    /// A page.
    pub(super) fn page(&self, visitor: &Visitor, name: &str, content: Value) -> Result<Response> {
        let templates = self.templates(visitor.language);
        let frame = context! {
            visitor => Serde(visitor),
            form_token => &self.form_token,
            has_login => self.token.is_some(),
            ..content
        };
        let html = templates.get_template(name).and_then(|t| t.render(frame));
        let html = llm::hide(&html.map_err(|e| template(&e))?).into_owned();
        Ok(([(header::CONTENT_TYPE, "text/html; charset=utf-8")], html).into_response())
    }

    /// Does the work for a page away from the threads that serve connections.
    pub(super) async fn answer(
        self: Arc<Self>,
        visitor: Visitor,
        work: impl FnOnce(&Arc<App>, &Visitor) -> Result<Response> + Send + 'static,
    ) -> Response {
        let Ok(place) = self.pages.take().await else {
            return StatusCode::SERVICE_UNAVAILABLE.into_response();
        };
        let (app, asker) = (Arc::clone(&self), visitor.clone());
        let done = self.running.spawn_blocking(move || {
            let _place = place;
            work(&app, &asker)
        });
        match done.await {
            Ok(Ok(page)) => page,
            Ok(Err(error)) => self.explain(&visitor, &error),
            Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        }
    }

    /// A page that says what went wrong.
    pub(super) fn explain(&self, visitor: &Visitor, error: &Error) -> Response {
        let status = match error.kind {
            ErrorKind::Usage => StatusCode::BAD_REQUEST,
            ErrorKind::Input => StatusCode::NOT_FOUND,
            ErrorKind::Llm => StatusCode::BAD_GATEWAY,
            ErrorKind::Other => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let hint = error.hint.as_deref().unwrap_or_default();
        let message = report::visible(&error.one_line()).into_owned();
        match self.page(visitor, "problem.html", context! { message, hint }) {
            Ok(page) => (status, page).into_response(),
            Err(_) => status.into_response(),
        }
    }

    /// A rendered report, from the last time if nothing about it has changed.
    pub(super) fn kept_body(
        &self,
        key: String,
        make: impl FnOnce() -> Result<String>,
    ) -> Result<Arc<str>> {
        let known = |bodies: &Bodies| {
            let found = bodies.kept.iter().find(|(of, _)| *of == key);
            found.map(|(_, body)| Arc::clone(body))
        };
        let lock = || self.bodies.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(body) = known(&lock()) {
            return Ok(body);
        }
        let body: Arc<str> = make()?.into();
        let mut bodies = lock();
        bodies.bytes += body.len();
        bodies.kept.push_back((key, Arc::clone(&body)));
        while bodies.bytes > MAX_KEPT
            && let Some((_, oldest)) = bodies.kept.pop_front()
        {
            bodies.bytes -= oldest.len();
        }
        Ok(body)
    }

    /// What runs can be filtered by.
    pub(super) fn facets(&self) -> Result<Arc<RunFacets>> {
        let mut kept = self.facets.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some((at, facets)) if at.elapsed() < FACETS_AGE => Ok(Arc::clone(facets)),
            _ => {
                let facets = Arc::new(self.session.with_store(|store| store.facets())?);
                *kept = Some((Instant::now(), Arc::clone(&facets)));
                Ok(facets)
            }
        }
    }
}

/// A built-in template that does not fit, which tests exclude.
pub(super) fn template(error: &minijinja::Error) -> Error {
    Error::from_source(ErrorKind::Other, error)
}

/// Compares secrets in the same time whatever they are: `blake3` hashes are compared so.
pub(super) fn same(a: &str, b: &str) -> bool {
    blake3::hash(a.as_bytes()) == blake3::hash(b.as_bytes())
}

/// 128 random bits.
fn secret() -> Result<String> {
    let mut bytes = [0; 16];
    let filled = getrandom::fill(&mut bytes);
    filled.explain(ErrorKind::Other, "the system has no random numbers")?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
