//! The sections of a case.

use std::collections::BTreeSet;

use super::material::{Material, capital, title};
use super::{FILL_IN, section};
use crate::store::{Action, FeedbackRow};
use crate::wording::{bytes, duration};
use report::format::figure;
use report::{Finding, Language, Report, Suggestion};

/// Evidence told per finding; the rest is in the report.
const EVIDENCE: usize = 5;
/// Inputs told; a case is about few of them.
const INPUTS: usize = 4;

/// Title and sections, as Markdown.
pub(super) fn body(material: &Material<'_>, top: &Finding) -> String {
    let language = material.report.language;
    let parts = [
        shape(material),
        symptoms(material.report),
        diagnosis(material.report),
        change(material),
        result(material, top),
        accepted(material),
    ];
    let mut out = format!("\n# {}\n", title(material, top));
    for (index, text) in parts.iter().enumerate() {
        out.push_str(&format!(
            "\n## {}\n\n{}\n",
            section(index, language),
            text.trim_end()
        ));
    }
    out
}

fn shape(material: &Material<'_>) -> String {
    let report = material.report;
    let zh = report.language == Language::Zh;
    let mut facts: Vec<String> = Vec::new();
    let mut add = |value: Option<String>, in_zh: &str, in_en: &str| {
        if let Some(value) = value {
            facts.push(if zh {
                format!("{value} {in_zh}")
            } else {
                format!("{value} {in_en}")
            });
        }
    };
    add(report.job.stages.map(|n| n.to_string()), "个阶段", "stages");
    add(
        report.job.vertices.map(|n| figure(n as f64)),
        "个顶点",
        "vertices",
    );
    let tokens = material.shape.and_then(|s| s.job.tokens);
    add(tokens.map(|n| n.to_string()), "个令牌", "tokens");
    add(
        report.job.elapsed_seconds.map(duration),
        "运行时间",
        "run time",
    );
    let mut out = facts.join(if zh { "，" } else { ", " }) + if zh { "。\n" } else { ".\n" };
    let Some(shape) = material.shape else {
        return out;
    };
    let mut inputs: Vec<_> = shape.inputs.iter().collect();
    inputs.sort_by_key(|i| std::cmp::Reverse(i.bytes.or(i.rows)));
    for input in inputs.into_iter().take(INPUTS) {
        let rows = input
            .rows
            .map(|n| format!("{} {}", figure(n as f64), if zh { "行" } else { "rows" }));
        let size = input.bytes.map(|n| bytes(n as f64));
        let facts: Vec<String> = [rows, size, input.layout.clone().filter(|l| l != "none")]
            .into_iter()
            .flatten()
            .collect();
        out.push_str(&format!("\n- `{}`: {}", input.name, facts.join(", ")));
    }
    if !shape.edges.is_empty() {
        let (before, between) = if zh {
            ("阶段图：", "；")
        } else {
            ("Stages: ", "; ")
        };
        let edge = |e: &crate::shape::EdgeShape| {
            let keys = if e.keys.is_empty() {
                String::new()
            } else {
                format!(" {}", e.keys.join(", "))
            };
            format!("`{}` → `{}` ({}{keys})", e.from, e.to, e.exchange)
        };
        let edges: Vec<String> = shape.edges.iter().take(12).map(edge).collect();
        out.push_str(&format!("\n\n{before}{}.", edges.join(between)));
    }
    out
}

fn symptoms(report: &Report) -> String {
    let mut out = String::new();
    let mut told: BTreeSet<&str> = BTreeSet::new();
    for finding in &report.findings {
        let mine = report
            .evidence
            .iter()
            .filter(|e| finding.evidence.contains(&e.id) && told.insert(e.id.as_str()));
        for item in mine.take(EVIDENCE) {
            let expected = item
                .expected
                .as_ref()
                .map(|e| match report.language {
                    Language::Zh => format!("（正常应为 {e}）"),
                    Language::En => format!(" (expected {e})"),
                })
                .unwrap_or_default();
            out.push_str(&format!(
                "- {}{expected}; `{}`.\n",
                item.text, item.source.file
            ));
        }
    }
    out
}

fn diagnosis(report: &Report) -> String {
    let zh = report.language == Language::Zh;
    let line = |f: &Finding| {
        let confidence = f.confidence * 100.0;
        let stop = if zh { "。" } else { "." };
        let summary = f.summary.trim_end_matches(['.', '。']);
        if zh {
            format!(
                "- `{}`（置信度 {confidence:.0} %）：{summary}{stop}\n",
                f.cause
            )
        } else {
            format!(
                "- `{}` (confidence {confidence:.0} %): {summary}{stop}\n",
                f.cause
            )
        }
    };
    report.findings.iter().map(line).collect()
}

