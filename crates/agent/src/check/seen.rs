//! The readable input of a step, and the prose that it wrote: the two sides of the check.

use crate::conclusion::{Conclusion, Hypothesis, HypothesisResult};
use crate::facts::StepInput;
use crate::wording::words;
use report::format::Seconds;
use report::{EvidenceValue, Localize};

/// A text, and the ids that it is about.
pub(super) type Prose<'c> = (&'c mut String, Vec<String>);

/// The texts of a conclusion, without answer and proposed changes.
pub(super) fn texts(conclusion: &mut Conclusion) -> Vec<Prose<'_>> {
    let mut all: Vec<Prose<'_>> = Vec::new();
    let ids = |id: &Option<String>| id.iter().cloned().collect::<Vec<_>>();
    match conclusion {
        Conclusion::Classify(c) => all.push((&mut c.text, Vec::new())),
        Conclusion::KeyCode(c) => {
            all.push((&mut c.text, Vec::new()));
            let modules = c.modules.iter_mut();
            all.extend(modules.map(|m| (&mut m.role, ids(&m.finding))));
        }
        Conclusion::Experience(c) => {
            all.push((&mut c.text, Vec::new()));
            for cause in &mut c.causes {
                let about = ids(&cause.finding);
                all.push((&mut cause.explanation, about.clone()));
                all.extend(cause.against.as_mut().map(|text| (text, about)));
            }
        }
        Conclusion::Completeness(c) => {
            all.push((&mut c.basis, Vec::new()));
            let files = c.files.iter_mut();
            all.extend(files.map(|f| (&mut f.reason, Vec::new())));
        }
        Conclusion::Advice(c) => {
            all.push((&mut c.text, Vec::new()));
            for r in &mut c.recommendations {
                let about = vec![r.suggestion.clone()];
                all.extend([(&mut r.why, about.clone()), (&mut r.trade_offs, about)]);
            }
        }
        Conclusion::Hypotheses(c) => {
            all.push((&mut c.text, Vec::new()));
            // An unconfirmed hypothesis is no claim.
            let is_claim = |h: &&mut Hypothesis| h.result == HypothesisResult::Confirmed;
            for h in c.hypotheses.iter_mut().filter(is_claim) {
                let texts = [&mut h.hypothesis, &mut h.check];
                all.extend(texts.map(|text| (text, Vec::new())));
            }
        }
        Conclusion::Answer(_) => {}
    }
    all
}

/// The texts of the changes that a model proposes.
pub(super) fn proposed(conclusion: &mut Conclusion) -> Vec<Prose<'_>> {
    let Conclusion::Advice(advice) = conclusion else {
        return Vec::new();
    };
    let mut all: Vec<Prose<'_>> = Vec::new();
    for p in &mut advice.additional {
        let about: Vec<String> = p.finding.iter().cloned().collect();
        let lists = p.steps.iter_mut().chain(&mut p.pros).chain(&mut p.cons);
        let texts = std::iter::once(&mut p.title).chain(lists);
        all.extend(texts.map(|text| (text, about.clone())));
    }
    all
}

/// The answer to the question.
pub(super) fn reply(conclusion: &mut Conclusion) -> Option<&mut String> {
    match conclusion {
        Conclusion::Advice(c) => Some(&mut c.answer.text),
        Conclusion::Answer(c) => Some(&mut c.text),
        _ => None,
    }
}

/// The texts of a conclusion.
pub(super) fn prose(conclusion: &Conclusion) -> Vec<String> {
    let mut copy = conclusion.clone();
    let replied = reply(&mut copy).map(std::mem::take);
    let supposed = match &copy {
        Conclusion::Hypotheses(c) => c.hypotheses.iter().map(|h| h.hypothesis.clone()).collect(),
        _ => Vec::new(),
    };
    let mut all: Vec<String> = replied.into_iter().chain(supposed).collect();
    for list in [texts, proposed] {
        all.extend(
            list(&mut copy)
                .into_iter()
                .map(|(text, _)| std::mem::take(text)),
        );
    }
    all
}

/// Everything that the step could read.
pub(super) fn seen(input: &StepInput) -> Vec<String> {
    let (outline, found, job) = (&input.facts.outline, &input.facts.found, &input.facts.job);
    let mut texts: Vec<&str> = Vec::new();
    let lists = [
        &outline.names,
        &outline.errors,
        &outline.settings,
        &found.time.lines,
    ];
    let tables = outline.tables.iter().map(|table| &table.measures.lines);
    let stages = outline.stages.iter();
    let stages = stages.flat_map(|stage| [&stage.operators, &stage.measures.lines]);
    let lines = lists.into_iter().chain(tables).chain(stages).flatten();
    texts.extend(lines.map(String::as_str));
    texts.extend(outline.stages.iter().map(|stage| stage.name.as_str()));
    texts.extend(input.facts.question.as_deref());
    for finding in &found.findings {
        texts.extend([finding.summary.as_str(), finding.cause.code()]);
    }
    texts.extend(input.answer.iter().map(|a| a.text.as_str()));
    for e in input.cited() {
        texts.extend([e.metric.as_str(), &e.text, &e.source.file]);
        texts.extend(e.expected.as_deref());
        texts.extend(e.source.locator.as_deref());
        if let EvidenceValue::Text(text) = &e.value {
            texts.push(text);
        }
    }
    texts.extend(found.cleared.iter().map(|c| c.by.as_str()));
    for m in found.missing.iter().map(|m| &m.information) {
        texts.extend([m.info.as_str(), &m.file, &m.reason]);
    }
    for s in &input.suggestions {
        texts.extend(s.texts().chain(&s.diff).map(String::as_str));
        for setting in &s.settings {
            texts.extend([setting.key.as_str(), &setting.suggested]);
            texts.extend(setting.current.as_deref());
        }
    }
    for file in &outline.unread {
        texts.extend([file.file.as_str(), &file.description, &file.reason]);
    }
    if let Some(script) = &outline.script {
        texts.extend([script.text.as_str(), &script.file]);
    }
    for excerpt in &outline.code {
        texts.extend([excerpt.class.as_str(), &excerpt.file]);
        texts.extend(excerpt.lines.iter().map(String::as_str));
    }
    for passage in &input.experiences {
        texts.extend([passage.text.as_str(), &passage.title]);
    }
    for excerpt in &input.reading.excerpts {
        texts.extend([excerpt.text.as_str(), &excerpt.name]);
    }
    texts.push(&job.path);
    texts.extend(job.name.iter().chain(&job.id).map(String::as_str));
    let lines = outline.stages.iter().flat_map(|stage| &stage.lines);
    // Minutes and seconds, as the template writes them.
    let times = job.elapsed_seconds.iter().chain(&job.total_seconds);
    let times = times.map(|s| Seconds(*s).localize(input.facts.language));
    let texts = texts.into_iter().map(str::to_owned);
    texts
        .chain(lines.map(u32::to_string))
        .chain(times)
        .collect()
}

/// Chunks that earlier conclusions cite; they were checked there.
pub(super) fn cited_in<'t>(texts: &[&'t str]) -> Vec<&'t str> {
    let words = texts.iter().copied().flat_map(words);
    words
        .map(|(_, word)| word)
        .filter(|word| word.contains(".md#"))
        .collect()
}
