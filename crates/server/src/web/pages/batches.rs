//! Batches: the list of their jobs, and the clusters of findings that one change would fix.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use minijinja::context;
use minijinja::value::{Serde, Value};
use render::Words;
use report::format::{JOB, Seconds};
use report::{say, title_of};
use runs::store::ClusterRow;
use serde::Serialize;

use super::runs::{Asked, List, PAGE};
use crate::error::Result;
use crate::web::app::App;
use crate::web::batches::Listing;
use crate::web::visitor::Visitor;

/// All batches; a single batch is opened directly.
pub(super) async fn show(State(app): State<Arc<App>>, visitor: Visitor) -> Response {
    app.answer(visitor, |app, visitor| {
        if app.batches.len() == 1 {
            return Ok(Redirect::to("/batches/1").into_response());
        }
        let words = Words::new(visitor.language);
        let batch = |listing: &Arc<Listing>| {
            let jobs = listing.state().planned as f64;
            context! { name => listing.name(), jobs => words.say(JOB.count(jobs)) }
        };
        let batches: Vec<Value> = app.batches.iter().map(batch).collect();
        app.page(visitor, "batches.html", context! { batches })
    })
    .await
}

/// A request for a list of a batch.
type Wanted = (State<Arc<App>>, Visitor, Path<String>, Query<Asked>);

pub(super) async fn jobs(wanted: Wanted) -> Response {
    list(wanted, "", "runs.html", |app, _, list| {
        let reports = format!("{}/jobs", list.base);
        Ok(context! { view => "jobs", reports, ..list.jobs(app)? })
    })
    .await
}

pub(super) async fn clusters(wanted: Wanted) -> Response {
    list(
        wanted,
        "/clusters",
        "clusters.html",
        |app, listing, list| {
            // One row more than shown tells whether there is a next page.
            let filter = list.filter(PAGE + 1);
            let (rows, count) = {
                let jobs = listing.jobs();
                (jobs.clusters(&filter)?, jobs.count(&filter)?)
            };
            let shown = rows.iter().take(PAGE);
            let clusters: Vec<Cluster> = shown.map(|row| Cluster::of(row, list.words)).collect();
            Ok(context! {
                view => "clusters",
                count,
                first => filter.skip + 1,
                last => filter.skip + clusters.len(),
                has_next => rows.len() > PAGE,
                clusters => Serde(&clusters),
                ..list.filters(app)?
            })
        },
    )
    .await
}

/// A page about a batch, cached until its list changes.
async fn list(
    (State(app), visitor, Path(at), Query(asked)): Wanted,
    below: &str,
    template: &'static str,
    content: impl FnOnce(&App, &Listing, &List<'_>) -> Result<Value> + Send + 'static,
) -> Response {
    let base = format!("/batches/{at}{below}");
    let Some(listing) = app.listing(&at) else {
        return app.refuse(&visitor, StatusCode::NOT_FOUND);
    };
    app.answer(visitor, move |app, visitor| {
        let state = listing.state().clone();
        app.kept_page(visitor, template, &state.version.to_string(), || {
            let words = Words::new(visitor.language);
            let read = listing.jobs().count(&Default::default())? as usize;
            let pending = state.planned.saturating_sub(read);
            let pending = (pending > 0).then(|| {
                let jobs = JOB.count(pending as f64);
                say!("{jobs}尚无结果", "{jobs} without a result yet", jobs = jobs)
            });
            let batch = context! { at, name => listing.name(), trouble => state.trouble, pending };
            let list = List {
                of: Some(&listing),
                base: &base,
                version: state.version,
                asked: &asked,
                words,
            };
            Ok(context! { batch, ..content(app, &listing, &list)? })
        })
    })
    .await
}

/// A cluster as one line of the list.
#[derive(Serialize)]
struct Cluster {
    code: String,
    cause: String,
    script: Option<String>,
    role: Option<String>,
    jobs: u32,
    avoidable: String,
    costliest: String,
    name: String,
    advice: Option<String>,
}

impl Cluster {
    fn of(row: &ClusterRow, words: Words) -> Cluster {
        Cluster {
            code: row.cause.clone(),
            cause: title_of(&row.cause, row.engine, words.0),
            script: row.script.clone(),
            role: row.role.clone(),
            jobs: row.jobs,
            avoidable: row
                .seconds
                .map_or_else(|| "–".to_owned(), |s| words.say(Seconds(s))),
            costliest: row.costliest.clone(),
            name: row.name.clone(),
            advice: row.advice.clone(),
        }
    }
}
