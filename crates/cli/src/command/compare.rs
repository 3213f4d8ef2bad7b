//! `scopeagent compare`: what changed between two runs.

use runs::compare;
use server::{Error, ErrorKind, Result};

use crate::args::{Compare, ReportFormat};
use crate::config::Config;
use crate::exit::Exit;
use crate::render;
use crate::session;
use crate::terminal::Terminal;

pub(crate) fn run(args: &Compare, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let runtime = session::runtime()?;
    let session = session::open(config, terminal, &runtime)?;
    let (a, b) = (
        session.compared_run(&args.a)?,
        session.compared_run(&args.b)?,
    );
    let language = config.language.unwrap_or(a.report.language);
    let comparison = compare::compare(&a, &b, language);
    let columns = render::layout::stdout_width();
    terminal.out(&args.target).write(&match args.format {
        ReportFormat::Json => super::json(&comparison)?,
        ReportFormat::Markdown => render::comparison::markdown(&comparison, args.all),
        ReportFormat::Html => render::comparison::html(&comparison, args.all)
            .map_err(|e| Error::from_source(ErrorKind::Other, &e))?,
        ReportFormat::Text => render::comparison::text(&comparison, columns, args.all),
    })?;
    Ok(Exit::Success)
}
