//! An open index: one generation, read-only.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::fit::Fit;
use super::fuse::{Branches, Candidate, fuse, lift, reach};
use super::graphs::Graphs;
use super::info::Info;
use crate::analyze;
use crate::context;
use crate::document::language_of_query;
use crate::embed::onnx::OnnxReranker;
use crate::embed::{Embedder, VectorWeights, load};
use crate::error::{OpenError, SearchError};
use crate::glossary::{Expansion, Glossary, Named};
use crate::guard::guarded;
use crate::model::{Chunk, Engine, Fusion, Hit, Kind, Query, Remote};
use crate::query::{self, Correction, Reading};
use crate::settings::Settings;
use crate::store::facets::filter_groups;
use crate::store::generation::{self, Held};
use crate::store::lexical::{Lexical, Ranking, Row};
use crate::store::manifest::Ordinal;
use crate::store::questions::{Asked, Questions};

/// Candidates per branch, at least. Deeper lists change little and cost time; recall at 100 needs 100.
const DEPTH: usize = 200;

/// From this many chunks on, the two branches run in parallel; below, waking another thread costs what it saves.
const BRANCHES_APART_FROM: usize = 30_000;

/// Candidates for thinning per hit wanted.
pub(super) const THIN_FROM: usize = 3;

/// Bonus for a chunk with all preferred facets, relative to the best fused score: enough to decide between
/// similar chunks, too little to promote an unrelated one.
const PREFERENCE: f32 = 0.15;

/// Bonus for a chunk in the language of the query: decides between a document and its translation.
const LANGUAGE: f32 = 0.03;

/// Bonus for a chunk about the engine that the query names or seems to be about, and malus for one about another: decides between similar pages.
const ENGINE: f32 = 0.045;

/// Malus for a chunk about another engine than the one that the query names: such pages come after everything else.
const NAMED: f32 = 1.0;

/// Malus for an entry of the catalogue of files: it explains a file, and answers few questions.
const ENTRY: f32 = 0.15;

/// Minimum number of candidates with loaded facets; candidates further back cannot become hits.
pub(super) const BOOST_FROM: usize = 50;

/// Weight of a word in the questions of a document relative to one in the chunk. Of 0 to 1.2, .4 found most on the tuning judgments.
const QUESTION_WORDS: f32 = 0.4;

