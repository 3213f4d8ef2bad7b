//! Models run by ONNX Runtime: tiny models from folders, and errors. `scripts/export-onnx/make_tiny.py` makes the folders.
//!
//! Tests of the runtime are skipped unless `ORT_DYLIB_PATH` names its library or its folder.

use std::fs;
use std::path::{Path, PathBuf};

use indexer::embed::{Prompts, load};
use indexer::{EmbedderChoice, Index, OnnxModel, OpenError, Query, Rebuild, Reranker, Settings};
use serde_json::Value;

use crate::support::{World, fixture};

fn folder() -> PathBuf {
    fixture("data/tiny-onnx")
}

fn choice(model: &Path, runtime: Option<&Path>) -> EmbedderChoice {
    EmbedderChoice::Fastembed {
        model: OnnxModel {
            name: model.display().to_string(),
            cache: None,
            runtime: runtime.map(Path::to_owned),
        },
        prompts: Prompts::default(),
    }
}

/// Asserts that a model is refused with an error that has these words.
fn refused(model: &Path, runtime: Option<&Path>, words: &[&str]) {
    let error = load(&choice(model, runtime)).err().expect("refused");
    let text = error.to_string();
    assert!(words.iter().all(|word| text.contains(word)), "{text}");
}

fn json(path: &str) -> Value {
    let text = fs::read_to_string(fixture(path)).expect("read");
    serde_json::from_str(&text).expect("JSON")
}

/// An index of two documents with three chunks, built with these settings.
fn built(settings: &Settings) -> (World, usize) {
    let mut world = World::new();
    let text = "# A\n\n## Cause\n\nthe join of one hot key\n\n## Fix\n\nthe memory of a vertex\n";
    world.write("experience/a.md", text);
    world.write("experience/b.md", "# B\n\n## 原因\n\n数据倾斜\n");
    world.settings = settings.clone();
    let embedded = world.update().embedded;
    (world, embedded)
}

/// The tiny model with the runtime of this machine, if it has one.
fn tiny() -> Option<EmbedderChoice> {
    let runtime = std::env::var_os("ORT_DYLIB_PATH").map(PathBuf::from);
    if runtime.is_none() {
        testkit::skip("ONNX models", "ORT_DYLIB_PATH names no ONNX Runtime");
    }
    Some(choice(&folder(), Some(&runtime?)))
}

#[test]
fn a_folder_that_is_no_model_is_named_with_what_it_lacks() {
    let scratch = tempfile::tempdir().expect("a folder");
    refused(scratch.path(), None, &["model.onnx", "put "]);
    let model = scratch.path().join("model.onnx");
    fs::copy(folder().join("model.onnx"), model).expect("copied");
    refused(scratch.path(), None, &["tokenizer.json"]);
    let unknown = Path::new("no-such-model");
    refused(unknown, None, &["no model of this name"]);
}

#[test]
fn a_damaged_model_is_an_error() {
    let Some(EmbedderChoice::Fastembed { model, .. }) = tiny() else {
        return;
    };
    let runtime = model.runtime;
    let scratch = tempfile::tempdir().expect("a folder");
    let model = scratch.path().join("model.onnx");
    fs::write(&model, b"not a graph").expect("written");
    fs::write(scratch.path().join("tokenizer.json"), b"{}").expect("written");
    refused(scratch.path(), runtime.as_deref(), &["ONNX export"]);
    fs::copy(folder().join("model.onnx"), model).expect("copied");
    refused(scratch.path(), runtime.as_deref(), &["tokenizer.json"]);
}

#[test]
fn vectors_are_those_of_another_reader_of_the_same_model() {
    let Some(choice) = tiny() else { return };
    let embedder = load(&choice).expect("loaded");
    let expected = json("data/tiny-onnx/expected.json");
    let expected = expected.as_array().expect("a list");
    let texts: Vec<&str> = expected.iter().filter_map(|e| e["text"].as_str()).collect();
    let vectors = embedder.embed(&texts).expect("embedded");
    assert_eq!(vectors.len(), expected.len());
    for (vector, expected) in vectors.iter().zip(expected) {
        let wanted = expected["vector"].as_array().expect("numbers");
        for (got, want) in vector.iter().zip(wanted) {
            let error = f64::from(*got) - want.as_f64().expect("a number");
            assert!(error.abs() < 1e-4, "{expected}: {vector:?}");
        }
    }
    // The tokenizer of the tiny model knows the characters of `数据倾斜` only.
    assert!(embedder.english_only() && embedder.weights().cjk < embedder.weights().latin);
}

