//! Results of THINK 4's tools: files and parts of them, script, table metadata, generated code, experience.
//!
//! They use the files read so far and the index. No tool reaches outside the job folder, and every
//! answer is bounded.

use job::model::JobFile;

use super::digest::{self, Look, Part};
use crate::conclusion::{Lookup, Tool};
use crate::experience::{Bounds, ExperienceSource};
use crate::facts::{Excerpt, Facts};
use crate::outline::StatementRow;
use crate::wording::Lines;
use report::format::cut;
use report::{Localize, Match, Text, text};

/// Hits of a search, the same number as in a step's own search.
const SEARCH_HITS: usize = 3;

/// Name of a look-up in logs and prompts: `table_metadata(Clicks)`.
pub(crate) fn name(lookup: &Lookup) -> String {
    let tool = serde_json::json!(lookup.tool);
    let tool = tool.as_str().unwrap_or_default();
    format!("{tool}({})", cut(&lookup.argument, 200))
}

/// A text cut to the quotable length, with the number of omitted bytes of `bytes`.
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
    look: &Look<'_>,
    experience: Option<(&dyn ExperienceSource, Bounds<'_>)>,
    facts: &Facts,
    most_bytes: usize,
) -> Excerpt {
    let argument = lookup.argument.as_str();
    let lines = |digest: Lines| digest.lines.join("\n");
    let text = match lookup.tool {
        Tool::AnalyzeScript => analyze_script(facts, argument),
        Tool::TableMetadata => lines(digest::metadata(look, Some(argument))),
        Tool::ExplainCodegen => lines(digest::explain(look, argument)),
        Tool::SearchExperience => search_experience(experience, argument, facts),
    };
    let bytes = text.len() as u64;
    excerpt(&name(lookup), cut(&text, most_bytes).to_owned(), bytes)
}

/// Name of a file, or of a part of it, in logs and prompts: `profile (SV3_Combine)`.
pub(crate) fn shown_name(file: &str, part: Option<&str>) -> String {
    match part.map(str::trim).filter(|part| !part.is_empty()) {
        Some(part) => format!("{file} ({})", cut(part, 100)),
        None => file.to_owned(),
    }
}

/// A file that has been read, or a part of it: the reader's digest, otherwise its text. If a name is requested, the lines of the
/// text that contain it.
pub(crate) fn show(
    look: &Look<'_>,
    file: &JobFile,
    part: Option<&str>,
    facts: &Facts,
) -> Option<String> {
    let part = Part::read(part);
    if let Some(digest) = digest::digest(look, file, part, facts) {
        return Some(digest.lines.join("\n"));
    }
    let text = (look.text)(&file.name)?;
    let wanted: &dyn Fn(u32, &str) -> bool = match &part {
        Part::Whole | Part::Raw => return Some(text),
        Part::Lines(first, last) => &|number, _| (*first..=*last).contains(&number),
        Part::Named(name) => &|_, line| Look::wants(Some(name), line),
    };
    let lines = (1..)
        .zip(text.lines())
        .filter(|(number, line)| wanted(*number, line))
        .map(|(number, line)| format!("{number:>6}  {line}"));
    let lines = lines.collect::<Vec<_>>().join("\n");
    Some(or_else(lines, || {
        let nothing = text!("其中没有这一部分", "it has no such part");
        nothing.into(look.language)
    }))
}

/// Statements that touch the lines `12-18`, or all of them, and the text of those lines.
fn analyze_script(facts: &Facts, argument: &str) -> String {
    let (wanted, named) = match Part::read(Some(argument)) {
        Part::Lines(first, last) => (Some((first, last)), None),
        Part::Named(name) => (None, Some(name)),
        Part::Whole | Part::Raw => (None, None),
    };
    let touches = |row: &StatementRow| {
        let [first, last] = row.lines;
        let names = row.target.iter().chain(&row.inputs);
        wanted.is_none_or(|(from, to)| first <= to && from <= last)
            && named.is_none_or(|wanted| names.into_iter().any(|name| name.contains(wanted)))
    };
    let mut out = digest::statements(facts, touches).lines;
    if let (Some((from, to)), Some(script)) = (wanted, &facts.outline.script) {
        let lines = (1..)
            .zip(script.text.lines())
            .filter(|(number, _)| (from..=to).contains(number));
        out.extend(lines.map(|(number, line)| format!("{number:>4}  {line}")));
    }
    or_else(out.join("\n"), || {
        let nothing = text!("那里没有语句", "no statement there");
        nothing.into(facts.language)
    })
}

/// A text, or what to say where it is empty.
fn or_else(text: String, nothing: impl FnOnce() -> String) -> String {
    Some(text).filter(|t| !t.is_empty()).unwrap_or_else(nothing)
}

fn search_experience(
    experience: Option<(&dyn ExperienceSource, Bounds<'_>)>,
    words: &str,
    facts: &Facts,
) -> String {
    let say = |text: Text| text.into(facts.language);
    let Some((index, bounds)) = experience else {
        return say(text!("没有经验索引", "there is no index"));
    };
    let mut query = indexer::Query::new(cut(words, 400), SEARCH_HITS);
    query.filter.kinds = vec![indexer::Kind::Experience, indexer::Kind::Case];
    query.filter.engine = Some(facts.job.engine.into());
    query.prefer.languages = vec![facts.language];
    let hits = match bounds.search(index, &query) {
        Ok(hits) => hits,
        Err(error) => return say(text!("检索失败：{error}", "the search failed: {error}")),
    };
    let passage =
        |h: &indexer::Hit| format!("[{}] {}\n{}\n", h.chunk.id, h.chunk.title, h.chunk.text);
    let passages: String = hits.iter().map(passage).collect();
    let is_weak = hits.iter().all(|hit| hit.fit == Match::Weak);
    let warning = is_weak.then(|| {
        text!(
            "知识库中没有合适的内容，以下只是最接近的段落\n",
            "nothing in the knowledge base fits well; these passages are only the nearest\n"
        )
    });
    warning.localize(facts.language) + &passages
}
