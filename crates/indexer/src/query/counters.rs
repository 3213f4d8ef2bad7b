//! Reads pasted statistics as an engineer does: a maximum far above the mean is a skew, or a slow machine if the data is even; thousands of
//! vertices of a few seconds are too many. The conclusion is searched for in words.

use super::Pattern;

/// A maximum this many times the mean is far above it.
const FAR: f64 = 4.0;

/// Up to this ratio, vertices have the same.
const EVEN: f64 = 1.5;

/// `MANY` vertices of less than `TINY` seconds are tiny vertices.
const TINY: f64 = 10.0;
const MANY: f64 = 1000.0;

const MEAN: &[&str] = &[
    "avg", "average", "mean", "median", "med", "p50", "typical", "others", "rest", "each", "平均",
    "中位", "均值", "其他", "其它", "每个",
];
const MOST: &[&str] = &[
    "max", "maximum", "longest", "slowest", "biggest", "largest", "p99", "最大", "最长", "最慢",
    "最多", "最高",
];
const VERTICES: &[&str] = &["vertices", "vertexes", "vertex", "tasks", "顶点", "任务"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quantity {
    /// Seconds.
    Time,
    /// Bytes.
    Data,
    /// Rows, vertices or anything else.
    Count,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Mean,
    Most,
    Vertices,
}

#[derive(Debug, Clone, Copy)]
struct Value {
    role: Role,
    quantity: Quantity,
    number: f64,
}

/// The pattern of the numbers in `text`, if any.
pub(super) fn read(text: &str) -> Option<Pattern> {
    let mut header: Vec<Option<Role>> = Vec::new();
    let mut values = Vec::new();
    for line in text.lines() {
        let cells = cells(line);
        let roles: Vec<Option<Role>> = cells.iter().map(|cell| role(cell)).collect();
        let is_header = cells.len() > 2 && cells.iter().all(|cell| number(cell).is_none());
        if is_header {
            header = roles;
        } else if cells.len() > 2 && cells.len() == header.len() {
            let row = header.iter().zip(&cells);
            values.extend(row.filter_map(|(role, cell)| value((*role)?, number(cell)?)));
        } else {
            values.extend(of_prose(line));
        }
    }
    pattern(&values)
}

fn pattern(values: &[Value]) -> Option<Pattern> {
    let time = ratio(values, Quantity::Time);
    let data = [Quantity::Data, Quantity::Count].map(|quantity| ratio(values, quantity));
    let data = data.into_iter().flatten().reduce(f64::max);
    let first = |role, quantity| {
        let is_it = |value: &&Value| value.role == role && value.quantity == quantity;
        values.iter().find(is_it).map(|value| value.number)
    };
    let vertices = first(Role::Vertices, Quantity::Count);
    let runs = first(Role::Mean, Quantity::Time);
    let are_tiny = vertices >= Some(MANY) && runs.is_some_and(|seconds| seconds <= TINY);
    match (data, time) {
        (Some(data), _) if data >= FAR => Some(Pattern::Skew),
        (Some(data), Some(time)) if data <= EVEN && time >= FAR => Some(Pattern::SlowMachine),
        (_, Some(time)) if time >= FAR && !are_tiny => Some(Pattern::Straggler),
        _ => are_tiny.then_some(Pattern::Tiny),
    }
}

/// The largest maximum relative to the mean that is named closest to it.
fn ratio(values: &[Value], quantity: Quantity) -> Option<f64> {
    let of = |role| {
        let values = values.iter().enumerate();
        values.filter(move |(_, value)| value.role == role && value.quantity == quantity)
    };
    let ratios = of(Role::Most).filter_map(|(at, most)| {
        let (_, mean) = of(Role::Mean).min_by_key(|(other, _)| other.abs_diff(at))?;
        (mean.number > 0.0).then(|| most.number / mean.number)
    });
    ratios.reduce(f64::max)
}

/// Columns: between tabs, bars, or two spaces and more.
fn cells(line: &str) -> Vec<&str> {
    let parts = line.split(['\t', '|']).flat_map(|part| part.split("  "));
    parts
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
        .collect()
}

fn role(label: &str) -> Option<Role> {
    let label = label.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| label.contains(word));
    match () {
        () if says(MOST) => Some(Role::Most),
        () if says(MEAN) => Some(Role::Mean),
        () if says(VERTICES) => Some(Role::Vertices),
        () => None,
    }
}

fn value(role: Role, (number, quantity): (f64, Quantity)) -> Option<Value> {
    let is_it = role != Role::Vertices || quantity == Quantity::Count;
    is_it.then_some(Value {
        role,
        quantity,
        number,
    })
}

/// Each number of a line with the words since the previous number: `avg 41 s, max 1h12m`, `500
/// vertices`.
fn of_prose(line: &str) -> Vec<Value> {
    let mut out = Vec::new();
    let (mut rest, mut label) = (line, String::new());
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        label.push_str(&rest[..at]);
        // digits in a name (`SV4_Aggregate`) are no number
        let is_name = label.ends_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let parsed = (!is_name).then(|| measure(&rest[at..])).flatten();
        let length = parsed.map_or_else(|| digits(&rest[at..]), |(_, length)| length);
        let after = &rest[at + length..];
        if let Some((found, _)) = parsed {
            let follows = after.trim_start().to_lowercase();
            let counts = VERTICES.iter().any(|word| follows.starts_with(word));
            let role = if counts {
                Some(Role::Vertices)
            } else {
                role(&label)
            };
            out.extend(role.and_then(|role| value(role, found)));
            label.clear();
        }
        rest = after;
    }
    out
}

