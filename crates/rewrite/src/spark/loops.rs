//! Computes a value per key in one grouped job instead of one job per key.

use std::collections::BTreeSet;

use job::code::{Call, Program, Scope};

use super::Rewrite;
use crate::indentation;

/// Most names that are followed from a loop to the rows that its keys come from.
const MOST_NAMES: usize = 8;

/// A job that a loop over the keys of a column runs once per key, as `df.where(col("k") == key).count()`.
struct PerKey<'p> {
    /// The expression that starts the job.
    node: usize,
    /// The rows before the filter.
    rows: usize,
    column: &'p str,
    /// The variable of the loop.
    key: &'p str,
    /// Arguments of `agg`; `None` for a count.
    aggregates: Option<usize>,
    /// The `for` statement or comprehension.
    looped: usize,
}

/// Jobs of a loop over the distinct values of a column, as `df.where(col("k") == key).agg(…).first()` or `….count()`: each
/// becomes a look-up in the rows of one `groupBy` before the loop.
pub fn grouped(program: &Program, scope: &Scope) -> Option<Rewrite> {
    let mut rewrite = Rewrite {
        // keys that are null have no rows in a filter, and rows in a group
        reorders: true,
        ..Rewrite::default()
    };
    let mut lines: Vec<(usize, String, String)> = Vec::new();
    for call in &program.calls {
        let Some(job) = PerKey::of(program, call).filter(|_| scope.contains(call.statement)) else {
            continue;
        };
        let mut changed = rewrite.clone();
        let Some((start, grouped)) = job.once(program, call.statement, &mut changed) else {
            continue;
        };
        let known = lines.iter().find(|l| (l.0, &l.1) == (start, &grouped));
        let name = match known {
            Some((_, _, name)) => name.clone(),
            None => {
                let name = free_name(program, job.column, lines.len())?;
                let line = format!("{name} = {grouped}\n{}", indentation(&program.text, start));
                changed.replace(call.statement, start..start, line);
                lines.push((start, grouped, name.clone()));
                name
            }
        };
        let value = match job.aggregates {
            Some(_) => format!("{name}[{}]", job.key),
            None => format!("{name}.get({}, 0)", job.key),
        };
        changed.replace(call.statement, program.syntax.span(job.node), value);
        rewrite = changed;
    }
    (!rewrite.edits.is_empty()).then_some(rewrite)
}

