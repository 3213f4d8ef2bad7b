//! `Error`, `[n]_error.txt`, `errorMessage` of a REST answer: the error that made the job fail.

use serde_json::Value;

use super::{Input, count};
use crate::bounds::Quota;
use crate::json;
use crate::model::{Job, JobError};
use crate::text::head;

/// Bytes kept of one text; stacks may be long.
const MAX_TEXT: usize = 64 << 10;

/// Characters kept of a row.
const MAX_ROW: usize = 2_000;

/// Reads an error file; one that is not JSON is kept as text.
pub(crate) fn read(input: &Input<'_>, job: &mut Job) {
    if !input.text.trim_start().starts_with(['{', '[']) {
        job.failed_with(input.name, [plain(input)]);
        return;
    }
    let (value, fault) = json::parse(input.text);
    match &value {
        Some(Value::Array(all)) => {
            let errors = all.iter().filter_map(|v| from_json(input.name, v));
            job.failed_with(input.name, errors);
        }
        Some(value) => job.failed_with(input.name, from_json(input.name, value)),
        None => job.failed_with(input.name, [plain(input)]),
    }
    job.fault(input.name, fault);
}

impl Job {
    /// Adds errors from a file.
    pub(super) fn failed_with(&mut self, file: &str, errors: impl IntoIterator<Item = JobError>) {
        for error in errors {
            if !self.keeps(Quota::Errors, 1, file) {
                break;
            }
            self.errors.push(error);
        }
    }
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

/// An error object. The innermost of its nested errors is used first: an outer one only reports a
/// failed vertex.
pub(crate) fn from_json(file: &str, value: &Value) -> Option<JobError> {
    value.as_object()?;
    let chain: Vec<&Value> = chain(value).collect();
    let field = |of: &Value, name: &str| {
        let text = of.get(name).and_then(json::text);
        text.map(|text| head(&text, MAX_TEXT).to_owned())
    };
    let text = |name: &str| chain.iter().rev().find_map(|error| field(error, name));
    let number = |name: &str| {
        chain
            .iter()
            .rev()
            .find_map(|e| e.get(name).and_then(json::count))
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
        script_line: number("lineNumber")
            .and_then(|n| u32::try_from(n).ok())
            .filter(|line| *line > 0),
        ..JobError::default()
    };
    if error.id.is_none() && error.message.is_empty() {
        return None;
    }
    locate(&mut error);
    let outer = chain.split_last().map_or(&[][..], |(_, outer)| outer);
    let outer = outer.iter().rev();
    let said = outer.flat_map(|e| ["description", "message"].map(|name| field(e, name)));
    let said: Vec<String> = said.flatten().collect();
    error.stage = error
        .stage
        .or_else(|| said.iter().find_map(|text| stage_in(text)));
    if chain.len() > 1 {
        let message = Some(error.message.clone()).filter(|m| !m.is_empty());
        error.exception = error.exception.or(message);
    }
    Some(error)
}

/// An error and its inner errors, the innermost last.
fn chain(value: &Value) -> impl Iterator<Item = &Value> {
    /// Maximum depth; deeper nesting is not from a job.
    const MOST: usize = 50;
    std::iter::successors(Some(value), |at| inner(at)).take(MOST)
}

fn inner(error: &Value) -> Option<&Value> {
    error.get("innerError").filter(|inner| inner.is_object())
}

/// Finds the stage, the class and line of the generated code, and the expression in the
/// texts of an error.
fn locate(error: &mut JobError) {
    let texts = [&error.internal, &error.details, &error.description];
    let all: Vec<&str> = texts.into_iter().flatten().map(String::as_str).collect();
    let texts = all.iter().copied().chain([error.message.as_str()]);
    error.stage = texts.into_iter().find_map(stage_in);
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
    let lines = || all.iter().flat_map(|text| text.lines()).map(str::trim);
    let named = |what: &str| lines().find_map(|l| Some(after(l, what)?.to_owned()));
    error.vertex = named("Failed vertex:");
    error.machine = named("Machine:");
    error.exception = exception(lines());
    error.frame = stack_frame(lines());
    error.row = all.iter().find_map(|text| row(text));
}

/// The text after the last `label` in a line.
fn after<'a>(line: &'a str, label: &str) -> Option<&'a str> {
    let text = line.rsplit_once(label)?.1.trim();
    (!text.is_empty()).then_some(text)
}

