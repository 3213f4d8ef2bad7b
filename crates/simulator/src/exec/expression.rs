//! Translates expressions of scripts (C# with aggregates) to SQL.

use super::lexer::{Token, lex};
use std::collections::BTreeSet;
use std::iter::Peekable;
use std::vec::IntoIter;

/// Columns that hold text, by name: `+` joins them.
pub(crate) struct Typing<'a> {
    pub(crate) text: &'a BTreeSet<String>,
}

/// SQL and whether it is text.
#[derive(Debug, Clone)]
struct Sql {
    sql: String,
    text: bool,
    null: bool,
}

impl Sql {
    fn new(sql: String) -> Self {
        Self {
            sql,
            text: false,
            null: false,
        }
    }
}

struct Parser<'a> {
    tokens: Peekable<IntoIter<Token>>,
    typing: &'a Typing<'a>,
}

type Parsed = Result<Sql, String>;

/// Translates one expression.
pub(crate) fn translate(text: &str, typing: &Typing<'_>) -> Result<String, String> {
    let mut p = Parser {
        tokens: lex(text)?.into_iter().peekable(),
        typing,
    };
    let out = p.conditional()?;
    match p.tokens.next() {
        None => Ok(out.sql),
        Some(token) => Err(format!("{token:?} in `{text}`")),
    }
}

/// Quotes a name for SQL. Not in double quotes: SQLite takes an unknown name in those for a text.
pub(crate) fn name(text: &str) -> String {
    format!("`{}`", text.trim_start_matches('@').replace('`', "``"))
}

/// Quotes a text for SQL.
pub(crate) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Binding power and SQL of binary operators.
fn binary(token: &Token) -> Option<(u8, &'static str)> {
    Some(match token {
        Token::Punct("??") => (1, "??"),
        Token::Punct("||") => (2, "OR"),
        Token::Punct("&&") => (3, "AND"),
        Token::Punct("==" | "=") => (4, "="),
        Token::Punct("!=") => (4, "<>"),
        Token::Punct(p @ ("<" | ">" | "<=" | ">=")) => (5, p),
        Token::Punct(p @ ("+" | "-")) => (6, p),
        Token::Punct(p @ ("*" | "/" | "%")) => (7, p),
        Token::Word(w) if w.eq_ignore_ascii_case("or") => (2, "OR"),
        Token::Word(w) if w.eq_ignore_ascii_case("and") => (3, "AND"),
        _ => return None,
    })
}

