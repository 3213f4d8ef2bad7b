//! Removes, changes and adds partitionings.

use std::collections::BTreeSet;

use job::code::sql::{self, SqlHint};
use job::code::{Call, Place, Program, Scope, only};

use super::{Rewrite, call, without_hint};

/// Removes a `repartition`, `coalesce` or `partitionBy`, or a hint or `DISTRIBUTE BY` of a query; or a `distinct`, which only
/// the data makes needless.
pub fn remove(program: &Program, place: &Place) -> Option<Rewrite> {
    let mut rewrite = Rewrite {
        reorders: is_unstable(program),
        ..Rewrite::default()
    };
    let Some(call) = call(program, place) else {
        if let Some(hint) = hint_at(program, place) {
            without_hint(program, place.statement, &hint, &mut rewrite);
            return Some(rewrite);
        }
        let query = program.query_of(&place.span)?;
        let clauses = sql::clauses(&program.text, &query.span, "DISTRIBUTE");
        clauses.contains(&place.span).then_some(())?;
        let before = program.text[..place.span.start].trim_end().len();
        rewrite.replace(place.statement, before..place.span.end, "");
        return Some(rewrite);
    };
    match call.name.as_str() {
        "repartition" | "repartitionByRange" | "coalesce" | "partitionBy" | "hint" => {}
        "distinct" | "dropDuplicates" if call.arguments.is_empty() => rewrite.reorders = true,
        _ => return None,
    }
    Some(without_call(program, call, rewrite))
}

/// Removes a call that returns the rows of its receiver, with its statement if the statement does nothing else.
pub(super) fn without_call(program: &Program, call: &Call, mut rewrite: Rewrite) -> Rewrite {
    let receiver = call.receiver.map_or("", |at| program.text_of(at));
    let statement = &program.statements[call.statement];
    // `df = df.repartition(8)` has no other effect
    if statement.value == Some(call.node) && statement.target.as_deref() == Some(receiver) {
        let start = program.text[..statement.span.start]
            .rfind('\n')
            .map_or(0, |at| at + 1);
        let (rest, _) = program.text[statement.span.end..]
            .split_once('\n')
            .unwrap_or_default();
        let is_last = rest.trim().is_empty() || rest.trim_start().starts_with('#');
        let end = statement.span.end + rest.len() + 1;
        // a block must not become empty
        let at_top = statement.function.is_none() && start == statement.span.start;
        if is_last && at_top && end <= program.text.len() {
            rewrite.replace(call.statement, start..end, "");
            return rewrite;
        }
    }
    rewrite.replace(call.statement, call.span.clone(), "");
    rewrite
}

/// Gives a partitioning or a source another number of partitions: in the argument that is this number, or where a name or
/// a call that stands for nothing else gets it.
pub fn resize(program: &Program, place: &Place, old: u64, new: u64) -> Option<Rewrite> {
    let mut rewrite = Rewrite {
        reorders: is_unstable(program),
        ..Rewrite::default()
    };
    let Some(call) = call(program, place) else {
        let hint = hint_at(program, place)?;
        let (span, count) = program.count_in(&hint)?;
        rewrite.replace(place.statement, span.clone(), new.to_string());
        return (count == old && old != new).then_some(rewrite);
    };
    let syntax = &program.syntax;
    let asked = program.asks_for(call, old);
    let mut spans = BTreeSet::new();
    for (argument, written) in &asked {
        let name = program.text_of(*argument);
        let taken = asked
            .iter()
            .filter(|(other, _)| program.text_of(*other) == name);
        let taken = taken.count();
        let is_alone = |name: &str, within: usize, uses: usize| program.uses(name, within) == uses;
        let node = match written {
            None => *argument,
            Some(number) => {
                let above = syntax.nodes[number.literal].parent;
                let constant = syntax
                    .child(above, "left")
                    .filter(|_| syntax.kind(above) == "assignment");
                let passes = number.passed.is_none() || {
                    let definition = program.statements.get(call.statement)?.scopes.first()?;
                    is_alone(name, syntax.child(*definition, "body")?, taken)
                };
                let alone = match (constant, number.passed) {
                    (None, _) => true,
                    (Some(target), None) => is_alone(program.text_of(target), 0, taken + 1),
                    (Some(target), Some(_)) => is_alone(program.text_of(target), 0, 2),
                };
                match (passes && alone, number.passed) {
                    (true, _) => number.literal,
                    (false, None) => *argument,
                    (false, Some(_)) => return None,
                }
            }
        };
        let span = syntax.span(node);
        spans.insert((span.start, span.end));
    }
    for (start, end) in spans {
        rewrite.replace(place.statement, start..end, new.to_string());
    }
    (old != new && !rewrite.edits.is_empty()).then_some(rewrite)
}

/// The hint of a query at a place.
fn hint_at(program: &Program, place: &Place) -> Option<SqlHint> {
    let mut hints = program.partition_hints();
    let (_, hint) = hints.find(|(own, _)| own == place)?;
    Some(hint)
}

