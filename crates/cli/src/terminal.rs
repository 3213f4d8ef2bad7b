//! The terminal: data on stdout, everything else on stderr.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use anstream::{AutoStream, ColorChoice};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::{Global, LogFormat, LogLevel, Target, When};
use crate::exit::Exit;
use crate::safe;
use report::{Language, say, visible, visible_line};
use server::{Error, ErrorKind, LABELS, Result, error};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminal {
    color: ColorChoice,
    quiet: bool,
    progress: bool,
    log_format: LogFormat,
}

impl Terminal {
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
            // Log lines would break up a moving progress line.
            progress: !global.quiet
                && global.log_format == LogFormat::Text
                && global.log_level <= LogLevel::Info,
        }
    }

    /// Prints data on stdout. A reader that is gone (`| head`) is not an error.
    pub(crate) fn print(&self, text: &str) -> Result<()> {
        let text = safe::terminal(text);
        let text = llm::hide(&text);
        let has_style = text.contains('\u{1b}');
        let mut out: Box<dyn Write> = match has_style {
            true => Box::new(AutoStream::new(io::stdout(), self.color).lock()),
            false => Box::new(io::stdout().lock()),
        };
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
                Err(Error::from_source(ErrorKind::Other, &e)
                    .hint(say!("标准输出不可写", "stdout is not writable")))
            }
            _ => Ok(()),
        }
    }

    /// Where data goes: stdout, or the file that the user names.
    pub(crate) fn out<'a>(&'a self, target: &'a Target) -> Out<'a> {
        Out {
            terminal: self,
            path: target.out.as_deref(),
            file: None,
        }
    }

    /// Prints a remark on stderr, unless quiet.
    pub(crate) fn remark(&self, text: &str) {
        tracing::info!("{text}");
    }

    /// Prints why the program ends, even if quiet.
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

    /// Prints a question on stderr; the answer follows on the same line.
    pub(crate) fn prompt(&self, text: &str) {
        let mut err = AutoStream::new(io::stderr(), self.color);
        // If stderr is closed, the question cannot be asked.
        let _ = err
            .write_all(llm::hide(&safe::terminal(text)).as_bytes())
            .and_then(|()| err.flush());
    }

    /// Whether stdin and stdout are a terminal and the user wants more than the answer.
    pub(crate) fn is_interactive(&self) -> bool {
        !self.quiet && io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    /// A progress bar on stderr; hidden without a terminal, or if quiet.
    pub(crate) fn bar(&self, done: usize, total: usize) -> Bar {
        let bar = ProgressBar::with_draw_target(Some(total as u64), self.draw_target());
        let form = "{bar:30} {pos}/{len} · {elapsed} · {eta} left · {msg}";
        if let Ok(style) = ProgressStyle::with_template(form) {
            bar.set_style(style);
        }
        bar.set_position(done as u64);
        // Work of an earlier call must not distort the time left.
        bar.reset_eta();
        Bar(bar)
    }

    /// A progress line on stderr; hidden without a terminal, or if quiet. It ends when it is dropped.
    pub(crate) fn progress(&self, what: &str) -> Progress {
        let bar =
            ProgressBar::with_draw_target(None, self.draw_target()).with_prefix(what.to_owned());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        Progress(bar)
    }

    fn draw_target(&self) -> ProgressDrawTarget {
        if self.progress && io::stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        }
    }
}

impl server::Monitor for Terminal {
    fn remark(&self, text: &str) {
        Terminal::remark(self, text);
    }

    fn warn(&self, text: &str) {
        tracing::warn!("{text}");
    }

    fn progress(&self, task: &str) -> Box<server::Progress> {
        let line = Terminal::progress(self, task);
        Box::new(move |item, done, total| line.show(item, done, total))
    }
}

/// The error with `error:` and `hint:` in color.
fn colored(error: &Error) -> String {
    let red = anstyle::AnsiColor::Red.on_default().bold();
    let cyan = anstyle::AnsiColor::Cyan.on_default().bold();
    let [label, _, hint_is] =
        LABELS[usize::from(report::interface() == Language::Zh)].map(str::trim);
    let text = visible(&error.to_string()).replacen(label, &format!("{red}{label}{red:#}"), 1);
    let hint = format!("\n{hint_is}");
    match text.rsplit_once(&hint).filter(|_| error.hint.is_some()) {
        Some((before, hint)) => format!("{before}\n{cyan}{hint_is}{cyan:#}{hint}"),
        None => text,
    }
}

/// Receives data. A file is written with the first of it, so that a call that fails leaves the old one.
pub(crate) struct Out<'a> {
    terminal: &'a Terminal,
    path: Option<&'a Path>,
    file: Option<File>,
}

impl Out<'_> {
    pub(crate) fn write(&mut self, text: &str) -> Result<()> {
        let Some(path) = self.path else {
            return self.terminal.print(text);
        };
        let plain = anstream::adapter::strip_str(text).to_string();
        let written = match &mut self.file {
            Some(file) => Ok(file),
            none => File::create(path).map(|file| none.insert(file)),
        };
        let written =
            written.and_then(|file| file.write_all(llm::hide(&safe::terminal(&plain)).as_bytes()));
        written.map_err(|error| not_writable(path, &error))
    }

    /// Fails early if the file cannot be written, because its folder is missing or it is a folder itself.
    pub(crate) fn check(&self) -> Result<()> {
        let Some(path) = self.path else {
            return Ok(());
        };
        let folder = path.parent().filter(|f| !f.as_os_str().is_empty());
        let found = folder.map_or(Ok(()), |folder| std::fs::metadata(folder).map(drop));
        let fits = found.and_then(|()| match path.is_dir() {
            true => Err(io::ErrorKind::IsADirectory.into()),
            false => Ok(()),
        });
        fits.map_err(|error| not_writable(path, &error))
    }
}

fn not_writable(path: &Path, error: &io::Error) -> Error {
    let file = path.display();
    let hint = say!(
        "请检查目录是否存在、是否可写，磁盘是否已满",
        "check that its folder exists and is writable, and that the disk is not full"
    );
    error!(Other: "无法写入 `{file}`", "`{file}` is not writable")
        .because(error)
        .hint(hint)
}

pub(crate) struct Bar(ProgressBar);

impl Bar {
    pub(crate) fn at(&self, position: usize, message: &str) {
        self.0.set_message(message.to_owned());
        self.0.set_position(position as u64);
    }

    /// Whether the bar is invisible.
    pub(crate) fn is_hidden(&self) -> bool {
        self.0.is_hidden()
    }

    /// Prints something above the bar.
    pub(crate) fn aside(&self, say: impl FnOnce()) {
        self.0.suspend(say);
    }

    pub(crate) fn finish(self) {
        self.0.finish_and_clear();
    }
}

pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(crate) fn show(&self, what: &str, done: usize, total: usize) {
        let what = visible_line(what);
        let what = llm::hide(&what);
        match total {
            0 => self.0.set_message(what.into_owned()),
            _ => self.0.set_message(format!("{what} {done}/{total}")),
        }
    }

    /// Whether the line is invisible.
    pub(crate) fn is_hidden(&self) -> bool {
        self.0.is_hidden()
    }

    /// Prints something above the line.
    pub(crate) fn aside(&self, say: impl FnOnce()) {
        self.0.suspend(say);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
