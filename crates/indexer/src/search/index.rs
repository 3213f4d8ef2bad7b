//! An open index: one generation, read-only.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use super::fit::Fit;
use super::fuse::{Branches, Candidate, fuse};
use super::graphs::Graphs;
use super::info::Info;
use super::passages::{Asked, Passage, arrange};
use super::segments::Segments;
use super::thin::thin;
use crate::analyze;
use crate::context;
use crate::document::language_of_query;
use crate::embed::onnx::OnnxReranker;
use crate::embed::{Embedder, VectorWeights, load};
use crate::error::{OpenError, SearchError};
use crate::glossary::{Expansion, Glossary, Named};
use crate::guard::guarded;
use crate::model::{
    Chunk, Engine, Evidence, Filter, Fusion, Hit, Kind, Part, Query, Remote, subject,
};
use crate::query::{self, Reading, Remark};
use crate::settings::Settings;
use crate::store::facets::{Facets, filter_groups};
use crate::store::generation::{self, Held, read_json};
use crate::store::lexical::{Allowed, Lexical};
use crate::store::manifest::{GLOSSARY, Ordinal};
use crate::store::questions::{Near, Questions};

/// Candidates per branch, at least. Deeper lists change little and cost time; recall at 100 needs 100.
const DEPTH: usize = 200;

/// From this many chunks on, the two branches run in parallel; below, waking another thread costs what it saves.
const BRANCHES_APART_FROM: usize = 30_000;

/// Candidates for thinning per hit wanted.
const THIN_FROM: usize = 3;

/// Bonus for a chunk with all preferred facets, relative to the best fused score: enough to decide between
/// similar chunks, too little to promote an unrelated one.
const PREFERENCE: f32 = 0.15;

/// Bonus for a chunk in the language of the query: decides between a document and its translation.
const LANGUAGE: f32 = 0.03;

/// Bonus for a chunk about the engine that the query seems to be about, and malus for one about another: decides between similar pages.
const ENGINE: f32 = 0.045;

/// The same for an engine that the query names: the other engine's pages come after everything else.
const NAMED: f32 = 1.0;

/// Minimum number of candidates with loaded facets; candidates further back cannot become hits.
const BOOST_FROM: usize = 50;

/// Effect of a prior of 1, bounded for the same reason. It is also bounded by the distance between the first hit and the tenth: even among
/// similar pages, one person cannot bury a page.
const PRIOR: f32 = 0.15;
const TENTH: usize = 9;

/// Weight of a word in the questions of a document relative to one in the chunk. Of 0 to 1.2, .4 found most on the tuning judgments.
const QUESTION_WORDS: f32 = 0.4;

/// Chunks with their scores, best first.
type Ranking = Vec<(Ordinal, f32)>;

/// One generation of an index, open for search. Later updates do not touch it.
pub struct Index {
    pub(crate) held: Held,
    pub(crate) segments: Segments,
    pub(crate) lexical: Lexical,
    pub(crate) questions: Option<Questions>,
    glossary: Glossary,
    models: Arc<Models>,
}

/// Models that take time to load and do not depend on the generation.
pub(crate) struct Models {
    embedder: Box<dyn Embedder>,
    weights: VectorWeights,
    reranker: Option<OnnxReranker>,
}

impl Models {
    pub(crate) fn load(settings: &Settings) -> Result<Models, OpenError> {
        let embedder = load(&settings.embedder)?;
        let reranker = settings.reranker.as_ref();
        Ok(Models {
            weights: settings.weights.unwrap_or_else(|| embedder.weights()),
            embedder,
            reranker: reranker.map(OnnxReranker::load).transpose()?,
        })
    }
}

impl Index {
    /// Opens the current generation, to be searched by exact scan.
    pub fn open(index: &Path, settings: &Settings) -> Result<Index, OpenError> {
        let held = generation::hold(index)?;
        held.check()?;
        Index::of(held, Arc::new(Models::load(settings)?), Arc::default())
    }

    /// As [`Index::open`], but also with files that differ from the manifest: to find all of them.
    pub(crate) fn open_unchecked(index: &Path, settings: &Settings) -> Result<Index, OpenError> {
        let held = generation::hold(index)?;
        Index::of(held, Arc::new(Models::load(settings)?), Arc::default())
    }

