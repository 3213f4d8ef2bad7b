//! Conclusions of the rules, in answer to "why", "is it a problem" and "what to change".

use std::collections::BTreeSet;

use job::script::hints;
use report::format::{RULE, Seconds, Share, list, without_stop};
use report::{
    Cause, Finding, Localize, ProblemType, RuleOutcome, RuleResult, Suggestion, Text, Verdict, text,
};

use crate::found::{CITED, finding, finding_of, undecided};
use crate::intent::Intent;
use crate::said::Said;
use crate::subject::Subject;
use crate::word::{Cue, Quantity};
use crate::{Asked, column, setting, stage, time};

/// Findings and suggestions named in an answer; the report has them all.
const FINDINGS: usize = 3;
const SUGGESTIONS: usize = 3;

/// The verdict on the job.
pub(crate) fn of_job(said: &mut Said<'_>, run: &Asked<'_>, except: &[Cause]) {
    let report = run.report;
    let findings = report.findings.iter();
    let findings: Vec<&Finding> = findings.filter(|f| !except.contains(&f.cause)).collect();
    match report.verdict {
        Verdict::Problem if findings.is_empty() => nothing_else(said),
        Verdict::Problem => {
            for (n, found) in findings.iter().take(FINDINGS).enumerate() {
                finding(said, found, n == 0 && except.is_empty());
            }
            if let more @ 1.. = findings.len().saturating_sub(FINDINGS) {
                said.say(text!(
                    "报告中还有 {more} 个问题",
                    "The report has {more} more"
                ));
            }
        }
        Verdict::Healthy => {
            let cleared = report
                .rules
                .iter()
                .filter(|r| r.outcome == RuleResult::Cleared);
            let sentence = text!(
                "没有发现性能问题：{rules}有数据可查，结果都正常",
                "No performance problem was found: {rules} had their facts, and all are fine",
                rules = RULE.count(cleared.count() as f64)
            );
            said.say(sentence);
            time::account(said, run);
        }
        Verdict::InsufficientInformation => {
            undecided(said, run, |_| true);
            time::account(said, run);
        }
    }
}

/// Says the rules' results for the causes that the question names.
pub(crate) fn causes(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) {
    let report = run.report;
    let mut texts: BTreeSet<&str> = BTreeSet::new();
    // a number that was asked for needs no list of causes that don't apply
    let is_number = !intent.measures.is_empty() && !intent.is_polar() && !intent.asks_why();
    let is_number = is_number && !intent.asks(Quantity::Remedy);
    let names_error = intent.reading.shows(Cue::Error);
    for rule in report
        .rules
        .iter()
        .filter(|r| intent.causes.contains(&r.cause))
    {
        match rule.outcome {
            RuleResult::Fired => {
                let of_executors = matches!(rule.cause, Cause::ExecutorLost | Cause::VertexRetries);
                let in_words = of_executors && (intent.reading.shows(Cue::Executor) || names_error);
                let found = report.findings.iter().filter(|f| f.cause == rule.cause);
                found.for_each(|f| finding_of(said, run, &f.id, in_words));
            }
            RuleResult::Cleared if !is_number && texts.insert(&rule.text) => {
                cleared(said, rule);
            }
            RuleResult::Explained if !is_number => {
                let by = rule.by.as_deref().unwrap_or("–");
                let sentence = text!(
                    "{title}的迹象是 {by} 造成的",
                    "The signs of {title} are the effect of {by}",
                    title = rule.cause.title()
                );
                said.say(sentence);
            }
            _ => {}
        }
    }
    if names_values(intent) {
        hot_values(said, run, intent);
    }
    let open = |cause: Cause| {
        let mut rules = report.rules.iter();
        intent.causes.contains(&cause)
            && rules.any(|r| r.cause == cause && r.outcome == RuleResult::Abstained)
    };
    undecided(said, run, open);
    if is_number || !intent.is_polar() && !intent.asks_why() {
        return;
    }
    let named = report
        .rules
        .iter()
        .filter(|r| intent.causes.contains(&r.cause));
    let outcomes: Vec<RuleResult> = named.map(|r| r.outcome).collect();
    if !outcomes.is_empty() && outcomes.iter().all(|o| *o == RuleResult::NotApplicable) {
        let titles: Vec<String> = intent
            .causes
            .iter()
            .map(|c| c.title().localize(said.language()))
            .collect();
        let sentence = text!(
            "作业中没有会出现“{titles}”的地方",
            "No part of the job could suffer from: {titles}",
            titles = list(&titles, said.language())
        );
        said.say(sentence);
    }
}

