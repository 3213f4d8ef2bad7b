//! Models run by ONNX Runtime: tiny ones from folders, and what can go wrong. `scripts/export-onnx/make_tiny.py` makes the folders.
//!
//! Tests of the runtime are skipped unless `ORT_DYLIB_PATH` names its library or its folder.

use std::fs;
use std::path::{Path, PathBuf};

use indexer::build::update;
use indexer::embed::{Prompts, load};
use indexer::{EmbedderChoice, Index, OpenError, Query, Rebuild, Reranker, Settings};
use serde_json::Value;

use crate::support::{World, fixture};

fn folder() -> PathBuf {
    fixture("data/tiny-onnx")
}

fn choice(model: &Path, runtime: Option<&Path>) -> EmbedderChoice {
    EmbedderChoice::Fastembed {
        model: model.display().to_string(),
        cache: None,
        runtime: runtime.map(Path::to_owned),
        prompts: Prompts::default(),
    }
}

fn refused(model: &Path, runtime: Option<&Path>) -> String {
    let error = load(&choice(model, runtime)).err().expect("refused");
    error.to_string()
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
    let text = refused(scratch.path(), None);
    assert!(
        text.contains("model.onnx") && text.contains("put "),
        "{text}"
    );
    fs::copy(
        folder().join("model.onnx"),
        scratch.path().join("model.onnx"),
    )
    .expect("copied");
    assert!(refused(scratch.path(), None).contains("tokenizer.json"));
    let text = refused(Path::new("no-such-model"), None);
    assert!(text.contains("no model of this name"), "{text}");
}

#[test]
fn a_damaged_model_is_an_error() {
    let Some(EmbedderChoice::Fastembed { runtime, .. }) = tiny() else {
        return;
    };
    let scratch = tempfile::tempdir().expect("a folder");
    fs::write(scratch.path().join("model.onnx"), b"not a graph").expect("written");
    fs::write(scratch.path().join("tokenizer.json"), b"{}").expect("written");
    let text = refused(scratch.path(), runtime.as_deref());
    assert!(text.contains("ONNX export"), "{text}");
    fs::copy(
        folder().join("model.onnx"),
        scratch.path().join("model.onnx"),
    )
    .expect("copied");
    let text = refused(scratch.path(), runtime.as_deref());
    assert!(text.contains("tokenizer.json"), "{text}");
}

#[test]
fn vectors_are_those_of_another_reader_of_the_same_model() {
    let Some(choice) = tiny() else { return };
    let embedder = load(&choice).expect("loaded");
    let expected = fs::read_to_string(folder().join("expected.json")).expect("read");
    let expected: Vec<Value> = serde_json::from_str(&expected).expect("JSON");
    let texts: Vec<&str> = expected.iter().filter_map(|e| e["text"].as_str()).collect();
    let vectors = embedder.embed(&texts).expect("embedded");
    assert_eq!(vectors.len(), expected.len());
    for (vector, expected) in vectors.iter().zip(&expected) {
        let wanted = expected["vector"].as_array().expect("numbers");
        for (got, want) in vector.iter().zip(wanted) {
            let want = want.as_f64().expect("a number");
            assert!(
                (f64::from(*got) - want).abs() < 1e-4,
                "{expected}: {vector:?}"
            );
        }
    }
    // The tokenizer of the tiny model knows the characters of `数据倾斜` only.
    assert!(embedder.english_only() && embedder.weights().cjk < embedder.weights().latin);
}

