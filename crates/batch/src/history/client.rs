//! Asks a History Server about an application, and downloads its log.

use std::path::Path;
use std::time::Duration;

use reqwest::header::LOCATION;
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, Response, StatusCode};
use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt;
use url::Url;

use crate::application::{Application, Server};
use crate::error::{Error, Result};
use crate::location::Access;
use crate::problem::Problem;
use crate::state::state_of_attempt;

/// How long a server may take to accept a connection.
const CONNECTING: Duration = Duration::from_secs(10);
/// How long a server may be silent: it reads the whole listing of a cold start before it answers.
const SILENCE: Duration = Duration::from_secs(120);
/// How long the log may take. A few GiB arrive in this time even from a slow server; one that sends a byte now and then is given up.
const WHOLE: Duration = Duration::from_secs(3600);
/// Redirects within a server: one to a path with a slash, one through a login.
const REDIRECTS: usize = 5;
/// Bytes of an answer that describes an application; each attempt has a few hundred.
const DESCRIPTION_BYTES: u64 = 4 << 20;
/// Bytes of an answer that lists applications.
const LISTING_BYTES: u64 = 256 << 20;

/// An application that the server has.
pub(crate) struct Found {
    /// With the attempt, if attempts have names.
    pub(crate) application: Application,
    /// Changes when the log does.
    pub(crate) etag: String,
    client: HistoryClient,
}

/// An application in the REST interface.
#[derive(Deserialize)]
struct Description {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    attempts: Vec<Described>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Described {
    /// Only applications that can be tried again have one.
    attempt_id: Option<String>,
    /// RFC 3339 with milliseconds in GMT: sorts as text.
    #[serde(default)]
    start_time: String,
    #[serde(default)]
    end_time: String,
    #[serde(default)]
    last_updated: String,
    #[serde(default)]
    spark_user: Option<String>,
    /// Milliseconds.
    #[serde(default)]
    duration: u64,
    #[serde(default)]
    completed: bool,
}

/// Which applications of a server are listed; by default all.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Only attempts that ended since this date or time, as in RFC 3339, UTC.
    pub since: Option<String>,
    pub least_seconds: f64,
    pub user: Option<String>,
    /// Number of applications, the newest.
    pub most: Option<usize>,
}

impl Wanted {
    fn is_met_by(&self, attempt: &Described) -> bool {
        let since = self
            .since
            .as_deref()
            .unwrap_or_default()
            .trim_end_matches('Z');
        (attempt.end_time.as_str() >= since || !attempt.completed)
            && attempt.duration as f64 / 1000.0 >= self.least_seconds
            && (self.user.is_none() || attempt.spark_user == self.user)
    }

    /// The query; the server filters by day.
    fn query(&self) -> String {
        let is_day = |c: &char| c.is_ascii_digit() || *c == '-';
        let day: String = self
            .since
            .iter()
            .flat_map(|since| since.chars())
            .take(10)
            .collect();
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        if !day.is_empty() && day.chars().all(|c| is_day(&c)) {
            query.append_pair("minEndDate", &day);
        }
        if let Some(most) = self.most {
            query.append_pair("limit", &most.to_string());
        }
        query.finish()
    }
}

/// An attempt of an application in the list of a server.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ListedApplication {
    /// Address under which its log is read.
    pub address: String,
    /// Changes when the log does.
    pub etag: String,
    pub name: String,
    pub user: Option<String>,
    pub started: String,
    pub minutes: f64,
    pub completed: bool,
}

/// The attempts of an allowed server's applications, newest application first.
///
/// # Errors
/// If the server is not allowed or cannot be reached.
pub(crate) async fn list(
    access: &Access,
    server: &str,
    wanted: &Wanted,
) -> Result<Vec<ListedApplication>> {
    let named = Server::of(server);
    let Some(server) = named.and_then(|named| access.server(&named)) else {
        let server = server.to_owned();
        return Err(failed(&server.clone(), Problem::NotAllowed { server }));
    };
    let client = HistoryClient::new(server.clone(), server.to_string())?;
    let path = format!("api/v1/applications?{}", wanted.query());
    let response = client.successful(client.ask(&path).await?)?;
    let described: Vec<Description> = client.json(response, LISTING_BYTES).await?;
    let listed = described.into_iter().flat_map(|application| {
        let attempts = application.attempts.into_iter();
        let attempts = attempts.filter(|attempt| wanted.is_met_by(attempt));
        let (id, name, server) = (application.id, application.name, server.clone());
        attempts.filter_map(move |attempt| {
            let id = id.clone()?;
            let etag = attempt.etag();
            let named = name.clone().unwrap_or_else(|| id.clone());
            let application = Application {
                server: server.clone(),
                attempt: attempt.attempt_id,
                id,
            };
            Some(ListedApplication {
                address: application.to_string(),
                etag,
                name: named,
                user: attempt.spark_user,
                started: attempt.start_time,
                minutes: attempt.duration as f64 / 60_000.0,
                completed: attempt.completed,
            })
        })
    });
    Ok(listed.collect())
}

