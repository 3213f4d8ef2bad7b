//! What the compiler says: `__Warnings__.xml`, `CompileResult`, `CommonCompileResult`,
//! `__CompilerTimers.xml`.

use super::{Input, count, truth};
use crate::model::{CompileResult, CompiledOutput, CompilerWarning, Job, JobError};
use crate::time::span_seconds;
use crate::xml::{Node, tree};

/// Warnings kept: more of them would not help.
const MAX_WARNINGS: usize = 1_000;

/// Reads warnings; their fields may be elements or attributes.
pub(crate) fn read(input: &Input<'_>, job: &mut Job) {
    let (document, fault) = tree(input.text);
    let all = document.descendants();
    let warnings = all
        .iter()
        .filter(|n| n.name.eq_ignore_ascii_case("Warning"));
    job.warnings
        .extend(warnings.take(MAX_WARNINGS).map(|w| warning(w)));
    job.fault(input.name, fault);
}

fn warning(node: &Node) -> CompilerWarning {
    let text = |name: &str| node.field(name).map(str::to_owned);
    CompilerWarning {
        id: text("id").unwrap_or_default(),
        severity: text("severity"),
        message: text("message").or_else(|| Some(node.text.clone()).filter(|t| !t.is_empty())),
        location: text("location"),
        solution: text("solution"),
        occurrences: node
            .field("occurrences")
            .and_then(count)
            .and_then(|n| u32::try_from(n).ok()),
    }
}

/// Reads either form of a compile result: inputs, outputs, errors, warnings.
pub(crate) fn compile_result(input: &Input<'_>, job: &mut Job) {
    let (document, fault) = tree(input.text);
    for root in &document.children {
        let result = job.compile.get_or_insert_with(|| CompileResult {
            file: input.name.to_owned(),
            ..CompileResult::default()
        });
        streams(root, result);
        let errors: Vec<JobError> = errors(input.name, root);
        let known = |e: &JobError| job.errors.iter().any(|old| old.message == e.message);
        let new: Vec<JobError> = errors.into_iter().filter(|e| !known(e)).collect();
        job.errors.extend(new);
        if let Some(list) = root.child("WarningList") {
            job.warnings
                .extend(list.children.iter().take(MAX_WARNINGS).map(warning));
        }
    }
    job.fault(input.name, fault);
}

fn streams(root: &Node, result: &mut CompileResult) {
    let script = root.field("scriptPath").map(str::to_owned);
    result.script_path = script.or(result.script_path.take());
    let mut add_input = |path: &str| {
        if !path.is_empty() && !result.inputs.iter().any(|old| old == path) {
            result.inputs.push(path.to_owned());
        }
    };
    for node in root.child("InputStreams").map_or(&[][..], |n| &n.children) {
        add_input(&node.text);
    }
    let manifest = root.child("Manifest");
    for node in manifest
        .into_iter()
        .flat_map(|m| m.all("Input"))
        .flat_map(Node::descendants)
    {
        add_input(node.field("path").unwrap_or(&node.text));
    }
    let listed = root.child("OutputStreams").map_or(&[][..], |n| &n.children);
    let of_manifest = manifest
        .into_iter()
        .flat_map(|m| m.all("Output"))
        .flat_map(Node::descendants);
    for node in listed.iter().chain(of_manifest) {
        let Some(path) = node
            .field("Path")
            .or(Some(node.text.as_str()).filter(|t| !t.is_empty()))
        else {
            continue;
        };
        if !result.outputs.iter().any(|old| old.path == path) {
            result.outputs.push(CompiledOutput {
                path: path.to_owned(),
                schema: node
                    .field("SchemaString")
                    .or_else(|| node.field("schema"))
                    .map(str::to_owned),
                structured: node.field("IsSStream").map(truth),
            });
        }
    }
}

