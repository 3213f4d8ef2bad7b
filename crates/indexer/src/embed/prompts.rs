//! Text that models were trained to see before queries and passages.

/// Text before queries and passages; `None` selects the prompt that a known model was trained with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prompts {
    pub query: Option<String>,
    pub passage: Option<String>,
}

const REPRESENT: &str = "Represent this sentence for searching relevant passages: ";

impl Prompts {
    /// By the name of the model; none for models that treat both alike.
    pub(super) fn of(model: &str) -> Prompts {
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
            return Prompts::default();
        };
        Prompts {
            query: Some(query.to_owned()),
            passage: Some(passage.to_owned()),
        }
    }

    /// With the prompts of `others` where these have none.
    pub(super) fn or(&self, others: Prompts) -> Prompts {
        Prompts {
            query: self.query.clone().or(others.query),
            passage: self.passage.clone().or(others.passage),
        }
    }

    /// Suffix for the fingerprint of a model: another passage prompt changes the vectors.
    pub(super) fn fingerprint(&self) -> String {
        let hash = |passage: &String| blake3::hash(passage.as_bytes()).to_hex();
        let passage = self.passage.as_ref().map(hash);
        passage.map_or_else(String::new, |hash| format!(":{}", &hash[..8]))
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
        let query = |model: &str| Prompts::of(model).query.unwrap_or_default();
        assert_eq!(query("intfloat/multilingual-e5-small"), "query: ");
        assert_eq!(query("BAAI/bge-m3"), "");
        assert!(query("BAAI/bge-small-zh-v1.5").starts_with('为'));
        assert_eq!(Prompts::of("all-MiniLM-L6-v2"), Prompts::default());
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
        let all = prompts.or(Prompts::of("multilingual-e5-small"));
        assert_eq!(
            (all.query.as_deref(), all.passage.as_deref()),
            (Some("query: "), Some("doc: "))
        );
        assert_ne!(prompts.fingerprint(), Prompts::default().fingerprint());
    }
}
