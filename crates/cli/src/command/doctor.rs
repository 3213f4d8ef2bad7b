//! `scopeagent doctor`: whether an LLM profile works, and what to fix.

use llm::{Profile, Server, Symptom, examine};
use secrecy::SecretString;

use crate::args::Doctor;
use crate::config::Config;
use crate::exit::Exit;
use crate::terminal::Terminal;
use server::{ErrorKind, Explain, Result, error};

pub(crate) fn run(args: &Doctor, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let (name, profile) = config.llm.profile(args.llm.as_deref())?;
    let key = key(name, profile)?;
    let hint = report::say!(
        "请修正 `[llm.profiles.{name}]`",
        "fix `[llm.profiles.{name}]`"
    );
    let server = Server::new(profile, key.as_ref()).explain(ErrorKind::Usage, hint)?;
    terminal.remark(&report::say!(
        "正在询问 {provider} {model}（配置 `{name}`）",
        "asking {provider} {model} (profile `{name}`)",
        provider = profile.provider.name(),
        model = profile.model
    ));
    let symptoms = crate::session::runtime()?.block_on(examine(profile, &server));
    super::show(terminal, args.format, &symptoms, || {
        symptoms.iter().map(text).collect()
    })?;
    Ok(if symptoms.iter().all(|s| s.ok) {
        Exit::Success
    } else {
        Exit::Llm
    })
}

/// The key of a profile.
pub(super) fn key(name: &str, profile: &Profile) -> Result<Option<SecretString>> {
    crate::keys::of_profile(profile).map_err(|reason| {
        error!(
            Usage: "无法取得配置 `{name}` 的密钥：{reason}", "the key of profile `{name}` cannot be fetched: {reason}";
            "请修正该配置的 `api_key_env` 或 `api_key_command`", "fix `api_key_env` or `api_key_command` of the profile"
        )
    })
}

fn text(symptom: &Symptom) -> String {
    let (color, mark) = match symptom.ok {
        true => (anstyle::AnsiColor::Green, "ok"),
        false => (anstyle::AnsiColor::Red, "fails"),
    };
    let color = color.on_default();
    let hint = symptom.hint.iter().map(|h| format!("      hint: {h}\n"));
    let (check, detail, hint) = (symptom.check, &symptom.detail, hint.collect::<String>());
    format!("{color}{mark:<5}{color:#} {check}: {detail}\n{hint}")
}
