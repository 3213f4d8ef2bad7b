//! Measures retrieval on a public test collection in BEIR layout: `corpus.jsonl`, `queries.jsonl`, `qrels/<split>.tsv`.
//!
//! ```text
//! beir FOLDER [--split NAME] [--embedder MODEL] [--runtime LIBRARY]
//! ```
//!
//! Each document becomes one chunk; analyzer, embedder and fusion are the usual ones. The index is kept in `target/beir`, so that a second
//! run embeds nothing. MODEL is a model for ONNX Runtime, by name or folder.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use indexer::build::update_chunks;
use indexer::embed::Prompts;
use indexer::eval::{Judged, Options, Relevant, evaluate};
use indexer::{
    BuildError, Chunk, EmbedderChoice, Engine, Index, Kind, OnnxModel, Rebuild, Settings,
};
use serde::Deserialize;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "_id")]
    id: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    text: String,
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = "usage: beir FOLDER [--split NAME] [--embedder MODEL] [--runtime LIBRARY]";
    let folder = PathBuf::from(arguments.first().ok_or(usage)?);
    let options: BTreeMap<&str, &String> = arguments[1..]
        .chunks_exact(2)
        .map(|pair| (pair[0].as_str(), &pair[1]))
        .collect();
    let mut settings = Settings::default();
    if let Some(name) = options.get("--embedder") {
        let model = OnnxModel {
            name: (*name).clone(),
            runtime: options.get("--runtime").map(PathBuf::from),
            ..OnnxModel::default()
        };
        let prompts = Prompts::default();
        settings.embedder = EmbedderChoice::Fastembed { model, prompts };
    }
    let name = folder.file_name().ok_or(usage)?;
    let index = Path::new("target/beir").join(name);
    build(&corpus(&folder)?, &index, &settings)?;
    let split = options.get("--split").map_or("test", |split| split);
    let judged = judged(&folder, split)?;
    let index = Index::open(&index, &settings)?;
    let report = evaluate(&index, &judged, &Options::default())?;
    let mut out = std::io::stdout().lock();
    let (queries, documents) = (report.queries, report.documents);
    writeln!(out, "{queries} queries, {documents} documents")?;
    for (branch, scores) in &report.branches {
        let [low, high] = scores.ci95;
        let metrics = scores.metrics.iter();
        let metrics: Vec<String> = metrics
            .map(|(name, mean)| format!("{name} {mean:.3}"))
            .collect();
        let metrics = metrics.join("  ");
        writeln!(out, "{branch:<8} {metrics}  nDCG {low:.3} … {high:.3}")?;
    }
    for (pair, d) in &report.differences {
        let [low, high] = d.ci95;
        writeln!(out, "{pair} {:+.3} ({low:+.3} … {high:+.3})", d.mean)?;
    }
    Ok(())
}

/// Updates an index of an earlier run, or replaces it if another embedder or version made it.
fn build(chunks: &[Chunk], index: &Path, settings: &Settings) -> Result<()> {
    let mut settings = settings.clone();
    let mut with = |rebuild| {
        settings.rebuild = rebuild;
        update_chunks(chunks.to_vec(), index, &settings, &mut |_| {}).map(drop)
    };
    let updated = match with(Rebuild::Changed) {
        Err(BuildError::Mismatch(mismatch)) if mismatch.what == "embedder" => {
            with(Rebuild::Reembed)
        }
        Err(BuildError::Mismatch(_)) => with(Rebuild::Full),
        other => other,
    };
    Ok(updated?)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()).into())
}

fn json_lines(path: &Path) -> Result<Vec<Line>> {
    let text = read(path)?;
    let lines = text.lines().zip(1..);
    let lines = lines.filter(|(line, _)| !line.trim().is_empty());
    let parsed = lines.map(|(line, number)| {
        serde_json::from_str(line)
            .map_err(|error| format!("{}, line {number}: {error}", path.display()).into())
    });
    parsed.collect()
}

fn corpus(folder: &Path) -> Result<Vec<Chunk>> {
    let lines = json_lines(&folder.join("corpus.jsonl"))?.into_iter();
    let chunk = |line: Line| Chunk {
        title: line.title,
        ..Chunk::whole(line.id, Kind::Document, line.text)
    };
    Ok(lines.map(chunk).collect())
}

fn judged(folder: &Path, split: &str) -> Result<Vec<Judged>> {
    let mut relevant = qrels(&folder.join("qrels").join(format!("{split}.tsv")))?;
    let queries = json_lines(&folder.join("queries.jsonl"))?.into_iter();
    let judged = queries.filter_map(|query| {
        Some(Judged {
            relevant: relevant.remove(&query.id)?,
            id: query.id,
            language: None,
            text: query.text,
            engine: Engine::Any,
            step: None,
            split: None,
            kind: None,
            unanswerable: false,
            sections: Vec::new(),
            place: (PathBuf::from("queries.jsonl"), 1),
        })
    });
    Ok(judged.collect())
}

/// The documents with a grade above 0, by query. A heading has no number in its last field.
fn qrels(path: &Path) -> Result<BTreeMap<String, Vec<Relevant>>> {
    let mut out: BTreeMap<String, Vec<Relevant>> = BTreeMap::new();
    for line in read(path)?.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [query, .., document, grade] = fields[..] else {
            continue;
        };
        let grade = grade.parse().unwrap_or(0.0);
        if grade > 0.0 {
            let target = document.to_owned();
            let relevant = out.entry(query.to_owned()).or_default();
            relevant.push(Relevant { target, grade });
        }
    }
    Ok(out)
}
