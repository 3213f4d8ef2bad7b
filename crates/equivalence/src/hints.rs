//! Literals and column kinds from the expressions of two scripts, for generating rows.

use std::collections::HashMap;

use job::script::{Expression, Query, Script, Span};

use crate::data::{Cell, Hints};
use crate::kind::Kind;
use crate::tokens::each_query;
use job::script::expr::{Call, Expr, Literal, Op};

/// Reads both scripts; also returns the kinds of columns, derived from their comparisons.
pub(crate) fn read(scripts: [&Script; 2]) -> (Hints, HashMap<String, Kind>) {
    let mut reader = Reader::default();
    for script in scripts {
        let declared = script
            .statements
            .iter()
            .filter_map(|s| Some((s.target.as_ref()?, s.value.as_ref()?)));
        for (name, value) in declared {
            if let Some(Expr::Literal(value)) = script.expression(&value.span) {
                reader.hints.all.extend(cell(&value));
                reader
                    .declared
                    .entry(name.trim_start_matches('@').to_owned())
                    .or_default()
                    .push(value);
            }
        }
        for statement in &script.statements {
            each_query(&statement.query, &mut |query| reader.query(script, query));
        }
    }
    reader.hints.all.truncate(200);
    (reader.hints, reader.kinds)
}

#[derive(Default)]
struct Reader {
    hints: Hints,
    kinds: HashMap<String, Kind>,
    /// Declared values, of either script.
    declared: HashMap<String, Vec<Literal>>,
}

impl Reader {
    fn query(&mut self, script: &Script, query: &Query) {
        let columns = query
            .columns
            .iter()
            .filter(|column| !column.is_star())
            .map(|column| &column.expression);
        let on = query.joins.iter().flat_map(|join| &join.condition);
        let tests = on
            .chain(&query.filter)
            .chain(&query.having)
            .map(|part| &part.expression);
        let order = query.order_by.iter().map(|item| &item.expression);
        let all: Vec<&Expression> = columns
            .chain(tests)
            .chain(&query.group_by)
            .chain(order.clone())
            .collect();
        for expression in all {
            self.span(script, &expression.span);
        }
        // A part that mixes tests cannot be split.
        if let Some(span) = &query.filter_span {
            self.span(script, &(span.start + "WHERE".len()..span.end));
        }
        for column in order.filter_map(|key| key.as_column()) {
            self.hints.wide.insert(column.name.clone());
        }
    }

    fn span(&mut self, script: &Script, span: &Span) {
        if let Some(expression) = script.expression(span) {
            expression.each(&mut |part| self.part(part));
        }
    }

    fn part(&mut self, part: &Expr) {
        match part {
            Expr::Literal(literal) => self.hints.all.extend(cell(literal)),
            Expr::Binary(op, left, right) if is_comparison(*op) => {
                self.compared(left, right);
                self.compared(right, left);
            }
            Expr::In(value, list) => list.iter().for_each(|item| self.compared(value, item)),
            Expr::Between(value, low, high) => {
                self.compared(value, low);
                self.compared(value, high);
            }
            Expr::Call(Call {
                path,
                arguments,
                window,
                ..
            }) => {
                let adds = matches!(path.as_slice(), [name] if matches!(name.as_str(), "SUM" | "MAX" | "MIN" | "AVG"));
                let order = window
                    .iter()
                    .flat_map(|window| window.order.iter().map(|(key, _)| key));
                let summed = arguments.iter().filter(|_| adds);
                for wide in order.chain(summed) {
                    self.hints.wide.extend(column(wide).map(str::to_owned));
                }
            }
            _ => {}
        }
    }

    /// A column, or something computed from it, that is compared with a literal.
    fn compared(&mut self, value: &Expr, with: &Expr) {
        let literals = match with {
            Expr::Negate(inner) => match &**inner {
                Expr::Literal(Literal::Int(n)) => vec![Literal::Int(-n)],
                Expr::Literal(Literal::Real(x)) => vec![Literal::Real(-x)],
                _ => return,
            },
            Expr::Literal(literal) => vec![literal.clone()],
            Expr::Parameter(name) => self.declared.get(name).cloned().unwrap_or_default(),
            _ => return,
        };
        for literal in literals {
            self.close_to(value, &literal);
        }
    }

    fn close_to(&mut self, value: &Expr, literal: &Literal) {
        if let Some(name) = column(value) {
            let kind = match literal {
                Literal::Text(_) => Some(Kind::Text),
                Literal::Bool(_) => Some(Kind::Bool),
                Literal::Real(_) => Some(Kind::Real),
                _ => None,
            };
            if let Some(kind) = kind {
                self.kinds.insert(name.to_owned(), kind);
            }
        }
        value.each(&mut |part| {
            if let Some(name) = column(part) {
                let known = self.hints.literals.entry(name.to_owned()).or_default();
                known.extend(cell(literal).filter(|cell| !known.contains(cell)));
            }
        });
    }
}

fn is_comparison(op: Op) -> bool {
    matches!(
        op,
        Op::Equal | Op::NotEqual | Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual
    )
}

/// Name of a column, with or without its rowset.
fn column(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Path(path) if path.len() <= 2 => path.last().map(String::as_str),
        _ => None,
    }
}

fn cell(literal: &Literal) -> Option<Cell> {
    match literal {
        Literal::Null | Literal::Bool(_) => None,
        Literal::Int(n) | Literal::Long(n) => Some(Cell::Whole(*n)),
        Literal::Real(x) | Literal::Decimal(x) => Some(Cell::Real(*x)),
        Literal::Text(text) => Some(Cell::Text(text.clone())),
    }
}
