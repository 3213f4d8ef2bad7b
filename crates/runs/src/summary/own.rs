//! Names that users have for an operator: the class or function of their code that it runs, the file that it writes.

use job::Job;
use job::model::{Operator, OperatorKind};
use job::script::{Script, Statement, StatementKind};

/// The names of an operator, without generated ones.
pub(super) fn names(job: &Job, operator: &Operator) -> Vec<String> {
    let written = operator.kind == OperatorKind::Output;
    let mut names: Vec<String> = match (job.spark.is_some(), written) {
        (true, true) => last(operator.args.split(',').next().unwrap_or_default())
            .into_iter()
            .collect(),
        (true, false) if operator.class_name.contains("Python") => called(&operator.args),
        (true, false) => Vec::new(),
        (false, true) => job
            .script
            .iter()
            .filter_map(|s| target(s, operator))
            .collect(),
        (false, false) => class(&operator.class_name).into_iter().collect(),
    };
    names.dedup();
    names
}

/// The input that an operator reads.
pub(super) fn input(job: &Job, operator: &Operator) -> Option<String> {
    // a partition of a stream has its number in brackets
    let is_it = |channel: &str, id: &str| channel.split('[').next() == Some(id);
    let reads = |id: &str| operator.id == id || operator.inputs.iter().any(|i| is_it(&i.id, id));
    let mut tables = job.tables.iter();
    let table = tables.find(|t| t.stream_id.as_deref().is_some_and(reads))?;
    (operator.kind == OperatorKind::Extract).then(|| table.name.clone())
}

/// The columns that an operator reads from an input or writes to an output.
pub(super) fn columns(operator: &Operator) -> Vec<String> {
    let channels = match operator.kind {
        OperatorKind::Extract => &operator.outputs,
        OperatorKind::Output => &operator.inputs,
        _ => return Vec::new(),
    };
    let columns = channels.iter().take(1).flat_map(|channel| &channel.schema);
    let named = columns.map(|c| format!("{}: {}", c.name, c.type_name));
    named.take(super::COLUMNS).collect()
}

/// The name of a class without its namespace; `None` for classes of the engine.
fn class(name: &str) -> Option<String> {
    let own = name.rsplit('.').next()?;
    let is_numbered = own
        .rsplit_once('_')
        .is_some_and(|(_, n)| n.bytes().all(|b| b.is_ascii_digit()));
    let is_engine = name.starts_with("ScopeRuntime.")
        || name.starts_with("ScopeEngine")
        || name.starts_with("Microsoft.Analytics.Interfaces.");
    (!is_numbered && !is_engine && own.len() > 1).then(|| own.to_owned())
}

/// The functions called in a list such as `[fx_rate(order_id, currency)], [pythonUDF0]`.
fn called(args: &str) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let depth = |at: usize| {
        let before = args[..at].chars();
        before.fold(0, |depth, c| {
            depth + i32::from(c == '(') - i32::from(c == ')')
        })
    };
    // the functions in the arguments of a call are the engine's
    let outer = args.match_indices('(').filter(|(at, _)| depth(*at) == 0);
    let calls = outer.filter_map(|(at, _)| {
        let name = &args[args[..at].rfind(|c| !is_part(c)).map_or(0, |n| n + 1)..at];
        (!name.is_empty()).then(|| name.to_owned())
    });
    calls.collect()
}

/// The file that the `OUTPUT` statement of an operator writes.
fn target(script: &Script, operator: &Operator) -> Option<String> {
    let line = operator.line?;
    let mut statements = script.statements.iter();
    let output = statements
        .find(|s| s.kind == StatementKind::Output && (s.lines.0..=s.lines.1).contains(&line))?;
    let path = output.output.as_ref()?.path.as_ref()?;
    let declares = |s: &&Statement| {
        let name = s.target.as_deref().unwrap_or_default();
        let name = name.trim_start_matches('@');
        s.kind == StatementKind::Declare
            && path.parameters.iter().any(|p| p.trim_matches('@') == name)
    };
    let declared = script.statements.iter().find(declares);
    let value = declared.and_then(|s| s.value.as_ref());
    let text = script
        .text
        .get(value.map_or(path.span.clone(), |v| v.span.clone()))?;
    last(text.rsplit('"').find(|part| part.contains(['/', '.']))?)
}

/// The last part of a path.
fn last(path: &str) -> Option<String> {
    let name = path.trim().trim_end_matches('/').rsplit('/').next()?;
    (name.len() > 1 && !name.contains(char::is_whitespace)).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_the_engine_and_generated_ones_are_no_names() {
        for (class_name, name) in [
            (
                "FeatureExtractionLib.FeatureProcessor",
                Some("FeatureProcessor"),
            ),
            ("ScopeSorter_13", None),
            ("ScopeRuntime.SStreamExtractor", None),
            ("Microsoft.Analytics.Interfaces.IOutputter", None),
        ] {
            assert_eq!(class(class_name).as_deref(), name, "{class_name}");
        }
    }

    #[test]
    fn functions_and_paths_are_names() {
        let args = "[fx_rate(order_id, lower(currency))], [pythonUDF0]";
        assert_eq!(called(args), ["fx_rate"]);
        let path = "file:/data/out/daily_eur";
        assert_eq!(last(path).as_deref(), Some("daily_eur"));
    }
}
