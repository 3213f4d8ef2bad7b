//! Analyses that the page started: how far each one is, for whoever looks.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent::{Event, Observer, Request};
use report::{Language, visible_line};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::app::App;
use crate::error::{Error, ErrorKind, Result};
use crate::session::Task;

/// Analyses that are remembered, running or ended.
const REMEMBERED: usize = 64;
/// Lines of progress that are kept; repeated steps add some.
const LINES: usize = 200;
/// Characters of a line.
const LINE: usize = 160;

#[derive(Default)]
pub(super) struct Analyses(Mutex<VecDeque<Arc<Progress>>>);

/// How far an analysis is.
pub(super) struct Progress {
    pub(super) run_id: String,
    pub(super) job: String,
    pub(super) stop: CancellationToken,
    steps: Mutex<Steps>,
    /// Counts changes, for those who wait for one.
    changed: watch::Sender<u64>,
}

#[derive(Default)]
struct Steps {
    lines: Vec<String>,
    end: Option<std::result::Result<(), Error>>,
}

/// What a page shows of an analysis.
pub(super) struct Seen {
    /// From the line that was asked for on.
    pub(super) lines: Vec<String>,
    /// `Some` at the end; the reason, if it failed.
    pub(super) end: Option<Option<String>>,
}

impl Analyses {
    pub(super) fn find(&self, run_id: &str) -> Option<Arc<Progress>> {
        let all = locked(&self.0);
        all.iter().find(|p| p.run_id == run_id).map(Arc::clone)
    }

    /// Those that have not ended, the newest first.
    pub(super) fn running(&self) -> Vec<Arc<Progress>> {
        let all = locked(&self.0);
        let running = all.iter().rev().filter(|p| !p.has_ended());
        running.map(Arc::clone).collect()
    }

    /// # Errors
    /// If too many run already.
    fn remember(&self, progress: &Arc<Progress>) -> Result<()> {
        let mut all = locked(&self.0);
        if all.len() >= REMEMBERED {
            let ended = all.iter().position(|p| p.has_ended());
            let Some(ended) = ended else {
                return Err(
                    Error::new(ErrorKind::Usage, "too many analyses are running")
                        .hint("wait until one has ended, or cancel one"),
                );
            };
            all.remove(ended);
        }
        all.push_back(Arc::clone(progress));
        Ok(())
    }
}

impl Progress {
    pub(super) fn has_ended(&self) -> bool {
        locked(&self.steps).end.is_some()
    }

    pub(super) fn watch(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    pub(super) fn seen(&self, from: usize) -> Seen {
        let steps = locked(&self.steps);
        let end = steps.end.as_ref();
        Seen {
            lines: steps.lines.get(from..).unwrap_or_default().to_vec(),
            end: end.map(|end| end.as_ref().err().map(Error::one_line)),
        }
    }

    fn add(&self, line: String) {
        let mut steps = locked(&self.steps);
        if steps.lines.len() < LINES {
            let line: String = line.chars().take(LINE).collect();
            steps
                .lines
                .push(visible_line(&llm::hide(&line)).into_owned());
        }
        drop(steps);
        self.changed.send_modify(|n| *n += 1);
    }

    fn end(&self, end: std::result::Result<(), Error>) {
        locked(&self.steps).end = Some(end);
        self.changed.send_modify(|n| *n += 1);
    }
}

/// Tells the progress of an analysis what happens.
struct Teller {
    progress: Arc<Progress>,
    language: Language,
}

impl Observer for Teller {
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

/// What is to be analyzed.
pub(super) struct Wish {
    pub(super) job: PathBuf,
    pub(super) question: Option<String>,
    pub(super) language: Language,
    pub(super) depth: agent::Depth,
}

/// Starts an analysis. Returns the identifier of its run.
///
/// # Errors
/// If too many run already.
pub(super) fn start(app: &Arc<App>, wish: Wish) -> Result<String> {
    let run_id = ulid::Ulid::generate().to_string();
    let progress = Arc::new(Progress {
        run_id: run_id.clone(),
        job: wish.job.display().to_string(),
        stop: app.stop.child_token(),
        steps: Mutex::default(),
        changed: watch::Sender::new(0),
    });
    app.analyses.remember(&progress)?;
    let task = Task {
        request: Request {
            job: wish.job,
            question: wish.question,
            language: Some(wish.language),
            depth: wish.depth,
            hypotheses: false,
            run_id: Some(run_id.clone()),
        },
        reasoner: app.reasoner.clone(),
        save: true,
        cancel: progress.stop.clone(),
    };
    let language = wish.language;
    let app = Arc::clone(app);
    let running = app.running.clone();
    running.spawn(async move {
        let place = tokio::select! {
            place = app.places.take() => place,
            () = progress.stop.cancelled() => Err("cancelled before it started".to_owned()),
        };
        let place = match place {
            Ok(place) => place,
            Err(busy) => return progress.end(Err(Error::new(ErrorKind::Other, busy))),
        };
        let analyst = Arc::clone(&app.analyst);
        let told = Arc::clone(&progress);
        let work = move || {
            let _place = place;
            let progress = Arc::clone(&told);
            let done = analyst.analyze(task, &mut Teller { progress, language });
            told.end(done.map(drop));
        };
        if let Err(panic) = app.running.spawn_blocking(work).await {
            progress.end(Err(Error::new(ErrorKind::Other, panic.to_string())));
        }
    });
    Ok(run_id)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
