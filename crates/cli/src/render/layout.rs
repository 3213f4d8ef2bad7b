//! Layout for the width of the terminal.

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

/// Columns of the terminal, however many; `None` if stdout is not one.
pub(crate) fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size().map(|(w, _)| usize::from(w.0).max(MIN_WIDTH))
}
