//! Types of columns, derived from a script.
//!
//! A type is described rather than named: by the declared type, else by the
//! stored column it copies, or by the text of its expression over such descriptions. Two columns
//! with the same description have the same type. Columns with different descriptions count as
//! different, although their types may be equal.

use job::script::{
    Aggregate, ColumnRef, Expression, OutputColumn, Query, RowsetRef, RowsetSource, Script,
    Statement, StatementKind,
};

/// Steps back through a script; real chains are far shorter.
const MAX_DEPTH: usize = 48;

/// Description of the type of a statement's column; `None` if the script does not determine it.
pub(crate) fn of_column(script: &Script, statement: &Statement, column: &str) -> Option<String> {
    Types { script }.of_query(&statement.query, column, 0)
}

struct Types<'a> {
    script: &'a Script,
}

impl Types<'_> {
    fn of_query(&self, query: &Query, column: &str, depth: usize) -> Option<String> {
        if depth > MAX_DEPTH {
            return None;
        }
        match query.kind {
            StatementKind::Union => self.of_query(query.branches.first()?, column, depth + 1),
            StatementKind::Rowset | StatementKind::Output => {
                self.of_input(query.inputs.first()?, column, depth)
            }
            StatementKind::Select => self.of_select(query, column, depth),
            StatementKind::SStream | StatementKind::View => Some(format!("stored {column}")),
            _ => produced(query, column),
        }
    }

    fn of_input(&self, input: &RowsetRef, column: &str, depth: usize) -> Option<String> {
        match (&input.source, input.definition) {
            (RowsetSource::Query(query), _) => self.of_query(query, column, depth + 1),
            (RowsetSource::Name | RowsetSource::Previous, Some(definition)) => {
                let query = &self.script.statements.get(definition)?.query;
                self.of_query(query, column, depth + 1)
            }
            _ => Some(format!("stored {column}")),
        }
    }

    fn of_select(&self, query: &Query, column: &str, depth: usize) -> Option<String> {
        let listed = query
            .columns
            .iter()
            .position(|c| c.name.as_deref() == Some(column));
        let Some(position) = listed else {
            let star = query.columns.iter().any(OutputColumn::is_star);
            let [input] = query.inputs.as_slice() else {
                return None;
            };
            return star.then(|| self.of_input(input, column, depth))?;
        };
        let expression = &query.columns[position].expression;
        let aggregate = query.aggregates.iter().find(|aggregate| {
            aggregate.column == Some(position) && aggregate.span == expression.span
        });
        match aggregate {
            Some(aggregate) => self.of_aggregate(query, aggregate, depth),
            None => self.of_expression(query, expression, depth),
        }
    }

    fn of_aggregate(&self, query: &Query, aggregate: &Aggregate, depth: usize) -> Option<String> {
        let argument = || self.of_expression(query, aggregate.arguments.first()?, depth);
        match aggregate.function.as_str() {
            "COUNT" | "COUNTIF" => Some("count".to_owned()),
            "MIN" | "MAX" | "FIRST" | "LAST" | "ANY_VALUE" => argument(),
            // a sum of sums, or of counts, has the type of its argument
            "SUM" => argument().map(|of| match of == "count" || of.starts_with("sum of ") {
                true => of,
                false => format!("sum of {of}"),
            }),
            name => {
                let arguments: Option<Vec<_>> = aggregate
                    .arguments
                    .iter()
                    .map(|argument| self.of_expression(query, argument, depth))
                    .collect();
                Some(format!("{name} of {}", arguments?.join(", ")))
            }
        }
    }

    /// The text with every column replaced by the description of its type.
    fn of_expression(
        &self,
        query: &Query,
        expression: &Expression,
        depth: usize,
    ) -> Option<String> {
        if let Some(column) = expression.as_column() {
            return self.of_reference(query, column, depth);
        }
        let mut text = String::new();
        let mut at = expression.span.start;
        for used in &expression.uses {
            text.push_str(self.script.text.get(at..used.span.start)?);
            text.push_str(&format!("<{}>", self.of_reference(query, used, depth)?));
            at = used.span.end;
        }
        text.push_str(self.script.text.get(at..expression.span.end)?);
        Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    fn of_reference(&self, query: &Query, column: &ColumnRef, depth: usize) -> Option<String> {
        let by_label = |label: &str| query.inputs.iter().find(|input| input.label() == label);
        let input = match &column.qualifier {
            Some(label) => by_label(label)?,
            None if query.inputs.len() == 1 => query.inputs.first()?,
            None => return Some(format!("column {}", column.name)),
        };
        self.of_input(input, &column.name, depth + 1)
    }
}

/// Type of a column that an extractor or user code makes.
fn produced(query: &Query, column: &str) -> Option<String> {
    let listed = query
        .columns
        .iter()
        .find(|c| c.name.as_deref() == Some(column));
    let class = query.using_class.as_deref().unwrap_or_default();
    match listed.and_then(|listed| listed.type_name.as_deref()) {
        Some(name) => Some(name.replace(' ', "")),
        None => Some(format!("{column} of {class}")),
    }
}
