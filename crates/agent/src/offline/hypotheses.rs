//! The appendix in fixed wording: findings, causes that a missing file would decide, and ruled-out causes.

use std::collections::{BTreeMap, HashMap};

use super::limits;
use crate::conclusion::HypothesisResult::{self, Confirmed, Open, Refuted};
use crate::conclusion::{Hypotheses, Hypothesis};
use crate::facts::StepInput;
use crate::merge::union;
use diagnosis::Settings;
use report::format::{list, without_stop};
use report::{Cause, Finding, Language, engine_words, text};

/// Open and refuted hypotheses listed; the most relevant ones come first.
const HYPOTHESES: usize = 6;

/// Causes of a group that are listed before the next group.
const PER_GROUP: usize = 2;

/// Maximum files named for a found cause.
const FILES: usize = 2;

/// A hypothesis and the reason of its result.
struct Known {
    hypothesis: Hypothesis,
    /// Why it is confirmed or refuted; `None` while it is open.
    because: Option<String>,
}

pub(super) fn hypotheses(input: &StepInput) -> Hypotheses {
    let (found, language) = (&input.facts.found, input.facts.language);
    let confirmed = found.findings.iter().map(|f| Known {
        hypothesis: Hypothesis {
            evidence: f.evidence.clone(),
            ..hypothesis(f.cause, &files(f, input), Confirmed, input)
        },
        because: Some(f.summary.clone()),
    });
    let open = open_causes(input).into_iter().map(|(cause, file)| Known {
        hypothesis: Hypothesis {
            file: Some(file.clone()),
            ..hypothesis(cause, std::slice::from_ref(file), Open, input)
        },
        because: None,
    });
    let refuted = found.cleared.iter().filter_map(|c| {
        let cause = Cause::from_code(&c.cause)?;
        Some(Known {
            hypothesis: hypothesis(cause, &[], Refuted, input),
            because: Some(c.by.clone()),
        })
    });
    let known: Vec<Known> = confirmed
        .chain(open.take(HYPOTHESES))
        .chain(refuted.take(HYPOTHESES))
        .collect();
    Hypotheses {
        text: in_text(&known, language),
        hypotheses: known.into_iter().map(|k| k.hypothesis).collect(),
    }
}

/// The undecided causes, most plausible first, each with the most relevant file that would decide it. The user's words come first,
/// then the causes in the order of the contract, which begins with the common ones; a group has two of them before another has its turn.
fn open_causes(input: &StepInput) -> Vec<(Cause, &String)> {
    let question = input.facts.question.as_deref().unwrap_or_default();
    let question = question.to_lowercase();
    let mut open: BTreeMap<Cause, &String> = BTreeMap::new();
    for missing in input.facts.found.missing.iter().map(|m| &m.information) {
        for cause in &missing.would_decide {
            open.entry(*cause).or_insert(&missing.file);
        }
    }
    let is_asked = |cause: &Cause| {
        let mut words = cause.code().split(['.', '_']).filter(|word| word.len() > 3);
        words.any(|word| question.contains(word)) || question.contains(cause.title().zh)
    };
    let mut of_groups: HashMap<&str, usize> = HashMap::new();
    let keyed = open.into_iter().map(|(cause, file)| {
        let group = cause.code().split('.').next().unwrap_or_default();
        let before = of_groups.entry(group).or_default();
        let turn = *before / PER_GROUP;
        *before += 1;
        ((!is_asked(&cause), turn), (cause, file))
    });
    let mut keyed: Vec<_> = keyed.collect();
    keyed.sort_by_key(|(key, _)| *key);
    keyed.into_iter().map(|(_, open)| open).collect()
}

fn hypothesis(
    cause: Cause,
    files: &[String],
    result: HypothesisResult,
    input: &StepInput,
) -> Hypothesis {
    let (found, language) = (&input.facts.found, input.facts.language);
    let check = check_of(cause, files, &found.settings, language);
    Hypothesis {
        hypothesis: named(cause, language),
        check: engine_words(check, input.facts.job.engine, language),
        file: None,
        result,
        evidence: Vec::new(),
    }
}

/// The files that the evidence of a finding comes from.
fn files(finding: &Finding, input: &StepInput) -> Vec<String> {
    let found = &input.facts.found;
    let evidence = finding.evidence.iter().filter_map(|id| found.evidence(id));
    let mut files = union(Vec::new(), evidence.map(|e| e.source.file.clone()));
    files.truncate(FILES);
    files
}

/// A cause in words, with its code.
fn named(cause: Cause, language: Language) -> String {
    let (title, code) = (cause.title(), cause.code());
    text!("{title}（{code}）", "{title} ({code})", title = title).into(language)
}

/// How to check a cause: the condition to look for, the files, and the contradicting observation.
fn check_of(cause: Cause, files: &[String], settings: &Settings, language: Language) -> String {
    let files = list(files, language);
    let mut rules = diagnosis::rules().iter();
    let Some(about) = rules.find(|about| about.cause == cause) else {
        return text!("查看 {files}", "look at {files}").into(language);
    };
    let separator = language.select("；", "; ");
    let thresholds = about.thresholds.iter();
    let limits: Vec<String> = thresholds
        .filter_map(|t| limits::in_words(t, settings, language))
        .collect();
    let what = match limits.is_empty() {
        true => about.what.pick(language).to_owned(),
        false => limits.join(separator),
    };
    let against = about.counter_evidence.iter();
    let against: Vec<&str> = against.map(|text| text.pick(language)).collect();
    let against = Some(against.join(separator)).filter(|against| !against.is_empty());
    let place = Some(files).filter(|files| !files.is_empty());
    text!(
        "{place}{what}{against}",
        "check{place} whether {what}{against}",
        place = place.map(|files| text!("在 {files} 中核对：", " in {files}")),
        against = against.map(|against| text!("；反证：{against}", "; against it: {against}"))
    )
    .into(language)
}

fn in_text(all: &[Known], language: Language) -> String {
    if all.is_empty() {
        return text!("没有待验证的假设。", "No hypothesis is left open.").into(language);
    }
    let line = |known: &Known| {
        let Hypothesis {
            hypothesis,
            check,
            result,
            ..
        } = &known.hypothesis;
        let result = match result {
            Confirmed => text!("成立", "confirmed"),
            Refuted => text!("不成立", "refuted"),
            Open => text!("待验证", "open"),
        };
        let because = known.because.as_deref().map(without_stop);
        text!(
            "- 假设：{hypothesis}。{result}{because}。验证方式：{check}。",
            "- {hypothesis}: {result}{because}. How to verify: {check}.",
            result = result,
            because = because.map(|because| text!("：{because}", "; {because}"))
        )
        .into(language)
    };
    all.iter().map(line).collect::<Vec<_>>().join("\n")
}
