//! The conclusion of a step as the report has it: the program's, reordered and explained by a model.
//!
//! A model never removes a statement: if it adds no valid one, the program's conclusion is the step's.

use report::{Language, text};

use crate::conclusion::{
    Advice, CauseAnalysis, Causes, Classification, Conclusion, Hypotheses, KeyCode, Module,
    Recommendation, Reply,
};

/// The program's conclusion with the model's additions, and whether there are any.
pub(crate) fn merged(
    base: Conclusion,
    model: Conclusion,
    language: Language,
) -> (Conclusion, bool) {
    let before = base.clone();
    let whole = match (base, model) {
        (Conclusion::Classify(a), Conclusion::Classify(b)) => {
            Conclusion::Classify(classification(a, b, language))
        }
        (Conclusion::KeyCode(a), Conclusion::KeyCode(b)) => {
            Conclusion::KeyCode(key_code(a, b, language))
        }
        (Conclusion::Experience(a), Conclusion::Experience(b)) => {
            Conclusion::Experience(causes(a, b, language))
        }
        (Conclusion::Advice(a), Conclusion::Advice(b)) => {
            Conclusion::Advice(advice(a, b, language))
        }
        (Conclusion::Hypotheses(a), Conclusion::Hypotheses(b)) => {
            Conclusion::Hypotheses(hypotheses(a, b, language))
        }
        (Conclusion::Answer(a), Conclusion::Answer(b)) => Conclusion::Answer(reply(a, b)),
        // The rounds of THINK 4 keep the two judgments apart themselves.
        (_, model) => return (model, true),
    };
    let adds = whole != before;
    (whole, adds)
}

fn classification(a: Classification, b: Classification, language: Language) -> Classification {
    Classification {
        problem_type: b.problem_type,
        also: union(a.also, b.also),
        findings: union(a.findings, b.findings),
        evidence: union(a.evidence, b.evidence),
        experiences: union(a.experiences, b.experiences),
        text: explained(a.text, &b.text, language),
    }
}

fn key_code(a: KeyCode, b: KeyCode, language: Language) -> KeyCode {
    let is_same = |a: &Module, b: &Module| match (&a.finding, &b.finding) {
        (Some(one), Some(other)) => one == other,
        _ => a.name == b.name,
    };
    let both = |a: Module, b: Module| Module {
        role: continued(a.role, &b.role, language),
        ..a
    };
    KeyCode {
        modules: reordered(a.modules, b.modules, is_same, both),
        experiences: union(a.experiences, b.experiences),
        text: explained(a.text, &b.text, language),
    }
}

fn causes(a: Causes, b: Causes, language: Language) -> Causes {
    let is_same = |a: &CauseAnalysis, b: &CauseAnalysis| match (&a.finding, &b.finding) {
        (Some(one), Some(other)) => one == other,
        _ => a.cause == b.cause,
    };
    let both = |a: CauseAnalysis, b: CauseAnalysis| CauseAnalysis {
        explanation: continued(a.explanation, &b.explanation, language),
        against: match (a.against, b.against) {
            (Some(one), Some(other)) => Some(continued(one, &other, language)),
            (one, other) => one.or(other),
        },
        evidence: union(a.evidence, b.evidence),
        experiences: union(a.experiences, b.experiences),
        ..a
    };
    Causes {
        causes: reordered(a.causes, b.causes, is_same, both),
        text: explained(a.text, &b.text, language),
    }
}

fn advice(a: Advice, b: Advice, language: Language) -> Advice {
    let is_same = |a: &Recommendation, b: &Recommendation| a.suggestion == b.suggestion;
    let both = |a: Recommendation, b: Recommendation| Recommendation {
        why: continued(a.why, &b.why, language),
        trade_offs: continued(a.trade_offs, &b.trade_offs, language),
        evidence: union(a.evidence, b.evidence),
        experiences: union(a.experiences, b.experiences),
        ..a
    };
    Advice {
        recommendations: reordered(a.recommendations, b.recommendations, is_same, both),
        additional: b.additional,
        text: explained(a.text, &b.text, language),
        answer: reply(a.answer, b.answer),
    }
}

fn hypotheses(a: Hypotheses, b: Hypotheses, language: Language) -> Hypotheses {
    let mut all = b.hypotheses;
    let mut own = a.hypotheses;
    own.retain(|h| all.iter().all(|other| other.hypothesis != h.hypothesis));
    all.append(&mut own);
    Hypotheses {
        hypotheses: all,
        text: explained(a.text, &b.text, language),
    }
}

/// A model may answer in the program's place; what it says has been checked.
fn reply(a: Reply, b: Reply) -> Reply {
    match b.text.trim().is_empty() {
        true => a,
        false => b,
    }
}

/// The items of the program in the order of the model, then the model's additions.
fn reordered<T>(
    mut own: Vec<T>,
    model: Vec<T>,
    is_same: impl Fn(&T, &T) -> bool,
    both: impl Fn(T, T) -> T,
) -> Vec<T> {
    let (mut first, mut new) = (Vec::new(), Vec::new());
    for item in model {
        match own.iter().position(|known| is_same(known, &item)) {
            Some(at) => first.push(both(own.remove(at), item)),
            None if first.iter().any(|known| is_same(known, &item)) => {}
            None => new.push(item),
        }
    }
    first.extend(own);
    first.extend(new);
    first
}

/// Some items and further ones, each once.
pub(crate) fn union<T: PartialEq>(mut own: Vec<T>, more: impl IntoIterator<Item = T>) -> Vec<T> {
    for item in more {
        if !own.contains(&item) {
            own.push(item);
        }
    }
    own
}

/// The program's text, and below it the model's.
fn explained(own: String, model: &str, language: Language) -> String {
    let model = model.trim();
    if model.is_empty() || own.contains(model) {
        return own;
    }
    if own.trim().is_empty() {
        return model.to_owned();
    }
    let model: String = text!("模型补充：{model}", "The model adds: {model}").into(language);
    format!("{own}\n\n{model}")
}

/// A sentence of the program followed by the model's.
fn continued(own: String, model: &str, language: Language) -> String {
    let model = model.trim();
    if model.is_empty() || own.contains(model) {
        return own;
    }
    let space = language.select("", " ");
    match own.trim().is_empty() {
        true => model.to_owned(),
        false => format!("{own}{space}{model}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recommended(ids: &[&str]) -> Advice {
        let recommendations = ids.iter().map(|id| Recommendation {
            suggestion: (*id).to_owned(),
            why: format!("why {id}"),
            trade_offs: String::new(),
            evidence: Vec::new(),
            experiences: Vec::new(),
        });
        Advice {
            recommendations: recommendations.collect(),
            text: "do it".to_owned(),
            ..Advice::default()
        }
    }

    #[test]
    fn a_model_reorders_and_explains_and_takes_nothing_away() {
        let (own, model) = (recommended(&["S1", "S2"]), recommended(&["S2"]));
        let (whole, adds) = merged(
            Conclusion::Advice(own.clone()),
            Conclusion::Advice(model),
            Language::En,
        );
        let Conclusion::Advice(whole) = whole else {
            panic!("advice");
        };
        assert!(adds);
        let ids: Vec<&str> = whole
            .recommendations
            .iter()
            .map(|r| r.suggestion.as_str())
            .collect();
        assert_eq!(ids, ["S2", "S1"]);
        let nothing = Conclusion::Advice(Advice::default());
        let (whole, adds) = merged(Conclusion::Advice(own.clone()), nothing, Language::En);
        assert_eq!((whole, adds), (Conclusion::Advice(own), false));
    }
}
