//! `SELECT`: its columns and the clauses on them.

use job::script::{Expression, OutputColumn, Query, Span};

use super::aggregate::{has_aggregate, windows};
use super::value::{Labeled, Scope, Value, connected};
use super::{Relation, Step, Translator};
use crate::Unknown;
use crate::kind::{Column, Kind};
use crate::pairs::Touch;
use crate::unknown::excerpt;
use job::script::expr::{Expr, Op, Window};

/// A query under construction.
#[derive(Default)]
pub(super) struct Select {
    /// Text after `FROM`, with the conditions of `WHERE`.
    pub(super) from: String,
    /// Conditions of `WHERE`.
    pub(super) tests: Vec<String>,
    pub(super) scope: Scope,
    list: Vec<(String, Column)>,
    grouped: bool,
    keys: Vec<Value>,
}

impl Translator<'_> {
    pub(super) fn select(&mut self, query: &Query) -> Result<Relation, Unknown> {
        let mut select = self.from(query)?;
        if let Some(span) = &query.filter_span {
            let start = span.start + "WHERE".len();
            let test = self.condition(&(start..span.end), &select.scope)?;
            select.tests.push(test.sql);
        }
        if !select.tests.is_empty() {
            select
                .from
                .push_str(&format!(" WHERE {}", select.tests.join(" AND ")));
        }
        self.columns(query, &mut select)?;
        let having = self.having(query, &mut select)?;
        let columns: Vec<Column> = select
            .list
            .iter()
            .map(|(_, column)| column.clone())
            .collect();
        let names: std::collections::BTreeSet<&str> =
            columns.iter().map(|c| c.name.as_str()).collect();
        if names.len() < columns.len() || columns.is_empty() {
            return self.not_executed(self.script.slice(&query.span));
        }
        let list = select
            .list
            .iter()
            .enumerate()
            .map(|(at, (sql, _))| format!("{sql} AS c{at}"));
        let list: Vec<String> = list.collect();
        if query.distinct {
            let rows = select
                .list
                .iter()
                .enumerate()
                .map(|(at, (sql, _))| format!("{sql} AS t{at}"));
            let rows: Vec<String> = rows.collect();
            let rows = format!("SELECT {} FROM {}", rows.join(", "), select.from);
            if select.keys.is_empty() && !select.grouped {
                self.repeats(&rows, select.list.len(), &query.span);
            }
        }
        let distinct = if query.distinct { "DISTINCT " } else { "" };
        let by: Vec<&str> = select.keys.iter().map(|key| key.sql.as_str()).collect();
        let by = if by.is_empty() {
            String::new()
        } else {
            format!(" GROUP BY {}", by.join(", "))
        };
        let inner_having = having
            .inner
            .map_or_else(String::new, |test| format!(" HAVING {test}"));
        let mut sql = format!(
            "SELECT {distinct}{} FROM {}{by}{inner_having}",
            list.join(", "),
            select.from
        );
        let own = own_scope(&columns);
        if !having.outer.is_empty() {
            let test = self.conjuncts(&having.outer, &own)?;
            sql = format!("SELECT * FROM ({sql}) AS own WHERE {}", test.sql);
        }
        let sources = select.list.into_iter().map(|(sql, _)| sql).collect();
        self.first_rows(query, sql, columns, &select.scope, sources)
    }

    /// Requires that changed groups have several rows in some run, and that `DISTINCT` drops some row in
    /// some run. `rows` names its columns `t0`, `t1`, …; the first ones are the keys.
    pub(super) fn repeats(&mut self, rows: &str, keys: usize, span: &Span) {
        if self.touch == Touch::Changed {
            self.program.steps.push(Step::Matches {
                sql: repeated(rows, keys),
                line: self.line,
                code: excerpt(self.script.slice(span)),
            });
        }
    }

    /// A test that a part of the script states.
    pub(super) fn condition(&mut self, span: &Span, scope: &Scope) -> Result<Value, Unknown> {
        match self.script.expression(span) {
            Some(expression) => self.test(&expression, scope),
            None => {
                self.user_code(self.script.slice(span))?;
                self.not_executed(self.script.slice(span))
            }
        }
    }

    pub(super) fn conjuncts(&mut self, parts: &[Expr], scope: &Scope) -> Result<Value, Unknown> {
        let mut all = Value::new("1".to_owned(), Kind::Bool, &[]);
        for part in parts {
            let test = self.test(part, scope)?;
            all = connected(Op::And, &all, &test);
        }
        Ok(all)
    }

    fn columns(&mut self, query: &Query, select: &mut Select) -> Result<(), Unknown> {
        let mut parsed = Vec::new();
        for column in &query.columns {
            let expression = if column.is_star() {
                None
            } else {
                self.parsed(&column.expression)?
            };
            select.grouped |= expression.as_ref().is_some_and(has_aggregate);
            parsed.push(expression);
        }
        select.grouped |= !query.group_by.is_empty();
        for key in &query.group_by {
            let key = self.key(key, query, &parsed, &select.scope)?;
            select.keys.push(key);
        }
        if select.grouped {
            let by: Vec<&str> = select.keys.iter().map(|key| key.sql.as_str()).collect();
            let rows = format!(
                "SELECT DISTINCT {} FROM {}",
                listed(&by, &select.scope),
                select.from
            );
            self.repeats(&rows, by.len(), &query.span);
        }
        for (at, (column, expression)) in query.columns.iter().zip(&parsed).enumerate() {
            match expression {
                None if select.grouped => return self.not_executed("*"),
                None => self.star(column, select)?,
                Some(expression) => {
                    let value = self.value(expression, &select.scope)?;
                    if select.grouped && !self.is_of_groups(expression, select)? {
                        return self.not_executed(self.script.slice(&column.span));
                    }
                    self.ranked(expression, select)?;
                    let name = column.name.clone().unwrap_or_else(|| format!("[{at}]"));
                    let kind = value.kind.unwrap_or(Kind::Opaque);
                    select.list.push((
                        value.sql,
                        Column {
                            name,
                            kind,
                            nullable: value.nullable,
                        },
                    ));
                }
            }
        }
        Ok(())
    }

    fn parsed(&mut self, expression: &Expression) -> Result<Option<Expr>, Unknown> {
        match self.script.expression(&expression.span) {
            Some(parsed) => Ok(Some(parsed)),
            None => self.not_executed(self.script.slice(&expression.span)),
        }
    }

    /// A key of the groups; it may be named by the column that computes it.
    fn key(
        &mut self,
        key: &Expression,
        query: &Query,
        parsed: &[Option<Expr>],
        scope: &Scope,
    ) -> Result<Value, Unknown> {
        let expression = self.parsed(key)?;
        // SQL would read a number as the position of a column
        let Some(expression) = expression.filter(|key| !matches!(key, Expr::Literal(_))) else {
            return self.not_executed(self.script.slice(&key.span));
        };
        let own = key
            .as_column()
            .filter(|key| key.qualifier.is_none() && scope.find(None, &key.name).is_none());
        let at = own.and_then(|key| {
            query
                .columns
                .iter()
                .position(|c| c.name.as_deref() == Some(&key.name))
        });
        match at.and_then(|at| parsed[at].as_ref()) {
            Some(computed) => self.value(computed, scope),
            None => self.value(&expression, scope),
        }
    }

    fn star(&mut self, column: &OutputColumn, select: &mut Select) -> Result<(), Unknown> {
        let qualifier = column
            .expression
            .as_column()
            .and_then(|star| star.qualifier.clone());
        for input in &select.scope.inputs {
            let all = qualifier.as_ref().is_none_or(|q| input.labels.contains(q));
            for (at, column) in input.columns.iter().enumerate().filter(|_| all) {
                select
                    .list
                    .push((format!("{}.c{at}", input.alias), column.clone()));
            }
        }
        Ok(())
    }

    /// Whether every row of a group has the same value.
    fn is_of_groups(&mut self, expression: &Expr, select: &Select) -> Result<bool, Unknown> {
        if !has_aggregate(expression) || !matches!(expression, Expr::Call(_)) {
            // equal comparisons differ only in the number of their probe
            let probes = self.program.probes.len();
            let value = self.value(expression, &select.scope)?;
            self.program.probes.truncate(probes);
            if select.keys.iter().any(|key| key.sql == value.sql) {
                return Ok(true);
            }
        }
        let parts: Vec<&Expr> = match expression {
            Expr::Literal(_) | Expr::Parameter(_) | Expr::Star => return Ok(true),
            Expr::Path(_) => return Ok(false),
            Expr::Call(call) if super::aggregate::is_aggregate(call) => {
                return Ok(call.window.is_none());
            }
            Expr::Not(a) | Expr::Negate(a) | Expr::Cast(_, a) | Expr::Member(a, _) => vec![a],
            Expr::Binary(_, a, b) => vec![a, b],
            Expr::Conditional(a, b, c) | Expr::Between(a, b, c) => vec![a, b, c],
            Expr::In(a, list) => std::iter::once(&**a).chain(list).collect(),
            Expr::Call(call) if call.path.len() == 1 || call.on.is_some() => call
                .on
                .iter()
                .map(|on| &**on)
                .chain(&call.arguments)
                .collect(),
            // The names before a method may be a column.
            Expr::Call(call) => match select.scope.find(None, &call.path[0]) {
                Some(_) => return Ok(false),
                None => call.arguments.iter().collect(),
            },
        };
        for part in parts {
            if !self.is_of_groups(part, select)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Rows with equal rank keys are numbered arbitrarily, so a run with such rows is not
    /// compared.
    fn ranked(&mut self, expression: &Expr, select: &Select) -> Result<(), Unknown> {
        for (name, Window { keys, order }) in windows(expression) {
            if select.grouped {
                return self.not_executed(name);
            }
            if name != "ROW_NUMBER" || !self.is_touched() {
                continue;
            }
            let mut by = Vec::new();
            for key in keys.iter().chain(order.iter().map(|(key, _)| key)) {
                by.push(self.value(key, &select.scope)?.sql);
            }
            let by: Vec<&str> = by.iter().map(String::as_str).collect();
            let rows = format!(
                "SELECT DISTINCT {} FROM {}",
                listed(&by, &select.scope),
                select.from
            );
            self.program.steps.push(Step::Tied {
                sql: repeated(&rows, by.len()),
            });
        }
        Ok(())
    }

    fn having(&mut self, query: &Query, select: &mut Select) -> Result<Having, Unknown> {
        let mut having = Having {
            inner: None,
            outer: Vec::new(),
        };
        let mut inner = Vec::new();
        for part in &query.having {
            let Some(expression) = self.parsed(&part.expression)? else {
                continue;
            };
            let own = |name: &String| select.list.iter().any(|(_, column)| column.name == *name);
            let mut names_own = true;
            expression.each(&mut |part| {
                names_own &= !matches!(part, Expr::Path(path) if path.len() != 1 || !own(&path[0]));
            });
            match has_aggregate(&expression) || !names_own {
                true => inner.push(expression),
                false => having.outer.push(expression),
            }
        }
        if !inner.is_empty() {
            for expression in &inner {
                if !select.grouped || !self.is_of_groups(expression, select)? {
                    return self.not_executed("HAVING");
                }
            }
            having.inner = Some(self.conjuncts(&inner, &select.scope)?.sql);
        }
        Ok(having)
    }
}

/// Conditions on groups, and on the columns of the query's own list.
struct Having {
    inner: Option<String>,
    outer: Vec<Expr>,
}

/// Columns of a query's list, for its later clauses.
fn own_scope(columns: &[Column]) -> Scope {
    Scope {
        inputs: vec![Labeled {
            labels: Vec::new(),
            alias: "own".to_owned(),
            columns: columns.to_vec(),
        }],
    }
}

/// Expressions, then all columns, as `t0`, `t1`, ….
fn listed(first: &[&str], scope: &Scope) -> String {
    let columns = scope
        .inputs
        .iter()
        .flat_map(|input| (0..input.columns.len()).map(|at| format!("{}.c{at}", input.alias)));
    let all = first
        .iter()
        .map(|sql| (*sql).to_owned())
        .chain(columns)
        .enumerate();
    let all: Vec<String> = all.map(|(at, sql)| format!("{sql} AS t{at}")).collect();
    all.join(", ")
}

/// Finds rows with the same values of the first columns.
fn repeated(rows: &str, keys: usize) -> String {
    let keys: Vec<String> = (0..keys).map(|at| format!("t{at}")).collect();
    let by = if keys.is_empty() {
        String::new()
    } else {
        format!(" GROUP BY {}", keys.join(", "))
    };
    format!("SELECT 1 FROM (SELECT COUNT(*) AS n FROM ({rows}){by}) WHERE n > 1 LIMIT 1")
}
