//! One module per command: call the libraries, pass the answer to a renderer.

pub(crate) mod analyze;
pub(crate) mod ask;
pub(crate) mod batch;
mod batches;
pub(crate) mod case;
pub(crate) mod compare;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod eval;
pub(crate) mod feedback;
pub(crate) mod fix;
pub(crate) mod history;
pub(crate) mod index;
pub(crate) mod init;
pub(crate) mod inspect;
pub(crate) mod knowledge;
pub(crate) mod lint;
pub(crate) mod mcp;
mod plans;
pub(crate) mod rules;
pub(crate) mod runs;
pub(crate) mod search;
pub(crate) mod serve;
mod serving;
pub(crate) mod trust;
pub(crate) mod whatif;

use std::path::PathBuf;
use std::thread::JoinHandle;

use anstyle::AnsiColor;
use serde::Serialize;
use server::{Documents, Knowledge, Result, error};

use crate::args::Format;
use crate::config::Config;
use crate::json::{line as json_line, pretty as json};
use crate::terminal::Terminal;

/// Prints a value as JSON, or as what `text` makes of it.
fn show(
    terminal: &Terminal,
    format: Format,
    value: &impl Serialize,
    text: impl FnOnce() -> String,
) -> Result<()> {
    terminal.print(&match format {
        Format::Json => json(value)?,
        Format::Text => text(),
    })
}

/// The knowledge folder that a command works on.
fn knowledge_folder(config: &Config) -> Result<PathBuf> {
    match crate::session::knowledge(config)?.documents {
        Documents::Folder(folder) => Ok(folder),
        Documents::Builtin => Err(error!(
            Input: "没有可编辑的知识库目录", "there is no knowledge folder to work on";
            "用 --knowledge DIR 指定；`scopeagent init` 可创建", "give one with --knowledge DIR; `scopeagent init` creates one"
        )),
    }
}

/// Something that a check found, with its code in color.
fn finding(file: &str, line: usize, color: AnsiColor, code: &str, message: &str) -> String {
    let color = color.on_default();
    format!("{file}:{line}: {color}{code}{color:#}: {message}")
}

/// Counts the documents that changed since the index was built, in another thread, if the number would be shown.
fn count_changes(knowledge: &Knowledge) -> Option<JoinHandle<usize>> {
    let knowledge = knowledge.clone();
    let is_shown = tracing::enabled!(tracing::Level::INFO);
    is_shown.then(|| std::thread::spawn(move || knowledge.changed_documents()))
}

/// Reports how many documents changed since the index was built.
fn warn_if_stale(changed: Option<JoinHandle<usize>>, terminal: &Terminal) {
    let changed = changed.and_then(|changed| changed.join().ok());
    let changed = changed.unwrap_or_default();
    if changed > 0 {
        let documents = count(changed, "document");
        terminal.remark(&report::say!(
            "索引建成后有 {changed} 篇文档变化；`scopeagent index` 可更新",
            "{documents} changed since the index was built; `scopeagent index` updates it"
        ));
    }
}

/// A count with its noun.
fn count(n: usize, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {noun}{plural}")
}
