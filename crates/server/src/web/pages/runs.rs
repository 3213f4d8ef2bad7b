//! The list of runs: filtered, ordered, in pages.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::Response;
use minijinja::context;
use minijinja::value::{Serde, Value};
use render::Words;
use report::format::{Seconds, Share};
use report::{Language, Verdict, title_of};
use runs::store::{RunFilter, RunOrder, RunRow, RunStatus, Store, StoreError};
use serde::{Deserialize, Serialize};

use super::given;
use crate::error::Result;
use crate::web::app::App;
use crate::web::batches::Listing;
use crate::web::phrases;
use crate::web::visitor::Visitor;

/// Runs on one page.
pub(super) const PAGE: usize = 50;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Asked {
    #[serde(deserialize_with = "given")]
    q: Option<String>,
    #[serde(deserialize_with = "given")]
    cause: Option<String>,
    #[serde(deserialize_with = "given")]
    owner: Option<String>,
    #[serde(deserialize_with = "given")]
    week: Option<String>,
    #[serde(deserialize_with = "given")]
    script: Option<String>,
    /// Every run of this job folder, instead of the newest of each.
    #[serde(deserialize_with = "given")]
    folder: Option<String>,
    /// `newest`, or most avoidable time first.
    #[serde(deserialize_with = "given")]
    sort: Option<String>,
    /// From 1.
    page: Option<usize>,
}

/// A run as one line of the list.
#[derive(Serialize)]
struct Line {
    run_id: String,
    name: String,
    job: String,
    verdict: &'static str,
    headline: String,
    avoidable: String,
    /// Avoidable share of the run, in percent.
    percent: Option<f64>,
    elapsed: String,
    owner: String,
    at: String,
    /// Address of the other runs of its folder, and how many there are.
    others: Option<(String, u32)>,
}

/// A choice of a filter.
#[derive(Serialize)]
struct Choice {
    value: String,
    label: String,
}

pub(super) async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Query(asked): Query<Asked>,
) -> Response {
    app.answer(visitor, move |app, visitor| {
        let version = app.session.store_version()?;
        let running = app.analyses.running();
        let ids: Vec<&str> = running.iter().map(|p| p.run_id.as_str()).collect();
        app.kept_page(visitor, "runs.html", &format!("{version} {ids:?}"), || {
            let running = running
                .iter()
                .map(|p| context! { run_id => &p.run_id, job => &p.job });
            let list = List {
                of: None,
                base: "/",
                version,
                asked: &asked,
                words: Words::new(visitor.language),
            };
            let jobs = list.jobs(app)?;
            Ok(context! { running => running.collect::<Vec<_>>(), reports => "/runs", ..jobs })
        })
    })
    .await
}

/// A list as it was asked for.
pub(super) struct List<'a> {
    /// The batch; `None` for the runs.
    pub(super) of: Option<&'a Listing>,
    /// Its address.
    pub(super) base: &'a str,
    pub(super) version: i64,
    pub(super) asked: &'a Asked,
    pub(super) words: Words,
}

impl List<'_> {
    /// A part of the jobs, and the filters.
    pub(super) fn jobs(&self, app: &App) -> Result<Value> {
        let filter = self.filter(PAGE);
        let read = |store: &Store| -> std::result::Result<_, StoreError> {
            Ok((store.runs(&filter)?, store.count(&filter)?))
        };
        let (rows, count) = match self.of {
            Some(listing) => read(&listing.jobs())?,
            None => app.session.read_store(read)?,
        };
        let mut lines: Vec<Line> = rows.iter().map(|row| line(row, self.words)).collect();
        for line in lines.iter_mut().filter(|_| filter.newest) {
            line.others = others(app, &line.job)?;
        }
        let last = filter.skip + lines.len();
        Ok(context! {
            lines => Serde(&lines),
            count,
            first => filter.skip + 1,
            last,
            has_next => last < count as usize,
            ..self.filters(app)?
        })
    }

    /// The selected and the possible filters.
    pub(super) fn filters(&self, app: &App) -> Result<Value> {
        let facets = match self.of {
            Some(listing) => listing.facets(self.version)?,
            None => app.facets(self.version)?,
        };
        let choices = |of: &[(String, u32)], say: &dyn Fn(&str) -> String| {
            let choices = of.iter().map(|(value, jobs)| Choice {
                label: format!("{} ({jobs})", say(value)),
                value: value.clone(),
            });
            Value::from(Serde(choices.collect::<Vec<_>>()))
        };
        let asked = self.asked;
        let chosen = [
            ("q", &asked.q),
            ("cause", &asked.cause),
            ("owner", &asked.owner),
            ("week", &asked.week),
            ("script", &asked.script),
            ("folder", &asked.folder),
        ];
        let start = format!("{}?", self.base);
        let prefix = start.len();
        let mut query = url::form_urlencoded::Serializer::for_suffix(start, prefix);
        let sort = [("sort", &asked.sort)];
        for (name, value) in chosen.iter().chain(&sort) {
            if let Some(value) = value {
                query.append_pair(name, value);
            }
        }
        let query = query.finish();
        Ok(context! {
            asked => Serde(asked),
            filtered => chosen.iter().any(|(_, value)| value.is_some()),
            causes => choices(&facets.causes, &|code| title_of(code, facets.engine, self.words.0)),
            owners => choices(&facets.owners, &str::to_owned),
            scripts => choices(&facets.scripts, &str::to_owned),
            weeks => choices(&facets.weeks, &str::to_owned),
            base => self.base,
            with_page => if query.ends_with('?') { query } else { query + "&" },
            page => self.page(),
        })
    }

    fn page(&self) -> usize {
        self.asked.page.unwrap_or(1).max(1)
    }

    pub(super) fn filter(&self, limit: usize) -> RunFilter {
        let asked = self.asked.clone();
        RunFilter {
            job: asked.q,
            cause: asked.cause,
            owner: asked.owner,
            week: asked.week,
            script: asked.script,
            newest: self.of.is_none() && asked.folder.is_none(),
            folder: asked.folder,
            order: match asked.sort.as_deref() {
                Some("newest") => RunOrder::Newest,
                _ => RunOrder::Avoidable,
            },
            skip: (self.page() - 1).saturating_mul(PAGE),
            limit: Some(limit),
        }
    }
}

