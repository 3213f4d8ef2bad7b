//! The lines of a passage that say most about a query.
//!
//! A passage consists of pieces: sentences, list items, rows of a table, blocks of code. The pieces of its first subsection come first; if all
//! of them fit, the next subsection follows below its heading. Of code that is shown before and after a change, only the code after it is a
//! piece.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use pulldown_cmark::{Event, Tag, TagEnd};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::analyze;
use crate::chunk::events;

/// Bonus of a piece that continues a chosen one, and of the sentence at the start, relative to the best piece.
const NEXT: f32 = 0.3;
const FIRST: f32 = 0.25;

/// Marks a gap.
const GAP: &str = "…";

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
    /// Code before a change that follows in another block.
    Before,
    Heading,
}

#[derive(Debug)]
struct Piece<'a> {
    text: String,
    form: Form,
    /// Header of its table.
    header: Option<&'a str>,
}

impl Piece<'_> {
    /// Whether it has no meaning without the piece after it.
    fn introduces(&self) -> bool {
        self.form == Form::Heading || self.text.ends_with([':', '：'])
    }
}

/// The pieces of `text` that have most of `weights`, by term, as far as there is room; in their order.
pub(super) fn excerpt(text: &str, weights: &HashMap<String, f32>, room: Room) -> String {
    let pieces = pieces(text);
    let starts = (0..pieces.len()).filter(|&at| pieces[at].form == Form::Heading);
    let ends: Vec<usize> = starts.chain([pieces.len()]).collect();
    let mut chosen = Vec::new();
    let mut start = 0;
    for end in ends {
        choose(&pieces, start..end, &mut chosen, weights, room);
        if chosen.len() < end {
            break;
        }
        start = end;
    }
    print(&pieces, &chosen)
}

