//! The two runs of a comparison: saved runs, or job folders and event logs that are read now.

use std::path::{Path, PathBuf};

use agent::{Request, Silent};
use report::{Language, Report};
use runs::compare::{ComparedRun, Origin};
use runs::history::JobHistory;

use crate::error::{Error, Result};
use crate::reasoner::{Mode, ReasonerChoice};
use crate::session::{Analysis, Session, Task};
use tokio_util::sync::CancellationToken;

impl Session {
    /// The job in a folder, else the run with this identifier (or `last`, `last~1`, …).
    pub fn compared_run(&self, name: &str) -> Result<ComparedRun> {
        let folder = Path::new(name);
        if folder.exists() {
            let read = self.read(folder)?;
            return Ok(ComparedRun {
                report: read.report,
                summary: read.summary,
                origin: Origin::Folder,
            });
        }
        self.saved_run(name)
    }

    /// A saved run as it reads in another language: its job analyzed again by the rules. `None` if the folder no longer has the job.
    pub fn run_in(&self, run: &str, language: Language) -> Result<Option<Analysis>> {
        let row = self.with_store(|store| store.run(run))?;
        let saved = self.report(&row.run_id)?;
        let summary = self.with_store(|store| store.summary(run))?;
        // a script outside of the folder has its whole path
        let script = summary.and_then(|summary| Some(PathBuf::from(summary.script?.file)));
        let task = Task {
            request: Request {
                job: row.job.into(),
                question: saved.question.clone(),
                language: Some(language),
                run_id: Some(row.run_id),
                script: script.filter(|path| path.is_absolute() && path.is_file()),
                ..Request::default()
            },
            reasoner: ReasonerChoice {
                mode: Mode::Offline,
                ..ReasonerChoice::default()
            },
            save: false,
            learned: true,
            cancel: CancellationToken::new(),
        };
        let again = self.analyze(task, &mut Silent);
        Ok(again
            .ok()
            .filter(|again| is_same_run(&again.report, &saved)))
    }

    /// The history of a run's job, with the run as its newest.
    pub fn history_of(&self, run: ComparedRun) -> Result<JobHistory> {
        let language = run.report.language;
        let mut runs = self.with_store(|store| store.runs_like(&run, &|_| true))?;
        runs.retain(|known| !runs::history::is_same_run(&known.report, &run.report));
        runs.push(run);
        Ok(JobHistory::of(&runs, language))
    }

    fn read(&self, folder: &Path) -> Result<Analysis> {
        let _line = self.monitor().progress(&folder.display().to_string());
        self.diagnose(folder)
    }

    /// The saved summary of a run. A run of an older version is completed from its folder if that still holds the same
    /// job.
    pub(crate) fn saved_run(&self, run: &str) -> Result<ComparedRun> {
        let (row, summary) = self.with_store(|store| Ok((store.run(run)?, store.summary(run)?)))?;
        let report = self.report(run)?;
        let summary = summary.unwrap_or_default();
        let (summary, origin) = if summary.drawn_only {
            let folder = Path::new(&row.job);
            let again = folder.exists().then(|| self.read(folder));
            match again.and_then(Result::ok) {
                Some(read) if is_same_run(&read.report, &report) => {
                    (read.summary, Origin::ReadAgain)
                }
                _ => (summary, Origin::Drawn),
            }
        } else {
            (summary, Origin::Kept)
        };
        Ok(ComparedRun {
            report,
            summary,
            origin,
        })
    }

    /// The report of a run.
    ///
    /// # Errors
    /// If there is no such run, or it has no report.
    pub fn report(&self, run: &str) -> Result<Report> {
        self.with_store(|store| store.report(run))?
            .ok_or_else(|| no_report(run))
    }
}

/// The error for a run that exists and has no report.
pub fn no_report(run: &str) -> Error {
    error!(
        Input: "运行 `{run}` 没有报告：它失败了或被中断", "run `{run}` has no report: it failed or was interrupted";
        "`scopeagent runs list` 显示每次运行如何结束；请重新分析该作业", "`scopeagent runs list` shows how each run ended; analyze the job again"
    )
}

/// Another job may have taken the folder since.
fn is_same_run(read: &Report, saved: &Report) -> bool {
    let (a, b) = (&read.job, &saved.job);
    (&a.id, &a.name, a.state, a.elapsed_seconds) == (&b.id, &b.name, b.state, b.elapsed_seconds)
}
