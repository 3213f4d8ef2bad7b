//! Builds the syntax tree: one statement at a time, from the extents found before.
//!
//! Recursive descent over the tokens that the grammar sees. Only sub-queries recurse, and their
//! depth is bounded; brackets in expressions are followed with a counter. The parser knows the grammar
//! and ignores the meaning of names.

mod branches;
mod clause;
mod expression;
mod query;
mod source;
mod statement;

use super::extent::{Stop, extents};
use super::lexer::{TokenKind, lex};
use super::tree::{Node, NodeKind, SyntaxTree};

/// Maximum nesting of sub-queries; people nest three or four. The limit keeps the
/// stack small on malicious input.
const MAX_DEPTH: usize = 48;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TokenError {
    pub(super) first: u32,
    pub(super) end: u32,
    pub(super) message: String,
}

/// Tokens of a script; one of 10,000 lines has some 200,000. Further tokens are not parsed.
pub(super) const MAX_TOKENS: usize = 1_000_000;

/// Statements of a script; the largest generated ones have some thousand.
const MAX_STATEMENTS: usize = 20_000;

/// Errors kept; further ones usually follow from the first few.
const MAX_ERRORS: usize = 10_000;

pub(super) fn parse(text: &str) -> (SyntaxTree, Vec<TokenError>) {
    let tokens = lex(text, MAX_TOKENS);
    let mut tree = SyntaxTree {
        tokens,
        nodes: Vec::new(),
        length: text.len() as u32,
        skipped: Vec::new(),
    };
    let extents = extents(text, &tree.tokens);
    let mut nodes = Vec::with_capacity(tree.tokens.len() / 2 + 1);
    nodes.push(Node {
        kind: NodeKind::Script,
        first: 0,
        end: tree.tokens.len() as u32,
        next: 0,
    });
    let mut parser = Parser {
        text,
        tree: &tree,
        seen: Vec::new(),
        at: 0,
        nodes,
        errors: Vec::new(),
        skipped: Vec::new(),
        depth: 0,
    };
    for (number, extent) in extents.iter().enumerate() {
        if number == MAX_STATEMENTS || parser.errors.len() > MAX_ERRORS {
            let most = format!(
                "the script is too long: the statements from here on are not read ({number} are)"
            );
            parser.error_at(extent.first as u32, extent.end as u32, most);
            break;
        }
        parser.extent(extent.first, extent.end, extent.stop);
    }
    if parser.tree.tokens.len() == MAX_TOKENS {
        let message =
            format!("the script is too long: only its first {MAX_TOKENS} words and signs are read");
        let last = MAX_TOKENS as u32 - 1;
        parser.errors.insert(
            0,
            TokenError {
                first: last,
                end: last + 1,
                message,
            },
        );
    }
    parser.nodes[0].next = parser.nodes.len() as u32;
    let (nodes, skipped, errors) = (parser.nodes, parser.skipped, parser.errors);
    (tree.nodes, tree.skipped) = (nodes, skipped);
    (tree, errors)
}

#[derive(Debug, Clone, Copy)]
struct Mark(usize);

/// State to restore if a reading does not fit.
#[derive(Debug, Clone, Copy)]
struct Checkpoint {
    nodes: usize,
    errors: usize,
    skipped: usize,
}

struct Parser<'a> {
    text: &'a str,
    tree: &'a SyntaxTree,
    /// Tokens of the statement that the grammar sees.
    seen: Vec<u32>,
    at: usize,
    nodes: Vec<Node>,
    errors: Vec<TokenError>,
    /// Tokens of skipped branches.
    skipped: Vec<u32>,
    depth: usize,
}

impl<'a> Parser<'a> {
    /// Parses one statement; with branches of `#IF`, takes the reading that fits best.
    fn extent(&mut self, first: usize, end: usize, stop: Stop) {
        if stop == Stop::CsBlock {
            self.nodes.push(Node {
                kind: NodeKind::CsBlock,
                first: first as u32,
                end: end as u32,
                next: self.nodes.len() as u32 + 1,
            });
            if !self.token_text(first as u32).ends_with("#ENDCS") {
                let message = "`#CS` without `#ENDCS`".to_owned();
                self.error_at(first as u32, end as u32, message);
            }
            return;
        }
        let start = self.checkpoint();
        let readings = branches::readings(self.text, self.tree, first..end);
        let mut fewest: Option<(usize, usize)> = None;
        for (number, seen) in readings.iter().enumerate() {
            self.rewind(start);
            self.read_statement(seen, first, end, stop);
            if readings.len() > 1 {
                self.note_skipped(first, end);
            }
            let errors = self.errors.len() - start.errors;
            if errors == 0 {
                return;
            }
            if fewest.is_none_or(|(least, _)| errors < least) {
                fewest = Some((errors, number));
            }
        }
        if let Some((_, number)) = fewest
            && number + 1 != readings.len()
        {
            self.rewind(start);
            self.read_statement(&readings[number], first, end, stop);
            self.note_skipped(first, end);
        }
    }

    fn note_skipped(&mut self, first: usize, end: usize) {
        let mut taken = self.seen.iter().peekable();
        for token in first as u32..end as u32 {
            if taken.next_if_eq(&&token).is_none() {
                self.skipped.push(token);
            }
        }
    }

