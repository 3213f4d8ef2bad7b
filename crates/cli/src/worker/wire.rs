//! Messages between the program and its workers: one JSON object per line.

use agent::Event;
use report::Language;
use serde::{Deserialize, Serialize};
use server::{Analysis, Error, Task};

/// To a worker.
#[derive(Serialize, Deserialize)]
pub(super) enum Order {
    Analyze {
        task: Box<Task>,
        /// Language of errors.
        interface: Language,
        /// Whether the parent has an observer for events.
        heard: bool,
    },
    /// Ends the analysis early, with a partial report.
    Cancel,
}

/// From a worker.
#[derive(Serialize, Deserialize)]
pub(super) enum Reply<'a> {
    Remark(String),
    Warning(String),
    /// A key that a command printed: the parent must hide it too.
    Secret(String),
    /// An event for an observer. Pieces of thoughts and answers are not sent, because they are not
    /// shown.
    Event(Event<'a>),
    Done(Box<Result<Analysis, Error>>),
}

/// Start of the line of [`Reply::Done`].
pub(super) const DONE: &str = "{\"Done\":";

#[cfg(test)]
mod tests {
    use server::ErrorKind;

    use super::*;

    #[test]
    fn a_result_is_known_by_its_beginning() {
        let done = Reply::Done(Box::new(Err(Error::new(ErrorKind::Input, "no job"))));
        let line = |reply: &Reply<'_>| crate::json::line(reply).expect("a line");
        assert!(line(&done).starts_with(DONE));
        assert!(!line(&Reply::Remark("{\"Done\":".to_owned())).starts_with(DONE));
    }
}
