//! One module per page; a form's handler is in the module of the page with the form.

mod analyze;
mod ask;
mod batches;
mod compare;
mod file;
mod history;
mod knowledge;
mod named;
mod run;
mod runs;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Deserialize;

use super::app::App;
use super::visitor::Visitor;
use super::{guard, templates, upload};

/// `2026-11-22 19:05` of a time of the store.
fn minute(at: &str) -> String {
    at.get(..16).unwrap_or_default().replace('T', " ")
}

pub(super) fn router() -> Router<Arc<App>> {
    let upload = post(analyze::upload).layer(DefaultBodyLimit::max(upload::MAX_BYTES));
    Router::new()
        .route("/", get(runs::show))
        .route("/analyze", get(analyze::show).post(analyze::start))
        .route("/runs/{run}", get(run::show))
        .route("/runs/{run}/events", get(analyze::events))
        .route("/runs/{run}/cancel", post(analyze::cancel))
        .route("/runs/{run}/ask", post(ask::ask))
        .route("/runs/{run}/feedback", post(run::feedback))
        .route("/runs/{run}/file", get(file::show))
        .route("/runs/{run}/history", get(history::show))
        .route("/runs/{run}/suggestions/{diff}", get(run::diff))
        .route("/runs/{run}/report/{form}", get(run::download))
        .route("/batches", get(batches::show))
        .route("/batches/{batch}", get(batches::jobs))
        .route("/batches/{batch}/clusters", get(batches::clusters))
        .route("/batches/{batch}/jobs/{run}", get(run::show))
        .route("/batches/{batch}/jobs/{run}/file", get(file::show))
        .route(
            "/batches/{batch}/jobs/{run}/suggestions/{diff}",
            get(run::diff),
        )
        .route(
            "/batches/{batch}/jobs/{run}/report/{form}",
            get(run::download),
        )
        .route("/compare", get(compare::show))
        .route("/knowledge", get(knowledge::search))
        .route("/knowledge/passage", get(knowledge::passage))
        .route("/login", get(guard::show_login).post(guard::login))
        .route("/static/{name}", get(asset))
        .fallback(missing)
        .layer(DefaultBodyLimit::max(guard::MAX_FORM))
        .route("/uploads", upload)
}

async fn missing(State(app): State<Arc<App>>, visitor: Visitor) -> Response {
    app.refuse(&visitor, StatusCode::NOT_FOUND)
}

async fn asset(Path(name): Path<String>) -> Response {
    let (kind, text) = match name.as_str() {
        "app.js" => (
            "text/javascript; charset=utf-8",
            templates::SCRIPT.to_owned(),
        ),
        "app.css" => (
            "text/css; charset=utf-8",
            [render::html::STYLE, templates::STYLE].concat(),
        ),
        "icon.svg" => ("image/svg+xml", templates::ICON.to_owned()),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

/// An empty field of a form is no choice.
fn given<'de, D: serde::Deserializer<'de>>(field: D) -> Result<Option<String>, D::Error> {
    let text = Option::<String>::deserialize(field)?;
    Ok(text.filter(|text| !text.trim().is_empty()))
}
