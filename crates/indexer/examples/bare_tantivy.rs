//! The minimum that a search with tantivy costs: opens an index, runs one query, prints the ids. `scripts/bench-index` compares
//! `scopeagent search` with it.
//!
//! ```text
//! bare_tantivy build INDEX < chunks.jsonl      lines of {"id": …, "text": …}
//! bare_tantivy search INDEX WORDS
//! bare_tantivy warm INDEX < queries            microseconds of each query, after a warm-up round
//! ```

use std::error::Error;
use std::io::BufRead;
use std::path::Path;
use std::time::Instant;

use tantivy::collector::TopDocs;
use tantivy::query::QueryParser;
use tantivy::schema::{STORED, STRING, Schema, TEXT, Value};
use tantivy::{Index, ReloadPolicy, Searcher, TantivyDocument, doc};

const HITS: usize = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["build", folder] => build(Path::new(folder)),
        ["search", folder, words] => Bare::open(Path::new(folder))?.print(words),
        ["warm", folder] => warm(&Bare::open(Path::new(folder))?),
        _ => Err("usage: bare_tantivy build|search|warm INDEX [WORDS]".into()),
    }
}

fn build(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut schema = Schema::builder();
    let id = schema.add_text_field("id", STRING | STORED);
    let text = schema.add_text_field("text", TEXT | STORED);
    std::fs::create_dir_all(folder)?;
    let index = Index::create_in_dir(folder, schema.build())?;
    let mut writer = index.writer_with_num_threads(1, 200_000_000)?;
    for line in std::io::stdin().lock().lines() {
        let chunk: serde_json::Value = serde_json::from_str(&line?)?;
        let part = |name: &str| chunk[name].as_str().unwrap_or_default().to_owned();
        writer.add_document(doc!(id => part("id"), text => part("text")))?;
    }
    writer.commit()?;
    writer.wait_merging_threads()?;
    Ok(())
}

struct Bare {
    searcher: Searcher,
    parser: QueryParser,
}

impl Bare {
    fn open(folder: &Path) -> Result<Bare, Box<dyn Error>> {
        let index = Index::open_in_dir(folder)?;
        let text = index.schema().get_field("text")?;
        let reader = index.reader_builder();
        let reader: tantivy::IndexReader = reader.reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Bare {
            searcher: reader.searcher(),
            parser: QueryParser::for_index(&index, vec![text]),
        })
    }

    fn ask(&self, words: &str, depth: usize) -> Result<Vec<String>, Box<dyn Error>> {
        let (query, _) = self.parser.parse_query_lenient(words);
        let top = TopDocs::with_limit(depth).order_by_score();
        let found = self.searcher.search(&*query, &top)?;
        let id = self.searcher.schema().get_field("id")?;
        let mut out = Vec::new();
        for (_, address) in found.into_iter().take(HITS) {
            let document: TantivyDocument = self.searcher.doc(address)?;
            let value = document.get_first(id).and_then(|value| value.as_str());
            out.push(value.unwrap_or_default().to_owned());
        }
        Ok(out)
    }

    #[expect(clippy::print_stdout, reason = "this is a program")]
    fn print(&self, words: &str) -> Result<(), Box<dyn Error>> {
        for id in self.ask(words, HITS)? {
            println!("{id}");
        }
        Ok(())
    }
}

/// With as many candidates per query as fusion by hand would need.
#[expect(clippy::print_stdout, reason = "this is a program")]
fn warm(bare: &Bare) -> Result<(), Box<dyn Error>> {
    let queries: Vec<String> = std::io::stdin().lock().lines().collect::<Result<_, _>>()?;
    for round in 0..4 {
        for query in &queries {
            let start = Instant::now();
            bare.ask(query, 100)?;
            let micros = start.elapsed().as_secs_f64() * 1e6;
            if round > 0 {
                println!("{micros:.1}");
            }
        }
    }
    Ok(())
}
