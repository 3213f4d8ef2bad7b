//! Names in an expression: columns, parameters, functions, aggregates, conjuncts.
//!
//! C# semantics are not known. A name before a dot is a column's qualifier if a rowset of the
//! query has it, a class if the language or the script defines it so, else a column.

use super::Lowering;
use super::query::Labels;
use crate::script::lexer::TokenKind;
use crate::script::model::{ColumnRef, Conjunct, Expression, Span};
use crate::script::tree::NodeKind;
use crate::script::words::Words;

/// Words that are not columns or functions.
static RESERVED: Words = Words::new(
    "ALL AND AS ASC BETWEEN BY CASE DESC DISTINCT ELSE END EXISTS FALSE GROUP IN IS LIKE NOT \
     NULL OR ORDER OVER PARTITION THEN TRUE WHEN WITHIN as bool byte char decimal default \
     double false float in int is long new null object out params ref return sbyte short \
     string this true typeof uint ulong ushort var void",
);

/// Types of the base library that scripts call statically.
static TYPES: Words = Words::new(
    "Array BitConverter Boolean Byte Char Convert DateTime DateTimeKind Decimal Double \
     Encoding Enum Enumerable Environment Guid Int16 Int32 Int64 JsonConvert Math Microsoft \
     Path Regex RegexOptions SByte SQL Single SqlArray SqlMap String StringComparison \
     StringSplitOptions System TimeSpan Tuple UInt16 UInt32 UInt64 Uri",
);

/// Whether a word is not a column or function.
pub(super) fn is_reserved(word: &str) -> bool {
    RESERVED.contain_keyword(word)
}

/// Maximum number of lambda parameters in one expression; people use a handful.
const MAX_LOCALS: usize = 256;

/// A dotted name.
struct Chain {
    /// Positions of its words in the token list.
    words: Vec<usize>,
    /// Position after it and its type arguments.
    end: usize,
    called: bool,
}

/// Tokens of an expression, and the current position.
struct Reader<'l, 'a> {
    lowering: &'l Lowering<'a>,
    tokens: &'l [usize],
    labels: &'l Labels,
    locals: Vec<&'a str>,
}

impl<'a> Lowering<'a> {
    /// Expression of a node; `labels` are the qualifiers of the query's rowsets.
    pub(super) fn expression(&self, node: usize, labels: &Labels) -> Expression {
        self.expression_of(&self.expression_tokens(node), labels)
    }

    /// Tokens of an expression, without the tokens of its sub-queries.
    pub(super) fn expression_tokens(&self, node: usize) -> Vec<usize> {
        let children = self.tree.children(node);
        let queries = children.filter(|&child| self.kind(child) == NodeKind::Query);
        let mut inner = queries.map(|child| self.tree.nodes()[child]).peekable();
        let outside = |&token: &usize| {
            let token = token as u32;
            while inner.next_if(|query| query.end <= token).is_some() {}
            inner.peek().is_none_or(|query| token < query.first)
        };
        self.tree.seen_tokens(node).filter(outside).collect()
    }

    pub(super) fn span_of(&self, tokens: &[usize]) -> Span {
        match (tokens.first(), tokens.last()) {
            (Some(&first), Some(&last)) => {
                self.tree.token_span(first).start..self.tree.token_span(last).end
            }
            _ => 0..0,
        }
    }

    pub(super) fn expression_of(&self, tokens: &[usize], labels: &Labels) -> Expression {
        let mut reader = Reader {
            lowering: self,
            tokens,
            labels,
            locals: Vec::new(),
        };
        reader.locals = reader.lambda_parameters();
        reader.locals.truncate(MAX_LOCALS);
        let mut expression = Expression {
            span: self.span_of(tokens),
            ..Expression::default()
        };
        let mut at = 0;
        while at < tokens.len() {
            at = reader.step(at, &mut expression);
        }
        expression
    }

    /// Conjuncts of a condition: the parts between `AND`s outside brackets.
    pub(super) fn conjuncts(&self, node: usize, labels: &Labels) -> Vec<Conjunct> {
        let tokens = self.expression_tokens(node);
        let mut parts = Vec::new();
        self.split_conjuncts(&tokens, &mut parts);
        let conjuncts = parts.into_iter().map(|part| Conjunct {
            expression: self.expression_of(part, labels),
            equality: self.equality(part, labels),
        });
        conjuncts.collect()
    }

