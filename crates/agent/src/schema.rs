//! The JSON Schema that an LLM must follow, made from the types of [`conclusion`](crate::conclusion), in the strict form that
//! every provider takes: each property required, no others allowed, nothing by reference. What a field holds is said in the
//! language of the prompt.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use report::Language;
use schemars::JsonSchema;
use serde_json::Value;

use crate::allowed::Allowed;
use crate::conclusion::{Advice, Causes, Classification, FileRequest, Hypotheses, KeyCode, Reply};
use crate::facts::StepInput;
use crate::step::StepId;

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

static ACCEPTED: LazyLock<BTreeMap<StepId, Value>> = LazyLock::new(|| {
    let mut schemas = SCHEMAS.clone();
    for schema in schemas.values_mut() {
        if let Some(required) = schema["required"].as_array_mut() {
            required.retain(|name| name != "answer");
        }
    }
    schemas
});

/// Schema of a step's conclusion.
pub(crate) fn schema(step: StepId) -> &'static Value {
    &SCHEMAS[&step]
}

/// Schema that the conclusion of a step is read by. Advice may lack the answer: the program answers too, and transcripts of
/// earlier versions have none.
pub(crate) fn accepted(step: StepId) -> &'static Value {
    &ACCEPTED[&step]
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

/// Schema of an answer that holds the conclusions of the steps, each under its id if there are several.
pub(crate) fn schema_of(steps: &[StepId], language: Language) -> Value {
    let mut schema = match steps {
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
    };
    localize(&mut schema, language);
    schema
}

/// The same with the ids and names of a job listed where they are asked for.
pub(crate) fn schema_for(steps: &[StepId], input: &StepInput) -> Value {
    let mut schema = schema_of(steps, input.facts.language);
    Allowed::of(input).restrict(&mut schema, input);
    schema
}

/// Puts the descriptions of a schema into a language.
pub(crate) fn localize(schema: &mut Value, language: Language) {
    if language == Language::Zh {
        translate(schema);
    }
}

fn translate(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::String(text)) = map.get_mut("description")
                && let Some((_, zh)) = CHINESE.iter().find(|(en, _)| en == text)
            {
                *text = (*zh).to_owned();
            }
            map.values_mut().for_each(translate);
        }
        Value::Array(items) => items.iter_mut().for_each(translate),
        _ => {}
    }
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

/// Turns an enum whose constants have descriptions into a plain `enum`: not every provider takes `const`, and the prompt explains
/// the values in its language. Constants without a description come as an `enum` among the others.
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

