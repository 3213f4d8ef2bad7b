//! The sections of a case.

use std::collections::BTreeSet;

use report::format::{
    Bytes, Change, ROW, STAGE, Seconds, Share, TOKEN, VERTEX, with_capital, without_stop,
};
use report::markdown;
use report::measure::book;
use report::{Finding, JobEngine, Localize, Report, Suggestion, Text, engine_words, text};

use super::material::{Material, title};
use super::{FILL_IN, section};
use crate::store::{Action, FeedbackRow};

/// Items of evidence per finding; the rest is in the report.
const EVIDENCE: usize = 5;
const INPUTS: usize = 4;
const EDGES: usize = 12;

/// Title and sections, as Markdown.
pub(super) fn body(material: &Material<'_>, top: &Finding) -> String {
    let md = Markdown(material.hide);
    let parts = [
        layout(material, md),
        symptoms(material.report, md),
        diagnosis(material.report, md),
        change(material, md),
        result(material, top),
        accepted(material, md),
    ];
    let mut out = format!("\n# {}\n", md.text(&title(material, top)));
    for (index, text) in parts.iter().enumerate() {
        let heading = section(index, material.report.language);
        out.push_str(&format!("\n## {heading}\n\n{}\n", text.trim_end()));
    }
    out
}

/// Texts of the job, masked and then made harmless: a name is only known as it is written.
#[derive(Clone, Copy)]
struct Markdown<'a>(Option<&'a dyn Fn(&str) -> String>);

impl Markdown<'_> {
    fn hidden(self, text: &str) -> String {
        self.0.map_or_else(|| text.to_owned(), |hide| hide(text))
    }

    fn text(self, text: &str) -> String {
        markdown::escaped(&self.hidden(text))
    }

    fn code(self, name: &str) -> String {
        markdown::code(&self.hidden(name))
    }

    fn diff(self, diff: &str) -> String {
        markdown::fenced("diff", &self.hidden(diff))
    }
}

/// Size of the job, its inputs, its stages.
fn layout(material: &Material<'_>, md: Markdown<'_>) -> String {
    let language = material.report.language;
    let (job, summary) = (&material.report.job, material.summary);
    let (comma, stop, colon) = language.select(("，", "。", "："), (", ", ".", ": "));
    let sizes = [
        job.stages.map(|n| STAGE.count(n as f64)),
        job.vertices.map(|n| VERTEX.count(n as f64)),
        summary.get(&book::TOKENS).map(|n| TOKEN.count(n)),
    ];
    let mut facts: Vec<String> = localized(sizes, language);
    facts.extend(
        job.elapsed_seconds
            .map(|s| text!("运行 {time}", "{time} run time", time = Seconds(s)).into(language)),
    );
    let facts = engine_words(facts.join(comma), job.engine, language);
    let mut out = format!("{facts}{stop}\n");
    let mut inputs: Vec<_> = summary.inputs.iter().collect();
    let size = |i: &crate::InputSummary| {
        let bytes = i.get(&book::STORED_BYTES);
        bytes.or_else(|| i.get(&book::STORED_ROWS)).unwrap_or(-1.0)
    };
    inputs.sort_by(|a, b| size(b).total_cmp(&size(a)));
    for input in inputs.into_iter().take(INPUTS) {
        let rows = input
            .get(&book::STORED_ROWS)
            .map(|n| ROW.count(n).localize(language));
        let size = input
            .get(&book::STORED_BYTES)
            .map(|n| Bytes(n).localize(language));
        let layout = input.layout.clone().filter(|l| l != "none");
        let facts: Vec<String> = [rows, size, layout].into_iter().flatten().collect();
        let (name, facts) = (md.code(&input.name), md.text(&facts.join(comma)));
        out.push_str(&format!("\n- {name}{colon}{facts}"));
    }
    if !summary.edges.is_empty() {
        let edge = |e: &crate::EdgeSummary| {
            let name = |stage: usize| summary.stages.get(stage).map_or("", |s| &s.name);
            let [from, to] = [e.from, e.to].map(|stage| md.code(name(stage)));
            let keys = e.keys.join(", ");
            let exchange = format!("{} {keys}", e.exchange);
            format!("{from} → {to} ({})", md.text(exchange.trim_end()))
        };
        let edges: Vec<String> = summary.edges.iter().take(EDGES).map(edge).collect();
        let (stages, semicolon) = language.select(("阶段图：", "；"), ("Stages: ", "; "));
        let stages = engine_words(stages.to_owned(), job.engine, language);
        out.push_str(&format!("\n\n{stages}{}{stop}", edges.join(semicolon)));
    }
    out
}