impl<'p> PerKey<'p> {
    fn of(program: &'p Program, call: &Call) -> Option<PerKey<'p>> {
        let syntax = &program.syntax;
        let above = syntax.nodes[call.node].parent;
        let first_of_all = || {
            let position = syntax.child(above, "subscript")?;
            (program.integer(position) == Some(0)).then_some(above)
        };
        let (node, is_count) = match call.name.as_str() {
            _ if !call.arguments.is_empty() => return None,
            "count" => (call.node, true),
            "first" | "head" => (call.node, false),
            "collect" => (first_of_all()?, false),
            _ => return None,
        };
        let mut before = program.call_of(call.receiver?)?;
        let mut aggregates = None;
        if !is_count {
            let list = syntax.child(before.node, "arguments");
            aggregates = Some(list.filter(|_| before.name == "agg")?);
            before = program.call_of(before.receiver?)?;
        }
        let filter = Some(before).filter(|c| matches!(c.name.as_str(), "where" | "filter"))?;
        let [condition] = filter.arguments.as_slice() else {
            return None;
        };
        let (column, key) = equality(program, condition.node)?;
        let mut around = syntax.upward(node).skip(1);
        let looped = around.find(|at| keys_of(program, *at, key).is_some())?;
        Some(PerKey {
            node,
            rows: filter.receiver?,
            column,
            key,
            aggregates,
            looped,
        })
    }

    /// The start of the loop's statement and the dictionary of all keys to insert there, if no other variable of the loop decides on the
    /// values. Edits the positions of columns, because a grouped row begins with its key.
    fn once(
        &self,
        program: &Program,
        statement: usize,
        rewrite: &mut Rewrite,
    ) -> Option<(usize, String)> {
        let syntax = &program.syntax;
        let is_statement = syntax.kind(self.looped) == "for_statement";
        let start = match is_statement {
            true => syntax.span(self.looped).start,
            false => program.statements.get(statement)?.span.start,
        };
        let starts_line = program.text[..start]
            .trim_end_matches([' ', '\t'])
            .chars()
            .next_back()
            .is_none_or(|c| c == '\n');
        let keys = keys_of(program, self.looped, self.key)?;
        if !starts_line || !are_distinct(program, keys, statement, self.column) {
            return None;
        }
        let changing: BTreeSet<&str> = syntax
            .subtree(self.looped)
            .filter(|at| syntax.nodes[*at].field == Some("left"))
            .flat_map(|at| names(program, at))
            .collect();
        let mut read = names(program, self.rows).chain(
            self.aggregates
                .into_iter()
                .flat_map(|at| names(program, at)),
        );
        if read.any(|name| changing.contains(name)) {
            return None;
        }
        let (rows, column) = (program.text_of(self.rows), self.column);
        let by_key = |value: &str, of: &str| {
            format!(
                "{{row[\"{column}\"]: {value} for row in {rows}.groupBy(\"{column}\").{of}.collect()}}"
            )
        };
        let Some(aggregates) = self.aggregates else {
            return Some((start, by_key("row[\"count\"]", "count()")));
        };
        self.shift_columns(program, statement, rewrite)?;
        let of = format!("agg{}", program.text_of(aggregates));
        Some((start, by_key("row", &of)))
    }

    /// Adds one to the positions by which the loop reads columns of the row. `None` if it uses the row in another way.
    fn shift_columns(
        &self,
        program: &Program,
        statement: usize,
        rewrite: &mut Rewrite,
    ) -> Option<()> {
        let syntax = &program.syntax;
        let known = program.statements.get(statement)?;
        let name = known.target.as_deref();
        let name = name.filter(|_| known.value == Some(self.node));
        let Some(name) = name else {
            return self
                .shift_column(program, self.node, statement, rewrite)
                .map(|_| ());
        };
        let body = syntax.child(self.looped, "body")?;
        let is_of_comprehension = |at: usize| {
            let mut above = syntax.upward(at);
            above.any(|at| {
                syntax.kind(at) != "for_statement" && keys_of(program, at, name).is_some()
            })
        };
        let is_use = |at: &usize| {
            let field = syntax.nodes[*at].field;
            syntax.kind(*at) == "identifier"
                && !matches!(field, Some("attribute" | "left"))
                && program.text_of(*at) == name
                && !is_of_comprehension(*at)
        };
        let mut shifted = false;
        for row in syntax.subtree(body).filter(is_use) {
            shifted |= self.shift_column(program, row, statement, rewrite)?;
        }
        let is_own = (0..syntax.nodes.len()).filter(is_use).count()
            == syntax.subtree(body).filter(is_use).count();
        (is_own || !shifted).then_some(())
    }

    /// Adds one to the position in `row[2]`, and returns whether there is one. `None` unless a column of the row is read.
    fn shift_column(
        &self,
        program: &Program,
        row: usize,
        statement: usize,
        rewrite: &mut Rewrite,
    ) -> Option<bool> {
        let syntax = &program.syntax;
        let above = syntax.nodes[row].parent;
        match syntax.kind(above) {
            "subscript" if syntax.child(above, "value") == Some(row) => {
                let column = syntax.child(above, "subscript")?;
                let Some(position) = program.integer(column) else {
                    return program.string(column).map(|_| false);
                };
                rewrite.replace(statement, syntax.span(column), (position + 1).to_string());
                Some(true)
            }
            "attribute" if syntax.nodes[above].field != Some("function") => Some(false),
            _ => None,
        }
    }
}

/// The column and the name in a condition `col("k") == key`.
fn equality(program: &Program, condition: usize) -> Option<(&str, &str)> {
    let syntax = &program.syntax;
    let sides: Vec<usize> = syntax.children(condition).collect();
    let [left, right] = sides[..] else {
        return None;
    };
    let between = program
        .text
        .get(syntax.span(left).end..syntax.span(right).start)?;
    let is_equal = syntax.kind(condition) == "comparison_operator" && between.trim() == "==";
    let name = |at: usize| (syntax.kind(at) == "identifier").then(|| program.text_of(at));
    let found = column_of(program, left)
        .zip(name(right))
        .or_else(|| column_of(program, right).zip(name(left)));
    found.filter(|_| is_equal)
}

/// The name of a column: `col("k")`, `df["k"]` or `df.k`.
pub(super) fn column_of(program: &Program, node: usize) -> Option<&str> {
    let syntax = &program.syntax;
    match syntax.kind(node) {
        "call" => {
            let call = program.call_of(node).filter(|call| call.name == "col")?;
            program.string(call.arguments.first()?.node)
        }
        "subscript" => program.string(syntax.child(node, "subscript")?),
        "attribute" => Some(program.text_of(syntax.child(node, "attribute")?)),
        _ => None,
    }
}

/// The values that a loop or comprehension gives to a name.
fn keys_of(program: &Program, node: usize, name: &str) -> Option<usize> {
    let syntax = &program.syntax;
    let binds = |at: &usize| {
        let left = syntax.child(*at, "left").map(|at| program.text_of(at));
        left == Some(name)
    };
    let head = match syntax.kind(node) {
        "for_statement" => Some(node).filter(binds),
        _ => syntax
            .children(node)
            .filter(|at| syntax.kind(*at) == "for_in_clause")
            .find(binds),
    };
    syntax.child(head?, "right")
}

/// Whether values are the distinct ones of a column: other values may have another type than the column, or no rows.
fn are_distinct(program: &Program, values: usize, statement: usize, column: &str) -> bool {
    let syntax = &program.syntax;
    let mut open = vec![values];
    let mut seen = BTreeSet::new();
    while let Some(node) = open.pop().filter(|_| seen.len() < MOST_NAMES) {
        let is_distinct = |at: usize| {
            let call = program.call_of(at);
            call.is_some_and(|c| matches!(c.name.as_str(), "distinct" | "dropDuplicates"))
        };
        let is_column = |at: usize| {
            program.string(at) == Some(column)
                || syntax.nodes[at].field == Some("attribute") && program.text_of(at) == column
        };
        if syntax.subtree(node).any(is_distinct) && syntax.subtree(node).any(is_column) {
            return true;
        }
        for at in syntax.subtree(node) {
            let bound = program.bound(at, statement);
            if bound != at && seen.insert(bound) {
                open.push(bound);
            }
        }
    }
    false
}

fn names(program: &Program, node: usize) -> impl Iterator<Item = &str> {
    let syntax = &program.syntax;
    let names = syntax.subtree(node).filter(|at| {
        syntax.kind(*at) == "identifier" && syntax.nodes[*at].field != Some("attribute")
    });
    names.map(|at| program.text_of(at))
}

/// A name for the dictionary of a column that the program does not use.
fn free_name(program: &Program, column: &str, others: usize) -> Option<String> {
    let is_name = column.chars().all(|c| c.is_alphanumeric() || c == '_');
    let name = match others {
        0 => format!("by_{column}"),
        _ => format!("by_{column}_{}", others + 1),
    };
    let is_used = names(program, 0).any(|used| used == name);
    (is_name && !is_used).then_some(name)
}

#[cfg(test)]
mod tests {
    use job::code::{Program, Scope};

