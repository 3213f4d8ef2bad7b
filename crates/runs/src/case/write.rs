//! A case written from a run.

use std::collections::BTreeSet;

use super::FILL_IN;
use super::body::body;
use super::material::{Material, title};
use crate::RunSummary;
use job::script::own_words;
use report::format::with_capital;
use report::{Finding, JobEngine, Report, Verdict, text};

/// Operators and keywords in the front matter.
const WORDS: usize = 6;
/// Operators that are too common to describe a case.
const PLAIN: [&str; 5] = ["extract", "output", "other", "transform", "split"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCase {
    /// Its file's name without extension.
    pub id: String,
    pub text: String,
    /// Number of places for the curator to fill in.
    pub open: usize,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum CaseError {
    #[error("{}", report::say!("运行 `{run}` 没有发现问题", "run `{run}` found no problem", run = .0))]
    NothingFound(String),
    #[error("{}", report::say!("保存运行 `{run}` 时没有作业中的名称，因此无法遮盖", "run `{run}` was saved without the names of its job, so they cannot be masked", run = .0))]
    NamesUnknown(String),
    #[error("{}", report::say!("`{id}` 不能作为案例编号：请用小写字母、数字和 `-`", "`{id}` is not a case id: use lowercase letters, digits and `-`", id = .0))]
    BadId(String),
}

impl CaseError {
    pub fn hint(&self) -> &'static str {
        let (zh, en) = match self {
            CaseError::NothingFound(_) => (
                "请从有发现的运行写案例",
                "write a case from a run that has a finding",
            ),
            CaseError::NamesUnknown(_) => (
                "请重新分析该作业，或用 --no-redact 并手工遮盖",
                "analyze the job again, or mask manually with --no-redact",
            ),
            CaseError::BadId(_) => (
                "例如 `--id clicks-hot-user`",
                "for example `--id clicks-hot-user`",
            ),
        };
        report::interface().select(zh, en)
    }
}

/// Writes a case.
///
/// # Errors
/// See [`CaseError`].
pub fn write(material: &Material<'_>) -> Result<NewCase, CaseError> {
    let report = material.report;
    let top = report
        .findings
        .first()
        .filter(|_| report.verdict == Verdict::Problem)
        .ok_or_else(|| CaseError::NothingFound(report.run_id.clone()))?;
    let id = match material.id {
        Some(id) => checked(id)?,
        None => id_of(report, top),
    };
    let text = front(material, &id, top) + &body(material, top);
    Ok(NewCase {
        open: text.matches(FILL_IN).count(),
        id,
        text,
    })
}

fn checked(id: &str) -> Result<String, CaseError> {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let sound = !id.is_empty() && id.chars().all(is_part);
    let id = id.to_owned();
    if sound {
        Ok(id)
    } else {
        Err(CaseError::BadId(id))
    }
}

/// `run-skew-join-hot-key-7f3k2q`, with the suffix `-zh` for a Chinese case.
fn id_of(report: &Report, top: &Finding) -> String {
    let cause = top.cause.code().replace(['.', '_'], "-");
    let run = report.run_id.to_ascii_lowercase();
    let tail = &run[run.len().saturating_sub(6)..];
    format!("run-{cause}-{tail}{}", report.language.select("-zh", ""))
}

/// Names of the job, of its data and its rowsets, and the literals of its script, each with its kind.
///
/// # Errors
/// If the run was saved without them.
pub fn private_names(
    report: &Report,
    summary: &RunSummary,
) -> Result<Vec<(String, &'static str)>, CaseError> {
    if summary.drawn_only {
        return Err(CaseError::NamesUnknown(report.run_id.clone()));
    }
    let script = summary.script.as_ref();
    let literals = script.map(|s| own_words(&s.text)).unwrap_or_default();
    let names = [report.job.name.clone(), report.job.id.clone()];
    let names = std::iter::once(report.job.path.clone()).chain(names.into_iter().flatten());
    let private = summary.masked_names().into_iter();
    let all = names.map(|name| (name, "job"));
    let all = all.chain(private.map(|name| (name, "name")));
    Ok(all
        .chain(literals.into_iter().map(|text| (text, "literal")))
        .collect())
}

/// Texts with private words: written by the people of the job, or quoting them.
pub fn private_texts<'a>(
    report: &'a Report,
    summary: &'a RunSummary,
) -> impl Iterator<Item = &'a str> {
    let operators = summary.stages.iter().flat_map(|s| &s.operators);
    let written = operators.flat_map(|o| {
        let texts = o.names.iter().chain(&o.reads).chain(&o.columns);
        texts.chain(std::iter::once(&o.args))
    });
    let executors = summary.executors.iter().map(|e| &e.host);
    let lost = summary.stages.iter().flat_map(|s| &s.lost);
    let vertices = summary.stages.iter().flat_map(|s| &s.vertices);
    let messages = summary.stages.iter().flat_map(|s| &s.messages);
    let code = summary.code.iter().flat_map(|c| &c.lines);
    written
        .chain(summary.inputs.iter().map(|input| &input.name))
        .chain(executors)
        .chain(lost.map(|attempt| &attempt.machine))
        .chain(vertices.map(|vertex| &vertex.machine))
        .chain(messages.map(|(message, _)| message))
        .chain(code)
        .chain(&summary.error)
        .chain(summary.script.iter().map(|script| &script.file))
        .chain(report.job.owner.iter().chain(&report.job.queue))
        .map(String::as_str)
}

