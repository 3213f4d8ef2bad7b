//! A run with other resources, more input or findings fixed: what is asked, the replay, and why it cannot be replayed.

use std::path::Path;
use std::str::FromStr;

use diagnosis::whatif::{Change, Curve, Point, Resource, Unanswerable, WhatIf};
use diagnosis::{Diagnosis, Settings};
use job::model::SHUFFLE_PARTITIONS;
use job::{Catalogue, Job};
use report::format::{Counted, Noun, Number, Seconds, Share};
use report::{Cost, JobEngine, Language, Localize, Report, Text, say, text};

use crate::error::{Error, Result};

/// Largest count of tokens or executors.
const MOST: usize = 1_000_000;

/// Points of a range that the user asks for.
const RANGE_POINTS: usize = 8;

/// A number of tokens or executors, or several.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    Count(usize),
    Factor(f64),
    Range(usize, usize),
}

impl FromStr for Amount {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Amount, String> {
        let count = |text: &str| text.parse().ok().filter(|n| (1..=MOST).contains(n));
        let range = || {
            let (from, to) = text.split_once("..")?;
            let (from, to) = (count(from)?, count(to)?);
            (from <= to).then_some(Amount::Range(from, to))
        };
        let factor = || Some(Amount::Factor(text.parse::<Factor>().ok()?.0));
        let found = count(text)
            .map(Amount::Count)
            .or_else(range)
            .or_else(factor);
        found.ok_or_else(|| {
            report::say!(
                "应为 60、2x 或 50..400 这样的数目",
                "a number such as 60, 2x or 50..400 is needed"
            )
        })
    }
}

/// A positive factor, such as `2x` or `0.5x`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factor(pub f64);

impl FromStr for Factor {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Factor, String> {
        let number = text.strip_suffix(['x', 'X']).and_then(|n| n.parse().ok());
        let factor = number.filter(|n: &f64| (0.001..=1000.0).contains(n));
        factor.map(Factor).ok_or_else(|| {
            report::say!(
                "应为 2x 这样的倍数（0.001x 至 1000x）",
                "a factor such as 2x is needed (0.001x to 1000x)"
            )
        })
    }
}

/// A change of a run, in the words of the user.
#[derive(Debug, Clone)]
pub struct Asked {
    pub count: Option<Amount>,
    pub cores: Option<usize>,
    pub input: Factor,
    /// Ids of findings or suggestions.
    pub fix: Vec<String>,
    /// Settings as `KEY=VALUE`.
    pub set: Vec<String>,
}

/// Replayed changes, next to the run as it is.
#[derive(Debug)]
pub struct Replayed {
    pub job: Job,
    pub resource: Resource,
    /// The run as it was, by its own replay.
    pub now: Point,
    /// The run with the change, at the counts that were asked for.
    pub asked: Vec<Point>,
    /// The run with the change, over counts.
    pub curve: Curve,
    pub is_changed: bool,
    /// Cost of the run as it was.
    pub cost: Option<Cost>,
}

/// Replays the job in a folder with a change. Ids of suggestions need the saved report of the run.
///
/// # Errors
/// If the job cannot be read or replayed, or the change does not fit it.
pub fn replay(
    folder: &Path,
    settings: &Settings,
    asked: &Asked,
    report: Option<&Report>,
    language: Language,
) -> Result<Replayed> {
    let job = job::load(folder)?;
    let (found, run) = advice::what_if(&job, &Catalogue::builtin(), settings, language);
    let findings: Vec<String> = found.findings.iter().map(|f| f.id.clone()).collect();
    let failed = |why| unanswerable(why, &findings);
    let run = run.map_err(failed)?;
    let change = asked.change(&run, report, &found, &findings)?;
    let mut counts = asked.counts(&change, &run);
    if counts.is_empty() && change != Change::default() {
        counts.push(run.now());
    }
    let at = |count| {
        let count = Some(count);
        run.at(&Change {
            count,
            ..change.clone()
        })
    };
    let points: std::result::Result<_, _> = counts.iter().copied().map(at).collect();
    Ok(Replayed {
        resource: run.resource(),
        now: run.at(&Change::default()).map_err(failed)?,
        asked: points.map_err(failed)?,
        curve: run.curve(&change, &counts).map_err(failed)?,
        is_changed: change != Change::default(),
        cost: found.cost,
        job,
    })
}

/// A replay in words.
pub struct Told<'a> {
    pub replayed: &'a Replayed,
    /// Of an hour of the run's resource.
    pub price: Option<f64>,
    pub language: Language,
}

