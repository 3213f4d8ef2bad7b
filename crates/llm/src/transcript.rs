//! Records the calls of a run as lines of JSON, and replays them without a network.
//!
//! One line per call: `{"call": {"chat", "outcome": {"reply"} | {"error"}}}`, finally
//! `{"run": {"run_id", "elapsed_ms"}}`. Keys are hidden before anything is written.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::retry::LONGEST_WAIT;
use crate::secrets::secrets;
use crate::transport::{CallError, Chat, Piece, Reply, Transport};
use report::Report;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Call {
        chat: Box<Chat>,
        outcome: Outcome,
    },
    Run {
        run_id: String,
        elapsed_ms: BTreeMap<String, f64>,
    },
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Reply(Reply),
    Error(CallError),
}

/// Shared by the models of a run.
#[derive(Clone)]
pub struct Transcript {
    out: Arc<Mutex<Box<dyn Write + Send>>>,
}

impl Transcript {
    /// Writes one line per call to `out` and flushes it.
    pub fn new(out: impl Write + Send + 'static) -> Transcript {
        Transcript {
            out: Arc::new(Mutex::new(Box::new(out))),
        }
    }

    pub fn record(&self, inner: Arc<dyn Transport>) -> Arc<dyn Transport> {
        Arc::new(Recorder {
            inner,
            transcript: self.clone(),
        })
    }

    /// Writes the last line: the run's id and the durations of its steps.
    pub fn finish(&self, report: &Report) -> std::io::Result<()> {
        let steps = report.steps.iter();
        self.write(&Line::Run {
            run_id: report.run_id.clone(),
            elapsed_ms: steps.map(|s| (s.id.clone(), s.elapsed_ms)).collect(),
        })
    }

    fn write(&self, line: &Line) -> std::io::Result<()> {
        let json = serde_json::to_string(line)?;
        let mut out = self
            .out
            .lock()
            .map_err(|_| std::io::Error::other("the transcript is broken"))?;
        writeln!(out, "{json}")?;
        out.flush()
    }
}

struct Recorder {
    inner: Arc<dyn Transport>,
    transcript: Transcript,
}

impl Transport for Recorder {
    fn send<'a>(
        &'a self,
        chat: &'a Chat,
        pieces: &'a mut (dyn FnMut(Piece<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, CallError>> {
        async move {
            let result = self.inner.send(chat, pieces).await;
            let outcome = match result.clone() {
                Ok(reply) => Outcome::Reply(reply_without_secrets(reply)),
                Err(error) => Outcome::Error(error),
            };
            // The answer counts even if the transcript cannot be written.
            let _ = self.transcript.write(&Line::Call {
                chat: Box::new(without_secrets(chat)),
                outcome,
            });
            result
        }
        .boxed()
    }
}

fn without_secrets(chat: &Chat) -> Chat {
    let mut chat = chat.clone();
    chat.change_texts(&secrets);
    chat
}

fn reply_without_secrets(mut reply: Reply) -> Reply {
    reply.thoughts = secrets(&reply.thoughts);
    reply.change_texts(&secrets);
    reply
}

#[derive(Debug, thiserror::Error)]
pub enum TranscriptError {
    #[error("the transcript cannot be read")]
    Unreadable(#[from] std::io::Error),
    #[error("line {line} of the transcript cannot be understood: {reason}")]
    Line { line: usize, reason: String },
}

/// Returns the answers of a transcript.
pub struct Replay {
    calls: Mutex<VecDeque<(Chat, Outcome)>>,
    run: Option<(String, BTreeMap<String, f64>)>,
}

impl Replay {
    pub fn read(from: impl BufRead) -> Result<Replay, TranscriptError> {
        let mut calls = VecDeque::new();
        let mut run = None;
        for (index, line) in from.lines().enumerate() {
            let line = line?;
            if line.trim().is_empty() {
                continue;
            }
            let parsed = serde_json::from_str(&line).map_err(|error| TranscriptError::Line {
                line: index + 1,
                reason: error.to_string(),
            })?;
            match parsed {
                Line::Call { chat, outcome } => calls.push_back((*chat, outcome)),
                Line::Run { run_id, elapsed_ms } => run = Some((run_id, elapsed_ms)),
            }
        }
        Ok(Replay {
            calls: Mutex::new(calls),
            run,
        })
    }

    /// Sets the id and times of a replayed report to the recorded ones.
    pub fn restore(&self, report: &mut Report) {
        let Some((run_id, elapsed_ms)) = &self.run else {
            return;
        };
        report.run_id.clone_from(run_id);
        for step in &mut report.steps {
            if let Some(elapsed) = elapsed_ms.get(&step.id) {
                step.elapsed_ms = *elapsed;
            }
        }
    }

    fn next(&self, chat: &Chat) -> Result<Reply, CallError> {
        let differs = |reason: &str| CallError::Permanent {
            reason: format!("the transcript does not fit this run: {reason}"),
            hint: "replay it with the same job, prompts, settings and version".to_owned(),
        };
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.is_empty() {
            return Err(differs("it has no more answers"));
        }
        // Concurrent calls were recorded by the time of their end.
        let wanted = without_secrets(chat);
        let at = calls.iter().position(|(recorded, _)| *recorded == wanted);
        let Some((_, outcome)) = at.and_then(|at| calls.remove(at)) else {
            return Err(differs(&format!("another prompt in step `{}`", chat.step)));
        };
        match outcome {
            Outcome::Reply(reply) => Ok(reply),
            // There is no server to wait for.
            Outcome::Error(mut error) => {
                if let CallError::Transient { wait, .. } = &mut error {
                    let long = wait.filter(|w| *w > LONGEST_WAIT);
                    *wait = long.or(Some(Duration::ZERO));
                }
                Err(error)
            }
        }
    }
}

impl Transport for Replay {
    fn send<'a>(
        &'a self,
        chat: &'a Chat,
        pieces: &'a mut (dyn FnMut(Piece<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, CallError>> {
        let result = self.next(chat);
        if let Ok(reply) = &result {
            pieces(Piece::Text(&reply.text));
        }
        std::future::ready(result).boxed()
    }
}
