//! Texts of job files and of models are data: no character in them acts.

use std::borrow::Cow;

use report::{visible, visible_line};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A copy of something to be shown, with all characters in its texts visible that would act. Line ends
/// stay in what has lines: scripts, diffs, steps and questions.
pub fn shown<T: Serialize + DeserializeOwned + Clone>(data: &T) -> T {
    let Ok(mut value) = serde_json::to_value(data) else {
        return data.clone();
    };
    if !show(&mut value, "", "") {
        return data.clone();
    }
    serde_json::from_value(value).unwrap_or_else(|_| data.clone())
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

/// Returns whether something was changed.
fn show(value: &mut Value, field: &str, of: &str) -> bool {
    match value {
        Value::String(text) => {
            let plain = match has_lines(field, of) {
                true => visible(text),
                false => visible_line(text),
            };
            let Cow::Owned(plain) = plain else {
                return false;
            };
            *text = plain;
            true
        }
        Value::Array(all) => all
            .iter_mut()
            .fold(false, |any, v| show(v, field, of) | any),
        Value::Object(fields) => fields
            .iter_mut()
            .fold(false, |any, (name, v)| show(v, name, field) | any),
        _ => false,
    }
}
