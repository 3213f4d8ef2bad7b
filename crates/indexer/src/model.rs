//! The vocabulary of the index: chunk, facets, query, hit. Plain data, serialized as shown.

use std::sync::Arc;

use report::{JobEngine, Language, Match};
use serde::{Deserialize, Serialize};

use crate::analyze::detect_language;

/// An enum with the name of each value in filters, facets and JSON.
macro_rules! named {
    ($(#[$about:meta])* $type:ident { $($(#[$doc:meta])* $variant:ident = $name:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $type {
            $($(#[$doc])* #[serde(rename = $name)] $variant),+
        }

        impl $type {
            pub const ALL: [$type; [$($name),+].len()] = [$($type::$variant),+];

            pub fn as_str(self) -> &'static str {
                match self {
                    $($type::$variant => $name),+
                }
            }

            pub fn parse(name: &str) -> Option<$type> {
                $type::ALL.into_iter().find(|value| value.as_str() == name)
            }
        }
    };
}

named!(
    /// The sort of knowledge, which follows from the path of the document.
    Kind {
        /// A playbook: `experience/*.md`.
        Experience = "experience",
        /// A resolved case: `cases/*.md`.
        Case = "case",
        /// An entry of the file catalogue: `files.toml`.
        File = "file",
        /// An entry of the glossary: `glossary.toml`.
        Glossary = "glossary",
        /// Any other document, as in a test collection.
        Document = "document",
    }
);

named!(
    /// The part of a playbook that a chunk belongs to, from its heading in either language.
    Section {
        Symptom = "symptom",
        Cause = "cause",
        /// How to tell this problem from others.
        Check = "check",
        Fix = "fix",
        Example = "example",
        TradeOffs = "trade-offs",
        /// When the advice does not apply.
        NotWhen = "not-when",
    }
);

/// How well founded the advice is, according to the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Confidence {
    /// Stated by the vendor's documentation.
    #[serde(rename = "documented")]
    Documented,
    #[serde(rename = "observed")]
    Observed,
    /// Generally true of engines of this kind.
    #[serde(
        rename = "general knowledge",
        alias = "general-knowledge",
        alias = "general_knowledge"
    )]
    GeneralKnowledge,
}

named!(
    /// The engine that a document is about.
    #[derive(Default)]
    Engine {
        /// SCOPE and U-SQL; the default for documents without `engine`.
        #[default]
        Scope = "scope",
        Spark = "spark",
        /// True of every engine.
        Any = "any",
    }
);

impl Engine {
    /// Whether a document about this engine helps with jobs of `engine`.
    pub fn serves(self, engine: Engine) -> bool {
        self == engine || self == Engine::Any
    }
}

impl From<Option<JobEngine>> for Engine {
    /// A job of unknown engine came from a folder of SCOPE or U-SQL.
    fn from(engine: Option<JobEngine>) -> Engine {
        match engine {
            Some(JobEngine::Spark) => Engine::Spark,
            Some(JobEngine::Scope | JobEngine::Usql) | None => Engine::Scope,
        }
    }
}

/// A piece of a document: the unit of indexing, retrieval and citation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chunk {
    /// `experience/skew-hot-key.md#fix/salting`: document, `#`, the slugs of its headings.
    pub id: String,
    /// Path relative to the knowledge folder, with `/`.
    pub document: String,
    pub title: String,
    /// Headings above the text, outermost first, without the title.
    pub heading_path: Vec<String>,
    pub text: String,
    pub language: Language,
    pub kind: Kind,
    #[serde(default)]
    pub engine: Engine,
    /// `data_skew`, `excessive_shuffle`, …
    pub problem_type: Option<String>,
    /// Causes that the document covers (`skew.join_hot_key`).
    pub causes: Vec<String>,
    /// `None` outside the known headings.
    pub section: Option<Section>,
    /// Analysis steps that the chunk is for (`think1` …), from its section unless the document names them.
    pub steps: Vec<String>,
    pub operators: Vec<String>,
    /// Further words to find the document by.
    pub keywords: Vec<String>,
    /// Origin of the knowledge, in the document's words.
    pub source: Option<String>,
    pub confidence: Option<Confidence>,
    /// First line in the document, from 1.
    pub line: usize,
}

impl Chunk {
    /// The document without its language: a page and its translation have the same.
    pub fn subject(&self) -> &str {
        subject(&self.document)
    }

    /// Ids of the sections of a case that describe the fix and its outcome, if the case is in parts.
    pub fn resolution(&self) -> Vec<String> {
        let anchors = self
            .language
            .select(["改动", "结果"], ["what-was-changed", "result"]);
        let is_part = self.kind == Kind::Case && !self.heading_path.is_empty();
        let anchors = anchors.into_iter().filter(|_| is_part);
        anchors
            .map(|anchor| format!("{}#{anchor}", self.document))
            .collect()
    }

