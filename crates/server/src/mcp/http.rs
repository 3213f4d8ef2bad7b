//! Streamable HTTP on a loopback address.
//!
//! Every client that can connect can read the allowed folders, so only this machine may connect. Requests of web pages are refused: they
//! have a foreign `Host` (after DNS rebinding) or a foreign `Origin`.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use super::handler::Handler;
use super::shared::Shared;
use crate::error::Result;
use crate::listen::{self, HEAD_TIME};

const PATH: &str = "/mcp";

/// A session without a message for this long is dropped; a slow LLM may be silent for minutes.
const IDLE: Duration = Duration::from_secs(60 * 60);

/// Sessions at the same time; each client has one.
const MAX_SESSIONS: usize = 64;

/// Bytes of one request.
const MAX_REQUEST: usize = 1 << 20;

type Service = StreamableHttpService<Handler, LocalSessionManager>;
type Body = http_body_util::combinators::BoxBody<Bytes, Infallible>;

/// Serves until the server is stopped.
pub(super) async fn serve(address: SocketAddr, shared: &Arc<Shared>) -> Result<()> {
    let listener = listen::bind(address).await?;
    let bound = listener.address();
    let sessions = sessions();
    let service = service(bound, shared, Arc::clone(&sessions.begun));
    let monitor = shared.session.monitor();
    monitor.remark(&format!("serving http://{bound}{PATH}"));
    let open = |stream| connection(stream, service.clone(), Arc::clone(&sessions));
    listener.serve(&shared.stop, monitor, open).await;
    Ok(())
}

/// The protocol and its guards: `Host` must be this address; `Origin`, if sent, the server's own.
fn service(bound: SocketAddr, shared: &Arc<Shared>, sessions: Arc<LocalSessionManager>) -> Service {
    let port = bound.port();
    let names = ["localhost", "127.0.0.1", "[::1]"];
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(names.map(|name| format!("{name}:{port}")))
        .with_allowed_origins(names.map(|name| format!("http://{name}:{port}")))
        .enforce_origin_validation()
        .with_max_request_body_bytes(MAX_REQUEST)
        .with_cancellation_token(shared.stop.child_token());
    let shared = Arc::clone(shared);
    StreamableHttpService::new(
        move || Ok(Handler::new(Arc::clone(&shared))),
        sessions,
        config,
    )
}

struct Sessions {
    begun: Arc<LocalSessionManager>,
    /// Requests that may begin one.
    beginning: AtomicUsize,
}

fn sessions() -> Arc<Sessions> {
    let mut begun = LocalSessionManager::default();
    begun.session_config = SessionConfig::default();
    begun.session_config.keep_alive = Some(IDLE);
    Arc::new(Sessions {
        begun: Arc::new(begun),
        beginning: AtomicUsize::new(0),
    })
}

async fn connection(stream: listen::Connection, service: Service, sessions: Arc<Sessions>) {
    let answer = service_fn(move |request: Request<Incoming>| {
        let (service, sessions) = (service.clone(), Arc::clone(&sessions));
        async move { Ok::<_, Infallible>(answer(&service, &sessions, request).await) }
    });
    // A client that hangs up or speaks another protocol ends only its own connection.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .serve_connection(TokioIo::new(stream), answer)
        .await;
}

async fn answer(
    service: &Service,
    sessions: &Sessions,
    request: Request<Incoming>,
) -> Response<Body> {
    if request.uri().path() != PATH {
        return refusal(StatusCode::NOT_FOUND, "the MCP endpoint is /mcp\n");
    }
    // The library takes a name from the first `Host` and ignores what is around it.
    if listen::host(request.headers()).is_none() {
        return refusal(StatusCode::BAD_REQUEST, "the request names no host\n");
    }
    if request.headers().contains_key("mcp-session-id") {
        return service.handle(request).await;
    }
    // Counted before the sessions are, so that requests at the same time do not exceed the limit together.
    let beginning = Beginning::count(&sessions.beginning);
    if sessions.begun.sessions.read().await.len() + beginning.number > MAX_SESSIONS {
        let text = "too many sessions; end one, or wait until one has expired\n";
        return refusal(StatusCode::SERVICE_UNAVAILABLE, text);
    }
    service.handle(request).await
}

/// A session that begins; it has its place until it is among the sessions or has failed.
struct Beginning<'a> {
    all: &'a AtomicUsize,
    /// How many begin, this one included.
    number: usize,
}

impl Beginning<'_> {
    fn count(all: &AtomicUsize) -> Beginning<'_> {
        let number = all.fetch_add(1, Ordering::SeqCst) + 1;
        Beginning { all, number }
    }
}

impl Drop for Beginning<'_> {
    fn drop(&mut self) {
        self.all.fetch_sub(1, Ordering::SeqCst);
    }
}

fn refusal(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *response.status_mut() = status;
    response
}
