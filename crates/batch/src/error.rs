//! Errors of stores and sources.

use std::path::PathBuf;

use crate::problem::{Problem, hints};

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{}", report::say!("本程序无法访问 `{place}`", "`{place}` is no place that this program can reach"))]
    Address {
        place: String,
        #[source]
        source: Option<object_store::Error>,
    },
    #[error("{}", report::say!("访问 `{place}` 失败", "`{place}` failed"))]
    Objects {
        /// The object or prefix.
        place: String,
        source: object_store::Error,
    },
    /// A log that a History Server does not give.
    #[error("{problem}")]
    History {
        /// The application.
        place: String,
        problem: Problem,
        #[source]
        source: Option<reqwest::Error>,
    },
    #[error("{}", report::say!("`{path}` 无法使用", "`{path}` cannot be used", path = .path.display().to_string()))]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{}", report::say!("`{place}` 第 {line} 行不是 `batch plan` 写入的", "`{place}`, line {line} was not written by `batch plan`"))]
    Manifest {
        place: String,
        line: usize,
        source: serde_json::Error,
    },
    #[error("{}", report::say!("`{place}` 不是批次的结果", "`{place}` is not a result of a batch"))]
    Unreadable {
        place: String,
        source: serde_json::Error,
    },
    #[error("{}", report::say!("`{place}` 的版本是 {found}，本程序支持版本 {known}", "`{place}` has version {found}; this program knows version {known}"))]
    Version {
        place: String,
        found: u32,
        known: u32,
    },
    /// An archive or a prefix that exceeds a bound or cannot be unpacked.
    #[error("{}", report::say!("无法解包 `{place}`：{reason}", "`{place}` cannot be unpacked: {reason}"))]
    Archive { place: String, reason: String },
    #[error("{}", report::say!("`{place}` 中有 {jobs} 个作业，应只有一个", "`{place}` contains {jobs} jobs; one was expected"))]
    SeveralJobs { place: String, jobs: usize },
    #[error("{}", report::say!("队列 `{queue}`：{doing} 失败", "{doing} failed at queue `{queue}`"))]
    Queue {
        queue: String,
        doing: &'static str,
        source: async_nats::Error,
    },
    #[error("{}", report::say!("没有队列 `{queue}`", "there is no queue `{queue}`"))]
    NoQueue {
        queue: String,
        source: async_nats::Error,
    },
    #[error("{}", report::say!("队列 `{queue}` 是为另一个版本或配置的程序填充的", "queue `{queue}` was filled for another version or configuration of the program"))]
    OtherProgram { queue: String },
    #[error("{}", report::say!("已有另一个进程在请求建议：`{lock}` 存在", "another process is asking for advice: `{lock}` exists"))]
    Advising { lock: String },
    #[error("{}", report::say!("`{store}` 没有清单", "`{store}` has no manifest"))]
    NoManifest { store: String },
}

impl Error {
    /// True if a retry may succeed because the network failed.
    pub fn is_transient(&self) -> bool {
        match self {
            Error::Objects { source, .. } => matches!(source, object_store::Error::Generic { .. }),
            Error::History { problem, .. } => problem.is_transient(),
            _ => false,
        }
    }

    /// The message and its causes in one line.
    pub fn one_line(&self) -> String {
        report::with_causes(self)
    }

    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        let (zh, en) = hints! { self, Error: [Error::History { problem, .. } => problem.hint()]
            Address "请给出本地路径、az://、abfss://、s3://、gs://、file:// 地址（凭据来自环境变量 AWS_…、AZURE_…、GOOGLE_…），或 History Server 上的应用：http://HOST:18080/history/APP", "give a local path, az://, abfss://, s3://, gs:// or file:// (credentials come from the environment: AWS_…, AZURE_…, GOOGLE_…), or an application on a History Server: http://HOST:18080/history/APP";
            Objects "请检查地址、网络和凭据（AWS_…、AZURE_…、GOOGLE_…），然后重新执行：会从中断处继续", "check the address, the network and the credentials (AWS_…, AZURE_…, GOOGLE_…), then repeat the call: it resumes";
            File "请检查路径是否存在、是否有权使用", "check that the path exists and that you may use it";
            Manifest | Unreadable "请删除该对象，或另给一个结果库，然后重新执行", "delete the object, or give another STORE; then repeat the call";
            Version "请使用写入它的程序版本，或另给一个结果库", "use the version of the program that wrote it, or another STORE";
            Archive "请自行解包，再给出作业目录", "unpack it yourself, and give the folder of the job";
            SeveralJobs "请解包后给出其中一个作业；`scopeagent batch run` 接受含多个作业的目录", "unpack it and give one of the jobs; `scopeagent batch run` takes folders of jobs";
            Queue "请检查地址、服务器和 JetStream，然后重新执行；结果已安全保存在结果库中", "check the address, the servers and JetStream, then repeat the call; results are safe in the store";
            NoQueue "`scopeagent batch enqueue STORE --nats URL` 可填充队列，丢失后可再次填充", "`scopeagent batch enqueue STORE --nats URL` fills it, again if it was lost";
            OtherProgram "请使用 `batch enqueue` 时的版本、选项和知识库，或用当前的重新填充", "use the version, options and knowledge that `batch enqueue` was called with, or enqueue again with these";
            Advising "请等待它结束；如果它被强行终止，请删除该对象，然后重新执行", "wait for its end; if it was killed, delete the object, then repeat the call";
            NoManifest "`scopeagent batch plan SOURCE… --out STORE` 写入清单；`batch run SOURCE… --out STORE` 同时完成两步", "`scopeagent batch plan SOURCE… --out STORE` writes one; `batch run SOURCE… --out STORE` does both";
        };
        report::interface().select(zh, en)
    }
}
