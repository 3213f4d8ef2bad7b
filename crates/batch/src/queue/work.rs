//! A worker: takes messages until the queue is empty.

use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, Consumer, PullConsumer, pull};
use async_nats::jetstream::{AckKind, Message};
use futures::StreamExt;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{DELIVERIES, Order, PROGRAM, Queue, Servers, failed, mark, patiently};
use crate::error::{Error, Result};
use crate::result::Program;
use crate::run::{Batch, Retry, Step};

/// Name of the consumer that all workers share.
const CONSUMER: &str = "workers";
/// How long a request for a message waits for one.
const WAIT: Duration = Duration::from_secs(2);
/// Longest pause before a job is tried again.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

impl Batch {
    /// Works until every enqueued job is done by some worker, `workers` jobs at a time, and reports each of its jobs as it comes. A worker
    /// that
    /// is silent for `ack_wait` is taken for dead: its jobs go to others. The first worker of a queue decides how long that is.
    ///
    /// # Errors
    /// If the store or the servers are unreachable, the queue does not exist, or the queue was filled for another program.
    pub async fn work(
        &self,
        servers: &Servers,
        workers: usize,
        ack_wait: Duration,
        cancel: &CancellationToken,
        report: &mut dyn FnMut(Step),
    ) -> Result<()> {
        let queue = Queue::open(self, servers).await?;
        let consumer = queue.consumer(ack_wait, &self.program).await?;
        let ended = cancel.child_token();
        let (send, mut steps) = mpsc::channel(workers);
        let worker = Worker {
            batch: self,
            queue: &queue,
            consumer: &consumer,
            ended: &ended,
        };
        let all = futures::future::join_all((0..workers.max(1)).map(|_| {
            let send = send.clone();
            async move {
                let worked = worker.work(send).await;
                if worked.is_err() {
                    worker.ended.cancel();
                }
                worked
            }
        }));
        drop(send);
        let reported = async {
            while let Some(step) = steps.recv().await {
                report(step);
            }
        };
        let (worked, ()) = tokio::join!(all, reported);
        worked.into_iter().collect()
    }
}

impl Queue {
    async fn consumer(&self, ack_wait: Duration, program: &Program) -> Result<PullConsumer> {
        let stream = self.context.get_stream(&self.name).await;
        let stream = stream.map_err(|error| Error::NoQueue {
            queue: self.name.clone(),
            source: error.into(),
        })?;
        if stream.cached_info().config.metadata.get(PROGRAM) != Some(&mark(program)) {
            return Err(Error::OtherProgram {
                queue: self.name.clone(),
            });
        }
        if let Ok(consumer) = stream.get_consumer(CONSUMER).await {
            return Ok(consumer);
        }
        let config = pull::Config {
            durable_name: Some(CONSUMER.to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait,
            max_deliver: i64::from(DELIVERIES),
            // who died may have died of the job: wait longer each time
            backoff: [1, 1, 2, 4].map(|times| ack_wait * times).to_vec(),
            max_ack_pending: 10_000,
            ..pull::Config::default()
        };
        let created = stream.create_consumer(config).await;
        created.map_err(failed(&self.name, "creating the consumer"))
    }
}

#[derive(Clone, Copy)]
struct Worker<'a> {
    batch: &'a Batch,
    queue: &'a Queue,
    consumer: &'a Consumer<pull::Config>,
    /// Cancelled by the user, or because another worker of this process failed.
    ended: &'a CancellationToken,
}

impl Worker<'_> {
    async fn work(self, report: mpsc::Sender<Step>) -> Result<()> {
        while !self.ended.is_cancelled() {
            let message = patiently(|| async {
                if self.ended.is_cancelled() {
                    return Ok(None);
                }
                self.next().await
            });
            match message
                .await
                .map_err(failed(&self.queue.name, "taking a job"))?
            {
                Some(message) => {
                    let step = self.job(&message).await?;
                    // the receiver lives as long as the workers
                    let _ = report.send(step).await;
                }
                None if self.is_empty().await? => break,
                None => {}
            }
        }
        Ok(())
    }

    /// The next message; `None` if none came for a while.
    async fn next(self) -> std::result::Result<Option<Message>, async_nats::Error> {
        let batch = self.consumer.fetch().max_messages(1).expires(WAIT);
        let mut messages = batch.messages().await?;
        messages.next().await.transpose()
    }

    /// Whether no message waits or is being worked on.
    async fn is_empty(self) -> Result<bool> {
        let info = patiently(|| async {
            match self.ended.is_cancelled() {
                true => Ok(None),
                false => self.consumer.get_info().await.map(Some),
            }
        });
        let info = info
            .await
            .map_err(failed(&self.queue.name, "asking for the state"))?;
        Ok(info.is_none_or(|info| info.num_pending == 0 && info.num_ack_pending == 0))
    }

    /// Works on one message, and reports progress to the servers meanwhile.
    async fn job(self, message: &Message) -> Result<Step> {
        let order: Order =
            serde_json::from_slice(&message.payload).map_err(|source| Error::Unreadable {
                place: message.subject.to_string(),
                source,
            })?;
        if order.program != self.batch.program {
            // a job enqueued for an earlier program is enqueued again for this one
            drop(message.double_ack_with(AckKind::Term).await);
            return Ok(Step::Obsolete);
        }
        let wait = self.consumer.cached_info().config.ack_wait;
        let mut alive = tokio::time::interval(wait / 3);
        alive.tick().await;
        let delivery = delivery(message);
        let mut step = std::pin::pin!(self.step(&order, delivery));
        let step = loop {
            tokio::select! {
                step = &mut step => break step?,
                // one that is lost costs another worker the same work
                _ = alive.tick() => drop(message.ack_with(AckKind::Progress).await),
            }
        };
        let answer = match &step {
            Step::Known | Step::Obsolete => AckKind::Ack,
            Step::Written { result, .. } if result.is_done() => AckKind::Ack,
            Step::Written { .. } => AckKind::Term,
            Step::Postponed { .. } => AckKind::Nak(Some(pause(delivery))),
            Step::Interrupted => AckKind::Nak(None),
        };
        // without it the job comes again, and has a result then
        drop(message.double_ack_with(answer).await);
        Ok(step)
    }

    async fn step(self, order: &Order, delivery: u32) -> Result<Step> {
        if delivery < DELIVERIES {
            let retry = match delivery + 1 < DELIVERIES {
                true => Retry::Elsewhere,
                false => Retry::Never,
            };
            return self.batch.step(&order.entry, delivery, retry).await;
        }
        if self
            .batch
            .store
            .has(&order.entry.key(&self.batch.program))
            .await?
        {
            return Ok(Step::Known);
        }
        let reason = "every worker that tried it ended without an answer: it was killed, or needed too much memory";
        self.batch.give_up(&order.entry, reason, delivery - 1).await
    }
}

/// Which delivery of its message this is, from 1.
fn delivery(message: &Message) -> u32 {
    let delivered = message.info().map(|info| info.delivered).ok();
    delivered.and_then(|n| u32::try_from(n).ok()).unwrap_or(1)
}

/// 2, 8, 32, … seconds.
fn pause(delivery: u32) -> Duration {
    let seconds = 2 * 4_u64.saturating_pow(delivery.saturating_sub(1));
    Duration::from_secs(seconds).min(LONGEST_PAUSE)
}
