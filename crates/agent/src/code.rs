//! C# related to a failure, a finding or costly user code: a few lines of each class, for the prompt.
//!
//! The readers know the place of a class; its text is read from the folder, and only for shown
//! classes.

use std::ops::RangeInclusive;

use diagnosis::Diagnosis;
use job::Job;
use job::model::{CodeExcerpt, Codegen, CodegenClass, FileKind, JobError, Operator};
use report::{Finding, SegmentKind};

use crate::wording::shorten;

/// Excerpts of a job: a failure names one place, and few jobs have more than two costly classes.
const EXCERPTS: usize = 3;

/// Lines around the important one: a loop over the rows, or a frame with the code before it.
const LINES_BEFORE: u32 = 6;
const LINES_AFTER: u32 = 5;

/// Bytes of a line; generated expressions can be far longer.
const LINE_BYTES: usize = 200;

/// Minimum share of the job's time for costly user code: a cheaper cause is no finding either.
const COSTLY: f64 = 0.05;

/// The class and the line of it that something names.
struct Place<'a> {
    class: &'a CodegenClass,
    line: Option<u32>,
}

/// Excerpts of the classes that failed, that a finding names, or that cost much; `text` reads a file of the folder.
pub(crate) fn excerpts(
    job: &Job,
    diagnosis: &Diagnosis,
    text: &dyn Fn(&str) -> Option<String>,
) -> Vec<CodeExcerpt> {
    let Some(codegen) = &job.codegen else {
        return Vec::new();
    };
    let places = places(job, codegen, diagnosis);
    if places.is_empty() {
        return Vec::new();
    }
    let text = text(&codegen.file).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let excerpts = places.iter().map(|place| excerpt(place, codegen, &lines));
    excerpts.filter(|e| !e.lines.is_empty()).collect()
}

/// Frames first, then code named by findings, then costly code.
fn places<'a>(job: &Job, codegen: &'a Codegen, diagnosis: &Diagnosis) -> Vec<Place<'a>> {
    let thrown = job.errors.iter().filter_map(|e| thrown(e, job, codegen));
    let own = || codegen.classes.iter().filter(|class| class.user_code);
    let named = diagnosis.findings.iter().flat_map(|finding| {
        let texts = texts(finding, diagnosis);
        own().filter(move |class| texts.iter().any(|text| names(text, &class.name)))
    });
    let costly = costly(diagnosis).into_iter().flat_map(|stage| {
        let stage = job.stages.iter().find(|s| s.name == stage);
        let operators = stage.map(|stage| stage.operators.as_slice());
        let operators = operators.unwrap_or_default();
        own().filter(move |class| operators.iter().any(|o| runs(o, class, codegen)))
    });
    let whole = |class| Place { class, line: None };
    let mut places: Vec<Place<'a>> = Vec::new();
    for place in thrown.chain(named.chain(costly).map(whole)) {
        if places.len() < EXCERPTS && places.iter().all(|p| p.class != place.class) {
            places.push(place);
        }
    }
    places
}

/// The class of an error's frame. Its line counts in the generated code, not in the script.
fn thrown<'a>(error: &JobError, job: &Job, codegen: &'a Codegen) -> Option<Place<'a>> {
    let of_frame = || {
        let frame = error.frame.as_deref()?.split(' ').next()?;
        frame.rsplit_once('.').map(|(class, _)| class)
    };
    let name = error.class_name.as_deref().or_else(of_frame)?;
    let is_generated = |file: &job::model::JobFile| {
        file.name == codegen.file && matches!(file.kind, FileKind::Codegen)
    };
    let line = error
        .codegen_line
        .filter(|_| job.files.iter().any(is_generated));
    let classes = || codegen.classes.iter().filter(|class| class.name == name);
    let within = |line: u32| classes().find(|class| range(class).contains(&line));
    match line.and_then(within) {
        Some(class) => Some(Place { class, line }),
        None => classes().next().map(|class| Place { class, line: None }),
    }
}

fn range(class: &CodegenClass) -> RangeInclusive<u32> {
    class.lines.0..=class.lines.1
}

fn texts<'d>(finding: &'d Finding, diagnosis: &'d Diagnosis) -> Vec<&'d str> {
    let cited = diagnosis.evidence.iter();
    let cited = cited.filter(|e| finding.evidence.contains(&e.id));
    let cited = cited.map(|e| e.text.as_str());
    cited.chain([finding.summary.as_str()]).collect()
}

/// Stages that spend a noticeable part of the time in user code, the costliest first.
fn costly(diagnosis: &Diagnosis) -> Vec<&str> {
    let Some(account) = &diagnosis.time else {
        return Vec::new();
    };
    let least = COSTLY * account.total_seconds();
    let mut sums = account.sums(|s| (s.kind, &s.stage));
    sums.retain(|s| s.first.kind == SegmentKind::UserCode && s.seconds() >= least);
    sums.sort_by(|a, b| b.seconds().total_cmp(&a.seconds()));
    sums.iter()
        .filter_map(|s| s.first.stage.as_deref())
        .collect()
}

