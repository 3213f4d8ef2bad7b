//! The catalogue of the files of a job folder: for each kind of file its content, in both languages, the
//! information it provides and the cost to read it. Written by curators as TOML.
//!
//! The catalogue does not know folders; other modules recognize files by their content.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use report::Text;
use serde::Deserialize;

use crate::info::Information;
use crate::model::FileKind;
use crate::text::line_at;

/// The catalogue that comes with the program, and its name for errors.
const BUILTIN: (&str, &str) = (
    "knowledge/files.toml",
    include_str!("../../../knowledge/files.toml"),
);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cost {
    /// Kilobytes.
    Low,
    /// Megabytes.
    Medium,
    /// Up to gigabytes; streamed.
    High,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Kind of the file, recognized by its content.
    pub kind: FileKind,
    /// Name patterns (glob) under which it is usually found.
    pub patterns: Vec<String>,
    pub title: Text,
    pub description: Text,
    pub provides: Vec<Information>,
    /// Reader of the file; `None` if it is only listed.
    pub parser: Option<String>,
    /// Whether it is always read first.
    pub core: bool,
    pub typical_bytes: u64,
    pub cost: Cost,
}

/// The content of each kind of file. Clones share the entries.
#[derive(Debug, Clone, PartialEq)]
pub struct Catalogue {
    pub entries: Arc<[Entry]>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {field}: {message}")]
pub struct CatalogueError {
    pub file: String,
    /// 1-based line.
    pub line: usize,
    /// The field, or `file` for an entry as a whole.
    pub field: String,
    pub message: String,
}

impl CatalogueError {
    fn new(file: &str, line: usize, field: &str, message: String) -> CatalogueError {
        let (file, field) = (file.to_owned(), field.to_owned());
        CatalogueError {
            file,
            line,
            field,
            message,
        }
    }
}

impl Default for Catalogue {
    fn default() -> Self {
        Catalogue::builtin()
    }
}

impl Catalogue {
    /// The embedded one, which is read once in a process.
    pub fn builtin() -> Catalogue {
        static READ: LazyLock<Catalogue> = LazyLock::new(|| {
            Catalogue::parse(BUILTIN.0, BUILTIN.1).expect("a test checks the embedded catalogue")
        });
        READ.clone()
    }

    pub fn load(path: &Path) -> Result<Catalogue, Vec<CatalogueError>> {
        let file = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Catalogue::parse(&file, &text),
            Err(error) => {
                let message = format!("cannot be read: {error}");
                Err(vec![CatalogueError::new(&file, 1, "file", message)])
            }
        }
    }

    /// Reads and checks a catalogue; `file` is its name for errors. All errors are given, not only
    /// the first.
    pub fn parse(file: &str, text: &str) -> Result<Catalogue, Vec<CatalogueError>> {
        let mut check = Check {
            file,
            errors: Vec::new(),
        };
        let mut entries: Vec<Entry> = Vec::new();
        let (head, pieces) = pieces(text);
        check.head(head);
        for piece in pieces {
            if let Some(entry) = check.entry(&piece) {
                if entries.iter().any(|old| old.kind == entry.kind) {
                    check.error(&piece, "kind", "this kind has an entry already".to_owned());
                }
                entries.push(entry);
            }
        }
        if entries.is_empty() && check.errors.is_empty() {
            let message = "the catalogue has no entry; each begins with `[[file]]`".to_owned();
            let error = CatalogueError::new(file, 1, "file", message);
            check.errors.push(error);
        }
        if check.errors.is_empty() {
            let entries = entries.into();
            Ok(Catalogue { entries })
        } else {
            Err(check.errors)
        }
    }

    pub fn entry(&self, kind: FileKind) -> Option<&Entry> {
        self.entries.iter().find(|e| e.kind == kind)
    }

