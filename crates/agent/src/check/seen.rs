//! What a step could read, and the prose that it wrote: the two sides of the check.

use crate::conclusion::Conclusion;
use crate::facts::StepInput;
use report::EvidenceValue;

pub(super) fn texts(conclusion: &mut Conclusion) -> Vec<&mut String> {
    match conclusion {
        Conclusion::Classify(c) => vec![&mut c.text],
        Conclusion::KeyCode(c) => {
            let mut all = vec![&mut c.text];
            all.extend(c.modules.iter_mut().map(|m| &mut m.role));
            all
        }
        Conclusion::Experience(c) => {
            let mut all = vec![&mut c.text];
            for cause in &mut c.causes {
                all.push(&mut cause.explanation);
                all.extend(cause.against.as_mut());
            }
            all
        }
        Conclusion::Completeness(c) => {
            let mut all = vec![&mut c.basis];
            all.extend(c.files.iter_mut().map(|f| &mut f.reason));
            all
        }
        Conclusion::Advice(c) => {
            let mut all = vec![&mut c.text];
            for r in &mut c.recommendations {
                all.extend([&mut r.why, &mut r.trade_offs]);
            }
            for p in &mut c.additional {
                all.push(&mut p.title);
                all.extend(p.steps.iter_mut().chain(&mut p.pros).chain(&mut p.cons));
            }
            all
        }
        Conclusion::Hypotheses(c) => {
            let mut all = vec![&mut c.text];
            all.extend(
                c.hypotheses
                    .iter_mut()
                    .flat_map(|h| [&mut h.hypothesis, &mut h.check]),
            );
            all
        }
    }
}

/// Everything that the step could read.
pub(super) fn seen(input: &StepInput) -> Vec<String> {
    let mut texts: Vec<String> = input.facts.outline.names.clone();
    texts.extend(input.facts.question.clone());
    texts.extend(input.facts.outline.errors.iter().cloned());
    for finding in &input.facts.found.findings {
        texts.extend([finding.summary.clone(), finding.cause.code().to_owned()]);
    }
    for e in &input.facts.found.evidence {
        texts.extend([e.metric.clone(), e.text.clone(), e.source.file.clone()]);
        texts.extend(
            e.expected
                .clone()
                .into_iter()
                .chain(e.source.locator.clone()),
        );
        if let EvidenceValue::Text(text) = &e.value {
            texts.push(text.clone());
        }
    }
    for cleared in &input.facts.found.cleared {
        texts.push(cleared.by.clone());
    }
    for missing in &input.facts.found.missing {
        let m = &missing.information;
        texts.extend([m.info.clone(), m.file.clone(), m.reason.clone()]);
    }
    for s in &input.suggestions {
        texts.extend([s.title.clone(), s.gain.clone()]);
        texts.extend(
            s.steps
                .iter()
                .chain(&s.pros)
                .chain(&s.cons)
                .chain(&s.diff)
                .cloned(),
        );
    }
    for stage in &input.facts.outline.stages {
        texts.push(stage.name.clone());
        texts.extend(stage.operators.iter().cloned());
        texts.extend(stage.lines.iter().map(u32::to_string));
    }
    for file in &input.facts.outline.unread {
        texts.extend([file.file.clone(), file.description.clone()]);
    }
    texts.extend(
        input
            .facts
            .outline
            .script
            .iter()
            .flat_map(|s| [s.text.clone(), s.file.clone()]),
    );
    texts.extend(
        input
            .experiences
            .iter()
            .flat_map(|p| [p.text.clone(), p.title.clone()]),
    );
    texts.extend(
        input
            .reading
            .excerpts
            .iter()
            .flat_map(|e| [e.text.clone(), e.name.clone()]),
    );
    texts.extend([input.facts.job.path.clone()]);
    texts.extend(
        input
            .facts
            .job
            .name
            .clone()
            .into_iter()
            .chain(input.facts.job.id.clone()),
    );
    texts
}

/// Values that may be said in another unit or as a percentage.
pub(super) fn measured(input: &StepInput) -> Vec<f64> {
    let mut values: Vec<f64> = Vec::new();
    for e in &input.facts.found.evidence {
        if let EvidenceValue::Number(number) = e.value {
            values.push(number);
        }
    }
    for finding in &input.facts.found.findings {
        values.push(finding.confidence);
        values.extend(finding.script_lines.into_iter().flatten().map(f64::from));
        if let Some(impact) = &finding.impact {
            values.push(impact.seconds_saved);
            values.extend(impact.share_of_elapsed);
        }
    }
    values.extend(input.facts.job.elapsed_seconds);
    values.extend(
        [input.facts.job.stages, input.facts.job.vertices]
            .into_iter()
            .flatten()
            .map(|n| n as f64),
    );
    values.extend(
        input
            .facts
            .outline
            .stages
            .iter()
            .filter_map(|s| s.vertices)
            .map(|n| n as f64),
    );
    values.extend(
        input
            .facts
            .outline
            .statements
            .iter()
            .flat_map(|s| s.lines)
            .map(f64::from),
    );
    let c = &input.facts.found.completeness;
    values.extend([
        c.score,
        c.minimum,
        c.progress,
        f64::from(input.reading.round),
        f64::from(input.reading.rounds),
    ]);
    values.extend(
        [
            input.facts.outline.stages.len(),
            input.facts.outline.statements.len(),
            input.facts.found.findings.len(),
        ]
        .map(|n| n as f64),
    );
    values.extend(input.facts.found.missing.iter().map(|m| m.relevance));
    values.extend(input.facts.outline.unread.iter().map(|u| u.bytes as f64));
    values
}

/// Chunks that earlier conclusions cite; they were checked there.
pub(super) fn cited_in<'t>(texts: &[&'t str]) -> Vec<&'t str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '#' | '-');
    texts
        .iter()
        .flat_map(|t| t.split(move |c| !is_part(c)))
        .filter(|w| w.contains(".md#"))
        .collect()
}