    fn split_conjuncts<'t>(&self, tokens: &'t [usize], parts: &mut Vec<&'t [usize]>) {
        let tokens = self.without_parentheses(tokens);
        let mut depth = 0usize;
        let mut between = false;
        let mut cuts = Vec::new();
        for (at, &token) in tokens.iter().enumerate() {
            match self.token(token) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ if depth > 0 => {}
                "BETWEEN" => between = true,
                "AND" if between => between = false,
                "AND" | "&&" => cuts.push(at),
                // `AND` binds tighter, so that a condition with one of these is a single part.
                "OR" | "||" | "?" | "??" | "=>" => return parts.push(tokens),
                _ => {}
            }
        }
        let mut start = 0;
        for cut in cuts {
            parts.push(&tokens[start..cut]);
            start = cut + 1;
        }
        parts.push(&tokens[start..]);
    }

    /// Strips parentheses around the whole expression.
    fn without_parentheses<'t>(&self, mut tokens: &'t [usize]) -> &'t [usize] {
        // People write one or two; the bound keeps the time linear.
        for _ in 0..8 {
            let [first, inner @ .., last] = tokens else {
                break;
            };
            if self.token(*first) != "(" || self.token(*last) != ")" {
                break;
            }
            let mut depth = 0i32;
            let closed_early = inner.iter().any(|&token| {
                depth += match self.token(token) {
                    "(" => 1,
                    ")" => -1,
                    _ => 0,
                };
                depth < 0
            });
            if closed_early {
                break;
            }
            tokens = inner;
        }
        tokens
    }

    /// Both columns of `a.x == b.y`.
    fn equality(&self, tokens: &[usize], labels: &Labels) -> Option<(ColumnRef, ColumnRef)> {
        let tokens = self.without_parentheses(tokens);
        let is_equals = |&token: &usize| matches!(self.token(token), "==" | "=");
        let middle = tokens.iter().position(is_equals)?;
        let side = |tokens: &[usize]| {
            let expression = self.expression_of(tokens, labels);
            expression.as_column().cloned()
        };
        Some((side(&tokens[..middle])?, side(&tokens[middle + 1..])?))
    }
}

