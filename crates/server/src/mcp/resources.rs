//! Reports as resources: `scopeagent://runs/{run_id}/report`, and `report.md` for Markdown.
//!
//! Only reports on jobs in the allowed folders are visible: a report quotes its job.

use std::sync::Arc;

use report::Report;
use rmcp::ErrorData;
use rmcp::model::{
    ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use runs::compare::ComparedRun;
use runs::store::{RunFilter, RunRow, StoreError};
use serde_json::json;

use super::parameters::{ListApplications, MAX_RUNS};
use super::shared::Shared;
use crate::error::{Error, ErrorKind, Result};
use crate::opening::Application;
use crate::roots::{Admitted, Roots};
use url::Url;

const SCHEME: &str = "scopeagent://runs/";

/// Runs per page; each has two resources.
const PAGE: usize = 50;

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Json,
    Markdown,
}

impl Form {
    const ALL: [Form; 2] = [Form::Json, Form::Markdown];

    fn file(self) -> &'static str {
        match self {
            Form::Json => "report",
            Form::Markdown => "report.md",
        }
    }

    fn mime(self) -> &'static str {
        match self {
            Form::Json => "application/json",
            Form::Markdown => "text/markdown",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Form::Json => "Report of one analysis as JSON (report contract, version 1)",
            Form::Markdown => {
                "Report of one analysis as Markdown, to read or to paste into a ticket"
            }
        }
    }
}

fn uri(run_id: &str, form: Form) -> String {
    format!("{SCHEME}{run_id}/{}", form.file())
}

/// Run and form of a URI.
fn parse(uri: &str) -> Option<(&str, Form)> {
    let (run_id, file) = uri.strip_prefix(SCHEME)?.split_once('/')?;
    let form = Form::ALL.into_iter().find(|form| form.file() == file)?;
    Some((run_id, form))
}

pub(super) fn resource(run_id: &str, name: &str, form: Form) -> Resource {
    Resource::new(uri(run_id, form), format!("{run_id}/{}", form.file()))
        .with_title(name.to_owned())
        .with_description(form.description())
        .with_mime_type(form.mime())
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    let template = |form: Form| {
        ResourceTemplate::new(uri("{run_id}", form), form.file())
            .with_description(form.description())
            .with_mime_type(form.mime())
    };
    Form::ALL.into_iter().map(template).collect()
}

/// Runs of jobs in the allowed folders, newest first.
pub(super) fn visible(shared: &Shared, roots: &Roots, filter: &RunFilter) -> Result<Vec<RunRow>> {
    let all = RunFilter {
        limit: None,
        ..filter.clone()
    };
    let mut rows = shared.session.with_store(|store| store.runs(&all))?;
    rows.retain(|row| roots.cover(&row.job));
    rows.truncate(filter.limit.unwrap_or(usize::MAX));
    Ok(rows)
}

/// A page of the reports; the cursor is the last run of the previous page.
pub(super) async fn list(
    shared: &Arc<Shared>,
    roots: Roots,
    cursor: Option<String>,
) -> std::result::Result<ListResourcesResult, ErrorData> {
    let rows = shared
        .blocking(move |shared| visible(shared, &roots, &RunFilter::default()))
        .await?;
    // A run has a verdict as soon as it has a report, complete or partial.
    let mut rows: Vec<RunRow> = rows.into_iter().filter(|r| r.verdict.is_some()).collect();
    if let Some(cursor) = cursor {
        let at = rows.iter().position(|row| row.run_id == cursor);
        let at = at.ok_or_else(|| {
            ErrorData::invalid_params(format!("there is no page after `{cursor}`"), None)
        })?;
        rows.drain(..=at);
    }
    let more = rows.len() > PAGE;
    rows.truncate(PAGE);
    let next = rows.last().filter(|_| more).map(|row| row.run_id.clone());
    let resources = rows
        .iter()
        .flat_map(|row| Form::ALL.map(|form| resource(&row.run_id, title(row), form)))
        .collect();
    let mut result = ListResourcesResult::with_all_items(resources);
    result.next_cursor = next;
    Ok(result)
}

fn title(row: &RunRow) -> &str {
    row.job_name.as_deref().unwrap_or(&row.job)
}

