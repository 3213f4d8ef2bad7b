//! The vocabulary of the index: chunk, facets, query, hit. Plain data, serialised as it is shown.
//!
//! Knows nothing of how chunks are cut, stored or ranked.

use serde::{Deserialize, Serialize};

/// What sort of knowledge a chunk comes from; follows from where its document lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A playbook: `experience/*.md`.
    Experience,
    /// A resolved case: `cases/*.md`.
    Case,
    /// An entry of the file catalogue: `files.toml`.
    File,
    /// An entry of the glossary: `glossary.toml`.
    Glossary,
    /// Any other document (a test collection, a note elsewhere in the folder).
    Document,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 5] = [
        Kind::Experience,
        Kind::Case,
        Kind::File,
        Kind::Glossary,
        Kind::Document,
    ];

    /// The name used in filters, in facets and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Experience => "experience",
            Kind::Case => "case",
            Kind::File => "file",
            Kind::Glossary => "glossary",
            Kind::Document => "document",
        }
    }

    /// The kind called `name`, if there is one.
    pub fn parse(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// The language that a chunk is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Chinese.
    Zh,
    /// English, and whatever is not Chinese.
    En,
}

impl Language {
    /// `zh` or `en`.
    pub fn as_str(self) -> &'static str {
        match self {
            Language::Zh => "zh",
            Language::En => "en",
        }
    }

    /// The language called `name` (`zh`, `en`), if there is one.
    pub fn parse(name: &str) -> Option<Language> {
        [Language::Zh, Language::En]
            .into_iter()
            .find(|language| language.as_str() == name)
    }
}

/// The part that a chunk plays in its playbook, from its heading in either language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Section {
    /// What is seen when the problem is there.
    Symptom,
    /// Why it happens.
    Cause,
    /// How to tell that it is this and not something else.
    Check,
    /// What to change.
    Fix,
    /// A worked example.
    Example,
    /// What the change costs.
    TradeOffs,
    /// When the advice does not hold.
    NotWhen,
}

impl Section {
    /// Every section, in the order of a playbook.
    pub const ALL: [Section; 7] = [
        Section::Symptom,
        Section::Cause,
        Section::Check,
        Section::Fix,
        Section::Example,
        Section::TradeOffs,
        Section::NotWhen,
    ];

    /// The name used in filters, in facets and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Section::Symptom => "symptom",
            Section::Cause => "cause",
            Section::Check => "check",
            Section::Fix => "fix",
            Section::Example => "example",
            Section::TradeOffs => "trade-offs",
            Section::NotWhen => "not-when",
        }
    }

    /// The section called `name`, if there is one.
    pub fn parse(name: &str) -> Option<Section> {
        Section::ALL
            .into_iter()
            .find(|section| section.as_str() == name)
    }
}

/// How well founded a document says it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Confidence {
    /// Stated by the vendor's documentation.
    #[serde(rename = "documented")]
    Documented,
    /// Seen in real jobs.
    #[serde(rename = "observed")]
    Observed,
    /// True of engines of this kind in general.
    #[serde(
        rename = "general knowledge",
        alias = "general-knowledge",
        alias = "general_knowledge"
    )]
    GeneralKnowledge,
}

/// A piece of a document: what is indexed, retrieved and cited.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chunk {
    /// `experience/skew-hot-key.md#fix/salting`: document, `#`, the slugs of its headings.
    pub id: String,
    /// Path of the document, relative to the knowledge folder, with `/`.
    pub document: String,
    /// Title of the document.
    pub title: String,
    /// Headings above the text, outermost first, without the title.
    pub heading_path: Vec<String>,
    /// The text itself, as written.
    pub text: String,
    /// Language of the document.
    pub language: Language,
    /// Sort of knowledge.
    pub kind: Kind,
    /// `data_skew`, `excessive_shuffle`, …; `None` if the document names none.
    pub problem_type: Option<String>,
    /// Causes that the document is about (`skew.join_hot_key`).
    pub causes: Vec<String>,
    /// Part of the playbook; `None` outside the known headings.
    pub section: Option<Section>,
    /// Steps of an analysis that the chunk suits (`think1` …), from its section unless the document names them.
    pub steps: Vec<String>,
    /// Operators that the document names.
    pub operators: Vec<String>,
    /// Other words that the document wants to be found by.
    pub keywords: Vec<String>,
    /// Where the knowledge comes from, in the document's words.
    pub source: Option<String>,
    /// How well founded it is.
    pub confidence: Option<Confidence>,
    /// First line of the text in its document, from 1.
    pub line: usize,
}

