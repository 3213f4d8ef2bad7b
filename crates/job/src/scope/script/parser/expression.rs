//! Expressions: C# with the operators of the language.
//!
//! A small automaton over operands and operators replaces a grammar of C#. It finds the end of an
//! expression, the names in it, and missing or superfluous parts; it does not know types. Brackets are kept
//! on a stack, so depth is not limited by recursion.

use super::Parser;
use crate::script::lexer::{TokenKind, is_mixed_case};
use crate::script::tree::NodeKind;
use crate::script::words::Words;

/// Expected next token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Need,
    Have,
    /// Either: after a possible cast, or a `?`.
    Either,
}

struct Frame {
    open: u8,
    /// Whether it may be a cast, by its position at an operand.
    cast: bool,
}

/// Words that end an expression anywhere outside brackets.
static STOP_WORDS: Words = Words::new(
    "ANTISEMI ANTISEMIJOIN AS ASC BEGIN CLUSTERED CROSS DESC DISTRIBUTED EXCEPT FETCH FROM \
     FULL GROUP HAVING INNER INTERSECT INTO JOIN LEFT OFFSET ON OPTION ORDER OUTER PARAMS \
     PARTITIONED PIVOT PRESORT PRODUCE READONLY REQUIRED RIGHT SEMI SEMIJOIN SORTED THEN TO \
     UNION UNPIVOT USING WHERE WITH",
);

/// Words that end an expression only at the position of an operator; elsewhere they are names.
static SOFT_STOP_WORDS: Words = Words::new(
    "ALL APPLY BROADCASTLEFT BROADCASTRIGHT DIRECT FULLCROSS HASH INDEXLOOKUP LOCATION LOOP \
     MERGE PAIR PATTERN RANGE ROUND ROWS SELECT SERIAL UNIQUE VALUES",
);

enum Role {
    Operand,
    /// Between operands.
    Binary,
    /// Before an operand.
    Prefix,
    /// `OVER (…)`, `WITHIN GROUP (…)`.
    Window,
    /// `CASE`, which `END` closes like a bracket.
    CaseStart,
    /// `END` of a `CASE`.
    CaseEnd,
    /// `from x in …` of C#, inside brackets.
    Linq,
}

fn role(word: &str) -> Role {
    if is_mixed_case(word) {
        return Role::Operand;
    }
    match word {
        "AND" | "OR" | "IS" | "IN" | "LIKE" | "BETWEEN" | "is" | "as" | "in" | "WHEN" | "ELSE" => {
            Role::Binary
        }
        "NOT" | "DISTINCT" | "EXISTS" | "new" | "out" | "ref" | "var" | "params" | "return" => {
            Role::Prefix
        }
        "OVER" | "WITHIN" => Role::Window,
        "CASE" => Role::CaseStart,
        "END" => Role::CaseEnd,
        "from" => Role::Linq,
        _ => Role::Operand,
    }
}

