//! Files next to the project, and programs; some machines lack them.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Returns `path` in the folder that `SCOPEAGENT_SHARED` names, otherwise in the folder `shared` next to the
/// project. If it is absent, prints that the dependent test is skipped.
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
