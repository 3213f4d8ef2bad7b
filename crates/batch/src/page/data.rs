//! The jobs as the page's script reads them: one JSON object with a list per column.

use std::collections::BTreeMap;

use report::title_of;
use serde::Serialize;

use super::collect::{Collected, Job};
use super::words::Words;

#[derive(Serialize)]
struct Data<'a> {
    language: &'static str,
    text: BTreeMap<&'static str, &'static str>,
    owners: &'a [String],
    queues: &'a [String],
    weeks: &'a [String],
    scripts: Vec<String>,
    units: &'a [String],
    currency: &'a str,
    /// Of an hour of each unit.
    prices: Vec<Option<f64>>,
    causes: Vec<String>,
    suggestions: &'a [String],
    files: &'a [String],
    reasons: &'a [String],
    clusters: Clusters<'a>,
    base: &'a str,
    paged: Vec<usize>,
    jobs: Jobs<'a>,
    parts: Parts,
}

#[derive(Serialize)]
struct Clusters<'a> {
    cause: Vec<u32>,
    script: Vec<Option<u32>>,
    role: Vec<Option<&'a str>>,
    advice: Vec<Option<u32>>,
}

/// The findings of job `i` are those from `start[i]` to `start[i + 1]`.
#[derive(Serialize)]
struct Parts {
    start: Vec<usize>,
    cluster: Vec<u32>,
    seconds: Vec<Option<f64>>,
}

macro_rules! job_columns {
    ($($name:ident: $type:ty = $get:expr;)*) => {
        #[derive(Serialize)]
        struct Jobs<'a> { $($name: Vec<$type>),* }

        impl<'a> Jobs<'a> {
            fn of(jobs: &'a [Job]) -> Jobs<'a> {
                Jobs { $($name: jobs.iter().map($get).collect()),* }
            }
        }
    };
}

job_columns! {
    key: &'a str = |j| j.key.as_str();
    name: Option<&'a str> = |j| j.name.as_deref();
    uri: &'a str = |j| j.uri.as_str();
    id: Option<&'a str> = |j| j.id.as_deref();
    ending: usize = |j| j.ending as usize;
    broken: u8 = |j| u8::from(j.is_broken);
    usual: Option<f64> = |j| j.usual;
    slow: u8 = |j| u8::from(j.is_slow);
    reason: Option<u32> = |j| j.reason;
    owner: Option<u32> = |j| j.owner;
    queue: Option<u32> = |j| j.queue;
    script: Option<u32> = |j| j.script;
    week: Option<u32> = |j| j.week;
    submitted: Option<i64> = |j| j.submitted;
    run: Option<f64> = |j| j.run;
    total: Option<f64> = |j| j.total;
    avoidable: Option<f64> = |j| j.avoidable;
    cost: Option<f64> = |j| j.cost;
    wasted: Option<f64> = |j| j.wasted;
    unit: Option<u32> = |j| j.unit;
    suggestion: Option<u32> = |j| j.suggestion;
    missing: Option<u32> = |j| j.missing;
    lines: Option<[u32; 2]> = |j| j.lines;
}

/// JSON that is safe inside a `script` element: no text in it can end the element.
pub(super) fn json(collected: &Collected, words: Words) -> serde_json::Result<String> {
    let clusters = &collected.clusters;
    let parts = || collected.jobs.iter().flat_map(|j| &j.findings);
    let mut start = vec![0];
    for job in &collected.jobs {
        start.push(start.last().copied().unwrap_or(0) + job.findings.len());
    }
    let data = Data {
        language: words.0.code(),
        text: words.all().collect(),
        owners: &collected.owners.all,
        queues: &collected.queues.all,
        weeks: &collected.weeks.all,
        scripts: collected.scripts.labels(),
        units: &collected.units.all,
        currency: &collected.currency,
        prices: collected
            .units
            .all
            .iter()
            .map(|unit| collected.prices.get(unit.as_str()).copied())
            .collect(),
        causes: collected
            .causes
            .all
            .iter()
            .zip(0..)
            .map(|(code, at)| {
                title_of(code, collected.engines.get(&at).copied().flatten(), words.0)
            })
            .collect(),
        suggestions: &collected.suggestions.all,
        files: &collected.files.all,
        reasons: &collected.reasons.all,
        clusters: Clusters {
            cause: clusters.iter().map(|c| c.cause).collect(),
            script: clusters.iter().map(|c| c.script).collect(),
            role: clusters.iter().map(|c| c.role.as_deref()).collect(),
            advice: clusters.iter().map(|c| c.advice).collect(),
        },
        base: &collected.base,
        paged: (0..collected.jobs.len())
            .filter(|at| collected.paged.contains(&collected.jobs[*at].key))
            .collect(),
        jobs: Jobs::of(&collected.jobs),
        parts: Parts {
            start,
            cluster: parts().map(|p| p.cluster).collect(),
            seconds: parts().map(|p| p.seconds).collect(),
        },
    };
    let text = serde_json::to_string(&data)?;
    Ok(text.replace('<', "\\u003c").replace('>', "\\u003e"))
}
