//! The official client, connected to the program over stdin and stdout or over HTTP.
#![expect(
    deprecated,
    reason = "later revisions of the protocol discourage roots; clients still declare them"
)]

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, Implementation,
    ListRootsResult, ProgressNotificationParam, ReadResourceRequestParams, ResourceContents, Root,
    Tool,
};
use rmcp::service::{ClientLifecycleMode, NotificationContext, RequestContext, RunningService};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ClientServiceExt, ErrorData, RoleClient, ServiceExt};
use serde_json::Value;

use crate::support::{User, expert_flags};

use super::tools::cases;

/// Notifications that the client receives, and the roots that it declares.
#[derive(Debug, Clone, Default)]
pub(crate) struct Listener {
    progress: Arc<Mutex<Vec<ProgressNotificationParam>>>,
    roots: Option<Vec<String>>,
}

impl Listener {
    /// A client with these roots.
    pub(crate) fn with_roots(uris: &[String]) -> Listener {
        Listener {
            roots: Some(uris.to_vec()),
            ..Listener::default()
        }
    }
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        let capabilities = match self.roots {
            Some(_) => ClientCapabilities::builder().enable_roots().build(),
            None => ClientCapabilities::default(),
        };
        ClientConfig::new(capabilities, Implementation::new("test", "1"))
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        let roots = self.roots.iter().flatten().map(Root::new).collect();
        Ok(ListRootsResult::new(roots))
    }

    async fn on_progress(
        &self,
        notification: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.progress.lock().expect("no panic").push(notification);
    }
}

/// A connected client.
pub(crate) struct Session {
    pub(crate) client: RunningService<RoleClient, Listener>,
    pub(crate) tools: Vec<Tool>,
}

/// The program as an MCP server with the project's knowledge.
pub(crate) fn server(user: &User, arguments: &[&str]) -> std::process::Command {
    let mut command = user.process();
    command.args(expert_flags()).arg("mcp").args(arguments);
    command
}

fn child(user: &User, arguments: &[&str]) -> TokioChildProcess {
    let mut command = tokio::process::Command::from(server(user, arguments));
    command.arg("--quiet");
    TokioChildProcess::new(command).expect("the program starts")
}

impl Session {
    /// Over stdin and stdout.
    pub(crate) async fn open(user: &User, arguments: &[&str], listener: Listener) -> Session {
        let transport = child(user, arguments);
        let client = listener.serve(transport).await.expect("a session");
        Session::of(client).await
    }

    /// The same, about the simulated cases.
    pub(crate) async fn on_cases(user: &User) -> Session {
        Session::open(user, &["--root", &cases()], Listener::default()).await
    }

    /// Over stdin and stdout, in the lifecycle of revision 2026-07-28, which knows no sessions.
    pub(crate) async fn discover(user: &User, arguments: &[&str], listener: Listener) -> Session {
        let transport = child(user, arguments);
        let lifecycle = ClientLifecycleMode::Discover {
            preferred_versions: vec![rmcp::model::ProtocolVersion::V_2026_07_28],
        };
        let client = listener
            .serve_with_lifecycle(transport, lifecycle)
            .await
            .expect("discovered");
        Session::of(client).await
    }

    /// Over HTTP.
    pub(crate) async fn connect(server: &HttpServer, listener: Listener) -> Session {
        // A second test finds it installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let direct = reqwest::Client::builder()
            .no_proxy()
            .build()
            .expect("a client");
        let config = StreamableHttpClientTransportConfig::with_uri(server.url.clone());
        let transport = StreamableHttpClientTransport::with_client(direct, config);
        let client = listener.serve(transport).await.expect("a session");
        Session::of(client).await
    }

    async fn of(client: RunningService<RoleClient, Listener>) -> Session {
        let tools = client.list_all_tools().await.expect("tools");
        Session { client, tools }
    }

    pub(crate) fn tool(&self, name: &str) -> &Tool {
        let found = self.tools.iter().find(|tool| tool.name == name);
        found.unwrap_or_else(|| panic!("there is no tool `{name}`"))
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.tools.iter().map(|tool| tool.name.as_ref()).collect()
    }