    pub(crate) fn of(
        held: Held,
        models: Arc<Models>,
        graphs: Arc<Graphs>,
    ) -> Result<Index, OpenError> {
        held.manifest.check(&models.embedder.fingerprint())?;
        Ok(Index {
            segments: Segments::open(&held.folder, &held.manifest, graphs)?,
            glossary: read_json(&held.folder.join(GLOSSARY))?,
            lexical: held.lexical()?,
            questions: held.questions()?,
            models,
            held,
        })
    }

    /// The best chunks for `query`, best first; ties are broken by chunk id. Glossary entries expand every query, but are hits only
    /// if the filter asks for their kind: an entry hardly adds to the query itself.
    pub fn search(&self, query: &Query<'_>) -> Result<Vec<Hit>, SearchError> {
        guarded(
            || self.found(query),
            |reason| SearchError::Lexical { reason },
        )
    }

    fn found(&self, query: &Query<'_>) -> Result<Vec<Hit>, SearchError> {
        let mut reading = self.read(query);
        let with = |part| !query.without.contains(&part);
        if with(Part::QuestionWords) && self.questions.is_some() {
            reading.words.question_weight = QUESTION_WORDS;
        }
        let usual = || self.usual_fusion(&reading);
        let fusion = query.fusion.unwrap_or_else(usual);
        let hidden = match query.filter.kinds.contains(&Kind::Glossary) {
            true => 0,
            false => self.glossary_entries()?,
        };
        // Deeper by the number that is hidden, so that the result is as if they did not exist.
        let depth = DEPTH.max(4 * query.k) + hidden;
        let allowed = self.lexical.allowed(&query.filter).map_err(lexical_error)?;
        let search = Branch {
            reading: &reading,
            allowed: allowed.as_ref(),
            fusion,
            depth,
            remote: query.remote,
        };
        let by_words = || self.lexical_branch(&search);
        let by_vector = || self.vector_branch(&search);
        let (bm25, near) = if self.held.manifest.chunks < BRANCHES_APART_FROM {
            (by_words(), by_vector())
        } else {
            rayon::join(by_words, by_vector)
        };
        let (mut bm25, (vector, mut nearest)) = (bm25?, near?);
        if hidden > 0 {
            bm25.retain(|&(ordinal, _)| !self.is_glossary(ordinal));
            nearest.retain(|&(ordinal, _)| !self.is_glossary(ordinal));
        }
        let cosine = |ordinal| self.segments.cosine(ordinal, vector.as_deref()?);
        let allowed = search.allowed.map(Allowed::ordinals);
        // A query with a cause has its subject already.
        let compares = with(Part::Questions) && query.filter.causes.is_empty();
        let questions = self.questions.as_ref().filter(|_| compares);
        let asked =
            questions.map(|store| store.ask(&reading.features(), reading.own.len(), allowed));
        let asked = asked.transpose().map_err(lexical_error)?;
        let none = Near::default();
        let branches = Branches {
            bm25: &bm25,
            vector: &nearest,
            asked: asked.as_ref().map_or(&none, |asked| &asked.near),
            allowed,
            cosine: &cosine,
        };
        let candidates = fuse(&branches, fusion);
        let named = reading.named.filter(|_| query.filter.engine.is_none());
        let leaning = match (named, &asked) {
            (Some(Named::Engine(Engine::Spark)), _) => NAMED,
            (Some(Named::Engine(_)), _) => -NAMED,
            (_, Some(asked)) if query.filter.engine.is_none() && with(Part::Engine) => {
                ENGINE * asked.leaning
            }
            _ => 0.0,
        };
        let mut scored = self.score(query, leaning, candidates);
        if let Some(reranker) = &self.models.reranker {
            self.rerank(reranker, &query.text, &mut scored)?;
        }
        let elsewhere = asked.as_ref().and_then(|asked| asked.elsewhere);
        let mut fit = Fit::new(query, &reading, elsewhere, &self.lexical).map_err(lexical_error)?;
        fit.is_elsewhere = named == Some(Named::Elsewhere);
        self.hits(query, &fit, &scored)
    }

    /// Interpretations of `query` beyond its words.
    pub fn remarks(&self, query: &Query<'_>) -> Vec<Remark> {
        self.read(query).remarks
    }

    fn read(&self, query: &Query<'_>) -> Reading {
        query::read(&query.text, &query.without, &self.glossary, &self.lexical)
    }