/// The report behind a URI.
pub(super) async fn read(
    shared: &Arc<Shared>,
    roots: Roots,
    uri: String,
) -> std::result::Result<ReadResourceResult, ErrorData> {
    let missing = || {
        let data = Some(json!({ "uri": uri }));
        ErrorData::resource_not_found(format!("there is no report `{uri}`"), data)
    };
    if let Some(whole) = shared.rest.whole(&uri) {
        let contents = ResourceContents::text(whole, uri).with_mime_type(Form::Json.mime());
        return Ok(ReadResourceResult::new(vec![contents]));
    }
    let (run_id, form) = parse(&uri).ok_or_else(missing)?;
    let wanted = run_id.to_owned();
    let report = shared
        .blocking(move |shared| report(shared, &roots, &wanted))
        .await?
        .ok_or_else(missing)?;
    let text = match form {
        Form::Json => serde_json::to_string(&report)
            .map_err(|e| ErrorData::internal_error(e.to_string(), None))?,
        Form::Markdown => (shared.renderers.report)(&report),
    };
    let contents =
        ResourceContents::text(llm::hide(&text), uri.clone()).with_mime_type(form.mime());
    Ok(ReadResourceResult::new(vec![contents]))
}

/// The report of exactly this run, if its job is in the allowed folders.
fn report(shared: &Shared, roots: &Roots, run_id: &str) -> Result<Option<Report>> {
    shared.session.with_store(|store| match store.run(run_id) {
        Ok(row) if row.run_id == run_id && roots.cover(&row.job) => store.report(run_id),
        Ok(_) | Err(StoreError::UnknownRun(_) | StoreError::AmbiguousRun { .. }) => Ok(None),
        Err(error) => Err(error),
    })
}

/// The saved run with this identifier, if its job is in the allowed folders.
pub(super) fn visible_run(shared: &Shared, roots: &Roots, name: &str) -> Result<Option<RunRow>> {
    shared.session.with_store(|store| match store.run(name) {
        Ok(row) if roots.cover(&row.job) => Ok(Some(row)),
        Ok(_) | Err(StoreError::UnknownRun(_)) => Ok(None),
        Err(error) => Err(error),
    })
}

/// A saved run or a job, in the allowed folders.
pub(super) fn compared(shared: &Shared, roots: &Roots, name: &str) -> Result<ComparedRun> {
    if let Some(row) = visible_run(shared, roots, name)? {
        return shared.session.saved_run(&row.run_id);
    }
    let opened = shared.open(roots.admit(name)?)?;
    shared.session.compared_run(&opened.path.to_string_lossy())
}

/// The report of a saved run; `None` for a job.
pub(super) fn report_of(shared: &Shared, roots: &Roots, name: &str) -> Result<Option<Report>> {
    let row = visible_run(shared, roots, name)?;
    let report = row.map(|row| shared.session.with_store(|store| store.report(&row.run_id)));
    Ok(report.transpose()?.flatten())
}

/// The job of a saved run, or a job by its place.
pub(super) fn job_of(shared: &Shared, roots: &Roots, name: &str) -> Result<Admitted> {
    let row = visible_run(shared, roots, name)?;
    roots.admit(row.as_ref().map_or(name, |row| &row.job))
}

/// Applications of the allowed History Servers, newest first.
pub(super) fn applications(
    shared: &Shared,
    roots: &Roots,
    asked: &ListApplications,
) -> Result<Vec<Application>> {
    let most = asked.limit.clamp(1, MAX_RUNS) as usize;
    let servers: Vec<String> = match &asked.server {
        Some(server) => vec![server.clone()],
        None => roots.servers().map(Url::to_string).collect(),
    };
    if servers.is_empty() {
        let error = Error::new(ErrorKind::Usage, "no History Server is allowed");
        return Err(error.hint("the user allows one with `--root URL`"));
    }
    let mut all = Vec::new();
    for server in servers {
        let since = asked.since.as_deref();
        // More than asked for: some are left out below.
        all.extend(
            shared
                .fetch
                .applications(&server, since, most * 5, &shared.stop)?,
        );
    }
    all.retain(|a| {
        a.minutes >= asked.min_minutes && (asked.user.is_none() || a.user == asked.user)
    });
    all.sort_by(|x, y| y.started.cmp(&x.started));
    all.truncate(most);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_round_trip() {
        for form in Form::ALL {
            assert_eq!(parse(&uri("01ABC", form)), Some(("01ABC", form)));
        }
        for other in [
            "scopeagent://runs/01ABC",
            "scopeagent://runs/01ABC/picture",
            "file:///etc/passwd",
            "scopeagent://runs/../report/x",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
