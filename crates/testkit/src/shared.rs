//! What not every machine has: files next to the project, programs.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Returns `path` in the folder that `SCOPEAGENT_SHARED` names, else in the folder `shared` next to the project.
/// Where it is absent, prints that what needs it is skipped.
pub fn shared(path: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("SCOPEAGENT_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let found = folder.join(path);
    if found.exists() {
        return Some(found);
    }
    skip(
        path,
        &format!("{} does not exist (set SCOPEAGENT_SHARED)", found.display()),
    );
    None
}

/// Prints that `what` is not tested. Unlike `eprintln!`, libtest does not capture this line.
pub fn skip(what: &str, why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {what}: {why}");
}
