//! What models were trained to see before a query and before a passage.

/// Texts put before queries and passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Prefixes {
    pub(super) query: &'static str,
    pub(super) passage: &'static str,
}

impl Prefixes {
    /// By the name of the model; nothing for those that tell no difference.
    pub(super) fn of(model: &str) -> Prefixes {
        let model = model.to_lowercase();
        let (query, passage) = if model.contains("e5") && !model.contains("mistral") {
            ("query: ", "passage: ")
        } else if model.contains("nomic-embed") {
            ("search_query: ", "search_document: ")
        } else if model.contains("bge-") && model.contains("-zh") {
            ("为这个句子生成表示以用于检索相关文章：", "")
        } else if model.contains("bge-") && model.contains("-en") {
            (
                "Represent this sentence for searching relevant passages: ",
                "",
            )
        } else {
            ("", "")
        };
        Prefixes { query, passage }
    }
}

#[cfg(test)]
mod tests {
    use super::Prefixes;

    #[test]
    fn models_get_what_they_were_trained_with() {
        assert_eq!(
            Prefixes::of("intfloat/multilingual-e5-small").query,
            "query: "
        );
        assert_eq!(Prefixes::of("BAAI/bge-m3").query, "");
        assert!(
            Prefixes::of("BAAI/bge-small-zh-v1.5")
                .query
                .starts_with('为')
        );
        assert_eq!(Prefixes::of("all-MiniLM-L6-v2").passage, "");
    }
}