impl<'a> Reader<'_, 'a> {
    fn text(&self, at: usize) -> &'a str {
        let token = self.tokens.get(at);
        token.map_or("", |&token| self.lowering.token(token))
    }

    fn token_kind(&self, at: usize) -> TokenKind {
        let kind = |&token: &usize| self.lowering.tree.token_kind(token);
        self.tokens.get(at).map_or(TokenKind::Space, kind)
    }

    fn before(&self, at: usize) -> &'a str {
        at.checked_sub(1).map_or("", |at| self.text(at))
    }

    /// Names before `=>`. They hide columns in the lambda; for simplicity, they count as hidden everywhere.
    fn lambda_parameters(&self) -> Vec<&'a str> {
        let mut found = Vec::new();
        if !(0..self.tokens.len()).any(|at| matches!(self.text(at), "=>" | "from")) {
            return found;
        }
        for from in (0..self.tokens.len()).filter(|&at| self.text(at) == "from") {
            if self.text(from + 2) == "in" {
                found.extend(["from", "select", "where", "let", "orderby"]);
                found.push(self.text(from + 1));
            }
        }
        for arrow in (0..self.tokens.len()).filter(|&at| self.text(at) == "=>") {
            let mut at = arrow;
            while let Some(before) = at.checked_sub(1) {
                match (self.token_kind(before), self.text(before)) {
                    (TokenKind::Word, word) => found.push(word),
                    (_, ")" | ",") => {}
                    _ => break,
                }
                at = before;
                if at + 1 == arrow && self.token_kind(at) == TokenKind::Word {
                    break;
                }
            }
        }
        found
    }

    /// Reads one token or name; returns the position after it.
    fn step(&self, at: usize, into: &mut Expression) -> usize {
        match self.token_kind(at) {
            TokenKind::Variable | TokenKind::Parameter => {
                into.parameters.push(self.text(at).to_owned());
                at + 1
            }
            TokenKind::Word if !matches!(self.before(at), "." | "?.") => self.chain_at(at, into),
            TokenKind::Punct if self.text(at) == "[" => match self.quoted_name(at) {
                Some(length) => {
                    let name = self.lowering.span_of(&self.tokens[at + 1..at + length - 1]);
                    into.uses.push(ColumnRef {
                        qualifier: None,
                        name: self.lowering.slice(&name).to_owned(),
                        span: self.lowering.span_of(&self.tokens[at..at + length]),
                    });
                    at + length
                }
                None => at + 1,
            },
            _ => at + 1,
        }
    }

    /// Length of `[Order]`, `[Order Id]` where an operand is expected.
    fn quoted_name(&self, at: usize) -> Option<usize> {
        let operand = match self.token_kind(at.wrapping_sub(1)) {
            TokenKind::Punct => !matches!(self.before(at), ")" | "]" | "."),
            TokenKind::Space => true,
            TokenKind::Word => is_reserved(self.before(at)) && self.before(at) != "new",
            _ => false,
        };
        let words = (at + 1..at + 16).take_while(|&at| self.token_kind(at) == TokenKind::Word);
        let words = words.count();
        let closed = words > 0 && self.text(at + words + 1) == "]";
        (operand && closed).then_some(words + 2)
    }

    fn chain_at(&self, at: usize, into: &mut Expression) -> usize {
        let chain = self.chain(at);
        let first = self.text(at);
        if chain.called {
            into.calls.push(self.joined(&chain));
        }
        if chain.words.len() == 1 && self.text(chain.end) == "." && self.text(chain.end + 1) == "*"
        {
            into.uses.push(ColumnRef {
                qualifier: Some(first.to_owned()),
                name: "*".to_owned(),
                span: self.lowering.span_of(&self.tokens[at..chain.end + 2]),
            });
            return chain.end + 2;
        }
        if self.is_column(at, &chain) {
            into.uses.extend(self.column(&chain));
        }
        chain.end
    }

    fn chain(&self, at: usize) -> Chain {
        let mut words = vec![at];
        let mut end = at + 1;
        let is_name = |kind| matches!(kind, TokenKind::Word | TokenKind::Variable);
        while matches!(self.text(end), "." | "?.") && is_name(self.token_kind(end + 1)) {
            words.push(end + 1);
            end += 2;
        }
        let mut open = end;
        if self.text(open) == "<" {
            let mut arguments = (open..self.tokens.len()).take(32);
            let close = arguments.find(|&at| self.text(at) == ">");
            open = close.map_or(open, |at| at + 1);
        }
        let called = self.text(open) == "(";
        Chain { words, end, called }
    }

    fn joined(&self, chain: &Chain) -> String {
        let words: Vec<_> = chain.words.iter().map(|&word| self.text(word)).collect();
        words.join(".")
    }

    fn is_label(&self, name: &str) -> bool {
        self.labels.find(name).is_some()
    }

    fn is_column(&self, at: usize, chain: &Chain) -> bool {
        let first = self.text(at);
        let next = self.text(chain.end);
        let argument_name = matches!(self.before(at), "(" | ",") && matches!(next, ":" | "=");
        if argument_name
            || is_reserved(first)
            || self.locals.contains(&first)
            || matches!(self.before(at), "new" | "is" | "as")
            || self.is_cast(at, chain)
        {
            return false;
        }
        let parts = chain.words.len() - usize::from(chain.called);
        if self.is_label(first) && chain.words.len() > 1 {
            return parts >= 2;
        }
        let class = || TYPES.contain(first) || self.lowering.survey().classes.contains(first);
        match (parts, chain.words.len()) {
            (0, _) => false,
            (_, 1) => true,
            _ if class() => false,
            _ => !chain.called || self.lowering.survey().bare.contains(first),
        }
    }

    /// `(Type) operand`.
    fn is_cast(&self, at: usize, chain: &Chain) -> bool {
        let mut close = chain.end;
        while matches!(self.text(close), "?" | "[" | "]") {
            close += 1;
        }
        let operand = matches!(
            self.token_kind(close + 1),
            TokenKind::Word | TokenKind::Number | TokenKind::Text | TokenKind::Variable
        );
        self.before(at) == "("
            && self.text(close) == ")"
            && operand
            && !is_reserved(self.text(close + 1))
            && self.token_kind(at.wrapping_sub(2)) != TokenKind::Word
    }

    fn column(&self, chain: &Chain) -> Option<ColumnRef> {
        let words = &chain.words;
        let first = *words.first()?;
        let qualified = words.len() > 1 && self.is_label(self.text(first));
        let last = if qualified { words[1] } else { first };
        Some(ColumnRef {
            qualifier: qualified.then(|| self.text(first).to_owned()),
            name: self.text(last).to_owned(),
            span: self.lowering.span_of(&self.tokens[first..last + 1]),
        })
    }
}
