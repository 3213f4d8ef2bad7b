//! Changes with a result that is known without execution: hints alone, and rewrites of the
//! rules.

use std::collections::{HashMap, HashSet};

use job::script::{Script, TokenKind};

use crate::tokens::{each_query, immaterial, plain};

/// Tokens of a script that matter to its result. Names that only the script binds are numbered by first
/// appearance.
fn normal(script: &Script, before: &Script) -> Option<Vec<(TokenKind, String)>> {
    let bound = bound_names(script, before);
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let (mut tokens, immaterial) = (Vec::new(), immaterial(script));
    for statement in &script.statements {
        for (kind, text) in plain(script, statement, &immaterial) {
            let count = numbers.len();
            let text = match bound.contains(text) {
                true => format!("\0{}", *numbers.entry(text).or_insert(count)),
                false => text.to_owned(),
            };
            tokens.push((kind, text));
        }
        tokens.push((TokenKind::Punct, "\0;".to_owned()));
    }
    tokens.extend(outside_statements(script).map(|text| (TokenKind::Directive, text.to_owned())));
    script.errors.is_empty().then_some(tokens)
}

/// Texts that belong to no statement: directives and the branches of `#IF` that are not taken.
pub(crate) fn outside_statements(script: &Script) -> impl Iterator<Item = &str> {
    let whole = 0..script.text.len();
    let tokens = script.tokens_in(&whole);
    let tokens: Vec<_> = tokens.collect();
    let mut statements = script.statements.iter().peekable();
    tokens.into_iter().filter_map(move |(kind, span, text)| {
        while statements.next_if(|s| s.span.end <= span.start).is_some() {}
        let outside = statements.peek().is_none_or(|s| span.start < s.span.start);
        (outside || kind == TokenKind::Directive).then_some(text)
    })
}

/// Names of rowsets, columns and aliases that a script binds and that are no word of the other.
fn bound_names<'s>(script: &'s Script, before: &Script) -> HashSet<&'s str> {
    let known: HashSet<&str> = before
        .statements
        .iter()
        .flat_map(|s| before.tokens_in(&s.span))
        .map(|(_, _, text)| text)
        .collect();
    let mut names = HashSet::new();
    for statement in &script.statements {
        let mut add = |name: Option<&'s str>| {
            names.extend(name.filter(|name| !known.contains(name)));
        };
        add(statement.target.as_deref());
        each_query(&statement.query, &mut |query| {
            query
                .inputs
                .iter()
                .for_each(|input| add(input.alias.as_deref()));
            query
                .columns
                .iter()
                .for_each(|column| add(column.name.as_deref()));
        });
    }
    names
}

/// Whether two scripts differ in hints, comments and blanks alone.
pub(crate) fn only_hints(before: &Script, after: &Script) -> bool {
    let tokens = normal(before, before);
    tokens.is_some() && tokens == normal(after, before)
}

/// Whether a changed script is one that a known rewrite makes of `before`, up to hints and the
/// names that it introduces.
pub(crate) fn is_known(before: &Script, after: &Script, known: &[String]) -> bool {
    let Some(tokens) = normal(after, before) else {
        return false;
    };
    known.iter().any(|text| {
        let known = Script::parse(&before.file, text.clone());
        normal(&known, before).is_some_and(|known| known == tokens)
    })
}
