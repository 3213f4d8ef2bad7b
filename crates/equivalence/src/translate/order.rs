//! `ORDER BY`, `TOP` and `FETCH`.

use job::script::{Expression, Query};

use super::value::Scope;
use super::{Relation, Step, Translator};
use crate::Unknown;
use crate::kind::Column;

impl Translator<'_> {
    /// `TOP n … ORDER BY`, `ORDER BY … FETCH n ROWS`, or an order alone.
    pub(super) fn first_rows(
        &mut self,
        query: &Query,
        sql: String,
        columns: Vec<Column>,
        scope: &Scope,
        list: Vec<String>,
    ) -> Result<Relation, Unknown> {
        let limit = match (&query.top, self.script.fetch(query)) {
            (Some(top), None) => match self.script.top(query) {
                Some(number) => Some(number),
                None => return self.not_executed(self.script.slice(&top.span)),
            },
            (None, fetch) => fetch.map(|(number, _)| number),
            (Some(top), Some(_)) => return self.not_executed(self.script.slice(&top.span)),
        };
        let mut keys = Vec::new();
        for item in &query.order_by {
            match self.order_key(&item.expression, &columns, scope, &list) {
                Some(at) => keys.push((at, item.descending)),
                None if limit.is_some() || self.is_touched() => {
                    return self.not_executed(self.script.slice(&item.expression.span));
                }
                None => break,
            }
        }
        let mut from = format!("({sql})");
        if let Some(limit) = limit {
            if keys.is_empty() && self.is_touched() {
                return Err(Unknown::Undetermined { line: self.line });
            }
            let names: Vec<String> = keys.iter().map(|(at, _)| format!("c{at}")).collect();
            if self.is_touched() {
                self.program.steps.push(Step::Tied {
                    sql: format!(
                        "SELECT 1 FROM (SELECT DISTINCT * FROM {from}) GROUP BY {} HAVING COUNT(*) > 1 LIMIT 1",
                        names.join(", ")
                    ),
                });
            }
            let order = keys
                .iter()
                .map(|(at, down)| format!("c{at}{}", if *down { " DESC" } else { "" }));
            let order: Vec<String> = order.collect();
            let order = if order.is_empty() {
                String::new()
            } else {
                format!(" ORDER BY {}", order.join(", "))
            };
            from = format!("(SELECT * FROM {from}{order} LIMIT {limit})");
        }
        let order = (!keys.is_empty()).then_some(keys);
        Ok(Relation {
            from,
            columns,
            order,
        })
    }

    /// Position of the column that a key of an order names.
    fn order_key(
        &mut self,
        key: &Expression,
        columns: &[Column],
        scope: &Scope,
        list: &[String],
    ) -> Option<usize> {
        let probes = self.program.probes.len();
        let value = self
            .script
            .expression(&key.span)
            .and_then(|key| self.value(&key, scope).ok());
        self.program.probes.truncate(probes);
        let computed = value
            .as_ref()
            .and_then(|value| list.iter().position(|sql| *sql == value.sql));
        let own = key.as_column().filter(|key| key.qualifier.is_none());
        let named = own.and_then(|key| columns.iter().position(|column| column.name == key.name));
        match (computed, named, value) {
            (Some(computed), Some(named), _) if computed != named => None,
            (Some(at), _, _) | (None, Some(at), None) => Some(at),
            _ => None,
        }
    }
}
