//! `scopeagent batch advise`: an LLM's advice on clusters of findings.

use std::sync::Arc;

use agent::model::Preview;
use batch::{Advising, Caps, Ledger, Outcome, Spent, Stopped, Store, Totals};
use report::{say, visible_line};
use serde::Serialize;
use server::{Error, ErrorKind, Mode, ReasonerChoice, Result};
use tokio_util::sync::CancellationToken;

use super::program::adviser;
use crate::args::BatchAdvise;
use crate::config::Config;
use crate::exit::Exit;
use crate::render;
use crate::session;
use crate::sources::{explained, sources};
use crate::terminal::{Progress, Terminal};

/// Result of a call.
#[derive(Debug, Default, Serialize)]
struct Answer {
    store: String,
    clusters: usize,
    /// Clusters that had advice already.
    known: usize,
    advised: usize,
    /// Clusters about which no answer could be used.
    failed: usize,
    /// Calls that failed for now.
    postponed: usize,
    /// Why no more was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<String>,
    /// Of all calls on this store, earlier ones included.
    spent: Spent,
}

/// The calls that a dry run would make.
#[derive(Debug, Serialize)]
struct Planned {
    clusters: usize,
    #[serde(flatten)]
    sums: render::Planned,
}

impl Planned {
    /// The sums, and the prompt of the costliest cluster.
    fn said(&self, previews: &[Preview]) -> String {
        let first = previews.iter().take(1);
        let prompt: String = first.map(|p| render::prompt(p, None)).collect();
        format!("{}\n\n{prompt}", self.sums.said())
    }
}

pub(super) fn run(args: &BatchAdvise, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let runtime = session::runtime()?;
    let session = session::open_resident(config, terminal, &runtime)?;
    let sources = sources([]);
    let store = Store::open(sources.access(), &args.store).map_err(explained)?;
    let caps = Caps {
        cost: args.max_cost,
        calls: args.max_calls,
    };
    let calls = usize::from(args.concurrency);
    let ledger = Arc::new(Ledger::new(store.clone(), caps, calls));
    let choice = ReasonerChoice {
        mode: Mode::Llm,
        profile: args.llm.clone(),
        redact: args.redact,
        dry_run: args.dry_run,
        no_fallback: true,
        budget: Some(Arc::clone(&ledger) as _),
        ..ReasonerChoice::default()
    };
    let announced = session.check_reasoner(&choice)?;
    let knowledge = session::knowledge(config)?;
    let cancel = CancellationToken::new();
    session::cancel_on_interrupt(runtime.handle(), cancel.clone());
    let mut answer = Answer {
        store: store.name().to_owned(),
        ..Answer::default()
    };
    let line = terminal.progress(&say!("读取结果", "reading results"));
    let mut report = |outcome: &Outcome, clusters: usize| answer.add(outcome, clusters, &line);
    let (totals, previews) = session.with_services(&choice, &cancel, |services| {
        let advising = Advising {
            store: &store,
            program: adviser(config, &knowledge, args.redact, &announced),
            services,
            ledger: &ledger,
            // answers come in bursts, after which each place wants a call that is ready
            concurrency: 2 * calls,
            cancel: cancel.clone(),
        };
        match args.dry_run {
            true => runtime.block_on(advising.preview(args.retry_failed)),
            false => runtime.block_on(advising.run(args.retry_failed, &mut report)),
        }
    })?;
    drop(line);
    let Totals { clusters, stopped } = totals.map_err(explained)?;
    if args.dry_run {
        let sums = render::Planned::of(&previews);
        let planned = Planned { clusters, sums };
        crate::command::show(terminal, args.format, &planned, || planned.said(&previews))?;
        return Ok(Exit::Success);
    }
    answer.clusters = clusters;
    answer.spent = ledger.spent();
    answer.stopped = stopped.as_ref().map(|stopped| match stopped {
        Stopped::Budget(reason) | Stopped::Failures(reason) => llm::hide(reason).into_owned(),
    });
    crate::command::show(terminal, args.format, &answer, || said(&answer))?;
    match stopped {
        _ if cancel.is_cancelled() => Ok(Exit::Interrupted),
        Some(Stopped::Failures(reason)) => {
            let reason = llm::hide(&reason).into_owned();
            let hint = say!(
                "请用 `scopeagent doctor` 检查 LLM 配置，然后再次执行该命令",
                "check the profile with `scopeagent doctor`, then repeat the call"
            );
            Err(Error::new(ErrorKind::Llm, reason).hint(hint))
        }
        Some(Stopped::Budget(_)) | None => Ok(match answer.postponed {
            0 => Exit::Success,
            _ => Exit::Failure,
        }),
    }
}

impl Answer {
    fn add(&mut self, outcome: &Outcome, clusters: usize, line: &Progress) {
        match outcome {
            Outcome::Known => self.known += 1,
            Outcome::Advised(_) => self.advised += 1,
            Outcome::Failed { cause, reason } => {
                self.failed += 1;
                warn(line, cause, reason);
            }
            Outcome::Postponed { cause, reason } => {
                self.postponed += 1;
                warn(line, cause, reason);
            }
            Outcome::Stopped(_) | Outcome::Interrupted => {}
        }
        let done = self.known + self.advised + self.failed;
        line.show(&say!("询问 LLM", "asking"), done, clusters);
    }
}

fn warn(line: &Progress, cause: &str, reason: &str) {
    let reason = llm::hide(reason);
    let reason = visible_line(reason.lines().next().unwrap_or_default());
    line.aside(|| tracing::warn!("{cause}: {reason}"));
}

fn said(answer: &Answer) -> String {
    let Answer {
        clusters,
        known,
        advised,
        failed,
        postponed,
        spent,
        ..
    } = answer;
    let mut text = say!(
        "共 {clusters} 组问题：新取得 {advised} 组的建议，{known} 组已有建议",
        "{clusters} clusters: {advised} advised on now, {known} before"
    );
    if failed + postponed > 0 {
        text += &say!(
            "；{failed} 组得不到可用的回答，{postponed} 组下次再问",
            "; {failed} without a usable answer, {postponed} left for the next call"
        );
    }
    let (calls, cost) = (spent.calls, spent.cost);
    text += "\n";
    text += &say!(
        "该结果库累计调用 LLM {calls} 次",
        "{calls} LLM calls on this store so far"
    );
    if cost > 0.0 {
        let cost = report::format::figure(cost);
        text += &say!("，花费 {cost}", ", cost {cost}");
    }
    if let Some(reason) = &answer.stopped {
        let reason = visible_line(reason);
        text += &say!("\n已停止：{reason}", "\nstopped: {reason}");
    }
    text + "\n"
}
