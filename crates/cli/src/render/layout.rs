//! Layout for the width of the terminal.

use std::io::IsTerminal;

pub(crate) use ::render::layout::*;

/// Width for wrapping without a terminal.
const PLAIN_WIDTH: usize = 100;
/// Beyond this, lines are too long to read.
const MAX_WIDTH: usize = 120;
/// Below this, columns no longer fit; the terminal wraps instead.
const MIN_WIDTH: usize = 40;

/// Columns for text on stdout.
pub(crate) fn stdout_width() -> usize {
    drawing_width().min(MAX_WIDTH)
}

/// Columns for drawings and tables on stdout.
pub(crate) fn drawing_width() -> usize {
    terminal_width().unwrap_or(PLAIN_WIDTH)
}

/// Columns of the terminal, however many; without one, of the variable `COLUMNS`; else `None`.
pub(crate) fn terminal_width() -> Option<usize> {
    let terminal = || terminal_size::terminal_size().map(|(w, _)| usize::from(w.0));
    let stated = || std::env::var("COLUMNS").ok()?.trim().parse().ok();
    let columns = match std::io::stdout().is_terminal() {
        true => terminal(),
        false => stated(),
    };
    columns.filter(|n| *n > 0).map(|n| n.max(MIN_WIDTH))
}
