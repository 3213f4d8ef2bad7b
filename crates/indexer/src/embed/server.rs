//! Embeddings from a server with the OpenAI form of `/v1/embeddings` (OpenAI, llama.cpp, Ollama, vLLM, TEI, …).
//!
//! Its calls block and may come from any thread, even one that runs asynchronous code.

use std::io::Read;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use report::with_causes;
use serde::Deserialize;
use serde_json::json;
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

use super::prompts::{self, Prompts};
use super::{EmbedError, Embedder, normalize, only};
use crate::model::Remote;

/// Longest time for a batch, which takes some on a slow CPU server, retries included.
const PATIENCE: Duration = Duration::from_secs(120);

/// The same limit for a query: a person is waiting for its answer.
const QUERY_PATIENCE: Duration = Duration::from_secs(20);

/// How often a waiting caller is asked whether it still waits.
const LOOK: Duration = Duration::from_millis(50);

/// Attempts per request, and the pause after the first failure; it doubles each time.
const ATTEMPTS: u32 = 4;
const PAUSE: Duration = Duration::from_millis(500);

/// Largest answer, in bytes; 32 vectors of 4,096 numbers as text take about 3 MB.
const MAX_ANSWER: u64 = 64 << 20;

/// Bytes read of an error.
const MAX_ERROR: u64 = 64 << 10;

pub(super) struct Server {
    endpoint: Endpoint,
    model: String,
    /// Of the caller, and with those of a known model.
    own_prompts: Prompts,
    prompts: Prompts,
    dimension: usize,
}

