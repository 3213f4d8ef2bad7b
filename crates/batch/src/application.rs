//! Addresses of History Servers and of applications on them, as people copy them from a browser.

use std::fmt;

use url::Url;

/// The part of an address before `/history/…` or `/api/…`; servers behind a gateway have a path. Logins are ignored in
/// comparisons.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    /// With the login, and a slash at its end.
    url: Url,
}

/// An application on a History Server.
#[derive(Debug, Clone)]
pub struct Application {
    pub(crate) server: Server,
    pub(crate) id: String,
    /// The part after the identifier: an attempt, or a page about the application.
    pub(crate) attempt: Option<String>,
}

impl Server {
    /// The server of a server's or an application's address.
    pub(crate) fn of(text: &str) -> Option<Server> {
        let url = Url::parse(text).ok()?;
        if !matches!(url.scheme(), "http" | "https") {
            return None;
        }
        let application = Application::of(&url).map(|application| application.server);
        Some(application.unwrap_or_else(|| {
            let path = url.path().trim_end_matches('/');
            let path = path.strip_suffix("/history").unwrap_or(path).to_owned();
            Server::at(&url, &path)
        }))
    }

    /// Whether an address belongs to a whole server: without a path, or ending in `/history`, also behind a gateway.
    pub(crate) fn is_listed(text: &str) -> bool {
        let url = Url::parse(text).ok();
        url.is_some_and(|url| {
            let path = url.path().trim_end_matches('/');
            matches!(url.scheme(), "http" | "https")
                && (path.is_empty() || path.ends_with("history"))
        })
    }

    fn at(url: &Url, path: &str) -> Server {
        let mut url = url.clone();
        url.set_path(&format!("{path}/"));
        url.set_query(None);
        url.set_fragment(None);
        Server { url }
    }

    /// The address of an answer, without the login, and the login.
    pub(crate) fn endpoint(&self, path: &str) -> (Url, Option<(String, Option<String>)>) {
        let decoded = |text: &str| {
            let pair = format!("a={}", text.replace('+', "%2B"));
            let decoded = url::form_urlencoded::parse(pair.as_bytes()).next();
            decoded.map_or_else(|| text.to_owned(), |(_, text)| text.into_owned())
        };
        let login = (!self.url.username().is_empty()).then(|| {
            let password = self.url.password().map(decoded);
            (decoded(self.url.username()), password)
        });
        let mut url = self.anonymous();
        url.set_path(&format!("{}{path}", self.url.path()));
        (url, login)
    }

    fn anonymous(&self) -> Url {
        let mut url = self.url.clone();
        // fails for addresses without a host only
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url
    }
}

impl PartialEq for Server {
    fn eq(&self, other: &Server) -> bool {
        self.anonymous() == other.anonymous()
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.anonymous().as_str().trim_end_matches('/'))
    }
}

impl Application {
    /// The application that a page of the server (`/history/APP/…`) or an answer of its REST interface (`/api/v1/applications/APP/…`) is
    /// about.
    pub(crate) fn of(url: &Url) -> Option<Application> {
        let parts: Vec<&str> = url.path_segments()?.collect();
        let page = parts.iter().rposition(|part| *part == "history");
        let answer = parts
            .windows(3)
            .rposition(|parts| parts == ["api", "v1", "applications"]);
        let (base, id) = match (page, answer) {
            (_, Some(at)) => (at, at + 3),
            (Some(at), None) => (at, at + 1),
            (None, None) => return None,
        };
        let part = |at: usize| parts.get(at).filter(|part| is_name(part));
        let path: String = parts[..base]
            .iter()
            .map(|part| format!("/{part}"))
            .collect();
        Some(Application {
            server: Server::at(url, &path),
            id: (*part(id)?).to_owned(),
            attempt: part(id + 1).map(|part| (*part).to_owned()),
        })
    }

    /// The path of an answer about it.
    pub(crate) fn path(&self) -> String {
        format!("api/v1/applications/{}", self.id)
    }
}

impl fmt::Display for Application {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/history/{}", self.server, self.id)?;
        match &self.attempt {
            Some(attempt) => write!(f, "/{attempt}"),
            None => Ok(()),
        }
    }
}

/// Whether a part of a path can be an identifier: it must not change the path that it is put into.
fn is_name(part: &str) -> bool {
    let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    part.contains(|c: char| c != '.') && part.chars().all(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_copied_from_a_browser() {
        let read = |text: &str| {
            let url = Url::parse(text).expect(text);
            Application::of(&url).map(|application| application.to_string())
        };
        for (text, expected) in [
            (
                "http://h:18080/history/app-1",
                Some("http://h:18080/history/app-1"),
            ),
            (
                "http://h:18080/history/app-1/",
                Some("http://h:18080/history/app-1"),
            ),
            (
                "https://h/history/application_1_2/1/stages/stage/?id=4&attempt=0#x",
                Some("https://h/history/application_1_2/1"),
            ),
            (
                "https://u:p@gate/default/sparkhistory/history/local-1/jobs/",
                Some("https://gate/default/sparkhistory/history/local-1/jobs"),
            ),
            (
                "http://h:18080/api/v1/applications/app-1/1/logs",
                Some("http://h:18080/history/app-1/1"),
            ),
            ("http://h:18080/", None),
            ("http://h:18080/history", None),
            ("http://h:18080/history/%2e%2e/x", None),
            ("http://h:18080/history/a%2Fb", None),
            ("http://h:18080/history/a b", None),
        ] {
            assert_eq!(read(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_server_is_the_same_however_it_is_named() {
        let server = |text| Server::of(text).expect(text);
        let one = server("http://h:18080");
        for same in [
            "http://h:18080/",
            "http://h:18080/history/",
            "http://u:p@h:18080/history/app-1/jobs/?x",
        ] {
            assert_eq!(server(same), one, "{same}");
        }
        for other in ["http://h", "https://h:18080", "http://h:18080/gate/"] {
            assert_ne!(server(other), one, "{other}");
        }
        assert!(Server::of("s3://bucket").is_none() && Server::of("jobs").is_none());
        for whole in [
            "http://h:18080",
            "http://h:18080/history/",
            "https://gate/x/sparkhistory/",
        ] {
            assert!(Server::is_listed(whole), "{whole}");
        }
        for part in [
            "http://h:18080/history/app-1",
            "http://h:4040/jobs/",
            "s3://h/history",
            "jobs",
        ] {
            assert!(!Server::is_listed(part), "{part}");
        }
        let (url, login) = server("http://u:p%40q@h/history/app-1").endpoint("api");
        assert_eq!(url.as_str(), "http://h/api");
        assert_eq!(login, Some(("u".to_owned(), Some("p@q".to_owned()))));
    }
}
