//! Embeddings from a server with the OpenAI form of `/v1/embeddings` (OpenAI, llama.cpp, Ollama, vLLM, TEI, …).
//!
//! Blocking, so that it may be called from any thread. Knows nothing of chunks or stores.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::prefix::{self, Prefixes, Prompts};
use super::{EmbedError, Embedder, VectorWeights, normalise};

/// A batch on a slow CPU server takes its time; a server that says nothing for longer is gone.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Attempts per request, and the pause after the first failure; it doubles each time.
const ATTEMPTS: u32 = 4;
const PAUSE: Duration = Duration::from_millis(500);

/// Largest answer read: 32 vectors of 4,096 numbers in text are about 3 MB.
const MAX_ANSWER: u64 = 64 << 20;

/// A model on a server.
pub(super) struct Server {
    agent: ureq::Agent,
    url: String,
    model: String,
    key: Option<String>,
    prefixes: Prefixes,
    prompts: Prompts,
    dimension: usize,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [String],
    encoding_format: &'a str,
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
    /// Asks the server for one vector, to learn the dimension and that it answers at all.
    pub(super) fn connect(
        url: &str,
        model: &str,
        key: Option<&str>,
        prompts: &Prompts,
    ) -> Result<Server, EmbedError> {
        let agent = ureq::Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            .http_status_as_error(false)
            .build()
            .new_agent();
        let mut server = Server {
            agent,
            url: format!("{}/embeddings", url.trim_end_matches('/')),
            model: model.to_owned(),
            key: key.map(str::to_owned),
            prefixes: Prefixes::of(model).with(prompts),
            prompts: prompts.clone(),
            dimension: 0,
        };
        let vectors = server.request(&["dimension".to_owned()])?;
        server.dimension = vectors.first().map_or(0, Vec::len);
        if server.dimension == 0 {
            return Err(EmbedError::WrongAnswer {
                reason: format!("{} gave a vector without components", server.url),
            });
        }
        Ok(server)
    }

    fn request(&self, input: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut pause = PAUSE;
        for attempt in 1.. {
            match self.attempt(input) {
                Err(Failure::Transient(_)) if attempt < ATTEMPTS => {
                    std::thread::sleep(pause);
                    pause *= 2;
                }
                Err(Failure::Transient(reason) | Failure::Permanent(reason)) => {
                    return Err(EmbedError::Server {
                        url: self.url.clone(),
                        reason,
                    });
                }
                Ok(answer) => return in_order(answer, input.len()),
            }
        }
        unreachable!("the last attempt returns")
    }

    fn attempt(&self, input: &[String]) -> Result<Answer, Failure> {
        let mut request = self.agent.post(&self.url);
        if let Some(key) = &self.key {
            request = request.header("Authorization", format!("Bearer {key}"));
        }
        let body = Request {
            model: &self.model,
            input,
            encoding_format: "float",
        };
        let mut response = request
            .send_json(&body)
            .map_err(|error| Failure::Transient(error.to_string()))?;
        let status = response.status().as_u16();
        let body = response.body_mut().with_config().limit(MAX_ANSWER);
        if status == 200 {
            return body
                .read_json()
                .map_err(|error| Failure::Permanent(format!("unreadable answer: {error}")));
        }
        let text = body.read_to_string().unwrap_or_default();
        let first: String = text.chars().take(200).collect();
        let reason = format!("status {status}: {}", first.trim());
        Err(match status {
            408 | 429 | 500..=599 => Failure::Transient(reason),
            401 | 403 => Failure::Permanent(format!("{reason}; check the key")),
            404 => Failure::Permanent(format!("{reason}; check address and model name")),
            _ => Failure::Permanent(reason),
        })
    }

    fn embed_with(&self, prefix: &str, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        // An empty input is an error for some servers; a space says as little.
        let input: Vec<String> = texts
            .iter()
            .map(|text| match text.trim() {
                "" => " ".to_owned(),
                _ => format!("{prefix}{text}"),
            })
            .collect();
        let mut vectors = self.request(&input)?;
        vectors.iter_mut().for_each(|vector| normalise(vector));
        Ok(vectors)
    }
}

enum Failure {
    Transient(String),
    Permanent(String),
}

