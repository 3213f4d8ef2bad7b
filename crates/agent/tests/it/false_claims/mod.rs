//! Sentences that are true of a job, and the same sentences made false in one thing: the check has to tell them apart.
//!
//! The true ones are the offline report's, reworded. `--nocapture` prints how many of each kind are caught.

mod falsify;
mod truths;
mod written;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use agent::facts::{Passage, StepInput};
use agent::offline::Offline;
use agent::reasoner::{Answer, Task};
use agent::{Checker, Observer, Reasoner, ReasonerError, Request, Silent, StepId};
use futures::future::BoxFuture;
use job::Job;
use report::{Engine, Language, Match};

use crate::support::*;

/// An analysis to check: the input of THINK 5, and the job.
pub(crate) struct Analyzed {
    pub(crate) input: StepInput,
    pub(crate) job: Job,
    /// The texts of the offline report.
    pub(crate) texts: Vec<String>,
}

/// The offline reasoner, which keeps the input of THINK 5, with the measures that a model sees.
struct Capture(Arc<Mutex<Option<StepInput>>>);

impl Reasoner for Capture {
    fn engine(&self) -> Engine {
        Offline.engine()
    }

    fn asks_model(&self) -> bool {
        true
    }

    fn reason<'a>(
        &'a self,
        task: Task<'a>,
        observer: &'a mut dyn Observer,
    ) -> BoxFuture<'a, Result<Answer, ReasonerError>> {
        if task.steps == [StepId::Advice]
            && let Ok(mut kept) = self.0.lock()
        {
            *kept = Some(task.input.clone());
        }
        Offline.reason(task, observer)
    }
}

async fn analyzed(path: std::path::PathBuf, language: Language) -> Analyzed {
    let kept = Arc::new(Mutex::new(None));
    let request = Request {
        job: path,
        language: Some(language),
        ..Request::default()
    };
    let services = services(Setting::with(Capture(Arc::clone(&kept))));
    let analysis = agent::analyze(&request, &services, &mut Silent).await;
    let analysis = analysis.expect("a report");
    let input = kept.lock().expect("a lock").take();
    let mut input = input.expect("THINK 5 was asked");
    input.experiences.push(playbook(language));
    let steps = analysis.report.steps.iter();
    let steps = steps.filter(|s| ["think1", "think2", "think3", "think5"].contains(&s.id.as_str()));
    Analyzed {
        texts: steps.map(|s| s.text.clone()).collect(),
        input,
        job: analysis.job,
    }
}

/// A passage about another job; its numbers are not this job's.
fn playbook(language: Language) -> Passage {
    let text = language.select(
        "示例：热点键有 9600 万行，占 71 % 的行，单个顶点运行 47 分 13 秒。",
        "Example: the hot key has 96,000,000 rows, 71 % of the rows, and one vertex ran 47 min 13 s.",
    );
    Passage {
        chunk: "experience/playbook.md#example".to_owned(),
        title: "Example".to_owned(),
        causes: vec!["skew.join_hot_key".to_owned()],
        section: None,
        fit: Match::Strong,
        text: text.to_owned(),
    }
}

/// Simulated jobs with a cause, and logs of real Spark applications.
const JOBS: &[&str] = &[
    "join-hot-key-skew",
    "excessive-shuffle",
    "late-filter",
    "near-join-hot-key-skew",
    "healthy",
];

const APPLICATIONS: &[&str] = &["spark-join-hot-key", "spark-star-join"];

fn places() -> Vec<(String, std::path::PathBuf)> {
    let simulated = JOBS.iter().map(|name| ((*name).to_owned(), case(name)));
    let real = APPLICATIONS.iter().map(|name| {
        let path = root().join("tests/cases").join(name);
        ((*name).to_owned(), path)
    });
    simulated.chain(real).collect()
}

#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    flagged: usize,
    all: usize,
}

impl Tally {
    fn add(&mut self, is_flagged: bool) {
        self.all += 1;
        self.flagged += usize::from(is_flagged);
    }

    fn share(self) -> f64 {
        self.flagged as f64 / self.all.max(1) as f64
    }
}

