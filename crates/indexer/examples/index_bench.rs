//! What `scripts/bench-index` needs of the crate beside the program: each command prints what it measured.
//!
//! ```text
//! index_bench hash FOLDER                             reads and hashes every file, as `sha256sum` would
//! index_bench embed < queries > vectors               f32, little-endian, one row per query
//! index_bench warm INDEX exact|graph < queries        a JSON object: times, memory, the best cosines of each query
//! index_bench graph KNOWLEDGE INDEX                   brings the index up to date and builds graphs, whatever the size
//! ```

use std::error::Error;
use std::fs;
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Instant;

use indexer::build::update;
use indexer::embed::load;
use indexer::{EmbedderChoice, Fusion, Index, Query, Settings, VectorSearch};
use serde_json::{Value, json};

/// Rounds over all queries that are counted; one before them is not.
const ROUNDS: usize = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["hash", folder] => hash(Path::new(folder)),
        ["embed"] => embed(),
        ["warm", index, way @ ("exact" | "graph")] => warm(Path::new(index), &settings(way)),
        ["graph", knowledge, index] => {
            let done = update(
                Path::new(knowledge),
                Path::new(index),
                &settings("graph"),
                &mut |_| {},
            );
            done.map(|_| ()).map_err(Into::into)
        }
        _ => Err("usage: index_bench hash FOLDER | embed | warm INDEX exact|graph | graph KNOWLEDGE INDEX".into()),
    }
}

fn settings(way: &str) -> Settings {
    let vector_search = match way {
        "graph" => VectorSearch::Resident,
        _ => VectorSearch::Exact,
    };
    Settings {
        vector_search,
        graph_from: 0,
        ..Settings::default()
    }
}

fn queries() -> Result<Vec<String>, std::io::Error> {
    std::io::stdin().lock().lines().collect()
}

#[expect(clippy::print_stdout, reason = "a program of its own")]
fn hash(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut folders = vec![folder.to_owned()];
    let mut all = blake3::Hasher::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                all.update(blake3::hash(&fs::read(&path)?).as_bytes());
            }
        }
    }
    println!("{}", all.finalize().to_hex());
    Ok(())
}

fn embed() -> Result<(), Box<dyn Error>> {
    let embedder = load(&EmbedderChoice::Embedded)?;
    let mut out = std::io::stdout().lock();
    for query in queries()? {
        for value in embedder.embed_query(&query)? {
            out.write_all(&value.to_le_bytes())?;
        }
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "a program of its own")]
fn warm(index: &Path, settings: &Settings) -> Result<(), Box<dyn Error>> {
    let queries = queries()?;
    let start = Instant::now();
    let index = Index::open(index, settings)?;
    let open_ms = start.elapsed().as_secs_f64() * 1e3;
    let mut out = serde_json::Map::new();
    out.insert("open_ms".to_owned(), json!(open_ms));
    let ways = [
        ("hybrid", None),
        ("bm25", Some(Fusion::Bm25)),
        ("vector", Some(Fusion::Vector)),
    ];
    for (name, fusion) in ways {
        let times = times(&index, &queries, fusion)?;
        out.insert(format!("{name}_us"), json!(times));
    }
    out.insert("resident_kb".to_owned(), json!(resident_kb()));
    let best: Result<Vec<Value>, _> = queries.iter().map(|query| cosines(&index, query)).collect();
    out.insert("cosines".to_owned(), json!(best?));
    println!("{}", Value::from(out));
    Ok(())
}

/// Microseconds of every query in every round.
fn times(
    index: &Index,
    queries: &[String],
    fusion: Option<Fusion>,
) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut out = Vec::new();
    for round in 0..=ROUNDS {
        for text in queries {
            let mut query = Query::new(text, 10);
            query.fusion = fusion;
            let start = Instant::now();
            index.search(&query)?;
            if round > 0 {
                out.push(start.elapsed().as_secs_f64() * 1e6);
            }
        }
    }
    Ok(out)
}

/// The cosines of the ten chunks that the vector branch ranks first.
fn cosines(index: &Index, text: &str) -> Result<Value, Box<dyn Error>> {
    let mut query = Query::new(text, 200);
    query.fusion = Some(Fusion::Vector);
    query.diversity = 0.0;
    let mut ranked: Vec<(usize, f32)> = index
        .search(&query)?
        .iter()
        .filter_map(|hit| Some((hit.vector_rank?, hit.vector_score?)))
        .filter(|&(rank, _)| rank <= 10)
        .collect();
    ranked.sort_by_key(|&(rank, _)| rank);
    let scores: Vec<f32> = ranked.into_iter().map(|(_, score)| score).collect();
    Ok(json!(scores))
}

/// Resident memory, mapped files included; `None` where the system does not tell it this way.
fn resident_kb() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
