//! From the configuration to a session: folders, thresholds, templates, models and keys.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agent::{Prompts, Request};
use report::say;
use server::{
    Documents, ErrorKind, Explain, KeySource, Knowledge, Monitor, ReasonerChoice, Result, Session,
    Settings, error,
};
use tokio::runtime::{Handle, Runtime};
use tokio_util::sync::CancellationToken;

use crate::args::Thinking;
use crate::config::{self, Config};
use crate::exit::Exit;
use crate::terminal::Terminal;
use crate::{embedding, keys};

/// Opens a session for one call.
pub(crate) fn open(config: &Config, terminal: &Terminal, runtime: &Runtime) -> Result<Session> {
    open_as(
        config,
        Arc::new(*terminal),
        runtime,
        keys::of_profile,
        false,
    )
}

/// Opens a session for many calls.
pub(crate) fn open_resident(
    config: &Config,
    terminal: &Terminal,
    runtime: &Runtime,
) -> Result<Session> {
    open_as(config, Arc::new(*terminal), runtime, keys::of_profile, true)
}

/// Opens a session for many calls that reports to `monitor` and gets its keys from `keys`.
pub(crate) fn open_for(
    config: &Config,
    monitor: Arc<dyn Monitor>,
    runtime: &Runtime,
    keys: KeySource,
) -> Result<Session> {
    open_as(config, monitor, runtime, keys, true)
}

fn open_as(
    config: &Config,
    monitor: Arc<dyn Monitor>,
    runtime: &Runtime,
    keys: KeySource,
    is_resident: bool,
) -> Result<Session> {
    // Parsed while the stores are opened.
    let _ = std::thread::Builder::new().spawn(job::Catalogue::builtin);
    let settings = Settings {
        knowledge: knowledge(config)?,
        data: config::data_folder(config),
        thresholds: thresholds(config)?,
        prompts: prompts(config)?,
        llm: config.llm.clone(),
        keys,
        language: config.language,
        is_resident,
    };
    Session::new(settings, runtime.handle().clone(), monitor)
}

/// The configured folders; without any, `./knowledge` and `./index` if there is such a knowledge folder, else the built-in documents
/// with their index in the data folder.
pub(crate) fn knowledge(config: &Config) -> Result<Knowledge> {
    let local = PathBuf::from("knowledge");
    let documents = match &config.knowledge {
        Some(folder) if !folder.is_dir() => {
            let folder = folder.display();
            return Err(error!(
                Input: "知识库目录 `{folder}` 不存在", "the knowledge folder `{folder}` does not exist";
                "请检查 --knowledge 与配置；两者都没有时使用内置知识", "check --knowledge and the configuration; without either, the built-in knowledge is used"
            ));
        }
        Some(folder) => Documents::Folder(folder.clone()),
        None if !config.is_in_job && local.join("experience").is_dir() => {
            Documents::Folder(local.clone())
        }
        None => Documents::Builtin,
    };
    let index = match (&config.index, &documents) {
        (Some(folder), _) => folder.clone(),
        (None, Documents::Folder(folder)) if *folder == local => PathBuf::from("index"),
        (None, Documents::Folder(folder)) => folder.join(".index"),
        (None, Documents::Builtin) => config::data_folder(config).join("builtin-index"),
    };
    Ok(Knowledge {
        is_own: config.index.is_none() && documents == Documents::Builtin,
        documents,
        index,
        settings: embedding::settings(config)?,
    })
}

pub(crate) fn thresholds(config: &Config) -> Result<diagnosis::Settings> {
    let hint = say!(
        "`scopeagent rules` 列出所有阈值及其默认值",
        "`scopeagent rules` lists every threshold with its default"
    );
    diagnosis::Settings::from_table(&config.diagnosis).explain(ErrorKind::Usage, hint)
}

fn prompts(config: &Config) -> Result<Prompts> {
    match &config.prompts {
        None => Ok(Prompts::built_in()),
        Some(folder) => {
            let hint = say!(
                "请修正模板，或将其删除以使用内置模板",
                "fix the template, or remove it to use the built-in one"
            );
            Prompts::with_folder(folder).explain(ErrorKind::Usage, hint)
        }
    }
}

/// The threads that LLM calls run on.
pub(crate) fn runtime() -> Result<Runtime> {
    let hint = say!(
        "系统不允许再建线程",
        "the system does not allow another thread"
    );
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    runtime.explain(ErrorKind::Other, hint)
}

/// From now on Ctrl-C cancels `cancel`, and a second one ends the program.
pub(crate) fn cancel_on_interrupt(runtime: &Handle, cancel: CancellationToken) {
    runtime.spawn(async move {
        interrupted(&cancel).await;
        interrupted(&cancel).await;
        std::process::exit(Exit::Interrupted as i32);
    });
}

/// From now on Ctrl-C cancels `cancel`: reading and the calls of an LLM stop, and a partial report follows. A second Ctrl-C ends the
/// program at any point, and so does a time by which there is no report. Ctrl-C ends it at once while a question is asked.
pub(crate) fn end_on_interrupt(
    runtime: &Handle,
    cancel: CancellationToken,
    asking: Arc<AtomicBool>,
    terminal: Terminal,
) {
    const GRACE: Duration = Duration::from_secs(10);
    runtime.spawn(async move {
        interrupted(&cancel).await;
        if asking.load(Ordering::Relaxed) {
            std::process::exit(Exit::Interrupted as i32);
        }
        tokio::select! {
            () = tokio::time::sleep(GRACE) => {}
            () = interrupted(&cancel) => {}
        }
        terminal.remark(&say!(
            "已中断，没有报告",
            "interrupted before there was a report"
        ));
        std::process::exit(Exit::Interrupted as i32);
    });
}

/// Waits for Ctrl-C. Without a signal handler Ctrl-C ends the process, which is fine too.
async fn interrupted(cancel: &CancellationToken) {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
    cancel.cancel();
}

pub(crate) fn request(job: PathBuf, thinking: &Thinking) -> Request {
    Request {
        job,
        question: thinking.question.clone(),
        // A question may be in another language than the interface.
        language: thinking.question.is_none().then(report::interface),
        depth: thinking.depth,
        hypotheses: thinking.hypotheses,
        run_id: None,
        origin: None,
        links: Vec::new(),
        script: None,
        time: None,
    }
}

pub(crate) fn reasoner(thinking: &Thinking) -> ReasonerChoice {
    ReasonerChoice {
        mode: thinking.reasoner,
        profile: thinking.llm.clone(),
        redact: thinking.redact,
        no_fallback: thinking.no_fallback,
        ..ReasonerChoice::default()
    }
}
