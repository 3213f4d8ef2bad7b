//! Functions that SQL lacks: comparisons that record their coverage, arithmetic and texts of C#, and
//! functions in the place of user code.

use std::cmp::Ordering;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering as Memory};

use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Error, Result};

/// Orderings that each comparison of a program has met in all runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Coverage(Arc<Vec<AtomicU8>>);

const LESS: u8 = 1;
const EQUAL: u8 = 2;
const GREATER: u8 = 4;

impl Coverage {
    pub(crate) fn new(probes: usize) -> Coverage {
        Coverage(Arc::new((0..probes).map(|_| AtomicU8::new(0)).collect()))
    }

    fn note(&self, probe: i64, ordering: Option<Ordering>) {
        let met = usize::try_from(probe)
            .ok()
            .and_then(|probe| self.0.get(probe));
        if let (Some(met), Some(ordering)) = (met, ordering) {
            let bit = match ordering {
                Ordering::Less => LESS,
                Ordering::Equal => EQUAL,
                Ordering::Greater => GREATER,
            };
            met.fetch_or(bit, Memory::Relaxed);
        }
    }

    /// Whether a comparison met values on both sides of its boundary, next to it.
    pub(crate) fn decided(&self, probe: usize, op: &str) -> bool {
        let met = self.0.get(probe).map_or(0, |met| met.load(Memory::Relaxed));
        let has = |bits: u8| met & bits == bits;
        match op {
            "<" | ">=" => has(LESS | EQUAL),
            "<=" | ">" => has(EQUAL | GREATER),
            _ => has(EQUAL) && met & (LESS | GREATER) != 0,
        }
    }
}

fn fault(why: &str) -> Error {
    Error::UserFunctionError(why.into())
}

/// Registers everything on a connection.
pub(crate) fn register(db: &Connection, met: &Coverage) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    let met = met.clone();
    // marked as not deterministic: SQLite must not fold a comparison with recorded coverage
    db.create_scalar_function("compared", 4, FunctionFlags::SQLITE_UTF8, move |ctx| {
        compared(ctx, &met)
    })?;
    db.create_scalar_function("whole", 2, flags, whole)?;
    db.create_scalar_function("divided", 2, flags, divided)?;
    db.create_scalar_function("remainder", 2, flags, remainder)?;
    db.create_scalar_function("present", 1, flags, |ctx| match ctx.get::<Value>(0)? {
        Value::Null => Err(fault("null has no value")),
        value => Ok(value),
    })?;
    db.create_scalar_function("of_text", -1, flags, of_text)?;
    db.create_scalar_function("of_time", 2, flags, of_time)?;
    db.create_scalar_function("digest", -1, flags, |ctx| Ok((digest(ctx)? >> 16) as i64))?;
    db.create_scalar_function("stand_in", -1, flags, |ctx| Ok(stand_in(digest(ctx)?)))?;
    db.create_aggregate_function("stand_in_fold", -1, flags, Fold)
}

/// Order of two values of like kinds; `None` if one is null.
fn order(left: ValueRef<'_>, right: ValueRef<'_>) -> Option<Ordering> {
    let real = |value: ValueRef<'_>| match value {
        ValueRef::Integer(n) => Some(n as f64),
        ValueRef::Real(x) => Some(x),
        _ => None,
    };
    match (left, right) {
        (ValueRef::Null, _) | (_, ValueRef::Null) => None,
        (ValueRef::Integer(a), ValueRef::Integer(b)) => Some(a.cmp(&b)),
        (ValueRef::Text(a), ValueRef::Text(b)) => Some(a.cmp(b)),
        (a, b) => real(a)?.partial_cmp(&real(b)?),
    }
}

/// As C# compares: null equals null alone and is neither less nor greater than anything.
fn compared(ctx: &Context<'_>, met: &Coverage) -> Result<bool> {
    let (left, right) = (ctx.get_raw(2), ctx.get_raw(3));
    let found = order(left, right);
    met.note(ctx.get(0)?, found);
    let op: String = ctx.get(1)?;
    let nulls = matches!((left, right), (ValueRef::Null, ValueRef::Null));
    Ok(match op.as_str() {
        "==" => found == Some(Ordering::Equal) || nulls,
        "!=" => found != Some(Ordering::Equal) && !nulls,
        "<" => found == Some(Ordering::Less),
        "<=" => found.is_some_and(Ordering::is_le),
        ">" => found == Some(Ordering::Greater),
        ">=" => found.is_some_and(Ordering::is_ge),
        other => return Err(fault(other)),
    })
}

/// A whole number within 32 or 64 bits; C# would wrap around, which no job means.
fn whole(ctx: &Context<'_>) -> Result<Option<i64>> {
    let bits: i64 = ctx.get(1)?;
    match ctx.get_raw(0) {
        ValueRef::Null => Ok(None),
        ValueRef::Integer(n) if bits > 32 || i32::try_from(n).is_ok() => Ok(Some(n)),
        _ => Err(fault("a whole number overflows")),
    }
}

