//! The terminal: data on stdout, everything else on stderr, and both only as far as they are wanted.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use anstream::{AutoStream, ColorChoice};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::{Global, When};
use crate::error::{CliError, Result};
use crate::exit::Exit;

/// What the user wants to see.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminal {
    color: ColorChoice,
    quiet: bool,
}

impl Terminal {
    /// As the flags say; `auto` looks at the terminal and at NO_COLOR.
    pub(crate) fn new(global: &Global) -> Terminal {
        let color = match global.color {
            _ if global.no_color => ColorChoice::Never,
            When::Auto => ColorChoice::Auto,
            When::Always => ColorChoice::AlwaysAnsi,
            When::Never => ColorChoice::Never,
        };
        Terminal {
            color,
            quiet: global.quiet,
        }
    }

    /// Prints data on stdout. A reader that went away (`| head`) is not an error.
    pub(crate) fn print(&self, text: &str) -> Result<()> {
        let mut out = AutoStream::new(io::stdout(), self.color).lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
                Err(CliError::from_source(Exit::Failure, &e).hint("stdout could not be written"))
            }
            _ => Ok(()),
        }
    }

    /// Says something that is not data, unless quiet.
    pub(crate) fn remark(&self, text: &str) {
        if !self.quiet {
            self.complain(&format!("{text}\n"));
        }
    }

    /// Says something even if quiet: errors.
    pub(crate) fn complain(&self, text: &str) {
        // There is nobody left to tell if stderr is closed.
        let _ = AutoStream::new(io::stderr(), self.color).write_all(text.as_bytes());
    }

    /// A progress line on stderr; invisible where no terminal is, or if quiet.
    pub(crate) fn progress(&self, what: &str) -> Progress {
        let visible = !self.quiet && io::stderr().is_terminal();
        let target = if visible {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target).with_prefix(what.to_owned());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        Progress(bar)
    }
}

/// A progress line.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Shows what is being done, and how much of it.
    pub(crate) fn show(&self, what: &str, done: usize, total: usize) {
        match total {
            0 => self.0.set_message(what.to_owned()),
            _ => self.0.set_message(format!("{what} {done}/{total}")),
        }
    }

    /// Takes the line away.
    pub(crate) fn finish(self) {
        self.0.finish_and_clear();
    }
}
