//! Formats numbers for people: counts, bytes, durations, shares, plurals.
//!
//! English writes `1.2 M rows`, `56.5 GiB`, `12 min 58 s`, `19 %`; Chinese writes `120 万行`,
//! `56.5 GiB`, `12 分 58 秒`, `19 %`.

use crate::{Language, Localize};

/// A duration in seconds: `350 ms`, `8.2 s`, `12 min 58 s`, `3 h 20 min`, `12,345 h`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seconds(pub f64);

/// A size in bytes, in powers of 1,024: `56.5 GiB`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bytes(pub f64);

/// A share (0..1) as a percentage: `19 %`, `3.4 %`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share(pub f64);

/// A ratio: `41.2×`, `41.2 倍`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio(pub f64);

/// A change in percent of the earlier value: `+354 %`, `−40 %`; `–` without an earlier value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change(pub Option<f64>);

impl Change {
    pub fn between(before: f64, after: f64) -> Change {
        Change((before > 0.0).then(|| (after - before) / before))
    }
}

impl Localize for Change {
    fn localize(&self, _: Language) -> String {
        match self.0.filter(|share| share.is_finite()) {
            None => "–".to_owned(),
            Some(share) => {
                let sign = if share < 0.0 { '−' } else { '+' };
                format!("{sign}{:.0} %", share.abs() * 100.0)
            }
        }
    }
}

/// A bare count: `1,234`, `63.0 M`, `6300 万`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Number(pub f64);

/// A countable noun: the English singular and plural, and the Chinese noun with its measure word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Noun {
    pub one: &'static str,
    pub many: &'static str,
    pub zh: &'static str,
}

const fn noun(one: &'static str, many: &'static str, zh: &'static str) -> Noun {
    Noun { one, many, zh }
}

pub const ROW: Noun = noun("row", "rows", "行");
pub const VERTEX: Noun = noun("vertex", "vertices", " 个顶点");
pub const TASK: Noun = noun("task", "tasks", " 个任务");
pub const EXECUTOR: Noun = noun("executor", "executors", " 个 Executor");
pub const STAGE: Noun = noun("stage", "stages", " 个阶段");
pub const STATEMENT: Noun = noun("statement", "statements", " 条语句");
pub const OPERATOR: Noun = noun("operator", "operators", " 个算子");
pub const PARTITION: Noun = noun("partition", "partitions", " 个分区");
pub const COLUMN: Noun = noun("column", "columns", " 列");
pub const FILE: Noun = noun("file", "files", " 个文件");
pub const VALUE: Noun = noun("value", "values", " 个值");
pub const DISTINCT_VALUE: Noun = noun("distinct value", "distinct values", " 个不同值");
pub const LINE: Noun = noun("line", "lines", " 行");
pub const TOKEN: Noun = noun("token", "tokens", " 个令牌");
pub const TOKEN_HOUR: Noun = noun("token-hour", "token-hours", " 令牌小时");
pub const AU: Noun = noun("AU", "AUs", " 个 AU");
pub const AU_HOUR: Noun = noun("AU-hour", "AU-hours", " AU 小时");
pub const VERTEX_HOUR: Noun = noun("vertex-hour", "vertex-hours", " 顶点小时");
pub const CORE_HOUR: Noun = noun("core-hour", "core-hours", " 核小时");
pub const ATTEMPT: Noun = noun("attempt", "attempts", " 次尝试");
pub const CALL: Noun = noun("call", "calls", " 次调用");
pub const TIME: Noun = noun("time", "times", " 次");
pub const PLACE: Noun = noun("place", "places", " 处");
pub const CHANGE: Noun = noun("change", "changes", " 处变化");
pub const INPUT: Noun = noun("input", "inputs", " 个输入");
pub const NAME: Noun = noun("name", "names", " 个名称");
pub const JOB: Noun = noun("job", "jobs", " 个作业");
pub const RUN: Noun = noun("run", "runs", " 次运行");
pub const FINDING: Noun = noun("finding", "findings", " 个问题");
pub const RULE: Noun = noun("rule", "rules", " 条规则");
pub const ERROR: Noun = noun("error", "errors", " 个错误");
pub const STREAM: Noun = noun("streaming query", "streaming queries", " 个流式查询");

/// A number of things: `1 vertex`, `63.0 M rows`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Counted {
    n: f64,
    noun: Noun,
}

impl Noun {
    /// The Chinese noun without its measure word.
    pub fn bare(self) -> &'static str {
        self.zh.trim_start_matches(" 个")
    }

    pub fn count(self, n: f64) -> Counted {
        Counted { n, noun: self }
    }

    /// The noun as it follows `n` in English.
    pub fn plural(self, n: f64) -> &'static str {
        if n == 1.0 { self.one } else { self.many }
    }
}