#[derive(Clone)]
struct Endpoint {
    agent: Agent,
    url: String,
    key: Option<String>,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl Server {
    /// Asks the server for one vector, to learn the dimension and to see that it answers.
    pub(super) fn connect(
        url: &str,
        model: &str,
        key: Option<&str>,
        prompts: &Prompts,
    ) -> Result<Server, EmbedError> {
        let roots = RootCerts::PlatformVerifier;
        let agent = Agent::config_builder()
            .tls_config(TlsConfig::builder().root_certs(roots).build())
            .http_status_as_error(false)
            .build();
        let mut server = Server {
            endpoint: Endpoint {
                agent: agent.into(),
                url: format!("{}/embeddings", url.trim_end_matches('/')),
                key: key.map(str::to_owned),
            },
            model: model.to_owned(),
            own_prompts: prompts.clone(),
            prompts: prompts.or(Prompts::of(model)),
            dimension: 0,
        };
        let probe = ["dimension".to_owned()];
        let vectors = server.request(&probe, PATIENCE, Remote::default())?;
        server.dimension = vectors.first().map_or(0, Vec::len);
        if server.dimension == 0 {
            return Err(EmbedError::WrongAnswer {
                reason: format!("{} gave a vector without components", server.endpoint.url),
            });
        }
        Ok(server)
    }

    fn request(
        &self,
        input: &[String],
        patience: Duration,
        remote: Remote<'_>,
    ) -> Result<Vec<Vec<f32>>, EmbedError> {
        let body = json!({ "model": self.model, "input": input, "encoding_format": "float" });
        let (endpoint, body) = (self.endpoint.clone(), body.to_string());
        let (send, receive) = mpsc::channel();
        std::thread::spawn(move || {
            // If the receiver is gone, the answer is no longer needed.
            let _ = send.send(endpoint.post(&body, patience));
        });
        let answered = loop {
            match receive.recv_timeout(LOOK) {
                Ok(answered) => break answered,
                Err(RecvTimeoutError::Disconnected) => {
                    break Err("the request broke off".to_owned());
                }
                Err(RecvTimeoutError::Timeout) if remote.is_cancelled.is_some_and(|is| is()) => {
                    break Err("interrupted".to_owned());
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        };
        let answer = answered.map_err(|reason| EmbedError::Server {
            url: self.endpoint.url.clone(),
            reason,
        })?;
        in_order(answer, input.len())
    }

    fn embed_with(
        &self,
        prompt: &Option<String>,
        texts: &[&str],
        patience: Duration,
        remote: Remote<'_>,
    ) -> Result<Vec<Vec<f32>>, EmbedError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let prompt = prompt.as_deref().unwrap_or_default();
        // Some servers refuse an empty input.
        let input = texts.iter().map(|text| match text.trim() {
            "" => " ".to_owned(),
            _ => match remote.mask {
                Some(mask) => format!("{prompt}{}", mask(text)),
                None => format!("{prompt}{text}"),
            },
        });
        let mut vectors = self.request(&input.collect::<Vec<_>>(), patience, remote)?;
        vectors.iter_mut().for_each(|vector| normalize(vector));
        Ok(vectors)
    }
}

impl Endpoint {
    /// Sends `body`, again after a failure that may pass.
    fn post(&self, body: &str, patience: Duration) -> Result<Answer, String> {
        let deadline = Instant::now() + patience;
        let left = || deadline.saturating_duration_since(Instant::now());
        let mut pause = PAUSE;
        for _ in 1..ATTEMPTS {
            match self.attempt(body, left()) {
                Err((_, true)) if pause < left() => std::thread::sleep(pause),
                done => return done.map_err(|(reason, _)| reason),
            }
            pause *= 2;
        }
        self.attempt(body, left()).map_err(|(reason, _)| reason)
    }

    /// # Errors
    /// The reason, and whether another attempt may succeed.
    fn attempt(&self, body: &str, patience: Duration) -> Result<Answer, (String, bool)> {
        let unreachable = |error| match error {
            ureq::Error::Timeout(_) => ("no answer in time".to_owned(), true),
            error => (with_causes(&error), true),
        };
        let mut request = self.agent.post(&self.url).content_type("application/json");
        if let Some(key) = &self.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let request = request.config().timeout_global(Some(patience)).build();
        let mut response = request.send(body).map_err(unreachable)?;
        let status = response.status().as_u16();
        if status == 200 {
            let body = response.body_mut().with_config().limit(MAX_ANSWER);
            let body = body.read_to_vec().map_err(unreachable)?;
            let unreadable = |error| (format!("unreadable answer: {error}"), false);
            return serde_json::from_slice(&body).map_err(unreadable);
        }
        let mut text = Vec::new();
        // What has arrived of an error says enough.
        let _ = response
            .body_mut()
            .as_reader()
            .take(MAX_ERROR)
            .read_to_end(&mut text);
        let text: String = String::from_utf8_lossy(&text).chars().take(200).collect();
        let remedy = match status {
            401 | 403 => "; check the key",
            404 => "; check address and model name",
            _ => "",
        };
        let reason = format!("status {status}: {}{remedy}", text.trim());
        Err((reason, matches!(status, 408 | 429 | 500..=599)))
    }
}

/// Servers may answer out of order; the `index` field has the order.
fn in_order(answer: Answer, texts: usize) -> Result<Vec<Vec<f32>>, EmbedError> {
    let mut out: Vec<Option<Vec<f32>>> = vec![None; texts];
    for (place, item) in answer.data.into_iter().enumerate() {
        if let Some(slot) = out.get_mut(item.index.unwrap_or(place)) {
            *slot = Some(item.embedding);
        }
    }
    let whole: Option<Vec<Vec<f32>>> = out.into_iter().collect();
    whole.ok_or_else(|| EmbedError::WrongAnswer {
        reason: format!("fewer vectors than the {texts} texts sent"),
    })
}

impl Embedder for Server {
    /// Without the address: a model may move.
    fn fingerprint(&self) -> String {
        let (model, prompts) = (&self.model, self.own_prompts.fingerprint());
        format!("openai:{model}:{}{prompts}", self.dimension)
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.embed_with(&self.prompts.passage, texts, PATIENCE, Remote::default())
    }

    fn english_only(&self) -> bool {
        prompts::english_only(&self.model)
    }

    fn embed_query(&self, text: &str, remote: Remote<'_>) -> Result<Vec<f32>, EmbedError> {
        only(self.embed_with(&self.prompts.query, &[text], QUERY_PATIENCE, remote)?)
    }
}

#[cfg(test)]
mod tests {
    use testkit::llm::{Server as Scripted, Turn};

    use super::*;

    fn connect(server: &Scripted) -> Result<Server, EmbedError> {
        let (model, prompts) = ("multilingual-e5-small", Prompts::default());
        Server::connect(&server.url(), model, Some("secret"), &prompts)
    }

    fn vectors(list: &[(usize, [f32; 2])]) -> String {
        let item = |(index, v): &_| serde_json::json!({ "index": index, "embedding": v });
        let data: Vec<_> = list.iter().map(item).collect();
        serde_json::json!({ "data": data }).to_string()
    }

    #[test]
    fn vectors_come_back_in_order_and_with_length_one() {
        let scripted = Scripted::start([
            Turn::raw(200, vectors(&[(0, [1.0, 0.0])])),
            Turn::raw(200, vectors(&[(1, [0.0, 2.0]), (0, [3.0, 4.0])])),
        ]);
        let server = connect(&scripted).expect("connected");
        assert_eq!(server.dimension(), 2);
        assert_eq!(server.fingerprint(), "openai:multilingual-e5-small:2");
        let got = server.embed(&["a", ""]).expect("embedded");
        assert_eq!(got, [vec![0.6, 0.8], vec![0.0, 1.0]]);
        let asked = &scripted.requests()[1];
        assert_eq!(asked.headers["authorization"], "Bearer secret");
        assert_eq!(asked.body["input"][0], "passage: a");
    }

    #[test]
    fn transient_failures_are_retried_and_others_are_reported() {
        let good = || Turn::raw(200, vectors(&[(0, [1.0, 0.0])]));
        assert!(connect(&Scripted::start([Turn::raw(503, "busy"), good()])).is_ok());
        for (status, body, reported) in [
            (401, "no", "401: no; check the key"),
            (200, "{\"data\": []}", "fewer vectors"),
            (200, "<html>", "unreadable"),
        ] {
            let refused = connect(&Scripted::start([Turn::raw(status, body)])).err();
            let error = refused.expect("refused").to_string();
            assert!(error.contains(reported), "{error}");
        }
    }

    #[tokio::test]
    async fn a_server_may_be_called_from_asynchronous_code() {
        let scripted = Scripted::start([Turn::raw(200, vectors(&[(0, [1.0, 0.0])]))]);
        assert_eq!(connect(&scripted).expect("connected").dimension(), 2);
    }
}

#[cfg(test)]
mod security {
    use std::time::Instant;

    use testkit::llm::{Fault, Server as Scripted, Turn};

    use super::*;

    const DIMENSION: &str = r#"{"data": [{"index": 0, "embedding": [1.0, 0.0]}]}"#;

    fn connect(scripted: &Scripted) -> Server {
        let connected = Server::connect(&scripted.url(), "m", None, &Prompts::default());
        connected.expect("connected")
    }

    #[test]
    fn a_query_is_masked_before_it_is_sent() {
        let scripted = Scripted::start([Turn::raw(200, DIMENSION), Turn::raw(200, DIMENSION)]);
        let remote = Remote {
            mask: Some(&|text| text.replace("Contoso", "name_001")),
            ..Remote::default()
        };
        let embedded = connect(&scripted).embed_query("skew of Contoso", remote);
        assert!(embedded.is_ok());
        assert_eq!(scripted.requests()[1].body["input"][0], "skew of name_001");
    }

    #[test]
    fn a_caller_that_stops_waiting_is_released_at_once() {
        let stalled = Turn::raw(200, DIMENSION).delay(Duration::from_secs(15));
        let scripted = Scripted::start([Turn::raw(200, DIMENSION), stalled]);
        let server = connect(&scripted);
        let started = Instant::now();
        let remote = Remote {
            is_cancelled: Some(&|| started.elapsed() > Duration::from_millis(100)),
            ..Remote::default()
        };
        let refused = server.embed_query("skew", remote).err();
        assert!(refused.is_some_and(|e| e.to_string().contains("interrupted")));
        assert!(started.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn an_endless_error_is_read_only_as_far_as_it_is_quoted() {
        let endless = Turn::raw(400, "busy ".repeat(4)).fault(Fault::Endless);
        let scripted = Scripted::start([Turn::raw(200, DIMENSION), endless]);
        let refused = connect(&scripted).embed(&["a"]).err();
        assert!(refused.is_some_and(|e| e.to_string().contains("400: busy")));
    }
}
