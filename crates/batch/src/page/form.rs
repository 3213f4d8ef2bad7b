//! The page's markup, filled in.

use minijinja::context;
use minijinja::value::{Serde, Value};

use render::html::{FRAME, PALETTE, escape};

use super::PageError;
use super::view::View;
use super::words::Words;

const FORM: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");

/// Everything but script, style and data is escaped.
pub(super) fn fill(
    view: &View<'_>,
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
        view => Value::from(Serde(view)),
        language => words.0.code(),
        style => safe(format!("{PALETTE}{STYLE}")),
        script => safe(script.to_owned()),
        script_hash => hash,
        data => safe(data),
    })?;
    Ok(page)
}
