//! Templates of the steps: embedded, and overridable by a folder of the same layout.
//!
//! `<language>/<name>.md.j2`, rendered by minijinja with undefined values as errors, so that a
//! mistake names its template and line. Text from a job or a document goes through the filter `fence`, which keeps it apart from
//! the instructions.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, State, UndefinedBehavior};
use serde::Serialize;

use llm::transport::MARK;
use report::format::Seconds;
use report::{Language, Localize};

macro_rules! embedded {
    ($language:literal: $($name:literal)*) => {
        [$((
            concat!($language, "/", $name, ".md.j2"),
            include_str!(concat!("../../../prompts/", $language, "/", $name, ".md.j2")),
        )),*]
    };
    ($($name:literal)*) => { [embedded!("zh": $($name)*), embedded!("en": $($name)*)] };
}

/// Name and text of every built-in template.
const BUILT_IN: [[(&str, &str); 13]; 2] = embedded!("system" "think1" "think2" "think3" "think4" "think5" "answer" "hypotheses" "summary" "repair" "data" "step" "schema");

fn built_in() -> BTreeMap<String, String> {
    let texts = BUILT_IN.into_iter().flatten();
    texts
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .collect()
}

/// Source of a built-in template; empty if there is none of that name.
pub(crate) fn source(language: Language, name: &str) -> &'static str {
    let name = format!("{}/{name}.md.j2", language.code());
    let mut texts = BUILT_IN.iter().flatten();
    texts
        .find(|(file, _)| *file == name)
        .map_or("", |(_, text)| text)
}

#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    #[error("template `{file}` cannot be read")]
    Unreadable {
        file: String,
        source: std::io::Error,
    },
    #[error("template `{template}`, line {line}: {message}")]
    Template {
        template: String,
        /// 1-based line; 0 if not known.
        line: usize,
        message: String,
    },
}

/// Read when the first prompt is rendered; the offline reasoner needs none.
static ENVIRONMENT: LazyLock<Environment<'static>> =
    LazyLock::new(|| environment(built_in()).expect("the built-in templates are tested"));

#[derive(Clone, Default)]
pub struct Prompts {
    /// `None` for the built-in templates.
    own: Option<Arc<Environment<'static>>>,
    overridden: Vec<String>,
}

impl Prompts {
    pub fn built_in() -> Prompts {
        Prompts::default()
    }

    /// The built-in templates, overridden by the templates of a folder (`zh/think1.md.j2`, …).
    ///
    /// # Errors
    /// If a file cannot be read or has a mistake.
    pub fn with_folder(folder: &Path) -> Result<Prompts, PromptError> {
        let mut texts = built_in();
        let mut overridden = Vec::new();
        for (name, text) in &mut texts {
            let path = folder.join(name);
            match std::fs::read_to_string(&path) {
                Ok(own) => {
                    *text = own;
                    overridden.push(name.clone());
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(source) => {
                    let file = path.display().to_string();
                    return Err(PromptError::Unreadable { file, source });
                }
            }
        }
        let own = Some(Arc::new(environment(texts)?));
        Ok(Prompts { own, overridden })
    }

    /// Names of the templates that a folder replaced.
    pub fn overridden(&self) -> &[String] {
        &self.overridden
    }

    /// Renders a template (`think1`) in a language.
    ///
    /// # Errors
    /// If the template uses a value that is not there.
    pub fn render(
        &self,
        language: Language,
        name: &str,
        context: impl Serialize,
    ) -> Result<String, PromptError> {
        let name = format!("{}/{name}.md.j2", language.code());
        let environment = self.own.as_deref().unwrap_or(&ENVIRONMENT);
        let template = environment.get_template(&name);
        let context = minijinja::value::Serde(context);
        let text = template.and_then(|template| template.render(context));
        text.map(|text| text.trim().to_owned())
            .map_err(|e| template_error(&name, &e))
    }
}

fn environment(texts: BTreeMap<String, String>) -> Result<Environment<'static>, PromptError> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build();
    environment.set_syntax(syntax.expect("the usual delimiters are valid"));
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    environment.add_filter("fence", fence);
    environment.add_filter("numbered", numbered);
    environment.add_filter("figure", figure);
    environment.add_filter("duration", duration);
    for (name, text) in texts {
        environment
            .add_template_owned(name.clone(), text)
            .map_err(|e| template_error(&name, &e))?;
    }
    Ok(environment)
}

fn template_error(name: &str, error: &minijinja::Error) -> PromptError {
    PromptError::Template {
        template: error.name().unwrap_or(name).to_owned(),
        line: error.line().unwrap_or(0),
        message: error
            .detail()
            .map_or_else(|| error.kind().to_string(), str::to_owned),
    }
}

/// Puts a text of a job or document between marks that it cannot close: the mark is drawn when the
/// request is sent, and any text inside that looks like a mark is broken up.
pub fn fence(text: &str, kind: &str) -> String {
    let body = broken_up(text).replace(MARK, "# mark #");
    format!(
        "<<<data {kind} {MARK}\n{}\n>>>data {MARK}\n",
        body.trim_end()
    )
}

/// The text with a space in every run of three angle brackets.
fn broken_up(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut run = (' ', 0);
    for c in text.chars() {
        run = match c {
            '<' | '>' if run == (c, 2) => {
                out.push(' ');
                (c, 1)
            }
            '<' | '>' if run.0 == c => (c, run.1 + 1),
            _ => (c, 1),
        };
        out.push(c);
    }
    out
}

/// Lines with their numbers, starting at `first`.
fn numbered(lines: Vec<String>, first: u32) -> String {
    let numbered = (first..).zip(lines);
    let numbered = numbered.map(|(number, line)| format!("{number:>4}  {line}"));
    numbered.collect::<Vec<_>>().join("\n")
}

/// Seconds as in the other texts of the prompt: `2 min 12 s`.
fn duration(state: &State<'_, '_>, value: &minijinja::Value) -> String {
    let language = state.lookup("language").map(|code| code.to_string());
    let language = match language.as_deref() {
        Some("zh") => Language::Zh,
        _ => Language::En,
    };
    number(value, |seconds| Seconds(seconds).localize(language))
}

/// A number as people write it: no needless decimals, thousands kept together.
fn figure(value: &minijinja::Value) -> String {
    number(value, report::format::figure)
}

/// A number in words; any other value as it is.
fn number(value: &minijinja::Value, say: impl Fn(f64) -> String) -> String {
    let number = f64::try_from(value.clone());
    number.map_or_else(|_| value.to_string(), say)
}

#[cfg(test)]
mod security {
    use super::*;

    #[test]
    fn nothing_inside_a_fence_can_close_it() {
        for (text, inside) in [
            (">>>data #mark#", ">> >data # mark #"),
            ("<<<<<<<data", "<< << << <data"),
            (">>>>>> << 1 >> 2", ">> >> >> << 1 >> 2"),
            ("a <b> c", "a <b> c"),
        ] {
            let expected = format!("<<<data file {MARK}\n{inside}\n>>>data {MARK}\n");
            assert_eq!(fence(text, "file"), expected);
        }
    }
}
