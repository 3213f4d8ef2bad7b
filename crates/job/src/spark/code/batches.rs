//! Whether the Python functions that get batches of rows work on whole columns.

use std::collections::{BTreeSet, HashMap};

use super::{Call, Program, only};

/// Methods that call a function with batches or groups of rows; the first two pass an iterator over batches.
const BATCHED: [&str; 5] = [
    "mapInPandas",
    "mapInArrow",
    "applyInPandas",
    "applyInArrow",
    "pandas_udf",
];

/// Methods of pandas that call Python for each row.
const BY_ROW: [&str; 6] = [
    "apply",
    "applymap",
    "iterrows",
    "itertuples",
    "map",
    "to_dict",
];

impl Program {
    /// Whether the program has functions of batches, and neither these functions nor the functions that they call go through single rows.
    pub fn works_on_columns(&self) -> bool {
        let calls = || self.calls.iter().filter(|call| is_batched(call));
        if calls().next().is_none() {
            return false;
        }
        let mut named: HashMap<&str, Vec<usize>> = HashMap::new();
        for (name, function) in self.functions() {
            named.entry(name).or_default().push(function);
        }
        let mut open: Vec<usize> = Vec::new();
        let mut over_batches: BTreeSet<&str> = BTreeSet::new();
        for call in calls() {
            let Some(function) = self.function_of(call, &named) else {
                return false;
            };
            let parameters = self.syntax.child(function, "parameters");
            let first = parameters.and_then(|list| self.syntax.subtree(list).nth(1));
            let text = first.map_or("", |at| self.text_of(at));
            if call.name.starts_with("mapIn") || text.contains("Iterator") {
                over_batches.extend(text.split(':').next());
            }
            open.push(function);
        }
        let mut seen: BTreeSet<usize> = open.iter().copied().collect();
        while let Some(function) = open.pop() {
            if self.goes_through_rows(function, &over_batches) {
                return false;
            }
            let called = self.calls_in(function);
            let called = called.filter_map(|call| named.get(call.name.as_str()));
            open.extend(called.flatten().filter(|at| seen.insert(**at)));
        }
        true
    }

    /// The function that a call of [`BATCHED`] gets, or that it decorates.
    fn function_of(&self, call: &Call, named: &HashMap<&str, Vec<usize>>) -> Option<usize> {
        let passed = call.arguments.first().map(|argument| argument.node);
        let by_name = passed.and_then(|node| named.get(self.text_of(node))?.first());
        by_name.copied().or_else(|| {
            let mut above = self.syntax.upward(call.node);
            let decorated = above.find(|at| self.syntax.kind(*at) == "decorated_definition")?;
            self.syntax.child(decorated, "definition")
        })
    }

    /// The functions that a program defines, by name.
    pub fn functions(&self) -> impl Iterator<Item = (&str, usize)> {
        let syntax = &self.syntax;
        let defined =
            (0..syntax.nodes.len()).filter(|at| syntax.kind(*at) == "function_definition");
        defined.filter_map(|at| Some((self.text_of(syntax.child(at, "name")?), at)))
    }

    /// The only function with a name.
    pub fn function_with(&self, is_name: impl Fn(&str) -> bool) -> Option<usize> {
        let named = self.functions().filter(|(name, _)| is_name(name));
        only(named).map(|(_, function)| function)
    }

    fn calls_in(&self, function: usize) -> impl Iterator<Item = &Call> {
        let within = self.syntax.span(function);
        self.calls
            .iter()
            .filter(move |c| within.contains(&c.span.start))
    }

    /// Whether a function calls Python for each row, or has a loop over more than a range or its batches.
    fn goes_through_rows(&self, function: usize, over_batches: &BTreeSet<&str>) -> bool {
        let mut calls = self.calls_in(function);
        let by_row = calls.any(|c| c.receiver.is_some() && BY_ROW.contains(&c.name.as_str()));
        let mut loops = self.syntax.subtree(function).filter(|at| {
            matches!(
                self.syntax.kind(*at),
                "for_statement" | "for_in_clause" | "while_statement"
            )
        });
        let is_over_rows = |at: usize| {
            let over = self.syntax.child(at, "right").map(|at| self.text_of(at));
            over.is_none_or(|over| !over.starts_with("range(") && !over_batches.contains(over))
        };
        by_row || loops.any(is_over_rows)
    }
}

fn is_batched(call: &Call) -> bool {
    BATCHED.contains(&call.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_over_batches_are_no_loops_over_rows() {
        let frames = "def f(frames):\n    for frame in frames:\n        yield g(frame)\n";
        for (text, expected) in [
            ("df.mapInPandas(f, s)\ndef g(x):\n    return x * 2\n", true),
            (
                "df.mapInPandas(f, s)\ndef g(x):\n    return x.apply(h)\n",
                false,
            ),
            (
                "df.mapInPandas(f, s)\ndef g(x):\n    return [h(r) for r in x]\n",
                false,
            ),
            (
                "df.mapInPandas(f, s)\ndef g(x):\n    for _ in range(9):\n        x = x + 1\n    return x\n",
                true,
            ),
            ("df.groupBy(\"k\").applyInPandas(f, s)\n", false),
            ("@pandas_udf(\"long\")\ndef g(x):\n    return x + 1\n", true),
            ("df.count()\n", false),
        ] {
            let program = Program::parse("a.py", &format!("import os\n{frames}{text}"));
            assert_eq!(program.works_on_columns(), expected, "{text}");
        }
    }
}
