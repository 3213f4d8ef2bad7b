//! Starts analyses and reports their events.

use std::sync::Arc;

use agent::{Event, Observer, Request};
use report::{Language, speaking};

use super::analyses::Progress;
use super::app::App;
use crate::error::{Error, ErrorKind, Result};
use crate::roots::Admitted;
use crate::session::Task;

/// Adds the events of an analysis to its progress.
struct ProgressObserver {
    progress: Arc<Progress>,
    language: Language,
}

impl Observer for ProgressObserver {
    fn event(&mut self, event: Event<'_>) {
        let say = |zh: String, en: String| self.language.select(zh, en);
        self.progress.add(match event {
            Event::JobOpened { files } => say(
                format!("目录中有 {files} 个文件"),
                format!("{files} files in the folder"),
            ),
            Event::FileRead { file, .. } => say(format!("读取 {file}"), format!("read {file}")),
            Event::Diagnosed { findings, .. } => say(
                format!("发现：{findings} 个"),
                format!("findings so far: {findings}"),
            ),
            Event::StepStarted { step, title } => format!("{} · {title}", step.id()),
            Event::StepFinished { step, text, .. } => {
                let first = text.lines().next().unwrap_or_default();
                format!("{} · {first}", step.id())
            }
            Event::Retry { step, reason, .. } => format!("{} · {reason}", step.id()),
            Event::Fallback { reason } => reason.to_string(),
            Event::Thinking { .. } | Event::Token { .. } => return,
        });
    }
}

/// Parameters of an analysis from a form.
pub(super) struct TaskForm {
    pub(super) job: Admitted,
    pub(super) question: Option<String>,
    pub(super) language: Language,
    pub(super) depth: agent::Depth,
}

/// Starts an analysis. Returns the identifier of its run.
///
/// # Errors
/// If too many run already.
pub(super) fn start(app: &Arc<App>, wish: TaskForm) -> Result<String> {
    let run_id = ulid::Ulid::generate().to_string();
    let (job, stop) = (wish.job.to_string(), app.stop.child_token());
    let progress = Arc::new(Progress::new(run_id.clone(), job, stop));
    app.analyses.remember(&progress)?;
    let mut task = Task {
        request: Request {
            question: wish.question,
            language: Some(wish.language),
            depth: wish.depth,
            run_id: Some(run_id.clone()),
            ..Request::default()
        },
        reasoner: app.reasoner.clone(),
        save: true,
        learned: true,
        cancel: progress.stop.clone(),
    };
    let (language, job) = (wish.language, wish.job);
    let app = Arc::clone(app);
    let running = app.running.clone();
    running.spawn(async move {
        let place = tokio::select! {
            place = app.places.take() => place,
            () = progress.stop.cancelled() => Err(language.select("在开始之前已取消", "cancelled before it started").to_owned()),
        };
        let place = match place {
            Ok(place) => place,
            Err(busy) => return progress.end(Err(Error::new(ErrorKind::Other, busy))),
        };
        let (analyst, fetch) = (Arc::clone(&app.analyst), Arc::clone(&app.fetch));
        let (told, ended) = (Arc::clone(&progress), app.ended.clone());
        let work = move || {
            let _place = place;
            let progress = Arc::clone(&told);
            let mut teller = ProgressObserver { progress, language };
            let done = speaking(language, || {
                let _opened = job.open_for(&mut task, &*fetch)?;
                analyst.analyze(task, &mut teller)
            });
            if let (Ok(analysis), Some(ended)) = (&done, &ended) {
                ended(&analysis.report);
            }
            told.end(done.and_then(|analysis| is_saved(&analysis.report)));
        };
        if let Err(panic) = app.running.spawn_blocking(work).await {
            progress.end(Err(Error::new(ErrorKind::Other, panic.to_string())));
        }
    });
    Ok(run_id)
}

/// # Errors
/// If the run of a report was not saved, so that no page can show it.
fn is_saved(report: &report::Report) -> Result<()> {
    if !report.run_id.is_empty() {
        return Ok(());
    }
    Err(error!(
        Other: "分析已完成，但运行没有保存", "the analysis is done, but its run could not be saved";
        "请腾出磁盘空间，并检查数据目录的权限；服务的日志有原因", "free some space on the disk and check the permissions of the data folder; the log of the server has the reason"
    ))
}
