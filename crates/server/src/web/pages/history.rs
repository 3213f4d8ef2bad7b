//! The runs of a run's job, with regressions and their likely reason.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use minijinja::context;
use minijinja::value::Serde;
use render::{Words, history};
use report::format::with_capital;
use serde::Serialize;

use super::named::Named;
use crate::web::app::App;
use crate::web::visitor::Visitor;

#[derive(Serialize)]
struct Line {
    cells: [String; 8],
    /// Of the longest run.
    percent: f64,
    slow: bool,
}

pub(super) async fn show(State(app): State<Arc<App>>, visitor: Visitor, named: Named) -> Response {
    app.answer(visitor, move |app, visitor| {
        let run = named.find(app)?.row.run_id;
        let (language, words) = (visitor.language, Words::new(visitor.language));
        let of_job = app
            .session
            .read_store(|store| store.history(&run, &|_| true, language))?;
        let times = of_job.runs.iter().filter_map(|past| past.elapsed_seconds);
        let longest = times.fold(f64::MIN_POSITIVE, f64::max);
        let lines = of_job.runs.iter().zip(history::rows(&of_job, words));
        let unit = report::hours_of(of_job.unit.as_deref().unwrap_or_default());
        let line = |(past, mut cells): (&runs::history::PastRun, [String; 8])| {
            // a page has room for the unit of the used time
            if let Some(cost) = past.cost {
                cells[3] = words.say(unit.count(cost));
            }
            let percent = |seconds: f64| (seconds / longest * 100.0).round();
            Line {
                cells,
                percent: past.elapsed_seconds.map_or(0.0, percent),
                slow: past.is_regression,
            }
        };
        let regressions = of_job.runs.iter().filter(|past| past.is_first_regression);
        let note = |past: &runs::history::PastRun| {
            let good = past.compared_with.as_deref().unwrap_or_default();
            let compare = format!("/compare?run={good}&run={}", past.run_id);
            [history::regression(past, words), compare]
        };
        let content = context! {
            name => &of_job.job,
            notes => regressions.map(note).collect::<Vec<_>>(),
            heads => history::heads(words).into_iter().map(|(head, _)| with_capital(head)).collect::<Vec<_>>(),
            lines => Serde(lines.map(line).collect::<Vec<_>>()),
            run_id => run,
        };
        app.page(visitor, "history.html", content)
    })
    .await
}
