//! The parent's side: workers that wait for a job, and the limits that they are held to.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agent::Observer;
use futures::executor::block_on;
use report::format::Bytes;
use report::say;
use server::{Analysis, Analyst, Error, ErrorKind, Explain, Monitor, Result, Task, error};

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::no_thread;
use super::wire::{DONE, Order, Reply};
use crate::budget::Budget;
use crate::terminal::Terminal;

/// How often a waiting parent looks whether the job was cancelled.
const LOOK: Duration = Duration::from_millis(50);
/// How long a cancelled analysis may take to save its partial report.
const GRACE: Duration = Duration::from_secs(10);

pub(crate) struct Pool {
    budget: Budget,
    arguments: Vec<OsString>,
    idle: Mutex<Vec<Worker>>,
    /// Of workers that may have a job at a time.
    places: Semaphore,
    terminal: Terminal,
    /// Remarks of workers that were shown already; each is shown once.
    shown: Mutex<HashSet<String>>,
}

struct Worker {
    child: Child,
    orders: ChildStdin,
    replies: Receiver<Message>,
    /// Whether it has had no job yet.
    fresh: bool,
}

/// A message from a worker.
enum Message {
    /// The line of a [`Reply::Done`]. The caller parses it after it has passed the worker on.
    Done(String),
    Meanwhile(Reply<'static>),
}

/// Why there is no answer.
pub(crate) enum Unanswered {
    /// The worker ended; how.
    Died(String),
    Slow,
    /// It did not end within [`GRACE`] after it was cancelled.
    Cancelled,
    Unsent(Error),
}

impl Pool {
    /// Workers with the arguments of this call.
    pub(crate) fn new(budget: Budget, terminal: &Terminal) -> Pool {
        let memory = budget.memory.to_string();
        let threads = budget.threads.to_string();
        let own = [
            "worker",
            "--job-memory",
            &memory,
            "--job-threads",
            &threads,
            "--",
        ];
        let own = own.map(OsString::from);
        Pool {
            budget,
            arguments: own.into_iter().chain(std::env::args_os().skip(1)).collect(),
            idle: Mutex::default(),
            places: Semaphore::new(Semaphore::MAX_PERMITS),
            terminal: *terminal,
            shown: Mutex::default(),
        }
    }

    /// Limits the number of concurrent jobs. A caller blocks until a worker is free.
    pub(crate) fn at_most(self, workers: usize) -> Pool {
        Pool {
            places: Semaphore::new(workers.max(1)),
            ..self
        }
    }

    /// Drops this remark of workers: the user has read it already.
    pub(crate) fn was_shown(&self, text: String) {
        locked(&self.shown).insert(text);
    }

    fn take(&self) -> Result<Worker> {
        let idle = locked(&self.idle).pop();
        idle.map_or_else(|| self.start(), Ok)
    }

    fn remark(&self, text: String) {
        if !locked(&self.shown).contains(&text) {
            self.terminal.remark(&text);
            locked(&self.shown).insert(text);
        }
    }

    fn start(&self) -> Result<Worker> {
        let hint = say!(
            "程序为每个工作进程重新启动自身",
            "the program starts itself again for each worker"
        );
        let program = std::env::current_exe().explain(ErrorKind::Other, &hint)?;
        let mut child = Command::new(program)
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .explain(ErrorKind::Other, hint)?;
        let (Some(orders), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(
                error!(Other: "工作进程没有标准输入输出", "a worker has no stdin or stdout"),
            );
        };
        let (send, replies) = mpsc::channel();
        std::thread::Builder::new()
            .name("replies".to_owned())
            .spawn(move || {
                for line in BufReader::new(answers).lines() {
                    let message = line.ok().and_then(Message::read);
                    let Some(message) = message else { break };
                    if send.send(message).is_err() {
                        break;
                    }
                }
            })
            .explain(ErrorKind::Other, no_thread())?;
        Ok(Worker {
            child,
            orders,
            replies,
            fresh: true,
        })
    }

