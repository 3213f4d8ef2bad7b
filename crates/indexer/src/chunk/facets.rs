//! Maps headings to sections of a playbook, and sections to the analysis steps that they are for.

use crate::model::{Kind, Section};
use report::Language;
use report::format::with_capital;

/// Names of each section in either language, as prefixes of a folded heading. A name comes before others that it contains.
const NAMES: [(Section, &str); 7] = [
    (
        Section::NotWhen,
        "not when|when this does not|when it does not|when not|does not apply|do not use|not applicable|exceptions|counter|\
         不适用|何时不|例外|反例",
    ),
    (
        Section::TradeOffs,
        "trade-offs|trade|costs|caveat|limits|limitations|risks|drawbacks|取舍|代价|权衡|注意|风险",
    ),
    (
        Section::Symptom,
        "symptom|signs|what you see|observed|症状|现象|表现",
    ),
    (Section::Cause, "cause|root cause|why|reason|原因|根因|成因"),
    (
        Section::Check,
        "check|diagnos|how to tell|how to check|how to confirm|如何检查|如何确认|如何判断|confirm|verify|evidence|\
         检查|诊断|确认|判断|证据|排查",
    ),
    (
        Section::Fix,
        "fix|remedy|remedies|solution|what to do|what to change|what was changed|accepted|改动|采纳|如何修复|action|\
         修复|解决|处理|对策|措施|优化",
    ),
    (
        Section::Example,
        "example|worked example|sample|示例|例子|样例|案例",
    ),
];

/// The heading to write for a section: its first name in this language.
pub(crate) fn heading_for(section: Section, language: Language) -> String {
    let names = NAMES.iter().find(|(named, _)| *named == section);
    let mut names = names.map_or("", |(_, names)| names).split('|');
    let is_wanted = |name: &&str| name.is_ascii() == (language == Language::En);
    with_capital(names.find(is_wanted).unwrap_or(section.as_str()))
}

/// The section named by the innermost heading that names one.
pub(crate) fn section_of(heading_path: &[String]) -> Option<Section> {
    let mut headings = heading_path.iter().rev();
    headings.find_map(|heading| section_named(heading))
}

fn section_named(heading: &str) -> Option<Section> {
    let folded = heading.trim().to_lowercase().replace(['-', '_'], " ");
    // `1. 症状` and `## 2) Fix` number their headings.
    let bare = folded.trim_start_matches(|c: char| {
        c.is_ascii_digit() || c.is_whitespace() || matches!(c, '.' | ')' | '、' | '．')
    });
    NAMES.into_iter().find_map(|(section, names)| {
        let names_it = names.split('|').any(|name| bare.starts_with(name));
        names_it.then_some(section)
    })
}

/// Steps that use a chunk: classify (1), find the key code (2), reason from experience (3), check for
/// missing information (4), advise (5).
pub(crate) fn steps_of(kind: Kind, section: Option<Section>) -> Vec<String> {
    let steps: &[&str] = match (kind, section) {
        (Kind::File, _) => &["think4"],
        (Kind::Glossary, _) => &["think1", "think2"],
        (_, Some(Section::Symptom)) => &["think1", "think3"],
        (_, Some(Section::Cause)) => &["think2", "think3"],
        (_, Some(Section::Check)) => &["think3", "think4"],
        (_, Some(Section::Fix)) => &["think5"],
        (_, Some(Section::Example)) => &["think2", "think5"],
        (_, Some(Section::TradeOffs | Section::NotWhen)) => &["think5"],
        (Kind::Case, None) => &["think3", "think5"],
        (_, None) => &["think1", "think3"],
    };
    steps.iter().map(|&step| step.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(heading: &str) -> Option<Section> {
        section_of(&[heading.to_owned()])
    }

    #[test]
    fn headings_of_either_language_name_a_section() {
        for (zh, en, expect) in [
            ("症状", "Symptom", Section::Symptom),
            ("原因", "Cause", Section::Cause),
            ("检查", "Check", Section::Check),
            ("修复", "Fix", Section::Fix),
            ("示例", "Example", Section::Example),
            ("取舍", "Trade-offs", Section::TradeOffs),
            ("不适用", "Not when", Section::NotWhen),
        ] {
            assert_eq!(section(zh), Some(expect), "{zh}");
            assert_eq!(section(en), Some(expect), "{en}");
        }
        assert_eq!(section("1. 症状与表现"), Some(Section::Symptom));
        assert_eq!(section("Salting"), None);
    }

    #[test]
    fn the_innermost_named_heading_decides() {
        for (inner, section) in [("Salting", Section::Fix), ("Example", Section::Example)] {
            let path = ["Fix".to_owned(), inner.to_owned()];
            assert_eq!(section_of(&path), Some(section));
        }
    }
}