impl Described {
    fn etag(&self) -> String {
        let changed = [&self.start_time, &self.end_time, &self.last_updated];
        let changed = changed.map(String::as_str).join(" ");
        state_of_attempt(self.attempt_id.as_deref().unwrap_or_default(), &changed)
    }
}

/// Finds an application on its server, with the attempt that was named or else the newest.
///
/// # Errors
/// If the server is not allowed or cannot be reached, or has no such application.
pub(crate) async fn find(access: &Access, application: &Application) -> Result<Found> {
    let place = application.to_string();
    let Some(server) = access.server_of(application) else {
        let server = application.server.to_string();
        return Err(failed(&place, Problem::NotAllowed { server }));
    };
    let client = HistoryClient::new(server.clone(), place)?;
    let attempts = client.describe(application).await?.attempts;
    let attempt =
        chosen(application, &attempts).map_err(|problem| failed(&client.place, problem))?;
    Ok(Found {
        etag: attempt.etag(),
        application: Application {
            attempt: attempt.attempt_id.clone(),
            ..application.clone()
        },
        client,
    })
}

/// The attempt that was named; the newest if none was, or if a page was.
fn chosen<'a>(
    application: &Application,
    attempts: &'a [Described],
) -> std::result::Result<&'a Described, Problem> {
    let named = application.attempt.as_deref();
    let same = |attempt: &&Described| attempt.attempt_id.as_deref() == named;
    if let Some(same) = attempts.iter().find(same).filter(|_| named.is_some()) {
        return Ok(same);
    }
    let newest = attempts
        .iter()
        .max_by(|a, b| a.start_time.cmp(&b.start_time));
    let newest = newest.ok_or_else(|| Problem::NoApplication {
        server: application.server.to_string(),
        id: application.id.clone(),
    })?;
    match named.filter(|name| name.bytes().all(|b| b.is_ascii_digit())) {
        Some(attempt) if newest.attempt_id.is_some() => {
            let known = attempts.iter().filter_map(|a| a.attempt_id.as_deref());
            Err(Problem::NoAttempt {
                id: application.id.clone(),
                attempt: attempt.to_owned(),
                known: known.take(20).collect::<Vec<_>>().join(", "),
            })
        }
        _ => Ok(newest),
    }
}

impl Found {
    /// Downloads the log into a new file, as a ZIP archive.
    ///
    /// # Errors
    /// If the server fails, or sends more than `most` bytes.
    pub(crate) async fn download(&self, to: &Path, most: u64) -> Result<()> {
        let path = match &self.application.attempt {
            Some(attempt) => format!("{}/{attempt}/logs", self.application.path()),
            None => format!("{}/logs", self.application.path()),
        };
        let done = tokio::time::timeout(WHOLE, self.client.save(&path, to, most));
        done.await
            .unwrap_or_else(|_| Err(self.client.unreachable(None)))
    }
}

struct HistoryClient {
    http: Client,
    server: Server,
    /// The application, for errors.
    place: String,
}

impl HistoryClient {
    fn new(server: Server, place: String) -> Result<HistoryClient> {
        // Fails if a provider is installed already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = Client::builder()
            .redirect(Policy::custom(|attempt| match is_within(&attempt) {
                true => attempt.follow(),
                false => attempt.stop(),
            }))
            .connect_timeout(CONNECTING)
            .read_timeout(SILENCE)
            .build();
        match http {
            Ok(http) => Ok(HistoryClient {
                http,
                server,
                place,
            }),
            Err(error) => Err(Error::History {
                place,
                problem: Problem::Unreachable {
                    server: server.to_string(),
                },
                source: Some(error),
            }),
        }
    }

