//! The web page: runs, reports, comparisons and the knowledge base in a browser, and new analyses with live progress.
//!
//! ```text
//! accept ─> guard (Host, Origin, login, time) ─> pages ─> Session
//!                                                  └ render: the same report as everywhere
//! ```
//!
//! Pages are HTML from the server and readable without JavaScript. Every change needs a form with the page's token.

mod analyses;
mod app;
mod asking;
mod batches;
mod cache;
mod guard;
mod pages;
mod phrases;
mod receiving;
mod start;
mod templates;
mod upload;
mod visitor;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use report::say;
use secrecy::SecretString;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::error::{Error, ErrorKind, Result};
use crate::listen::{self, HEAD_TIME};
use crate::opening::Fetch;
use crate::reasoner::ReasonerChoice;
use crate::session::{Analyst, Session};
use app::App;

pub use batches::Batch;

/// Bytes of the head of a request.
const MAX_HEAD: usize = 32 << 10;
const MAX_HEADERS: usize = 64;

/// Time for running answers and analyses after the server is stopped.
const GRACE: Duration = Duration::from_secs(10);

/// Something to do with the report of an analysis that ended.
pub type Ended = Arc<dyn Fn(&report::Report) + Send + Sync>;

pub struct Options {
    /// Called with the report of each analysis that the page started.
    pub ended: Option<Ended>,
    /// Where to listen. Any address that other machines reach needs a token.
    pub address: SocketAddr,
    /// Password for visitors; `None` on a loopback address only.
    pub token: Option<SecretString>,
    /// Names under which the page is reached, in addition to addresses and `localhost`.
    pub hosts: Vec<String>,
    /// Folders and History Servers with readable jobs, apart from uploads.
    pub roots: Vec<PathBuf>,
    /// Folder for uploads.
    pub uploads: PathBuf,
    /// Batches with jobs to list next to the runs.
    pub batches: Vec<Arc<dyn Batch>>,
    pub reasoner: ReasonerChoice,
    /// Who analyzes jobs.
    pub analyst: Arc<dyn Analyst>,
    pub fetch: Arc<dyn Fetch>,
}

/// Serves until `stop` is cancelled; then ends connections and analyses, and waits a moment for partial reports.
///
/// # Errors
/// If the address is taken, or an address that other machines reach has no token.
pub async fn serve(session: Arc<Session>, options: Options, stop: CancellationToken) -> Result<()> {
    let address = options.address;
    let app = Arc::new(App::new(session, options, stop.clone())?);
    let listener = listen::bind(address).await?;
    let bound = listener.address();
    let monitor = app.session.monitor();
    monitor.remark(&say!(
        "可读取作业的目录：{listed}",
        "jobs may be read in {listed}",
        listed = app.roots.listed()
    ));
    let bound = bound.to_string();
    monitor.remark(&say!(
        "网页地址：http://{bound}/",
        "serving http://{bound}/"
    ));
    batches::follow(&app.batches, &app.running, &app.stop);
    let router = router(&app);
    let open = |stream| connection(stream, router.clone(), stop.clone());
    listener.serve(&stop, monitor, open).await;
    app.running.close();
    // Slower analyses end with the process, and their runs are marked as interrupted.
    let _ = tokio::time::timeout(GRACE, app.running.wait()).await;
    Ok(())
}

fn router(app: &Arc<App>) -> Router {
    let check = axum::middleware::from_fn_with_state(Arc::clone(app), guard::check);
    pages::router().layer(check).with_state(Arc::clone(app))
}

async fn connection(stream: listen::Connection, router: Router, stop: CancellationToken) {
    let answer = service_fn(move |request: Request<Incoming>| {
        let router = router.clone();
        async move {
            let answer = router.oneshot(request.map(Body::new)).await;
            Ok::<_, Infallible>(answer.unwrap_or_else(|never| match never {}))
        }
    });
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIME)
            .max_headers(MAX_HEADERS)
            .max_buf_size(MAX_HEAD)
            .serve_connection(TokioIo::new(stream), answer)
    );
    // A client that hangs up or speaks another protocol ends only its own connection.
    tokio::select! {
        _ = connection.as_mut() => {}
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ = tokio::time::timeout(GRACE, connection).await;
        }
    }
}

/// Whether an address without a token, or with one that is easily guessed, may be served.
fn check_token(address: SocketAddr, token: Option<&str>) -> Result<()> {
    const SHORTEST: usize = 16;
    let error = match token {
        None if address.ip().is_loopback() => return Ok(()),
        None => say!(
            "其他机器能访问 `{address}`，但没有令牌",
            "other machines reach `{address}`, and there is no token",
            address = address.to_string()
        ),
        Some(token) if token.len() < SHORTEST => say!(
            "令牌不足 {SHORTEST} 个字符",
            "the token has fewer than {SHORTEST} characters"
        ),
        Some(_) => return Ok(()),
    };
    Err(Error::new(ErrorKind::Usage, error).hint(say!(
        "请把一段较长的随机文本写入文件，用 `--token-file FILE` 给出",
        "write a long random text into a file and give it with `--token-file FILE`"
    )))
}