    fn read_statement(&mut self, seen: &[u32], first: usize, end: usize, stop: Stop) {
        self.seen.clear();
        self.seen.extend_from_slice(seen);
        self.at = 0;
        self.depth = 0;
        let node = self.nodes.len();
        self.nodes.push(Node {
            kind: NodeKind::Statement,
            first: first as u32,
            end: end as u32,
            next: 0,
        });
        self.statement(stop);
        self.nodes[node].next = self.nodes.len() as u32;
    }

    fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            nodes: self.nodes.len(),
            errors: self.errors.len(),
            skipped: self.skipped.len(),
        }
    }

    fn rewind(&mut self, to: Checkpoint) {
        self.nodes.truncate(to.nodes);
        self.errors.truncate(to.errors);
        self.skipped.truncate(to.skipped);
    }

    fn open(&mut self, kind: NodeKind) -> Mark {
        let first = self.seen.get(self.at).copied();
        let first = first.unwrap_or_else(|| self.last_end());
        self.nodes.push(Node {
            kind,
            first,
            end: first,
            next: 0,
        });
        Mark(self.nodes.len() - 1)
    }

    fn close(&mut self, mark: Mark) {
        let next = self.nodes.len() as u32;
        let end = self.last_end();
        let node = &mut self.nodes[mark.0];
        node.next = next;
        node.end = end.max(node.first);
    }

    fn leaf(&mut self, kind: NodeKind) {
        let mark = self.open(kind);
        self.bump();
        self.close(mark);
    }

    /// Token after the last one consumed.
    fn last_end(&self) -> u32 {
        let last = self.at.checked_sub(1).and_then(|at| self.seen.get(at));
        last.or(self.seen.first())
            .map_or(0, |token| token + u32::from(self.at > 0))
    }

    fn bump(&mut self) {
        self.at += 1;
    }

    fn done(&self) -> bool {
        self.at >= self.seen.len()
    }

    fn kind(&self) -> TokenKind {
        self.kind_ahead(0)
    }

    fn kind_ahead(&self, ahead: usize) -> TokenKind {
        let token = self.seen.get(self.at + ahead);
        token.map_or(TokenKind::Space, |&token| {
            self.tree.token_kind(token as usize)
        })
    }

    fn text(&self) -> &'a str {
        self.text_ahead(0)
    }

    fn text_ahead(&self, ahead: usize) -> &'a str {
        let token = self.seen.get(self.at + ahead);
        token.map_or("", |&token| self.token_text(token))
    }

    fn token_text(&self, token: u32) -> &'a str {
        let span = self.tree.token_span(token as usize);
        self.text.get(span).unwrap_or_default()
    }

    /// Whether the next token is this keyword or operator.
    fn is(&self, text: &str) -> bool {
        self.text() == text && self.kind() != TokenKind::Text
    }

    fn is_ahead(&self, ahead: usize, text: &str) -> bool {
        self.text_ahead(ahead) == text
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.is(text);
        if found {
            self.bump();
        }
        found
    }

    /// Consumes any sequence of these words.
    fn skip(&mut self, words: &[&str]) {
        while words.contains(&self.text()) {
            self.bump();
        }
    }

    /// Parses items as long as commas follow.
    fn separated(&mut self, mut item: impl FnMut(&mut Self)) {
        item(self);
        while self.eat(",") {
            item(self);
        }
    }

    /// Consumes all tokens up to one of these brackets, skipping over other bracket pairs.
    fn skip_to(&mut self, close: &[&str]) {
        while !self.done() && !close.contains(&self.text()) {
            match self.text() {
                "(" | "[" | "{" => self.balanced(),
                _ => self.bump(),
            }
        }
    }

    /// Consumes the token, or notes that it is missing.
    fn expect(&mut self, text: &str) -> bool {
        let found = self.eat(text);
        if !found {
            self.error(&format!("expected `{text}`"));
        }
        found
    }

    /// Notes an error at the next token; at the end, after the last one.
    fn error(&mut self, message: &str) {
        let found = shorten(self.text());
        let message = match found.is_empty() {
            true => format!("{message} before the end of the statement"),
            false => format!("{message}, found `{found}`"),
        };
        let first = self.seen.get(self.at).or(self.seen.last());
        let first = first.copied().unwrap_or(0);
        self.error_at(first, first + 1, message);
    }

    fn error_at(&mut self, first: u32, end: u32, message: String) {
        self.errors.push(TokenError {
            first,
            end,
            message,
        });
    }

    /// Consumes a bracket and all tokens up to its closing bracket.
    fn balanced(&mut self) {
        let start = self.at;
        let mut open: Vec<u8> = Vec::new();
        while !self.done() {
            let byte = match self.kind() {
                TokenKind::Punct => self.text().as_bytes()[0],
                _ => 0,
            };
            match byte {
                b'(' | b'[' | b'{' => open.push(byte),
                b')' | b']' | b'}' => {
                    let matches = open.last().is_some_and(|&last| closes(last, byte));
                    if !matches {
                        self.error("this bracket closes nothing");
                    }
                    open.pop();
                }
                _ => {}
            }
            self.bump();
            if open.is_empty() {
                return;
            }
        }
        let first = self.seen[start.min(self.seen.len() - 1)];
        let bracket = self.token_text(first);
        self.error_at(first, first + 1, format!("`{bracket}` is never closed"));
    }
}

fn closes(open: u8, close: u8) -> bool {
    matches!((open, close), (b'(', b')') | (b'[', b']') | (b'{', b'}'))
}

/// First characters of a token, for messages.
fn shorten(text: &str) -> &str {
    let end = text.char_indices().nth(24).map_or(text.len(), |(at, _)| at);
    text[..end].lines().next().unwrap_or_default()
}
