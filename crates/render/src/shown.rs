//! Texts of job files and of models are data: no character in them acts.

use std::borrow::Cow;
use std::io::{self, Write};

use report::{visible, visible_line};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::ser::{CharEscape, Formatter, Serializer};

/// The data with acting characters in its texts made visible; a copy only if there are any. Line ends
/// stay in texts with lines: scripts, diffs, steps and questions.
pub fn shown<T: Serialize + DeserializeOwned + Clone>(data: &T) -> Cow<'_, T> {
    let mut search = Search::default();
    let searched = data.serialize(&mut Serializer::with_formatter(io::sink(), &mut search));
    if searched.is_ok() && !search.found {
        return Cow::Borrowed(data);
    }
    let copy = serde_json::to_value(data).and_then(|mut value| {
        show(&mut value, "", "");
        serde_json::from_value(value)
    });
    copy.map_or(Cow::Borrowed(data), Cow::Owned)
}

/// Whether a field has lines; `of` is the field around it. All others stay on one line, so that a name
/// cannot look like another finding.
fn has_lines(field: &str, of: &str) -> bool {
    match field {
        "diff" | "question" | "fallback" => true,
        "text" => matches!(of, "steps" | "conclusion" | "script" | "answer"),
        _ => false,
    }
}

/// Looks for a character that acts while data is serialized. Most data has none and needs no copy.
#[derive(Default)]
struct Search {
    found: bool,
    /// The field in each object that is being serialized, from the outermost.
    fields: Vec<String>,
    in_name: bool,
}

impl Search {
    fn in_lines(&self) -> bool {
        match self.fields.as_slice() {
            [.., of, field] => has_lines(field, of),
            [field] => has_lines(field, ""),
            [] => false,
        }
    }
}

impl Formatter for &mut Search {
    fn begin_object<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.fields.push(String::new());
        Ok(())
    }

    fn end_object<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.fields.pop();
        Ok(())
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, _: &mut W, _: bool) -> io::Result<()> {
        self.in_name = true;
        if let Some(field) = self.fields.last_mut() {
            field.clear();
        }
        Ok(())
    }

    fn end_object_key<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.in_name = false;
        Ok(())
    }

    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        _: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        match self.fields.last_mut() {
            Some(field) if self.in_name => field.push_str(fragment),
            _ => self.found |= matches!(visible_line(fragment), Cow::Owned(_)),
        }
        Ok(())
    }

    fn write_char_escape<W: ?Sized + Write>(
        &mut self,
        _: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        self.found |= match escape {
            CharEscape::Quote | CharEscape::ReverseSolidus | CharEscape::Solidus => false,
            CharEscape::LineFeed | CharEscape::Tab => !self.in_lines(),
            _ => true,
        };
        Ok(())
    }
}

fn show(value: &mut Value, field: &str, of: &str) {
    match value {
        Value::String(text) => {
            let plain = match has_lines(field, of) {
                true => visible(text),
                false => visible_line(text),
            };
            if let Cow::Owned(plain) = plain {
                *text = plain;
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|v| show(v, field, of)),
        Value::Object(fields) => fields.iter_mut().for_each(|(name, v)| show(v, name, field)),
        _ => {}
    }
}
