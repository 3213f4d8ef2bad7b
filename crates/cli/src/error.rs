//! Errors as the user sees them: `error:`, `caused by:`, `hint:`. The libraries' errors are turned
//! into these here and nowhere else.

use std::error::Error;
use std::fmt;

use crate::exit::Exit;

/// An error with its causes, a remedy and the status to exit with.
#[derive(Debug)]
pub(crate) struct CliError {
    message: String,
    causes: Vec<String>,
    hint: Option<String>,
    exit: Exit,
}

pub(crate) type Result<T> = std::result::Result<T, CliError>;

impl CliError {
    /// An error with nothing below it.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        CliError {
            message: message.into(),
            causes: Vec::new(),
            hint: None,
            exit,
        }
    }

    /// An error with the chain of what led to it.
    pub(crate) fn from_source(exit: Exit, error: &dyn Error) -> Self {
        let mut causes = Vec::new();
        let mut next = error.source();
        while let Some(cause) = next {
            causes.push(cause.to_string());
            next = cause.source();
        }
        CliError {
            message: error.to_string(),
            causes,
            hint: None,
            exit,
        }
    }

    /// Adds what the user can do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same text without colours, for those who are not at a terminal.
    pub(crate) fn plain(&self) -> String {
        anstream::adapter::strip_str(&self.to_string()).to_string()
    }

    /// What went wrong.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// What led to it.
    pub(crate) fn causes(&self) -> &[String] {
        &self.causes
    }

    /// What the user can do about it.
    pub(crate) fn remedy(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The status to exit with.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let red = anstyle::AnsiColor::Red.on_default().bold();
        let cyan = anstyle::AnsiColor::Cyan.on_default().bold();
        writeln!(f, "{red}error:{red:#} {}", self.message)?;
        for cause in &self.causes {
            writeln!(f, "  caused by: {cause}")?;
        }
        if let Some(hint) = &self.hint {
            writeln!(f, "{cyan}hint:{cyan:#} {hint}")?;
        }
        Ok(())
    }
}
