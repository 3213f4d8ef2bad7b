//! `scopeagent doctor`: whether an LLM profile works, and what to fix.

use llm::{Server, examine};

use crate::args::{Doctor, Format};
use crate::config::Config;
use crate::exit::Exit;
use crate::terminal::Terminal;
use server::{Error, ErrorKind, Result};

/// Runs the command.
pub(crate) fn run(args: &Doctor, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let (name, profile) = config.llm.profile(args.llm.as_deref())?;
    let key = crate::keys::of_profile(profile).map_err(|reason| {
        Error::new(
            ErrorKind::Usage,
            format!("the key of profile `{name}` cannot be fetched: {reason}"),
        )
        .hint("fix `api_key_env` or `api_key_command` of the profile")
    })?;
    let server = Server::new(profile, key.as_ref()).map_err(|e| {
        Error::from_source(ErrorKind::Usage, &e).hint(format!("fix `[llm.profiles.{name}]`"))
    })?;
    terminal.remark(&format!(
        "asking {} {} (profile `{name}`)",
        profile.provider.name(),
        profile.model
    ));
    let symptoms = crate::session::runtime()?.block_on(examine(profile, &server));
    match args.format {
        Format::Json => terminal.print(&super::json(&symptoms)?)?,
        Format::Text => {
            for symptom in &symptoms {
                let color = if symptom.ok {
                    anstyle::AnsiColor::Green
                } else {
                    anstyle::AnsiColor::Red
                }
                .on_default();
                let mark = if symptom.ok { "ok" } else { "fails" };
                terminal.print(&format!(
                    "{color}{mark:<5}{color:#} {}: {}\n",
                    symptom.check, symptom.detail
                ))?;
                if let Some(hint) = &symptom.hint {
                    terminal.print(&format!("      hint: {hint}\n"))?;
                }
            }
        }
    }
    Ok(if symptoms.iter().all(|s| s.ok) {
        Exit::Success
    } else {
        Exit::Llm
    })
}
