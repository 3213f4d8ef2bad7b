//! A file of a job around the place that evidence names.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::Response;
use minijinja::context;
use minijinja::value::Serde;
use report::say;
use runs::store::RunRow;
use serde::{Deserialize, Serialize};

use super::named::{Found, Named};
use crate::error::{ErrorKind, Explain, Result};
use crate::web::app::App;
use crate::web::visitor::Visitor;

/// Readable bytes of a file. Files that people read are far smaller.
const REACHABLE: usize = 64 << 20;
/// Lines before and after the place.
const AROUND: usize = 200;
/// Characters of a line: a plan may be one line.
const WIDE: usize = 2000;
/// Words of a locator that are looked for.
const WORDS: usize = 16;

#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    name: String,
    #[serde(default)]
    at: String,
}

#[derive(Serialize)]
struct Line {
    number: usize,
    text: String,
    is_meant: bool,
}

pub(super) async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    named: Named,
    Query(asked): Query<Asked>,
) -> Response {
    app.answer(visitor, move |app, visitor| {
        let Found { row, base, .. } = named.find(app)?;
        let text = text(app, &row, &asked.name)?;
        let meant = place(&text, &asked.at);
        let lines = lines(&text, meant);
        let content = context! {
            base,
            run_name => row.job_name.as_deref().unwrap_or(&row.job),
            name => asked.name,
            at => asked.at,
            meant => meant.is_some(),
            lines => Serde(&lines),
            all => text.lines().count(),
        };
        app.page(visitor, "file.html", content)
    })
    .await
}

fn text(app: &App, row: &RunRow, name: &str) -> Result<String> {
    let folder = app.roots.folder(&row.job)?;
    let reader = job::open(&folder, &job::Options::default())?;
    let hint = say!(
        "报告列出了读取过的文件",
        "the report lists the files that were read"
    );
    reader.text(name, REACHABLE).explain(ErrorKind::Input, hint)
}

/// The lines around `meant`, or the first lines.
fn lines(text: &str, meant: Option<usize>) -> Vec<Line> {
    let first = meant.map_or(0, |line| line.saturating_sub(AROUND));
    let all = text.lines().enumerate().skip(first).take(2 * AROUND + 1);
    let line = |(at, text): (usize, &str)| Line {
        number: at + 1,
        text: text.chars().take(WIDE).collect(),
        is_meant: Some(at) == meant,
    };
    all.map(line).collect()
}

/// Index of the line of a locator: `line N`, or the line with the last of the locator's words that occur one after the
/// other.
fn place(text: &str, locator: &str) -> Option<usize> {
    let mut words = locator
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty());
    if let Some(number) = locator
        .strip_prefix("line ")
        .or(locator.strip_prefix("lines "))
    {
        let digits = number.split(|c: char| !c.is_ascii_digit()).next()?;
        return digits.parse::<usize>().ok()?.checked_sub(1);
    }
    let first = words.next()?;
    let mut at = text.find(first)?;
    for word in words.take(WORDS) {
        if let Some(next) = text[at..].find(word) {
            at += next;
        }
    }
    Some(text[..at].matches('\n').count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locators_of_each_kind_lead_to_their_line() {
        let plan = "<plan>\n<stage name='SV1'>\n<Sort opId='4'/>\n</stage>\n<stage name='SV3_Combine'>\n<Sort opId='4'/>\n<Sort opId='5' rowCount='9'/>\n";
        for (locator, expected) in [
            ("line 3", Some(2)),
            ("lines 2-4", Some(1)),
            ("line 0", None),
            ("SV3_Combine/Sort[@opId=5]/@rowCount", Some(6)),
            ("SV3_Combine", Some(4)),
            ("/nowhere/0", None),
            ("", None),
        ] {
            assert_eq!(place(plan, locator), expected, "{locator}");
        }
    }
}
