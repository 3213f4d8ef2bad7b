//! `scopeagent batch run`: the jobs without a result, on this machine.

use batch::Step;
use report::format::JOB;
use report::say;
use server::{Result, error};

use super::open::{open, pool};
use super::plan;
use super::watch::Watch;
use crate::args::BatchRun;
use crate::config::Config;
use crate::exit::Exit;
use crate::sources::explained;
use crate::terminal::Terminal;

pub(super) fn run(args: &BatchRun, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let servers = [&args.engine.history_servers[..], &args.places].concat();
    let store = store(args)?;
    let pool = pool(&args.engine, terminal);
    let session = open(store, &servers, &args.thinking, pool, config, terminal)?;
    let (runtime, batch) = (&session.runtime, &session.batch);
    let mut listed = Exit::Success;
    if args.out.is_some() {
        let line = terminal.progress("listing");
        let wanted = args.listing.wanted();
        let planned = plan::plan(&batch.sources, &args.places, &batch.store, &wanted);
        let planned = runtime.block_on(planned);
        drop(line);
        let planned = planned?;
        terminal.remark(plan::said(&planned, &batch.store).trim_end());
        listed = planned.report_missing(terminal);
    }
    let open = async {
        if args.retry_failed {
            batch.forget_failures(args.shard).await?;
        }
        batch.open_jobs(args.shard).await
    };
    let (jobs, known) = runtime.block_on(open).map_err(explained)?;
    let total = known + jobs.len();
    if known > 0 {
        terminal.remark(&say!(
            "共{total}，已有结果：{known}",
            "{known} of {total} with a result already",
            total = JOB.count(total as f64)
        ));
    }
    let handle = runtime.handle();
    let mut watch = Watch::start(terminal, Some(total), known, args.engine.metrics, handle)?;
    let mut postponed = 0_u32;
    let mut report = |step: Step| {
        postponed += u32::from(matches!(step, Step::Postponed { .. }));
        watch.step(&step);
    };
    let workers = usize::from(args.engine.workers);
    let done = runtime.block_on(batch.run(jobs, workers, &session.cancel, &mut report));
    let exit = watch.finish(&batch.store, args.format)?;
    done.map_err(explained)?;
    if session.cancel.is_cancelled() {
        return Ok(Exit::Interrupted);
    }
    if postponed > 0 {
        let warning = say!(
            "{jobs}还没有结果；再次执行该命令即可继续",
            "{jobs} without a result yet; repeat the call to continue",
            jobs = JOB.count(f64::from(postponed))
        );
        tracing::warn!("{warning}");
        return Ok(Exit::Failure);
    }
    Ok(if exit == Exit::Success { listed } else { exit })
}

/// The store of a call.
fn store(args: &BatchRun) -> Result<&str> {
    match (&args.out, args.places.as_slice()) {
        (Some(store), _) | (None, [store]) => Ok(store),
        (None, _) => Err(error!(
            Usage: "给出了多个位置，但没有用 `--out STORE` 指定结果库", "several places, and no `--out STORE` for the results";
            "请给出一个已有清单的结果库，或给出作业并加上 --out STORE", "give one planned store, or sources with --out STORE"
        )),
    }
}