/// Facets to select or to prefer by. An empty list selects everything; lists are joined by AND, values by OR.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Sorts of knowledge.
    pub kinds: Vec<Kind>,
    /// Problem types.
    pub problem_types: Vec<String>,
    /// Causes; `skew.` (with the dot) selects every cause that starts so.
    pub causes: Vec<String>,
    /// Parts of a playbook.
    pub sections: Vec<Section>,
    /// Languages.
    pub languages: Vec<Language>,
    /// Steps of an analysis.
    pub steps: Vec<String>,
}

impl Filter {
    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        *self == Filter::default()
    }
}

/// How the two branches are joined.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "lowercase")]
pub enum Fusion {
    /// Convex mix of normalised scores: `vector * v + (1 - vector) * b`.
    Convex {
        /// Weight of the vector branch, 0 to 1.
        vector: f32,
    },
    /// Reciprocal rank fusion; loses when one branch is weak.
    Rrf {
        /// Rank offset; 60 in the original paper.
        k: f32,
        /// Weight of the vector branch, 0 to 1; 0.5 is the original form.
        vector: f32,
    },
    /// The lexical branch alone.
    Bm25,
    /// The vector branch alone.
    Vector,
}

/// A question to the index.
#[derive(Clone)]
pub struct Query<'a> {
    /// Words to look for, in any language; never parsed as a query language.
    pub text: String,
    /// Number of hits wanted.
    pub k: usize,
    /// Chunks that may be returned; applied before the search.
    pub filter: Filter,
    /// Chunks to favour: each facet that matches raises the score a little.
    pub prefer: Filter,
    /// A score per chunk id added from outside (feedback), roughly -1 to 1; 0 for the unknown.
    pub prior: Option<&'a dyn Fn(&str) -> f32>,
    /// `None` for the weights tuned for the embedder and the script of the query.
    pub fusion: Option<Fusion>,
    /// 0 to 1: how strongly near-duplicates are thinned out (MMR); 0 switches it off.
    pub diversity: f32,
}

impl Query<'_> {
    /// A query for `k` chunks with everything else as usual.
    pub fn new(text: impl Into<String>, k: usize) -> Self {
        Query {
            text: text.into(),
            k,
            filter: Filter::default(),
            prefer: Filter::default(),
            prior: None,
            fusion: None,
            diversity: crate::DEFAULT_DIVERSITY,
        }
    }
}

/// A chunk that answers a query, with how it came to its rank.
#[derive(Debug, Clone, Serialize)]
pub struct Hit {
    /// The chunk.
    pub chunk: Chunk,
    /// From 1.
    pub rank: usize,
    /// Final score; higher is better, comparable within one query only.
    pub score: f32,
    /// Rank in the lexical branch, from 1; `None` if it was not among its candidates.
    pub bm25_rank: Option<usize>,
    /// BM25 score; `None` if no term matched.
    pub bm25_score: Option<f32>,
    /// Rank in the vector branch, from 1; `None` if it was not among its candidates.
    pub vector_rank: Option<usize>,
    /// Cosine; `None` if the query has no vector.
    pub vector_score: Option<f32>,
    /// Share of the fused score before boosts, 0 to 1.
    pub fused: f32,
    /// What the preferred facets added.
    pub boost: f32,
    /// What the caller's prior added.
    pub prior: f32,
    /// Score of the reranker, if one ran.
    pub rerank_score: Option<f32>,
}