    /// `None` if this generation has no such chunk.
    pub fn chunk(&self, id: &str) -> Option<Chunk> {
        let found = guarded(
            || self.lexical.find(id),
            tantivy::TantivyError::InternalError,
        );
        self.segments.chunk(found.ok()??).ok()
    }

    /// Paths of all documents with text.
    pub(crate) fn documents(&self) -> BTreeSet<String> {
        let documents = generation::documents(&self.held.folder);
        documents.map_or_else(|_| BTreeSet::new(), |all| all.into_keys().collect())
    }

    /// Name of the generation: another one may answer otherwise.
    pub fn generation(&self) -> &str {
        &self.held.manifest.generation
    }

    pub fn info(&self) -> Info {
        Info::of(&self.held, &self.lexical)
    }

    fn glossary_entries(&self) -> Result<usize, SearchError> {
        let count = self.lexical.count_kind(Kind::Glossary);
        count.map(|n| n as usize).map_err(lexical_error)
    }

    fn is_glossary(&self, ordinal: Ordinal) -> bool {
        let id = self.segments.id(ordinal);
        id.is_some_and(|id| id.starts_with("glossary.toml#"))
    }

    /// The chunks nearest to `vector`, found as for a query.
    pub(crate) fn nearest(&self, vector: &[f32], limit: usize) -> Ranking {
        self.segments.nearest(vector, None, limit)
    }

    /// The weights of the embedder, mixed according to the script of the query.
    fn usual_fusion(&self, reading: &Reading) -> Fusion {
        let weights = self.models.weights;
        let cjk = analyze::cjk_share(&reading.text);
        Fusion::Convex {
            vector: weights.cjk * cjk + weights.latin * (1.0 - cjk),
        }
    }

    fn lexical_branch(&self, asked: &Branch<'_>) -> Result<Ranking, SearchError> {
        if asked.fusion == Fusion::Vector {
            return Ok(Vec::new());
        }
        let words = &asked.reading.words;
        let found = self.lexical.search(words, asked.allowed, asked.depth);
        found.map_err(lexical_error)
    }

    /// The vector of the query and the chunks nearest to it.
    fn vector_branch(&self, asked: &Branch<'_>) -> Result<Nearest, SearchError> {
        let Some(vector) = self.query_vector(asked)? else {
            return Ok(Nearest::default());
        };
        let allowed = asked.allowed.map(Allowed::ordinals);
        let nearest = self.segments.nearest(&vector, allowed, asked.depth);
        Ok((Some(vector), nearest))
    }

    /// `None` if no vector is needed or the embedder knows no word of the query.
    fn query_vector(&self, asked: &Branch<'_>) -> Result<Option<Vec<f32>>, SearchError> {
        if asked.fusion == Fusion::Bm25 {
            return Ok(None);
        }
        let mut text = asked.reading.text.clone();
        let english_only = self.models.embedder.english_only();
        for Expansion { name, .. } in &asked.reading.expansions {
            if !(english_only && analyze::cjk_share(name) > 0.0) {
                text.push(' ');
                text.push_str(name);
            }
        }
        let vector = self.models.embedder.embed_query_for(&text, asked.remote)?;
        Ok(vector.iter().any(|&value| value != 0.0).then_some(vector))
    }

