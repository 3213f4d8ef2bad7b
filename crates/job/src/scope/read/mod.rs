//! One reader per kind of file. Each takes decoded text and fills what it knows into the job.

mod algebra;
mod ast;
mod codegen;
mod compiler_plan;
mod error;
mod events;
mod internal;
mod job_info;
mod names;
mod plan;
mod rest;
mod schema;
mod statistics;
mod streams;
mod tables;
mod tree;
mod user_log;
mod vertex_command;
mod vertex_def;
mod warnings;

use std::collections::HashMap;

use crate::model::{Diagnostic, Job, Source, Stage};
use crate::problem::Problem;
use crate::xml::Fault;

pub(crate) use algebra::read as algebra;
pub(crate) use ast::read as ast;
pub(crate) use codegen::{classes, read as codegen};
pub(crate) use compiler_plan::read as compiler_plan;
pub(crate) use error::read as error;
pub(crate) use events::{read as events_of, read_file as events};
pub(crate) use internal::read as internal;
pub(crate) use job_info::{Rank, command_line, read as job_info};
pub(crate) use plan::{read as plan, read_map as plan_map};
pub(crate) use rest::{read_job as rest_job, statistics as rest_statistics};
pub(crate) use statistics::read as statistics;
pub(crate) use streams::{last_rows, read as stream_info};
pub(crate) use tables::read as tables;
pub(crate) use tree::read as stdout;
pub(crate) use user_log::read as user_log;
pub(crate) use vertex_command::read as vertex_command;
pub(crate) use vertex_def::read as vertex_def;
pub(crate) use warnings::{compile_result, compiler_timers, read as warnings};

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
#[derive(Default)]
pub(crate) struct StageIndex(HashMap<String, usize>);

impl StageIndex {
    /// Real jobs have up to a few thousand stages; a file that names more is not of a job.
    const MOST: usize = 100_000;

    pub(crate) fn of(job: &Job) -> StageIndex {
        StageIndex(
            job.stages
                .iter()
                .enumerate()
                .map(|(at, s)| (s.name.clone(), at))
                .collect(),
        )
    }

    /// The stage of that name, made if it is not there yet; `None` if there are too many.
    pub(crate) fn at(&mut self, job: &mut Job, name: &str) -> Option<usize> {
        if let Some(at) = self.0.get(name) {
            return Some(*at);
        }
        if job.stages.len() >= Self::MOST {
            return None;
        }
        job.stages.push(Stage {
            name: name.to_owned(),
            ..Stage::default()
        });
        self.0.insert(name.to_owned(), job.stages.len() - 1);
        Some(job.stages.len() - 1)
    }
}

impl Job {
    /// The stage of that name, made if it is not there yet.
    pub(crate) fn stage_mut(&mut self, name: &str) -> &mut Stage {
        let at = self
            .stages
            .iter()
            .position(|s| s.name == name)
            .unwrap_or_else(|| {
                self.stages.push(Stage {
                    name: name.to_owned(),
                    ..Stage::default()
                });
                self.stages.len() - 1
            });
        &mut self.stages[at]
    }

    /// Notes where reading a file had to stop, if it had to.
    pub(crate) fn fault(&mut self, file: &str, fault: Option<Fault>) {
        if let Some(fault) = fault {
            self.note(file, Some(format!("line {}", fault.line)), &fault.problem);
        }
    }

    /// Notes something that could not be read; the reader continues.
    pub(crate) fn note(&mut self, file: &str, locator: Option<String>, problem: &Problem) {
        /// More from one file say nothing new and would fill the report.
        const MOST_PER_FILE: usize = 20;
        let so_far = self
            .diagnostics
            .iter()
            .filter(|d| d.file.as_deref() == Some(file))
            .count();
        if so_far < MOST_PER_FILE {
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

/// A finite number, or none.
pub(crate) fn number(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    // nearly all counters are short whole numbers: up to 15 digits are exact in a float
    if !bytes.is_empty() && bytes.len() <= 15 && bytes.iter().all(u8::is_ascii_digit) {
        return Some(
            bytes
                .iter()
                .fold(0_u64, |n, b| n * 10 + u64::from(b - b'0')) as f64,
        );
    }
    text.trim().parse().ok().filter(|n: &f64| n.is_finite())
}

/// A whole number that is not negative, or none.
pub(crate) fn count(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// `true`, `True`, `1`.
pub(crate) fn truth(text: &str) -> bool {
    text.eq_ignore_ascii_case("true") || text == "1"
}
