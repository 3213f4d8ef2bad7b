//! Whole reports on the committed cases as a reader sees them. After a change of wording,
//! `INSTA_UPDATE=always cargo test -p scopeagent --test program golden` writes them anew: read the diff.

use std::path::Path;
use std::sync::LazyLock;

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{Answer, User, items, root, words};

/// A report about a committed case in its folder. The knowledge is a small copy, so that no edit of a playbook
/// changes these reports.
fn report(case: &str, language: &str, format: &str) -> String {
    static READER: LazyLock<User> = LazyLock::new(User::new);
    let mut command = READER.program();
    command
        .current_dir(root().join("tests/cases").join(case))
        .arg("--knowledge")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/knowledge"))
        .arg("--index")
        .arg(READER.path("index"))
        .args(words("--quiet analyze job --no-store"))
        .args(["--lang", language, "--format", format]);
    Answer::of(&mut command).text()
}

/// A page has an anchor per finding, suggestion, script line and cited document, every item of evidence, and balanced tags.
fn has_the_parts_of_the_report(page: &str, case: &str, language: &str) {
    let report: Value = serde_json::from_str(&report(case, language, "json")).expect("JSON");
    let has = |part: String| assert!(page.contains(&part), "{case}: {part}");
    has(format!("<html lang=\"{language}\">"));
    for list in ["findings", "suggestions"] {
        let ids = items(&report[list])
            .iter()
            .filter_map(|of| of["id"].as_str());
        ids.for_each(|id| has(format!("id=\"{id}\"")));
    }
    for finding in items(&report["findings"]) {
        let cited = items(&finding["evidence"]).iter().filter_map(Value::as_str);
        cited.for_each(|id| has(format!("<span class=\"id\">{id}</span>")));
    }
    for link in page.split("href=\"#").skip(1) {
        has(format!(
            "id=\"{}\"",
            link.split('"').next().unwrap_or_default()
        ));
    }
    for tag in [
        "section", "article", "details", "table", "tr", "svg", "ul", "dl",
    ] {
        let count = |start: String| page.matches(&start).count();
        let opened = count(format!("<{tag}>")) + count(format!("<{tag} "));
        assert_eq!(opened, count(format!("</{tag}>")), "{case}: <{tag}>");
    }
}

fn check(case: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../golden");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.add_filter(r"\b01[0-9A-HJKMNP-TV-Z]{24}\b", "[run]");
    settings.add_filter(
        r"<small>[0-9.]+ (ms|s|毫秒|秒)</small>",
        "<small>[time]</small>",
    );
    settings.add_filter(r"(?s)<style>.*?</style>", "<style>…</style>");
    settings.bind(|| {
        for language in ["en", "zh"] {
            for format in ["text", "markdown"] {
                let name = format!("{case}-{language}.{format}");
                assert_snapshot!(name, report(case, language, format));
            }
            let page = report(case, language, "html");
            has_the_parts_of_the_report(&page, case, language);
            if (case, language) == ("join-hot-key-skew", "en") {
                assert_snapshot!("join-hot-key-skew-en.html", page);
            }
        }
    });
}

#[test]
fn hot_key_in_a_join() {
    check("join-hot-key-skew");
}

#[test]
fn redundant_shuffle() {
    check("excessive-shuffle");
}

#[test]
fn late_filter() {
    check("late-filter");
}

#[test]
fn exception_in_user_code() {
    check("user-code-failure");
}

#[test]
fn healthy_although_it_looks_skewed() {
    check("near-join-hot-key-skew");
}

#[test]
fn insufficient_information() {
    check("withheld-join-hot-key-skew");
}
