//! The lines of a passage that say most about a query.
//!
//! A passage consists of pieces: sentences, list items, rows of a table, blocks of code. All pieces that are shown are from one subsection, whose
//! heading is shown as well. Of code that is shown before and after a change, only the code after it is a piece.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use pulldown_cmark::{Event, Tag, TagEnd};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::analyze;
use crate::chunk::events;

/// Bonus of a piece that continues a chosen one, and of the sentence at the start, relative to the best piece.
const NEXT: f32 = 0.15;
const FIRST: f32 = 0.25;

/// Marks a gap.
const GAP: &str = "…";

/// The part of a passage that a result shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// Headings above the text, without the title.
    pub headings: Vec<String>,
    pub text: String,
}

/// Lines and columns of an excerpt.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    pub lines: usize,
    pub columns: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The first sentence of a paragraph or list item, and any other.
    Start,
    Sentence,
    Row,
    Code,
}

#[derive(Debug)]
struct Piece<'a> {
    text: String,
    form: Form,
    /// Header of its table.
    header: Option<&'a str>,
}

/// Pieces under one heading.
#[derive(Debug, Default)]
struct Part<'a> {
    /// Level and text; `None` for the headings of the passage itself.
    heading: Option<(usize, String)>,
    pieces: Vec<Piece<'a>>,
}

/// The subsection of `text`, a passage below `headings`, with the most of `weights`, by term, in the pieces that have room; in their order.
pub(super) fn excerpt(
    text: &str,
    headings: &[String],
    weights: &HashMap<String, f32>,
    room: Room,
) -> Excerpt {
    let parts = parts(text);
    let shown = parts.iter().map(|part| {
        let choice = Choice::of(part, weights, room);
        (part, print(&part.pieces, &choice.chosen), choice.worth)
    });
    let best = shown.reduce(|a, b| if b.2 > a.2 { b } else { a });
    let mut headings = headings.to_vec();
    let Some((part, text, _)) = best else {
        let text = String::new();
        return Excerpt { headings, text };
    };
    if let Some((level, heading)) = &part.heading {
        // The title, at level 1, is not among the headings.
        headings.truncate(level.saturating_sub(2));
        headings.push(heading.clone());
    }
    Excerpt { headings, text }
}

/// The pieces of a part that are shown.
struct Choice {
    /// Ascending.
    chosen: Vec<usize>,
    /// Weight of the terms in them and in the heading.
    worth: f32,
}

impl Choice {
    /// Terms count once, so that the pieces together cover the query.
    fn of(part: &Part<'_>, weights: &HashMap<String, f32>, room: Room) -> Choice {
        let pieces = &part.pieces;
        let known = |text: &str| -> HashSet<String> {
            let terms = analyze::terms(text).into_iter();
            terms.filter(|term| weights.contains_key(term)).collect()
        };
        let terms: Vec<HashSet<String>> = pieces.iter().map(|piece| known(&piece.text)).collect();
        let sum = |terms: &HashSet<String>, seen: &HashSet<String>| -> f32 {
            terms.difference(seen).map(|term| weights[term]).sum()
        };
        let mut seen = HashSet::new();
        let best = terms
            .iter()
            .map(|terms| sum(terms, &seen))
            .fold(0.0, f32::max);
        let mut chosen: Vec<usize> = Vec::new();
        loop {
            let gain = |at: usize| {
                let follows = at > 0 && chosen.contains(&(at - 1));
                let next = if follows { NEXT * best } else { 0.0 };
                let opens = at == 0 && pieces[0].form == Form::Start && !is_item(&pieces[0].text);
                let first = if opens { FIRST * best } else { 0.0 };
                sum(&terms[at], &seen) + next + first
            };
            let with = |at: usize| {
                let mut all = chosen.clone();
                all.insert(all.partition_point(|&other| other < at), at);
                all
            };
            let left = (0..pieces.len()).filter(|at| !chosen.contains(at));
            let fitting =
                left.filter(|&at| chosen.is_empty() || room.fits(&print(pieces, &with(at))));
            let Some(at) = fitting.reduce(|a, b| if gain(b) > gain(a) { b } else { a }) else {
                break;
            };
            chosen = with(at);
            seen.extend(terms[at].iter().cloned());
        }
        if let Some((_, heading)) = &part.heading {
            seen.extend(known(heading));
        }
        Choice {
            chosen,
            worth: sum(&seen, &HashSet::new()),
        }
    }
}

impl Room {
    fn fits(self, text: &str) -> bool {
        let lines = text
            .lines()
            .map(|line| line.width().div_ceil(self.columns.max(1)));
        lines.sum::<usize>() <= self.lines
    }
}

