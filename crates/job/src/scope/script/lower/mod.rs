//! From the syntax tree to statements: the meaning of each part of the text.
//!
//! Goes through the statements in script order and remembers the last statement that bound each name, so
//! that a reference leads to its definition even if a script binds the same name again and again.

mod aggregate;
mod expression;
mod output;
mod query;
mod source;
mod statement;

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use super::lexer::TokenKind;
use super::model::{Span, Statement, StatementKind};
use super::tree::{NodeKind, SyntaxTree};

/// Statements of a parsed text. `line_of` gives the 1-based line of a byte.
pub(super) fn statements(
    text: &str,
    tree: &SyntaxTree,
    line_of: impl Fn(usize) -> u32,
) -> Vec<Statement> {
    let mut lowering = Lowering::new(text, tree);
    let mut found: Vec<Statement> = Vec::new();
    let mut blocks: Vec<usize> = Vec::new();
    for node in tree.children(0) {
        let index = found.len();
        let mut statement = lowering.statement(node);
        if statement.kind == StatementKind::End {
            blocks.pop();
        }
        statement.index = index;
        statement.parent = blocks.last().copied();
        let (start, end) = (statement.span.start, statement.span.end);
        statement.lines = (line_of(start), line_of(end.saturating_sub(1).max(start)));
        if lowering.opens_block(node) {
            blocks.push(index);
        }
        lowering.bind(&statement);
        found.push(statement);
    }
    found
}

struct Lowering<'a> {
    text: &'a str,
    tree: &'a SyntaxTree,
    /// Last statement that bound each name.
    names: HashMap<String, usize>,
    /// Last statement that made a rowset, and its name.
    previous: Option<(usize, Option<String>)>,
    /// Needed only to distinguish a name before a dot from a class.
    survey: OnceCell<Survey<'a>>,
}

/// Uses of words in the whole text.
struct Survey<'a> {
    /// Classes of the C# blocks.
    classes: HashSet<&'a str>,
    /// Words that occur alone or after a dot: these are columns, not classes.
    bare: HashSet<&'a str>,
}

impl<'a> Lowering<'a> {
    fn new(text: &'a str, tree: &'a SyntaxTree) -> Lowering<'a> {
        Lowering {
            text,
            tree,
            names: HashMap::new(),
            previous: None,
            survey: OnceCell::new(),
        }
    }

    fn survey(&self) -> &Survey<'a> {
        self.survey.get_or_init(|| {
            let seen = |token: &usize| !self.tree.token_kind(*token).is_trivia();
            let mut survey = Survey {
                classes: HashSet::new(),
                bare: HashSet::new(),
            };
            let mut word: Option<&'a str> = None;
            for token in (0..self.tree.tokens().len()).filter(seen) {
                let text = self.token(token);
                if let Some(word) = word.take()
                    && !matches!(text, "." | "?." | "(")
                {
                    survey.bare.insert(word);
                }
                match self.tree.token_kind(token) {
                    TokenKind::Word => word = Some(text),
                    TokenKind::CsBlock => survey.classes.extend(class_names(text)),
                    _ => {}
                }
            }
            survey.bare.extend(word);
            survey
        })
    }

    fn token(&self, token: usize) -> &'a str {
        self.slice(&self.tree.token_span(token))
    }

    fn kind(&self, node: usize) -> NodeKind {
        self.tree.nodes()[node].kind
    }

    fn slice(&self, span: &Span) -> &'a str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// Text of a node without the blanks and comments at its ends.
    fn node_text(&self, node: usize) -> &'a str {
        self.slice(&self.tree.node_span(node))
    }

    fn bind(&mut self, statement: &Statement) {
        if !statement.makes_rowset() {
            return;
        }
        let targets = statement.target.iter().flat_map(|target| target.split(','));
        for target in targets {
            self.names.insert(target.trim().to_owned(), statement.index);
        }
        self.previous = Some((statement.index, statement.target.clone()));
    }

    /// Whether the statement opens a block.
    fn opens_block(&self, node: usize) -> bool {
        let last = self.tree.seen_tokens(node).last();
        let last = last.map_or("", |token| self.token(token));
        self.kind(node) == NodeKind::Statement && matches!(last, "BEGIN" | "THEN" | "ELSE" | "{")
    }
}

/// Names after `class`, `struct` and `enum`.
fn class_names(code: &str) -> impl Iterator<Item = &str> {
    let mut words = code.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    std::iter::from_fn(move || {
        words
            .by_ref()
            .find(|word| matches!(*word, "class" | "struct" | "enum"))?;
        words.by_ref().find(|word| !word.is_empty())
    })
}
