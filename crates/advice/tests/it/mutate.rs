//! Changes to the files of a job: some take information away, the others say the same differently.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Contents by file name.
pub(crate) type Folder = BTreeMap<String, Vec<u8>>;

/// A changed folder.
pub(crate) struct Mutant {
    /// Description of the change.
    pub(crate) what: String,
    pub(crate) folder: Folder,
}

/// The folder without each of its files, and without every `every`-th kind of information within
/// its files: an attribute or leaf element of XML, a field of JSON, the lines of a stage.
pub(crate) fn removals(folder: &Folder, every: usize) -> impl Iterator<Item = Mutant> {
    let without_file = folder.keys().map(|name| Change {
        file: name.clone(),
        cut: Cut::File,
    });
    let within = folder.iter().flat_map(|(file, bytes)| {
        cuts(bytes).into_iter().map(|cut| Change {
            file: file.clone(),
            cut,
        })
    });
    let within = within
        .enumerate()
        .filter(move |(i, _)| every < usize::MAX && i % every == 0)
        .map(|(_, change)| change);
    let changes: Vec<Change> = without_file.chain(within).collect();
    changes.into_iter().map(|change| change.of(folder))
}

struct Change {
    file: String,
    cut: Cut,
}

/// Part that is taken out of a file.
#[derive(Debug)]
enum Cut {
    File,
    Attribute(String),
    /// Elements without children.
    Leaf(String),
    Field(String),
    LinesWith(String),
}

impl Change {
    fn of(self, folder: &Folder) -> Mutant {
        let mut folder = folder.clone();
        let what = format!("{:?} of {}", self.cut, self.file);
        if let Some(bytes) = folder.remove(&self.file) {
            let text = String::from_utf8_lossy(&bytes);
            let cut = match &self.cut {
                Cut::File => None,
                Cut::Attribute(name) => Some(without_attribute(&text, name)),
                Cut::Leaf(name) => Some(without_leaf(&text, name)),
                Cut::Field(name) => Some(without_field(&text, name)),
                Cut::LinesWith(part) => {
                    let lines = text.split_inclusive('\n');
                    Some(lines.filter(|l| !l.contains(part.as_str())).collect())
                }
            };
            folder.extend(cut.map(|text| (self.file, text.into_bytes())));
        }
        Mutant { what, folder }
    }
}

/// Everything that can be cut out of a file.
fn cuts(bytes: &[u8]) -> Vec<Cut> {
    let text = String::from_utf8_lossy(bytes);
    let start = text.trim_start_matches('\u{feff}').trim_start();
    if start.starts_with('<') {
        let attributes = names(&text, "=\"", |before| {
            before.rsplit(char::is_whitespace).next()
        });
        let leaves = names(&text, "</", |before| {
            before.rsplit('<').next()?.split('>').next()
        });
        let empty = names(&text, "/>", |before| {
            before.rsplit('<').next()?.split_whitespace().next()
        });
        let leaves: BTreeSet<String> = leaves.union(&empty).cloned().collect();
        let attributes = attributes.into_iter().map(Cut::Attribute);
        attributes
            .chain(leaves.into_iter().map(Cut::Leaf))
            .collect()
    } else if let Ok(value) = serde_json::from_str::<Value>(start) {
        let mut fields = BTreeSet::new();
        collect_fields(&value, &mut fields);
        fields.into_iter().map(Cut::Field).collect()
    } else {
        let stages = names(&text, "[0]", |before| before.rsplit(',').next());
        let stages = stages.into_iter().map(|s| Cut::LinesWith(format!("{s}[")));
        let kinds = ["Completed", "Failed", "[0]", "HiPriTime"];
        let kinds = kinds.into_iter().filter(|k| text.contains(k));
        stages
            .chain(kinds.map(|k| Cut::LinesWith(k.to_owned())))
            .collect()
    }
}

/// The words before each `mark` that `find` takes from the text before it.
fn names(text: &str, mark: &str, find: impl Fn(&str) -> Option<&str>) -> BTreeSet<String> {
    let is_name = |s: &str| {
        let mut chars = s.chars();
        chars.next().is_some_and(char::is_alphabetic)
            && chars.all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
    };
    let marks = text.match_indices(mark);
    let words = marks.filter_map(|(at, _)| find(text.get(at.saturating_sub(120)..at)?));
    words.filter(|w| is_name(w)).map(str::to_owned).collect()
}

fn collect_fields(value: &Value, fields: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            fields.extend(object.keys().cloned());
            object.values().for_each(|v| collect_fields(v, fields));
        }
        Value::Array(items) => items.iter().for_each(|v| collect_fields(v, fields)),
        _ => {}
    }
}

fn without_attribute(text: &str, name: &str) -> String {
    let written = format!(" {name}=\"");
    let mut pieces = text.split(written.as_str());
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        out += piece.split_once('"').map_or(piece, |(_, rest)| rest);
    }
    out
}

fn without_leaf(text: &str, name: &str) -> String {
    let written = format!("<{name}");
    let mut pieces = text.split(written.as_str());
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let own = piece.starts_with([' ', '>', '/']);
        let tag_end = piece.find('>').unwrap_or(piece.len());
        let close = format!("</{name}>");
        let inner = piece.get(tag_end + 1..).unwrap_or_default();
        let rest = if piece[..tag_end].ends_with('/') {
            Some(inner)
        } else {
            let leaf = inner
                .find('<')
                .filter(|at| inner[*at..].starts_with(&close));
            leaf.map(|at| &inner[at + close.len()..])
        };
        match rest.filter(|_| own) {
            Some(rest) => out += rest,
            None => out = out + &written + piece,
        }
    }
    out
}

