//! Diagnoses every job folder below a folder and writes minimal contract reports, for scoring
//! without the program: `diagnose_jobs JOBS REPORTS [--explain JOB]`.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line helper"
)]

use std::path::Path;
use std::time::Instant;

use diagnosis::model::{Diagnosis, Fact, Finding, Outcome, ProblemType, Verdict};
use diagnosis::{Settings, diagnose};
use job::{Catalogue, Job};
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
        .collect();
    folders.sort();
    for folder in folders
        .iter()
        .filter(|f| f.is_dir() && !f.ends_with("truth"))
    {
        let name = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if rest.first().is_some_and(|only| *only != name) {
            continue;
        }
        let read = Instant::now();
        let job = match job::load(folder) {
            Ok(job) => job,
            Err(e) => {
                eprintln!("{name}: {e}");
                continue;
            }
        };
        let (read, start) = (read.elapsed(), Instant::now());
        let diagnosis = diagnose(&job, &Catalogue::builtin(), &Settings::default());
        if rest.is_empty() {
            println!(
                "{name}: {:?} {} findings, read {read:?}, diagnosed {:?}",
                diagnosis.verdict,
                diagnosis.findings.len(),
                start.elapsed()
            );
        } else {
            explain(&job, &diagnosis);
        }
        let report = report(&job, &diagnosis, folder);
        std::fs::write(
            Path::new(reports).join(format!("{name}.json")),
            serde_json::to_string(&report)?,
        )?;
    }
    Ok(())
}

fn explain(job: &Job, diagnosis: &Diagnosis) {
    if let Some(run) = diagnosis::impact::RunModel::of(job, &job.facts()) {
        println!(
            "elapsed {:.1} s, replayed {:.1} s on {} tokens",
            run.elapsed_s, run.replayed_s, run.tokens
        );
    }
    for (kind, list) in [("FINDING", &diagnosis.findings), ("note", &diagnosis.notes)] {
        for f in list {
            println!(
                "{kind} {} {:?} {:?} conf {:.2} impact {:?}\n    {}",
                f.cause,
                f.stage,
                f.script_lines,
                f.confidence,
                f.impact.as_ref().map(|i| i.seconds_saved),
                f.summary.en
            );
            for e in &f.evidence {
                println!(
                    "      {} = {:?} {:?} @ {} {:?}",
                    e.metric, e.value, e.expected, e.source.file, e.source.locator
                );
            }
        }
    }
    for rule in &diagnosis.rules {
        match &rule.outcome {
            Outcome::Abstained { lacking } => {
                println!("abstained {} lacking {lacking:?}", rule.cause)
            }
            Outcome::Cleared { by } => println!("cleared {}: {}", rule.cause, by.en),
            Outcome::Fired { .. } => {}
        }
    }
    for m in &diagnosis.completeness.missing {
        println!(
            "missing {} in {} (present {}) relevance {:.2}: {}",
            m.info, m.file, m.present, m.relevance, m.reason.en
        );
    }
}

fn report(job: &Job, d: &Diagnosis, folder: &Path) -> Value {
    let mut evidence: Vec<Value> = Vec::new();
    let findings: Vec<Value> = d
        .findings
        .iter()
        .enumerate()
        .map(|(i, f)| finding(i, f, &mut evidence))
        .collect();
    let kind = d
        .findings
        .first()
        .map_or(ProblemType::None, |f| f.cause.problem_type());
    let verdict = match d.verdict {
        Verdict::Problem => "problem",
        Verdict::Healthy => "healthy",
        Verdict::InsufficientInformation => "insufficient_information",
    };
    let missing: Vec<Value> = d
        .completeness
        .missing
        .iter()
        .map(|m| json!({"info": m.info, "file": m.file, "present": m.present, "would_decide": m.would_decide, "reason": m.reason.en}))
        .collect();
    json!({
        "schema_version": 1, "run_id": "01J00000000000000000000000",
        "job": {"id": job.info.id, "name": job.info.name, "path": folder, "state": job.info.state,
            "elapsed_seconds": job.info.elapsed_seconds, "stages": job.stages.len(), "vertices": null},
        "question": null, "language": "en", "engine": {"reasoner": "offline", "provider": null, "model": null},
        "verdict": verdict, "problem_type": kind, "findings": findings, "evidence": evidence, "missing_information": missing,
        "suggestions": [], "experiences": [], "steps": [], "files_read": [], "diagnostics": []
    })
}

fn finding(index: usize, f: &Finding, evidence: &mut Vec<Value>) -> Value {
    let ids: Vec<String> = f
        .evidence
        .iter()
        .map(|fact| {
            let id = format!("E{}", evidence.len() + 1);
            evidence.push(fact_json(&id, fact));
            id
        })
        .collect();
    json!({
        "id": format!("F{}", index + 1), "cause": f.cause, "problem_type": f.cause.problem_type(), "severity": f.severity,
        "confidence": f.confidence, "stage": f.stage, "script_lines": f.script_lines.map(|(a, b)| vec![a, b]),
        "summary": f.summary.en, "evidence": ids,
        "impact": f.impact
    })
}

fn fact_json(id: &str, fact: &Fact) -> Value {
    json!({"id": id, "metric": fact.metric, "value": fact.value, "unit": fact.unit, "expected": fact.expected,
        "source": fact.source, "text": fact.text.en})
}