fn is_wide(c: char) -> bool {
    c.width() == Some(2)
}

fn print(pieces: &[Piece<'_>], chosen: &[usize]) -> String {
    let mut out = String::new();
    let mut before: Option<usize> = None;
    for &at in chosen {
        let piece = &pieces[at];
        let follows = at == before.map_or(0, |before| before + 1);
        let is_new_table = piece.header != before.and_then(|before| pieces[before].header);
        if !out.is_empty() {
            match piece.form {
                Form::Sentence if out.ends_with(is_wide) => {}
                Form::Sentence => out.push(' '),
                _ => out.push('\n'),
            }
        }
        if !follows && piece.header.is_none() {
            out.push_str(GAP);
            out.push(' ');
        }
        if let Some(header) = piece.header.filter(|_| is_new_table) {
            out.push_str(header);
            out.push('\n');
        }
        out.push_str(&piece.text);
        before = Some(at);
    }
    out
}

/// Reads the pieces of a passage.
struct Reader<'a> {
    text: &'a str,
    parts: Vec<Part<'a>>,
    /// Start of the paragraph or list item that is read.
    open: Option<usize>,
    header: Option<&'a str>,
}

fn parts(text: &str) -> Vec<Part<'_>> {
    let mut reader = Reader {
        text,
        parts: vec![Part::default()],
        open: None,
        header: None,
    };
    for (event, range) in events(text) {
        reader.read(&event, range);
    }
    let mut parts = reader.parts;
    parts.retain(|part| !part.pieces.is_empty());
    parts
}

impl<'a> Reader<'a> {
    fn read(&mut self, event: &Event<'_>, range: Range<usize>) {
        let slice = self.text[range.clone()].trim();
        match event {
            Event::Start(Tag::Paragraph | Tag::HtmlBlock) => {
                self.open.get_or_insert(range.start);
            }
            Event::Start(Tag::Item) => {
                self.close(range.start);
                self.open = Some(range.start);
            }
            Event::Start(Tag::List(_) | Tag::Table(_)) => self.close(range.start),
            Event::End(TagEnd::Paragraph | TagEnd::HtmlBlock | TagEnd::Item) => {
                self.close(range.end)
            }
            Event::Start(Tag::Heading { level, .. }) => {
                self.close(range.start);
                self.head(*level as usize, slice);
            }
            Event::Start(Tag::CodeBlock(_)) => {
                self.close(range.start);
                let is_fence =
                    |line: &&str| ["```", "~~~"].iter().any(|f| line.trim().starts_with(f));
                let lines: Vec<&str> = slice.lines().filter(|line| !is_fence(line)).collect();
                let code = after(&lines);
                for block in code.split("\n\n") {
                    self.push(block.to_owned(), Form::Code);
                }
            }
            Event::Start(Tag::TableHead) => self.header = Some(slice),
            Event::Start(Tag::TableRow) => self.push(slice.to_owned(), Form::Row),
            Event::End(TagEnd::Table) => self.header = None,
            _ => {}
        }
    }

    /// The headings at the start belong to the passage.
    fn head(&mut self, level: usize, line: &str) {
        let is_first = self.parts.iter().all(|part| part.pieces.is_empty());
        let title = line
            .trim_matches('#')
            .split(" {#")
            .next()
            .unwrap_or_default();
        let title = title.chars().filter(|&c| c != '`');
        let heading = (level, title.collect::<String>().trim().to_owned());
        if !is_first {
            self.parts.push(Part {
                heading: Some(heading),
                pieces: Vec::new(),
            });
        }
    }

    fn push(&mut self, text: String, form: Form) {
        let header = self.header;
        if let Some(part) = self.parts.last_mut().filter(|_| !text.trim().is_empty()) {
            part.pieces.push(Piece { text, form, header });
        }
    }

    /// Ends the open paragraph or list item, and divides it into sentences.
    fn close(&mut self, end: usize) {
        let Some(start) = self.open.take() else {
            return;
        };
        let mut text = String::new();
        for line in self.text[start..end].lines() {
            let line = line.trim().trim_start_matches("> ");
            // Chinese lines join without a space.
            if !text.is_empty() && !text.ends_with(is_wide) && !line.is_empty() {
                text.push(' ');
            }
            text.push_str(line);
        }
        let mut form = Form::Start;
        for sentence in sentences(&text) {
            self.push(sentence.to_owned(), form);
            form = Form::Sentence;
        }
    }
}

fn is_item(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    ["- ", "* ", ". "].iter().any(|mark| rest.starts_with(mark))
}

