//! Reports of runs.

pub(crate) use report::Report;
use report::measure::{Measure, Value, Values};
use report::*;

/// A healthy run of 100 seconds.
pub(crate) fn report() -> Report {
    Report {
        schema_version: SCHEMA_VERSION,
        run_id: "01RUN".into(),
        job: JobSummary {
            name: Some("Daily".into()),
            path: "jobs/daily".into(),
            state: JobState::Succeeded,
            elapsed_seconds: Some(100.0),
            stages: Some(2),
            vertices: Some(20),
            ..JobSummary::default()
        },
        question: None,
        answer: None,
        time: None,
        cost: None,
        language: Language::En,
        engine: Engine {
            reasoner: ReasonerKind::Offline,
            provider: None,
            model: None,
            fallback: None,
        },
        verdict: Verdict::Healthy,
        problem_type: ProblemType::None,
        findings: Vec::new(),
        evidence: Vec::new(),
        missing_information: Vec::new(),
        suggestions: Vec::new(),
        experiences: Vec::new(),
        steps: Vec::new(),
        files_read: Vec::new(),
        diagnostics: Vec::new(),
        usage: None,
        checks: None,
        notes: Vec::new(),
        rules: Vec::new(),
        partial: false,
    }
}

/// A finding about the second stage.
pub(crate) fn finding(cause: &str, seconds_saved: f64) -> Finding {
    Finding {
        id: "F1".into(),
        cause: Cause::from_code(cause).expect("a known cause"),
        problem_type: ProblemType::DataSkew,
        severity: Severity::High,
        confidence: 0.9,
        stage: Some("SV2_Combine".into()),
        script_lines: Some([1, 2]),
        summary: "one key has most rows".into(),
        evidence: Vec::new(),
        impact: Some(Impact {
            seconds_saved,
            share_of_elapsed: None,
            vertex_hours_saved: None,
            method: "replay".into(),
        }),
    }
}

pub(crate) fn suggestion() -> Suggestion {
    Suggestion {
        id: "S1".into(),
        finding: Some("F1".into()),
        kind: SuggestionKind::Hint,
        title: "add a hint".into(),
        steps: Vec::new(),
        settings: Vec::new(),
        diff: None,
        verified: None,
        gain: String::new(),
        seconds_saved: None,
        pros: Vec::new(),
        cons: Vec::new(),
        sources: vec!["experience/a.md#fix".into(), "experience/b.md#fix".into()],
        origin: Origin::Rules,
        unverified: Vec::new(),
    }
}

/// Values that were read in one file.
pub(crate) fn values(file: &str, numbers: &[(&'static Measure, f64)]) -> Values {
    let mut values = Values::default();
    for (measure, number) in numbers {
        let source = Source {
            file: file.to_owned(),
            locator: None,
        };
        values.set(measure, Value::at(*number, source));
    }
    values
}

/// Changes one of the values.
pub(crate) fn set(values: &mut Values, measure: &'static Measure, number: f64) {
    values.set(measure, Value::unsaved(number));
}
