//! Input and resources of an analysis.

use std::path::PathBuf;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::experience::{ChunkPrior, ExperienceSource};
use crate::facts::Answerer;
use crate::found::KindPrior;
use crate::prompts::Prompts;
use crate::reasoner::{Reasoner, ReasonerError};
use crate::step::StepId;
use report::Language;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Request {
    pub job: PathBuf,
    /// The engineer's question; `None` asks for the problem and its fix.
    pub question: Option<String>,
    /// Language of the report; `None` takes the language of the question, otherwise English.
    pub language: Option<Language>,
    pub depth: Depth,
    /// Whether the step on hypotheses is added.
    pub hypotheses: bool,
    /// ULID of the run; `None` makes one.
    pub run_id: Option<String>,
    /// Where the job came from, if the folder is a copy; the report names it instead.
    pub origin: Option<String>,
    /// Links in the archive of the job; they were not followed.
    pub links: Vec<String>,
    /// The script of the application, in place of the ones in its folder.
    pub script: Option<PathBuf>,
    /// Time limit of the analysis; work done by then becomes a partial report.
    pub time: Option<Duration>,
}

impl Request {
    /// Language of the report.
    pub fn report_language(&self) -> Language {
        let asked = self.question.as_deref().map(Language::of);
        self.language.or(asked).unwrap_or(Language::En)
    }
}

/// How much an analysis may spend.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Depth {
    /// THINK 1–3 in one call, files chosen by the rules alone.
    Quick,
    #[default]
    Normal,
    /// More experience per step, more rounds, and steps repeated with the files read.
    Deep,
}

/// Rounds of THINK 4. Eight rounds of three files cover every kind of file that a folder has.
const ROUNDS: u32 = 8;

pub struct Services<'a> {
    /// Which file of a job folder holds what.
    pub catalogue: &'a job::catalogue::Catalogue,
    pub diagnosis: &'a diagnosis::Settings,
    pub reading: job::Options,
    /// Where experience comes from (`indexer::Index` is one); `None` works without.
    pub index: Option<&'a dyn ExperienceSource>,
    pub reasoner: Box<dyn Reasoner>,
    /// Reasoners to use when `reasoner` fails, by preference; without any the analysis fails.
    pub fallbacks: Vec<Box<dyn Reasoner>>,
    pub prompts: Prompts,
    /// Feedback on a chunk for some causes, roughly -1 to 1.
    pub prior: Option<&'a ChunkPrior<'a>>,
    /// Feedback on a kind of suggestion for a cause, roughly -1 to 1.
    pub kind_prior: Option<&'a KindPrior<'a>>,
    /// Who answers the question from measured facts.
    pub answerer: Option<&'a Answerer<'a>>,
    /// Rounds that THINK 4 may take.
    pub rounds: u32,
    /// Whether names, values and words of the job are masked in all that is sent to a server.
    pub redact: bool,
    /// Stops the analysis; work done by then becomes a partial report.
    pub cancel: CancellationToken,
}

impl<'a> Services<'a> {
    /// A reasoner without experience, feedback and fallbacks, with the built-in prompts.
    pub fn new(
        catalogue: &'a job::catalogue::Catalogue,
        diagnosis: &'a diagnosis::Settings,
        reasoner: Box<dyn Reasoner>,
    ) -> Services<'a> {
        Services {
            catalogue,
            diagnosis,
            reading: job::Options::default(),
            index: None,
            reasoner,
            fallbacks: Vec::new(),
            prompts: Prompts::built_in(),
            prior: None,
            kind_prior: None,
            answerer: None,
            rounds: ROUNDS,
            redact: false,
            cancel: CancellationToken::new(),
        }
    }

    /// Whether a model may be asked. Without one, text for prompts is not made.
    pub(crate) fn asks_model(&self) -> bool {
        let others = self.fallbacks.iter();
        others.chain([&self.reasoner]).any(|r| r.asks_model())
    }
}

#[derive(Debug, thiserror::Error)]
pub enum AnalyzeError {
    #[error(transparent)]
    Job(#[from] job::OpenError),
    /// The LLM failed and there is no fallback.
    #[error("{}", report::say!("步骤 `{step}` 推理失败", "the reasoning failed in step `{step}`"))]
    Reasoner {
        step: &'static str,
        source: ReasonerError,
    },
}

impl AnalyzeError {
    pub(crate) fn of(step: StepId, source: ReasonerError) -> AnalyzeError {
        let step = step.id();
        AnalyzeError::Reasoner { step, source }
    }

    /// Whether the caller ended the analysis.
    pub(crate) fn is_cancelled(&self) -> bool {
        let cancelled = ReasonerError::Cancelled;
        matches!(self, AnalyzeError::Reasoner { source, .. } if *source == cancelled)
    }
}
