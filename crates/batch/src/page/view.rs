//! The markup of the page, in words.

use jiff::Timestamp;
use jiff::civil::Date;
use report::format::{Hours, JOB, Number, Seconds, Share, figure};
use report::{Localize, text};
use serde::Serialize;

use super::collect::{Collected, Ending, Job};
use super::data::cause;
use super::totals::{self, Group, Totals, ranked};
use super::words::Words;

/// Bars of a card, lines of the clusters and rows of the jobs that are in the markup; the script has all.
const BARS: usize = 8;
const CLUSTERS: usize = 20;
const ROWS: usize = 50;
/// Maximum length of a trend, in weeks, with filled gaps.
const WEEKS: i32 = 130;

#[derive(Serialize)]
pub(super) struct View<'a> {
    jobs: usize,
    facts: Vec<String>,
    tiles: Vec<Tile>,
    weeks: Vec<Column>,
    most: String,
    cards: Vec<Card>,
    clusters: Vec<Line<'a>>,
    more_clusters: bool,
    rows: Vec<Row<'a>>,
    failures: Vec<Row<'a>>,
    more_failures: Option<String>,
}

/// A total.
#[derive(Serialize)]
struct Tile {
    name: &'static str,
    value: String,
    note: String,
}

/// A week of the trend; heights in percent of the highest.
#[derive(Serialize)]
struct Column {
    value: i64,
    label: Option<String>,
    /// Whether narrow pages omit the label.
    minor: bool,
    title: String,
    avoidable: f64,
    rest: f64,
}

#[derive(Serialize)]
struct Card {
    name: &'static str,
    bars: Vec<Bar>,
    more: bool,
}

#[derive(Serialize)]
struct Bar {
    /// Index of the group, −1 for unknown.
    value: i64,
    label: String,
    hours: String,
    jobs: String,
    width: f64,
}

/// A cluster.
#[derive(Serialize)]
struct Line<'a> {
    cause: &'a str,
    script: String,
    role: Option<&'a str>,
    jobs: String,
    hours: String,
    advice: Option<&'a str>,
    costliest: &'a str,
    link: String,
}

/// A job.
#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    link: String,
    sub: &'a str,
    ending: &'static str,
    finding: String,
    more: usize,
    lines: Option<String>,
    owner: Option<&'a str>,
    queue: Option<&'a str>,
    submitted: Option<String>,
    run: Option<String>,
    avoidable: Option<String>,
    width: f64,
    cost: Option<String>,
    suggestion: Option<&'a str>,
    missing: Option<&'a str>,
    reason: Option<&'a str>,
}

