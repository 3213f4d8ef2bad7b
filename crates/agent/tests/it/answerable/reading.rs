//! Reads numbers out of prose, without the code that wrote them: `12 min 58 s`, `12 分 58 秒`, `1.2 M rows`, `120 万行`,
//! `script lines 31–40`.

/// A number from prose, with the precision of its notation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Read {
    value: f64,
    tolerance: f64,
}

impl Read {
    fn is(self, wanted: f64) -> bool {
        (self.value - wanted).abs() <= self.tolerance + 1e-9 * wanted.abs()
    }
}

/// A number and the text after it.
struct Figure<'t> {
    read: Read,
    start: usize,
    rest: &'t str,
}

fn figures(text: &str) -> Vec<Figure<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(skip) = text[at..].find(|c: char| c.is_ascii_digit()) {
        let start = at + skip;
        let digits = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
        let length = text[start..].find(|c| !digits(c));
        let end = length.map_or(text.len(), |length| start + length);
        let number = text[start..end].trim_end_matches(['.', ',']);
        at = end;
        let decimals = number.split_once('.').map_or(0, |(_, after)| after.len());
        let Ok(value) = number.replace(',', "").parse::<f64>() else {
            continue;
        };
        let tolerance = 0.5 * 10_f64.powi(-(decimals as i32));
        found.push(Figure {
            read: Read { value, tolerance },
            start,
            rest: text[end..].trim_start_matches(' '),
        });
    }
    found
}

/// The unit at the start of a text, and the rest. A unit of letters must be a whole word.
fn unit<'t, T: Copy>(text: &'t str, units: &[(&str, T)]) -> Option<(T, &'t str)> {
    units.iter().find_map(|(name, meaning)| {
        let rest = text.strip_prefix(name)?;
        let ends = !name.is_ascii() || !rest.starts_with(|c: char| c.is_ascii_alphanumeric());
        ends.then_some((*meaning, rest))
    })
}

const TIMES: [(&str, f64); 8] = [
    ("毫秒", 0.001),
    ("秒", 1.0),
    ("小时", 3600.0),
    ("分", 60.0),
    ("ms", 0.001),
    ("s", 1.0),
    ("h", 3600.0),
    ("min", 60.0),
];

/// Durations in seconds; the two units of one are read together.
fn durations(text: &str) -> Vec<Read> {
    let mut found: Vec<Read> = Vec::new();
    let mut goes_on = None;
    for figure in figures(text) {
        let Some((size, rest)) = unit(figure.rest, &TIMES) else {
            continue;
        };
        let value = figure.read.value * size;
        // Hours are written with whole minutes, cut rather than rounded.
        let tolerance = if size == 60.0 {
            60.0
        } else {
            figure.read.tolerance * size
        };
        match found.last_mut() {
            Some(last) if goes_on == Some(figure.start) => {
                last.value += value;
                last.tolerance = tolerance;
            }
            _ => found.push(Read { value, tolerance }),
        }
        let next = text.len() - rest.trim_start_matches(' ').len();
        goes_on = (size >= 60.0).then_some(next);
    }
    found
}

const ROWS: [(&str, f64); 7] = [
    ("rows", 1.0),
    ("row", 1.0),
    ("M rows", 1e6),
    ("B rows", 1e9),
    ("行", 1.0),
    ("万行", 1e4),
    ("亿行", 1e8),
];

pub(super) fn has_duration(text: &str, seconds: f64) -> bool {
    durations(text).into_iter().any(|read| read.is(seconds))
}

pub(super) fn has_rows(text: &str, rows: f64) -> bool {
    figures(text).into_iter().any(|figure| {
        let scale = unit(figure.rest, &ROWS).map(|(scale, _)| scale);
        scale.is_some_and(|scale| {
            let Read { value, tolerance } = figure.read;
            let read = Read {
                value: value * scale,
                tolerance: tolerance * scale,
            };
            read.is(rows)
        })
    })
}

/// Ranges of script lines.
pub(super) fn script_lines(text: &str) -> Vec<[u64; 2]> {
    let marks = ["script lines ", "script line ", "脚本第 "];
    let after = marks.iter().flat_map(|mark| text.split(mark).skip(1));
    let range = |after: &str| {
        let range: String = after
            .chars()
            .take_while(|c| c.is_ascii_digit() || *c == '–')
            .collect();
        let (first, last) = range.split_once('–').unwrap_or((&range, &range));
        Some([first.parse().ok()?, last.parse().ok()?])
    };
    after.filter_map(range).collect()
}

#[test]
fn numbers_are_read_in_both_languages() {
    for (text, seconds) in [
        ("runs for 12 min 58 s in all", 778.4),
        ("用时 12 分 58 秒", 777.6),
        ("3 h 20 min", 12_055.0),
        ("150 毫秒", 0.15),
        ("8.2 s", 8.24),
    ] {
        assert!(has_duration(text, seconds), "{text}");
        assert!(!has_duration(text, seconds * 1.1), "{text}");
    }
    assert!(!has_duration("16 个分区, 12 stages", 16.0 * 60.0));
    for (text, rows) in [
        ("33.4 M rows in", 33_380_000.0),
        ("输入 1305 万行", 13_049_000.0),
        ("86,400 rows", 86_400.0),
    ] {
        assert!(has_rows(text, rows), "{text}");
        assert!(!has_rows(text, rows * 1.1), "{text}");
    }
    assert_eq!(script_lines("a, script lines 31–40): b"), [[31, 40]]);
    assert_eq!(script_lines("脚本第 7 行"), [[7, 7]]);
}
