//! Queries of all kinds, and set operations.

use job::script::{Query, StatementKind};

use super::{DEEPEST, Relation, Translator};
use crate::Unknown;
use crate::kind::{Column, Kind};
use crate::pairs::Touch;

impl Translator<'_> {
    pub(super) fn query(&mut self, query: &Query) -> Result<Relation, Unknown> {
        self.depth += 1;
        let relation = match self.depth > DEEPEST {
            true => Err(Unknown::TooLarge),
            false => self.relation(query),
        };
        self.depth -= 1;
        relation
    }

    fn relation(&mut self, query: &Query) -> Result<Relation, Unknown> {
        if !query.branches.is_empty() {
            return self.set_operation(query);
        }
        match query.kind {
            // the extractor of a file is user code
            StatementKind::Extract if self.touch == Touch::Changed => {
                self.user_code(query.using_class.as_deref().unwrap_or("EXTRACT"))?;
                self.stream(query)
            }
            StatementKind::Extract | StatementKind::SStream | StatementKind::View => {
                self.stream(query)
            }
            StatementKind::Rowset => match query.inputs.as_slice() {
                [input] => self.input(input),
                _ => self.not_executed(self.script.slice(&query.span)),
            },
            StatementKind::Select => self.select(query),
            StatementKind::Process => self.process(query),
            StatementKind::Reduce => self.reduce(query),
            StatementKind::Combine => self.combine(query),
            _ => self.not_executed(self.script.slice(&query.span)),
        }
    }

    /// Columns correspond by position.
    fn set_operation(&mut self, query: &Query) -> Result<Relation, Unknown> {
        let mut sql = String::new();
        let mut columns: Vec<Column> = Vec::new();
        if !query.order_by.is_empty() || query.set_operators.len() + 1 != query.branches.len() {
            return self.not_executed(self.script.slice(&query.span));
        }
        // the precedence of different set operators is uncertain
        let mixed = query
            .set_operators
            .windows(2)
            .any(|pair| pair[0] != pair[1]);
        if mixed {
            return self.not_executed(&query.set_operators.join(", "));
        }
        for (at, branch) in query.branches.iter().enumerate() {
            let relation = self.query(branch)?;
            match at
                .checked_sub(1)
                .map(|before| query.set_operators[before].as_str())
            {
                None => columns = relation.columns,
                Some(operator) => {
                    self.unite(&mut columns, &relation.columns, query)?;
                    sql.push_str(match operator {
                        "UNION ALL" => " UNION ALL ",
                        "UNION" | "UNION DISTINCT" => " UNION ",
                        "EXCEPT" | "EXCEPT DISTINCT" => " EXCEPT ",
                        "INTERSECT" | "INTERSECT DISTINCT" => " INTERSECT ",
                        other => return self.not_executed(other),
                    });
                }
            }
            sql.push_str(&format!("SELECT * FROM {}", relation.from));
        }
        if sql.contains(" UNION SELECT ") && self.touch == Touch::Changed {
            let list: Vec<String> = (0..columns.len())
                .map(|at| format!("c{at} AS t{at}"))
                .collect();
            let all = sql.replace(" UNION SELECT ", " UNION ALL SELECT ");
            self.repeats(
                &format!("SELECT {} FROM ({all})", list.join(", ")),
                columns.len(),
                &query.span,
            );
        }
        Ok(Relation {
            from: format!("({sql})"),
            columns,
            order: None,
        })
    }

    fn unite(
        &self,
        columns: &mut [Column],
        others: &[Column],
        query: &Query,
    ) -> Result<(), Unknown> {
        if columns.len() != others.len() {
            return self.not_executed(self.script.slice(&query.span));
        }
        for (column, other) in columns.iter_mut().zip(others) {
            let whole = column.kind.is_whole() && other.kind.is_whole();
            column.nullable |= other.nullable;
            column.kind = match (column.kind, other.kind) {
                (a, b) if a == b => a,
                (Kind::Opaque, _) | (_, Kind::Opaque) => Kind::Opaque,
                _ if whole => Kind::Long,
                _ => return self.not_executed(&column.name),
            };
        }
        Ok(())
    }
}
