//! User code is never run; functions of its input take its place.

use job::script::{Query, RowsetRef};

use super::{Relation, Translator};
use crate::Unknown;
use crate::kind::{Column, Kind, is_nullable};
use crate::pairs::Touch;
use crate::sql::literal;
use crate::unknown::excerpt;

/// Maximum number of values for a function; each value has a name, and SQLite allows 127 arguments.
const MOST_VALUES: usize = 50;

impl Translator<'_> {
    /// Refuses user code in a changed statement.
    pub(super) fn user_code(&self, name: &str) -> Result<(), Unknown> {
        match self.touch == Touch::Changed && !self.way.stands_in {
            true => Err(Unknown::UserCode {
                code: excerpt(name),
            }),
            false => Ok(()),
        }
    }

    /// One row out per row in: columns that the code passes on stay, others are functions of the columns read.
    pub(super) fn process(&mut self, query: &Query) -> Result<Relation, Unknown> {
        let class = self.class(query)?;
        let input = self.only_input(query)?;
        let read = self.read(&class, &input, &[])?;
        let mut columns = Vec::new();
        let mut list = Vec::new();
        for produced in self.produced(query)? {
            let passed = read.iter().find(|(name, _)| *name == produced.name);
            let (sql, column) = match passed {
                Some((_, at)) => (format!("c{at}"), input.columns[*at].clone()),
                None => (stand_in(&class, &produced, &read, "stand_in"), produced),
            };
            list.push(format!("{sql} AS c{}", columns.len()));
            columns.push(column);
        }
        Ok(select(&list, &input.from, "", columns))
    }

    /// A row for every key: keys pass, others are functions of the rows with the key.
    pub(super) fn reduce(&mut self, query: &Query) -> Result<Relation, Unknown> {
        let class = self.class(query)?;
        let input = self.only_input(query)?;
        let mut keys = Vec::new();
        for key in &query.on {
            match input
                .columns
                .iter()
                .position(|column| column.name == key.name)
            {
                Some(at) => keys.push((key.name.clone(), at)),
                None => return self.not_executed(&key.name),
            }
        }
        let read = self.read(&class, &input, &keys)?;
        self.folded(query, &class, &input, &keys, &read)
    }

    /// A row for every key of either side.
    pub(super) fn combine(&mut self, query: &Query) -> Result<Relation, Unknown> {
        let class = self.class(query)?;
        let ([left, right], [join]) = (query.inputs.as_slice(), query.joins.as_slice()) else {
            return self.not_executed(self.script.slice(&query.span));
        };
        let (left, right) = (self.input(left)?, self.input(right)?);
        let at = |side: &Relation, name: &str| side.columns.iter().position(|c| c.name == name);
        let mut keys = Vec::new();
        for (l, r) in &join.keys {
            match (at(&left, &l.name), at(&right, &r.name)) {
                (Some(l), Some(r)) => keys.push((l, r)),
                _ => return self.not_executed(&l.name),
            }
        }
        if keys.is_empty() {
            return self.not_executed(self.script.slice(&join.span));
        }
        let mut side = |side: &Relation, keys: Vec<usize>, name: &str| -> Result<String, Unknown> {
            let read = self.read(&class, side, &[])?;
            let keys = keys
                .iter()
                .enumerate()
                .map(|(n, at)| format!("c{at} AS c{n}"));
            let mut list: Vec<String> = keys.collect();
            let whole = Column {
                name: name.to_owned(),
                kind: Kind::Opaque,
                nullable: false,
            };
            list.push(format!(
                "{} AS c{}",
                stand_in(&class, &whole, &read, "digest"),
                list.len()
            ));
            Ok(format!("SELECT {} FROM {}", list.join(", "), side.from))
        };
        let both = format!(
            "({} UNION ALL {})",
            side(&left, keys.iter().map(|k| k.0).collect(), "left")?,
            side(&right, keys.iter().map(|k| k.1).collect(), "right")?
        );
        let mut columns: Vec<Column> = keys.iter().map(|(l, _)| left.columns[*l].clone()).collect();
        let names: Vec<(String, usize)> = columns
            .iter()
            .enumerate()
            .map(|(n, c)| (c.name.clone(), n))
            .collect();
        let rows = (String::from("row"), columns.len());
        columns.push(Column {
            name: rows.0.clone(),
            kind: Kind::Opaque,
            nullable: false,
        });
        let input = Relation {
            from: both,
            columns,
            order: None,
        };
        self.folded(query, &class, &input, &names, &[rows])
    }

    fn folded(
        &self,
        query: &Query,
        class: &str,
        input: &Relation,
        keys: &[(String, usize)],
        read: &[(String, usize)],
    ) -> Result<Relation, Unknown> {
        let (mut columns, mut list) = (Vec::new(), Vec::new());
        for produced in self.produced(query)? {
            let passed = keys.iter().find(|(name, _)| *name == produced.name);
            let (sql, column) = match passed {
                Some((_, at)) => (format!("c{at}"), input.columns[*at].clone()),
                None => (stand_in(class, &produced, read, "stand_in_fold"), produced),
            };
            list.push(format!("{sql} AS c{}", columns.len()));
            columns.push(column);
        }
        let by: Vec<String> = keys.iter().map(|(_, at)| format!("c{at}")).collect();
        let by = if by.is_empty() {
            String::new()
        } else {
            format!(" GROUP BY {}", by.join(", "))
        };
        Ok(select(&list, &input.from, &by, columns))
    }

    fn class(&self, query: &Query) -> Result<String, Unknown> {
        let class = query.using_class.clone().unwrap_or_default();
        self.user_code(&class)?;
        Ok(class)
    }

    fn only_input(&mut self, query: &Query) -> Result<Relation, Unknown> {
        let inputs: &[RowsetRef] = &query.inputs;
        match inputs {
            [input] => self.input(input),
            _ => self.not_executed(self.script.slice(&query.span)),
        }
    }

    /// Columns that a class reads, by name: all of its input if its code is not known.
    fn read(
        &mut self,
        class: &str,
        input: &Relation,
        keys: &[(String, usize)],
    ) -> Result<Vec<(String, usize)>, Unknown> {
        let known = (self.way.facts.reads)(class);
        let all = input
            .columns
            .iter()
            .enumerate()
            .map(|(at, column)| (column.name.clone(), at));
        let is_read = |name: &String| {
            known.as_ref().is_none_or(|known| known.contains(name))
                || keys.iter().any(|key| key.0 == *name)
        };
        // other names in its code are columns that it produces
        let mut read: Vec<_> = all.filter(|(name, _)| is_read(name)).collect();
        read.sort();
        let names = read.iter().map(|(name, _)| name.clone()).collect();
        self.program.read.insert((class.to_owned(), names));
        match read.len() > MOST_VALUES {
            true => Err(Unknown::TooLarge),
            false => Ok(read),
        }
    }

    fn produced(&self, query: &Query) -> Result<Vec<Column>, Unknown> {
        if query.columns.is_empty() || query.columns.iter().any(|column| column.is_star()) {
            return self.not_executed(self.script.slice(&query.span));
        }
        let named = query.columns.iter().map(|column| {
            let name = column.name.clone().unwrap_or_default();
            match &column.type_name {
                Some(type_name) => Column {
                    name,
                    kind: Kind::of_type(type_name),
                    nullable: is_nullable(type_name),
                },
                None => self.undeclared(name),
            }
        });
        Ok(named.collect())
    }
}

/// A function of the named columns, as a value of a column.
fn stand_in(class: &str, column: &Column, read: &[(String, usize)], function: &str) -> String {
    let values = read
        .iter()
        .map(|(name, at)| format!(", {}, c{at}", literal(name)));
    let values: String = values.collect();
    let value = format!(
        "{function}({}{values})",
        literal(&format!("{class} {}", column.name))
    );
    of_kind(&value, column.kind)
}

/// A whole number as a value of a kind.
pub(super) fn of_kind(value: &str, kind: Kind) -> String {
    match kind {
        Kind::Bool => format!("({value} % 2)"),
        Kind::Real | Kind::Decimal => format!("CAST({value} AS REAL)"),
        Kind::Text => format!("('v' || {value})"),
        Kind::Int => format!("({value} & 65535)"),
        Kind::Long | Kind::Time | Kind::Opaque => value.to_owned(),
    }
}

fn select(list: &[String], from: &str, by: &str, columns: Vec<Column>) -> Relation {
    Relation {
        from: format!("(SELECT {} FROM {from}{by})", list.join(", ")),
        columns,
        order: None,
    }
}
