//! The tools of THINK 4: their names and schemas, the parsing of calls, and the look-ups.
//!
//! This module only parses a call; the chain serves it, so that every form of request has the same
//! bounds and none reaches outside the job folder.

pub(crate) mod digest;
mod lookup;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::conclusion::{FileRequest, Lookup, Tool, WantedFile};
use crate::schema;
use llm::{ToolCall, ToolSpec};
use report::format::Names;
use report::{Language, Text, text};

pub(crate) use lookup::{excerpt, look_up, name, show, shown_name};

/// The tool that ends THINK 4.
pub(crate) const SUBMIT: &str = "submit_check";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ToolRequest {
    ListFiles,
    Read(Vec<WantedFile>),
    LookUp(Lookup),
    /// The end of the step.
    Submit(Check),
}

/// Arguments of `submit_check`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub(crate) struct Check {
    /// Whether the information suffices for advice.
    pub(crate) sufficient: bool,
    /// Aspects that stay unknown, in the report's language.
    #[serde(default)]
    pub(crate) missing: Vec<String>,
    /// Ids of the experience chunks that fit.
    #[serde(default)]
    pub(crate) experiences: Vec<String>,
    /// Why the information suffices, or which part is missing, in the report's language.
    pub(crate) basis: String,
}

#[derive(Deserialize, JsonSchema)]
struct Files {
    /// At most three, most important first.
    files: Vec<WantedFile>,
}

#[derive(Deserialize, JsonSchema)]
struct Argument {
    /// Lines `12-18`, a table, a class, or search words; empty for all.
    #[serde(default)]
    argument: String,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// Each tool: its arguments, its name, and its description.
macro_rules! tools {
    ($($arguments:ident $name:literal $zh:literal, $en:literal;)*) => {
        /// The tools that THINK 4 offers, described in a language.
        pub(crate) fn offered(language: Language) -> Vec<ToolSpec> {
            vec![$(spec::<$arguments>($name, language.select($zh, $en))),*]
        }
    };
}

tools! {
    Nothing "list_files" "作业目录中的文件：大小、内容、是否已读。",
        "Files of the job folder: size, content, whether they have been read.";
    Files "read_files" "用解析器读取作业目录中的文件，每轮最多三个，最重要的在前。`file` 是列表中的文件名；`part` 为阶段、算子、表或类的名称、原文的行号（如 `120-180`）、表示从头给出原文的 `raw`，或表示全部内容摘要的 null；`reason` 是它能判定什么。",
        "Reads files of the job folder through their parsers, at most three a turn, most important first. `file` is a listed name; `part` the name of a stage, operator, table or class, lines of the text such as `120-180`, `raw` for the text from its beginning, or null for a digest of all; `reason` what it would decide.";
    Argument "analyze_script" "脚本的语句、提示和数据流；参数：行号（如 12-18）或行集，留空表示全部。",
        "Statements, hints and data flow of the script; argument: lines such as 12-18, a rowset, or empty for all.";
    Argument "table_metadata" "表的行数、字节数、存储方式和高频值；参数：表名，留空表示全部。",
        "Rows, bytes, layout and frequent values of a table; argument: its name, or empty for all.";
    Argument "explain_codegen" "C# 类、运行它的算子、对应的脚本表达式，以及每行的耗时操作；参数：类名（给出代码），留空表示全部。",
        "C# classes with the operators that run them, the script expressions behind them and what costs time per row; argument: a class for its body, or empty for all.";
    Argument "search_experience" "检索同类作业的经验；参数：检索词。",
        "Experience with such jobs; argument: search words.";
    Check "submit_check" "提交结论，结束这一步。",
        "Ends this step with its conclusion.";
}

fn spec<T: JsonSchema>(name: &str, description: &str) -> ToolSpec {
    let mut schema = schema::strict_schema_of::<T>();
    if schema.get("properties").is_none() {
        // Not every provider takes an object without them.
        schema["properties"] = serde_json::json!({});
        schema["required"] = serde_json::json!([]);
        schema["additionalProperties"] = false.into();
    }
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        schema,
    }
}

/// Reads a call.
///
/// # Errors
/// A sentence for the model that made it.
pub(crate) fn read(call: &ToolCall) -> Result<ToolRequest, Text> {
    let look_up = |tool| {
        let Argument { argument } = arguments(call)?;
        Ok(ToolRequest::LookUp(Lookup { tool, argument }))
    };
    match call.name.as_str() {
        "list_files" => Ok(ToolRequest::ListFiles),
        "read_files" => Ok(ToolRequest::Read(arguments::<Files>(call)?.files)),
        "analyze_script" => look_up(Tool::AnalyzeScript),
        "table_metadata" => look_up(Tool::TableMetadata),
        "explain_codegen" => look_up(Tool::ExplainCodegen),
        "search_experience" => look_up(Tool::SearchExperience),
        SUBMIT => Ok(ToolRequest::Submit(arguments(call)?)),
        other => {
            let offered = offered(Language::En);
            let known: Vec<&str> = offered.iter().map(|t| t.name.as_str()).collect();
            Err(text!(
                "没有工具 `{other}`；可用的有：{known}",
                "there is no tool `{other}`; there are {known}",
                known = Names(&known)
            ))
        }
    }
}