    use super::grouped;

    const HEAD: &str = "from pyspark.sql import functions as F\nkeys = [r[0] for r in d.select(\"k\").distinct().collect()]\n";

    fn changed(text: &str) -> Option<String> {
        let program = Program::parse("a.py", &format!("{HEAD}{text}"));
        let rewrite = grouped(&program, &Scope::whole(&program))?;
        let changed = rewrite.apply(&program.text)?;
        assert!(Program::parse("a.py", &changed).is_sound());
        Some(changed[HEAD.len()..].to_owned())
    }

    #[test]
    fn one_grouped_job_replaces_a_job_per_key() {
        for (before, after) in [
            (
                "def f(d):\n    for k in keys:\n        n = d.where(F.col(\"k\") == k).count()\n        print(k, n)\n",
                "def f(d):\n    by_k = {row[\"k\"]: row[\"count\"] for row in d.groupBy(\"k\").count().collect()}\n    for k in keys:\n        n = by_k.get(k, 0)\n        print(k, n)\n",
            ),
            (
                "for k in sorted(keys):\n    r = d.filter(d[\"k\"] == k).agg(F.sum(\"a\"), F.max(\"b\").alias(\"m\")).first()\n    print(r[0], r[\"m\"])\n",
                "by_k = {row[\"k\"]: row for row in d.groupBy(\"k\").agg(F.sum(\"a\"), F.max(\"b\").alias(\"m\")).collect()}\nfor k in sorted(keys):\n    r = by_k[k]\n    print(r[1], r[\"m\"])\n",
            ),
            (
                "s = {k: d.where(k == d.k).agg(F.sum(\"a\")).collect()[0][0] for k in keys}\n",
                "by_k = {row[\"k\"]: row for row in d.groupBy(\"k\").agg(F.sum(\"a\")).collect()}\ns = {k: by_k[k][1] for k in keys}\n",
            ),
        ] {
            assert_eq!(changed(before).as_deref(), Some(after), "{before}");
        }
    }

    #[test]
    fn other_loops_stay() {
        for text in [
            // a key that is in no row, or has another type than the column
            "for k in [\"a\", \"b\"]:\n    n = d.where(F.col(\"k\") == k).count()\n",
            "for k in keys:\n    n = d.where(F.col(\"other\") == k).count()\n",
            // the loop changes the rows
            "for k in keys:\n    d = d.where(F.col(\"j\") > 1)\n    n = d.where(F.col(\"k\") == k).count()\n",
            "for k in keys:\n    n = d.where(F.col(\"a\") > 1).where(F.col(\"j\") == k).count()\n",
            // the whole row is used, or its columns after the loop
            "for k in keys:\n    r = d.where(F.col(\"k\") == k).agg(F.sum(\"a\")).first()\n    print(r)\n",
            "for k in keys:\n    r = d.where(F.col(\"k\") == k).agg(F.sum(\"a\")).first()\n    print(r[0])\nprint(r[0])\n",
            "n = d.where(F.col(\"k\") == k).count()\n",
        ] {
            assert_eq!(changed(text), None, "{text}");
        }
    }
}
