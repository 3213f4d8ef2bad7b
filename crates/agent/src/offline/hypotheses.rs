//! The appendix in fixed wording: what was found, what a missing file would decide, what was ruled out.

use super::limits;
use crate::conclusion::{Hypotheses, Hypothesis, HypothesisResult};
use crate::facts::StepInput;
use diagnosis::Settings;
use report::format::{list, without_stop};
use report::{Cause, Finding, Language, Text, text};

/// Open and refuted hypotheses listed; the most relevant ones come first.
const HYPOTHESES: usize = 6;

/// Files named in which a cause was found.
const FILES: usize = 2;

/// A hypothesis with what is known of it.
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
            ..hypothesis(
                f.cause,
                &files(f, input),
                HypothesisResult::Confirmed,
                input,
            )
        },
        because: Some(f.summary.clone()),
    });
    let missing = found.missing.iter().map(|m| &m.information);
    let open = missing.flat_map(|m| {
        let open = |cause: &Cause| Known {
            hypothesis: Hypothesis {
                file: Some(m.file.clone()),
                ..hypothesis(
                    *cause,
                    std::slice::from_ref(&m.file),
                    HypothesisResult::Open,
                    input,
                )
            },
            because: None,
        };
        m.would_decide.iter().map(open)
    });
    let refuted = found.cleared.iter().filter_map(|c| {
        let cause = Cause::from_code(&c.cause)?;
        Some(Known {
            hypothesis: hypothesis(cause, &[], HypothesisResult::Refuted, input),
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

fn hypothesis(
    cause: Cause,
    files: &[String],
    result: HypothesisResult,
    input: &StepInput,
) -> Hypothesis {
    Hypothesis {
        hypothesis: named(cause, input.facts.language),
        check: check_of(
            cause,
            files,
            &input.facts.found.settings,
            input.facts.language,
        ),
        file: None,
        result,
        evidence: Vec::new(),
    }
}

/// The files that the evidence of a finding comes from.
fn files(finding: &Finding, input: &StepInput) -> Vec<String> {
    let found = &input.facts.found;
    let evidence = finding.evidence.iter().filter_map(|id| found.evidence(id));
    let mut files: Vec<String> = Vec::new();
    for file in evidence.map(|e| &e.source.file) {
        if files.len() < FILES && !files.contains(file) {
            files.push(file.clone());
        }
    }
    files
}

/// A cause in words, with its code.
fn named(cause: Cause, language: Language) -> String {
    let (title, code) = (cause.title(), cause.code());
    text!("{title}（{code}）", "{title} ({code})", title = title).into(language)
}

/// What to look for in which files, and what would contradict the cause.
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
    let against = match against.join(separator) {
        none if none.is_empty() => Text::default(),
        against => text!("；反证：{against}", "; against it: {against}"),
    };
    let place = match files.is_empty() {
        true => Text::default(),
        false => text!("在 {files} 中核对：", " in {files}"),
    };
    text!(
        "{place}{what}{against}",
        "check{place} whether {what}{against}",
        place = place,
        against = against
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
            HypothesisResult::Confirmed => text!("成立", "confirmed"),
            HypothesisResult::Refuted => text!("不成立", "refuted"),
            HypothesisResult::Open => text!("待验证", "open"),
        };
        let because = match known.because.as_deref().map(without_stop) {
            Some(because) => text!("：{because}", "; {because}"),
            None => Text::default(),
        };
        text!(
            "- 假设：{hypothesis}。{result}{because}。验证方式：{check}。",
            "- {hypothesis}: {result}{because}. How to verify: {check}.",
            result = result,
            because = because
        )
        .into(language)
    };
    all.iter().map(line).collect::<Vec<_>>().join("\n")
}
