//! Arguments of the commands that serve others.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use server::Mode;

use super::analysis::{Limits, REASONERS};
use super::one_of;
use super::pipeline::Notify;

/// Which jobs may be read, and who analyzes them.
#[derive(Debug, Args)]
pub(crate) struct Serving {
    /// Allowed folder of jobs, or allowed Spark History Server (http://HOST:18080); repeatable. Default: `allowed_roots` of `[mcp]`,
    /// otherwise the current folder.
    /// ‖ 允许读取其中作业的目录或 Spark History Server（http://HOST:18080），可多次给出。默认：`[mcp]` 的 `allowed_roots`，否则当前目录。
    #[arg(long = "root", value_name = "DIR|URL")]
    pub(crate) roots: Vec<PathBuf>,
    /// Who reasons: `auto` uses an LLM if one is configured, otherwise the offline reasoner.
    /// ‖ 由谁分析：`auto` 在配置了 LLM 时用 LLM，否则离线分析。
    #[arg(long, value_name = "WHO", default_value = "auto", value_parser = one_of(REASONERS))]
    pub(crate) reasoner: Mode,
    /// LLM profile to use.
    /// ‖ 使用哪个 LLM 配置。
    #[arg(long, value_name = "NAME", env = "SCOPEAGENT_LLM")]
    pub(crate) llm: Option<String>,
    /// Mask paths, names and literals before anything is sent to an LLM.
    /// ‖ 发给 LLM 之前，遮盖路径、名称和字面值。
    #[arg(long)]
    pub(crate) redact: bool,
    #[command(flatten)]
    pub(crate) limits: Limits,
}

#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// Serve on this loopback address instead of stdin and stdout. Port 0 picks a free port.
    /// ‖ 在这个本机地址上提供服务，而不用标准输入输出。端口 0 表示任选空闲端口。
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = loopback)]
    pub(crate) http: Option<SocketAddr>,
    #[command(flatten)]
    pub(crate) serving: Serving,
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Where to serve. An address that other machines reach needs a token. Port 0 picks a free port.
    /// ‖ 提供服务的地址。其他机器能访问的地址需要令牌。端口 0 表示任选空闲端口。
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8720")]
    pub(crate) address: SocketAddr,
    /// Token that visitors must enter; `--token-file` hides it from other users of this machine.
    /// ‖ 访问者必须输入的令牌；用 `--token-file` 可避免被本机其他用户看到。
    #[arg(
        long,
        value_name = "TOKEN",
        env = "SCOPEAGENT_SERVE_TOKEN",
        hide_env_values = true,
        conflicts_with = "token_file"
    )]
    pub(crate) token: Option<String>,
    /// File with the token in its first line.
    /// ‖ 第一行是令牌的文件。
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Name under which browsers reach the page, apart from addresses and `localhost`; repeatable.
    /// ‖ 除地址和 `localhost` 外，浏览器访问网页所用的名称，可多次给出。
    #[arg(long = "host", value_name = "NAME")]
    pub(crate) hosts: Vec<String>,
    /// List the jobs and clusters of this batch store, with their reports; repeatable.
    /// ‖ 列出该批次结果库中的作业、问题簇和报告，可多次给出。
    #[arg(long = "batch", value_name = "STORE")]
    pub(crate) batches: Vec<String>,
    #[command(flatten)]
    pub(crate) notify: Notify,
    #[command(flatten)]
    pub(crate) serving: Serving,
}

/// An address that only this machine can reach.
fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr = text
        .parse()
        .map_err(|_| "expected an address and a port, e.g. 127.0.0.1:8719".to_owned())?;
    if address.ip().is_loopback() {
        Ok(address)
    } else {
        Err("only loopback addresses (127.0.0.1, [::1]) are allowed: there is no login".to_owned())
    }
}
