//! The knowledge base of the workspace.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Root of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The knowledge base, indexed once for all tests of a program.
pub fn index() -> &'static indexer::Index {
    static INDEX: OnceLock<(tempfile::TempDir, indexer::Index)> = OnceLock::new();
    let (_, index) = INDEX.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let settings = indexer::Settings::default();
        let documents = root().join("knowledge");
        indexer::build::update(&documents, folder.path(), &settings, &mut |_| {})
            .expect("the knowledge base is sound");
        let index =
            indexer::Index::open(folder.path(), &settings).expect("an index was just built");
        (folder, index)
    });
    index
}
