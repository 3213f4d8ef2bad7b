//! A new analysis: of a path or of uploaded files, and its live progress.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{Multipart, Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Redirect, Response};
use minijinja::context;
use minijinja::value::Serde;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::{given, minute};
use crate::error::Result;
use crate::roots::Admitted;
use crate::web::analyses::Progress;
use crate::web::app::App;
use crate::web::guard::Change;
use crate::web::start::{TaskForm, start as start_analysis};
use crate::web::upload;
use crate::web::visitor::Visitor;

/// Entries of a folder that are offered, the newest.
const ENTRIES: usize = 200;

#[derive(Deserialize)]
pub(super) struct Browsed {
    /// A folder, or the address of a History Server.
    #[serde(default, rename = "in", deserialize_with = "given")]
    place: Option<String>,
}

/// A folder or a log that can be chosen.
#[derive(Serialize)]
struct Entry {
    /// Address of the page with the entry chosen.
    page: String,
    name: String,
    about: String,
    is_folder: bool,
}

pub(super) async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Query(browsed): Query<Browsed>,
) -> Response {
    app.answer(visitor, move |app, visitor| {
        let folders = app.roots.folders();
        let folders = folders.filter(|root| !root.starts_with(&app.uploads));
        let servers = app.roots.servers().map(ToString::to_string);
        let roots = folders
            .map(|root| root.display().to_string())
            .chain(servers);
        let roots: Vec<String> = roots.collect();
        let place = browsed.place.as_deref();
        let from = place.or(roots
            .first()
            .map(String::as_str)
            .filter(|_| roots.len() == 1));
        let entries = match from {
            Some(from) => entries(app, from)?,
            None => roots
                .iter()
                .map(|root| entry(root, root.clone(), String::new(), true))
                .collect(),
        };
        let place = place.filter(|place| !roots.iter().any(|root| root == place));
        let content =
            context! { roots => &roots, place, from, entries => Serde(entries), most => ENTRIES };
        app.page(visitor, "analyze.html", content)
    })
    .await
}

fn entry(place: &str, name: String, about: String, is_folder: bool) -> Entry {
    let query = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("in", place)
        .finish();
    Entry {
        page: format!("/analyze?{query}"),
        name,
        about,
        is_folder,
    }
}

/// The newest entries of an allowed folder, or applications of an allowed server. A single job has no entries.
fn entries(app: &App, place: &str) -> Result<Vec<Entry>> {
    if app.roots.servers().any(|server| server.as_str() == place) {
        let listed = app.fetch.applications(place, None, ENTRIES, &app.stop)?;
        let ended = listed
            .into_iter()
            .filter(|application| application.completed);
        let offered = |a: crate::Application| {
            let about = [a.user.unwrap_or_default(), minute(&a.started)].join(" · ");
            entry(&a.job, a.name, about, false)
        };
        return Ok(ended.map(offered).collect());
    }
    let Admitted::Local(folder) = app.roots.admit(place)? else {
        return Ok(Vec::new());
    };
    let Ok(listed) = std::fs::read_dir(&folder) else {
        return Ok(Vec::new());
    };
    let shown = listed.flatten().filter_map(|found| {
        let name = found.file_name().into_string().ok()?;
        let (kind, data) = (found.file_type().ok()?, found.metadata().ok()?);
        let is_offered = !name.starts_with('.') && (kind.is_dir() || kind.is_file());
        is_offered.then(|| (data.modified().ok(), name, kind.is_dir()))
    });
    let mut all: Vec<_> = shown.collect();
    all.sort_by(|x, y| y.0.cmp(&x.0).then_with(|| x.1.cmp(&y.1)));
    all.truncate(ENTRIES);
    let offered = |(modified, name, is_folder): (Option<std::time::SystemTime>, String, bool)| {
        let at = modified.and_then(|at| jiff::Timestamp::try_from(at).ok());
        let at = at.map_or_else(String::new, |at| minute(&at.to_string()));
        let path = folder.join(&name);
        entry(&path.to_string_lossy(), name, at, is_folder)
    };
    Ok(all.into_iter().map(offered).collect())
}

