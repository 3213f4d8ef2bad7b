//! The worker's side: takes orders from stdin, answers on stdout, and ends with its parent.

use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};

use agent::Event;
use llm::Profile;
use report::{Language, speaking};
use secrecy::{ExposeSecret, SecretString};
use server::{Analysis, ErrorKind, Explain, Monitor, Progress, Result, Session, Task, error};
use tokio_util::sync::CancellationToken;

use super::no_thread;
use super::wire::{Order, Reply};
use crate::args::Worker;
use crate::config::Config;
use crate::exit::Exit;
use crate::{keys, session};

/// Analyzes one job after the other until stdin ends.
pub(crate) fn run(limits: &Worker, config: &Config) -> Result<Exit> {
    limit_threads(limits.job_threads)?;
    let runtime = session::runtime()?;
    let session = session::open_for(config, Arc::new(Parent), &runtime, key)?;
    // Memory shared by all jobs is mapped before the limit is set.
    let index = session.index();
    limit_memory(limits.job_memory)?;
    let stop = CancellationToken::new();
    session::cancel_on_interrupt(runtime.handle(), stop.clone());
    let (send, orders) = mpsc::channel();
    std::thread::Builder::new()
        .name("orders".to_owned())
        .spawn(move || listen(&send))
        .explain(ErrorKind::Other, no_thread())?;
    let mut failed = index.err();
    for (task, interface, heard) in orders {
        let stopping = stop.clone();
        let cancel = task.cancel.clone();
        let of_job = cancel.clone();
        runtime.spawn(async move {
            tokio::select! {
                () = stopping.cancelled() => of_job.cancel(),
                () = of_job.cancelled() => {}
            }
        });
        let done = match failed.take() {
            Some(error) => Err(error),
            None => speaking(interface, || analyze(&session, task, heard)),
        };
        cancel.cancel();
        say(&Reply::Done(Box::new(done)));
    }
    Ok(Exit::Success)
}

/// Passes messages on to the parent.
struct Parent;

impl Monitor for Parent {
    fn remark(&self, text: &str) {
        say(&Reply::Remark(text.to_owned()));
    }

    fn warn(&self, text: &str) {
        say(&Reply::Warning(text.to_owned()));
    }

    fn progress(&self, _: &str) -> Box<Progress> {
        Box::new(|_, _, _| {})
    }
}

/// Passes tasks on and cancels the current one on request. Without a parent the process exits immediately:
/// its answer has no reader, and its run counts as interrupted.
fn listen(send: &mpsc::Sender<(Task, Language, bool)>) {
    let mut current = CancellationToken::new();
    for line in io::stdin().lock().lines() {
        let order = line.ok().and_then(|line| serde_json::from_str(&line).ok());
        match order {
            Some(Order::Analyze {
                task,
                interface,
                heard,
            }) => {
                current = task.cancel.clone();
                if send.send((*task, interface, heard)).is_err() {
                    break;
                }
            }
            Some(Order::Cancel) => current.cancel(),
            None => break,
        }
    }
    std::process::exit(Exit::Success as i32);
}

fn analyze(session: &Session, task: Task, heard: bool) -> Result<Analysis> {
    let mut observer = |event: Event<'_>| {
        if heard && !matches!(event, Event::Thinking { .. } | Event::Token { .. }) {
            say(&Reply::Event(event));
        }
    };
    // A bug that shows in one job must not cost the others.
    catch_unwind(AssertUnwindSafe(|| session.analyze(task, &mut observer))).unwrap_or_else(|_| {
        Err(error!(Other: "程序在分析该作业时崩溃；请报告此问题", "the program crashed on this job; please report it"))
    })
}

/// The key of a profile. The program that started this one must know it before it gets anything that could
/// contain it.
fn key(profile: &Profile) -> std::result::Result<Option<SecretString>, String> {
    let key = keys::of_profile(profile)?;
    if let Some(key) = &key {
        let secret = Reply::Secret(key.expose_secret().to_owned());
        if let Ok(line) = crate::json::line(&secret) {
            write(&line);
        }
    }
    Ok(key)
}

fn say(reply: &Reply<'_>) {
    if let Ok(line) = crate::json::line(reply) {
        write(&llm::hide(&line));
    }
}

/// Writes a line. A parent that is gone ends the process by way of stdin.
fn write(line: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
}

/// Limits the threads of an analysis.
fn limit_threads(threads: usize) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build_global().explain(ErrorKind::Other, no_thread())
}

/// Limits the address space to the currently mapped bytes plus `bytes`.
#[cfg(unix)]
fn limit_memory(bytes: u64) -> Result<()> {
    /// Estimate for systems that don't report mapped bytes: program, index, stacks.
    const USUAL: u64 = 2 << 30;
    const PAGE: u64 = 4096;
    let mapped = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = mapped.and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
    let limit = pages
        .map_or(USUAL, |pages| pages * PAGE)
        .saturating_add(bytes);
    let hard = rlimit::getrlimit(rlimit::Resource::AS).map_or(u64::MAX, |(_, hard)| hard);
    let set = rlimit::setrlimit(rlimit::Resource::AS, limit.min(hard), hard);
    // macOS has the call and refuses it.
    if cfg!(target_os = "linux") {
        let hint = report::say!("请增大 `--job-memory`", "give a larger `--job-memory`");
        set.explain(ErrorKind::Other, hint)?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn limit_memory(_: u64) -> Result<()> {
    Ok(())
}
