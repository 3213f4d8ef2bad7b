use report::Language;
use serde_json::{Value, json};

use super::*;
use crate::fixture::{bare, failed, known, rows};

fn page(results: impl IntoIterator<Item = Value>, language: Language) -> String {
    let mut page = Page::new("../");
    for result in results {
        page.add(&rows(result));
    }
    markup(&page, language)
}

/// The page with slashes, which the form escapes.
fn markup(page: &Page, language: Language) -> String {
    page.render(language)
        .expect("a page")
        .replace("&#x2f;", "/")
}

/// The data of a page's script.
fn data(html: &str) -> Value {
    let begin = "<script type=\"application/json\" id=\"data\">";
    let text = html.split_once(begin).expect("data").1;
    let text = text.split_once("</script>").expect("an end").0;
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn data_of_the_page_equal_the_rows() {
    let html = page(
        [known(), known(), bare(), failed("too large")],
        Language::En,
    );
    let data = data(&html);
    let sum = |values: &Value| -> f64 {
        values
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_f64)
            .sum()
    };
    assert_eq!(sum(&data["jobs"]["avoidable"]), 180.0);
    assert_eq!(sum(&data["parts"]["seconds"]), 180.0);
    assert_eq!(data["jobs"]["run"], json!([300.0004, 300.0004, null, null]));
    assert_eq!(data["jobs"]["ending"][3], json!(3));
    assert_eq!(data["reasons"], json!(["too large"]));
    assert_eq!(data["parts"]["start"], json!([0, 3, 6, 6, 6]));
}

#[test]
fn causes_are_in_the_words_of_the_engine() {
    for (engine, title) in [
        ("spark", "too many tiny tasks"),
        ("scope", "too many tiny vertices"),
    ] {
        let mut result = known();
        result["report"]["job"]["engine"] = json!(engine);
        result["report"]["findings"][0]["cause"] = json!("parallelism.tiny_vertices");
        let data = data(&page([result], Language::En));
        assert_eq!(data["causes"][0], title, "{data}");
    }
}

#[test]
fn findings_that_one_change_fixes_are_one_cluster() {
    let mut other = known();
    other["report"]["job"]["name"] = json!("Daily_20260113");
    other["report"]["time"]["avoidable_seconds"] = json!(180.0);
    other["report"]["suggestions"][0]["title"] = json!("hint `Joined` at 180 s");
    let mut different = known();
    different["report"]["job"]["script_shape"] = json!("cc");
    let data = data(&page([known(), other, different], Language::En));
    let causes = data["clusters"]["cause"].as_array().map(Vec::len);
    assert_eq!(causes, Some(6), "{data}");
    // the advice of the costliest member, and a name that fits both
    let advice = data["clusters"]["advice"][0].as_u64().expect("advice");
    assert_eq!(
        data["suggestions"][advice as usize],
        "hint `Joined` at 180 s"
    );
    assert_eq!(data["scripts"][0], "Daily_#");
}

/// The known result as a run of `seconds` on a day.
fn run(day: u32, seconds: f64, state: &str) -> Value {
    let mut result = known();
    result["key"] = json!(format!("{day:064x}"));
    let job = &mut result["report"]["job"];
    job["submitted"] = json!(format!("2026-01-{day:02}T05:00:00Z"));
    job["elapsed_seconds"] = json!(seconds);
    job["state"] = json!(state);
    result
}

#[test]
fn slow_runs_of_a_recurring_job_and_failed_ones_are_marked() {
    let mut page = Page::new("../");
    for day in [9, 2, 3, 4, 5, 6, 7, 8] {
        let (seconds, state) = match day {
            9 => (900.0, "succeeded"),
            8 => (30.0, "failed"),
            _ => (300.0 + f64::from(day), "succeeded"),
        };
        page.add(&rows(run(day, seconds, state)));
    }
    page.mark_regressions();
    let jobs = data(&markup(&page, Language::En))["jobs"].clone();
    assert_eq!(jobs["slow"], json!([1, 0, 0, 0, 0, 0, 0, 0]));
    assert_eq!(jobs["broken"], json!([0, 0, 0, 0, 0, 0, 0, 1]));
    let usual = jobs["usual"][0].as_f64().expect("a usual time");
    assert!((302.0..=307.0).contains(&usual), "{usual}");
}

#[test]
fn costs_have_the_prices_that_are_known() {
    let mut page = Page::new("../");
    page.add(&rows(known()));
    assert_eq!(data(&markup(&page, Language::En))["prices"], json!([null]));
    page.set_prices("EUR ", [("AU-hour", 2.0), ("vertex-hour", 0.3)]);
    let data = data(&markup(&page, Language::En));
    assert_eq!(
        (&data["prices"], &data["currency"]),
        (&json!([2.0]), &json!("EUR "))
    );
}

#[test]
fn both_languages_have_every_word() {
    let html = page([known(), failed("too large")], Language::Zh);
    for expected in ["可避免的时间", "连接键存在热点值", "AU 小时", "2 个作业"] {
        assert!(html.contains(expected), "{expected}");
    }
}

#[test]
fn an_empty_batch_says_so() {
    let html = page([], Language::En);
    assert!(html.contains("There are no results yet."));
}

#[test]
fn jobs_with_pages_are_named() {
    let mut page = Page::new("../");
    page.add(&rows(known()));
    let key = format!("{:064x}", 0xabcd);
    assert_eq!(data(&markup(&page, Language::En))["paged"], json!([]));
    assert_eq!(page.costliest(5), [key.as_str()]);
    page.link_pages([key]);
    assert_eq!(data(&markup(&page, Language::En))["paged"], json!([0]));
}

mod security {
    use super::*;

    #[test]
    fn texts_of_a_job_are_never_markup_or_script() {
        let hostile =
            "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u{202e}\u{1b}[31m\"'`";
        let mut result = known();
        let report = &mut result["report"];
        for field in ["id", "name", "owner", "queue", "script_shape"] {
            report["job"][field] = json!(hostile);
        }
        report["suggestions"][0]["title"] = json!(hostile);
        report["findings"][0]["stage"] = json!(hostile);
        report["missing_information"][0]["file"] = json!(hostile);
        report["cost"]["unit"] = json!(hostile);
        let mut failure = failed(hostile);
        failure["uri"] = json!(hostile);
        let html = page([result, failure], Language::En);
        assert_eq!(html.matches("<script").count(), 2);
        assert_eq!(html.matches("</script").count(), 2);
        assert!(!html.contains("<img") && !html.contains(['\u{202e}', '\u{1b}']));
        assert!(
            data(&html)["owners"][0]
                .as_str()
                .expect("an owner")
                .contains("</script>")
        );
    }

    #[test]
    fn the_policy_allows_this_script_and_nothing_else() {
        let html = page([known()], Language::En);
        let script = html.rsplit_once("<script>").expect("a script").1;
        let script = script.split_once("</script>").expect("an end").0;
        let hash = STANDARD.encode(Sha256::digest(script));
        let policy = format!(
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'"
        );
        assert!(html.contains(&policy));
        assert!(!html.contains("http:") && !html.contains("https:"));
    }
}