    /// Entries that provide some information, cheapest first, then in the catalogue's order.
    pub fn providers(&self, information: Information) -> Vec<&Entry> {
        let provides = |e: &&Entry| e.provides.contains(&information);
        let mut found: Vec<&Entry> = self.entries.iter().filter(provides).collect();
        found.sort_by_key(|e| e.cost);
        found
    }

    /// The name under which a kind of file is usually found (first pattern).
    pub fn usual_name(&self, kind: FileKind) -> Option<&str> {
        self.entry(kind)?.patterns.first().map(String::as_str)
    }

    /// Entries with a pattern that fits a file name.
    pub fn by_name(&self, name: &str) -> Vec<&Entry> {
        let fits = |pattern: &String| {
            globset::Glob::new(pattern).is_ok_and(|glob| glob.compile_matcher().is_match(name))
        };
        let entries = self.entries.iter();
        entries.filter(|e| e.patterns.iter().any(fits)).collect()
    }
}

/// One `[[file]]` with the number of lines before it.
struct Piece<'a> {
    text: &'a str,
    lines_before: usize,
}

/// The text before the first entry, and the entries; each is checked on its own, so that one
/// mistake does not hide the next.
fn pieces(text: &str) -> (&str, Vec<Piece<'_>>) {
    let (mut starts, mut offset) = (Vec::new(), 0);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if line.trim() == "[[file]]" {
            starts.push((offset, number));
        }
        offset += line.len();
    }
    let ends = starts.iter().skip(1).map(|(at, _)| *at).chain([text.len()]);
    let pieces = starts.iter().zip(ends).map(|((from, lines), to)| Piece {
        text: &text[*from..to],
        lines_before: *lines,
    });
    let head = starts.first().map_or(text.len(), |(at, _)| *at);
    (&text[..head], pieces.collect())
}

struct Check<'a> {
    file: &'a str,
    errors: Vec<CatalogueError>,
}

