//! The tools. Models read the comments before they choose one.
//!
//! Each tool checks the path against the roots of the call and passes the work to the session, away from the threads that serve messages.

use std::sync::Arc;

use agent::Request;
use indexer::Query;
use rmcp::handler::server::tool::Extension;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use rmcp::{RoleServer, tool, tool_router};
use runs::store::{Feedback, FeedbackRow, RunFilter, StoreError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::answers::{self, Answer, Brief, Passages, Points, Runs};
use super::file_part;
use super::handler::Handler;
use super::parameters::{
    AnalyzeJob, AskRun, CompareRuns, GiveFeedback, InspectJob, JobHistory, ListApplications,
    ListRuns, MAX_RUNS, ReadJobFile, Reasoner, SearchExperience, WhatIf,
};
use super::progress::Steps;
use super::resources::{self, Form};
use super::shared::Shared;
use crate::error::Result;
use crate::inspection::Inspection;
use crate::question::Question;
use crate::reasoner::{Mode, ReasonerChoice};
use crate::roots::Roots;
use crate::session::Task;
use crate::whatif;

/// An answer, or a sentence with its remedy that the model reads.
type Outcome = std::result::Result<Answer, String>;

const MAX_PASSAGES: u32 = 20;

#[tool_router(vis = "pub(super)")]
impl Handler {
    /// Finds out why a SCOPE or U-SQL job or a Spark application is slow, expensive or failed, and what to change.
    /// Reads the job folder or event log, names the causes with evidence (file, place, value), estimates the seconds that fixing each one would save, and suggests rewrites as verified diffs, hints or parameters, with the experience behind them.
    /// Takes a second for most jobs, longer with an LLM or gigabytes of vertex events; reports progress by step and can be cancelled. The answer is brief; the whole report is a resource under its run_id.
    #[tool(
        title = "Diagnose a job",
        annotations(
            read_only_hint = false,
            destructive_hint = false,
            idempotent_hint = false
        )
    )]
    async fn analyze_job(
        &self,
        Parameters(asked): Parameters<AnalyzeJob>,
        Extension(roots): Extension<Roots>,
        context: RequestContext<RoleServer>,
    ) -> Outcome {
        let job = roots.admit(&asked.job).map_err(plain)?;
        let place = tokio::select! {
            place = self.shared.analyses.take() => place?,
            () = context.ct.cancelled() => return Err("cancelled before it started".to_owned()),
        };
        let stop = self.shared.stop.child_token();
        // A client that hangs up drops this call; the analysis ends with it.
        let _stops_with_the_call = stop.clone().drop_guard();
        let mut task = self.task(&asked, stop.clone());
        let (send, mut notifications) = mpsc::unbounded_channel();
        let token = context.meta.get_progress_token();
        let steps = token.map(|token| Steps::new(token, asked.hypotheses, send));
        let shared = Arc::clone(&self.shared);
        let mut analysis = self.shared.running.spawn_blocking(move || {
            let _place = place;
            let _opened = job.open_for(&mut task, &*shared.fetch)?;
            match steps {
                Some(mut steps) => shared.analyst.analyze(task, &mut steps),
                None => shared.analyst.analyze(task, &mut agent::Silent),
            }
        });
        let report = loop {
            tokio::select! {
                Some(notification) = notifications.recv() => notify(&context, notification).await,
                () = context.ct.cancelled(), if !stop.is_cancelled() => stop.cancel(),
                done = &mut analysis => break done,
            }
        };
        while let Ok(notification) = notifications.try_recv() {
            notify(&context, notification).await;
        }
        let report = report.map_err(|e| e.to_string())?.map_err(plain)?.report;
        // A run that is not saved has no resources.
        let forms = [Form::Json, Form::Markdown].into_iter();
        let forms = forms.filter(|_| !report.run_id.is_empty());
        let links = forms.map(|form| {
            let name = report.job.label();
            resources::resource(&report.run_id, name, form)
        });
        let links = links.collect();
        let text = (self.shared.renderers.report)(&report);
        // The resource of a run needs a saved report; another one is kept for a while.
        let answer = match report.run_id.is_empty() {
            true => Answer::new(&report, text),
            false => Answer::new(&Brief::of(&report), text).with_links(links),
        };
        Ok(answer.fit(&self.shared.rest))
    }

    /// Shows the content of a job folder: files by kind, stages with times, bytes and skew, operators with rows against estimates,
    /// channels, input tables, script statements with the stages that run them, and unreadable parts. Use it for facts that a report does
    /// not quote. It draws no conclusions; analyze_job does.
    #[tool(
        title = "Inspect a job",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn inspect_job(
        &self,
        Parameters(asked): Parameters<InspectJob>,
        Extension(roots): Extension<Roots>,
    ) -> Outcome {
        let job = roots.admit(&asked.job).map_err(plain)?;
        self.blocking(move |shared| {
            let opened = shared.open(job)?;
            let mut inspection = Inspection::read(&opened.path, asked.stage.as_deref())?;
            if let Some(origin) = opened.origin {
                inspection.path = origin;
            }
            let text = (shared.renderers.inspection)(&inspection);
            Ok(Answer::new(&inspection, text))
        })
        .await
    }

    /// Searches the knowledge base of playbooks and resolved cases on SCOPE, U-SQL and Spark performance: symptoms, causes, checks, fixes, trade-offs, when advice does not hold. In Chinese and English; a query in one language finds passages in both.
    #[tool(
        title = "Search experience",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn search_experience(&self, Parameters(asked): Parameters<SearchExperience>) -> Outcome {
        self.blocking(move |shared| {
            let passages = search(shared, &asked)?;
            let text = passages.text();
            Ok(Answer::new(&passages, text))
        })
        .await
    }

    /// Reads the text of one file of a job folder, in parts: the script around the lines of a finding, an error, a warning, generated C#.
    /// Give the first `line`, or the `next_offset` of the previous part. Only files of that folder; links are not followed.
    #[tool(
        title = "Read a file of a job",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn read_job_file(
        &self,
        Parameters(asked): Parameters<ReadJobFile>,
        Extension(roots): Extension<Roots>,
    ) -> Outcome {
        let job = roots.admit(&asked.job).map_err(plain)?;
        self.blocking(move |shared| {
            let opened = shared.open(job)?;
            let reader = job::open(&opened.path, &job::Options::default())?;
            let part = file_part::read(&reader, &asked)?;
            let text = part.text.clone();
            Ok(Answer::new(&part, text))
        })
        .await
    }

    /// Lists earlier analyses of jobs in the allowed folders, newest first: run_id, job, status, verdict, top cause. The report of each is the resource scopeagent://runs/{run_id}/report.
    #[tool(
        title = "List analyses",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn list_runs(
        &self,
        Parameters(asked): Parameters<ListRuns>,
        Extension(roots): Extension<Roots>,
    ) -> Outcome {
        self.blocking(move |shared| {
            let filter = RunFilter {
                job: asked.job,
                limit: Some(asked.limit.clamp(1, MAX_RUNS) as usize),
                ..RunFilter::default()
            };
            let runs = Runs {
                runs: resources::visible(shared, &roots, &filter)?,
            };
            let text = runs.text();
            Ok(Answer::new(&runs, text))
        })
        .await
    }

    /// Answers a follow-up question about an analyzed job from the measurements: how long a stage took, its vertices, rows, bytes or skew,
    /// whether it is a problem, why it is not faster, changes since the last run of the same job. Every number has its evidence (file,
    /// place, value). Questions about one run continue each other: "and how many vertices?".
    #[tool(
        title = "Ask about a run",
        annotations(
            read_only_hint = false,
            destructive_hint = false,
            idempotent_hint = false,
            open_world_hint = false
        )
    )]
    async fn ask_run(
        &self,
        Parameters(asked): Parameters<AskRun>,
        Extension(roots): Extension<Roots>,
    ) -> Outcome {
        let reasoner = self.choice(asked.reasoner);
        self.blocking(move |shared| {
            let run = allowed_run(shared, &roots, asked.run_id)?;
            let question = Question {
                run,
                text: asked.question,
                reasoner,
                save: true,
                cancel: shared.stop.child_token(),
            };
            let answered = shared.session.ask(&question, &mut agent::Silent)?;
            let text = answered.text.clone();
            Ok(Answer::new(&answered, text))
        })
        .await
    }

    /// Compares two runs of a job and names the most likely reason of the difference: more input, fewer tokens or executors, another plan or script, skew, waits, slower machines; the shares of the reasons add up. Each run is a run_id or a job as for analyze_job.
    #[tool(
        title = "Compare two runs",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn compare_runs(
        &self,
        Parameters(asked): Parameters<CompareRuns>,
        Extension(roots): Extension<Roots>,
    ) -> Outcome {
        self.blocking(move |shared| {
            let [a, b] = [&asked.a, &asked.b].map(|name| resources::compared(shared, &roots, name));
            let (a, b) = (a?, b?);
            let language = asked.language.unwrap_or(a.report.language);
            let comparison = runs::compare::compare(&a, &b, language);
            let text = render::comparison::markdown(&comparison, false);
            Ok(Answer::new(&comparison, text))
        })
        .await
    }

    /// Replays a run with other tokens (Spark: executors or cores), another amount of input, or findings fixed: time and cost of the change, and over counts of the resource.
    #[tool(
        title = "Replay a run with a change",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn whatif(
        &self,
        Parameters(asked): Parameters<WhatIf>,
        Extension(roots): Extension<Roots>,
    ) -> Outcome {
        self.blocking(move |shared| {
            let job = resources::job_of(shared, &roots, &asked.job)?;
            let opened = shared.open(job)?;
            let report = resources::report_of(shared, &roots, &asked.job)?;
            let replayed = whatif::replay(
                &opened.path,
                shared.session.thresholds(),
                &asked.change()?,
                report.as_ref(),
                report::Language::En,
            )?;
            let told = whatif::Told {
                replayed: &replayed,
                price: None,
                language: report::Language::En,
            };
            let asked = std::iter::once(told.now()).chain(told.asked());
            let lines: Vec<String> = asked.chain([told.conclusion()]).collect();
            Ok(Answer::new(&Points::of(&replayed), lines.join("\n")))
        })
        .await
    }

    /// Shows the saved runs of a recurring job: time, cost, input and plan of each, runs slower than the job's own spread allows with the likely reason, and changed plans, grown input and fallen capacity.
    #[tool(
        title = "History of a recurring job",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn job_history(
        &self,
        Parameters(asked): Parameters<JobHistory>,
        Extension(roots): Extension<Roots>,
    ) -> Outcome {
        self.blocking(move |shared| {
            let language = asked.language.unwrap_or(report::Language::En);
            let may_be_seen = |job: &str| roots.cover(job);
            let mut history = shared
                .session
                .with_store(|store| store.history(&asked.job, &may_be_seen, language))?;
            let most = asked.limit.clamp(1, MAX_RUNS) as usize;
            history
                .runs
                .drain(..history.runs.len().saturating_sub(most));
            let text = render::history::plain(&history, language);
            Ok(Answer::new(&history, text))
        })
        .await
    }

    /// Lists Spark applications of the allowed History Servers, newest first, with the address that analyze_job takes as `job`.
    #[tool(
        title = "List Spark applications",
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn list_applications(
        &self,
        Parameters(asked): Parameters<ListApplications>,
        Extension(roots): Extension<Roots>,
    ) -> Outcome {
        self.blocking(move |shared| {
            let applications = resources::applications(shared, &roots, &asked)?;
            let text = answers::applications(&applications);
            let value = serde_json::json!({ "applications": applications });
            Ok(Answer::new(&value, text))
        })
        .await
    }

    /// Records what the user did with a suggestion of a report, to improve later searches and rankings. Only use it after the user said so; later feedback on the same suggestion replaces earlier feedback.
    #[tool(
        title = "Give feedback",
        annotations(
            read_only_hint = false,
            destructive_hint = true,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    async fn give_feedback(
        &self,
        Parameters(asked): Parameters<GiveFeedback>,
        Extension(roots): Extension<Roots>,
    ) -> Outcome {
        self.blocking(move |shared| {
            let row = give(shared, &roots, asked)?;
            let text = answers::saved(&row);
            Ok(Answer::new(&row, text))
        })
        .await
    }

    /// Does blocking work away from the threads that serve messages.
    async fn blocking(
        &self,
        work: impl FnOnce(&Shared) -> Result<Answer> + Send + 'static,
    ) -> Outcome {
        let work = move |shared: &Shared| work(shared).map(|answer| answer.fit(&shared.rest));
        let done = self.shared.blocking(work).await;
        done.map_err(|error| error.message.into_owned())
    }

    /// The task for a request, before its job is opened.
    fn task(&self, asked: &AnalyzeJob, cancel: CancellationToken) -> Task {
        Task {
            request: Request {
                question: asked.question.clone(),
                language: asked.language,
                depth: asked.depth.into(),
                hypotheses: asked.hypotheses,
                ..Request::default()
            },
            reasoner: self.choice(asked.reasoner),
            save: true,
            learned: true,
            cancel,
        }
    }

    fn choice(&self, reasoner: Reasoner) -> ReasonerChoice {
        let mode = match reasoner {
            Reasoner::Auto => self.shared.reasoner.mode,
            Reasoner::Offline => Mode::Offline,
        };
        ReasonerChoice {
            mode,
            ..self.shared.reasoner.clone()
        }
    }
}

