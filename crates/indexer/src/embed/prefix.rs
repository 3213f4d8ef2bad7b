//! Text that models were trained to see before queries and passages.

/// Text before queries and passages; overrides the built-in prefixes of known models.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prompts {
    /// `None` selects the model's built-in prefix.
    pub query: Option<String>,
    /// `None` selects the model's built-in prefix.
    pub passage: Option<String>,
}

impl Prompts {
    /// Suffix for the fingerprint of a model: another passage prefix changes the vectors.
    pub(super) fn fingerprint(&self) -> String {
        let hash = |passage: &String| blake3::hash(passage.as_bytes()).to_hex();
        let passage = self.passage.as_ref().map(hash);
        passage.map_or_else(String::new, |hash| format!(":{}", &hash[..8]))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Prefixes {
    pub(super) query: String,
    pub(super) passage: String,
}

const REPRESENT: &str = "Represent this sentence for searching relevant passages: ";

impl Prefixes {
    /// By the name of the model; empty for models that treat both alike.
    pub(super) fn of(model: &str) -> Prefixes {
        let model = model.to_lowercase();
        let (query, passage) = if model.contains("e5-") && !model.contains("mistral") {
            ("query: ", "passage: ")
        } else if model.contains("nomic-embed") {
            ("search_query: ", "search_document: ")
        } else if model.contains("bge-") && model.contains("-zh") {
            ("为这个句子生成表示以用于检索相关文章：", "")
        } else if model.contains("embeddinggemma") {
            ("task: search result | query: ", "title: none | text: ")
        } else if (model.contains("bge-") && model.contains("-en"))
            || model.contains("mxbai-embed")
            || model.contains("snowflake-arctic-embed")
        {
            (REPRESENT, "")
        } else {
            ("", "")
        };
        Prefixes {
            query: query.to_owned(),
            passage: passage.to_owned(),
        }
    }

    pub(super) fn with(self, prompts: &Prompts) -> Prefixes {
        Prefixes {
            query: prompts.query.clone().unwrap_or(self.query),
            passage: prompts.passage.clone().unwrap_or(self.passage),
        }
    }
}

/// Whether a model is known, by its name, to be trained on English only.
pub(super) fn english_only(model: &str) -> bool {
    let model = model.to_lowercase();
    let family = "all-minilm all-mpnet mxbai-embed-large nomic-embed-text";
    // The second version of nomic-embed-text is multilingual.
    let known = family.split(' ').any(|name| model.contains(name)) && !model.contains("text-v2");
    known || model.split(['-', '/', ':', '_']).any(|part| part == "en")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_get_what_they_were_trained_with() {
        let query = |model: &str| Prefixes::of(model).query;
        assert_eq!(query("intfloat/multilingual-e5-small"), "query: ");
        assert_eq!(query("BAAI/bge-m3"), "");
        assert!(query("BAAI/bge-small-zh-v1.5").starts_with('为'));
        assert_eq!(Prefixes::of("all-MiniLM-L6-v2").passage, "");
    }

    #[test]
    fn english_models_are_told_by_their_names() {
        let english = "all-minilm:l6-v2 BAAI/bge-small-en-v1.5 nomic-embed-text";
        let other = "bge-m3 nomic-embed-text-v2-moe qwen3-embedding multilingual-e5-small";
        assert!(english.split(' ').all(english_only));
        assert!(!other.split(' ').any(english_only));
    }

    #[test]
    fn the_callers_prompts_win_and_mark_the_vectors() {
        let prompts = Prompts {
            query: None,
            passage: Some("doc: ".to_owned()),
        };
        let prefixes = Prefixes::of("multilingual-e5-small").with(&prompts);
        assert_eq!((&*prefixes.query, &*prefixes.passage), ("query: ", "doc: "));
        assert_ne!(prompts.fingerprint(), Prompts::default().fingerprint());
    }
}
