//! THINK 1–3 in fixed wording: class, key code, causes.

use crate::conclusion::{CauseAnalysis, Causes, Classification, KeyCode, Module};
use crate::facts::StepInput;
use crate::wording::{citing, sentence};
use report::format::{figure, list};
use report::{Evidence, Finding, Language, ProblemType, Verdict};

/// Facts quoted per cause; a sentence with more is not read.
const FACTS_QUOTED: usize = 3;

/// Name of a class of problems.
pub(super) fn class(of: ProblemType, language: Language) -> &'static str {
    match (of, language) {
        (ProblemType::DataSkew, Language::Zh) => "数据倾斜",
        (ProblemType::DataSkew, Language::En) => "data skew",
        (ProblemType::ExcessiveShuffle, Language::Zh) => "过多 Shuffle",
        (ProblemType::ExcessiveShuffle, Language::En) => "excessive shuffle",
        (ProblemType::Other, Language::Zh) => "其他问题",
        (ProblemType::Other, Language::En) => "another kind of problem",
        (ProblemType::None, Language::Zh) => "无明显问题",
        (ProblemType::None, Language::En) => "no problem",
    }
}

/// THINK 1.
pub(super) fn classify(input: &StepInput) -> Classification {
    let mut also = Vec::new();
    for finding in input.facts.found.findings.iter().skip(1) {
        if finding.problem_type != input.facts.found.problem_type
            && !also.contains(&finding.problem_type)
        {
            also.push(finding.problem_type);
        }
    }
    let same: Vec<&Finding> = input
        .facts
        .found
        .findings
        .iter()
        .filter(|f| f.problem_type == input.facts.found.problem_type)
        .collect();
    let mut evidence: Vec<String> = Vec::new();
    for id in same.iter().flat_map(|f| &f.evidence) {
        if !evidence.contains(id) {
            evidence.push(id.clone());
        }
    }
    let experiences = input.experience_on_findings();
    let text = classification_text(input, &also) + &citing(&experiences, input.facts.language);
    Classification {
        problem_type: input.facts.found.problem_type,
        findings: same.iter().map(|f| f.id.clone()).collect(),
        evidence,
        experiences,
        text,
        also,
    }
}

fn classification_text(input: &StepInput, also: &[ProblemType]) -> String {
    let language = input.facts.language;
    let main = class(input.facts.found.problem_type, language);
    let mut text = match (input.facts.found.verdict, language) {
        (Verdict::Problem, Language::Zh) => format!("主要问题类别：{main}。"),
        (Verdict::Problem, Language::En) => format!("The main problem is {main}."),
        (Verdict::Healthy, Language::Zh) => "所有适用的规则都有数据可查，没有发现性能问题。".to_owned(),
        (Verdict::Healthy, Language::En) => {
            "Every rule that applies had its facts, and none of them shows a problem.".to_owned()
        }
        (Verdict::InsufficientInformation, Language::Zh) => {
            "目前的信息不足以判断问题类别，缺少的信息见 THINK 4。".to_owned()
        }
        (Verdict::InsufficientInformation, Language::En) => {
            "The information does not suffice to name the class of the problem; THINK 4 says what is missing.".to_owned()
        }
    };
    if let Some(top) = input.facts.found.findings.first() {
        text.push_str(separator(language));
        text.push_str(&sentence(&top.summary, language));
        if let Some(saved) = saving(top, language) {
            text.push_str(separator(language));
            text.push_str(&saved);
        }
    }
    if !also.is_empty() {
        let names: Vec<String> = also
            .iter()
            .map(|p| class(*p, language).to_owned())
            .collect();
        text.push_str(separator(language));
        text.push_str(&match language {
            Language::Zh => format!("此外还涉及{}。", list(&names, language)),
            Language::En => format!("There is also {}.", list(&names, language)),
        });
    }
    if input.facts.found.findings.is_empty() && !input.facts.outline.errors.is_empty() {
        text.push_str(separator(language));
        text.push_str(&sentence(&input.facts.outline.errors[0], language));
    }
    text
}

