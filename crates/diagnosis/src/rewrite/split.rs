//! Hot-key split: rows of a few key values are joined by broadcast, all others as before.
//!
//! Splits the left rows by the key, so that every left row goes one way; joins that keep or drop
//! left rows one by one give the same rows then. Joins that add rows of the right side without a
//! match do not, and are refused, as is everything that looks at several rows at once.

use job::script::{JoinKind, Query, Script, Statement, StatementKind};

use super::Rewrite;
use super::hint::{Side, broadcast_words};
use super::names::{aliased, fresh, hint_lines, source_text};

/// Key values to split by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HotKeys {
    /// Literals.
    pub(crate) literals: Vec<String>,
    /// Whether null is one of them.
    pub(crate) null: bool,
    /// Whether the column can be null.
    pub(crate) nullable: bool,
}

impl HotKeys {
    /// Condition that a column has one of the values.
    pub(crate) fn inside(&self, column: &str) -> String {
        let null = self.null.then(|| format!("{column} == null"));
        let values = self
            .literals
            .iter()
            .map(|value| format!("{column} == {value}"));
        null.into_iter()
            .chain(values)
            .collect::<Vec<_>>()
            .join(" OR ")
    }

    /// Condition that it has none of them; holds for null unless null is one of them.
    pub(crate) fn outside(&self, column: &str) -> String {
        let null = self.null.then(|| format!("{column} != null"));
        let values = self
            .literals
            .iter()
            .map(|value| format!("{column} != {value}"));
        let all = null
            .into_iter()
            .chain(values)
            .collect::<Vec<_>>()
            .join(" AND ");
        if self.nullable && !self.null {
            format!("{column} == null OR ({all})")
        } else {
            all
        }
    }
}

/// Splits a join of a statement by its first key; `None` if the rows could change.
pub(crate) fn hot_key_split(
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
    let hot_body = replaced(
        script,
        query,
        &[
            (left.span.clone(), aliased(&hot_rows, left)?),
            (found.keyword_span.clone(), broadcast),
            (right.span.clone(), aliased(&hot_match, right)?),
        ],
    )?;
    let other_body = replaced(
        script,
        query,
        &[(left.span.clone(), aliased(&other_rows, left)?)],
    )?;
    let hints = hint_lines(script, statement);
    let text = format!(
        "{hot_rows} =\n    SELECT *\n    FROM {left_text}\n    WHERE {};\n\n\
         {other_rows} =\n    SELECT *\n    FROM {left_text}\n    WHERE {};\n\n\
         {hot_match} =\n    SELECT *\n    FROM {right_text}\n    WHERE {};\n\n\
         {hot_part} =\n    {hot_body};\n\n\
         {other_part} =\n    {other_body};\n\n\
         {hints}{target} =\n    SELECT *\n    FROM {hot_part}\n    UNION ALL\n    SELECT *\n    FROM {other_part};",
        hot.inside(&left_key.name),
        hot.outside(&left_key.name),
        hot.inside(&right_key.name),
    );
    let mut rewrite = Rewrite::default();
    rewrite.replace(statement.index, statement.span.clone(), text);
    Some(rewrite)
}

/// Whether each row of the first input makes its output rows on its own.
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
pub(crate) fn replaced(
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
