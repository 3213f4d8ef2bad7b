//! Expressions in SQL, with their meaning in C#: tests are never null, `null == null`
//! holds, whole numbers divide to whole ones and overflow, and parts that cannot be executed are user code.

use super::{Probe, Translator};
use crate::Unknown;
use crate::kind::{Column, Kind};
use crate::pairs::Touch;
use crate::sql::literal;
use job::script::expr::{Expr, Literal, Op};

/// Bytes of an expression in SQL; some parts are written twice.
const LONGEST: usize = 50_000;

/// An expression in SQL.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Value {
    pub(super) sql: String,
    /// `None` for a literal null.
    pub(super) kind: Option<Kind>,
    pub(super) nullable: bool,
    /// Whether it may fail; it must then only be computed if C# computes it.
    pub(super) fails: bool,
}

impl Value {
    pub(super) fn new(sql: String, kind: Kind, of: &[&Value]) -> Value {
        Value {
            sql,
            kind: Some(kind),
            nullable: of.iter().any(|value| value.nullable),
            fails: of.iter().any(|value| value.fails),
        }
    }

    pub(super) fn is(&self, kind: Kind) -> bool {
        self.kind == Some(kind)
    }
}

/// Columns that an expression can name, and their qualifiers.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    pub(super) inputs: Vec<Labeled>,
}

#[derive(Debug, Clone)]
pub(super) struct Labeled {
    pub(super) labels: Vec<String>,
    /// Name in SQL.
    pub(super) alias: String,
    pub(super) columns: Vec<Column>,
}

impl Scope {
    /// The one column of a name, as SQL.
    pub(super) fn find(&self, qualifier: Option<&str>, name: &str) -> Option<(String, &Column)> {
        let of = |input: &&Labeled| qualifier.is_none_or(|q| input.labels.iter().any(|l| l == q));
        let columns = self.inputs.iter().filter(of).flat_map(|input| {
            input
                .columns
                .iter()
                .enumerate()
                .map(move |(at, column)| (input, at, column))
        });
        let mut found = columns.filter(|(_, _, column)| column.name == name);
        let (input, at, column) = found.next()?;
        found
            .next()
            .is_none()
            .then(|| (format!("{}.c{at}", input.alias), column))
    }

    fn is_label(&self, name: &str) -> bool {
        self.inputs
            .iter()
            .any(|input| input.labels.iter().any(|label| label == name))
    }
}