/// One generation of an index, open for search. Later updates do not touch it.
pub struct Index {
    pub(crate) held: Held,
    pub(crate) lexical: Lexical,
    pub(crate) questions: Option<Questions>,
    glossary: Glossary,
    models: Arc<Models>,
    pub(super) live: OnceLock<Vec<Row>>,
    pub(super) graphs: Arc<Graphs>,
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
        Index::opened(index, settings, true)
    }

    /// As [`Index::open`]; without `check`, even if checksums are wrong: to find all damaged files.
    pub(crate) fn opened(
        path: &Path,
        settings: &Settings,
        check: bool,
    ) -> Result<Index, OpenError> {
        let held = generation::hold(path, check)?;
        Index::of(held, Arc::new(Models::load(settings)?), Graphs::none())
    }

    pub(crate) fn of(
        held: Held,
        models: Arc<Models>,
        graphs: Arc<Graphs>,
    ) -> Result<Index, OpenError> {
        held.manifest.check_code()?;
        held.manifest
            .check_embedder(&models.embedder.fingerprint())?;
        let Held {
            manifest, vectors, ..
        } = &held;
        graphs.want(&manifest.vectors, vectors, manifest.rows);
        Ok(Index {
            lexical: held.guarded(|| Lexical::open(&held.searcher, manifest.chunks))?,
            questions: held.guarded(|| Questions::open(&held.searcher))?,
            glossary: held.glossary()?,
            models,
            live: OnceLock::new(),
            graphs,
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
        if self.questions.is_some() {
            reading.words.question_weight = QUESTION_WORDS;
        }
        let usual = || self.usual_fusion(&reading);
        let fusion = query.fusion.unwrap_or_else(usual);
        let hidden = match query.filter.kinds.contains(&Kind::Glossary) {
            true => Vec::new(),
            false => self.lexical.of_kind(Kind::Glossary)?,
        };
        // Deeper by the number that is hidden, so that the result is as if they did not exist.
        let depth = DEPTH.max(4 * query.k) + hidden.len();
        let allowed = self.lexical.allowed(&query.filter)?;
        let allowed = allowed.as_deref();
        let words = || match fusion {
            Fusion::Vector => Ok(Ranking::new()),
            _ => self.lexical.search(&reading.words, allowed, depth),
        };
        let remote = query.remote;
        let nearest = || -> Result<(Option<Vec<f32>>, Ranking), SearchError> {
            let Some(vector) = self.query_vector(&reading, fusion, remote)? else {
                return Ok((None, Ranking::new()));
            };
            let nearest = self.nearest(&vector, allowed, depth);
            Ok((Some(vector), nearest))
        };
        let (bm25, nearest) = match self.held.manifest.chunks < BRANCHES_APART_FROM {
            true => (words(), nearest()),
            false => rayon::join(words, nearest),
        };
        let (mut bm25, (vector, mut nearest)) = (bm25?, nearest?);
        let is_shown = |(chunk, _): &(Ordinal, f32)| hidden.binary_search(chunk).is_err();
        bm25.retain(is_shown);
        nearest.retain(is_shown);
        let cosine = |chunk| self.cosine(chunk, vector.as_deref()?);
        let page = |chunk| self.lexical.page(chunk);
        let asked = self.asked(query, &reading, allowed)?;
        let branches = Branches {
            bm25: &bm25,
            vector: &nearest,
            asked: &asked.near,
            allowed,
            page: &page,
            cosine: &cosine,
        };
        let mut candidates = fuse(&branches, fusion);
        let named = reading.named.filter(|_| query.filter.engine.is_none());
        let leaning = match query.filter.engine {
            None => asked.leaning,
            Some(_) => 0.0,
        };
        let engine = engine_boost(named, leaning);
        self.score(query, &engine, &mut candidates)?;
        if let Some(reranker) = &self.models.reranker {
            self.rerank(reranker, &query.text, &mut candidates)?;
        }
        let mut fit = Fit::new(query, &reading, asked.elsewhere, &self.lexical)?;
        fit.is_elsewhere = named == Some(Named::Elsewhere);
        self.hits(query, &reading, &fit, &candidates)
    }

    /// Compares the query with the questions of documents; not for a query with a cause, which has its subject already.
    fn asked(
        &self,
        query: &Query<'_>,
        reading: &Reading,
        allowed: Option<&[Ordinal]>,
    ) -> Result<Asked<'_>, SearchError> {
        let has_subject = !query.filter.causes.is_empty();
        let Some(questions) = self.questions.as_ref().filter(|_| !has_subject) else {
            return Ok(Asked::default());
        };
        let page = |&chunk: &Ordinal| self.lexical.page(chunk);
        let pages = allowed.map(|all| all.iter().filter_map(page).collect::<HashSet<u64>>());
        let features = reading.features();
        let asked = questions.ask(&features, reading.own.len(), pages.as_ref(), &self.lexical);
        Ok(asked?)
    }

    /// Misspelt words of `query`.
    pub fn corrections(&self, query: &Query<'_>) -> Vec<Correction> {
        self.read(query).corrections
    }

    pub(super) fn read(&self, query: &Query<'_>) -> Reading {
        query::read(&query.text, &self.glossary, &self.lexical)
    }

    /// A chunk; for the id of a section, its chunk with this section first. `None` if this generation has neither.
    pub fn chunk(&self, id: &str) -> Option<Chunk> {
        let failed = tantivy::TantivyError::InternalError;
        let found = guarded(|| self.lexical.find(id), failed).ok()?;
        if let Some(whole) = found {
            return self.lexical.chunk(whole).ok();
        }
        let (document, _) = id.split_once('#')?;
        let chunks = guarded(|| self.lexical.chunks_of(document), failed).ok()?;
        let mut chunks = chunks.into_iter();
        chunks.find_map(|chunk| self.lexical.chunk(chunk).ok()?.led_by(id))
    }

    /// Name of the generation: another one may answer otherwise.
    pub fn generation(&self) -> &str {
        &self.held.manifest.generation
    }

    pub fn info(&self) -> Info {
        Info::of(&self.held, &self.lexical)
    }

    /// The weights of the embedder, mixed according to the script of the query.
    fn usual_fusion(&self, reading: &Reading) -> Fusion {
        let weights = self.models.weights;
        let cjk = analyze::cjk_share(&reading.text);
        Fusion::Convex {
            vector: weights.cjk * cjk + weights.latin * (1.0 - cjk),
        }
    }

    /// `None` if no vector is needed or the embedder knows no word of the query.
    fn query_vector(
        &self,
        reading: &Reading,
        fusion: Fusion,
        remote: Remote<'_>,
    ) -> Result<Option<Vec<f32>>, SearchError> {
        if fusion == Fusion::Bm25 {
            return Ok(None);
        }
        let mut text = reading.text.clone();
        let english_only = self.models.embedder.english_only();
        for Expansion { name, .. } in &reading.expansions {
            if !(english_only && analyze::cjk_share(name) > 0.0) {
                text.push(' ');
                text.push_str(name);
            }
        }
        let vector = self.models.embedder.embed_query(&text, remote)?;
        Ok(vector.iter().any(|&value| value != 0.0).then_some(vector))
    }

    /// Adds boosts and priors and sorts by score, ties by chunk id. `engine` is the boost of pages about an engine.
    fn score(
        &self,
        query: &Query<'_>,
        engine: &dyn Fn(Engine) -> f32,
        candidates: &mut Vec<Candidate>,
    ) -> Result<(), SearchError> {
        candidates.retain(|c| c.fused > 0.0);
        let chunks: Vec<Ordinal> = candidates.iter().map(|c| c.ordinal).collect();
        let ids = self.lexical.ids(&chunks)?;
        let language = language_of_query(&query.text);
        let reach = query.prior.map_or(0.0, |_| reach(candidates));
        for (hit, id) in candidates.iter_mut().zip(ids) {
            let prior = query.prior.map_or(0.0, |prior| prior(&id));
            if prior.is_finite() {
                hit.prior = reach * prior.clamp(-1.0, 1.0);
            }
            hit.score = hit.fused + hit.prior;
            hit.id = id;
            let facets = self.lexical.facets(hit.ordinal);
            (hit.is_readable, hit.section) = (facets.is_in(language), facets.section());
        }
        candidates.sort_by(Candidate::compare);
        let depth = match query.prefer.is_empty() {
            true => BOOST_FROM.max(THIN_FROM * query.k),
            false => usize::MAX,
        };
        let near = depth.min(candidates.len());
        let preferred = filter_groups(&query.prefer);
        lift(&mut candidates[..near]);
        for hit in &mut candidates[..near] {
            let facets = self.lexical.facets(hit.ordinal);
            let same = f32::from(u8::from(hit.is_readable));
            let engine = engine(facets.engine());
            let is_entry = query.filter.kinds.is_empty() && facets.is_of_kind(Kind::File);
            let entry = if is_entry { ENTRY } else { 0.0 };
            hit.boost += LANGUAGE * same + engine + PREFERENCE * facets.share(&preferred) - entry;
            hit.score = hit.fused + hit.prior + hit.boost;
        }
        candidates.sort_by(Candidate::compare);
        Ok(())
    }

    /// Sorts the best candidates by the cross-encoder, before all others.
    fn rerank(
        &self,
        reranker: &OnnxReranker,
        query: &str,
        candidates: &mut [Candidate],
    ) -> Result<(), SearchError> {
        let depth = reranker.depth.min(candidates.len());
        let mut texts = Vec::with_capacity(depth);
        for hit in &candidates[..depth] {
            texts.push(context::embedded_text(&self.lexical.chunk(hit.ordinal)?));
        }
        let top = candidates.iter().map(|hit| hit.score).fold(0.0, f32::max);
        for (hit, logit) in candidates.iter_mut().zip(reranker.scores(query, &texts)?) {
            hit.rerank = Some(logit);
            hit.score = top + 1.0 / (1.0 + (-logit).exp());
        }
        candidates.sort_by(Candidate::compare);
        Ok(())
    }
}

/// The boost of pages about an engine, by the engine that the query names or leans to. Pages about any engine have none.
fn engine_boost(named: Option<Named>, leaning: f32) -> impl Fn(Engine) -> f32 {
    move |engine| match (engine, named) {
        (Engine::Any, _) => 0.0,
        (engine, Some(Named::Engine(named))) if engine == named => ENGINE,
        (_, Some(Named::Engine(_))) => -NAMED,
        (Engine::Spark, _) => ENGINE * leaning,
        (Engine::Scope, _) => -ENGINE * leaning,
    }
}
