//! `scopeagent inspect`: what a job folder contains.

use crate::args::{Format, Inspect};
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
    let columns = render::layout::terminal_width();
    let text = match args.format {
        Format::Json => super::json(&inspection)?,
        Format::Text => render::inspection::render(&inspection, columns),
    };
    terminal.out(&args.target).write(&text)?;
    Ok(Exit::Success)
}
