//! Reads a conclusion from a model's text: fences, thoughts, surrounding prose, broken JSON.
//!
//! The schema decides about every repaired answer. The chain checks that a file named by a repaired
//! answer exists.

use serde_json::{Map, Value};

use super::{markers, validate};
use crate::conclusion::{Conclusion, FileRequest};
use crate::schema;
use crate::step::StepId;
use crate::tools::Check;
use report::{Language, text};

/// Deepest nesting that is handed to the repair; conclusions nest five levels.
const MAX_DEPTH: usize = 64;

/// Errors of the schema that are quoted; more would bury the first.
const ERRORS_QUOTED: usize = 5;

/// A conclusion that could be read.
#[derive(Debug, PartialEq)]
pub(super) struct Read {
    pub conclusions: Vec<Conclusion>,
    /// Whether the JSON had to be repaired.
    pub repaired: bool,
}

/// Reads the conclusions of some steps.
///
/// # Errors
/// The faults as short lines in the language of the run, for a turn of repair.
pub(super) fn read(steps: &[StepId], text: &str, language: Language) -> Result<Read, Vec<String>> {
    let answer = without_thoughts(text);
    let faults = match read_json(steps, answer, language) {
        Ok(read) => return Ok(read),
        Err(faults) => faults,
    };
    // A model without structured output may answer THINK 4 in the marks of the specification.
    if steps == [StepId::Completeness]
        && let Some(request) = markers::read(answer)
    {
        return Ok(Read {
            conclusions: vec![Conclusion::Completeness(request)],
            repaired: false,
        });
    }
    Err(faults)
}

/// Reads the text of a model that might have called tools: a conclusion, the arguments of the tool
/// that ends the step, or plain words, which are its basis.
///
/// # Errors
/// The faults as short lines in the language of the run, for a turn of repair.
pub(super) fn read_beside_tools(
    steps: &[StepId],
    text: &str,
    language: Language,
) -> Result<Read, Vec<String>> {
    let faults = match read(steps, text, language) {
        Ok(read) => return Ok(read),
        Err(faults) => faults,
    };
    let answer = without_thoughts(text).trim();
    let handed_in = candidates(answer).into_iter().find_map(|candidate| {
        let (value, repaired) = parse(candidate)?;
        let check: Check = serde_json::from_value(value).ok()?;
        Some((check.into_request(), repaired))
    });
    let in_words = || {
        let request = FileRequest {
            basis: answer.to_owned(),
            ..FileRequest::default()
        };
        (!answer.is_empty() && !answer.contains('{')).then_some((request, false))
    };
    let (request, repaired) = handed_in.or_else(in_words).ok_or(faults)?;
    Ok(Read {
        conclusions: vec![Conclusion::Completeness(request)],
        repaired,
    })
}

fn read_json(steps: &[StepId], answer: &str, language: Language) -> Result<Read, Vec<String>> {
    let mut faults = Vec::new();
    for candidate in candidates(answer) {
        let Some((value, repaired)) = parse(candidate) else {
            continue;
        };
        match conclude(steps, value, language) {
            Ok(conclusions) => {
                return Ok(Read {
                    conclusions,
                    repaired,
                });
            }
            Err(errors) if faults.is_empty() => faults = errors,
            Err(_) => {}
        }
    }
    if faults.is_empty() {
        let fault = text!("回答中没有 JSON 对象", "the answer holds no JSON object");
        faults.push(fault.into(language));
    }
    Err(faults)
}

/// Whether an answer holds a JSON object, however broken.
pub(super) fn holds_object(text: &str) -> bool {
    let answer = without_thoughts(text);
    let mut parsed = candidates(answer).into_iter().filter_map(parse);
    parsed.any(|(value, _)| value.as_object().is_some_and(|object| object.len() > 1))
}

/// The text after the last `</think>`; empty if a thought never ends.
fn without_thoughts(text: &str) -> &str {
    match text.rfind("</think>") {
        Some(at) => &text[at + "</think>".len()..],
        None if text.trim_start().starts_with("<think>") => "",
        None => text,
    }
}

