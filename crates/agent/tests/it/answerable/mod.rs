//! Checks that a prompt has the answer to a question: a model that can only copy lines of its prompt answers questions about
//! jobs with a known cause, and the copied lines are compared with the truth and with the files.

mod copying;
mod expected;
mod question;
mod reading;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::{fs, iter};

use agent::Request;
use job::Job;
use report::Language;
use serde_json::Value;
use testkit::llm::think::step_of;
use testkit::shared;

use crate::support::{self, *};
use expected::Facts;
use question::{Names, asks};

/// Simulated jobs; `SCOPEAGENT_JOBS` sets another number.
const JOBS: usize = 40;

/// A job with a known cause and a question about it.
struct Asked {
    folder: PathBuf,
    truth: Value,
    resembles: Option<&'static str>,
    language: Language,
    /// `None` for a job that gets the `number`-th question that suits it.
    question: Option<String>,
    number: usize,
}

fn truth(path: PathBuf) -> Value {
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).expect("JSON")
}

/// The shared jobs with their own questions; `None` where they are absent.
fn shared_jobs() -> Option<Vec<Asked>> {
    let folder = shared("jobs-dev")?;
    let truths = fs::read_dir(folder.join("truth"))
        .expect("the truth")
        .flatten();
    let asked = truths.map(|entry| {
        let truth = truth(entry.path());
        let text = |field: &str| truth[field].as_str().expect("a text").to_owned();
        Asked {
            folder: folder.join(text("job")),
            language: if text("language") == "zh" {
                Language::Zh
            } else {
                Language::En
            },
            question: Some(text("question")),
            truth,
            resembles: None,
            number: 0,
        }
    });
    Some(asked.collect())
}

fn code(cause: simulator::Cause) -> &'static str {
    let known = simulator::CAUSES.iter().find(|(known, _)| *known == cause);
    known.expect("every cause has a code").1
}

/// Simulated jobs over all causes, asked alternately in both languages.
fn simulated_jobs() -> Vec<Asked> {
    let cases = simulator::cases();
    let wanted = std::env::var("SCOPEAGENT_JOBS")
        .ok()
        .and_then(|n| n.parse().ok());
    let jobs = wanted.unwrap_or(JOBS).clamp(1, cases.len());
    let asked = |number: usize| {
        let case = &cases[number * cases.len() / jobs];
        let folder = support::case(case.name);
        Asked {
            truth: truth(folder.with_file_name("truth.json")),
            folder,
            resembles: case.request.near_miss.map(code),
            language: [Language::En, Language::Zh][number % 2],
            question: None,
            // Both languages get every question.
            number: number / 2 + number % 2,
        }
    };
    (0..jobs).map(asked).collect()
}

/// The names of a job for a question: the stage of its cause and the one that ran longest, or the two that did.
fn names(truth: &Value, job: &Job) -> Names {
    let ran = |at: &usize| {
        job.stages[*at]
            .runs
            .as_ref()
            .map_or(0.0, |runs| runs.run_ms.total)
    };
    let mut longest: Vec<usize> = (0..job.stages.len()).collect();
    longest.sort_by(|a, b| ran(b).total_cmp(&ran(a)));
    let longest = longest.iter().map(|at| job.stages[*at].name.clone());
    let of_cause = truth["causes"][0]["stage"].as_str().map(str::to_owned);
    let mut stages: Vec<String> = Vec::new();
    for stage in of_cause.into_iter().chain(longest) {
        if !stages.contains(&stage) {
            stages.push(stage);
        }
    }
    let mut stages = stages.into_iter().chain(iter::repeat(String::new()));
    Names {
        job: job.info.name.clone().unwrap_or_default(),
        stage: stages.next().unwrap_or_default(),
        other: stages.next().unwrap_or_default(),
        seconds: truth["elapsed_seconds"].as_f64().unwrap_or_default(),
        failed: truth["state"] == "failed",
    }
}

/// Missing content in the answer of a copying model; empty if it has everything.
async fn lacks(asked: &Asked) -> Vec<String> {
    let request = Request {
        job: asked.folder.clone(),
        language: Some(asked.language),
        ..Request::default()
    };
    let by_rules = run(&request, Setting::with(agent::offline::Offline))
        .await
        .report;
    let job = job::load(&asked.folder).expect("a job");
    let question = asked.question.clone().unwrap_or_else(|| {
        question::about(&names(&asked.truth, &job), asked.number, asked.language)
    });
    let facts = Facts {
        folder: &asked.folder,
        truth: &asked.truth,
        resembles: asked.resembles,
        report: &by_rules,
        job: &job,
        language: asked.language,
    };
    let needs = facts.needed_for(&question);
    let server = copying::answering(needs.clone());
    let mut patient = profile(&server);
    patient.read_timeout_seconds = Some(60.0);
    patient.timeout_seconds = Some(300.0);
    let request = Request {
        question: Some(question.clone()),
        ..request
    };
    run(&request, Setting::with(asking(&patient)).indexed()).await;
    let requests = server.requests();
    let asked_for = requests.iter().filter(|r| step_of(r) == "think5");
    let prompt: String = asked_for.map(|r| r.prompt()).collect();
    let place = format!("{}: {question}", asked.truth["job"]);
    let quoted = copying::lines(&prompt);
    let is_met = |need: &expected::Need| quoted.iter().any(|line| need.is_met_by(line));
    let unmet = needs.iter().filter(|need| !is_met(need));
    let mut lacks: Vec<String> = unmet
        .map(|need| format!("{place}\n  lacks {need:?}"))
        .collect();
    if needs.is_empty() {
        lacks.push(format!("{place}\n  needs nothing"));
    }
    lacks
}

/// Missing content of all answers, with one job per CPU at a time.
fn all_lack(jobs: &[Asked]) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let work = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let runtime = runtime.expect("a runtime");
        let mine = iter::from_fn(|| jobs.get(next.fetch_add(1, Ordering::Relaxed)));
        mine.flat_map(|asked| runtime.block_on(lacks(asked)))
            .collect::<Vec<String>>()
    };
    let threads = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let done = workers.into_iter().map(|w| w.join().expect("a worker"));
        done.flatten().collect()
    })
}

#[test]
fn section_2_every_question_about_simulated_jobs_is_answerable_from_the_prompt() {
    let lacks = all_lack(&simulated_jobs());
    assert!(lacks.is_empty(), "{}", lacks.join("\n"));
}

#[test]
fn section_2_every_question_of_the_shared_jobs_is_answerable_from_the_prompt() {
    let Some(jobs) = shared_jobs() else {
        return;
    };
    assert!(jobs.len() >= 20);
    let lacks = all_lack(&jobs);
    assert!(lacks.is_empty(), "{}", lacks.join("\n"));
}

/// A question of unknown kind would only be checked for the cause.
#[test]
fn it_is_known_what_each_question_of_the_shared_jobs_asks_for() {
    let Some(jobs) = shared_jobs() else {
        return;
    };
    let questions = jobs.iter().filter_map(|asked| asked.question.as_deref());
    let unknown: Vec<&str> = questions.filter(|q| asks(q).is_empty()).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