fn suggestions<'a>(
    material: &Material<'a>,
    action: Action,
) -> Vec<(&'a Suggestion, &'a FeedbackRow)> {
    let of = |row: &'a FeedbackRow| {
        let found = material
            .report
            .suggestions
            .iter()
            .find(|s| s.id == row.suggestion)?;
        Some((found, row))
    };
    material
        .feedback
        .iter()
        .filter(|row| row.action == action)
        .filter_map(of)
        .collect()
}

fn change(material: &Material<'_>) -> String {
    let taken = suggestions(material, Action::Accept);
    if taken.is_empty() {
        return fill_in(
            material,
            "改了什么（脚本、提示、参数）",
            "what was changed (script, hint, parameter)",
        );
    }
    let mut out = String::new();
    for (suggestion, _) in taken {
        out.push_str(&format!("{}\n\n", suggestion.title));
        match &suggestion.diff {
            Some(diff) => {
                let mut diff = diff.replace('\r', "");
                if material.redact {
                    diff = without_comments(&diff);
                }
                out.push_str(&format!("```diff\n{}\n```\n\n", diff.trim_end()));
            }
            None => {
                for (n, step) in suggestion.steps.iter().enumerate() {
                    out.push_str(&format!("{}. {step}\n", n + 1));
                }
                out.push('\n');
            }
        }
    }
    out
}

/// The diff of a script without what its comments say: nobody knows what stands there.
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

/// What was measured goes before what was estimated, and is told apart from it.
fn result(material: &Material<'_>, top: &Finding) -> String {
    let zh = material.report.language == Language::Zh;
    let before = material.report.job.elapsed_seconds;
    if let (Some(before), Some(after)) = (before, material.after_seconds) {
        let (was, is, by) = (
            duration(before),
            duration(after),
            duration((before - after).abs()),
        );
        let share = (before - after).abs() / before.max(f64::MIN_POSITIVE) * 100.0;
        return match (zh, after <= before) {
            (true, true) => format!("改动前 {was}，改动后 {is}：省 {by}，{share:.0} %（实测）。"),
            (true, false) => {
                format!("改动前 {was}，改动后 {is}：慢了 {by}，{share:.0} %（实测）。")
            }
            (false, true) => format!(
                "{was} before the change, {is} after it: {by} or {share:.0} % less, measured."
            ),
            (false, false) => format!(
                "{was} before the change, {is} after it: {by} or {share:.0} % more, measured."
            ),
        };
    }
    let saved: Vec<f64> = suggestions(material, Action::Accept)
        .iter()
        .filter_map(|(_, row)| row.saved_seconds)
        .collect();
    if !saved.is_empty() {
        let sum = duration(saved.iter().sum());
        return match (zh, before.map(duration)) {
            (true, Some(was)) => format!("改动前 {was}；反馈记录实际省 {sum}。"),
            (true, None) => format!("反馈记录实际省 {sum}。"),
            (false, Some(was)) => {
                format!("{was} before the change; {sum} saved, as given with the feedback.")
            }
            (false, None) => format!("{sum} saved, as given with the feedback."),
        };
    }
    let estimate = top.impact.as_ref().map(|i| duration(i.seconds_saved));
    let open = fill_in(
        material,
        "改动后的运行时间",
        "the run time after the change",
    );
    match (estimate, zh) {
        (Some(saved), true) => format!("估计可省 {saved}，尚未实测。\n\n{open}"),
        (Some(saved), false) => format!("Estimated to save {saved}; not measured yet.\n\n{open}"),
        (None, _) => open,
    }
}

fn accepted(material: &Material<'_>) -> String {
    let taken = suggestions(material, Action::Accept);
    if taken.is_empty() {
        return fill_in(material, "采纳了哪些建议", "which suggestions were taken");
    }
    let stop = match material.report.language {
        Language::Zh => "。",
        Language::En => ".",
    };
    let line = |text: &str| format!("- {}{stop}\n", capital(text.trim_end_matches(['.', '。'])));
    let mut out: String = taken
        .iter()
        .map(|(s, row)| match &row.note {
            Some(note) => line(&format!("{} ({note})", s.title)),
            None => line(&s.title),
        })
        .collect();
    for (suggestion, row) in suggestions(material, Action::Ignore) {
        if let Some(note) = &row.note {
            let text = match material.report.language {
                Language::Zh => format!("未采纳：{}（{note}）", suggestion.title),
                Language::En => format!("not taken: {} ({note})", suggestion.title),
            };
            out.push_str(&line(&text));
        }
    }
    out
}

fn fill_in(material: &Material<'_>, zh: &str, en: &str) -> String {
    match material.report.language {
        Language::Zh => format!("{FILL_IN}：{zh}"),
        Language::En => format!("{FILL_IN}: {en}"),
    }
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
    }
}
