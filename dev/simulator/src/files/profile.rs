//! `profile`: the events of every vertex attempt, line by line; also profiles of any size, for benchmarks.

use crate::outcome::{Clock, Outcome};
use crate::rng::{Rng, hash_text, mix, noise};
use crate::schedule::{Attempt, State, Why};
use std::io::{self, Write};

/// Writes the file.
pub(crate) fn write(o: &Outcome) -> String {
    let mut text = String::new();
    let start = start_time(o);
    let ticks = (start.0 + 11_644_473_600) * 10_000_000 + (start.1 * 1e7) as i64;
    text.push_str(&format!("Timing Information Graph Start Time {ticks}\n"));
    let offsets = offsets(o);
    for attempt in &o.run.attempts {
        remarks(o, attempt, &offsets, &mut text);
        text.push_str(&line(o, attempt));
        let place = noise(
            o.spec.seed,
            "remark",
            hash_text(1, &text[text.len().saturating_sub(60)..]),
        );
        if attempt.state == State::Completed && place < 0.05 {
            let name = vertex_name(o, attempt);
            let number = offsets[attempt.stage] + attempt.vertex;
            let (read, written) = io_bytes(o, attempt);
            text.push_str(&format!(
                "Io information {number} {} {name} read {read:.0} wrote {written:.0}\n",
                attempt.version
            ));
        }
    }
    text
}

/// Start of the run: whole seconds and the rest.
fn start_time(o: &Outcome) -> (i64, f64) {
    let before = o.before_start();
    (
        o.ids.submitted + before as i64,
        before - (before as i64) as f64,
    )
}

/// Number of the first vertex of each stage.
fn offsets(o: &Outcome) -> Vec<usize> {
    let mut next = 1;
    o.physical
        .stages
        .iter()
        .map(|s| {
            let at = next;
            next += s.vertices;
            at
        })
        .collect()
}

fn vertex_name(o: &Outcome, a: &Attempt) -> String {
    format!("{}[{}]", o.physical.stages[a.stage].name, a.vertex)
}

/// Name of a machine.
pub(crate) fn machine(o: &Outcome, number: u64) -> String {
    format!(
        "{}m{:06}",
        o.ids.cluster,
        mix(hash_text(o.spec.seed, "machine") ^ number) % 1_000_000
    )
}

fn io_bytes(o: &Outcome, a: &Attempt) -> (f64, f64) {
    let s = &o.physical.stages[a.stage];
    (
        s.read[a.vertex] * a.done.min(1.0),
        s.written[a.vertex] * a.done.min(1.0),
    )
}

fn line(o: &Outcome, a: &Attempt) -> String {
    let (whole, rest) = start_time(o);
    let time = |t: f64| Clock::at(whole, rest + t).profile();
    let state = match a.state {
        State::Completed => "Completed",
        State::Failed => "Failed",
        State::Revoked => "Revoked",
        State::Abandoned => "Abandoned",
        State::Cancelled => "Cancelled",
    };
    let (read, written) = io_bytes(o, a);
    format!(
        "---HiPriTime {},{},{},{state},{},{},{},{},{},{},{},{read:.0},{written:.0}\n",
        o.ids.job,
        o.vertex_guid(a.stage, a.vertex, a.version),
        vertex_name(o, a),
        machine(o, a.machine),
        time(a.created),
        time(a.queued),
        time(a.started),
        time(a.running),
        time(a.ended),
        time(a.queued),
    )
}

/// Code and name of an error.
fn error_of(why: Why) -> (&'static str, &'static str) {
    match why {
        Why::ReadFailure => ("0x83090002", "E_RUNTIME_SYSTEM_INPUTREADFAILURE"),
        Why::Crash => ("0x83090011", "E_RUNTIME_SYSTEM_PROCESSCRASHED"),
        Why::Memory => ("0x83090021", "TASK_MemoryEstimateTooLow"),
        Why::TempData => (
            "0x83090041",
            "E_USER_JM_AM_TempDataHeldBytesPerTokenLimitExceeded",
        ),
        Why::Timeout => ("0x83090031", "E_RUNTIME_SYSTEM_VERTEX_TIMEOUT"),
        Why::UserCode | Why::None => ("0x830a0017", "E_RUNTIME_USER_UNHANDLED_EXCEPTION"),
    }
}

fn remarks(o: &Outcome, a: &Attempt, offsets: &[usize], text: &mut String) {
    let number = format!("{}.{}", offsets[a.stage] + a.vertex, a.version);
    let name = vertex_name(o, a);
    let guid = o.vertex_guid(a.stage, a.vertex, a.version);
    let machine = machine(o, a.machine);
    match a.state {
        State::Failed => {
            let (code, id) = error_of(a.why);
            text.push_str(&format!(
                "Process has failed Vertex {number} ({name}) GUID {{{guid}}} machine {machine} Exitcode {code} status {id}\n"
            ));
            text.push_str(&format!(
                "Vertex Had Errors, <ErrorCode>{code}<!-- {id} --></ErrorCode>\n"
            ));
            text.push_str(&format!("Setting vertex {number} ({name}) to failed\n"));
        }
        State::Revoked => {
            let next = o.vertex_guid(a.stage, a.vertex, a.version + 1);
            text.push_str(&format!(
                "Process was revoked by remote scheduler Old GUID {{{guid}}} New GUID {{{next}}} vertex {number} ({name}) machine {machine}\n"
            ));
        }
        State::Abandoned => text.push_str(&format!(
            "Abandoning duplicate execution of vertex {number} ({name})\n"
        )),
        State::Cancelled => text.push_str(&format!(
            "Canceling vertex {number} ({name}) due to job failure\n"
        )),
        State::Completed => {}
    }
}

/// Streams a profile of about `bytes` bytes (whole lines) with vertices of `stages` stages.
///
/// # Errors
///
/// Errors of the writer.
pub fn write_large_profile(
    out: &mut dyn Write,
    bytes: u64,
    stages: u32,
    seed: u64,
) -> io::Result<u64> {
    let mut rng = Rng::new(seed);
    let job = rng.guid();
    let mut written = 0;
    let mut at = 0.0;
    let mut vertex = 0_u64;
    while written < bytes {
        at += 0.02;
        let time = |t: f64| Clock::at(1_714_600_000, at + t).profile();
        let stage = vertex % u64::from(stages.max(1));
        let run = rng.range(5.0, 40.0);
        let text = format!(
            "---HiPriTime {job},{},SV{}_Extract_Split[{}],Completed,m{:06},{},{},{},{},{},{},{},{}\n",
            rng.guid(),
            stage + 1,
            vertex / u64::from(stages.max(1)),
            rng.whole(0, 999),
            time(0.0),
            time(0.1),
            time(0.4),
            time(1.9),
            time(1.9 + run),
            time(0.1),
            rng.whole(1, 900_000_000),
            rng.whole(1, 90_000_000),
        );
        out.write_all(text.as_bytes())?;
        written += text.len() as u64;
        vertex += 1;
    }
    Ok(written)
}
