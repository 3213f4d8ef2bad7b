//! The benefit of feedback: a simulated stream of opinions on training queries, measured on
//! held-out ones.
//!
//! For every second cause, one chunk that the index does not put first is the chunk that really helps
//! this team. A simulated user looks at jobs, sees three chunks at a time, and accepts the suggestion
//! if the helpful one is among them; one opinion in ten is a slip. The test measures the rank of the
//! helpful chunk on queries that were never in the stream, the rank of the judged answers on the same
//! queries, and all queries about causes without opinions.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use indexer::eval::{Judged, read_judgements};
use indexer::{Filter, Hit, Kind, Language, Query};
use runs::feedback::Preferences;
use runs::store::{Action, FeedbackRow};

use testkit::knowledge::{index, root};

const SOURCES: usize = 3;
const DEPTH: usize = 20;
/// Times that each training query comes up: a cause recurs in many jobs.
const ROUNDS: usize = 6;

/// Hits for a query about a cause, as the steps of an analysis ask.
fn about(
    text: &str,
    (cause, language): &(String, Language),
    prior: Option<&dyn Fn(&str) -> f32>,
) -> Vec<Hit> {
    let mut query = Query::new(text, DEPTH);
    query.filter = Filter {
        kinds: vec![Kind::Experience, Kind::Case],
        causes: vec![cause.clone()],
        languages: vec![*language],
        ..Filter::default()
    };
    query.prior = prior;
    index().search(&query).expect("the index answers")
}

/// Hits for a query alone.
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

/// The cause of a query: the cause of its first right document.
fn cause(query: &Judged) -> Option<String> {
    let document = right(query).into_iter().next()?.to_owned();
    let text = fs::read_to_string(root().join("knowledge").join(document)).ok()?;
    let line = text.lines().find(|l| l.starts_with("causes:"))?;
    let first = line.split(['[', ',', ']']).nth(1)?.trim();
    Some(first.to_owned()).filter(|c| !c.is_empty())
}

/// `1 / rank` of the first hit that fits; 0 beyond the depth.
fn reciprocal_rank(hits: &[Hit], fits: impl Fn(&Hit) -> bool) -> f64 {
    let place = hits.iter().position(fits);
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

/// The chunk that really helps with a subject: one of those at ranks 2 to 6 of its first training query.
fn helpful(subject: &Subject, training: &[&Judged]) -> Option<String> {
    let hits = about(&training.first()?.text, subject, None);
    let place = 1 + drawn(subject.0.len(), 5) as usize;
    hits.get(place).map(|hit| hit.chunk.id.clone())
}

/// Opinions on the training queries of one subject.
fn stream(subject: &Subject, helpful: &str, training: &[&Judged]) -> Vec<FeedbackRow> {
    let mut rows = Vec::new();
    for (n, query) in training.iter().enumerate() {
        let hits = about(&query.text, subject, None);
        for round in 0..ROUNDS {
            // Different jobs show different chunks of those that are near.
            let shown: Vec<Hit> = hits.iter().skip(round % 4).take(SOURCES).cloned().collect();
            let helps = shown.iter().any(|hit| hit.chunk.id == helpful);
            let slip = drawn(subject.0.len() * 1000 + n * ROUNDS + round, 10) == 0;
            let action = if helps != slip {
                Action::Accept
            } else {
                Action::Ignore
            };
            rows.push(opinion(rows.len(), &subject.0, &shown, action));
        }
    }
    rows
}

/// Mean reciprocal rank, and how single queries changed.
#[derive(Debug, Default, Clone, Copy)]
struct Score {
    queries: usize,
    before: f64,
    after: f64,
    better: usize,
    worse: usize,
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

/// Queries about one cause in one language.
type Subject = (String, Language);

fn of_split<'a>(queries: &[&'a Judged], split: &str) -> Vec<&'a Judged> {
    let wanted = |q: &&&Judged| q.split.as_deref() == Some(split);
    queries.iter().filter(wanted).copied().collect()
}

