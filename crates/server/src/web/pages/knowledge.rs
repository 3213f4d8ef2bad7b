//! Search in the knowledge base, and a passage in its document.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::Response;
use indexer::{Hit, Match};
use minijinja::context;
use minijinja::value::{Serde, Value};
use render::html::prose;
use report::{Cause, visible_line};
use serde::{Deserialize, Serialize};

use super::given;
use crate::web::app::App;
use crate::web::visitor::Visitor;

const HITS: usize = 12;
/// Characters of a query.
const QUERY: usize = 2000;

#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    #[serde(default, deserialize_with = "given")]
    q: Option<String>,
}

#[derive(Serialize)]
struct Found {
    id: String,
    place: String,
    html: String,
    is_weak: bool,
    causes: Vec<String>,
}

pub(super) async fn search(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Query(asked): Query<Asked>,
) -> Response {
    app.answer(visitor, move |app, visitor| {
        let text: String = asked.q.unwrap_or_default().chars().take(QUERY).collect();
        if text.trim().is_empty() {
            return app.page(visitor, "knowledge.html", context! {});
        }
        let index = app.session.index()?;
        app.kept_page(visitor, "knowledge.html", index.generation(), || {
            let hits = index.search(&indexer::Query::new(text.trim(), HITS))?;
            let fits = hits.iter().any(|hit| hit.fit == Match::Strong);
            let found = |hit: &Hit| Found {
                id: hit.chunk.id.clone(),
                place: place(&hit.chunk),
                html: prose::render(without_heading(&hit.chunk.text)),
                is_weak: hit.fit == Match::Weak,
                causes: titles(&hit.chunk.causes, visitor),
            };
            let found: Vec<Found> = hits.iter().map(found).collect();
            Ok(context! { q => text, found => Serde(&found), fits })
        })
    })
    .await
}

fn place(chunk: &indexer::Chunk) -> String {
    [std::slice::from_ref(&chunk.title), &chunk.heading_path]
        .concat()
        .join(" › ")
}

fn titles(causes: &[String], visitor: &Visitor) -> Vec<String> {
    let known = causes.iter().filter_map(|code| Cause::from_code(code));
    known
        .map(|cause| render::Words::new(visitor.language).say(cause.title()))
        .collect()
}

#[derive(Debug, Deserialize)]
pub(super) struct Named {
    id: String,
}

pub(super) async fn passage(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Query(Named { id }): Query<Named>,
) -> Response {
    app.answer(visitor, move |app, visitor| {
        let chunk = app.session.index()?.chunk(&id).ok_or_else(|| {
            let id = visible_line(&id);
            error!(
                Input: "索引中没有段落 `{id}`", "the index has no passage `{id}`";
                "文档已被修改或删除；请搜索", "the document was changed or removed since; search for it"
            )
        })?;
        let document = app.session.document(&chunk.document);
        // If the document is missing or has changed, the passage is shown alone.
        let (before, after) = document
            .as_deref()
            .and_then(|text| without_front_matter(text).split_once(chunk.text.trim()))
            .unwrap_or_default();
        let content = context! {
            place => place(&chunk),
            document => chunk.document,
            source => chunk.source,
            causes => titles(&chunk.causes, visitor),
            before => Value::from_safe_string(prose::render(before)),
            passage => Value::from_safe_string(prose::render(&chunk.text)),
            after => Value::from_safe_string(prose::render(after)),
            is_passage => true,
        };
        app.page(visitor, "knowledge.html", content)
    })
    .await
}

/// The place above a hit has its heading already.
fn without_heading(text: &str) -> &str {
    match text.split_once('\n') {
        Some((first, rest)) if first.starts_with('#') => rest,
        _ => text,
    }
}

fn without_front_matter(text: &str) -> &str {
    let rest = text
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"));
    rest.map_or(text, |(_, body)| body)
}
