//! Findings and undecided causes, in words.

use report::format::without_stop;
use report::{Cause, Finding, Localize, Text, text};

use crate::Asked;
use crate::said::Said;

/// Evidence cited for a finding.
pub(crate) const CITED: usize = 3;

/// Evidence said in words.
const TOLD: usize = 5;

/// Causes named that could not be decided.
const OPEN: usize = 5;

/// Files named that would decide them.
const FILES: usize = 3;

/// Says a finding with its evidence.
pub(crate) fn finding(said: &mut Said<'_>, finding: &Finding, is_main: bool) {
    if !said.tells(&finding.id) {
        return;
    }
    let ids = &finding.evidence[..finding.evidence.len().min(CITED)];
    let (id, title) = (&finding.id, finding.cause.title());
    let summary = without_stop(&finding.summary);
    let sentence = match is_main {
        true => text!(
            "主要原因是{title}（{id}）：{summary}",
            "The main cause: {title} ({id}): {summary}",
            title = title
        ),
        false => text!(
            "{title}（{id}）：{summary}",
            "{id}, {title}: {summary}",
            title = title
        ),
    };
    let sentence = match finding.saving() {
        None => sentence,
        Some(saving) => text!(
            "{sentence}；{saving}",
            "{sentence}; {saving}",
            sentence = sentence,
            saving = saving
        ),
    };
    said.cite(sentence, ids);
}

/// The finding with an id; with its evidence in words if that is asked for.
pub(crate) fn finding_of(said: &mut Said<'_>, run: &Asked<'_>, id: &str, with_evidence: bool) {
    let report = run.report;
    let all = report.findings.iter().chain(&report.notes);
    let Some(found) = all.clone().find(|f| f.id == id) else {
        return;
    };
    finding(said, found, false);
    for e in report
        .evidence_of(&found.evidence)
        .take(TOLD)
        .filter(|_| with_evidence)
    {
        let (text, file) = (without_stop(&e.text), &e.source.file);
        said.cite(
            text!("{text}（{file}）", "{text} ({file})"),
            std::slice::from_ref(&e.id),
        );
    }
}

/// Says the undecided causes, and the files that would decide them.
pub(crate) fn undecided(said: &mut Said<'_>, run: &Asked<'_>, wanted: impl Fn(Cause) -> bool) {
    let language = said.language();
    let mut files: Vec<String> = Vec::new();
    let mut open: Vec<Vec<Cause>> = Vec::new();
    for missing in &run.report.missing_information {
        let causes: Vec<Cause> = missing
            .would_decide
            .iter()
            .copied()
            .filter(|c| wanted(*c))
            .collect();
        let file = format!("`{}`", missing.file);
        if !causes.is_empty() && !files.contains(&file) {
            files.push(file);
        }
        open.push(causes);
    }
    // The first of each file, then the second: the files matter in their order, and so do their causes.
    let longest = open.iter().map(Vec::len).max().unwrap_or(0);
    let mut causes: Vec<Cause> = Vec::new();
    for cause in (0..longest).flat_map(|n| open.iter().filter_map(move |causes| causes.get(n))) {
        if !causes.contains(cause) {
            causes.push(*cause);
        }
    }
    if causes.is_empty() {
        return;
    }
    let more = match causes.len().saturating_sub(OPEN) {
        0 => Text::default(),
        n => text!("等 {n} 个其他原因", " and {n} more"),
    };
    let titles: Vec<String> = causes
        .iter()
        .take(OPEN)
        .map(|c| c.title().localize(language))
        .collect();
    files.truncate(FILES);
    let sentence = text!(
        "缺少文件，还不能判断是不是{causes}{more}；补充 {files} 后再分析一次",
        "Undecided for lack of files: {causes}{more}; add {files} and analyze again",
        causes = titles.join(language.select("、", ", ")),
        more = more,
        files = files.join(language.select("、", ", "))
    );
    said.say(sentence);
}
