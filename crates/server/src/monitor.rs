//! Messages of a session while it works, apart from its answers.

/// Takes the current item, and how many of how many are done; a total of 0 is unknown.
pub type Progress = dyn FnMut(&str, usize, usize);

/// Receives remarks and progress.
pub trait Monitor: Send + Sync {
    /// Takes a sentence for the user.
    fn remark(&self, text: &str);

    /// Takes a warning: something that was asked for does not happen.
    fn warn(&self, text: &str);

    /// Starts a progress line; it ends when the function is dropped.
    fn progress(&self, task: &str) -> Box<Progress>;
}
