//! `scopeagent inspect`: the content of a job folder.

use crate::args::{Format, Inspect};
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
    let columns = render::layout::terminal_width();
    let text = match args.format {
        Format::Json => super::json(&inspection)?,
        Format::Text => render::inspection::render(&inspection, columns),
    };
    terminal.out(&args.target).write(&text)?;
    Ok(Exit::Success)
}
