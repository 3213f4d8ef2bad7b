//! Front end for Spark: event logs in any compression and of any version since 2.2, read in one
//! pass and in bounded memory.
//!
//! `codec` and `lines` turn bytes into lines, `event` lines into events, `collect` gathers events in
//! any sequence, and `build` makes stages, operators, edges and facts of them.

#[cfg(test)]
mod bounded_tests;
mod build;
pub mod code;
mod codec;
mod collect;
mod details;
pub(crate) mod driver_log;
mod edges;
mod event;
mod expression;
mod facts;
mod failure;
mod forget;
mod info;
mod limits;
mod lineage;
mod lines;
mod lists;
mod operators;
mod plan;
mod plan_text;
mod reasons;
mod record;
mod stages;
mod start;
mod streams;
mod tasks;
mod texts;
mod values;

use std::fs::File;
use std::io::Read;

use crate::model::{FileKind, Job};

pub(crate) use collect::Collector;
pub use expression::listed;
pub use failure::exit_code;
pub(crate) use lines::read;

/// Builds the job from the collected events; `stopped` if the rest of the log was left unread.
pub(crate) fn finish(mut log: Collector, stopped: bool, job: &mut Job) {
    log.app.left_unread = stopped;
    build::build(log, job);
}

/// Whether a file is part of an event log, by its first bytes: `None` if it is not.
pub(crate) fn sniff(head: &[u8]) -> Option<FileKind> {
    /// The first event is short, except for the settings on Databricks.
    const ENOUGH: u64 = 4 << 10;
    let mut text = Vec::new();
    let mut stream = codec::unpack(head).ok()?;
    stream.by_ref().take(ENOUGH).read_to_end(&mut text).ok()?;
    // the reader reports the reason later
    let unsupported = |error: &std::io::Error| error.kind() == std::io::ErrorKind::Unsupported;
    if text.is_empty() && stream.cut.as_ref().is_some_and(unsupported) {
        return Some(FileKind::SparkEvents);
    }
    let text = String::from_utf8_lossy(&text);
    let text = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    event::begins_log(text).then_some(FileKind::SparkEvents)
}

/// The first bytes of a log's events.
pub(crate) fn head(file: File, most: u64) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    codec::unpack(file)?.take(most).read_to_end(&mut head)?;
    Ok(head)
}

/// Whether a compressed log is cut off before its first event.
pub(crate) fn is_cut_at_start(file: File) -> bool {
    let Ok(mut stream) = codec::unpack(file) else {
        return false;
    };
    let mut first = [0];
    matches!(stream.read(&mut first), Ok(0)) && stream.cut.is_some()
}

/// Number of a part of a rolling log: 3 of `events_3_app-20261122011042-0000.zstd`.
pub(crate) fn part(name: &str) -> Option<u32> {
    let own = name.rsplit('/').next().unwrap_or(name);
    own.strip_prefix("events_")?.split('_').next()?.parse().ok()
}

/// Whether a log or a part of it has the beginning of an application.
pub(crate) fn begins_application(file: File) -> bool {
    /// The events before it include all settings.
    const ENOUGH: u64 = 4 << 20;
    let event = b"\"Event\":\"SparkListenerApplicationStart\"";
    head(file, ENOUGH).is_ok_and(|text| memchr::memmem::find(&text, event).is_some())
}
