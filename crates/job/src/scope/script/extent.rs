//! Finds where each statement begins and ends, before any of them is parsed.
//!
//! An error inside a statement can therefore never swallow the next one. The scan knows brackets,
//! directives, blocks and the words that open a statement, and ignores everything else.

use super::lexer::{Token, TokenKind};

/// Tokens of one statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    /// First token that is not a blank, comment or directive.
    pub(super) first: usize,
    /// Token after the last one.
    pub(super) end: usize,
    /// Kind of its end.
    pub(super) stop: Stop,
}

/// Kinds of ends of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// At its `;`, or at the end of the text.
    Semicolon,
    /// At `BEGIN`, `THEN`, `ELSE` or `{`: a block follows.
    BlockStart,
    /// It is itself an `END` or `}`.
    BlockEnd,
    /// The next statement begins without a `;` before it.
    Missing,
    /// A whole `#CS` block.
    CsBlock,
}

/// Cuts the tokens into statements.
pub(super) fn extents(text: &str, tokens: &[Token]) -> Vec<Extent> {
    let mut scanner = Scanner {
        text,
        tokens,
        at: 0,
        blocks: 0,
    };
    let mut found = Vec::new();
    while let Some(extent) = scanner.next_extent() {
        found.push(extent);
    }
    found
}

const OPENERS: &[&str] = &[
    "SELECT", "EXTRACT", "SSTREAM", "REDUCE", "PROCESS", "COMBINE", "VIEW",
];

struct Scanner<'a> {
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
    blocks: usize,
}

impl<'a> Scanner<'a> {
    fn next_extent(&mut self) -> Option<Extent> {
        while self.at < self.tokens.len() && self.is_between(self.at) {
            self.at += 1;
        }
        let first = self.at;
        let kind = self.tokens.get(first)?.kind;
        let (end, stop) = if kind == TokenKind::CsBlock {
            (first + 1, Stop::CsBlock)
        } else {
            self.statement_end(first)
        };
        self.at = end;
        Some(Extent { first, end, stop })
    }

    /// Whether a token can be between statements.
    fn is_between(&self, at: usize) -> bool {
        let kind = self.tokens[at].kind;
        kind.is_trivia() || kind == TokenKind::Directive
    }

    fn statement_end(&mut self, first: usize) -> (usize, Stop) {
        if let Some(end) = self.block_end(first) {
            self.blocks = self.blocks.saturating_sub(1);
            return (end, Stop::BlockEnd);
        }
        let opener = self.word(first);
        let header = Header::of(opener, self.second_word(first));
        if opener == "BEGIN" || opener == "ELSE" && self.second_word(first) != "IF" {
            self.blocks += 1;
            return (first + 1, Stop::BlockStart);
        }
        let mut scan = Scan {
            brackets: Vec::new(),
            conditions: 0,
            last: first,
            only_hints: self.text_of(first) == "[",
        };
        let mut at = first;
        while at < self.tokens.len() {
            if at > first && !scan.only_hints && self.begins_statement(at, &scan) {
                return (scan.last + 1, Stop::Missing);
            }
            if let Some((end, stop)) = self.step(at, header, &mut scan) {
                if stop == Stop::BlockStart {
                    self.blocks += 1;
                }
                return (end, stop);
            }
            if !self.is_between(at) {
                // a `;` in brackets: an unclosed bracket, not a hint
                scan.only_hints &= self.text_of(at) != ";";
                scan.only_hints &= !scan.brackets.is_empty() || self.text_of(at) == "]";
                scan.last = at;
            }
            at += 1;
        }
        (scan.last + 1, Stop::Semicolon)
    }

    /// Processes one token of a statement; returns the end of the statement, if it ends here.
    fn step(&self, at: usize, header: Header, scan: &mut Scan) -> Option<(usize, Stop)> {
        match self.tokens[at].kind {
            TokenKind::Punct => match self.byte(at) {
                b'{' if header == Header::Loop && scan.brackets.is_empty() => {
                    return Some((at + 1, Stop::BlockStart));
                }
                open @ (b'(' | b'[' | b'{') => scan.brackets.push(open),
                b')' => scan.close(b'('),
                b']' => scan.close(b'['),
                b'}' => scan.close(b'{'),
                b';' if scan.brackets.is_empty() => return self.semicolon(at, scan),
                _ => {}
            },
            TokenKind::Directive => scan.conditions += self.condition_change(at),
            TokenKind::Word if scan.brackets.is_empty() => match (header, self.word(at)) {
                (Header::Body, "BEGIN") | (Header::If, "THEN") => {
                    return Some((at + 1, Stop::BlockStart));
                }
                _ => {}
            },
            _ => {}
        }
        None
    }

    /// A `;` inside a branch of `#IF` ends the statement only at `#ENDIF`, if the statement
    /// began before the `#IF` and every branch contains just one end of it.
    fn semicolon(&self, at: usize, scan: &Scan) -> Option<(usize, Stop)> {
        if scan.conditions <= 0 {
            return Some((at + 1, Stop::Semicolon));
        }
        let mut depth = scan.conditions;
        let mut ended = true;
        for next in at + 1..self.tokens.len() {
            match self.tokens[next].kind {
                kind if kind.is_trivia() => {}
                TokenKind::Directive => {
                    depth += self.condition_change(next);
                    ended = false;
                    if depth == 0 {
                        return Some((next + 1, Stop::Semicolon));
                    }
                }
                _ if ended => break,
                TokenKind::Punct if self.byte(next) == b';' => ended = true,
                _ => {}
            }
            // the end of a statement is short; a longer text contains its own statements
            if next > at + 400 {
                break;
            }
        }
        Some((at + 1, Stop::Semicolon))
    }

