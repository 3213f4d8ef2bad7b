//! The pieces of a report that all its forms show, in words.

use report::format::{STAGE, Seconds, Share, amount, figure};
use report::{
    Cause, Diagnostic, Evidence, EvidenceValue, Finding, MissingInformation, Origin, Report,
    SameResult, Setting, Suggestion, Text, Verdict, text,
};

use serde::Serialize;

use super::words::Words;

/// Experiences shown per step unless all are asked for; the JSON report has every one.
pub const EXPERIENCES_SHOWN: u32 = 2;

/// Pieces of evidence per finding, unless all are asked for.
pub const EVIDENCE_SHOWN: usize = 3;

/// Information that is missing, with all files that could hold it.
pub struct Gap<'a> {
    first: &'a MissingInformation,
    pub files: Vec<&'a str>,
}

impl Gap<'_> {
    /// Why the information matters, and the source of its files.
    pub fn reason(&self, words: Words) -> String {
        let reason = &self.first.reason;
        let Some(from) = &self.first.from else {
            return reason.clone();
        };
        words.say(text!(
            "{reason}；可从这里取得：{from}",
            "{reason}; get it from: {from}"
        ))
    }

    pub fn file_list(&self, words: Words) -> String {
        words.say(either(&self.files))
    }

    /// Whether a file is present, its information, and the causes that it would decide.
    pub fn facts(&self, words: Words) -> String {
        let present = if self.first.present {
            words.in_folder()
        } else if self.first.without_it {
            words.without_it()
        } else {
            words.not_in_folder()
        };
        let titles = self.first.would_decide.iter().map(|c| words.cause(*c));
        let causes = titles.collect::<Vec<_>>().join(words.comma());
        let (info, decides) = (&self.first.info, words.would_decide());
        let facts = text!("（{present}） · {info}", " ({present}) · {info}");
        words.say(match causes.is_empty() {
            true => facts,
            false => text!(
                "{facts} · {decides}：{causes}",
                "{facts} · {decides}: {causes}",
                facts = facts
            ),
        })
    }
}

/// `a, b or c`.
fn either(names: &[&str]) -> Text {
    let Some((last, head)) = names.split_last().filter(|(_, head)| !head.is_empty()) else {
        let all = names.concat();
        return text!("{all}", "{all}");
    };
    let (zh, en) = (head.join("、"), head.join(", "));
    Text {
        zh: format!("{zh} 或 {last}"),
        en: format!("{en} or {last}"),
    }
}

/// Missing information, most relevant first; files with the same information are alternatives.
pub fn gaps(report: &Report) -> Vec<Gap<'_>> {
    let mut gaps: Vec<Gap> = Vec::new();
    for missing in &report.missing_information {
        let same = |gap: &&mut Gap| {
            let about = |m: &MissingInformation| (m.present, m.without_it);
            let first = gap.first;
            (&first.info, &first.reason, about(first))
                == (&missing.info, &missing.reason, about(missing))
        };
        match gaps.iter_mut().find(same) {
            Some(gap) => gap.files.push(&missing.file),
            None => gaps.push(Gap {
                first: missing,
                files: vec![&missing.file],
            }),
        }
    }
    gaps
}

/// Up to `most` pieces of evidence: first evidence with an expectation, then plain sentences, then raw
/// counters. A sentence appears once.
pub fn telling<'a>(all: &[&'a Evidence], most: usize) -> Vec<&'a Evidence> {
    let mut ranked: Vec<(usize, &Evidence)> = Vec::new();
    for (at, item) in all.iter().enumerate() {
        if !ranked.iter().any(|(_, known)| known.text == item.text) {
            ranked.push((at, item));
        }
    }
    ranked.sort_by_key(|(_, item)| (item.expected.is_none(), item.text.contains(&item.metric)));
    ranked.truncate(most);
    ranked.sort_by_key(|(at, _)| *at);
    ranked.into_iter().map(|(_, item)| item).collect()
}

/// A document with passages that the steps received.
#[derive(Debug, PartialEq, Serialize)]
pub struct Consulted<'a> {
    pub title: &'a str,
    /// Path in the knowledge base.
    pub document: &'a str,
    /// The first passage of it that was given.
    pub chunk: &'a str,
}

