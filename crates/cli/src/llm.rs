//! Which reasoner answers: chosen from flags and configuration, with keys fetched from where the
//! profile says they are.

use std::process::Command;
use std::sync::Arc;

use agent::Reasoner;
use agent::StepId;
use agent::llm::{Lane, LlmConfig, LlmOptions, LlmReasoner, Profile, Server};
use agent::offline::Offline;
use secrecy::SecretString;

use crate::args::{self, Analyze};
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
}

impl Reasoners {
    /// Chooses as `--reasoner`, `--llm` and the configuration say.
    pub(crate) fn choose(args: &Analyze, config: &Config) -> Result<Reasoners> {
        let name = args.llm.as_ref().or(config.llm.default.as_ref());
        match (args.reasoner, name) {
            (args::Reasoner::Offline, _) => Ok(offline("offline reasoner, as asked")),
            (args::Reasoner::Auto, None) => Ok(offline("offline reasoner: no LLM is configured")),
            (args::Reasoner::Llm, None) => Err(CliError::new(Exit::Usage, "no LLM is configured")
                .hint("name a profile: `[llm] default = \"work\"` and `[llm.profiles.work]` in scopeagent.toml, or --llm NAME")),
            (_, Some(name)) => with_llm(name, args, &config.llm),
        }
    }
}

fn offline(said: &str) -> Reasoners {
    Reasoners { first: Box::new(Offline), fallbacks: Vec::new(), said: said.to_owned() }
}

fn with_llm(name: &str, args: &Analyze, llm: &LlmConfig) -> Result<Reasoners> {
    let profile = find(name, llm)?;
    let mut fallbacks: Vec<Box<dyn Reasoner>> = Vec::new();
    if !args.no_fallback {
        if let Some(other) = llm.fallback.as_ref().filter(|other| *other != name) {
            fallbacks.push(Box::new(LlmReasoner::new(lane(other, llm)?, options(llm))));
        }
        fallbacks.push(Box::new(Offline));
    }
    let mut first = LlmReasoner::new(lane(name, llm)?, options(llm));
    for (step, name) in &llm.steps {
        let id = StepId::THINK.into_iter().chain([StepId::Hypotheses]).find(|id| id.id() == step);
        let id = id.ok_or_else(|| {
            CliError::new(Exit::Usage, format!("`llm.steps.{step}` names no step"))
                .hint("the steps are think1, think2, think3, think4, think5 and hypotheses")
        })?;
        first = first.with_step(id, lane(name, llm)?);
    }
    let said = format!("reasoning with {} {} (profile `{name}`)", profile.provider.name(), profile.model);
    Ok(Reasoners { first: Box::new(first), fallbacks, said })
}

fn options(llm: &LlmConfig) -> LlmOptions {
    LlmOptions { max_cost: llm.max_cost, stream: true, ..LlmOptions::default() }
}

fn find<'a>(name: &str, llm: &'a LlmConfig) -> Result<&'a Profile> {
    llm.profiles.get(name).ok_or_else(|| {
        let known: Vec<&str> = llm.profiles.keys().map(String::as_str).collect();
        let known = if known.is_empty() { "none is configured".to_owned() } else { format!("known: {}", known.join(", ")) };
        CliError::new(Exit::Usage, format!("there is no LLM profile `{name}`")).hint(format!("{known}; profiles are `[llm.profiles.NAME]` in scopeagent.toml"))
    })
}

fn lane(name: &str, llm: &LlmConfig) -> Result<Lane> {
    let profile = find(name, llm)?;
    let key = key(name, profile)?;
    let server = Server::new(profile, key.as_ref())
        .map_err(|e| CliError::from_source(Exit::Usage, &e).hint(format!("mend `[llm.profiles.{name}]`")))?;
    Ok(Lane::new(profile.clone(), Arc::new(server)))
}

/// The key of a profile: from the variable or the command that it names.
fn key(name: &str, profile: &Profile) -> Result<Option<SecretString>> {
    if let Some(variable) = &profile.api_key_env {
        let value = std::env::var(variable).map_err(|_| {
            CliError::new(Exit::Usage, format!("the environment variable `{variable}` of LLM profile `{name}` is not set"))
                .hint(format!("export {variable}=…, or change `api_key_env`"))
        })?;
        return Ok(Some(SecretString::from(value)));
    }
    profile.api_key_command.as_ref().map(|command| key_from_command(name, command)).transpose()
}

fn key_from_command(name: &str, command: &str) -> Result<SecretString> {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let output = Command::new(shell).args([flag, command]).output();
    let output = output.map_err(|e| CliError::from_source(Exit::Usage, &e).hint(format!("`api_key_command` of LLM profile `{name}` cannot be run")))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.lines().next().map(str::trim).filter(|line| output.status.success() && !line.is_empty()) {
        Some(key) => Ok(SecretString::from(key.to_owned())),
        None => Err(CliError::new(Exit::Usage, format!("`api_key_command` of LLM profile `{name}` gave no key ({})", output.status))
            .hint("its first output line must be the key, and its exit status 0")),
    }
}
