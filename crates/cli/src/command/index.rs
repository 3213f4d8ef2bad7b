//! `scopeagent index`: updates, watches, verifies and describes the knowledge index.

use std::collections::BTreeMap;
use std::time::Duration;

use indexer::build::Summary;
use indexer::verify::Verification;
use indexer::{Info, Rebuild};

use crate::args::{Format, Index, IndexCommand};
use crate::config::Config;
use crate::exit::Exit;
use crate::terminal::Terminal;
use server::{Knowledge, Result};

/// Documents listed per kind of change; a first build adds all documents.
const DOCUMENTS_SHOWN: usize = 10;
/// Interval of polling, which costs milliseconds and works on network folders, unlike notifications.
const WATCH_INTERVAL: Duration = Duration::from_secs(1);

pub(crate) fn run(args: &Index, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let knowledge = crate::session::knowledge(config)?;
    match &args.command {
        Some(IndexCommand::Verify { format }) => verify(&knowledge, *format, terminal),
        Some(IndexCommand::Info { format }) => info(&knowledge, *format, terminal),
        None => update(args, &knowledge, terminal),
    }
}

fn update(args: &Index, knowledge: &Knowledge, terminal: &Terminal) -> Result<Exit> {
    let rebuild = match args {
        Index { full: true, .. } => Rebuild::Full,
        Index { reembed: true, .. } => Rebuild::Reembed,
        Index { rechunk: true, .. } => Rebuild::Rechunk,
        _ => Rebuild::Changed,
    };
    let summary = knowledge.update(rebuild, terminal)?;
    super::show(terminal, args.format, &summary, || {
        text(&summary, knowledge)
    })?;
    if args.watch {
        watch(args, knowledge, terminal)?;
    }
    Ok(Exit::found(!summary.skipped.is_empty()))
}

/// Updates whenever a document changes, until interrupted.
fn watch(args: &Index, knowledge: &Knowledge, terminal: &Terminal) -> Result<()> {
    loop {
        std::thread::sleep(WATCH_INTERVAL);
        // A document that cannot be read is being written; the next look finds it complete.
        match knowledge.update(Rebuild::Changed, terminal) {
            Ok(summary) if summary.rebuilt => {
                super::show(terminal, args.format, &summary, || {
                    text(&summary, knowledge)
                })?;
            }
            Ok(_) => {}
            Err(error) => terminal.fail(&error),
        }
    }
}

fn text(summary: &Summary, knowledge: &Knowledge) -> String {
    let mut out = format!(
        "{} chunks in `{}` ({} added, {} changed, {} moved, {} removed, {} unchanged; {} texts embedded, {} from the cache)\n",
        summary.chunks,
        knowledge.index.display(),
        super::count(summary.added.len(), "document"),
        summary.changed.len(),
        summary.moved.len(),
        summary.removed.len(),
        summary.unchanged,
        summary.embedded,
        summary.cached,
    );
    for (sign, documents) in [
        ('+', &summary.added),
        ('~', &summary.changed),
        ('-', &summary.removed),
    ] {
        for document in documents.iter().take(DOCUMENTS_SHOWN) {
            out.push_str(&format!("  {sign} {document}\n"));
        }
        if let more @ 1.. = documents.len().saturating_sub(DOCUMENTS_SHOWN) {
            out.push_str(&format!("  {sign} … and {more} more\n"));
        }
    }
    out
}

fn verify(knowledge: &Knowledge, format: Format, terminal: &Terminal) -> Result<Exit> {
    let bar = terminal.progress("verify");
    let mut shown = |p: indexer::build::Progress| bar.show("chunks", p.done, p.total);
    let verification = indexer::verify::verify(&knowledge.index, &knowledge.settings, &mut shown);
    drop(bar);
    let verification = verification?;
    super::show(terminal, format, &verification, || verified(&verification))?;
    Ok(Exit::found(!verification.is_whole()))
}

fn verified(v: &Verification) -> String {
    let mut out = format!(
        "generation {}: {} documents, {} chunks; {} found by words, {} by vector, {} without a vector\n",
        v.generation, v.documents, v.chunks, v.found_by_words, v.found_by_vector, v.without_vector
    );
    for problem in &v.problems {
        out.push_str(&format!("  {}: {}\n", problem.place, problem.reason));
    }
    out.push_str(if v.is_whole() {
        "the index is intact\n"
    } else {
        "`scopeagent index --full` rebuilds it\n"
    });
    out
}

fn info(knowledge: &Knowledge, format: Format, terminal: &Terminal) -> Result<Exit> {
    let info = indexer::info(&knowledge.index)?;
    super::show(terminal, format, &info, || described(&info))?;
    Ok(Exit::Success)
}

fn described(info: &Info) -> String {
    let counts = |counts: &BTreeMap<String, usize>| -> String {
        let each = counts.iter().map(|(name, n)| format!("{name} {n}"));
        each.collect::<Vec<_>>().join(", ")
    };
    let rows = [
        ("generation", info.generation.clone()),
        ("documents", info.documents.to_string()),
        ("chunks", info.chunks.to_string()),
        ("kinds", counts(&info.kinds)),
        ("languages", counts(&info.languages)),
        (
            "segments",
            format!("{} ({} dead rows)", info.segments, info.dead),
        ),
        (
            "embedder",
            format!("{} ({} components)", info.embedder, info.dimension),
        ),
        ("chunker", info.chunker.clone()),
        ("analyzer", info.analyser.clone()),
        ("format", info.format.to_string()),
        ("size", format!("{} bytes", info.bytes)),
    ];
    let rows = rows.iter();
    rows.map(|(name, value)| format!("{name:<11} {value}\n"))
        .collect()
}
