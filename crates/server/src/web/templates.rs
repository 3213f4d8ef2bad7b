//! Templates of the pages, and their static files.

use minijinja::Environment;
use report::Language;

use super::phrases;

const TEMPLATES: [(&str, &str); 17] = [
    ("layout.html", include_str!("templates/layout.html")),
    ("runs.html", include_str!("templates/runs.html")),
    ("batches.html", include_str!("templates/batches.html")),
    (
        "batch-title.html",
        include_str!("templates/batch-title.html"),
    ),
    ("clusters.html", include_str!("templates/clusters.html")),
    ("filters.html", include_str!("templates/filters.html")),
    ("pages.html", include_str!("templates/pages.html")),
    ("run.html", include_str!("templates/run.html")),
    ("turn.html", include_str!("templates/turn.html")),
    ("progress.html", include_str!("templates/progress.html")),
    ("analyze.html", include_str!("templates/analyze.html")),
    ("compare.html", include_str!("templates/compare.html")),
    ("history.html", include_str!("templates/history.html")),
    ("file.html", include_str!("templates/file.html")),
    ("knowledge.html", include_str!("templates/knowledge.html")),
    ("login.html", include_str!("templates/login.html")),
    ("problem.html", include_str!("templates/problem.html")),
];

pub(super) const SCRIPT: &str = include_str!("static/app.js");
pub(super) const STYLE: &str = include_str!("static/app.css");
pub(super) const ICON: &str = include_str!("static/icon.svg");

/// The templates of reports and pages in one language.
pub(super) fn environment(
    language: Language,
) -> std::result::Result<Environment<'static>, minijinja::Error> {
    let mut environment = render::html::environment(language)?;
    for (name, source) in TEMPLATES {
        environment.add_template(name, source)?;
    }
    environment.add_function("say", move |name: &str| phrases::say(name, language));
    Ok(environment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_say_only_known_phrases() {
        for (template, source) in TEMPLATES {
            for rest in source.split("say(\"").skip(1) {
                let name = rest.split('"').next().unwrap_or_default();
                assert_ne!(phrases::say(name, Language::En), "?", "{template}: {name}");
            }
        }
    }
}
