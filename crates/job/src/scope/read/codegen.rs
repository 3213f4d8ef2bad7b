//! `__ScopeCodeGen__.dll.cs`: the classes of the generated C#, the script expressions behind them,
//! and the user's own classes.

use super::Input;
use crate::model::{Codegen, CodegenClass, Job};
use crate::script::flow::user_code::columns_read;

/// Class around the generated code.
const GENERATED: &str = "___Scope_Generated_Classes___";
/// Classes kept. Real files have at most a few hundred.
const MAX_CLASSES: usize = 10_000;
/// Maximum nesting of classes.
const MAX_NESTING: usize = 16;

pub(crate) fn read(input: &Input<'_>, job: &mut Job) {
    job.codegen = Some(Codegen {
        file: input.name.to_owned(),
        classes: classes(input.text, 0),
    });
}

/// Classes of a piece of C#; `lines_before` precede it in its file.
pub(crate) fn classes(code: &str, lines_before: u32) -> Vec<CodegenClass> {
    let masked = mask(code);
    let mut found: Vec<Declared<'_>> = Vec::new();
    let mut from = 0;
    while let Some(at) = find_word(&masked, b"class", from) {
        from = at + "class".len();
        if let Some(declared) = declaration(code, &masked, at) {
            found.push(declared);
        }
        if found.len() == MAX_CLASSES {
            break;
        }
    }
    close(&masked, &mut found);
    let generated = found.iter().find(|c| c.name == GENERATED);
    let generated = generated.map_or(0..0, |c| c.start..c.end);
    let mut lines = Lines {
        at: 0,
        line: lines_before + 1,
    };
    // classes in classes in classes …: each text is read once per level, so levels are bounded
    let mut budget = code.len().saturating_mul(MAX_NESTING);
    found
        .iter()
        .filter(|c| c.name != GENERATED && c.name != "__OperatorFactory__")
        .map(|c| {
            let first = lines.line_at(code, c.start);
            let last =
                first + memchr::memchr_iter(b'\n', &code.as_bytes()[c.start..c.end]).count() as u32;
            let text = &code[c.start..c.end];
            let user_code = !generated.contains(&c.start);
            budget = budget.saturating_sub(text.len());
            let text = if budget > 0 { text } else { "" };
            CodegenClass {
                name: c.name.to_owned(),
                lines: (first, last),
                user_code,
                expressions: expressions(text),
                columns_read: match user_code {
                    true => columns_read(text, c.name),
                    false => Some(locals(text)),
                },
            }
        })
        .collect()
}

/// Counts lines from the previous position on; classes come in file order.
struct Lines {
    at: usize,
    line: u32,
}

impl Lines {
    fn line_at(&mut self, code: &str, offset: usize) -> u32 {
        let between = &code.as_bytes()[self.at..offset];
        self.line += memchr::memchr_iter(b'\n', between).count() as u32;
        self.at = offset;
        self.line
    }
}

struct Declared<'a> {
    name: &'a str,
    /// Offset of the word `class`, of the brace that opens its body, and after the closing one.
    start: usize,
    open: usize,
    end: usize,
}

/// The declaration with the word `class` at `at`; `None` for `where T : class` and the like.
fn declaration<'a>(code: &'a str, masked: &[u8], at: usize) -> Option<Declared<'a>> {
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_' || *b >= 0x80;
    let start = at + "class".len();
    let after = masked[start..].iter();
    let name_at = start + after.take_while(|b| b.is_ascii_whitespace()).count();
    let length = masked[name_at..].iter().take_while(|b| is_word(b)).count();
    let name_end = name_at + length;
    // a longer text is not a class header
    let header = &masked[name_end..masked.len().min(name_end + 500)];
    let open = name_end + header.iter().position(|b| *b == b'{')?;
    let between = code.get(name_end..open)?;
    if length == 0 || name_at == start || between.contains([';', '}']) {
        return None;
    }
    Some(Declared {
        name: code.get(name_at..name_end)?,
        start: at,
        open,
        end: open + 1,
    })
}

/// Finds the closing brace of every class in one pass; a class that is cut off ends with the file.
fn close(masked: &[u8], classes: &mut [Declared<'_>]) {
    let (mut stack, mut next): (Vec<Option<usize>>, usize) = (Vec::new(), 0);
    for (at, byte) in masked.iter().enumerate() {
        match byte {
            b'{' => {
                while classes.get(next).is_some_and(|c| c.open < at) {
                    next += 1;
                }
                let own = classes.get(next).filter(|c| c.open == at).map(|_| next);
                stack.push(own);
            }
            b'}' => {
                if let Some(Some(class)) = stack.pop() {
                    classes[class].end = at + 1;
                }
            }
            _ => {}
        }
    }
    for class in stack.into_iter().flatten() {
        classes[class].end = masked.len();
    }
}

/// The code with comments, strings and characters blanked, at the same offsets.
fn mask(code: &str) -> Vec<u8> {
    let bytes = code.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = match rest {
            [b'/', b'/', ..] => memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
            [b'/', b'*', ..] => {
                memchr::memmem::find(&rest[2..], b"*/").map_or(rest.len(), |n| n + 4)
            }
            [b'@', b'"', ..] => verbatim_length(rest),
            [quote @ (b'"' | b'\''), ..] => literal_length(rest, *quote),
            _ => 0,
        };
        for byte in out[at..at + length].iter_mut().filter(|b| **b != b'\n') {
            *byte = b' ';
        }
        at += length.max(1);
    }
    out
}

