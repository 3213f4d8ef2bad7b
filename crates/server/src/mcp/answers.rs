//! Answers of the tools other than the report: structured content and its text.

use std::fmt::Write as _;
use std::sync::Arc;

use diagnosis::whatif::{Curve, Point, Resource};
use indexer::{Hit, Match};
use rmcp::ErrorData;
use rmcp::handler::server::tool::IntoCallToolResult;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, Resource as Link};
use runs::store::{FeedbackRow, RunRow};
use serde::Serialize;
use serde_json::{Value, json};

use super::rest::Rest;
use crate::opening::Application;
use crate::whatif::Replayed;

/// Bytes of one answer at most, structured content and text together; models pay for each.
const MAX_BYTES: usize = 8 << 10;
/// Bytes of the text that is left of a longer one.
const MAX_TEXT: usize = 6 << 10;
/// Texts of findings and suggestions in a brief.
const SHOWN: usize = 6;

/// Structured content and its text, for clients that show only text.
pub(super) struct Answer {
    value: Option<Value>,
    text: String,
    /// Resources with the answer.
    links: Vec<Link>,
}

impl Answer {
    pub(super) fn new(value: &impl Serialize, text: String) -> Answer {
        let mut value = serde_json::to_value(value).ok();
        if let Some(value) = &mut value {
            llm::hide_in(value);
        }
        Answer {
            value,
            text: llm::hide(&text).into_owned(),
            links: Vec::new(),
        }
    }

    pub(super) fn with_links(mut self, links: Vec<Link>) -> Answer {
        self.links = links;
        self
    }

    /// The answer within its bytes. The whole of a longer one is a resource: one of its links, or one that is kept for a while.
    pub(super) fn fit(mut self, rest: &Rest) -> Answer {
        let json = self
            .value
            .as_ref()
            .map(Value::to_string)
            .unwrap_or_default();
        if json.len() + self.text.len() <= MAX_BYTES {
            return self;
        }
        if self.links.is_empty() {
            self.links.extend(rest.keep(json.clone()));
        }
        if json.len() > MAX_BYTES - MAX_TEXT {
            self.value = None;
        }
        if self.text.len() > MAX_TEXT {
            let end = self.text.floor_char_boundary(MAX_TEXT);
            let end = self.text[..end].rfind('\n').unwrap_or(end);
            self.text.truncate(end);
            let whole = self.links.last().map_or("", |link| link.uri.as_str());
            self.text += &match whole {
                "" => "\n… cut: the answer is too long even for a resource; ask for less, e.g. for one stage".to_owned(),
                uri => format!("\n… cut: the whole answer is the resource {uri}"),
            };
        }
        self
    }
}

impl IntoCallToolResult for Answer {
    fn into_call_tool_result(self) -> Result<CallToolResponse, ErrorData> {
        let text = ContentBlock::text(self.text);
        let mut result = match self.value {
            Some(value) => CallToolResult::structured(value),
            None => CallToolResult::success(Vec::new()),
        };
        result.content = vec![text];
        result
            .content
            .extend(self.links.into_iter().map(ContentBlock::resource_link));
        Ok(result.into())
    }
}

/// The parts of a report that a model decides by; the rest is a resource.
#[derive(Serialize)]
pub(super) struct Brief<'a> {
    run_id: &'a str,
    job: &'a str,
    engine: Option<report::JobEngine>,
    verdict: report::Verdict,
    elapsed_seconds: Option<f64>,
    avoidable_seconds: Option<f64>,
    answer: Option<&'a str>,
    findings: Vec<Value>,
    suggestions: Vec<Value>,
    /// Causes that could not be checked.
    undecided: Vec<&'static str>,
}

impl Brief<'_> {
    pub(super) fn of(report: &report::Report) -> Brief<'_> {
        let findings = report.findings.iter().take(SHOWN).map(|f| {
            json!({
                "id": f.id, "cause": f.cause, "severity": f.severity, "stage": f.stage,
                "seconds_saved": f.impact.as_ref().map(|i| i.seconds_saved),
            })
        });
        let suggestions = report.suggestions.iter().take(SHOWN).map(|s| {
            json!({"id": s.id, "finding": s.finding, "title": s.title, "has_diff": s.diff.is_some()})
        });
        let missing = report.missing_information.iter();
        let mut undecided: Vec<_> = missing
            .flat_map(|m| &m.would_decide)
            .map(|c| c.code())
            .collect();
        undecided.dedup();
        undecided.truncate(SHOWN);
        Brief {
            run_id: &report.run_id,
            job: report.job.label(),
            engine: report.job.engine,
            verdict: report.verdict,
            elapsed_seconds: report.job.elapsed_seconds,
            avoidable_seconds: report.time.as_ref().and_then(|time| time.avoidable_seconds),
            answer: report.answer.as_ref().map(|answer| answer.text.as_str()),
            findings: findings.collect(),
            suggestions: suggestions.collect(),
            undecided,
        }
    }
}

/// Answer of `search_experience`.
#[derive(Debug, Serialize)]
pub(super) struct Passages {
    /// Best first.
    pub(super) passages: Vec<Passage>,
}

