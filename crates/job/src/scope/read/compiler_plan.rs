//! `__CompilerPlan.json`: settings of the compiler and the statements that it saw. Several plans
//! follow each other if the script was compiled repeatedly; the last one counts.

use serde_json::Value;

use super::Input;
use crate::json::{self, text};
use crate::model::{CompileResult, Job};

/// Reads either form: one object per compilation, or (2016) a list of objects without brackets.
pub(crate) fn read(input: &Input<'_>, job: &mut Job) {
    let mut plans: Vec<Value> = Vec::new();
    let whole = format!("[{}]", input.text.trim().trim_end_matches(','));
    match serde_json::from_str(&whole) {
        Ok(Value::Array(pieces)) => plans = pieces,
        Ok(_) | Err(_) => {
            let mut stream = serde_json::Deserializer::from_str(input.text).into_iter();
            plans.extend(stream.by_ref().map_while(Result::ok));
            if plans.is_empty() {
                job.fault(input.name, json::parse(input.text).1);
            }
        }
    }
    let result = job.compile.get_or_insert_with(|| CompileResult {
        file: input.name.to_owned(),
        ..CompileResult::default()
    });
    for plan in &plans {
        if let Some(settings) = plan.get("Settings").and_then(text) {
            result.settings = Some(settings);
            result.statements.clear();
        }
        let nodes = plan
            .get("planNodes")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        result.statements.extend(nodes.filter_map(|node| {
            let kind = node.get("NodeName").and_then(text)?;
            Some((
                kind,
                node.get("statementText").and_then(text).unwrap_or_default(),
            ))
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_compilation_counts() {
        let mut job = Job::default();
        let text = "{\"Settings\":\"-a\",\"planNodes\":[{\"NodeName\":\"Use\"}]}\n{\"Settings\":\"-b\",\
            \"planNodes\":[{\"NodeName\":\"Query\",\"statementText\":\"SELECT\"}]}";
        read(&Input::new("p", text), &mut job);
        let compiled = job.compile.take().expect("result");
        assert_eq!(compiled.settings.as_deref(), Some("-b"));
        assert_eq!(
            compiled.statements,
            [("Query".to_owned(), "SELECT".to_owned())]
        );
        let old = "{ \"CompilerPlanStart\":\"x\" }, { \"Settings\":\"-c\" }, {\"planNodes\":[{\"NodeName\":\"Q\"}]},";
        read(&Input::new("p", old), &mut job);
        assert_eq!(
            job.compile.map(|c| (c.settings, c.statements.len())),
            Some((Some("-c".to_owned()), 1))
        );
    }
}
