//! Amounts in a question: rows and bytes by their direction.

use report::measure::{Measure, book};

use crate::reading::Reading;
use crate::word::Word::*;
use crate::word::{Cue, Thing};

/// Amounts of data of a stage: rows and bytes, read and written.
pub(crate) const AMOUNTS: [&Measure; 4] = [
    &book::ROWS_IN,
    &book::ROWS_OUT,
    &book::BYTES_READ,
    &book::BYTES_WRITTEN,
];

/// Which amounts a question is about.
#[derive(Clone, Copy)]
pub(crate) struct Amounts {
    pub(crate) rows: bool,
    pub(crate) bytes: bool,
    pub(crate) read: bool,
    pub(crate) written: bool,
}

impl Amounts {
    pub(crate) fn of(scan: &Reading) -> Amounts {
        let has = |word| scan.has(word);
        // "the input of each vertex" is what it reads
        let is_input = has(Noun(Thing::Input)) && has(Noun(Thing::Vertex));
        let (read, written) = (has(In) || is_input, has(Out));
        let (data, rows) = (has(Data), has(Rows));
        // "how much does it read", "which reads most"
        let asks = [Number, Most, Least, Mean, Share];
        let is_vague = (read || written) && scan.has_any(&asks) && !rows && !scan.is_time();
        // "how much does it read and write" asks for all four
        let is_all = is_vague && read && written && !scan.has_any(&[Apart, Times]);
        Amounts {
            rows: rows || data || is_all,
            bytes: has(Bytes) || data && !rows || is_vague,
            read: read || !written,
            written: written || !read,
        }
    }
}

/// The amounts of data that a question asks for: read or written if it says which, in the unit that it names.
fn of_data(reading: &Reading) -> Vec<&'static Measure> {
    let Amounts {
        rows,
        bytes,
        read,
        written,
    } = Amounts::of(reading);
    let asked = [
        (rows && read, AMOUNTS[0]),
        (rows && written, AMOUNTS[1]),
        (bytes && read, AMOUNTS[2]),
        (bytes && written, AMOUNTS[3]),
    ];
    let asked = asked.into_iter().filter(|(is_asked, _)| *is_asked);
    asked.map(|(_, measure)| measure).collect()
}

/// Measures of the job, its stages and exchanges that are asked for. "How much data" is an amount of the other
/// things that are named.
pub(crate) fn measures(reading: &Reading) -> Vec<&'static Measure> {
    let mut measures = reading.measures();
    measures.retain(|m| !AMOUNTS.contains(m));
    let is_later = reading.shows(Cue::Later);
    measures.retain(|m| **m != book::FIRST_EXECUTOR || !is_later);
    if reading.waits_for_shuffle() {
        measures.retain(|m| **m != book::WAIT);
        if !measures.contains(&&book::FETCH_WAIT) {
            measures.push(&book::FETCH_WAIT);
        }
    }
    if measures.contains(&&book::TEMPORARY) {
        // temporary data is written for other stages, or spilled
        measures.extend([&book::SPILLS, &book::BYTES_WRITTEN]);
    }
    let names_other = !reading.causes().is_empty() || !reading.segments().is_empty();
    let has_side = reading.has_any(&[In, Out]);
    let is_other = names_other || !measures.is_empty() && !has_side;
    // "how much data" names no kind of amount
    if !is_other || reading.has_any(&[Rows, Bytes]) {
        measures.extend(of_data(reading));
    }
    measures
}
