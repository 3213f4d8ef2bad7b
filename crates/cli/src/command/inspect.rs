//! `scopeagent inspect`: what a job folder contains.

use crate::args::Inspect;
use crate::exit::Exit;
use crate::render;
use crate::sources;
use crate::terminal::Terminal;
use server::Result;
use server::inspection::Inspection;

pub(crate) fn run(args: &Inspect, terminal: &Terminal) -> Result<Exit> {
    let progress = terminal.progress("reading");
    let opened = sources::open(&args.job)?;
    let job = opened.as_ref().map_or(&args.job, |opened| &opened.path);
    let inspection = Inspection::read(job, args.stage.as_deref());
    drop(progress);
    let mut inspection = inspection?;
    if let Some(origin) = opened.and_then(|opened| opened.origin) {
        inspection.path = origin;
    }
    super::show(terminal, args.format, &inspection, || {
        render::inspection::render(&inspection, render::layout::terminal_width())
    })?;
    Ok(Exit::Success)
}
