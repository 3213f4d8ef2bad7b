//! Overhead of the chain with a model that takes half a second to answer.
//!
//! `cargo bench -p agent` analyzes a committed job against a scripted server. For each depth it prints the calls, the
//! number of sequential calls, the time from the first step to the report, and the overhead per call beyond the model's
//! time. It also prints the time of an offline analysis with and without searches.

#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::model::LlmReasoner;
use agent::offline::Offline;
use agent::{Depth, Event, ExperienceSource, Reasoner, Request, Services};
use llm::{LlmOptions, Model, Profile, Provider};
use serde_json::{Value, json};
use testkit::knowledge::{index, root};
use testkit::llm::think::{is_merged, step_of};
use testkit::llm::{Recorded, Server, Turn};

const THINKS: Duration = Duration::from_millis(500);

/// Runs of each way; the median counts.
const RUNS: usize = 5;

fn conclusion(step: &str) -> Value {
    match step {
        "think1" => json!({ "problem_type": "data_skew", "findings": ["F1"], "evidence": ["E1"],
                            "text": "The join is skewed [E1]; the hot key is in one vertex." }),
        "think2" => json!({ "modules": [], "text": "The join repartitions both inputs." }),
        "think3" => json!({ "causes": [], "text": "One key has most rows [E1]." }),
        "think4" => json!({ "sufficient": true, "basis": "The facts suffice [E1]." }),
        "think5" => {
            json!({ "recommendations": [], "additional": [], "text": "Split the hot key off." })
        }
        _ => json!({ "hypotheses": [], "text": "None." }),
    }
}

fn answer(request: &Recorded) -> Turn {
    let said = if is_merged(request) {
        let steps = ["think1", "think2", "think3"].into_iter();
        steps.map(|s| (s.to_owned(), conclusion(s))).collect()
    } else {
        conclusion(step_of(request))
    };
    Turn::json(&said).delay(THINKS).pieces(1 << 20)
}

struct Seen {
    calls: u32,
    took: Duration,
}

async fn run(request: &Request, reasoner: Box<dyn Reasoner>) -> Seen {
    run_with(request, reasoner, Some(index())).await
}

async fn run_with(
    request: &Request,
    reasoner: Box<dyn Reasoner>,
    experience: Option<&dyn ExperienceSource>,
) -> Seen {
    let catalogue = job::Catalogue::builtin();
    let thresholds = diagnosis::Settings::default();
    let services = Services {
        index: experience,
        ..Services::new(&catalogue, &thresholds, reasoner)
    };
    let mut first: Option<Instant> = None;
    let mut observer = |event: Event<'_>| {
        if matches!(event, Event::StepStarted { .. }) {
            first.get_or_insert_with(Instant::now);
        }
    };
    let agent::Analysis { report, .. } = agent::analyze(request, &services, &mut observer)
        .await
        .expect("a report");
    Seen {
        calls: report.usage.map_or(0, |usage| usage.calls),
        took: first.map_or(Duration::ZERO, |first| first.elapsed()),
    }
}

fn asking() -> (Server, Box<dyn Reasoner>) {
    let server = Server::start([]).rule(|request| Some(answer(request)));
    let mut profile = Profile::new(Provider::Compatible, "scripted");
    profile.base_url = Some(server.url());
    let transport = llm::Server::new(&profile, None).expect("a sound profile");
    let options = LlmOptions {
        stream: true,
        ..LlmOptions::default()
    };
    let model = Model::new(profile, Arc::new(transport));
    (server, Box::new(LlmReasoner::new(model, options)))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let request = Request {
        job: root().join("tests/cases/join-hot-key-skew/job"),
        question: Some("why is it slow?".to_owned()),
        ..Request::default()
    };
    // The first run loads the vocabulary and opens the index.
    run(&request, asking().1).await;
    for (name, experience) in [
        ("", Some(index() as &dyn ExperienceSource)),
        (" without searches", None),
    ] {
        let mut took = Vec::new();
        for _ in 0..RUNS {
            took.push(run_with(&request, Box::new(Offline), experience).await.took);
        }
        let took = ms(median(took));
        println!("offline{name}: {took:.1} ms from the first step to the report");
    }
    for (name, depth, hypotheses, in_a_row) in [
        ("normal", Depth::Normal, false, 5),
        ("normal with hypotheses", Depth::Normal, true, 5),
        ("quick", Depth::Quick, false, 2),
    ] {
        let request = Request {
            depth,
            hypotheses,
            ..request.clone()
        };
        let mut times = Vec::new();
        let mut calls = 0;
        for _ in 0..RUNS {
            let (_server, reasoner) = asking();
            let seen = run(&request, reasoner).await;
            calls = seen.calls;
            times.push(seen.took);
        }
        let took = median(times);
        let own = took.saturating_sub(THINKS * in_a_row);
        println!(
            "{name}: {calls} calls, {in_a_row} in a row, {:.1} ms; {:.2} ms a call are our own",
            ms(took),
            ms(own) / f64::from(calls)
        );
    }
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
