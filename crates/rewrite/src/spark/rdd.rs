//! Aggregates the values of a key before the shuffle.

use job::code::{Call, Program, Scope};

use super::Rewrite;

/// `groupByKey().mapValues(f)` as `reduceByKey`, for a function that merges in steps.
pub fn reduce_by_key(program: &Program, statement: usize) -> Option<Rewrite> {
    let mut of_values = program
        .calls
        .iter()
        .filter(|c| c.name == "mapValues" && c.arguments.len() == 1);
    let map = of_values.find(|c| c.statement == statement && grouping(program, c).is_some())?;
    let group = grouping(program, map)?;
    let count: String = match group.arguments.as_slice() {
        [] => String::new(),
        [only] => format!(", {}", program.text_of(only.node)),
        _ => return None,
    };
    let (before, merge) = match folded(program, map)? {
        "sum" => ("", "lambda a, b: a + b"),
        "len" => (".mapValues(lambda _: 1)", "lambda a, b: a + b"),
        "max" => ("", "max"),
        "min" => ("", "min"),
        _ => return None,
    };
    let mut rewrite = Rewrite::default();
    let text = format!("{before}.reduceByKey({merge}{count})");
    rewrite.replace(statement, group.span.start..map.span.end, text);
    Some(rewrite)
}

/// Moves a filter of the key from behind the shuffle of an RDD before it.
pub fn early_filter(program: &Program, scope: &Scope) -> Option<Rewrite> {
    let syntax = &program.syntax;
    let mut rewrite = Rewrite::default();
    let filters = program.calls.iter().filter(|c| c.name == "filter");
    for filter in filters.filter(|c| scope.contains(c.statement)) {
        let [condition] = filter.arguments.as_slice() else {
            continue;
        };
        let mut shuffle = filter.receiver.and_then(|at| program.call_of(at));
        while let Some(call) = shuffle.filter(|c| matches!(c.name.as_str(), "mapValues")) {
            shuffle = call.receiver.and_then(|at| program.call_of(at));
        }
        let by_key = |c: &&Call| {
            matches!(
                c.name.as_str(),
                "reduceByKey" | "groupByKey" | "aggregateByKey" | "foldByKey"
            )
        };
        let Some(shuffle) = shuffle.filter(by_key) else {
            continue;
        };
        let text = program.text_of(condition.node);
        let name = syntax
            .child(condition.node, "parameters")
            .map(|at| program.text_of(at));
        let Some(name) = name.filter(|_| syntax.kind(condition.node) == "lambda") else {
            continue;
        };
        let key = format!("{name}[0]");
        let is_key = |at: usize| program.text_of(syntax.nodes[at].parent) == key;
        let body = syntax.child(condition.node, "body");
        let mut inner = body.into_iter().flat_map(|at| syntax.subtree(at));
        let of_key = inner.all(|at| match syntax.kind(at) {
            "identifier" => program.text_of(at) == name && is_key(at),
            kind => !matches!(kind, "call" | "lambda"),
        });
        if of_key {
            let start = shuffle.span.start;
            rewrite.replace(filter.statement, start..start, format!(".filter({text})"));
            rewrite.replace(filter.statement, filter.span.clone(), "");
        }
    }
    (!rewrite.edits.is_empty()).then_some(rewrite)
}

fn grouping<'p>(program: &'p Program, map: &Call) -> Option<&'p Call> {
    let group = program.call_of(map.receiver?)?;
    (group.name == "groupByKey").then_some(group)
}

/// The function that a `mapValues` applies to all values: `sum` for `sum` and for `lambda v: sum(v)`.
fn folded<'p>(program: &'p Program, map: &Call) -> Option<&'p str> {
    let argument = map.arguments.first()?.node;
    if program.syntax.kind(argument) == "identifier" {
        return Some(program.text_of(argument));
    }
    let body = program
        .syntax
        .child(argument, "body")
        .filter(|_| program.syntax.kind(argument) == "lambda")?;
    let call = program.call_of(body)?;
    let name = program.text_of(program.syntax.child(argument, "parameters")?);
    let [value] = call.arguments.as_slice() else {
        return None;
    };
    let text = program.text_of(value.node);
    let own = text
        .strip_prefix("list(")
        .and_then(|t| t.strip_suffix(')'))
        .unwrap_or(text);
    (call.receiver.is_none() && own == name).then_some(call.name.as_str())
}