async fn notify(context: &RequestContext<RoleServer>, notification: ProgressNotificationParam) {
    // A client that misses this will miss the result too.
    let _ = context.peer.notify_progress(notification).await;
}

fn search(shared: &Shared, asked: &SearchExperience) -> Result<Passages> {
    let limit = asked.limit.clamp(1, MAX_PASSAGES) as usize;
    let mut query = Query::new(asked.query.as_str(), limit);
    query.filter.causes.extend(asked.cause.clone());
    query.filter.languages.extend(asked.language);
    query.filter.engine = asked.engine.map(|engine| Some(engine).into());
    let hits = shared.session.index()?.search(&query)?;
    Ok(Passages {
        passages: hits.into_iter().map(Into::into).collect(),
    })
}

fn give(shared: &Shared, roots: &Roots, asked: GiveFeedback) -> Result<FeedbackRow> {
    let feedback = Feedback {
        action: asked.action,
        suggestion: asked.suggestion,
        note: asked.note,
        saved_seconds: asked.saved_seconds,
    };
    let run = allowed_run(shared, roots, asked.run_id)?;
    let session = &shared.session;
    session.with_store(|store| store.give_feedback(&run, &feedback))
}

/// The whole id of a saved run whose job is in the allowed folders.
fn allowed_run(shared: &Shared, roots: &Roots, id: String) -> Result<String> {
    match resources::visible_run(shared, roots, &id)? {
        Some(run) => Ok(run.run_id),
        None => Err(StoreError::UnknownRun(id.as_str().into()).into()),
    }
}

fn plain(error: crate::Error) -> String {
    llm::hide(&error.to_string()).into_owned()
}
