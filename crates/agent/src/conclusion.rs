//! The structured conclusion of each step: what the reasoners fill, what memory keeps and what a
//! report shows. The JSON Schema that an LLM must follow is made from these types.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::step::StepId;
use report::ProblemType;

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Conclusion {
    /// Of THINK 1.
    Classify(Classification),
    /// Of THINK 2.
    KeyCode(KeyCode),
    /// Of THINK 3.
    Experience(Causes),
    /// Of one round of THINK 4.
    Completeness(FileRequest),
    /// Of THINK 5.
    Advice(Advice),
    /// Of the appendix.
    Hypotheses(Hypotheses),
}

/// THINK 1: what class of problem it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Classification {
    /// Class of the main problem; `none` for a healthy job.
    pub problem_type: ProblemType,
    /// Further classes that are present.
    #[serde(default)]
    pub also: Vec<ProblemType>,
    /// Ids of the findings that the class rests on.
    #[serde(default)]
    pub findings: Vec<String>,
    /// Ids of the evidence that the class rests on.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// Ids of the experience chunks that fit.
    #[serde(default)]
    pub experiences: Vec<String>,
    /// Prose in the report's language, two to five sentences.
    pub text: String,
}

/// THINK 2: which code matters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KeyCode {
    /// Statements, operators or classes that matter, most important first.
    #[serde(default)]
    pub modules: Vec<Module>,
    /// Ids of the experience chunks that fit.
    #[serde(default)]
    pub experiences: Vec<String>,
    /// Prose in the report's language.
    pub text: String,
}

/// A piece of code that matters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Module {
    /// Rowset, statement, operator or class by its name in the job.
    pub name: String,
    /// First script line; null if not located.
    #[serde(default)]
    pub first_line: Option<u32>,
    /// Last script line; null if not located.
    #[serde(default)]
    pub last_line: Option<u32>,
    /// Stage that runs it; null if not known.
    #[serde(default)]
    pub stage: Option<String>,
    /// Id of the finding that it belongs to; null for none.
    #[serde(default)]
    pub finding: Option<String>,
    /// Why it matters, in the report's language.
    pub role: String,
}

/// THINK 3: causes in the light of experience.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Causes {
    /// One entry per cause, most important first.
    #[serde(default)]
    pub causes: Vec<CauseAnalysis>,
    /// Prose in the report's language.
    pub text: String,
}

/// The case for and against a cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CauseAnalysis {
    /// Code of the cause.
    pub cause: String,
    /// Id of the finding; null if no rule found it.
    #[serde(default)]
    pub finding: Option<String>,
    /// How it arises in this job, in the report's language.
    pub explanation: String,
    /// Counter-evidence, found or possible, in the report's language; null for none.
    #[serde(default)]
    pub against: Option<String>,
    /// Ids of evidence.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// Ids of experience chunks.
    #[serde(default)]
    pub experiences: Vec<String>,
}

/// THINK 4: whether more files are needed, and which.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct FileRequest {
    /// Whether files are needed before advice can be given.
    pub needs_files: bool,
    /// Files to read, at most three, most important first.
    #[serde(default)]
    pub files: Vec<WantedFile>,
    /// Other look-ups.
    #[serde(default)]
    pub lookups: Vec<Lookup>,
    /// Ids of the experience chunks that fit.
    #[serde(default)]
    pub experiences: Vec<String>,
    /// Why these, or why none, in the report's language.
    pub basis: String,
}

/// A file with the reason for reading it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WantedFile {
    /// Name as listed.
    pub file: String,
    /// What it would decide, in the report's language.
    pub reason: String,
}

/// A look-up that THINK 4 may ask for besides files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lookup {
    /// Which tool.
    pub tool: Tool,
    /// Lines `12-18`, a table, a class, or search words, as the tool wants.
    pub argument: String,
}

/// Tools besides reading files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    /// Statements, hints and data flow of the script (argument: lines, or nothing).
    AnalyzeScript,
    /// Rows, bytes, layout and frequent values of a table (argument: its name).
    TableMetadata,
    /// Generated C# and the script expressions behind it (argument: a class, or nothing).
    ExplainCodegen,
    /// Experience (argument: search words).
    SearchExperience,
}

/// THINK 5: what to change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Advice {
    /// The checked suggestions in the order in which they should be done.
    #[serde(default)]
    pub recommendations: Vec<Recommendation>,
    /// Further changes that no rule proposed; empty for none.
    #[serde(default)]
    pub additional: Vec<Proposal>,
    /// Prose in the report's language: what to do first, and what it costs.
    pub text: String,
}

/// A checked suggestion, weighed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Recommendation {
    /// Id of the suggestion.
    pub suggestion: String,
    /// Why, in the report's language.
    pub why: String,
    /// What it costs or risks, in the report's language.
    pub trade_offs: String,
    /// Ids of evidence.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// Ids of experience chunks.
    #[serde(default)]
    pub experiences: Vec<String>,
}

/// A change that the LLM proposes by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Proposal {
    /// Id of the finding that it would fix; null for none.
    #[serde(default)]
    pub finding: Option<String>,
    /// What to do, in one line.
    pub title: String,
    /// How to do it.
    pub steps: Vec<String>,
    /// Unified diff of the script; null where it is no change of the script.
    #[serde(default)]
    pub diff: Option<String>,
    /// Advantages.
    #[serde(default)]
    pub pros: Vec<String>,
    /// Drawbacks.
    #[serde(default)]
    pub cons: Vec<String>,
    /// Ids of evidence.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// Ids of experience chunks.
    #[serde(default)]
    pub experiences: Vec<String>,
}

