//! The offline reasoner on simulated jobs.

use std::collections::BTreeSet;
use std::path::Path;

use agent::Request;
use report::{Finding, Language, Report, Verdict};
use serde_json::json;

use crate::support::{self, *};

async fn report(request: &Request) -> Outcome {
    run(request, Setting::offline()).await
}

/// Causes and stages of findings.
fn found(findings: &[Finding]) -> Vec<(&str, Option<&str>)> {
    let findings = findings.iter();
    let places = findings.map(|f| (f.cause.code(), f.stage.as_deref()));
    places.collect()
}

/// The report follows its schema, and files that THINK 4 left unread would not change the
/// diagnosis.
fn check_schema_and_diagnosis(report: &Report, folder: &Path) {
    let job = job::load(folder).expect("a job");
    let (catalogue, settings) = (job::Catalogue::builtin(), diagnosis::Settings::default());
    let whole = advice::diagnose(&job, &catalogue, &settings, Language::En);
    let name = folder.display();
    assert_eq!(found(&report.findings), found(&whole.findings), "{name}");

    let validator = jsonschema::validator_for(&report::schema()).expect("a sound schema");
    let value = serde_json::to_value(report).expect("a report is JSON");
    let error = |e: jsonschema::ValidationError<'_>| format!("{}: {e}", e.instance_path());
    let errors: Vec<String> = validator.iter_errors(&value).map(error).collect();
    assert!(errors.is_empty(), "{name}: {errors:?}");
}

#[test]
fn the_written_schema_is_up_to_date() {
    let path = support::root().join("crates/report/report.schema.json");
    let expected = format!("{:#}\n", report::schema());
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, &expected).expect("the schema can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == expected,
        "run this test with UPDATE_SCHEMA=1 and commit {}",
        path.display()
    );
}

#[tokio::test]
async fn section_3_the_five_steps_conclude_with_experience_within_their_bounds() {
    for case in CASES {
        let report = report(&about(case)).await;
        check_schema_and_diagnosis(&report, &support::case(case));
        let steps: Vec<&str> = report.steps.iter().map(|s| s.id.as_str()).collect();
        let expected = ["think1", "think2", "think3", "think4", "think5"];
        assert_eq!(steps, expected, "{case}");
        for step in &report.steps {
            let experienced = report.experiences.iter().any(|e| e.step == step.id);
            let concluded = step.conclusion.is_object() && !step.text.is_empty();
            // A job without a problem needs no look-up.
            let needed = report.verdict != Verdict::Healthy;
            assert!(concluded && experienced == needed, "{case} {}", step.id);
        }
        for read in &report.files_read {
            let round = report.files_read.iter().filter(|f| f.round == read.round);
            let bounded = read.round == 0 || round.count() <= 3;
            assert!(bounded, "{case}: round {}", read.round);
        }
    }
}

/// Each step cites exactly the experience of its query that is about the findings.
#[tokio::test]
async fn every_step_cites_the_experience_that_fits() {
    for case in ["join-hot-key-skew", "excessive-shuffle"] {
        for language in [Language::En, Language::Zh] {
            let request = Request {
                language: Some(language),
                ..about(case)
            };
            let report = report(&request).await;
            for step in &report.steps {
                let given = report.experiences.iter().filter(|e| e.step == step.id);
                let mut used = given.filter(|e| e.used).map(|e| &e.chunk).peekable();
                let name = format!("{case} {language:?} {}: {}", step.id, step.text);
                assert!(used.peek().is_some(), "{name} cites nothing");
                for chunk in used {
                    let mut suggestions = report.suggestions.iter();
                    let supports = suggestions.any(|s| s.sources.contains(chunk));
                    assert!(step.text.contains(chunk) || supports, "{name}: {chunk}");
                }
            }
        }
    }
    // Without findings and missing information, no experience is relevant.
    let healthy = report(&healthy()).await;
    assert_eq!(healthy.steps[0].conclusion["experiences"], json!([]));
}

#[tokio::test]
async fn the_injected_cause_comes_first_and_healthy_jobs_get_none() {
    for (case, family) in [
        ("join-hot-key-skew", Some("skew.")),
        ("excessive-shuffle", Some("shuffle.")),
        ("healthy", None),
    ] {
        let report = report(&about(case)).await;
        let missing = &report.missing_information;
        let verdict = family.map_or(Verdict::Healthy, |_| Verdict::Problem);
        assert_eq!(report.verdict, verdict, "{case}: {missing:?}");
        let first = report.findings.first().map(|f| f.cause.code());
        let fits = |cause: &str| family.is_some_and(|family| cause.starts_with(family));
        assert_eq!(first.map(fits), family.map(|_| true), "{case}: {first:?}");
        assert!(family.is_none() || !report.suggestions.is_empty(), "{case}");
    }
}

#[tokio::test]
async fn section_6_the_bound_on_rounds_is_kept_and_said() {
    let setting = Setting {
        rounds: 0,
        ..Setting::offline()
    };
    let report = run(&skewed(), setting).await;
    let think4 = report.step("think4");
    let read = &report.files_read;
    assert!(read.iter().all(|f| f.round == 0), "{read:?}");
    assert_eq!(think4.conclusion["ended"], "round_limit", "{}", think4.text);
}

#[tokio::test]
async fn the_language_follows_the_question_unless_it_is_named() {
    for (question, named, expected) in [
        (Some("为什么这么慢？"), None, Language::Zh),
        (Some("why is it slow?"), None, Language::En),
        (Some("why is it slow?"), Some(Language::Zh), Language::Zh),
        (None, None, Language::En),
    ] {
        let request = Request {
            question: question.map(str::to_owned),
            language: named,
            ..skewed()
        };
        let report = report(&request).await;
        assert_eq!(report.language, expected);
        let text = &report.steps[0].text;
        assert_eq!(Language::of(text), expected, "{text}");
    }
}

/// The offline reasoner's text passes the checks for an LLM's answer.
#[tokio::test]
async fn evidence_ids_resolve_and_are_not_repeated() {
    for case in CASES {
        let report = report(&about(case)).await;
        let ids: BTreeSet<&String> = report.evidence.iter().map(|e| &e.id).collect();
        assert_eq!(ids.len(), report.evidence.len(), "{case}");
        let findings = report.findings.iter().chain(&report.notes);
        let rules = report.rules.iter().flat_map(|r| &r.evidence);
        for id in findings.flat_map(|f| &f.evidence).chain(rules) {
            assert!(ids.contains(id), "{case}: {id}");
        }
    }
}

/// The simulated jobs of the shared folder, where it is there.
#[tokio::test]
async fn every_shared_job_gets_a_report_with_the_diagnosis_of_a_fully_read_folder() {
    let Some(jobs) = testkit::shared("jobs-dev") else {
        return;
    };
    for entry in std::fs::read_dir(jobs).expect("listed").flatten() {
        if entry.file_name().to_string_lossy().starts_with("job-") {
            let request = Request {
                job: entry.path(),
                ..Request::default()
            };
            check_schema_and_diagnosis(&report(&request).await.report, &entry.path());
        }
    }
}
