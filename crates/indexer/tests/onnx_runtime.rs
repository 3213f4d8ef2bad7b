//! A runtime that is missing or is something else. A process keeps the first runtime that it loads, so this has one of its own.
#![cfg(feature = "fastembed")]

use std::fs;
use std::path::Path;

use indexer::EmbedderChoice;
use indexer::embed::{Prompts, load};

fn refused(runtime: &Path) -> String {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tiny-onnx");
    let choice = EmbedderChoice::Fastembed {
        model: model.display().to_string(),
        cache: None,
        runtime: Some(runtime.to_owned()),
        prompts: Prompts::default(),
    };
    load(&choice).err().expect("refused").to_string()
}

#[test]
#[cfg(target_os = "linux")]
fn a_missing_or_foreign_runtime_is_an_error_with_a_remedy() {
    let scratch = tempfile::tempdir().expect("a folder");
    let library = scratch.path().join("libonnxruntime.so.1.0");
    for runtime in [&library, scratch.path()] {
        let text = refused(runtime);
        assert!(text.contains("pip install 'onnxruntime>=1.24'"), "{text}");
    }
    fs::write(&library, b"not a library").expect("written");
    for runtime in [&library, scratch.path()] {
        let text = refused(runtime);
        assert!(
            text.contains("libonnxruntime.so.1.0") && text.contains("pip install"),
            "{text}"
        );
    }
}
