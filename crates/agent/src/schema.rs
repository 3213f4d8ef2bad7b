//! The JSON Schema that an LLM must follow, made from the types of [`conclusion`](crate::conclusion), in the strict form that
//! every provider takes: each property required, no others allowed, no references. The prompt explains the fields.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use crate::allowed::Allowed;
use crate::conclusion::{Advice, Causes, Classification, FileRequest, Hypotheses, KeyCode, Reply};
use crate::facts::StepInput;
use crate::step::StepId;
use llm::Profile;

static SCHEMAS: LazyLock<BTreeMap<StepId, Value>> = LazyLock::new(|| {
    BTreeMap::from([
        (StepId::Classify, strict_schema_of::<Classification>()),
        (StepId::KeyCode, strict_schema_of::<KeyCode>()),
        (StepId::Experience, strict_schema_of::<Causes>()),
        (StepId::Completeness, strict_schema_of::<FileRequest>()),
        (StepId::Advice, strict_schema_of::<Advice>()),
        (StepId::Hypotheses, strict_schema_of::<Hypotheses>()),
        (StepId::Answer, strict_schema_of::<Reply>()),
    ])
});

/// Schema of a step's conclusion.
pub(crate) fn schema(step: StepId) -> &'static Value {
    &SCHEMAS[&step]
}

/// The strict schema of a type.
pub(crate) fn strict_schema_of<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let settings = settings.with_transform(RecursiveTransform(make_strict as fn(&mut Schema)));
    let generator = settings.into_generator();
    generator.into_root_schema_for::<T>().to_value()
}

/// Schema of an answer that holds the conclusions of the steps, each under its id if there are several.
pub(crate) fn schema_of(steps: &[StepId]) -> Value {
    match steps {
        [one] => schema(*one).clone(),
        _ => {
            let ids: Vec<&str> = steps.iter().map(|s| s.id()).collect();
            let properties: serde_json::Map<String, Value> = steps
                .iter()
                .map(|s| (s.id().to_owned(), schema(*s).clone()))
                .collect();
            serde_json::json!({
                "type": "object", "properties": properties, "required": ids, "additionalProperties": false
            })
        }
    }
}

/// The same with the ids and names of a job listed where they are asked for, and with limits where the server needs them.
pub(crate) fn schema_for(steps: &[StepId], input: &StepInput, profile: &Profile) -> Value {
    let mut schema = schema_of(steps);
    // Limits of lists are beyond the strict modes of some providers.
    let closes = profile.is_self_hosted();
    let mask = input.facts.mask.as_ref();
    Allowed::of(input).restrict(&mut schema, mask, closes);
    if closes {
        bound(&mut schema, TEXT);
    }
    let has_script = input.facts.outline.script.is_some();
    let diff = schema.pointer_mut("/properties/additional/items/properties/diff");
    if let Some(diff) = diff.filter(|_| closes && !has_script) {
        *diff = serde_json::json!({ "type": "null" });
    }
    schema
}

/// Characters of a conclusion's prose, of a diff, and of any other text: a small model that does not end by itself ends there.
const PROSE: usize = 900;
const DIFF: usize = 2000;
const TEXT: usize = 360;

/// Items of a list, and changes that the model proposes by itself.
const ITEMS: usize = 6;
const PROPOSALS: usize = 2;

/// Limits texts and lists, for servers that enforce a schema; their models may ramble.
fn bound(schema: &mut Value, most: usize) {
    let Some(map) = schema.as_object_mut() else {
        return;
    };
    let is = |name: &str| match map.get("type") {
        Some(Value::Array(types)) => types.contains(&name.into()),
        one => one.is_some_and(|one| one == name),
    };
    let (is_text, is_list) = (is("string") && !map.contains_key("enum"), is("array"));
    if is_text {
        map.insert("maxLength".to_owned(), most.into());
    }
    if is_list {
        map.entry("maxItems").or_insert(ITEMS.into());
    }
    for (name, inner) in map
        .get_mut("properties")
        .and_then(Value::as_object_mut)
        .into_iter()
        .flatten()
    {
        match name.as_str() {
            "diff" => bound(inner, DIFF),
            "text" | "basis" => bound(inner, PROSE),
            // Each proposal with its diff takes minutes.
            "additional" => {
                inner["maxItems"] = PROPOSALS.into();
                bound(inner, TEXT);
            }
            _ => bound(inner, TEXT),
        }
    }
    map.get_mut("items")
        .into_iter()
        .for_each(|items| bound(items, TEXT));
}