    /// Adds boosts and priors and sorts by score, ties by chunk id. `leaning` is added for pages about Spark and taken from those about the default
    /// engine.
    fn score(
        &self,
        query: &Query<'_>,
        leaning: f32,
        mut candidates: Vec<Candidate>,
    ) -> Vec<Scored<'_>> {
        candidates.retain(|c| c.fused > 0.0);
        let reach = query.prior.map_or(0.0, |_| reach(&candidates));
        let prior = |id| match query.prior.map_or(0.0, |prior| prior(id)) {
            prior if prior.is_finite() => reach * prior.clamp(-1.0, 1.0),
            _ => 0.0,
        };
        let with_prior = |candidate: Candidate| {
            let id = self.segments.id(candidate.ordinal).unwrap_or_default();
            let prior = prior(id);
            Scored {
                id,
                boost: 0.0,
                rerank: None,
                prior,
                score: candidate.fused + prior,
                candidate,
            }
        };
        let mut scored: Vec<Scored<'_>> = candidates.into_iter().map(with_prior).collect();
        scored.sort_by(Scored::compare);
        let depth = match query.prefer.is_empty() {
            true => BOOST_FROM.max(THIN_FROM * query.k),
            false => usize::MAX,
        };
        let near = depth.min(scored.len());
        let language = language_of_query(&query.text);
        let preferred = filter_groups(&query.prefer);
        lift(&mut scored[..near], |hit| {
            let facets = self.segments.facets(hit.candidate.ordinal);
            facets.is_some_and(|facets| facets.is_in(language))
        });
        for hit in scored.iter_mut().take(depth) {
            // An unreadable chunk is reported if it becomes a hit.
            if let Some(facets) = self.segments.facets(hit.candidate.ordinal) {
                let same = f32::from(u8::from(facets.is_in(language)));
                let engine = match facets.engine() {
                    Engine::Spark => leaning,
                    Engine::Scope => -leaning,
                    Engine::Any => 0.0,
                };
                hit.boost += LANGUAGE * same + engine + PREFERENCE * facets.share(&preferred);
                hit.score = hit.candidate.fused + hit.prior + hit.boost;
            }
        }
        scored.sort_by(Scored::compare);
        scored
    }

    /// Sorts the best candidates by the cross-encoder, before all others.
    fn rerank(
        &self,
        reranker: &OnnxReranker,
        query: &str,
        scored: &mut [Scored<'_>],
    ) -> Result<(), SearchError> {
        let depth = reranker.depth.min(scored.len());
        let mut texts = Vec::with_capacity(depth);
        for hit in &scored[..depth] {
            let chunk = self.read_chunk(hit.candidate.ordinal)?;
            texts.push(context::embedded_text(&chunk));
        }
        let top = scored.iter().map(|hit| hit.score).fold(0.0, f32::max);
        for (hit, logit) in scored.iter_mut().zip(reranker.scores(query, &texts)?) {
            hit.rerank = Some(logit);
            hit.score = top + 1.0 / (1.0 + (-logit).exp());
        }
        scored.sort_by(Scored::compare);
        Ok(())
    }

    fn read_chunk(&self, ordinal: Ordinal) -> Result<Chunk, SearchError> {
        let (chunk, ordinal) = (self.segments.chunk(ordinal), ordinal.0);
        chunk.map_err(|reason| SearchError::Chunk { ordinal, reason })
    }

    fn hits(
        &self,
        query: &Query<'_>,
        fit: &Fit,
        all: &[Scored<'_>],
    ) -> Result<Vec<Hit>, SearchError> {
        let most = query.k.saturating_mul(THIN_FROM).max(BOOST_FROM);
        let scored = &all[..all.len().min(most)];
        let scores: Vec<f32> = scored.iter().map(|hit| hit.score).collect();
        let vector = |hit: &Scored<'_>| self.segments.vector(hit.candidate.ordinal);
        let vectors: Vec<Option<&[f32]>> = scored.iter().map(vector).collect();
        let similarity = |a: usize, b: usize| match (vectors[a], vectors[b]) {
            (Some(a), Some(b)) => crate::store::kernel::dot_f32(a, b),
            _ => 0.0,
        };
        let subjects: Vec<&str> = scored.iter().map(Scored::subject).collect();
        let picked = thin(&scores, query.k, query.diversity, &subjects, similarity);
        let picked = match asks_for_an_answer(query) {
            true => {
                let passages: Vec<Passage<'_>> = all.iter().map(|hit| self.passage(hit)).collect();
                arrange(&passages, &picked, &Asked::by(&query.text))
            }
            false => picked,
        };
        let picked: Vec<&Scored<'_>> = picked.into_iter().map(|at| &all[at]).collect();
        let ids: Vec<&str> = picked.iter().map(|hit| hit.id).collect();
        let scores = picked.iter().map(|hit| {
            let Candidate {
                bm25,
                vector,
                question,
                ..
            } = hit.candidate;
            let question = question.unwrap_or_default();
            Evidence {
                coverage: 0.0,
                bm25: bm25.map_or(0.0, |b| b.score),
                cosine: vector.map_or(0.0, |v| v.score),
                question: question.nearest,
                question_words: question.words,
                elsewhere: 0.0,
            }
        });
        let evidence = fit.evidence(&self.lexical, &ids, scores);
        let evidence = evidence.map_err(lexical_error)?;
        let ranked = (1..).zip(picked).zip(evidence);
        let hits = ranked.map(|((rank, hit), evidence)| self.hit(rank, hit, fit, evidence));
        hits.collect()
    }

    fn passage<'a>(&self, hit: &Scored<'a>) -> Passage<'a> {
        let facets = self.segments.facets(hit.candidate.ordinal);
        Passage {
            document: hit.document(),
            section: facets.and_then(Facets::section),
            bm25: hit.candidate.bm25.map_or(0.0, |ranked| ranked.score),
        }
    }

    fn hit(
        &self,
        rank: usize,
        scored: &Scored<'_>,
        fit: &Fit,
        evidence: Evidence,
    ) -> Result<Hit, SearchError> {
        let Candidate {
            bm25,
            vector,
            question,
            ..
        } = scored.candidate;
        let chunk = self.read_chunk(scored.candidate.ordinal)?;
        Ok(Hit {
            fit: fit.judge(&chunk, question.is_some(), evidence),
            evidence,
            chunk: Arc::new(chunk),
            rank,
            score: scored.score,
            bm25_rank: bm25.and_then(|ranked| ranked.rank),
            bm25_score: bm25.map(|ranked| ranked.score),
            vector_rank: vector.and_then(|ranked| ranked.rank),
            vector_score: vector.map(|ranked| ranked.score),
            question_score: question.map(|question| question.share),
            fused: scored.candidate.fused,
            boost: scored.boost,
            prior: scored.prior,
            rerank_score: scored.rerank,
        })
    }
}