#[test]
fn an_index_is_built_and_searched_and_knows_its_model() {
    let Some(choice) = tiny() else { return };
    let settings = Settings {
        embedder: choice,
        ..Settings::default()
    };
    let (mut world, embedded) = built(&settings);
    assert_eq!(embedded, 3);
    let hits = world.open().search(&Query::new("hot keys of a join", 3));
    let hits = hits.expect("searched");
    assert_eq!(hits[0].chunk.id, "experience/a.md#cause");
    assert!(hits.iter().all(|hit| hit.vector_score.is_some()));

    // Another model is refused by name, and the vectors of this one wait in the cache until it comes back.
    world.settings = Settings::default();
    let refused = Index::open(&world.index(), &world.settings).err();
    let refused = refused.expect("another model");
    assert!(
        matches!(&refused, OpenError::Mismatch(found) if found.remedy == "--reembed"),
        "{refused}"
    );
    assert_eq!(world.rebuild(Rebuild::Reembed).embedded, 3);
    world.settings = settings;
    let back = world.rebuild(Rebuild::Reembed);
    assert_eq!((back.embedded, back.cached), (0, 3));
    // Asked for again with the same model, all texts are embedded anew.
    assert_eq!(world.rebuild(Rebuild::Reembed).embedded, 3);
}

#[test]
fn a_reranker_orders_the_best_hits_by_its_own_scores() {
    let Some(EmbedderChoice::Fastembed { model, .. }) = tiny() else {
        return;
    };
    let expected = json("data/tiny-reranker/expected.json");
    let settings = Settings {
        reranker: Some(Reranker {
            model: OnnxModel {
                name: fixture("data/tiny-reranker").display().to_string(),
                ..model
            },
            depth: 3,
        }),
        ..Settings::default()
    };
    let (world, _) = built(&settings);
    let query = expected["query"].as_str().expect("a text");
    let hits = world
        .open()
        .search(&Query::new(query, 3))
        .expect("searched");
    assert_eq!(hits.len(), 3);
    let scores: Vec<f32> = hits.iter().filter_map(|hit| hit.rerank_score).collect();
    assert_eq!(scores.len(), 3);
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    for hit in &hits {
        let passages = expected["passages"].as_array().expect("a list");
        let text = hit.chunk.text.trim_end();
        let is_own = |p: &&Value| p["text"].as_str().is_some_and(|t| t.ends_with(text));
        let passage = passages.iter().find(is_own).expect("known");
        let wanted = passage["score"].as_f64().expect("a number");
        let got = f64::from(hit.rerank_score.expect("a score"));
        assert!((got - wanted).abs() < 1e-3, "{text}: {got}, {wanted}");
    }
}

/// Runs in a separate process, since a process keeps the first runtime that it loads.
#[test]
#[cfg(target_os = "linux")]
fn a_missing_or_foreign_runtime_is_an_error_with_a_remedy() {
    let world = World::new();
    if World::of_parent().is_none() {
        let test = "onnx::a_missing_or_foreign_runtime_is_an_error_with_a_remedy";
        let output = world.child(&[], test).output().expect("started");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}");
        assert!(said.contains("1 passed"), "{said}");
        return;
    }
    let library = world.knowledge().join("libonnxruntime.so.1.0");
    let remedy = "pip install 'onnxruntime>=1.24'";
    for runtime in [&library, &world.knowledge()] {
        refused(&folder(), Some(runtime), &[remedy]);
    }
    fs::write(&library, b"not a library").expect("written");
    for runtime in [&library, &world.knowledge()] {
        refused(&folder(), Some(runtime), &["libonnxruntime.so.1.0", remedy]);
    }
}
