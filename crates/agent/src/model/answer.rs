//! Reads a conclusion from a model's text: fences, thoughts, surrounding prose, broken JSON.
//!
//! The schema decides about every repaired answer. The chain checks that a file named by a repaired
//! answer exists.

use serde_json::Value;

use super::markers;
use crate::conclusion::{Conclusion, FileRequest};
use crate::schema;
use crate::step::StepId;
use crate::tools::Check;
use report::{Language, text};

/// Deepest nesting that is handed to the repair; conclusions nest five levels.
const MAX_DEPTH: usize = 64;

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
/// The fault in the language of the run, for a turn of repair.
pub(super) fn read(steps: &[StepId], text: &str, language: Language) -> Result<Read, String> {
    let answer = without_thoughts(text);
    let fault = match read_json(steps, answer, language) {
        Ok(read) => return Ok(read),
        Err(fault) => fault,
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
    Err(fault)
}

/// Reads the text of a model that might have called tools: a conclusion, the arguments of the tool
/// that ends the step, or plain words, which are its basis.
///
/// # Errors
/// The fault in the language of the run, for a turn of repair.
pub(super) fn read_beside_tools(
    steps: &[StepId],
    text: &str,
    language: Language,
) -> Result<Read, String> {
    let fault = match read(steps, text, language) {
        Ok(read) => return Ok(read),
        Err(fault) => fault,
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
    let (request, repaired) = handed_in.or_else(in_words).ok_or(fault)?;
    Ok(Read {
        conclusions: vec![Conclusion::Completeness(request)],
        repaired,
    })
}

fn read_json(steps: &[StepId], answer: &str, language: Language) -> Result<Read, String> {
    let mut fault = None;
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
            Err(error) => fault = fault.or(Some(error)),
        }
    }
    let no_object = text!("回答中没有 JSON 对象", "the answer holds no JSON object");
    Err(fault.unwrap_or_else(|| no_object.into(language)))
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
    mut value: Value,
    language: Language,
) -> Result<Vec<Conclusion>, String> {
    schema::finish(&mut value);
    let conclusion = |step: &StepId| {
        let part = match steps {
            [_] => value.take(),
            _ => value[step.id()].take(),
        };
        Conclusion::from_value(*step, part).map_err(|error| {
            let (step, error) = (step.id(), error.to_string());
            text!(
                "`{step}` 不符合 schema：{error}",
                "`{step}` does not follow the schema: {error}"
            )
            .into(language)
        })
    };
    steps.iter().map(conclusion).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_named_in_the_language_of_the_run() {
        let both = [StepId::Classify, StepId::KeyCode];
        for answer in ["none", "{}", "{\"think1\": 5}"] {
            for language in [Language::Zh, Language::En] {
                let fault = read(&both, answer, language).expect_err("it is faulty");
                assert_eq!(Language::of(&fault), language, "{answer}: {fault}");
            }
        }
    }
}
