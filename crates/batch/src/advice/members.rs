//! Transfers the advice on a cluster to its members.

use std::collections::HashMap;

use agent::conclusion::{Advice, Proposal};
use agent::facts::StepInput;
use agent::transfer::transfer;
use futures::{StreamExt, TryStreamExt};
use report::{Language, Suggestion, text};
use runs::RunSummary;
use runs::question::advice_input;

use super::object::{self, ClusterAdvice};
use crate::error::{Error, Result};
use crate::result::JobResult;
use crate::store::{CONCURRENT, Store};
use crate::tables::{FindingRow, Given};

/// The advice of a store.
#[derive(Default)]
pub(crate) struct Members {
    by_cluster: HashMap<String, Advised>,
}

pub(crate) struct Advised {
    pub(crate) object: ClusterAdvice,
    advice: Advice,
    /// The finding in the model's question.
    from: StepInput,
}

impl Members {
    /// Reads the newest advice on each cluster, with the result that it was asked about.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub(crate) async fn read(store: &Store) -> Result<Members> {
        let mut newest: HashMap<String, (ClusterAdvice, Advice)> = HashMap::new();
        for object in object::all(store).await? {
            if let Some(advice) = object.advice.clone() {
                let cluster = object.cluster.clone();
                newest.entry(cluster).or_insert((object, advice));
            }
        }
        let read = futures::stream::iter(newest.into_values()).map(|(object, advice)| async move {
            let result = store.result(&object.result).await?;
            let from = result.and_then(|result| input(&result, &object.finding, false));
            Ok::<_, Error>(from.map(|from| Advised {
                object,
                advice,
                from,
            }))
        });
        let mut read = read.buffer_unordered(CONCURRENT);
        let mut by_cluster = HashMap::new();
        while let Some(advised) = read.try_next().await? {
            let named = advised.map(|advised| (advised.object.cluster.clone(), advised));
            by_cluster.extend(named);
        }
        Ok(Members { by_cluster })
    }

    pub(crate) fn of(&self, cluster: &str) -> Option<&Advised> {
        self.by_cluster.get(cluster)
    }

    /// Adds the advice on their clusters to the findings of a result.
    pub(crate) fn give(&self, findings: &mut [FindingRow], result: &[u8]) {
        if self.by_cluster.is_empty() {
            return;
        }
        let mut whole: Option<JobResult> = None;
        for row in findings {
            let Some(advised) = self.of(&row.cluster.id()) else {
                continue;
            };
            if whole.is_none() {
                whole = serde_json::from_slice(result).ok();
            }
            let to = whole
                .as_ref()
                .and_then(|r| input(r, &row.finding.id, false));
            row.given = to.map(|to| advised.give(&to));
        }
    }
}

impl Advised {
    /// The advice in words, for the finding that the model was asked about.
    pub(crate) fn words(&self) -> String {
        words(
            &self.advice,
            &self.from.suggestions,
            self.from.facts.language,
        )
    }

    pub(crate) fn model(&self) -> String {
        let engine = self.object.engine.as_ref();
        let model = engine.and_then(|e| e.model.clone());
        model.unwrap_or_default()
    }

    fn give(&self, to: &StepInput) -> Given {
        let language = to.facts.language;
        let given = transfer(&self.advice, &self.from, to);
        let advice = words(&given.advice, &to.suggestions, language);
        let withheld = given.withheld.iter().map(|w| {
            let reasons = w.reasons.join(language.select("；", "; "));
            let piece = &w.piece;
            text!("“{piece}”：{reasons}", "\"{piece}\": {reasons}").into(language)
        });
        let withheld: Vec<String> = withheld.collect();
        let some = |text: String| Some(text).filter(|text| !text.is_empty());
        Given {
            advice: some(advice),
            withheld: some(withheld.join(language.select("。", ". "))),
        }
    }
}

/// The input of THINK 5 for a finding of a result; `None` if the result has no such finding.
pub(super) fn input(result: &JobResult, finding: &str, redact: bool) -> Option<StepInput> {
    let report = result.report.as_deref()?;
    let nothing = RunSummary::default();
    let summary = result.summary.as_deref().unwrap_or(&nothing);
    let is_known = report.findings.iter().any(|f| f.id == finding);
    is_known.then(|| advice_input(report, summary, finding, redact))
}

/// Advice as one paragraph: the summary, then what to do and why.
fn words(advice: &Advice, suggestions: &[Suggestion], language: Language) -> String {
    let (end, colon) = (language.select("。", ". "), language.select("：", ": "));
    let recommended = advice.recommendations.iter().filter_map(|r| {
        let suggestion = suggestions.iter().find(|s| s.id == r.suggestion)?;
        Some(sentence(&suggestion.title, colon, &r.why))
    });
    let proposed = advice.additional.iter().map(|p: &Proposal| {
        let steps = p.steps.join(language.select("；", "; "));
        sentence(&p.title, colon, &steps)
    });
    let parts = std::iter::once(advice.text.trim().to_owned());
    let parts = parts.chain(recommended).chain(proposed);
    let parts: Vec<String> = parts
        .map(|part| part.trim_end_matches(['.', '。']).to_owned())
        .filter(|part| !part.is_empty())
        .collect();
    match parts.is_empty() {
        true => String::new(),
        false => parts.join(end) + end.trim_end(),
    }
}

fn sentence(title: &str, colon: &str, rest: &str) -> String {
    match rest.trim().is_empty() {
        true => title.to_owned(),
        false => format!("{title}{colon}{}", rest.trim()),
    }
}
