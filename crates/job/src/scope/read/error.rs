//! `Error`, `[n]_error.txt`, `errorMessage` of a REST answer: what made the job fail.

use serde_json::Value;

use super::{Input, count};
use crate::json;
use crate::model::{Job, JobError};
use crate::text::head;

/// Stacks may be long; no more of one text is kept.
const MAX_TEXT: usize = 64 << 10;

/// Reads an error file; one that is not JSON is kept as text.
pub(crate) fn read(input: &Input<'_>, job: &mut Job) {
    if !input.text.trim_start().starts_with(['{', '[']) {
        job.errors.push(plain(input));
        return;
    }
    let (value, fault) = json::parse(input.text);
    match &value {
        Some(Value::Array(all)) => {
            job.errors
                .extend(all.iter().filter_map(|v| from_json(input.name, v)));
        }
        Some(value) => job.errors.extend(from_json(input.name, value)),
        None => job.errors.push(plain(input)),
    }
    job.fault(input.name, fault);
}

/// An error that is not JSON: its first line, and the error id in it.
fn plain(input: &Input<'_>) -> JobError {
    let text = head(input.text.trim(), MAX_TEXT);
    let id = text
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .find(|word| word.starts_with("E_") && word.len() > 4);
    let mut error = JobError {
        file: input.name.to_owned(),
        id: id.map(str::to_owned),
        message: text.lines().next().unwrap_or_default().to_owned(),
        details: Some(text.to_owned()),
        ..JobError::default()
    };
    locate(&mut error);
    error
}

/// An error object; its inner error fills what it leaves out.
pub(crate) fn from_json(file: &str, value: &Value) -> Option<JobError> {
    let object = value.as_object()?;
    let inner = object.get("innerError").filter(|v| v.is_object());
    let text = |name: &str| {
        let own = object.get(name).and_then(json::text);
        own.or_else(|| inner?.get(name).and_then(json::text))
            .map(|text| head(&text, MAX_TEXT).to_owned())
    };
    let mut error = JobError {
        file: file.to_owned(),
        id: text("errorId"),
        origin: text("source"),
        component: text("component"),
        message: text("message")
            .or_else(|| text("description"))
            .unwrap_or_default(),
        description: text("description"),
        details: text("details"),
        internal: text("internalDiagnostics"),
        resolution: text("resolution"),
        script_file: text("filePath"),
        script_line: object
            .get("lineNumber")
            .and_then(json::count)
            .and_then(|n| u32::try_from(n).ok())
            .filter(|line| *line > 0),
        ..JobError::default()
    };
    if error.id.is_none() && error.message.is_empty() {
        return None;
    }
    locate(&mut error);
    Some(error)
}

/// Finds in the texts of an error the stage, the class and line of the generated code, and the
/// expression.
fn locate(error: &mut JobError) {
    let texts = [&error.internal, &error.details, &error.description];
    let all: Vec<&str> = texts.into_iter().flatten().map(String::as_str).collect();
    error.stage = all
        .iter()
        .copied()
        .chain([error.message.as_str()])
        .find_map(|text| {
            text.split(|c: char| c.is_whitespace() || ":,;'\"()".contains(c))
                .find_map(stage)
        });
    let frame = all
        .iter()
        .find_map(|text| text.lines().find(|l| l.contains("__ScopeCodeGen__.dll.cs")));
    if let Some(frame) = frame {
        error.codegen_line = frame.rsplit_once(":line ").and_then(|(_, n)| {
            count(n.split(|c: char| !c.is_ascii_digit()).next()?)
                .and_then(|n| u32::try_from(n).ok())
        });
        error.class_name = frame.trim_start().strip_prefix("at ").and_then(class_of);
    }
    let expression = error
        .message
        .strip_prefix("Error while evaluating expression ");
    error.expression = expression.map(|text| text.trim().to_owned());
}

/// `SV2_Reduce[8]`, `SV2_Reduce`: a stage by the grammar of their names.
fn stage(word: &str) -> Option<String> {
    let name = word.split('[').next()?;
    let digits = name.strip_prefix("SV")?;
    let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    let shape = rest.len() < digits.len() && (rest.is_empty() || rest.starts_with('_'));
    shape.then(|| name.trim_end_matches('.').to_owned())
}

/// Class of a stack frame: `Outer.SqlFilterTransformer_3.Process(IRow inRow, …) in …`.
fn class_of(frame: &str) -> Option<String> {
    let method = frame.split('(').next()?;
    let class = method.rsplit_once('.')?.0;
    // an iterator or lambda is a nested class: `SessionReducer.<Reduce>d__0.MoveNext`
    let outer = class.split(".<").next()?.split('+').next()?;
    let name = outer.rsplit('.').next()?;
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> JobError {
        let mut job = Job::default();
        read(&Input::new("Error", text), &mut job);
        job.errors.remove(0)
    }

    #[test]
    fn a_stack_names_class_line_and_stage() {
        let got = error(
            r#"{"errorId":"E_RUNTIME_USER_X","source":"User","message":"Error while evaluating expression a.B(c)",
            "details":"==== Caught\n\n   at System.Number.Parse()\r\n   at ___Scope_Generated_Classes___.SqlFilterTransformer_3.Process(IRow a, B c) in c:\\d\\__ScopeCodeGen__.dll.cs:line 73\r\n",
            "internalDiagnostics":"Failed vertex: SV2_Reduce[8] v3\nMachine: m","lineNumber":29,"filePath":"scope.script","resolution":""}"#,
        );
        assert_eq!(got.class_name.as_deref(), Some("SqlFilterTransformer_3"));
        assert_eq!((got.codegen_line, got.script_line), (Some(73), Some(29)));
        assert_eq!(got.stage.as_deref(), Some("SV2_Reduce"));
        assert_eq!(got.expression.as_deref(), Some("a.B(c)"));
        assert_eq!(got.resolution, None);
    }

    #[test]
    fn nested_classes_belong_to_the_outer_one() {
        assert_eq!(
            class_of("SessionReducer.<Reduce>d__0.MoveNext() in x").as_deref(),
            Some("SessionReducer")
        );
        assert_eq!(class_of("A.B.C.M(x)").as_deref(), Some("C"));
        assert_eq!(class_of("M()"), None);
    }

    #[test]
    fn text_and_broken_json_are_kept() {
        let got = error("job failed: E_CSC_USER_SYNTAXERROR at SV1_Extract[0]\nmore");
        assert_eq!(got.id.as_deref(), Some("E_CSC_USER_SYNTAXERROR"));
        assert_eq!(got.stage.as_deref(), Some("SV1_Extract"));
        let got = error(r#"{"errorId":"E_A","message":"m","details":"cut"#);
        assert_eq!(got.id.as_deref(), Some("E_A"));
        assert_eq!(got.message, "m");
    }
}
