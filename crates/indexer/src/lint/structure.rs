//! Checks of headings, sections and links.

use std::collections::HashSet;

use pulldown_cmark::{Event, Tag};

use super::{Findings, Known, Severity, is_curated};
use crate::chunk::{Heading, events, heading_for, headings, section_of, slug};
use crate::document::{Document, line_at};
use crate::model::{Kind, Section};

/// A playbook is useless without these sections.
const NEEDED: [Section; 4] = {
    use Section::*;
    [Symptom, Cause, Check, Fix]
};

/// A playbook is safe to follow with these sections.
const WANTED: [Section; 3] = [Section::Example, Section::TradeOffs, Section::NotWhen];

/// Path and anchor of each heading.
pub(super) fn heading_ids(document: &Document<'_>) -> impl Iterator<Item = String> {
    let headings = headings(document.text, document.body_start);
    let anchors = headings.map(|(_, h)| h.anchor.unwrap_or_else(|| slug(&h.title)));
    anchors.map(|anchor| format!("{}#{anchor}", document.path))
}

pub(super) fn check(document: &Document<'_>, known: &Known, out: &mut Findings) {
    let headings: Vec<_> = headings(document.text, document.body_start).collect();
    check_headings(document, &headings, out);
    if document.kind == Kind::Experience {
        check_sections(document, &headings, out);
    }
    check_links(document, known, out);
    for id in &document.front.related {
        if !known.ids.contains(id) && !known.paths.contains(id) {
            let message = format!("related `{id}` does not exist");
            out.error(document.path, 1, "dead-link", message);
        }
    }
}

fn check_headings(document: &Document<'_>, headings: &[(usize, Heading)], out: &mut Findings) {
    let path = document.path;
    if document.body().trim().is_empty() {
        // A page without text may list questions that none answers.
        let asks = !(document.front.questions.is_empty() && document.generated.is_empty());
        if is_curated(document) || !asks {
            let message = "only front matter, so no search finds it";
            out.error(path, 1, "empty", message);
        }
        return;
    }
    let has_title = document.front.title.is_some() || headings.iter().any(|(_, h)| h.level == 1);
    if is_curated(document) && !has_title {
        let message = "no title; add `title:` or a heading of level one";
        out.warn(path, 1, "title", message);
    }
    let mut above = None;
    let mut path_of: Vec<(usize, String)> = Vec::new();
    let mut seen: HashSet<Vec<String>> = HashSet::new();
    for (at, heading) in headings {
        let line = line_at(document.text.as_bytes(), *at);
        if let Some(above) = above.replace(heading.level)
            && heading.level > above + 1
        {
            let message = format!("level {} follows level {above}", heading.level);
            out.warn(path, line, "heading-level", message);
        }
        if heading.title.is_empty() {
            out.warn(path, line, "heading-empty", "a heading without text");
        }
        path_of.retain(|(level, _)| *level < heading.level);
        path_of.push((heading.level, slug(&heading.title)));
        let names: Vec<String> = path_of.iter().map(|(_, name)| name.clone()).collect();
        if heading.anchor.is_none() && !seen.insert(names) {
            let title = &heading.title;
            let message = format!("`{title}` occurs twice here, so chunk ids depend on the order");
            out.warn(path, line, "heading-twice", message);
        }
    }
}

fn check_sections(document: &Document<'_>, headings: &[(usize, Heading)], out: &mut Findings) {
    // A document without a cause (how to read a graph, the meaning of a term) has another form.
    if document.front.causes.is_empty() {
        return;
    }
    let sections = headings
        .iter()
        .filter_map(|(_, h)| section_of(std::slice::from_ref(&h.title)));
    let present: HashSet<Section> = sections.collect();
    let needed = NEEDED.map(|section| (section, Severity::Error));
    let wanted = WANTED.map(|section| (section, Severity::Warning));
    for (section, severity) in needed.into_iter().chain(wanted) {
        if !present.contains(&section) {
            let name = heading_for(section, document.language);
            let message = format!("a section is missing; write `## {name}`");
            out.add(document.path, 1, severity, "missing-section", message);
        }
    }
}

fn check_links(document: &Document<'_>, known: &Known, out: &mut Findings) {
    for (event, range) in events(document.body()) {
        let Event::Start(Tag::Link { dest_url, .. }) = event else {
            continue;
        };
        if let Some(reason) = broken(document.path, &dest_url, known) {
            let at = document.body_start + range.start;
            let line = line_at(document.text.as_bytes(), at);
            let message = format!("link `{dest_url}`: {reason}");
            out.error(document.path, line, "dead-link", message);
        }
    }
}

/// Why a link is dead; `None` if it is not, or points out of the folder.
fn broken(from: &str, link: &str, known: &Known) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") || link.is_empty() {
        return None;
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = match file {
        "" => from.to_owned(),
        _ => resolve(from, file)?,
    };
    if !(target.ends_with(".md") || target.ends_with(".toml")) {
        return None;
    }
    if !known.paths.contains(&target) {
        return Some(format!("{target} does not exist"));
    }
    let id = format!("{target}#{anchor}");
    let is_found = anchor.is_empty() || known.headings.contains(&id) || known.targets.contains(&id);
    (!is_found).then(|| format!("{target} has no heading `{anchor}`"))
}

/// `file` relative to the folder of `from`; `None` if it leaves the knowledge folder.
fn resolve(from: &str, file: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in file.split('/').filter(|part| !matches!(*part, "." | "")) {
        match part {
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}
