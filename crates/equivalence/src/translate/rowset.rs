//! Inputs of queries: sources, rowsets of other statements, queries in brackets.

use job::model::Table;
use job::script::{Query, RowsetRef, RowsetSource, Span, StatementKind};

use super::{Relation, Translator};
use crate::Unknown;
use crate::kind::{Column, Kind, is_nullable};
use job::script::expr::{Expr, Literal, Op};

impl Translator<'_> {
    /// A rowset that a query reads.
    pub(super) fn input(&mut self, input: &RowsetRef) -> Result<Relation, Unknown> {
        match (&input.source, input.definition) {
            (RowsetSource::Query(query), _) => self.query(query),
            (RowsetSource::Name | RowsetSource::Previous, Some(definition)) => {
                match self.rowsets.get(&definition) {
                    Some(relation) => Ok(relation.clone()),
                    None => self.not_executed(&input.name),
                }
            }
            (RowsetSource::Name, None) => self.stored(&input.name, &[]),
            (RowsetSource::Path(path), None) => {
                let path = self.path(&path.span);
                self.stored(&path, &[])
            }
            _ => self.not_executed(self.script.slice(&input.span)),
        }
    }

    /// `EXTRACT`, `SSTREAM` and `VIEW`.
    pub(super) fn stream(&mut self, query: &Query) -> Result<Relation, Unknown> {
        let key = self.resolved(&query.span);
        let declared: Vec<Column> = (query
            .columns
            .iter()
            .filter(|_| query.kind == StatementKind::Extract))
        .filter_map(|column| {
            let name = column.name.clone()?;
            Some(match &column.type_name {
                Some(type_name) => Column {
                    name,
                    kind: Kind::of_type(type_name),
                    nullable: is_nullable(type_name),
                },
                None => self.undeclared(name),
            })
        })
        .collect();
        if !declared.is_empty() {
            return Ok(self.source(&key, declared));
        }
        let mut paths: Vec<String> = query
            .paths
            .iter()
            .map(|path| self.path(&path.span))
            .collect();
        paths.extend(query.params.iter().map(|(_, value)| self.path(&value.span)));
        let flow = &self.flow;
        let statement = self
            .script
            .statements
            .iter()
            .find(|s| s.query.span == query.span);
        let used = statement
            .and_then(|s| flow.of_statement(s.index))
            .map(|rowset| rowset.used.clone());
        let table = paths.iter().find_map(|path| self.table(path));
        let mut columns = self.table_columns(table);
        let used = used.unwrap_or_default().into_iter();
        let missing: Vec<String> = used
            .filter(|name| columns.iter().all(|c| c.name != *name))
            .collect();
        columns.extend(missing.into_iter().map(|name| self.undeclared(name)));
        match columns.is_empty() {
            true => self.not_executed(self.script.slice(&query.span)),
            false => Ok(self.source(&key, columns)),
        }
    }

    /// A table by its path or name.
    fn stored(&mut self, name: &str, used: &[String]) -> Result<Relation, Unknown> {
        let mut columns = self.table_columns(self.table(name));
        columns.extend(used.iter().map(|name| self.undeclared(name.clone())));
        match columns.is_empty() {
            true => self.not_executed(name),
            false => Ok(self.source(name, columns)),
        }
    }

    fn table(&self, path: &str) -> Option<&Table> {
        let last = path.rsplit(['/', '\\', '.']).next().unwrap_or(path);
        let stem = path
            .rsplit(['/', '\\'])
            .next()
            .and_then(|file| file.split('.').next());
        let mut tables = self.way.facts.tables.iter();
        let by_path = tables
            .clone()
            .find(|table| table.path.as_deref() == Some(path));
        by_path.or_else(|| {
            tables.find(|table| table.name == last || Some(table.name.as_str()) == stem)
        })
    }

    fn table_columns(&self, table: Option<&Table>) -> Vec<Column> {
        let columns = table.into_iter().flat_map(|table| &table.columns);
        columns
            .map(|column| match &column.type_name {
                Some(type_name) => Column {
                    name: column.name.clone(),
                    kind: Kind::of_type(type_name),
                    nullable: is_nullable(type_name) || column.nulls.is_some_and(|nulls| nulls > 0),
                },
                None => self.undeclared(column.name.clone()),
            })
            .collect()
    }

    /// A table for generated rows; `key` identifies the source that it replaces.
    pub(super) fn source(&mut self, key: &str, columns: Vec<Column>) -> Relation {
        let words: Vec<&str> = key.split_whitespace().collect();
        let key = words.join(" ");
        let known = self.program.sources.entry(key.clone()).or_default();
        let new = columns
            .iter()
            .filter(|column| known.iter().all(|k| k.name != column.name));
        let new: Vec<Column> = new.cloned().collect();
        known.extend(new);
        let listed = columns
            .iter()
            .enumerate()
            .map(|(at, column)| format!("{} AS c{at}", crate::sql::quoted(&column.name)));
        let listed: Vec<String> = listed.collect();
        let table = crate::sql::quoted(&key);
        Relation {
            from: format!("(SELECT {} FROM {table})", listed.join(", ")),
            columns,
            order: None,
        }
    }

    /// Text of a path: the concatenated literals and declared values, else as written.
    pub(super) fn path(&self, span: &Span) -> String {
        let written = || self.script.slice(span).trim().to_owned();
        self.script
            .expression(span)
            .and_then(|path| self.constant(&path))
            .unwrap_or_else(written)
    }

    fn constant(&self, path: &Expr) -> Option<String> {
        match path {
            Expr::Literal(Literal::Text(text)) => Some(text.clone()),
            Expr::Parameter(name) => self.constant(self.parameters.get(name)?),
            Expr::Binary(Op::Add, left, right) => {
                Some(self.constant(left)? + &self.constant(right)?)
            }
            _ => None,
        }
    }

    /// Text of a query with declared names replaced by their texts.
    fn resolved(&self, span: &Span) -> String {
        let tokens = self.script.tokens_in(span);
        let texts = tokens.map(|(_, _, text)| {
            let value = text
                .strip_prefix('@')
                .and_then(|name| self.parameters.get(name));
            let value = value.and_then(|value| self.constant(value));
            value.unwrap_or_else(|| text.trim_start_matches('@').trim_matches('"').to_owned())
        });
        texts.collect::<Vec<_>>().join(" ")
    }
}
