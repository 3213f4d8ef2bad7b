//! True sentences about a job: the offline report's, and the same in other words.

use report::format::{Seconds, Share};
use report::{EvidenceValue, Finding, Language, Localize};

use super::Analyzed;

/// A sentence, and the ids that it is about.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sentence {
    pub(super) text: String,
    pub(super) about: Vec<String>,
}

impl Sentence {
    pub(super) fn of(text: impl Into<String>) -> Sentence {
        Sentence {
            text: text.into(),
            about: Vec::new(),
        }
    }
}

pub(super) fn of(analyzed: &Analyzed, language: Language) -> Vec<Sentence> {
    let mut all: Vec<Sentence> = analyzed.texts.iter().map(Sentence::of).collect();
    let plain = plain(analyzed, language);
    for sentence in &plain {
        for text in reworded(&sentence.text, language) {
            all.push(Sentence {
                text,
                ..sentence.clone()
            });
        }
    }
    all.extend(plain);
    all.extend(translated(analyzed, language));
    all.extend(denials(analyzed, language));
    all
}

/// Summaries, evidence and suggestions, each in a sentence with its citation.
pub(super) fn plain(analyzed: &Analyzed, language: Language) -> Vec<Sentence> {
    let found = &analyzed.input.facts.found;
    let stop = language.select("。", ".");
    let mut all = Vec::new();
    for finding in &found.findings {
        all.push(Sentence::of(format!(
            "{} [{}]{stop}",
            finding.summary, finding.id
        )));
        all.extend(about(finding, language));
    }
    for evidence in &found.evidence {
        let is_zero = evidence.value == EvidenceValue::Number(0.0);
        if !is_zero {
            all.push(Sentence::of(format!(
                "{} [{}]{stop}",
                evidence.text, evidence.id
            )));
        }
    }
    for suggestion in analyzed
        .input
        .suggestions
        .iter()
        .filter(|s| !s.gain.is_empty())
    {
        let (id, gain) = (&suggestion.id, &suggestion.gain);
        all.push(Sentence::of(match language {
            Language::Zh => format!("{id} 的收益：{gain}。"),
            Language::En => format!("{id} gains {gain}."),
        }));
    }
    all
}

/// Gain, cause and place of a finding in sentences of our own.
fn about(finding: &Finding, language: Language) -> Vec<Sentence> {
    let id = &finding.id;
    let title = finding.cause.title().localize(language);
    let mut all = vec![Sentence::of(match language {
        Language::Zh => format!("主要原因是{title} [{id}]。"),
        Language::En => format!("The main cause is {title} [{id}]."),
    })];
    if let Some(stage) = &finding.stage {
        all.push(Sentence::of(match language {
            Language::Zh => format!("{id}（{title}）出现在阶段 {stage}。"),
            Language::En => format!("{id} ({title}) is in stage {stage}."),
        }));
    }
    all.extend(gain(finding, language));
    all
}

fn gain(finding: &Finding, language: Language) -> Option<Sentence> {
    let impact = finding.impact.as_ref()?;
    let share = Share(impact.share_of_elapsed?).localize(language);
    let seconds = Seconds(impact.seconds_saved).localize(language);
    let id = &finding.id;
    Some(Sentence::of(match language {
        Language::Zh => format!("修复 {id} 约可节省 {seconds}（占运行时间的 {share}）。"),
        Language::En => format!("Fixing {id} would save about {seconds} ({share} of the run)."),
    }))
}

/// The sentences about the findings in the language that the report is not in.
pub(super) fn translated(analyzed: &Analyzed, language: Language) -> Vec<Sentence> {
    let other = language.select(Language::En, Language::Zh);
    let findings = &analyzed.input.facts.found.findings;
    findings.iter().flat_map(|f| about(f, other)).collect()
}

/// Causes that the rules cleared, denied.
fn denials(analyzed: &Analyzed, language: Language) -> Vec<Sentence> {
    let cleared = analyzed.input.facts.found.cleared.iter().take(8);
    let title = |code: &str| report::Cause::from_code(code).map(|c| c.title().localize(language));
    let titles = cleared.filter_map(|c| title(&c.cause));
    let denied = titles.map(|title| match language {
        Language::Zh => format!("没有发现{title}。"),
        Language::En => format!("There is no {title}."),
    });
    denied.map(Sentence::of).collect()
}

/// The same in other words.
pub(super) fn reworded(text: &str, language: Language) -> Vec<String> {
    let mut all = match language {
        Language::En => vec![
            format!("As the counters show, {text}"),
            text.replace(" times the mean", "x the average")
                .replace(" gets ", " receives ")
                .replace(" M rows", " million rows")
                .replace(" is ", " comes to "),
            spelled_out(
                text,
                &[
                    (" min ", " minutes and "),
                    (" s ", " seconds "),
                    (" s,", " seconds,"),
                    (" %", " percent"),
                ],
            ),
            format!(
                "{} This is the point to start from.",
                text.replace(" %", "%")
            ),
        ],
        Language::Zh => vec![
            format!("计数器显示，{text}"),
            text.replace("均值", "平均值")
                .replace("得到", "收到")
                .replace(" 倍", "倍"),
            text.replace(" 分 ", " 分钟 ")
                .replace(" %", "%")
                .replace("约可节省", "预计能节省"),
            format!("{text}可以从这里着手。"),
        ],
    };
    all.retain(|other| other != text);
    all
}

fn spelled_out(text: &str, words: &[(&str, &str)]) -> String {
    let replace = |text: String, (from, to): &(&str, &str)| text.replace(from, to);
    words.iter().fold(text.to_owned(), replace)
}