impl Told<'_> {
    fn nouns(&self) -> [Noun; 2] {
        let engine = self.replayed.job.engine();
        engine.unwrap_or(JobEngine::Scope).resource()
    }

    fn count(&self, point: &Point) -> Counted {
        self.nouns()[0].count(point.count as f64)
    }

    /// The run as it was.
    pub fn now(&self) -> String {
        let now = &self.replayed.now;
        let cost = self.replayed.cost.as_ref();
        let cost = cost.and_then(|cost| cost.used(Some(now.hours)));
        let text = text!(
            "现在 {count}，{time}，{cost}",
            "now {count}, {time}, {cost}",
            count = self.count(now),
            time = Seconds(now.seconds),
            cost = cost.unwrap_or_else(|| self.cost(now)),
        );
        text.into(self.language)
    }

    /// The change, at each count that was asked for.
    pub fn asked(&self) -> impl Iterator<Item = String> {
        self.replayed.asked.iter().map(|point| self.one(point))
    }

    fn one(&self, point: &Point) -> String {
        let change = match point.seconds / self.replayed.now.seconds - 1.0 {
            c if c.abs() < 0.005 => text!("不变", "no change"),
            c if c < 0.0 => text!("快 {share}", "{share} less", share = Share(-c)),
            c => text!("慢 {share}", "{share} more", share = Share(c)),
        };
        let [least, most] = point.between.map(Seconds);
        let text = text!(
            "{count}：约 {time}（{change}；{least} 至 {most}），占用 {cost}",
            "{count}: about {time} ({change}; {least} to {most}), holds {cost}",
            count = self.count(point),
            time = Seconds(point.seconds),
            change = change,
            least = least,
            most = most,
            cost = self.cost(point),
        );
        text.into(self.language)
    }

    /// The hours that a run holds, with their price.
    pub fn cost(&self, point: &Point) -> Text {
        let hours = self.nouns()[1].count(point.hours);
        match self.price {
            None => text!("{hours}", "{hours}", hours = hours),
            Some(price) => text!(
                "{hours}，合 {money}",
                "{hours}, costs {money}",
                hours = hours,
                money = Number(price * point.hours),
            ),
        }
    }

    pub fn conclusion(&self) -> String {
        let text = self.replayed.curve.conclusion(self.nouns()[0]);
        text.localize(self.language)
    }
}

impl Asked {
    fn change(
        &self,
        run: &WhatIf,
        report: Option<&Report>,
        found: &Diagnosis,
        findings: &[String],
    ) -> Result<Change> {
        let mut change = Change {
            cores: self.cores,
            input: self.input.0,
            ..Change::default()
        };
        let is_spark = run.resource() != Resource::Tokens;
        for id in &self.fix {
            let fixed = finding(id, report, findings)?;
            let named =
                report.and_then(|r| r.suggestions.iter().find(|s| s.id.eq_ignore_ascii_case(id)));
            let of_finding = found.suggestions.iter().map(|s| &s.suggestion);
            let of_finding =
                of_finding.filter(|s| s.finding.as_ref() == findings.get(fixed) && named.is_none());
            let settings = named
                .into_iter()
                .chain(of_finding)
                .flat_map(|s| &s.settings);
            // settings of resources are the fix: the saving of the finding would count them twice
            let resources = settings.filter(|s| s.key != SHUFFLE_PARTITIONS && is_spark);
            let sets: Vec<bool> = resources
                .map(|s| set(&mut change, run.resource(), &s.key, &s.suggested))
                .collect();
            if !sets.contains(&true) {
                change.fixed.push(fixed);
            }
        }
        change.fixed.sort_unstable();
        change.fixed.dedup();
        for setting in &self.set {
            let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
            if !set(&mut change, run.resource(), key.trim(), value) {
                return Err(error!(
                    Usage: "无法重放设置 `{setting}`", "the setting `{setting}` can't be replayed";
                    "可用 spark.sql.shuffle.partitions=N、spark.executor.instances=N、spark.executor.cores=N",
                    "spark.sql.shuffle.partitions=N, spark.executor.instances=N and spark.executor.cores=N can"
                ));
            }
        }
        Ok(change)
    }