fn separator(language: Language) -> &'static str {
    match language {
        Language::Zh => "",
        Language::En => " ",
    }
}

/// What mending a finding would save, in a sentence.
pub(super) fn saving(finding: &Finding, language: Language) -> Option<String> {
    let impact = finding.impact.as_ref().filter(|i| i.seconds_saved > 0.0)?;
    let seconds = figure(impact.seconds_saved);
    let share = impact.share_of_elapsed.map(|s| figure((s * 100.0).round()));
    Some(match (language, share) {
        (Language::Zh, Some(share)) => {
            format!("解决后估计可节省 {seconds} 秒（占运行时间的 {share}%）。")
        }
        (Language::Zh, None) => format!("解决后估计可节省 {seconds} 秒。"),
        (Language::En, Some(share)) => {
            format!("Mending it would save about {seconds} s ({share}% of the run).")
        }
        (Language::En, None) => format!("Mending it would save about {seconds} s."),
    })
}

/// THINK 2.
pub(super) fn key_code(input: &StepInput) -> KeyCode {
    let modules: Vec<Module> = input
        .facts
        .found
        .findings
        .iter()
        .map(|f| module(f, input))
        .collect();
    let experiences = input.experience_on_findings();
    let text = if modules.is_empty() {
        code_without_finding(input)
    } else {
        modules_text(&modules, input.facts.language)
    };
    KeyCode {
        modules,
        text: text + &citing(&experiences, input.facts.language),
        experiences,
    }
}

fn module(finding: &Finding, input: &StepInput) -> Module {
    let statement = finding.script_lines.and_then(|[first, last]| {
        let inside = input
            .facts
            .outline
            .statements
            .iter()
            .filter(|s| s.lines[0] <= first && last <= s.lines[1]);
        inside.min_by_key(|s| s.lines[1] - s.lines[0])
    });
    let name = statement
        .map(|s| s.target.clone().unwrap_or_else(|| s.kind.clone()))
        .or_else(|| finding.stage.clone())
        .unwrap_or_else(|| {
            input
                .facts
                .job
                .name
                .clone()
                .unwrap_or_else(|| "job".to_owned())
        });
    Module {
        name,
        first_line: finding.script_lines.map(|l| l[0]),
        last_line: finding.script_lines.map(|l| l[1]),
        stage: finding.stage.clone(),
        finding: Some(finding.id.clone()),
        role: sentence(&finding.summary, input.facts.language),
    }
}

fn modules_text(modules: &[Module], language: Language) -> String {
    let lines: Vec<String> = modules
        .iter()
        .map(|m| format!("- {}", module_text(m, language)))
        .collect();
    lines.join("\n")
}

fn module_text(module: &Module, language: Language) -> String {
    let place = match (module.first_line.zip(module.last_line), language) {
        (Some((first, last)), Language::Zh) if first == last => format!("（第 {first} 行）"),
        (Some((first, last)), Language::Zh) => format!("（第 {first}–{last} 行）"),
        (Some((first, last)), Language::En) if first == last => format!(" (line {first})"),
        (Some((first, last)), Language::En) => format!(" (lines {first}–{last})"),
        (None, _) => String::new(),
    };
    let stage = match (&module.stage, language) {
        (Some(stage), Language::Zh) if *stage != module.name => format!("，在阶段 {stage} 中运行"),
        (Some(stage), Language::En) if *stage != module.name => format!(", run by stage {stage}"),
        _ => String::new(),
    };
    match language {
        Language::Zh => format!("{}{place}{stage}：{}", module.name, module.role),
        Language::En => format!("{}{place}{stage}: {}", module.name, module.role),
    }
}

