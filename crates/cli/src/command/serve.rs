//! `scopeagent serve`: the session as a web page.

use std::fs;
use std::sync::Arc;

use secrecy::SecretString;
use server::web::{self, Options};
use server::{ErrorKind, Explain, Result};
use tokio_util::sync::CancellationToken;

use super::mcp::{reasoner, roots, stop_on_signals};
use crate::args::Serve;
use crate::config::{self, Config};
use crate::exit::Exit;
use crate::session;
use crate::terminal::Terminal;
use crate::worker::Pool;

/// Folder for uploads in the data folder.
const UPLOADS: &str = "uploads";

/// Serves until the program is interrupted.
pub(crate) fn run(args: &Serve, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let runtime = session::runtime()?;
    let options = Options {
        address: args.address,
        token: token(args)?,
        hosts: args.hosts.clone(),
        roots: roots(&args.serving.roots, &config.mcp.allowed_roots),
        uploads: config::data_folder(config).join(UPLOADS),
        reasoner: reasoner(&args.serving),
        analyst: Arc::new(Pool::new(args.serving.limits.budget(), terminal)),
    };
    let session = Arc::new(session::open_resident(config, terminal, &runtime)?);
    let stop = CancellationToken::new();
    let served = runtime.block_on(async {
        tokio::spawn(stop_on_signals(stop.clone()));
        web::serve(session, options, stop).await
    });
    runtime.shutdown_background();
    served.map(|()| Exit::Success)
}

fn token(args: &Serve) -> Result<Option<SecretString>> {
    let Some(file) = &args.token_file else {
        return Ok(args.token.clone().map(SecretString::from));
    };
    let hint = format!(
        "`{}` must be a file with the token on its first line",
        file.display()
    );
    let text = fs::read_to_string(file).explain(ErrorKind::Usage, hint)?;
    let first = text.lines().next().unwrap_or_default().trim();
    Ok(Some(SecretString::from(first.to_owned())))
}