#[test]
fn an_index_is_built_and_searched_and_knows_its_model() {
    let Some(choice) = tiny() else { return };
    let world = World::new();
    world.write(
        "experience/a.md",
        "# Skew\n\n## Cause\n\nthe join of one hot key\n\n## Fix\n\nthe memory of a vertex\n",
    );
    world.write("experience/b.md", "# 倾斜\n\n## 原因\n\n数据倾斜\n");
    let settings = Settings {
        embedder: choice,
        ..Settings::default()
    };
    let (knowledge, index) = (world.knowledge(), world.index());
    let build =
        |settings: &Settings| update(&knowledge, &index, settings, &mut |_| {}).expect("built");
    assert_eq!(build(&settings).embedded, 3);
    let hits = Index::open(&index, &settings).expect("opened");
    let hits = hits
        .search(&Query::new("hot keys of a join", 3))
        .expect("searched");
    assert_eq!(hits[0].chunk.id, "experience/a.md#cause");
    assert!(hits.iter().all(|hit| hit.vector_score.is_some()));

    // Another model is refused by name, and the vectors of this one wait in the cache until it comes back.
    let embedded = Settings::default();
    let refused = Index::open(&index, &embedded).err().expect("another model");
    assert!(matches!(refused, OpenError::Mismatch(_)));
    assert!(refused.to_string().contains("index --reembed"), "{refused}");
    let reembed = |settings: &Settings| Settings {
        rebuild: Rebuild::Reembed,
        ..settings.clone()
    };
    assert_eq!(build(&reembed(&embedded)).embedded, 3);
    let back = build(&reembed(&settings));
    assert_eq!((back.embedded, back.cached), (0, 3));
    // Asked for again with the same model, all texts are embedded anew.
    assert_eq!(build(&reembed(&settings)).embedded, 3);
}

#[test]
fn a_reranker_orders_the_best_hits_by_its_own_scores() {
    let Some(EmbedderChoice::Fastembed { runtime, .. }) = tiny() else {
        return;
    };
    let expected = fs::read_to_string(fixture("data/tiny-reranker/expected.json")).expect("read");
    let expected: Value = serde_json::from_str(&expected).expect("JSON");
    let world = World::new();
    world.write(
        "experience/a.md",
        "# A\n\n## Cause\n\nthe join of one hot key\n\n## Fix\n\nthe memory of a vertex\n",
    );
    world.write("experience/b.md", "# B\n\n## 原因\n\n数据倾斜\n");
    let settings = Settings {
        reranker: Some(Reranker {
            model: fixture("data/tiny-reranker").display().to_string(),
            depth: 3,
            cache: None,
            runtime,
        }),
        ..Settings::default()
    };
    let (knowledge, index) = (world.knowledge(), world.index());
    update(&knowledge, &index, &settings, &mut |_| {}).expect("built");
    let query = expected["query"].as_str().expect("a text");
    let hits = Index::open(&index, &settings).expect("opened");
    let hits = hits.search(&Query::new(query, 3)).expect("searched");
    assert_eq!(hits.len(), 3);
    let scores: Vec<f32> = hits.iter().filter_map(|hit| hit.rerank_score).collect();
    assert!(
        scores.len() == 3 && scores.is_sorted_by(|a, b| a >= b),
        "{scores:?}"
    );
    for hit in &hits {
        let passages = expected["passages"].as_array().expect("a list");
        let own = |p: &&Value| {
            p["text"]
                .as_str()
                .is_some_and(|t| t.ends_with(hit.chunk.text.trim_end()))
        };
        let passage = passages.iter().find(own).expect("known");
        let wanted = passage["score"].as_f64().expect("a number");
        let got = f64::from(hit.rerank_score.expect("a score"));
        assert!(
            (got - wanted).abs() < 1e-3,
            "{}: {got}, {wanted}",
            hit.chunk.id
        );
    }
}

/// In a separate process, since a process keeps the first runtime that it loads.
#[test]
#[cfg(target_os = "linux")]
fn a_missing_or_foreign_runtime_is_an_error_with_a_remedy() {
    let world = World::new();
    if World::of_parent().is_none() {
        let test = "onnx::a_missing_or_foreign_runtime_is_an_error_with_a_remedy";
        let output = world.child(&[], test).output().expect("started");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success() && said.contains("1 passed"),
            "{said}"
        );
        return;
    }
    let library = world.knowledge().join("libonnxruntime.so.1.0");
    for runtime in [&library, &world.knowledge()] {
        let text = refused(&folder(), Some(runtime));
        assert!(text.contains("pip install 'onnxruntime>=1.24'"), "{text}");
    }
    fs::write(&library, b"not a library").expect("written");
    for runtime in [&library, &world.knowledge()] {
        let text = refused(&folder(), Some(runtime));
        assert!(
            text.contains("libonnxruntime.so.1.0") && text.contains("pip install"),
            "{text}"
        );
    }
}
