//! Aggregates and windows.

use super::Translator;
use super::value::{Scope, Value};
use crate::Unknown;
use crate::kind::Kind;
use crate::sql::literal;
use job::script::expr::{Call, Expr, Window};

/// Aggregates of the two languages that a name in a call can mean.
const AGGREGATES: &str = "AGG ANY_VALUE ARGMAX ARGMIN ARRAY_AGG AVG COUNT COUNTIF CUME_DIST DENSE_RANK FIRST FIRST_VALUE LAG LAST \
     LAST_VALUE LEAD LIST MAP_AGG MAX MIN NTILE PERCENTILE_CONT PERCENTILE_DISC PERCENT_RANK RANK ROW_NUMBER STDEV \
     STDEVP SUM SUMIF VAR VARP";

pub(super) fn is_aggregate(call: &Call) -> bool {
    let named = |name: &String| AGGREGATES.split_whitespace().any(|known| known == name);
    call.on.is_none() && matches!(call.path.as_slice(), [name] if named(name))
}

/// Whether an expression has an aggregate over groups in it.
pub(super) fn has_aggregate(expression: &Expr) -> bool {
    let mut found = false;
    expression.each(&mut |part| {
        found |= matches!(part, Expr::Call(call) if is_aggregate(call) && call.window.is_none());
    });
    found
}

/// Windows of an expression.
pub(super) fn windows(expression: &Expr) -> Vec<(&str, &Window)> {
    let mut found = Vec::new();
    expression.each(&mut |part| {
        if let Expr::Call(Call {
            path,
            window: Some(window),
            ..
        }) = part
        {
            found.push((path.first().map_or("", String::as_str), window));
        }
    });
    found
}

impl Translator<'_> {
    pub(super) fn aggregate(&mut self, call: &Call, scope: &Scope) -> Result<Value, Unknown> {
        let name = call.path[0].as_str();
        let over = match &call.window {
            None => String::new(),
            Some(window) => self.over(name, window, scope)?,
        };
        let arguments: &[Expr] = match call.arguments.as_slice() {
            [Expr::Star] if name == "COUNT" => &[],
            arguments => arguments,
        };
        let distinct = if call.distinct { "DISTINCT " } else { "" };
        let rows = match (name, arguments) {
            ("COUNT", []) if !call.distinct => Some("COUNT(*)".to_owned()),
            ("ROW_NUMBER" | "RANK" | "DENSE_RANK", []) if !over.is_empty() => {
                Some(format!("{name}()"))
            }
            ("COUNTIF", [test]) if !call.distinct => {
                let test = self.test(test, scope)?.sql;
                Some(format!("COUNT(CASE WHEN {test} THEN 1 END)"))
            }
            _ => None,
        };
        if let Some(rows) = rows {
            return Ok(Value {
                sql: rows + &over,
                kind: Some(Kind::Long),
                nullable: false,
                fails: false,
            });
        }
        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.value(argument, scope)?);
        }
        let kind = values.first().and_then(|value| value.kind);
        let number = kind.is_some_and(|kind| kind.is_number() || kind == Kind::Opaque);
        let value = |sql: String, kind: Kind| Value {
            sql,
            kind: Some(kind),
            nullable: true,
            fails: values.iter().any(|value| value.fails),
        };
        Ok(match (name, values.as_slice()) {
            ("COUNT", [one]) => Value {
                nullable: false,
                ..value(format!("COUNT({distinct}{}){over}", one.sql), Kind::Long)
            },
            ("SUM", [one]) if number => {
                let kind = if kind == Some(Kind::Int) {
                    Kind::Long
                } else {
                    kind.unwrap_or(Kind::Opaque)
                };
                value(format!("SUM({distinct}{}){over}", one.sql), kind)
            }
            ("MIN" | "MAX", [one]) if kind != Some(Kind::Bool) => value(
                format!("{name}({}){over}", one.sql),
                kind.unwrap_or(Kind::Opaque),
            ),
            ("AVG", [one]) if number && kind != Some(Kind::Decimal) => {
                value(format!("AVG({distinct}{}){over}", one.sql), Kind::Real)
            }
            _ if over.is_empty() && !call.distinct => {
                self.user_code(name)?;
                let list: String = values
                    .iter()
                    .map(|value| format!(", {}", value.sql))
                    .collect();
                let folded = value(
                    format!("stand_in_fold({}{list})", literal(name)),
                    Kind::Opaque,
                );
                Value {
                    nullable: false,
                    ..folded
                }
            }
            _ => return self.not_executed(name),
        })
    }

    /// A running aggregate needs a frame, and with it rows that are not tied; only ranks have an
    /// order here.
    fn over(&mut self, name: &str, window: &Window, scope: &Scope) -> Result<String, Unknown> {
        let ranks = matches!(name, "ROW_NUMBER" | "RANK" | "DENSE_RANK");
        if ranks == window.order.is_empty() {
            return self.not_executed(name);
        }
        let mut parts = Vec::new();
        let keys: Result<Vec<String>, Unknown> = window
            .keys
            .iter()
            .map(|key| Ok(self.value(key, scope)?.sql))
            .collect();
        let keys = keys?;
        if !keys.is_empty() {
            parts.push(format!("PARTITION BY {}", keys.join(", ")));
        }
        let mut order = Vec::new();
        for (key, descending) in &window.order {
            let key = self.value(key, scope)?.sql;
            order.push(if *descending {
                format!("{key} DESC")
            } else {
                key
            });
        }
        if !order.is_empty() {
            parts.push(format!("ORDER BY {}", order.join(", ")));
        }
        Ok(format!(" OVER ({})", parts.join(" ")))
    }
}