impl<'a> View<'a> {
    pub(super) fn of(collected: &'a Collected, words: Words) -> View<'a> {
        let totals = Totals::of(collected);
        let weeks = weeks(collected);
        let most = weeks.iter().map(|w| w.1.run).fold(0.0, f64::max);
        let jobs = collected.ranked();
        let highest = jobs.first().and_then(|j| j.avoidable).unwrap_or(0.0);
        let failures = || jobs.iter().filter(|j| j.ending == Ending::Failed);
        let clusters = clusters(collected, words);
        let row = |job: &&'a Job| row(job, highest, collected, words);
        let left = failures().count().saturating_sub(CLUSTERS);
        View {
            jobs: totals.jobs,
            facts: facts(collected, &totals, words),
            tiles: tiles(collected, &totals, words),
            most: hours(most, words),
            weeks: columns(&weeks, most, words),
            cards: cards(collected, words),
            more_clusters: clusters.len() > CLUSTERS,
            clusters: clusters.into_iter().take(CLUSTERS).collect(),
            rows: jobs.iter().take(ROWS).map(row).collect(),
            failures: failures().take(CLUSTERS).map(row).collect(),
            more_failures: (left > 0).then(|| {
                let left = Number(left as f64);
                text!("另有 {left} 个", "{left} more", left = left).into(words.0)
            }),
        }
    }
}

pub(super) fn hours(seconds: f64, words: Words) -> String {
    Hours(seconds / 3600.0).localize(words.0)
}

fn count(n: usize, words: Words) -> String {
    Number(n as f64).localize(words.0)
}

fn share(part: f64, whole: f64, words: Words) -> String {
    Share(part / whole).localize(words.0)
}

fn facts(collected: &Collected, totals: &Totals, words: Words) -> Vec<String> {
    let mut facts = vec![JOB.count(totals.jobs as f64).localize(words.0)];
    let days = collected.jobs.iter().filter_map(|j| j.submitted);
    if let (Some(first), Some(last)) = (days.clone().min(), days.max()) {
        facts.push(format!("{} – {}", day(first), day(last)));
    }
    if collected.pending > 0 {
        let pending = JOB.count(collected.pending as f64);
        let pending = text!(
            "另有 {pending}尚无结果",
            "{pending} without a result yet",
            pending = pending
        );
        facts.push(pending.into(words.0));
    }
    facts
}

fn day(second: i64) -> String {
    minute(second)
        .split_once(' ')
        .map_or_else(String::new, |(day, _)| day.to_owned())
}

fn minute(second: i64) -> String {
    let at = Timestamp::from_second(second);
    at.map_or_else(
        |_| String::new(),
        |at| at.strftime("%Y-%m-%d %H:%M").to_string(),
    )
}

fn tiles(collected: &Collected, totals: &Totals, words: Words) -> Vec<Tile> {
    let failed = totals.count(Ending::Failed);
    let analyzed = totals.jobs - failed;
    let ending = |name, ending| noted(words, name, &count(totals.count(ending), words));
    let endings = [
        (analyzed > 0).then(|| ending("healthy", Ending::Healthy)),
        (totals.count(Ending::Inconclusive) > 0)
            .then(|| ending("inconclusive", Ending::Inconclusive)),
        (failed > 0).then(|| ending("failed", Ending::Failed)),
    ];
    let endings: Vec<String> = endings.into_iter().flatten().collect();
    let problems = totals.count(Ending::Problem);
    let mut tiles = vec![
        Tile {
            name: "jobs",
            value: count(totals.jobs, words),
            note: endings.join(" · "),
        },
        Tile {
            name: "with_problem",
            value: count(problems, words),
            note: match analyzed {
                0 => String::new(),
                _ => noted(
                    words,
                    "of_analyzed",
                    &share(problems as f64, analyzed as f64, words),
                ),
            },
        },
        Tile {
            name: "run",
            value: hours(totals.run, words),
            note: noted(words, "with_waiting", &hours(totals.total, words)),
        },
        Tile {
            name: "avoidable",
            value: hours(totals.avoidable, words),
            note: match totals.total > 0.0 {
                false => String::new(),
                true => noted(
                    words,
                    "of_total",
                    &share(totals.avoidable, totals.total, words),
                ),
            },
        },
    ];
    for (unit, (cost, wasted)) in collected.units.all.iter().zip(&totals.costs) {
        tiles.push(Tile {
            name: "cost",
            value: figure(*cost),
            note: format!(
                "{} · {} {}",
                words.get(unit),
                words.get("wasted"),
                figure(*wasted)
            ),
        });
    }
    tiles
}

/// `19 % of analyzed jobs`, `占已分析作业的 19 %`.
fn noted(words: Words, name: &str, number: &str) -> String {
    let word = words.get(name);
    words
        .0
        .select(format!("{word} {number}"), format!("{number} {word}"))
}

/// Weeks with their sums, ascending. Weeks without jobs are included; unknown weeks are left out.
fn weeks(collected: &Collected) -> Vec<(Date, Group)> {
    let groups = totals::groups(&collected.jobs, |j| j.week).into_iter();
    let dated = groups.filter_map(|g| Some((collected.weeks.of(g.of)?.parse().ok()?, g)));
    let mut dated: Vec<(Date, Group)> = dated.collect();
    dated.sort_by_key(|(week, _)| *week);
    let (Some(first), Some(last)) = (dated.first(), dated.last()) else {
        return dated;
    };
    if (last.0 - first.0).get_days() / 7 > WEEKS {
        return dated;
    }
    let mut filled: Vec<(Date, Group)> = Vec::new();
    for (week, group) in dated {
        while let Some(next) = filled
            .last()
            .and_then(|(w, _)| after(*w))
            .filter(|w| *w < week)
        {
            filled.push((next, Group::default()));
        }
        filled.push((week, group));
    }
    filled
}

fn after(week: Date) -> Option<Date> {
    week.checked_add(jiff::Span::new().days(7)).ok()
}

fn columns(weeks: &[(Date, Group)], most: f64, words: Words) -> Vec<Column> {
    let every = weeks.len().div_ceil(12).max(1);
    let column = |(at, (week, group)): (usize, &(Date, Group))| Column {
        value: group.of.map_or(-1, i64::from),
        label: (at % every == 0).then(|| week.strftime("%m-%d").to_string()),
        minor: at / every % 2 == 1,
        title: week_title(*week, group, words),
        avoidable: percent(group.avoidable.min(group.run), most),
        rest: percent((group.run - group.avoidable).max(0.0), most),
    };
    weeks.iter().enumerate().map(column).collect()
}

/// `2026-01-12: 3 jobs, 41.2 h, avoidable 9.5 h`.
fn week_title(week: Date, group: &Group, words: Words) -> String {
    let avoidable = hours(group.avoidable, words);
    let parts = [
        JOB.count(group.jobs as f64).localize(words.0),
        hours(group.run, words),
        format!("{} {avoidable}", words.get("avoidable_key")),
    ];
    format!(
        "{week}{}{}",
        words.get("colon"),
        parts.join(words.get("comma"))
    )
}

fn percent(part: f64, whole: f64) -> f64 {
    if whole > 0.0 {
        (part / whole * 1000.0).round() / 10.0
    } else {
        0.0
    }
}

fn cards(collected: &Collected, words: Words) -> Vec<Card> {
    let jobs = &collected.jobs;
    let scripts = collected.scripts.labels();
    let text = |texts: &[String], of: Option<u32>| {
        let known = of.and_then(|of| texts.get(of as usize).cloned());
        known.unwrap_or_else(|| words.get("unknown").to_owned())
    };
    let titles = collected
        .causes
        .all
        .iter()
        .map(|code| cause(code, words).to_owned());
    let titles: Vec<String> = titles.collect();
    let cards: [(&str, Vec<Group>, &[String]); 4] = [
        ("cause", totals::causes(collected), &titles),
        ("script", totals::groups(jobs, |j| j.script), &scripts),
        (
            "owner",
            totals::groups(jobs, |j| j.owner),
            &collected.owners.all,
        ),
        (
            "queue",
            totals::groups(jobs, |j| j.queue),
            &collected.queues.all,
        ),
    ];
    let card = |(name, groups, texts): (&'static str, Vec<Group>, &[String])| {
        let groups = ranked(groups);
        let most = groups.first().map_or(0.0, |g| g.avoidable);
        let bar = |group: &Group| Bar {
            value: group.of.map_or(-1, i64::from),
            label: text(texts, group.of),
            hours: hours(group.avoidable, words),
            jobs: JOB.count(group.jobs as f64).localize(words.0),
            width: percent(group.avoidable, most),
        };
        Card {
            name,
            more: groups.len() > BARS,
            bars: groups.iter().take(BARS).map(bar).collect(),
        }
    };
    cards.into_iter().map(card).collect()
}

fn clusters<'a>(collected: &'a Collected, words: Words) -> Vec<Line<'a>> {
    let scripts = collected.scripts.labels();
    let line = |cluster: &'a super::cluster::Cluster| {
        let job = collected.jobs.get(cluster.costliest)?;
        let code = collected.causes.of(Some(cluster.cause))?;
        let script = cluster
            .script
            .and_then(|s| scripts.get(s as usize).cloned());
        Some(Line {
            cause: cause(code, words),
            script: script.unwrap_or_else(|| words.get("unknown").to_owned()),
            role: cluster.role.as_deref(),
            jobs: count(cluster.jobs, words),
            hours: hours(cluster.seconds, words),
            advice: collected.suggestions.of(cluster.advice),
            costliest: job.label(),
            link: collected.link(job),
        })
    };
    collected
        .ranked_clusters()
        .into_iter()
        .filter_map(line)
        .collect()
}

