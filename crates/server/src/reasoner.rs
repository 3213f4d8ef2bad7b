//! Selects the reasoner: an LLM, the offline reasoner, a recorded transcript, or a preview of the prompts.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use agent::Reasoner;
use agent::model::{DryRun, LlmReasoner, Preview};
use agent::offline::Offline;
use llm::transport::Transport;
use llm::{
    Budget, ConnectError, LlmConfig, LlmOptions, Model, Profile, Provider, Replay, Transcript,
};
use report::say;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use crate::error::{ErrorKind, Explain, Result};

/// Fetches the key of a profile; `None` if the profile needs no key. The error explains why the key
/// is unavailable.
pub type KeySource = fn(&Profile) -> std::result::Result<Option<SecretString>, String>;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// An LLM if one is configured, otherwise the offline reasoner.
    #[default]
    Auto,
    Offline,
    Llm,
}

/// What the user wants to reason with.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ReasonerChoice {
    pub mode: Mode,
    /// LLM profile; `None` for the configured one.
    pub profile: Option<String>,
    /// Masks names, paths and literals in everything that is sent.
    pub redact: bool,
    /// Fails instead of falling back to another profile or the offline reasoner.
    pub no_fallback: bool,
    /// Keeps the prompts instead of sending them.
    pub dry_run: bool,
    /// File to which every call is written.
    pub transcript: Option<PathBuf>,
    /// File with recorded answers.
    pub replay: Option<PathBuf>,
    /// Budget of all runs together.
    #[serde(skip)]
    pub budget: Option<Arc<dyn Budget>>,
}

pub(crate) struct Reasoners {
    pub(crate) first: Box<dyn Reasoner>,
    /// Tried one after the other when the first fails.
    pub(crate) fallbacks: Vec<Box<dyn Reasoner>>,
    /// Remark for the user; may be empty.
    pub(crate) description: String,
    pub(crate) transcript: Option<Transcript>,
    pub(crate) replay: Option<Arc<Replay>>,
    /// Filled by a dry run.
    pub(crate) previews: Option<Arc<Mutex<Vec<Preview>>>>,
}

impl Reasoners {
    pub(crate) fn choose(
        choice: &ReasonerChoice,
        llm: &LlmConfig,
        keys: KeySource,
    ) -> Result<Reasoners> {
        if let Some(path) = &choice.replay {
            return replayed(path, choice, llm);
        }
        let is_named = choice.profile.is_some() || llm.default.is_some();
        let is_configured = is_named || !llm.profiles.is_empty();
        match choice.mode {
            // A user who chose it needs no remark.
            Mode::Offline => Ok(Reasoners::offline("")),
            _ if choice.dry_run => dry_run(choice, llm),
            Mode::Auto if !is_configured => Ok(Reasoners::offline(&say!(
                "离线分析：没有配置 LLM",
                "offline reasoner: no LLM is configured"
            ))),
            Mode::Auto | Mode::Llm => with_llm(choice, llm, keys),
        }
    }

    pub(crate) fn offline(description: &str) -> Reasoners {
        Reasoners::of(Offline, description)
    }

    fn of(first: impl Reasoner + 'static, description: impl Into<String>) -> Reasoners {
        Reasoners {
            first: Box::new(first),
            fallbacks: Vec::new(),
            description: description.into(),
            transcript: None,
            replay: None,
            previews: None,
        }
    }
}

fn options(choice: &ReasonerChoice, llm: &LlmConfig) -> LlmOptions {
    LlmOptions {
        max_cost: llm.max_cost,
        stream: true,
        budget: choice.budget.clone(),
    }
}

fn with_llm(choice: &ReasonerChoice, llm: &LlmConfig, keys: KeySource) -> Result<Reasoners> {
    let transcript = choice.transcript.as_deref().map(transcript).transpose()?;
    let connect = |name: Option<&str>| {
        let options = options(choice, llm);
        agent::model::connect(llm, name, &keys, transcript.as_ref(), options)
    };
    let (name, _) = llm.profile(choice.profile.as_deref())?;
    let description = description(choice, llm)?;
    let mut reasoners = Reasoners::of(connect(choice.profile.as_deref())?, description);
    if !choice.no_fallback {
        if let Some(other) = llm.fallback.as_deref().filter(|other| *other != name) {
            reasoners.fallbacks.push(Box::new(connect(Some(other))?));
        }
        reasoners.fallbacks.push(Box::new(Offline));
    }
    Ok(Reasoners {
        transcript,
        ..reasoners
    })
}

/// The provider, model and profile of a choice.
pub(crate) fn description(choice: &ReasonerChoice, llm: &LlmConfig) -> Result<String> {
    let (name, profile) = llm.profile(choice.profile.as_deref())?;
    Ok(say!(
        "由 {provider} {model} 分析（配置 `{name}`）",
        "reasoning with {provider} {model} (profile `{name}`)",
        provider = profile.provider.name(),
        model = profile.model
    ))
}

/// Collects the prompts for the chosen profile; without a profile, for any server.
fn dry_run(choice: &ReasonerChoice, llm: &LlmConfig) -> Result<Reasoners> {
    let dry = DryRun::new(profile_or_any(choice, llm)?);
    Ok(Reasoners {
        previews: Some(dry.previews()),
        ..Reasoners::of(
            dry,
            say!("试运行：不发送任何内容", "dry run: no request is sent"),
        )
    })
}

fn profile_or_any(choice: &ReasonerChoice, llm: &LlmConfig) -> Result<Profile> {
    match llm.profile(choice.profile.as_deref()) {
        Ok((_, profile)) => Ok(profile.clone()),
        Err(ConnectError::NoProfile) => Ok(Profile::new(Provider::Compatible, "any")),
        Err(error) => Err(error.into()),
    }
}

/// The profile only determines how prompts are cut, and is named in the report.
fn replayed(path: &Path, choice: &ReasonerChoice, llm: &LlmConfig) -> Result<Reasoners> {
    let hint = say!(
        "`{file}` 须是 `--transcript` 写出的文件",
        "`{file}` must be a file that `--transcript` wrote",
        file = path.display().to_string()
    );
    let file = File::open(path).explain(ErrorKind::Input, &hint)?;
    let replay = Replay::read(BufReader::new(file)).explain(ErrorKind::Input, &hint)?;
    let replay = Arc::new(replay);
    let transport: Arc<dyn Transport> = Arc::<Replay>::clone(&replay);
    let model = Model::new(profile_or_any(choice, llm)?, transport);
    let first = LlmReasoner::new(model, options(choice, llm));
    Ok(Reasoners {
        replay: Some(replay),
        ..Reasoners::of(
            first,
            say!(
                "重放记录：不发送任何内容",
                "replaying a transcript: no request is sent"
            ),
        )
    })
}

fn transcript(path: &Path) -> Result<Transcript> {
    let file = path.display();
    let hint = say!("`{file}` 须可写", "`{file}` must be a writable file");
    let file = File::create(path).explain(ErrorKind::Usage, hint)?;
    Ok(Transcript::new(file))
}