fn localized<T: Localize>(
    values: impl IntoIterator<Item = Option<T>>,
    language: report::Language,
) -> Vec<String> {
    let known = values.into_iter().flatten();
    known.map(|value| value.localize(language)).collect()
}

fn symptoms(report: &Report, md: Markdown<'_>) -> String {
    let mut out = String::new();
    let mut listed: BTreeSet<&str> = BTreeSet::new();
    for finding in &report.findings {
        let items = report.evidence.iter();
        let items = items.filter(|e| finding.evidence.contains(&e.id) && listed.insert(&e.id));
        for item in items.take(EVIDENCE) {
            let (text, file) = (md.text(&item.text), md.code(&item.source.file));
            let expected = item.expected.as_ref().map_or_else(Text::default, |e| {
                let e = md.text(e);
                text!("（正常应为 {e}）", " (expected {e})")
            });
            let line = text!(
                "- {text}{expected}；{file}。\n",
                "- {text}{expected}; {file}.\n",
                expected = expected
            );
            out.push_str(line.pick(report.language));
        }
    }
    out
}

fn diagnosis(report: &Report, md: Markdown<'_>) -> String {
    let line = |f: &Finding| {
        let summary = md.text(without_stop(&f.summary));
        let cause = f.cause;
        let text = text!(
            "- `{cause}`（置信度 {confidence}）：{summary}。\n",
            "- `{cause}` (confidence {confidence}): {summary}.\n",
            confidence = Share(f.confidence)
        );
        text.into(report.language)
    };
    report.findings.iter().map(line).collect()
}

fn suggestions<'a>(
    material: &Material<'a>,
    action: Action,
) -> Vec<(&'a Suggestion, &'a FeedbackRow)> {
    let known = &material.report.suggestions;
    let of = |row: &'a FeedbackRow| Some((known.iter().find(|s| s.id == row.suggestion)?, row));
    let rows = material.feedback.iter().filter(|row| row.action == action);
    rows.filter_map(of).collect()
}

fn change(material: &Material<'_>, md: Markdown<'_>) -> String {
    let accepted = suggestions(material, Action::Accept);
    if accepted.is_empty() {
        let zh = "改了什么（脚本、提示、参数）";
        return fill_in(material, zh, "the change (script, hint, parameter)");
    }
    let mut out = String::new();
    for (suggestion, _) in accepted {
        out.push_str(&format!("{}\n\n", md.text(&suggestion.title)));
        if let Some(diff) = &suggestion.diff {
            let mut diff = diff.replace('\r', "");
            if material.hide.is_some() {
                diff = match material.report.job.engine {
                    Some(JobEngine::Spark) => without_python_comments(&diff),
                    _ => without_comments(&diff),
                };
            }
            out.push_str(&format!("{}\n\n", md.diff(&diff)));
        } else {
            for (n, step) in suggestion.steps.iter().enumerate() {
                out.push_str(&format!("{}. {}\n", n + 1, md.text(step)));
            }
            out.push('\n');
        }
    }
    out
}

/// The diff of a script without the text of its comments, which may hold anything.
fn without_comments(diff: &str) -> String {
    let mut out = String::with_capacity(diff.len());
    let mut in_block = false;
    for line in diff.lines() {
        let mut quoted = false;
        let mut rest = line;
        while let Some(c) = rest.chars().next() {
            let width = c.len_utf8();
            if in_block {
                if rest.starts_with("*/") {
                    in_block = false;
                    out.push_str("*/");
                    rest = &rest[2..];
                } else {
                    rest = &rest[width..];
                }
                continue;
            }
            if !quoted && rest.starts_with("//") {
                out.push_str("// …");
                break;
            }
            if !quoted && rest.starts_with("/*") {
                in_block = true;
                out.push_str("/*");
                rest = &rest[2..];
                continue;
            }
            quoted ^= c == '"';
            out.push(c);
            rest = &rest[width..];
        }
        out.push('\n');
    }
    out
}

