//! Checks an answer against a schema of [`schema`](crate::schema). It knows only the keywords that those schemas use;
//! a general validator took a tenth of the program's build time.

use report::{Language, Text, text};
use serde_json::Value;

/// The faults of a value, each with its place as a JSON pointer.
pub(super) fn faults(value: &Value, schema: &Value, language: Language) -> Vec<String> {
    let mut faults = Vec::new();
    check(value, schema, "", &mut faults);
    let place = |(place, fault): (String, Text)| {
        let fault = match place.is_empty() {
            true => fault,
            false => text!("{place}：{fault}", "{place}: {fault}", fault = fault),
        };
        fault.into(language)
    };
    faults.into_iter().map(place).collect()
}

fn is_valid(value: &Value, schema: &Value) -> bool {
    let mut faults = Vec::new();
    check(value, schema, "", &mut faults);
    faults.is_empty()
}

/// Adds each fault with its place.
fn check(value: &Value, schema: &Value, place: &str, faults: &mut Vec<(String, Text)>) {
    let mut fault = |fault: Text| faults.push((place.to_owned(), fault));
    let types: Vec<&str> = match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    };
    if !types.is_empty() && !types.iter().any(|name| has_type(value, name)) {
        let plural = if types.len() > 1 { "types" } else { "type" };
        let types = quoted(&types);
        return fault(text!(
            "值的类型不是 {types}",
            "value is not of {plural} {types}",
            types = types
        ));
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        let names: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
        fault(text!(
            "值不是 {names} 之一",
            "value is not one of {names}",
            names = quoted(&names)
        ));
    }
    if let Some(expected) = schema.get("const")
        && expected != value
    {
        let expected = expected.to_string();
        fault(text!(
            "值应为 {expected}",
            "value was expected to be {expected}"
        ));
    }
    for (keyword, most) in [("anyOf", usize::MAX), ("oneOf", 1)] {
        let Some(options) = schema[keyword].as_array() else {
            continue;
        };
        let fitting = options.iter().filter(|o| is_valid(value, o));
        match fitting.count() {
            0 => fault(text!(
                "值不符合 '{keyword}' 列出的任何一种 schema",
                "value is not valid under any of the schemas listed in the '{keyword}' keyword"
            )),
            n if n > most => fault(text!(
                "值符合 'oneOf' 列出的多种 schema",
                "value is valid under more than one of the schemas listed in the 'oneOf' keyword"
            )),
            _ => {}
        }
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        if value.is_object() && name.as_str().is_some_and(|name| value.get(name).is_none()) {
            let name = name.to_string();
            fault(text!(
                "缺少必需的属性 {name}",
                "{name} is a required property"
            ));
        }
    }
    for (name, inner) in value.as_object().into_iter().flatten() {
        match schema["properties"].get(name) {
            Some(schema) => check(inner, schema, &format!("{place}/{name}"), faults),
            None if schema["additionalProperties"] == false => {
                let fault = text!("不允许有这个属性", "this property is not allowed");
                faults.push((format!("{place}/{name}"), fault));
            }
            None => {}
        }
    }
    if let Some(schema) = schema.get("items") {
        for (index, item) in value.as_array().into_iter().flatten().enumerate() {
            check(item, schema, &format!("{place}/{index}"), faults);
        }
    }
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0)
        }
        _ => false,
    }
}

fn quoted(names: &[&str]) -> Text {
    let names = names.iter().map(|name| text!("\"{name}\"", "\"{name}\""));
    Text::joined(&names.collect::<Vec<_>>(), ["、", ", "])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema;
    use crate::step::StepId;

    #[test]
    fn each_keyword_is_checked() {
        let schema = json!({
            "type": "object", "required": ["kind", "also"], "additionalProperties": false,
            "properties": {
                "kind": { "enum": ["a", "b"] },
                "also": { "type": "array", "items": { "type": ["integer", "null"] } },
                "part": { "anyOf": [{ "type": "null" }, { "type": "string" }] },
                "form": { "oneOf": [{ "const": "c" }, { "enum": ["d", "e"] }, { "type": "integer" }, { "type": "number" }] },
            },
        });
        for (value, expected) in [
            (
                json!({ "kind": "a", "also": [1, null], "part": null }),
                vec![],
            ),
            (json!(5), vec!["value is not of type \"object\""]),
            (
                json!({ "kind": "a" }),
                vec!["\"also\" is a required property"],
            ),
            (
                json!({ "kind": "c", "also": [] }),
                vec!["/kind: value is not one of \"a\", \"b\""],
            ),
            (json!({ "kind": "a", "also": [], "form": "d" }), vec![]),
            (
                json!({ "kind": "a", "also": [], "form": "f" }),
                vec![
                    "/form: value is not valid under any of the schemas listed in the 'oneOf' keyword",
                ],
            ),
            (
                json!({ "kind": "a", "also": [], "form": 1 }),
                vec![
                    "/form: value is valid under more than one of the schemas listed in the 'oneOf' keyword",
                ],
            ),
            (
                json!({ "kind": "a", "also": [1, 0.5] }),
                vec!["/also/1: value is not of types \"integer\", \"null\""],
            ),
            (
                json!({ "kind": "a", "also": [], "part": 1, "x": 1 }),
                vec![
                    "/part: value is not valid under any of the schemas listed in the 'anyOf' keyword",
                    "/x: this property is not allowed",
                ],
            ),
        ] {
            assert_eq!(faults(&value, &schema, Language::En), expected, "{value}");
        }
    }

    #[test]
    fn a_chinese_run_is_told_in_chinese() {
        let schema = json!({
            "type": "object", "required": ["kind"], "additionalProperties": false,
            "properties": {
                "kind": { "enum": ["a", "b"] }, "exact": { "const": 1 },
                "part": { "anyOf": [{ "type": "null" }, { "type": "string" }] },
                "form": { "oneOf": [{ "type": "integer" }, { "type": "number" }] },
            },
        });
        let wrong = json!({ "kind": "c", "exact": 2, "part": 1, "form": 1, "other": 1 });
        for value in [json!(5), json!({}), wrong] {
            let faults = faults(&value, &schema, Language::Zh);
            assert!(!faults.is_empty());
            for fault in faults {
                assert_eq!(Language::of(&fault), Language::Zh, "{fault}");
            }
        }
    }

    #[test]
    fn the_schemas_use_no_other_keyword() {
        fn keywords(schema: &Value, found: &mut Vec<String>) {
            for (word, inner) in schema.as_object().into_iter().flatten() {
                found.push(word.clone());
                match word.as_str() {
                    "properties" => inner
                        .as_object()
                        .into_iter()
                        .flatten()
                        .for_each(|(_, inner)| keywords(inner, found)),
                    "anyOf" | "oneOf" => inner
                        .as_array()
                        .into_iter()
                        .flatten()
                        .for_each(|inner| keywords(inner, found)),
                    "items" => keywords(inner, found),
                    _ => {}
                }
            }
        }
        const CHECKED: &[&str] = &[
            "type",
            "enum",
            "anyOf",
            "oneOf",
            "const",
            "required",
            "properties",
            "additionalProperties",
            "items",
            "description",
        ];
        let mut found = Vec::new();
        use StepId::{Advice, Classify, Completeness, Experience, Hypotheses, KeyCode};
        for step in [
            Classify,
            KeyCode,
            Experience,
            Completeness,
            Advice,
            Hypotheses,
        ] {
            keywords(schema::schema(step), &mut found);
        }
        found.retain(|word| !CHECKED.contains(&word.as_str()));
        assert!(found.is_empty(), "{found:?}");
    }
}
