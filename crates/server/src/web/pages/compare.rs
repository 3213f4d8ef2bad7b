//! The changes between two saved runs.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::response::Response;
use minijinja::Value;
use minijinja::context;
use runs::compare::compare;

use crate::web::app::{App, template};
use crate::web::visitor::Visitor;

/// The two runs are both called `run`, so that boxes in a list can name them without a script; the older one comes first.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
) -> Response {
    app.answer(visitor, move |app, visitor| {
        let query = query.unwrap_or_default();
        let pairs = url::form_urlencoded::parse(query.as_bytes());
        let runs: Vec<String> = pairs
            .filter(|(name, value)| name == "run" && !value.is_empty())
            .map(|(_, value)| value.into_owned())
            .collect();
        let [a, b] = runs.as_slice() else {
            let n = runs.len();
            return Err(error!(
                Usage: "比较需要两次运行，而不是 {n} 次", "a comparison takes two runs, not {n}";
                "请在列表中勾选两次运行", "tick two runs in the list"
            ));
        };
        // A name that is no saved run must not be looked up as a folder.
        let (a, b) = app
            .session
            .with_store(|store| Ok((store.run(a)?, store.run(b)?)))?;
        let (a, b) = if a.created_at <= b.created_at {
            (a, b)
        } else {
            (b, a)
        };
        let [first, second] = [&a, &b].map(|row| app.session.compared_run(&row.run_id));
        let comparison = compare(&first?, &second?, visitor.language);
        let body = render::comparison::body(app.templates(visitor.language), &comparison, true)
            .map_err(|e| template(&e))?;
        let content = context! {
            a => a.run_id,
            b => b.run_id,
            body => Value::from_safe_string(body),
        };
        app.page(visitor, "compare.html", content)
    })
    .await
}
