//! `scopeagent mcp`: the session as an MCP server.

use std::path::PathBuf;
use std::sync::Arc;

use server::mcp::{self, Options, Renderers, Roots};
use server::{ReasonerChoice, Result};
use tokio_util::sync::CancellationToken;

use crate::args::{Mcp, Serving};
use crate::config::Config;
use crate::exit::Exit;
use crate::render;
use crate::session;
use crate::terminal::Terminal;
use crate::worker::Pool;

/// Serves until the client leaves or the program is interrupted.
pub(crate) fn run(args: &Mcp, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let runtime = session::runtime()?;
    let options = Options {
        http: args.http,
        roots: Roots::new(&roots(&args.serving.roots, &config.mcp.allowed_roots))?,
        reasoner: reasoner(&args.serving),
        analyst: Arc::new(Pool::new(args.serving.limits.budget(), terminal)),
        renderers: Renderers {
            report: render::markdown::render,
            inspection: |inspection| {
                let text = render::inspection::render(inspection, None);
                anstream::adapter::strip_str(&text).to_string()
            },
        },
    };
    let session = Arc::new(session::open_resident(config, terminal, &runtime)?);
    let stop = CancellationToken::new();
    let served = runtime.block_on(async {
        tokio::spawn(stop_on_signals(stop.clone()));
        mcp::serve(session, options, stop).await
    });
    runtime.shutdown_background();
    served.map(|()| Exit::Success)
}

/// The roots of the flags, else those of the configuration, else the current folder.
pub(super) fn roots(flags: &[PathBuf], configured: &[PathBuf]) -> Vec<PathBuf> {
    let chosen = [flags, configured].into_iter().find(|r| !r.is_empty());
    chosen.unwrap_or(&[PathBuf::from(".")]).to_vec()
}

pub(super) fn reasoner(serving: &Serving) -> ReasonerChoice {
    ReasonerChoice {
        mode: serving.reasoner,
        profile: serving.llm.clone(),
        redact: serving.redact,
        ..ReasonerChoice::default()
    }
}

/// Ctrl-C and the system's request to end stop everything that runs.
pub(super) async fn stop_on_signals(stop: CancellationToken) {
    if interrupted().await.is_ok() {
        stop.cancel();
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_take_precedence_over_the_configuration() {
        let [flag, configured] = ["flag", "configured"].map(|name| vec![PathBuf::from(name)]);
        assert_eq!(roots(&[], &configured), configured);
        assert_eq!(roots(&flag, &configured), flag);
        assert_eq!(roots(&[], &[]), [PathBuf::from(".")]);
    }
}
