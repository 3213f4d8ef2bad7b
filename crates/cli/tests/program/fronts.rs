//! Each front shows the same report: a walk through the fields of the JSON report, looked for in
//! text, Markdown and HTML.

use report::format::{Seconds, Share, figure, with_unit};
use report::{Cause, Language, Localize, TimeAccount};
use serde_json::Value;

use crate::support::{User, case, copy};

/// Removes everything that a front end may write between words: white space, and marks of styles,
/// tables and escapes.
fn wanted(text: &str) -> String {
    let is_mark = |c: char| c.is_whitespace() || matches!(c, '\\' | '`' | '|' | '*');
    text.replace(is_mark, "")
}

/// A page without its tags and with its entities as characters.
fn page(html: &str) -> String {
    let body = html.split_once("<body").map_or(html, |(_, body)| body);
    let texts = body
        .split('<')
        .map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&#39;", "'"),
        ("&#x2f;", "/"),
        ("&amp;", "&"),
    ];
    let text = wanted(&texts.collect::<String>());
    entities
        .iter()
        .fold(text, |text, (from, to)| text.replace(from, to))
}

/// Texts that each front must show of every item in a list.
const SHOWN: [(&str, &str); 4] = [
    ("findings", "id cause stage summary"),
    (
        "suggestions",
        "id finding title gain steps pros cons sources",
    ),
    ("missing_information", "info file reason would_decide"),
    ("diagnostics", "file message hint"),
];

