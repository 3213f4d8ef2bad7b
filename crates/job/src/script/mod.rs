//! The script: syntax, statements, data flow.

/// A parsed script.
#[derive(Debug, Clone, Default)]
pub struct Script {}
