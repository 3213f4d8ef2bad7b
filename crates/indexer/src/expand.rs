//! More generated questions for a page. A search finds the page by them; the page itself stays as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use report::Language;
use serde::Serialize;

use crate::analyze;
use crate::build::sources;
use crate::document::{Document, file_stem, language_of_query, quoted};
use crate::error::BuildError;
use crate::eval::judgements_of;
use crate::generated::{File, beside};
use crate::lint::{JudgedRuns, MOST_GENERATED};
use crate::model::subject;
use crate::store::files::{read_error, read_text, replace, write_error};

/// Least share of common terms of two near copies, as in `scripts/prune-questions`.
const NEAR: f32 = 0.45;

/// Bytes of a question, at most: a page of text finds no more.
const LONGEST: usize = 400;

/// Grade of a document that answers a judged query.
const ANSWERS: f64 = 3.0;

/// A page of the knowledge folder.
pub struct Page {
    /// Relative to the folder.
    pub path: String,
    pub language: Language,
    /// The page without front matter.
    pub text: String,
    questions: Vec<String>,
}

/// Questions from one source, with a description of the source.
pub struct Found {
    pub made: String,
    pub questions: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct Expanded {
    pub page: String,
    /// File of the generated questions, relative to the knowledge folder.
    pub file: String,
    pub added: Vec<String>,
    /// Near copies of questions that the page has.
    pub copies: usize,
    /// Questions too similar to a judged query that only measures.
    pub judged: usize,
    /// Questions beyond the number that a page may have.
    pub beyond: usize,
}

impl Page {
    /// The page at `name`, a path or the name of its file; `None` if the folder lacks it.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn find(knowledge: &Path, name: &str) -> Result<Option<Page>, BuildError> {
        let stem = file_stem(name);
        let all = sources(knowledge)?;
        let mut found = all.iter().filter(|source| file_stem(&source.path) == stem);
        Ok(found.next().map(|source| {
            let document = Document::parse(source);
            let written = document.front.questions.iter().chain(document.generated);
            Page {
                path: source.path.clone(),
                language: document.language,
                text: document.body().to_owned(),
                questions: written.cloned().collect(),
            }
        }))
    }

    /// Whether a chunk or document is about the page's subject: the page itself or its translation.
    pub fn is_about(&self, target: &str) -> bool {
        subject(target) == subject(&self.path)
    }

    /// Judged queries that the page answers, without those that only measure.
    pub fn judged(&self, knowledge: &Path) -> Vec<String> {
        // The linter reports a file that cannot be read.
        let queries = judgements_of(knowledge)
            .into_iter()
            .flat_map(|(_, read)| read.unwrap_or_default());
        let answered = queries.filter(|query| {
            let mut relevant = query.relevant.iter();
            !query.only_measures()
                && relevant.any(|answer| answer.grade >= ANSWERS && self.is_about(&answer.target))
        });
        answered.map(|query| query.text).collect()
    }

    /// Adds questions in the page's language to the generated ones.
    ///
    /// # Errors
    /// When the file of the generated questions cannot be read or written.
    pub fn expand(&self, knowledge: &Path, found: &[Found]) -> Result<Expanded, BuildError> {
        let file = beside(&self.path);
        let path = knowledge.join(&file);
        let text = match read_text(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            read => read.map_err(read_error(&path))?,
        };
        let mut known = match text.is_empty() {
            true => File::default(),
            false => File::parse(&text).map_err(|problem| {
                let reason = format!("line {}: {}", problem.line, problem.reason);
                read_error(&path)(std::io::Error::other(reason))
            })?,
        };
        let name = self.path.rsplit('/').next().unwrap_or(&self.path);
        let generated = known.pages.entry(name.to_owned()).or_default();
        let mut out = Expanded {
            page: self.path.clone(),
            file,
            added: Vec::new(),
            copies: 0,
            judged: 0,
            beyond: 0,
        };
        let runs = JudgedRuns::of(knowledge);
        let mut terms: Vec<BTreeSet<String>> = self.questions.iter().map(|q| terms(q)).collect();
        for Found { made, questions } in found {
            let before = out.added.len();
            for question in questions
                .iter()
                .filter_map(|question| self.usable(question))
            {
                let new = self::terms(&question);
                if new.is_empty() || terms.iter().any(|known| are_near(known, &new)) {
                    out.copies += 1;
                } else if runs.shared(&question).is_some() {
                    out.judged += 1;
                } else if generated.len() >= MOST_GENERATED {
                    out.beyond += 1;
                } else {
                    terms.push(new);
                    generated.push(question.clone());
                    out.added.push(question);
                }
            }
            if out.added.len() > before && !known.made.contains(made) {
                let separator = if known.made.is_empty() { "" } else { "; " };
                known.made = format!("{}{separator}{made}", known.made);
            }
        }
        if !out.added.is_empty() {
            replace(&path, known.text(&text).as_bytes()).map_err(write_error(&path))?;
        }
        Ok(out)
    }

    /// In one line; `None` for a question in another language, or one too long.
    fn usable(&self, question: &str) -> Option<String> {
        let words: Vec<&str> = question.split_whitespace().collect();
        let question = words.join(" ").replace(char::is_control, " ");
        let is_usable = question.len() <= LONGEST && language_of_query(&question) == self.language;
        is_usable.then_some(question)
    }
}

impl File {
    /// The text of the file. `before` is its earlier text; the comments at its start stay.
    fn text(&self, before: &str) -> String {
        let comments = before.lines().take_while(|line| line.starts_with('#'));
        let mut out: String = comments.flat_map(|line| [line, "\n"]).collect();
        if out.is_empty() {
            out.push_str(
                "# Generated by `scopeagent knowledge expand`; a page is found without it.\n",
            );
        }
        out += &format!("made = {}\n\n[pages]\n", quoted(&self.made));
        let pages: BTreeMap<&String, &Vec<String>> = self.pages.iter().collect();
        for (page, questions) in pages {
            let lines: String = questions.iter().map(|q| quoted(q) + ",\n").collect();
            out += &format!("{} = [\n{lines}]\n", quoted(page));
        }
        out
    }
}

fn terms(question: &str) -> BTreeSet<String> {
    analyze::terms(question).into_iter().collect()
}

fn are_near(a: &BTreeSet<String>, b: &BTreeSet<String>) -> bool {
    let common = a.intersection(b).count() as f32;
    common > NEAR * a.union(b).count() as f32
}