/// The calls of one answer as a request; `said` is the text next to them.
pub(crate) fn request_of(calls: &[ToolCall], said: &str) -> FileRequest {
    let mut request = FileRequest {
        needs_files: true,
        basis: said.to_owned(),
        ..FileRequest::default()
    };
    for call in calls {
        match read(call) {
            Ok(ToolRequest::Read(files)) => request.files.extend(files),
            Ok(ToolRequest::LookUp(lookup)) => request.lookups.push(lookup),
            Ok(ToolRequest::ListFiles | ToolRequest::Submit(_)) | Err(_) => {}
        }
    }
    request
}

/// The conclusion that a model hands in; `None` while it calls another tool.
pub(crate) fn submitted(calls: &[ToolCall]) -> Option<FileRequest> {
    let [call] = calls else { return None };
    match read(call) {
        Ok(ToolRequest::Submit(check)) => Some(check.into_request()),
        _ => None,
    }
}

impl Check {
    /// The same as a request without files.
    pub(crate) fn into_request(self) -> FileRequest {
        FileRequest {
            needs_files: !self.sufficient,
            missing: self.missing,
            experiences: self.experiences,
            basis: self.basis,
            ..FileRequest::default()
        }
    }
}

fn arguments<T: DeserializeOwned>(call: &ToolCall) -> Result<T, Text> {
    let value = match &call.arguments {
        // Some servers hand the arguments on as the text that the model wrote.
        Value::String(text) => serde_json::from_str(text).unwrap_or(Value::Null),
        Value::Null => Value::Object(serde_json::Map::new()),
        value => value.clone(),
    };
    serde_json::from_value(value).map_err(|error| {
        let error = error.to_string();
        text!(
            "参数不符合 schema：{error}",
            "the arguments do not follow the schema: {error}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn requested(name: &str, arguments: Value) -> Result<ToolRequest, Text> {
        read(&ToolCall {
            id: "1".to_owned(),
            name: name.to_owned(),
            arguments,
        })
    }

    #[test]
    fn every_tool_that_is_offered_can_be_called() {
        for tool in offered(Language::En) {
            assert_eq!(tool.schema["type"], "object", "{}", tool.name);
            assert_eq!(tool.schema["additionalProperties"], false, "{}", tool.name);
            let arguments = json!({
                "files": [{ "file": "profile", "reason": "rows" }], "argument": "12-18",
                "sufficient": true, "basis": "enough"
            });
            let requested = requested(&tool.name, arguments);
            assert!(requested.is_ok(), "{}: {requested:?}", tool.name);
        }
    }

    #[test]
    fn arguments_may_come_as_text_and_may_be_left_out() {
        let listed = requested("table_metadata", json!("{\"argument\": \"Clicks\"}"));
        let expected = Lookup {
            tool: Tool::TableMetadata,
            argument: "Clicks".to_owned(),
        };
        assert_eq!(listed, Ok(ToolRequest::LookUp(expected)));
        assert_eq!(
            requested("list_files", Value::Null),
            Ok(ToolRequest::ListFiles)
        );
        assert!(requested("analyze_script", Value::Null).is_ok());
    }

    #[test]
    fn mistakes_are_named_to_the_model() {
        let unknown = requested("read_registry", json!({})).expect_err("no such tool");
        let broken = requested("read_files", json!("{\"files\": [")).expect_err("no JSON");
        for (mistake, named) in [(unknown, "read_files"), (broken, "schema")] {
            assert!(mistake.en.contains(named) && mistake.zh.contains(named));
            assert_eq!(Language::of(&mistake.zh), Language::Zh, "{mistake:?}");
        }
    }

    #[test]
    fn tools_are_described_in_the_language_of_the_run() {
        let names = |language| offered(language).into_iter().map(|t| t.name);
        assert!(names(Language::Zh).eq(names(Language::En)));
        for language in [Language::Zh, Language::En] {
            let tools = offered(language).into_iter();
            let mut found: Vec<String> = tools.map(|tool| tool.description).collect();
            found.retain(|text| Language::of(text) != language);
            assert!(found.is_empty(), "{language:?}: {found:?}");
        }
    }
}
