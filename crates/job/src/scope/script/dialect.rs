//! Distinguishes SCOPE from U-SQL.

use super::lexer::TokenKind;
use super::model::Dialect;
use super::tree::SyntaxTree;

/// Guesses the dialect by constructs of only one dialect; without any, by the file name.
pub(super) fn guess(file: &str, text: &str, tree: &SyntaxTree) -> Dialect {
    let mut scope = 0usize;
    let mut usql = 0usize;
    let mut previous = (TokenKind::Space, "");
    for (at, token) in tree.tokens().iter().enumerate() {
        if token.kind.is_trivia() {
            continue;
        }
        let word = text.get(tree.token_span(at)).unwrap_or_default();
        match (token.kind, word) {
            (TokenKind::HashWord | TokenKind::Directive | TokenKind::CsBlock, _) => scope += 3,
            (TokenKind::Word, "SSTREAM" | "STREAMEXPIRY") => scope += 3,
            (TokenKind::Word, "DECLARE" | "DATABASE" | "ASSEMBLY" | "STATISTICS") => usql += 3,
            (TokenKind::Word, "Outputters" | "Extractors") => usql += 3,
            // `@rows = SELECT`: only U-SQL binds rowsets to variables.
            (TokenKind::Punct, "=") if previous.0 == TokenKind::Variable => usql += 1,
            (TokenKind::Punct, "=") if previous.0 == TokenKind::Word => scope += 1,
            _ => {}
        }
        previous = (token.kind, word);
    }
    match usql.cmp(&scope) {
        std::cmp::Ordering::Greater => Dialect::USql,
        std::cmp::Ordering::Less => Dialect::Scope,
        std::cmp::Ordering::Equal if file.to_ascii_lowercase().ends_with(".usql") => Dialect::USql,
        std::cmp::Ordering::Equal => Dialect::Scope,
    }
}
