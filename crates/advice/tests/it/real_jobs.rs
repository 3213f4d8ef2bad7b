//! Real folders of local runs, read in place.

use diagnosis::Diagnosis;
use report::{Cause, ProblemType, Verdict};
use testkit::shared;

use crate::support::diagnose;

fn diagnosed(name: &str) -> Option<Diagnosis> {
    let jobs = shared("real/jobs")?;
    let job = job::load(&jobs.join(name)).expect("a real job can be read");
    Some(diagnose(&job))
}

#[test]
fn local_runs_get_no_finding_and_are_not_called_healthy() {
    for name in [
        "usql-antisemijoin",
        "usql-csharp-projection",
        "usql-2016-aggregate",
    ] {
        let Some(d) = diagnosed(name) else { return };
        assert!(d.findings.is_empty(), "{name}: {:?}", d.findings);
        let verdict = Verdict::InsufficientInformation;
        assert_eq!(d.verdict, verdict, "{name}: {:?}", d.missing);
        let first = d.missing.first().map(|m| m.information.info.as_str());
        assert_eq!(first, Some("job_times"), "{name}: {:?}", d.missing);
    }
}

#[test]
fn the_failed_run_names_expression_and_line() {
    let Some(d) = diagnosed("usql-runtime-failure") else {
        return;
    };
    let finding = d.findings.first().expect("a finding");
    assert_eq!(finding.cause, Cause::UserCodeFailure);
    assert!(
        d.findings
            .iter()
            .all(|f| f.problem_type != ProblemType::DataSkew)
    );
    assert!(
        finding.summary.contains("SET_NUMBER.IndexOf"),
        "{}",
        finding.summary
    );
    assert!(
        finding.script_lines.is_some(),
        "the expression is located in the script"
    );
}
