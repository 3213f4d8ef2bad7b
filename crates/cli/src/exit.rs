//! Every exit status of the program, in one place: the man page shows this table, and a test holds
//! the README to it.

use server::ErrorKind;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// What was asked for was done; for `analyze`: a report was made, whatever its verdict.
    Success = 0,
    /// Something went wrong that no other status names.
    Failure = 1,
    /// Wrong usage: unknown flag, bad value, configuration that does not hold.
    Usage = 2,
    /// The input could not be read at all: the job folder, the knowledge folder, the index.
    Input = 3,
    /// The LLM failed and `--no-fallback` was given.
    Llm = 4,
    /// `--fail-on` was given and a finding of that severity or worse is present, or a check found
    /// what it looks for.
    Found = 10,
    /// Interrupted (Ctrl-C).
    Interrupted = 130,
}

/// Every status with what it says.
pub(crate) const TABLE: [(Exit, &str); 7] = [
    (
        Exit::Success,
        "done; for `analyze`, a report was made, whatever its verdict",
    ),
    (Exit::Failure, "something else went wrong: a full disk"),
    (Exit::Usage, "wrong usage or configuration"),
    (
        Exit::Input,
        "the job, the run, the knowledge or the index could not be read at all; for `batch`, no job could",
    ),
    (Exit::Llm, "the LLM failed and `--no-fallback` was given"),
    (
        Exit::Found,
        "`--fail-on`, `lint`, `case check`, `index verify` or `eval --gate` found what it looks for",
    ),
    (Exit::Interrupted, "interrupted; a partial report was made"),
];

impl From<ErrorKind> for Exit {
    fn from(kind: ErrorKind) -> Exit {
        match kind {
            ErrorKind::Other => Exit::Failure,
            ErrorKind::Usage => Exit::Usage,
            ErrorKind::Input => Exit::Input,
            ErrorKind::Llm => Exit::Llm,
        }
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        std::process::ExitCode::from(exit as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_readme_repeats_the_table() {
        let readme = include_str!("../../../README.md");
        for (exit, text) in TABLE {
            let row = format!("| {} | {text} |", exit as u8);
            assert!(readme.contains(&row), "README.md lacks `{row}`");
        }
    }
}