/// The diff of a Python script without the text of its comments.
fn without_python_comments(diff: &str) -> String {
    let mut out = String::with_capacity(diff.len());
    for line in diff.lines() {
        let mut quote = None;
        let comment = line.char_indices().find(|(_, c)| {
            match quote {
                Some(open) => quote = (open != *c).then_some(open),
                None => quote = matches!(c, '"' | '\'').then_some(*c),
            }
            *c == '#' && quote.is_none()
        });
        match comment {
            Some((at, _)) => out.push_str(&format!("{}# …\n", &line[..at])),
            None => out.push_str(&format!("{line}\n")),
        }
    }
    out
}

/// Measured results come before estimates, and are marked as measured.
fn result(material: &Material<'_>, top: &Finding) -> String {
    let language = material.report.language;
    let before = material.report.job.elapsed_seconds;
    if let (Some(before), Some(after)) = (before, material.after_seconds) {
        let text = text!(
            "改动前 {was}，改动后 {is}（{change}，实测）。",
            "{was} before the change, {is} after it ({change}, measured).",
            was = Seconds(before),
            is = Seconds(after),
            change = Change::between(before, after)
        );
        return text.into(language);
    }
    let accepted = suggestions(material, Action::Accept);
    let saved = accepted.iter().filter_map(|(_, row)| row.saved_seconds);
    let saved: Vec<f64> = saved.collect();
    if !saved.is_empty() {
        let was = before.map(Seconds);
        let was = was.map(|was| text!("改动前 {was}；", "{was} before the change; ", was = was));
        let text = text!(
            "{was}反馈记录实际节省 {sum}。",
            "{was}{sum} saved, according to the feedback.",
            was = was.unwrap_or_default(),
            sum = Seconds(saved.iter().sum())
        );
        return text.into(language);
    }
    let open = fill_in(
        material,
        "改动后的运行时间",
        "the run time after the change",
    );
    match &top.impact {
        Some(impact) => text!(
            "估计可省 {saved}，尚未实测。\n\n{open}",
            "Estimated to save {saved}; not measured yet.\n\n{open}",
            saved = Seconds(impact.seconds_saved)
        )
        .into(language),
        None => open,
    }
}

fn accepted(material: &Material<'_>, md: Markdown<'_>) -> String {
    let accepted = suggestions(material, Action::Accept);
    if accepted.is_empty() {
        return fill_in(
            material,
            "采纳了哪些建议",
            "which suggestions were accepted",
        );
    }
    let language = material.report.language;
    let line = |text: Text| {
        let stop = language.select("。", ".");
        let sentence = with_capital(without_stop(text.pick(language)));
        format!("- {sentence}{stop}\n")
    };
    let accepted = accepted.into_iter().map(|(suggestion, row)| {
        let title = md.text(&suggestion.title);
        line(match row.note.as_deref().map(|note| md.text(note)) {
            Some(note) => text!("{title}（{note}）", "{title} ({note})"),
            None => text!("{title}", "{title}"),
        })
    });
    let ignored = suggestions(material, Action::Ignore);
    let ignored = ignored.into_iter().filter_map(|(suggestion, row)| {
        let (title, note) = (md.text(&suggestion.title), md.text(row.note.as_ref()?));
        Some(line(text!(
            "未采纳：{title}（{note}）",
            "not accepted: {title} ({note})"
        )))
    });
    accepted.chain(ignored).collect()
}

fn fill_in(material: &Material<'_>, zh: &str, en: &str) -> String {
    text!("{FILL_IN}：{zh}", "{FILL_IN}: {en}").into(material.report.language)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_say_nothing_and_literals_stay() {
        let diff = "--- a/x\n+a = \"http://x\"; // secret\n /* more\n+ secrets */ b\n";
        assert_eq!(
            without_comments(diff),
            "--- a/x\n+a = \"http://x\"; // …\n /*\n*/ b\n"
        );
        let diff = "+a = \"x#1\" + '#' # secret\n+# secrets\n";
        assert_eq!(
            without_python_comments(diff),
            "+a = \"x#1\" + '#' # …\n+# …\n"
        );
    }
}
