//! A run's report, feedback on its suggestions, and downloads.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use axum::extract::{RawPathParams, State};
use axum::http::header;
use axum::response::{IntoResponse, Redirect, Response};
use indexer::Index;
use minijinja::context;
use minijinja::value::Serde;
use render::html::{Passage, Served, body, prose};
use report::{Language, Report, say, visible_line};
use runs::store::{Action, Feedback, FeedbackRow, RunStatus};
use serde::Deserialize;

use super::ask::Said;
use super::minute;
use super::named::{Found, Named, param};
use crate::compare::no_report;
use crate::error::{Error, ErrorKind, Result};
use crate::session::Analysis;
use crate::web::app::{App, template};
use crate::web::guard::Change;
use crate::web::visitor::Visitor;

/// A longer analysis is not repeated for a page.
const QUICK: jiff::SignedDuration = jiff::SignedDuration::from_secs(20);

pub(super) async fn show(State(app): State<Arc<App>>, visitor: Visitor, named: Named) -> Response {
    app.answer(visitor, move |app, visitor| {
        if let Some(progress) = named.analysis(app) {
            let seen = progress.seen(0);
            let failure = seen.end.clone().flatten();
            if seen.end.is_none() || failure.is_some() {
                let content = context! { run_id => &progress.run_id, job => &progress.job, lines => seen.lines, failure };
                return app.page(visitor, "progress.html", content);
            }
        }
        report_page(app, visitor, &named.find(app)?)
    })
    .await
}

fn report_page(app: &App, visitor: &Visitor, found: &Found) -> Result<Response> {
    let row = &found.row;
    if row.verdict.is_none() {
        let failure = row.failure.clone().unwrap_or_else(|| match row.status {
            RunStatus::Running => say!(
                "另一个进程正在分析",
                "the run is in progress in another process"
            ),
            _ => no_report(&row.run_id).message,
        });
        let content = context! { run_id => &row.run_id, job => &row.job, failure };
        return app.page(visitor, "progress.html", content);
    }
    let (feedback, turns) = match &found.listing {
        Some(_) => (None, Vec::new()),
        None => app.session.read_store(|store| {
            let feedback = store.feedback_of(&row.run_id)?;
            Ok((Some(feedback), store.turns(&row.run_id)?))
        })?,
    };
    let index = app.session.index()?;
    let state = (&row.run_id, &row.finished_at, &feedback, turns.len());
    let state = format!("{state:?} {}", index.generation());
    app.kept_page(visitor, "run.html", &state, || {
        let can_read = app.roots.cover(&row.job);
        let analysis = analysis_in(visitor.language, app, found, can_read)?;
        let body = report_body(app, &index, found, &analysis, feedback.as_deref(), can_read)?;
        Ok(context! {
            run_id => &row.run_id,
            batch => found.listing.as_ref().map(|l| context! { name => l.name(), at => &found.at }),
            name => row.job_name.as_deref().unwrap_or(&row.job),
            job => &row.job,
            owner => &row.owner,
            at => minute(&row.created_at),
            question => &row.question,
            base => &found.base,
            can_read,
            turns => Serde(turns.iter().map(Said::of).collect::<Vec<_>>()),
            body => minijinja::Value::from_safe_string(body),
        })
    })
}

/// The analysis in the language of the page. A report of another language is made again by the rules, if its job is still there and the
/// analysis was quick.
fn analysis_in(language: Language, app: &App, found: &Found, can_read: bool) -> Result<Analysis> {
    let saved = found.analysis(app)?;
    let time = |at: &str| at.parse::<jiff::Timestamp>().ok();
    let took = found.row.finished_at.as_deref().and_then(time);
    let took = took.zip(time(&found.row.created_at));
    let is_quick = took.is_some_and(|(end, start)| end.duration_since(start) < QUICK);
    let by_rules = saved.report.engine.model.is_none() && saved.report.engine.provider.is_none();
    let is_local = can_read && Path::new(&found.row.job).exists() && found.listing.is_none();
    if saved.report.language == language || !(is_quick && by_rules && is_local) {
        return Ok(saved);
    }
    let again = app.session.run_in(&found.row.run_id, language)?;
    Ok(again.unwrap_or(saved))
}

