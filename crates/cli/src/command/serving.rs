//! Shared code of the server commands: a resident session, until the program is interrupted.

use std::path::PathBuf;
use std::sync::Arc;

use server::{ReasonerChoice, Result, Session};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::args::Serving;
use crate::config::Config;
use crate::exit::Exit;
use crate::session;
use crate::terminal::Terminal;

/// Opens a session and serves it until `work` ends; Ctrl-C and the system's request to end cancel the token.
pub(super) fn serve<F: Future<Output = Result<()>>>(
    runtime: Runtime,
    config: &Config,
    terminal: &Terminal,
    work: impl FnOnce(Arc<Session>, CancellationToken) -> F,
) -> Result<Exit> {
    let session = Arc::new(session::open_resident(config, terminal, &runtime)?);
    let stop = CancellationToken::new();
    let served = runtime.block_on(async {
        tokio::spawn(stop_on_signals(stop.clone()));
        work(session, stop).await
    });
    // Work that blocks its thread ends with the process.
    runtime.shutdown_background();
    served.map(|()| Exit::Success)
}

/// The roots of the flags, otherwise the configured roots, otherwise the current folder.
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
        let [flag, configured] = ["flag", "configured"].map(|name| vec![PathBuf::from(name)]);
        assert_eq!(roots(&[], &configured), configured);
        assert_eq!(roots(&flag, &configured), flag);
        assert_eq!(roots(&[], &[]), [PathBuf::from(".")]);
    }
}
