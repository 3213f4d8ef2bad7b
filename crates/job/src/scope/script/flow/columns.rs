//! Columns that a query provides.

use crate::bounds::COLUMNS_PER_ROWSET;
use crate::script::model::{Query, RowsetRef, RowsetSource, StatementKind};

/// Columns that the statement with that index provides.
pub(super) type Known<'a> = dyn Fn(usize) -> Option<Vec<String>> + 'a;

/// Columns of a query in script order; `None` if the script doesn't list them.
pub(super) fn provided(query: &Query, known: &Known<'_>) -> Option<Vec<String>> {
    match query.kind {
        StatementKind::Union => provided(query.branches.first()?, known),
        StatementKind::Rowset | StatementKind::Output => of_input(query.inputs.first()?, known),
        StatementKind::SStream | StatementKind::View | StatementKind::Values => None,
        _ if query.columns.is_empty() || query.columns.len() >= COLUMNS_PER_ROWSET => None,
        _ => listed(query, known),
    }
}

fn listed(query: &Query, known: &Known<'_>) -> Option<Vec<String>> {
    let mut columns = Vec::with_capacity(query.columns.len());
    for (position, column) in query.columns.iter().enumerate() {
        if column.is_star() {
            let star = column.expression.as_column();
            let qualifier = star.and_then(|star| star.qualifier.as_deref());
            for input in starred(query, qualifier) {
                columns.extend(of_input(input, known)?);
                // each join of a rowset with itself doubles them
                if columns.len() > COLUMNS_PER_ROWSET {
                    return None;
                }
            }
        } else {
            // the language invents a name for an unnamed column; no script can refer to it
            let name = column.name.clone();
            columns.push(name.unwrap_or_else(|| format!("[{position}]")));
        }
    }
    Some(columns)
}

/// Inputs behind a `*` or `alias.*`.
pub(super) fn starred<'q>(
    query: &'q Query,
    qualifier: Option<&'q str>,
) -> impl Iterator<Item = &'q RowsetRef> {
    let all = qualifier.is_none();
    let inputs = query.inputs.iter();
    inputs.filter(move |input| all || Some(input.label()) == qualifier)
}

/// Columns of one input.
pub(super) fn of_input(input: &RowsetRef, known: &Known<'_>) -> Option<Vec<String>> {
    match &input.source {
        RowsetSource::Query(inner) => provided(inner, known),
        RowsetSource::Name | RowsetSource::Previous => known(input.definition?),
        _ => None,
    }
}
