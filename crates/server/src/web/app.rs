//! State shared by all requests, and the threads that do their work.

use std::borrow::Cow;
use std::sync::Arc;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use minijinja::value::{Serde, Value};
use minijinja::{Environment, context};
use report::{Language, say, speaking};
use runs::store::{RunFacets, Store};
use secrecy::{ExposeSecret, SecretString};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::analyses::Analyses;
use super::batches::Listing;
use super::cache::{Latest, PageCache};
use super::receiving::Receiving;
use super::templates::environment;
use super::visitor::Visitor;
use super::{Options, check_token};
use crate::error::{Error, ErrorKind, Explain, Result};
use crate::opening::Fetch;
use crate::places::Places;
use crate::reasoner::ReasonerChoice;
use crate::roots::Roots;
use crate::session::{Analyst, Session};

/// Pages made at the same time at most; a large report takes memory.
const MAX_PAGES: usize = 8;
/// Questions answered at the same time at most.
const MAX_QUESTIONS: usize = 4;
/// Bytes of pages that are kept.
const MAX_KEPT: usize = 64 << 20;

/// Makes a page.
type Work = dyn FnOnce(&Arc<App>, &Visitor) -> Result<Response> + Send;

pub(super) struct App {
    pub(super) session: Arc<Session>,
    pub(super) roots: Roots,
    pub(super) uploads: std::path::PathBuf,
    pub(super) receiving: Receiving,
    pub(super) hosts: Vec<String>,
    pub(super) reasoner: ReasonerChoice,
    pub(super) analyst: Arc<dyn Analyst>,
    pub(super) ended: Option<super::Ended>,
    pub(super) fetch: Arc<dyn Fetch>,
    pub(super) analyses: Analyses,
    pub(super) batches: Vec<Arc<Listing>>,
    /// Analyses at the same time.
    pub(super) places: Places,
    /// Questions about runs at the same time: most of the time each waits for a model.
    pub(super) questions: Places,
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
    kept: PageCache,
    facets: Latest<RunFacets>,
}

impl App {
    pub(super) fn new(
        session: Arc<Session>,
        options: Options,
        stop: CancellationToken,
    ) -> Result<App> {
        let token = options.token;
        check_token(options.address, token.as_ref().map(|t| t.expose_secret()))?;
        let hint = say!(
            "上传目录在数据目录中",
            "the folder for uploads is in the data folder"
        );
        std::fs::create_dir_all(&options.uploads).explain(ErrorKind::Other, hint)?;
        let batches = options.batches.into_iter();
        let batches = batches.map(|batch| Listing::new(batch).map(Arc::new));
        let mut roots = options.roots;
        roots.push(options.uploads.clone());
        Ok(App {
            session,
            roots: Roots::new(&roots)?,
            uploads: options.uploads,
            receiving: Receiving::default(),
            hosts: options.hosts,
            reasoner: options.reasoner,
            analyst: options.analyst,
            ended: options.ended,
            fetch: options.fetch,
            analyses: Analyses::default(),
            batches: batches.collect::<Result<_>>()?,
            places: Places::for_analyses(),
            questions: Places::new(MAX_QUESTIONS),
            pages: Places::new(MAX_PAGES),
            running: TaskTracker::new(),
            stop,
            token,
            form_token: secret()?,
            login: secret()?,
            chinese: environment(Language::Zh).map_err(|e| template(&e))?,
            english: environment(Language::En).map_err(|e| template(&e))?,
            kept: PageCache::new(MAX_KEPT),
            facets: Latest::default(),
        })
    }

    /// The list of the batch with this number, from 1.
    pub(super) fn listing(&self, at: &str) -> Option<Arc<Listing>> {
        let at: usize = at.parse().ok()?;
        self.batches.get(at.checked_sub(1)?).map(Arc::clone)
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
        Ok(html(self.fill(visitor, name, content)?))
    }

    /// A page that stays the same until `state` changes, for every visitor with the same choices.
    pub(super) fn kept_page(
        &self,
        visitor: &Visitor,
        name: &str,
        state: &str,
        content: impl FnOnce() -> Result<Value>,
    ) -> Result<Response> {
        let Visitor {
            language,
            theme,
            here,
            ..
        } = visitor;
        let key = format!("{name} {} {theme} {here} {state}", language.code());
        let page = self
            .kept
            .page(key, || self.fill(visitor, name, content()?))?;
        Ok(html(page))
    }

    fn fill(&self, visitor: &Visitor, name: &str, content: Value) -> Result<String> {
        let frame = context! {
            visitor => Serde(visitor),
            form_token => &self.form_token,
            has_login => self.token.is_some(),
            has_batches => !self.batches.is_empty(),
            ..content
        };
        self.render(visitor.language, name, frame)
    }