/// Adds pieces of a subsection to `chosen`, all pieces before it. Terms count once, so that the pieces together cover the query.
fn choose(
    pieces: &[Piece<'_>],
    part: Range<usize>,
    chosen: &mut Vec<usize>,
    weights: &HashMap<String, f32>,
    room: Room,
) {
    let terms = |at: usize| -> HashSet<&str> {
        let mut terms = HashSet::new();
        analyze::for_each_term(&pieces[at].text, |term| {
            terms.extend(weights.get_key_value(term).map(|(term, _)| term.as_str()));
        });
        terms
    };
    let terms: HashMap<usize, HashSet<&str>> = part.clone().map(|at| (at, terms(at))).collect();
    let sum = |terms: &HashSet<&str>, seen: &HashSet<&str>| -> f32 {
        terms.difference(seen).map(|term| weights[*term]).sum()
    };
    let mut seen = HashSet::new();
    let best = terms.values().map(|terms| sum(terms, &seen));
    let best = best.fold(0.0, f32::max);
    loop {
        let with = |at: usize| {
            let mut all = chosen.clone();
            let last = (at..part.end).find(|&at| !pieces[at].introduces());
            all.extend((at..=last.unwrap_or(at)).filter(|at| !chosen.contains(at)));
            all.sort_unstable();
            all
        };
        let gain = |at: usize| {
            let follows = at > part.start && chosen.contains(&(at - 1));
            let next = if follows { NEXT * best } else { 0.0 };
            let is_start = matches!(pieces[at].form, Form::Start | Form::Heading);
            let opens = at == part.start && is_start && !is_item(&pieces[at].text);
            let first = if opens { FIRST * best } else { 0.0 };
            sum(&terms[&at], &seen) + next + first
        };
        // Text of a subsection is shown with the heading above it only.
        let is_open = |at: usize| {
            pieces[part.start].form != Form::Heading
                || at == part.start
                || chosen.contains(&part.start)
        };
        let left = part
            .clone()
            .filter(|at| !chosen.contains(at) && is_open(*at));
        let mut left: Vec<(f32, usize)> = left.map(|at| (gain(at), at)).collect();
        // Stable: of equal pieces the first.
        left.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let fits = |at: usize| chosen.is_empty() || room.fits(&print(pieces, &with(at)));
        let Some(at) = left.into_iter().map(|(_, at)| at).find(|&at| fits(at)) else {
            break;
        };
        let all = with(at);
        *chosen = match chosen.is_empty() && !room.fits(&print(pieces, &all)) {
            true => vec![at],
            false => all,
        };
        let now = chosen.iter().filter_map(|at| terms.get(at)).flatten();
        seen.extend(now.copied());
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
    pieces: Vec<Piece<'a>>,
    /// Start of the paragraph or list item that is read.
    open: Option<usize>,
    header: Option<&'a str>,
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut reader = Reader {
        text,
        pieces: Vec::new(),
        open: None,
        header: None,
    };
    for (event, range) in events(text) {
        reader.read(&event, range);
    }
    reader.pieces
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
            Event::Start(Tag::Heading { .. }) => {
                self.close(range.start);
                self.head(slice);
            }
            Event::Start(Tag::CodeBlock(_)) => {
                self.close(range.start);
                let is_fence =
                    |line: &&str| ["```", "~~~"].iter().any(|f| line.trim().starts_with(f));
                let lines: Vec<&str> = slice.lines().filter(|line| !is_fence(line)).collect();
                let form = match (says(&BEFORE, &lines), says(&AFTER, &lines)) {
                    (Some(_), None) => Form::Before,
                    (None, Some(_)) => {
                        self.pieces.retain(|piece| piece.form != Form::Before);
                        Form::Code
                    }
                    _ => Form::Code,
                };
                for block in after(&lines).split("\n\n") {
                    self.push(block.to_owned(), form);
                }
            }
            Event::Start(Tag::TableHead) => self.header = Some(slice),
            Event::Start(Tag::TableRow) => self.push(slice.to_owned(), Form::Row),
            Event::End(TagEnd::Table) => self.header = None,
            _ => {}
        }
    }

    /// The headings at the start belong to the passage.
    fn head(&mut self, line: &str) {
        let is_empty = |piece: &&Piece<'_>| piece.form == Form::Heading;
        if self.pieces.last().as_ref().is_none_or(is_empty) {
            return;
        }
        let title = line.trim_matches('#').split(" {#").next();
        let title = title.unwrap_or_default().trim();
        self.push(format!("› {title}"), Form::Heading);
    }

    fn push(&mut self, text: String, form: Form) {
        let header = self.header;
        if !text.trim().is_empty() {
            self.pieces.push(Piece { text, form, header });
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

/// The first line that is a comment and begins with one of `words`.
fn says(words: &[&str], lines: &[&str]) -> Option<usize> {
    lines.iter().position(|line| {
        let line = line.trim().to_lowercase();
        let mut marks = ["//", "--", "#", "/*"].iter();
        let comment = marks.find_map(|mark| line.strip_prefix(mark));
        let starts = |comment: &str| words.iter().any(|word| comment.starts_with(word));
        comment.is_some_and(|comment| starts(comment.trim_start()))
    })
}

/// The code after a change; all of it if it shows no change.
fn after(lines: &[&str]) -> String {
    let changed = says(&BEFORE, lines).and(says(&AFTER, lines));
    lines[changed.unwrap_or(0)..].join("\n")
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
        excerpt(text, &weights, room)
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
    fn the_next_subsection_follows_if_the_first_fits() {
        let text = "## Fix\n\n### When reading\n\nSplit the files.\n\n### After an exchange {#exchange}\n\nSet `partitions`.\n";
        let shown = excerpt_of(text, "partitions", 100);
        assert_eq!(
            shown,
            "Split the files.\n› After an exchange\nSet `partitions`."
        );
        assert_eq!(excerpt_of(text, "partitions", 40), "Split the files.");
    }

    #[test]
    fn an_introduction_is_shown_with_its_list() {
        let text = "Filler here. These join forms defeat it:\n\n- a function\n- a cast to string\n";
        let shown = excerpt_of(text, "join defeat", 60);
        assert_eq!(
            shown,
            "Filler here. These join forms defeat it:\n- a function"
        );
    }

    #[test]
    fn code_before_a_change_is_left_out_if_the_code_after_it_follows() {
        let text = "```sql\n-- before\nSELECT a;\n```\n\n```sql\n-- after\nSELECT b;\n```\n";
        assert_eq!(excerpt_of(text, "a", 80), "-- after\nSELECT b;");
    }

    #[test]
    fn an_item_that_fits_comes_before_the_first() {
        let text = "1. One item that has nothing.\n2. Another: look at `pruning`.\n   - and its part\n\n3. A loose one.\n";
        let shown = excerpt_of(text, "pruning", 40);
        assert_eq!(shown, "… 2. Another: look at `pruning`.");
    }
}