impl Check<'_> {
    fn head(&mut self, head: &str) {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Head {
            version: u32,
        }
        let piece = Piece {
            text: head,
            lines_before: 0,
        };
        match toml::from_str::<Head>(head) {
            Ok(Head { version: 1 }) => {}
            Ok(Head { version }) => {
                let message = format!("version {version} is not known, 1 is");
                self.error(&piece, "version", message);
            }
            Err(error) => self.toml_error(&piece, &error),
        }
    }

    fn entry(&mut self, piece: &Piece<'_>) -> Option<Entry> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct One {
            file: Vec<Entry>,
        }
        let entry = match toml::from_str::<One>(piece.text) {
            Ok(mut one) => one.file.pop()?,
            Err(error) => {
                self.toml_error(piece, &error);
                return None;
            }
        };
        if entry.patterns.is_empty() {
            let message = "at least one pattern is needed".to_owned();
            self.error(piece, "patterns", message);
        }
        for pattern in &entry.patterns {
            if let Err(error) = globset::Glob::new(pattern) {
                self.error(piece, "patterns", error.to_string());
            }
        }
        for (field, text) in [("title", &entry.title), ("description", &entry.description)] {
            if text.zh.trim().is_empty() || text.en.trim().is_empty() {
                self.error(piece, field, "both `zh` and `en` are needed".to_owned());
            }
        }
        if entry.parser.as_deref() != entry.kind.parser() {
            let message = match entry.kind.parser() {
                Some(name) => format!("the reader of this kind is `{name}`"),
                None => "this kind has no reader; leave the field out".to_owned(),
            };
            self.error(piece, "parser", message);
        }
        if entry.parser.is_none() && !entry.provides.is_empty() {
            let message = "a file without a reader provides no information".to_owned();
            self.error(piece, "provides", message);
        }
        Some(entry)
    }

    /// An error at the line of a field, or of the entry if it does not have the field.
    fn error(&mut self, piece: &Piece<'_>, field: &str, message: String) {
        let own = |line: &str| {
            let rest = line.trim_start().strip_prefix(field);
            rest.is_some_and(|rest| rest.trim_start().starts_with(['=', '.']))
        };
        let line = piece.text.lines().position(own).unwrap_or(0) + piece.lines_before + 1;
        let error = CatalogueError::new(self.file, line, field, message);
        self.errors.push(error);
    }

    fn toml_error(&mut self, piece: &Piece<'_>, error: &toml::de::Error) {
        let offset = error.span().map_or(0, |span| span.start);
        let own_line = line_at(piece.text, offset) - 1;
        let text = piece.text.lines().nth(own_line).unwrap_or_default();
        // a missing field is named in the message, any other is in the line
        let missing = error.message().strip_prefix("missing field `");
        let missing = missing.and_then(|rest| rest.split('`').next());
        let written = || text.split_once('=').map(|(name, _)| name.trim());
        let field = missing.or_else(written).unwrap_or("file");
        let line = own_line + piece.lines_before + 1;
        let message = error.message().trim().replace('\n', "; ");
        let error = CatalogueError::new(self.file, line, field, message);
        self.errors.push(error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_5_3_the_embedded_catalogue_is_right() {
        let catalogue = Catalogue::parse(BUILTIN.0, BUILTIN.1).unwrap_or_else(|errors| {
            let errors: String = errors.iter().map(|e| format!("{e}\n")).collect();
            panic!("{errors}")
        });
        for information in Information::ALL {
            let providers = catalogue.providers(*information);
            assert!(!providers.is_empty(), "nothing provides {information:?}");
        }
        assert_eq!(catalogue.usual_name(FileKind::JobInfo), Some("JobInfo.xml"));
        let events = catalogue.entry(FileKind::VertexEvents);
        assert!(events.is_some_and(|e| !e.core));
        for (name, kind) in [
            ("fx3crj4l.w02[1]_stdout.txt", FileKind::VertexStdout),
            ("[3]_vcmd.xml", FileKind::VertexCommand),
        ] {
            let found = catalogue.by_name(name);
            assert!(matches!(&*found, [only] if only.kind == kind), "{name}");
        }
    }

    const GOOD: &str = "[[file]]\nkind = \"error\"\npatterns = [\"Error\"]\ntitle = { zh = \"错\", en = \"e\" }\n\
        description = { zh = \"错\", en = \"e\" }\nprovides = [\"error_details\"]\nparser = \"error\"\ncore = true\n\
        typical_bytes = 1\ncost = \"low\"\n";

    fn errors(text: &str) -> Vec<String> {
        let errors = Catalogue::parse("f.toml", text).err().unwrap_or_default();
        let places = errors.iter().map(|e| format!("{}:{}", e.line, e.field));
        places.collect()
    }

    #[test]
    fn each_mistake_is_named_with_its_line_and_field() {
        let head = "version = 1\n";
        assert_eq!(errors(&format!("{head}{GOOD}")), Vec::<String>::new());
        assert_eq!(errors("version = 2\n"), ["1:version"]);
        assert_eq!(errors(head), ["1:file"]);
        let bad = |from: &str, to: &str| format!("{head}{}", GOOD.replace(from, to));
        for (from, to, error) in [
            ("\"error\"\npat", "\"eror\"\npat", "3:kind"),
            ("[\"Error\"]", "[\"[x\"]", "4:patterns"),
            ("error_details", "eror", "7:provides"),
            ("parser = \"error\"", "parser = \"x\"", "8:parser"),
            ("core = true\n", "", "2:core"),
            ("cost = \"low\"", "cost = \"tiny\"", "11:cost"),
            ("core = true", "core = true\nsize = 3", "10:size"),
        ] {
            assert_eq!(errors(&bad(from, to)), [error]);
        }
        // both are reported, and so is the second entry of a kind
        let two = format!(
            "{head}{}{GOOD}",
            GOOD.replace("zh = \"错\", en = \"e\" }\nd", "zh = \"\", en = \"e\" }\nd")
        );
        assert_eq!(errors(&two), ["5:title", "13:kind"]);
    }
}