/// Says that a cause is ruled out, and why.
pub(crate) fn cleared(said: &mut Said<'_>, rule: &RuleOutcome) {
    let (title, because) = (rule.cause.title(), &rule.text);
    let sentence = text!(
        "已排除“{title}”：{because}",
        "Ruled out: {title}; {because}",
        title = title
    );
    said.cite(sentence, &rule.evidence[..rule.evidence.len().min(CITED)]);
}

/// Whether it names columns or values.
fn names_values(intent: &Intent) -> bool {
    intent.reading.shows(Cue::Values)
}

/// Says how the values of the columns are spread that skewed findings are about.
fn hot_values(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) {
    let findings = run.report.findings.iter();
    let skewed = findings.filter(|f| {
        intent.causes.contains(&f.cause) && f.cause.problem_type() == ProblemType::DataSkew
    });
    let summaries: Vec<&str> = skewed.map(|f| f.summary.as_str()).collect();
    let mut told: Vec<&str> = Vec::new();
    for column in run.summary.inputs.iter().flat_map(|i| &i.columns) {
        let name = column.name.as_str();
        if !told.contains(&name) && summaries.iter().any(|summary| summary.contains(name)) {
            told.push(name);
            column::spread(said, run, name);
        }
    }
}

/// Says the changes to make, and their savings.
pub(crate) fn remedy(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) {
    let wants = intent.asks(Quantity::Remedy) || intent.goal.is_some();
    if !wants && !intent.asks(Quantity::Gain) {
        return;
    }
    let is_partial = !findings(run, intent).is_empty();
    if !is_partial && (intent.asks(Quantity::Gain) || intent.goal.is_some()) {
        gain(said, run);
    }
    if !wants {
        return;
    }
    let chosen = chosen(run, intent);
    match chosen.as_slice() {
        [] if !intent.except.is_empty() => nothing_else(said),
        [] => nothing_to_change(said, run),
        chosen => chosen
            .iter()
            .enumerate()
            .for_each(|(n, s)| suggestion(said, run, s, n == 0)),
    }
}

/// The suggestions that a question is about, the first of each finding if it is about none.
pub(crate) fn chosen<'a>(run: &Asked<'a>, intent: &'a Intent) -> Vec<&'a Suggestion> {
    let wanted = findings(run, intent);
    let fixes = |s: &&Suggestion| {
        s.finding
            .as_ref()
            .is_some_and(|f| wanted.contains(&f.as_str()))
    };
    match wanted.is_empty() {
        false => run
            .report
            .suggestions
            .iter()
            .filter(fixes)
            .take(SUGGESTIONS)
            .collect(),
        true => first_of_each(run, &intent.except),
    }
}

/// The findings that the question is about; empty for all of them.
fn findings<'a>(run: &Asked<'a>, intent: &'a Intent) -> Vec<&'a str> {
    let stages = &run.summary.stages;
    // "if I drop the PARTITIONCOUNT"
    let words = intent.text.split(|c: char| !c.is_ascii_alphanumeric());
    let hints: Vec<&str> = words
        .filter(|w| w.len() > 4 && hints::find(w).is_some())
        .collect();
    let changes = |f: &Finding| {
        let mut suggestions = run.report.suggestions.iter();
        suggestions.any(|s| {
            let diff = s.diff.as_deref().unwrap_or_default();
            s.finding.as_ref() == Some(&f.id) && hints.iter().any(|hint| diff.contains(hint))
        })
    };
    let is_asked = |f: &&Finding| {
        intent.causes.contains(&f.cause)
            || changes(f)
            || intent.subjects.iter().any(|subject| match subject {
                Subject::Finding(id) => *id == f.id,
                Subject::Column(name) => f.summary.contains(name.as_str()),
                Subject::Stage(at) | Subject::Operator(at, _) => {
                    stage::findings(run, &stages[*at]).any(|of_stage| of_stage.id == f.id)
                }
                _ => false,
            })
    };
    let asked = run.report.findings.iter().filter(is_asked);
    asked.map(|f| f.id.as_str()).collect()
}