fn digits(text: &str) -> usize {
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',')));
    let end = end.unwrap_or(text.len());
    text[..end].trim_end_matches(['.', ',']).len()
}

fn number(cell: &str) -> Option<(f64, Quantity)> {
    let cell = cell.trim_start_matches(['~', '≈', '约']).trim_start();
    let (parsed, length) = measure(cell)?;
    (cell[length..].trim().chars().count() <= 2).then_some(parsed)
}

/// A number with its unit at the start of `text`, several if they are of a duration (`1 h 12 min`), and its length.
fn measure(text: &str) -> Option<((f64, Quantity), usize)> {
    let (mut total, mut length) = single(text)?;
    while total.1 == Quantity::Time
        && let Some(((more, Quantity::Time), next)) = single(&text[length..])
    {
        total.0 += more;
        length += next;
    }
    Some((total, length))
}

/// A number with its unit, after spaces, and its length; `None` for a version (`4.0.1`).
fn single(text: &str) -> Option<((f64, Quantity), usize)> {
    let start = text.len() - text.trim_start_matches(' ').len();
    let end = start + digits(&text[start..]);
    let number: f64 = text[start..end].replace(',', "").parse().ok()?;
    let (quantity, factor, unit) = unit(&text[end..]);
    Some(((number * factor, quantity), end + unit))
}

/// Quantity of the unit at the start of `text`, its size, and its length in bytes.
fn unit(text: &str) -> (Quantity, f64, usize) {
    const UNITS: &[(&str, Quantity, f64)] = &[
        ("ms", Quantity::Time, 0.001),
        ("毫秒", Quantity::Time, 0.001),
        ("seconds", Quantity::Time, 1.0),
        ("sec", Quantity::Time, 1.0),
        ("s", Quantity::Time, 1.0),
        ("秒", Quantity::Time, 1.0),
        ("minutes", Quantity::Time, 60.0),
        ("min", Quantity::Time, 60.0),
        ("m", Quantity::Time, 60.0),
        ("分钟", Quantity::Time, 60.0),
        ("分", Quantity::Time, 60.0),
        ("hours", Quantity::Time, 3600.0),
        ("hour", Quantity::Time, 3600.0),
        ("h", Quantity::Time, 3600.0),
        ("个小时", Quantity::Time, 3600.0),
        ("小时", Quantity::Time, 3600.0),
        ("kb", Quantity::Data, 1e3),
        ("mb", Quantity::Data, 1e6),
        ("gb", Quantity::Data, 1e9),
        ("tb", Quantity::Data, 1e12),
        ("kib", Quantity::Data, 1024.0),
        ("mib", Quantity::Data, 1_048_576.0),
        ("gib", Quantity::Data, 1_073_741_824.0),
        ("tib", Quantity::Data, 1_099_511_627_776.0),
        ("bytes", Quantity::Data, 1.0),
        ("k", Quantity::Count, 1e3),
        ("万", Quantity::Count, 1e4),
        ("亿", Quantity::Count, 1e8),
        ("million", Quantity::Count, 1e6),
        ("billion", Quantity::Count, 1e9),
    ];
    let space = text.len() - text.trim_start_matches(' ').len();
    let word = text[space..].to_lowercase();
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_unit = |name: &str| word.strip_prefix(name).is_some_and(ends);
    // a capital M counts: `7.5 M rows`
    if text[space..].starts_with('M') && ends(&text[space + 1..]) {
        return (Quantity::Count, 1e6, space + 1);
    }
    let known = UNITS.iter().find(|(name, _, _)| is_unit(name));
    match known {
        Some(&(name, quantity, factor)) => (quantity, factor, space + name.len()),
        None => (Quantity::Count, 1.0, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<Pattern>) {
        assert_eq!(read(text), expected, "{text}");
    }

    #[test]
    fn a_maximum_far_above_the_mean_is_a_skew_if_the_data_is_uneven() {
        check(
            "SV4_Combine 250 vertices, avg 41s, max 1h12m, avg read 0.9GB, max read 88GB",
            Some(Pattern::Skew),
        );
        check(
            "rowCount avg=2,010,300 max=884,120,557",
            Some(Pattern::Skew),
        );
        check(
            "平均 1 分 10 秒，最长 2 小时 31 分；读入最大 88 GB，中位数 240 MB",
            Some(Pattern::Skew),
        );
        check("avg 41 s, max 43 s, avg read 1.1 GB, max read 1.2 GB", None);
    }

    #[test]
    fn time_alone_is_a_straggler_and_with_even_data_a_slow_machine() {
        check("median 48s, max 9840s", Some(Pattern::Straggler));
        check(
            "avg 40 s max 2 h, read avg 1.20 GB max 1.25 GB",
            Some(Pattern::SlowMachine),
        );
    }

    #[test]
    fn columns_have_the_role_of_their_heading() {
        let table =
            "Stage  Vertices  AvgTime  MaxTime\nSV1  2400  1m05s  1m40s\nSV2  300  55s  2h10m";
        check(table, Some(Pattern::Straggler));
        check(
            "stage | tasks | avg time\nA | 12000 | 3.1s",
            Some(Pattern::Tiny),
        );
    }

    #[test]
    fn prose_and_names_with_digits_say_nothing() {
        for text in [
            "",
            "the maximum is 5 minutes",
            "SV3_Combine p99",
            "5 to 10 GB",
            "最大 3 个",
            "avg 0 s max 5 s",
            "max 4.0.1, avg 1..2",
        ] {
            check(text, None);
        }
    }
}
