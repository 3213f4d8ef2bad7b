//! Removes, changes and adds partitionings.

use job::code::{Place, Program, only, sql};

use super::{Rewrite, call};

/// Removes a `repartition`, `coalesce` or `partitionBy`, or a `DISTRIBUTE BY` of a query.
pub(crate) fn remove(program: &Program, place: &Place) -> Option<Rewrite> {
    let mut rewrite = Rewrite::default();
    let Some(call) = call(program, place) else {
        let query = program.query_of(&place.span)?;
        let clauses = sql::clauses(&program.text, &query.span, "DISTRIBUTE");
        clauses.contains(&place.span).then_some(())?;
        let before = program.text[..place.span.start].trim_end().len();
        rewrite.replace(place.statement, before..place.span.end, "");
        return Some(rewrite);
    };
    let receiver = program.text_of(call.receiver?);
    let statement = program.statements.get(call.statement)?;
    // `df = df.repartition(8)` has no other effect
    if statement.value == Some(call.node) && statement.target.as_deref() == Some(receiver) {
        let start = program.text[..statement.span.start]
            .rfind('\n')
            .map_or(0, |at| at + 1);
        let rest = &program.text[statement.span.end..];
        let alone =
            program.text[start..statement.span.start].trim().is_empty() && rest.starts_with('\n');
        // a block must not become empty
        if alone && statement.function.is_none() && start == statement.span.start {
            rewrite.replace(call.statement, start..statement.span.end + 1, "");
            return Some(rewrite);
        }
    }
    rewrite.replace(call.statement, call.span.clone(), "");
    Some(rewrite)
}

/// Gives a partitioning or a source another number of partitions.
pub(crate) fn resize(program: &Program, place: &Place, old: u64, new: u64) -> Option<Rewrite> {
    let call = call(program, place)?;
    let arguments = call.arguments.iter();
    let number = only(arguments.filter(|a| program.integer(a.node) == Some(old)))?;
    let mut rewrite = Rewrite::default();
    rewrite.replace(
        call.statement,
        program.syntax.span(number.node),
        new.to_string(),
    );
    (old != new).then_some(rewrite)
}

/// Spreads the rows behind a call over more tasks.
pub(crate) fn spread(program: &Program, place: &Place, count: u64) -> Option<Rewrite> {
    let call = call(program, place)?;
    let mut rewrite = Rewrite::default();
    rewrite.replace(
        call.statement,
        call.span.end..call.span.end,
        format!(".repartition({count})"),
    );
    Some(rewrite)
}
