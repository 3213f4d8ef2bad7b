//! THINK 5 in fixed wording: suggestions weighed.

use crate::conclusion::{Advice, Recommendation, Reply};
use crate::facts::StepInput;
use crate::merge::union;
use crate::wording::{citing, joined, names, sentence};
use report::{Finding, Language, Suggestion, Text, Verdict, text};

/// THINK 5.
pub(super) fn advice(input: &StepInput) -> Advice {
    let suggestions = input.suggestions.iter();
    let recommendations: Vec<Recommendation> = suggestions.map(|s| recommend(s, input)).collect();
    let text = if recommendations.is_empty() {
        nothing_to_do(input)
    } else {
        advice_text(input, &recommendations)
            + &citing(&further_reading(input), input.facts.language)
    };
    Advice {
        recommendations,
        additional: Vec::new(),
        text,
        answer: answer(input),
    }
}

/// The question, answered by the program.
pub(super) fn answer(input: &StepInput) -> Reply {
    let measured = input.answer.as_ref();
    let reply = measured.map(|answer| Reply {
        text: answer.text.clone(),
        evidence: answer.evidence.iter().map(|e| e.id.clone()).collect(),
    });
    reply.unwrap_or_default()
}

/// Experience of this step on the findings, without the sources of the suggestions.
fn further_reading(input: &StepInput) -> Vec<String> {
    let mut found = input.experience_on_findings();
    found.retain(|chunk| input.suggestions.iter().all(|s| !s.sources.contains(chunk)));
    found
}

fn recommend(suggestion: &Suggestion, input: &StepInput) -> Recommendation {
    let id = suggestion.finding.as_deref();
    let finding = id.and_then(|id| input.facts.found.finding(id));
    Recommendation {
        suggestion: suggestion.id.clone(),
        why: why(suggestion, finding, input.facts.language),
        trade_offs: trade_offs(suggestion, input.facts.language),
        evidence: finding.map(|f| f.evidence.clone()).unwrap_or_default(),
        experiences: suggestion.sources.clone(),
    }
}

fn why(suggestion: &Suggestion, finding: Option<&Finding>, language: Language) -> String {
    let mut sentences: Vec<String> = Vec::new();
    if let Some(Finding { id, cause, .. }) = finding {
        sentences.push(text!("针对 {id}（{cause}）。", "Fixes {id} ({cause}).").into(language));
    }
    if suggestion.gain.is_empty() {
        let saved = finding.and_then(Finding::saving);
        sentences.extend(saved.map(|saved| sentence(saved.pick(language), language)));
    } else {
        sentences.push(sentence(&suggestion.gain, language));
    }
    joined(&sentences, language)
}

fn trade_offs(suggestion: &Suggestion, language: Language) -> String {
    let pros = clauses(&suggestion.pros, language);
    let cons = clauses(&suggestion.cons, language);
    let known = [
        pros.map(|pros| text!("优点：{pros}。", "Pros: {pros}.")),
        cons.map(|cons| text!("缺点：{cons}。", "Cons: {cons}.")),
    ];
    let known: Vec<Text> = known.into_iter().flatten().collect();
    match known.is_empty() {
        true => text!("没有已知的代价。", "No known cost.").into(language),
        false => Text::joined(&known, ["", " "]).into(language),
    }
}

fn clauses(items: &[String], language: Language) -> Option<String> {
    let bare = items
        .iter()
        .map(|i| i.trim_end_matches(['.', '。', ';', '；']));
    let separator = language.select("；", "; ");
    (!items.is_empty()).then(|| bare.collect::<Vec<_>>().join(separator))
}

fn advice_text(input: &StepInput, recommendations: &[Recommendation]) -> String {
    let language = input.facts.language;
    let line = |(index, (s, r)): (usize, (&Suggestion, &Recommendation))| {
        let title = sentence(&s.title, language);
        let mut sentences = vec![title, r.why.clone(), r.trade_offs.clone()];
        if !s.sources.is_empty() {
            let sources = names(&s.sources, language);
            sentences.push(text!("参考经验：{sources}。", "Experience: {sources}.").into(language));
        }
        let (number, id) = (index + 1, &s.id);
        let rest = joined(&sentences, language);
        text!("{number}. {id}：{rest}", "{number}. {id}: {rest}").into(language)
    };
    let pairs = input.suggestions.iter().zip(recommendations).enumerate();
    pairs.map(line).collect::<Vec<_>>().join("\n")
}

fn nothing_to_do(input: &StepInput) -> String {
    let found = &input.facts.found;
    let named = |without_it: bool| {
        let missing = found.missing.iter().map(|m| &m.information);
        let missing = missing.filter(|m| !m.present && m.without_it == without_it);
        let files = union(Vec::new(), missing.map(|m| &m.file));
        names(&files, input.facts.language)
    };
    let (absent, poor) = (named(false), named(true));
    let text = match found.verdict {
        Verdict::Healthy => text!(
            "作业运行正常，无需修改。",
            "The job is healthy; no change is needed."
        ),
        _ if !absent.is_empty() => text!(
            "先补充下列文件再分析一次：{absent}。",
            "Add these files to the folder and analyze it again: {absent}."
        ),
        _ if !poor.is_empty() => text!(
            "下列文件中没有所需的信息，请重新获取后再分析一次：{poor}。",
            "These files do not hold what is needed; fetch them again and repeat the analysis: {poor}."
        ),
        _ => text!("没有可以给出的改写建议。", "There is no change to suggest."),
    };
    text.into(input.facts.language)
}
