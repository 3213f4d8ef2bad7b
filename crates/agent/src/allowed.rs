//! The ids and names that an answer may use: the enums of its schema, and the values of obvious aliases.

use llm::Mask;
use report::{Cause, RuleResult, Suggestion};
use serde_json::Value;

use crate::facts::StepInput;
use crate::merge::union;
use crate::wording::words;

/// Values of an enum beyond which a schema lists none: providers limit them.
const MOST: usize = 150;

/// The values that a step may refer to, by kind.
#[derive(Debug, Default)]
pub(crate) struct Allowed {
    pub(crate) findings: Vec<String>,
    pub(crate) evidence: Vec<String>,
    pub(crate) suggestions: Vec<String>,
    pub(crate) causes: Vec<String>,
    pub(crate) chunks: Vec<String>,
    pub(crate) files: Vec<String>,
    pub(crate) stages: Vec<String>,
}

impl Allowed {
    pub(crate) fn of(input: &StepInput) -> Allowed {
        let (found, outline) = (&input.facts.found, &input.facts.outline);
        let findings = found.findings.iter();
        let causes = findings.clone().map(|f| f.cause.code());
        let causes = causes.chain(found.causes(RuleResult::Abstained));
        let sources = input.suggestions.iter().flat_map(|s| &s.sources);
        let chunks = input.experiences.iter().map(|p| &p.chunk).chain(sources);
        let missing = found.missing.iter().map(|m| &m.information.file);
        let unread = outline.unread.iter().map(|u| &u.file);
        let files = unread.chain(&input.reading.read).chain(missing);
        Allowed {
            findings: findings.map(|f| f.id.clone()).collect(),
            evidence: union(Vec::new(), input.cited().map(|e| e.id.clone())),
            suggestions: input.suggestions.iter().map(|s| s.id.clone()).collect(),
            causes: union(Vec::new(), causes.map(str::to_owned)),
            chunks: union(Vec::new(), chunks.cloned()),
            files: union(Vec::new(), files.cloned()),
            stages: union(Vec::new(), outline.stages.iter().map(|s| s.name.clone())),
        }
    }

    /// The values of a property of a conclusion; `None` where any text will do.
    pub(crate) fn of_property(&self, name: &str) -> Option<&[String]> {
        Some(match name {
            "finding" | "findings" => &self.findings,
            "evidence" => &self.evidence,
            "suggestion" => &self.suggestions,
            "cause" => &self.causes,
            "experiences" => &self.chunks,
            "file" => &self.files,
            "stage" => &self.stages,
            _ => return None,
        })
    }

    /// Lists the values in a schema, as they are called in the prompt. With `closes`, a property without values takes none: null, or an
    /// empty list.
    pub(crate) fn restrict(&self, schema: &mut Value, mask: Option<&Mask>, closes: bool) {
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            for (name, inner) in properties.iter_mut() {
                match self.of_property(name) {
                    Some([]) if closes => close(inner),
                    Some(values) if (1..=MOST).contains(&values.len()) => {
                        list(inner, values, mask);
                    }
                    _ => {}
                }
                self.restrict(inner, mask, closes);
            }
        }
        if let Some(items) = schema.get_mut("items") {
            self.restrict(items, mask, closes);
            // No entry can be made if all its possible subjects are missing.
            let mut properties = items["properties"].as_object().into_iter().flatten();
            let lacks = |(name, inner): (&String, &Value)| {
                inner["type"] == "string" && self.of_property(name).is_some_and(<[_]>::is_empty)
            };
            if closes && properties.any(lacks) {
                close(schema);
            }
        }
    }
}

/// Allows only an empty list, or null.
fn close(schema: &mut Value) {
    if schema["type"] == "array" {
        schema["maxItems"] = 0.into();
    } else if may_be_null(schema) {
        schema["enum"] = [Value::Null][..].into();
    }
}

fn may_be_null(schema: &Value) -> bool {
    let types = schema["type"].as_array();
    types.is_some_and(|types| types.contains(&"null".into()))
}

fn list(schema: &mut Value, values: &[String], mask: Option<&Mask>) {
    let shown = |value: &String| match mask {
        Some(mask) => mask.hide(value),
        None => value.clone(),
    };
    let mut all: Vec<Value> = values.iter().map(|v| shown(v).into()).collect();
    if schema["type"] == "array" {
        schema["items"]["enum"] = all.into();
        return;
    }
    if may_be_null(schema) {
        all.push(Value::Null);
    }
    schema["enum"] = all.into();
}

/// Characters that models put around an id.
const AROUND: &[char] = &[
    '[', ']', '(', ')', '`', '"', '\'', ' ', '【', '】', '（', '）', ':', '：', '.',
];

