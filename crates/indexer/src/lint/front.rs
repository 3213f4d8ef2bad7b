//! Checks of the front matter.

use std::collections::BTreeMap;

use report::Language;

use super::{Findings, Options, is_curated};
use crate::analyze::detect_language;
use crate::document::{Document, Problem, file_stem};
use crate::model::{Engine, Kind};

/// Known keys; others are most likely typos.
const KEYS: &str = "id title language engine problem_type causes operators keywords questions steps related source confidence reviewed \
                    origin seed job";

pub(super) fn check(document: &Document<'_>, options: &Options, out: &mut Findings) {
    let path = document.path;
    let Some(yaml) = document.yaml else {
        if is_curated(document) {
            let message =
                "no front matter; begin the file with `---`, id, title, language, … and `---`";
            out.error(path, 1, "front-matter", message);
        }
        return;
    };
    for Problem { line, reason } in &document.front_errors {
        let message = format!("the front matter cannot be read: {reason}");
        out.error(path, *line, "front-matter", message);
    }
    check_keys(path, yaml, out);
    if !document.front_errors.is_empty() {
        return;
    }
    if is_curated(document) {
        check_present(document, yaml, out);
        check_values(document, yaml, options, out);
    }
}

fn check_keys(path: &str, yaml: &str, out: &mut Findings) {
    for (number, line) in yaml.lines().enumerate() {
        let is_key = line.starts_with(|c: char| c.is_ascii_alphabetic());
        if let (true, Some((key, _))) = (is_key, line.split_once(':'))
            && !KEYS.split(' ').any(|known| known == key.trim())
        {
            let message = format!("`{}` is not a key of the front matter", key.trim());
            out.warn(path, number + 2, "unknown-key", message);
        }
    }
}

fn check_present(document: &Document<'_>, yaml: &str, out: &mut Findings) {
    let (path, front) = (document.path, &document.front);
    for (key, is_missing, is_fixable) in [
        ("id", front.id.is_none(), true),
        ("title", front.title.is_none(), true),
        ("language", front.language.is_none(), true),
        ("problem_type", front.problem_type.is_none(), false),
        ("source", front.source.is_empty(), false),
        ("confidence", front.confidence.is_none(), false),
        ("reviewed", front.reviewed.is_empty(), false),
    ] {
        let message = format!("`{key}` is missing");
        match (is_missing, is_fixable) {
            (false, _) => {}
            (true, false) => out.warn(path, 1, "missing-key", message),
            (true, true) => out.fixable(path, 1, "missing-key", message),
        }
    }
    if front.causes.is_empty() && document.kind == Kind::Experience && !yaml.contains("causes:") {
        let message = "`causes` is missing; write `causes: []` for none";
        out.warn(path, 1, "missing-key", message);
    }
}

fn check_values(document: &Document<'_>, yaml: &str, options: &Options, out: &mut Findings) {
    let (path, front) = (document.path, &document.front);
    let line = |key: &str| {
        let at = yaml.lines().position(|line| line.starts_with(key));
        at.map_or(1, |at| at + 2)
    };
    if let Some(language) = &front.language {
        let seen = detect_language(document.body());
        match Language::parse(language) {
            None => {
                let message = format!("language `{language}`; expected `zh` or `en`");
                out.error(path, line("language"), "language", message);
            }
            Some(said) if said != seen => {
                let message = format!("says `{language}`, but reads like `{}`", seen.code());
                out.warn(path, line("language"), "language", message);
            }
            Some(_) => {}
        }
    }
    for cause in front.causes.iter().filter(|_| !options.causes.is_empty()) {
        let (engine, name) = (front.engine, front.engine.as_str());
        let message = match options.causes.iter().find(|(known, _)| known == cause) {
            Some((_, of)) if engine == Engine::Any || of.contains(&engine) => continue,
            Some(_) => format!("jobs of {name} cannot have the cause `{cause}`"),
            None => format!("`{cause}` is not a known cause"),
        };
        out.error(path, line("causes"), "unknown-cause", message);
    }
    let problem = front.problem_type.as_deref().unwrap_or_default();
    let known = &options.problem_types;
    if front.problem_type.is_some() && !known.is_empty() && !known.iter().any(|k| k == problem) {
        let known = known.join("`, `");
        let message = format!("`{problem}` is not a problem type; write `{known}`");
        out.error(path, line("problem_type"), "unknown-problem-type", message);
    }
    for date in front.reviewed.iter().filter(|date| !is_date(date)) {
        let message = format!("`{date}` is not a date; write it as 2026-01-31");
        out.error(path, line("reviewed"), "bad-date", message);
    }
    let stem = file_stem(path);
    if front.id.as_deref().is_some_and(|id| id != stem) {
        let message = format!("the id differs from the file name `{stem}`");
        out.warn(path, line("id"), "id-name", message);
    }
}

fn is_date(text: &str) -> bool {
    let date = text.parse::<jiff::civil::Date>();
    date.is_ok_and(|date| date.to_string() == text)
}

/// Duplicate ids, and causes under two problem types.
pub(super) fn check_ids(documents: &[Document<'_>], out: &mut Findings) {
    let mut by_id: BTreeMap<&str, &str> = BTreeMap::new();
    let mut by_cause: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    for document in documents {
        let path = document.path;
        if let Some(id) = &document.front.id
            && let Some(first) = by_id.insert(id, path)
        {
            let message = format!("{first} has the same id `{id}`");
            out.error(path, 1, "duplicate-id", message);
        }
        let (front, kind) = (&document.front, document.kind);
        if let (Some(problem), [cause], Kind::Experience) =
            (&front.problem_type, &*front.causes, kind)
        {
            let (other, first) = by_cause.entry(cause).or_insert((problem, path));
            if other != problem {
                let message = format!("`{cause}` is `{problem}` here and `{other}` in {first}");
                out.error(path, 1, "contradiction", message);
            }
        }
    }
}
