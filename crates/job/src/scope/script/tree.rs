//! Lossless syntax tree: tokens that cover the whole text, nodes that cover the tokens.
//!
//! Nodes are in pre-order in one vector, so that building, walking and dropping need no recursion,
//! even for deeply nested scripts. The tree is syntax only, without meaning.

use super::lexer::{Token, TokenKind};
use super::model::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "named after the words of the grammar")]
pub enum NodeKind {
    Script,
    Statement,
    Hint,
    Target,
    Query,
    SetOperator,
    Select,
    Extract,
    SStream,
    Process,
    Reduce,
    Combine,
    View,
    Values,
    Reference,
    Distinct,
    Top,
    Columns,
    Column,
    Alias,
    Type,
    From,
    Source,
    ColumnAliases,
    Join,
    JoinWords,
    On,
    Where,
    GroupBy,
    Having,
    OrderBy,
    OrderItem,
    Presort,
    Produce,
    Using,
    Required,
    OptionClause,
    All,
    Params,
    Param,
    To,
    Clustered,
    Sorted,
    Partitioned,
    Distribution,
    With,
    Expression,
    Word,
    Declaration,
    Ddl,
    Block,
    CsBlock,
    Error,
}

/// A node: a run of tokens and the nodes inside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    pub kind: NodeKind,
    pub first: u32,
    /// Token after the last one.
    pub end: u32,
    /// Node after the last one inside it.
    pub next: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SyntaxTree {
    pub(super) tokens: Vec<Token>,
    pub(super) nodes: Vec<Node>,
    pub(super) length: u32,
    /// Tokens in skipped branches of `#IF`, ascending.
    pub(super) skipped: Vec<u32>,
}

impl SyntaxTree {
    /// All tokens in text order; each ends where the next one starts.
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// Every node in pre-order; the first one is the script.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub fn token_span(&self, token: usize) -> Span {
        let start = |token: usize| self.tokens.get(token).map_or(self.length, |t| t.start);
        start(token) as usize..start(token + 1) as usize
    }

    /// Bytes of a node without the blanks and comments at its ends.
    pub fn node_span(&self, node: usize) -> Span {
        let Some(node) = self.nodes.get(node) else {
            return 0..0;
        };
        let tokens = node.first as usize..node.end as usize;
        let seen = |token: &usize| !self.tokens[*token].kind.is_trivia();
        let first = tokens.clone().find(seen);
        let last = tokens.clone().rev().find(seen);
        match (first, last) {
            (Some(first), Some(last)) => self.token_span(first).start..self.token_span(last).end,
            _ => {
                let at = self.token_span(tokens.start).start;
                at..at
            }
        }
    }

    /// Indices of the nodes directly inside a node.
    pub fn children(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.nodes.get(node).map_or(0, |node| node.next as usize);
        let mut at = node + 1;
        std::iter::from_fn(move || {
            let child = at;
            if child >= end {
                return None;
            }
            at = self.nodes[child].next as usize;
            Some(child)
        })
    }

    pub fn child(&self, node: usize, kind: NodeKind) -> Option<usize> {
        let mut children = self.children(node);
        children.find(|&child| self.nodes[child].kind == kind)
    }

    /// Joins all tokens to the original text.
    pub fn print(&self, text: &str) -> String {
        let token = |at| text.get(self.token_span(at)).unwrap_or_default();
        (0..self.tokens.len()).map(token).collect()
    }

    /// Tokens of a node for the grammar, without blanks, comments, directives and skipped branches.
    pub(super) fn seen_tokens(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let node = self.nodes[node];
        (node.first as usize..node.end as usize).filter(|&token| {
            let kind = self.tokens[token].kind;
            !kind.is_trivia()
                && kind != TokenKind::Directive
                && (self.skipped.is_empty() || self.skipped.binary_search(&(token as u32)).is_err())
        })
    }

    /// Kind of a token; [`TokenKind::Unknown`] after the end.
    pub(super) fn token_kind(&self, token: usize) -> TokenKind {
        let token = self.tokens.get(token);
        token.map_or(TokenKind::Unknown, |token| token.kind)
    }
}