impl Translator<'_> {
    pub(super) fn value(&mut self, expression: &Expr, scope: &Scope) -> Result<Value, Unknown> {
        let value = self.translated(expression, scope)?;
        match value.sql.len() > LONGEST {
            true => Err(Unknown::TooLarge),
            false => Ok(value),
        }
    }

    fn translated(&mut self, expression: &Expr, scope: &Scope) -> Result<Value, Unknown> {
        match expression {
            Expr::Path(path) => self.named(path, scope),
            Expr::Parameter(name) => match self.parameters.get(name).cloned() {
                Some(value) => self.value(&value, &Scope::default()),
                None => self.not_executed(&format!("@{name}")),
            },
            Expr::Literal(value) => Ok(constant(value)),
            Expr::Star => self.not_executed("*"),
            Expr::Not(inner) => {
                let inner = self.test(inner, scope)?;
                Ok(Value::new(
                    format!("(NOT {})", inner.sql),
                    Kind::Bool,
                    &[&inner],
                ))
            }
            Expr::Negate(inner) => {
                let inner = self.value(inner, scope)?;
                match inner.kind {
                    Some(kind) if kind.is_number() => {
                        Ok(Value::new(format!("(-{})", inner.sql), kind, &[&inner]))
                    }
                    _ => self.stand_in("-", &[inner]),
                }
            }
            Expr::Binary(op, left, right) => self.binary(*op, left, right, scope),
            Expr::Conditional(test, yes, no) => {
                let test = self.test(test, scope)?;
                let (yes, no) = (self.value(yes, scope)?, self.value(no, scope)?);
                self.choice(&test, yes, no)
            }
            Expr::Cast(name, inner) => {
                let inner = self.value(inner, scope)?;
                self.cast(name, inner)
            }
            Expr::Member(on, name) => {
                let on = self.value(on, scope)?;
                self.member(on, name)
            }
            Expr::Call(call) => self.call(call, scope),
            Expr::In(value, list) => {
                let mut tests = list
                    .iter()
                    .map(|item| Expr::Binary(Op::Equal, value.clone(), Box::new(item.clone())));
                let Some(first) = tests.next() else {
                    return self.not_executed("IN ()");
                };
                let any = tests.fold(first, |any, test| {
                    Expr::Binary(Op::Or, Box::new(any), Box::new(test))
                });
                self.value(&any, scope)
            }
            Expr::Between(value, low, high) => {
                let low = Expr::Binary(Op::GreaterOrEqual, value.clone(), low.clone());
                let high = Expr::Binary(Op::LessOrEqual, value.clone(), high.clone());
                self.value(&Expr::Binary(Op::And, Box::new(low), Box::new(high)), scope)
            }
        }
    }

    /// An expression as a test: 0 or 1, never null.
    pub(super) fn test(&mut self, expression: &Expr, scope: &Scope) -> Result<Value, Unknown> {
        let value = self.value(expression, scope)?;
        let sql = match value.kind {
            Some(Kind::Bool) if !value.nullable => value.sql.clone(),
            Some(Kind::Bool) => format!("COALESCE({}, 0)", value.sql),
            Some(Kind::Opaque) => {
                self.user_code("a test of an unknown type")?;
                format!("(COALESCE({}, 0) % 3 <> 0)", value.sql)
            }
            _ => return self.not_executed("a test that is no bool"),
        };
        Ok(Value {
            sql,
            nullable: false,
            kind: Some(Kind::Bool),
            ..value
        })
    }

    /// A column, a member of one, or a constant of a class.
    fn named(&mut self, path: &[String], scope: &Scope) -> Result<Value, Unknown> {
        let column = |found: Option<(String, &Column)>| {
            found.map(|(sql, column)| Value {
                sql,
                kind: Some(column.kind),
                nullable: column.nullable,
                fails: false,
            })
        };
        let (found, members) = match path {
            [label, name, members @ ..] if scope.is_label(label) => {
                (column(scope.find(Some(label), name)), members)
            }
            [name, members @ ..] => (column(scope.find(None, name)), members),
            [] => (None, path),
        };
        let Some(mut value) = found else {
            let class = path.len() > 1 && !scope.is_label(&path[0]);
            return match class {
                true => self.stand_in(&path.join("."), &[]),
                false => self.not_executed(&path.join(".")),
            };
        };
        for member in members {
            value = self.member(value, member)?;
        }
        Ok(value)
    }

    fn binary(
        &mut self,
        op: Op,
        left: &Expr,
        right: &Expr,
        scope: &Scope,
    ) -> Result<Value, Unknown> {
        match op {
            Op::And | Op::Or => {
                let (left, right) = (self.test(left, scope)?, self.test(right, scope)?);
                Ok(connected(op, &left, &right))
            }
            Op::Coalesce => {
                let (left, right) = (self.value(left, scope)?, self.value(right, scope)?);
                let present = Value::new(format!("({} IS NOT NULL)", left.sql), Kind::Bool, &[]);
                let nullable = right.nullable;
                let chosen = self.choice(&present, left, right)?;
                Ok(Value { nullable, ..chosen })
            }
            Op::Equal
            | Op::NotEqual
            | Op::Less
            | Op::LessOrEqual
            | Op::Greater
            | Op::GreaterOrEqual => {
                let code = format!("{left} {} {right}", op.sign());
                let (l, r) = (self.value(left, scope)?, self.value(right, scope)?);
                self.comparison(op, l, r, code)
            }
            _ => {
                let (left, right) = (self.value(left, scope)?, self.value(right, scope)?);
                self.arithmetic(op, left, right)
            }
        }
    }

    fn comparison(
        &mut self,
        op: Op,
        left: Value,
        right: Value,
        code: String,
    ) -> Result<Value, Unknown> {
        let equality = matches!(op, Op::Equal | Op::NotEqual);
        let (l, r) = (&left.sql, &right.sql);
        let (Some(of_left), Some(of_right)) = (left.kind, right.kind) else {
            let value = if left.kind.is_none() { r } else { l };
            let sql = match op {
                Op::Equal => format!("({value} IS NULL)"),
                Op::NotEqual => format!("({value} IS NOT NULL)"),
                _ => return self.not_executed("a comparison with null"),
            };
            let compared = Value::new(sql, Kind::Bool, &[&left, &right]);
            return Ok(Value {
                nullable: false,
                ..compared
            });
        };
        // a value of unknown type is compared as it is, with another one or with a number
        let opaque = |a: Kind, b: Kind| a == Kind::Opaque && (b.is_number() || b == Kind::Opaque);
        let comparable = of_left
            .common(of_right)
            .is_some_and(|kind| equality || kind.is_number() || kind == Kind::Time);
        if !comparable && !opaque(of_left, of_right) && !opaque(of_right, of_left) {
            return self.stand_in(op.sign(), &[left, right]);
        }
        let sql = match self.touch {
            Touch::Changed => {
                let probe = self.program.probes.len();
                self.program.probes.push(Probe {
                    op,
                    line: self.line,
                    code,
                });
                format!("compared({probe}, {}, {l}, {r})", literal(op.sign()))
            }
            _ => format!("compared(-1, {}, {l}, {r})", literal(op.sign())),
        };
        let compared = Value::new(sql, Kind::Bool, &[&left, &right]);
        Ok(Value {
            nullable: false,
            ..compared
        })
    }

    fn arithmetic(&mut self, op: Op, left: Value, right: Value) -> Result<Value, Unknown> {
        let (l, r) = (&left.sql, &right.sql);
        let both = [&left, &right];
        let text = |value: &Value| value.is(Kind::Text);
        let joins = op == Op::Add && (text(&left) || text(&right));
        if joins
            && both.iter().all(|value| {
                value
                    .kind
                    .is_none_or(|kind| kind == Kind::Text || kind.is_whole())
            })
        {
            let sql = format!("(COALESCE({l}, '') || COALESCE({r}, ''))");
            return Ok(Value {
                nullable: false,
                ..Value::new(sql, Kind::Text, &both)
            });
        }
        let common = left
            .kind
            .zip(right.kind)
            .and_then(|(l, r)| l.common(r))
            .filter(|kind| kind.is_number());
        let Some(kind) = common else {
            return self.stand_in(op.sign(), &[left, right]);
        };
        let bits = if kind == Kind::Int { 32 } else { 64 };
        let (sql, fails) = match (op, kind.is_whole()) {
            (Op::Add | Op::Subtract | Op::Multiply, true) => {
                (format!("whole({l} {} {r}, {bits})", op.sign()), false)
            }
            (Op::Divide, true) => (format!("divided({l}, {r})"), true),
            (Op::Remainder, true) => (format!("remainder({l}, {r})"), true),
            (Op::Add | Op::Subtract | Op::Multiply, false) => (
                format!("(CAST({l} AS REAL) {} CAST({r} AS REAL))", op.sign()),
                false,
            ),
            (Op::Divide, false) if kind == Kind::Real => (
                format!("divided(CAST({l} AS REAL), CAST({r} AS REAL))"),
                true,
            ),
            _ => return self.stand_in(op.sign(), &[left, right]),
        };
        let value = Value::new(sql, kind, &both);
        Ok(Value {
            fails: value.fails || fails,
            ..value
        })
    }

    /// One of two values.
    pub(super) fn choice(&mut self, test: &Value, yes: Value, no: Value) -> Result<Value, Unknown> {
        let kind = match (yes.kind, no.kind) {
            (Some(a), Some(b)) => a.common(b),
            (one, other) => Some(one.or(other).unwrap_or(Kind::Opaque)),
        };
        let Some(kind) = kind else {
            let test = test.clone();
            return self.stand_in("?:", &[test, yes, no]);
        };
        let as_kind = |value: &Value| match kind {
            Kind::Real | Kind::Decimal if !value.is(kind) => format!("CAST({} AS REAL)", value.sql),
            _ => value.sql.clone(),
        };
        let sql = format!(
            "(CASE WHEN {} THEN {} ELSE {} END)",
            test.sql,
            as_kind(&yes),
            as_kind(&no)
        );
        let value = Value::new(sql, kind, &[&yes, &no]);
        Ok(Value {
            fails: value.fails || test.fails,
            ..value
        })
    }

    pub(super) fn cast(&mut self, name: &str, inner: Value) -> Result<Value, Unknown> {
        let to = Kind::of_type(name);
        let sql = &inner.sql;
        let sql = match (inner.kind, to) {
            (None, _) => {
                return Ok(Value {
                    kind: Some(to),
                    ..inner
                });
            }
            (Some(from), to)
                if from == to
                    && !matches!(name, "short" | "byte" | "sbyte" | "ushort" | "float") =>
            {
                sql.clone()
            }
            (Some(Kind::Int), Kind::Long) if name == "long" => sql.clone(),
            (Some(Kind::Long | Kind::Real), Kind::Int) if name == "int" => {
                format!("whole(CAST({sql} AS INTEGER), 32)")
            }
            (Some(Kind::Real), Kind::Long) if name == "long" => {
                format!("whole(CAST({sql} AS INTEGER), 64)")
            }
            (Some(Kind::Int | Kind::Long | Kind::Real), Kind::Real) if name == "double" => {
                format!("CAST({sql} AS REAL)")
            }
            (Some(Kind::Int | Kind::Long), Kind::Decimal) => format!("CAST({sql} AS REAL)"),
            _ => {
                let value = self.stand_in(&format!("({name})"), &[inner])?;
                let sql = super::user_code::of_kind(&value.sql, to);
                return Ok(Value {
                    sql,
                    kind: Some(to),
                    ..value
                });
            }
        };
        Ok(Value::new(sql, to, &[&inner]))
    }

    /// A function in the place of code that is not executed: equal results for equal values.
    pub(super) fn stand_in(&mut self, name: &str, values: &[Value]) -> Result<Value, Unknown> {
        self.user_code(name)?;
        let list: String = values
            .iter()
            .map(|value| format!(", {}", value.sql))
            .collect();
        let sql = format!("stand_in({}{list})", literal(name));
        let all: Vec<&Value> = values.iter().collect();
        Ok(Value {
            nullable: false,
            ..Value::new(sql, Kind::Opaque, &all)
        })
    }
}