#[derive(Deserialize)]
pub(super) struct Asked {
    job: String,
    #[serde(default, deserialize_with = "given")]
    question: Option<String>,
    #[serde(default)]
    depth: String,
}

pub(super) async fn start(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Change(asked): Change<Asked>,
) -> Response {
    app.answer(visitor, move |app, visitor| {
        let wish = TaskForm {
            job: app.roots.admit(asked.job.trim())?,
            question: asked.question,
            language: visitor.language,
            depth: depth(&asked.depth),
        };
        let run = start_analysis(app, wish)?;
        Ok(Redirect::to(&format!("/runs/{run}")).into_response())
    })
    .await
}

fn depth(name: &str) -> agent::Depth {
    match name {
        "quick" => agent::Depth::Quick,
        "deep" => agent::Depth::Deep,
        _ => agent::Depth::Normal,
    }
}

/// A script gets the address of the run, a form is sent there.
pub(super) async fn upload(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    headers: HeaderMap,
    form: Multipart,
) -> Response {
    match received(&app, &visitor, form).await {
        Ok(run) => {
            let page = format!("/runs/{run}");
            match headers.contains_key("x-requested-with") {
                true => page.into_response(),
                false => Redirect::to(&page).into_response(),
            }
        }
        Err(error) => app.explain(&visitor, &error),
    }
}

async fn received(app: &Arc<App>, visitor: &Visitor, form: Multipart) -> Result<String> {
    let upload = upload::receive(app, form).await?;
    let question = Some(upload.question).filter(|text| !text.trim().is_empty());
    let wish = TaskForm {
        job: Admitted::Local(upload.job),
        question,
        language: visitor.language,
        depth: depth(&upload.depth),
    };
    start_analysis(app, wish)
}

#[derive(Deserialize)]
pub(super) struct Cancel {}

pub(super) async fn cancel(
    State(app): State<Arc<App>>,
    Path(run): Path<String>,
    Change(Cancel {}): Change<Cancel>,
) -> Response {
    match app.analyses.find(&run) {
        Some(progress) => {
            progress.stop.cancel();
            Redirect::to(&format!("/runs/{}", progress.run_id)).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// The progress of an analysis as it happens; ends with it, or with the server.
pub(super) async fn events(State(app): State<Arc<App>>, Path(run): Path<String>) -> Response {
    let Some(progress) = app.analyses.find(&run) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let stream = futures::stream::unfold(Some((progress, 0)), {
        let stop = app.stop.clone();
        move |state| {
            let stop = stop.clone();
            async move {
                let (progress, from) = state?;
                let (event, seen) = next(&progress, from, &stop).await?;
                let rest = seen.map(|seen| (progress, seen));
                Some((Ok::<_, Infallible>(event), rest))
            }
        }
    });
    Sse::new(stream)
        .keep_alive(KeepAlive::default())
        .into_response()
}

/// The next event, and how many lines were seen with it; `None` instead of the number at the end.
async fn next(
    progress: &Progress,
    from: usize,
    stop: &CancellationToken,
) -> Option<(Event, Option<usize>)> {
    let mut changed = progress.watch();
    loop {
        changed.mark_unchanged();
        let seen = progress.seen(from);
        if !seen.lines.is_empty() {
            let count = from + seen.lines.len();
            return Some((Event::default().data(seen.lines.join("\n")), Some(count)));
        }
        if let Some(failure) = seen.end {
            let event = Event::default()
                .event("end")
                .data(failure.unwrap_or_default());
            return Some((event, None));
        }
        tokio::select! {
            () = stop.cancelled() => return None,
            change = changed.changed() => change.ok()?,
        }
    }
}