/// The texts of a value: of a text itself, or of a list of them.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        _ => value.as_str().map(str::to_owned).into_iter().collect(),
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Everything that a front must show of a report, with the field that it is.
fn shown_everywhere(report: &Value) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    let mut add = |field: String, values: Vec<String>| {
        let shown = values.into_iter().filter(|v| !v.is_empty());
        all.extend(shown.map(|value| (field.clone(), value)));
    };
    let language = match report["language"].as_str() {
        Some("zh") => Language::Zh,
        _ => Language::En,
    };
    let seconds = |value: &Value| {
        let seconds = value.as_f64().map(|s| Seconds(s).localize(language));
        seconds.into_iter().collect()
    };
    let verdict = match report["verdict"].as_str() {
        Some("problem") => language.select("发现问题", "Problem found"),
        Some("healthy") => language.select("健康", "Healthy"),
        _ => language.select("信息不足，暂无结论", "No conclusion possible"),
    };
    add("verdict".into(), vec![verdict.to_owned()]);
    if report["job"]["state"] == "failed" {
        let end = language.select("失败", "failed");
        add("job.state".into(), vec![end.to_owned()]);
    }
    add("run_id".into(), texts(&report["run_id"]));
    add("job.name".into(), texts(&report["job"]["name"]));
    let elapsed = &report["job"]["elapsed_seconds"];
    add("job.elapsed_seconds".into(), seconds(elapsed));
    add("question".into(), texts(&report["question"]));
    add("answer".into(), texts(&report["answer"]["text"]));
    let titles = |codes: &Value| -> Vec<String> {
        let codes = texts(codes);
        let causes = codes.iter().filter_map(|code| Cause::from_code(code));
        causes
            .map(|cause| cause.title().localize(language))
            .collect()
    };
    add("headline".into(), titles(&report["findings"][0]["cause"]));
    let hours = report["cost"]["vertex_hours"].as_f64().map(figure);
    add("cost.vertex_hours".into(), hours.into_iter().collect());
    if let Ok(time) = serde_json::from_value::<TimeAccount>(report["time"].clone()) {
        let avoidable = time.avoidable_seconds.filter(|seconds| *seconds > 0.0);
        let shown = [Some(time.total_seconds()), avoidable]
            .into_iter()
            .flatten();
        let shown = shown.map(|s| Seconds(s).localize(language)).collect();
        add("time and time.avoidable_seconds".into(), shown);
        let segments = time.segments.iter();
        let longest = segments.max_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let longest = longest.map(|s| s.kind.title().localize(language));
        add("time.segments".into(), longest.into_iter().collect());
    }
    for (name, fields) in SHOWN {
        for (n, item) in list(&report[name]).enumerate() {
            let at = |field: &str| format!("{name}[{n}].{field}");
            for field in fields.split(' ') {
                let shown = match field {
                    "would_decide" => titles(&item[field]),
                    _ => texts(&item[field]),
                };
                add(at(field), shown);
            }
            for setting in list(&item["settings"]) {
                for field in ["key", "current", "suggested", "reason"] {
                    add(at(&format!("settings.{field}")), texts(&setting[field]));
                }
            }
            let diff = item["diff"].as_str().into_iter().flat_map(str::lines);
            add(at("diff"), diff.map(str::to_owned).collect());
            if let Some([first, last]) = item["script_lines"].as_array().map(Vec::as_slice) {
                let lines = format!("{first}–{last}");
                let lines = if first == last {
                    first.to_string()
                } else {
                    lines
                };
                add(at("script_lines"), vec![lines]);
            }
            let confidence = item["confidence"].as_f64();
            let confidence = confidence.map(|c| Share(c).localize(language));
            add(at("confidence"), confidence.into_iter().collect());
            let saved = &item["impact"]["seconds_saved"];
            add(at("impact.seconds_saved"), seconds(saved));
        }
    }
    // The best experience of a step comes first and is checked for all; a document is named once, and a
    // terminal may be too narrow for its whole title.
    for item in list(&report["experiences"]).filter(|e| e["rank"] == 1) {
        let before = |field: &str, mark: &str| {
            let text = item[field].as_str()?;
            text.split(mark).next().map(str::to_owned)
        };
        let title = before("title", " › ").map(|title| title.chars().take(8).collect());
        add(
            "experiences.chunk".into(),
            before("chunk", "#").into_iter().collect(),
        );
        add("experiences.title".into(), title.into_iter().collect());
    }
    let cited: Vec<&Value> = list(&report["findings"])
        .flat_map(|f| list(&f["evidence"]))
        .collect();
    for item in list(&report["evidence"]).filter(|e| cited.contains(&&e["id"])) {
        let at = |field: &str| format!("evidence[{}].{field}", item["id"]);
        for field in ["id", "metric", "value", "text"] {
            add(at(field), texts(&item[field]));
        }
        let limit = |text: String| text.trim_start_matches(['<', '>', '=', ' ']).to_owned();
        let limits = texts(&item["expected"]).into_iter().map(limit);
        add(at("expected"), limits.collect());
        let number = item["value"].as_f64().map(|n| match item["unit"].as_str() {
            Some(unit) if unit != "count" => with_unit(n, unit, language),
            _ => figure(n),
        });
        add(at("value"), number.into_iter().collect());
        for field in ["file", "locator"] {
            add(at(field), texts(&item["source"][field]));
        }
    }
    all
}

#[test]
fn every_front_shows_every_field_of_the_report() {
    let user = User::new();
    let mut lacking = Vec::new();
    let mut looked_for = 0;
    let jobs =
        "join-hot-key-skew excessive-shuffle healthy user-code-failure vertex-retries small-files";
    for name in jobs.split(' ') {
        for (language, question) in [("zh", "为什么这么慢？"), ("en", "Why is it slow?")] {
            // Without the profile some rules lack their facts.
            let job = user.path(&format!("{name}-{language}"));
            copy(&case(name), &job);
            if language == "zh" && job.join("profile").exists() {
                std::fs::remove_file(job.join("profile")).expect("removed");
            }
            let flags = format!("--lang {language} --question '{question}'");
            let report = user.report(&job, &flags);
            let run = report["run_id"].as_str().expect("run");
            for format in ["text", "markdown", "html"] {
                let line = format!("runs show {run} --verbose --format {format} --color never");
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
    assert!(looked_for > 2_000, "only {looked_for} fields");
    lacking.dedup();
    let shown = lacking.is_empty();
    assert!(shown, "not shown of {looked_for}:\n{}", lacking.join("\n"));
}
