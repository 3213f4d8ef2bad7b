//! The conditions of a passage compared with a job: which of its "not when" lines the facts decide.

use report::format::{Share, without_stop};
use report::{Cause, Finding, RuleResult, Text, text};

use crate::facts::{Facts, Passage};
use crate::found::Found;

/// Conditions compared per finding; a reader looks at a few.
const MOST: usize = 4;

/// Words of conditions, and the cause that they describe.
const WORDS: [(Cause, &str); 11] = [
    (
        Cause::NullOrDefaultKey,
        "null|placeholder|default value|空值|占位|默认值",
    ),
    (Cause::SlowMachine, "machine|executor is slow|机器"),
    (Cause::HeapPressure, "garbage|垃圾回收"),
    (Cause::Spill, "spill|落盘"),
    (Cause::QueueWait, "queue|waits for tokens|排队"),
    (Cause::CpuBoundUdo, "user code|用户代码"),
    (Cause::SmallFiles, "small files|小文件"),
    (Cause::JoinExplosion, "explo|膨胀"),
    (Cause::Misestimate, "estimate|估计"),
    (Cause::LateFilter, "filter could|过滤太晚"),
    (Cause::VertexRetries, "retries|attempts|重试"),
];

/// Hints that a condition may name.
const HINTS: &str = "SKEWJOIN|SKEWFACTOR|BROADCAST|ROWCOUNT|PARTITIONCOUNT|LOWDISTINCTNESS";

/// Share of a run below which a passage calls a cost small.
const SMALL: f64 = 0.05;

/// The conditions of a passage that the facts decide for a finding, each with the reason.
pub(super) fn compared(passages: &[Passage], finding: &Finding, facts: &Facts) -> Vec<Text> {
    let code = finding.cause.code();
    let about = passages.iter().filter(|p| {
        p.section.as_deref() == Some("not-when") && p.causes.iter().any(|cause| cause == code)
    });
    let lines = about.flat_map(|p| p.text.lines());
    let conditions = lines.filter_map(|line| line.trim().strip_prefix("- "));
    let decided = conditions.filter_map(|condition| decided(condition, finding, facts));
    decided.take(MOST).collect()
}

fn decided(condition: &str, finding: &Finding, facts: &Facts) -> Option<Text> {
    let lower = condition.to_lowercase();
    let by_hint = HINTS.split('|').find(|hint| condition.contains(hint));
    let (holds, because) = match by_hint {
        Some(hint) => by_script(hint, finding, facts)?,
        None => {
            let describes = |words: &str| words.split('|').any(|word| lower.contains(word));
            let causes = WORDS.iter().filter(|(_, words)| describes(words));
            let cause = causes
                .map(|(cause, _)| *cause)
                .find(|c| *c != finding.cause);
            match cause {
                Some(cause) => by_rule(cause, &facts.found)?,
                None => by_share(&lower, finding)?,
            }
        }
    };
    let condition = without_stop(condition.split([':', '：']).next().unwrap_or(condition));
    Some(match holds {
        true => text!(
            "符合“{condition}”：{because}。",
            "`{condition}` applies: {because}.",
            because = because
        ),
        false => text!(
            "不属于“{condition}”：{because}。",
            "`{condition}` does not apply: {because}.",
            because = because
        ),
    })
}

/// Whether the statement of the finding has a hint.
fn by_script(hint: &str, finding: &Finding, facts: &Facts) -> Option<(bool, Text)> {
    let [first, last] = finding.script_lines?;
    let statements = facts.outline.statements.iter();
    let mut around = statements
        .filter(|s| s.lines[0] <= first && last <= s.lines[1])
        .peekable();
    around.peek()?;
    let holds = around
        .flat_map(|s| &s.hints)
        .any(|known| known.contains(hint));
    Some((
        holds,
        match holds {
            true => text!("这条语句已有 {hint}", "the statement has {hint} already"),
            false => text!("这条语句没有 {hint}", "the statement has no {hint}"),
        },
    ))
}

/// Whether the rules found or ruled out another cause.
fn by_rule(cause: Cause, found: &Found) -> Option<(bool, Text)> {
    let code = cause.code();
    match found.outcome(cause)? {
        RuleResult::Fired => {
            let finding = found.findings.iter().find(|f| f.cause == cause)?;
            let id = &finding.id;
            Some((true, text!("见 {id}（{code}）", "see {id} ({code})")))
        }
        RuleResult::Cleared => {
            let cleared = found.cleared.iter().find(|c| c.cause == code)?;
            let by = without_stop(&cleared.by);
            Some((false, text!("{by}（{code}）", "{by} ({code})")))
        }
        _ => None,
    }
}

/// Whether the cost of the finding is small.
fn by_share(condition: &str, finding: &Finding) -> Option<(bool, Text)> {
    let is_about_share = ["percent", "%", "百分之", "占比很小"];
    let is_about_share = is_about_share.iter().any(|word| condition.contains(word));
    let share = finding
        .impact
        .as_ref()?
        .share_of_elapsed
        .filter(|_| is_about_share)?;
    let because = text!(
        "解决后可节省运行时间的 {share}",
        "fixing it saves {share} of the run",
        share = Share(share)
    );
    Some((share < SMALL, because))
}
