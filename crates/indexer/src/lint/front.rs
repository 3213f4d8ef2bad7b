//! Checks of the front matter.

use std::collections::BTreeMap;

use super::{Finding, Options, Severity, finding, fixable, is_curated};
use crate::document::{Document, detect_language, split_front_matter};
use crate::model::{Kind, Language};

/// Keys that mean something; others are most likely typing mistakes.
const KEYS: [&str; 15] = [
    "id",
    "title",
    "language",
    "problem_type",
    "causes",
    "operators",
    "keywords",
    "steps",
    "related",
    "source",
    "confidence",
    "reviewed",
    "origin",
    "seed",
    "job",
];

pub(super) fn check(document: &Document<'_>, options: &Options, out: &mut Vec<Finding>) {
    let path = document.path;
    let (yaml, _) = split_front_matter(document.text);
    let Some(yaml) = yaml else {
        if is_curated(document) {
            let message =
                "no front matter; begin the file with `---`, id, title, language, … and `---`";
            out.push(finding(
                path,
                1,
                Severity::Error,
                "front-matter",
                message.to_owned(),
            ));
        }
        return;
    };
    if let Some(error) = &document.front_error {
        let first = error.lines().next().unwrap_or_default();
        let message = format!("the front matter cannot be read: {first}");
        out.push(finding(path, 1, Severity::Error, "front-matter", message));
        return;
    }
    check_keys(path, yaml, out);
    if is_curated(document) {
        check_present(document, yaml, out);
        check_values(document, yaml, options, out);
    }
}

fn check_keys(path: &str, yaml: &str, out: &mut Vec<Finding>) {
    for (number, line) in yaml.lines().enumerate() {
        let is_key = line.starts_with(|c: char| c.is_ascii_alphabetic());
        if let (true, Some((key, _))) = (is_key, line.split_once(':'))
            && !KEYS.contains(&key.trim())
        {
            let message = format!("`{}` is not a key of the front matter", key.trim());
            out.push(finding(
                path,
                number + 2,
                Severity::Warning,
                "unknown-key",
                message,
            ));
        }
    }
}

fn check_present(document: &Document<'_>, yaml: &str, out: &mut Vec<Finding>) {
    let (path, front) = (document.path, &document.front);
    let repairable = [
        ("id", front.id.is_none()),
        ("title", front.title.is_none()),
        ("language", front.language.is_none()),
    ];
    for (key, missing) in repairable {
        if missing {
            out.push(fixable(
                path,
                1,
                "missing-key",
                format!("`{key}` is missing"),
            ));
        }
    }
    let needed = [
        ("problem_type", front.problem_type.is_none()),
        ("source", front.source.is_empty()),
        ("confidence", front.confidence.is_none()),
        ("reviewed", front.reviewed.is_empty()),
    ];
    for (key, missing) in needed {
        if missing {
            let message = format!("`{key}` is missing");
            out.push(finding(path, 1, Severity::Warning, "missing-key", message));
        }
    }
    if front.causes.is_empty() && document.kind == Kind::Experience && !yaml.contains("causes:") {
        let message = "`causes` is missing; write `causes: []` if the document is about none";
        out.push(finding(
            path,
            1,
            Severity::Warning,
            "missing-key",
            message.to_owned(),
        ));
    }
}

fn check_values(document: &Document<'_>, yaml: &str, options: &Options, out: &mut Vec<Finding>) {
    let (path, front) = (document.path, &document.front);
    let line = |key: &str| {
        let at = yaml.lines().position(|line| line.starts_with(key));
        at.map_or(1, |at| at + 2)
    };
    if let Some(language) = &front.language {
        let seen = detect_language(document.body());
        match Language::parse(language) {
            None => {
                let message = format!("language `{language}`; `zh` or `en` was expected");
                out.push(finding(
                    path,
                    line("language"),
                    Severity::Error,
                    "language",
                    message,
                ));
            }
            Some(said) if said != seen => {
                let message = format!("says `{language}`, reads like `{}`", seen.as_str());
                out.push(finding(
                    path,
                    line("language"),
                    Severity::Warning,
                    "language",
                    message,
                ));
            }
            Some(_) => {}
        }
    }
    if !options.causes.is_empty() {
        for cause in front
            .causes
            .iter()
            .filter(|cause| !options.causes.contains(cause))
        {
            let message = format!("`{cause}` is not a known cause");
            out.push(finding(
                path,
                line("causes"),
                Severity::Error,
                "unknown-cause",
                message,
            ));
        }
    }
    let stem = path
        .rsplit('/')
        .next()
        .unwrap_or(path)
        .trim_end_matches(".md");
    if front.id.as_deref().is_some_and(|id| id != stem) {
        let message = format!("the id differs from the file name `{stem}`");
        out.push(finding(
            path,
            line("id"),
            Severity::Warning,
            "id-name",
            message,
        ));
    }
}

/// Ids that occur twice, and causes that stand under two problem types.
pub(super) fn check_ids(documents: &[Document<'_>], out: &mut Vec<Finding>) {
    let mut by_id: BTreeMap<&str, &str> = BTreeMap::new();
    let mut by_cause: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    for document in documents {
        let path = document.path;
        if let Some(id) = &document.front.id
            && let Some(first) = by_id.insert(id, path)
        {
            let message = format!("id `{id}` is also that of {first}");
            out.push(finding(path, 1, Severity::Error, "duplicate-id", message));
        }
        let (Some(problem), [cause], Kind::Experience) = (
            &document.front.problem_type,
            document.front.causes.as_slice(),
            document.kind,
        ) else {
            continue;
        };
        match by_cause.get(cause.as_str()) {
            Some((other, first)) if other != problem => {
                let message = format!("`{cause}` is `{problem}` here and `{other}` in {first}");
                out.push(finding(path, 1, Severity::Error, "contradiction", message));
            }
            Some(_) => {}
            None => {
                by_cause.insert(cause, (problem, path));
            }
        }
    }
}
