//! Why a page was found for a query, or was not.

use serde::Serialize;

use super::index::Index;
use crate::analyze;
use crate::document::file_stem;
use crate::error::SearchError;
use crate::model::{Hit, Query};

/// Hits among which the page is looked for.
const DEPTH: usize = 1000;

#[derive(Debug, Clone, Serialize)]
pub struct Explanation {
    /// Path of the page; `None` if the index has no such page.
    pub page: Option<String>,
    /// Place among the pages found, from 1; `None` if no text of the page matches, or the filter leaves it out.
    pub rank: Option<usize>,
    /// Best passage of the page, and of the page in first place.
    pub passage: Option<Hit>,
    pub first: Option<Hit>,
    /// Words of the query that the best passage lacks.
    pub lacks: Vec<String>,
}

impl Index {
    /// Explains the place of `page`, a path or the name of its file, in the answer to `query`.
    pub fn explain(&self, query: &Query<'_>, page: &str) -> Result<Explanation, SearchError> {
        let stem = file_stem(page);
        let is_page = |document: &str| file_stem(document) == stem;
        let known = self.held.documents().unwrap_or_default().into_keys();
        let mut all = query.clone();
        (all.k, all.diversity) = (DEPTH, 0.0);
        // the printed passages first: the places below them are of a search without thinning
        let mut hits = self.search(query)?;
        hits.extend(self.search(&all)?);
        let mut pages: Vec<&str> = Vec::new();
        for hit in &hits {
            if !pages.contains(&&*hit.chunk.document) {
                pages.push(&hit.chunk.document);
            }
        }
        let rank = pages.iter().position(|document| is_page(document));
        let passage = hits.iter().find(|hit| is_page(&hit.chunk.document));
        let held = passage.map(|hit| analyze::terms(&crate::context::embedded_text(&hit.chunk)));
        let mut lacks = analyze::terms(&query.text);
        lacks.retain(|term| held.as_ref().is_some_and(|held| !held.contains(term)));
        lacks.dedup();
        Ok(Explanation {
            page: known.into_iter().find(|document| is_page(document)),
            rank: rank.map(|at| at + 1),
            passage: passage.cloned(),
            first: hits.first().cloned(),
            lacks,
        })
    }
}