fn divided(ctx: &Context<'_>) -> Result<Value> {
    match (ctx.get_raw(0), ctx.get_raw(1)) {
        (ValueRef::Null, _) | (_, ValueRef::Null) => Ok(Value::Null),
        (ValueRef::Integer(a), ValueRef::Integer(b)) => {
            let quotient = a.checked_div(b).ok_or_else(|| fault("division by zero"))?;
            Ok(Value::Integer(quotient))
        }
        (ValueRef::Real(_), ValueRef::Real(0.0)) => Err(fault("division by zero")),
        (ValueRef::Real(a), ValueRef::Real(b)) => Ok(Value::Real(a / b)),
        _ => Err(fault("a division of other than numbers")),
    }
}

fn remainder(ctx: &Context<'_>) -> Result<Value> {
    match (ctx.get_raw(0), ctx.get_raw(1)) {
        (ValueRef::Null, _) | (_, ValueRef::Null) => Ok(Value::Null),
        (ValueRef::Integer(a), ValueRef::Integer(b)) => {
            let rest = a.checked_rem(b).ok_or_else(|| fault("division by zero"))?;
            Ok(Value::Integer(rest))
        }
        _ => Err(fault("a remainder of other than whole numbers")),
    }
}

/// Members and methods of texts. Only ASCII: case and length of anything else depend on more than
/// the text.
fn of_text(ctx: &Context<'_>) -> Result<Value> {
    let text = |at: usize| match ctx.get_raw(at) {
        ValueRef::Text(text) if text.is_ascii() => Ok(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Null => Err(fault("null has no members")),
        _ => Err(fault("a text beyond ASCII")),
    };
    let method: String = ctx.get(0)?;
    let on = text(1)?;
    let number = |value: usize| Value::Integer(i64::try_from(value).unwrap_or(i64::MAX));
    Ok(match method.as_str() {
        "Length" => number(on.len()),
        "ToLower" | "ToLowerInvariant" => Value::Text(on.to_ascii_lowercase()),
        "ToUpper" | "ToUpperInvariant" => Value::Text(on.to_ascii_uppercase()),
        "Trim" => Value::Text(on.trim().to_owned()),
        "Contains" => Value::Integer(on.contains(&text(2)?).into()),
        "StartsWith" => Value::Integer(on.starts_with(&text(2)?).into()),
        "EndsWith" => Value::Integer(on.ends_with(&text(2)?).into()),
        "Replace" => match text(2)? {
            old if old.is_empty() => return Err(fault("nothing to replace")),
            old => Value::Text(on.replace(&old, &text(3)?)),
        },
        "Substring" => {
            let from =
                usize::try_from(ctx.get::<i64>(2)?).map_err(|_| fault("a text is too short"))?;
            let end = match ctx.len() > 3 {
                true => usize::try_from(ctx.get::<i64>(3)?)
                    .ok()
                    .and_then(|n| from.checked_add(n)),
                false => Some(on.len()),
            };
            let part = end.and_then(|end| on.get(from..end));
            Value::Text(part.ok_or_else(|| fault("a text is too short"))?.to_owned())
        }
        other => return Err(fault(other)),
    })
}

/// Parts of a time in seconds since 1970.
fn of_time(ctx: &Context<'_>) -> Result<i64> {
    const DAY: i64 = 86_400;
    let (part, seconds): (String, Option<i64>) = (ctx.get(0)?, ctx.get(1)?);
    let seconds = seconds.ok_or_else(|| fault("null has no members"))?;
    let (days, of_day) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    let (year, month, day) = civil(days);
    Ok(match part.as_str() {
        "Date" => days * DAY,
        "Hour" => of_day / 3600,
        "Minute" => of_day / 60 % 60,
        "Second" => of_day % 60,
        "Year" => year,
        "Month" => month,
        "Day" => day,
        other => return Err(fault(other)),
    })
}

/// Year, month and day of a day since 1970, after H. Hinnant, "chrono-compatible low-level date
/// algorithms".
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Mixes the bits of a number, after SplitMix64.
pub(crate) fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Hash of the values of a call.
fn digest(ctx: &Context<'_>) -> Result<u64> {
    let mut hash = 17;
    for at in 0..ctx.len() {
        let part = match ctx.get_raw(at) {
            ValueRef::Null => 1,
            // equal numbers are equal in any storage class
            ValueRef::Integer(n) => mix(n as u64 ^ 0x17),
            ValueRef::Real(x) if x.fract() == 0.0 => mix(x as i64 as u64 ^ 0x17),
            ValueRef::Real(x) => mix(x.to_bits()),
            ValueRef::Text(text) | ValueRef::Blob(text) => text
                .iter()
                .fold(5, |hash, byte| mix(hash ^ u64::from(*byte))),
        };
        hash = mix(hash ^ part);
    }
    Ok(hash)
}

/// Half of the values are small, so that they meet others; the rest tells any two calls apart.
fn stand_in(hash: u64) -> i64 {
    match hash & 1 {
        0 => (hash >> 8) as i64 & 7,
        _ => (hash >> 24) as i64,
    }
}

/// Sums the hashes of the rows of a group: the same for any order of the rows.
struct Fold;

impl Aggregate<u64, i64> for Fold {
    fn init(&self, _: &mut Context<'_>) -> Result<u64> {
        Ok(0)
    }

    fn step(&self, ctx: &mut Context<'_>, sum: &mut u64) -> Result<()> {
        *sum = sum.wrapping_add(digest(ctx)?);
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, sum: Option<u64>) -> Result<i64> {
        Ok(stand_in(mix(sum.unwrap_or(0))))
    }
}
