//! The question at the end of an interactive analysis, if the configuration asks for it: which suggestions the user plans to apply.

use std::io::BufRead;

use report::{Language, Report, say, text};
use runs::store::{Action, Feedback};
use server::Session;

use crate::terminal::Terminal;

/// Attempts at an answer that can be understood.
const TRIES: usize = 2;

/// Asks, and saves the answer if there is one.
pub(crate) fn ask_for_plans(report: &Report, session: &Session, terminal: &Terminal) {
    let known: Vec<&str> = report.suggestions.iter().map(|s| s.id.as_str()).collect();
    if known.is_empty() {
        return;
    }
    for _ in 0..TRIES {
        terminal.prompt(&question(report.language, &known));
        let mut answer = String::new();
        // A closed stdin is no answer.
        if !matches!(std::io::stdin().lock().read_line(&mut answer), Ok(n) if n > 0) {
            return;
        }
        match parse(&answer, &known) {
            Ok(opinions) => return store(report, &opinions, session, terminal),
            Err(word) => terminal.remark(&misunderstood(report.language, &word)),
        }
    }
}

fn question(language: Language, known: &[&str]) -> String {
    let (first, last) = (known.first().unwrap_or(&""), known.last().unwrap_or(&""));
    let range = match first == last {
        true => (*first).to_owned(),
        false => format!("{first}–{last}"),
    };
    text!(
        "\n您打算采用哪些建议？（{range}；不采用请写 -{last}；直接回车跳过）：",
        "\nWhich suggestions do you plan to apply? ({range}; -{last} for one you won't; Enter to skip): "
    )
    .into(language)
}

fn misunderstood(language: Language, word: &str) -> String {
    text!(
        "没有“{word}”这条建议；示例：S1 -S2",
        "there is no suggestion `{word}`; example: S1 -S2"
    )
    .into(language)
}

/// Parses `S1 -S2`, `1 -2` or `s1, -s2`.
///
/// # Errors
/// The first word that is no suggestion.
fn parse(answer: &str, known: &[&str]) -> Result<Vec<(String, Action)>, String> {
    let words = answer
        .split(|c: char| c.is_whitespace() || c == ',' || c == '，')
        .filter(|word| !word.is_empty());
    let opinion = |word: &str| {
        let (action, name) = match word.strip_prefix(['-', '−']) {
            Some(name) => (Action::Ignore, name),
            None => (Action::Accept, word),
        };
        let id = format!("S{}", name.trim_start_matches(['S', 's']));
        let is_known = known.contains(&id.as_str());
        is_known.then_some((id, action)).ok_or(word.to_owned())
    };
    words.map(opinion).collect()
}

fn store(report: &Report, opinions: &[(String, Action)], session: &Session, terminal: &Terminal) {
    for (suggestion, action) in opinions {
        let feedback = Feedback {
            action: *action,
            suggestion: suggestion.clone(),
            note: None,
            saved_seconds: None,
        };
        match session.with_store(|store| store.give_feedback(&report.run_id, &feedback)) {
            Ok(_) => {
                let saved = text!("已记录：{suggestion}", "saved: {suggestion}");
                terminal.remark(saved.pick(report.language));
            }
            Err(error) => {
                let error = error.one_line();
                terminal.remark(&say!("没有记录：{error}", "not saved: {error}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_understood_in_several_spellings() {
        let known = ["S1", "S2", "S3"];
        let parsed = |answer| parse(answer, &known);
        let wanted = vec![
            ("S1".to_owned(), Action::Accept),
            ("S3".to_owned(), Action::Ignore),
        ];
        for answer in ["S1 -S3\n", "1, -3", "s1，-s3\r\n"] {
            assert_eq!(parsed(answer), Ok(wanted.clone()), "{answer}");
        }
        assert_eq!(parsed("\n"), Ok(Vec::new()));
        assert_eq!(parsed("S1 S9"), Err("S9".to_owned()));
        assert_eq!(parsed("yes"), Err("yes".to_owned()));
    }
}