/// Servers may answer out of order; the index tells.
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
    /// The address is not part of it: the same model may move.
    fn fingerprint(&self) -> String {
        format!(
            "openai:{}:{}{}",
            self.model,
            self.dimension,
            self.prompts.fingerprint()
        )
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.embed_with(&self.prefixes.passage, texts)
    }

    fn english_only(&self) -> bool {
        prefix::english_only(&self.model)
    }

    fn weights(&self) -> VectorWeights {
        match self.english_only() {
            true => VectorWeights::ENGLISH_ONLY,
            false => VectorWeights::default(),
        }
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let mut vectors = self.embed_with(&self.prefixes.query, &[text])?;
        vectors.pop().ok_or_else(|| EmbedError::WrongAnswer {
            reason: "no vector for the query".to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;

    /// Answers one request per entry of `answers` (status and body) and gives what was asked.
    fn serve(answers: Vec<(u16, String)>) -> (String, std::thread::JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/v1/", listener.local_addr().expect("an address"));
        let thread = std::thread::spawn(move || {
            let mut asked = Vec::new();
            for (status, body) in answers {
                let (mut stream, _) = listener.accept().expect("a request");
                asked.push(read_request(&mut stream));
                let answer = format!(
                    "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
                    body.len()
                );
                stream.write_all(answer.as_bytes()).expect("answered");
            }
            asked
        });
        (url, thread)
    }

    fn read_request(stream: &mut impl Read) -> String {
        let mut bytes = Vec::new();
        let mut part = [0; 4096];
        loop {
            let n = stream.read(&mut part).expect("read");
            bytes.extend(&part[..n]);
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let Some((head, body)) = text.split_once("\r\n\r\n") else {
                continue;
            };
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length")
                    .then(|| value.trim().parse::<usize>().ok())?
            });
            if body.len() >= length.unwrap_or(0) {
                return text;
            }
        }
    }

    fn vectors(list: &[(usize, [f32; 2])]) -> String {
        let data: Vec<serde_json::Value> = list
            .iter()
            .map(|(index, v)| serde_json::json!({ "index": index, "embedding": v }))
            .collect();
        serde_json::json!({ "data": data }).to_string()
    }

    #[test]
    fn vectors_come_back_in_order_and_with_length_one() {
        let (url, asked) = serve(vec![
            (200, vectors(&[(0, [1.0, 0.0])])),
            (200, vectors(&[(1, [0.0, 2.0]), (0, [3.0, 4.0])])),
        ]);
        let server = Server::connect(
            &url,
            "multilingual-e5-small",
            Some("secret"),
            &Prompts::default(),
        )
        .expect("connected");
        assert_eq!(server.dimension(), 2);
        assert_eq!(server.fingerprint(), "openai:multilingual-e5-small:2");
        let got = server.embed(&["a", ""]).expect("embedded");
        assert_eq!(got, [vec![0.6, 0.8], vec![0.0, 1.0]]);
        let asked = asked.join().expect("served");
        assert!(
            asked[1]
                .to_lowercase()
                .contains("authorization: bearer secret")
        );
        assert!(asked[1].contains("\"passage: a\""), "{}", asked[1]);
    }

    #[test]
    fn transient_failures_are_tried_again_and_others_are_not() {
        let (url, _) = serve(vec![
            (503, "busy".to_owned()),
            (200, vectors(&[(0, [1.0, 0.0])])),
        ]);
        assert!(Server::connect(&url, "m", None, &Prompts::default()).is_ok());
        let (url, _) = serve(vec![(401, "no".to_owned())]);
        let error = Server::connect(&url, "m", None, &Prompts::default())
            .err()
            .expect("refused")
            .to_string();
        assert!(
            error.contains("401") && error.contains("check the key"),
            "{error}"
        );
    }

    #[test]
    fn wrong_answers_are_named() {
        let (url, _) = serve(vec![(200, "{\"data\": []}".to_owned())]);
        let error = Server::connect(&url, "m", None, &Prompts::default())
            .err()
            .expect("refused")
            .to_string();
        assert!(error.contains("fewer vectors"), "{error}");
        let (url, _) = serve(vec![(200, "<html>".to_owned())]);
        let error = Server::connect(&url, "m", None, &Prompts::default())
            .err()
            .expect("refused")
            .to_string();
        assert!(error.contains("unreadable"), "{error}");
    }
}
