//! The page's markup, filled in.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use minijinja::context;
use minijinja::value::Value;
use render::html::{FRAME, PALETTE, escape};
use report::format::JOB;
use report::{Localize, text};

use super::PageError;
use super::collect::Collected;
use super::words::Words;

const FORM: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");

/// Everything but script, style and data is escaped.
pub(super) fn fill(
    collected: &Collected,
    words: Words,
    script: &str,
    hash: &str,
    data: String,
) -> Result<String, PageError> {
    let mut environment = escape::environment();
    let (frame, source) = FRAME;
    environment.add_template(frame, source)?;
    environment.add_template("page.html", FORM)?;
    environment.add_function("word", move |name: &str| words.get(name).to_owned());
    let safe = |text: String| Value::from_safe_string(text);
    let page = environment.get_template("page.html")?.render(context! {
        jobs => collected.jobs.len(),
        facts => facts(collected, words),
        language => words.0.code(),
        style => safe(format!("{PALETTE}{STYLE}")),
        script => safe(script.to_owned()),
        script_hash => hash,
        data => safe(data),
    })?;
    Ok(page)
}

/// Number of jobs, first and last day of submission, jobs without a result.
fn facts(collected: &Collected, words: Words) -> Vec<String> {
    let mut facts = vec![JOB.count(collected.jobs.len() as f64).localize(words.0)];
    let days = collected.jobs.iter().filter_map(|job| job.submitted);
    if let (Some(first), Some(last)) = (days.clone().min(), days.max()) {
        facts.push(format!("{} – {}", day(first), day(last)));
    }
    if collected.pending > 0 {
        let pending = JOB.count(collected.pending as f64);
        let pending = text!(
            "另有 {pending}尚无结果",
            "{pending} without a result yet",
            pending = pending
        );
        facts.push(pending.into(words.0));
    }
    facts
}

fn day(second: i64) -> String {
    let at = Timestamp::from_second(second).unwrap_or_default();
    at.to_zoned(TimeZone::UTC).date().to_string()
}
