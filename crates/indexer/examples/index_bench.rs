//! What `scripts/bench-index` needs of the crate in addition to the program: each command prints what it measured.
//!
//! ```text
//! index_bench hash FOLDER                      reads and hashes every file, as `sha256sum` would
//! index_bench export INDEX VECTORS             a JSON object per chunk: id, text; its vector to VECTORS, f32, little-endian
//! index_bench embed < queries > vectors        f32, little-endian, one row per query
//! index_bench graph INDEX                      builds the graphs of an index of any size
//! index_bench warm INDEX exact|graph < queries a JSON object: times, memory, the best cosines of each query
//! index_bench crossing ROWS… < texts           time and recall of scan and graph by number of rows; one text per line
//! ```

use std::error::Error;
use std::fs;
use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use indexer::build::update_from;
use indexer::embed::load;
use indexer::{EmbedderChoice, Fusion, Index, Query, Remote, Session, Settings};
use serde_json::json;

/// Rounds over all queries that are counted; one before them is not.
const ROUNDS: usize = 3;

/// Texts of `crossing` that are queries instead of rows, cut to their first words.
const QUERIES: usize = 200;
const QUERY_WORDS: usize = 12;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["hash", folder] => hash(Path::new(folder)),
        ["export", index, vectors] => export(Path::new(index), Path::new(vectors)),
        ["embed"] => embed(),
        ["graph", index] => open(Path::new(index), "graph").map(drop),
        ["warm", index, way @ ("exact" | "graph")] => warm(Path::new(index), way),
        ["crossing", ref sizes @ ..] => crossing(sizes),
        _ => Err("usage: index_bench hash FOLDER | export INDEX VECTORS | embed | graph INDEX | warm INDEX exact|graph | crossing ROWS…".into()),
    }
}

fn open(index: &Path, way: &str) -> Result<Arc<Index>, Box<dyn Error>> {
    if way == "exact" {
        return Ok(Arc::new(Index::open(index, &Settings::default())?));
    }
    let settings = Settings {
        graph_from: 0,
        ..Settings::default()
    };
    let session = Session::open(index, &settings)?;
    session.wait_for_graphs();
    Ok(session.current()?)
}

fn lines() -> Result<Vec<String>, std::io::Error> {
    std::io::stdin().lock().lines().collect()
}

#[expect(clippy::print_stdout, reason = "this is a program")]
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

/// `index/README.md` describes the fields and the file of vectors.
fn export(folder: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    let index = open(folder, "exact")?;
    let mut files = fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    let file = files.find(|path| path.extension().is_some_and(|end| end == "vec"));
    let bytes = fs::read(file.ok_or("no vectors")?)?;
    let dimension = u32::from_le_bytes(bytes[8..12].try_into()?) as usize;
    let stride = 24 + dimension.next_multiple_of(4);
    let mut vectors = std::io::BufWriter::new(fs::File::create(to)?);
    let mut out = std::io::stdout().lock();
    let reader = tantivy::Index::open_in_dir(folder)?.reader()?;
    for segment in reader.searcher().segment_readers() {
        let columns = segment.fast_fields();
        let (Some(ids), Some(rows)) = (columns.str("id")?, columns.column_opt::<u64>("row")?)
        else {
            continue;
        };
        for doc in segment.doc_ids_alive() {
            let (Some(id), Some(row)) = (ids.ords().first(doc), rows.first(doc)) else {
                continue;
            };
            let mut name = String::new();
            ids.ord_to_str(id, &mut name)?;
            let Some(chunk) = index.chunk(&name) else {
                continue;
            };
            writeln!(out, "{}", json!({ "id": name, "text": chunk.text }))?;
            let row = &bytes[64 + row as usize * stride..][..stride];
            let scale = f32::from_le_bytes(row[20..24].try_into()?);
            for &cell in &row[24..24 + dimension] {
                vectors.write_all(&(f32::from(cell as i8) * scale).to_le_bytes())?;
            }
        }
    }
    Ok(())
}

