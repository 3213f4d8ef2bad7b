//! `scopeagent serve`: the session as a web page.

use std::fs;
use std::sync::Arc;

use report::{Report, say};
use secrecy::SecretString;
use server::web::{self, Ended, Options};
use server::{ErrorKind, Explain, Result};
use tokio::runtime::Handle;

use super::batches;
use super::serving::{self, reasoner, roots};
use crate::args::{Notify, Serve};
use crate::config::{self, Config};
use crate::exit::Exit;
use crate::notify::Message;
use crate::session;
use crate::sources::Servers;
use crate::terminal::Terminal;
use crate::worker::Pool;

/// Folder for uploads in the data folder.
const UPLOADS: &str = "uploads";

/// Serves until the program is interrupted.
pub(crate) fn run(args: &Serve, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let runtime = session::runtime()?;
    let roots = roots(&args.serving.roots, &config.mcp.allowed_roots);
    let options = Options {
        fetch: Arc::new(Servers::new(&roots, runtime.handle())),
        address: args.address,
        token: token(args)?,
        hosts: args.hosts.clone(),
        roots,
        uploads: config::data_folder(config).join(UPLOADS),
        batches: batches::open(&args.batches, runtime.handle())?,
        reasoner: reasoner(&args.serving),
        ended: ended(&args.notify, runtime.handle()),
        analyst: Arc::new(Pool::new(args.serving.limits.budget(), terminal)),
    };
    serving::serve(runtime, config, terminal, |session, stop| {
        web::serve(session, options, stop)
    })
}

/// Sends a message about each analysis, without delaying it.
fn ended(notify: &Notify, runtime: &Handle) -> Option<Ended> {
    notify.notify.as_ref()?;
    let (notify, runtime) = (notify.clone(), runtime.clone());
    Some(Arc::new(move |report: &Report| {
        let (notify, message) = (notify.clone(), Message::of(report));
        runtime.spawn(async move {
            if let Err(error) = notify.send(&message).await {
                tracing::warn!("{}", error.one_line());
            }
        });
    }))
}

fn token(args: &Serve) -> Result<Option<SecretString>> {
    let Some(file) = &args.token_file else {
        return Ok(args.token.clone().map(SecretString::from));
    };
    let hint = say!(
        "`{file}` 须是第一行为令牌的文件",
        "`{file}` must be a file with the token on its first line",
        file = file.display().to_string()
    );
    let text = fs::read_to_string(file).explain(ErrorKind::Usage, hint)?;
    let first = text.lines().next().unwrap_or_default().trim();
    Ok(Some(SecretString::from(first.to_owned())))
}
