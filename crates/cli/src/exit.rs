//! Every exit status of the program, in one place. The README and the man page repeat this table.

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// What was asked for was done; for `analyze`: a report was made, whatever its verdict.
    Success = 0,
    /// Something went wrong that no other status names: a full disk, a broken pipe to a tool.
    Failure = 1,
    /// Wrong usage: unknown flag, bad value, configuration that does not hold.
    Usage = 2,
    /// The input could not be read at all: the job folder, the knowledge folder, the index.
    Input = 3,
    /// The LLM failed and `--no-fallback` was given.
    Llm = 4,
    /// `--fail-on` was given and a finding of that severity or worse is present, or `eval --gate`,
    /// `lint` or `verify` found what they look for.
    Found = 10,
    /// Interrupted (Ctrl-C).
    Interrupted = 130,
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        std::process::ExitCode::from(exit as u8)
    }
}
