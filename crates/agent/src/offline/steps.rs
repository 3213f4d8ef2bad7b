//! THINK 1–3 in fixed wording: class, key code, causes.

use super::conditions;
use crate::conclusion::{CauseAnalysis, Causes, Classification, KeyCode, Module};
use crate::facts::StepInput;
use crate::found::Cleared;
use crate::merge::union;
use crate::wording::{citing, joined, labeled, sentence};
use report::format::{STAGE, STATEMENT, Share, list, without_stop};
use report::{Evidence, Finding, JobEngine, Language, Localize, ProblemType, Text, Verdict, text};

/// Evidence quoted per cause; a longer sentence is not read.
const EVIDENCE_QUOTED: usize = 3;

/// The classes of the findings in their order; a cause without a class is named itself.
fn problems(findings: &[Finding], engine: Option<JobEngine>) -> Vec<Text> {
    let problem = |finding: &Finding| match finding.problem_type {
        ProblemType::DataSkew => text!("数据倾斜", "data skew"),
        ProblemType::ExcessiveShuffle => text!("过多 Shuffle", "excessive shuffle"),
        ProblemType::Other | ProblemType::None => finding.cause.title_in(engine),
    };
    union(Vec::new(), findings.iter().map(problem))
}

/// THINK 1.
pub(super) fn classify(input: &StepInput) -> Classification {
    let found = &input.facts.found;
    let (same, others): (Vec<&Finding>, Vec<&Finding>) = found
        .findings
        .iter()
        .partition(|f| f.problem_type == found.problem_type);
    let evidence = same.iter().flat_map(|f| f.evidence.iter().cloned());
    let experiences = input.experience_on_findings();
    let text = classification_text(input) + &citing(&experiences, input.facts.language);
    Classification {
        problem_type: found.problem_type,
        findings: same.iter().map(|f| f.id.clone()).collect(),
        evidence: union(Vec::new(), evidence),
        experiences,
        text,
        also: union(Vec::new(), others.iter().map(|f| f.problem_type)),
    }
}

fn classification_text(input: &StepInput) -> String {
    let (found, language) = (&input.facts.found, input.facts.language);
    let problems = problems(&found.findings, input.facts.job.engine);
    let main = match found.verdict {
        Verdict::Problem => text!(
            "主要问题：{main}。",
            "Main problem: {main}.",
            main = problems.first().cloned().unwrap_or_default()
        ),
        Verdict::Healthy => text!(
            "所有适用的规则都有数据可查，没有发现性能问题。",
            "Every rule that applies had its facts, and no rule shows a problem."
        ),
        Verdict::InsufficientInformation => text!(
            "目前的信息不足以判断问题类别，缺少的信息见 THINK 4。",
            "There is not enough information to classify the problem; THINK 4 lists what is missing."
        ),
    };
    let mut sentences = vec![main.into(language)];
    if let Some(top) = found.findings.first() {
        sentences.push(sentence(&top.summary, language));
    } else if let Some(error) = input.facts.outline.errors.first() {
        sentences.push(sentence(error, language));
    }
    if let [_, also @ ..] = problems.as_slice()
        && !also.is_empty()
    {
        let names: Vec<String> = also.iter().map(|p| p.pick(language).to_owned()).collect();
        let names = list(&names, language);
        sentences.push(text!("此外还有{names}。", "There is also {names}.").into(language));
    }
    joined(&sentences, language)
}

/// THINK 2.
pub(super) fn key_code(input: &StepInput) -> KeyCode {
    let facts = &input.facts;
    let modules: Vec<Module> = facts
        .found
        .findings
        .iter()
        .map(|f| module(f, input))
        .collect();
    let experiences = input.experience_on_findings();
    let text = if modules.is_empty() {
        code_without_finding(input)
    } else {
        let lines = modules.iter().map(|m| module_text(m, facts.language));
        lines.collect::<Vec<_>>().join("\n")
    };
    KeyCode {
        modules,
        text: text + &citing(&experiences, facts.language),
        experiences,
    }
}

fn module(finding: &Finding, input: &StepInput) -> Module {
    let statement = finding.script_lines.and_then(|[first, last]| {
        let statements = input.facts.outline.statements.iter();
        let around = statements.filter(|s| s.lines[0] <= first && last <= s.lines[1]);
        around.min_by_key(|s| s.lines[1] - s.lines[0])
    });
    let name = statement
        .map(|s| s.target.clone().unwrap_or_else(|| s.kind.clone()))
        .or_else(|| finding.stage.clone())
        .or_else(|| input.facts.job.name.clone());
    Module {
        name: name.unwrap_or_else(|| "job".to_owned()),
        first_line: finding.script_lines.map(|l| l[0]),
        last_line: finding.script_lines.map(|l| l[1]),
        stage: finding.stage.clone(),
        finding: Some(finding.id.clone()),
        role: match input.facts.outline.flow.get(&finding.id) {
            Some(flow) => flow.clone(),
            None => sentence(&finding.summary, input.facts.language),
        },
    }
}

