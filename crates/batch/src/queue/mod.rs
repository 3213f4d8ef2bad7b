//! Jobs handed out by NATS JetStream. The store stays the truth: the queue holds the planned jobs without a result. After any loss,
//! enqueueing again completes it.
//!
//! ```text
//! enqueue:  one message per open job, subject `scopeagent.<store>.<key>`, in a stream with file storage and Limits retention
//! work:     durable pull consumer ── message ── step ── result in the store ── ack
//! ```
//!
//! A subject keeps its last message only, so enqueueing again replaces messages and adds none.

mod work;

use std::collections::HashMap;
use std::future::IntoFuture;
use std::time::Duration;

use async_nats::jetstream::{self, Context, stream};
use futures::stream::{StreamExt, TryStreamExt};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::result::{Entry, Program};
use crate::run::Batch;
use crate::shard::Shard;

/// Deliveries of a message. The last delivery only records that no earlier one ended.
pub const DELIVERIES: u32 = 5;
/// Messages that are published concurrently.
const CONCURRENT: usize = 256;
/// Copies of the stream, if there are enough servers.
const COPIES: usize = 3;
/// How long messages are kept; a batch is long over by then.
const KEPT: Duration = Duration::from_secs(90 * 24 * 3600);
/// How long a broker may be out of reach, e.g. while another server takes over, before a call ends.
const PATIENCE: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(500);

/// Name of the mark.
const PROGRAM: &str = "scopeagent";

/// How to reach the servers.
#[derive(Debug, Clone)]
pub struct Servers {
    /// `nats://host:port`, several separated by commas.
    pub urls: String,
    /// A file with a user's JWT and key.
    pub credentials: Option<std::path::PathBuf>,
}

/// Counts of an enqueue call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enqueued {
    pub jobs: usize,
    /// Jobs that had a result.
    pub known: usize,
    /// Servers that keep the messages.
    pub copies: usize,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Order {
    entry: Entry,
    /// Of the enqueued result.
    program: Program,
}

/// The queue of a store.
struct Queue {
    context: Context,
    /// Of the stream.
    name: String,
    subjects: String,
}

impl Queue {
    async fn open(batch: &Batch, servers: &Servers) -> Result<Queue> {
        // Fails if a provider is installed already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let id = batch.store.id().await?;
        let name = format!("scopeagent-{id}");
        let options = async_nats::ConnectOptions::new().name("scopeagent");
        let options = match &servers.credentials {
            Some(file) => options
                .credentials_file(file)
                .await
                .map_err(|source| Error::File {
                    path: file.clone(),
                    source,
                })?,
            None => options,
        };
        let urls: Vec<String> = servers
            .urls
            .split(',')
            .map(|url| url.trim().to_owned())
            .collect();
        let client = options
            .connect(urls)
            .await
            .map_err(failed(&name, "connecting"))?;
        Ok(Queue {
            context: jetstream::new(client),
            subjects: format!("scopeagent.{id}"),
            name,
        })
    }

    fn config(&self, copies: usize, program: &Program) -> stream::Config {
        stream::Config {
            metadata: HashMap::from([(PROGRAM.to_owned(), mark(program))]),
            name: self.name.clone(),
            subjects: vec![format!("{}.>", self.subjects)],
            retention: stream::RetentionPolicy::Limits,
            storage: stream::StorageType::File,
            max_messages_per_subject: 1,
            max_age: KEPT,
            num_replicas: copies,
            ..stream::Config::default()
        }
    }

    /// Creates the stream unless there is one, and marks it with the program. Returns the number of its copies.
    async fn create(&self, program: &Program) -> Result<usize> {
        if let Ok(stream) = self.context.get_stream(&self.name).await {
            let mut config = stream.cached_info().config.clone();
            config.metadata.insert(PROGRAM.to_owned(), mark(program));
            let updated = patiently(|| self.context.update_stream(&config)).await;
            let updated = updated.map_err(failed(&self.name, "updating the stream"))?;
            return Ok(updated.config.num_replicas);
        }
        let copied = self.context.create_stream(self.config(COPIES, program));
        if let Ok(stream) = copied.await {
            return Ok(stream.cached_info().config.num_replicas);
        }
        let created = self.context.create_stream(self.config(1, program)).await;
        created.map_err(failed(&self.name, "creating the stream"))?;
        Ok(1)
    }

    /// Publishes a message until the servers have it.
    async fn publish(&self, key: String, order: &Order) -> Result<()> {
        let text = serde_json::to_vec(order).map_err(|source| Error::Unreadable {
            place: order.entry.uri.clone(),
            source,
        })?;
        let subject = format!("{}.{key}", self.subjects);
        patiently(|| async {
            let sent = self
                .context
                .publish(subject.clone(), text.clone().into())
                .await?;
            sent.into_future().await
        })
        .await
        .map_err(failed(&self.name, "publishing a job"))
        .map(|_| ())
    }
}

impl Batch {
    /// Enqueues the planned jobs that have no result.
    ///
    /// # Errors
    /// If the store or the servers cannot be reached.
    pub async fn enqueue(&self, servers: &Servers) -> Result<Enqueued> {
        let (jobs, known) = self.open_jobs(Shard::WHOLE).await?;
        let queue = Queue::open(self, servers).await?;
        let copies = queue.create(&self.program).await?;
        let sent = futures::stream::iter(&jobs).map(|entry| {
            let order = Order {
                entry: entry.clone(),
                program: self.program.clone(),
            };
            let queue = &queue;
            async move { queue.publish(entry.key(&self.program), &order).await }
        });
        sent.buffer_unordered(CONCURRENT)
            .try_collect::<()>()
            .await?;
        Ok(Enqueued {
            jobs: jobs.len(),
            known,
            copies,
        })
    }
}

/// Marks a stream with the program that its jobs are for. Workers with another program would write other results, and take deliveries
/// from workers with the right one.
fn mark(program: &Program) -> String {
    format!("{} {}", program.version, program.configuration)
}

/// Repeats a request while servers elect a leader or start again.
async fn patiently<T, E, F: Future<Output = std::result::Result<T, E>>>(
    request: impl Fn() -> F,
) -> std::result::Result<T, E> {
    let end = tokio::time::Instant::now() + PATIENCE;
    loop {
        match request().await {
            Err(_) if tokio::time::Instant::now() < end => tokio::time::sleep(PAUSE).await,
            answer => return answer,
        }
    }
}

fn failed<E: Into<async_nats::Error>>(queue: &str, doing: &'static str) -> impl FnOnce(E) -> Error {
    let queue = queue.to_owned();
    move |error| Error::Queue {
        queue,
        doing,
        source: error.into(),
    }
}
