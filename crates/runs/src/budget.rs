//! Whether a run keeps a budget, for pipelines: limits of time, cost and findings, and the job's own history.

use report::format::Seconds;
use report::{Report, Severity, Text, Verdict, text};
use serde::Serialize;

use crate::history::{JobHistory, standings};

/// Limits of one run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Limits {
    /// Seconds of the run.
    pub time: Option<f64>,
    /// Vertex-hours or core-hours.
    pub cost: Option<f64>,
    /// No finding may be as severe as this.
    pub findings: Option<Severity>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Kept,
    Inconclusive,
    Broken,
}

/// A limit and whether the run keeps it.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// `state`, `time`, `cost`, `findings` or `baseline`.
    pub name: &'static str,
    pub outcome: Outcome,
    pub text: Text,
}

impl Limits {
    /// Reads `time=20m,cost=5,findings=high`.
    ///
    /// # Errors
    /// The part that is no limit.
    pub fn parse(text: &str) -> Result<Limits, String> {
        let mut limits = Limits::default();
        for part in text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let understood = match name.trim() {
                "time" => {
                    limits.time = duration(value.trim());
                    limits.time.is_some()
                }
                "cost" => {
                    limits.cost = value
                        .trim()
                        .parse()
                        .ok()
                        .filter(|c: &f64| c.is_finite() && *c >= 0.0);
                    limits.cost.is_some()
                }
                "findings" => {
                    let severity = serde_json::from_value(value.trim().into());
                    limits.findings = severity.ok();
                    limits.findings.is_some()
                }
                _ => false,
            };
            if !understood {
                return Err(part.to_owned());
            }
        }
        Ok(limits)
    }

    /// Every limit that is set.
    pub fn checks(&self, report: &Report) -> Vec<Check> {
        let mut checks = Vec::new();
        let failed = report.job.state.is_bad();
        if failed && *self != Limits::default() {
            let text = text!("作业失败", "the job failed");
            checks.push(Check {
                name: "state",
                outcome: Outcome::Broken,
                text,
            });
        }
        if let Some(limit) = self.time {
            let time = report.job.elapsed_seconds;
            let unfinished = report.job.is_unfinished();
            let time_text = time.map_or(text!("未知", "unknown"), |time| {
                text!("{time}", "{time}", time = Seconds(time))
            });
            let text = text!(
                "运行时间（不含编译和排队）{time}，上限 {limit}",
                "run time without compilation and queue {time}, limit {limit}",
                time = time_text,
                limit = Seconds(limit)
            );
            checks.push(Check {
                name: "time",
                outcome: match within(time, limit) {
                    Outcome::Kept if unfinished => Outcome::Inconclusive,
                    outcome => outcome,
                },
                text,
            });
        }
        if let Some(limit) = self.cost {
            let cost = report.cost.as_ref();
            let shown = cost.and_then(|cost| cost.used(None));
            let cost = cost.and_then(|cost| cost.vertex_hours);
            let text = text!(
                "{shown}，上限 {limit}",
                "{shown}, limit {limit}",
                shown = shown.unwrap_or_else(|| text!("未知", "unknown"))
            );
            checks.push(Check {
                name: "cost",
                outcome: within(cost, limit),
                text,
            });
        }
        checks.extend(self.findings.map(|limit| findings(report, limit)));
        checks
    }
}

/// Seconds of `90`, `90s`, `20m`, `1.5h`, `7d`.
pub fn duration(text: &str) -> Option<f64> {
    let number = text.trim_end_matches(|c: char| c.is_alphabetic() || c == ' ');
    let factor = match text[number.len()..].trim() {
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return None,
    };
    let number: f64 = number.parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number * factor)
}

fn within(value: Option<f64>, limit: f64) -> Outcome {
    match value {
        None => Outcome::Inconclusive,
        Some(value) if value > limit => Outcome::Broken,
        Some(_) => Outcome::Kept,
    }
}

fn findings(report: &Report, limit: Severity) -> Check {
    let severe: Vec<_> = report
        .findings
        .iter()
        .filter(|f| f.severity >= limit)
        .collect();
    let outcome = match (severe.is_empty(), report.verdict) {
        (false, _) => Outcome::Broken,
        (true, Verdict::InsufficientInformation) => Outcome::Inconclusive,
        (true, _) => Outcome::Kept,
    };
    let causes: Vec<Text> = severe.iter().map(|f| f.cause.title().into()).collect();
    let text = match outcome {
        Outcome::Broken => {
            let causes = Text::joined(&causes, ["、", ", "]);
            text!("发现问题：{causes}", "found: {causes}", causes = causes)
        }
        Outcome::Inconclusive => text!("信息不足，暂无结论", "no conclusion: files are missing"),
        Outcome::Kept => text!("没有达到该严重程度的问题", "no finding of that severity"),
    };
    Check {
        name: "findings",
        outcome,
        text,
    }
}

/// The newest run against the good runs before it.
pub fn baseline(history: &JobHistory) -> Check {
    let check = |outcome, text| Check {
        name: "baseline",
        outcome,
        text,
    };
    let Some(run) = history.runs.last() else {
        return check(Outcome::Inconclusive, text!("没有运行", "no run"));
    };
    if run.failed {
        return check(Outcome::Broken, text!("作业失败", "the job failed"));
    }
    // One good run is a baseline, with the ordinary spread of recurring jobs around it.
    let standing = standings(history.times(), 1).pop().unwrap_or_default();
    let (Some(usual), Some(time)) = (standing.usual, run.elapsed_seconds) else {
        let text = text!(
            "没有可比较的正常运行",
            "there is no good run to compare with"
        );
        return check(Outcome::Inconclusive, text);
    };
    let reason = run.reason.clone().map_or_else(Text::default, |r| {
        text!(
            "；与正常运行（A）相比：{r}",
            "; compared with a good run (A): {r}"
        )
    });
    let (outcome, verdict) = match standing.is_regression {
        true => (
            Outcome::Broken,
            text!("超出自身波动{r}", "more than its own spread{r}", r = reason),
        ),
        false => (
            Outcome::Kept,
            text!("在自身波动之内", "within its own spread"),
        ),
    };
    let text = text!(
        "用时 {time}，通常约 {usual}，{verdict}",
        "took {time}, usually about {usual}, {verdict}",
        time = Seconds(time),
        usual = Seconds(usual),
        verdict = verdict
    );
    check(outcome, text)
}

/// The worst outcome of all checks; kept if there are none.
pub fn outcome<'a>(checks: impl IntoIterator<Item = &'a Check>) -> Outcome {
    let outcomes = checks.into_iter().map(|check| check.outcome);
    outcomes.max().unwrap_or(Outcome::Kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read() {
        let limits = Limits::parse("time=20m, cost=5,findings=high").expect("limits");
        assert_eq!(limits.time, Some(1200.0));
        assert_eq!(
            (limits.cost, limits.findings),
            (Some(5.0), Some(Severity::High))
        );
        for wrong in [
            "time=soon",
            "time",
            "price=3",
            "findings=bad",
            "cost=-1",
            "time=5x",
        ] {
            assert_eq!(Limits::parse(wrong), Err(wrong.to_owned()));
        }
    }
}