fn module_text(module: &Module, language: Language) -> String {
    let lines = module.first_line.zip(module.last_line);
    let place = lines.map(|(first, last)| match first == last {
        true => text!("（第 {first} 行）", " (line {first})"),
        false => text!("（第 {first}–{last} 行）", " (lines {first}–{last})"),
    });
    let Module { name, role, .. } = module;
    let stage = module.stage.as_ref().filter(|stage| *stage != name);
    text!(
        "- {name}{place}{stage}：{role}",
        "- {name}{place}{stage}: {role}",
        place = place,
        stage = stage.map(|stage| text!("，在阶段 {stage} 中运行", ", run by stage {stage}"))
    )
    .into(language)
}

fn code_without_finding(input: &StepInput) -> String {
    let outline = &input.facts.outline;
    let stages = STAGE.count(outline.stages.len() as f64);
    if outline.statements.is_empty() {
        let job = input.facts.terms.job;
        let text = text!(
            "{job}有 {stages}；没有哪一处被规则指出。",
            "The {job} has {stages}; no rule singles one of them out.",
            stages = stages
        );
        return text.into(input.facts.language);
    }
    text!(
        "脚本有 {statements}，对应 {stages}；没有哪一处被规则指出。",
        "The script has {statements}, run by {stages}; no rule singles one of them out.",
        statements = STATEMENT.count(outline.statements.len() as f64),
        stages = stages
    )
    .into(input.facts.language)
}

/// THINK 3.
pub(super) fn causes(input: &StepInput) -> Causes {
    let findings = input.facts.found.findings.iter();
    let causes: Vec<CauseAnalysis> = findings.map(|f| cause(f, input)).collect();
    let text = if causes.is_empty() {
        no_cause_text(input)
    } else {
        let lines = causes.iter().map(|c| cause_text(c, input.facts.language));
        lines.collect::<Vec<_>>().join("\n")
    };
    Causes { causes, text }
}

fn cause(finding: &Finding, input: &StepInput) -> CauseAnalysis {
    let (found, language) = (&input.facts.found, input.facts.language);
    let quote = |e: &Evidence| format!("{} [{}]", without_stop(&e.text), e.id);
    let evidence = finding.evidence.iter().filter_map(|id| found.evidence(id));
    let quoted: Vec<String> = evidence.take(EVIDENCE_QUOTED).map(quote).collect();
    let quoted = quoted.join(language.select("；", "; "));
    let mut explanation = sentence(
        &finding
            .cause
            .title_in(input.facts.job.engine)
            .localize(language),
        language,
    );
    if !quoted.is_empty() {
        let quoted: String = text!("依据：{quoted}。", "Evidence: {quoted}.").into(language);
        explanation = joined(&[explanation, quoted], language);
    }
    let compared = conditions::compared(&input.experiences, finding, &input.facts);
    let compared = compared.into_iter().map(|text| text.into(language));
    let sentences: Vec<String> = std::iter::once(explanation).chain(compared).collect();
    CauseAnalysis {
        cause: finding.cause.code().to_owned(),
        finding: Some(finding.id.clone()),
        explanation: joined(&sentences, language),
        against: doubt(finding, language),
        evidence: finding.evidence.clone(),
        experiences: input.experience_on(&[finding.cause.code()]),
    }
}

/// The uncertainty of a finding; `None` if it is nearly certain.
fn doubt(finding: &Finding, language: Language) -> Option<String> {
    let doubt = || {
        text!(
            "这一判断的置信度为 {confidence}，动手之前请先核对证据。",
            "The confidence is {confidence}; check the evidence before acting on it.",
            confidence = Share((finding.confidence * 100.0).round() / 100.0)
        )
    };
    (finding.confidence < 0.9).then(|| doubt().into(language))
}

fn cause_text(analysis: &CauseAnalysis, language: Language) -> String {
    let mut sentences = vec![format!(
        "- {}",
        labeled(&analysis.cause, &analysis.explanation, language)
    )];
    sentences.extend(analysis.against.clone());
    joined(&sentences, language) + &citing(&analysis.experiences, language)
}

/// Ruled-out causes listed in words; the report has them all.
const RULED_OUT: usize = 8;

/// Someone who suspects a cause wants to know that it was ruled out.
fn no_cause_text(input: &StepInput) -> String {
    let (cleared, language) = (&input.facts.found.cleared, input.facts.language);
    let opening = if cleared.is_empty() {
        text!("没有可供推导的原因。", "There is no cause to reason about.")
    } else {
        text!(
            "已有数据排除了下列原因：",
            "The facts rule out these causes:"
        )
    };
    let mut lines = vec![opening.into(language)];
    let shown = cleared.iter().take(RULED_OUT);
    let line = |c: &Cleared| labeled(&c.cause, &sentence(&c.by, language), language);
    lines.extend(shown.map(|c| format!("- {}", line(c))));
    if let more @ 1.. = cleared.len().saturating_sub(RULED_OUT) {
        lines.push(text!("- 以及另外 {more} 个原因。", "- and {more} more.").into(language));
    }
    lines.join("\n")
}