fn sentences(text: &str) -> Vec<&str> {
    let (mut out, mut start) = (Vec::new(), 0);
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let after = at + c.len_utf8();
        let is_end = match c {
            '。' | '！' | '？' | '；' => true,
            '.' | '!' | '?' | ';' => {
                chars.peek().is_some_and(|(_, c)| *c == ' ') && after - start > 12
            }
            _ => false,
        };
        if is_end || after == text.len() {
            out.push(text[start..after].trim());
            start = after;
        }
    }
    out
}

/// Words of a comment above the old code and above the new code.
const BEFORE: [&str; 3] = ["before", "修改前", "改前"];
const AFTER: [&str; 3] = ["after", "修改后", "改后"];

/// The code after a change; all of it if it shows no change.
fn after(lines: &[&str]) -> String {
    let says = |words: &[&str], line: &str| {
        let line = line.trim().to_lowercase();
        let comment = ["//", "--", "#", "/*"]
            .iter()
            .find_map(|mark| line.strip_prefix(mark));
        comment.is_some_and(|comment| {
            words
                .iter()
                .any(|word| comment.trim_start().starts_with(word))
        })
    };
    let is_change = lines.iter().any(|line| says(&BEFORE, line));
    let changed = lines.iter().position(|line| says(&AFTER, line));
    let start = changed.filter(|_| is_change).unwrap_or(0);
    lines[start..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt_of(text: &str, query: &str, room: usize) -> String {
        let terms = analyze::terms(query).into_iter();
        let weights = terms.map(|term| (term, 1.0)).collect();
        let room = Room {
            lines: room.div_ceil(20),
            columns: 20,
        };
        excerpt(text, &[], &weights, room).text
    }

    #[test]
    fn the_row_that_fits_keeps_its_header() {
        let text = "## Cause\n\n| message | limit |\n|---|---|\n| task too large | 1000 KiB |\n| Kryo buffer overflow | 64 MB |\n";
        let expected = "| message | limit |\n| Kryo buffer overflow | 64 MB |";
        assert_eq!(excerpt_of(text, "kryo overflow", 60), expected);
    }

    #[test]
    fn code_is_shown_after_its_change() {
        for (before, after) in [
            ("-- before", "-- after: salted"),
            ("// 修改前", "// 修改后"),
        ] {
            let text = format!("```sql\n{before}\nSELECT a;\n{after}\nSELECT b;\n```\n");
            assert_eq!(excerpt_of(&text, "b", 80), format!("{after}\nSELECT b;"));
        }
        let text = "```\n# after the restart\nx\n```";
        assert_eq!(excerpt_of(text, "x", 80), "# after the restart\nx");
    }

    #[test]
    fn sentences_that_fit_are_shown_in_their_order() {
        let text = "Nothing of it here at all. The driver\nlists all files. Filler without any use. Compaction helps later.";
        let shown = excerpt_of(text, "compaction driver files", 60);
        assert_eq!(
            shown,
            "… The driver lists all files. … Compaction helps later."
        );
    }

    #[test]
    fn a_passage_that_fits_is_shown_whole() {
        let text = "## 原因\n\n键为空。\n数据倾斜。\n\n- 一\n- 二\n";
        assert_eq!(
            excerpt_of(text, "倾斜", 100),
            "键为空。数据倾斜。\n- 一\n- 二"
        );
        assert_eq!(excerpt_of("", "x", 100), "");
    }

    #[test]
    fn the_subsection_that_fits_is_shown_under_its_heading() {
        let text = "## Fix\n\n### When reading\n\nSplit the files.\n\n### After an exchange {#exchange}\n\nSet `partitions`.\n";
        let weights = HashMap::from([("partit".to_owned(), 1.0)]);
        let room = Room {
            lines: 5,
            columns: 80,
        };
        let headings = ["Fix", "When reading"].map(str::to_owned);
        let shown = excerpt(text, &headings, &weights, room);
        assert_eq!(shown.headings, ["Fix", "After an exchange"]);
        assert_eq!(shown.text, "Set `partitions`.");
        let shown = excerpt(text, &headings, &HashMap::new(), room);
        assert_eq!(shown.headings, headings);
        assert_eq!(shown.text, "Split the files.");
    }

    #[test]
    fn an_item_that_fits_comes_before_the_first() {
        let text = "1. One item that has nothing.\n2. Another: look at `pruning`.\n   - and its part\n\n3. A loose one.\n";
        let shown = excerpt_of(text, "pruning", 40);
        assert_eq!(shown, "… 2. Another: look at `pruning`.");
    }
}