    /// A whole document as one chunk, without title and facets.
    pub fn whole(document: String, kind: Kind, text: String) -> Chunk {
        Chunk {
            id: document.clone(),
            document,
            title: String::new(),
            heading_path: Vec::new(),
            language: detect_language(&text),
            text,
            kind,
            engine: Engine::default(),
            problem_type: None,
            causes: Vec::new(),
            section: None,
            steps: Vec::new(),
            operators: Vec::new(),
            keywords: Vec::new(),
            source: None,
            confidence: None,
            line: 1,
        }
    }
}

/// A document's path without its language and everything after it.
pub(crate) fn subject(target: &str) -> &str {
    let path = target.split('#').next().unwrap_or(target);
    let stem = path.trim_end_matches(".md");
    stem.strip_suffix("-zh").unwrap_or(stem)
}

/// Facets to select or prefer chunks by. An empty list selects everything; lists are joined by AND, values by OR.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    pub kinds: Vec<Kind>,
    pub problem_types: Vec<String>,
    /// `skew.` (with the dot) selects every cause that starts with it.
    pub causes: Vec<String>,
    pub sections: Vec<Section>,
    pub languages: Vec<Language>,
    pub steps: Vec<String>,
    /// Selects documents about this engine or about every engine.
    pub engine: Option<Engine>,
}

impl Filter {
    pub fn is_empty(&self) -> bool {
        *self == Filter::default()
    }
}

/// How the scores of the two branches are combined.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "lowercase")]
pub enum Fusion {
    /// Convex mix of normalized scores: `vector * v + (1 - vector) * b`.
    Convex {
        /// Weight of the vector branch, 0 to 1.
        vector: f32,
    },
    Bm25,
    Vector,
}

#[derive(Clone)]
pub struct Query<'a> {
    /// Plain words in any language; there is no query syntax.
    pub text: String,
    pub k: usize,
    /// Applied before the search.
    pub filter: Filter,
    /// Each matching facet raises the score a little.
    pub prefer: Filter,
    /// The caller's opinion of a chunk id (from feedback), -1 to 1; 0 if it has none.
    pub prior: Option<&'a dyn Fn(&str) -> f32>,
    /// `None` for the weights that suit the embedder and the script of the query.
    pub fusion: Option<Fusion>,
    /// How strongly near-duplicates are penalized (MMR), 0 (off) to 1.
    pub diversity: f32,
    pub remote: Remote<'a>,
}

/// Masking and cancellation of a query that needs a vector from a server.
#[derive(Clone, Copy, Default)]
pub struct Remote<'a> {
    /// Masks the text that is sent.
    pub mask: Option<&'a (dyn Fn(&str) -> String + Sync)>,
    /// Whether the caller has stopped waiting for an answer.
    pub is_cancelled: Option<&'a (dyn Fn() -> bool + Sync)>,
}

impl Query<'_> {
    /// A query for the best `k` chunks, with defaults for everything else.
    pub fn new(text: impl Into<String>, k: usize) -> Self {
        Query {
            text: text.into(),
            k,
            filter: Filter::default(),
            prefer: Filter::default(),
            prior: None,
            fusion: None,
            diversity: 0.2,
            remote: Remote::default(),
        }
    }
}

/// Evidence for a match; comparable between queries, unlike scores.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// BM25 score relative to the most that the query's terms can give, 0 to about 1.
    pub bm25: f32,
    /// Cosine; 0 without a vector.
    pub cosine: f32,
    /// Likeness of the query to the most similar questions of the document, 0 to about 1; 0 without questions.
    #[serde(default)]
    pub question: f32,
    /// How much the words of the document's questions speak for it, relative to how rare they are, 0 to about 1; 0 without one.
    #[serde(default)]
    pub question_words: f32,
    /// How much the words of questions that are answered nowhere speak for the query being one of them, relative to how rare they are, 0 to about 1.
    #[serde(default)]
    pub elsewhere: f32,
}

/// A chunk found by a query, with the parts of its score.
#[derive(Debug, Clone, Serialize)]
pub struct Hit {
    pub chunk: Arc<Chunk>,
    /// Whether it answers the query, by absolute evidence.
    #[serde(rename = "match")]
    pub fit: Match,
    pub evidence: Evidence,
    /// From 1.
    pub rank: usize,
    /// Higher is better; comparable only within one query. It never rises from one hit to the next.
    pub score: f32,
    /// From 1; `None` if it is not a candidate of this branch.
    pub bm25_rank: Option<usize>,
    /// `None` if no term matched.
    pub bm25_score: Option<f32>,
    /// From 1; `None` if it is not a candidate of this branch.
    pub vector_rank: Option<usize>,
    /// Cosine; `None` if the query has no vector.
    pub vector_score: Option<f32>,
    /// Likeness of the query to the document's questions, relative to the best document, 0 to 1; `None` without questions.
    pub question_score: Option<f32>,
    /// Fused score before boosts, 0 to 1, or 2 if questions that documents answer have much in common with the query.
    pub fused: f32,
    /// Added by the preferred facets and the language.
    pub boost: f32,
    /// Added by the caller's prior.
    pub prior: f32,
    pub rerank_score: Option<f32>,
}