    async fn describe(&self, application: &Application) -> Result<Description> {
        let response = self.ask(&application.path()).await?;
        if response.status() != StatusCode::NOT_FOUND {
            let response = self.successful(response)?;
            return self.json(response, DESCRIPTION_BYTES).await;
        }
        // A server of another kind has no such page either.
        let listed = self.ask("api/v1/applications?limit=1").await?;
        self.json::<Vec<Description>>(self.successful(listed)?, DESCRIPTION_BYTES)
            .await?;
        let server = self.server.to_string();
        let id = application.id.clone();
        Err(failed(&self.place, Problem::NoApplication { server, id }))
    }

    async fn ask(&self, path: &str) -> Result<Response> {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let (mut url, login) = self.server.endpoint(path);
        url.set_query(Some(query).filter(|query| !query.is_empty()));
        let mut request = self.http.get(url);
        if let Some((user, password)) = login {
            request = request.basic_auth(user, password);
        }
        request
            .send()
            .await
            .map_err(|error| self.unreachable(Some(error)))
    }

    fn successful(&self, response: Response) -> Result<Response> {
        let server = self.server.to_string();
        let status = response.status();
        let problem = match status {
            status if status.is_success() => return Ok(response),
            StatusCode::NOT_FOUND => Problem::NotAServer { server },
            StatusCode::UNAUTHORIZED
            | StatusCode::FORBIDDEN
            | StatusCode::PROXY_AUTHENTICATION_REQUIRED => Problem::Denied {
                server,
                status: status.as_u16(),
            },
            status if status.is_redirection() => {
                let to = response.headers().get(LOCATION);
                let to = to.and_then(|to| response.url().join(to.to_str().ok()?).ok());
                let to = to.map(|to| to.origin().ascii_serialization());
                Problem::Redirected {
                    server,
                    to: to.unwrap_or_default(),
                }
            }
            status => Problem::Failed {
                server,
                status: status.as_u16(),
            },
        };
        Err(failed(&self.place, problem))
    }

    async fn json<T: for<'a> Deserialize<'a>>(
        &self,
        mut response: Response,
        most: u64,
    ) -> Result<T> {
        let mut body = Vec::new();
        while let Some(piece) = self.piece(&mut response).await? {
            body.extend_from_slice(&piece);
            if body.len() as u64 > most {
                return Err(self.foreign());
            }
        }
        serde_json::from_slice(&body).map_err(|_| self.foreign())
    }

    async fn save(&self, path: &str, to: &Path, most: u64) -> Result<()> {
        let mut response = self.successful(self.ask(path).await?)?;
        let too_large = || {
            let place = self.place.clone();
            failed(&self.place, Problem::TooLarge { place, most })
        };
        if response
            .content_length()
            .is_some_and(|length| length > most)
        {
            return Err(too_large());
        }
        let io = |source| Error::File {
            path: to.to_owned(),
            source,
        };
        let mut file = tokio::fs::File::create(to).await.map_err(io)?;
        let mut left = most;
        while let Some(piece) = self.piece(&mut response).await? {
            left = left.checked_sub(piece.len() as u64).ok_or_else(too_large)?;
            file.write_all(&piece).await.map_err(io)?;
        }
        file.flush().await.map_err(io)
    }

    async fn piece(&self, response: &mut Response) -> Result<Option<Vec<u8>>> {
        let piece = response.chunk().await;
        let piece = piece.map_err(|error| self.unreachable(Some(error)))?;
        Ok(piece.map(Vec::from))
    }

    fn unreachable(&self, source: Option<reqwest::Error>) -> Error {
        Error::History {
            place: self.place.clone(),
            problem: Problem::Unreachable {
                server: self.server.to_string(),
            },
            // the address is in the message, without a login
            source: source.map(reqwest::Error::without_url),
        }
    }

    fn foreign(&self) -> Error {
        let server = self.server.to_string();
        failed(&self.place, Problem::NotAServer { server })
    }
}

fn failed(place: &str, problem: Problem) -> Error {
    Error::History {
        place: place.to_owned(),
        problem,
        source: None,
    }
}

/// Whether a redirect stays on the server that was allowed: same scheme, host and port.
fn is_within(attempt: &Attempt<'_>) -> bool {
    let first: Option<&Url> = attempt.previous().first();
    let same = first.is_some_and(|first| first.origin() == attempt.url().origin());
    same && attempt.previous().len() <= REDIRECTS
}
