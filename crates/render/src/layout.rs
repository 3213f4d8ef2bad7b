//! Columns, wrapping and bars that stay aligned when Chinese and English are mixed.

use textwrap::WordSeparator;
use textwrap::core::Word;
use unicode_width::UnicodeWidthStr;

/// Columns that a text takes; a Chinese character takes two, a style none.
pub fn width(text: &str) -> usize {
    if text.contains('\u{1b}') {
        return UnicodeWidthStr::width(anstream::adapter::strip_str(text).to_string().as_str());
    }
    UnicodeWidthStr::width(text)
}

/// The text with spaces after it up to `columns`.
pub fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The text with spaces before it up to `columns`.
pub fn pad_left(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The text cut to `columns`, with `…` where something is left out.
pub fn shorten(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 0;
    for c in text.chars() {
        let w = unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
        if used + w + 1 > columns {
            break;
        }
        used += w;
        kept.push(c);
    }
    kept.push('…');
    kept
}

/// Words up to where a line may end by Unicode's rules: between Chinese characters too, but not before their punctuation. Hyphens are
/// left to the splitter of words.
fn words(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    let ends = unicode_linebreak::linebreaks(line)
        .map(|(at, _)| at)
        .filter(|at| *at == line.len() || !line[..*at].ends_with('-'));
    let mut start = 0;
    Box::new(ends.map(move |end| Word::from(&line[std::mem::replace(&mut start, end)..end])))
}

/// Stands for a space at which no line may end.
const HELD: &str = "\u{a0}";
/// Longer pieces of code may be broken.
const LONGEST_HELD: usize = 60;
/// Units that stay on the line of their number.
const UNITS: [&str; 13] = [
    "%", "ms", "s", "min", "h", "B", "KiB", "MiB", "GiB", "TiB", "K", "M", "rows",
];

/// Holds short code in backticks together, so that a command can be copied, and a number with its unit.
fn held(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    let has_pairs = parts.len() % 2 == 1;
    let hold = |(at, part): (usize, &&str)| match at % 2 == 1 && has_pairs {
        true if width(part) <= LONGEST_HELD => part.replace(' ', HELD),
        true => (*part).to_owned(),
        false => with_units(part),
    };
    let parts: Vec<String> = parts.iter().enumerate().map(hold).collect();
    parts.join("`")
}

fn with_units(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_inclusive(' ') {
        let unit = word.trim_end_matches([' ', ',', '.', ';', ':', ')', '，', '。', '；', '）']);
        let is_unit = UNITS.contains(&unit);
        if is_unit && out.ends_with(' ') && out.trim_end().ends_with(|c: char| c.is_ascii_digit()) {
            out.pop();
            out.push_str(HELD);
        }
        out.push_str(word);
    }
    out
}

/// The text as lines of at most `columns`; the first starts with `first`, the others with `rest`.
pub fn wrap(text: &str, columns: usize, first: &str, rest: &str) -> Vec<String> {
    let options = textwrap::Options::new(columns)
        .initial_indent(first)
        .subsequent_indent(rest)
        .word_separator(WordSeparator::Custom(words));
    held(text)
        .lines()
        .flat_map(|line| {
            textwrap::wrap(line, &options)
                .into_iter()
                .map(|l| l.replace(HELD, " "))
        })
        .collect()
}

/// The same for names and paths: broken at spaces only, so that they can be copied.
pub fn wrap_names(text: &str, columns: usize, first: &str, rest: &str) -> Vec<String> {
    let options = textwrap::Options::new(columns)
        .initial_indent(first)
        .subsequent_indent(rest)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(text, &options)
        .into_iter()
        .map(|l| l.into_owned())
        .collect()
}

/// Items in a row, broken only between them: a number keeps its unit. Lines after the first start with `rest`.
pub fn wrap_items(items: &[String], columns: usize, rest: &str) -> Vec<String> {
    if items.is_empty() {
        return Vec::new();
    }
    let held: Vec<String> = items.iter().map(|item| item.replace(' ', HELD)).collect();
    // The dot stays with the item before it.
    let row = held.join(&format!("{HELD}· "));
    wrap_names(&row, columns, "", rest)
        .iter()
        .map(|line| line.replace(HELD, " "))
        .collect()
}

/// Kind of a line of a unified diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffPart {
    /// The name of the old or the new file.
    File,
    /// `@@ … @@`.
    Place,
    Added,
    Removed,
    Kept,
}

impl DiffPart {
    /// Judges by the start of the line.
    pub fn of(line: &str) -> DiffPart {
        match line.as_bytes() {
            [b'+', b'+', b'+', b' ', ..] | [b'-', b'-', b'-', b' ', ..] => DiffPart::File,
            [b'@', ..] => DiffPart::Place,
            [b'+', ..] => DiffPart::Added,
            [b'-', ..] => DiffPart::Removed,
            _ => DiffPart::Kept,
        }
    }

    /// Name of its style on a page.
    pub fn class(self) -> &'static str {
        match self {
            DiffPart::File => "file",
            DiffPart::Place => "place",
            DiffPart::Added => "added",
            DiffPart::Removed => "removed",
            DiffPart::Kept => "kept",
        }
    }
}

/// A bar of `columns` cells, filled to `share` (0..1) in eighths of a cell.
pub fn bar(share: f64, columns: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let cells = share.clamp(0.0, 1.0) * columns as f64;
    let full = cells.floor() as usize;
    let part = EIGHTHS[(((cells - full as f64) * 8.0) as usize).min(7)];
    pad(&format!("{}{part}", "█".repeat(full)), columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chinese_characters_take_two_columns() {
        assert_eq!(width("数据skew"), 8);
        assert_eq!(pad("数据", 6), "数据  ");
        assert_eq!(pad_left("数据", 6), "  数据");
        assert_eq!(shorten("数据倾斜严重", 7), "数据倾…");
    }

    #[test]
    fn wrapped_lines_fit() {
        let text = "阶段 SV3_Combine 的最大顶点处理了 17,948,158 行，是平均值的 4.6 倍 and this goes on in English";
        for line in wrap(text, 30, "- ", "  ") {
            assert!(width(&line) <= 30, "{line}");
        }
    }

    #[test]
    fn commands_and_numbers_with_units_stay_whole() {
        let text = "saves about 17 s; `scopeagent fix last S1`, in 9.6 % of them";
        assert_eq!(
            wrap(text, 28, "", "  "),
            [
                "saves about 17 s;",
                "  `scopeagent fix last S1`,",
                "  in 9.6 % of them"
            ]
        );
        assert_eq!(
            wrap("it is in 9.6 % of it", 12, "", ""),
            ["it is in", "9.6 % of it"]
        );
    }

    #[test]
    fn items_stay_whole_and_styles_take_no_column() {
        let items = ["read 3.4 GiB".to_owned(), "rows 12".to_owned()];
        assert_eq!(wrap_items(&items, 15, ""), ["read 3.4 GiB ·", "rows 12"]);
        assert_eq!(width("\u{1b}[31m数\u{1b}[0m"), 2);
    }

    #[test]
    fn bars_fill_in_eighths() {
        assert_eq!(bar(0.5, 4), "██  ");
        assert_eq!(bar(0.3125, 4), "█▎  ");
        assert_eq!(bar(7.0, 3), "███");
        assert_eq!(bar(0.0, 2), "  ");
    }
}