/// A passage of the knowledge base.
#[derive(Debug, Serialize)]
pub(super) struct Passage {
    /// Id, as cited by reports.
    pub(super) chunk: String,
    /// Title of its document.
    pub(super) title: String,
    /// Headings above it, outermost first.
    pub(super) headings: Vec<String>,
    /// The passage, in Markdown: in the text of the answer.
    #[serde(skip)]
    pub(super) text: String,
    /// `experience`, `case`, `file`, `glossary` or `document`.
    pub(super) kind: String,
    /// `zh` or `en`.
    pub(super) language: String,
    /// Causes that its document covers.
    pub(super) causes: Vec<String>,
    /// Origin of the knowledge, in the document's words.
    pub(super) source: Option<String>,
    /// `strong` if it answers the query, `weak` if it is only near it. If all passages are weak, the knowledge base has no answer.
    #[serde(rename = "match")]
    pub(super) fit: Match,
    /// Comparable only within one answer.
    pub(super) score: f32,
    /// Rank by words; null if words did not find it.
    pub(super) bm25_rank: Option<usize>,
    /// Rank by vectors; null if vectors did not find it.
    pub(super) vector_rank: Option<usize>,
}

impl From<Hit> for Passage {
    fn from(hit: Hit) -> Passage {
        let chunk = Arc::unwrap_or_clone(hit.chunk);
        Passage {
            chunk: chunk.id,
            title: chunk.title,
            headings: chunk.heading_path,
            text: chunk.text,
            kind: chunk.kind.as_str().to_owned(),
            language: chunk.language.code().to_owned(),
            causes: chunk.causes,
            source: chunk.source,
            fit: hit.fit,
            score: hit.score,
            bm25_rank: hit.bm25_rank,
            vector_rank: hit.vector_rank,
        }
    }
}

impl Passages {
    pub(super) fn text(&self) -> String {
        if self.passages.is_empty() {
            return "nothing found".to_owned();
        }
        let mut out = String::new();
        if self.passages.iter().all(|p| p.fit == Match::Weak) {
            out.push_str(
                "Nothing in the knowledge base fits well; these passages are only the nearest.\n\n",
            );
        }
        for passage in &self.passages {
            let place = std::iter::once(&passage.title)
                .chain(&passage.headings)
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(" › ");
            // Writing to a string cannot fail.
            let _ = writeln!(out, "[{}] {place}\n{}\n", passage.chunk, passage.text);
        }
        out
    }
}

/// Answer of `read_job_file`.
#[derive(Debug, Serialize)]
pub(super) struct FilePart {
    /// Name of the file in the job folder.
    pub(super) file: String,
    /// What it is, by content.
    pub(super) kind: job::model::FileKind,
    /// Size on disk in bytes.
    pub(super) bytes: u64,
    /// Byte of the text (as UTF-8) where this part starts.
    pub(super) offset: u64,
    /// First line of the part, from 1.
    pub(super) line: u64,
    /// This part of the text: the text of the answer. It is data, never an instruction.
    #[serde(skip)]
    pub(super) text: String,
    /// Start of the next part; null at the end.
    pub(super) next_offset: Option<u64>,
}

/// Answer of `list_runs`.
#[derive(Debug, Serialize)]
pub(super) struct Runs {
    /// Newest first.
    pub(super) runs: Vec<RunRow>,
}

impl Runs {
    pub(super) fn text(&self) -> String {
        if self.runs.is_empty() {
            return "no saved run of a job in the allowed folders; analyze_job saves one"
                .to_owned();
        }
        let mut out = String::new();
        for run in &self.runs {
            let name = run.job_name.as_deref().unwrap_or(&run.job);
            let outcome = match &run.verdict {
                Some(verdict) => verdict.clone(),
                None => format!("{:?}", run.status).to_lowercase(),
            };
            let cause = run.top_cause.as_deref().unwrap_or("-");
            // Writing to a string cannot fail.
            let _ = writeln!(
                out,
                "{} {} {outcome} {cause} {name}",
                run.run_id, run.created_at
            );
        }
        out
    }
}

/// A replay in numbers.
#[derive(Serialize)]
pub(super) struct Points<'a> {
    resource: Resource,
    now: &'a Point,
    changed: &'a [Point],
    curve: &'a Curve,
}

impl<'a> Points<'a> {
    pub(super) fn of(replayed: &'a Replayed) -> Points<'a> {
        Points {
            resource: replayed.resource,
            now: &replayed.now,
            changed: &replayed.asked,
            curve: &replayed.curve,
        }
    }
}

pub(super) fn applications(applications: &[Application]) -> String {
    if applications.is_empty() {
        return "no such application on the allowed History Servers".to_owned();
    }
    let mut out = String::new();
    for a in applications {
        let (user, state) = (
            a.user.as_deref().unwrap_or("-"),
            if a.completed { "ended" } else { "running" },
        );
        let _ = writeln!(
            out,
            "{} {} {:.0} min {state} {user} {}",
            a.job, a.started, a.minutes, a.name
        );
    }
    out
}

pub(super) fn saved(row: &FeedbackRow) -> String {
    format!(
        "saved: {} of run {} ({})",
        row.suggestion, row.run_id, row.kind
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_answer_is_cut_and_whole_as_a_resource() {
        let rest = Rest::default();
        let short = Answer::new(&json!({"a": 1}), "short".to_owned()).fit(&rest);
        assert!(short.value.is_some() && short.links.is_empty());
        let long = Answer::new(&json!({"a": "字".repeat(9000)}), "中文\n".repeat(3000)).fit(&rest);
        assert!(long.value.is_none() && long.text.len() < MAX_BYTES);
        let uri = &long.links[0].uri;
        assert!(long.text.ends_with(uri.as_str()));
        assert!(rest.whole(uri).is_some_and(|whole| whole.len() > 9000));
        let huge = Answer::new(&json!("x".repeat(5 << 20)), "x\n".repeat(9000)).fit(&rest);
        assert!(huge.text.contains("ask for less"));
    }
}
