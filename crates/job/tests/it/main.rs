//! Whole folders: real ones and simulated ones, read where they lie. Skips, and says so, where they
//! are absent.

mod hostile;
mod real;
mod seeds;
mod simulated;

use std::path::PathBuf;

/// The folder with real and simulated jobs, if it is there.
#[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
fn shared(part: &str) -> Option<PathBuf> {
    let root = std::env::var_os("SCOPEAGENT_SHARED").map(PathBuf::from);
    let root =
        root.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"));
    let path = root.join(part);
    if path.is_dir() {
        return Some(path);
    }
    eprintln!(
        "skipped: {} is not there (set SCOPEAGENT_SHARED)",
        path.display()
    );
    None
}
