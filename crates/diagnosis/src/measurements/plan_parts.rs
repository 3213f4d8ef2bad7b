//! Parts of plans, which several executions may have in common.

use std::collections::{BTreeMap, BTreeSet};

use job::model::SparkNode;

/// Parts of plans, identified by the origin of their rows: files, and the conditions, joins, groups and
/// functions on the way. Projections and aggregates differ with the needed columns, so they don't count.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// The number of a part, by its last step and its input parts.
    numbers: BTreeMap<(String, Vec<usize>), usize>,
    pub(crate) steps: Vec<usize>,
}

impl Parts {
    /// The part that each node of a plan completes; `None` for a node that reads no files, or reads a cache.
    pub(crate) fn parts_of(&mut self, plan: &[SparkNode]) -> Vec<Option<usize>> {
        let parsed = parsed(plan);
        let mut below: Vec<Option<Vec<usize>>> = vec![Some(Vec::new()); plan.len()];
        let mut all = vec![None; plan.len()];
        // a node is listed before its inputs
        for (at, node) in plan.iter().enumerate().rev() {
            let inputs = below[at].take();
            let own = inputs.and_then(|inputs| self.completed_by(node, inputs, &parsed));
            if let Some(parent) = node.parent.filter(|p| *p < at) {
                match (own, &mut below[parent]) {
                    (Some(own), Some(inputs)) => inputs.push(own),
                    (None, inputs) => *inputs = None,
                    (_, None) => {}
                }
            }
            all[at] = own;
        }
        all
    }

    fn completed_by(
        &mut self,
        node: &SparkNode,
        inputs: Vec<usize>,
        parsed: &BTreeSet<&str>,
    ) -> Option<usize> {
        if node.reads_cache() {
            return None;
        }
        if inputs.is_empty() {
            let files = files(node).filter(|_| !node.stages.is_empty())?;
            // without parsing, reading the same files for different results repeats little
            let own: Vec<&str> = own_columns(node, parsed).collect();
            let is_step = is_text(node) || !own.is_empty();
            let source = format!("{files} {}", own.join(" "));
            return Some(self.number(source, inputs, usize::from(is_step)));
        }
        match (step(node), inputs.as_slice()) {
            (None, [only]) => Some(*only),
            (None, _) => Some(self.number(String::new(), inputs, 0)),
            (Some(step), _) => Some(self.number(step, inputs, 1)),
        }
    }

    fn number(&mut self, step: String, inputs: Vec<usize>, own: usize) -> usize {
        let before: usize = inputs.iter().map(|part| self.steps[*part]).sum();
        let steps = &mut self.steps;
        let numbers = self.numbers.entry((step, inputs));
        *numbers.or_insert_with(|| {
            steps.push(before.saturating_add(own));
            steps.len() - 1
        })
    }
}

/// Whether each node of a plan computes the rows of a cache.
pub(crate) fn below_caches(plan: &[SparkNode]) -> Vec<bool> {
    let mut below = vec![false; plan.len()];
    for at in 0..plan.len() {
        let parent = plan[at].parent.filter(|parent| *parent < at);
        below[at] = parent.is_some_and(|p| below[p] || plan[p].reads_cache());
    }
    below
}

/// Formats whose rows are parsed whole, whatever columns a query needs.
const TEXTS: [&str; 4] = ["CSV", "JSON", "Text", "XML"];

fn is_text(scan: &SparkNode) -> bool {
    let format = scan.metadata.get("Format");
    format.is_some_and(|format| TEXTS.contains(&format.as_str()))
}

/// Functions that parse a document in a column, whatever fields a query needs.
const PARSERS: [&str; 5] = [
    "from_json(",
    "from_xml(",
    "from_csv(",
    "get_json_object(",
    "parse_json(",
];

/// The columns, as `payload#1`, with documents that a plan parses.
fn parsed(plan: &[SparkNode]) -> BTreeSet<&str> {
    let calls = plan.iter().flat_map(|node| {
        let calls = PARSERS.iter().map(|parser| node.text.split(parser).skip(1));
        calls.flatten()
    });
    calls.filter_map(first_column).collect()
}

