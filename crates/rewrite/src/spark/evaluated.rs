//! Evaluates a slow Python function less often: once per row instead of twice, or once per distinct value.

use job::code::{Call, Program, only};

use super::declared::code_of;
use super::loops::column_of;
use super::{Rewrite, indentation, on_rows};

/// Methods of rows that compute columns, where a function that is not deterministic may be.
const COLUMNS: &str = "withColumn|withColumns|select";

/// Where such a function may not be: other methods of rows, and aggregations.
const OTHERS: &str = "where|filter|agg|groupBy|join|orderBy|sort|over|pivot|sum|count|avg|mean|min|max|first|last|collect_list|collect_set|countDistinct|count_distinct|approx_count_distinct|stddev|variance";

/// Words in a function that returns other values in each call.
const IMPURE: [&str; 6] = ["random", "uuid", "now(", "today(", ".time(", "global "];

/// Words in a function that waits for another system, such as a service or a database.
const WAITING: [&str; 10] = [
    "requests.",
    "urlopen",
    "http",
    "client",
    "socket",
    "sleep(",
    "connect",
    "cursor",
    "redis",
    "session.",
];

/// Marks a function as nondeterministic, so that Spark does not evaluate it a second time for a filter of its result. Filters of
/// other columns then run after the function too, so it may meet values that they removed before.
pub fn once_per_row(program: &Program, call: &Call) -> Option<Rewrite> {
    let syntax = &program.syntax;
    let mut above = syntax.upward(call.node).skip(1);
    let is_of = |name: &str, methods: &str| methods.split('|').any(|own| own == name);
    let is_column = above.find_map(|at| {
        let name = program.call_of(at)?.name.as_str();
        (is_of(name, COLUMNS) || is_of(name, OTHERS)).then(|| is_of(name, COLUMNS))
    });
    let is_own = |other: &&Call| match call.name.as_str() {
        "" => other.node == call.node,
        name => other.name == name,
    };
    // each call of such a function is evaluated on its own
    let is_single = program.calls.iter().filter(is_own).count() == 1;
    if is_column != Some(true) || !is_single || program.text.contains("asNondeterministic") {
        return None;
    }
    const MARK: &str = ".asNondeterministic()";
    let mut rewrite = Rewrite {
        reorders: true,
        ..Rewrite::default()
    };
    let name = call.name.as_str();
    let is_udf = |at: &usize| syntax.kind(*at) == "call" && program.text_of(*at).contains("udf(");
    let mut assigned = program
        .statements
        .iter()
        .filter(|s| s.target.as_deref() == Some(name));
    let made = match assigned.next() {
        Some(assigned) => assigned.value.filter(|_| assigned.scopes.is_empty()),
        None => syntax.child(call.node, "function"),
    };
    if let Some(made) = made.filter(is_udf) {
        let end = syntax.span(made).end;
        rewrite.replace(call.statement, end..end, MARK);
        return Some(rewrite);
    }
    let function = program.function_with(|own| own == name)?;
    let decorated = syntax.nodes[function].parent;
    let head = program.slice(&(syntax.span(decorated).start..syntax.span(function).start));
    let end = syntax.span(decorated).end;
    let indent = indentation(&program.text, syntax.span(decorated).start);
    let line = format!("\n{indent}{name} = {name}{MARK}");
    rewrite.replace(call.statement, end..end, line);
    (syntax.kind(decorated) == "decorated_definition" && head.contains("udf")).then_some(rewrite)
}

/// Evaluates a function of one column that waits for another system once per distinct value of the column, and joins the results with
/// the rows. Rows without a value get null.
pub fn once_per_value(program: &Program, call: &Call) -> Option<Rewrite> {
    let syntax = &program.syntax;
    let list = syntax.nodes[call.node].parent;
    let adding = program.call_of(syntax.nodes[list].parent)?;
    let [name, value] = adding.arguments.as_slice() else {
        return None;
    };
    let new = program.string(name.node)?;
    let argument = only(call.arguments.iter())?.node;
    let column = program
        .string(argument)
        .or_else(|| column_of(program, argument))?;
    let is_word = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == '_');
    let fits = adding.name == "withColumn" && value.node == call.node && new != column;
    if !fits || !is_word(column) || program.text.contains("asNondeterministic") {
        return None;
    }
    let function = program.text_of(syntax.child(call.node, "function")?);
    let code = code_of(program, call).map_or("", |at| program.text_of(at));
    let has = |words: &[&str]| words.iter().any(|word| code.contains(word));
    // a method of an object, such as a client, has no code in the program
    if has(&IMPURE) || !code.is_empty() && !has(&WAITING) {
        return None;
    }
    let new = program.text_of(name.node);
    let mut rewrite = Rewrite {
        reorders: true,
        ..Rewrite::default()
    };
    on_rows(program, adding, &mut rewrite, |rows| {
        let distinct = format!("{rows}.select(\"{column}\").distinct()");
        let computed = format!("{distinct}.withColumn({new}, {function}(\"{column}\"))");
        format!("{rows}.join({computed}, \"{column}\", \"left\").select(*{rows}.columns, {new})")
    })?;
    Some(rewrite)
}