/// The innermost exception: .NET prints it behind the last `--->`; else the caught one. Its message
/// may be in another text.
fn exception<'a>(lines: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
    let thrown = lines.clone().filter_map(|line| {
        ["--->", "==== Caught exception ", "Unhandled Exception:"]
            .iter()
            .find_map(|label| after(line, label))
    });
    let said = lines
        .clone()
        .find_map(|line| after(line, "Inner exception from user expression:"));
    match (thrown.last(), said) {
        (Some(thrown), Some(said)) if !thrown.contains(':') => Some(format!("{thrown}: {said}")),
        (thrown, said) => thrown.or(said).map(str::to_owned),
    }
}

/// The first frame of generated or user code, the innermost being first.
fn stack_frame<'a>(lines: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
    let frames = || lines.clone().filter_map(|l| l.strip_prefix("at "));
    let generated = frames().find(|f| f.contains("__ScopeCodeGen__"));
    let platform = |f: &str| {
        f.starts_with("System.")
            || f.starts_with("Microsoft.") && !f.contains(".Samples.")
            || f.contains("ScopeEngine")
    };
    let own = || frames().find(|f| !platform(f));
    let frame = generated.or_else(own)?;
    let method = frame.split('(').next()?.rsplit('.').next()?;
    // an iterator runs in `MoveNext` of a class that is named after the method
    let method = match frame.split_once('<').and_then(|(_, m)| m.split_once('>')) {
        Some((iterated, _)) if method == "MoveNext" => iterated,
        _ => method,
    };
    let name = format!("{}.{method}", class_of(frame)?);
    let place = frame.rsplit_once(") in ").map(|(_, place)| place);
    let file = place.and_then(|p| p.rsplit(['\\', '/']).next());
    Some(match file {
        Some(file) => format!("{name} ({})", file.replacen(":line ", ":", 1)),
        None => name,
    })
}

/// The row that follows `Current row dump:`, one column a line.
fn row(text: &str) -> Option<String> {
    let (_, dump) = text.split_once("Current row dump:")?;
    let columns = dump
        .lines()
        .map(str::trim)
        .take_while(|l| !l.starts_with("===="));
    let columns: Vec<String> = columns
        .filter(|l| !l.is_empty())
        .map(|l| l.replacen(":\t", ": ", 1))
        .collect();
    (!columns.is_empty()).then(|| head(&columns.join(", "), MAX_ROW).to_owned())
}

/// The first stage that a text names.
fn stage_in(text: &str) -> Option<String> {
    let mut words = text.split(|c: char| c.is_whitespace() || ":,;'\"()".contains(c));
    words.find_map(stage)
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
        assert_eq!(got.vertex.as_deref(), Some("SV2_Reduce[8] v3"));
        assert_eq!(got.machine.as_deref(), Some("m"));
        assert_eq!(
            got.frame.as_deref(),
            Some("SqlFilterTransformer_3.Process (__ScopeCodeGen__.dll.cs:73)")
        );
    }

    #[test]
    fn the_innermost_exception_and_the_row_are_kept() {
        let got = error(
            r#"{"errorId":"E_RUNTIME_USER_X","message":"m",
            "description":"Inner exception from user expression: Bad input.\nCurrent row dump: \tId:\t3365\r\n\tName:\t\"a: b\"\r\n",
            "details":"==== Caught exception System.FormatException\n   at Shop.Reader.<Reduce>d__0.MoveNext()"}"#,
        );
        let exception = "System.FormatException: Bad input.";
        assert_eq!(got.exception.as_deref(), Some(exception));
        assert_eq!(got.row.as_deref(), Some("Id: 3365, Name: \"a: b\""));
        assert_eq!(got.frame.as_deref(), Some("Reader.Reduce"));
        let got = error("failed\nA.B: outer ---> C.D: inner ---> E.F: innermost\n at x");
        assert_eq!(got.exception.as_deref(), Some("E.F: innermost"));
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
