//! Whether a prompt holds what a question asks for: a model that can only copy lines of its prompt answers questions about
//! simulated jobs, and what it copied is compared with the facts of the job.

use agent::Request;
use job::Job;
use report::format::{ROW, Seconds};
use report::{Language, Localize, Report, Segment, Verdict};
use serde_json::json;
use testkit::llm::think::{agreeable, step_of};
use testkit::llm::{Recorded, Server, Turn};

use crate::support::{self, *};

/// Jobs in the small form; `SCOPEAGENT_JOBS` sets another number.
const JOBS: usize = 8;

/// Share of the time from which a segment has to be in an answer.
const WORTH_NAMING: f64 = 0.05;

/// What engineers ask, by what the answer has to name.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Question {
    WhyIsStageSlow,
    WhereDoesTimeGo,
    HalfTheTime,
    WhyFailed,
    IsItHealthy,
}

impl Question {
    /// The question that suits a job.
    fn about(report: &Report, number: usize) -> Question {
        match report.verdict {
            _ if report.job.state == report::JobState::Failed => Question::WhyFailed,
            Verdict::Problem if number.is_multiple_of(3) => Question::HalfTheTime,
            _ if number % 3 == 1 => Question::WhereDoesTimeGo,
            Verdict::Healthy if number.is_multiple_of(2) => Question::IsItHealthy,
            _ => Question::WhyIsStageSlow,
        }
    }

    fn text(self, stage: &str, language: Language) -> String {
        let (zh, en) = match self {
            Question::WhyIsStageSlow => (
                format!("{stage} 这个阶段为什么这么慢？"),
                format!("Why is {stage} so slow?"),
            ),
            Question::WhereDoesTimeGo => (
                "时间都花在哪里了？".to_owned(),
                "Where does the time go?".to_owned(),
            ),
            Question::HalfTheTime => (
                "怎样才能压到一半以内？".to_owned(),
                "What would bring it down to half the time?".to_owned(),
            ),
            Question::WhyFailed => ("为什么失败？".to_owned(), "Why did it fail?".to_owned()),
            Question::IsItHealthy => (
                "这个作业正常吗？".to_owned(),
                "Is there anything to optimize?".to_owned(),
            ),
        };
        language.select(zh, en)
    }

    /// Words and numbers of a right answer, from the facts.
    fn expected(self, report: &Report, job: &Job, stage: usize) -> Vec<String> {
        let language = report.language;
        let seconds = |s: f64| Seconds(s).localize(language);
        match self {
            Question::WhyIsStageSlow => {
                let facts = job.stage_facts(stage);
                let run = facts.run_ms.as_ref().map(|run| run.value);
                let mut expected: Vec<String> =
                    run.iter().map(|run| seconds(run.max / 1e3)).collect();
                let rows: Option<f64> = job
                    .edges_into(stage)
                    .map(|e| e.rows_read.or(e.rows_written))
                    .sum();
                let rows = rows.filter(|_| job.edges_into(stage).next().is_some());
                expected.extend(rows.map(|rows| ROW.count(rows).localize(language)));
                expected
            }
            Question::WhereDoesTimeGo => {
                let Some(time) = &report.time else {
                    return Vec::new();
                };
                let same = |a: &Segment, b: &Segment| {
                    (a.kind, &a.stage, &a.finding) == (b.kind, &b.stage, &b.finding)
                };
                let measured: Vec<&Segment> =
                    time.segments.iter().filter(|s| s.seconds > 0.0).collect();
                let runs = measured.chunk_by(|a, b| same(a, b));
                let long = runs.filter_map(|run| {
                    let sum: f64 = run.iter().map(|s| s.seconds).sum();
                    (sum >= WORTH_NAMING * time.total_seconds()).then(|| seconds(sum))
                });
                long.collect()
            }
            Question::HalfTheTime => {
                let impacts = report.findings.iter().filter_map(|f| f.impact.as_ref());
                impacts
                    .take(1)
                    .map(|impact| seconds(impact.seconds_saved))
                    .collect()
            }
            Question::WhyFailed => job
                .errors
                .iter()
                .take(1)
                .map(|e| e.message.clone())
                .collect(),
            Question::IsItHealthy => {
                let rules = report
                    .rules
                    .iter()
                    .filter(|r| r.outcome == report::RuleResult::Cleared);
                rules
                    .take(1)
                    .map(|rule| rule.cause.code().to_owned())
                    .collect()
            }
        }
    }
}

