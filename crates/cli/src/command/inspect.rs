//! `scopeagent inspect`: what a job folder contains.

use crate::args::Inspect;
use crate::exit::Exit;
use crate::render;
use crate::terminal::Terminal;
use server::Result;
use server::inspection::Inspection;

pub(crate) fn run(args: &Inspect, terminal: &Terminal) -> Result<Exit> {
    let progress = terminal.progress("reading");
    let inspection = Inspection::read(&args.job, args.stage.as_deref());
    drop(progress);
    let inspection = inspection?;
    super::show(terminal, args.format, &inspection, || {
        render::inspection::render(&inspection, render::layout::terminal_width())
    })?;
    Ok(Exit::Success)
}
