//! Checks of the questions that playbooks say they answer.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use super::Findings;
use crate::analyze;
use crate::document::{Document, split_front_matter};
use crate::eval::{judgement_files, read_judgement_file};
use crate::model::Kind;

/// Questions below which a playbook is reported, as soon as one document has questions.
const FEWEST: usize = 5;

/// A question must not share this many words or Chinese characters in a row with a judged query. Six words are shared by messages of an
/// engine that both quote.
const RUN: usize = 8;

/// Words, and Chinese, Japanese or Korean characters, without case and punctuation.
type Tokens = Vec<String>;

pub(super) fn check(knowledge: &Path, documents: &[Document<'_>], out: &mut Findings) {
    let judged = judged_runs(knowledge);
    let are_asked_for = documents.iter().any(|d| !d.front.questions.is_empty());
    let mut seen: BTreeMap<Tokens, &str> = BTreeMap::new();
    for document in documents {
        let questions = &document.front.questions;
        let is_playbook = document.kind == Kind::Experience && document.front_errors.is_empty();
        if are_asked_for && is_playbook && questions.len() < FEWEST {
            let found = questions.len();
            let message =
                format!("{found} `questions`; write {FEWEST} or more that the page answers");
            out.warn(
                document.path,
                line(document, "questions:"),
                "few-questions",
                message,
            );
        }
        for question in questions {
            let line = line(document, question);
            let tokens = tokens(question);
            if let Some((run, query)) = shared(&tokens, &judged) {
                let message = format!(
                    "`{run}` is also in the judged query `{query}`, which must only measure; ask in other words"
                );
                out.error(document.path, line, "judged-question", message);
            }
            if let Some(other) = seen.insert(tokens, document.path) {
                let message = format!("{other} answers the same question");
                out.error(document.path, line, "question-twice", message);
            }
        }
    }
}

/// The line of the front matter with `text`; for text with escapes, the first line of the questions.
fn line(document: &Document<'_>, text: &str) -> usize {
    let yaml = split_front_matter(document.text).0.unwrap_or_default();
    let find = |text: &str| yaml.lines().position(|line| line.contains(text));
    let at = find(text).or_else(|| find("questions:"));
    at.map_or(1, |at| at + 2)
}

/// Runs in queries that only measure, each with the id of its query.
fn judged_runs(knowledge: &Path) -> HashMap<Tokens, String> {
    let files = judgement_files(&knowledge.join("judgements"));
    let judged = files.into_iter().flatten();
    // Other checks report a file that cannot be read.
    let judged = judged.flat_map(|file| read_judgement_file(&file).unwrap_or_default());
    let measures = |split: Option<&str>| matches!(split, Some("heldout" | "fresh"));
    let mut out = HashMap::new();
    for query in judged.filter(|query| measures(query.split.as_deref())) {
        let tokens = tokens(&query.text);
        for run in runs(&tokens) {
            out.insert(run.to_vec(), query.id.clone());
        }
        out.insert(tokens, query.id);
    }
    out
}

/// What `question` shares with a judged query: all of it, or a run.
fn shared(question: &Tokens, judged: &HashMap<Tokens, String>) -> Option<(String, String)> {
    let mut parts = std::iter::once(question.as_slice()).chain(runs(question));
    parts.find_map(|part| Some((part.join(" "), judged.get(part)?.clone())))
}

fn runs(tokens: &Tokens) -> impl Iterator<Item = &[String]> {
    tokens.windows(RUN)
}

fn tokens(text: &str) -> Tokens {
    let mut out: Tokens = Vec::new();
    let mut in_word = false;
    for c in text.to_lowercase().chars() {
        let is_word = c.is_alphanumeric() && !analyze::is_cjk(c);
        match out.last_mut() {
            Some(last) if is_word && in_word => last.push(c),
            _ if is_word || analyze::is_cjk(c) => out.push(c.to_string()),
            _ => {}
        }
        in_word = is_word;
    }
    out
}