/// Length of `@"…"`; `""` inside is a quote.
fn verbatim_length(text: &[u8]) -> usize {
    let mut at = 2;
    while let Some(quote) = memchr::memchr(b'"', text.get(at..).unwrap_or_default()) {
        at += quote + 1;
        if text.get(at) != Some(&b'"') {
            return at;
        }
        at += 1;
    }
    text.len()
}

/// Length of `"…"` or `'…'`; it does not go beyond its line.
fn literal_length(text: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < text.len() {
        match text[at] {
            b'\\' => at += 2,
            b'\n' => return at,
            b if b == quote => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

fn find_word(text: &[u8], word: &[u8], from: usize) -> Option<usize> {
    let is_word = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let mut from = from;
    loop {
        let at = from + memchr::memmem::find(text.get(from..)?, word)?;
        let before = at.checked_sub(1).and_then(|i| text.get(i));
        if !is_word(before) && !is_word(text.get(at + word.len())) {
            return Some(at);
        }
        from = at + word.len();
    }
}

/// Script expressions in `exceptionsInfo = { @"…", … }`.
fn expressions(class: &str) -> Vec<String> {
    let Some(at) = class.find("exceptionsInfo =") else {
        return Vec::new();
    };
    let mut rest = &class[at..];
    let mut out = Vec::new();
    while let Some(quote) = rest.find(['"', '}']) {
        if rest.as_bytes()[quote] == b'}' {
            break;
        }
        let verbatim = quote > 0 && rest.as_bytes()[quote - 1] == b'@';
        let (from, length) = if verbatim {
            (quote - 1, verbatim_length(&rest.as_bytes()[quote - 1..]))
        } else {
            (quote, literal_length(&rest.as_bytes()[quote..], b'"'))
        };
        let Some(literal) = rest.get(from..from + length) else {
            break;
        };
        let inner = literal.trim_start_matches('@').trim_matches('"');
        out.push(inner.replace("\"\"", "\"").replace("\\\"", "\""));
        rest = &rest[from + length..];
    }
    out
}

/// Columns that a generated class reads: its `col_<name> = row.GetInternal…` locals.
fn locals(class: &str) -> Vec<String> {
    let lines = class.lines();
    let reads = lines.filter(|line| line.contains(" = ") && line.contains(".Get"));
    let names = reads.filter_map(|line| {
        let (_, rest) = line.split_once(" col_")?;
        Some(rest.split([' ', '=']).next()?.to_owned())
    });
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "using System;\n// class Comment {\npublic class Mine<T> : Reducer where T : class\n{\n  string s = \"} class X {\"; char c = '}';\n\
        \x20 void F(Row row) { var a = row[\"Url\"].String; }\n}\npublic class ___Scope_Generated_Classes___\n{\n\tpublic class SqlFilterTransformer_3 : IProcessor\n\t{\n\
        \t\tSystem.Int32 col_A = row.GetInternal<System.Int32>(1);\n\t\tpublic static string[] exceptionsInfo = \n\t\t{\n\t\t\t@\"A > \"\"x\"\" }\",\n\t\t\t@\"B\",\n\t\t};\n\t}\n\
        \tpublic static class __OperatorFactory__\n\t{\n\t}\n}\n";

    #[test]
    fn user_and_generated_classes() {
        let found = classes(CODE, 0);
        let name = |c: &CodegenClass| format!("{} {:?} {}", c.name, c.lines, c.user_code);
        let names: Vec<_> = found.iter().map(name).collect();
        let generated = "SqlFilterTransformer_3 (10, 18) false";
        assert_eq!(names, ["Mine (3, 7) true", generated]);
        assert_eq!(found[1].expressions, ["A > \"x\" }", "B"]);
        assert_eq!(found[1].columns_read, Some(vec!["A".to_owned()]));
        assert_eq!(classes(CODE, 10)[0].lines, (13, 17));
    }

    #[test]
    fn columns_of_user_code() {
        let code = "class R : Reducer { void F(Row row) { var a = row[\"Url\"].String; } }";
        let columns = &classes(code, 0)[0].columns_read;
        assert_eq!(*columns, Some(vec!["Url".to_owned()]));
    }

    #[test]
    fn a_cut_file_ends_its_classes() {
        let found = classes("class A { class B { void f() {", 0);
        assert_eq!(found.len(), 2);
        for code in ["class", "class A", "\"", "@\"\\", "'\\"] {
            assert_eq!(classes(code, 0), [], "{code}");
        }
    }
}
