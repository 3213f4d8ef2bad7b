//! Hot-key split: rows of a few key values are joined by broadcast, all others as before.
//!
//! Splits the left rows by the key, so that every left row takes exactly one way. Joins that keep or drop
//! left rows one by one then give the same rows. Joins that add unmatched rows of the right side do
//! not, and are refused, like all clauses over several rows.

use job::script::{JoinKind, Query, Script, Statement, StatementKind};

use super::Rewrite;
use super::clauses::{bind, replace};
use super::hint::{Side, broadcast_words};
use super::names::{aliased, fresh, source_text};

/// Key values to split by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HotKeys {
    /// Literals.
    pub literals: Vec<String>,
    /// Whether null is one of them.
    pub null: bool,
    /// Whether the column can be null.
    pub nullable: bool,
}

impl HotKeys {
    /// Condition that a column has one of the values.
    pub fn inside(&self, column: &str) -> String {
        self.each(column, "==").join(" OR ")
    }

    /// Condition that the column has other values; holds for null unless null is one of the values.
    pub fn outside(&self, column: &str) -> String {
        let all = self.each(column, "!=").join(" AND ");
        if self.nullable && !self.null {
            format!("{column} == null OR ({all})")
        } else {
            all
        }
    }

    fn each(&self, column: &str, operator: &str) -> Vec<String> {
        let null = self.null.then_some("null");
        let values = null
            .into_iter()
            .chain(self.literals.iter().map(String::as_str));
        values
            .map(|value| format!("{column} {operator} {value}"))
            .collect()
    }
}

/// Splits a join of a statement by its first key; `None` if the rows could change.
pub fn hot_key_split(
    script: &Script,
    statement: &Statement,
    join: usize,
    hot: &HotKeys,
) -> Option<Rewrite> {
    let query = &statement.query;
    if !goes_row_by_row(query) || hot.literals.is_empty() && !hot.null {
        return None;
    }
    let target = statement.target.as_deref()?;
    let found = query.joins.get(join)?;
    let (left_key, right_key) = found.keys.first()?;
    let (left, right) = (query.inputs.first()?, query.inputs.get(found.right)?);
    let left_is_first = match &left_key.qualifier {
        Some(qualifier) => qualifier == left.label(),
        None => query.inputs.len() == 2,
    };
    if found.left != 0 || !left_is_first {
        return None;
    }
    let (left_text, right_text) = (source_text(script, left)?, source_text(script, right)?);
    let name = |suffix: &str| fresh(script, target, suffix);
    let (hot_rows, other_rows) = (name("HotRows"), name("OtherRows"));
    let (hot_match, hot_part, other_part) = (name("HotMatch"), name("Hot"), name("Other"));
    let words = script.slice(&found.keyword_span);
    let broadcast = broadcast_words(words, found.kind, Side::Right)?;
    let hot_body = [
        (left.span.clone(), aliased(&hot_rows, left)?),
        (found.keyword_span.clone(), broadcast),
        (right.span.clone(), aliased(&hot_match, right)?),
    ];
    let other_body = [(left.span.clone(), aliased(&other_rows, left)?)];
    let filtered = |name: &str, source: &str, condition: String| {
        bind(name, &["*"], &format!("{source}\n    WHERE {condition}"))
    };
    let levels = [
        filtered(&hot_rows, left_text, hot.inside(&left_key.name)),
        filtered(&other_rows, left_text, hot.outside(&left_key.name)),
        filtered(&hot_match, right_text, hot.inside(&right_key.name)),
        format!(
            "{hot_part} =\n    {};\n\n",
            replaced(script, query, &hot_body)?
        ),
        format!(
            "{other_part} =\n    {};\n\n",
            replaced(script, query, &other_body)?
        ),
    ];
    let rest = format!("{hot_part}\n    UNION ALL\n    SELECT *\n    FROM {other_part}");
    let last = bind(target, &["*"], &rest);
    Some(replace(script, statement, &levels.concat(), &last))
}

/// Whether each row of the first input produces its output rows independently.
fn goes_row_by_row(query: &Query) -> bool {
    query.kind == StatementKind::Select
        && query.branches.is_empty()
        && !query.distinct
        && query.top.is_none()
        && query.group_by.is_empty()
        && query.aggregates.is_empty()
        && query.order_by.is_empty()
        && query.having.is_empty()
        && query.joins.iter().all(|join| {
            matches!(
                join.kind,
                JoinKind::Inner
                    | JoinKind::LeftOuter
                    | JoinKind::LeftSemi
                    | JoinKind::LeftAntiSemi
                    | JoinKind::Cross
            )
        })
}

/// Text of a query with some parts replaced, given in the order of the text.
pub fn replaced(
    script: &Script,
    query: &Query,
    parts: &[(job::script::Span, String)],
) -> Option<String> {
    let mut text = String::new();
    let mut at = query.span.start;
    for (span, new) in parts {
        text.push_str(script.text.get(at..span.start)?);
        text.push_str(new);
        at = span.end;
    }
    text.push_str(script.text.get(at..query.span.end)?);
    Some(text)
}