fn row<'a>(job: &'a Job, highest: f64, collected: &'a Collected, words: Words) -> Row<'a> {
    let seconds = |s: Option<f64>| Some(Seconds(s?).localize(words.0));
    let first = job
        .findings
        .first()
        .and_then(|p| collected.clusters.get(p.cluster as usize));
    let first = first.and_then(|c| collected.causes.of(Some(c.cause)));
    let ending = job.ending.name();
    Row {
        name: job.label(),
        link: collected.link(job),
        sub: job.id.as_deref().unwrap_or(&job.uri),
        ending,
        finding: first
            .map_or(words.get(ending), |code| cause(code, words))
            .to_owned(),
        more: job.findings.len().saturating_sub(1),
        lines: job.lines.map(|[first, last]| words.lines(first, last)),
        owner: collected.owners.of(job.owner),
        queue: collected.queues.of(job.queue),
        submitted: job.submitted.map(minute),
        run: seconds(job.run),
        avoidable: seconds(job.avoidable),
        width: percent(job.avoidable.unwrap_or(0.0), highest),
        cost: job.cost.map(figure),
        suggestion: collected.suggestions.of(job.suggestion),
        missing: collected.files.of(job.missing),
        reason: collected.reasons.of(job.reason),
    }
}

impl Job {
    /// Name of the job for people.
    pub(super) fn label(&self) -> &str {
        self.name
            .as_deref()
            .or(self.id.as_deref())
            .unwrap_or(&self.uri)
    }
}

impl Ending {
    /// Name of its word and of its style.
    fn name(self) -> &'static str {
        match self {
            Ending::Problem => "problem",
            Ending::Healthy => "healthy",
            Ending::Inconclusive => "inconclusive",
            Ending::Failed => "failed",
        }
    }
}
