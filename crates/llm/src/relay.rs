//! A relay to a server that bounds its answers.
//!
//! genai collects events and error bodies of any length, and reads them again with every piece. So
//! each of its requests goes through a relay: a listener on the loopback interface that exists as
//! long as the request. It forwards the request and passes the answer on in whole events. An answer
//! that breaks a bound ends the call. The relay never interprets a request or an answer.

use std::convert::Infallible;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::Ipv4Addr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{BoxStream, FuturesUnordered, try_unfold};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::{self, HeaderMap, HeaderName};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

use crate::ending;
use crate::failure;
use crate::transport::CallError;

/// Longest event of a stream, and longest answer in one piece: several times
/// [`ending::MAX_ANSWER_BYTES`], because some protocols repeat the whole answer at its end.
const EVENT_BYTES: usize = 4 << 20;

/// Longest stream: the longest answer in pieces of a token each, with the JSON around them.
const STREAM_BYTES: usize = 64 << 20;

/// Of an error, more is not read; the message is at its beginning.
const ERROR_BYTES: usize = 64 << 10;

/// Pause after a connection could not be accepted, for example because too many files are open.
const PAUSE: Duration = Duration::from_millis(20);

/// Headers about a connection rather than a message, or about a form of the body that changes here.
const OWN_HEADERS: [HeaderName; 6] = [
    header::HOST,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::CONTENT_ENCODING,
    header::ACCEPT_ENCODING,
    header::TRANSFER_ENCODING,
];

type Body = StreamBody<BoxStream<'static, Result<Frame<Bytes>, CallError>>>;

/// Server and timeouts of a relay.
pub(super) struct Route<'a> {
    pub(super) client: &'a reqwest::Client,
    /// Address of the server, with a slash at its end.
    pub(super) base: &'a str,
    pub(super) is_stream: bool,
    /// Longest wait for the beginning of an answer: its head, and the first piece of its body.
    pub(super) first_timeout: Duration,
    /// Longest pause within an answer.
    pub(super) read_timeout: Duration,
}

pub(super) struct Relay<'a> {
    route: Route<'a>,
    listener: TcpListener,
    base: String,
    /// First part of every path, so that no other program can use the relay.
    token: String,
    failure: std::sync::Arc<Mutex<Option<CallError>>>,
}

impl<'a> Relay<'a> {
    pub(super) async fn open(route: Route<'a>) -> io::Result<Relay<'a>> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let token = random();
        Ok(Relay {
            base: format!("http://{}/{token}/", listener.local_addr()?),
            route,
            listener,
            token,
            failure: std::sync::Arc::default(),
        })
    }

    /// The relay's address, in place of the server's.
    pub(super) fn base(&self) -> &str {
        &self.base
    }

    /// Why the call has to end. The relay's error is more precise than the client's.
    pub(super) fn failure(&self) -> Option<CallError> {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.take()
    }

    /// Serves until it is dropped.
    pub(super) async fn serve(&self) -> Infallible {
        let mut connections = FuturesUnordered::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => connections.push(self.connection(stream)),
                    Err(_) => tokio::time::sleep(PAUSE).await,
                },
                Some(()) = connections.next(), if !connections.is_empty() => {}
            }
        }
    }

    async fn connection(&self, stream: TcpStream) {
        let service = service_fn(|request| async {
            Ok::<_, Infallible>(match self.forward(request).await {
                Ok(response) => response,
                Err(error) => {
                    record(&self.failure, error);
                    empty(StatusCode::BAD_GATEWAY)
                }
            })
        });
        // The client notices a broken connection itself.
        let _ = http1::Builder::new()
            .keep_alive(false)
            .serve_connection(TokioIo::new(stream), service)
            .await;
    }

    async fn forward(&self, request: Request<Incoming>) -> Result<Response<Body>, CallError> {
        let (head, body) = request.into_parts();
        let path = head.uri.path_and_query().map_or("", |p| p.as_str());
        let path = path.strip_prefix('/').unwrap_or(path);
        let Some(path) = path
            .strip_prefix(self.token.as_str())
            .and_then(|p| p.strip_prefix('/'))
        else {
            return Ok(empty(StatusCode::NOT_FOUND));
        };
        let Ok(body) = body.collect().await else {
            return Ok(empty(StatusCode::BAD_REQUEST));
        };
        let sent = self
            .route
            .client
            .request(head.method, format!("{}{path}", self.route.base))
            .headers(without_own(head.headers))
            .body(body.to_bytes())
            .send();
        let answered = tokio::time::timeout(self.route.first_timeout, sent).await;
        let mut response = answered
            .map_err(|_| too_slow())?
            .map_err(|error| failure::network(&error))?;
        let mut passed = empty(response.status());
        *passed.headers_mut() = without_own(std::mem::take(response.headers_mut()));
        let passage = Passage {
            kind: match response.status().is_success() {
                false => Kind::Error,
                true if self.route.is_stream => Kind::Events,
                true => Kind::Whole,
            },
            response,
            first_timeout: self.route.first_timeout,
            read_timeout: self.route.read_timeout,
            waiting: Vec::new(),
            read: 0,
            ended: false,
        };
        let failure = std::sync::Arc::clone(&self.failure);
        let pieces = try_unfold(passage, move |mut passage| {
            let failure = std::sync::Arc::clone(&failure);
            async move {
                match passage.next().await {
                    Ok(piece) => Ok(piece.map(|bytes| (Frame::data(bytes), passage))),
                    Err(error) => {
                        record(&failure, error.clone());
                        Err(error)
                    }
                }
            }
        });
        *passed.body_mut() = StreamBody::new(pieces.boxed());
        Ok(passed)
    }
}