#[test]
fn helpful_chunks_rise_on_held_out_queries_and_others_keep_their_place() {
    let queries = read_judgements(&root().join("tests/judgements")).expect("judgements");
    let mut by_cause: BTreeMap<String, Vec<&Judged>> = BTreeMap::new();
    for query in &queries {
        if let Some(cause) = cause(query) {
            by_cause.entry(cause).or_default().push(query);
        }
    }
    let mut rows = Vec::new();
    let mut helps: Vec<(Subject, String, Vec<&Judged>)> = Vec::new();
    let mut others: Vec<(&String, &Judged)> = Vec::new();
    for (n, (cause, queries)) in by_cause.iter().enumerate() {
        let held_out = of_split(queries, "heldout");
        // Every second cause gets opinions.
        if n % 2 == 1 {
            others.extend(held_out.iter().map(|q| (cause, *q)));
            continue;
        }
        for language in [Language::Zh, Language::En] {
            let subject = (cause.clone(), language);
            let spoken = |q: &&Judged| q.language() == language;
            let training: Vec<&Judged> = of_split(queries, "tune")
                .into_iter()
                .filter(spoken)
                .collect();
            if let Some(chunk) = helpful(&subject, &training) {
                rows.extend(stream(&subject, &chunk, &training));
                helps.push((
                    subject,
                    chunk,
                    held_out.iter().copied().filter(spoken).collect(),
                ));
            }
        }
    }
    let now = "2026-01-02T00:00:00Z".parse().expect("time");
    let preferences = Preferences::learn(&rows, now);
    eprintln!("{} opinions on {} subjects", rows.len(), helps.len());
    let mut groups: BTreeMap<&str, Score> = BTreeMap::new();
    let mut judged = |cause: &String, query: &Judged, group: &'static str| {
        let causes = [cause.clone()];
        let prior = |chunk: &str| preferences.chunk(&causes, chunk);
        let right = right(query);
        let fits = |hit: &Hit| right.contains(hit.chunk.document.as_str());
        let before = reciprocal_rank(&search(&query.text, None), fits);
        let after = reciprocal_rank(&search(&query.text, Some(&prior)), fits);
        groups.entry(group).or_default().add(before, after);
    };
    for (cause, query) in &others {
        judged(cause, query, "other causes");
    }
    for (subject, _, held_out) in &helps {
        for query in held_out {
            judged(&subject.0, query, "judged answers");
        }
    }
    for (subject, chunk, held_out) in &helps {
        let causes = [subject.0.clone()];
        let prior = |chunk: &str| preferences.chunk(&causes, chunk);
        let helpful = |hit: &Hit| hit.chunk.id == *chunk;
        for query in held_out {
            let before = reciprocal_rank(&about(&query.text, subject, None), helpful);
            let after = reciprocal_rank(&about(&query.text, subject, Some(&prior)), helpful);
            groups
                .entry("helpful chunks")
                .or_default()
                .add(before, after);
        }
    }
    for (group, score) in &groups {
        let (before, after) = score.means();
        eprintln!(
            "{group}: {} held-out queries, MRR@{DEPTH} {before:.3} -> {after:.3}, {} better, {} worse",
            score.queries, score.better, score.worse
        );
    }
    let helpful = groups["helpful chunks"];
    assert!(helpful.queries >= 20, "{helpful:?}");
    let (before, after) = helpful.means();
    assert!(after > before + 0.03, "no gain: {before:.3} -> {after:.3}");
    assert!(helpful.better > 3 * helpful.worse, "{helpful:?}");
    // Where this team finds another chunk helpful than the judges, the judges' answer gives way a
    // little; it does not go away.
    let (before, after) = groups["judged answers"].means();
    assert!(
        after > before - 0.08,
        "answers lost: {before:.3} -> {after:.3}"
    );
    let (before, after) = groups["other causes"].means();
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
