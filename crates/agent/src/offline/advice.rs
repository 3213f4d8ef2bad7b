//! THINK 5 and the appendix in fixed wording: suggestions weighed, hypotheses left open.

use crate::conclusion::{Advice, Hypotheses, Hypothesis, HypothesisResult, Recommendation};
use crate::facts::StepInput;
use crate::wording::{citing, sentence};
use report::{Finding, Language, Suggestion, Verdict};

use super::steps::saving;

/// Hypotheses listed; the most relevant ones come first.
const HYPOTHESES: usize = 6;

/// THINK 5.
pub(super) fn advice(input: &StepInput) -> Advice {
    let recommendations: Vec<Recommendation> = input
        .suggestions
        .iter()
        .map(|s| recommend(s, input))
        .collect();
    let text = if recommendations.is_empty() {
        nothing_to_do(input)
    } else {
        advice_text(input) + &citing(&further_reading(input), input.facts.language)
    };
    Advice {
        recommendations,
        additional: Vec::new(),
        text,
    }
}

/// Experience of this step on what was found that no suggestion cites.
fn further_reading(input: &StepInput) -> Vec<String> {
    let mut found = input.experience_on_findings();
    found.retain(|chunk| input.suggestions.iter().all(|s| !s.sources.contains(chunk)));
    found
}

fn recommend(suggestion: &Suggestion, input: &StepInput) -> Recommendation {
    let finding = suggestion
        .finding
        .as_deref()
        .and_then(|id| input.facts.found.finding(id));
    Recommendation {
        suggestion: suggestion.id.clone(),
        why: why(suggestion, finding, input.facts.language),
        trade_offs: trade_offs(suggestion, input.facts.language),
        evidence: finding.map(|f| f.evidence.clone()).unwrap_or_default(),
        experiences: suggestion.sources.clone(),
    }
}

fn why(suggestion: &Suggestion, finding: Option<&Finding>, language: Language) -> String {
    let mut parts: Vec<String> = Vec::new();
    if let Some(finding) = finding {
        parts.push(match language {
            Language::Zh => format!("针对 {}（{}）。", finding.id, finding.cause),
            Language::En => format!("Mends {} ({}).", finding.id, finding.cause),
        });
    }
    if suggestion.gain.is_empty() {
        parts.extend(finding.and_then(|f| saving(f, language)));
    } else {
        parts.push(sentence(&suggestion.gain, language));
    }
    parts.join(match language {
        Language::Zh => "",
        Language::En => " ",
    })
}

fn trade_offs(suggestion: &Suggestion, language: Language) -> String {
    let (for_it, against_it, none) = match language {
        Language::Zh => ("优点：", "缺点：", "没有已知的代价。"),
        Language::En => ("For it: ", "Against it: ", "No known cost."),
    };
    let mut parts = Vec::new();
    if !suggestion.pros.is_empty() {
        parts.push(format!("{for_it}{}", sentences(&suggestion.pros, language)));
    }
    if !suggestion.cons.is_empty() {
        parts.push(format!(
            "{against_it}{}",
            sentences(&suggestion.cons, language)
        ));
    }
    if parts.is_empty() {
        return none.to_owned();
    }
    parts.join(match language {
        Language::Zh => "",
        Language::En => " ",
    })
}

fn sentences(items: &[String], language: Language) -> String {
    let bare: Vec<&str> = items
        .iter()
        .map(|i| i.trim_end_matches(['.', '。', ';', '；']))
        .collect();
    match language {
        Language::Zh => format!("{}。", bare.join("；")),
        Language::En => format!("{}.", bare.join("; ")),
    }
}

