//! Filters by collected values that become semi joins: the driver neither collects the values nor builds a plan with all of them.

use job::code::{Call, Program, Scope};

use super::Rewrite;

/// A list `[row.k for row in rows.collect()]`.
struct Collected<'p> {
    /// Its statement.
    statement: usize,
    /// The rows that are collected.
    rows: usize,
    column: &'p str,
}

/// The first filter `df.where(col("k").isin(keys))` with a list of collected values that only this filter uses.
pub fn joined(program: &Program, scope: &Scope) -> Option<Rewrite> {
    let mut calls = program.calls.iter();
    calls.find_map(|call| {
        let is_filter = call.name == "isin";
        is_filter.then(|| semi_join(program, scope, call)).flatten()
    })
}

fn semi_join(program: &Program, scope: &Scope, isin: &Call) -> Option<Rewrite> {
    let is_filter = |c: &&Call| {
        let is_condition = matches!(c.arguments.as_slice(), [only] if only.node == isin.node);
        is_condition && matches!(c.name.as_str(), "where" | "filter")
    };
    let filter = program.calls.iter().find(is_filter)?;
    let [values] = isin.arguments.as_slice() else {
        return None;
    };
    let name = program.text_of(values.node).trim_start_matches('*');
    let collected = collected(program, name, isin.statement)?;
    scope.contains(collected.statement).then_some(())?;
    let column = program.call_of(isin.receiver?)?;
    let function = match column.receiver {
        Some(module) => format!("{}.{}", program.text_of(module), column.name),
        None => column.name.clone(),
    };
    (column.name == "col").then_some(())?;
    let kept = format!("kept_{}", collected.column);
    let rows = program.text_of(collected.rows);
    let join = format!(
        ".join({rows}.select({function}(\"{own}\").alias(\"{kept}\")), {left} == {function}(\"{kept}\"), \"left_semi\")",
        own = collected.column,
        left = program.text_of(column.node),
    );
    let mut rewrite = Rewrite {
        reorders: true,
        ..Rewrite::default()
    };
    // the finding is about the collection, and the filter follows it
    rewrite.replace(collected.statement, filter.span.clone(), join);
    let line = &program.statements[collected.statement].span;
    let start = program.text[..line.start]
        .rfind('\n')
        .map_or(0, |at| at + 1);
    let end = program.text[line.end..].find('\n')?;
    rewrite.replace(collected.statement, start..line.end + end + 1, "");
    Some(rewrite)
}

/// The list of a name, if a statement of the same function assigns it and only one other place reads it.
fn collected<'p>(program: &'p Program, name: &str, used_in: usize) -> Option<Collected<'p>> {
    let syntax = &program.syntax;
    let user = program.statements.get(used_in)?;
    // the assignment and the filter
    (program.uses(name, 0) == 2).then_some(())?;
    let is_definition = |at: &usize| {
        let own = &program.statements[*at];
        own.target.as_deref() == Some(name) && own.scopes == user.scopes
    };
    let statement = (0..used_in).find(is_definition)?;
    let list = program.statements[statement].value?;
    let clauses: Vec<usize> = syntax.children(list).collect();
    let [body, clause] = clauses[..] else {
        return None;
    };
    let is_list =
        syntax.kind(list) == "list_comprehension" && syntax.kind(clause) == "for_in_clause";
    let row = program.text_of(syntax.child(clause, "left")?);
    let collect = program.call_of(syntax.child(clause, "right")?)?;
    let column = match syntax.kind(body) {
        "attribute" => {
            let of = syntax.child(body, "object")?;
            let column = syntax.child(body, "attribute")?;
            (program.text_of(of) == row).then(|| program.text_of(column))
        }
        "subscript" => {
            let of = syntax.child(body, "value")?;
            let column = syntax.child(body, "subscript")?;
            program
                .string(column)
                .filter(|_| program.text_of(of) == row)
        }
        _ => None,
    };
    let is_plain = is_list && collect.name == "collect" && collect.arguments.is_empty();
    Some(Collected {
        statement,
        rows: collect.receiver.filter(|_| is_plain)?,
        column: column?,
    })
}

#[cfg(test)]
mod tests {
    use job::code::{Program, Scope};

    use super::joined;

    fn changed(text: &str) -> Option<String> {
        let program = Program::parse("a.py", text);
        let changed = joined(&program, &Scope::whole(&program))?.apply(&program.text)?;
        assert!(Program::parse("a.py", &changed).is_sound());
        Some(changed)
    }

    #[test]
    fn a_filter_by_collected_values_becomes_a_semi_join() {
        for (before, after) in [
            (
                "def f(a, d):\n    ks = [r.k for r in a.collect()]\n    return d.where(F.col(\"key\").isin(ks)).count()\n",
                "def f(a, d):\n    return d.join(a.select(F.col(\"k\").alias(\"kept_k\")), F.col(\"key\") == F.col(\"kept_k\"), \"left_semi\").count()\n",
            ),
            (
                "ks = [r[\"k\"] for r in a.select(\"k\").distinct().collect()]\ne = (\n    d.drop(\"j\")\n    .filter(col(\"k\").isin(*ks))\n)\n",
                "e = (\n    d.drop(\"j\")\n    .join(a.select(\"k\").distinct().select(col(\"k\").alias(\"kept_k\")), col(\"k\") == col(\"kept_k\"), \"left_semi\")\n)\n",
            ),
        ] {
            assert_eq!(changed(before).as_deref(), Some(after), "{before}");
        }
    }

    #[test]
    fn other_filters_stay() {
        for text in [
            // the list is used again, holds other values, or the filter is negated
            "ks = [r.k for r in a.collect()]\ne = d.where(col(\"k\").isin(ks))\nprint(len(ks))\n",
            "ks = [r.k for r in a.collect() if r.k > 3]\ne = d.where(col(\"k\").isin(ks))\n",
            "ks = [r.k + 1 for r in a.collect()]\ne = d.where(col(\"k\").isin(ks))\n",
            "ks = [r.k for r in a.take(9)]\ne = d.where(col(\"k\").isin(ks))\n",
            "ks = [r.k for r in a.collect()]\ne = d.where(~col(\"k\").isin(ks))\n",
            "ks = [1, 2]\ne = d.where(col(\"k\").isin(ks))\n",
        ] {
            assert_eq!(changed(text), None, "{text}");
        }
    }
}
