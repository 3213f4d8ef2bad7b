//! Aggregates and windows in an expression.

use super::Lowering;
use super::expression::is_reserved;
use super::query::Labels;
use crate::script::lexer::TokenKind;
use crate::script::model::{Aggregate, Expression};
use crate::script::words::Words;

/// Aggregate functions of the two languages.
static AGGREGATES: Words = Words::new(
    "AGG ANY_VALUE ARGMAX ARGMIN ARRAY_AGG AVG COUNT COUNTIF CUME_DIST DENSE_RANK FIRST \
     FIRST_VALUE LAG LAST LAST_VALUE LEAD LIST MAP_AGG MAX MIN NTILE PERCENTILE_CONT \
     PERCENTILE_DISC PERCENT_RANK RANK ROW_NUMBER STDEV STDEVP SUM SUMIF VAR VARP",
);

impl Lowering<'_> {
    /// Aggregates of an expression. With `grouped`, an unknown function counts as a
    /// user-defined aggregate.
    pub(super) fn aggregates(
        &self,
        tokens: &[usize],
        labels: &Labels,
        grouped: bool,
    ) -> Vec<Aggregate> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            if !self.is_aggregate(tokens, at, grouped) {
                at += 1;
                continue;
            }
            match self.call_brackets(tokens, at + 1) {
                Some((open, close)) => {
                    found.push(self.aggregate(tokens, (at, open, close), labels));
                    // Aggregates do not nest.
                    at = close + 1;
                }
                // a call that is never closed: no later call can be closed either
                None if self.is_at(tokens, at + 1, "(") => break,
                None => at += 1,
            }
        }
        found
    }

    fn is_at(&self, tokens: &[usize], at: usize, text: &str) -> bool {
        tokens
            .get(at)
            .is_some_and(|&token| self.token(token) == text)
    }

    fn is_aggregate(&self, tokens: &[usize], at: usize, grouped: bool) -> bool {
        let name = self.token(tokens[at]);
        let after_dot = at > 0 && matches!(self.token(tokens[at - 1]), "." | "?.");
        let word = self.tree.token_kind(tokens[at]) == TokenKind::Word;
        let known = AGGREGATES.contain_keyword(name);
        let own = grouped && at == 0 && !is_reserved(name) && name != "IF";
        word && !after_dot && (known || own)
    }

    fn aggregate(
        &self,
        tokens: &[usize],
        (at, open, close): (usize, usize, usize),
        labels: &Labels,
    ) -> Aggregate {
        let inner = &tokens[open + 1..close.min(tokens.len())];
        let distinct = self.is_at(inner, 0, "DISTINCT");
        let inner = &inner[usize::from(distinct)..];
        let arguments = match inner {
            [star] if self.token(*star) == "*" => Vec::new(),
            _ => self.argument_expressions(inner, labels),
        };
        let end = tokens.len().min(close + 1);
        let over = self.is_at(tokens, end, "OVER");
        Aggregate {
            function: self.token(tokens[at]).to_ascii_uppercase(),
            distinct,
            arguments,
            over,
            partition_by: match over {
                true => self.window_keys(&tokens[end + 1..], labels),
                false => Vec::new(),
            },
            span: self.span_of(&tokens[at..end]),
            column: None,
        }
    }

    /// Keys of `(PARTITION BY a, b ORDER BY c)`.
    fn window_keys(&self, tokens: &[usize], labels: &Labels) -> Vec<Expression> {
        let word = |at: usize| tokens.get(at).map_or("", |&token| self.token(token));
        if (word(0), word(1), word(2)) != ("(", "PARTITION", "BY") {
            return Vec::new();
        }
        let mut depth = 0i32;
        let inner = tokens[3..].iter().take_while(|&&token| {
            let text = self.token(token);
            depth += match text {
                "(" => 1,
                ")" => -1,
                _ => 0,
            };
            depth >= 0 && text != "ORDER" && text != "ROWS"
        });
        self.argument_expressions(&tokens[3..3 + inner.count()], labels)
    }

    /// Positions of the brackets of a call after a name that ends before `at`, with or without type
    /// arguments.
    pub(super) fn call_brackets(&self, tokens: &[usize], at: usize) -> Option<(usize, usize)> {
        let mut open = at;
        if self.is_at(tokens, open, "<") {
            let close = |&token: &usize| self.token(token) == ">";
            open += tokens[open..].iter().take(32).position(close)? + 1;
        }
        if !self.is_at(tokens, open, "(") {
            return None;
        }
        let mut depth = 0i32;
        for (position, &token) in tokens.iter().enumerate().skip(open) {
            depth += match self.token(token) {
                "(" => 1,
                ")" => -1,
                _ => 0,
            };
            if depth == 0 {
                return Some((open, position));
            }
        }
        None
    }

    fn argument_expressions(&self, tokens: &[usize], labels: &Labels) -> Vec<Expression> {
        let mut depth = 0i32;
        let parts = tokens.split(|&token| {
            match self.token(token) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                "," => return depth == 0,
                _ => {}
            }
            false
        });
        let arguments = parts.filter(|part| !part.is_empty());
        arguments
            .map(|part| self.expression_of(part, labels))
            .collect()
    }
}
