//! Whether values are what the files hold.

use report::measure::{Formula, Origin, Sheet, Value, Values, book};

use crate::files::{Files, is_same};

/// Whether a value is at its places, or follows from them.
pub(crate) fn check(files: &Files, value: &Value) -> Result<(), String> {
    let number = value.number();
    match value.origin() {
        Origin::Place(source) => files.check(None, source, number),
        Origin::Records(fold, source) => files.check(Some(*fold), source, number),
        Origin::Formula(formula, parts) => {
            parts.iter().try_for_each(|part| check(files, part))?;
            let numbers: Vec<f64> = parts.iter().map(Value::number).collect();
            let expected = match (formula, &numbers[..]) {
                (Formula::Sum, numbers) => numbers.iter().sum(),
                (Formula::Ratio, [a, b]) => a / b,
                (Formula::Times(factor), [one]) => one * factor,
                _ => f64::NAN,
            };
            match is_same(number, expected) {
                true => Ok(()),
                false => Err(format!("{number} is not {formula:?} of {numbers:?}")),
            }
        }
        Origin::Unsaved => Err("no places".to_owned()),
    }
}

/// Whether a reader derives a number of a log from events of several kinds: the wait for executors, and the time that tasks spend
/// outside of what operators time. Its place is the last of the events, or names the difference.
pub(crate) fn is_of_several_events(files: &Files, id: &str, value: &Value) -> bool {
    let locator = value.source().and_then(|source| source.locator);
    let is_rest = locator.is_some_and(|locator| locator.contains(" - "));
    files.is_log() && (id == book::QUEUED.id || is_rest)
}

/// The values of a sheet, each with the thing that they are of.
pub(crate) fn things(sheet: &Sheet) -> Vec<(String, &Values)> {
    let mut all = vec![("job".to_owned(), &sheet.job)];
    for (at, stage) in sheet.stages.iter().enumerate() {
        all.push((format!("stage {at}"), &stage.values));
        let operators = stage.operators.iter().enumerate();
        all.extend(operators.map(|(n, values)| (format!("operator {n} of stage {at}"), values)));
    }
    let exchanges = sheet.exchanges.iter().enumerate();
    all.extend(exchanges.map(|(at, values)| (format!("exchange {at}"), values)));
    for (at, input) in sheet.inputs.iter().enumerate() {
        all.push((format!("input {at}"), &input.values));
        all.extend(
            input
                .columns
                .iter()
                .map(|c| (format!("column of input {at}"), c)),
        );
    }
    all
}
