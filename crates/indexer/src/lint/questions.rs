//! Checks of the questions that playbooks say they answer.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use super::{Findings, Known, is_curated};
use crate::analyze;
use crate::document::{Document, Problem};
use crate::eval::{Judged, judgements_of};
use crate::generated::{beside, parse};
use crate::store::files::read_text;

/// Questions that a person writes for a page, and questions that a program adds, at most: a search finds no more with twice as many.
const MOST: usize = 10;
pub(crate) const MOST_GENERATED: usize = 30;

/// A question must not share this many words or Chinese characters in a row with a judged query. Six words are shared by messages of an
/// engine that both quote.
const RUN: usize = 8;

/// Words, and Chinese, Japanese or Korean characters, without case and punctuation.
type Tokens = Vec<String>;

pub(super) fn check(
    knowledge: &Path,
    documents: &[Document<'_>],
    known: &Known,
    out: &mut Findings,
) {
    let judged = JudgedRuns::of(knowledge);
    let mut seen: BTreeMap<Tokens, String> = BTreeMap::new();
    let mut check = |file: &str, line, page: &str, text: &str, out: &mut Findings| {
        if let Some((run, query)) = judged.shared(text) {
            let message = format!(
                "`{run}` is also in the judged query `{query}`, which must only measure; ask in other words"
            );
            out.error(file, line, "judged-question", message);
        }
        if let Some(other) = seen.insert(tokens(text), page.to_owned()) {
            let message = format!("{other} answers the same question");
            out.error(file, line, "question-twice", message);
        }
    };
    for document in documents {
        let (path, questions) = (document.path, &document.front.questions);
        if is_curated(document) && questions.len() > MOST {
            let n = questions.len();
            let message = format!("{n} `questions`; keep the {MOST} that say most");
            out.warn(
                path,
                line(document, "questions:"),
                "many-questions",
                message,
            );
        }
        for text in questions {
            check(path, line(document, text), path, text, out);
        }
    }
    let files: BTreeSet<String> = known.paths.iter().map(|page| beside(page)).collect();
    for file in &files {
        let Ok(source) = read_text(&knowledge.join(file)) else {
            continue;
        };
        for (page, questions) in generated(file, &source, known, out) {
            for text in questions {
                let at = source.lines().position(|line| line.contains(&text));
                check(file, at.map_or(1, |at| at + 1), &page, &text, out);
            }
        }
    }
}

/// The questions in a file of generated questions, by page.
fn generated(
    file: &str,
    source: &str,
    known: &Known,
    out: &mut Findings,
) -> BTreeMap<String, Vec<String>> {
    let questions = parse(file, source).unwrap_or_else(|Problem { line, reason }| {
        out.error(file, line, "toml", reason);
        HashMap::new()
    });
    let questions = BTreeMap::from_iter(questions);
    for (page, questions) in &questions {
        // A page without text lists questions that no page answers, in any number.
        let has_text = || {
            known
                .targets
                .iter()
                .any(|id| id.starts_with(&format!("{page}#")))
        };
        let message = match questions.len() {
            _ if !known.paths.contains(page) => format!("there is no page `{page}`"),
            n if n > MOST_GENERATED && has_text() => {
                format!("{n} questions for {page}; {MOST_GENERATED} find as much")
            }
            _ => continue,
        };
        out.warn(file, 1, "generated-questions", message);
    }
    questions
}

/// The line of the front matter with `text`; for text with escapes, the first line of the questions.
fn line(document: &Document<'_>, text: &str) -> usize {
    let yaml = document.yaml.unwrap_or_default();
    let find = |text: &str| yaml.lines().position(|line| line.contains(text));
    let at = find(text).or_else(|| find("questions:"));
    at.map_or(1, |at| at + 2)
}

/// Runs of words in queries that only measure, each with the id of its query.
pub(crate) struct JudgedRuns(HashMap<Tokens, String>);

impl JudgedRuns {
    pub(crate) fn of(knowledge: &Path) -> JudgedRuns {
        // Other checks report a file that cannot be read.
        let judged = judgements_of(knowledge)
            .into_iter()
            .flat_map(|(_, read)| read.unwrap_or_default());
        let mut out = HashMap::new();
        for query in judged.filter(Judged::only_measures) {
            let tokens = tokens(&query.text);
            for run in runs(&tokens) {
                out.insert(run.to_vec(), query.id.clone());
            }
            out.insert(tokens, query.id);
        }
        JudgedRuns(out)
    }

    /// The words that `question` shares with a judged query: all of it, or a run.
    pub(crate) fn shared(&self, question: &str) -> Option<(String, &str)> {
        let question = tokens(question);
        let mut parts = std::iter::once(question.as_slice()).chain(runs(&question));
        parts.find_map(|part| Some((part.join(" "), self.0.get(part)?.as_str())))
    }
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