/// `&&` and `||`. If the right side may fail, it is only computed if the left side does not decide.
pub(super) fn connected(op: Op, left: &Value, right: &Value) -> Value {
    let (l, r) = (&left.sql, &right.sql);
    let sql = match (op, right.fails) {
        (Op::And, false) => format!("({l} AND {r})"),
        (Op::And, true) => format!("(CASE WHEN {l} THEN {r} ELSE 0 END)"),
        (_, false) => format!("({l} OR {r})"),
        (_, true) => format!("(CASE WHEN {l} THEN 1 ELSE {r} END)"),
    };
    Value::new(sql, Kind::Bool, &[left, right])
}

fn constant(value: &Literal) -> Value {
    let (sql, kind) = match value {
        Literal::Null => ("NULL".to_owned(), None),
        Literal::Bool(value) => (u8::from(*value).to_string(), Some(Kind::Bool)),
        Literal::Int(value) => (value.to_string(), Some(Kind::Int)),
        Literal::Long(value) => (value.to_string(), Some(Kind::Long)),
        Literal::Real(value) => (format!("{value:?}"), Some(Kind::Real)),
        Literal::Decimal(value) => (format!("{value:?}"), Some(Kind::Decimal)),
        Literal::Text(value) => (literal(value), Some(Kind::Text)),
    };
    Value {
        sql,
        kind,
        nullable: kind.is_none(),
        fails: false,
    }
}
