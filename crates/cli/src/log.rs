//! The log on stderr: text for people, or one JSON object per line.

use std::borrow::Cow;
use std::fmt;
use std::io;

use anstream::AutoStream;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;

use report::visible_line;

use crate::args::{Global, LogFormat, LogLevel};
use crate::safe;

/// Target of the program's own messages.
const OWN: &str = "scopeagent";

/// Starts the log. Libraries log from `debug` on: their errors quote whole requests and answers, and come back as errors of ours.
pub(crate) fn start(global: &Global, color: anstream::ColorChoice) {
    let own = level(global);
    let others = match own {
        LevelFilter::TRACE => LevelFilter::DEBUG,
        LevelFilter::DEBUG => LevelFilter::INFO,
        _ => LevelFilter::OFF,
    };
    let filter = Targets::new().with_target(OWN, own).with_default(others);
    let registry = tracing_subscriber::registry().with(filter);
    let stderr = move || Changed(llm::hide, AutoStream::new(io::stderr(), color));
    // A second start (tests) keeps the first log.
    let _ = match global.log_format {
        LogFormat::Json => {
            let layer = tracing_subscriber::fmt::layer()
                .json()
                .flatten_event(true)
                .with_writer(|| Changed(llm::hide, Changed(safe::json, io::stderr())));
            tracing::subscriber::set_global_default(registry.with(layer))
        }
        LogFormat::Text => {
            let layer = tracing_subscriber::fmt::layer()
                .event_format(Plain)
                .with_writer(stderr);
            tracing::subscriber::set_global_default(registry.with(layer))
        }
    };
}

/// A library's panic is caught and reported as an error, so it prints no message here.
pub(crate) fn keep_guarded_panics_quiet() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if indexer::is_guarded() {
            tracing::debug!("a library gave up: {panic}");
        } else {
            usual(panic);
        }
    }));
}

fn level(global: &Global) -> LevelFilter {
    if global.quiet {
        return LevelFilter::ERROR;
    }
    match global.log_level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    }
}

/// Writes lines after a change. Each line comes in one piece.
struct Changed<W>(fn(&str) -> Cow<'_, str>, W);

impl<W: io::Write> io::Write for Changed<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        self.1.write_all(self.0(&text).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.1.flush()
    }
}

/// Lines for people: remarks as they are, warnings with a prefix.
struct Plain;

impl<S, N> FormatEvent<S, N> for Plain
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut out: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut line = Line::default();
        event.record(&mut line);
        let line = Line {
            message: safe::terminal(&line.message).into_owned(),
            fields: visible_line(&line.fields).into_owned(),
        };
        let dim = anstyle::Style::new().dimmed();
        let yellow = anstyle::AnsiColor::Yellow.on_default().bold();
        match *event.metadata().level() {
            // An error brings its own `error:` and hint.
            Level::ERROR => writeln!(out, "{}{}", line.message.trim_end(), line.fields),
            Level::WARN => writeln!(
                out,
                "{yellow}warning:{yellow:#} {}{}",
                line.message, line.fields
            ),
            Level::INFO => writeln!(out, "{}{}", line.message, line.fields),
            Level::DEBUG | Level::TRACE => {
                writeln!(out, "{dim}{}{}{dim:#}", line.message, line.fields)
            }
        }
    }
}

#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        } else {
            self.fields
                .push_str(&format!(" {}={value:?}", field.name()));
        }
    }
}