/// Whether an operator runs a class: itself, as an argument, or from an expression of its generated class.
pub(crate) fn runs(operator: &Operator, class: &CodegenClass, codegen: &Codegen) -> bool {
    if names(&operator.class_name, &class.name) || names(&operator.args, &class.name) {
        return true;
    }
    let generated = codegen
        .classes
        .iter()
        .filter(|c| !c.user_code && c.name == operator.class_name);
    let mut expressions = generated.flat_map(|c| &c.expressions);
    expressions.any(|expression| names(expression, &class.name))
}

/// Whether a text has a name as a word.
fn names(text: &str, name: &str) -> bool {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .any(|word| word == name)
}

fn excerpt(place: &Place<'_>, codegen: &Codegen, lines: &[&str]) -> CodeExcerpt {
    let (first, last) = place.class.lines;
    let at = |number: u32| lines.get(number.saturating_sub(1) as usize).copied();
    let body = (first..=last).map_while(|number| Some((number, at(number)?)));
    let body: Vec<(u32, &str)> = body.collect();
    let center = place.line.unwrap_or_else(|| hot_line(&body));
    let first_line = first.max(center.saturating_sub(LINES_BEFORE));
    let shown = first_line..=last.min(center + LINES_AFTER);
    let shown = body.iter().filter(|(number, _)| shown.contains(number));
    CodeExcerpt {
        class: place.class.name.clone(),
        file: codegen.file.clone(),
        thrown_at: place.line,
        center,
        first_line,
        lines: shown.map(|(_, line)| bounded(line)).collect(),
    }
}

/// The loop over the rows of a class, else its first line.
fn hot_line(body: &[(u32, &str)]) -> u32 {
    let is_loop = |line: &str| {
        let line = line.trim_start();
        ["foreach", "for (", "for(", "while"]
            .iter()
            .any(|word| line.starts_with(word))
    };
    let of_rows = body
        .iter()
        .find(|(_, line)| is_loop(line) && line.contains("Rows"));
    let found = of_rows.or_else(|| body.iter().find(|(_, line)| is_loop(line)));
    found.or(body.first()).map_or(1, |(number, _)| *number)
}

fn bounded(line: &str) -> String {
    let mut line = line.trim_end().to_owned();
    shorten(&mut line, LINE_BYTES);
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "using System;\n\
        public class Parser : Processor\n{\n    static int Cost(string text)\n    {\n        return text.Length;\n    }\n\n    \
        public override IEnumerable<Row> Process(RowSet input, Row output, string[] args)\n    {\n        int seen = 0;\n        \
        foreach (Row row in input.Rows)\n        {\n            seen += Cost(row[0].String);\n            \
        output[0].Set(seen);\n            yield return output;\n        }\n    }\n}\n\
        public class Other : Processor\n{\n}\n";

    fn job(error: Option<JobError>) -> Job {
        let class = |name: &str, lines| CodegenClass {
            name: name.to_owned(),
            lines,
            user_code: true,
            expressions: Vec::new(),
            columns_read: None,
        };
        Job {
            codegen: Some(Codegen {
                file: "code.cs".to_owned(),
                classes: vec![class("Parser", (2, 19)), class("Other", (20, 22))],
            }),
            files: vec![job::model::JobFile {
                name: "code.cs".to_owned(),
                kind: FileKind::Codegen,
                read: true,
                bytes: CODE.len() as u64,
            }],
            errors: error.into_iter().collect(),
            ..Job::default()
        }
    }

    fn excerpts_of(job: &Job, findings: Vec<Finding>) -> Vec<CodeExcerpt> {
        let mut diagnosis = advice::diagnose(
            &Job::default(),
            &job::Catalogue::builtin(),
            &diagnosis::Settings::default(),
            report::Language::En,
        );
        diagnosis.findings = findings;
        excerpts(job, &diagnosis, &|file| {
            (file == "code.cs").then(|| CODE.to_owned())
        })
    }

    #[test]
    fn a_frame_is_shown_with_the_lines_around_it() {
        let error = JobError {
            class_name: Some("Parser".to_owned()),
            codegen_line: Some(6),
            ..JobError::default()
        };
        let found = excerpts_of(&job(Some(error)), Vec::new());
        let [excerpt] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!((excerpt.first_line, excerpt.thrown_at), (2, Some(6)));
        assert_eq!(excerpt.lines.len(), 10, "from the head of the class on");
        assert_eq!(excerpt.lines[4].trim(), "return text.Length;");
        let mut short = excerpt.clone();
        assert!(short.shorten() && !short.shorten());
        assert_eq!((short.first_line, short.lines.len()), (4, 5));
    }

    #[test]
    fn a_frame_without_a_line_is_shown_by_its_loop() {
        let error = JobError {
            frame: Some("Parser.Process".to_owned()),
            ..JobError::default()
        };
        let found = excerpts_of(&job(Some(error)), Vec::new());
        assert_eq!((found[0].center, found[0].first_line), (12, 6));
        assert_eq!(found[0].thrown_at, None);
    }

    #[test]
    fn nothing_is_shown_of_a_job_in_which_nothing_names_its_code() {
        assert_eq!(excerpts_of(&job(None), Vec::new()), []);
        assert_eq!(excerpts_of(&Job::default(), Vec::new()), []);
    }
}