/// The first suggestion of each finding: several for one finding are alternatives.
fn first_of_each<'a>(run: &Asked<'a>, except: &[Cause]) -> Vec<&'a Suggestion> {
    let mut chosen: Vec<&Suggestion> = Vec::new();
    let left_out = run
        .report
        .findings
        .iter()
        .filter(|f| except.contains(&f.cause));
    let left_out: Vec<&String> = left_out.map(|f| &f.id).collect();
    for s in &run.report.suggestions {
        let is_left_out = s.finding.as_ref().is_some_and(|id| left_out.contains(&id));
        if !is_left_out
            && chosen.len() < SUGGESTIONS
            && chosen.iter().all(|c| c.finding != s.finding)
        {
            chosen.push(s);
        }
    }
    chosen
}

pub(crate) fn suggestion(
    said: &mut Said<'_>,
    run: &Asked<'_>,
    suggestion: &Suggestion,
    is_first: bool,
) {
    let (id, title) = (&suggestion.id, without_stop(&suggestion.title));
    let gain = match without_stop(&suggestion.gain) {
        "" => Text::default(),
        gain => text!("（收益：{gain}）", " (gain: {gain})"),
    };
    let mut findings = run.report.findings.iter();
    let against = match findings.find(|f| Some(&f.id) == suggestion.finding.as_ref()) {
        Some(f) => text!(
            "，针对 {id}：{title}",
            " for {id}, {title}",
            id = *f.id,
            title = f.cause.title()
        ),
        None => Text::default(),
    };
    let sentence = match is_first {
        true => text!(
            "首先（{id}{against}）：{title}{gain}",
            "First ({id}{against}): {title}{gain}",
            against = against,
            gain = gain
        ),
        false => text!(
            "其次（{id}{against}）：{title}{gain}",
            "Then ({id}{against}): {title}{gain}",
            against = against,
            gain = gain
        ),
    };
    said.say(sentence);
    for setting in &suggestion.settings {
        setting::suggested(said, setting);
    }
}

fn nothing_else(said: &mut Said<'_>) {
    said.say(text!("除此之外没有发现别的问题", "Nothing else was found"));
}

fn nothing_to_change(said: &mut Said<'_>, run: &Asked<'_>) {
    let sentence = match run.report.verdict {
        Verdict::Healthy => text!(
            "没有需要修改的地方：时间花在作业本身的工作上",
            "No change is needed: the time goes into the work itself"
        ),
        Verdict::Problem => text!("没有可以给出的改写建议", "There is no change to suggest"),
        Verdict::InsufficientInformation => text!(
            "信息不足，先补充缺少的文件再分析一次",
            "Add the missing files and analyze again before changing anything"
        ),
    };
    said.say(sentence);
}

/// Says the saving of fixing everything.
fn gain(said: &mut Said<'_>, run: &Asked<'_>) {
    let time = run.report.time.as_ref();
    let total = time.map(|t| t.total_seconds()).filter(|t| *t > 0.0);
    let saved = time.and_then(|t| t.avoidable_seconds).filter(|s| *s > 0.0);
    if let Some((saved, total)) = saved.zip(total) {
        let sentence = text!(
            "解决全部问题合计约可节省 {saved}，占从提交到结束的 {share}",
            "Fixing everything would save about {saved} together, {share} of the time from submission to end",
            saved = Seconds(saved),
            share = Share(saved / total)
        );
        said.say(sentence);
    }
}
