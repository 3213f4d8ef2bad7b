//! Writes the changes and commits them.

use super::embed::embed;
use super::read::Listed;
use super::{Job, Phase, Progress, Summary, start};
use crate::chunk::Contents;
use crate::error::BuildError;
use crate::glossary::Glossary;
use crate::model::{Chunk, Engine};
use crate::settings::Rebuild;
use crate::store::entries::{Entry, EntryWriter};
use crate::store::manifest::{DocumentEntry, Documents, Manifest};
use crate::store::stamp::since_1970;
use crate::store::{DOCUMENTS, GLOSSARY};
use crate::{analyze, chunk, context, parallel};

/// From this many documents or chunks on, threads share the work.
const MANY: usize = 16;

struct Cut<'a> {
    listed: &'a Listed,
    chunks: Vec<Chunk>,
    questions: Vec<String>,
}

/// Makes the commit that `job` describes. Readers see it only after tantivy's commit, the last step.
pub(crate) fn run(
    job: Job<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<(Manifest, Summary), BuildError> {
    start(progress, Phase::Chunk, job.plan.write.len());
    let cuts = parallel::map(&job.plan.write, MANY, |&at| {
        let listed = &job.listing.documents[at];
        let Contents { chunks, questions } = (job.cutter)(&listed.source);
        Cut {
            listed,
            chunks,
            questions,
        }
    });
    let new_chunks: Vec<&Chunk> = cuts.iter().flat_map(|cut| &cut.chunks).collect();
    if job.current.is_none() {
        job.writer.clear(job.rebuild == Rebuild::Full)?;
    }
    let previous = job.current.map(|(held, _)| &held.manifest);
    let generation = job.writer.next_generation(previous.map(|m| &*m.generation));
    let embedded = embed(&job, &generation, &new_chunks, progress)?;

    start(progress, Phase::Write, new_chunks.len());
    let documents = documents(&job, &cuts);
    let glossary = glossary(&job)?;
    let manifest = Manifest {
        chunker: chunk::VERSION.to_owned(),
        analyser: analyze::VERSION.to_owned(),
        embedder: job.embedder.fingerprint(),
        dimension: job.embedder.dimension(),
        documents: documents.len(),
        chunks: documents.values().map(|entry| entry.chunks).sum(),
        vectors: embedded.file.clone(),
        rows: embedded.len,
        listed: since_1970(job.listing.listed).unwrap_or_default(),
        mark: job.mark.to_owned(),
        generation: generation.clone(),
    };
    let written = write_entries(&job, &cuts, &embedded.rows, |store| {
        store.list(DOCUMENTS, &documents)?;
        store.list(GLOSSARY, &glossary)?;
        store.finish(&manifest.to_payload()?)
    });
    written.map_err(|error| BuildError::Lexical {
        path: job.writer.index.clone(),
        reason: error.to_string(),
    })?;
    let summary = Summary {
        chunks: manifest.chunks,
        embedded: embedded.embedded,
        cached: embedded.cached,
        generation,
        rebuilt: !job.plan.is_empty(),
        ..job.plan.summary
    };
    Ok((manifest, summary))
}

/// As the commit before has it, unless its document is written.
fn glossary(job: &Job<'_>) -> Result<Glossary, BuildError> {
    let mut documents = job.listing.documents.iter();
    let document = documents.find(|listed| listed.source.path == super::GLOSSARY);
    match (document, job.current) {
        (None, _) => Ok(Glossary::default()),
        (Some(listed), Some((held, _))) if !listed.is_read => Ok(held.glossary()?),
        (Some(listed), _) => Ok(Glossary::parse(&listed.source.text)),
    }
}

fn documents(job: &Job<'_>, cuts: &[Cut<'_>]) -> Documents {
    let before = job.current.filter(|_| !job.plan.whole);
    let mut documents = before.map_or_else(Documents::new, |(_, documents)| documents.clone());
    for path in &job.plan.dead {
        documents.remove(path);
    }
    for Cut { listed, chunks, .. } in cuts {
        let entry = DocumentEntry {
            hash: listed.hash,
            chunks: chunks.len(),
            state: None,
        };
        documents.insert(listed.source.path.clone(), entry);
    }
    for listed in &job.listing.documents {
        if let Some(entry) = documents.get_mut(&listed.source.path) {
            entry.state = listed.settled(job.listing.listed);
        }
    }
    documents
}

fn write_entries(
    job: &Job<'_>,
    cuts: &[Cut<'_>],
    rows: &[u32],
    finish: impl FnOnce(EntryWriter) -> tantivy::Result<()>,
) -> tantivy::Result<()> {
    let index = job.current.map(|(held, _)| held.searcher.index());
    let store = EntryWriter::open(index, &job.writer.index, job.plan.whole && index.is_some())?;
    for document in &job.plan.dead {
        store.remove(document);
    }
    add_chunks(&store, cuts, rows)?;
    add_questions(&store, cuts)?;
    finish(store)
}

/// Terms are computed on all cores, one part at a time to bound memory.
fn add_chunks(store: &EntryWriter, cuts: &[Cut<'_>], rows: &[u32]) -> tantivy::Result<()> {
    const PART: usize = 4096;
    let asked = parallel::map(cuts, MANY, |cut| context::question_terms(&cut.questions));
    let mut all: Vec<(&Chunk, &str)> = Vec::new();
    for (cut, asked) in cuts.iter().zip(&asked) {
        all.extend(cut.chunks.iter().map(|chunk| (chunk, asked.as_str())));
    }
    for (chunks, rows) in all.chunks(PART).zip(rows.chunks(PART)) {
        let words = parallel::map(chunks, MANY, |(chunk, _)| {
            (context::lexical_terms(chunk), context::lexical_pairs(chunk))
        });
        for (((chunk, questions), row), (terms, pairs)) in chunks.iter().zip(rows).zip(words) {
            store.add(Entry {
                chunk,
                row: *row,
                terms,
                pairs,
                questions,
            })?;
        }
    }
    Ok(())
}

fn add_questions(store: &EntryWriter, cuts: &[Cut<'_>]) -> tantivy::Result<()> {
    let features = parallel::map(cuts, MANY, |cut| {
        let first = cut.chunks.first().filter(|_| !cut.questions.is_empty());
        let names = first
            .into_iter()
            .flat_map(|c| c.keywords.iter().chain([&c.title]));
        let features = cut.questions.iter().chain(names).map(|question| {
            let mut terms = analyze::terms(question);
            terms.sort_unstable();
            terms.dedup();
            terms.extend(analyze::finer_features(question));
            terms
        });
        features.collect::<Vec<Vec<String>>>()
    });
    for (cut, features) in cuts.iter().zip(features) {
        let engine = cut
            .chunks
            .first()
            .map_or_else(Engine::default, |c| c.engine);
        for features in features {
            store.ask(&cut.listed.source.path, engine, cut.chunks.len(), &features)?;
        }
    }
    Ok(())
}
