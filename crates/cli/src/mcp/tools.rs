//! The tools. Their comments are what a model reads before it chooses one.
//!
//! Each names its parameters, judges the path against the roots of the call, and hands the work to
//! the code behind the command of the same purpose, off the threads that serve messages.

use std::path::Path;
use std::sync::Arc;

use ::runs::store::{Feedback, FeedbackRow, RunFilter};
use indexer::Query;
use report::Report;
use rmcp::handler::server::tool::{Extension, schema_for_output};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use rmcp::{RoleServer, tool, tool_router};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::answers::{self, Answer, FilePart, Passages, Runs};
use super::file_part;
use super::parameters::{
    AnalyzeJob, Depth, GiveFeedback, InspectJob, ListRuns, ReadJobFile, Reasoner, SearchExperience,
};
use super::progress::Steps;
use super::resources::{self, Form};
use super::roots::Roots;
use super::server::{Server, Shared};
use crate::analysis::Analyst;
use crate::args::{self, Analyze, Thinking};
use crate::command::{inspect, runs};
use crate::config::Language;
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::inspection::Inspection;
use crate::keeper::{self, Keeper};
use crate::knowledge::Knowledge;
use crate::render;

/// What a tool gives: an answer, or a sentence with its remedy that the model reads.
type Outcome<T> = std::result::Result<Answer<T>, String>;

/// Passages at most.
const PASSAGES: u32 = 20;
/// Runs at most.
const RUNS: u32 = 200;

#[tool_router(vis = "pub(super)")]
impl Server {
    /// Finds out why one SCOPE or U-SQL job is slow, expensive or failed, and what to change.
    /// Reads the job folder, names the causes with evidence (file, place, value), estimates the seconds that mending each would save, and suggests rewrites as checked diffs, hints or parameters, with the experience they rest on.
    /// Takes a second for most jobs, longer with an LLM or gigabytes of vertex events; reports progress by step and can be cancelled. The report is kept: its run_id is what give_feedback and the report resources need.
    #[tool(
        title = "Diagnose a job",
        output_schema = schema_for_output::<Report>(),
        annotations(read_only_hint = false, destructive_hint = false, idempotent_hint = false)
    )]
    async fn analyze_job(
        &self,
        Parameters(asked): Parameters<AnalyzeJob>,
        Extension(roots): Extension<Roots>,
        context: RequestContext<RoleServer>,
    ) -> Outcome<Report> {
        let job = roots.admit(&asked.job).map_err(told)?;
        let _place = tokio::select! {
            place = self.shared.places.acquire() => place.map_err(|e| e.to_string())?,
            () = context.ct.cancelled() => return Err("cancelled before it began".to_owned()),
        };
        let args = self.arguments(job, &asked);
        let (send, mut told_steps) = mpsc::unbounded_channel();
        let token = context.meta.get_progress_token();
        let steps = token.map(|token| Steps::new(token, asked.hypotheses, send));
        let stop = self.shared.stop.child_token();
        // A client that hangs up drops this call; the analysis ends with it.
        let _stops_with_the_call = stop.clone().drop_guard();
        let mut analysis = {
            let (shared, stop) = (Arc::clone(&self.shared), stop.clone());
            self.shared
                .running
                .spawn_blocking(move || analyse(&shared, &args, steps, stop))
        };
        let report = loop {
            tokio::select! {
                Some(notification) = told_steps.recv() => notify(&context, notification).await,
                () = context.ct.cancelled(), if !stop.is_cancelled() => stop.cancel(),
                done = &mut analysis => break done,
            }
        };
        while let Ok(notification) = told_steps.try_recv() {
            notify(&context, notification).await;
        }
        let report = report.map_err(|e| e.to_string())?.map_err(told)?;
        let links = [Form::Json, Form::Markdown]
            .map(|form| {
                let name = report.job.name.as_deref().unwrap_or(&report.job.path);
                resources::resource(&report.run_id, name, form)
            })
            .to_vec();
        let text = render::markdown::render(&report);
        Ok(Answer {
            value: report,
            text,
            links,
        })
    }

    /// Shows what a job folder holds before anything is judged: files by kind, stages with times, bytes and skew, operators with rows against estimates, channels, input tables, script statements with the stages that run them, and what could not be read.
    /// Use it for facts that a report does not quote. It judges nothing; analyze_job does.
    #[tool(
        title = "Look into a job",
        output_schema = schema_for_output::<Inspection>(),
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn inspect_job(
        &self,
        Parameters(asked): Parameters<InspectJob>,
        Extension(roots): Extension<Roots>,
    ) -> Outcome<Inspection> {
        let path = roots.admit(&asked.job).map_err(told)?;
        self.aside(move |_| {
            let inspection = inspect::inspection(&path, asked.stage.as_deref())?;
            let text = plain(&render::inspection::render(&inspection, None));
            Ok(Answer::new(inspection, text))
        })
        .await
    }

    /// Searches the knowledge base of playbooks and resolved cases on SCOPE and U-SQL performance: symptoms, causes, checks, fixes, trade-offs, when advice does not hold. In Chinese and English; a query in one language finds passages in both.
    #[tool(
        title = "Search experience",
        output_schema = schema_for_output::<Passages>(),
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn search_experience(
        &self,
        Parameters(asked): Parameters<SearchExperience>,
    ) -> Outcome<Passages> {
        self.aside(move |shared| {
            let passages = search(shared, &asked)?;
            let text = passages.text();
            Ok(Answer::new(passages, text))
        })
        .await
    }

    /// Reads the text of one file of a job folder, in parts: the script around the lines of a finding, an error, a warning, generated C#.
    /// Give `line` to begin at a line, or the `next_offset` of the part before. Only files of that folder; links are not followed.
    #[tool(
        title = "Read a file of a job",
        output_schema = schema_for_output::<FilePart>(),
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn read_job_file(
        &self,
        Parameters(asked): Parameters<ReadJobFile>,
        Extension(roots): Extension<Roots>,
    ) -> Outcome<FilePart> {
        let path = roots.admit(&asked.job).map_err(told)?;
        self.aside(move |_| {
            let reader = job::open(&path, &job::Options::default())
                .map_err(|e| CliError::from_source(Exit::Input, &e).hint(e.hint()))?;
            let part = file_part::read(&reader, &asked)?;
            let text = part.text.clone();
            Ok(Answer::new(part, text))
        })
        .await
    }

    /// Lists earlier analyses of jobs in the allowed folders, the newest first: run_id, job, status, verdict, top cause. The report of each is the resource scopeagent://runs/{run_id}/report.
    #[tool(
        title = "List analyses",
        output_schema = schema_for_output::<Runs>(),
        annotations(read_only_hint = true, open_world_hint = false)
    )]
    async fn list_runs(
        &self,
        Parameters(asked): Parameters<ListRuns>,
        Extension(roots): Extension<Roots>,
    ) -> Outcome<Runs> {
        self.aside(move |shared| {
            let filter = RunFilter {
                job: asked.job,
                limit: Some(asked.limit.clamp(1, RUNS) as usize),
            };
            let runs = Runs {
                runs: resources::visible(shared, &roots, &filter)?,
            };
            let text = runs.text();
            Ok(Answer::new(runs, text))
        })
        .await
    }

    /// Notes what the user did with a suggestion of a report, so that later searches and rankings are better. Only after the user said so; a later opinion on the same suggestion replaces the earlier one.
    #[tool(
        title = "Give feedback",
        output_schema = schema_for_output::<FeedbackRow>(),
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
    ) -> Outcome<FeedbackRow> {
        self.aside(move |shared| {
            let row = give(shared, &roots, asked)?;
            let text = answers::noted(&row);
            Ok(Answer::new(row, text))
        })
        .await
    }

    /// Does work that blocks where it holds up nobody.
    async fn aside<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared) -> Result<Answer<T>> + Send + 'static,
    ) -> Outcome<T> {
        let shared = Arc::clone(&self.shared);
        let done = self.shared.running.spawn_blocking(move || work(&shared));
        done.await.map_err(|e| e.to_string())?.map_err(told)
    }

    /// The arguments of `analyze` that a call stands for.
    fn arguments(&self, job: std::path::PathBuf, asked: &AnalyzeJob) -> Analyze {
        let reasoner = match asked.reasoner {
            Reasoner::Auto => self.shared.reasoner,
            Reasoner::Offline => args::Reasoner::Offline,
        };
        let thinking = Thinking {
            question: asked.question.clone(),
            lang: asked.language.map(|language| match language {
                report::Language::Zh => Language::Zh,
                report::Language::En => Language::En,
            }),
            depth: match asked.depth {
                Depth::Quick => args::Depth::Quick,
                Depth::Normal => args::Depth::Normal,
                Depth::Deep => args::Depth::Deep,
            },
            hypotheses: asked.hypotheses,
            reasoner,
            llm: self.shared.llm.clone(),
            redact: self.shared.redact,
            no_fallback: false,
        };
        Analyze::of(job, thinking)
    }
}

