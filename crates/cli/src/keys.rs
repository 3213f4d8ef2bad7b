//! Keys of servers, fetched from an environment variable or a command.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use llm::Profile;
use report::say;
use secrecy::{ExposeSecret, SecretString};

/// The key of an LLM profile, if it names a source.
pub(crate) fn of_profile(profile: &Profile) -> Result<Option<SecretString>, String> {
    fetch(
        profile.api_key_env.as_deref(),
        profile.api_key_command.as_deref(),
    )
}

/// The key from the variable, else from the command; `None` if neither is named. No output shows it from now on.
pub(crate) fn fetch(
    variable: Option<&str>,
    command: Option<&str>,
) -> Result<Option<SecretString>, String> {
    let key = find(variable, command)?;
    if let Some(key) = &key {
        llm::remember(key.expose_secret());
    }
    Ok(key)
}

fn find(variable: Option<&str>, command: Option<&str>) -> Result<Option<SecretString>, String> {
    if let Some(variable) = variable {
        let value = std::env::var(variable).map_err(|_| {
            say!(
                "没有设置环境变量 `{variable}`",
                "the environment variable `{variable}` is not set"
            )
        })?;
        return Ok(Some(SecretString::from(value)));
    }
    command
        .map(|command| from_command(command, DEADLINE))
        .transpose()
}

/// How long a command may take. Password managers ask for a touch or a PIN.
const DEADLINE: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Bytes of its output that are read; keys are far shorter.
const MAX_OUTPUT: u64 = 64 << 10;

fn from_command(command: &str, deadline: Duration) -> Result<SecretString, String> {
    let (shell, flag) = match cfg!(windows) {
        true => ("cmd", "/C"),
        false => ("sh", "-c"),
    };
    let mut child = Command::new(shell)
        .args([flag, command])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| {
            let reason = e.to_string();
            say!(
                "无法运行 `api_key_command`：{reason}",
                "`api_key_command` cannot be run: {reason}"
            )
        })?;
    let (output, status) = finish(&mut child, deadline).map_err(|reason| {
        // It may have ended by itself meanwhile.
        let _ = child.kill().and_then(|()| child.wait());
        format!("`api_key_command` {reason}")
    })?;
    let text = String::from_utf8_lossy(&output);
    let first = text.lines().next().map(str::trim).unwrap_or_default();
    if status.success() && !first.is_empty() {
        return Ok(SecretString::from(first.to_owned()));
    }
    let status = status.to_string();
    Err(say!(
        "`api_key_command` 输出的第一行没有密钥（{status}）",
        "`api_key_command` printed no key on its first line ({status})"
    ))
}

/// Waits for the output and the end of a command.
fn finish(child: &mut Child, deadline: Duration) -> Result<(Vec<u8>, ExitStatus), String> {
    let started = Instant::now();
    let left = || deadline.saturating_sub(started.elapsed());
    let seconds = deadline.as_secs();
    let late = || {
        say!(
            "没有在 {seconds} 秒内结束",
            "did not end within {seconds} s"
        )
    };
    let (sender, receiver) = mpsc::channel();
    let stdout = child.stdout.take();
    // A thread, because a process that the command leaves behind may keep its output open.
    std::thread::spawn(move || {
        let mut output = Vec::new();
        let read = stdout.map(|out| out.take(MAX_OUTPUT + 1).read_to_end(&mut output));
        // After the deadline, the channel has no receiver.
        let _ = sender.send(read.transpose().map(|_| output));
    });
    let output = receiver.recv_timeout(left()).map_err(|_| late())?;
    let output = output.map_err(|e| {
        let reason = e.to_string();
        say!("的输出无法读取：{reason}", "cannot be read: {reason}")
    })?;
    if output.len() as u64 > MAX_OUTPUT {
        let most = MAX_OUTPUT >> 10;
        return Err(say!(
            "的输出超过 {most} KiB",
            "printed more than {most} KiB"
        ));
    }
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok((output, status)),
            Ok(None) if left().is_zero() => return Err(late()),
            Ok(None) => std::thread::sleep(POLL_INTERVAL),
            Err(error) => {
                let reason = error.to_string();
                return Err(say!(
                    "的结束无法等待：{reason}",
                    "cannot be waited for: {reason}"
                ));
            }
        }
    }
}

#[cfg(all(test, unix))]
mod security {
    use super::*;

    #[test]
    fn a_command_ends_at_its_deadline_and_its_output_is_bounded() {
        for (command, expected) in [
            ("sleep 600", "did not end within 1 s"),
            // What it leaves behind keeps the output open.
            ("echo key; sleep 600 &", "did not end within 1 s"),
            (
                "echo key; exec >&-; exec sleep 600",
                "did not end within 1 s",
            ),
            ("yes", "more than 64 KiB"),
            ("true", "printed no key"),
            ("echo key; false", "printed no key"),
        ] {
            let error = from_command(command, Duration::from_secs(1)).expect_err(command);
            assert!(error.contains(expected), "{command}: {error}");
        }
        let key = from_command("echo sesame; echo more", DEADLINE).expect("a key");
        assert_eq!(key.expose_secret(), "sesame");
    }
}
