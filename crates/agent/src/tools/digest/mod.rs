//! Digests of the job's files as understood by their readers: one per kind of file, in the language of the report.
//!
//! Digests are made from the job, not from the file: a file is parsed once. Some kinds have no digest, because their text is
//! clearer.

mod code;
mod stages;
mod tables;

use job::Job;
use job::model::{FileKind, JobFile};
use report::format::Seconds;
use report::measure::book;
use report::{JobEngine, Language, text};

use crate::facts::Facts;
use crate::measures;
use crate::outline::StatementRow;
use crate::wording::{Lines, labeled, named};

pub(crate) use code::explain;
pub(crate) use tables::metadata;

/// The wanted part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    /// The digest of all of it.
    Whole,
    /// The digest's lines on a stage, an operator, a table or a class.
    Named(&'a str),
    /// Lines of its text, counted from 1.
    Lines(u32, u32),
    /// Its text from the beginning.
    Raw,
}

impl<'a> Part<'a> {
    /// Reads `SV3_Combine`, `120-180` or `raw`.
    pub(crate) fn read(part: Option<&'a str>) -> Part<'a> {
        let part = part.map(str::trim).unwrap_or_default();
        let number = |text: &str| text.trim().parse::<u32>().ok();
        let range = part.split_once(['-', '–']).unwrap_or((part, part));
        match (number(range.0), number(range.1)) {
            _ if part.is_empty() => Part::Whole,
            _ if part.eq_ignore_ascii_case("raw") => Part::Raw,
            (Some(first), Some(last)) => Part::Lines(first, last.max(first)),
            _ => Part::Named(part),
        }
    }
}

/// The job and the language of a digest, with its text reader and size limit.
#[derive(Clone, Copy)]
pub(crate) struct Look<'a> {
    pub(crate) job: &'a Job,
    pub(crate) language: Language,
    /// The text of a file of the folder, as far as it is quoted.
    pub(crate) text: &'a dyn Fn(&str) -> Option<String>,
    /// Size in bytes after which a digest adds no more stages.
    pub(crate) enough: usize,
}

impl Look<'_> {
    fn has_enough(&self, digest: &Lines) -> bool {
        digest.lines.iter().map(String::len).sum::<usize>() >= self.enough
    }

    /// Whether a name is wanted; all are where none is given.
    pub(crate) fn wants(wanted: Option<&str>, name: &str) -> bool {
        wanted.is_none_or(|wanted| name.to_lowercase().contains(&wanted.to_lowercase()))
    }
}

/// The digest of a file that has been read; `None` if its text is clearer or its reader found no content.
pub(crate) fn digest(
    look: &Look<'_>,
    file: &JobFile,
    part: Part<'_>,
    facts: &Facts,
) -> Option<Lines> {
    let named = match part {
        Part::Whole => None,
        Part::Named(name) => Some(name),
        Part::Lines(..) | Part::Raw => return None,
    };
    let digest = match file.kind {
        FileKind::RuntimeStatistics | FileKind::VertexStdout | FileKind::RestStatistics => {
            stages::counters(look, named)
        }
        FileKind::SparkEvents => stages::application(look, named),
        FileKind::VertexEvents => stages::vertices(look, named),
        FileKind::VertexDef | FileKind::Algebra => stages::definitions(look, named),
        FileKind::OptimizerPlan | FileKind::OperatorPlanMap => stages::estimates(look, named),
        FileKind::Tables | FileKind::InternalStatistics => tables::metadata(look, named),
        FileKind::StreamInfo | FileKind::PartitionLastRows => tables::partitions(look, named),
        FileKind::Codegen => code::classes(look, named),
        FileKind::Script => statements(facts, |row| {
            let mut names = row.target.iter().chain(&row.inputs);
            named.is_none() || names.any(|name| Look::wants(named, name))
        }),
        FileKind::JobInfo | FileKind::RestJob | FileKind::CommandLine => info(look),
        FileKind::Error => errors(look),
        _ => return None,
    };
    Some(digest).filter(|digest| !digest.lines.is_empty())
}

/// The wanted statements of the script, with their inputs and their hints.
pub(crate) fn statements(facts: &Facts, wanted: impl Fn(&StatementRow) -> bool) -> Lines {
    let mut digest = Lines::new(facts.language);
    for statement in facts.outline.statements.iter().filter(|row| wanted(row)) {
        let [first, last] = statement.lines;
        let target = statement.target.as_deref().unwrap_or("-");
        let kind = &statement.kind;
        let inputs = named(&statement.inputs, facts.language);
        let hints = named(&statement.hints, facts.language);
        digest.say(text!(
            "第 {first}–{last} 行：{kind} → {target}{inputs}{hints}",
            "lines {first}–{last}: {kind} → {target}{inputs}{hints}",
            inputs = inputs.map(|inputs| text!("，读取 {inputs}", ", reads {inputs}")),
            hints = hints.map(|hints| text!("，提示 {hints}", ", hints {hints}"))
        ));
    }
    digest
}

fn info(look: &Look<'_>) -> Lines {
    let info = &look.job.info;
    let mut digest = Lines::new(look.language);
    let state = format!("{:?}", info.state).to_lowercase();
    digest.say(text!("状态：{state}", "state: {state}"));
    let measured = [
        &book::COMPILED,
        &book::QUEUED,
        &book::ELAPSED,
        &book::TOKENS,
    ];
    let vertex = JobEngine::vertex(look.job.engine());
    let said = measures::said(measured, &look.job.sheet().job, vertex, look.language);
    digest.lines.extend(said);
    if let Some(total) = info.total_seconds() {
        digest.say(text!(
            "从提交到结束：{total}",
            "from submission to end: {total}",
            total = Seconds(total)
        ));
    }
    if let Some(priority) = info.priority {
        digest.say(text!("优先级：{priority}", "priority: {priority}"));
    }
    for (name, value) in &info.other {
        digest.say(labeled(name, value, look.language));
    }
    digest
}

fn errors(look: &Look<'_>) -> Lines {
    let mut digest = Lines::new(look.language);
    for error in &look.job.errors {
        let id = error.id.as_deref().unwrap_or("-");
        digest.say(labeled(id, &error.message, look.language));
        for (value, zh, en) in [
            (&error.stage, "阶段", "stage"),
            (&error.vertex, "顶点", "vertex"),
            (&error.exception, "异常", "exception"),
            (&error.frame, "代码位置", "frame"),
            (&error.expression, "表达式", "expression"),
            (&error.row, "数据行", "row"),
            (&error.resolution, "建议", "advice"),
        ] {
            if let Some(value) = value {
                digest.detail(text!("{zh}：{value}", "{en}: {value}"));
            }
        }
    }
    digest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_a_name_lines_or_the_raw_text() {
        for (part, expected) in [
            (None, Part::Whole),
            (Some(" "), Part::Whole),
            (Some("RAW"), Part::Raw),
            (Some("12-18"), Part::Lines(12, 18)),
            (Some("12"), Part::Lines(12, 12)),
            (Some("SV3_Combine"), Part::Named("SV3_Combine")),
        ] {
            assert_eq!(Part::read(part), expected);
        }
    }
}
