//! The outputs of the job: whether the job wrote any, and each output with its rows and bytes.

use report::measure::{Value, book};
use report::{JobState, Text, text};
use runs::{OperatorSummary, StageSummary};

use super::{is_whole, some};
use crate::intent::Intent;
use crate::said::Said;
use crate::subject::Subject;
use crate::word::Word::*;
use crate::word::{Cue, Thing};
use crate::{Asked, job, record};

/// Outputs named.
const SHOWN: usize = 6;

/// An output with its stage.
type Output<'a> = (&'a StageSummary, &'a OperatorSummary);

fn outputs<'a>(run: &'a Asked<'_>) -> Vec<Output<'a>> {
    let stages = run.summary.stages.iter();
    let all = stages.flat_map(|s| s.operators.iter().map(move |o| (s, o)));
    all.filter(|(_, o)| record::is_output(o)).collect()
}

/// The bytes of an output: its own, or the bytes of its stage if the stage has no other output.
fn bytes<'a>((stage, output): &Output<'a>) -> Option<&'a Value> {
    let writes = |o: &&OperatorSummary| {
        record::is_output(o) || o.kind.ends_with("partition") || o.kind == "gather"
    };
    let alone = stage.operators.iter().filter(writes).count() == 1;
    let own = output.values.value(&book::OPERATOR_BYTES);
    own.or(stage.values.value(&book::BYTES_WRITTEN).filter(|_| alone))
}

pub(super) fn any(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let reading = &intent.reading;
    let all = outputs(run);
    let is_named = |s: &Subject| match s {
        Subject::Operator(at, o) => record::is_output(&run.summary.stages[*at].operators[*o]),
        _ => false,
    };
    let is_of_outputs = intent.subjects.iter().all(is_named);
    if !is_whole(intent) && !is_of_outputs {
        return false;
    }
    if reading.shows(Cue::Written) && intent.is_polar() && is_whole(intent) {
        return written(said, run, &all);
    }
    let nouns = [
        Thing::Stage,
        Thing::Vertex,
        Thing::Operator,
        Thing::Exchange,
        Thing::Column,
        Thing::Executor,
        Thing::Input,
    ]
    .map(Noun);
    let is_other =
        reading.has_any(&nouns) || reading.has_any(&[In, Place, Passed, Estimated, Rate, Key]);
    let names_output = reading.has_any(&[Out, Kind("OUTPUT")]);
    let amount = reading.has_any(&[Rows, Bytes, Data, Most, Least, Number]) && !reading.is_time();
    let text = reading.text();
    let asks_what = ["what", "什么", "哪些", "结果", "result"]
        .iter()
        .any(|word| text.contains(word));
    let chooses = [Which, Most, Least, Kind("OUTPUT")];
    // without a script, only the plan has the path
    let asks_what = asks_what || reading.shows(Cue::Where) && run.summary.script.is_none();
    let amount = amount && (reading.has_any(&chooses) || is_of_outputs)
        || asks_what && is_whole(intent) && !intent.is_polar();
    if all.is_empty() || is_other || !names_output && !is_of_outputs || !amount || intent.asks_why()
    {
        return false;
    }
    let mut meant: Vec<Output<'_>> = match is_of_outputs {
        true => intent
            .subjects
            .iter()
            .filter_map(|s| match s {
                Subject::Operator(at, o) => Some((
                    &run.summary.stages[*at],
                    &run.summary.stages[*at].operators[*o],
                )),
                _ => None,
            })
            .collect(),
        false => all,
    };
    let size = |o: &Output<'_>| {
        (
            bytes(o).map_or(0.0, Value::number),
            o.1.get(&book::OPERATOR_ROWS).unwrap_or(0.0),
        )
    };
    meant.sort_by(|a, b| {
        size(b)
            .0
            .total_cmp(&size(a).0)
            .then(size(b).1.total_cmp(&size(a).1))
    });
    if reading.has(Least) {
        meant.reverse();
    }
    list(said, run, &meant)
}

/// Says each output with its rows and bytes. Returns false if no file gives them.
fn list(said: &mut Said<'_>, run: &Asked<'_>, outputs: &[Output<'_>]) -> bool {
    let vertex = run.vertex();
    let language = said.language();
    let mut ids = Vec::new();
    let mut shown: Vec<String> = Vec::new();
    for output in outputs {
        let (stage, o) = output;
        let rows = o
            .values
            .value(&book::OPERATOR_ROWS)
            .map(|v| (&book::OPERATOR_ROWS, v));
        let own = o.values.value(&book::OPERATOR_BYTES).is_some();
        let measure = if own {
            &book::OPERATOR_BYTES
        } else {
            &book::BYTES_WRITTEN
        };
        let bytes = bytes(output).map(|v| (measure, v));
        let known: Vec<_> = rows.into_iter().chain(bytes).collect();
        if known.is_empty() {
            continue;
        }
        for (measure, value) in &known {
            let of_operator = o.name_in(&stage.name);
            let name = if **measure == book::BYTES_WRITTEN {
                &stage.name
            } else {
                &of_operator
            };
            ids.extend(said.evidence_of(measure, value, name, vertex));
        }
        let numbers = known.iter().map(|(m, v)| m.shown(v.number(), vertex));
        let numbers = Text::joined(&numbers.collect::<Vec<_>>(), ["，", ", "]);
        let path = o.args.split(',').next().filter(|path| path.contains('/'));
        let named = o.names.first().unwrap_or(&o.id).as_str();
        let (name, stage) = (path.unwrap_or(named), &stage.name);
        shown.push(
            text!(
                "{name}（{numbers}，{stage}）",
                "{name} ({numbers}, {stage})",
                numbers = numbers
            )
            .into(language),
        );
    }
    if shown.is_empty() {
        return false;
    }
    let shown = some(&shown, SHOWN, language);
    said.cite(text!("输出：{shown}", "Outputs: {shown}"), &ids);
    true
}

/// Says whether the job wrote anything.
fn written(said: &mut Said<'_>, run: &Asked<'_>, all: &[Output<'_>]) -> bool {
    let is_known = |o: &Output<'_>| {
        o.1.get(&book::OPERATOR_ROWS).is_some_and(|n| n > 0.0)
            || bytes(o).is_some_and(|n| n.number() > 0.0)
    };
    let has_ended =
        |o: &Output<'_>| !o.0.never_ran && o.0.get(&book::VERTICES) >= o.0.get(&book::PLANNED);
    let done: Vec<Output<'_>> = all
        .iter()
        .copied()
        .filter(|o| is_known(o) && has_ended(o))
        .collect();
    let is_ok = run.report.job.state == JobState::Succeeded;
    if done.is_empty() && is_ok {
        return false;
    }
    said.affirm(!done.is_empty());
    if !done.is_empty() {
        return list(said, run, &done);
    }
    let lost = all
        .iter()
        .map(|(s, o)| format!("{} ({})", o.names.first().unwrap_or(&o.id), s.name));
    let lost: Vec<String> = lost.collect();
    match lost.is_empty() {
        true => said.say(text!("没有阶段写出结果", "No stage wrote an output")),
        false => {
            let lost = some(&lost, SHOWN, said.language());
            said.say(text!(
                "没有写完任何输出：{lost}",
                "No output was completed: {lost}"
            ));
        }
    }
    if run.report.job.state == JobState::Failed {
        job::failure(said, run);
    }
    true
}
