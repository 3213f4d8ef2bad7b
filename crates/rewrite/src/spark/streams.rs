//! Changes of streaming queries.

use job::code::{Program, Scope};

use super::Rewrite;

/// Lets each micro-batch read `times` as much: the limit may be a number, a text, or a setting of the application.
pub fn larger_batches(
    program: &Program,
    scope: &Scope,
    configured: impl Fn(&str) -> Option<u64>,
    times: u64,
) -> Option<Rewrite> {
    let mut calls = program
        .calls
        .iter()
        .filter(|call| scope.contains(call.statement));
    let (call, limit) = calls.find_map(|call| Some((call, program.limit_of(call)?)))?;
    let syntax = &program.syntax;
    let texts = syntax.subtree(limit).filter_map(|at| program.string(at));
    let now = program.integer(limit).or_else(|| {
        let mut texts = texts;
        texts.find_map(|text| text.parse().ok().or_else(|| configured(text)))
    })?;
    let quote = match syntax.kind(limit) {
        "string" => "\"",
        _ => "",
    };
    let mut rewrite = Rewrite {
        reorders: true,
        ..Rewrite::default()
    };
    let limit = syntax.span(limit);
    let larger = now.saturating_mul(times);
    rewrite.replace(call.statement, limit, format!("{quote}{larger}{quote}"));
    Some(rewrite)
}
