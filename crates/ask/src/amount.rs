//! Amounts in a question: rows and bytes by their direction.

use report::measure::{Entity, Measure, book};

use crate::phrases::Phrases;
use crate::wording::Wording;
use crate::words;

/// Amounts of data of a stage: rows and bytes, read and written.
pub(crate) const AMOUNTS: [&Measure; 4] = [
    &book::ROWS_IN,
    &book::ROWS_OUT,
    &book::BYTES_READ,
    &book::BYTES_WRITTEN,
];

type Words = (Phrases, Phrases);

/// An amount of data without a unit.
#[rustfmt::skip]
const DATA: Words = ("多少数据|数据量|读多少|读了多少|读入多少|读取多少|读取了多少|写多少|写了多少|写出多少|写出了多少|输出多少|输出了多少|输入多少|输入有多少|处理多少|处理了多少|产生多少|读写各多少|读写多少|各读多少|各写多少|收到多少",
    "how much data|what data|which data|how much input|how much output|amount of data|data volume");
const ROWS: Words = (
    "多少行|行数|几行数据|多少条|多少记录|条数",
    "how many rows|rows|row count|number of rows|records|how many records",
);
const BYTES: Words = (
    "多少字节|字节|多大|大小|多少 gb|多少gb|多少 gib|多少 mb|多少 tb",
    "bytes|how big|how large|size|sizes|gigabytes|how many gib|how many gb|how many mb|volume",
);
#[rustfmt::skip]
const READ: Words = ("读|输入|收到|流入|进入|处理",
    "read|reads|reading|input|inputs|receive*|consume*|process|processes|go into|goes into|going in|go in|comes in|handle*");
#[rustfmt::skip]
const WRITTEN: Words = ("写|输出|产生|出来|还剩|剩下|剩多少",
    "write|writes|written|wrote|writing|output*|produce*|emit*|come out|comes out|came out|shuffle out|shuffles out|survive*|remain*|are left|is left");
fn says(wording: &Wording, words: Words) -> bool {
    wording.has(words.0, words.1)
}

/// The amounts of data that a question asks for: read or written if it says which, in the unit that it names.
fn of_data(wording: &Wording) -> Vec<&'static Measure> {
    let (rows, bytes) = (says(wording, ROWS), says(wording, BYTES));
    let (read, written) = (says(wording, READ), says(wording, WRITTEN));
    let much = wording.has("", "how much") && (read || written);
    let much = much
        && !wording.has(
            "",
            "how much time|how much faster|how much longer|how much memory|how much cpu",
        );
    let data = says(wording, DATA) || much;
    if !(rows || bytes || data) {
        return Vec::new();
    }
    // "数据量有多大" is about both units
    let is_volume = wording.has(
        "数据量|多少数据",
        "how much data|data volume|amount of data",
    );
    let any_unit = !rows && (is_volume || !bytes);
    let any_side = read == written;
    let asked = [
        (rows || any_unit, read || any_side, AMOUNTS[0]),
        (rows || any_unit, written || any_side, AMOUNTS[1]),
        (bytes || any_unit || much, read || any_side, AMOUNTS[2]),
        (bytes || any_unit || much, written || any_side, AMOUNTS[3]),
    ];
    let asked = asked.into_iter().filter(|(unit, side, _)| *unit && *side);
    asked.map(|(.., measure)| measure).collect()
}

/// Measures of the job, its stages and exchanges that are asked for. "How much data" is an amount of the other
/// things that are named.
pub(crate) fn measures(wording: &Wording) -> Vec<&'static Measure> {
    let is_named = |m: &&&Measure| {
        let of_run = matches!(m.entity, Entity::Job | Entity::Stage);
        (of_run || **m == &book::PARTITIONS)
            && !m.words.en.is_empty()
            && !AMOUNTS.contains(m)
            && wording.has(m.words.zh, m.words.en)
    };
    let mut measures: Vec<&'static Measure> = book::ALL.iter().filter(is_named).copied().collect();
    for measure in words::measures(wording.text()) {
        if !measures.contains(&measure) {
            measures.push(measure);
        }
    }
    let is_later = wording.has("第二|第三|最后|第 2|第 3", "second|third|last");
    measures.retain(|m| **m != book::FIRST_EXECUTOR || !is_later);
    if wording.waits_for_shuffle() {
        measures.retain(|m| **m != book::WAIT);
        if !measures.contains(&&book::FETCH_WAIT) {
            measures.push(&book::FETCH_WAIT);
        }
    }
    if measures.contains(&&book::TEMPORARY) {
        // temporary data is written for other stages, or spilled
        measures.extend([&book::SPILLS, &book::BYTES_WRITTEN]);
    }
    let names_other = !wording.causes().is_empty() || !wording.segments().is_empty();
    let has_side = says(wording, READ) || says(wording, WRITTEN);
    let is_other = names_other || !measures.is_empty() && !has_side;
    if !(is_other && is_vague(wording)) {
        measures.extend(of_data(wording));
    }
    measures
}

/// Whether it asks for an amount of data without its kind: "how much data".
fn is_vague(wording: &Wording) -> bool {
    !says(wording, ROWS) && !says(wording, BYTES)
}
