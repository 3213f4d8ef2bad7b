//! The look-ups of THINK 4 besides files: script, table metadata, generated code, experience.
//!
//! They answer from what has been read and from the index; none of them reaches outside the job
//! folder, and every answer is bounded.

use std::fmt::Write;

use job::Job;
use job::model::Table;

use crate::conclusion::{Lookup, Tool};
use crate::experience::{Bounds, ExperienceSource};
use crate::facts::{Excerpt, Facts};
use report::Match;
use report::format::{cut, figure};

/// Chunks that a search gives; as many as a step gets by itself.
const SEARCH_HITS: usize = 3;

const TOP_VALUES: usize = 5;

/// Name of a look-up in logs and prompts: `table_metadata(Clicks)`.
pub(crate) fn name(lookup: &Lookup) -> String {
    let tool = match lookup.tool {
        Tool::AnalyzeScript => "analyze_script",
        Tool::TableMetadata => "table_metadata",
        Tool::ExplainCodegen => "explain_codegen",
        Tool::SearchExperience => "search_experience",
    };
    format!("{tool}({})", cut(&lookup.argument, 200))
}

/// A text cut to what a prompt may quote, saying how much was left out of `bytes`.
pub(crate) fn excerpt(name: &str, text: String, bytes: u64) -> Excerpt {
    let cut_bytes = bytes.saturating_sub(text.len() as u64);
    Excerpt {
        name: name.to_owned(),
        text,
        cut_bytes,
    }
}

pub(crate) fn look_up(
    lookup: &Lookup,
    job: &Job,
    experience: Option<(&dyn ExperienceSource, Bounds<'_>)>,
    facts: &Facts,
    most_bytes: usize,
) -> Excerpt {
    let text = match lookup.tool {
        Tool::AnalyzeScript => analyze_script(facts, &lookup.argument),
        Tool::TableMetadata => table_metadata(job, &lookup.argument),
        Tool::ExplainCodegen => explain_codegen(job, &lookup.argument),
        Tool::SearchExperience => search_experience(experience, &lookup.argument, facts),
    };
    let bytes = text.len() as u64;
    excerpt(&name(lookup), cut(&text, most_bytes).to_owned(), bytes)
}

/// Statements that touch the lines `12-18`, or all of them.
fn analyze_script(facts: &Facts, lines: &str) -> String {
    let wanted = line_range(lines);
    let mut out = String::new();
    for statement in &facts.outline.statements {
        let [first, last] = statement.lines;
        if wanted.is_some_and(|(from, to)| last < from || to < first) {
            continue;
        }
        let target = statement.target.as_deref().unwrap_or("-");
        let _ = writeln!(out, "lines {first}-{last}: {} -> {target}", statement.kind);
        if !statement.inputs.is_empty() {
            let _ = writeln!(out, "  reads {}", statement.inputs.join(", "));
        }
        for hint in &statement.hints {
            let _ = writeln!(out, "  hint {hint}");
        }
    }
    if let (Some((from, to)), Some(script)) = (wanted, &facts.outline.script) {
        for (index, line) in script.text.lines().enumerate() {
            if (from as usize..=to as usize).contains(&(index + 1)) {
                let _ = writeln!(out, "{:>4}  {line}", index + 1);
            }
        }
    }
    or_else(out, || "no statement there".to_owned())
}

/// A text, or what to say where it is empty.
fn or_else(text: String, nothing: impl FnOnce() -> String) -> String {
    Some(text).filter(|t| !t.is_empty()).unwrap_or_else(nothing)
}

fn line_range(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|n| n.parse::<u32>().ok());
    let first = numbers.next()?;
    Some((first, numbers.next().unwrap_or(first).max(first)))
}

fn table_metadata(job: &Job, wanted: &str) -> String {
    let mut out = String::new();
    let name = wanted.trim();
    let is_wanted = |t: &&Table| name.is_empty() || t.name.eq_ignore_ascii_case(name);
    let unknown = || "not known".to_owned();
    let number = |n: Option<u64>| n.map_or_else(unknown, |n| figure(n as f64));
    for table in job.tables.iter().filter(is_wanted) {
        let [rows, bytes, files] = [table.rows, table.bytes, table.file_count].map(number);
        let name = &table.name;
        let _ = writeln!(out, "{name}: rows {rows}, bytes {bytes}, files {files}");
        if let Some(c) = &table.clustering {
            let [keys, sorted] = [&c.keys, &c.sorted_by].map(|names| names.join(", "));
            let _ = writeln!(out, "  layout {} on {keys}, sorted by {sorted}", c.kind);
        }
        for column in &table.columns {
            let top = column.top_values.iter().take(TOP_VALUES);
            let top: Vec<String> = top
                .map(|v| format!("{} ({} rows)", v.value, v.rows))
                .collect();
            let top = Some(top.join(", ")).filter(|top| !top.is_empty());
            let [distinct, nulls] = [column.distinct, column.nulls].map(number);
            let _ = writeln!(
                out,
                "  {} {}: distinct {distinct}, nulls {nulls}, frequent {}",
                column.name,
                column.type_name.as_deref().unwrap_or(""),
                top.unwrap_or_else(unknown)
            );
        }
    }
    or_else(out, || format!("no metadata of `{wanted}` has been read"))
}

fn explain_codegen(job: &Job, wanted: &str) -> String {
    let Some(codegen) = &job.codegen else {
        return "the generated code has not been read".to_owned();
    };
    let mut out = String::new();
    // Every name contains the empty one.
    let classes = codegen.classes.iter();
    for class in classes.filter(|c| c.name.contains(wanted.trim())) {
        let author = match class.user_code {
            true => "user code",
            false => "generated",
        };
        let (name, file, (first, last)) = (&class.name, &codegen.file, class.lines);
        let _ = writeln!(out, "{name} ({author}), lines {first}-{last} of {file}");
        for expression in &class.expressions {
            let _ = writeln!(out, "  evaluates {expression}");
        }
    }
    or_else(out, || format!("no class `{wanted}`"))
}

fn search_experience(
    experience: Option<(&dyn ExperienceSource, Bounds<'_>)>,
    words: &str,
    facts: &Facts,
) -> String {
    let Some((index, bounds)) = experience else {
        return "there is no index".to_owned();
    };
    let mut query = indexer::Query::new(cut(words, 400), SEARCH_HITS);
    query.filter.kinds = vec![indexer::Kind::Experience, indexer::Kind::Case];
    query.filter.engine = Some(facts.job.engine.into());
    query.prefer.languages = vec![facts.language];
    match bounds.search(index, &query) {
        Ok(hits) => {
            let passage = |h: &indexer::Hit| {
                format!("[{}] {}\n{}\n", h.chunk.id, h.chunk.title, h.chunk.text)
            };
            let weak = hits.iter().all(|hit| hit.fit == Match::Weak);
            let warning = match weak {
                true => {
                    "nothing in the knowledge base fits well; these passages are only the nearest\n"
                }
                false => "",
            };
            hits.iter()
                .map(passage)
                .fold(warning.to_owned(), |out, next| out + &next)
        }
        Err(error) => error,
    }
}