    /// A template filled in, without secrets.
    pub(super) fn render(&self, language: Language, name: &str, content: Value) -> Result<String> {
        let templates = self.templates(language);
        let html = templates.get_template(name).and_then(|t| t.render(content));
        let html = html.map_err(|e| template(&e))?;
        Ok(match llm::hide(&html) {
            Cow::Owned(hidden) => hidden,
            Cow::Borrowed(_) => html,
        })
    }

    /// Does the work for a page away from the threads that serve connections.
    pub(super) fn answer(
        self: Arc<Self>,
        visitor: Visitor,
        work: impl FnOnce(&Arc<App>, &Visitor) -> Result<Response> + Send + 'static,
    ) -> impl Future<Output = Response> + Send {
        // One task for all pages: compiled for each, there would be 21.
        self.answer_by(visitor, Box::new(work))
    }

    async fn answer_by(self: Arc<Self>, visitor: Visitor, work: Box<Work>) -> Response {
        let Ok(place) = self.pages.take().await else {
            return self.refuse(&visitor, StatusCode::SERVICE_UNAVAILABLE);
        };
        let (app, asker) = (Arc::clone(&self), visitor.clone());
        let done = self.running.spawn_blocking(move || {
            let _place = place;
            speaking(asker.language, || work(&app, &asker))
        });
        match done.await {
            Ok(Ok(page)) => page,
            Ok(Err(error)) => self.explain(&visitor, &error),
            Err(_) => self.refuse(&visitor, StatusCode::INTERNAL_SERVER_ERROR),
        }
    }

    /// A page that explains why there is no other.
    pub(super) fn refuse(&self, visitor: &Visitor, status: StatusCode) -> Response {
        let message = speaking(visitor.language, || match status {
            StatusCode::UNAUTHORIZED => say!("请先登录", "log in first"),
            StatusCode::FORBIDDEN => say!(
                "表单不是来自本页面，或服务已重新启动：请刷新页面后重试",
                "this form does not come from this page, or the server was restarted: reload the page"
            ),
            StatusCode::NOT_FOUND => say!("没有这个页面", "there is no such page"),
            StatusCode::REQUEST_TIMEOUT => {
                say!("用时过长，已中止", "this took too long and was ended")
            }
            StatusCode::PAYLOAD_TOO_LARGE => say!("请求过大", "the request is too large"),
            StatusCode::SERVICE_UNAVAILABLE => say!(
                "服务繁忙：等待的请求过多，请稍后再试",
                "the server is busy: too many requests are waiting; try again later"
            ),
            StatusCode::INTERNAL_SERVER_ERROR => say!(
                "程序在生成本页时崩溃；请报告此问题",
                "the program crashed on this page; please report it"
            ),
            _ => say!("无法理解这个请求", "this request is not understood"),
        });
        self.problem(visitor, status, &message, "")
    }

    fn problem(
        &self,
        visitor: &Visitor,
        status: StatusCode,
        message: &str,
        hint: &str,
    ) -> Response {
        match self.page(visitor, "problem.html", context! { message, hint }) {
            Ok(page) => (status, page).into_response(),
            Err(_) => status.into_response(),
        }
    }

    /// A page with the error and its remedy.
    pub(super) fn explain(&self, visitor: &Visitor, error: &Error) -> Response {
        let status = match error.kind {
            ErrorKind::Usage => StatusCode::BAD_REQUEST,
            ErrorKind::Input => StatusCode::NOT_FOUND,
            ErrorKind::Llm => StatusCode::BAD_GATEWAY,
            ErrorKind::Other => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let hint = error.hint.as_deref().unwrap_or_default();
        self.problem(visitor, status, &error.one_line(), hint)
    }

    /// Possible filters of runs, in this version of the store.
    pub(super) fn facets(&self, version: i64) -> Result<Arc<RunFacets>> {
        let read = || self.session.read_store(Store::facets);
        self.facets.get(version, read)
    }
}

fn html(page: impl IntoResponse) -> Response {
    let kind = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
    (kind, page).into_response()
}

/// A built-in template that does not fit, which tests exclude.
pub(super) fn template(error: &minijinja::Error) -> Error {
    Error::from_source(ErrorKind::Other, error)
}

/// Compares secrets in constant time, as `blake3` compares hashes.
pub(super) fn same(a: &str, b: &str) -> bool {
    blake3::hash(a.as_bytes()) == blake3::hash(b.as_bytes())
}

/// 128 random bits.
fn secret() -> Result<String> {
    let mut bytes = [0; 16];
    let filled = getrandom::fill(&mut bytes);
    let hint = say!("系统无法提供随机数", "the system has no random numbers");
    filled.explain(ErrorKind::Other, hint)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
