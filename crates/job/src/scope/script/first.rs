//! Clauses that take the first rows.

use super::{Query, Script, Span};

impl Script {
    /// `n` of a plain `TOP n` or `TOP (n)`.
    pub fn top(&self, query: &Query) -> Option<u64> {
        let tokens = self.tokens_in(&query.top.as_ref()?.span);
        let words: Vec<&str> = tokens.map(|(_, _, text)| text).collect();
        let words = words.strip_prefix(&["TOP"]).unwrap_or(&words);
        match words {
            [number] | ["(", number, ")"] => number.parse().ok(),
            _ => None,
        }
    }

    /// `n` of `FETCH n ROWS` behind the order of a query, and its place; `None` with an `OFFSET`.
    pub fn fetch(&self, query: &Query) -> Option<(u64, Span)> {
        let from = query.order_by.last()?.expression.span.end;
        let behind = from..query.span.end;
        let mut tokens = self
            .tokens_in(&behind)
            .skip_while(|(_, _, text)| matches!(*text, "ASC" | "DESC"))
            .peekable();
        let (_, first, _) = tokens.next_if(|(_, _, text)| *text == "FETCH")?;
        tokens.next_if(|(_, _, text)| matches!(*text, "FIRST" | "NEXT"));
        let (_, mut last, number) = tokens.next()?;
        while let Some((_, span, _)) =
            tokens.next_if(|(_, _, text)| matches!(*text, "ROW" | "ROWS" | "ONLY"))
        {
            last = span;
        }
        Some((number.parse().ok()?, first.start..last.end))
    }
}
