//! `scopeagent batch plan`: which jobs there are.

use batch::{Entry, Sources, Store, Wanted};
use futures::stream::StreamExt;
use report::format::JOB;
use report::say;
use serde::Serialize;
use server::{Error, Result};

use crate::args::BatchPlan;
use crate::exit::Exit;
use crate::session;
use crate::sources::{explained, sources};
use crate::terminal::Terminal;

/// Sources that are listed concurrently.
const CONCURRENT: usize = 8;

/// Result of a plan.
#[derive(Debug, Serialize)]
pub(super) struct Planned {
    pub(super) jobs: usize,
    pub(super) new: usize,
    pub(super) changed: usize,
    /// Sources that cannot be listed.
    #[serde(skip)]
    pub(super) missing: Vec<Error>,
}

impl Planned {
    /// Reports the sources that cannot be listed; the exit status of a call that did the rest.
    pub(super) fn report_missing(&self, terminal: &Terminal) -> Exit {
        self.missing.iter().for_each(|error| terminal.fail(error));
        match self.missing.is_empty() {
            true => Exit::Success,
            false => Exit::Input,
        }
    }
}

pub(super) fn run(args: &BatchPlan, terminal: &Terminal) -> Result<Exit> {
    let runtime = session::runtime()?;
    let sources = sources(args.sources.iter().map(String::as_str));
    let store = Store::open(sources.access(), &args.out).map_err(explained)?;
    let progress = terminal.progress("listing");
    let wanted = args.listing.wanted();
    let planned = runtime.block_on(plan(&sources, &args.sources, &store, &wanted));
    drop(progress);
    let planned = planned?;
    crate::command::show(terminal, args.format, &planned, || said(&planned, &store))?;
    Ok(planned.report_missing(terminal))
}

/// Lists the jobs of the sources into the manifest. Sources that cannot be listed are left out, unless none can.
pub(super) async fn plan(
    sources: &Sources,
    from: &[String],
    store: &Store,
    wanted: &Wanted,
) -> Result<Planned> {
    let listed = futures::stream::iter(from)
        .map(|source| batch::discover(sources, source, store.name(), wanted))
        .buffered(CONCURRENT);
    let listed: Vec<_> = listed.collect().await;
    let (mut entries, mut missing): (Vec<Entry>, Vec<Error>) = Default::default();
    for source in listed {
        match source {
            Ok(found) => entries.extend(found),
            Err(error) => missing.push(explained(error)),
        }
    }
    if missing.len() == from.len()
        && let Some(error) = missing.pop()
    {
        return Err(error);
    }
    let changes = store.plan(entries).await;
    let changes = changes.map_err(explained)?;
    Ok(Planned {
        jobs: changes.new + changes.changed + changes.unchanged,
        new: changes.new,
        changed: changes.changed,
        missing,
    })
}

pub(super) fn said(planned: &Planned, store: &Store) -> String {
    let (new, changed, store) = (planned.new, planned.changed, store.name());
    let said = say!(
        "找到{jobs}：相对 `{store}` 的清单，{new} 个为新增，{changed} 个有变化",
        "{jobs} found: {new} new, {changed} changed since they were planned in `{store}`",
        jobs = JOB.count(planned.jobs as f64)
    );
    said + "\n"
}
