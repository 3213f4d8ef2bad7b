//! Which reasoner answers: chosen from flags and configuration, with keys fetched from where the
//! profile says they are.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use agent::Reasoner;
use agent::model::{DryRun, LlmReasoner, Preview};
use agent::offline::Offline;
use llm::transport::Transport;
use llm::{ConnectError, Lane, LlmConfig, LlmOptions, Profile, Provider, Replay, Transcript};
use secrecy::SecretString;

use crate::args::{self, Analyze, Thinking};
use crate::config::Config;
use crate::error::{CliError, Result};
use crate::exit::Exit;

/// The reasoners of one analysis.
pub(crate) struct Reasoners {
    pub(crate) first: Box<dyn Reasoner>,
    /// Tried in order when the first fails.
    pub(crate) fallbacks: Vec<Box<dyn Reasoner>>,
    /// Which one it is, for the user.
    pub(crate) said: String,
    /// Where the calls are written down.
    pub(crate) transcript: Option<Transcript>,
    /// What the answers come from instead of a server.
    pub(crate) replay: Option<Arc<Replay>>,
    /// What would be sent, in a dry run.
    pub(crate) previews: Option<Arc<Mutex<Vec<Preview>>>>,
}

/// What the flags ask for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) thinking: &'a Thinking,
    /// Nothing is sent; what would be is shown.
    pub(crate) dry_run: bool,
    /// File that every call is written to.
    pub(crate) transcript: Option<&'a Path>,
    /// File that the answers are taken from.
    pub(crate) replay: Option<&'a Path>,
}

impl<'a> From<&'a Analyze> for Asked<'a> {
    fn from(args: &'a Analyze) -> Asked<'a> {
        Asked {
            thinking: &args.thinking,
            dry_run: args.dry_run,
            transcript: args.transcript.as_deref(),
            replay: args.replay.as_deref(),
        }
    }
}

impl Reasoners {
    /// Chooses as the flags and the configuration say.
    pub(crate) fn choose(asked: &Asked<'_>, config: &Config) -> Result<Reasoners> {
        let args = asked.thinking;
        if let Some(path) = asked.replay {
            return replayed(path, args, &config.llm);
        }
        let configured = args.llm.is_some() || !config.llm.profiles.is_empty();
        match args.reasoner {
            args::Reasoner::Offline => Ok(Reasoners::of(
                Box::new(Offline),
                "offline reasoner, as asked",
            )),
            args::Reasoner::Auto if !configured && !asked.dry_run => Ok(Reasoners::of(
                Box::new(Offline),
                "offline reasoner: no LLM is configured",
            )),
            _ if asked.dry_run => dry_run(args, &config.llm),
            _ => with_llm(asked, &config.llm),
        }
    }

    fn of(first: Box<dyn Reasoner>, said: &str) -> Reasoners {
        Reasoners {
            first,
            fallbacks: Vec::new(),
            said: said.to_owned(),
            transcript: None,
            replay: None,
            previews: None,
        }
    }
}

fn with_llm(asked: &Asked<'_>, llm: &LlmConfig) -> Result<Reasoners> {
    let args = asked.thinking;
    let transcript = asked.transcript.map(transcript).transpose()?;
    let options = LlmOptions {
        max_cost: llm.max_cost,
        redact: args.redact,
        stream: true,
    };
    let connect = |name: Option<&str>| {
        agent::model::connect(llm, name, &key, transcript.as_ref(), options.clone())
            .map_err(connect_error)
    };
    let (name, profile) = llm.profile(args.llm.as_deref()).map_err(connect_error)?;
    let first = connect(args.llm.as_deref())?;
    let mut fallbacks: Vec<Box<dyn Reasoner>> = Vec::new();
    if !args.no_fallback {
        if let Some(other) = llm.fallback.as_deref().filter(|other| *other != name) {
            fallbacks.push(Box::new(connect(Some(other))?));
        }
        fallbacks.push(Box::new(Offline));
    }
    let said = format!(
        "reasoning with {} {} (profile `{name}`)",
        profile.provider.name(),
        profile.model
    );
    Ok(Reasoners {
        first: Box::new(first),
        fallbacks,
        said,
        transcript,
        replay: None,
        previews: None,
    })
}