fn front(material: &Material<'_>, id: &str, top: &Finding) -> String {
    let report = material.report;
    let causes: Vec<&str> = unique(report.findings.iter().map(|f| f.cause.code()));
    let operators = operators(material, top);
    let keywords: Vec<String> = keywords(report, top).iter().map(|k| quoted(k)).collect();
    let engine = match report.job.engine {
        Some(JobEngine::Spark) => "engine: spark\n",
        Some(JobEngine::Scope | JobEngine::Usql) | None => "",
    };
    let run = &report.run_id;
    let source = text!("scopeagent 的运行 {run}", "scopeagent run {run}").into(report.language);
    format!(
        "---\nid: {id}\ntitle: {}\nlanguage: {}\n{engine}problem_type: {}\ncauses: [{}]\noperators: [{}]\nkeywords: [{}]\nsource: [{}]\nconfidence: observed\nreviewed: {}\norigin: run\n---\n",
        quoted(&title(material, top)),
        report.language.code(),
        report.problem_type.code(),
        causes.join(", "),
        operators.join(", "),
        keywords.join(", "),
        quoted(&source),
        material.today,
    )
}

/// Kinds of operators in the top finding's stage, as the playbooks spell them: `HashPartition`.
fn operators(material: &Material<'_>, top: &Finding) -> Vec<String> {
    let stages = material.summary.stages.iter();
    let hot = stages.filter(|s| Some(&s.name) == top.stage.as_ref());
    let kinds = hot.flat_map(|s| &s.operators).map(|o| o.kind.as_str());
    let kinds = unique(kinds.filter(|kind| !PLAIN.contains(kind))).into_iter();
    let spelled = kinds.map(|kind| kind.split('_').map(with_capital).collect());
    spelled.take(WORDS).collect()
}

/// Counters in the top finding's evidence, and hints that the suggestions add.
fn keywords(report: &Report, top: &Finding) -> Vec<String> {
    let evidence = report.evidence.iter();
    let counters = evidence
        .filter(|e| top.evidence.contains(&e.id))
        .map(|e| e.metric.as_str())
        .filter(|metric| metric.chars().all(|c| c.is_ascii_alphanumeric()));
    let diffs = report.suggestions.iter().filter_map(|s| s.diff.as_deref());
    let hints = diffs
        .flat_map(str::lines)
        .filter_map(|line| line.strip_prefix('+')?.trim().strip_prefix('['))
        .filter_map(|hint| hint.split(['=', '(', ']']).next())
        .filter(|hint| hint.len() > 2 && hint.chars().all(|c| c.is_ascii_uppercase()));
    let words = unique(counters.chain(hints));
    words.into_iter().take(WORDS).map(str::to_owned).collect()
}

/// Deduplicated, by first occurrence.
fn unique<'a>(items: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = BTreeSet::new();
    items.filter(|item| seen.insert(*item)).collect()
}

/// A YAML string in double quotes.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_stay_in_their_folder() {
        assert!(checked("clicks-hot-user-2").is_ok());
        for bad in ["", "../x", "a/b", "A", "a b", "a.md"] {
            assert!(checked(bad).is_err(), "{bad}");
        }
    }
}
