//! The grammar of hints: which ones exist, and how they are written.
//!
//! Attribute lines of SCOPE (`[SKEWJOIN=(SKEW=FROMLEFT)]`), `OPTION(…)` of U-SQL, strategy words
//! of joins, attributes of user-defined operators. A rewrite may only add hints of this table.

use super::model::{Hint, HintForm, Span};

/// Places for a hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HintUse {
    /// In both languages.
    Both,
    /// Only as an attribute line of SCOPE.
    Scope,
    /// Only in an `OPTION(…)` of U-SQL.
    USql,
    /// An annotation or attribute without effect on the plan.
    Annotation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownHint {
    /// Name in upper case.
    pub name: &'static str,
    pub allowed: HintUse,
    /// Names allowed inside its value `(K=V, …)`; empty for a plain value.
    pub arguments: &'static [&'static str],
}

const SKEWJOIN: &[&str] = &[
    "SKEW",
    "REPARTITION",
    "LEVEL",
    "MINPARTITIONCOUNT",
    "PARTITIONCOUNT",
];
const PARTITION: &[&str] = &[
    "PARTITIONFUNCTION",
    "PARTITIONSPEC",
    "PARTITIONCOUNT",
    "PARTITIONSIZE",
    "MAXINTCANDIDATE",
    "REQUIRED",
];

pub const KNOWN: &[KnownHint] = &[
    known("SKEWJOIN", HintUse::Both, SKEWJOIN),
    known("PARTITION", HintUse::Scope, PARTITION),
    known("ROWCOUNT", HintUse::Both, &[]),
    known("ROWSIZE", HintUse::Both, &[]),
    known("COLSIZE", HintUse::Both, &[]),
    known("LOWDISTINCTNESS", HintUse::Both, &[]),
    known("DISTINCTVALUE", HintUse::Both, &[]),
    known("SKEWFACTOR", HintUse::Both, &[]),
    known("DONOTSPILL", HintUse::USql, &[]),
    known("DONOTCOLLAPSE", HintUse::USql, &[]),
    known("KEEPPARTITION", HintUse::USql, &[]),
    known("EXPLRULE", HintUse::USql, &[]),
    known("MAXDOP", HintUse::USql, &[]),
    known("STAGEBOUNDARYOUTPUT", HintUse::USql, &[]),
    known("MAXBYTESPERSSSEXTRACTCOMBINEVERTEX", HintUse::USql, &[]),
    known("PRIVACY", HintUse::Annotation, &[]),
    known("PIN", HintUse::Annotation, &[]),
];

/// Words that choose the strategy of a join.
pub const JOIN_STRATEGIES: &[&str] = &[
    "SERIAL",
    "PAIR",
    "BROADCASTLEFT",
    "BROADCASTRIGHT",
    "FULLCROSS",
    "MERGE",
    "HASH",
    "LOOP",
    "INDEXLOOKUP",
];

/// Values that the named arguments can take; arguments not listed take any number or text.
const VALUES: &[(&str, &str)] = &[
    ("SKEW", "FROMLEFT FROMRIGHT FROMBOTH"),
    ("REPARTITION", "FULLJOIN SPLITJOIN SPLITBROADCASTJOIN"),
    (
        "PARTITIONFUNCTION",
        "UNKNOWN SERIAL RANGE HASH DIRECT REFINERANGE PARALLEL ROUNDROBIN",
    ),
    ("REQUIRED", "TRUE FALSE"),
];

const fn known(
    name: &'static str,
    allowed: HintUse,
    arguments: &'static [&'static str],
) -> KnownHint {
    KnownHint {
        name,
        allowed,
        arguments,
    }
}

/// The known hint of that name, case-insensitive; `PRIVACY.ASSET.X` is known by its first part.
pub fn find(name: &str) -> Option<&'static KnownHint> {
    let head = name.split('.').next().unwrap_or(name);
    let mut known = KNOWN.iter();
    known.find(|hint| hint.name.eq_ignore_ascii_case(head))
}

/// Reason why the compiler would reject a hint; `None` if it is valid.
pub fn problem(hint: &Hint) -> Option<String> {
    let Some(known) = find(&hint.name) else {
        return Some(format!("unknown hint `{}`", hint.name));
    };
    let wrong_place = match known.allowed {
        HintUse::Both | HintUse::Annotation => false,
        HintUse::Scope => hint.form != HintForm::Attribute,
        HintUse::USql => hint.form != HintForm::Option,
    };
    if wrong_place {
        return Some(format!("hint `{}` does not belong here", hint.name));
    }
    let value = hint.value.as_deref().unwrap_or_default();
    let inner = value.strip_prefix('(')?.strip_suffix(')')?;
    if known.arguments.is_empty() {
        return None;
    }
    split(inner).into_iter().find_map(|(start, part)| {
        argument_problem(known, &read_one(part, start, HintForm::Attribute))
    })
}

fn argument_problem(known: &KnownHint, argument: &Hint) -> Option<String> {
    let name = argument.name.as_str();
    if !known.arguments.contains(&name) {
        return Some(format!("hint `{}` has no argument `{name}`", known.name));
    }
    let values = VALUES.iter().find(|(of, _)| *of == name)?.1;
    let value = argument.value.as_deref().unwrap_or_default();
    let value = value.to_ascii_uppercase();
    let fits = values.split(' ').any(|known| known == value);
    (!fits).then(|| format!("`{value}` is no value of `{name}`"))
}

/// Reads the hints of `[…]`, or of the parentheses of `OPTION(…)`.
/// `offset` is the position of `text` in bytes; each hint of attribute form gets the whole span.
pub(super) fn read(text: &str, offset: usize, form: HintForm) -> Vec<Hint> {
    let (open, close) = match form {
        HintForm::Attribute => ('[', ']'),
        HintForm::Option => ('(', ')'),
    };
    let start = text.find(open).map_or(0, |at| at + 1);
    let inner = &text[start..];
    let inner = inner.trim_end().strip_suffix(close).unwrap_or(inner);
    let hints = split(inner)
        .into_iter()
        .filter(|(_, part)| !part.trim().is_empty());
    hints
        .map(|(at, part)| {
            let mut hint = read_one(part, offset + start + at, form);
            if form == HintForm::Attribute {
                hint.span = offset..offset + text.len();
            }
            hint
        })
        .collect()
}

/// Parts between commas outside parentheses, with their offsets.
fn split(text: &str) -> Vec<(usize, &str)> {
    let mut depth = 0usize;
    let mut start = 0;
    let mut parts = Vec::new();
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                parts.push((start, &text[start..at]));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push((start, &text[start..]));
    parts
}

fn read_one(text: &str, offset: usize, form: HintForm) -> Hint {
    let lead = text.len() - text.trim_start().len();
    let text = text.trim();
    let span: Span = offset + lead..offset + lead + text.len();
    let name_end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'));
    let (name, rest) = text.split_at(name_end.unwrap_or(text.len()));
    let rest = rest.trim_start();
    let (columns, rest) = match (rest.starts_with('('), rest.find(')')) {
        (true, Some(close)) => (&rest[1..close], rest[close + 1..].trim_start()),
        _ => ("", rest),
    };
    let columns = columns.split(',').map(str::trim);
    let columns = columns.filter(|column| !column.is_empty());
    Hint {
        name: name.to_ascii_uppercase(),
        columns: columns.map(str::to_owned).collect(),
        value: rest.strip_prefix('=').map(|value| value.trim().to_owned()),
        form,
        span,
    }
}
