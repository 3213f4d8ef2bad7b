//! Diagnoses every job folder and event log below a folder and writes minimal contract reports, for scoring
//! without the program: `diagnose_jobs JOBS REPORTS [JOB]`; with a job, explains that one.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line helper"
)]

use std::path::Path;
use std::time::Instant;

use advice::diagnose;
use diagnosis::{Diagnosis, Settings};
use job::{Catalogue, Job};
use report::Language;
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [jobs, reports, rest @ ..] = args.as_slice() else {
        return Err("usage: diagnose_jobs JOBS REPORTS [JOB]".into());
    };
    std::fs::create_dir_all(reports)?;
    let mut folders: Vec<_> = std::fs::read_dir(jobs)?
        .filter_map(Result::ok)
        .map(|e| e.path())
        .filter(|f| !f.ends_with("truth"))
        .collect();
    folders.sort();
    for folder in folders {
        let name = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if rest.first().is_some_and(|only| *only != name) {
            continue;
        }
        let read = Instant::now();
        let job = match job::load(&folder) {
            Ok(job) => job,
            Err(e) => {
                eprintln!("{name}: {e}");
                continue;
            }
        };
        let (read, start) = (read.elapsed(), Instant::now());
        let settings = Settings::default();
        let diagnosis = diagnose(&job, &Catalogue::builtin(), &settings, Language::En);
        if rest.is_empty() {
            println!(
                "{name}: {:?} {} findings, read {read:?}, diagnosed {:?}",
                diagnosis.verdict,
                diagnosis.findings.len(),
                start.elapsed()
            );
        } else {
            explain(&job, &diagnosis)?;
        }
        std::fs::write(
            Path::new(reports).join(format!("{name}.json")),
            report(&job, &diagnosis, &folder).to_string(),
        )?;
    }
    Ok(())
}

fn explain(job: &Job, d: &Diagnosis) -> serde_json::Result<()> {
    if let Some(run) = diagnosis::impact::RunModel::of(job, &job.facts()) {
        println!(
            "elapsed {:.1} s, replayed {:.1} s on {} tokens",
            run.elapsed_s, run.replayed_s, run.tokens
        );
    }
    for part in [
        serde_json::to_string_pretty(&d.findings)?,
        serde_json::to_string_pretty(&d.notes)?,
        serde_json::to_string_pretty(&d.evidence)?,
        serde_json::to_string_pretty(&d.rules)?,
        serde_json::to_string_pretty(&d.missing)?,
        serde_json::to_string_pretty(&d.time)?,
    ] {
        println!("{part}");
    }
    Ok(())
}

fn report(job: &Job, d: &Diagnosis, folder: &Path) -> Value {
    let missing: Vec<_> = d.missing.iter().map(|m| &m.information).collect();
    json!({
        "schema_version": 1, "run_id": "01J00000000000000000000000",
        "job": {"id": job.info.id, "name": job.info.name, "path": folder, "state": job.info.state,
            "elapsed_seconds": job.info.elapsed_seconds, "stages": job.stages.len(), "vertices": null},
        "question": null, "language": "en", "engine": {"reasoner": "offline", "provider": null, "model": null},
        "verdict": d.verdict, "problem_type": d.problem_type(), "findings": d.findings, "evidence": d.evidence, "time": d.time, "rules": d.rules,
        "missing_information": missing,
        "suggestions": [], "experiences": [], "steps": [], "files_read": [], "diagnostics": []
    })
}