/// The documents that the steps consulted, each once.
pub fn consulted(report: &Report, per_step: u32) -> Vec<Consulted<'_>> {
    let mut all: Vec<Consulted> = Vec::new();
    for experience in report.experiences.iter().filter(|e| e.rank <= per_step) {
        let document = document_of(&experience.chunk);
        if !all.iter().any(|known| known.document == document) {
            all.push(Consulted {
                title: before(&experience.title, " › "),
                document,
                chunk: &experience.chunk,
            });
        }
    }
    all
}

/// The document of a chunk.
pub fn document_of(chunk: &str) -> &str {
    before(chunk, "#")
}

fn before<'a>(text: &'a str, mark: &str) -> &'a str {
    text.split_once(mark).map_or(text, |(before, _)| before)
}

/// File and place of a reading problem.
pub fn place(diagnostic: &Diagnostic) -> String {
    let place = [diagnostic.file.as_deref(), diagnostic.locator.as_deref()];
    place.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Whether the finding already has the saving of a suggestion.
pub fn saves_as_found(suggestion: &Suggestion, report: &Report) -> bool {
    let mut findings = report.findings.iter();
    let finding = findings.find(|f| Some(&f.id) == suggestion.finding.as_ref());
    let impact = finding.and_then(|f| f.impact.as_ref());
    let both = impact.zip(suggestion.seconds_saved);
    both.is_some_and(|(impact, saved)| impact.seconds_saved == saved)
}

impl Words {
    /// The first line: the top cause of a problem, or the missing information that keeps the
    /// verdict open.
    pub fn headline(self, report: &Report) -> String {
        if report.verdict == Verdict::InsufficientInformation {
            let gaps = gaps(report);
            return match gaps.first() {
                Some(gap) if report.job.is_unfinished() => {
                    let verdict = self.verdict(report.verdict, &[]);
                    let reason = &gap.first.reason;
                    self.say(text!("{verdict}：{reason}", "{verdict}: {reason}"))
                }
                Some(gap) => self.open_verdict(gap),
                None => self.verdict(report.verdict, &[]),
            };
        }
        let causes: Vec<Cause> = report.findings.iter().map(|f| f.cause).collect();
        self.verdict(report.verdict, &causes)
    }

    fn open_verdict(self, gap: &Gap) -> String {
        let verdict = self.verdict(Verdict::InsufficientInformation, &[]);
        let file = either(&gap.files);
        let Some((cause, rest)) = gap.first.would_decide.split_first() else {
            return verdict;
        };
        let (cause, more, all) = (cause.title_in(self.1), rest.len(), rest.len() + 1);
        let needed = if rest.is_empty() {
            text!("{cause}", "{cause}", cause = cause)
        } else {
            text!(
                "{cause}等 {all} 种原因",
                "{cause} and {more} more",
                cause = cause
            )
        };
        let lacking = if gap.first.without_it {
            text!(
                "{file} 中没有可用的信息",
                "nothing usable in {file}",
                file = file
            )
        } else {
            text!("缺少 {file}", "missing {file}", file = file)
        };
        self.say(text!(
            "{verdict}：{lacking}（补齐后可判断：{needed}）",
            "{verdict}: {lacking} (needed to check for: {needed})",
            lacking = lacking,
            needed = needed
        ))
    }

    /// `Problem found: hot key in a join (+1 more)`.
    pub fn verdict(self, verdict: Verdict, causes: &[Cause]) -> String {
        let found = match verdict {
            Verdict::Problem => text!("发现问题", "Problem found"),
            Verdict::Healthy => text!("健康", "Healthy"),
            Verdict::InsufficientInformation => {
                text!("信息不足，暂无结论", "No conclusion possible")
            }
        };
        let named = match causes {
            [] => return self.say(found),
            [one] => text!(
                "{found}：{one}",
                "{found}: {one}",
                found = found,
                one = one.title_in(self.1)
            ),
            [first, rest @ ..] => {
                let more = rest.len();
                text!(
                    "{found}：{first}（另有 {more} 个）",
                    "{found}: {first} (+{more} more)",
                    found = found,
                    first = first.title_in(self.1)
                )
            }
        };
        self.say(named)
    }

    /// How the job ended, if not well, its run time, and its size.
    pub fn job_facts(self, report: &Report) -> Vec<String> {
        let job = &report.job;
        let end = self.bad_end(report).map(str::to_owned);
        let sizes = [(job.stages, STAGE), (job.vertices, self.vertex())];
        let sizes = sizes.map(|(n, noun)| n.map(|n| self.in_engine(noun.count(n as f64))));
        let time = job.elapsed_seconds.map(|s| self.say(Seconds(s)));
        [end, time].into_iter().chain(sizes).flatten().collect()
    }

    /// Stage, severity and confidence of a finding.
    pub fn finding_facts(self, finding: &Finding) -> Vec<String> {
        let confidence = self.say(Share(finding.confidence));
        let place = finding.stage.as_deref().unwrap_or(self.whole_job());
        let mut facts = vec![place.to_owned()];
        facts.extend(finding.script_lines.map(|lines| self.script_lines(lines)));
        facts.push(self.severity(finding.severity).to_owned());
        facts.push(format!("{} {confidence}", self.confidence()));
        facts
    }

    /// Share of the time from submission to end that a fix saves, as in the account; `None` without an account.
    pub fn saved_share(finding: &Finding, report: &Report) -> Option<f64> {
        let impact = finding.impact.as_ref()?;
        let whole = report.time.as_ref().map(|time| time.total_seconds());
        Some(impact.seconds_saved / whole.filter(|seconds| *seconds > 0.0)?)
    }

    /// Saving of a fix, on top of the fixes of the findings before it: time with its share, and cost.
    pub fn saving(self, finding: &Finding, report: &Report) -> Option<String> {
        let impact = finding.impact.as_ref()?;
        let time = Seconds(impact.seconds_saved);
        let is_first = report.findings.first().is_some_and(|f| f.id == finding.id);
        let saved = match is_first {
            true => text!("可节省 {time}", "saves {time}", time = time),
            false => text!("可再节省 {time}", "saves {time} more", time = time),
        };
        let part = Words::saved_share(finding, report).map_or_else(Text::default, |share| {
            text!("（{share}）", " ({share})", share = Share(share))
        });
        let saved = text!("{saved}{part}", "{saved}{part}", saved = saved, part = part);
        let hours = impact.vertex_hours_saved.filter(|hours| *hours > 0.0);
        if impact.seconds_saved <= 0.0 {
            // hours of executors, while other hours are hours of tasks
            let (cost, hours) = report.cost.as_ref().zip(hours)?;
            let hours = report::hours_of(&cost.unit).count(hours);
            return Some(self.say(text!(
                "可少占用 {hours}",
                "holds {hours} less",
                hours = hours
            )));
        }
        Some(self.say(match report.cost.as_ref().zip(hours) {
            None => saved,
            Some((cost, hours)) => text!(
                "{saved}和 {hours}",
                "{saved} and {hours}",
                saved = saved,
                hours = report::hours_of(&cost.unit).count(hours)
            ),
        }))
    }

    /// The first suggestion with its saving and the command that shows it; `None` without one.
    pub fn fix_first(self, report: &Report) -> Option<(&'static str, String)> {
        let first = report.suggestions.first()?;
        let mut parts = vec![first.title.clone()];
        let saved = first.seconds_saved.map(Seconds);
        parts.extend(saved.map(|saved| {
            self.say(text!(
                "约可节省 {saved}",
                "saves about {saved}",
                saved = saved
            ))
        }));
        if !report.run_id.is_empty() {
            parts.push(format!("`scopeagent fix {} {}`", report.run_id, first.id));
        }
        Some((self.first(), parts.join(self.semicolon())))
    }

    /// First and last line of the script.
    pub fn script_lines(self, [first, last]: [u32; 2]) -> String {
        self.say(if first == last {
            text!("脚本第 {first} 行", "script line {first}")
        } else {
            text!("脚本第 {first}–{last} 行", "script lines {first}–{last}")
        })
    }

    /// A measured value, written as in sentences.
    pub fn amount(self, item: &Evidence) -> String {
        let n = match &item.value {
            EvidenceValue::Number(n) => *n,
            EvidenceValue::Text(text) => return text.clone(),
            EvidenceValue::Bool(yes) => return yes.to_string(),
        };
        let unit = item.unit.as_deref();
        unit.and_then(|unit| amount(n, unit, self.0))
            .unwrap_or_else(|| figure(n))
    }

    /// Metric and value; the metric alone if the sentence contains the value.
    pub fn measured(self, item: &Evidence) -> String {
        let amount = self.amount(item);
        match item.text.contains(&amount) {
            true => item.metric.clone(),
            false => format!("{} = {amount}", item.metric),
        }
    }

    /// ` (expected at most 2.0)`; empty without an expectation.
    pub fn expectation(self, item: &Evidence) -> String {
        let expected = item.expected.as_ref();
        expected.map_or_else(String::new, |value| {
            let limit = value.get(3..).unwrap_or_default();
            // 约 stands for the verb: 正常约 900 毫秒.
            self.say(match value.get(..3) {
                Some("<= ") => text!("（正常不超过 {limit}）", " (expected at most {limit})"),
                Some(">= ") => text!("（正常不少于 {limit}）", " (expected at least {limit})"),
                _ if value.starts_with('约') => text!("（正常{value}）", " (expected {value})"),
                _ => text!("（正常应为 {value}）", " (expected {value})"),
            })
        })
    }

    /// Checks of a suggestion's diff, and whether it gives the same rows; empty without a diff.
    pub fn check_of(self, suggestion: &Suggestion) -> &'static str {
        match suggestion.verified {
            None => "",
            Some(found) if found.same_result == SameResult::Different => self.other_result(),
            Some(found) if !(found.parses && found.columns_preserved && found.hints_known) => {
                self.partly_verified()
            }
            Some(found) => match found.same_result {
                SameResult::Proven => self.proven(),
                SameResult::Tested => self.tested(),
                SameResult::Different | SameResult::Unknown => self.undecided(),
            },
        }
    }

    /// The kind of a suggestion and who made it.
    pub fn kind_of(self, suggestion: &Suggestion) -> String {
        let origin = match suggestion.origin {
            Origin::Rules => self.by_rules(),
            Origin::Llm => self.by_llm(),
        };
        format!("{} · {origin}", self.suggestion_kind(suggestion.kind))
    }

    /// Settings of a suggestion: the assignment, and the value in force with the reason.
    pub fn settings(self, suggestion: &Suggestion) -> Vec<[String; 2]> {
        let line = |setting: &Setting| {
            let unit = setting.unit.as_deref().map(|unit| format!(" {unit}"));
            let unit = unit.unwrap_or_default();
            let now = setting.current.iter().zip(&setting.source).next();
            let now = now.map_or_else(Text::default, |(current, source)| {
                let of_spark = source.strip_prefix("default of ");
                match (of_spark, source.as_str()) {
                    (Some(version), _) => text!(
                        "现在是 {current}{unit}，Spark {version} 的默认值；",
                        "{current}{unit} now, the default of Spark {version}; "
                    ),
                    (None, "log") => text!("现在是 {current}{unit}；", "{current}{unit} now; "),
                    (None, _) => text!(
                        "现在是默认值 {current}{unit}；",
                        "{current}{unit} now, the default; "
                    ),
                }
            });
            let reason = text!(
                "{now}{reason}",
                "{now}{reason}",
                now = now,
                reason = setting.reason
            );
            [
                format!("{} = {}{unit}", setting.key, setting.suggested),
                self.say(reason),
            ]
        };
        suggestion.settings.iter().map(line).collect()
    }

    /// Gain, pros, cons and unverified parts, each with its label.
    pub fn remarks(self, suggestion: &Suggestion) -> Vec<(&'static str, String)> {
        let joined = |items: &[String]| items.join(self.semicolon());
        let all = [
            (self.gain(), suggestion.gain.clone()),
            (self.pros(), joined(&suggestion.pros)),
            (self.cons(), joined(&suggestion.cons)),
            (self.unverified(), joined(&suggestion.unverified)),
        ];
        all.into_iter()
            .filter(|(_, text)| !text.is_empty())
            .collect()
    }

    /// Who reasoned: the provider and its model, or the rules, alone or after a model that gave up.
    pub fn reasoner(self, report: &Report) -> String {
        let engine = &report.engine;
        let by_model = report.steps.iter().filter(|step| step.tokens_out > 0);
        let by_model: Vec<&str> = by_model.map(|step| step.id.as_str()).collect();
        match (&engine.provider, &engine.model) {
            (None, None) if engine.fallback.is_some() && !by_model.is_empty() => {
                format!("{}{}", self.after_model(), by_model.join(self.comma()))
            }
            (Some(provider), Some(model)) => format!("{provider} {model}"),
            (None, Some(model)) => model.clone(),
            _ => self.offline().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
