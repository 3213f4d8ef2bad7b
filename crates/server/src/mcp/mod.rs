//! MCP server: analyses, searches and runs as tools and resources for models (Model Context Protocol), on stdin and stdout or over HTTP on
//! this machine.
//!
//! ```text
//! stdio, http ─> handler ─> tools, resources ─> Session
//! └ roots, narrowed by client_roots: readable folders and servers
//! ```

mod answers;
mod client_roots;
mod file_part;
mod handler;
mod http;
mod parameters;
mod progress;
mod prompts;
mod resources;
mod rest;
mod shared;
mod tools;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use report::{Report, say};
use rmcp::ServiceExt;
use rmcp::transport::stdio;
use tokio_util::sync::CancellationToken;

use crate::error::{Error, ErrorKind, Result};
use crate::inspection::Inspection;
use crate::opening::Fetch;
use crate::reasoner::ReasonerChoice;
pub use crate::roots::Roots;
use crate::session::{Analyst, Session};
use handler::Handler;
use shared::Shared;

/// How long a stopped analysis may take to save its partial report; it may be in the middle of one large file.
const GRACE: Duration = Duration::from_secs(10);

pub struct Options {
    /// Loopback address to serve over HTTP; `None` for stdin and stdout.
    pub http: Option<SocketAddr>,
    /// Folders and History Servers with readable jobs.
    pub roots: Roots,
    pub reasoner: ReasonerChoice,
    /// Who analyzes jobs.
    pub analyst: Arc<dyn Analyst>,
    pub fetch: Arc<dyn Fetch>,
    pub renderers: Renderers,
}

/// Text of structured answers, for clients that show only text.
#[derive(Clone, Copy)]
pub struct Renderers {
    /// A report as Markdown.
    pub report: fn(&Report) -> String,
    /// An inspection as plain text.
    pub inspection: fn(&Inspection) -> String,
}

/// Serves until the client leaves or `stop` is cancelled; then stops running calls, and waits a moment for them to save their
/// results.
pub async fn serve(session: Arc<Session>, options: Options, stop: CancellationToken) -> Result<()> {
    let monitor_roots = say!(
        "可读取作业的目录：{listed}",
        "jobs may be read in {listed}",
        listed = options.roots.listed()
    );
    session.monitor().remark(&monitor_roots);
    let http = options.http;
    let shared = Arc::new(Shared::new(session, options, stop));
    let served = match http {
        Some(address) => http::serve(address, &shared).await,
        None => serve_stdio(&shared).await,
    };
    shared.stop.cancel();
    shared.running.close();
    // Slower analyses end with the process, and their runs are marked as interrupted.
    let _ = tokio::time::timeout(GRACE, shared.running.wait()).await;
    served
}

async fn serve_stdio(shared: &Arc<Shared>) -> Result<()> {
    let failed = |e: &dyn std::error::Error| {
        Error::from_source(ErrorKind::Other, e).hint(say!(
            "`scopeagent mcp` 在标准输入输出上使用该协议，由客户端启动",
            "`scopeagent mcp` speaks the protocol on stdin and stdout; a client starts it"
        ))
    };
    let handler = Handler::new(Arc::clone(shared));
    let serving = handler.serve_with_ct(stdio(), shared.stop.child_token());
    let service = serving.await.map_err(|e| failed(&e))?;
    service.waiting().await.map_err(|e| failed(&e))?;
    Ok(())
}