    /// The error of a job without an answer.
    pub(crate) fn error(&self, reason: Unanswered) -> Error {
        match reason {
            Unanswered::Died(how) => {
                error!(
                    Input: "分析该作业的进程{how}", "the process that analyzed the job{how}";
                    "该作业很可能需要超过 {memory} 的内存；可用 `--job-memory` 放宽", "most likely the job needs more memory than {memory}; `--job-memory` allows more", memory = Bytes(self.budget.memory as f64)
                )
            }
            Unanswered::Slow => {
                let seconds = self.budget.time.as_secs();
                error!(
                    Input: "分析超过 {seconds} 秒，已中止", "the analysis took longer than {seconds} s and was ended";
                    "可用 `--job-timeout` 放宽", "`--job-timeout` allows more"
                )
            }
            Unanswered::Cancelled => error!(Other: "已取消", "cancelled"),
            Unanswered::Unsent(error) => error,
        }
    }
}

impl Analyst for Pool {
    fn analyze(&self, task: Task, observer: &mut dyn Observer) -> Result<Analysis> {
        let answer = self.ask(task, observer);
        answer.unwrap_or_else(|reason| Err(self.error(reason)))
    }
}

impl Pool {
    /// Has a worker analyze a job; the error of an analysis is an answer too.
    pub(crate) fn ask(
        &self,
        task: Task,
        observer: &mut dyn Observer,
    ) -> std::result::Result<Result<Analysis>, Unanswered> {
        let cancel = task.cancel.clone();
        let order = Order::Analyze {
            task: Box::new(task),
            interface: report::interface(),
            heard: observer.is_heard(),
        };
        // the semaphore is never closed
        let place = block_on(self.places.acquire());
        if cancel.is_cancelled() {
            return Err(Unanswered::Cancelled);
        }
        let mut worker = self.take().map_err(Unanswered::Unsent)?;
        loop {
            let was_fresh = std::mem::replace(&mut worker.fresh, false);
            let mut hear = |reply| match reply {
                Reply::Remark(text) => self.remark(text),
                Reply::Warning(text) => self.terminal.warn(&text),
                Reply::Secret(key) => llm::remember(&key),
                Reply::Event(event) => observer.event(event),
                Reply::Done(_) => {}
            };
            match worker.work(&order, self.budget.time, &cancel, &mut hear) {
                Ok(line) => {
                    locked(&self.idle).push(worker);
                    drop(place);
                    return done(&line);
                }
                // Memory left over from earlier jobs may have exceeded the limit.
                Err(Unanswered::Died(_)) if !was_fresh && !cancel.is_cancelled() => {
                    worker = self.start().map_err(Unanswered::Unsent)?;
                }
                Err(reason) => return Err(reason),
            }
        }
    }
}

/// Parses the line of a [`Reply::Done`].
fn done(line: &str) -> std::result::Result<Result<Analysis>, Unanswered> {
    match serde_json::from_str(line) {
        Ok(Reply::Done(done)) => Ok(*done),
        _ => Err(Unanswered::Died(say!(
            "给出了无法读取的结果",
            " gave a result that cannot be read"
        ))),
    }
}

impl Message {
    /// `None` for a line that is no message.
    fn read(line: String) -> Option<Message> {
        match line.starts_with(DONE) {
            true => Some(Message::Done(line)),
            false => serde_json::from_str(&line).ok().map(Message::Meanwhile),
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Worker {
    /// Has one job analyzed; the line of the result. After a failure the worker is of no more use.
    fn work(
        &mut self,
        order: &Order,
        time: Duration,
        cancel: &CancellationToken,
        hear: &mut dyn FnMut(Reply<'static>),
    ) -> std::result::Result<String, Unanswered> {
        self.send(order)?;
        let mut end = Instant::now() + time;
        let mut cancelled = false;
        loop {
            match self.replies.recv_timeout(LOOK) {
                Ok(Message::Done(line)) => return Ok(line),
                Ok(Message::Meanwhile(reply)) => hear(reply),
                Err(RecvTimeoutError::Disconnected) => return Err(Unanswered::Died(self.ended())),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if cancel.is_cancelled() && !cancelled {
                cancelled = true;
                end = end.min(Instant::now() + GRACE);
                // a worker that is ending does not need it
                let _ = self.send(&Order::Cancel);
            }
            if Instant::now() >= end {
                return Err(if cancelled {
                    Unanswered::Cancelled
                } else {
                    Unanswered::Slow
                });
            }
        }
    }

    fn send(&mut self, order: &Order) -> std::result::Result<(), Unanswered> {
        let line = crate::json::line(order).map_err(Unanswered::Unsent)?;
        let sent = self.orders.write_all(line.as_bytes());
        let sent = sent.and_then(|()| self.orders.flush());
        sent.map_err(|_| Unanswered::Died(self.ended()))
    }

    /// How the process ended.
    fn ended(&mut self) -> String {
        // its stdout is closed: it is ending, or will be ended
        let _ = self.child.kill();
        match self.child.wait() {
            Ok(status) => how(status),
            Err(error) => {
                let error = error.to_string();
                say!("无法等待其结束：{error}", " cannot be waited for: {error}")
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(unix)]
fn how(status: std::process::ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match status.signal() {
        Some(signal) => say!("被信号 {signal} 终止", " was ended by signal {signal}"),
        None => ended_with(status),
    }
}

#[cfg(not(unix))]
fn how(status: std::process::ExitStatus) -> String {
    ended_with(status)
}

fn ended_with(status: std::process::ExitStatus) -> String {
    let code = status.code().unwrap_or_default();
    say!("以状态 {code} 结束", " ended with status {code}")
}
