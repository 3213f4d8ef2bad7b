//! Keeps rows that several actions need; streams rows to the driver instead of collecting them.

use job::code::{Argument, Program, Scope, only};

use super::{Rewrite, indentation, lines_after, partitions};

const ACTIONS: &str =
    "collect|count|show|toPandas|first|take|parquet|save|saveAsTable|saveAsTextFile";

/// Functions with other values in each computation.
const RANDOM: &str = "rand(|randn(|uuid(|monotonically_increasing_id(|sample(|shuffle(";

/// Whether a text has such functions.
pub(super) fn is_random(text: &str) -> bool {
    RANDOM.split('|').any(|function| text.contains(function))
}

/// Caches the rows that a statement assigns.
pub fn cache(program: &Program, statement: usize) -> Option<Rewrite> {
    kept(program, statement, "cache")
}

/// Stores the rows that a statement assigns without the plan that computes them, which grows in each round of a loop.
pub fn checkpoint(program: &Program, statement: usize) -> Option<Rewrite> {
    kept(program, statement, "localCheckpoint")
}

fn kept(program: &Program, statement: usize, method: &str) -> Option<Rewrite> {
    let value = program.statements.get(statement)?.value?;
    if !program.assigns_rows(statement) {
        return None;
    }
    let span = program.syntax.span(value);
    let text = program.slice(&span);
    if [".cache(", ".persist(", "heckpoint("]
        .iter()
        .any(|kept| text.contains(kept))
    {
        return None;
    }
    let mut rewrite = Rewrite {
        // a seeded algorithm depends on the order of the rows, which changes with the columns that are read
        reorders: is_random(text)
            || program.text.contains("seed=")
            || program.text.contains("randomSplit("),
        ..Rewrite::default()
    };
    rewrite.replace(statement, span.end..span.end, format!(".{method}()"));
    Some(rewrite)
}

/// Removes the only cache of the code that a change may edit.
pub fn uncache(program: &Program, scope: &Scope) -> Option<Rewrite> {
    let kept = program.calls.iter().filter(|call| {
        matches!(call.name.as_str(), "cache" | "persist") && scope.contains(call.statement)
    });
    let call = only(kept)?;
    let receiver = call.receiver.map_or("", |at| program.text_of(at));
    let rewrite = Rewrite {
        reorders: is_random(&program.text),
        ..Rewrite::default()
    };
    let freed = program.text.contains("unpersist(");
    let is_used = !freed && !receiver.is_empty();
    is_used.then(|| partitions::without_call(program, call, rewrite))
}

/// Lets the only cache in memory of the code that a change may edit use the disk. An RDD's `cache()` uses memory alone.
pub fn spill_to_disk(program: &Program, scope: &Scope) -> Option<Rewrite> {
    let in_memory = |argument: &Argument| {
        let level = program.syntax.span(argument.node);
        let start = level.start + program.slice(&level).rfind("MEMORY_ONLY")?;
        Some(start..level.end)
    };
    let kept = program.calls.iter().filter(|call| {
        let level = call.arguments.first();
        matches!(call.name.as_str(), "cache" | "persist")
            && scope.contains(call.statement)
            && level.is_none_or(|level| in_memory(level).is_some())
    });
    let call = only(kept)?;
    let mut rewrite = Rewrite::default();
    match call.arguments.first() {
        Some(level) => rewrite.replace(call.statement, in_memory(level)?, "MEMORY_AND_DISK"),
        None => {
            let level = super::storage_level(program, &mut rewrite)?;
            let text = format!(".persist({level}.MEMORY_AND_DISK)");
            rewrite.replace(call.statement, call.span.clone(), text);
        }
    }
    Some(rewrite)
}

/// Frees the rows that the program caches and never frees, after the last statement that needs them.
pub fn free(program: &Program, scope: &Scope) -> Option<Rewrite> {
    let mut rewrite = Rewrite::default();
    let kept = program.calls.iter().filter(|call| {
        matches!(call.name.as_str(), "cache" | "persist") && scope.contains(call.statement)
    });
    for call in kept {
        let statement = &program.statements[call.statement];
        let last = program.last_use(call.statement);
        let (Some(name), Some(last)) = (statement.target.as_deref(), last) else {
            continue;
        };
        let is_action = |at: usize| {
            let mut calls = program.calls.iter().filter(|call| call.statement == at);
            calls.any(|call| ACTIONS.split('|').any(|action| action == call.name))
        };
        let used_later = (last + 1..program.statements.len()).any(is_action);
        let freed = program.text.contains(&format!("{name}.unpersist("));
        let at_top = |at: usize| program.statements[at].function.is_none();
        let whole = statement.value == Some(call.node) && is_action(last);
        let indented = indentation(&program.text, program.statements[last].span.start);
        if used_later && !freed && whole && at_top(last) && indented.is_empty() {
            lines_after(
                program,
                last,
                &[format!("{name}.unpersist()")],
                &mut rewrite,
            )?;
        }
    }
    (!rewrite.edits.is_empty()).then_some(rewrite)
}

/// `for row in df.collect()` as `for row in df.toLocalIterator()`.
pub fn stream(program: &Program, scope: &Scope) -> Option<Rewrite> {
    let collected = program.calls.iter().filter(|call| {
        let node = &program.syntax.nodes[call.node];
        let looped =
            program.syntax.kind(node.parent) == "for_statement" && node.field == Some("right");
        let fits = call.name == "collect" && call.arguments.is_empty() && looped;
        fits && scope.contains(call.statement)
    });
    let mut rewrite = Rewrite::default();
    for call in collected {
        rewrite.replace(call.statement, call.span.clone(), ".toLocalIterator()");
    }
    (!rewrite.edits.is_empty()).then_some(rewrite)
}

/// `df.count() > 0` as a look at one row.
pub fn any_row(program: &Program, scope: &Scope) -> Option<Rewrite> {
    let mut rewrite = Rewrite::default();
    let counts = program
        .calls
        .iter()
        .filter(|call| call.name == "count" && call.arguments.is_empty())
        .filter(|call| scope.contains(call.statement));
    for call in counts {
        let parent = program.syntax.nodes[call.node].parent;
        let text = program.text_of(parent);
        let rest = text.strip_prefix(program.text_of(call.node)).map(str::trim);
        let compared = program.syntax.kind(parent) == "comparison_operator";
        let operator = match rest.filter(|_| compared) {
            Some("> 0" | "!= 0" | ">= 1") => ">",
            Some("== 0" | "< 1") => "==",
            _ => continue,
        };
        let receiver = program.text_of(call.receiver?);
        let text = format!("len({receiver}.take(1)) {operator} 0");
        rewrite.replace(call.statement, program.syntax.span(parent), text);
    }
    (!rewrite.edits.is_empty()).then_some(rewrite)
}
