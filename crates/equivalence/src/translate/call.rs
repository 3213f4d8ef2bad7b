//! Calls and members with a certain meaning on the generated values.

use super::Translator;
use super::value::{Scope, Value};
use crate::Unknown;
use crate::kind::Kind;
use crate::sql::literal;
use job::script::expr::{Call, Expr};

impl Translator<'_> {
    pub(super) fn call(&mut self, call: &Call, scope: &Scope) -> Result<Value, Unknown> {
        if super::aggregate::is_aggregate(call) {
            return self.aggregate(call, scope);
        }
        if call.distinct || call.window.is_some() {
            return self.not_executed(&call.path.join("."));
        }
        // the last name is a method if a value is before it
        if let Some(on) = &call.on {
            let on = self.value(on, scope)?;
            return self.method(on, &call.path[0], &call.arguments, scope);
        }
        if let [before @ .., method] = call.path.as_slice()
            && let Some(first) = before.first()
        {
            let labeled = before.len() > 1 && scope.find(Some(first), &before[1]).is_some();
            if labeled || scope.find(None, first).is_some() {
                let on = self.value(&Expr::Path(before.to_vec()), scope)?;
                return self.method(on, method, &call.arguments, scope);
            }
        }
        let name = call.path.join(".");
        if name == "IF" && call.arguments.len() == 3 {
            let test = self.test(&call.arguments[0], scope)?;
            let yes = self.value(&call.arguments[1], scope)?;
            let no = self.value(&call.arguments[2], scope)?;
            return self.choice(&test, yes, no);
        }
        let values = self.values(&call.arguments, scope)?;
        self.function(&name, values)
    }

    fn values(&mut self, arguments: &[Expr], scope: &Scope) -> Result<Vec<Value>, Unknown> {
        arguments
            .iter()
            .map(|argument| self.value(argument, scope))
            .collect()
    }

    fn function(&mut self, name: &str, values: Vec<Value>) -> Result<Value, Unknown> {
        let kinds: Vec<Option<Kind>> = values.iter().map(|value| value.kind).collect();
        let same_whole = matches!(kinds.as_slice(), [Some(a), Some(b)] if a == b && a.is_number());
        let plain = values.iter().all(|value| !value.nullable);
        let list: Vec<&str> = values.iter().map(|value| value.sql.as_str()).collect();
        let list = list.join(", ");
        let of: Vec<&Value> = values.iter().collect();
        let (sql, kind) = match (
            name.strip_prefix("System.").unwrap_or(name),
            kinds.as_slice(),
        ) {
            ("string.IsNullOrEmpty" | "String.IsNullOrEmpty", [Some(Kind::Text)]) => {
                (format!("({list} IS NULL OR {list} = '')"), Kind::Bool)
            }
            ("Math.Max", _) if same_whole && plain => {
                (format!("max({list})"), kinds[0].unwrap_or(Kind::Opaque))
            }
            ("Math.Min", _) if same_whole && plain => {
                (format!("min({list})"), kinds[0].unwrap_or(Kind::Opaque))
            }
            ("Math.Abs", [Some(kind)]) if kind.is_number() && plain => {
                (format!("abs({list})"), *kind)
            }
            _ => return self.stand_in(name, &values),
        };
        let value = Value::new(sql, kind, &of);
        Ok(Value {
            nullable: value.nullable && kind != Kind::Bool,
            ..value
        })
    }

    pub(super) fn member(&mut self, on: Value, name: &str) -> Result<Value, Unknown> {
        let sql = &on.sql;
        let (sql, kind, fails) = match (on.kind, name) {
            (Some(kind), "Value") if kind != Kind::Text && on.nullable => {
                (format!("present({sql})"), kind, true)
            }
            (Some(kind), "HasValue") if kind != Kind::Text => {
                (format!("({sql} IS NOT NULL)"), Kind::Bool, false)
            }
            (Some(Kind::Text), "Length") => (format!("of_text('Length', {sql})"), Kind::Int, true),
            (Some(Kind::Time), "Date") => (format!("of_time('Date', {sql})"), Kind::Time, true),
            (Some(Kind::Time), "Hour" | "Minute" | "Second" | "Year" | "Month" | "Day") => (
                format!("of_time({}, {sql})", literal(name)),
                Kind::Int,
                true,
            ),
            _ => return self.stand_in(&format!(".{name}"), &[on]),
        };
        Ok(Value {
            sql,
            kind: Some(kind),
            nullable: false,
            fails: on.fails || fails,
        })
    }

    fn method(
        &mut self,
        on: Value,
        name: &str,
        arguments: &[Expr],
        scope: &Scope,
    ) -> Result<Value, Unknown> {
        let values = self.values(arguments, scope)?;
        let kinds: Vec<Option<Kind>> = values.iter().map(|value| value.kind).collect();
        let kind = match (on.kind, name, kinds.as_slice()) {
            (
                Some(Kind::Text),
                "ToLower" | "ToUpper" | "ToLowerInvariant" | "ToUpperInvariant" | "Trim",
                [],
            ) => Kind::Text,
            (
                Some(Kind::Text),
                "Substring",
                [Some(Kind::Int)] | [Some(Kind::Int), Some(Kind::Int)],
            ) => Kind::Text,
            (Some(Kind::Text), "Contains" | "StartsWith" | "EndsWith", [Some(Kind::Text)]) => {
                Kind::Bool
            }
            (Some(Kind::Int | Kind::Long), "ToString", []) if !on.nullable => {
                return Ok(Value::new(
                    format!("CAST({} AS TEXT)", on.sql),
                    Kind::Text,
                    &[&on],
                ));
            }
            (Some(Kind::Text), "Replace", [Some(Kind::Text), Some(Kind::Text)]) => Kind::Text,
            _ => {
                let all: Vec<Value> = std::iter::once(on).chain(values).collect();
                return self.stand_in(&format!(".{name}"), &all);
            }
        };
        let list: String = values
            .iter()
            .map(|value| format!(", {}", value.sql))
            .collect();
        let sql = format!("of_text({}, {}{list})", literal(name), on.sql);
        Ok(Value {
            sql,
            kind: Some(kind),
            nullable: false,
            fails: true,
        })
    }
}