impl Parser<'_> {
    fn peek(&mut self) -> &Token {
        self.tokens.peek().unwrap_or(&Token::End)
    }

    fn take(&mut self, p: &str) -> bool {
        let is = matches!(self.peek(), Token::Punct(q) if *q == p);
        if is {
            self.tokens.next();
        }
        is
    }

    fn expect(&mut self, p: &str) -> Result<(), String> {
        if self.take(p) {
            Ok(())
        } else {
            Err(format!("expected `{p}`, found {:?}", self.peek()))
        }
    }

    fn word(&mut self, word: &str) -> bool {
        let is = matches!(self.peek(), Token::Word(w) if w.eq_ignore_ascii_case(word));
        if is {
            self.tokens.next();
        }
        is
    }

    fn conditional(&mut self) -> Parsed {
        let test = self.operators(0)?;
        if !self.take("?") {
            return Ok(test);
        }
        let yes = self.conditional()?;
        self.expect(":")?;
        let no = self.conditional()?;
        let sql = format!(
            "(CASE WHEN {} THEN {} ELSE {} END)",
            test.sql, yes.sql, no.sql
        );
        Ok(Sql {
            text: yes.text || no.text,
            ..Sql::new(sql)
        })
    }

    fn operators(&mut self, floor: u8) -> Parsed {
        let mut left = self.unary()?;
        while let Some((power, op)) = binary(self.peek()) {
            if power <= floor {
                break;
            }
            self.tokens.next();
            let right = self.operators(power)?;
            left = combine(left, op, right);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed {
        if self.take("!") || self.word("NOT") {
            let inner = self.unary()?;
            return Ok(Sql::new(format!("(NOT {})", inner.sql)));
        }
        if self.take("-") {
            let inner = self.unary()?;
            return Ok(Sql::new(format!("(-{})", inner.sql)));
        }
        let mut out = self.primary()?;
        while self.take(".") {
            out = self.member(&out)?;
        }
        Ok(out)
    }

    fn primary(&mut self) -> Parsed {
        match self.tokens.next().unwrap_or(Token::End) {
            Token::Number(n) => Ok(Sql::new(n)),
            Token::Text(t) => Ok(Sql {
                text: true,
                ..Sql::new(literal(&t))
            }),
            Token::Punct("*") => Ok(Sql::new("*".to_owned())),
            Token::Punct("(") => self.parenthesised(),
            Token::Word(w) => self.named(w),
            other => Err(format!("unexpected {other:?}")),
        }
    }

    /// A cast or an expression in parentheses.
    fn parenthesised(&mut self) -> Parsed {
        let cast = match self.peek() {
            Token::Word(w) => match w.as_str() {
                "int" | "long" | "short" | "uint" | "ulong" => Some("INTEGER"),
                "double" | "float" | "decimal" => Some("REAL"),
                "string" => Some("TEXT"),
                _ => None,
            },
            _ => None,
        };
        if let Some(kind) = cast {
            self.tokens.next();
            self.take("?");
            self.expect(")")?;
            let inner = self.unary()?;
            return Ok(Sql {
                text: kind == "TEXT",
                ..Sql::new(format!("CAST({} AS {kind})", inner.sql))
            });
        }
        let inner = self.conditional()?;
        self.expect(")")?;
        Ok(Sql {
            sql: format!("({})", inner.sql),
            ..inner
        })
    }

    fn named(&mut self, word: String) -> Parsed {
        match word.as_str() {
            "null" | "NULL" => {
                return Ok(Sql {
                    null: true,
                    ..Sql::new("NULL".into())
                });
            }
            "true" => return Ok(Sql::new("1".into())),
            "false" => return Ok(Sql::new("0".into())),
            _ => {}
        }
        if self.take("(") {
            return self.call(&word);
        }
        let mut path = word;
        // `alias.Column`, `Class.Method(…)`; a member of a column is seen by its call or its known name.
        while matches!(self.peek(), Token::Punct(".")) {
            self.tokens.next();
            let Some(Token::Word(next)) = self.tokens.next() else {
                if self.take("*") || matches!(self.peek(), Token::End) {
                    return Ok(Sql::new(format!("{}.*", name(&path))));
                }
                return Err(format!("a name after `{path}.`"));
            };
            if self.take("(") {
                let known = matches!(
                    next.as_str(),
                    "ToString" | "GetHashCode" | "ToLower" | "ToUpper" | "Substring" | "Trim"
                );
                if known {
                    let on = self.column(&path);
                    return self.method(&on, &next);
                }
                return self.call(&format!("{path}.{next}"));
            }
            path = format!("{path}.{next}");
        }
        Ok(self.column(&path))
    }

    fn column(&self, path: &str) -> Sql {
        let last = path.rsplit('.').next().unwrap_or(path);
        let parts: Vec<String> = path.split('.').map(name).collect();
        let (column, member) = match last {
            "Date" | "Length" | "Value" | "Hour" if parts.len() > 1 => {
                (&parts[..parts.len() - 1], Some(last))
            }
            _ => (&parts[..], None),
        };
        let sql = column.join(".");
        let bare = path
            .split('.')
            .rfind(|p| member != Some(*p))
            .unwrap_or(path);
        match member {
            Some("Value") | None => Sql {
                text: self.typing.text.contains(bare),
                ..Sql::new(sql)
            },
            Some("Length") => Sql::new(format!("length({sql})")),
            Some(other) => Sql::new(format!("cs_value({}, {sql})", literal(other))),
        }
    }

    fn arguments(&mut self) -> Result<Vec<Sql>, String> {
        let mut out = Vec::new();
        if self.take(")") {
            return Ok(out);
        }
        loop {
            out.push(self.conditional()?);
            if !self.take(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(out)
    }

    fn member(&mut self, on: &Sql) -> Parsed {
        match self.tokens.next() {
            Some(Token::Word(w)) if self.take("(") => self.method(on, &w),
            Some(Token::Word(w)) if w == "Value" => Ok(on.clone()),
            Some(Token::Word(w)) if w == "Length" => Ok(Sql::new(format!("length({})", on.sql))),
            other => Err(format!("member {other:?}")),
        }
    }

    fn method(&mut self, on: &Sql, method: &str) -> Parsed {
        let args: Vec<String> = self.arguments()?.into_iter().map(|a| a.sql).collect();
        let text = |sql: String| Sql {
            text: true,
            ..Sql::new(sql)
        };
        Ok(match method {
            "ToString" => text(format!("CAST({} AS TEXT)", on.sql)),
            "ToLower" => text(format!("lower({})", on.sql)),
            "ToUpper" => text(format!("upper({})", on.sql)),
            "Trim" => text(format!("trim({})", on.sql)),
            "Substring" if args.len() == 2 => {
                text(format!("substr({}, {} + 1, {})", on.sql, args[0], args[1]))
            }
            _ => {
                let all: Vec<String> = std::iter::once(on.sql.clone()).chain(args).collect();
                Sql::new(format!("cs_value({}, {})", literal(method), all.join(", ")))
            }
        })
    }

    fn call(&mut self, function: &str) -> Parsed {
        let distinct = self.word("DISTINCT");
        let args = self.arguments()?;
        let list = args
            .iter()
            .map(|a| a.sql.as_str())
            .collect::<Vec<_>>()
            .join(", ");
        let distinct = if distinct { "DISTINCT " } else { "" };
        let upper = function.to_uppercase();
        let over = self.word("OVER");
        let sql = match (upper.as_str(), args.len()) {
            ("COUNT", 0) => "COUNT(*)".to_owned(),
            ("COUNT" | "SUM" | "MIN" | "MAX" | "AVG", 1) => format!("{upper}({distinct}{list})"),
            ("COUNTIF", 1) => format!("SUM(CASE WHEN {list} THEN 1 ELSE 0 END)"),
            ("FIRST" | "LAST" | "ANY_VALUE", 1) => format!("MIN({list})"),
            ("ROW_NUMBER" | "RANK" | "DENSE_RANK", 0) if over => format!("{upper}()"),
            ("IF", 3) => format!(
                "(CASE WHEN {} THEN {} ELSE {} END)",
                args[0].sql, args[1].sql, args[2].sql
            ),
            ("MATH.ABS", 1) => format!("abs({list})"),
            ("MATH.MAX", 2) => format!("max({list})"),
            ("MATH.MIN", 2) => format!("min({list})"),
            ("STRING.ISNULLOREMPTY", 1) => format!("({list} IS NULL OR {list} = '')"),
            ("STRING.CONCAT", _) if !args.is_empty() => args
                .iter()
                .map(|a| a.sql.clone())
                .collect::<Vec<_>>()
                .join(" || "),
            ("CONVERT.TOINT64" | "CONVERT.TOINT32" | "INT.PARSE" | "LONG.PARSE", 1) => {
                format!("CAST({list} AS INTEGER)")
            }
            ("CONVERT.TOSTRING", 1) => format!("CAST({list} AS TEXT)"),
            _ => user_function(function, &list),
        };
        let text = matches!(upper.as_str(), "STRING.CONCAT" | "CONVERT.TOSTRING")
            || matches!(upper.as_str(), "MIN" | "MAX" | "FIRST" | "ANY_VALUE" | "IF")
                && args.iter().any(|a| a.text);
        let sql = if over {
            format!("{sql} OVER ({})", self.window()?)
        } else {
            sql
        };
        Ok(Sql {
            text,
            ..Sql::new(sql)
        })
    }

    fn window(&mut self) -> Result<String, String> {
        self.expect("(")?;
        let mut out = String::new();
        if self.word("PARTITION") {
            self.word("BY");
            out.push_str(&format!("PARTITION BY {} ", self.list()?));
        }
        if self.word("ORDER") {
            self.word("BY");
            out.push_str(&format!("ORDER BY {}", self.list()?));
        }
        self.expect(")")?;
        Ok(out)
    }

    fn list(&mut self) -> Result<String, String> {
        let mut out = Vec::new();
        loop {
            let mut item = self.conditional()?.sql;
            if self.word("DESC") {
                item.push_str(" DESC");
            } else {
                self.word("ASC");
            }
            out.push(item);
            if !self.take(",") {
                return Ok(out.join(", "));
            }
        }
    }
}

/// A call of C#: a test if its name says so, else a value.
fn user_function(function: &str, list: &str) -> String {
    let method = function.rsplit('.').next().unwrap_or(function);
    let tests = [
        "Is", "Has", "Accept", "Keep", "Matches", "Contains", "Allow",
    ];
    let kind = if tests.iter().any(|t| method.starts_with(t)) {
        "cs_test"
    } else {
        "cs_value"
    };
    let comma = if list.is_empty() { "" } else { ", " };
    format!("{kind}({}{comma}{list})", literal(function))
}

fn combine(left: Sql, op: &'static str, right: Sql) -> Sql {
    let (l, r) = (&left.sql, &right.sql);
    if left.null || right.null {
        let value = if left.null { r } else { l };
        return Sql::new(match op {
            "<>" => format!("({value} IS NOT NULL)"),
            _ => format!("({value} IS NULL)"),
        });
    }
    match op {
        "??" => Sql {
            text: left.text || right.text,
            ..Sql::new(format!("COALESCE({l}, {r})"))
        },
        // C# joins texts with +; a null counts as empty there.
        "+" if left.text || right.text => Sql {
            text: true,
            ..Sql::new(format!("(COALESCE({l}, '') || COALESCE({r}, ''))"))
        },
        // In C#, null differs from every value.
        "<>" => Sql::new(format!("({l} IS NOT {r})")),
        _ => Sql::new(format!("({l} {op} {r})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, expect: &str) {
        let text: BTreeSet<String> = ["Name".to_owned()].into();
        assert_eq!(
            translate(input, &Typing { text: &text }).expect("translates"),
            expect,
            "{input}"
        );
    }

    #[test]
    fn expressions() {
        check("a.X == 3 && !b", "((`a`.`X` = 3) AND (NOT `b`))");
        check("Key != null", "(`Key` IS NOT NULL)");
        check(
            "Name + \"_\" + Salt",
            "(COALESCE((COALESCE(`Name`, '') || COALESCE('_', '')), '') || COALESCE(`Salt`, ''))",
        );
        check("COUNT(DISTINCT UserId)", "COUNT(DISTINCT `UserId`)");
        check("(long)(x * 2)", "CAST(((`x` * 2)) AS INTEGER)");
        check("RowRules.IsWanted(v)", "cs_test('RowRules.IsWanted', `v`)");
        check(
            "Math.Abs(UserId.GetHashCode()) % 16",
            "(abs(cs_value('GetHashCode', `UserId`)) % 16)",
        );
        check(
            "x > 1 ? \"a\" : \"b\"",
            "(CASE WHEN (`x` > 1) THEN 'a' ELSE 'b' END)",
        );
        check(
            "ROW_NUMBER() OVER (PARTITION BY k ORDER BY t DESC)",
            "ROW_NUMBER() OVER (PARTITION BY `k` ORDER BY `t` DESC)",
        );
    }

    #[test]
    fn nonsense_is_an_error() {
        let text = BTreeSet::new();
        assert!(translate("a +", &Typing { text: &text }).is_err());
        assert!(translate("a b", &Typing { text: &text }).is_err());
        assert!(translate("\"open", &Typing { text: &text }).is_err());
    }
}