/// Errors of a failed compilation: `Error/{Start,End,Message}` or the items of `ErrorList`.
fn errors(file: &str, root: &Node) -> Vec<JobError> {
    let direct = root.all("Error");
    let listed = root
        .child("ErrorList")
        .map_or(&[][..], |n| &n.children)
        .iter();
    direct
        .chain(listed)
        .filter_map(|node| {
            let all = node.descendants();
            let text = |names: &[&str]| {
                names
                    .iter()
                    .find_map(|name| all.iter().find_map(|n| n.field(name)))
            };
            let message = text(&["Message", "Description"])
                .or(Some(node.text.as_str()).filter(|t| !t.is_empty()))?;
            let id = text(&["ErrorId", "Id"]).or_else(|| {
                message
                    .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                    .find(|w| w.starts_with("E_CSC_"))
            });
            Some(JobError {
                file: file.to_owned(),
                id: id.map(str::to_owned),
                component: Some("COMPILER".to_owned()),
                message: message.lines().next().unwrap_or_default().to_owned(),
                description: Some(message.to_owned()),
                details: text(&["Details"]).map(str::to_owned),
                resolution: text(&["Resolution"]).map(str::to_owned),
                script_line: text(&["Line", "LineNumber"])
                    .and_then(count)
                    .or_else(|| line_in(message))
                    .and_then(|n| u32::try_from(n).ok())
                    .filter(|n| *n > 0),
                ..JobError::default()
            })
        })
        .collect()
}

/// `… at line 12, column 3 …`
fn line_in(message: &str) -> Option<u64> {
    let lower = message.to_ascii_lowercase();
    let rest = &lower[lower.find("line ")? + "line ".len()..];
    count(rest.split(|c: char| !c.is_ascii_digit()).next()?)
}

/// Reads the compiler's timers in whatever form: a name, and milliseconds or a time span.
pub(crate) fn compiler_timers(input: &Input<'_>, job: &mut Job) {
    let (document, fault) = tree(input.text);
    for node in document.descendants() {
        let ms = ["ms", "milliseconds", "value", "elapsed", "time"]
            .iter()
            .find_map(|field| {
                let text = node.field(field)?;
                super::number(text).or_else(|| span_seconds(text).map(|s| s * 1e3))
            });
        let named = node
            .field("name")
            .or(Some(node.name.as_str()).filter(|n| !n.is_empty()));
        job.compiler_timers.extend(named.map(str::to_owned).zip(ms));
    }
    job.fault(input.name, fault);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_in_both_forms() {
        let text = "<Warnings><Warning id='132 x' severity='2'><message>m</message></Warning><Warning><id>7</id><occurrences>3</occurrences></Warning></Warnings>";
        let mut job = Job::default();
        read(&Input::new("w.xml", text), &mut job);
        assert_eq!(job.warnings[0].message.as_deref(), Some("m"));
        assert_eq!(job.warnings[1].id, "7");
        assert_eq!(job.warnings[1].occurrences, Some(3));
    }

    #[test]
    fn a_failed_compilation_names_its_line() {
        let text = "<CompileResult scriptPath='a.usql'><Error><Start>1</Start><Message>E_CSC_USER_SYNTAXERROR: bad token at line 12, column 3\nmore</Message></Error></CompileResult>";
        let mut job = Job::default();
        compile_result(&Input::new("r.xml", text), &mut job);
        let error = &job.errors[0];
        assert_eq!(error.id.as_deref(), Some("E_CSC_USER_SYNTAXERROR"));
        assert_eq!(error.script_line, Some(12));
        assert_eq!(
            job.compile.and_then(|c| c.script_path).as_deref(),
            Some("a.usql")
        );
    }

    #[test]
    fn timers() {
        let mut job = Job::default();
        let text = "<CompilerTimers><Timer name='Total' ms='41'/><Timer name='B' time='00:00:02'/></CompilerTimers>";
        compiler_timers(&Input::new("t.xml", text), &mut job);
        assert_eq!(job.compiler_timers["Total"], 41.0);
        assert_eq!(job.compiler_timers["B"], 2_000.0);
    }
}