impl Localize for Counted {
    fn localize(&self, language: Language) -> String {
        let number = Number(self.n).localize(language);
        match language {
            // “6300 万行”, but “63 行” and “12 个顶点”.
            Language::Zh if number.ends_with(['万', '亿']) => {
                format!("{number}{}", self.noun.zh.trim_start())
            }
            Language::Zh if self.noun.zh.starts_with(' ') => format!("{number}{}", self.noun.zh),
            Language::Zh => format!("{number} {}", self.noun.zh),
            Language::En => format!("{number} {}", self.noun.plural(self.n)),
        }
    }
}

impl Localize for Number {
    fn localize(&self, language: Language) -> String {
        let n = self.0;
        let magnitude = n.abs();
        match language {
            _ if !n.is_finite() => "?".to_owned(),
            Language::Zh if magnitude >= 1e8 => format!("{} 亿", significant(n / 1e8)),
            Language::Zh if magnitude >= 1e5 => format!("{} 万", significant(n / 1e4)),
            Language::En if magnitude >= 1e9 => format!("{:.1} B", n / 1e9),
            Language::En if magnitude >= 1e6 => format!("{:.1} M", n / 1e6),
            Language::Zh | Language::En => figure(n),
        }
    }
}

impl Localize for Seconds {
    fn localize(&self, language: Language) -> String {
        let [ms, s, min, h] = language.select(
            [" 毫秒", " 秒", " 分", " 小时"],
            [" ms", " s", " min", " h"],
        );
        // an empty sum is −0
        let seconds = self.0 + 0.0;
        let whole = seconds.round() as i64;
        match whole {
            _ if !seconds.is_finite() => "?".to_owned(),
            _ if seconds > 0.0 && seconds < 0.9995 => {
                format!("{:.0}{ms}", (seconds * 1e3).max(1.0))
            }
            ..10 => format!("{seconds:.1}{s}"),
            10..60 => format!("{whole}{s}"),
            60..3600 => format!("{}{min} {}{s}", whole / 60, whole % 60),
            3600..360_000 => format!("{}{h} {}{min}", whole / 3600, whole % 3600 / 60),
            _ => format!("{}{h}", figure(seconds / 3600.0)),
        }
    }
}

impl Localize for Bytes {
    fn localize(&self, _: Language) -> String {
        const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
        let value = self.0;
        let steps = (0..UNITS.len() - 1)
            .take_while(|i| value.abs() >= 1024_f64.powi(*i as i32 + 1))
            .count();
        let digits = usize::from(steps > 0);
        let scaled = value / 1024_f64.powi(steps as i32);
        format!("{scaled:.digits$} {}", UNITS[steps])
    }
}

impl Localize for Share {
    fn localize(&self, _: Language) -> String {
        let percent = self.0 * 100.0;
        let digits = usize::from(percent != 0.0 && percent.abs() < 9.95);
        format!("{percent:.digits$} %")
    }
}

impl Localize for Ratio {
    fn localize(&self, language: Language) -> String {
        format!("{:.1}{}", self.0, language.select(" 倍", "×"))
    }
}

/// A number with its unit of the contract: `bytes`, `ms`, `s`, `ratio`, `share`, `rows`, …
pub fn with_unit(value: f64, unit: &str, language: Language) -> String {
    amount(value, unit, language).unwrap_or_else(|| match unit {
        "ratio" => Ratio(value).localize(language),
        "partitions" => PARTITION.count(value).localize(language),
        "count" => Number(value).localize(language),
        _ => format!("{} {unit}", Number(value).localize(language)),
    })
}

/// A number with a unit that sentences write out: a size, a time, a share, or a count. `None` for any other unit.
pub fn amount(value: f64, unit: &str, language: Language) -> Option<String> {
    Some(match unit {
        "bytes" => Bytes(value).localize(language),
        "ms" => Seconds(value / 1000.0).localize(language),
        "s" | "seconds" => Seconds(value).localize(language),
        "%" => Share(value / 100.0).localize(language),
        "share" => Share(value).localize(language),
        "rows" => ROW.count(value).localize(language),
        "vertices" => VERTEX.count(value).localize(language),
        "tokens" => TOKEN.count(value).localize(language),
        "files" => FILE.count(value).localize(language),
        _ => return None,
    })
}

