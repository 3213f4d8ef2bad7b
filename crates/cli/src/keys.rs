//! Keys of servers, fetched from an environment variable or a command.

use std::process::Command;

use llm::Profile;
use secrecy::SecretString;

/// The key of an LLM profile, if it names a source.
pub(crate) fn of_profile(profile: &Profile) -> Result<Option<SecretString>, String> {
    fetch(
        profile.api_key_env.as_deref(),
        profile.api_key_command.as_deref(),
    )
}

/// The key from the variable, else from the command; `None` if neither is named.
pub(crate) fn fetch(
    variable: Option<&str>,
    command: Option<&str>,
) -> Result<Option<SecretString>, String> {
    if let Some(variable) = variable {
        let value = std::env::var(variable)
            .map_err(|_| format!("the environment variable `{variable}` is not set"))?;
        return Ok(Some(SecretString::from(value)));
    }
    command.map(from_command).transpose()
}

fn from_command(command: &str) -> Result<SecretString, String> {
    let (shell, flag) = match cfg!(windows) {
        true => ("cmd", "/C"),
        false => ("sh", "-c"),
    };
    let output = Command::new(shell).args([flag, command]).output();
    let output = output.map_err(|e| format!("`api_key_command` cannot be run: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let first = text.lines().next().map(str::trim).unwrap_or_default();
    if output.status.success() && !first.is_empty() {
        return Ok(SecretString::from(first.to_owned()));
    }
    Err(format!(
        "`api_key_command` printed no key on its first line ({})",
        output.status
    ))
}
