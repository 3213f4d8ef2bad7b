//! Compiler output: `CompileResult` and `CommonCompileResult` for their errors. Warnings, timers, plan and
//! syntax tree are only checked: rules ask whether they exist.

use serde::de::IgnoredAny;

use super::{Input, count};
use crate::bounds::Quota;
use crate::json;
use crate::model::{Job, JobError};
use crate::problem::Problem;
use crate::xml::{Node, tree, walk};

/// Reads the errors of either form of a compile result.
pub(crate) fn result(input: &Input<'_>, job: &mut Job) {
    let (document, fault) = tree(input.text);
    let roots = document.children.iter();
    for error in roots.flat_map(|root| errors(input.name, root)) {
        let known = job.errors.iter().any(|old| old.message == error.message);
        if !known && job.keeps(Quota::Errors, 1, input.name) {
            job.errors.push(error);
        }
    }
    job.fault(input.name, fault);
}

pub(crate) fn xml(input: &Input<'_>, job: &mut Job) {
    job.fault(input.name, walk(input.text, |_| {}));
}

/// Checks `__CompilerPlan.json`: one object per compilation, or (2016) a list of objects without brackets.
pub(crate) fn plan(input: &Input<'_>, job: &mut Job) {
    let list = format!("[{}]", input.text.trim().trim_end_matches(','));
    let mut stream = serde_json::Deserializer::from_str(input.text).into_iter::<IgnoredAny>();
    if serde_json::from_str::<IgnoredAny>(&list).is_err() && !stream.any(|plan| plan.is_ok()) {
        job.fault(input.name, json::parse(input.text).1);
    }
}

/// Checks `__AST.json`; the older form is not JSON.
pub(crate) fn syntax_tree(input: &Input<'_>, job: &mut Job) {
    if !input.text.contains("Statement\"") {
        job.note(input.name, None, &Problem::NoStatement);
    }
}

/// Errors of a failed compilation: `Error/{Start,End,Message}` or the items of `ErrorList`.
fn errors(file: &str, root: &Node) -> Vec<JobError> {
    let list = root.child("ErrorList").map_or(&[][..], |n| &n.children);
    let nodes = root.all("Error").chain(list);
    nodes.filter_map(|node| error(file, node)).collect()
}

fn error(file: &str, node: &Node) -> Option<JobError> {
    let all = node.descendants();
    let of_name = |name: &&str| all.iter().find_map(|n| n.field(name));
    let text = |names: &[&str]| names.iter().find_map(of_name);
    let own = Some(node.text.as_str()).filter(|text| !text.is_empty());
    let message = text(&["Message", "Description"]).or(own)?;
    let mut words = message.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let id = text(&["ErrorId", "Id"]).or_else(|| words.find(|w| w.starts_with("E_CSC_")));
    let line = text(&["Line", "LineNumber"]).and_then(count);
    let line = line.or_else(|| line_in(message)).filter(|n| *n > 0);
    Some(JobError {
        file: file.to_owned(),
        id: id.map(str::to_owned),
        component: Some("COMPILER".to_owned()),
        message: message.lines().next().unwrap_or_default().to_owned(),
        description: Some(message.to_owned()),
        details: text(&["Details"]).map(str::to_owned),
        resolution: text(&["Resolution"]).map(str::to_owned),
        script_line: line.and_then(|n| u32::try_from(n).ok()),
        ..JobError::default()
    })
}

/// `… at line 12, column 3 …`
fn line_in(message: &str) -> Option<u64> {
    let lower = message.to_ascii_lowercase();
    let rest = &lower[lower.find("line ")? + "line ".len()..];
    count(rest.split(|c: char| !c.is_ascii_digit()).next()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_compilation_names_its_line() {
        let text = "<CompileResult scriptPath='a.usql'><Error><Start>1</Start><Message>E_CSC_USER_SYNTAXERROR: bad token at line 12, column 3\nmore</Message></Error></CompileResult>";
        let mut job = Job::default();
        result(&Input::new("r.xml", text), &mut job);
        result(&Input::new("again.xml", text), &mut job);
        let [error] = job.errors.as_slice() else {
            panic!("{:?}", job.errors);
        };
        assert_eq!(error.id.as_deref(), Some("E_CSC_USER_SYNTAXERROR"));
        assert_eq!(error.script_line, Some(12));
    }

    #[test]
    fn what_is_cut_or_empty_is_reported() {
        type Check = fn(&Input<'_>, &mut Job);
        for (check, good, bad) in [
            (xml as Check, "<W><Warning id='1'/></W>", "<W><Warning"),
            (xml, "<Vertex name='a'/>\n<Vertex/>", "<Vertex>"),
            (
                plan,
                "{\"Settings\":\"-a\"}\n{\"Settings\":\"-b\"}",
                "{\"Set",
            ),
            (plan, "{ \"CompilerPlanStart\":\"x\" }, { },", "x"),
            (
                syntax_tree,
                "{\"type\":\"UseStatement\"}",
                "{\"Batch\":{\"x\"",
            ),
            (
                syntax_tree,
                "\"Batch\":\n{\n\"QueryStatement\":\n{\n}",
                "\"Batch\":",
            ),
        ] {
            for (text, reported) in [(good, 0), (bad, 1)] {
                let mut job = Job::default();
                check(&Input::new("f", text), &mut job);
                assert_eq!(job.diagnostics.len(), reported, "{text}");
            }
        }
    }
}
