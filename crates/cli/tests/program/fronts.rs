//! Each front shows the same report: a walk through the fields of the JSON report, looked for in
//! text, Markdown and HTML.

use std::path::PathBuf;

use report::format::{Seconds, Share, figure};
use report::{Cause, Language, Localize, TimeAccount};
use serde_json::Value;

use crate::support::{User, case, copy};

/// Words that a front may write between others: marks of styles, lines, tables and escapes.
fn flat(text: &str) -> String {
    let mut out = String::new();
    let mut in_tag = false;
    for c in text.chars() {
        match c {
            '<' => in_tag = true,
            '>' => in_tag = false,
            _ if in_tag => {}
            c if c.is_whitespace() || matches!(c, '\\' | '`' | '|' | '*') => {}
            c => out.push(c),
        }
    }
    out
}

/// A page without its tags and with its entities as characters.
fn page(html: &str) -> String {
    let body = html.split_once("<body").map_or(html, |(_, body)| body);
    let text = flat(body);
    [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&#39;", "'"),
        ("&#x2f;", "/"),
        ("&amp;", "&"),
    ]
    .iter()
    .fold(text, |text, (from, to)| text.replace(from, to))
}

/// The same for a text that is looked for: nothing of it is a tag.
fn wanted(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_whitespace() && !matches!(c, '\\' | '`' | '|' | '*'))
        .collect()
}

/// A number as the fronts write it.
fn number(value: &Value) -> Option<String> {
    value.as_f64().map(figure)
}

/// Everything that a front must show of a report, with the field that it is.
fn shown_everywhere(report: &Value) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    let mut add = |field: String, value: Option<String>| {
        all.extend(value.filter(|v| !v.is_empty()).map(|v| (field, v)));
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let chinese = report["language"] == "zh";
    let language = if chinese { Language::Zh } else { Language::En };
    let seconds = |value: &Value| Some(Seconds(value.as_f64()?).localize(language));
    let verdict = match (report["verdict"].as_str(), chinese) {
        (Some("problem"), true) => "发现问题",
        (Some("problem"), false) => "Problem found",
        (Some("healthy"), true) => "健康",
        (Some("healthy"), false) => "Healthy",
        (_, true) => "信息不足，暂无结论",
        (_, false) => "No conclusion possible",
    };
    add("verdict".into(), Some(verdict.to_owned()));
    let end = match (report["job"]["state"].as_str(), chinese) {
        (Some("failed"), true) => Some("失败"),
        (Some("failed"), false) => Some("failed"),
        _ => None,
    };
    add("job.state".into(), end.map(str::to_owned));
    add("run_id".into(), text(&report["run_id"]));
    add("job.name".into(), text(&report["job"]["name"]));
    add(
        "job.elapsed_seconds".into(),
        seconds(&report["job"]["elapsed_seconds"]),
    );
    add("question".into(), text(&report["question"]));
    let title = |code: &Value| Some(Cause::from_code(code.as_str()?)?.title().localize(language));
    add("headline".into(), title(&report["findings"][0]["cause"]));
    add(
        "cost.vertex_hours".into(),
        number(&report["cost"]["vertex_hours"]),
    );
    if let Ok(time) = serde_json::from_value::<TimeAccount>(report["time"].clone()) {
        let total = Seconds(time.total_seconds()).localize(language);
        add("time".into(), Some(total));
        let avoidable = time.avoidable_seconds.filter(|seconds| *seconds > 0.0);
        add(
            "time.avoidable_seconds".into(),
            avoidable.map(|s| Seconds(s).localize(language)),
        );
        let segments = time.segments.iter();
        let longest = segments.max_by(|a, b| a.seconds.total_cmp(&b.seconds));
        add(
            "time.segments".into(),
            longest.map(|s| s.kind.title().localize(language)),
        );
    }
    for list in [
        "findings",
        "suggestions",
        "experiences",
        "missing_information",
        "diagnostics",
    ] {
        for (n, item) in report[list].as_array().into_iter().flatten().enumerate() {
            let at = |field: &str| format!("{list}[{n}].{field}");
            match list {
                "findings" => {
                    for field in ["id", "cause", "stage", "summary"] {
                        add(at(field), text(&item[field]));
                    }
                    if let Some([first, last]) = item["script_lines"].as_array().map(Vec::as_slice)
                    {
                        let lines = if first == last {
                            first.to_string()
                        } else {
                            format!("{first}–{last}")
                        };
                        add(at("script_lines"), Some(lines));
                    }
                    let confidence = item["confidence"].as_f64();
                    let percent = confidence.map(|c| Share(c).localize(language));
                    add(at("confidence"), percent);
                    add(
                        at("impact.seconds_saved"),
                        seconds(&item["impact"]["seconds_saved"]),
                    );
                }
                "suggestions" => {
                    for field in ["id", "finding", "title", "gain"] {
                        add(at(field), text(&item[field]));
                    }
                    for field in ["steps", "pros", "cons", "sources"] {
                        for part in item[field].as_array().into_iter().flatten() {
                            add(at(field), text(part));
                        }
                    }
                    for line in item["diff"].as_str().into_iter().flat_map(str::lines) {
                        add(at("diff"), Some(line.to_owned()));
                    }
                }
                "experiences" if item["rank"] == 1 => {
                    for field in ["chunk", "title"] {
                        add(at(field), text(&item[field]));
                    }
                }
                "missing_information" => {
                    for field in ["info", "file", "reason"] {
                        add(at(field), text(&item[field]));
                    }
                    for cause in item["would_decide"].as_array().into_iter().flatten() {
                        add(at("would_decide"), title(cause));
                    }
                }
                "diagnostics" => {
                    for field in ["file", "message", "hint"] {
                        add(at(field), text(&item[field]));
                    }
                }
                _ => {}
            }
        }
    }
    let cited: Vec<&Value> = report["findings"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|f| f["evidence"].as_array().into_iter().flatten())
        .collect();
    for item in report["evidence"].as_array().into_iter().flatten() {
        if !cited.contains(&&item["id"]) {
            continue;
        }
        let at = |field: &str| format!("evidence[{}].{field}", item["id"]);
        add(at("id"), text(&item["id"]));
        add(at("metric"), text(&item["metric"]));
        add(
            at("value"),
            number(&item["value"]).or_else(|| text(&item["value"])),
        );
        add(at("expected"), text(&item["expected"]));
        add(at("source.file"), text(&item["source"]["file"]));
        add(at("source.locator"), text(&item["source"]["locator"]));
        add(at("text"), text(&item["text"]));
    }
    all
}

