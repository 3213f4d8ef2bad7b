//! Statements to SQL: every rowset becomes a table, every output is read back.

use super::expression::{Typing, literal, name, translate};
use super::{ExecError, Output, Outputs, World, functions};
use job::script::{JoinKind, Query, RowsetRef, RowsetSource, Script, Statement, StatementKind};
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use std::collections::{BTreeMap, BTreeSet};

struct Run<'a> {
    world: &'a World,
    script: &'a Script,
    db: Connection,
    /// Values of declarations.
    values: BTreeMap<String, String>,
    text: BTreeSet<String>,
    /// Statement whose rowset a bare reference means.
    last: Option<usize>,
    line: u32,
}

pub(crate) fn run(world: &World, script: &Script) -> Result<Outputs, ExecError> {
    let db = Connection::open_in_memory().map_err(|e| ExecError::Setup(e.to_string()))?;
    functions::register(&db).map_err(|e| ExecError::Setup(e.to_string()))?;
    let text = world
        .samples
        .iter()
        .flat_map(|s| &s.columns)
        .filter(|c| c.text)
        .map(|c| c.name.clone())
        .collect();
    let mut run = Run {
        world,
        script,
        db,
        values: BTreeMap::new(),
        text,
        last: None,
        line: 0,
    };
    run.load()?;
    let mut outputs = Outputs::new();
    for statement in &script.statements {
        run.line = statement.lines.0;
        run.statement(statement, &mut outputs)?;
    }
    Ok(outputs)
}

