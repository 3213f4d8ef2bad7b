//! `scopeagent mcp`: the session as an MCP server.

use std::path::PathBuf;
use std::sync::Arc;

use server::mcp::{self, Options, Renderers, Roots};
use server::{ReasonerChoice, Result};
use tokio_util::sync::CancellationToken;

use crate::args::Mcp;
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
        roots: roots(&args.roots, &config.mcp.allowed_roots)?,
        reasoner: ReasonerChoice {
            mode: args.reasoner,
            profile: args.llm.clone(),
            redact: args.redact,
            ..ReasonerChoice::default()
        },
        analyst: Arc::new(Pool::new(args.limits.budget(), terminal)),
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
fn roots(flags: &[PathBuf], configured: &[PathBuf]) -> Result<Roots> {
    let chosen = [flags, configured].into_iter().find(|r| !r.is_empty());
    Roots::new(chosen.unwrap_or(&[PathBuf::from(".")]))
}

/// Ctrl-C and the system's request to end stop everything that runs.
async fn stop_on_signals(stop: CancellationToken) {
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
        let folder = tempfile::tempdir().expect("a folder");
        let [flag, configured] = ["flag", "configured"].map(|name| folder.path().join(name));
        for root in [&flag, &configured] {
            std::fs::create_dir(root).expect("made");
        }
        let single = |root: &PathBuf| Roots::new(std::slice::from_ref(root)).expect("roots");
        let chosen = |flags: &[PathBuf]| roots(flags, std::slice::from_ref(&configured));
        assert_eq!(chosen(&[]).expect("roots"), single(&configured));
        assert_eq!(
            chosen(std::slice::from_ref(&flag)).expect("roots"),
            single(&flag)
        );
    }
}