    /// The counts that the user asks for, ascending.
    fn counts(&self, change: &Change, run: &WhatIf) -> Vec<usize> {
        let set = change.count.map(Amount::Count);
        let amount = self.count.or(set);
        match amount {
            None => Vec::new(),
            Some(Amount::Count(count)) => vec![count],
            Some(Amount::Factor(factor)) => {
                vec![((run.now() as f64 * factor).round() as usize).max(1)]
            }
            Some(Amount::Range(from, to)) => {
                let ratio = to as f64 / from as f64;
                let step =
                    |n: usize| from as f64 * ratio.powf(n as f64 / (RANGE_POINTS - 1) as f64);
                let mut counts: Vec<usize> = (0..RANGE_POINTS)
                    .map(|n| step(n).round() as usize)
                    .collect();
                counts.dedup();
                counts
            }
        }
    }
}

/// Applies a setting; false if it can't be replayed.
fn set(change: &mut Change, resource: Resource, key: &str, value: &str) -> bool {
    let number: Option<usize> = value.trim().parse().ok();
    let number = number.filter(|n| (1..=MOST).contains(n));
    let changed = match key {
        SHUFFLE_PARTITIONS => &mut change.partitions,
        "spark.executor.instances" | "spark.dynamicAllocation.maxExecutors" | "spark.cores.max" => {
            &mut change.count
        }
        "spark.executor.cores" => &mut change.cores,
        _ => return false,
    };
    let number = match (key, resource) {
        ("spark.cores.max", Resource::Executors { slots }) => {
            number.map(|cores| (cores / slots.max(1)).max(1))
        }
        _ => number,
    };
    *changed = number.or(*changed);
    number.is_some()
}

/// Position of the finding that `id` names or that the suggestion `id` fixes.
fn finding(id: &str, report: Option<&Report>, findings: &[String]) -> Result<usize> {
    let position = |id: &str| findings.iter().position(|f| f.eq_ignore_ascii_case(id));
    let fixes = || {
        let suggestions = &report?.suggestions;
        let named = suggestions.iter().find(|s| s.id.eq_ignore_ascii_case(id))?;
        position(named.finding.as_deref()?)
    };
    position(id).or_else(fixes).ok_or_else(|| {
        let known = findings.join(", ");
        error!(Usage: "没有发现或建议 `{id}`", "there is no finding or suggestion `{id}`").hint(
            match findings {
                [] => say!("这个作业没有发现", "the job has no findings"),
                _ => say!(
                    "发现：{known}；建议的编号只用于已保存的运行",
                    "findings: {known}; ids of suggestions need a saved run"
                ),
            },
        )
    })
}

/// The error for a run that cannot be replayed.
fn unanswerable(why: Unanswerable, findings: &[String]) -> Error {
    match why {
        Unanswerable::Failed => error!(
            Input: "作业失败了，只做了一部分工作", "the job failed, so only a part of its work is known";
            "换一次成功的运行", "use a run that succeeded"
        ),
        Unanswerable::NoWork => error!(
            Input: "没有文件说明各阶段的工作量", "no file shows the work of the stages";
            "加入 profile 或 __ScopeRuntimeStatistics__.xml（Spark：完整的事件日志）",
            "add `profile` or `__ScopeRuntimeStatistics__.xml` (Spark: the whole event log)"
        ),
        Unanswerable::NoResources => error!(
            Input: "没有文件说明作业有多少令牌或核", "no file shows how many tokens or cores the job had";
            "加入 JobInfo.xml 或 profile（Spark：含 Executor 事件的日志）",
            "add `JobInfo.xml` or `profile` (Spark: a log with the executors' events)"
        ),
        Unanswerable::NoFix(at) => {
            let id = findings.get(at).cloned().unwrap_or_default();
            error!(
                Input: "{id} 的修复无法重放", "fixing {id} can't be replayed";
                "不要修复 {id}", "leave {id} out"
            )
        }
        Unanswerable::NoPartitions => error!(
            Input: "没有阶段的任务数等于当前的 spark.sql.shuffle.partitions：任务数由 AQE 或代码决定",
            "no stage has as many tasks as spark.sql.shuffle.partitions says: AQE or the code chose their number";
            "改用 --executors 或 --cores", "use --executors or --cores"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_counts_factors_and_ranges() {
        for (text, amount) in [
            ("60", Some(Amount::Count(60))),
            ("2x", Some(Amount::Factor(2.0))),
            ("50..400", Some(Amount::Range(50, 400))),
            ("400..50", None),
            ("0", None),
            ("-2x", None),
            ("NaNx", None),
            ("two", None),
        ] {
            assert_eq!(text.parse().ok(), amount, "{text}");
        }
    }
}