impl Parser<'_> {
    /// Parses one expression. It ends at a comma, an unmatched closing bracket, or a word that
    /// opens a clause.
    pub(super) fn expression(&mut self) {
        let mark = self.open(NodeKind::Expression);
        self.expression_tokens();
        self.close(mark);
    }

    fn expression_tokens(&mut self) {
        let mut state = State::Need;
        let mut frames: Vec<Frame> = Vec::new();
        let start = self.at;
        let errors = self.errors.len();
        while !self.done() {
            if frames.is_empty() && self.ends_expression(state) {
                break;
            }
            let before = self.errors.len();
            state = match self.kind() {
                TokenKind::Punct => self.operator(state, &mut frames),
                TokenKind::Word => self.expression_word(state, &mut frames),
                TokenKind::Number
                | TokenKind::Text
                | TokenKind::Variable
                | TokenKind::Parameter => self.operand(state),
                _ => {
                    self.error("unexpected character");
                    self.bump();
                    state
                }
            };
            // one error per expression is enough; further ones only follow from it
            if before > errors {
                self.errors.truncate(errors + 1);
            }
        }
        if self.errors.len() > errors {
            return;
        }
        if let Some(frame) = frames.last() {
            let opened = match frame.open {
                b'C' => "CASE".to_owned(),
                open => char::from(open).to_string(),
            };
            self.error(&format!("`{opened}` is not closed"));
        } else if state == State::Need {
            self.error(match self.at == start {
                true => "expected an expression",
                false => "expected more",
            });
        }
    }

    fn ends_expression(&self, state: State) -> bool {
        match self.kind() {
            TokenKind::Punct => matches!(self.text(), "," | ";" | ")" | "]" | "}"),
            TokenKind::Word => {
                let word = self.text();
                if self.previous_is(&[".", "?."]) {
                    return false;
                }
                STOP_WORDS.contain_keyword(word)
                    || state != State::Need && SOFT_STOP_WORDS.contain_keyword(word)
                    || state == State::Have
                        && matches!(role(word), Role::Operand)
                        && !self.touches_previous()
            }
            TokenKind::Number | TokenKind::Text | TokenKind::Variable => {
                state == State::Have && !self.previous_is(&["."]) && !self.touches_previous()
            }
            TokenKind::CsBlock | TokenKind::HashWord => true,
            _ => false,
        }
    }

    /// Whether there is no blank before the next token: `@@Prefix@@Name` is one name.
    fn touches_previous(&self) -> bool {
        let Some(previous) = self.at.checked_sub(1) else {
            return false;
        };
        let near = self.seen[previous] + 1 == self.seen[self.at];
        let macro_like = |kind| kind == TokenKind::Parameter;
        near && (macro_like(self.kind()) || macro_like(self.kind_at(previous)))
    }

    fn kind_at(&self, position: usize) -> TokenKind {
        self.seen.get(position).map_or(TokenKind::Space, |&token| {
            self.tree.token_kind(token as usize)
        })
    }

    fn previous_is(&self, texts: &[&str]) -> bool {
        let before = self.at.checked_sub(1);
        let previous = before.map(|at| self.token_text(self.seen[at]));
        previous.is_some_and(|previous| texts.contains(&previous))
    }

    fn operand(&mut self, state: State) -> State {
        if state == State::Have && !self.previous_is(&[".", "?."]) && !self.touches_previous() {
            self.error("expected an operator");
        }
        self.bump();
        State::Have
    }

    fn expression_word(&mut self, state: State, frames: &mut Vec<Frame>) -> State {
        let word = self.text();
        let outside = frames.is_empty();
        if self.previous_is(&[".", "?."]) {
            return self.name(State::Need);
        }
        match role(word) {
            Role::Operand if outside => self.name(state),
            // as in `CAST(x AS int)`: keywords of functions are not checked
            Role::Operand if STOP_WORDS.contain_keyword(word) => {
                self.bump();
                State::Either
            }
            Role::Operand => self.name(state),
            Role::Binary => {
                if state == State::Need && !self.previous_is(&["NOT", "CASE"]) {
                    self.error("expected an expression");
                }
                self.bump();
                State::Need
            }
            Role::Prefix => {
                if state == State::Have && word != "NOT" {
                    self.error("expected an operator");
                }
                self.bump();
                State::Need
            }
            Role::Window => {
                self.bump();
                self.eat("GROUP");
                if self.is("(") {
                    self.balanced();
                }
                State::Have
            }
            Role::CaseStart => {
                let (open, cast) = (b'C', false);
                frames.push(Frame { open, cast });
                self.bump();
                State::Need
            }
            Role::CaseEnd if frames.last().is_some_and(|frame| frame.open == b'C') => {
                frames.pop();
                self.bump();
                State::Have
            }
            // a query expression of C#, up to the bracket that closes around it
            Role::Linq if !outside && self.is_ahead(2, "in") => {
                self.skip_to(&[")", "]", "}"]);
                State::Have
            }
            Role::CaseEnd | Role::Linq => self.name(state),
        }
    }

    /// Length of `[quoted name]`, if only words are inside.
    fn quoted_name(&self) -> Option<usize> {
        let close = (1..16).find(|&ahead| self.is_ahead(ahead, "]"))?;
        let words = (1..close).all(|ahead| {
            let kind = self.kind_ahead(ahead);
            matches!(kind, TokenKind::Word | TokenKind::Number) || self.is_ahead(ahead, "-")
        });
        (words && close > 1).then_some(close + 1)
    }

    fn name(&mut self, state: State) -> State {
        let state = self.operand(state);
        if self.is("<")
            && let Some(length) = self.type_arguments()
        {
            self.at += length;
        }
        state
    }

    /// Length of `<int, List<string>>` after a name, if it is a type argument list and not a comparison.
    /// The decision follows C#: by the tokens inside and the token after it.
    fn type_arguments(&self) -> Option<usize> {
        let mut depth = 0;
        for ahead in 0..64 {
            match (self.kind_ahead(ahead), self.text_ahead(ahead)) {
                (TokenKind::Punct, "<") => depth += 1,
                (TokenKind::Punct, ">") => depth -= 1,
                (TokenKind::Punct, "," | "." | "?" | "[" | "]") | (TokenKind::Word, _) => {}
                _ => return None,
            }
            if depth == 0 {
                let follows = self.text_ahead(ahead + 1);
                let fits = matches!(follows, "(" | ")" | "." | "," | "{" | "[" | "]" | ">" | "");
                return fits.then_some(ahead + 1);
            }
        }
        None
    }

    fn operator(&mut self, state: State, frames: &mut Vec<Frame>) -> State {
        let text = self.text();
        match text {
            "(" => self.open_parenthesis(state, frames),
            "[" if state == State::Need && self.quoted_name().is_some() => {
                self.at += self.quoted_name().unwrap_or(1);
                State::Have
            }
            "[" => {
                let (open, cast) = (b'[', state == State::Need);
                frames.push(Frame { open, cast });
                self.bump();
                State::Need
            }
            "{" => {
                self.balanced();
                State::Have
            }
            ")" | "]" | "}" => self.close_frame(state, frames),
            "*" if state == State::Need => {
                self.bump();
                State::Have
            }
            "?" => {
                self.bump();
                State::Either
            }
            "." | "?." | "-" | "+" | "!" | "~" | "=>" | ":" => {
                self.bump();
                State::Need
            }
            _ => {
                let shift = matches!(text, "<" | ">") && self.previous_is(&[text]);
                if state == State::Need && !shift {
                    self.error("expected an expression");
                }
                self.bump();
                State::Need
            }
        }
    }

    fn open_parenthesis(&mut self, state: State, frames: &mut Vec<Frame>) -> State {
        if matches!(
            self.text_ahead(1),
            "SELECT" | "SSTREAM" | "EXTRACT" | "VALUES"
        ) && self.kind_ahead(1) == TokenKind::Word
        {
            self.bump();
            self.query();
            self.expect(")");
            return State::Have;
        }
        let (open, cast) = (b'(', state != State::Have);
        frames.push(Frame { open, cast });
        self.bump();
        State::Need
    }

    fn close_frame(&mut self, state: State, frames: &mut Vec<Frame>) -> State {
        let close = self.text().as_bytes()[0];
        let frame = frames.pop();
        let open = frame.as_ref().map_or(0, |frame| frame.open);
        if !super::closes(open, close) {
            self.error("this bracket closes nothing");
        } else if state == State::Need && open == b'(' && !self.previous_is(&["("]) {
            self.error("expected an expression");
        }
        self.bump();
        match frame {
            Some(Frame {
                open: b'(',
                cast: true,
            }) => State::Either,
            _ => State::Have,
        }
    }
}