/// The first column with its number in a text.
fn first_column(text: &str) -> Option<&str> {
    numbered(text).next()
}

/// The names of the columns in a text.
pub(crate) fn columns_in(text: &str) -> impl Iterator<Item = &str> {
    numbered(text).filter_map(|column| column.split('#').next())
}

/// The columns in a text, as `payload#1`.
fn numbered(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices('#').filter_map(move |(at, _)| {
        let before = text[..at].rfind(|c| !is_part(c));
        let start = before.map_or(0, |at| {
            at + text[at..].chars().next().map_or(1, char::len_utf8)
        });
        let digits = text[at + 1..]
            .bytes()
            .take_while(u8::is_ascii_digit)
            .count();
        (start < at && digits > 0).then(|| &text[start..=at + digits])
    })
}

/// The conditions that must all hold: what `AND` connects outside of other parentheses.
pub(crate) fn conjuncts(text: &str) -> Vec<&str> {
    let (mut open, mut found) = (vec![text], Vec::new());
    while let Some(text) = open.pop() {
        let text = text.trim();
        let (mut depth, mut from, mut own, mut closed) = (0_i32, 0, Vec::new(), text.len());
        for (at, byte) in text.bytes().enumerate() {
            match byte {
                b'(' => depth += 1,
                b')' => depth -= 1,
                b' ' if depth == 0 && text[at..].starts_with(" AND ") => {
                    own.push(&text[from..at]);
                    from = at + " AND ".len();
                }
                _ => {}
            }
            if depth == 0 {
                closed = closed.min(at + 1);
            }
        }
        let is_enclosed = text.starts_with('(') && closed == text.len() && text.ends_with(')');
        match own.is_empty() {
            true if is_enclosed => open.push(&text[1..text.len() - 1]),
            true => found.push(text),
            false => open.extend(own.into_iter().chain([&text[from..]])),
        }
    }
    found
}

/// The inputs of a node, in order.
pub(crate) fn inputs_of(plan: &[SparkNode], at: usize) -> impl Iterator<Item = usize> {
    (at + 1..plan.len()).filter(move |below| plan[*below].parent == Some(at))
}

/// The input of a node; `None` if it has several.
pub(crate) fn input_of(plan: &[SparkNode], at: usize) -> Option<usize> {
    let mut inputs = inputs_of(plan, at);
    inputs.next().filter(|_| inputs.next().is_none())
}

/// Nodes that neither drop rows nor move them.
const TRANSPARENT: [&str; 5] = [
    "InputAdapter",
    "AQEShuffleRead",
    "ShuffleQueryStage",
    "Project",
    "Sort",
];

fn is_transparent(node: &SparkNode) -> bool {
    node.name.starts_with("WholeStageCodegen") || TRANSPARENT.contains(&node.name.trim())
}

/// The next node below that is not transparent; `None` if there are several inputs.
pub(crate) fn opaque_below(plan: &[SparkNode], at: usize) -> Option<usize> {
    let mut below = input_of(plan, at)?;
    while is_transparent(&plan[below]) {
        below = input_of(plan, below)?;
    }
    Some(below)
}

/// The node itself, or the next one above it that is not transparent.
pub(crate) fn opaque_above(plan: &[SparkNode], mut at: usize) -> usize {
    while let Some(parent) = plan[at].parent.filter(|_| is_transparent(&plan[at])) {
        at = parent;
    }
    at
}

/// Rows out of a node: its own count, or the one of the next node below it that counts them.
pub(crate) fn rows_from(plan: &[SparkNode], mut at: usize) -> Option<f64> {
    loop {
        if let Some(rows) = plan[at].metric("number of output rows") {
            return Some(rows);
        }
        at = input_of(plan, at)?;
    }
}

/// The names of the columns of a scan that are among `columns`.
fn own_columns<'a>(scan: &SparkNode, columns: &BTreeSet<&'a str>) -> impl Iterator<Item = &'a str> {
    let own = columns.iter().filter(|column| scan.text.contains(**column));
    own.filter_map(|column| column.split('#').next())
        .collect::<Vec<_>>()
        .into_iter()
}