/// The data of a kind in a prompt.
fn data<'p>(prompt: &'p str, kind: &str) -> &'p str {
    let begin = format!("<<<data {kind} ");
    let after = prompt.split_once(&begin).map_or("", |(_, after)| after);
    after.split(">>>data").next().unwrap_or_default()
}

/// Lines of a prompt about what is asked; the only thing that this model can do.
fn copied(prompt: &str, question: Question, stage: &str) -> Vec<String> {
    let lines = |kind: &str| {
        data(prompt, kind)
            .lines()
            .skip(1)
            .map(str::trim)
            .map(str::to_owned)
    };
    match question {
        Question::WhyIsStageSlow => {
            let heading = |line: &String| {
                line.starts_with(&format!("{stage}:")) || line.starts_with(&format!("{stage}："))
            };
            let own = lines("stages").skip_while(|line| !heading(line)).skip(1);
            own.take_while(|line| line.is_empty() || line.starts_with("- "))
                .collect()
        }
        Question::WhereDoesTimeGo => lines("time").collect(),
        Question::HalfTheTime => {
            let gain = |line: &String| line.starts_with("gain:") || line.starts_with("收益");
            lines("suggestions").filter(gain).collect()
        }
        Question::WhyFailed => {
            let error = |line: &String| line.starts_with("error:") || line.starts_with("错误");
            lines("job").filter(error).collect()
        }
        Question::IsItHealthy => lines("cleared").collect(),
    }
}

/// The answer of a model that copies; as THINK 5 has it.
fn answering(question: Question, stage: String) -> Server {
    Server::agreeing_unless(move |request: &Recorded| {
        (step_of(request) == "think5").then(|| {
            let said = copied(&request.prompt(), question, &stage).join("\n");
            let mut conclusion = agreeable(request);
            conclusion["answer"] = json!({ "text": said, "evidence": [] });
            Turn::json(&conclusion)
        })
    })
}

/// The stage that a question about a stage names: that of the main finding, else the one that ran longest.
fn stage_of(report: &Report, job: &Job) -> usize {
    let named = report
        .findings
        .iter()
        .find_map(|f| job.stage_index(f.stage.as_deref()?));
    let ran = |at: &usize| {
        job.stage_facts(*at)
            .run_ms
            .as_ref()
            .map_or(0.0, |run| run.value.total)
    };
    let longest = || (0..job.stages.len()).max_by(|a, b| ran(a).total_cmp(&ran(b)));
    named.or_else(longest).unwrap_or_default()
}

/// Section 2 of the specification: a question goes in, and what the model is shown answers it.
#[tokio::test]
async fn section_2_every_question_is_answerable_from_the_prompt() {
    let cases = simulator::cases();
    let wanted = std::env::var("SCOPEAGENT_JOBS")
        .ok()
        .and_then(|n| n.parse().ok());
    let jobs = wanted.unwrap_or(JOBS).clamp(1, cases.len());
    let mut unanswered = Vec::new();
    for number in 0..jobs {
        let case = cases[number * cases.len() / jobs].name;
        let language = [Language::En, Language::Zh][number % 2];
        let request = Request {
            language: Some(language),
            ..about(case)
        };
        let offline = run(&request, Setting::with(agent::offline::Offline))
            .await
            .report;
        let job = job::load(&support::case(case)).expect("a job");
        let question = Question::about(&offline, number);
        let at = stage_of(&offline, &job);
        let stage = job
            .stages
            .get(at)
            .map_or("", |s| s.name.as_str())
            .to_owned();
        let server = answering(question, stage.clone());
        let request = Request {
            question: Some(question.text(&stage, language)),
            ..request
        };
        let report = ask(&server, &request).await;
        let answer = report.answer.as_ref().map_or("", |a| a.text.as_str());
        let expected = question.expected(&offline, &job, at);
        let lacks: Vec<&String> = expected
            .iter()
            .filter(|e| !answer.contains(e.as_str()))
            .collect();
        if expected.is_empty() || !lacks.is_empty() || answer.contains("[unverified]") {
            unanswered.push(format!("{case} {question:?}: {lacks:?} not in {answer}"));
        }
    }
    assert!(unanswered.is_empty(), "{}", unanswered.join("\n\n"));
}