/// The descriptions in Chinese.
const CHINESE: &[(&str, &str)] = &[
    (
        "THINK 1: what class of problem it is.",
        "THINK 1：问题属于哪一类。",
    ),
    (
        "Class of the main problem; `none` for a healthy job.",
        "主要问题的类别；作业正常时为 `none`。",
    ),
    ("Further classes that are present.", "同时存在的其他类别。"),
    ("Class of a problem.", "问题类别。"),
    (
        "Ids of the findings that the class rests on.",
        "作为依据的发现编号。",
    ),
    (
        "Ids of the evidence that the class rests on.",
        "作为依据的证据编号。",
    ),
    ("Ids of the experience chunks that fit.", "适用的经验编号。"),
    (
        "Prose in the report's language, two to five sentences.",
        "用中文写两到五句话。",
    ),
    ("THINK 2: which code matters.", "THINK 2：哪些代码是关键。"),
    (
        "Statements, operators or classes that matter, most important first.",
        "关键的语句、算子或类，最重要的在前。",
    ),
    ("Prose in the report's language.", "用中文说明。"),
    ("A piece of code that matters.", "一处关键代码。"),
    (
        "Rowset, statement, operator or class by its name in the job.",
        "行集、语句、算子或类在作业中的名称。",
    ),
    (
        "First script line; null if not located.",
        "脚本中的首行；未定位时为 null。",
    ),
    (
        "Last script line; null if not located.",
        "脚本中的末行；未定位时为 null。",
    ),
    (
        "Stage that runs it; null if not known.",
        "运行它的阶段；未知时为 null。",
    ),
    (
        "Id of the finding that it belongs to; null for none.",
        "所属发现的编号；没有则为 null。",
    ),
    (
        "Why it matters, in the report's language.",
        "为什么关键，用中文。",
    ),
    (
        "THINK 3: causes in the light of experience.",
        "THINK 3：结合经验分析原因。",
    ),
    (
        "One entry per cause, most important first.",
        "每个原因一项，最重要的在前。",
    ),
    (
        "The case for and against a cause.",
        "一个原因的依据和反证。",
    ),
    ("Code of the cause.", "原因代码。"),
    (
        "Id of the finding; null if no rule found it.",
        "发现的编号；不是规则发现的则为 null。",
    ),
    (
        "How it arises in this job, in the report's language.",
        "在本作业中怎样形成，用中文。",
    ),
    (
        "Counter-evidence, found or possible, in the report's language; null for none.",
        "已有或可能的反证，用中文；没有则为 null。",
    ),
    ("Ids of evidence.", "证据编号。"),
    ("Ids of experience chunks.", "经验编号。"),
    (
        "THINK 4: whether more files are needed, and which.",
        "THINK 4：是否还需要文件，需要哪些。",
    ),
    (
        "Whether files are needed before advice can be given.",
        "给出建议之前是否还需要文件。",
    ),
    (
        "Files to read, at most three, most important first.",
        "要读取的文件，最多三个，最重要的在前。",
    ),
    ("Other look-ups.", "其他查询。"),
    (
        "Aspects that stay unknown, in the report's language.",
        "仍然未知的方面，用中文。",
    ),
    (
        "Why these, or why none, in the report's language.",
        "为什么需要这些，或为什么不需要，用中文。",
    ),
    (
        "A file with the reason for reading it.",
        "要读取的文件及原因。",
    ),
    ("Name as listed.", "列表中的文件名。"),
    (
        "Which part: a stage, operator, table or class by name; lines of its text such as `120-180`; `raw` for the text from its beginning; null for a digest of all.",
        "哪一部分：阶段、算子、表或类的名称；原文的行号，如 `120-180`；`raw` 表示从头给出原文；null 表示全部内容的摘要。",
    ),
    (
        "What it would decide, in the report's language.",
        "它能判定什么，用中文。",
    ),
    (
        "A look-up that THINK 4 may ask for besides files.",
        "THINK 4 除文件外可以请求的查询。",
    ),
    ("Which tool.", "使用哪个工具。"),
    (
        "Lines `12-18`, a table, a class, or search words, as the tool wants.",
        "按工具要求：行号（如 `12-18`）、表名、类名或检索词。",
    ),
    ("Tools besides reading files.", "读取文件以外的工具。"),
    (
        "Statements, hints and data flow of the script (argument: lines, or nothing).",
        "脚本的语句、提示和数据流（参数：行号，可以为空）。",
    ),
    (
        "Rows, bytes, layout and frequent values of a table (argument: its name).",
        "表的行数、字节数、存储方式和高频值（参数：表名）。",
    ),
    (
        "Generated C# and the script expressions behind it (argument: a class, or nothing).",
        "生成的 C# 代码及对应的脚本表达式（参数：类名，可以为空）。",
    ),
    (
        "Experience (argument: search words).",
        "检索经验（参数：检索词）。",
    ),
    ("THINK 5: what to change.", "THINK 5：该改什么。"),
    (
        "The checked suggestions in the order in which they should be done.",
        "已核对的建议，按实施顺序排列。",
    ),
    (
        "Further changes that no rule proposed; empty for none.",
        "规则没有给出的其他改动；没有则留空。",
    ),
    (
        "Prose in the report's language: what to do first, and what it costs.",
        "用中文说明先做什么、有什么代价。",
    ),
    ("The answer to the user's question.", "对用户问题的回答。"),
    (
        "The answer first, then its reasons, in the report's language; empty if nothing was asked.",
        "先给出回答，再说明理由，用中文；没有提问时留空。",
    ),
    ("A checked suggestion, weighed.", "对一条已核对建议的权衡。"),
    ("Id of the suggestion.", "建议编号。"),
    ("Why, in the report's language.", "理由，用中文。"),
    (
        "What it costs or risks, in the report's language.",
        "代价和风险，用中文。",
    ),
    (
        "A change that the LLM proposes by itself.",
        "模型自己提出的改动。",
    ),
    (
        "Id of the finding that it would fix; null for none.",
        "所解决的发现编号；没有则为 null。",
    ),
    ("What to do, in one line.", "一句话说明做什么。"),
    ("How to do it.", "怎样做。"),
    (
        "Unified diff of the script; null where it is no change of the script.",
        "脚本的 unified diff；不改脚本时为 null。",
    ),
    ("Advantages.", "优点。"),
    ("Drawbacks.", "缺点。"),
    ("The appendix: open hypotheses.", "附录：假设推理。"),
    ("Most plausible first.", "最可信的在前。"),
    (
        "A supposed cause and how to check it.",
        "一个假设及验证方式。",
    ),
    ("What is supposed.", "假设的内容。"),
    ("How to check it.", "验证方式。"),
    (
        "File that decides it; null if none does.",
        "能验证它的文件；没有则为 null。",
    ),
    ("What the check said.", "验证结果。"),
    ("Ids of evidence for the result.", "结果所依据的证据编号。"),
    (
        "The result of checking a hypothesis.",
        "验证一个假设的结果。",
    ),
    ("Arguments of `submit_check`.", "`submit_check` 的参数。"),
    (
        "Whether the information suffices for advice.",
        "信息是否足以给出建议。",
    ),
    (
        "Why the information suffices, or which part is missing, in the report's language.",
        "为什么充足，或还缺什么，用中文。",
    ),
    (
        "At most three, most important first.",
        "最多三个，最重要的在前。",
    ),
    (
        "Lines `12-18`, a table, a class, or search words; empty for all.",
        "行号（如 `12-18`）、表名、类名或检索词；留空表示全部。",
    ),
];

/// The descriptions in a schema.
#[cfg(test)]
pub(crate) fn descriptions(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(map) => {
            let own = map.get("description").and_then(Value::as_str);
            found.extend(own.map(str::to_owned));
            map.values().for_each(|inner| descriptions(inner, found));
        }
        Value::Array(items) => items.iter().for_each(|item| descriptions(item, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_described_in_the_language_of_the_prompt() {
        let steps = StepId::THINK
            .into_iter()
            .chain([StepId::Hypotheses, StepId::Answer]);
        let steps: Vec<StepId> = steps.collect();
        for (language, said) in [(Language::Zh, "Chinese"), (Language::En, "English")] {
            let mut found = Vec::new();
            let schema = schema_of(&steps, language);
            assert!(!schema.to_string().contains("\"const\""), "{schema}");
            descriptions(&schema, &mut found);
            assert!(found.len() > 40);
            found.retain(|text| Language::of(text) != language);
            assert!(found.is_empty(), "not in {said}: {found:?}");
        }
    }
}