/// The appendix: open hypotheses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hypotheses {
    /// Most plausible first.
    #[serde(default)]
    pub hypotheses: Vec<Hypothesis>,
    /// Prose in the report's language.
    pub text: String,
}

/// A supposed cause and how to check it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hypothesis {
    /// What is supposed.
    pub hypothesis: String,
    /// How to check it.
    pub check: String,
    /// File that decides it; null if none does.
    #[serde(default)]
    pub file: Option<String>,
    /// What the check said.
    pub result: HypothesisResult,
    /// Ids of evidence for the result.
    #[serde(default)]
    pub evidence: Vec<String>,
}

/// The result of checking a hypothesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HypothesisResult {
    /// The facts show it.
    Confirmed,
    /// The facts contradict it.
    Refuted,
    /// A fact is missing.
    Open,
}

impl Conclusion {
    /// The conclusion as reports and memory hold it.
    pub fn to_value(&self) -> Value {
        serde_json::to_value(self).unwrap_or(Value::Null)
    }

    pub fn text(&self) -> &str {
        match self {
            Conclusion::Classify(c) => &c.text,
            Conclusion::KeyCode(c) => &c.text,
            Conclusion::Experience(c) => &c.text,
            Conclusion::Completeness(c) => &c.basis,
            Conclusion::Advice(c) => &c.text,
            Conclusion::Hypotheses(c) => &c.text,
        }
    }

    /// Reads the conclusion of a step.
    pub fn from_value(step: StepId, value: Value) -> Result<Conclusion, serde_json::Error> {
        Ok(match step {
            StepId::Classify => Conclusion::Classify(serde_json::from_value(value)?),
            StepId::KeyCode => Conclusion::KeyCode(serde_json::from_value(value)?),
            StepId::Experience => Conclusion::Experience(serde_json::from_value(value)?),
            StepId::Completeness => Conclusion::Completeness(serde_json::from_value(value)?),
            StepId::Advice => Conclusion::Advice(serde_json::from_value(value)?),
            StepId::Hypotheses => Conclusion::Hypotheses(serde_json::from_value(value)?),
        })
    }
}

/// JSON Schema of a step's conclusion in the strict form that every provider takes: each property
/// required, no others allowed, nothing by reference.
pub fn schema(step: StepId) -> Value {
    match step {
        StepId::Classify => strict_schema_of::<Classification>(),
        StepId::KeyCode => strict_schema_of::<KeyCode>(),
        StepId::Experience => strict_schema_of::<Causes>(),
        StepId::Completeness => strict_schema_of::<FileRequest>(),
        StepId::Advice => strict_schema_of::<Advice>(),
        StepId::Hypotheses => strict_schema_of::<Hypotheses>(),
    }
}

/// The strict schema of a type.
pub(crate) fn strict_schema_of<T: JsonSchema>() -> Value {
    let generator = schemars::generate::SchemaSettings::draft2020_12()
        .with(|s| {
            s.inline_subschemas = true;
            s.meta_schema = None;
        })
        .into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    make_strict(&mut schema);
    schema
}

/// Schema of an answer that holds the conclusions of several steps, each under its id.
pub fn schema_of(steps: &[StepId]) -> Value {
    if let [one] = steps {
        return schema(*one);
    }
    let ids: Vec<&str> = steps.iter().map(|s| s.id()).collect();
    let properties: serde_json::Map<String, Value> = steps
        .iter()
        .map(|s| (s.id().to_owned(), schema(*s)))
        .collect();
    serde_json::json!({
        "type": "object", "properties": properties, "required": ids, "additionalProperties": false
    })
}

/// Keywords that strict modes refuse, and that say nothing the description does not.
const UNSUPPORTED: &[&str] = &[
    "default", "format", "minimum", "maximum", "$schema", "title",
];

fn make_strict(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if map.get("properties").is_some_and(Value::is_object) {
                let names: Vec<Value> = map["properties"]
                    .as_object()
                    .into_iter()
                    .flatten()
                    .map(|(k, _)| k.clone().into())
                    .collect();
                map.insert("required".to_owned(), Value::Array(names));
                map.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
            if let Some(Value::Object(properties)) = map.get_mut("properties") {
                properties.values_mut().for_each(make_strict);
            }
            // `title` is also the name of a property; only the keyword goes.
            for word in UNSUPPORTED {
                if !(*word == "title" && map.get("title").is_some_and(Value::is_object)) {
                    map.remove(*word);
                }
            }
            flatten_constants(map);
            for (key, value) in map.iter_mut() {
                if key != "properties" {
                    make_strict(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(make_strict),
        _ => {}
    }
}

/// Turns `oneOf` constants with descriptions into a plain `enum`: not every provider takes `const`.
fn flatten_constants(map: &mut serde_json::Map<String, Value>) {
    let Some(Value::Array(options)) = map.get("oneOf") else {
        return;
    };
    let constants: Option<Vec<Value>> = options.iter().map(|o| o.get("const").cloned()).collect();
    if let Some(constants) = constants {
        map.remove("oneOf");
        map.insert("type".to_owned(), "string".into());
        map.insert("enum".to_owned(), Value::Array(constants));
    }
}