fn advice_text(input: &StepInput) -> String {
    let mut lines = Vec::new();
    for (index, suggestion) in input.suggestions.iter().enumerate() {
        let finding = suggestion
            .finding
            .as_deref()
            .and_then(|id| input.facts.found.finding(id));
        let why = why(suggestion, finding, input.facts.language);
        let cost = trade_offs(suggestion, input.facts.language);
        let sources = suggestion.sources.join(", ");
        lines.push(match (input.facts.language, sources.is_empty()) {
            (Language::Zh, true) => format!(
                "{}. {}：{}{why}{cost}",
                index + 1,
                suggestion.id,
                sentence(&suggestion.title, input.facts.language)
            ),
            (Language::Zh, false) => {
                format!(
                    "{}. {}：{}{why}{cost}参考经验：{sources}。",
                    index + 1,
                    suggestion.id,
                    sentence(&suggestion.title, input.facts.language)
                )
            }
            (Language::En, true) => format!(
                "{}. {}: {} {why} {cost}",
                index + 1,
                suggestion.id,
                sentence(&suggestion.title, input.facts.language)
            ),
            (Language::En, false) => format!(
                "{}. {}: {} {why} {cost} Experience: {sources}.",
                index + 1,
                suggestion.id,
                sentence(&suggestion.title, input.facts.language)
            ),
        });
    }
    lines.join("\n")
}

fn nothing_to_do(input: &StepInput) -> String {
    let mut absent: Vec<&str> = Vec::new();
    for missing in input
        .facts
        .found
        .missing
        .iter()
        .filter(|m| !m.information.present)
    {
        if !absent.contains(&missing.information.file.as_str()) {
            absent.push(&missing.information.file);
        }
    }
    match (input.facts.found.verdict, input.facts.language) {
        (Verdict::Healthy, Language::Zh) => "作业运行正常，无需修改。".to_owned(),
        (Verdict::Healthy, Language::En) => {
            "The job is healthy; nothing needs to change.".to_owned()
        }
        (_, Language::Zh) if absent.is_empty() => "没有可以给出的改写建议。".to_owned(),
        (_, Language::En) if absent.is_empty() => "There is no change to suggest.".to_owned(),
        (_, Language::Zh) => format!("先补充下列文件再分析一次：{}。", absent.join("、")),
        (_, Language::En) => format!(
            "Add these files to the folder and analyse it again: {}.",
            absent.join(", ")
        ),
    }
}

/// The appendix: causes that a missing file would decide.
pub(super) fn hypotheses(input: &StepInput) -> Hypotheses {
    let mut hypotheses: Vec<Hypothesis> = Vec::new();
    for missing in &input.facts.found.missing {
        let m = &missing.information;
        for cause in &m.would_decide {
            hypotheses.push(Hypothesis {
                hypothesis: cause.code().to_owned(),
                check: m.reason.clone(),
                file: Some(m.file.clone()),
                result: HypothesisResult::Open,
                evidence: Vec::new(),
            });
        }
    }
    hypotheses.truncate(HYPOTHESES);
    let settled = input.facts.found.findings.iter().map(|f| Hypothesis {
        hypothesis: f.cause.code().to_owned(),
        check: f.summary.clone(),
        file: None,
        result: HypothesisResult::Confirmed,
        evidence: f.evidence.clone(),
    });
    let refuted = input.facts.found.cleared.iter().map(|c| Hypothesis {
        hypothesis: c.cause.clone(),
        check: c.by.clone(),
        file: None,
        result: HypothesisResult::Refuted,
        evidence: Vec::new(),
    });
    let mut all: Vec<Hypothesis> = settled.collect();
    all.append(&mut hypotheses);
    all.extend(refuted.take(HYPOTHESES));
    let text = hypotheses_text(&all, input.facts.language);
    Hypotheses {
        hypotheses: all,
        text,
    }
}

fn hypotheses_text(all: &[Hypothesis], language: Language) -> String {
    let (none, words) = match language {
        Language::Zh => ("没有待验证的假设。", ["成立", "不成立", "待验证"]),
        Language::En => (
            "No hypothesis is left open.",
            ["confirmed", "refuted", "open"],
        ),
    };
    if all.is_empty() {
        return none.to_owned();
    }
    let word = |result: HypothesisResult| match result {
        HypothesisResult::Confirmed => words[0],
        HypothesisResult::Refuted => words[1],
        HypothesisResult::Open => words[2],
    };
    let line = |h: &Hypothesis| match language {
        Language::Zh => format!(
            "- 假设：{}（{}）；验证方式：{}",
            h.hypothesis,
            word(h.result),
            h.check
        ),
        Language::En => format!(
            "- {} ({}); check: {}",
            h.hypothesis,
            word(h.result),
            h.check
        ),
    };
    all.iter().map(line).collect::<Vec<_>>().join("\n")
}
