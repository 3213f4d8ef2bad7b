//! `scopeagent batch enqueue` and `batch work`: jobs handed out by NATS JetStream.

use std::time::Duration;

use batch::{Servers, Shard, Step};
use report::format::JOB;
use report::say;
use serde_json::json;
use server::Result;

use super::open::{open, pool};
use super::watch::Watch;
use crate::args::{BatchEnqueue, BatchWork, Nats};
use crate::budget::Budget;
use crate::config::{self, Config};
use crate::exit::Exit;
use crate::sources::explained;
use crate::terminal::Terminal;
use crate::worker::Pool;

pub(super) fn enqueue(args: &BatchEnqueue, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let pool = Pool::new(Budget::default(), terminal);
    let session = open(&args.store, &[], &args.thinking, pool, config, terminal)?;
    let batch = &session.batch;
    let enqueued = session.runtime.block_on(async {
        if args.retry_failed {
            batch.forget_failures(Shard::WHOLE).await?;
        }
        batch.enqueue(&servers(&args.nats)).await
    });
    let enqueued = enqueued.map_err(explained)?;
    let (jobs, known, copies) = (enqueued.jobs, enqueued.known, enqueued.copies);
    let answer = json!({ "jobs": jobs, "known": known, "copies": copies });
    crate::command::show(terminal, args.format, &answer, || {
        let said = say!(
            "{jobs}已入队（{copies} 份副本）；{known} 个已有结果",
            "{jobs} enqueued, on {copies} of the servers; {known} have a result already",
            jobs = JOB.count(jobs as f64)
        );
        said + "\n"
    })?;
    Ok(Exit::Success)
}

pub(super) fn work(args: &BatchWork, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let pool = pool(&args.engine, terminal);
    let allowed = &args.engine.history_servers;
    let thinking = &args.thinking;
    let session = open(&args.store, allowed, thinking, pool, config, terminal)?;
    let handle = session.runtime.handle();
    let mut watch = Watch::start(terminal, None, 0, args.engine.metrics, handle)?;
    let mut report = |step: Step| watch.step(&step);
    let servers = servers(&args.nats);
    let (workers, ack_wait) = (
        usize::from(args.engine.workers),
        Duration::from_secs(args.ack_wait),
    );
    let worked = session
        .batch
        .work(&servers, workers, ack_wait, &session.cancel, &mut report);
    let worked = session.runtime.block_on(worked);
    watch.finish(&session.batch.store, args.format)?;
    worked.map_err(explained)?;
    // failed jobs are results too: other workers may have the successful ones
    Ok(match session.cancel.is_cancelled() {
        true => Exit::Interrupted,
        false => Exit::Success,
    })
}

fn servers(nats: &Nats) -> Servers {
    nats.urls
        .split(',')
        .for_each(|url| config::learn_url(url.trim()));
    Servers {
        urls: nats.urls.clone(),
        credentials: nats.credentials.clone(),
    }
}
