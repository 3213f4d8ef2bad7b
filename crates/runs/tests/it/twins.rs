//! Two runs of the same simulated job that differ in one thing: the comparison names that thing first.

use agent::offline::Offline;
use agent::{Analysis, Request, Services, Silent};
use report::Language;
use runs::RunSummary;
use runs::compare::{ComparedRun, Comparison, Origin, ReasonKind, compare};
use simulator::{CAUSES, Rerun, SimulatedJob, simulate_reruns, simulate_twins};

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

async fn compared([a, b]: [&SimulatedJob; 2]) -> Comparison {
    compare(&analyzed(a).await, &analyzed(b).await, Language::En)
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

/// Measured over every cause.
#[tokio::test]
async fn the_first_reason_is_the_cause_of_the_bad_run() {
    let (mut pairs, mut first, mut second, mut missed) = (0, 0, 0, Vec::new());
    let seeds = [7, 8];
    let cases = CAUSES.iter().flat_map(|c| seeds.map(|seed| (c, seed)));
    for ((cause, code), seed) in cases {
        let request = simulator::Request {
            tidy: true,
            ..simulator::Request::single(*cause, seed)
        };
        let Some((good, bad)) = simulate_twins(&request) else {
            continue;
        };
        let c = compared([&good, &bad]).await;
        assert!(adds_up(&c), "{:#?}", c.reasons);
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
    assert!(first * 10 >= pairs * 9, "{first} of {pairs}: {missed:#?}");
}

fn adds_up(c: &Comparison) -> bool {
    let shares = c.reasons.iter().filter_map(|r| r.share);
    shares.sum::<f64>() < 1.0 + 1e-9
}

/// One thing changed between two runs with different noise, and the reasons that name it.
fn changes() -> Vec<(&'static str, Rerun, &'static [ReasonKind])> {
    use ReasonKind::{Data, Finding, Machines, Plan, Queue, Tokens};
    let plain = || Rerun {
        luck: 1,
        ..Rerun::default()
    };
    vec![
        (
            "input × 1.7",
            Rerun {
                input: 1.7,
                ..plain()
            },
            &[Data],
        ),
        (
            "input × 3",
            Rerun {
                input: 3.0,
                ..plain()
            },
            &[Data],
        ),
        (
            "input × 0.4",
            Rerun {
                input: 0.4,
                ..plain()
            },
            &[Data],
        ),
        (
            "tokens × 0.6",
            Rerun {
                tokens: 0.6,
                ..plain()
            },
            &[Tokens],
        ),
        (
            "tokens × 0.3",
            Rerun {
                tokens: 0.3,
                ..plain()
            },
            &[Tokens],
        ),
        (
            "tokens × 2",
            Rerun {
                tokens: 2.0,
                ..plain()
            },
            &[Tokens],
        ),
        (
            "speed × 0.6",
            Rerun {
                speed: 0.6,
                ..plain()
            },
            &[Machines],
        ),
        (
            "speed × 1.8",
            Rerun {
                speed: 1.8,
                ..plain()
            },
            &[Machines],
        ),
        (
            "queue + 200 s",
            Rerun {
                queue_s: 200.0,
                ..plain()
            },
            &[Queue, Finding],
        ),
        (
            "plan",
            Rerun {
                plan: true,
                ..plain()
            },
            &[Plan, Finding],
        ),
    ]
}

#[tokio::test]
async fn the_first_reason_is_what_changed_between_two_runs() {
    let (mut pairs, mut right, mut missed) = (0, 0, Vec::new());
    for (what, rerun, expected) in changes() {
        let mut of_kind = 0;
        for seed in 0..60 {
            let request = simulator::Request {
                tidy: true,
                ..simulator::Request::healthy(seed)
            };
            let Some(jobs) = simulate_reruns(&request, &[Rerun::default(), rerun.clone()]) else {
                continue;
            };
            let c = compared([&jobs[0], &jobs[1]]).await;
            assert!(adds_up(&c), "{:#?}", c.reasons);
            let reason = &c.reasons[0];
            // Some changes cost no time, as in a job with stages that need few tokens.
            if reason.kind == ReasonKind::NoDifference {
                continue;
            }
            (pairs, of_kind) = (pairs + 1, of_kind + 1);
            if expected.contains(&reason.kind) {
                right += 1;
            } else {
                missed.push(format!(
                    "{what}, seed {seed}: {} {:#?}",
                    c.headline, c.reasons
                ));
            }
            if of_kind == 8 {
                break;
            }
        }
    }
    eprintln!("{right} of {pairs} right; missed {}", missed.join("\n"));
    assert!(pairs >= 60, "only {pairs} pairs could be simulated");
    assert!(right * 10 >= pairs * 9, "{right} of {pairs}");
}

#[tokio::test]
async fn a_job_compared_with_itself_differs_in_nothing() {
    let job = simulator::simulate(&simulator::Request::healthy(3)).expect("a job");
    let c = compared([&job, &job]).await;
    assert_eq!(c.reasons[0].kind, ReasonKind::NoDifference, "{c:#?}");
    assert!(c.plan.is_empty() && c.stages.iter().all(|s| !s.notable));
}
