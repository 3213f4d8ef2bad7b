//! What a session says while it works, apart from its answers.

/// Receives remarks and progress.
pub trait Monitor: Send + Sync {
    /// Takes a sentence for the user.
    fn remark(&self, text: &str);

    /// Starts a progress line; it ends when the function is dropped. The function takes the current item, and how many of how many are
    /// done; a total of 0 means that it is unknown.
    fn progress(&self, task: &str) -> Box<dyn FnMut(&str, usize, usize)>;
}
