//! Public test collections in BEIR layout: `corpus.jsonl`, `queries.jsonl`, `qrels/<split>.tsv`. Each document becomes
//! one chunk; analyzer, embedder and fusion are the usual ones.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::judgements::read_error;
use super::{EvalError, Judged, Options, Relevant, Report, evaluate};
use crate::build::{Progress, update_with};
use crate::chunk::Contents;
use crate::document::{Source, detect_language};
use crate::error::BuildError;
use crate::model::{Chunk, Kind};
use crate::search::Index;
use crate::settings::{Rebuild, Settings};

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "_id")]
    id: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    text: String,
}

/// Indexes the collection in `folder` into `scratch` (an earlier index there is updated) and evaluates its
/// queries.
///
/// # Errors
/// When a file is missing or malformed, or the collection cannot be indexed.
pub fn beir(
    folder: &Path,
    scratch: &Path,
    settings: &Settings,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report, EvalError> {
    let judged = judged(folder, options.split.as_deref().unwrap_or("test"))?;
    let sources = corpus(&folder.join("corpus.jsonl"))?;
    build(&sources, scratch, settings, progress)?;
    let index = Index::open(scratch, settings)?;
    let mut options = options.clone();
    options.split = None;
    // Its grades are not ours, and its documents have no subjects.
    Ok(Report {
        sets: BTreeMap::new(),
        outcomes: BTreeMap::new(),
        ..evaluate(&index, &judged, &options)?
    })
}

/// Indexes into `scratch`. Ignores an index that an earlier run with another embedder or version
/// left there.
fn build(
    sources: &[Source],
    scratch: &Path,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), BuildError> {
    let mut settings = settings.clone();
    let mut with = |rebuild: Rebuild| {
        settings.rebuild = rebuild;
        let listing = (sources.to_vec().into(), "");
        update_with(listing, &one_chunk, scratch, &settings, progress).map(drop)
    };
    match with(Rebuild::Changed) {
        // The cache keeps the vectors of each model.
        Err(BuildError::Mismatch(mismatch)) if mismatch.what == "embedder" => {
            with(Rebuild::Reembed)
        }
        Err(BuildError::Mismatch(_)) => with(Rebuild::Full),
        other => other,
    }
}

fn read(path: &Path) -> Result<String, EvalError> {
    fs::read_to_string(path).map_err(|error| read_error(path, error))
}

/// The lines of a JSONL file, as number, text and value.
fn json_lines(path: &Path) -> Result<Vec<(usize, String, Line)>, EvalError> {
    let text = read(path)?;
    let lines = text
        .lines()
        .zip(1..)
        .filter(|(line, _)| !line.trim().is_empty());
    let parsed = lines.map(|(line, number)| {
        let value = serde_json::from_str(line);
        let value = value.map_err(|error| read_error(path, format!("line {number}: {error}")));
        Ok((number, line.to_owned(), value?))
    });
    parsed.collect()
}

/// Each document has its JSON line as text.
fn corpus(path: &Path) -> Result<Vec<Source>, EvalError> {
    let lines = json_lines(path)?.into_iter();
    let source = |(_, text, line): (usize, String, Line)| {
        let path = line.id;
        Source::new(&path, text)
    };
    let mut out: Vec<Source> = lines.map(source).collect();
    out.sort_by(|a, b| a.path.cmp(&b.path));
    out.dedup_by(|a, b| a.path == b.path);
    Ok(out)
}

fn one_chunk(source: &Source) -> Contents {
    let Ok(line) = serde_json::from_str::<Line>(&source.text) else {
        return Vec::new().into();
    };
    let language = detect_language(&line.text);
    let chunk = Chunk {
        title: line.title,
        ..Chunk::whole(line.id, Kind::Document, language, line.text)
    };
    vec![chunk].into()
}

fn judged(folder: &Path, split: &str) -> Result<Vec<Judged>, EvalError> {
    let qrels_path = folder.join("qrels").join(format!("{split}.tsv"));
    let mut qrels = qrels(&qrels_path)?;
    let mut out = Vec::new();
    for (number, _, query) in json_lines(&folder.join("queries.jsonl"))? {
        if let Some(relevant) = qrels.remove(&query.id) {
            out.push(Judged {
                sections: Vec::new(),
                id: query.id,
                language: detect_language(&query.text),
                text: query.text,
                engine: None,
                step: None,
                split: Some(split.to_owned()),
                kind: None,
                unanswerable: false,
                relevant,
                place: (PathBuf::from("queries.jsonl"), number),
            });
        }
    }
    if out.is_empty() {
        return Err(EvalError::NoQueries { path: qrels_path });
    }
    Ok(out)
}

/// Query, document and grade per line, with or without a heading. TREC's form (`query 0 document grade`)
/// works too.
fn qrels(path: &Path) -> Result<BTreeMap<String, Vec<Relevant>>, EvalError> {
    let text = read(path)?;
    let mut out: BTreeMap<String, Vec<Relevant>> = BTreeMap::new();
    for (line, number) in text.lines().zip(1..) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (query, document, grade) = match fields[..] {
            [] => continue,
            [query, document, grade] | [query, _, document, grade] => (query, document, grade),
            _ => {
                let reason = format!("line {number}: expected three fields");
                return Err(read_error(path, reason));
            }
        };
        let Ok(grade) = grade.parse::<f64>() else {
            if number == 1 {
                continue;
            }
            let reason = format!("line {number}: `{grade}` is not a number");
            return Err(read_error(path, reason));
        };
        if grade > 0.0 {
            let target = document.to_owned();
            let relevant = out.entry(query.to_owned()).or_default();
            relevant.push(Relevant { target, grade });
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collection() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("written");
        };
        let corpus = r#"{"_id": "d1", "title": "Salting", "text": "a hot key is divided"}
            {"_id": "d2", "title": "", "text": "垃圾回收的压力"}"#;
        write("corpus.jsonl", corpus);
        let queries = r#"{"_id": "q1", "text": "hot keys"}
            {"_id": "q2", "text": "垃圾回收"}
            {"_id": "q3", "text": "unjudged"}"#;
        write("queries.jsonl", queries);
        let qrels = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\nq3\td1\t0\n";
        write("qrels/test.tsv", qrels);
        folder
    }

    fn evaluated(folder: &tempfile::TempDir) -> Result<Report, EvalError> {
        let scratch = tempfile::tempdir().expect("a folder");
        let (settings, options) = (Settings::default(), Options::default());
        let (from, to) = (folder.path(), scratch.path());
        beir(from, to, &settings, &options, &mut |_| {})
    }

    #[test]
    fn a_collection_is_indexed_and_scored() {
        let folder = collection();
        let report = evaluated(&folder).expect("evaluated");
        assert_eq!((report.queries, report.documents), (2, 2));
        assert_eq!(report.branches["bm25"].metrics["ndcg@10"], 1.0);
        assert_eq!(report.branches["hybrid"].metrics["recall@100"], 1.0);
        assert_eq!(report.languages["zh"].queries, 1);
        assert!(report.warnings[0].contains("2 queries"));
    }

    #[test]
    fn a_malformed_line_is_named() {
        let folder = collection();
        let corpus = folder.path().join("corpus.jsonl");
        fs::write(corpus, "{\"_id\": \"a\"}\nnot json\n").expect("written");
        let refused = evaluated(&folder).expect_err("refused");
        assert!(refused.to_string().contains("line 2"));
    }
}
