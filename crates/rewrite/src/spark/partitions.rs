//! Removes, changes and adds partitionings.

use std::collections::BTreeSet;

use job::code::{Call, Place, Program, Scope, only, sql};

use super::{Rewrite, call};

/// Removes a `repartition`, `coalesce` or `partitionBy`, or a `DISTRIBUTE BY` of a query.
pub fn remove(program: &Program, place: &Place) -> Option<Rewrite> {
    let mut rewrite = Rewrite {
        reorders: depends_on_partitions(program),
        ..Rewrite::default()
    };
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

/// Gives a partitioning or a source another number of partitions: in the argument that is this number, or where a name or
/// a call that stands for nothing else gets it.
pub fn resize(program: &Program, place: &Place, old: u64, new: u64) -> Option<Rewrite> {
    let call = call(program, place)?;
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
    let mut rewrite = Rewrite {
        reorders: depends_on_partitions(program),
        ..Rewrite::default()
    };
    for (start, end) in spans {
        rewrite.replace(place.statement, start..end, new.to_string());
    }
    (old != new && !rewrite.edits.is_empty()).then_some(rewrite)
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
        reorders: depends_on_partitions(program),
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

/// Whether results may depend on the partitions of the rows.
fn depends_on_partitions(program: &Program) -> bool {
    const DEPENDENT: [&str; 14] = [
        "mapPartitions",
        "mapPartitionsWithIndex",
        "mapInPandas",
        "mapInArrow",
        "glom",
        "zipWithIndex",
        "zipWithUniqueId",
        "monotonically_increasing_id",
        "spark_partition_id",
        "rand",
        "randn",
        "sample",
        "randomSplit",
        "ALS",
    ];
    program
        .calls
        .iter()
        .any(|call| DEPENDENT.contains(&call.name.as_str()))
}

/// Spreads the rows behind a call over more tasks.
pub fn spread(program: &Program, place: &Place, count: u64) -> Option<Rewrite> {
    let call = call(program, place)?;
    let mut rewrite = Rewrite {
        reorders: depends_on_partitions(program),
        ..Rewrite::default()
    };
    rewrite.replace(
        call.statement,
        call.span.end..call.span.end,
        format!(".repartition({count})"),
    );
    Some(rewrite)
}
