//! Prepares a function of batches once per task instead of once per batch.

use job::code::{Call, Program, only};

use super::{Rewrite, add_import};
use crate::indentation;

/// Makes a `pandas_udf` of one column that calls a function before it uses its batch, as one that loads a model, an iterator of
/// batches: the calls before the first use run once for all batches of a task.
pub fn prepared_once(program: &Program, call: &Call) -> Option<Rewrite> {
    let syntax = &program.syntax;
    let function = program.function_named_by(call)?;
    let above = syntax.nodes[function].parent;
    let decorators = syntax
        .children(above)
        .filter(|at| syntax.kind(*at) == "decorator");
    let decorator = only(decorators).map(|at| program.text_of(at))?;
    decorator.contains("pandas_udf").then_some(())?;
    let parameters = syntax.child(function, "parameters")?;
    let parameter = only(syntax.children(parameters))?;
    let batch = syntax.children(parameter).next()?;
    let of_batch = syntax
        .child(parameter, "type")
        .map(|at| program.text_of(at))?;
    let returned = syntax.child(function, "return_type")?;
    if of_batch.contains("Iterator") || syntax.kind(batch) != "identifier" {
        return None;
    }
    let batch = program.text_of(batch);
    let body = syntax.child(function, "body")?;
    let statements: Vec<usize> = syntax.children(body).collect();
    let uses = |at: usize, name: &str| {
        let mut nodes = syntax.subtree(at);
        nodes.any(|at| syntax.kind(at) == "identifier" && program.text_of(at) == name)
    };
    let first = statements.iter().position(|at| uses(*at, batch))?;
    let (before, rest) = statements.split_at(first);
    let (last, between) = rest.split_last()?;
    let value = syntax.children(*last).next()?;
    let calls = |at: &usize| syntax.subtree(*at).any(|at| syntax.kind(at) == "call");
    // a function that returns in several places, or not at its end, has another shape as a generator
    let returns = |at: &usize| {
        syntax
            .subtree(*at)
            .any(|at| syntax.kind(at) == "return_statement")
    };
    let is_simple = syntax.kind(*last) == "return_statement"
        && !before.iter().chain(between).any(returns)
        && before.iter().any(calls)
        && !uses(function, "batches");
    if !is_simple {
        return None;
    }
    let mut rewrite = Rewrite {
        reorders: true,
        ..Rewrite::default()
    };
    add_import(program, "typing", "Iterator", "Iterator", &mut rewrite)?;
    let statement = call.statement;
    let span = syntax.span(parameter);
    rewrite.replace(statement, span, format!("batches: Iterator[{of_batch}]"));
    let of_returned = program.text_of(returned).to_owned();
    rewrite.replace(
        statement,
        syntax.span(returned),
        format!("Iterator[{of_returned}]"),
    );
    let start = syntax.span(rest[0]).start;
    let indent = indentation(&program.text, start).to_owned();
    let head = program.slice(&(start..syntax.span(*last).start));
    let all = format!("{head}yield {}", program.text_of(value));
    let deeper = all.replace('\n', "\n    ");
    let looped = format!("for {batch} in batches:\n{indent}    {deeper}");
    rewrite.replace(statement, start..syntax.span(*last).end, looped);
    Some(rewrite)
}

#[cfg(test)]
mod tests {
    use job::code::Program;

    use super::prepared_once;

    const HEAD: &str = "import pandas as pd\nfrom pyspark.sql import functions as F\n";

    fn changed(function: &str) -> Option<String> {
        let text = format!("{HEAD}{function}\nr = d.select(f(\"s\").alias(\"u\"))\n");
        let program = Program::parse("a.py", &text);
        let call = program.calls.iter().find(|call| call.name == "f")?;
        prepared_once(&program, call)?.apply(&text)
    }

    #[test]
    fn a_model_is_loaded_once_per_task() {
        let before = "\n@F.pandas_udf(\"double\")\ndef f(texts: pd.Series) -> pd.Series:\n    model = load()\n    known = texts.map(\n        len\n    )\n    return known * model\n";
        let after = "\nfrom typing import Iterator\n\n@F.pandas_udf(\"double\")\ndef f(batches: Iterator[pd.Series]) -> Iterator[pd.Series]:\n    model = load()\n    for texts in batches:\n        known = texts.map(\n            len\n        )\n        yield known * model\n";
        let changed = changed(before).expect("a change");
        assert!(changed.contains(after.trim_start()), "{changed}");
    }

    #[test]
    fn other_functions_stay() {
        let decorator = "@F.pandas_udf(\"double\")\n";
        for function in [
            // no call before the batch
            "def f(a: pd.Series) -> pd.Series:\n    return a * 2\n",
            "def f(a: pd.Series) -> pd.Series:\n    n = 2\n    return a * n\n",
            // the loaded model depends on the batch
            "def f(a: pd.Series) -> pd.Series:\n    model = load(a)\n    return a * model\n",
            "def f(a: pd.Series) -> pd.Series:\n    model = load()\n    if a.empty:\n        return a\n    return a * model\n",
            "def f(a: pd.Series, b: pd.Series) -> pd.Series:\n    model = load()\n    return a * b * model\n",
            "def f(a: Iterator[pd.Series]) -> Iterator[pd.Series]:\n    model = load()\n    return map(model, a)\n",
            // the declared types choose how Spark calls it
            "def f(a):\n    model = load()\n    return a * model\n",
        ] {
            assert_eq!(
                changed(&format!("{decorator}{function}")),
                None,
                "{function}"
            );
        }
    }
}
