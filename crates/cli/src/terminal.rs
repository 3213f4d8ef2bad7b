//! The terminal: data on stdout, everything else on stderr, and both only as far as they are wanted.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use anstream::{AutoStream, ColorChoice};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::{Global, LogFormat, LogLevel, When};
use crate::exit::Exit;
use server::{Error, ErrorKind, Result};

/// What the user wants to see.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminal {
    color: ColorChoice,
    quiet: bool,
    progress: bool,
    log_format: LogFormat,
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
        crate::log::start(global, color);
        Terminal {
            color,
            quiet: global.quiet,
            log_format: global.log_format,
            // Lines of a log and a line that moves do not go together.
            progress: !global.quiet
                && global.log_format == LogFormat::Text
                && global.log_level <= LogLevel::Info,
        }
    }

    /// Prints data on stdout. A reader that went away (`| head`) is not an error.
    pub(crate) fn print(&self, text: &str) -> Result<()> {
        let mut out = AutoStream::new(io::stdout(), self.color).lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
                Err(Error::from_source(ErrorKind::Other, &e).hint("stdout could not be written"))
            }
            _ => Ok(()),
        }
    }

    /// Says something that is not data, unless quiet.
    pub(crate) fn remark(&self, text: &str) {
        tracing::info!("{text}");
    }

    /// Says why the program ends, even if quiet.
    pub(crate) fn fail(&self, error: &Error) {
        if self.log_format == LogFormat::Json {
            tracing::error!(
                causes = error.causes.join(": "),
                hint = error.hint.as_deref().unwrap_or_default(),
                status = Exit::from(error.kind) as u8,
                "{}",
                error.message
            );
        } else {
            tracing::error!("{}", colored(error));
        }
    }

    /// Asks something on stderr; the answer follows on the same line.
    pub(crate) fn prompt(&self, text: &str) {
        let mut err = AutoStream::new(io::stderr(), self.color);
        // There is nobody left to ask if stderr is closed.
        let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
    }

    /// Whether a person sits at both ends and wants to hear more than the answer.
    pub(crate) fn is_interactive(&self) -> bool {
        !self.quiet && io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    /// A bar on stderr for so many things, some of them done; invisible where no terminal is, or if quiet.
    pub(crate) fn bar(&self, done: usize, total: usize) -> Bar {
        let visible = self.progress && io::stderr().is_terminal();
        let target = if visible {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(total as u64), target);
        let form = "{bar:30} {pos}/{len} · {elapsed} · {eta} left · {msg}";
        if let Ok(style) = ProgressStyle::with_template(form) {
            bar.set_style(style);
        }
        bar.set_position(done as u64);
        // The time left counts from here, whatever was done before.
        bar.reset_eta();
        Bar(bar)
    }

    /// A progress line on stderr; invisible where no terminal is, or if quiet.
    pub(crate) fn progress(&self, what: &str) -> Progress {
        let visible = self.progress && io::stderr().is_terminal();
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

impl server::Monitor for Terminal {
    fn remark(&self, text: &str) {
        Terminal::remark(self, text);
    }

    fn progress(&self, task: &str) -> Box<dyn FnMut(&str, usize, usize)> {
        let line = Terminal::progress(self, task);
        Box::new(move |item, done, total| line.show(item, done, total))
    }
}

/// The error with `error:` and `hint:` in color.
fn colored(error: &Error) -> String {
    let red = anstyle::AnsiColor::Red.on_default().bold();
    let cyan = anstyle::AnsiColor::Cyan.on_default().bold();
    let text = error
        .to_string()
        .replacen("error:", &format!("{red}error:{red:#}"), 1);
    match text.rsplit_once("\nhint:").filter(|_| error.hint.is_some()) {
        Some((before, hint)) => format!("{before}\n{cyan}hint:{cyan:#}{hint}"),
        None => text,
    }
}

/// A bar of what is done of many things; stands still where no terminal is.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// One more is done.
    pub(crate) fn step(&self, what: &str) {
        self.0.set_message(what.to_owned());
        self.0.inc(1);
    }

    /// Says something while the bar is away for a moment.
    pub(crate) fn aside(&self, say: impl FnOnce()) {
        self.0.suspend(say);
    }

    /// Takes the bar away.
    pub(crate) fn finish(self) {
        self.0.finish_and_clear();
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

    /// Says something while the line is away for a moment.
    pub(crate) fn aside(&self, say: impl FnOnce()) {
        self.0.suspend(say);
    }

    /// Removes the line.
    pub(crate) fn finish(self) {}
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
