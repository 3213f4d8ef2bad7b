//! Attributes that people ask for and no run records.

use report::measure::book;
use report::{Cause, ProblemType, StaticText, text};

use crate::intent::Intent;
use crate::said::Said;
use crate::subject::Subject;
use crate::word::{Cue, Quantity, Word};
use crate::{Asked, DRIVER_MEMORY, found, setting};

/// Says that no run records the asked attribute. Returns false if the question is about something else.
pub(crate) fn answer(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let is_part = |s: &Subject| matches!(s, Subject::Stage(_) | Subject::Lines(..));
    let outsiders = StaticText {
        zh: "作业之外谁读写它的数据",
        en: "who reads or writes its data outside of the job",
    };
    let is_outside = intent.reading.shows(Cue::Outsider) && !intent.subjects.iter().any(is_part);
    let named = intent.reading.places(|word| match word {
        Word::Unrecorded(attribute) => Some(*attribute),
        _ => None,
    });
    let named = named.first().map(|(attribute, _)| *attribute);
    let named = named.filter(|_| !intent.asks(Quantity::Remedy));
    let asks = [Word::Number, Word::Time, Word::Who, Word::When];
    let named = named
        .filter(|_| !intent.asks_nothing() || intent.is_polar() || intent.reading.has_any(&asks));
    let attribute = match named {
        _ if is_outside => outsiders,
        Some(attribute) => attribute,
        None => return of_driver(said, run, intent) || of_values(said, run, intent),
    };
    said.say(text!(
        "无法回答：运行的记录不包含{attribute}",
        "That can't be answered: the run does not record {attribute}",
        attribute = attribute
    ));
    true
}

/// Says that no file gives the values of a hot key, as in an event log. Returns false if a file gives them or something else is asked.
fn of_values(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let is_skew = |c: &Cause| c.problem_type() == ProblemType::DataSkew;
    let column = intent.subjects.iter().find_map(|s| match s {
        Subject::Column(name) => Some(name.as_str()),
        _ => None,
    });
    let text = intent.reading.text();
    let names_value = [
        "which value",
        "what value",
        "哪个值",
        "什么值",
        "key value",
        "热点值",
    ];
    let names_value = names_value.iter().any(|word| text.contains(word));
    let asks = intent.reading.has(Word::Which) && (column.is_some() || names_value);
    let columns = run.summary.inputs.iter().flat_map(|i| &i.columns);
    let is_known = columns.filter(|c| c.top.is_some()).count() > 0;
    if !asks || is_known || !intent.causes.iter().any(is_skew) || intent.asks_why() {
        return false;
    }
    let name = column.unwrap_or_default();
    said.say(text!(
        "没有文件给出 {name} 的值：日志只记录行数和字节数，不含数据",
        "No file gives the values of {name}: the log counts rows and bytes and holds no data"
    ));
    let findings = run.report.findings.iter().filter(|f| is_skew(&f.cause));
    findings
        .take(1)
        .for_each(|f| found::finding(said, f, false));
    true
}

/// Says that no file gives the memory of the driver: the stages have the memory of tasks.
fn of_driver(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let is_memory = intent.asks_for(&[&book::MEMORY_PEAK]);
    if !intent.reading.shows(Cue::Driver) || !is_memory {
        return false;
    }
    said.say(text!(
        "没有文件给出 Driver 的内存",
        "No file gives the memory of the driver"
    ));
    if run.summary.settings.contains_key(DRIVER_MEMORY) {
        setting::about(said, run, DRIVER_MEMORY, intent);
    }
    true
}
