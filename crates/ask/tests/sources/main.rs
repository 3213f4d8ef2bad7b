//! Each citation of reports, answers and prompts is a value of the sheet or is at its place. A test of `job` checks the places of
//! the values themselves.

#[path = "../../../job/tests/sources/check.rs"]
mod check;
#[path = "../../../job/tests/sources/events.rs"]
mod events;
#[path = "../../../job/tests/sources/files.rs"]
mod files;
#[path = "../../../job/tests/sources/jobs.rs"]
mod jobs;
#[path = "../../../job/tests/sources/log.rs"]
mod log;
#[path = "../../../job/tests/sources/xml.rs"]
mod xml;

use std::path::Path;

use agent::offline::Offline;
use agent::{Analysis, Request, Services, Silent};
use ask::Asked;
use files::{Files, is_same};
use report::measure::{Sheet, Value, Values};
use report::{Evidence, EvidenceValue, Language, Report};
use runs::RunSummary;

/// Stages of a job that questions are asked about.
const STAGES: usize = 12;

#[tokio::main(flavor = "current_thread")]
async fn analyzed(path: &Path) -> (Report, RunSummary, Sheet) {
    let request = Request {
        job: path.to_path_buf(),
        language: Some(Language::En),
        ..Request::default()
    };
    let (catalogue, settings) = (job::Catalogue::builtin(), diagnosis::Settings::default());
    let services = Services::new(&catalogue, &settings, Box::new(Offline));
    let analysis = agent::analyze(&request, &services, &mut Silent).await;
    let Analysis { report, job, .. } = analysis.expect("a report");
    let summary = RunSummary::of(&job);
    (report, summary, job.sheet())
}

/// Citations of answers and prompts about a run besides the report's.
fn cited(report: &Report, summary: &RunSummary) -> Vec<Evidence> {
    let no_earlier = || None;
    let run = Asked::new(report, summary, &no_earlier, &[]);
    let mut questions = vec![
        "How long did the job run?".to_owned(),
        "Which inputs does it read?".to_owned(),
        "how many executors, how many cores, and how many were busy?".to_owned(),
        "how many jobs and how many SQL queries?".to_owned(),
        "how much is cached, how much gc overall, and when came the first executor?".to_owned(),
    ];
    for stage in summary.stages.iter().take(STAGES) {
        let name = &stage.name;
        for question in [
            "how many rows does {} read?",
            "how many vertices has {}?",
            "how many bytes does {} read?",
            "are the vertices of {} even?",
            "how much memory does {} take?",
            "how long does {} take?",
            "how much gc, spill, waiting and how many retries has {}?",
            "average and median run time of the vertices of {}, and the slowest vertex?",
            "how many rows and bytes does each vertex of {} read on average?",
            "how many rows and bytes does {} write?",
            "how much temp data has {}?",
        ] {
            questions.push(question.replace("{}", name));
        }
    }
    let answers = questions.iter().map(|q| ask::answer(q, &[], &run));
    let mut evidence: Vec<Evidence> = answers.flat_map(|answer| answer.evidence).collect();
    let input = ask::input(
        "why?",
        agent::facts::MeasuredAnswer::default(),
        &[],
        &run,
        false,
    );
    let outline = &input.facts.outline;
    evidence.extend(outline.stages.iter().flat_map(|s| s.evidence.clone()));
    evidence.extend(outline.tables.iter().flat_map(|t| t.evidence.clone()));
    evidence.retain(|e| !report.evidence.contains(e));
    evidence
}

/// The value of the sheet that evidence of an answer is about, with the same places.
fn value_of<'s>(evidence: &Evidence, sheet: &[(String, &'s Values)]) -> Option<&'s Value> {
    let mut values = sheet.iter().flat_map(|(_, values)| values.iter());
    let found = values.find(|(measure, value)| {
        measure.id == evidence.metric
            && value.source().as_ref() == Some(&evidence.source)
            && EvidenceValue::from(value.number()) == evidence.value
    });
    found.map(|(_, value)| value)
}

/// Whether evidence of a report resolves: a number that is read is at its place, and every other one names a place that exists.
fn check_report(files: &Files, evidence: &Evidence) -> Result<(), String> {
    let EvidenceValue::Number(number) = evidence.value else {
        return Ok(());
    };
    let locator = evidence.source.locator.as_deref().unwrap_or_default();
    let place = locator.rsplit(['/', '@']).next();
    let is_read = place == Some(evidence.metric.as_str()) && !evidence.metric.contains(" - ");
    // a share of collecting is calculated from two times of the log
    let is_read = is_read && evidence.unit.as_deref() != Some("%");
    let readings = files.readings(&evidence.source)?;
    let sum = |numbers: &Vec<f64>| is_same(numbers.iter().sum(), number);
    let one = |numbers: &Vec<f64>| numbers.iter().any(|n| is_same(*n, number));
    match is_read && !readings.iter().any(|numbers| sum(numbers) || one(numbers)) {
        true => Err(format!(
            "{:?} does not hold {number}: {readings:?}",
            evidence.source
        )),
        false => Ok(()),
    }
}

/// Number of checked citations of a job, in answers and prompts and in the report, and their faults.
fn checked(path: &Path) -> (usize, usize, Vec<String>) {
    let (report, summary, sheet) = analyzed(path);
    let (files, job) = (Files::open(path), path.display());
    let executors = sheet.executors.iter();
    let executors = executors.map(|values| ("executor".to_owned(), values));
    let things = check::things(&sheet).into_iter();
    let sheet: Vec<(String, &Values)> = things.chain(executors).collect();
    let mut wrong: Vec<String> = Vec::new();
    let cited = cited(&report, &summary);
    for evidence in &cited {
        match value_of(evidence, &sheet) {
            None => wrong.push(format!("{job}: {evidence:?} is no value of the run")),
            Some(value) if check::is_of_several_events(&files, &evidence.metric, value) => {}
            Some(value) => wrong.extend(check::check(&files, value).err()),
        }
    }
    for evidence in &report.evidence {
        if let Err(why) = check_report(&files, evidence) {
            wrong.push(format!("{job}: {} {}: {why}", evidence.id, evidence.metric));
        }
    }
    (cited.len(), report.evidence.len(), wrong)
}

#[test]
fn every_number_is_at_the_places_that_it_cites() {
    let checked = jobs::each(checked);
    let citations: usize = checked.iter().map(|(citations, ..)| citations).sum();
    let read: usize = checked.iter().map(|(_, read, _)| read).sum();
    println!("{citations} citations of answers and prompts, {read} of reports");
    assert!(citations > 300 && read > 200);
    let wrong: Vec<String> = checked.into_iter().flat_map(|(.., wrong)| wrong).collect();
    check::none_is_wrong(&wrong);
}