fn report_body(
    app: &App,
    index: &Index,
    found: &Found,
    analysis: &Analysis,
    feedback: Option<&[FeedbackRow]>,
    has_files: bool,
) -> Result<String> {
    let Analysis { report, summary } = analysis;
    let done = |row: &FeedbackRow| {
        let done = match row.action {
            Action::Accept => "accepted",
            Action::Ignore => "ignored",
        };
        (row.suggestion.clone(), done)
    };
    let served = Served {
        base: found.base.clone(),
        has_files,
        token: app.form_token.clone(),
        passages: passages(index, report),
        feedback: feedback.map(|rows| rows.iter().map(done).collect()),
    };
    let language = report.language;
    let body = body(app.templates(language), report, summary, &served);
    let body = body.map_err(|e| template(&e))?;
    Ok(format!(
        "<div class=\"report\" lang=\"{}\">{body}</div>",
        language.code()
    ))
}

/// The passages that suggestions cite, if the index still has them.
fn passages(index: &Index, report: &Report) -> BTreeMap<String, Passage> {
    let cited = report.suggestions.iter().flat_map(|s| &s.sources);
    let known = cited.filter_map(|id| {
        let chunk = index.chunk(id)?;
        let title = [std::slice::from_ref(&chunk.title), &chunk.heading_path];
        let passage = Passage {
            title: title.concat().join(" › "),
            html: prose::render(&chunk.text),
        };
        Some((id.clone(), passage))
    });
    known.collect()
}

#[derive(Deserialize)]
pub(super) struct Opinion {
    suggestion: String,
    /// `accept`, `ignore` or `undo`.
    action: String,
}

pub(super) async fn feedback(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    axum::extract::Path(run): axum::extract::Path<String>,
    Change(opinion): Change<Opinion>,
) -> Response {
    app.answer(visitor, move |app, _| {
        let Opinion { suggestion, action } = opinion;
        app.session.with_store(|store| {
            let action = match action.as_str() {
                "accept" => Action::Accept,
                "ignore" => Action::Ignore,
                _ => return store.undo_feedback(&run, &suggestion),
            };
            let feedback = Feedback {
                action,
                suggestion: suggestion.clone(),
                note: None,
                saved_seconds: None,
            };
            store.give_feedback(&run, &feedback).map(drop)
        })?;
        // The store knows the suggestion, so its id is one.
        let back = format!("/runs/{run}#{suggestion}");
        Ok(Redirect::to(&back).into_response())
    })
    .await
}

/// The diff of a suggestion as a file: `S1.diff`.
pub(super) async fn diff(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    named: Named,
    params: RawPathParams,
) -> Response {
    let name = param(&params, "diff");
    app.answer(visitor, move |app, _| {
        let of = named.find(app)?;
        let report = of.analysis(app)?.report;
        let id = name.strip_suffix(".diff").unwrap_or(&name);
        let mut suggestions = report.suggestions.iter();
        let found = suggestions.find_map(|s| s.diff.as_ref().filter(|_| s.id == id));
        let diff = found.ok_or_else(|| {
            let name = visible_line(id);
            error!(
                Input: "这次运行没有带 diff 的建议 `{name}`", "no suggestion `{name}` of this run has a diff";
                "报告页中每个 diff 都有下载按钮", "the page of the run has a button for each diff"
            )
        })?;
        Ok(file(
            "text/x-diff; charset=utf-8",
            &format!("{}.diff", of.row.run_id),
            diff.clone(),
        ))
    })
    .await
}

/// The report as a file in one of its forms.
pub(super) async fn download(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    named: Named,
    params: RawPathParams,
) -> Response {
    let form = param(&params, "form");
    app.answer(visitor, move |app, _| {
        let found = named.find(app)?;
        let Analysis { report, summary } = found.analysis(app)?;
        let name = |extension: &str| format!("{}.{extension}", found.row.run_id);
        Ok(match form.as_str() {
            "json" => {
                let text = serde_json::to_string_pretty(&report);
                let text = text.map_err(|e| Error::from_source(ErrorKind::Other, &e))?;
                file("application/json", &name("json"), text)
            }
            "markdown" => file(
                "text/markdown; charset=utf-8",
                &name("md"),
                render::markdown::render(&report),
            ),
            "html" => {
                let page = render::html::render(&report, &summary);
                file(
                    "text/html; charset=utf-8",
                    &name("html"),
                    page.map_err(|e| template(&e))?,
                )
            }
            _ => {
                return Err(error!(
                    Input: "没有这种格式的报告", "there is no such form of a report";
                    "报告有 json、markdown 和 html 格式", "a report is there as json, markdown and html"
                ));
            }
        })
    })
    .await
}

/// A download; a name holds an identifier of this program only.
fn file(kind: &'static str, name: &str, text: String) -> Response {
    let saved_as = format!("attachment; filename=\"{name}\"");
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_DISPOSITION, saved_as),
    ];
    (headers, llm::hide(&text).into_owned()).into_response()
}
