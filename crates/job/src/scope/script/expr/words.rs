//! Literals and operators by their tokens.

use super::{Literal, Op};
use crate::script::words::Words;

/// Value of a number with its suffix; `None` where it is not certain.
pub(super) fn number(text: &str) -> Option<Literal> {
    let lower = text.to_ascii_lowercase();
    if let Some(hex) = lower.strip_prefix("0x") {
        return i64::from_str_radix(hex, 16)
            .ok()
            .filter(|n| i32::try_from(*n).is_ok())
            .map(Literal::Int);
    }
    if let Ok(whole) = lower.parse::<i64>() {
        return Some(match i32::try_from(whole) {
            Ok(_) => Literal::Int(whole),
            Err(_) => Literal::Long(whole),
        });
    }
    let real = |text: &str| text.parse::<f64>().ok().filter(|x| x.is_finite());
    if let Some(digits) = lower.strip_suffix('l') {
        return digits.parse().ok().map(Literal::Long);
    }
    if let Some(digits) = lower.strip_suffix('m') {
        return real(digits).map(Literal::Decimal);
    }
    real(lower.trim_end_matches(['d', 'f'])).map(Literal::Real)
}

/// Value of a text literal; `None` for characters and interpolated texts.
pub(super) fn text(token: &str) -> Option<String> {
    if let Some(verbatim) = token.strip_prefix("@\"") {
        return Some(verbatim.strip_suffix('"')?.replace("\"\"", "\""));
    }
    let inner = token.strip_prefix('"')?.strip_suffix('"')?;
    let mut value = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => value.push(match chars.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                same @ ('\\' | '"' | '\'') => same,
                _ => return None,
            }),
            _ => value.push(c),
        }
    }
    Some(value)
}

/// Binding power and meaning of a binary operator.
pub(super) fn binary(token: &str) -> Option<(u8, Op)> {
    Some(match token {
        "??" => (1, Op::Coalesce),
        "||" | "OR" => (2, Op::Or),
        "&&" | "AND" => (3, Op::And),
        "==" | "=" => (5, Op::Equal),
        "!=" => (5, Op::NotEqual),
        "<" => (6, Op::Less),
        "<=" => (6, Op::LessOrEqual),
        ">" => (6, Op::Greater),
        ">=" => (6, Op::GreaterOrEqual),
        "+" => (7, Op::Add),
        "-" => (7, Op::Subtract),
        "*" => (8, Op::Multiply),
        "/" => (8, Op::Divide),
        "%" => (8, Op::Remainder),
        _ => return None,
    })
}

static NUMBERS: Words =
    Words::new("bool byte sbyte short ushort int uint long ulong float double decimal");

static RESERVED: Words = Words::new(
    "new is as out ref typeof default this char object SELECT FROM CASE WHEN THEN ELSE END LIKE EXISTS OVER WITHIN ROWS RANGE IS \
     PARTITION ORDER BY ASC DESC DISTINCT UNION",
);

/// Types that a cast can name.
pub(super) fn is_type(word: &str) -> bool {
    NUMBERS.contain(word) || matches!(word, "string" | "DateTime" | "Guid")
}

/// Words that are part of C# or SQL and no name.
pub(super) fn is_reserved(word: &str) -> bool {
    NUMBERS.contain(word) || RESERVED.contain(word)
}