/// Stages that run a node and its subtree.
pub(crate) fn stages_below(plan: &[SparkNode], node: usize) -> BTreeSet<usize> {
    let mut is_below = vec![false; plan.len()];
    let mut stages = BTreeSet::new();
    for at in node..plan.len() {
        let parent = plan[at].parent;
        is_below[at] = at == node || parent.is_some_and(|p| is_below[p]);
        let counts = files(&plan[at]).is_some() || step(&plan[at]).is_some();
        if is_below[at] && counts {
            stages.extend(&plan[at].stages);
        }
    }
    stages
}

pub(crate) fn files(node: &SparkNode) -> Option<String> {
    let is_scan = node.name.starts_with("Scan") || node.name.starts_with("FileScan");
    let place = node.metadata.get("Location").filter(|_| is_scan)?;
    let filters = node.metadata.get("PartitionFilters").map(|f| plain(f));
    Some(format!("{place} {}", filters.unwrap_or_default()))
}

/// The step of a computing node, without Spark's column numbers. A condition that only
/// excludes nulls was generated for a join and does not count.
fn step(node: &SparkNode) -> Option<String> {
    const STEPS: [&str; 6] = [
        "Filter",
        "Join",
        "EvalPython",
        "Generate",
        "MapInPandas",
        "Window",
    ];
    if node.name.contains("Aggregate") {
        let text = plain(&node.text);
        // `key=[` in a SortAggregate
        let keys = text.split_once("=[")?.1.split(']').next()?;
        return Some(format!("groups of [{keys}]"));
    }
    let text = plain(&node.text);
    if node.name.trim() == "Project" {
        let functions = innermost_functions(&text);
        return (!functions.is_empty()).then(|| format!("functions of {functions:?}"));
    }
    if !STEPS.iter().any(|s| node.name.contains(s)) {
        return None;
    }
    let conditions = text.strip_prefix("Filter");
    let is_trivial = conditions.is_some_and(|all| {
        all.split(" AND ")
            .all(|c| c.trim_matches([' ', '(', ')']).starts_with("isnotnull"))
    });
    (!is_trivial).then_some(text)
}

/// The arguments of the innermost calls of a program's functions in an expression: what several projections compute first.
fn innermost_functions(text: &str) -> BTreeSet<&str> {
    let calls = text.split("UDF(").skip(1);
    let arguments = calls.filter_map(|rest| rest.split_once(')'));
    let arguments = arguments.map(|(arguments, _)| arguments.trim());
    arguments.filter(|a| !a.is_empty()).collect()
}

/// A text of the plan without the numbers of columns: `amount` of `amount#12L`.
fn plain(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c != '#' {
            kept.push(c);
            continue;
        }
        while rest.next_if(|c| c.is_ascii_digit()).is_some() {}
        rest.next_if(|c| *c == 'L');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, text: &str) -> SparkNode {
        SparkNode {
            name: name.into(),
            text: text.into(),
            ..SparkNode::default()
        }
    }

    #[test]
    fn steps_are_compared_without_the_numbers_of_columns() {
        for (name, text, expected) in [
            (
                "Filter",
                "Filter (edit#12 > 10)",
                Some("Filter (edit > 10)"),
            ),
            (
                "Filter",
                "Filter (isnotnull(a#1L) AND isnotnull(b#2))",
                None,
            ),
            ("Project", "Project [a#1L]", None),
            (
                "Project",
                "Project [UDF(UDF(body#2)) AS words#3, a#1L]",
                Some("functions of {\"body\"}"),
            ),
            (
                "HashAggregate",
                "HashAggregate(keys=[a#1, b#2L], functions=[partial_sum(c#3)])",
                Some("groups of [a, b]"),
            ),
            (
                "SortAggregate",
                "SortAggregate(key=[a#1], functions=[partial_max(c#3)])",
                Some("groups of [a]"),
            ),
        ] {
            assert_eq!(step(&node(name, text)).as_deref(), expected, "{text}");
        }
    }
}
