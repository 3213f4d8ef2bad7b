//! Exit statuses. The man page shows this table, and a test compares it with the README.

use server::ErrorKind;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Success = 0,
    Failure = 1,
    Usage = 2,
    Input = 3,
    Llm = 4,
    Found = 10,
    Inconclusive = 11,
    Interrupted = 130,
}

pub(crate) const TABLE: [(Exit, &str); 8] = [
    (
        Exit::Success,
        "done; for `analyze`: there is a report, with any verdict",
    ),
    (Exit::Failure, "other error, e.g. the disk is full"),
    (Exit::Usage, "wrong usage or configuration"),
    (
        Exit::Input,
        "the job, run, knowledge folder or index cannot be read; for `batch`: no job can be read",
    ),
    (
        Exit::Llm,
        "the LLM failed, with `--no-fallback` or in `batch advise`",
    ),
    (
        Exit::Found,
        "`--fail-on`, `--budget`, `--baseline`, `lint`, `case check`, `index`, `index verify` or `eval --gate` found something",
    ),
    (
        Exit::Inconclusive,
        "`--budget` or `--baseline`: the files don't show whether the run keeps it",
    ),
    (Exit::Interrupted, "interrupted, with a partial report"),
];

impl Exit {
    /// The status of a check.
    pub(crate) fn found(something: bool) -> Exit {
        if something {
            Exit::Found
        } else {
            Exit::Success
        }
    }
}

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