/// 16 hexadecimal digits that cannot be foreseen.
pub(super) fn random() -> String {
    format!("{:016x}", RandomState::new().hash_one(0))
}

fn record(failure: &Mutex<Option<CallError>>, error: CallError) {
    let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
    failure.get_or_insert(error);
}

fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(StreamBody::new(futures::stream::empty().boxed()));
    *response.status_mut() = status;
    response
}

fn without_own(mut headers: HeaderMap) -> HeaderMap {
    for name in OWN_HEADERS {
        headers.remove(name);
    }
    headers
}

fn too_slow() -> CallError {
    failure::transient("the server took too long".to_owned(), false)
}

#[derive(Clone, Copy)]
enum Kind {
    Error,
    Events,
    Whole,
}

/// An answer on its way.
struct Passage {
    response: reqwest::Response,
    kind: Kind,
    first_timeout: Duration,
    read_timeout: Duration,
    /// The beginning of an event.
    waiting: Vec<u8>,
    /// Bytes read so far.
    read: usize,
    ended: bool,
}

impl Passage {
    async fn next(&mut self) -> Result<Option<Bytes>, CallError> {
        while !self.ended {
            let patience = match self.read {
                0 => self.first_timeout.max(self.read_timeout),
                _ => self.read_timeout,
            };
            let chunk = tokio::time::timeout(patience, self.response.chunk()).await;
            let chunk = chunk.map_err(|_| too_slow())?;
            let Some(chunk) = chunk.map_err(|error| failure::network(&error))? else {
                break;
            };
            let room = ERROR_BYTES.saturating_sub(self.read);
            self.read += chunk.len();
            match self.kind {
                Kind::Error => {
                    self.ended = chunk.len() >= room;
                    return Ok(Some(chunk.slice(..chunk.len().min(room))));
                }
                Kind::Whole if self.read <= EVENT_BYTES => return Ok(Some(chunk)),
                Kind::Events if self.read <= STREAM_BYTES => {
                    let unseen = self.waiting.len().saturating_sub(3);
                    self.waiting.extend_from_slice(&chunk);
                    if let Some(end) = end_of_events(&self.waiting, unseen) {
                        let rest = self.waiting.split_off(end);
                        let events = std::mem::replace(&mut self.waiting, rest);
                        return Ok(Some(events.into()));
                    }
                    if self.waiting.len() > EVENT_BYTES {
                        return Err(ending::too_long());
                    }
                }
                Kind::Whole | Kind::Events => return Err(ending::too_long()),
            }
        }
        self.ended = true;
        let rest = std::mem::take(&mut self.waiting);
        Ok((!rest.is_empty()).then(|| rest.into()))
    }
}

/// The end of the last whole event: behind its blank line. Looks from `start` on.
fn end_of_events(bytes: &[u8], start: usize) -> Option<usize> {
    let blank = |end: &usize| {
        let before = &bytes[..*end];
        ["\n\n", "\r\n\r\n", "\r\r"]
            .iter()
            .any(|blank| before.ends_with(blank.as_bytes()))
    };
    (start + 1..=bytes.len()).rev().find(blank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_end_behind_a_blank_line() {
        for (text, start, end) in [
            ("data: 1\n\ndata: 2", 0, Some(9)),
            ("data: 1\r\n\r\ndata: 2\r\n\r", 0, Some(11)),
            ("data: 1\r\rdata: 2\n", 0, Some(9)),
            ("data: 1\ndata: 2\n", 0, None),
            // The blank line began in the piece before.
            ("data: 1\r\n\r\n", 7, Some(11)),
            ("", 0, None),
        ] {
            assert_eq!(end_of_events(text.as_bytes(), start), end, "{text:?}");
        }
    }
}
