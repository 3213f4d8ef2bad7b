//! The parts of Spark SQL that a plan is compared with: words, strings, joins. Not a parser: text that it does not
//! understand is passed over.

use crate::script::Span;

/// A token of a query: a word, a number, a string, or one other character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub span: Span,
    /// Number of open parentheses around it.
    pub depth: usize,
}

/// A `JOIN` with its table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlJoin {
    /// From `JOIN` to the end of its condition.
    pub span: Span,
    /// The alias of the joined table, else its name; empty for a subquery without an alias.
    pub table: String,
    /// The word `SELECT` of the query with the join.
    pub select: Option<Span>,
}

/// A hint, such as `COALESCE(1)` in `/*+ COALESCE(1), BROADCAST(a) */`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlHint {
    pub span: Span,
    /// In capital letters.
    pub name: String,
    pub arguments: Vec<Span>,
    /// The comment with all its hints, and their number.
    pub comment: Span,
    pub of: usize,
}

/// The hints of a query, in order.
pub fn hints(text: &str, span: &Span) -> Vec<SqlHint> {
    let mut found = Vec::new();
    for comment in tokens(text, span) {
        let comment = comment.span;
        let inner = text[comment.clone()].strip_prefix("/*+");
        let Some(inner) = inner.and_then(|t| t.strip_suffix("*/")) else {
            continue;
        };
        let start = comment.start + 3;
        let words = tokens(text, &(start..start + inner.len()));
        let outer = words.iter().enumerate().filter(|(_, t)| t.depth == 0);
        let names = outer.filter(|(_, t)| is_word(text.as_bytes()[t.span.start]));
        let own = names.map(|(at, name)| {
            let after = &words[at + 1..];
            let open = after.first().is_some_and(|t| text[t.span.clone()] == *"(");
            let inside = after.iter().skip(1).take_while(|t| t.depth > 0);
            let inside: Vec<&Token> = inside.filter(|_| open).collect();
            let arguments = inside.split(|t| t.depth == 1 && text[t.span.clone()] == *",");
            let arguments = arguments.filter(|part| !part.is_empty());
            let close = after.get(inside.len() + 1).filter(|_| open);
            SqlHint {
                span: name.span.start..close.map_or(name.span.end, |t| t.span.end),
                name: text[name.span.clone()].to_ascii_uppercase(),
                arguments: arguments
                    .map(|part| part[0].span.start..part[part.len() - 1].span.end)
                    .collect(),
                comment: comment.clone(),
                of: 0,
            }
        });
        let own: Vec<SqlHint> = own.collect();
        let of = own.len();
        found.extend(own.into_iter().map(|hint| SqlHint { of, ..hint }));
    }
    found
}

/// Tokens of `text[span]`, without comments except hints.
pub fn tokens(text: &str, span: &Span) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut at = span.start;
    let (mut found, mut depth) = (Vec::new(), 0_usize);
    while at < span.end {
        let start = at;
        let rest = &text[at..span.end];
        let c = bytes[at];
        at += match c {
            b'-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            b'/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |n| n + 2),
            b'\'' | b'"' | b'`' => {
                let close = rest[1..].find(char::from(c));
                close.map_or(rest.len(), |n| n + 2)
            }
            _ if is_word(c) => {
                let end = rest.bytes().position(|b| !is_word(b));
                end.unwrap_or(rest.len())
            }
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
        let comment = rest.starts_with("--") || rest.starts_with("/*") && !rest.starts_with("/*+");
        if c.is_ascii_whitespace() || comment {
            continue;
        }
        depth = depth.saturating_sub(usize::from(c == b')'));
        found.push(Token {
            span: start..at,
            depth,
        });
        depth += usize::from(c == b'(');
    }
    found
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'.' || b >= 0x80
}

/// The joins of a query, in order.
pub fn joins(text: &str, span: &Span) -> Vec<SqlJoin> {
    const ENDS: [&str; 12] = [
        "JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "WHERE", "GROUP", "ORDER", "HAVING",
        "UNION", "LIMIT",
    ];
    let tokens = tokens(text, span);
    let word = |token: &Token| &text[token.span.clone()];
    let is = |token: &Token, word_: &str| word(token).eq_ignore_ascii_case(word_);
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, t)| is(t, "JOIN")) {
        let same = |other: &&Token| other.depth == token.depth;
        let after = &tokens[at + 1..];
        let inside = after.iter().take_while(|t| t.depth >= token.depth);
        let mut own = inside.filter(same);
        let end = own
            .clone()
            .find(|t| ENDS.iter().any(|end| is(t, end)) || word(t) == ";");
        let last = tokens.iter().rfind(|t| {
            t.span.start >= token.span.start
                && t.depth >= token.depth
                && end.is_none_or(|end| t.span.start < end.span.start)
        });
        let before_condition = |t: &&Token| !is(t, "ON") && !is(t, "USING");
        let named: Vec<&str> = own
            .by_ref()
            .take_while(before_condition)
            .map(word)
            .collect();
        let alias = named
            .iter()
            .rfind(|w| w.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '`')));
        let mut before = tokens[..at].iter().rev();
        found.push(SqlJoin {
            span: token.span.start..last.map_or(token.span.end, |t| t.span.end),
            table: alias.map_or_else(String::new, |w| (*w).to_owned()),
            select: before
                .find(|t| t.depth <= token.depth && is(t, "SELECT"))
                .map(|t| t.span.clone()),
        });
    }
    found
}

/// Clauses that begin with a word, up to the next clause of their query.
pub fn clauses(text: &str, span: &Span, word: &str) -> Vec<Span> {
    const FIRST: [&str; 10] = [
        "SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "UNION", "LIMIT", "LATERAL", "OVER",
    ];
    let tokens = tokens(text, span);
    let is = |token: &Token, word: &str| text[token.span.clone()].eq_ignore_ascii_case(word);
    let begins = tokens.iter().enumerate().filter(|(_, t)| is(t, word));
    let clause = begins.map(|(at, token)| {
        let own = tokens[at + 1..].iter().take_while(|t| {
            let next = t.depth == token.depth && FIRST.iter().any(|first| is(t, first));
            t.depth >= token.depth && !next
        });
        token.span.start..own.last().map_or(token.span.end, |t| t.span.end)
    });
    clause.collect()
}

/// The first token with this text.
pub fn word(text: &str, span: &Span, word: &str) -> Option<Span> {
    let tokens = tokens(text, span);
    let mut same = tokens.into_iter().map(|t| t.span);
    same.find(|span| {
        text[span.clone()]
            .trim_matches('`')
            .eq_ignore_ascii_case(word)
    })
}

/// The alias of the first table behind `FROM`, else its name.
pub fn first_table(text: &str, span: &Span) -> Option<String> {
    let tokens = tokens(text, span);
    let is = |token: &Token, word: &str| text[token.span.clone()].eq_ignore_ascii_case(word);
    let from = tokens.iter().position(|t| is(t, "FROM"))?;
    let depth = tokens[from].depth;
    let words = tokens[from + 1..].iter().map(|t| &text[t.span.clone()]);
    let kinds = [
        "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "OUTER", "SEMI", "ANTI", "AS",
    ];
    let named = words.filter(|w| !kinds.iter().any(|kind| kind.eq_ignore_ascii_case(w)));
    let named: Vec<&str> = named.collect();
    let plain = |w: &&str| w.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let only_names = tokens[from + 1..].iter().all(|t| t.depth == depth) && named.iter().all(plain);
    named
        .last()
        .filter(|_| only_names && named.len() <= 2)
        .map(|w| (*w).to_owned())
}