/// Places where the JSON may be, most likely first.
fn candidates(answer: &str) -> Vec<&str> {
    let mut found = Vec::new();
    found.extend(last_fence(answer));
    found.push(answer.trim());
    found.extend(balanced(answer));
    if let Some(start) = answer.find('{') {
        // Cut short or with a stray tail: left to the repair.
        found.push(answer[start..].trim());
    }
    found.retain(|c| c.contains('{'));
    found.dedup();
    found
}

fn last_fence(answer: &str) -> Option<&str> {
    let end = answer.rfind("```")?;
    let rest = match answer[..end].rfind("```") {
        Some(start) => &answer[start + 3..end],
        // An opening fence without its end: the answer was cut.
        None => &answer[end + 3..],
    };
    let named = ["json", "JSON"].iter().find_map(|n| rest.strip_prefix(n));
    Some(named.unwrap_or(rest).trim())
}

/// The first object with balanced braces, outside of strings.
fn balanced(answer: &str) -> Option<&str> {
    let start = answer.find('{')?;
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for (offset, byte) in answer[start..].bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' if !in_string => depth += 1,
            b'}' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    return Some(&answer[start..=start + offset]);
                }
            }
            _ => {}
        }
    }
    None
}

/// An object, and whether it had to be repaired.
fn parse(text: &str) -> Option<(Value, bool)> {
    if let Ok(value @ Value::Object(_)) = serde_json::from_str(text) {
        return Some((value, false));
    }
    if depth(text) > MAX_DEPTH {
        return None;
    }
    match jsonrepair_rs::jsonrepair_value(text) {
        Ok(value @ Value::Object(_)) => Some((value, true)),
        _ => None,
    }
}

fn depth(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut deepest = 0;
    for byte in text.bytes() {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

fn conclude(
    steps: &[StepId],
    value: Value,
    language: Language,
) -> Result<Vec<Conclusion>, Vec<String>> {
    match steps {
        [step] => Ok(vec![one(*step, value, language)?]),
        _ => {
            let Value::Object(mut parts) = value else {
                return Err(vec![text!("不是对象", "not an object").into(language)]);
            };
            let mut part = |step: &StepId| match parts.remove(step.id()) {
                Some(value) => one(*step, value, language),
                None => {
                    let id = step.id();
                    Err(vec![
                        text!("缺少 `{id}`", "`{id}` is missing").into(language),
                    ])
                }
            };
            steps.iter().map(&mut part).collect()
        }
    }
}

fn one(step: StepId, mut value: Value, language: Language) -> Result<Conclusion, Vec<String>> {
    let accepted = schema::accepted(step);
    fill_gaps(&mut value, accepted);
    schema::finish(&mut value);
    let mut errors = validate::faults(&value, accepted, language);
    errors.truncate(ERRORS_QUOTED);
    if !errors.is_empty() {
        return Err(errors);
    }
    Conclusion::from_value(step, value).map_err(|e| vec![e.to_string()])
}

/// Fills in optional values that a model left out: lists become empty, nullable values null. Drops
/// properties that the schema does not know.
fn fill_gaps(value: &mut Value, schema: &Value) {
    if let (Value::Object(map), Some(Value::Object(properties))) =
        (&mut *value, schema.get("properties"))
    {
        map.retain(|name, _| properties.contains_key(name));
        add_missing(map, properties);
        for (name, inner) in map.iter_mut() {
            fill_gaps(inner, &properties[name]);
        }
    }
    if let (Value::Array(items), Some(schema)) = (value, schema.get("items")) {
        items.iter_mut().for_each(|item| fill_gaps(item, schema));
    }
}

fn add_missing(map: &mut Map<String, Value>, properties: &Map<String, Value>) {
    for (name, schema) in properties {
        if map.contains_key(name) {
            continue;
        }
        let types = &schema["type"];
        if *types == "array" {
            map.insert(name.clone(), Value::Array(Vec::new()));
        } else if types.as_array().is_some_and(|t| t.contains(&"null".into())) {
            map.insert(name.clone(), Value::Null);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_named_in_the_language_of_the_run() {
        let both = [StepId::Classify, StepId::KeyCode];
        for answer in ["none", "{}", "{\"think1\": 5}"] {
            for language in [Language::Zh, Language::En] {
                let faults = read(&both, answer, language).expect_err("it is faulty");
                for fault in faults {
                    assert_eq!(Language::of(&fault), language, "{answer}: {fault}");
                }
            }
        }
    }
}