/// Drops the unfinished sentence of each text that ended at its limit.
pub(crate) fn finish(value: &mut Value) {
    match value {
        Value::String(text) => {
            let is_cut = [PROSE, TEXT].contains(&text.chars().count());
            let stops = ['.', '!', '?', '。', '！', '？'];
            if is_cut && !text.ends_with(stops) {
                // The point of a number ends no sentence.
                let is_end = |(at, stop): &(usize, &str)| {
                    !text[at + stop.len()..].starts_with(|c: char| c.is_ascii_alphanumeric())
                };
                let end = text.rmatch_indices(stops).find(is_end);
                text.truncate(end.map_or(0, |(at, stop)| at + stop.len()));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(finish),
        Value::Object(map) => map.values_mut().for_each(finish),
        _ => {}
    }
}

/// Keywords that strict modes refuse, and descriptions: the prompt explains each field in its language.
const UNSUPPORTED: &[&str] = &[
    "default",
    "description",
    "format",
    "minimum",
    "maximum",
    "$schema",
    "title",
];

fn make_strict(schema: &mut Schema) {
    let Some(map) = schema.as_object_mut() else {
        return;
    };
    if let Some(Value::Object(properties)) = map.get("properties") {
        let names = properties.keys().cloned().map(Value::from).collect();
        map.insert("required".to_owned(), Value::Array(names));
        map.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    UNSUPPORTED.iter().for_each(|word| drop(map.remove(*word)));
    flatten_constants(map);
}

/// Turns an enum with descriptions of its constants into a plain `enum`: not every provider takes `const`, and the prompt
/// explains the values in its language. Constants without a description come as an `enum` among the others.
fn flatten_constants(map: &mut serde_json::Map<String, Value>) {
    let Some(Value::Array(options)) = map.get("oneOf") else {
        return;
    };
    let values = |option: &Value| match (option.get("const"), option.get("enum")) {
        (Some(one), _) => Some(vec![one.clone()]),
        (None, several) => several?.as_array().cloned(),
    };
    let constants: Option<Vec<Vec<Value>>> = options.iter().map(values).collect();
    if let Some(constants) = constants {
        map.remove("oneOf");
        map.insert("type".to_owned(), "string".into());
        map.insert("enum".to_owned(), constants.concat().into());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use report::Language;

    use super::*;

    fn properties(schema: &Value, found: &mut BTreeSet<String>) {
        match schema {
            Value::Object(map) => {
                let own = map.get("properties").and_then(Value::as_object);
                found.extend(own.into_iter().flatten().map(|(name, _)| name.clone()));
                map.values().for_each(|inner| properties(inner, found));
            }
            Value::Array(items) => items.iter().for_each(|item| properties(item, found)),
            _ => {}
        }
    }

    #[test]
    fn texts_and_lists_are_limited_and_an_unfinished_sentence_goes() {
        let mut limited = schema(StepId::Advice).clone();
        bound(&mut limited, TEXT);
        let properties = &limited["properties"];
        assert_eq!(properties["text"]["maxLength"], PROSE);
        let proposals = &properties["additional"];
        assert_eq!(proposals["maxItems"], PROPOSALS);
        let proposal = &proposals["items"]["properties"];
        assert_eq!(proposal["steps"]["items"]["maxLength"], TEXT);
        assert_eq!(proposal["diff"]["maxLength"], DIFF);
        let endless = format!("One is 1.5 s. {}", "more ".repeat(TEXT));
        let cut: String = endless.chars().take(TEXT).collect();
        let mut answer =
            serde_json::json!({ "steps": [cut, "add a hint"], "title": "x".repeat(TEXT) });
        finish(&mut answer);
        assert_eq!(
            answer,
            serde_json::json!({ "steps": ["One is 1.5 s.", "add a hint"], "title": "" })
        );
    }

    #[test]
    fn the_prompt_of_a_step_explains_every_field_of_its_schema() {
        for step in StepId::THINK
            .into_iter()
            .chain([StepId::Hypotheses, StepId::Answer])
        {
            let mut fields = BTreeSet::new();
            properties(schema(step), &mut fields);
            assert!(!fields.is_empty());
            for language in [Language::Zh, Language::En] {
                let text = crate::prompts::source(language, step.id());
                let is_missing = |field: &&String| !text.contains(&format!("`{field}`"));
                let missing: Vec<&String> = fields.iter().filter(is_missing).collect();
                assert!(missing.is_empty(), "{step:?} {language:?}: {missing:?}");
            }
        }
    }
}
