//! Salted join: every row of one side goes to one of several parts of its key, and the other side
//! is copied into each of them.
//!
//! A row of the salted side meets every partner in exactly one copy. Joins that add no unmatched rows
//! of the copied side therefore give the same rows, for any values of the key.

use job::script::{JoinKind, RowsetSource, Script, Statement};

use super::Rewrite;
use super::clauses::{bind, replace};
use super::hint::Side;
use super::names::{aliased, fresh, source_text};
use super::split::replaced;

/// Largest number of parts of a key: each part is a copy of the other side in the script.
pub const MAX_PARTS: u32 = 8;

/// Salts one side of the first join of a statement. `salt` is an `int` expression over the rows of
/// that side, never null, from 0 to less than `parts`.
pub fn salted_join(
    script: &Script,
    statement: &Statement,
    salted_side: Side,
    salt: &str,
    parts: u32,
) -> Option<Rewrite> {
    let query = &statement.query;
    let target = statement.target.as_deref()?;
    let join = query.joins.first().filter(|join| !join.keys.is_empty())?;
    let (left, right) = (query.inputs.get(join.left)?, query.inputs.get(join.right)?);
    let (salted, copied) = match salted_side {
        Side::Left => (left, right),
        Side::Right => (right, left),
    };
    // a `*` would show the copies, and a source in parentheses would be read once per copy
    let plain = !query.columns.iter().any(|column| column.is_star())
        && copied.source == RowsetSource::Name
        && join.left < join.right;
    if !plain || !keeps_rows(join.kind, salted_side) {
        return None;
    }
    let name = |suffix: &str| fresh(script, target, suffix);
    let (salted_name, copies) = (name("Salted"), name("Copies"));
    let salt_name = fresh(script, "Salt", "Key");
    let source = source_text(script, copied)?;
    let copy = |part: u32| format!("SELECT *, {part} AS {salt_name} FROM {source}");
    let all: Vec<String> = (0..parts.clamp(2, MAX_PARTS)).map(copy).collect();
    let levels = bind(
        &salted_name,
        &["*", &format!("{salt} AS {salt_name}")],
        source_text(script, salted)?,
    ) + &format!("{copies} =\n    {};\n\n", all.join("\n    UNION ALL\n    "));
    let of_salted = aliased(&salted_name, salted)?;
    let of_copies = aliased(&copies, copied)?;
    let label = |aliased: &str| aliased.rsplit(' ').next().unwrap_or_default().to_owned();
    let condition = format!(
        " AND {}.{salt_name} == {}.{salt_name}",
        label(&of_salted),
        label(&of_copies)
    );
    let (of_left, of_right) = match salted_side {
        Side::Left => (of_salted, of_copies),
        Side::Right => (of_copies, of_salted),
    };
    let end = join.span.end;
    let body = replaced(
        script,
        query,
        &[
            (left.span.clone(), of_left),
            (right.span.clone(), of_right),
            (end..end, condition),
        ],
    )?;
    let last = format!("{target} =\n    {body};");
    Some(replace(script, statement, &levels, &last))
}

/// Whether a row of the copied side without a partner is dropped; otherwise each copy would make a
/// row.
fn keeps_rows(kind: JoinKind, salted: Side) -> bool {
    use JoinKind::{
        Inner, LeftAntiSemi, LeftOuter, LeftSemi, RightAntiSemi, RightOuter, RightSemi,
    };
    match salted {
        Side::Left => matches!(kind, Inner | LeftOuter | LeftSemi | LeftAntiSemi),
        Side::Right => matches!(kind, Inner | RightOuter | RightSemi | RightAntiSemi),
    }
}
