//! Adds and removes broadcast hints.

use job::code::{Call, Place, Program, Scope, only, sql};

use super::{Rewrite, call, function, without_hint};
use crate::hint::Side;

/// Broadcasts one side of a join.
pub fn broadcast(program: &Program, place: &Place, side: Side) -> Option<Rewrite> {
    let mut rewrite = Rewrite::default();
    let Some(join) = call(program, place) else {
        return in_query(program, place, side);
    };
    let node = match side {
        Side::Right => program.argument(join, 0, "other")?,
        Side::Left => join.receiver?,
    };
    let span = program.syntax.span(node);
    let text = program.slice(&span);
    // an RDD has no hints, and a hint that is there already had no effect
    if join.name != "join" || is_broadcast(text) {
        return None;
    }
    let function = function(program, "broadcast", &mut rewrite)?;
    let bare = text.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
    match bare.filter(|t| t.chars().all(|c| c.is_alphanumeric() || c == '_')) {
        Some(bare) => rewrite.replace(place.statement, span, format!("{function}({bare})")),
        None => {
            rewrite.replace(
                place.statement,
                span.start..span.start,
                format!("{function}("),
            );
            rewrite.replace(place.statement, span.end..span.end, ")");
        }
    }
    Some(rewrite)
}

fn is_broadcast(text: &str) -> bool {
    text.to_ascii_lowercase().contains("broadcast")
}

/// Salts the rows of the `large` side of a join by names: each row gets one of `parts` salts, each row of the other side all of
/// them, so every pair of rows still meets once. The join must not keep unmatched rows of the other side.
pub fn salt(program: &Program, place: &Place, large: Side, parts: u64) -> Option<Rewrite> {
    let join = call(program, place).filter(|join| join.name == "join")?;
    let other = program.argument(join, 0, "other")?;
    let on = program.argument(join, 1, "on")?;
    let names = match program.syntax.kind(on) {
        "string" => program.text_of(on),
        "list" => program.text_of(on).strip_prefix('[')?.strip_suffix(']')?,
        _ => return None,
    };
    let strings = program.syntax.subtree(on);
    let plain = [
        "string",
        "string_start",
        "string_content",
        "string_end",
        "list",
    ];
    let plain = strings
        .into_iter()
        .all(|at| plain.contains(&program.syntax.kind(at)));
    if !plain || program.text.contains("salt") {
        return None;
    }
    let mut rewrite = Rewrite::default();
    let mut spark = |name: &str| function(program, name, &mut rewrite);
    let (rand, explode, sequence, lit) = (
        spark("rand")?,
        spark("explode")?,
        spark("sequence")?,
        spark("lit")?,
    );
    let one = format!(".withColumn(\"salt\", ({rand}() * {parts}).cast(\"int\"))");
    let all = format!(
        ".withColumn(\"salt\", {explode}({sequence}({lit}(0), {lit}({}))))",
        parts.saturating_sub(1)
    );
    let (left, right) = match large {
        Side::Left => (one, all),
        Side::Right => (all, one),
    };
    let (start, other, on) = (
        join.span.start,
        program.syntax.span(other),
        program.syntax.span(on),
    );
    rewrite.replace(place.statement, start..start, left);
    rewrite.replace(place.statement, other.end..other.end, right);
    rewrite.replace(place.statement, on, format!("[{names}, \"salt\"]"));
    rewrite.replace(
        place.statement,
        join.span.end..join.span.end,
        ".drop(\"salt\")",
    );
    Some(rewrite)
}

/// `CAST(x AS INT)` as `TRY_CAST(x AS INT)`, if the queries have one cast only.
pub fn try_cast(program: &Program, scope: &Scope) -> Option<Rewrite> {
    let queries = program.queries.iter();
    let queries = queries.filter(|query| scope.contains(query.statement));
    let tokens = queries.flat_map(|query| {
        let tokens = sql::tokens(&program.text, &query.span).into_iter();
        tokens.map(|token| (query.statement, token.span))
    });
    let (statement, word) =
        only(tokens.filter(|(_, span)| program.text[span.clone()].eq_ignore_ascii_case("CAST")))?;
    let mut rewrite = Rewrite {
        reorders: true,
        ..Rewrite::default()
    };
    rewrite.replace(statement, word.start..word.start, "TRY_");
    Some(rewrite)
}

fn in_query(program: &Program, place: &Place, side: Side) -> Option<Rewrite> {
    let query = program.query_of(&place.span)?;
    let joins = sql::joins(&program.text, &query.span);
    let join = joins.iter().find(|join| join.span == place.span)?;
    let select = join.select.clone()?;
    let table = match side {
        Side::Right => join.table.clone(),
        // the left side of a later join is itself a join
        Side::Left
            if joins
                .iter()
                .filter(|other| other.select == join.select)
                .count()
                == 1 =>
        {
            sql::first_table(&program.text, &(select.end..join.span.start))?
        }
        Side::Left => return None,
    };
    // a value that is filled in may be a hint too
    let hinted = program.text[select.end..]
        .trim_start()
        .starts_with(['/', '%', '{']);
    let mut rewrite = Rewrite::default();
    rewrite.replace(
        place.statement,
        select.end..select.end,
        format!(" /*+ BROADCAST({table}) */"),
    );
    (!hinted && !table.is_empty()).then_some(rewrite)
}

/// Removes the only broadcast hint of a program, or of the statements that an action needs.
pub fn no_broadcast(program: &Program, scope: &Scope) -> Option<Rewrite> {
    let mut found: Vec<Rewrite> = program
        .calls
        .iter()
        .filter(|call| scope.contains(call.statement))
        .filter_map(|call| unhinted(program, call))
        .collect();
    let queries = program.queries.iter();
    for query in queries.filter(|query| scope.contains(query.statement)) {
        let hints = sql::hints(&program.text, &query.span).into_iter();
        found.extend(hints.filter(|hint| is_broadcast(&hint.name)).map(|hint| {
            let mut rewrite = Rewrite::default();
            without_hint(program, query.statement, &hint, &mut rewrite);
            rewrite
        }));
    }
    let only = found.pop();
    only.filter(|_| found.is_empty())
}

/// `broadcast(df)` as `df`, and `df.hint("broadcast")` as `df`.
fn unhinted(program: &Program, call: &Call) -> Option<Rewrite> {
    let argument = call.arguments.first()?.node;
    let mut rewrite = Rewrite::default();
    match call.name.as_str() {
        "hint" if is_broadcast(program.string(argument)?) => {
            rewrite.replace(call.statement, call.span.clone(), "");
        }
        // a broadcast variable is one of the context
        "broadcast" if call.arguments.len() == 1 && !of_context(program, call) => {
            let text = program.text_of(argument).to_owned();
            rewrite.replace(call.statement, program.syntax.span(call.node), text);
        }
        _ => return None,
    }
    Some(rewrite)
}

fn of_context(program: &Program, call: &Call) -> bool {
    let receiver = call.receiver.map_or("", |at| program.text_of(at));
    let last = receiver.rsplit('.').next().unwrap_or_default();
    last == "sc" || last.to_lowercase().ends_with("context")
}
