//! A good and a bad run of the same simulated job: the comparison names the cause that was put into
//! the bad one.

use agent::offline::Offline;
use agent::{Analysis, Request, Services, Silent};
use report::Language;
use runs::RunSummary;
use runs::compare::{ComparedRun, Comparison, Origin, ReasonKind, compare};
use simulator::{CAUSES, Cause, SimulatedJob};

async fn analyzed(job: &SimulatedJob) -> ComparedRun {
    let folder = tempfile::tempdir().expect("folder");
    job.write(folder.path()).expect("written");
    let request = Request {
        job: folder.path().to_path_buf(),
        language: Some(Language::En),
        ..Request::default()
    };
    let (catalogue, settings) = (job::Catalogue::builtin(), diagnosis::Settings::default());
    let services = Services::new(&catalogue, &settings, Box::new(Offline));
    let Analysis { report, job, .. } = agent::analyze(&request, &services, &mut Silent)
        .await
        .expect("a report");
    ComparedRun {
        report,
        summary: RunSummary::of(&job),
        origin: Origin::Folder,
    }
}

async fn compared(cause: Cause, seed: u64) -> Option<Comparison> {
    let (good, bad) = simulator::simulate_twins(&simulator::Request {
        tidy: true,
        ..simulator::Request::single(cause, seed)
    })?;
    Some(compare(
        &analyzed(&good).await,
        &analyzed(&bad).await,
        Language::En,
    ))
}

/// Whether a reason names a cause: by its finding, or by the properties that make up the cause.
fn names(c: &Comparison, place: usize, code: &str) -> bool {
    let Some(reason) = c.reasons.get(place) else {
        return false;
    };
    reason.cause.as_deref() == Some(code)
        || (code == "queue.wait" && reason.kind == ReasonKind::Queue)
        || (code.starts_with("failure.") && reason.kind == ReasonKind::Failure)
        || (code == "failure.vertex_retries" && reason.kind == ReasonKind::LostWork)
}

/// Measured over every cause: the first reason is the cause itself in nearly all pairs, the first
/// two always.
#[tokio::test]
async fn the_first_reason_is_what_was_put_into_the_bad_run() {
    let (mut pairs, mut first, mut second, mut missed) = (0, 0, 0, Vec::new());
    let seeds = [7, 8];
    let cases = CAUSES.iter().flat_map(|c| seeds.map(|seed| (c, seed)));
    for ((cause, code), seed) in cases {
        let Some(c) = compared(*cause, seed).await else {
            continue;
        };
        pairs += 1;
        if names(&c, 0, code) {
            first += 1;
        } else if names(&c, 1, code) {
            second += 1;
        } else {
            missed.push(format!("{code}: {}", c.headline));
        }
    }
    eprintln!("{pairs} pairs: first reason {first}, second {second}, missed {missed:#?}");
    assert!(pairs >= 40, "only {pairs} pairs could be simulated");
    assert!(first * 10 >= pairs * 8, "{first} of {pairs}: {missed:#?}");
    assert!((first + second) * 10 >= pairs * 9, "{missed:#?}");
}

#[tokio::test]
async fn a_job_compared_with_itself_differs_in_nothing() {
    let job = simulator::simulate(&simulator::Request::healthy(3)).expect("a job");
    let (a, b) = (analyzed(&job).await, analyzed(&job).await);
    let c = compare(&a, &b, Language::En);
    assert_eq!(c.reasons[0].kind, ReasonKind::NoDifference, "{c:#?}");
    assert!(c.plan.is_empty() && c.stages.iter().all(|s| !s.notable));
}
