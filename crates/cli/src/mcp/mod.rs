//! `scopeagent mcp`: the same analyses, searches and runs as tools for models (Model Context
//! Protocol), on stdin and stdout or over HTTP on this machine.
//!
//! `roots` decide what may be read, `client_roots` narrow them, `tools` and `resources` answer. On
//! stdin and stdout nothing but the protocol is written; everything else goes to stderr.

mod answers;
mod client_roots;
mod file_part;
mod http;
mod parameters;
mod progress;
mod resources;
mod roots;
mod server;
mod tools;

use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::transport::stdio;
use tokio_util::sync::CancellationToken;

use crate::analysis;
use crate::args::Mcp;
use crate::config::Config;
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::terminal::Terminal;
use roots::Roots;
use server::{Server, Shared};

/// How long a stopped analysis may take to keep its partial report; one large file may be under way.
const FAREWELL: Duration = Duration::from_secs(10);

/// Serves until the client leaves, or until it is interrupted.
pub(crate) fn run(args: &Mcp, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let roots = Roots::chosen(&args.roots, config)?;
    terminal.remark(&format!("jobs may be read in {}", roots.listed()));
    let shared = Arc::new(Shared::new(args, config, *terminal, roots));
    let runtime = analysis::runtime()?;
    let served = runtime.block_on(async {
        stop_on_signals(shared.stop.clone());
        let served = match args.http {
            Some(address) => http::serve(address, &shared).await,
            None => serve_stdio(&shared).await,
        };
        farewell(&shared).await;
        served
    });
    // An analysis that is deep in one file is not waited for: its run is marked as interrupted.
    runtime.shutdown_background();
    served.map(|()| Exit::Success)
}

async fn serve_stdio(shared: &Arc<Shared>) -> Result<()> {
    let failed = |e: &dyn std::error::Error| {
        CliError::from_source(Exit::Failure, e)
            .hint("`scopeagent mcp` speaks the protocol on stdin and stdout; a client starts it")
    };
    let server = Server::new(Arc::clone(shared));
    let serving = server.serve_with_ct(stdio(), shared.stop.child_token());
    let service = serving.await.map_err(|e| failed(&e))?;
    service.waiting().await.map_err(|e| failed(&e))?;
    Ok(())
}

/// Ctrl-C, and the request of the system to end, stop everything that runs.
fn stop_on_signals(stop: CancellationToken) {
    tokio::spawn(async move {
        if interrupted().await.is_ok() {
            stop.cancel();
        }
    });
}

#[cfg(unix)]
async fn interrupted() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut end = signal(SignalKind::terminate())?;
    tokio::select! {
        done = tokio::signal::ctrl_c() => done,
        _ = end.recv() => Ok(()),
    }
}

#[cfg(not(unix))]
async fn interrupted() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}

/// Stops what still runs and waits until it has kept what it has.
async fn farewell(shared: &Shared) {
    shared.stop.cancel();
    shared.running.close();
    // Whoever needs longer is left to the end of the process.
    let _ = tokio::time::timeout(FAREWELL, shared.running.wait()).await;
}
