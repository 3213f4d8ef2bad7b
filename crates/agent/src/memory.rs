//! The summary of an earlier step for later ones: its structured conclusion in short lines, each
//! with its ids, or its prose if it has no such conclusion.

use report::format::{Number, without_stop};
use report::{Language, Text, text};
use serde_json::Value;

use crate::model::markers;
use crate::step::StepId;
use crate::wording::{names, sentence, shorten};

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
            let also = match codes(&conclusion["also"], language) {
                none if none.is_empty() => Text::default(),
                also => text!("，另有 {also}", "; also {also}"),
            };
            let findings = based_on(&conclusion["findings"]);
            let class = text!(
                "类别：{class}{also}{findings}",
                "class: {class}{also}{findings}",
                also = also,
                findings = findings
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

fn codes(value: &Value, language: Language) -> String {
    let codes = value.as_array().into_iter().flatten().map(code);
    names(&codes.collect::<Vec<_>>(), language)
}

/// Ids in brackets, as they are cited in both languages.
fn based_on(ids: &Value) -> Text {
    match codes(ids, Language::En) {
        none if none.is_empty() => Text::default(),
        ids => text!(" [{ids}]", " [{ids}]"),
    }
}

fn module(module: &Value) -> Text {
    let (name, role) = (code(&module["name"]), code(&module["role"]));
    let lines = match (&module["first_line"], &module["last_line"]) {
        (Value::Number(first), Value::Number(last)) => {
            text!(
                "，第 {first}–{last} 行",
                ", lines {first}–{last}",
                first = first.to_string(),
                last = last.to_string()
            )
        }
        _ => Text::default(),
    };
    let stage = match module["stage"].as_str() {
        Some(stage) => text!("，阶段 {stage}", ", stage {stage}"),
        None => Text::default(),
    };
    let finding = match module["finding"].as_str() {
        Some(id) => text!(" [{id}]", " [{id}]"),
        None => Text::default(),
    };
    text!(
        "{name}{lines}{stage}{finding}：{role}",
        "{name}{lines}{stage}{finding}: {role}",
        lines = lines,
        stage = stage,
        finding = finding
    )
}

fn cause(cause: &Value) -> Text {
    let (name, mut explanation) = (code(&cause["cause"]), code(&cause["explanation"]));
    // the counter-evidence must not be cut
    shorten(&mut explanation, LINE_BYTES / 2);
    let against = match cause["against"].as_str() {
        Some(against) => text!(" 反证：{against}", " Against it: {against}"),
        None => Text::default(),
    };
    let evidence = based_on(&cause["evidence"]);
    text!(
        "{name}{evidence}：{explanation}{against}",
        "{name}{evidence}: {explanation}{against}",
        evidence = evidence,
        against = against
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
    if !absent.is_empty() {
        lines.push(text!(
            "作业目录中没有：{absent}",
            "not in the folder: {absent}"
        ));
    }
    for round in conclusion["rounds"].as_array().into_iter().flatten() {
        let number = round["round"].to_string();
        let found = round["key_findings"].as_array().into_iter().flatten();
        let found: Vec<String> = found.map(|f| without_stop(&code(f)).to_owned()).collect();
        let found = found.join(language.select("；", "; "));
        if !found.is_empty() {
            lines.push(text!(
                "第 {number} 轮得到：{found}",
                "round {number} gave: {found}"
            ));
        }
    }
    let model = &conclusion["model"];
    if model.is_object() {
        let (missing, basis) = (codes(&model["missing"], language), code(&model["basis"]));
        let basis = markers::read(&basis).map_or(basis, |request| request.basis);
        let basis = sentence(&basis, Language::of(&basis));
        let missing = match missing.is_empty() {
            true => Text::default(),
            false => text!("；还缺：{missing}", "; missing: {missing}"),
        };
        lines.push(text!(
            "模型判断：信息{sufficient}{missing}。{basis}",
            "judged by the model: {sufficient}{missing}. {basis}",
            sufficient = is_enough(&model["sufficient"]),
            missing = missing
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