fn code_without_finding(input: &StepInput) -> String {
    let statements = input.facts.outline.statements.len();
    let stages = input.facts.outline.stages.len();
    match input.facts.language {
        Language::Zh => {
            format!("脚本有 {statements} 条语句，对应 {stages} 个阶段；没有一处因规则而突出。")
        }
        Language::En => {
            format!(
                "The script has {statements} statements, run by {stages} stages; no rule singles one of them out."
            )
        }
    }
}

/// THINK 3.
pub(super) fn causes(input: &StepInput) -> Causes {
    let causes: Vec<CauseAnalysis> = input
        .facts
        .found
        .findings
        .iter()
        .map(|f| cause(f, input))
        .collect();
    let text = if causes.is_empty() {
        no_cause_text(input)
    } else {
        causes_text(&causes, input)
    };
    Causes { causes, text }
}

fn cause(finding: &Finding, input: &StepInput) -> CauseAnalysis {
    let facts: Vec<&Evidence> = finding
        .evidence
        .iter()
        .filter_map(|id| input.facts.found.evidence(id))
        .take(FACTS_QUOTED)
        .collect();
    let quoted: Vec<String> = facts
        .iter()
        .map(|e| format!("{} [{}]", e.text.trim_end_matches(['.', '。']), e.id))
        .collect();
    let summary = sentence(&finding.summary, input.facts.language);
    let explanation = match input.facts.language {
        Language::Zh => format!("{summary}依据：{}。", quoted.join("；")),
        Language::En => format!("{summary} Evidence: {}.", quoted.join("; ")),
    };
    CauseAnalysis {
        cause: finding.cause.code().to_owned(),
        finding: Some(finding.id.clone()),
        explanation,
        against: doubt(finding, input.facts.language),
        evidence: finding.evidence.clone(),
        experiences: input.experience_on(&[finding.cause.code()]),
    }
}

/// What is uncertain about a finding; `None` where it is nearly certain.
fn doubt(finding: &Finding, language: Language) -> Option<String> {
    (finding.confidence < 0.9).then(|| {
        let percent = figure((finding.confidence * 100.0).round());
        match language {
            Language::Zh => format!("这一判断的置信度为 {percent}%，动手之前请先核对证据。"),
            Language::En => {
                format!("The confidence is {percent}%; check the evidence before acting on it.")
            }
        }
    })
}

fn causes_text(causes: &[CauseAnalysis], input: &StepInput) -> String {
    let mut lines: Vec<String> = Vec::new();
    for analysis in causes {
        let mut line = format!("- {}: {}", analysis.cause, analysis.explanation);
        if let Some(against) = &analysis.against {
            line.push_str(separator(input.facts.language));
            line.push_str(against);
        }
        line.push_str(&citing(&analysis.experiences, input.facts.language));
        lines.push(line);
    }
    lines.join("\n")
}

/// Causes that the facts rule out and that are listed in words; the report holds them all.
const RULED_OUT: usize = 8;

/// What the facts rule out is worth as much as a cause to somebody who suspects one.
fn no_cause_text(input: &StepInput) -> String {
    let mut lines: Vec<String> = Vec::new();
    for cleared in input.facts.found.cleared.iter().take(RULED_OUT) {
        lines.push(format!(
            "- {}: {}",
            cleared.cause,
            sentence(&cleared.by, input.facts.language)
        ));
    }
    let more = input.facts.found.cleared.len().saturating_sub(RULED_OUT);
    let opening = match (input.facts.language, lines.is_empty()) {
        (Language::Zh, true) => "没有可供推导的原因。",
        (Language::En, true) => "There is no cause to reason about.",
        (Language::Zh, false) => "已有数据排除了下列原因：",
        (Language::En, false) => "The facts rule out these causes:",
    };
    lines.insert(0, opening.to_owned());
    if more > 0 {
        lines.push(match input.facts.language {
            Language::Zh => format!("- 以及另外 {more} 个原因。"),
            Language::En => format!("- and {more} more."),
        });
    }
    lines.join("\n")
}