/// Whether the caller leaves the choice of passages to the search: a query for causes, steps or sections has made it.
fn asks_for_an_answer(query: &Query<'_>) -> bool {
    let chosen = |filter: &Filter| {
        !(filter.causes.is_empty() && filter.steps.is_empty() && filter.sections.is_empty())
    };
    !chosen(&query.filter) && !chosen(&query.prefer)
}

/// Lifts a page in the language of the query to its translation: a pasted error has the words of one of them, but the prose decides.
fn lift(scored: &mut [Scored<'_>], is_preferred: impl Fn(&Scored<'_>) -> bool) {
    let (mut subjects, mut documents) = (HashMap::new(), HashMap::new());
    for hit in scored.iter() {
        let subject: &mut f32 = subjects.entry(hit.subject()).or_default();
        *subject = subject.max(hit.candidate.fused);
        let document: &mut f32 = documents.entry(hit.document()).or_default();
        *document = document.max(hit.candidate.fused);
    }
    for hit in scored.iter_mut().filter(|hit| is_preferred(hit)) {
        hit.boost += subjects[hit.subject()] - documents[hit.document()];
    }
}

/// How far a prior of 1 moves one of these candidates.
fn reach(candidates: &[Candidate]) -> f32 {
    let mut fused: Vec<f32> = candidates.iter().map(|c| c.fused).collect();
    fused.sort_by(|a, b| b.total_cmp(a));
    let last = fused.get(TENTH).or(fused.last());
    let span = fused.first().zip(last).map(|(first, last)| first - last);
    PRIOR.min(span.unwrap_or(0.0))
}

/// The vector of a query and the chunks nearest to it.
type Nearest = (Option<Vec<f32>>, Ranking);

/// Parameters of both branches of a search.
struct Branch<'a> {
    reading: &'a Reading,
    /// The chunks that pass the filter; `None` if all do.
    allowed: Option<&'a Allowed>,
    fusion: Fusion,
    depth: usize,
    remote: Remote<'a>,
}

struct Scored<'a> {
    candidate: Candidate,
    id: &'a str,
    boost: f32,
    prior: f32,
    rerank: Option<f32>,
    score: f32,
}

impl<'a> Scored<'a> {
    /// Best first, ties by id.
    fn compare(&self, other: &Scored<'_>) -> std::cmp::Ordering {
        let by_score = other.score.total_cmp(&self.score);
        by_score.then_with(|| self.id.cmp(other.id))
    }

    fn document(&self) -> &'a str {
        self.id.split('#').next().unwrap_or(self.id)
    }

    /// A page and its translation fill a list like one.
    fn subject(&self) -> &'a str {
        subject(self.id)
    }
}

fn lexical_error(error: tantivy::TantivyError) -> SearchError {
    SearchError::Lexical {
        reason: error.to_string(),
    }
}
