//! `scopeagent mcp`: the session as an MCP server.

use std::sync::Arc;

use server::Result;
use server::mcp::{self, Options, Renderers, Roots};

use super::serving;
use crate::args::Mcp;
use crate::config::Config;
use crate::exit::Exit;
use crate::render;
use crate::session;
use crate::sources::Servers;
use crate::terminal::Terminal;
use crate::worker::Pool;

/// Serves until the client leaves or the program is interrupted.
pub(crate) fn run(args: &Mcp, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let runtime = session::runtime()?;
    let roots = serving::roots(&args.serving.roots, &config.mcp.allowed_roots);
    let options = Options {
        http: args.http,
        roots: Roots::new(&roots)?,
        fetch: Arc::new(Servers::new(&roots, runtime.handle())),
        reasoner: serving::reasoner(&args.serving),
        analyst: Arc::new(Pool::new(args.serving.limits.budget(), terminal)),
        renderers: Renderers {
            report: render::markdown::render,
            inspection: |inspection| {
                let text = render::inspection::render(inspection, None);
                anstream::adapter::strip_str(&text).to_string()
            },
        },
    };
    serving::serve(runtime, config, terminal, |session, stop| {
        mcp::serve(session, options, stop)
    })
}