    /// Calls a tool.
    pub(crate) async fn call(&self, name: &str, arguments: Value) -> CallToolResult {
        let answer = self.client.call_tool(request(name, arguments)).await;
        answer.unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// Calls a tool that answers briefly; the report of an analysis, and the whole of a long answer, are read from their resources.
    pub(crate) async fn answer(&self, name: &str, arguments: Value) -> Value {
        let result = self.call(name, arguments).await;
        let text = text(&result);
        assert_ne!(result.is_error, Some(true), "{name}: {text}");
        assert!(!text.is_empty(), "{name} has no text");
        let content = result.structured_content.clone();
        let bytes = text.len() + content.as_ref().map_or(0, |c| c.to_string().len());
        assert!(bytes <= 8 << 10, "{name} answers with {bytes} bytes");
        let links = result
            .content
            .iter()
            .filter_map(|block| block.as_resource_link());
        let link = links.map(|link| link.uri.clone()).next();
        match (content, link) {
            (Some(content), Some(_)) if content["run_id"].is_string() => {
                self.report(&content).await.expect("the report")
            }
            (_, Some(uri)) => {
                let (whole, _) = self.resource(&uri).await.expect("the whole answer");
                serde_json::from_str(&whole).expect("JSON")
            }
            (Some(mut content), None) => {
                // A part of a file is the text itself.
                if name == "read_job_file" {
                    content["text"] = text.into();
                }
                content
            }
            (None, None) => panic!("{name} has no content"),
        }
    }

    /// Calls a tool that refuses, and returns its message.
    pub(crate) async fn refusal(&self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments).await;
        let text = text(&result);
        assert_eq!(result.is_error, Some(true), "{name} answers: {text}");
        assert!(!text.contains('\u{1b}'), "colours in {text}");
        text
    }

    /// Text and type of a resource.
    pub(crate) async fn resource(&self, uri: &str) -> Option<(String, String)> {
        let request = ReadResourceRequestParams::new(uri);
        let mut contents = self.client.read_resource(request).await.ok()?.contents;
        assert_eq!(contents.len(), 1, "{uri}");
        match contents.remove(0) {
            ResourceContents::TextResourceContents {
                text, mime_type, ..
            } => Some((text, mime_type.expect("a type"))),
            other => panic!("{uri} is no text: {other:?}"),
        }
    }

    /// The report of a run.
    pub(crate) async fn report(&self, run: &Value) -> Option<Value> {
        let run = run["run_id"].as_str().expect("the id of a run");
        let (text, kind) = self
            .resource(&format!("scopeagent://runs/{run}/report"))
            .await?;
        assert_eq!(kind, "application/json");
        Some(serde_json::from_str(&text).expect("JSON"))
    }

    /// The URIs of all resources.
    pub(crate) async fn resources(&self) -> Vec<String> {
        let all = self.client.list_all_resources().await.expect("resources");
        all.into_iter().map(|r| r.uri.clone()).collect()
    }

    /// The progress received so far.
    pub(crate) fn progress(&self) -> Vec<ProgressNotificationParam> {
        let heard = self.client.service().progress.lock().expect("no panic");
        heard.clone()
    }
}

pub(crate) fn request(name: &str, arguments: Value) -> CallToolRequestParams {
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object");
    };
    CallToolRequestParams::new(name.to_owned()).with_arguments(arguments)
}

/// The first text of an answer.
pub(crate) fn text(result: &CallToolResult) -> String {
    let first = result.content.first().and_then(|block| block.as_text());
    first.map(|block| block.text.clone()).unwrap_or_default()
}

/// The program serving HTTP on a free port; it ends with its value.
pub(crate) struct HttpServer {
    child: Child,
    pub(crate) url: String,
}

impl HttpServer {
    pub(crate) fn start(user: &User, arguments: &[&str]) -> HttpServer {
        let mut command = server(user, &["--http", "127.0.0.1:0"]);
        command.args(arguments);
        HttpServer::run(command)
    }

    /// The web page.
    pub(crate) fn serve(user: &User, arguments: &[&str]) -> HttpServer {
        let mut command = user.process();
        command.args(expert_flags());
        command
            .args(["serve", "--address", "127.0.0.1:0"])
            .args(arguments);
        HttpServer::run(command)
    }

    fn run(mut command: std::process::Command) -> HttpServer {
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let url = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("serving ").map(str::to_owned))
            .expect("it says where it listens");
        // Later output must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        HttpServer { child, url }
    }

    /// `127.0.0.1:PORT`.
    pub(crate) fn address(&self) -> &str {
        let rest = self.url.strip_prefix("http://").expect("a URL");
        rest.split('/').next().expect("an address")
    }
}

#[cfg(unix)]
impl HttpServer {
    /// Sends a signal and waits for the end.
    pub(crate) fn end(&mut self, signal: &str) -> std::process::ExitStatus {
        let id = self.child.id().to_string();
        let sent = std::process::Command::new("kill")
            .args([signal, &id])
            .status();
        assert!(sent.expect("kill runs").success());
        self.child.wait().expect("ended")
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
