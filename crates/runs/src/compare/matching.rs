//! Which stage of one run is which of the other: by name where the operators agree, else by what a
//! stage does and what it stands between.

use std::collections::BTreeMap;

use super::MatchedBy;
use crate::shape::{JobShape, StageShape};

/// Two stages of the same name that agree less than this are looked at again: an inserted stage
/// shifts the numbers in the names of all later ones.
const NAMESAKE: f64 = 0.5;
/// Stages of other names that agree less than this are two stages.
const ALIKE: f64 = 0.6;

/// One stage of both runs, or of one; indices into their shapes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct StagePair {
    pub(crate) a: Option<usize>,
    pub(crate) b: Option<usize>,
    pub(crate) matched_by: Option<MatchedBy>,
    pub(crate) confidence: f64,
}

/// Every stage of both runs once, in the order of B, then what only A has.
pub(crate) fn stages(a: &JobShape, b: &JobShape) -> Vec<StagePair> {
    let mut matched: Vec<StagePair> = Vec::new();
    let (of_a, of_b) = (Surroundings::of(a), Surroundings::of(b));
    let alike = |i: usize, j: usize| likeness(a, i, &of_a, b, j, &of_b);
    namesakes(a, b, NAMESAKE, &alike, &mut matched);
    by_likeness(a, b, &alike, &mut matched);
    // What is left with the same name has changed beyond recognition, but is still that stage.
    namesakes(a, b, 0.0, &alike, &mut matched);
    for j in 0..b.stages.len() {
        if matched.iter().all(|p| p.b != Some(j)) {
            matched.push(StagePair {
                a: None,
                b: Some(j),
                matched_by: None,
                confidence: 1.0,
            });
        }
    }
    matched.sort_by_key(|p| p.b);
    for i in 0..a.stages.len() {
        if matched.iter().all(|p| p.a != Some(i)) {
            matched.push(StagePair {
                a: Some(i),
                b: None,
                matched_by: None,
                confidence: 1.0,
            });
        }
    }
    matched
}

/// Index of the stage of B that stage `i` of A is.
pub(crate) fn partner(pairs: &[StagePair], i: usize) -> Option<usize> {
    pairs.iter().find(|p| p.a == Some(i)).and_then(|p| p.b)
}

fn namesakes(
    a: &JobShape,
    b: &JobShape,
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
            matched.push(StagePair {
                a: Some(i),
                b: Some(j),
                matched_by: Some(MatchedBy::Name),
                confidence: 0.5 + 0.5 * likeness,
            });
        }
    }
}

fn by_likeness(
    a: &JobShape,
    b: &JobShape,
    alike: &dyn Fn(usize, usize) -> f64,
    matched: &mut Vec<StagePair>,
) {
    let mut candidates: Vec<(f64, usize, usize)> = Vec::new();
    for i in (0..a.stages.len()).filter(|i| matched.iter().all(|p| p.a != Some(*i))) {
        for j in (0..b.stages.len()).filter(|j| matched.iter().all(|p| p.b != Some(*j))) {
            let likeness = alike(i, j);
            if likeness >= ALIKE {
                candidates.push((likeness, i, j));
            }
        }
    }
    candidates.sort_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)).then(x.2.cmp(&y.2)));
    for (likeness, i, j) in candidates {
        if matched.iter().all(|p| p.a != Some(i) && p.b != Some(j)) {
            matched.push(StagePair {
                a: Some(i),
                b: Some(j),
                matched_by: Some(MatchedBy::Operators),
                confidence: likeness,
            });
        }
    }
}

/// What the stages before and after each stage do.
struct Surroundings {
    before: Vec<Counts>,
    after: Vec<Counts>,
}

/// How often each thing occurs.
type Counts = BTreeMap<String, usize>;

impl Surroundings {
    fn of(shape: &JobShape) -> Surroundings {
        let mut before = vec![Counts::new(); shape.stages.len()];
        let mut after = before.clone();
        for edge in &shape.edges {
            let place = |name: &str| shape.stages.iter().position(|s| s.name == name);
            if let (Some(from), Some(to)) = (place(&edge.from), place(&edge.to)) {
                let said =
                    |stage: usize| format!("{} {}", edge.exchange, kind_of(&shape.stages[stage]));
                *before[to].entry(said(from)).or_default() += 1;
                *after[from].entry(said(to)).or_default() += 1;
            }
        }
        Surroundings { before, after }
    }
}

/// How much two stages agree, 0..1: what they do counts half, their keys, their neighbours and the
/// words of their names the rest. A part that neither side tells is left out.
fn likeness(
    a: &JobShape,
    i: usize,
    of_a: &Surroundings,
    b: &JobShape,
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
    let known: Vec<(f64, f64)> = parts
        .iter()
        .filter_map(|(w, s)| Some((*w, (*s)?)))
        .collect();
    let weight: f64 = known.iter().map(|(w, _)| w).sum();
    if weight > 0.0 {
        known.iter().map(|(w, s)| w * s).sum::<f64>() / weight
    } else {
        0.0
    }
}

/// Common things over all things; `None` if neither side has any.
fn overlap(a: &Counts, b: &Counts) -> Option<f64> {
    let all: usize = a.values().chain(b.values()).sum();
    if all == 0 {
        return None;
    }
    let common: usize = a
        .iter()
        .map(|(key, n)| n.min(b.get(key).unwrap_or(&0)))
        .sum();
    Some(2.0 * common as f64 / all as f64)
}

fn counted<'a>(items: impl Iterator<Item = &'a str>) -> Counts {
    let mut counts = Counts::new();
    for item in items {
        *counts.entry(item.to_owned()).or_default() += 1;
    }
    counts
}

fn kinds(stage: &StageShape) -> Counts {
    counted(stage.operators.iter().map(|o| o.kind.as_str()))
}

fn keys(stage: &StageShape) -> Counts {
    counted(
        stage
            .operators
            .iter()
            .flat_map(|o| o.keys.iter().map(String::as_str)),
    )
}

/// Words of a name without its number: `SV3_Combine_Reduce` is `Combine`, `Reduce`.
fn words(name: &str) -> Counts {
    let word = |part: &&str| !part.is_empty() && !part.contains(|c: char| c.is_ascii_digit());
    counted(name.split('_').filter(word))
}

/// What a stage does, in a word that does not depend on its number.
fn kind_of(stage: &StageShape) -> String {
    words(&stage.name).into_keys().collect::<Vec<_>>().join("_")
}
