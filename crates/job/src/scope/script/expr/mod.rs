//! The tree of an expression with a certain meaning: the part of C# and SQL that can be executed.

mod parse;
mod words;

use std::collections::HashMap;
use std::fmt;

pub(super) use parse::parse;

/// An expression. Other constructs are not executed.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// `Column`, `alias.Column`, `Column.Member`, `Class.Constant`: the meaning depends on the query.
    Path(Vec<String>),
    /// `@name`.
    Parameter(String),
    Literal(Literal),
    /// `COUNT(*)`.
    Star,
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Binary(Op, Box<Expr>, Box<Expr>),
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A cast to the named type, without the mark of a nullable one.
    Cast(String, Box<Expr>),
    Member(Box<Expr>, String),
    Call(Call),
    In(Box<Expr>, Vec<Expr>),
    Between(Box<Expr>, Box<Expr>, Box<Expr>),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Long(i64),
    Real(f64),
    Decimal(f64),
    Text(String),
}

/// A call of a function, a method or an aggregate.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Receiver of a method call, if it is more than a name.
    pub on: Option<Box<Expr>>,
    /// Names before the bracket: `Math`, `Abs`.
    pub path: Vec<String>,
    pub distinct: bool,
    pub arguments: Vec<Expr>,
    pub window: Option<Window>,
}

/// `OVER (PARTITION BY … ORDER BY …)`; with an order whether it is descending.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    pub keys: Vec<Expr>,
    pub order: Vec<(Expr, bool)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Coalesce,
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Op {
    /// As written.
    pub fn sign(self) -> &'static str {
        match self {
            Op::Coalesce => "??",
            Op::Or => "||",
            Op::And => "&&",
            Op::Equal => "==",
            Op::NotEqual => "!=",
            Op::Less => "<",
            Op::LessOrEqual => "<=",
            Op::Greater => ">",
            Op::GreaterOrEqual => ">=",
            Op::Add => "+",
            Op::Subtract => "-",
            Op::Multiply => "*",
            Op::Divide => "/",
            Op::Remainder => "%",
        }
    }
}

impl Expr {
    /// The expression with declared names replaced by their values; `None` if a name is unknown
    /// or the result has more than `most` parts.
    pub fn expanded(&self, known: &HashMap<String, Expr>, most: &mut usize) -> Option<Expr> {
        *most = most.checked_sub(1)?;
        let mut inner = |part: &Expr| part.expanded(known, most).map(Box::new);
        Some(match self {
            Expr::Parameter(name) => known.get(name)?.expanded(known, most)?,
            Expr::Path(_) | Expr::Literal(_) => self.clone(),
            Expr::Negate(a) => Expr::Negate(inner(a)?),
            Expr::Cast(name, a) => Expr::Cast(name.clone(), inner(a)?),
            Expr::Binary(op, a, b) => Expr::Binary(*op, inner(a)?, inner(b)?),
            // declarations do not use other executable expressions
            _ => return None,
        })
    }

    /// Calls `visit` with the expression and everything inside it.
    pub fn each<'e>(&'e self, visit: &mut impl FnMut(&'e Expr)) {
        visit(self);
        let mut all = |parts: &[&'e Expr]| {
            for part in parts {
                part.each(visit);
            }
        };
        match self {
            Expr::Path(_) | Expr::Parameter(_) | Expr::Literal(_) | Expr::Star => {}
            Expr::Not(a) | Expr::Negate(a) | Expr::Cast(_, a) | Expr::Member(a, _) => all(&[a]),
            Expr::Binary(_, a, b) => all(&[a, b]),
            Expr::Conditional(a, b, c) | Expr::Between(a, b, c) => all(&[a, b, c]),
            Expr::In(a, list) => {
                all(&[a]);
                all(&list.iter().collect::<Vec<_>>());
            }
            Expr::Call(call) => {
                all(&call.on.iter().map(|on| &**on).collect::<Vec<_>>());
                all(&call.arguments.iter().collect::<Vec<_>>());
                if let Some(window) = &call.window {
                    all(&window.keys.iter().collect::<Vec<_>>());
                    all(&window.order.iter().map(|(key, _)| key).collect::<Vec<_>>());
                }
            }
        }
    }
}

impl fmt::Display for Expr {
    /// Shortened for display.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Path(path) => f.write_str(&path.join(".")),
            Expr::Parameter(name) => write!(f, "@{name}"),
            Expr::Literal(Literal::Text(text)) => write!(f, "{text:?}"),
            Expr::Literal(Literal::Null) => f.write_str("null"),
            Expr::Literal(Literal::Bool(value)) => write!(f, "{value}"),
            Expr::Literal(Literal::Int(value) | Literal::Long(value)) => write!(f, "{value}"),
            Expr::Literal(Literal::Real(value) | Literal::Decimal(value)) => write!(f, "{value}"),
            Expr::Star => f.write_str("*"),
            Expr::Member(on, name) => write!(f, "{on}.{name}"),
            Expr::Call(call) => write!(f, "{}(…)", call.path.join(".")),
            _ => f.write_str("(…)"),
        }
    }
}
