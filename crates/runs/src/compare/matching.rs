//! Matches the stages of two runs: by name where the operators agree, else by the work of a stage and its neighbors.

use std::collections::BTreeMap;

use super::MatchedBy;
use crate::{RunSummary, StageSummary};

/// Stages of the same name that agree less than this are matched by likeness first: an inserted
/// stage shifts the numbers in the names of all later ones.
const NAMESAKE: f64 = 0.5;
/// Stages of different names that agree less than this are different stages.
const ALIKE: f64 = 0.6;

/// A stage of either run or both; indices into the stages of their summaries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct StagePair {
    pub(super) a: Option<usize>,
    pub(super) b: Option<usize>,
    pub(super) matched_by: Option<MatchedBy>,
    pub(super) confidence: f64,
}

/// Every stage of either run, in the order of B, then the stages only in A.
pub(super) fn stages(a: &RunSummary, b: &RunSummary) -> Vec<StagePair> {
    let mut matched: Vec<StagePair> = Vec::new();
    let (of_a, of_b) = (Surroundings::of(a), Surroundings::of(b));
    let alike = |i: usize, j: usize| likeness(a, i, &of_a, b, j, &of_b);
    namesakes(a, b, NAMESAKE, &alike, &mut matched);
    by_likeness(a, b, &alike, &mut matched);
    // A remaining pair with the same name has changed beyond recognition but is still the same stage; a number alone is no name.
    let numbered = |run: &RunSummary| run.stages.iter().all(|s| words(&s.name).is_empty());
    if a.stages.len() == b.stages.len() || !(numbered(a) && numbered(b)) {
        namesakes(a, b, 0.0, &alike, &mut matched);
    }
    for j in unmatched(b.stages.len(), &matched, |p| p.b) {
        matched.push(alone(None, Some(j)));
    }
    matched.sort_by_key(|p| p.b);
    for i in unmatched(a.stages.len(), &matched, |p| p.a) {
        matched.push(alone(Some(i), None));
    }
    matched
}

fn unmatched(
    stages: usize,
    matched: &[StagePair],
    of: fn(&StagePair) -> Option<usize>,
) -> Vec<usize> {
    let is_free = |at: &usize| matched.iter().all(|p| of(p) != Some(*at));
    (0..stages).filter(is_free).collect()
}

fn alone(a: Option<usize>, b: Option<usize>) -> StagePair {
    StagePair {
        a,
        b,
        matched_by: None,
        confidence: 1.0,
    }
}

fn pair(i: usize, j: usize, matched_by: MatchedBy, confidence: f64) -> StagePair {
    StagePair {
        matched_by: Some(matched_by),
        confidence,
        ..alone(Some(i), Some(j))
    }
}

/// Index of the stage of B that matches stage `i` of A.
pub(super) fn partner(pairs: &[StagePair], i: usize) -> Option<usize> {
    pairs.iter().find(|p| p.a == Some(i)).and_then(|p| p.b)
}

fn namesakes(
    a: &RunSummary,
    b: &RunSummary,
    least: f64,
    alike: &dyn Fn(usize, usize) -> f64,
    matched: &mut Vec<StagePair>,
) {
    for (i, stage) in a.stages.iter().enumerate() {
        let Some(j) = b.stages.iter().position(|s| s.name == stage.name) else {
            continue;
        };
        let free = matched.iter().all(|p| p.a != Some(i) && p.b != Some(j));
        let likeness = alike(i, j);
        if free && likeness >= least {
            matched.push(pair(i, j, MatchedBy::Name, 0.5 + 0.5 * likeness));
        }
    }
}

fn by_likeness(
    a: &RunSummary,
    b: &RunSummary,
    alike: &dyn Fn(usize, usize) -> f64,
    matched: &mut Vec<StagePair>,
) {
    let mut candidates: Vec<(f64, usize, usize)> = Vec::new();
    for i in unmatched(a.stages.len(), matched, |p| p.a) {
        for j in unmatched(b.stages.len(), matched, |p| p.b) {
            let likeness = alike(i, j);
            if likeness >= ALIKE {
                candidates.push((likeness, i, j));
            }
        }
    }
    candidates.sort_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)).then(x.2.cmp(&y.2)));
    for (likeness, i, j) in candidates {
        if matched.iter().all(|p| p.a != Some(i) && p.b != Some(j)) {
            matched.push(pair(i, j, MatchedBy::Operators, likeness));
        }
    }
}

/// The work of the stages before and after each stage.
struct Surroundings {
    before: Vec<Counts>,
    after: Vec<Counts>,
}

/// How often each thing occurs.
type Counts = BTreeMap<String, usize>;

impl Surroundings {
    fn of(run: &RunSummary) -> Surroundings {
        let mut before = vec![Counts::new(); run.stages.len()];
        let mut after = before.clone();
        for edge in &run.edges {
            let neighbor =
                |stage: usize| format!("{} {}", edge.exchange, kind_of(&run.stages[stage]));
            *before[edge.to].entry(neighbor(edge.from)).or_default() += 1;
            *after[edge.from].entry(neighbor(edge.to)).or_default() += 1;
        }
        Surroundings { before, after }
    }
}

/// How much two stages agree, 0..1: their work counts half; their keys, their neighbors and the words of their names count the
/// rest. A part that neither stage has is left out.
fn likeness(
    a: &RunSummary,
    i: usize,
    of_a: &Surroundings,
    b: &RunSummary,
    j: usize,
    of_b: &Surroundings,
) -> f64 {
    let (x, y) = (&a.stages[i], &b.stages[j]);
    let parts = [
        (0.5, overlap(&kinds(x), &kinds(y))),
        (0.15, overlap(&keys(x), &keys(y))),
        (0.1, overlap(&of_a.before[i], &of_b.before[j])),
        (0.1, overlap(&of_a.after[i], &of_b.after[j])),
        (0.15, overlap(&words(&x.name), &words(&y.name))),
    ];
    let (mut weight, mut sum) = (0.0, 0.0);
    for (part, agreement) in parts {
        if let Some(agreement) = agreement {
            weight += part;
            sum += part * agreement;
        }
    }
    if weight > 0.0 { sum / weight } else { 0.0 }
}

/// Common things over all things; `None` if there are none.
fn overlap(a: &Counts, b: &Counts) -> Option<f64> {
    let all: usize = a.values().chain(b.values()).sum();
    if all == 0 {
        return None;
    }
    let common = a.iter().map(|(key, n)| n.min(b.get(key).unwrap_or(&0)));
    Some(2.0 * common.sum::<usize>() as f64 / all as f64)
}

fn counted<'a>(items: impl Iterator<Item = &'a str>) -> Counts {
    let mut counts = Counts::new();
    for item in items {
        *counts.entry(item.to_owned()).or_default() += 1;
    }
    counts
}

fn kinds(stage: &StageSummary) -> Counts {
    counted(stage.operators.iter().map(|o| o.kind.as_str()))
}

fn keys(stage: &StageSummary) -> Counts {
    let keys = stage.operators.iter().flat_map(|o| &o.keys);
    counted(keys.map(String::as_str))
}

/// Words of a name without its number: `SV3_Combine_Reduce` is `Combine`, `Reduce`.
fn words(name: &str) -> Counts {
    let word = |part: &&str| !part.is_empty() && !part.contains(|c: char| c.is_ascii_digit());
    counted(name.split('_').filter(word))
}

/// The words of its name, in one string.
fn kind_of(stage: &StageSummary) -> String {
    words(&stage.name).into_keys().collect::<Vec<_>>().join("_")
}
