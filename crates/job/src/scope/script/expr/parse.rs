//! Parses an expression completely, or not at all.
//!
//! `AND` and `OR` of SQL are read as `&&` and `||`; an expression that mixes both spellings is
//! refused, as is `NOT` in front of anything but brackets or a call, because how tightly they bind
//! is not certain.

use crate::script::{Script, Span, TokenKind};

use super::words::{binary, is_reserved, is_type, number, text};
use super::{Call, Expr, Literal, Op, Window};

/// Brackets and operators inside each other; people write a few.
const DEEPEST: u32 = 40;
/// Tokens of an expression: a chain of operators nests as deeply as it is long.
const LONGEST: usize = 300;

/// The expression that a span of a script holds; `None` if a part of it is not executed.
pub(in crate::scope::script) fn parse(script: &Script, span: &Span) -> Option<Expr> {
    let tokens: Vec<(TokenKind, &str)> = script
        .tokens_in(span)
        .map(|(kind, _, text)| (kind, text))
        .collect();
    let has = |words: [&str; 2]| tokens.iter().any(|(_, text)| words.contains(text));
    if tokens.len() > LONGEST || has(["AND", "OR"]) && has(["&&", "||"]) {
        return None;
    }
    let mut parser = Parser {
        tokens,
        at: 0,
        depth: 0,
    };
    let parsed = parser.conditional()?;
    (parser.at == parser.tokens.len()).then_some(parsed)
}

struct Parser<'s> {
    tokens: Vec<(TokenKind, &'s str)>,
    at: usize,
    depth: u32,
}

