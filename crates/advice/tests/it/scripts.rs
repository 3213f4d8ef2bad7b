//! Scripts that are not the one that ran, or have other lines: a problem never becomes healthy without a diagnostic.

use std::path::{Path, PathBuf};

use job::{Catalogue, Job};
use report::{Language, Verdict};
use testkit::shared;

use advice::diagnose;
use diagnosis::{Diagnosis, Settings};

fn diagnosed(folder: &Path) -> (Job, Diagnosis) {
    let job = job::load(folder).expect("a job");
    let catalogue = Catalogue::builtin();
    let found = diagnose(&job, &catalogue, &Settings::default(), Language::En);
    (job, found)
}

/// The script file of a folder.
fn script_of(folder: &Path) -> Option<PathBuf> {
    let files = std::fs::read_dir(folder).ok()?.flatten().map(|f| f.path());
    let is_script = |f: &PathBuf| f.extension().is_some_and(|e| e == "script" || e == "usql");
    files.into_iter().find(is_script)
}

/// A copy of a folder with another script.
fn with_script(folder: &Path, script: &Path, text: &str) -> tempfile::TempDir {
    let copy = tempfile::tempdir().expect("a temporary folder");
    for file in std::fs::read_dir(folder).expect("a folder").flatten() {
        std::fs::copy(file.path(), copy.path().join(file.file_name())).ok();
    }
    let own = copy.path().join(script.file_name().expect("a name"));
    std::fs::remove_file(&own).expect("the script can be removed");
    std::fs::write(own, text).expect("the script can be written");
    copy
}

/// Causes and stages of the findings.
fn places(found: &Diagnosis) -> Vec<(&'static str, Option<&str>)> {
    let findings = found.findings.iter();
    findings
        .map(|f| (f.cause.code(), f.stage.as_deref()))
        .collect()
}

fn notes(job: &Job) -> bool {
    job.script_of_another_run || !job.line_shifts.is_empty() || job.script.is_none()
}

#[test]
fn no_problem_becomes_healthy_with_another_script() {
    let Some(jobs) = shared("jobs-dev") else {
        return;
    };
    let folders = (0..24).map(|n| jobs.join(format!("job-{n:03}")));
    let all: Vec<(PathBuf, PathBuf, String)> = folders
        .filter_map(|folder| {
            let script = script_of(&folder)?;
            let text = std::fs::read_to_string(&script).ok()?;
            Some((
                folder,
                script,
                text.trim_start_matches('\u{feff}').to_owned(),
            ))
        })
        .collect();
    let mut wrong = Vec::new();
    for (at, (folder, script, text)) in all.iter().enumerate() {
        let (job, usual) = diagnosed(folder);
        assert!(!notes(&job), "{} has its own script", folder.display());
        let half: String = text
            .split_inclusive('\n')
            .take(text.lines().count() / 2)
            .collect();
        let others = [
            ("blank line", format!("\n{text}")),
            ("include", format!("#INCLUDE \"common.script\"\n{text}")),
            ("header", format!("// owner\n// history\n\n{text}")),
            ("half", half),
            ("another", all[(at + 1) % all.len()].2.clone()),
        ];
        for (what, text) in others {
            let copy = with_script(folder, script, &text);
            let (job, found) = diagnosed(copy.path());
            let lines = matches!(what, "blank line" | "include" | "header");
            if lines && (job.line_shifts.is_empty() || places(&found) != places(&usual)) {
                wrong.push(format!("{what}: {} has other findings", folder.display()));
            }
            if what == "another" && !job.script_of_another_run {
                wrong.push(format!("{what}: {} takes it for its own", folder.display()));
            }
            let was = usual.verdict == Verdict::Problem;
            if was && found.verdict == Verdict::Healthy && !notes(&job) {
                wrong.push(format!("{what}: {} is healthy", folder.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every simulated job has the script that ran, and lines on top of it are found out.
#[test]
fn the_script_of_a_job_is_recognized_with_lines_on_top() {
    let mut wrong = Vec::new();
    for case in simulator::cases() {
        let simulated = simulator::simulate(&case.request).expect("a case can be simulated");
        let dir = tempfile::tempdir().expect("a temporary folder");
        simulated.write(dir.path()).expect("a case can be written");
        let job = job::load(dir.path()).expect("a job");
        if job.script_of_another_run || !job.line_shifts.is_empty() {
            wrong.push(format!("{}: {:?}", case.name, job.diagnostics));
        }
        let Some(script) = script_of(dir.path()).filter(|_| job.script.is_some()) else {
            continue;
        };
        let text = std::fs::read_to_string(&script).unwrap_or_default();
        let text = format!("// one\n\n{}", text.trim_start_matches('\u{feff}'));
        let copy = with_script(dir.path(), &script, &text);
        let moved = job::load(copy.path()).expect("a job");
        let is_placed = job
            .stages
            .iter()
            .flat_map(|s| &s.operators)
            .any(|op| op.line.is_some());
        if is_placed && moved.line_shifts != [(0, 2)] {
            wrong.push(format!("{}: shifted by {:?}", case.name, moved.line_shifts));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
