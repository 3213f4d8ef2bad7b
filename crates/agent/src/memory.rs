//! The summary of an earlier step for later ones: its structured conclusion in short lines, each
//! with its ids, or its prose if it has no such conclusion.

use report::format::Number;
use report::{Language, Text, text};
use serde_json::Value;

use crate::completeness::key_findings_of;
use crate::model::markers;
use crate::step::StepId;
use crate::wording::{named, sentence, shorten};

/// Bytes of a line, and lines of a step: with them, memory stays below a tenth of a small context.
const LINE_BYTES: usize = 600;
const LINES: usize = 8;

/// A conclusion in lines.
pub(crate) fn lines(step: &str, conclusion: &Value, text: &str, language: Language) -> Vec<String> {
    let items = |name: &str| {
        conclusion[name]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default()
    };
    let say = |text: Text| text.into(language);
    let mut lines: Vec<String> = match StepId::from_id(step) {
        Some(StepId::Classify) => {
            let class = code(&conclusion["problem_type"]);
            let also = codes(&conclusion["also"], language);
            let class = text!(
                "类别：{class}{also}{findings}",
                "class: {class}{also}{findings}",
                also = also.map(|also| text!("，另有 {also}", "; also {also}")),
                findings = based_on(&conclusion["findings"])
            );
            vec![say(class), text.to_owned()]
        }
        Some(StepId::KeyCode) => items("modules").iter().map(|m| say(module(m))).collect(),
        Some(StepId::Experience) => items("causes").iter().map(|c| say(cause(c))).collect(),
        Some(StepId::Completeness) => completeness(conclusion, language)
            .into_iter()
            .map(say)
            .collect(),
        _ => Vec::new(),
    };
    lines.retain(|line| !line.trim().is_empty());
    if lines.is_empty() {
        let bare = |line: &str| line.trim_start_matches("- ").to_owned();
        lines.extend(text.lines().map(bare));
    }
    lines.truncate(LINES);
    for line in &mut lines {
        shorten(line, LINE_BYTES);
    }
    lines
}

fn code(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn codes(value: &Value, language: Language) -> Option<String> {
    let codes = value.as_array().into_iter().flatten().map(code);
    named(&codes.collect::<Vec<_>>(), language)
}

/// Ids in brackets, as they are cited in both languages.
fn based_on(ids: &Value) -> Option<String> {
    codes(ids, Language::En).map(|ids| format!(" [{ids}]"))
}

fn module(module: &Value) -> Text {
    let (name, role) = (code(&module["name"]), code(&module["role"]));
    let lines = module["first_line"]
        .as_u64()
        .zip(module["last_line"].as_u64());
    let (stage, finding) = (module["stage"].as_str(), module["finding"].as_str());
    text!(
        "{name}{lines}{stage}{finding}：{role}",
        "{name}{lines}{stage}{finding}: {role}",
        lines = lines.map(|(a, b)| text!("，第 {a}–{b} 行", ", lines {a}–{b}")),
        stage = stage.map(|stage| text!("，阶段 {stage}", ", stage {stage}")),
        finding = finding.map(|id| format!(" [{id}]"))
    )
}

fn cause(cause: &Value) -> Text {
    let (name, mut explanation) = (code(&cause["cause"]), code(&cause["explanation"]));
    // the counter-evidence must not be cut
    shorten(&mut explanation, LINE_BYTES / 2);
    let against = cause["against"].as_str();
    text!(
        "{name}{evidence}：{explanation}{against}",
        "{name}{evidence}: {explanation}{against}",
        evidence = based_on(&cause["evidence"]),
        against = against.map(|against| text!(" 反证：{against}", " Against it: {against}"))
    )
}

/// The program's judgment and the model's judgment, apart.
fn completeness(conclusion: &Value, language: Language) -> Vec<Text> {
    let is_enough = |value: &Value| match value.as_bool() {
        Some(true) => text!("充足", "sufficient"),
        Some(false) => text!("不足", "not sufficient"),
        None => text!("未判断", "not judged"),
    };
    let number = |name: &str| Number(conclusion[name].as_f64().unwrap_or_default());
    let mut lines = vec![text!(
        "程序判断：信息{sufficient}（得分 {score}，下限 {minimum}）",
        "judged by the program: {sufficient} (score {score}, minimum {minimum})",
        sufficient = is_enough(&conclusion["sufficient"]),
        score = number("score"),
        minimum = number("minimum")
    )];
    let absent = codes(&conclusion["absent"], language);
    lines
        .extend(absent.map(|files| text!("作业目录中没有：{files}", "not in the folder: {files}")));
    for round in conclusion["rounds"].as_array().into_iter().flatten() {
        let number = &round["round"];
        let found = key_findings_of(round, language);
        lines.extend(found.map(|f| text!("第 {number} 轮得到：{f}", "round {number} gave: {f}")));
    }
    let model = &conclusion["model"];
    if model.is_object() {
        let (missing, basis) = (codes(&model["missing"], language), code(&model["basis"]));
        let basis = markers::read(&basis).map_or(basis, |request| request.basis);
        let basis = sentence(&basis, Language::of(&basis));
        lines.push(text!(
            "模型判断：信息{sufficient}{missing}。{basis}",
            "judged by the model: {sufficient}{missing}. {basis}",
            sufficient = is_enough(&model["sufficient"]),
            missing = missing.map(|missing| text!("；还缺：{missing}", "; missing: {missing}"))
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn background_what_each_round_found_is_remembered() {
        let conclusion = serde_json::json!({
            "sufficient": true, "score": 1.0, "minimum": 0.5,
            "rounds": [
                { "round": 1, "key_findings": ["rules out join.explosion", "a hot value."] },
                { "round": 2, "key_findings": [] },
            ],
        });
        let lines = lines("think4", &conclusion, "", Language::En);
        assert_eq!(
            lines[1..],
            ["round 1 gave: rules out join.explosion; a hot value"]
        );
    }

    #[test]
    fn what_speaks_against_a_cause_is_remembered_however_long_the_explanation_is() {
        let cause = serde_json::json!({
            "cause": "skew.join_hot_key",
            "explanation": "the key repeats ".repeat(100),
            "against": "the median vertex is slow too",
            "evidence": ["E1"],
        });
        let conclusion = serde_json::json!({ "causes": [cause] });
        let lines = lines("think3", &conclusion, "", Language::En);
        assert!(lines[0].starts_with("skew.join_hot_key [E1]: the key repeats"));
        assert!(
            lines[0].ends_with("Against it: the median vertex is slow too"),
            "{lines:?}"
        );
    }
}
