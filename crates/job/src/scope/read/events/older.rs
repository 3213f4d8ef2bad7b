//! The older form of vertex events: an attempt is spread over several lines, `Timing Information`
//! with its times, `Io information` with its bytes, `Process started` with its machine, and
//! sentences about its end. The numbers of vertex and version join them.
//!
//! Only read if a file has no `---HiPriTime` lines, which have all the data in one line.

use foldhash::HashMap;

use super::line::{Attempt, vertex_name, whole};
use crate::bounds;
use crate::runs::RunState;
use crate::text::head;
use crate::time::filetime_ms;

/// Longest name of a vertex or machine, in bytes.
const MAX_NAME: usize = 200;

/// Number of the vertex in the job, and version of the attempt.
type Key = (u32, u32);

/// Content of one line about an attempt.
#[derive(Debug, PartialEq)]
pub(super) enum Piece<'a> {
    /// Name of the vertex, its creation in milliseconds since 1970, and the seconds of each of five
    /// steps; negative for steps that were not reached.
    Times(&'a str, i64, [f64; 5]),
    Bytes(u64, u64),
    Machine(&'a str),
    State(RunState),
}

pub(super) struct Older {
    attempts: HashMap<Key, Parts>,
    most: usize,
    /// Number of attempts beyond the limit.
    lost: u64,
}

#[derive(Default)]
struct Parts {
    name: Box<str>,
    machine: Box<str>,
    created_ms: i64,
    steps_s: Option<[f64; 5]>,
    /// Line of the times.
    line: u64,
    bytes: (u64, u64),
    state: Option<RunState>,
}

impl Older {
    pub(super) fn new(most: usize) -> Older {
        Older {
            attempts: HashMap::default(),
            most,
            lost: 0,
        }
    }

    /// Number of attempts that were left out beyond the limit.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// Reads a line if it has this form.
    pub(super) fn line(&mut self, text: &str, line: u64) {
        pieces(text, &mut |key, piece| {
            if self.attempts.len() >= self.most && !self.attempts.contains_key(&key) {
                self.lost += u64::from(matches!(piece, Piece::Times(..)));
                return;
            }
            self.attempts.entry(key).or_default().take(&piece, line);
        });
    }

    /// Adds the attempts from the part of the file after `lines` lines.
    pub(super) fn absorb(&mut self, next: Older, lines: u64) {
        self.lost += next.lost;
        self.most += next.most;
        for (key, parts) in next.attempts {
            if self.attempts.len() >= self.most && !self.attempts.contains_key(&key) {
                self.lost += u64::from(parts.steps_s.is_some());
                continue;
            }
            self.attempts.entry(key).or_default().absorb(parts, lines);
        }
    }

    /// Hands over the attempts with known times, with their lines, in file order.
    pub(super) fn attempts(self, mut take: impl FnMut(&Attempt<'_>, u64)) {
        let timed = self.attempts.into_values();
        let mut timed: Vec<(Parts, [f64; 5])> = timed
            .filter_map(|parts| parts.steps_s.map(|steps| (parts, steps)))
            .collect();
        timed.sort_by_key(|(parts, _)| parts.line);
        for (parts, steps) in &timed {
            if let Some(attempt) = parts.attempt(*steps) {
                take(&attempt, parts.line);
            }
        }
    }
}

impl Parts {
    fn take(&mut self, piece: &Piece<'_>, line: u64) {
        match piece {
            // times repeated for an attempt that was stopped afterwards are wrong
            Piece::Times(..) if self.steps_s.is_some() => {}
            Piece::Times(name, created_ms, steps) => {
                self.name = head(name, MAX_NAME).into();
                (self.created_ms, self.steps_s, self.line) = (*created_ms, Some(*steps), line);
            }
            Piece::Bytes(read, written) => self.bytes = (*read, *written),
            Piece::Machine(name) => self.machine = head(name, MAX_NAME).into(),
            // a process that was slow to report its end may be terminated after it was completed
            Piece::State(_) if self.state == Some(RunState::Completed) => {}
            Piece::State(state) => self.state = Some(*state),
        }
    }

    fn absorb(&mut self, next: Parts, lines: u64) {
        if let (None, Some(steps)) = (self.steps_s, next.steps_s) {
            (self.created_ms, self.steps_s) = (next.created_ms, Some(steps));
            (self.name, self.line) = (next.name, next.line + lines);
        }
        if next.bytes != (0, 0) {
            self.bytes = next.bytes;
        }
        if !next.machine.is_empty() {
            self.machine = next.machine;
        }
        if let Some(state) = next.state {
            self.take(&Piece::State(state), 0);
        }
    }

    fn attempt(&self, steps: [f64; 5]) -> Option<Attempt<'_>> {
        let ended = steps.iter().all(|s| *s >= 0.0);
        let (stage, index) = vertex_name(self.name.as_bytes())?;
        let mut reached = self.created_ms;
        // bounded, so that absurd durations cannot overflow: no step takes a year
        let mut after = |step: f64| {
            reached = reached.saturating_add((step.clamp(0.0, 3.2e7) * 1e3) as i64);
            reached
        };
        let queued = after(steps[0]);
        let started = after(steps[1].max(0.0) + steps[2].max(0.0));
        let (running, ended_at) = (after(steps[3]), after(steps[4]));
        Some(Attempt {
            stage,
            index,
            // without a line about the state: an attempt that reached its end completed, any other was stopped
            state: self.state.unwrap_or(match ended {
                true => RunState::Completed,
                false => RunState::Cancelled,
            }),
            machine: self.machine.as_bytes(),
            times: [self.created_ms, queued, started, running, ended_at],
            bytes_read: self.bytes.0,
            bytes_written: self.bytes.1,
        })
    }
}

/// Content of a line, and its attempts: several if one process ran several vertices.
fn pieces<'a>(text: &'a str, take: &mut dyn FnMut(Key, Piece<'a>)) -> Option<()> {
    if let Some(rest) = text.strip_prefix("Timing Information ") {
        let (key, name, numbers) = numbered(rest, 6)?;
        let mut steps = [0.0; 5];
        for (step, text) in steps.iter_mut().zip(&numbers[1..]) {
            *step = text.parse().ok().filter(|s: &f64| s.is_finite())?;
        }
        let created = filetime_ms(numbers[0].parse().ok()?)?;
        take(key, Piece::Times(name, created, steps));
    } else if let Some(rest) = text.strip_prefix("Io information ") {
        let (key, _, numbers) = numbered(rest, 4)?;
        let ["read", read, "wrote", written] = numbers[..] else {
            return None;
        };
        let bytes = |text: &str| whole(text.as_bytes()).and_then(bounds::count);
        take(key, Piece::Bytes(bytes(read)?, bytes(written)?));
    } else if let Some(rest) = text.strip_prefix("Process started for vert") {
        let (_, machine) = rest.split_once(" machine ")?;
        let machine = machine.split_whitespace().next()?;
        let (vertices, version) = rest.split_once(" v.")?;
        let version = version.split_whitespace().next()?.parse().ok()?;
        // `ex 4 (Super__0[0])` or `ices 23 (Merge__29) 24 (Apply__33)`
        let words = vertices.split_whitespace().skip(1);
        for vertex in words.filter_map(|word| word.parse().ok()) {
            take((vertex, version), Piece::Machine(machine));
        }
    } else {
        let (state, rest) = ending(text)?;
        let number = rest.split_whitespace().next()?;
        let (vertex, version) = number.split_once('.')?;
        take(
            (vertex.parse().ok()?, version.parse().ok()?),
            Piece::State(state),
        );
    }
    Some(())
}

/// Vertex, version, name and the `n` last words of a line; the name may contain spaces.
fn numbered(text: &str, n: usize) -> Option<(Key, &str, Vec<&str>)> {
    let (vertex, rest) = text.split_once(' ')?;
    let (version, rest) = rest.split_once(' ')?;
    let mut words: Vec<&str> = rest.trim_end().rsplitn(n + 1, ' ').collect();
    let name = words.pop().filter(|_| words.len() == n)?;
    words.reverse();
    Some(((vertex.parse().ok()?, version.parse().ok()?), name, words))
}

/// Final state of an attempt, and the line from its number on.
fn ending(text: &str) -> Option<(RunState, &str)> {
    /// Beginning of a line, text later in the line, and their meaning.
    const ENDINGS: [(&str, &str, RunState); 7] = [
        (
            "Vertex ",
            " status Vertex Has Completed",
            RunState::Completed,
        ),
        ("Setting vertex ", " to failed", RunState::Failed),
        ("Process has failed Vertex ", "", RunState::Failed),
        ("Process was terminated Vertex ", "", RunState::Cancelled),
        ("Canceling vertex ", "", RunState::Cancelled),
        (
            "Abandoning duplicate execution of vertex ",
            "",
            RunState::Abandoned,
        ),
        (
            "Abandoning duplicate scheduling of vertex ",
            "",
            RunState::Abandoned,
        ),
    ];
    ENDINGS.iter().find_map(|(mark, says, state)| {
        let rest = text.strip_prefix(mark)?;
        rest.contains(says).then_some((*state, rest))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vertex, how it ended, times, bytes read and written, machine, line.
    type Found = (String, RunState, [i64; 5], (u64, u64), String, u64);

    fn read(lines: &[&str]) -> Vec<Found> {
        let mut older = Older::new(3);
        for (at, line) in lines.iter().enumerate() {
            older.line(line, at as u64 + 1);
        }
        let mut out = Vec::new();
        older.attempts(|a, line| {
            out.push((
                format!("{}[{}]", String::from_utf8_lossy(a.stage), a.index),
                a.state,
                a.times,
                (a.bytes_read, a.bytes_written),
                String::from_utf8_lossy(a.machine).into_owned(),
                line,
            ));
        });
        out
    }

    #[test]
    fn an_attempt_is_put_together_from_its_lines() {
        let found = read(&[
            "Process started for vertices 4 (Super__0[0]) 5 (Super__0[1]) v.1 GUID {9D} machine sherwood-255",
            "Vertex 4.1 (Super__0[0]) machine sherwood-255 guid {7} status Vertex Has Completed, ",
            "Timing Information 4 1 Super__0[0] 116444736010000000 0.1000 0.2000 0.3000 0.4000 2.5000 ",
            "Io information 4 1 Super__0[0] read 7106 wrote 933",
            "Process was terminated Vertex 4.1 (Super__0[0]) GUID {C} machine sherwood-255 status OK",
            "Timing Information 5 1 Super__0[1] 116444736020000000 0.5 -1.0 -1.0 -1.0 -1.0",
            "Timing Information Graph Start Time 128654556581866096",
        ]);
        let of = |n: i64| [n, n + 100, n + 600, n + 1_000, n + 3_500];
        let attempt = |vertex: &str, state, times, bytes, line| {
            let machine = "sherwood-255".to_owned();
            (vertex.to_owned(), state, times, bytes, machine, line)
        };
        let stopped = [2_000, 2_500, 2_500, 2_500, 2_500];
        assert_eq!(
            found,
            [
                attempt(
                    "Super__0[0]",
                    RunState::Completed,
                    of(1_000),
                    (7_106, 933),
                    3
                ),
                attempt("Super__0[1]", RunState::Cancelled, stopped, (0, 0), 6),
            ]
        );
    }

    #[test]
    fn the_first_end_and_the_first_times_count() {
        let found = read(&[
            "Timing Information 1 0 A[0] 116444736010000000 0 0 0 0 1",
            "Process has failed Vertex 1.0 (A[0]) GUID {C} machine m Exitcode 0 status bad",
            "Timing Information 1 0 A[0] 116444736010000000 0 0 0 0 9",
            "Setting vertex 2.0 (A[1]) to failed",
            "Timing Information 2 0 A[1] 116444736010000000 0 0 0 0 1e300",
        ]);
        assert_eq!(found[0].1, RunState::Failed);
        assert_eq!(found[0].2[4], 2_000);
        assert_eq!((found[1].1, found.len()), (RunState::Failed, 2));
    }

    #[test]
    fn more_than_can_be_held_is_counted() {
        let mut older = Older::new(2);
        for n in 0..5 {
            let line = format!("Timing Information {n} 0 A[{n}] 116444736010000000 0 0 0 0 1");
            older.line(&line, n + 1);
        }
        assert_eq!(older.lost(), 3);
    }

    #[test]
    fn lines_of_another_shape_are_passed_over() {
        for line in [
            "Timing Information 4 1 Super__0[0] x 0 0 0 0 0",
            "Timing Information 4 1 128654556603428182 0 0 0 0 0",
            "Timing Information 4 -1 A 116444736010000000 0 0 0 0 NaN",
            "Io information 4 1 read 1",
            "Io information 4 1 A read -1 wrote 2",
            "Process started for vertex",
            "Process started for vertex 4 (A) v.x machine",
            "Vertex 4",
            "Canceling vertex 99999999999.0 (A) due to x",
        ] {
            assert_eq!(read(&[line]), [], "{line}");
        }
    }
}
