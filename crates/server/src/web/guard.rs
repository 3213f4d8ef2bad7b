//! Who is let in: `Host` against DNS rebinding, `Origin` and a form token against foreign pages, a token where other machines can connect.

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Form;
use axum::body::Bytes;
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use minijinja::context;
use report::{Language, speaking};
use secrecy::ExposeSecret;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::app::{App, same};
use super::upload;
use super::visitor::{Visitor, cookie};
use crate::listen;

/// How long one request may take from its head to the head of its answer.
const TIME: Duration = Duration::from_secs(30);
/// The same for an upload.
const UPLOAD_TIME: Duration = Duration::from_secs(30 * 60);
/// The same for an answer to a question, which a model may think about.
const ANSWER_TIME: Duration = Duration::from_secs(5 * 60);
/// Bytes of a form.
pub(super) const MAX_FORM: usize = 64 << 10;
/// How long a wrong token waits for its answer.
const PENALTY: Duration = Duration::from_millis(500);

const LOGIN: &str = "scopeagent_login";

/// Scripts and styles come from this server alone. Drawings set positions and colors in `style`, which no script can do.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Checks a request, has it answered, and sets the headers that protect the answer.
pub(super) async fn check(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let visitor = Visitor::of(&parts);
    let path = parts.uri.path().to_owned();
    let is_public = path == "/login" || path.starts_with("/static/");
    let most = match path.as_str() {
        "/uploads" => upload::MAX_BYTES,
        _ => MAX_FORM,
    };
    let mut response = match admitted(&app, &parts.method, &parts.headers) {
        Err(status) => {
            let (zh, en) = (
                "请求不是来自本页面\n",
                "this request does not come from this page\n",
            );
            (status, visitor.language.select(zh, en)).into_response()
        }
        Ok(()) if !is_public && !is_logged_in(&app, &parts.headers) => match parts.method {
            Method::GET => Redirect::to("/login").into_response(),
            _ => app.refuse(&visitor, StatusCode::UNAUTHORIZED),
        },
        Ok(()) if announced(&parts.headers) > most as u64 => {
            app.refuse(&visitor, StatusCode::PAYLOAD_TOO_LARGE)
        }
        Ok(()) => {
            let time = match path.as_str() {
                "/uploads" => UPLOAD_TIME,
                path if path.ends_with("/ask") => ANSWER_TIME,
                _ => TIME,
            };
            let answer = next.run(Request::from_parts(parts, body));
            let answer = Speaking {
                language: visitor.language,
                answer: Box::pin(answer),
            };
            let answered = tokio::time::timeout(time, answer).await;
            answered.unwrap_or_else(|_| app.refuse(&visitor, StatusCode::REQUEST_TIMEOUT))
        }
    };
    protect(response.headers_mut(), path.starts_with("/static/"));
    for cookie in &visitor.chosen {
        if let Ok(value) = HeaderValue::from_str(cookie) {
            response.headers_mut().append(header::SET_COOKIE, value);
        }
    }
    response
}

/// Polls an answer with the visitor's language set, on any thread.
struct Speaking<F> {
    language: Language,
    answer: Pin<Box<F>>,
}

impl<F: Future> Future for Speaking<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        speaking(self.language, || self.answer.as_mut().poll(context))
    }
}

/// Bytes that a body has according to its head; the body itself is measured too.
fn announced(headers: &HeaderMap) -> u64 {
    let length = headers.get(header::CONTENT_LENGTH);
    let length = length.and_then(|value| value.to_str().ok()?.parse().ok());
    length.unwrap_or(0)
}

fn protect(headers: &mut HeaderMap, is_static: bool) {
    let cache = match is_static {
        true => "max-age=3600",
        false => "no-store",
    };
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::CACHE_CONTROL, cache),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(
        "cross-origin-resource-policy",
        HeaderValue::from_static("same-origin"),
    );
}

/// A page of another site has a foreign `Origin`, or after DNS rebinding a foreign `Host`.
fn admitted(app: &App, method: &Method, headers: &HeaderMap) -> Result<(), StatusCode> {
    let (host, name) = listen::host(headers).ok_or(StatusCode::BAD_REQUEST)?;
    if !is_own_name(app, name) {
        return Err(StatusCode::FORBIDDEN);
    }
    let is_own = |origin: &HeaderValue| {
        let origin = origin.to_str().ok();
        let authority = origin.and_then(|origin| Some(origin.split_once("://")?.1));
        authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
    };
    let own = headers.get_all(header::ORIGIN).iter().all(is_own);
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    let is_change = *method != Method::GET && *method != Method::HEAD;
    let is_foreign = is_change && matches!(site, Some(b"cross-site" | b"same-site"));
    match own && !is_foreign {
        true => Ok(()),
        false => Err(StatusCode::FORBIDDEN),
    }
}

/// An address cannot be rebound; a name must be known.
fn is_own_name(app: &App, name: &str) -> bool {
    let is_known = |known: &str| name.eq_ignore_ascii_case(known);
    let is_loopback = |ip: IpAddr| ip.is_loopback() || app.token.is_some();
    is_known("localhost")
        || name.parse().is_ok_and(is_loopback)
        || app.hosts.iter().any(|host| is_known(host))
}

fn is_logged_in(app: &App, headers: &HeaderMap) -> bool {
    let Some(token) = &app.token else {
        return true;
    };
    let bearer = headers.get(header::AUTHORIZATION);
    let bearer = bearer.and_then(|v| v.to_str().ok()?.strip_prefix("Bearer "));
    bearer.is_some_and(|given| same(given, token.expose_secret()))
        || cookie(headers, LOGIN).is_some_and(|given| same(given, &app.login))
}

#[derive(Deserialize)]
pub(super) struct Login {
    secret: String,
}

pub(super) async fn show_login(State(app): State<Arc<App>>, visitor: Visitor) -> Response {
    login_page(&app, &visitor, false)
}

fn login_page(app: &App, visitor: &Visitor, failed: bool) -> Response {
    match app.page(visitor, "login.html", context! { failed }) {
        Ok(page) => page,
        Err(error) => app.explain(visitor, &error),
    }
}

pub(super) async fn login(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Form(given): Form<Login>,
) -> Response {
    let token = app.token.as_ref();
    if token.is_some_and(|token| same(&given.secret, token.expose_secret())) {
        let cookie = format!("{LOGIN}={}; Path=/; HttpOnly; SameSite=Strict", app.login);
        return ([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response();
    }
    tokio::time::sleep(PENALTY).await;
    let page = login_page(&app, &visitor, true);
    (StatusCode::UNAUTHORIZED, page).into_response()
}

/// A form that proves that it comes from a page of this server.
pub(super) struct Change<T>(pub(super) T);

#[derive(Deserialize)]
struct Token {
    token: String,
}

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Change<T> {
    type Rejection = Response;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Response> {
        let (parts, body) = request.into_parts();
        let visitor = Visitor::of(&parts);
        let refuse = |status| app.refuse(&visitor, status);
        let body = Bytes::from_request(Request::from_parts(parts, body), app).await;
        let body = body.map_err(|error| refuse(error.status()))?;
        let token = serde_urlencoded::from_bytes::<Token>(&body);
        if !token.is_ok_and(|form| app.is_own_form(&form.token)) {
            return Err(refuse(StatusCode::FORBIDDEN));
        }
        let form = serde_urlencoded::from_bytes(&body);
        form.map(Change)
            .map_err(|_| refuse(StatusCode::BAD_REQUEST))
    }
}