#[cfg(test)]
mod tests {
    use job::code::{Call, Program};

    use super::{Rewrite, once_per_row, once_per_value};

    const HEAD: &str = "from pyspark.sql import functions as F\n";

    type Change = fn(&Program, &Call) -> Option<Rewrite>;

    fn changed(text: &str, change: Change) -> Option<String> {
        let program = Program::parse("a.py", &format!("{HEAD}{text}"));
        let mut calls = program.calls.iter();
        let call = calls.find(|call| call.name == "f" || call.name.is_empty())?;
        let rewrite = change(&program, call)?;
        assert!(rewrite.checked_program(&program).is_some(), "{text}");
        let changed = rewrite.apply(&program.text)?;
        Some(changed[HEAD.len()..].to_owned())
    }

    #[test]
    fn a_function_is_marked_where_it_is_made() {
        for (before, after) in [
            (
                "f = F.udf(g, T)\nr = d.withColumn(\"n\", f(\"b\")).where(\"n.x > 1\")\n",
                "f = F.udf(g, T).asNondeterministic()\nr = d.withColumn(\"n\", f(\"b\")).where(\"n.x > 1\")\n",
            ),
            (
                "@F.udf(\"int\")\ndef f(a):\n    return a + 1\n\nr = d.select(F.abs(f(\"b\")).alias(\"n\"))\n",
                "@F.udf(\"int\")\ndef f(a):\n    return a + 1\nf = f.asNondeterministic()\n\nr = d.select(F.abs(f(\"b\")).alias(\"n\"))\n",
            ),
            (
                "r = d.withColumn(\"n\", F.udf(g, T)(\"b\"))\n",
                "r = d.withColumn(\"n\", F.udf(g, T).asNondeterministic()(\"b\"))\n",
            ),
        ] {
            assert_eq!(changed(before, once_per_row).as_deref(), Some(after));
        }
        for text in [
            // each call would be evaluated on its own
            "f = F.udf(g, T)\nr = d.select(f(\"a\").x, f(\"a\").y)\n",
            // not allowed there
            "f = F.udf(g, T)\nr = d.groupBy(\"k\").agg(F.sum(f(\"a\")))\n",
            "f = F.udf(g, T)\nr = d.select(F.sum(f(\"a\")))\n",
            "f = F.udf(g, T)\nr = d.join(e, f(d.a) == e.b)\n",
            "f = F.udf(g, T).asNondeterministic()\nr = d.withColumn(\"n\", f(\"b\"))\n",
            // no function of rows
            "def f(a):\n    return a\nr = d.withColumn(\"n\", f(\"b\"))\n",
        ] {
            assert_eq!(changed(text, once_per_row), None, "{text}");
        }
    }

    #[test]
    fn a_function_is_evaluated_for_distinct_values() {
        for (before, after) in [
            (
                "f = F.udf(c.get, T)\nr = d.withColumn(\"n\", f(\"p\"))\n",
                "f = F.udf(c.get, T)\nr = d.join(d.select(\"p\").distinct().withColumn(\"n\", f(\"p\")), \"p\", \"left\").select(*d.columns, \"n\")\n",
            ),
            (
                "f = F.udf(c.get, T)\nr = (d.where(\"x > 1\")\n    .withColumn(\"n\", f(F.col(\"p\"))))\n",
                "f = F.udf(c.get, T)\nr = (d.where(\"x > 1\")\n    .transform(lambda rows: rows.join(rows.select(\"p\").distinct().withColumn(\"n\", f(\"p\")), \"p\", \"left\").select(*rows.columns, \"n\")))\n",
            ),
        ] {
            assert_eq!(changed(before, once_per_value).as_deref(), Some(after));
        }
        for text in [
            // replaces its own argument
            "f = F.udf(c.get, T)\nr = d.withColumn(\"p\", f(\"p\"))\n",
            "f = F.udf(c.get, T)\nr = d.withColumn(\"n\", f(\"p\", \"q\"))\n",
            "f = F.udf(c.get, T)\nr = d.withColumn(\"n\", f(F.lower(\"p\")))\n",
            "f = F.udf(c.get, T)\nr = d.select(f(\"p\").alias(\"n\"))\n",
            // computes by itself
            "@F.udf(\"int\")\ndef f(a):\n    return len(a)\nr = d.withColumn(\"n\", f(\"p\"))\n",
            // another value for each row
            "@F.udf(\"int\")\ndef f(a):\n    return a + random.random()\nr = d.withColumn(\"n\", f(\"p\"))\n",
        ] {
            assert_eq!(changed(text, once_per_value), None, "{text}");
        }
    }
}