fn embed() -> Result<(), Box<dyn Error>> {
    let embedder = load(&EmbedderChoice::Embedded)?;
    let mut out = std::io::stdout().lock();
    for query in lines()? {
        for value in embedder.embed_query(&query, Remote::default())? {
            out.write_all(&value.to_le_bytes())?;
        }
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "this is a program")]
fn warm(index: &Path, way: &str) -> Result<(), Box<dyn Error>> {
    let queries = lines()?;
    let start = Instant::now();
    let index = open(index, way)?;
    let mut out = json!({ "open_ms": start.elapsed().as_secs_f64() * 1e3 });
    let ways = [
        ("hybrid", None),
        ("bm25", Some(Fusion::Bm25)),
        ("vector", Some(Fusion::Vector)),
    ];
    for (name, fusion) in ways {
        out[format!("{name}_us")] = json!(times(&index, &queries, fusion)?);
    }
    out["resident_kb"] = json!(resident_kb());
    let best: Result<Vec<_>, _> = queries.iter().map(|query| cosines(&index, query)).collect();
    out["cosines"] = json!(best?);
    println!("{out}");
    Ok(())
}

#[expect(clippy::print_stdout, reason = "this is a program")]
fn crossing(sizes: &[&str]) -> Result<(), Box<dyn Error>> {
    let texts = lines()?;
    let (asked, texts) = texts.split_at(QUERIES.min(texts.len()));
    let first_words = |text: &String| {
        let words: Vec<&str> = text.split(' ').take(QUERY_WORDS).collect();
        words.join(" ")
    };
    let asked: Vec<String> = asked.iter().map(first_words).collect();
    println!("| rows | scan | graph | recall@10 | built in |\n|---|---|---|---|---|");
    for size in sizes {
        let folder = tempfile::tempdir()?;
        let documents = texts.iter().take(size.parse()?).enumerate();
        let documents = documents.map(|(i, text)| (format!("{i}.md"), text.clone()));
        let built = update_from(
            documents,
            "",
            folder.path(),
            &Settings::default(),
            &mut |_| {},
        )?;
        let by_scan = open(folder.path(), "exact")?;
        let start = Instant::now();
        let by_graph = open(folder.path(), "graph")?;
        let seconds = start.elapsed().as_secs_f64();
        // The best round of each query, since other processes disturb some; the median of these.
        let median = |index: &Index| -> Result<f64, Box<dyn Error>> {
            let times = times(index, &asked, Some(Fusion::Vector))?;
            let round = |at| times.iter().copied().skip(at).step_by(asked.len());
            let best = |at| round(at).fold(f64::MAX, f64::min);
            let mut best: Vec<f64> = (0..asked.len()).map(best).collect();
            best.sort_by(f64::total_cmp);
            Ok(best[best.len() / 2] / 1e3)
        };
        let (scan, graph) = (median(&by_scan)?, median(&by_graph)?);
        let (mut found, mut wanted) = (0, 0);
        for query in &asked {
            let exact = cosines(&by_scan, query)?;
            let last = exact.last().copied().unwrap_or(1.0) - 1e-6;
            let near = cosines(&by_graph, query)?;
            let near = near.iter().filter(|&&cosine| cosine >= last).count();
            found += near.min(exact.len());
            wanted += exact.len();
        }
        let (rows, recall) = (built.chunks, found as f64 / wanted as f64);
        println!("| {rows} | {scan:.2} ms | {graph:.2} ms | {recall:.4} | {seconds:.0} s |");
    }
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

/// The cosines of the ten chunks that the vector branch ranks first, with the candidates of a usual query.
fn cosines(index: &Index, text: &str) -> Result<Vec<f32>, Box<dyn Error>> {
    let mut query = Query::new(text, 50);
    query.fusion = Some(Fusion::Vector);
    query.diversity = 0.0;
    let hits = index.search(&query)?.into_iter();
    let ranked = hits.filter_map(|hit| Some((hit.vector_rank?, hit.vector_score?)));
    let mut ranked: Vec<(usize, f32)> = ranked.filter(|&(rank, _)| rank <= 10).collect();
    ranked.sort_by_key(|&(rank, _)| rank);
    Ok(ranked.into_iter().map(|(_, score)| score).collect())
}

/// Resident memory with mapped files; `None` on systems without `/proc`.
fn resident_kb() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