fn without_field(text: &str, name: &str) -> String {
    fn strip(value: &mut Value, name: &str) {
        match value {
            Value::Object(object) => {
                object.remove(name);
                object.values_mut().for_each(|v| strip(v, name));
            }
            Value::Array(items) => items.iter_mut().for_each(|v| strip(v, name)),
            _ => {}
        }
    }
    let text = text.trim_start_matches('\u{feff}');
    let Ok(mut value) = serde_json::from_str::<Value>(text) else {
        return text.to_owned();
    };
    strip(&mut value, name);
    value.to_string()
}

/// The same job with its lines and stages in another sequence, other line ends, other names, and
/// unrelated files.
pub(crate) fn equivalents(folder: &Folder) -> Vec<Mutant> {
    let texts = |what: &str, change: &dyn Fn(&str, &str) -> String| {
        let changed = folder.iter().map(|(name, bytes)| {
            let text = std::str::from_utf8(bytes);
            let text = text.map(|t| change(name, t).into_bytes());
            (name.clone(), text.unwrap_or_else(|_| bytes.clone()))
        });
        Mutant {
            what: what.to_owned(),
            folder: changed.collect(),
        }
    };
    let script = folder.iter().find(|(name, _)| name.ends_with(".script"));
    let script = script.map(|(_, bytes)| String::from_utf8_lossy(bytes));
    let own = script.map_or_else(BTreeSet::new, |text| own_names(&text));
    let mut unrelated = folder.clone();
    unrelated.insert(
        "notes.txt".to_owned(),
        b"call Lee about the invoice\n".to_vec(),
    );
    unrelated.insert(
        "photo.png".to_owned(),
        vec![0x89, b'P', b'N', b'G', 0, 0, 0, 1],
    );
    unrelated.insert("empty.xml".to_owned(), Vec::new());
    unrelated.insert(
        "pom.xml".to_owned(),
        b"<project><a b=\"c\"/></project>".to_vec(),
    );
    vec![
        Mutant {
            what: "unrelated files added".to_owned(),
            folder: unrelated,
        },
        texts("CRLF", &|_, text| {
            text.replace("\r\n", "\n").replace('\n', "\r\n")
        }),
        texts("events in reverse", &|_, text| {
            if !text.contains("---HiPriTime") {
                return text.to_owned();
            }
            // A file that is cut off stays cut off at its end.
            let whole = text.rfind('\n').map_or(0, |at| at + 1);
            let mut lines: Vec<&str> = text[..whole].split_inclusive('\n').collect();
            lines.reverse();
            lines.concat() + &text[whole..]
        }),
        texts("stages in reverse", &|_, text| reversed_stages(text)),
        texts("stages renamed", &|_, text| renamed_stages(text)),
        texts("names of the script renamed", &|_, text| {
            renamed(text, &own)
        }),
    ]
}

/// Words that a script chose itself: rowsets, columns, constants. Words of the language are in capitals or belong to types and
/// libraries, which are called or qualified.
fn own_names(script: &str) -> BTreeSet<String> {
    const TYPES: [&str; 4] = ["DateTime", "String", "Guid", "Decimal"];
    let mut own = BTreeSet::new();
    let mut foreign = BTreeSet::new();
    for (at, word) in words(script) {
        let (before, after) = (&script[..at], &script[at + word.len()..]);
        let is_name = word.starts_with(char::is_uppercase) && word.contains(char::is_lowercase);
        let is_library = before.ends_with(['.', '/', '"']) || after.starts_with(['.', '(', '<']);
        let names = if is_library { &mut foreign } else { &mut own };
        if is_name && !TYPES.contains(&word) {
            names.insert(word.to_owned());
        }
    }
    &own - &foreign
}

fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.split(move |c| !is_part(c))
        .filter(|word| !word.is_empty())
        .map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

/// The text with other names, but for the names of its format: elements, attributes and fields.
fn renamed(text: &str, own: &BTreeSet<String>) -> String {
    let is_xml = text
        .trim_start_matches('\u{feff}')
        .trim_start()
        .starts_with('<');
    let mut out = String::new();
    let mut copied = 0;
    for (at, word) in words(text) {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        let is_format = is_xml && (before.ends_with(['<', '/']) || after.starts_with("=\""));
        if own.contains(word) && !is_format && !after.starts_with("\":") {
            out += &text[copied..at];
            out += "Zq";
            copied = at;
        }
    }
    out + &text[copied..]
}

/// Stages in reverse in the statistics of the service and in the counters.
fn reversed_stages(text: &str) -> String {
    let json = text.trim_start_matches('\u{feff}');
    if let Ok(mut value) = serde_json::from_str::<Value>(json) {
        if let Some(stages) = value.get_mut("stages").and_then(Value::as_array_mut) {
            stages.reverse();
        }
        return value.to_string();
    }
    let Some((head, body)) = text.split_once("<AggregatedStats>") else {
        return text.to_owned();
    };
    let Some((body, tail)) = body.split_once("</AggregatedStats>") else {
        return text.to_owned();
    };
    let mut stages: Vec<String> = Vec::new();
    for line in body.split_inclusive('\n') {
        match stages.last_mut() {
            Some(stage) if !line.trim_start().starts_with("<SV") => *stage += line,
            _ => stages.push(line.to_owned()),
        }
    }
    stages.reverse();
    format!(
        "{head}<AggregatedStats>{}</AggregatedStats>{tail}",
        stages.concat()
    )
}

/// `SV3_Combine` as `SV1003_Combine`.
fn renamed_stages(text: &str) -> String {
    let mut pieces = text.split("SV");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let digits = piece.bytes().take_while(u8::is_ascii_digit).count();
        let is_stage = digits > 0 && piece[digits..].starts_with('_');
        out += if is_stage { "SV100" } else { "SV" };
        out += piece;
    }
    out
}