#[test]
fn every_front_shows_every_field_of_the_report() {
    let user = User::new();
    let mut lacking = Vec::new();
    let mut looked_for = 0;
    let jobs = [
        "join-hot-key-skew",
        "excessive-shuffle",
        "healthy",
        "user-code-failure",
        "vertex-retries",
        "small-files",
    ];
    for name in jobs {
        for language in ["zh", "en"] {
            let question = if language == "zh" {
                "为什么这么慢？"
            } else {
                "Why is it slow?"
            };
            // Without the profile some rules lack their facts.
            let job = without_profile(&user, name, language == "en");
            let flags = format!("--lang {language} --question '{question}'");
            let report = user.report(&job, &flags);
            let run = report["run_id"].as_str().expect("run").to_owned();
            for format in ["text", "markdown", "html"] {
                let line = format!("runs show {run} --format {format} --color never");
                let raw = user.run_plain(&line).text();
                let seen = match format {
                    "html" => page(&raw),
                    _ => wanted(&raw),
                };
                for (field, value) in shown_everywhere(&report) {
                    looked_for += 1;
                    if !seen.contains(&wanted(&value)) {
                        lacking.push(format!("{name} {language} {format}: {field} `{value}`"));
                    }
                }
            }
        }
    }
    assert!(
        looked_for > 2_000,
        "only {looked_for} fields were looked for"
    );
    lacking.dedup();
    assert!(
        lacking.is_empty(),
        "{} of {looked_for} fields are not shown:\n{}",
        lacking.len(),
        lacking.join("\n")
    );
}

/// A copy of a case, complete or without its vertex events.
fn without_profile(user: &User, name: &str, complete: bool) -> PathBuf {
    let folder = user.path(&format!("{name}-{complete}"));
    copy(&case(name), &folder);
    if !complete && folder.join("profile").exists() {
        std::fs::remove_file(folder.join("profile")).expect("removed");
    }
    folder
}
