//! Responses of a model's server: the first byte chooses the protocol (upper case streams), the rest is the body of its response.

#![no_main]

use std::sync::LazyLock;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use llm::transport::{Chat, Transport};
use llm::{Level, Profile, Provider, Server, ToolSpec};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

const PROVIDERS: [Provider; 6] = [
    Provider::OpenAi,
    Provider::OpenAiResponses,
    Provider::Azure,
    Provider::Anthropic,
    Provider::Gemini,
    Provider::Ollama,
];

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
});

/// Reads one request and answers it.
async fn answer(mut connection: TcpStream, stream: bool, body: &[u8]) -> std::io::Result<()> {
    let mut request = Vec::new();
    let mut length = None;
    let mut piece = [0; 16 << 10];
    while length.is_none_or(|length| request.len() < length) {
        let read = connection.read(&mut piece).await?;
        if read == 0 {
            break;
        }
        request.extend_from_slice(&piece[..read]);
        length = length.or_else(|| whole(&request));
    }
    let kind = if stream {
        "text/event-stream"
    } else {
        "application/json"
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    connection.write_all(head.as_bytes()).await?;
    connection.write_all(body).await
}

/// Bytes of a request, as soon as its head is there.
fn whole(request: &[u8]) -> Option<usize> {
    let head = request.windows(4).position(|w| w == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&request[..head]).to_ascii_lowercase();
    let body = text
        .lines()
        .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    Some(head + body.unwrap_or(0))
}

fn chat(stream: bool) -> Chat {
    Chat {
        step: "think1".to_owned(),
        system: "You read jobs.".to_owned(),
        user: "Which stage?".to_owned(),
        repair: None,
        schema: None,
        level: Level::Text,
        max_output_tokens: None,
        stream,
        tools: vec![ToolSpec {
            name: "list_files".to_owned(),
            description: "The files.".to_owned(),
            schema: serde_json::json!({"type": "object", "properties": {}}),
        }],
        rounds: Vec::new(),
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((choice, body)) = data.split_first() else {
        return;
    };
    let stream = choice.is_ascii_uppercase();
    let provider =
        PROVIDERS[usize::from(choice.to_ascii_lowercase().wrapping_sub(b'a')) % PROVIDERS.len()];
    RUNTIME.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let mut profile = Profile::new(provider, "scripted");
        profile.base_url = Some(format!("http://{address}/v1/"));
        profile.timeout_seconds = Some(4.0);
        profile.retries = Some(0);
        let key = "key-for-tests-0123456789".into();
        let server = Server::new(&profile, Some(&key)).expect("a sound profile");
        let chat = chat(stream);
        let mut length = 0;
        let mut pieces = |piece: llm::transport::Piece<'_>| match piece {
            llm::transport::Piece::Text(text) | llm::transport::Piece::Thought(text) => {
                length += text.len()
            }
        };
        let serve = async {
            while let Ok((connection, _)) = listener.accept().await {
                // The reply shows whether it was read.
                answer(connection, stream, body).await.ok();
            }
        };
        let call = tokio::time::timeout(Duration::from_secs(5), server.send(&chat, &mut pieces));
        tokio::select! {
            reply = call => {
                if let Ok(reply) = reply.expect("an end in time") {
                    assert!(reply.text.len() <= 64 << 20);
                }
            }
            () = serve => {}
        }
    });
});
