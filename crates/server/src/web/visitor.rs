//! Who asks: the language and the colors of the page, from cookies, the address and the browser.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use report::Language;
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub(super) struct Visitor {
    pub(super) language: Language,
    /// `light`, `dark`, or empty for the system's theme.
    pub(super) theme: String,
    /// Path and query without choices, to which a choice can be added: `/runs?q=x&`.
    pub(super) here: String,
    /// First part of the path, to mark the current page in the menu.
    pub(super) room: String,
    /// Choices to remember.
    #[serde(skip)]
    pub(super) chosen: Vec<String>,
}

/// How long choices are remembered, in seconds.
const YEAR: u32 = 31_536_000;

impl<S: Send + Sync> FromRequestParts<S> for Visitor {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Visitor::of(parts))
    }
}

impl Visitor {
    pub(super) fn of(parts: &Parts) -> Visitor {
        let (path, query) = (parts.uri.path(), parts.uri.query().unwrap_or_default());
        // A link to `//name` would lead to another server.
        let mut here = format!("/{}?", path.trim_start_matches(['/', '\\']));
        let (mut language, mut theme, mut chosen) = (None, None, Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("lang", code)) => language = Language::parse(code),
                Some(("theme", name)) => theme = known_theme(name),
                _ => here.extend([pair, "&"]),
            }
        }
        let mut remember = |name: &str, value: &str| {
            chosen.push(format!(
                "{name}={value}; Path=/; Max-Age={YEAR}; SameSite=Strict"
            ));
        };
        if let Some(language) = language {
            remember("lang", language.code());
        }
        if let Some(theme) = theme {
            remember("theme", theme);
        }
        let kept = cookie(&parts.headers, "lang").and_then(Language::parse);
        let kept_theme = cookie(&parts.headers, "theme").and_then(known_theme);
        Visitor {
            language: language
                .or(kept)
                .unwrap_or_else(|| preferred(&parts.headers)),
            theme: theme.or(kept_theme).unwrap_or_default().to_owned(),
            here,
            room: path.split('/').nth(1).unwrap_or_default().to_owned(),
            chosen,
        }
    }
}

fn known_theme(name: &str) -> Option<&'static str> {
    ["light", "dark"].into_iter().find(|known| *known == name)
}

/// Chinese if the browser asks for it before English.
fn preferred(headers: &HeaderMap) -> Language {
    let asked = headers.get(header::ACCEPT_LANGUAGE);
    let asked = asked.and_then(|value| value.to_str().ok()).unwrap_or("en");
    let mut known = asked.split(',').filter_map(|tag| {
        let code = tag.trim().get(..2)?;
        Language::parse(&code.to_ascii_lowercase())
    });
    known.next().unwrap_or(Language::En)
}

/// The value of a cookie.
pub(super) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(header::COOKIE).iter();
    all.filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .find_map(|pair| pair.trim().strip_prefix(name)?.strip_prefix('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visitor(uri: &str, headers: &[(&str, &str)]) -> Visitor {
        let mut request = axum::http::Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Visitor::of(&request.body(()).expect("a request").into_parts().0)
    }

    #[test]
    fn no_choice_leads_to_another_server() {
        for uri in ["//evil.example/x?q=1", "/\\evil.example", "///evil.example"] {
            let here = visitor(uri, &[]).here;
            assert!(here.starts_with("/evil.example"), "{uri}: {here}");
        }
    }

    #[test]
    fn the_address_precedes_the_cookie_and_the_cookie_the_browser() {
        for (uri, headers, language, theme) in [
            ("/runs", &[][..], Language::En, ""),
            (
                "/",
                &[("accept-language", "fr, zh-CN;q=0.9, en")],
                Language::Zh,
                "",
            ),
            (
                "/",
                &[
                    ("accept-language", "zh"),
                    ("cookie", "a=b; lang=en; theme=dark"),
                ],
                Language::En,
                "dark",
            ),
            (
                "/runs?q=x&lang=zh&theme=light",
                &[("cookie", "lang=en; theme=dark")],
                Language::Zh,
                "light",
            ),
            (
                "/?lang=xx&theme=%22onload",
                &[("cookie", "theme=evil")],
                Language::En,
                "",
            ),
        ] {
            let visitor = visitor(uri, headers);
            assert_eq!(
                (visitor.language, visitor.theme.as_str()),
                (language, theme),
                "{uri}"
            );
        }
        let asked = visitor("/runs?q=x&lang=zh", &[]);
        assert_eq!(
            (asked.here.as_str(), asked.room.as_str()),
            ("/runs?q=x&", "runs")
        );
        assert!(asked.chosen[0].starts_with("lang=zh; "));
    }
}