/// Shows what would be sent to the chosen profile; without one, to any server.
fn dry_run(args: &Thinking, llm: &LlmConfig) -> Result<Reasoners> {
    let dry = DryRun::new(profile_or_any(args, llm)?, args.redact);
    let previews = dry.previews();
    Ok(Reasoners {
        previews: Some(previews),
        ..Reasoners::of(Box::new(dry), "dry run: nothing is sent")
    })
}

/// The chosen profile; without any, one that stands for every server.
fn profile_or_any(args: &Thinking, llm: &LlmConfig) -> Result<Profile> {
    match llm.profile(args.llm.as_deref()) {
        Ok((_, profile)) => Ok(profile.clone()),
        Err(ConnectError::NoProfile) => Ok(Profile::new(Provider::Compatible, "any")),
        Err(error) => Err(connect_error(error)),
    }
}

/// The profile says how prompts are cut and named in the report; nothing is sent to its server.
fn replayed(path: &Path, args: &Thinking, llm: &LlmConfig) -> Result<Reasoners> {
    let unreadable = |e: &dyn std::error::Error| {
        CliError::from_source(Exit::Input, e).hint(format!(
            "`{}` must be a file that `--transcript` wrote",
            path.display()
        ))
    };
    let file = File::open(path).map_err(|e| unreadable(&e))?;
    let replay = Arc::new(Replay::read(BufReader::new(file)).map_err(|e| unreadable(&e))?);
    let profile = profile_or_any(args, llm)?;
    let transport: Arc<dyn Transport> = Arc::<Replay>::clone(&replay);
    let options = LlmOptions {
        max_cost: llm.max_cost,
        redact: args.redact,
        stream: true,
    };
    let first = LlmReasoner::new(Lane::new(profile, transport), options);
    Ok(Reasoners {
        replay: Some(replay),
        ..Reasoners::of(Box::new(first), "replaying a transcript: nothing is sent")
    })
}

fn transcript(path: &Path) -> Result<Transcript> {
    let file = File::create(path).map_err(|e| {
        CliError::from_source(Exit::Usage, &e).hint(format!(
            "`{}` must be a place where a file can be written",
            path.display()
        ))
    })?;
    Ok(Transcript::new(file))
}

/// A configuration that gives no reasoner, as the user sees it.
pub(crate) fn connect_error(error: ConnectError) -> CliError {
    CliError::from_source(Exit::Usage, &error).hint(
        "profiles are `[llm.profiles.NAME]` in scopeagent.toml; `scopeagent doctor` tries one",
    )
}

/// The key of a profile: from the variable or the command that it names.
pub(crate) fn key(profile: &Profile) -> std::result::Result<Option<SecretString>, String> {
    key_from(
        profile.api_key_env.as_deref(),
        profile.api_key_command.as_deref(),
    )
}

/// A key from the variable or the command, whichever is named; neither is no key.
pub(crate) fn key_from(
    variable: Option<&str>,
    command: Option<&str>,
) -> std::result::Result<Option<SecretString>, String> {
    if let Some(variable) = variable {
        let value = std::env::var(variable)
            .map_err(|_| format!("the environment variable `{variable}` is not set"))?;
        return Ok(Some(SecretString::from(value)));
    }
    command.map(key_from_command).transpose()
}

fn key_from_command(command: &str) -> std::result::Result<SecretString, String> {
    let (shell, flag) = if cfg!(windows) {
        ("cmd", "/C")
    } else {
        ("sh", "-c")
    };
    let output = Command::new(shell)
        .args([flag, command])
        .output()
        .map_err(|e| format!("`api_key_command` cannot be run: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let first = text
        .lines()
        .next()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    match first.filter(|_| output.status.success()) {
        Some(key) => Ok(SecretString::from(key.to_owned())),
        None => Err(format!(
            "`api_key_command` printed no key on its first line ({})",
            output.status
        )),
    }
}