/// A plain number: whole with commas from 100 on, three significant digits below.
pub fn figure(value: f64) -> String {
    let magnitude = value.abs();
    if !value.is_finite() {
        "?".to_owned()
    } else if magnitude >= 100.0 || value.fract() == 0.0 {
        with_commas(value)
    } else {
        let text = significant(value);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

/// About three significant digits: `6300`, `12.3`, `0.046`.
fn significant(value: f64) -> String {
    let digits = match value.abs() {
        100.0.. => 0,
        10.0.. => 1,
        1.0.. => 2,
        _ => 3,
    };
    format!("{value:.digits$}")
}

fn with_commas(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    if value < 0.0 && digits != "0" {
        out.push('-');
    }
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Names in a row: `a, b`, `a、b`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Names<'a, S>(pub &'a [S]);

impl<S: AsRef<str>> Localize for Names<'_, S> {
    fn localize(&self, language: Language) -> String {
        let names: Vec<&str> = self.0.iter().map(AsRef::as_ref).collect();
        names.join(language.select("、", ", "))
    }
}

/// The first names in a row, and the number of the others: `a, b, c and 9 more`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FewNames<'a, S>(pub &'a [S]);

/// Names that a sentence can hold.
const FEW: usize = 3;

impl<S: AsRef<str>> Localize for FewNames<'_, S> {
    fn localize(&self, language: Language) -> String {
        let (named, others) = self.0.split_at(self.0.len().min(FEW));
        let named = Names(named).localize(language);
        match (others.len(), language) {
            (0, _) => named,
            (more, Language::Zh) => format!("{named} 等另外 {more} 个"),
            (more, Language::En) => format!("{named} and {more} more"),
        }
    }
}

/// Joins items for a sentence: `a, b and c`, `a、b和c`.
pub fn list(items: &[String], language: Language) -> String {
    let (comma, and) = language.select(("、", "和"), (", ", " and "));
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [head @ .., last] => format!("{}{and}{last}", head.join(comma)),
    }
}

/// `text` without the final stop, for a sentence that continues.
pub fn without_stop(text: &str) -> &str {
    text.trim_end_matches(['.', '。'])
}

/// `text` with its first letter in upper case.
pub fn with_capital(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.collect::<String>() + chars.as_str()
}

/// `text` cut to at most `max` bytes at a character boundary.
pub fn cut(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max.min(text.len()))]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(value: impl Localize) -> (String, String) {
        (value.localize(Language::Zh), value.localize(Language::En))
    }

    fn check(value: impl Localize, zh: &str, en: &str) {
        assert_eq!(both(value), (zh.to_owned(), en.to_owned()));
    }

    #[test]
    fn durations_use_the_two_largest_units() {
        check(Seconds(0.0), "0.0 秒", "0.0 s");
        check(Seconds(0.35), "350 毫秒", "350 ms");
        check(Seconds(8.24), "8.2 秒", "8.2 s");
        check(Seconds(59.97), "1 分 0 秒", "1 min 0 s");
        check(Seconds(778.0), "12 分 58 秒", "12 min 58 s");
        check(Seconds(12_000.0), "3 小时 20 分", "3 h 20 min");
        check(Seconds(44_443_440.0), "12,345 小时", "12,345 h");
    }

    #[test]
    fn counts_agree_with_their_noun() {
        check(VERTEX.count(1.0), "1 个顶点", "1 vertex");
        check(VERTEX.count(1234.0), "1,234 个顶点", "1,234 vertices");
        check(ROW.count(63e6), "6300 万行", "63.0 M rows");
        check(ROW.count(1.5e9), "15.0 亿行", "1.5 B rows");
        check(ROW.count(63.0), "63 行", "63 rows");
        check(VERTEX.count(2.5e5), "25.0 万个顶点", "250,000 vertices");
    }

    #[test]
    fn sizes_shares_and_ratios_read_alike() {
        check(Bytes(60_666_412_851.0), "56.5 GiB", "56.5 GiB");
        check(Bytes(512.0), "512 B", "512 B");
        check(Share(0.19), "19 %", "19 %");
        check(Share(0.034), "3.4 %", "3.4 %");
        check(Ratio(41.23), "41.2 倍", "41.2×");
    }

    #[test]
    fn changes_have_a_sign() {
        check(Change::between(10.0, 45.4), "+354 %", "+354 %");
        check(Change::between(10.0, 6.0), "−40 %", "−40 %");
        check(Change::between(0.0, 6.0), "–", "–");
    }

    #[test]
    fn figures_keep_three_digits() {
        for (value, expected) in [
            (0.0, "0"),
            (41.23, "41.2"),
            (0.0456, "0.046"),
            (1_047_020.0, "1,047,020"),
            (-1500.0, "-1,500"),
            (2.5, "2.5"),
            (f64::NAN, "?"),
        ] {
            assert_eq!(figure(value), expected, "{value}");
        }
    }

    #[test]
    fn names_stand_in_a_row() {
        check(Names(&["a", "b"]), "a、b", "a, b");
        check(Names(&["a"]), "a", "a");
    }

    #[test]
    fn lists_end_with_and() {
        let items = ["a".to_owned(), "b".to_owned(), "c".to_owned()];
        assert_eq!(list(&items, Language::En), "a, b and c");
        assert_eq!(list(&items, Language::Zh), "a、b和c");
        assert_eq!(list(&items[..1], Language::Zh), "a");
    }
}
