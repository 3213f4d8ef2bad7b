//! Jobs of an application: one by its number, and the first by time.

use report::format::{Seconds, Share};
use report::{Text, text};
use runs::DriverJobSummary;

use super::{is_whole, some};
use crate::Asked;
use crate::intent::Intent;
use crate::said::Said;
use crate::word::Word::*;

/// Stages, and further jobs, that are named.
const SHOWN: usize = 6;
const NEXT: usize = 2;

/// The number of the job that a text names: "job 2", "job#2".
fn number(text: &str) -> Option<u32> {
    let lower = text.to_ascii_lowercase();
    let places = lower.match_indices("job");
    let mut after =
        places.map(|(at, word)| lower[at + word.len()..].trim_start_matches([' ', '#']));
    let digits = |after: &str| after.find(|c: char| !c.is_ascii_digit());
    after.find_map(|after| after[..digits(after).unwrap_or(after.len())].parse().ok())
}

/// Answers a question about single jobs of an application.
pub(super) fn answer(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let reading = &intent.reading;
    let mut jobs: Vec<&DriverJobSummary> = run.summary.jobs.iter().collect();
    if jobs.is_empty() || !is_whole(intent) || intent.asks_why() {
        return false;
    }
    if let Some(own) = number(&intent.text) {
        let own = jobs.iter().find(|job| job.id == own);
        own.iter().for_each(|job| one(said, run, job));
        return own.is_some();
    }
    let ranks = reading.has_any(&[Most, Least]);
    if !reading.has(SparkJob) || !ranks {
        return false;
    }
    let seconds = |job: &DriverJobSummary| job.seconds.unwrap_or(0.0);
    jobs.sort_by(|a, b| seconds(b).total_cmp(&seconds(a)));
    if reading.has(Least) && !reading.has(Most) {
        jobs.reverse();
    }
    one(said, run, jobs[0]);
    let next = jobs.iter().skip(1).take(NEXT).map(|job| {
        let (id, time) = (job.id.to_string(), Seconds(seconds(job)));
        text!("job {id}（{time}）", "job {id} ({time})", time = time)
    });
    let next: Vec<Text> = next.collect();
    if !next.is_empty() {
        let next = Text::joined(&next, ["、", ", "]);
        said.say(text!("其次：{next}", "Next: {next}", next = next));
    }
    true
}

/// Says the time of a job, its share of the application's, its result and its stages.
fn one(said: &mut Said<'_>, run: &Asked<'_>, job: &DriverJobSummary) {
    let id = job.id.to_string();
    let total = run.report.job.total_seconds.filter(|total| *total > 0.0);
    let share = match total.zip(job.seconds) {
        Some((total, own)) => text!(
            "，占从提交到结束 {total} 的 {share}",
            ", {share} of the {total} from submission to end",
            share = Share(own / total),
            total = Seconds(total)
        ),
        None => Text::default(),
    };
    said.say(match job.seconds {
        Some(own) => text!(
            "job {id} 用时 {own}{share}",
            "Job {id} takes {own}{share}",
            own = Seconds(own),
            share = share
        ),
        None => text!("job {id} 没有结束", "Job {id} did not end"),
    });
    let stages = some(&job.stages, SHOWN, said.language());
    if !stages.is_empty() {
        said.say(text!("它运行 {stages}", "It runs {stages}"));
    }
    if job.succeeded == Some(false) {
        said.say(text!("job {id} 失败", "Job {id} failed"));
    }
}
