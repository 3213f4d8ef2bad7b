//! Keeps rows that several actions need; streams rows to the driver instead of collecting them.

use job::code::{Argument, Call, Program, Scope, only};

use super::{Rewrite, indentation, lines_after, partitions};

const ACTIONS: &str =
    "collect|count|show|toPandas|first|take|parquet|save|saveAsTable|saveAsTextFile";

/// Caches the rows that a statement assigns.
pub fn cache(program: &Program, statement: usize) -> Option<Rewrite> {
    kept(program, statement, "cache")
}

/// Stores the rows that each round of a loop hands to the next one, without the plan that computes them. `None` unless the
/// loops with actions have a single such name.
pub fn checkpoint(program: &Program, scope: &Scope) -> Option<Rewrite> {
    let carried = (0..program.statements.len())
        .filter(|at| scope.contains(*at) && program.assigns_rows(*at) && is_carried(program, *at));
    kept(program, only(carried)?, "localCheckpoint")
}

/// Returns true if a statement is the last one in a loop with an action that assigns its name, and the next round reads it.
fn is_carried(program: &Program, statement: usize) -> bool {
    let statements = &program.statements;
    let body = program.loop_around(statement);
    let Some((body, name)) = body.zip(statements[statement].target.as_deref()) else {
        return false;
    };
    let is_action = |call: &Call| ACTIONS.split('|').any(|action| action == call.name);
    let mut calls = program.calls.iter();
    let acts = calls.any(|call| is_action(call) && body.contains(&call.span.start));
    let mut own = (0..statements.len()).filter(|at| body.contains(&statements[*at].span.start));
    let assigns = |at: &usize| statements[*at].target.as_deref() == Some(name);
    let is_last = own.clone().rfind(assigns) == Some(statement);
    // a read before the first assignment is of the round before
    let first = own.find(|at| assigns(at) || statements[*at].reads.contains(name));
    acts && is_last && first.is_some_and(|at| statements[at].reads.contains(name))
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
        reorders: partitions::is_unstable(program) || program.text.contains("seed="),
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
        reorders: partitions::is_unstable(program),
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

#[cfg(test)]
mod tests {
    use job::code::{Program, Scope};

    use super::checkpoint;

    #[test]
    fn only_rows_of_the_next_round_are_checkpointed() {
        for (body, after) in [
            (
                "    d = d.where(\"x\")\n    d = d.join(e, \"k\")\n    print(d.count())\n",
                Some(
                    "    d = d.where(\"x\")\n    d = d.join(e, \"k\").localCheckpoint()\n    print(d.count())\n",
                ),
            ),
            (
                "    n = d.join(e, \"k\")\n    n.count()\n    d = n.select(\"k\")\n",
                Some(
                    "    n = d.join(e, \"k\")\n    n.count()\n    d = n.select(\"k\").localCheckpoint()\n",
                ),
            ),
            // no round reads the rows of another
            ("    n = d.where(\"x\")\n    n.count()\n", None),
            // no round has an action
            ("    d = d.where(\"x\")\n", None),
            // two names pass to the next round
            (
                "    d = d.join(e, \"k\")\n    e = e.where(\"x\")\n    d.count()\n",
                None,
            ),
            ("    d = d.where(\"x\").cache()\n    d.count()\n", None),
        ] {
            let head = "d = t.select(\"k\", \"x\")\ne = t.select(\"k\")\nfor i in range(9):\n";
            let text = format!("{head}{body}");
            let program = Program::parse("a.py", &text);
            let rewrite = checkpoint(&program, &Scope::whole(&program));
            let changed = rewrite.and_then(|rewrite| rewrite.apply(&text));
            assert_eq!(
                changed,
                after.map(|after| format!("{head}{after}")),
                "{body}"
            );
        }
    }
}