    fn condition_change(&self, at: usize) -> i32 {
        match directive_word(self.text_of(at)) {
            "IF" | "IFDEF" | "IFNDEF" => 1,
            "ENDIF" => -1,
            _ => 0,
        }
    }

    /// Whether a token at the start of its line can only be the start of another statement.
    fn begins_statement(&self, at: usize, scan: &Scan) -> bool {
        let kind = self.tokens[at].kind;
        if !matches!(kind, TokenKind::Word | TokenKind::Variable)
            && !matches!(kind, TokenKind::HashWord | TokenKind::CsBlock)
            || !self.at_line_start(at)
        {
            return false;
        }
        match kind {
            TokenKind::HashWord | TokenKind::CsBlock => true,
            _ if self.is_binding(at) => true,
            _ => match self.word(at) {
                "OUTPUT" => self.is_output(at) && !self.continues(scan),
                "END" => self.blocks > 0 && scan.brackets.is_empty(),
                _ => false,
            },
        }
    }

    /// `name = SELECT`, and the like.
    fn is_binding(&self, at: usize) -> bool {
        let equals = self.seen_after(at);
        if equals.is_none_or(|equals| self.text_of(equals) != "=") {
            return false;
        }
        let opener = equals.and_then(|equals| self.seen_after(equals));
        opener.is_some_and(|opener| OPENERS.contains(&self.word(opener)))
    }

    /// `OUTPUT x TO`, `OUTPUT TO`.
    fn is_output(&self, at: usize) -> bool {
        let Some(next) = self.seen_after(at) else {
            return false;
        };
        let word = self.word(next);
        if word == "TO" || self.tokens[next].kind == TokenKind::Variable {
            return true;
        }
        let after = self.seen_after(next);
        !word.is_empty() && after.is_some_and(|to| self.word(to) == "TO")
    }

    /// Whether the token before requires a continuation.
    fn continues(&self, scan: &Scan) -> bool {
        matches!(self.text_of(scan.last), "," | "." | "=" | "AS" | "(")
    }

    fn block_end(&self, first: usize) -> Option<usize> {
        let end = match (self.word(first), self.byte(first)) {
            ("END", _) => first + 1,
            (_, b'}') if self.tokens[first].kind == TokenKind::Punct => first + 1,
            _ => return None,
        };
        let mut last = end;
        while let Some(next) = self.seen_after(last - 1) {
            match self.text_of(next) {
                ";" => return Some(next + 1),
                "VIEW" | "IF" | "FUNCTION" | "PROCEDURE" | "PACKAGE" if last == end => {
                    last = next + 1;
                }
                _ => break,
            }
        }
        Some(last)
    }

    fn second_word(&self, first: usize) -> &'a str {
        let second = self.seen_after(first);
        second.map_or("", |second| self.word(second))
    }

    /// Next token that is not a blank, comment or directive.
    fn seen_after(&self, at: usize) -> Option<usize> {
        (at + 1..self.tokens.len()).find(|&next| !self.is_between(next))
    }

    fn at_line_start(&self, at: usize) -> bool {
        let start = self.tokens[at].start as usize;
        let before = &self.text.as_bytes()[..start];
        let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let seen = before.iter().rfind(|byte| !blank(byte));
        matches!(seen, None | Some(b'\n' | b'\r'))
    }

    fn word(&self, at: usize) -> &'a str {
        match self.tokens[at].kind {
            TokenKind::Word => self.text_of(at),
            _ => "",
        }
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes()[self.tokens[at].start as usize]
    }

    fn text_of(&self, at: usize) -> &'a str {
        let start = self.tokens[at].start as usize;
        let next = self.tokens.get(at + 1);
        let end = next.map_or(self.text.len(), |next| next.start as usize);
        self.text.get(start..end).unwrap_or_default()
    }
}

/// Open brackets and conditions while a statement is scanned.
struct Scan {
    brackets: Vec<u8>,
    /// `#IF`s opened since the statement began.
    conditions: i32,
    /// Last token that was not a blank, comment or directive.
    last: usize,
    /// Whether only hints have been seen.
    only_hints: bool,
}

impl Scan {
    fn close(&mut self, open: u8) {
        if self.brackets.last() == Some(&open) {
            self.brackets.pop();
        }
    }
}

/// Statements that a block can follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Header {
    None,
    /// `CREATE …`, `DECLARE FUNCTION …`: up to `BEGIN`.
    Body,
    /// `IF … THEN`.
    If,
    /// `LOOP (…) {`.
    Loop,
}

impl Header {
    fn of(first: &str, second: &str) -> Header {
        match (first, second) {
            ("CREATE" | "ALTER", _) | ("DECLARE", "FUNCTION") => Header::Body,
            ("IF" | "ELSEIF", _) | ("ELSE", "IF") => Header::If,
            ("LOOP", _) => Header::Loop,
            _ => Header::None,
        }
    }
}

/// Word of a directive in upper case letters as written: `IF` of `#IF (LOCAL)`.
pub(super) fn directive_word(text: &str) -> &str {
    let rest = text.trim_start_matches('#').trim_start();
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    &rest[..end.unwrap_or(rest.len())]
}
