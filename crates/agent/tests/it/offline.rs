//! The offline reasoner on simulated jobs.

use agent::{Limits, Request};
use report::{Language, Report, Verdict};

use crate::support::{self, CASES, Setting, about};

async fn report(request: &Request) -> Report {
    support::run(request, Setting::offline())
        .await
        .0
        .expect("a report")
}

#[tokio::test]
async fn every_case_gets_a_report_that_follows_the_schema() {
    let validator = jsonschema::validator_for(&report::schema()).expect("a sound schema");
    for case in CASES {
        let value = serde_json::to_value(report(&about(case)).await).expect("a report is JSON");
        let errors: Vec<String> = validator
            .iter_errors(&value)
            .map(|e| format!("{}: {e}", e.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{case}: {errors:?}");
    }
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
async fn the_five_steps_conclude_with_experience_each() {
    for case in CASES {
        let report = report(&about(case)).await;
        let steps: Vec<&str> = report.steps.iter().map(|s| s.id.as_str()).collect();
        assert_eq!(
            steps,
            ["think1", "think2", "think3", "think4", "think5"],
            "{case}"
        );
        for step in &report.steps {
            assert!(step.conclusion.is_object(), "{case} {}", step.id);
            assert!(!step.text.is_empty(), "{case} {}", step.id);
            assert!(
                report.experiences.iter().any(|e| e.step == step.id),
                "{case} {} has no experience",
                step.id
            );
        }
    }
}

/// Each step cites the experience of its own query that is about what was found, and no other.
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
                let given: Vec<&str> = report
                    .experiences
                    .iter()
                    .filter(|e| e.step == step.id)
                    .map(|e| e.chunk.as_str())
                    .collect();
                let used = report
                    .experiences
                    .iter()
                    .filter(|e| e.step == step.id && e.used);
                let used: Vec<&str> = used.map(|e| e.chunk.as_str()).collect();
                assert!(
                    !used.is_empty(),
                    "{case} {language:?} {} cites none of {given:?}",
                    step.id
                );
                for chunk in &used {
                    let supports = report
                        .suggestions
                        .iter()
                        .any(|s| s.sources.iter().any(|c| c == chunk));
                    assert!(
                        step.text.contains(chunk) || supports,
                        "{case} {}: {}",
                        step.id,
                        step.text
                    );
                }
            }
        }
    }
    // Where nothing was found and nothing is missing, no experience is about it.
    let healthy = report(&about("healthy")).await;
    assert_eq!(
        healthy.steps[0].conclusion["experiences"],
        serde_json::json!([])
    );
}

#[tokio::test]
async fn the_injected_cause_comes_first_and_healthy_jobs_get_none() {
    for (case, cause) in [
        ("join-hot-key-skew", Some("skew.")),
        ("excessive-shuffle", Some("shuffle.")),
        ("healthy", None),
    ] {
        let report = report(&about(case)).await;
        match cause {
            Some(family) => {
                assert_eq!(
                    report.verdict,
                    Verdict::Problem,
                    "{case}: {:?}",
                    report.missing_information
                );
                assert!(
                    report.findings[0].cause.code().starts_with(family),
                    "{case}: {}",
                    report.findings[0].cause
                );
                assert!(!report.suggestions.is_empty(), "{case} has no suggestion");
            }
            None => {
                assert_eq!(
                    report.verdict,
                    Verdict::Healthy,
                    "{case}: {:?}",
                    report.missing_information
                );
                assert!(report.findings.is_empty(), "{case}: {:?}", report.findings);
            }
        }
    }
}

/// Whatever THINK 4 leaves unread would not change the diagnosis.
#[tokio::test]
async fn reading_on_demand_finds_what_reading_everything_finds() {
    for case in CASES {
        let report = report(&about(case)).await;
        let job = job::load(&support::case(case)).expect("a job");
        let whole = diagnosis::diagnose(
            &job,
            &job::Catalogue::builtin(),
            &diagnosis::Settings::default(),
            report::Language::En,
        );
        let found: Vec<(&str, Option<&str>)> = report
            .findings
            .iter()
            .map(|f| (f.cause.code(), f.stage.as_deref()))
            .collect();
        let expected: Vec<(&str, Option<&str>)> = whole
            .findings
            .iter()
            .map(|f| (f.cause.code(), f.stage.as_deref()))
            .collect();
        assert_eq!(found, expected, "{case}");
    }
}

#[tokio::test]
async fn a_round_reads_at_most_three_files() {
    for case in CASES {
        let report = report(&about(case)).await;
        let rounds = report.files_read.iter().map(|f| f.round).max().unwrap_or(0);
        for round in 1..=rounds {
            let files = report
                .files_read
                .iter()
                .filter(|f| f.round == round)
                .count();
            assert!(
                files <= Limits::default().files_per_round,
                "{case}: {files} files in round {round}"
            );
        }
    }
}

#[tokio::test]
async fn the_bound_on_rounds_is_kept_and_said() {
    let setting = Setting {
        rounds: 0,
        ..Setting::offline()
    };
    let report = support::run(&about("join-hot-key-skew"), setting)
        .await
        .0
        .expect("a report");
    let think4 = report
        .steps
        .iter()
        .find(|s| s.id == "think4")
        .expect("THINK 4");
    assert!(
        report.files_read.iter().all(|f| f.round == 0),
        "{:?}",
        report.files_read
    );
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
            ..about("join-hot-key-skew")
        };
        let report = report(&request).await;
        assert_eq!(report.language, expected);
        assert_eq!(
            Language::of(&report.steps[0].text),
            expected,
            "{}",
            report.steps[0].text
        );
    }
}

/// What the offline reasoner says passes the checks that an LLM's answer has to pass.
#[tokio::test]
async fn evidence_ids_resolve_and_are_not_repeated() {
    for case in CASES {
        let report = report(&about(case)).await;
        let ids: Vec<&str> = report.evidence.iter().map(|e| e.id.as_str()).collect();
        let distinct: std::collections::BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(ids.len(), distinct.len(), "{case}");
        let rules = report.rules.iter().flat_map(|r| &r.evidence);
        for id in report
            .findings
            .iter()
            .chain(&report.notes)
            .flat_map(|f| &f.evidence)
            .chain(rules)
        {
            assert!(distinct.contains(id.as_str()), "{case}: {id}");
        }
    }
}

/// The simulated jobs of the shared folder, where it is there.
#[tokio::test]
async fn every_shared_job_gets_a_report_with_the_diagnosis_of_a_fully_read_folder() {
    let Some(jobs) = testkit::shared("jobs-dev") else {
        return;
    };
    let entries = std::fs::read_dir(jobs).expect("listed");
    let validator = jsonschema::validator_for(&report::schema()).expect("a sound schema");
    for entry in entries
        .flatten()
        .filter(|e| e.file_name().to_string_lossy().starts_with("job-"))
    {
        let request = Request {
            job: entry.path(),
            ..Request::default()
        };
        let report = report(&request).await;
        let job = job::load(&entry.path()).expect("a job");
        let whole = diagnosis::diagnose(
            &job,
            &job::Catalogue::builtin(),
            &diagnosis::Settings::default(),
            report::Language::En,
        );
        let found: Vec<&str> = report.findings.iter().map(|f| f.cause.code()).collect();
        let expected: Vec<&str> = whole.findings.iter().map(|f| f.cause.code()).collect();
        assert_eq!(found, expected, "{}", entry.path().display());
        let value = serde_json::to_value(report).expect("a report is JSON");
        assert!(validator.is_valid(&value), "{}", entry.path().display());
    }
}