impl<'s> Parser<'s> {
    fn ahead(&self, by: usize) -> &'s str {
        self.tokens.get(self.at + by).map_or("", |token| token.1)
    }

    fn kind(&self) -> TokenKind {
        self.tokens
            .get(self.at)
            .map_or(TokenKind::Space, |token| token.0)
    }

    fn take(&mut self, text: &str) -> bool {
        let is = self.ahead(0) == text && self.kind() != TokenKind::Text;
        self.at += usize::from(is);
        is
    }

    fn expect(&mut self, text: &str) -> Option<()> {
        self.take(text).then_some(())
    }

    fn conditional(&mut self) -> Option<Expr> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let test = self.operators(0)?;
        let parsed = match self.take("?") {
            false => test,
            true => {
                let yes = self.conditional()?;
                self.expect(":")?;
                let no = self.conditional()?;
                Expr::Conditional(Box::new(test), Box::new(yes), Box::new(no))
            }
        };
        self.depth -= 1;
        Some(parsed)
    }

    fn operators(&mut self, floor: u8) -> Option<Expr> {
        let mut left = match self.take("NOT") {
            true => self.negation(floor)?,
            false => self.unary()?,
        };
        loop {
            if floor < 5 && matches!(self.ahead(0), "IN" | "BETWEEN") {
                left = self.sql_test(left)?;
                continue;
            }
            let Some((power, op)) =
                binary(self.ahead(0)).filter(|_| self.kind() != TokenKind::Text)
            else {
                break;
            };
            if power <= floor {
                break;
            }
            self.at += 1;
            // `??` groups from the right.
            let right = self.operators(if op == Op::Coalesce { power - 1 } else { power })?;
            left = Expr::Binary(op, Box::new(left), Box::new(right));
        }
        Some(left)
    }

    /// `NOT (…)` or `NOT f(…)`, with only `AND` and `OR` around it.
    fn negation(&mut self, floor: u8) -> Option<Expr> {
        let inner = self.unary()?;
        let closed = self
            .tokens
            .get(self.at.checked_sub(1)?)
            .is_some_and(|t| t.1 == ")");
        let alone = matches!(self.ahead(0), "" | ")" | "AND" | "OR" | "&&" | "||");
        (floor <= 3 && closed && alone).then(|| Expr::Not(Box::new(inner)))
    }

    fn sql_test(&mut self, left: Expr) -> Option<Expr> {
        if self.take("IN") {
            self.expect("(")?;
            return Some(Expr::In(Box::new(left), self.list(")")?));
        }
        self.expect("BETWEEN")?;
        let low = self.operators(6)?;
        self.expect("AND")?;
        let high = self.operators(6)?;
        Some(Expr::Between(Box::new(left), Box::new(low), Box::new(high)))
    }

    fn unary(&mut self) -> Option<Expr> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let parsed = if self.take("!") {
            Expr::Not(Box::new(self.unary()?))
        } else if self.take("-") {
            Expr::Negate(Box::new(self.unary()?))
        } else {
            let primary = self.primary()?;
            self.members(primary)?
        };
        self.depth -= 1;
        Some(parsed)
    }

    fn members(&mut self, mut on: Expr) -> Option<Expr> {
        while self.take(".") {
            let name = self.word()?;
            on = match self.take("(") {
                true => Expr::Call(self.call(Some(Box::new(on)), vec![name])?),
                false => Expr::Member(Box::new(on), name),
            };
        }
        Some(on)
    }

    fn word(&mut self) -> Option<String> {
        let is = self.kind() == TokenKind::Word;
        let word = self.ahead(0).to_owned();
        self.at += usize::from(is);
        is.then_some(word)
    }

    fn primary(&mut self) -> Option<Expr> {
        let token = self.ahead(0);
        match self.kind() {
            TokenKind::Number => {
                self.at += 1;
                number(token).map(Expr::Literal)
            }
            TokenKind::Text => {
                self.at += 1;
                text(token).map(|text| Expr::Literal(Literal::Text(text)))
            }
            TokenKind::Variable => {
                self.at += 1;
                Some(Expr::Parameter(token.trim_start_matches('@').to_owned()))
            }
            TokenKind::Punct if token == "*" && matches!(self.ahead(1), ")" | "") => {
                self.at += 1;
                Some(Expr::Star)
            }
            TokenKind::Punct if self.take("(") => self.brackets(),
            TokenKind::Word => self.named(),
            _ => None,
        }
    }

    /// A cast, or an expression in brackets.
    fn brackets(&mut self) -> Option<Expr> {
        let nullable = usize::from(self.ahead(1) == "?");
        if is_type(self.ahead(0)) && self.ahead(1 + nullable) == ")" {
            let name = self.word()?;
            self.at += nullable + 1;
            return Some(Expr::Cast(name, Box::new(self.unary()?)));
        }
        let inner = self.conditional()?;
        self.expect(")")?;
        Some(inner)
    }

    fn named(&mut self) -> Option<Expr> {
        let word = self.word()?;
        match word.as_str() {
            "null" | "NULL" => return Some(Expr::Literal(Literal::Null)),
            "true" => return Some(Expr::Literal(Literal::Bool(true))),
            "false" => return Some(Expr::Literal(Literal::Bool(false))),
            word if is_reserved(word) && self.ahead(0) != "." => return None,
            _ => {}
        }
        let mut path = vec![word];
        while self.ahead(0) == "." {
            self.at += 1;
            path.push(self.word()?);
        }
        match self.take("(") {
            true => Some(Expr::Call(self.call(None, path)?)),
            false => Some(Expr::Path(path)),
        }
    }

    fn call(&mut self, on: Option<Box<Expr>>, path: Vec<String>) -> Option<Call> {
        let distinct = self.take("DISTINCT");
        let arguments = self.list(")")?;
        let window = match self.take("OVER") {
            true => Some(self.window()?),
            false => None,
        };
        Some(Call {
            on,
            path,
            distinct,
            arguments,
            window,
        })
    }

    /// Expressions up to a closing bracket.
    fn list(&mut self, close: &str) -> Option<Vec<Expr>> {
        let mut all = Vec::new();
        if self.take(close) {
            return Some(all);
        }
        loop {
            all.push(self.conditional()?);
            if !self.take(",") {
                self.expect(close)?;
                return Some(all);
            }
        }
    }

    fn window(&mut self) -> Option<Window> {
        self.expect("(")?;
        let (mut keys, mut order) = (Vec::new(), Vec::new());
        if self.take("PARTITION") {
            self.expect("BY")?;
            keys.push(self.conditional()?);
            while self.take(",") {
                keys.push(self.conditional()?);
            }
        }
        if self.take("ORDER") {
            self.expect("BY")?;
            loop {
                let key = self.conditional()?;
                let descending = self.take("DESC");
                if !descending {
                    self.take("ASC");
                }
                order.push((key, descending));
                if !self.take(",") {
                    break;
                }
            }
        }
        self.expect(")")?;
        Some(Window { keys, order })
    }
}
