//! The report that an address means: of a run, or of a job of a batch.

use std::sync::Arc;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response;
use runs::store::RunRow;

use crate::compare::no_report;
use crate::error::Result;
use crate::session::Analysis;
use crate::web::analyses::Progress;
use crate::web::app::App;
use crate::web::batches::Listing;
use crate::web::visitor::Visitor;

/// As in an address: `/runs/ID`, `/batches/N/jobs/KEY`.
pub(super) struct Named {
    listing: Option<Arc<Listing>>,
    /// Number of the batch, from 1.
    at: String,
    id: String,
}

/// A run or a job that there is.
pub(super) struct Found {
    pub(super) row: RunRow,
    /// Where its page is.
    pub(super) base: String,
    /// Number of the batch.
    pub(super) at: String,
    /// `None` of a run.
    pub(super) listing: Option<Arc<Listing>>,
}

impl FromRequestParts<Arc<App>> for Named {
    type Rejection = Response;

    async fn from_request_parts(
        parts: &mut Parts,
        app: &Arc<App>,
    ) -> std::result::Result<Self, Response> {
        let missing = |parts: &Parts| app.refuse(&Visitor::of(parts), StatusCode::NOT_FOUND);
        let params = RawPathParams::from_request_parts(parts, app).await;
        let params = params.map_err(|_| missing(parts))?;
        let [id, at] = ["run", "batch"].map(|name| param(&params, name));
        let listing = match at.as_str() {
            "" => None,
            at => Some(app.listing(at).ok_or_else(|| missing(parts))?),
        };
        Ok(Named { listing, at, id })
    }
}

/// A part of an address; empty if it has none.
pub(super) fn param(params: &RawPathParams, wanted: &str) -> String {
    let mut all = params.iter();
    let found = all.find_map(|(name, value)| (name == wanted).then(|| value.to_owned()));
    found.unwrap_or_default()
}

impl Named {
    /// The analysis of this run, if the page has started it.
    pub(super) fn analysis(&self, app: &App) -> Option<Arc<Progress>> {
        let is_run = self.listing.is_none();
        is_run.then(|| app.analyses.find(&self.id)).flatten()
    }

    /// # Errors
    /// If there is no such run or job.
    pub(super) fn find(self, app: &App) -> Result<Found> {
        let Named { listing, at, id } = self;
        let row = match &listing {
            Some(listing) => listing.jobs().listed(&id)?,
            None => app.session.read_store(|store| store.run(&id))?,
        };
        let base = match &listing {
            Some(_) => format!("/batches/{at}/jobs/{}", row.run_id),
            None => format!("/runs/{}", row.run_id),
        };
        Ok(Found {
            row,
            base,
            at,
            listing,
        })
    }
}

impl Found {
    /// # Errors
    /// If there is no report, or it cannot be read.
    pub(super) fn analysis(&self, app: &App) -> Result<Analysis> {
        let id = &self.row.run_id;
        let analysis = match &self.listing {
            Some(listing) => listing.batch.analysis(id)?,
            None => app.session.read_store(|store| {
                let report = store.report(id)?;
                let summary = store.summary(id)?.unwrap_or_default();
                Ok(report.map(|report| Analysis { report, summary }))
            })?,
        };
        analysis.ok_or_else(|| no_report(id))
    }
}