impl Run<'_> {
    fn unsupported<T>(&self, what: impl Into<String>) -> Result<T, ExecError> {
        Err(ExecError::Unsupported {
            line: self.line,
            what: what.into(),
        })
    }

    fn execute(&self, sql: &str) -> Result<(), ExecError> {
        self.db.execute_batch(sql).map_err(|source| ExecError::Sql {
            line: self.line,
            sql: sql.to_owned(),
            source,
        })
    }

    fn load(&self) -> Result<(), ExecError> {
        for (i, sample) in self.world.samples.iter().enumerate() {
            let columns: Vec<String> = sample
                .columns
                .iter()
                .map(|c| {
                    format!(
                        "{} {}",
                        name(&c.name),
                        if c.text { "TEXT" } else { "NUMERIC" }
                    )
                })
                .collect();
            let mut sql = format!("CREATE TABLE t{i} ({});", columns.join(", "));
            for row in &sample.rows {
                let cells: Vec<String> = row
                    .iter()
                    .map(|v| v.as_deref().map_or_else(|| "NULL".to_owned(), literal))
                    .collect();
                sql.push_str(&format!("INSERT INTO t{i} VALUES ({});", cells.join(", ")));
            }
            self.execute(&sql)?;
        }
        Ok(())
    }

    fn statement(&mut self, s: &Statement, outputs: &mut Outputs) -> Result<(), ExecError> {
        match s.kind {
            StatementKind::Declare => {
                if let (Some(target), Some(value)) = (&s.target, &s.value) {
                    let text = self.script.slice(&value.span).to_owned();
                    let value = self.path(&text);
                    self.values
                        .insert(target.trim_start_matches('@').to_owned(), value);
                }
                Ok(())
            }
            StatementKind::Output => self.output(s, outputs),
            _ if s.makes_rowset() => {
                let sql = self.query(&s.query)?;
                self.execute(&format!("CREATE TABLE s{} AS {sql}", s.index))?;
                self.last = Some(s.index);
                Ok(())
            }
            StatementKind::Set
            | StatementKind::Use
            | StatementKind::Using
            | StatementKind::Reference
            | StatementKind::Resource
            | StatementKind::CsBlock
            | StatementKind::Empty => Ok(()),
            // Statistics and the like change no rows.
            StatementKind::Create => Ok(()),
            other => self.unsupported(format!("{other:?}")),
        }
    }

    /// Value of a path expression: texts and declared names joined by `+`.
    fn path(&self, text: &str) -> String {
        text.split('+')
            .map(|part| {
                let part = part.trim();
                if let Some(value) = self.values.get(part.trim_start_matches('@')) {
                    return value.clone();
                }
                part.trim_start_matches('@').trim_matches('"').to_owned()
            })
            .collect()
    }

    fn output(&self, s: &Statement, outputs: &mut Outputs) -> Result<(), ExecError> {
        let source = match s.query.inputs.first() {
            Some(input) => self.rowset(input)?,
            None => self.previous()?,
        };
        let target = s.output.as_ref().and_then(|o| o.path.as_ref()).map_or_else(
            || format!("output {}", outputs.len()),
            |p| self.path(self.script.slice(&p.span)),
        );
        let sql = format!("SELECT * FROM {source}");
        let rows = self.read(&sql).map_err(|source| ExecError::Sql {
            line: self.line,
            sql,
            source,
        })?;
        outputs.insert(target, rows);
        Ok(())
    }

    fn read(&self, sql: &str) -> rusqlite::Result<Output> {
        let mut statement = self.db.prepare(sql)?;
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let n = columns.len();
        let mut rows = Vec::new();
        let mut cursor = statement.query([])?;
        while let Some(row) = cursor.next()? {
            rows.push(
                (0..n)
                    .map(|i| row.get_ref(i).map(shown))
                    .collect::<rusqlite::Result<Vec<_>>>()?,
            );
        }
        rows.sort();
        Ok(Output { columns, rows })
    }

    fn previous(&self) -> Result<String, ExecError> {
        match self.last {
            Some(index) => Ok(format!("s{index}")),
            None => self.unsupported("a statement without an input"),
        }
    }

    /// SQL name of a rowset that is read.
    fn rowset(&self, r: &RowsetRef) -> Result<String, ExecError> {
        match &r.source {
            RowsetSource::Name => match r.definition {
                Some(index) => Ok(format!("s{index}")),
                None => self.table(&r.name),
            },
            RowsetSource::Previous => self.previous(),
            RowsetSource::Query(query) => Ok(format!("({})", self.query(query)?)),
            RowsetSource::Path(path) => self.table(&self.path(self.script.slice(&path.span))),
            other => self.unsupported(format!("{other:?}")),
        }
    }

    /// The table at a path or of a name (`dbo.T`).
    fn table(&self, path: &str) -> Result<String, ExecError> {
        let last = path.rsplit('.').next().unwrap_or(path);
        let found = self
            .world
            .samples
            .iter()
            .position(|s| s.path == path || s.name == last);
        found
            .map(|i| format!("t{i}"))
            .ok_or_else(|| ExecError::NoTable {
                line: self.line,
                path: path.to_owned(),
            })
    }

    fn expression(&self, text: &str) -> Result<String, ExecError> {
        let typing = Typing { text: &self.text };
        translate(text, &typing).or_else(|what| self.unsupported(what))
    }

    fn query(&self, q: &Query) -> Result<String, ExecError> {
        if !q.branches.is_empty() {
            return self.union(q);
        }
        match q.kind {
            StatementKind::Extract | StatementKind::SStream => self.source(q),
            StatementKind::Select | StatementKind::Rowset => self.select(q),
            StatementKind::Reduce => self.reduce(q),
            StatementKind::Process => self.process(q),
            StatementKind::Combine => self.combine(q),
            StatementKind::View => self.view(q),
            other => self.unsupported(format!("{other:?}")),
        }
    }

    fn union(&self, q: &Query) -> Result<String, ExecError> {
        let mut sql = String::new();
        for (i, branch) in q.branches.iter().enumerate() {
            if i > 0 {
                let operator = q
                    .set_operators
                    .get(i - 1)
                    .map_or("UNION ALL", String::as_str);
                match operator {
                    "UNION ALL" | "UNION" | "EXCEPT" | "INTERSECT" => {
                        sql.push_str(&format!(" {operator} "))
                    }
                    "UNION DISTINCT" => sql.push_str(" UNION "),
                    other => return self.unsupported(other),
                }
            }
            sql.push_str(&format!("SELECT * FROM ({})", self.query(branch)?));
        }
        Ok(sql)
    }

    fn source(&self, q: &Query) -> Result<String, ExecError> {
        let Some(path) = q.paths.first() else {
            return self.unsupported("a source without a path");
        };
        let table = self.table(&self.path(self.script.slice(&path.span)))?;
        let names: Vec<String> = q
            .columns
            .iter()
            .filter_map(|c| c.name.as_deref())
            .map(name)
            .collect();
        let columns = if names.is_empty() {
            "*".to_owned()
        } else {
            names.join(", ")
        };
        Ok(format!("SELECT {columns} FROM {table}"))
    }

    fn select(&self, q: &Query) -> Result<String, ExecError> {
        if q.top.is_some() && q.order_by.is_empty() {
            return self.unsupported("TOP without an order, whose rows are not determined");
        }
        let mut columns = Vec::new();
        for c in &q.columns {
            let text = self.script.slice(&c.expression.span);
            let sql = if c.is_star() {
                star(self.script.slice(&c.span))
            } else {
                self.expression(text)?
            };
            columns.push(match &c.name {
                Some(n) if !c.is_star() => format!("{sql} AS {}", name(n)),
                _ => sql,
            });
        }
        let list = if columns.is_empty() {
            "*".to_owned()
        } else {
            columns.join(", ")
        };
        let distinct = if q.distinct { "DISTINCT " } else { "" };
        let mut sql = format!("SELECT {distinct}{list} FROM {}", self.from(q)?);
        let filter = self.conjuncts(&q.filter)?;
        let semi = self.semi_joins(q)?;
        let all: Vec<String> = filter.into_iter().chain(semi).collect();
        if !all.is_empty() {
            sql.push_str(&format!(" WHERE {}", all.join(" AND ")));
        }
        if !q.group_by.is_empty() {
            let keys: Result<Vec<String>, ExecError> = q
                .group_by
                .iter()
                .map(|k| self.expression(self.script.slice(&k.span)))
                .collect();
            sql.push_str(&format!(" GROUP BY {}", keys?.join(", ")));
        }
        let having = self.conjuncts(&q.having)?;
        if !having.is_empty() {
            // SCOPE allows HAVING on any query, over its output columns.
            sql = format!("SELECT * FROM ({sql}) WHERE {}", having.join(" AND "));
        }
        if let Some(n) = self.first_rows(q) {
            sql.push_str(&format!(" ORDER BY {} LIMIT {n}", self.order(q)?));
        }
        Ok(sql)
    }

    /// `n` of `TOP n`, or of `FETCH n ROWS` behind the order.
    fn first_rows(&self, q: &Query) -> Option<u64> {
        let behind = q.order_by.last()?.expression.span.end..q.span.end;
        let number = match &q.top {
            Some(top) => self.script.slice(&top.span),
            None => self.script.slice(&behind).split_once("FETCH")?.1,
        };
        let mut words = number.split_whitespace();
        words.find_map(|word| word.parse().ok())
    }

    fn order(&self, q: &Query) -> Result<String, ExecError> {
        let item = |item: &job::script::OrderItem| {
            let key = self.expression(self.script.slice(&item.expression.span))?;
            Ok(if item.descending {
                format!("{key} DESC")
            } else {
                key
            })
        };
        let items: Result<Vec<String>, ExecError> = q.order_by.iter().map(item).collect();
        Ok(items?.join(", "))
    }

    fn conjuncts(&self, list: &[job::script::Conjunct]) -> Result<Vec<String>, ExecError> {
        list.iter()
            .map(|c| self.expression(self.script.slice(&c.expression.span)))
            .collect()
    }

    fn input(&self, r: &RowsetRef) -> Result<String, ExecError> {
        Ok(format!("{} AS {}", self.rowset(r)?, name(r.label())))
    }

    fn from(&self, q: &Query) -> Result<String, ExecError> {
        let Some(first) = q.inputs.first() else {
            return self.previous();
        };
        let mut sql = self.input(first)?;
        for join in &q.joins {
            let word = match join.kind {
                JoinKind::Inner => "INNER JOIN",
                JoinKind::LeftOuter => "LEFT OUTER JOIN",
                JoinKind::RightOuter => "RIGHT OUTER JOIN",
                JoinKind::FullOuter => "FULL OUTER JOIN",
                JoinKind::Cross => "CROSS JOIN",
                JoinKind::LeftSemi | JoinKind::LeftAntiSemi => continue,
                other => return self.unsupported(format!("{other:?} join")),
            };
            let Some(right) = q.inputs.get(join.right) else {
                return self.unsupported("a join without a side");
            };
            sql.push_str(&format!(" {word} {}", self.input(right)?));
            let on = self.conjuncts(&join.condition)?;
            if !on.is_empty() {
                sql.push_str(&format!(" ON {}", on.join(" AND ")));
            }
        }
        Ok(sql)
    }

    fn semi_joins(&self, q: &Query) -> Result<Vec<String>, ExecError> {
        let mut out = Vec::new();
        for join in &q.joins {
            let not = match join.kind {
                JoinKind::LeftSemi => "",
                JoinKind::LeftAntiSemi => "NOT ",
                _ => continue,
            };
            let Some(right) = q.inputs.get(join.right) else {
                return self.unsupported("a join without a side");
            };
            let on = self.conjuncts(&join.condition)?.join(" AND ");
            out.push(format!(
                "{not}EXISTS (SELECT 1 FROM {} WHERE {on})",
                self.input(right)?
            ));
        }
        Ok(out)
    }

    /// A view stands for the table whose path is one of its parameters, or that has its name.
    fn view(&self, q: &Query) -> Result<String, ExecError> {
        let by_parameter = q
            .params
            .iter()
            .find_map(|(_, value)| self.table(&self.path(self.script.slice(&value.span))).ok());
        let own = q
            .paths
            .first()
            .map(|p| self.path(self.script.slice(&p.span)));
        let stem = own.map(|p| {
            let last = p.rsplit('/').next().unwrap_or(&p).to_owned();
            last.trim_end_matches(".view").to_owned()
        });
        let table = match by_parameter {
            Some(table) => table,
            None => self.table(&stem.unwrap_or_default())?,
        };
        Ok(format!("SELECT * FROM {table}"))
    }

    /// Every pair of rows with equal keys is handed to the stand-in, as a processor gets its rows.
    fn combine(&self, q: &Query) -> Result<String, ExecError> {
        let [left, right] = q.inputs.as_slice() else {
            return self.unsupported("COMBINE of other than two rowsets");
        };
        let (l, r) = (self.rowset(left)?, self.rowset(right)?);
        let key = q.joins.first().and_then(|j| j.keys.first());
        let Some((lk, rk)) = key else {
            return self.unsupported("COMBINE without an equality of two columns");
        };
        let of_left = self.columns(&l)?;
        let mut all: Vec<String> = of_left.iter().map(|c| format!("l.{}", name(c))).collect();
        let of_right = self.columns(&r)?;
        all.extend(
            of_right
                .iter()
                .filter(|c| !of_left.contains(c))
                .map(|c| format!("r.{}", name(c))),
        );
        let pairs = format!(
            "(SELECT {} FROM {l} AS l INNER JOIN {r} AS r ON l.{} = r.{})",
            all.join(", "),
            name(&lk.name),
            name(&rk.name)
        );
        self.each_row(q, &pairs)
    }

    /// Columns that the class of a query reads: all of its input if its code is not known.
    fn reads(&self, q: &Query, source: &str) -> Result<Vec<String>, ExecError> {
        let class = q.using_class.as_deref().unwrap_or_default();
        let class = class.rsplit('.').next().unwrap_or(class);
        if let Some(reads) = self.world.reads.get(class) {
            return Ok(reads.clone());
        }
        self.columns(source)
    }

    /// Column names of a rowset.
    fn columns(&self, source: &str) -> Result<Vec<String>, ExecError> {
        let sql = format!("SELECT * FROM {source}");
        let statement = self.db.prepare(&sql).map_err(|source| ExecError::Sql {
            line: self.line,
            sql: sql.clone(),
            source,
        })?;
        Ok(statement.column_names().map(str::to_owned).collect())
    }

    fn user_input(&self, q: &Query) -> Result<String, ExecError> {
        match q.inputs.first() {
            Some(input) => self.rowset(input),
            None => self.previous(),
        }
    }

    fn reduce(&self, q: &Query) -> Result<String, ExecError> {
        let source = self.user_input(q)?;
        let reads: Vec<String> = self.reads(q, &source)?.iter().map(|r| name(r)).collect();
        let keys: Vec<String> = q.on.iter().map(|k| k.name.clone()).collect();
        let class = literal(q.using_class.as_deref().unwrap_or_default());
        let mut columns = Vec::new();
        for c in &q.columns {
            let Some(n) = &c.name else { continue };
            let value = if keys.contains(n) {
                name(n)
            } else {
                format!("cs_fold({class}, {}, {})", literal(n), reads.join(", "))
            };
            columns.push(format!("{value} AS {}", name(n)));
        }
        let keys: Vec<String> = keys.iter().map(|k| name(k)).collect();
        let group = if keys.is_empty() {
            String::new()
        } else {
            format!(" GROUP BY {}", keys.join(", "))
        };
        Ok(format!(
            "SELECT {} FROM {source}{group}",
            columns.join(", ")
        ))
    }

    fn process(&self, q: &Query) -> Result<String, ExecError> {
        let source = self.user_input(q)?;
        self.each_row(q, &source)
    }

    /// User code over every row.
    fn each_row(&self, q: &Query, source: &str) -> Result<String, ExecError> {
        let read = self.reads(q, source)?;
        let reads: Vec<String> = read.iter().map(|r| name(r)).collect();
        let class = literal(q.using_class.as_deref().unwrap_or_default());
        let mut columns = Vec::new();
        for c in &q.columns {
            let Some(n) = &c.name else { continue };
            // A produced column that is also read is taken to be passed on, as processors usually do.
            let value = if read.contains(n) {
                name(n)
            } else {
                format!("cs_value({class}, {}, {})", literal(n), reads.join(", "))
            };
            columns.push(format!("{value} AS {}", name(n)));
        }
        Ok(format!("SELECT {} FROM {source}", columns.join(", ")))
    }
}

/// `*` or `alias.*`.
fn star(text: &str) -> String {
    match text.trim().strip_suffix(".*") {
        Some(alias) => format!("{}.*", name(alias)),
        None => "*".to_owned(),
    }
}

/// A value as text; sums of doubles in another order differ in their last digits, so they are rounded.
fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "null".to_owned(),
        ValueRef::Integer(n) => n.to_string(),
        ValueRef::Real(x) if x.fract() == 0.0 && x.abs() < 1e15 => format!("{x:.0}"),
        ValueRef::Real(x) => format!("{x:.9e}"),
        ValueRef::Text(t) | ValueRef::Blob(t) => String::from_utf8_lossy(t).into_owned(),
    }
}