impl Allowed {
    /// The value that a text stands for: itself, or the only one that it contains. `None` if it is not clear.
    fn alias<'v>(raw: &str, values: &'v [String]) -> Option<&'v String> {
        let bare = raw.trim_matches(AROUND);
        let same = |value: &&String| value.eq_ignore_ascii_case(bare);
        if let Some(value) = values.iter().find(same) {
            return Some(value);
        }
        // The first id counts: `S1 (hint, fixes F1)`.
        let mut named = words(bare).filter_map(|(_, word)| values.iter().find(|v| *v == word));
        if let Some(value) = named.next() {
            return Some(value);
        }
        // A path that is longer or shorter than ours.
        let ends = |long: &str, short: &str| {
            let rest = long.strip_suffix(short);
            !short.is_empty() && rest.is_some_and(|rest| rest.ends_with('/'))
        };
        only(values.iter().filter(|v| ends(v, bare) || ends(bare, v)))
    }

    /// The value of a property that a text stands for.
    pub(crate) fn resolve(&self, property: &str, raw: &str, input: &StepInput) -> Option<String> {
        match property {
            "finding" | "findings" => self.finding(raw, input),
            "suggestion" => self.suggestion(raw, input),
            "cause" => self.cause(raw, input),
            "stage" => {
                let bare = raw.split_once('[').map_or(raw, |(name, _)| name);
                Self::alias(bare, &self.stages).cloned()
            }
            other => Self::alias(raw, self.of_property(other)?).cloned(),
        }
    }

    /// A finding by its id, or by its cause if no other has it.
    fn finding(&self, raw: &str, input: &StepInput) -> Option<String> {
        if let Some(id) = Self::alias(raw, &self.findings) {
            return Some(id.clone());
        }
        let cause = cause_in(raw)?;
        let findings = &input.facts.found.findings;
        Some(
            only(findings.iter().filter(|f| f.cause == cause))?
                .id
                .clone(),
        )
    }

    /// A suggestion by its id or title, or by what it fixes if no other does.
    fn suggestion(&self, raw: &str, input: &StepInput) -> Option<String> {
        if let Some(id) = Self::alias(raw, &self.suggestions) {
            return Some(id.clone());
        }
        let lower = raw.trim().to_lowercase();
        let titled = input.suggestions.iter().find(|s| {
            let title = s.title.to_lowercase();
            !lower.is_empty() && (title == lower || lower.len() > 12 && title.contains(&lower))
        });
        if let Some(suggestion) = titled {
            return Some(suggestion.id.clone());
        }
        let finding = self.finding(raw, input)?;
        let fixes = |s: &&Suggestion| s.finding.as_ref() == Some(&finding);
        Some(only(input.suggestions.iter().filter(fixes))?.id.clone())
    }

    /// A cause by its code, its title, or the finding that has it.
    fn cause(&self, raw: &str, input: &StepInput) -> Option<String> {
        let cause = cause_in(raw).or_else(|| {
            let id = Self::alias(raw, &self.findings)?;
            input.facts.found.finding(id).map(|f| f.cause)
        });
        cause.map(|cause| cause.code().to_owned())
    }
}

/// The item of an iterator that has no other.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next()?;
    items.next().is_none().then_some(first)
}

/// The cause that a text names by its code, the last part of it, or its title.
fn cause_in(raw: &str) -> Option<Cause> {
    let coded = words(raw).find_map(|(_, word)| Cause::from_code(word));
    let bare = raw.trim_matches(AROUND).to_lowercase();
    let named = || {
        Cause::ALL.iter().copied().find(|cause| {
            let title = cause.title();
            let last = cause.code().split('.').nth(1);
            last == Some(bare.as_str()) || title.en == bare || title.zh == bare
        })
    };
    coded.or_else(named)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::schema;
    use crate::step::StepId;

    #[test]
    fn lists_about_nothing_are_empty_and_no_enum_is() {
        let allowed = Allowed {
            stages: vec!["SV1_Extract".to_owned()],
            ..Allowed::default()
        };
        let mut causes = schema(StepId::Experience).clone();
        allowed.restrict(&mut causes, None, true);
        assert_eq!(causes["properties"]["causes"]["maxItems"], 0);
        let mut code = schema(StepId::KeyCode).clone();
        allowed.restrict(&mut code, None, true);
        let modules = &code["properties"]["modules"];
        assert_eq!(modules.get("maxItems"), None);
        let module = &modules["items"]["properties"];
        assert_eq!(module["finding"]["enum"], json!([null]));
        assert_eq!(module["stage"]["enum"], json!(["SV1_Extract", null]));
        for schema in [causes, code] {
            assert!(!schema.to_string().contains("\"enum\":[]"), "{schema}");
        }
    }
}
