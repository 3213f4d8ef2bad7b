//! What feedback is worth: a simulated stream of opinions on training queries, measured on held-out
//! ones.
//!
//! Somebody analyses jobs, is shown chunks, and accepts the suggestion when a right document is among
//! the first three; one opinion in ten is a slip. What that teaches is measured on queries that were
//! never in the stream, and on queries about causes that nobody gave an opinion on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use agent::feedback::Preferences;
use agent::store::{Action, FeedbackRow};
use indexer::eval::{Judged, read_judgements};
use indexer::{Hit, Query};

use crate::support::{index, root};

/// Chunks that support a suggestion.
const SOURCES: usize = 3;
/// Ranks looked at.
const DEPTH: usize = 20;
/// Times that each training query comes up: a cause recurs in many jobs.
const ROUNDS: usize = 5;

fn search(text: &str, prior: Option<&dyn Fn(&str) -> f32>) -> Vec<Hit> {
    let mut query = Query::new(text, DEPTH);
    query.prior = prior;
    index().search(&query).expect("the index answers")
}

/// Documents that answer a query well.
fn right(query: &Judged) -> BTreeSet<&str> {
    let good = query.relevant.iter().filter(|r| r.grade >= 2.0);
    good.map(|r| r.target.split('#').next().unwrap_or_default())
        .collect()
}

/// The cause that a query is about: that of its first right document.
fn cause(query: &Judged) -> Option<String> {
    let document = right(query).into_iter().next()?.to_owned();
    let text = fs::read_to_string(root().join("knowledge").join(document)).ok()?;
    let line = text.lines().find(|l| l.starts_with("causes:"))?;
    let first = line.split(['[', ',', ']']).nth(1)?.trim();
    Some(first.to_owned()).filter(|c| !c.is_empty())
}

/// `1 / rank` of the first right document; 0 beyond the depth.
fn reciprocal_rank(query: &Judged, hits: &[Hit]) -> f64 {
    let right = right(query);
    let place = hits
        .iter()
        .position(|hit| right.contains(hit.chunk.document.as_str()));
    place.map_or(0.0, |at| 1.0 / (at + 1) as f64)
}

/// A number below `n` that looks drawn; the same in every run.
fn drawn(step: usize, n: u64) -> u64 {
    let mut x = (step as u64)
        .wrapping_add(1)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (x ^ (x >> 31)) % n
}

fn opinion(run: usize, cause: &str, hits: &[Hit], action: Action) -> FeedbackRow {
    FeedbackRow {
        run_id: format!("{run}"),
        suggestion: "S1".into(),
        action,
        cause: Some(cause.to_owned()),
        kind: "hint".into(),
        sources: hits.iter().map(|hit| hit.chunk.id.clone()).collect(),
        note: None,
        saved_seconds: None,
        created_at: "2026-01-01T00:00:00Z".into(),
    }
}

/// Opinions on the training queries about the causes that `learnt` lets through.
fn stream(queries: &[Judged], about: &dyn Fn(&str) -> bool) -> Vec<FeedbackRow> {
    let mut rows = Vec::new();
    for query in queries
        .iter()
        .filter(|q| q.split.as_deref() == Some("tune"))
    {
        let Some(cause) = cause(query).filter(|c| about(c)) else {
            continue;
        };
        let hits = search(&query.text, None);
        let right = right(query);
        for round in 0..ROUNDS {
            // Different jobs show different chunks of those that are near.
            let from = round % 3;
            let shown: Vec<Hit> = hits.iter().skip(from).take(SOURCES).cloned().collect();
            let helps = shown
                .iter()
                .any(|hit| right.contains(hit.chunk.document.as_str()));
            let slip = drawn(rows.len(), 10) == 0;
            let action = if helps != slip {
                Action::Accept
            } else {
                Action::Ignore
            };
            rows.push(opinion(rows.len(), &cause, &shown, action));
        }
    }
    rows
}

/// Mean reciprocal rank and the number of queries, per group.
#[derive(Debug, Default, Clone, Copy)]
struct Score {
    queries: usize,
    before: f64,
    after: f64,
    worse: usize,
    better: usize,
}

impl Score {
    fn add(&mut self, before: f64, after: f64) {
        self.queries += 1;
        self.before += before;
        self.after += after;
        self.better += usize::from(after > before);
        self.worse += usize::from(after < before);
    }

    fn means(self) -> (f64, f64) {
        let n = self.queries.max(1) as f64;
        (self.before / n, self.after / n)
    }
}

#[test]
fn helpful_chunks_rise_on_held_out_queries_and_others_keep_their_place() {
    let queries = read_judgements(&root().join("knowledge/judgements")).expect("judgements");
    let causes: BTreeSet<String> = queries.iter().filter_map(cause).collect();
    // Every second cause gets opinions.
    let learnt: BTreeSet<&String> = causes.iter().step_by(2).collect();
    let rows = stream(&queries, &|c| learnt.contains(&c.to_owned()));
    let now = "2026-01-02T00:00:00Z".parse().expect("time");
    let preferences = Preferences::learn(&rows, now);

    let mut groups: BTreeMap<&str, Score> = BTreeMap::new();
    for query in queries
        .iter()
        .filter(|q| q.split.as_deref() == Some("heldout"))
    {
        let Some(cause) = cause(query) else { continue };
        let group = if learnt.contains(&cause) {
            "learnt"
        } else {
            "others"
        };
        let causes = [cause];
        let prior = |chunk: &str| preferences.chunk(&causes, chunk);
        let before = reciprocal_rank(query, &search(&query.text, None));
        let after = reciprocal_rank(query, &search(&query.text, Some(&prior)));
        groups.entry(group).or_default().add(before, after);
    }
    for (group, score) in &groups {
        let (before, after) = score.means();
        eprintln!(
            "{group}: {} queries, MRR@{DEPTH} {before:.3} -> {after:.3}, {} better, {} worse",
            score.queries, score.better, score.worse
        );
    }
    let (learnt, others) = (groups["learnt"], groups["others"]);
    assert!(learnt.queries >= 20 && others.queries >= 20, "{groups:?}");
    let (before, after) = learnt.means();
    assert!(after > before + 0.01, "no gain: {before:.3} -> {after:.3}");
    assert!(learnt.better > 2 * learnt.worse, "{learnt:?}");
    let (before, after) = others.means();
    assert!(after >= before, "others lost: {before:.3} -> {after:.3}");
}

/// One person who ignores everything that cites the best chunk cannot bury it.
#[test]
fn spite_does_not_bury_the_right_chunk() {
    let text = "one hot key makes the join slow, how do I split it off?";
    let best = search(text, None).remove(0);
    let rows: Vec<FeedbackRow> = (0..1000)
        .map(|n| {
            opinion(
                n,
                "skew.join_hot_key",
                std::slice::from_ref(&best),
                Action::Ignore,
            )
        })
        .collect();
    let now = "2026-01-02T00:00:00Z".parse().expect("time");
    let preferences = Preferences::learn(&rows, now);
    let causes = ["skew.join_hot_key".to_owned()];
    let prior = |chunk: &str| preferences.chunk(&causes, chunk);
    let after = search(text, Some(&prior));
    let place = after.iter().position(|hit| hit.chunk.id == best.chunk.id);
    assert!(place.is_some_and(|at| at < 10), "it fell to {place:?}");
}
