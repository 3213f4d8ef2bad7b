//! Why a History Server returns no log, and the remedy.

use report::say;

/// The remedy of each variant, in Chinese and in English.
macro_rules! hints {
    ($error:expr, $type:ident: $([$inner:pat => $hint:expr])? $($($variant:ident)|+ $zh:literal, $en:literal;)*) => {
        match $error {
            $($inner => $hint,)?
            $($($type::$variant { .. })|+ => ($zh, $en),)*
        }
    };
}
pub(crate) use hints;

#[derive(Debug, thiserror::Error)]
pub enum Problem {
    #[error("{}", say!("无法访问 History Server `{server}`", "the History Server `{server}` cannot be reached"))]
    Unreachable { server: String },
    #[error("{}", say!("History Server `{server}` 中没有应用 `{id}`", "the History Server `{server}` has no application `{id}`"))]
    NoApplication { server: String, id: String },
    #[error("{}", say!("应用 `{id}` 没有第 {attempt} 次尝试；有：{known}", "application `{id}` has no attempt {attempt}; it has {known}"))]
    NoAttempt {
        id: String,
        attempt: String,
        /// The attempts that it has.
        known: String,
    },
    #[error("{}", say!("`{server}` 的应答不像 Spark History Server", "`{server}` does not answer like a Spark History Server"))]
    NotAServer { server: String },
    #[error("{}", say!("`{server}` 要求转到另一台服务器 `{to}`，未跟随", "`{server}` sends its clients on to another server, `{to}`, which was not asked"))]
    Redirected { server: String, to: String },
    #[error("{}", say!("History Server `{server}` 拒绝访问（HTTP {status}）", "the History Server `{server}` denies access (HTTP {status})"))]
    Denied { server: String, status: u16 },
    #[error("{}", say!("History Server `{server}` 出错（HTTP {status}）", "the History Server `{server}` failed (HTTP {status})"))]
    Failed { server: String, status: u16 },
    #[error("{}", say!("`{place}` 的日志超过 {most} 字节", "the log of `{place}` has more than {most} bytes"))]
    TooLarge { place: String, most: u64 },
    #[error("{}", say!("没有允许读取 History Server `{server}`", "the History Server `{server}` was not allowed"))]
    NotAllowed { server: String },
}

impl Problem {
    /// True if a retry, or a call with other flags, may succeed: the job is not at fault.
    pub(crate) fn is_transient(&self) -> bool {
        match self {
            Problem::Unreachable { .. } | Problem::Denied { .. } | Problem::NotAllowed { .. } => {
                true
            }
            Problem::Failed { status, .. } => *status >= 500,
            _ => false,
        }
    }

    /// What the user can do about it, in Chinese and in English.
    pub(crate) fn hint(&self) -> (&'static str, &'static str) {
        hints! { self, Problem:
            Unreachable "请检查地址、网络和代理（HTTP_PROXY、NO_PROXY）；History Server 的默认端口是 18080", "check the address, the network and the proxy (HTTP_PROXY, NO_PROXY); the default port of a History Server is 18080";
            NoApplication "请检查应用编号；History Server 要过一会儿才会列出新应用，并会删除旧应用", "check the identifier; a History Server lists new applications after a while, and removes old ones";
            NoAttempt "请给出其中一次尝试，或不写尝试编号以使用最近一次", "give one of these, or none for the newest";
            NotAServer "请给出 History Server 的地址：http://HOST:18080/history/APP", "give the address of a History Server: http://HOST:18080/history/APP";
            Redirected "如果信任那台服务器，请直接给出它的地址", "if you trust that server, give its address";
            Denied "请在地址中给出用户名和密码（https://USER:PASSWORD@HOST/…），或自行下载日志后给出文件", "give user and password in the address (https://USER:PASSWORD@HOST/…), or download the log and give the file";
            Failed "请稍后重试，或查看 History Server 的日志", "try again later, or look into the log of the History Server";
            TooLarge "请自行下载并解包，再给出日志", "download and unpack it yourself, and give the log";
            NotAllowed "清单中的地址只有在用 `--history-server URL` 允许其服务器后才会读取", "an address in a manifest is only read if its server is allowed: `--history-server URL`";
        }
    }
}
