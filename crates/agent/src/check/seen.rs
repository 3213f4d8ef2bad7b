//! What a step could read, and the prose that it wrote: the two sides of the check.

use super::names::words;
use crate::conclusion::Conclusion;
use crate::facts::StepInput;
use report::format::Seconds;
use report::{EvidenceValue, Localize};

pub(super) fn texts(conclusion: &mut Conclusion) -> Vec<&mut String> {
    let mut all = Vec::new();
    match conclusion {
        Conclusion::Classify(c) => all.push(&mut c.text),
        Conclusion::KeyCode(c) => {
            all.push(&mut c.text);
            all.extend(c.modules.iter_mut().map(|m| &mut m.role));
        }
        Conclusion::Experience(c) => {
            all.push(&mut c.text);
            for cause in &mut c.causes {
                all.push(&mut cause.explanation);
                all.extend(cause.against.as_mut());
            }
        }
        Conclusion::Completeness(c) => {
            all.push(&mut c.basis);
            all.extend(c.files.iter_mut().map(|f| &mut f.reason));
        }
        Conclusion::Advice(c) => {
            all.extend([&mut c.text, &mut c.answer.text]);
            for r in &mut c.recommendations {
                all.extend([&mut r.why, &mut r.trade_offs]);
            }
            for p in &mut c.additional {
                all.push(&mut p.title);
                all.extend(p.steps.iter_mut().chain(&mut p.pros).chain(&mut p.cons));
            }
        }
        Conclusion::Hypotheses(c) => {
            all.push(&mut c.text);
            for h in &mut c.hypotheses {
                all.extend([&mut h.hypothesis, &mut h.check]);
            }
        }
        Conclusion::Answer(c) => all.push(&mut c.text),
    }
    all
}

/// Everything that the step could read.
pub(super) fn seen(input: &StepInput) -> Vec<String> {
    let (outline, found, job) = (&input.facts.outline, &input.facts.found, &input.facts.job);
    let mut texts: Vec<&str> = Vec::new();
    texts.extend(
        outline
            .names
            .iter()
            .chain(&outline.errors)
            .map(String::as_str),
    );
    texts.extend(input.facts.question.as_deref());
    for finding in &found.findings {
        texts.extend([finding.summary.as_str(), finding.cause.code()]);
    }
    texts.extend(input.answer.iter().map(|a| a.text.as_str()));
    for e in input.cited() {
        texts.extend([e.metric.as_str(), &e.text, &e.source.file]);
        texts.extend(
            e.expected
                .iter()
                .chain(&e.source.locator)
                .map(String::as_str),
        );
        if let EvidenceValue::Text(text) = &e.value {
            texts.push(text);
        }
    }
    texts.extend(found.cleared.iter().map(|c| c.by.as_str()));
    for m in found.missing.iter().map(|m| &m.information) {
        texts.extend([m.info.as_str(), &m.file, &m.reason]);
    }
    for s in &input.suggestions {
        texts.extend([s.title.as_str(), &s.gain]);
        let parts = s.steps.iter().chain(&s.pros).chain(&s.cons).chain(&s.diff);
        texts.extend(parts.map(String::as_str));
    }
    for stage in &outline.stages {
        texts.push(&stage.name);
        let lines = stage.operators.iter().chain(&stage.measures.lines);
        texts.extend(lines.map(String::as_str));
    }
    for table in &outline.tables {
        texts.extend(table.measures.lines.iter().map(String::as_str));
    }
    texts.extend(found.time.lines.iter().map(String::as_str));
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

/// Values that may be said in another unit or as a percentage.
pub(super) fn measured(input: &StepInput) -> Vec<f64> {
    let (outline, found, job) = (&input.facts.outline, &input.facts.found, &input.facts.job);
    let mut values: Vec<f64> = Vec::new();
    values.extend(input.cited().filter_map(|e| match e.value {
        EvidenceValue::Number(number) => Some(number),
        _ => None,
    }));
    for finding in &found.findings {
        values.push(finding.confidence);
        values.extend(finding.script_lines.into_iter().flatten().map(f64::from));
        if let Some(impact) = &finding.impact {
            values.push(impact.seconds_saved);
            values.extend(impact.share_of_elapsed);
        }
    }
    values.extend(job.elapsed_seconds);
    let sizes = job.stages.into_iter().chain(job.vertices);
    let vertices = outline.stages.iter().filter_map(|s| s.vertices);
    let bytes = outline.unread.iter().map(|u| u.bytes);
    values.extend(sizes.chain(vertices).chain(bytes).map(|n| n as f64));
    let lines = outline.statements.iter().flat_map(|s| s.lines);
    let rounds = [input.reading.round, input.reading.rounds];
    let shown = outline
        .code
        .iter()
        .flat_map(|e| (e.first_line..).take(e.lines.len()));
    values.extend(lines.chain(rounds).chain(shown).map(f64::from));
    let c = &found.completeness;
    values.extend([c.score, c.minimum, c.progress]);
    let (stages, statements) = (outline.stages.len(), outline.statements.len());
    values.extend([stages, statements, found.findings.len()].map(|n| n as f64));
    values.extend(found.missing.iter().map(|m| m.relevance));
    values.extend(outline.unread.iter().map(|u| u.relevance));
    values.push(found.threshold);
    values
}

/// Chunks that earlier conclusions cite; they were checked there.
pub(super) fn cited_in<'t>(texts: &[&'t str]) -> Vec<&'t str> {
    let words = texts.iter().copied().flat_map(words);
    words
        .map(|(_, word)| word)
        .filter(|word| word.contains(".md#"))
        .collect()
}