fn analyse(
    shared: &Shared,
    args: &Analyze,
    steps: Option<Steps>,
    stop: tokio_util::sync::CancellationToken,
) -> Result<Report> {
    let (mut heard, mut silent) = (steps, agent::Silent);
    let observer: &mut dyn agent::Observer = match &mut heard {
        Some(steps) => steps,
        None => &mut silent,
    };
    let (config, terminal) = (&shared.config, &shared.terminal);
    let keeper = Keeper::open(config, true, terminal);
    let open = |learnt| Analyst::open_on(Handle::current(), stop, config, learnt, terminal);
    keeper::kept(args, config, &keeper, open, observer).map(|made| made.report)
}

async fn notify(context: &RequestContext<RoleServer>, notification: ProgressNotificationParam) {
    // A client that cannot be told will not be told the result either.
    let _ = context.peer.notify_progress(notification).await;
}

fn search(shared: &Shared, asked: &SearchExperience) -> Result<Passages> {
    let index = Knowledge::locate(&shared.config)?.open(&shared.terminal)?;
    let mut query = Query::new(
        asked.query.as_str(),
        asked.limit.clamp(1, PASSAGES) as usize,
    );
    query.filter.causes.extend(asked.cause.clone());
    query
        .filter
        .languages
        .extend(asked.language.map(|language| match language {
            report::Language::Zh => indexer::Language::Zh,
            report::Language::En => indexer::Language::En,
        }));
    let hits = index
        .search(&query)
        .map_err(|e| CliError::from_source(Exit::Failure, &e))?;
    Ok(Passages {
        passages: hits.into_iter().map(Into::into).collect(),
    })
}

fn give(shared: &Shared, roots: &Roots, asked: GiveFeedback) -> Result<FeedbackRow> {
    let mut store = runs::open(&shared.config)?;
    let run = store.run(&asked.run_id).map_err(runs::error)?;
    if !roots.cover(Path::new(&run.job)) {
        let unknown = ::runs::store::StoreError::UnknownRun(asked.run_id);
        return Err(runs::error(unknown));
    }
    let feedback = Feedback {
        action: asked.action,
        suggestion: asked.suggestion,
        note: asked.note,
        saved_seconds: asked.saved_seconds,
    };
    store
        .give_feedback(&run.run_id, &feedback)
        .map_err(runs::error)
}

fn told(error: CliError) -> String {
    error.plain()
}

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}
