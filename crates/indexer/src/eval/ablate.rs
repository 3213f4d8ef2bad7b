//! The benefit of each part of query reading: the tuning set with the part, compared with the
//! tuning set without it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::judgements::Judged;
use super::subjects::{self, Outcome};
use super::{Difference, EvalError, Options, bootstrap};
use crate::model::Part;
use crate::search::Index;

/// Paired differences, with the part minus without it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Worth {
    pub part: Part,
    /// Queries with changed subjects.
    pub changed: usize,
    /// nDCG of the subjects: `all`, `zh`, `en`, and the kinds of question.
    pub ndcg: BTreeMap<String, Difference>,
    #[serde(rename = "success@1")]
    pub success_at_1: Difference,
}

/// Leaves out each part of reading the queries in turn. Only queries of `options.split` are asked, by default `tune`.
///
/// # Errors
/// When the index cannot be searched.
pub fn ablate(
    index: &Index,
    judged: &[Judged],
    options: &Options,
) -> Result<Vec<Worth>, EvalError> {
    let split = options.split.as_deref().unwrap_or("tune");
    let is_asked = |query: &&Judged| query.split.as_deref() == Some(split) && !query.unanswerable;
    let judged: Vec<&Judged> = judged.iter().filter(is_asked).collect();
    let with = subjects::run(index, &judged, options)?;
    let worth = Part::ALL.into_iter().map(|part| {
        let left_out = Options {
            without: vec![part],
            ..options.clone()
        };
        let without = subjects::run(index, &judged, &left_out)?;
        Ok(worth(part, &judged, &with, &without))
    });
    worth.collect()
}

fn worth(part: Part, judged: &[&Judged], with: &[Outcome], without: &[Outcome]) -> Worth {
    let pairs = || with.iter().zip(without);
    let paired = |keep: &dyn Fn(&Judged) -> bool, of: fn(&Outcome) -> f64| {
        let kept = pairs().zip(judged).filter(|(_, query)| keep(query));
        let (a, b): (Vec<f64>, Vec<f64>) = kept.map(|((a, b), _)| (of(a), of(b))).unzip();
        bootstrap::paired(&a, &b)
    };
    let mut names: Vec<String> = ["all", "zh", "en"].map(str::to_owned).to_vec();
    names.extend(judged.iter().filter_map(|query| query.kind.clone()));
    let named = |name: &str| {
        let keep = |q: &Judged| {
            name == "all" || q.language.code() == name || q.kind.as_deref() == Some(name)
        };
        paired(&keep, |outcome| outcome.ndcg)
    };
    Worth {
        part,
        changed: pairs().filter(|(a, b)| a.subjects != b.subjects).count(),
        ndcg: names
            .into_iter()
            .map(|name| (name.clone(), named(&name)))
            .collect(),
        success_at_1: paired(&|_| true, |o| f64::from(u8::from(o.answer == Some(1)))),
    }
}