/// Whether code that a change may edit merges the partitions of its rows: a source with more partitions has no effect then.
pub fn merges(program: &Program, scope: &Scope) -> bool {
    let is_merge = |name: &str| name.eq_ignore_ascii_case("coalesce");
    let mut calls = program.calls.iter().filter(|c| scope.contains(c.statement));
    let of_rows = |call: &Call| {
        let first = call.arguments.first().and_then(|a| program.string(a.node));
        call.receiver.is_some() && call.arguments.len() == 1 && is_merge(&call.name)
            || call.name == "hint" && first.is_some_and(is_merge)
    };
    let mut hints = program.partition_hints();
    calls.any(of_rows)
        || hints.any(|(at, hint)| scope.contains(at.statement) && is_merge(&hint.name))
}

/// Removes the limit of rows per file from a writer.
pub fn without_file_limit(program: &Program, write: &Call) -> Option<Rewrite> {
    let mut call = program.call_of(write.receiver?)?;
    loop {
        let key = call.arguments.first().and_then(|a| program.string(a.node));
        let is_limit = key.is_some_and(|key| key.eq_ignore_ascii_case("maxRecordsPerFile"));
        if call.name == "option" && is_limit {
            let mut rewrite = Rewrite::default();
            rewrite.replace(call.statement, call.span.clone(), "");
            return Some(rewrite);
        }
        call = program.call_of(call.receiver?)?;
    }
}

/// Partitions rows by the columns by which a writer divides its files, so that one task writes all rows of a folder. A
/// `repartition` by number in the same code has no other use then.
pub fn as_written(program: &Program, write: &Call, scope: &Scope) -> Option<Rewrite> {
    let syntax = &program.syntax;
    let mut columns = None;
    let mut at = write.receiver?;
    let frame = loop {
        if let Some(call) = program.call_of(at) {
            if call.name == "partitionBy" {
                let names = call.arguments.iter();
                let names = names.map(|a| program.string(a.node).map(|_| program.text_of(a.node)));
                columns = names.collect::<Option<Vec<&str>>>();
            }
            at = call.receiver?;
        } else {
            let is_writer = syntax
                .child(at, "attribute")
                .is_some_and(|a| program.text_of(a) == "write");
            break syntax.child(at, "object").filter(|_| is_writer)?;
        }
    };
    let columns = columns.filter(|columns| !columns.is_empty())?.join(", ");
    if program
        .text_of(frame)
        .contains(&format!(".repartition({columns}"))
    {
        return None;
    }
    let mut rewrite = Rewrite {
        reorders: is_unstable(program),
        ..Rewrite::default()
    };
    let by_number = program.calls.iter().enumerate().filter(|(_, call)| {
        let fits = call.name == "repartition" && call.arguments.len() == 1;
        let same = program.statements.get(call.statement).map(|s| &s.scopes)
            == program.statements.get(write.statement).map(|s| &s.scopes);
        let number = call.arguments.first().and_then(|a| program.integer(a.node));
        fits && same && number.is_some() && scope.contains(call.statement)
    });
    if let Some((earlier, _)) = only(by_number) {
        rewrite = remove(program, &program.place_of(earlier)?)?;
    }
    let end = syntax.span(frame).end;
    rewrite.replace(
        write.statement,
        end..end,
        format!(".repartition({columns})"),
    );
    Some(rewrite)
}

/// Functions whose values depend on the partitions of the rows or their order, or differ in each computation.
const UNSTABLE: &str = "mapPartitions|mapPartitionsWithIndex|mapInPandas|mapInArrow|glom|zip|zipWithIndex|zipWithUniqueId|\
     monotonically_increasing_id|spark_partition_id|rand|randn|random|uuid|uuid4|shuffle|sample|sampleBy|randomSplit|\
     asNondeterministic|first_value|last_value|any_value|collect_list|array_agg|foreachPartition|TABLESAMPLE|ALS|limit|\
     row_number|ntile|lag|lead";

/// Functions that return the row that comes first or last, if they have arguments.
const BY_ORDER: &str = "dropDuplicates|drop_duplicates|first|last";

/// Returns true if another computation of the program's rows may return others: its code or queries name an unstable function.
pub(super) fn is_unstable(program: &Program) -> bool {
    let text = program.text.as_str();
    let is_of = |word: &str, all: &str| all.split('|').any(|own| own.eq_ignore_ascii_case(word));
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut open = text.match_indices('(');
    let is_called = open.any(|(at, _)| {
        let before = text[..at].trim_end();
        let word = before.rsplit(|c| !is_part(c)).next().unwrap_or_default();
        let is_empty = text[at + 1..].trim_start().starts_with(')');
        is_of(word, UNSTABLE) || !is_empty && is_of(word, BY_ORDER)
    });
    let mut queries = program.queries.iter();
    is_called
        || queries.any(|query| {
            let mut tokens = sql::tokens(text, &query.span).into_iter();
            tokens.any(|token| is_of(&text[token.span], "LIMIT|TABLESAMPLE"))
        })
}

/// Spreads the rows behind a call over more tasks.
pub fn spread(program: &Program, place: &Place, count: u64) -> Option<Rewrite> {
    let call = call(program, place)?;
    let mut rewrite = Rewrite {
        reorders: is_unstable(program),
        ..Rewrite::default()
    };
    rewrite.replace(
        call.statement,
        call.span.end..call.span.end,
        format!(".repartition({count})"),
    );
    Some(rewrite)
}
