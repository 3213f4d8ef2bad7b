//! One reader per kind of file. Each reads decoded text and fills in its part of the job.

pub(crate) mod algebra;
pub(crate) mod codegen;
pub(crate) mod compiler;
pub(crate) mod error;
pub(crate) mod events;
pub(crate) mod internal;
pub(crate) mod job_info;
mod names;
pub(crate) mod plan;
pub(crate) mod rest;
mod schema;
pub(crate) mod statistics;
pub(crate) mod streams;
pub(crate) mod tables;
pub(crate) mod tree;
pub(crate) mod vertex_command;
pub(crate) mod vertex_def;

use std::collections::HashMap;

use crate::bounds::{self, Quota};
use crate::model::{Diagnostic, Job, Source, Stage};
use crate::problem::Problem;
use crate::xml::Fault;

/// Number of parts for reading a file concurrently, each of at least `least` bytes: one per core, at most four.
fn parts_at_a_time(size: u64, least: u64) -> u64 {
    match size / least {
        // asking for the number of cores takes longer than reading a small file
        0 | 1 => 1,
        most => {
            let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
            most.min(cores).min(4)
        }
    }
}

/// A file as a reader sees it.
pub(crate) struct Input<'a> {
    /// Name relative to the job folder.
    pub(crate) name: &'a str,
    pub(crate) text: &'a str,
}

impl<'a> Input<'a> {
    pub(crate) fn new(name: &'a str, text: &'a str) -> Input<'a> {
        Input { name, text }
    }

    pub(crate) fn at(&self, locator: impl Into<String>) -> Source {
        Source {
            file: self.name.to_owned(),
            locator: Some(locator.into()),
        }
    }
}

/// Finds stages by name without a search through all of them.
pub(crate) struct StageIndex {
    file: String,
    by_name: HashMap<String, usize>,
}

impl StageIndex {
    /// The stages of a job, for the reader of a file.
    pub(crate) fn of(job: &Job, file: &str) -> StageIndex {
        let names = job.stages.iter().map(|s| s.name.clone());
        StageIndex {
            file: file.to_owned(),
            by_name: names.zip(0..).collect(),
        }
    }

    /// The stage of that name, created if necessary; `None` if there are too many.
    pub(crate) fn at(&mut self, job: &mut Job, name: &str) -> Option<usize> {
        if let Some(at) = self.by_name.get(name) {
            return Some(*at);
        }
        if !job.keeps(Quota::Stages, 1, &self.file) {
            return None;
        }
        job.stages.push(Stage {
            name: name.to_owned(),
            ..Stage::default()
        });
        self.by_name.insert(name.to_owned(), job.stages.len() - 1);
        Some(job.stages.len() - 1)
    }
}

impl Job {
    /// Notes the fault that ended reading a file, if any.
    pub(crate) fn fault(&mut self, file: &str, fault: Option<Fault>) {
        if let Some(fault) = fault {
            self.note(file, Some(format!("line {}", fault.line)), &fault.problem);
        }
    }

    /// Notes a problem; the reader continues.
    pub(crate) fn note(&mut self, file: &str, locator: Option<String>, problem: &Problem) {
        /// Further notes on one file add no information and would fill the report.
        const MOST_PER_FILE: usize = 20;
        /// A folder may have thousands of faulty files.
        const MOST: usize = 1_000;
        let own = |d: &&Diagnostic| d.file.as_deref() == Some(file);
        let so_far = self.diagnostics.iter().filter(own).count();
        if so_far < MOST_PER_FILE && self.diagnostics.len() < MOST {
            let (severity, message, hint) = problem.describe();
            self.diagnostics.push(Diagnostic {
                severity,
                file: Some(file.to_owned()),
                locator,
                message,
                hint: Some(hint),
            });
        }
    }
}

pub(crate) fn number(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    // nearly all counters are short whole numbers: up to 15 digits are exact in a float
    if !bytes.is_empty() && bytes.len() <= 15 && bytes.iter().all(u8::is_ascii_digit) {
        let digits = bytes.iter().map(|b| u64::from(b - b'0'));
        return Some(digits.fold(0, |n, digit| n * 10 + digit) as f64);
    }
    text.trim().parse().ok().and_then(bounds::number)
}

/// A possible number of rows or bytes, or none.
pub(crate) fn count(text: &str) -> Option<u64> {
    text.trim().parse().ok().and_then(bounds::count)
}

/// A possible number of vertices, partitions or tokens, or none.
pub(crate) fn parts(text: &str) -> Option<u32> {
    text.trim().parse().ok().and_then(bounds::parts)
}

/// `true`, `True`, `1`.
pub(crate) fn truth(text: &str) -> bool {
    text.eq_ignore_ascii_case("true") || text == "1"
}