/// At least 95 of 100 false claims are caught and at most 2 of 100 true ones rejected, in each language.
#[tokio::test]
async fn false_claims_are_caught_and_true_ones_pass() {
    let verbose = std::env::var("SHOW_CLAIMS").unwrap_or_default();
    for language in [Language::En, Language::Zh] {
        let mut kinds: BTreeMap<&str, Tally> = BTreeMap::new();
        let (mut caught, mut rejected) = (Tally::default(), Tally::default());
        for (name, path) in places() {
            let analyzed = analyzed(path, language).await;
            let checker = Checker::new(&analyzed.input, &analyzed.job);
            for truth in truths::of(&analyzed, language) {
                let faults = checker.faults_of(&truth.text, &truth.about);
                rejected.add(!faults.is_empty());
                if !faults.is_empty() && verbose.contains("true") {
                    println!("TRUE {name}: {}\n     {}", truth.text, faults.join(" | "));
                }
            }
            for (kind, claim) in falsify::of(&analyzed, language) {
                let faults = checker.faults_of(&claim.text, &claim.about);
                caught.add(!faults.is_empty());
                kinds.entry(kind).or_default().add(!faults.is_empty());
                if faults.is_empty() && verbose.contains("false") {
                    println!("FALSE {name} {kind}: {}", claim.text);
                }
            }
        }
        println!("{language:?}: kind, caught, claims");
        for (kind, tally) in &kinds {
            println!("  {kind}: {} of {}", tally.flagged, tally.all);
        }
        println!("  all: {} of {}", caught.flagged, caught.all);
        println!(
            "  true sentences rejected: {} of {}",
            rejected.flagged, rejected.all
        );
        assert!(
            caught.all >= 500,
            "{language:?}: only {} claims",
            caught.all
        );
        assert!(caught.share() >= 0.95, "{language:?}: {caught:?}");
        assert!(rejected.share() <= 0.02, "{language:?}: {rejected:?}");
        for (kind, tally) in kinds {
            assert!(tally.share() >= 0.85, "{language:?} {kind}: {tally:?}");
        }
    }
}

/// The sentences that a real model's report and a planted answer got past the earlier check.
#[tokio::test]
async fn known_false_sentences_are_caught() {
    let of = analyzed(case("join-hot-key-skew"), Language::En).await;
    let checker = Checker::new(&of.input, &of.job);
    for text in [
        "The suggested changes do not affect the job's run time.",
        "The hot key has 96,000,000 rows.",
        "Fixing it saves 1 min 25 s [E3], 38 % of the run.",
        "SV1_Extract_Split is skewed on Region.",
        "SV3_Combine_Reduce suffers from heavy garbage collection.",
        "The main cause is data spilled to disk.",
        "The largest vertex has 3.6 times the mean [E5].",
    ] {
        assert!(!checker.faults_of(text, &[]).is_empty(), "{text}");
    }
    for text in [
        "One vertex gets 22 % of the rows, 3.6 times the mean [F1], so the stage waits for it.",
        "Garbage collection takes 2.0 % of the time and is not the cause.",
        "Put the hint before the statement; it saves up to about 17 s (13 % of the run) [F1].",
        "Set spark.sql.shuffle.partitions to 400.",
    ] {
        let faults = checker.faults_of(text, &[]);
        assert!(faults.is_empty(), "{text}: {faults:?}");
    }
}

/// Nine of ten sentences that were written by hand are judged right, whichever they are.
#[tokio::test]
async fn sentences_written_by_hand_are_judged_right() {
    let (mut wrong, mut all) = (0, 0);
    for (language, truths, lies) in [
        (Language::En, written::TRUE_EN, written::FALSE_EN),
        (Language::Zh, written::TRUE_ZH, written::FALSE_ZH),
    ] {
        for (name, path) in places() {
            let of = analyzed(path, language).await;
            let checker = Checker::new(&of.input, &of.job);
            for (sentences, is_true) in [(truths, true), (lies, false)] {
                let own = sentences.iter().filter(|(job, _)| *job == name);
                for text in own.flat_map(|(_, texts)| *texts) {
                    let faults = checker.faults_of(text, &[]);
                    all += 1;
                    if faults.is_empty() != is_true {
                        wrong += 1;
                        println!("{is_true} {name}: {text}\n     {}", faults.join(" | "));
                    }
                }
            }
        }
    }
    println!("{wrong} of {all} are misjudged");
    assert!(wrong * 10 <= all);
}