fn line(row: &RunRow, words: Words) -> Line {
    let share = row.avoidable_seconds.zip(row.elapsed_seconds);
    let share = share.filter(|(_, all)| *all > 0.0);
    let share = share.map(|(part, all)| (part / all).clamp(0.0, 1.0));
    let seconds = |n: Option<f64>| n.map_or_else(|| "–".to_owned(), |n| words.say(Seconds(n)));
    let avoidable = row.avoidable_seconds.filter(|n| *n > 0.0);
    let name = row
        .job_name
        .as_deref()
        .unwrap_or_else(|| last_part(&row.job));
    Line {
        run_id: row.run_id.clone(),
        name: name.to_owned(),
        job: row.job.clone(),
        verdict: verdict(row).0,
        headline: headline(row, words),
        avoidable: match (seconds(avoidable), share.filter(|s| *s > 0.0)) {
            (time, Some(share)) => format!("{time} · {}", words.say(Share(share))),
            (time, None) => time,
        },
        percent: share
            .filter(|s| *s > 0.0)
            .map(|s| (s * 1000.0).round() / 10.0),
        elapsed: seconds(row.elapsed_seconds),
        owner: row.owner.clone().unwrap_or_default(),
        at: super::minute(&row.created_at),
        others: None,
    }
}

/// Runs of the same folder apart from the newest.
fn others(app: &App, job: &str) -> Result<Option<(String, u32)>> {
    let all = RunFilter {
        folder: Some(job.to_owned()),
        ..RunFilter::default()
    };
    let count = app.session.read_store(|store| store.count(&all))?;
    let query = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("sort", "newest")
        .append_pair("folder", job)
        .finish();
    Ok((count > 1).then(|| (format!("/?{query}"), count - 1)))
}

fn last_part(path: &str) -> &str {
    path.rsplit(['/', '\\'])
        .find(|part| !part.is_empty())
        .unwrap_or(path)
}

/// Class of the verdict or of how the run ended, and the verdict.
fn verdict(row: &RunRow) -> (&'static str, Option<Verdict>) {
    match (row.verdict.as_deref(), row.status) {
        (Some("problem"), _) => ("problem", Some(Verdict::Problem)),
        (Some("healthy"), _) => ("healthy", Some(Verdict::Healthy)),
        (Some(_), _) => ("open", Some(Verdict::InsufficientInformation)),
        (None, RunStatus::Running) => ("running", None),
        (None, _) => ("failed", None),
    }
}

/// The causes of a problem, else the verdict, else how the run ended.
fn headline(row: &RunRow, words: Words) -> String {
    let Some(top) = &row.top_cause else {
        return match verdict(row) {
            (_, Some(verdict)) => words.verdict(verdict, &[]),
            (end, None) => phrases::say(end, words.0).to_owned(),
        };
    };
    let title = title_of(top, row.engine, words.0);
    match row.findings {
        0 | 1 => title,
        n => match words.0 {
            Language::Zh => format!("{title}（另有 {} 个）", n - 1),
            Language::En => format!("{title} (+{} more)", n - 1),
        },
    }
}
