//! The question at the end of an interactive analysis: which suggestions were taken, which not.

use std::io::BufRead;

use report::{Language, Report};
use runs::store::{Action, Feedback};
use server::Session;

use crate::terminal::Terminal;

/// How often an answer that makes no sense is asked for again.
const TRIES: usize = 2;

/// Asks, and stores what was answered. Without an answer nothing is stored.
pub(crate) fn ask(report: &Report, session: &Session, terminal: &Terminal) {
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
        match understood(&answer, &known) {
            Ok(opinions) => return store(report, &opinions, session, terminal),
            Err(word) => terminal.remark(&misunderstood(report.language, &word)),
        }
    }
}

fn question(language: Language, known: &[&str]) -> String {
    let (first, last) = (known.first().unwrap_or(&""), known.last().unwrap_or(&""));
    let range = if first == last {
        (*first).to_owned()
    } else {
        format!("{first}–{last}")
    };
    match language {
        Language::Zh => {
            format!("\n哪些建议会采用？（{range}；不采用写 -{last}；直接回车跳过）：")
        }
        Language::En => format!(
            "\nWhich suggestions will you take? ({range}; -{last} for one you will not; Enter to skip): "
        ),
    }
}

fn misunderstood(language: Language, word: &str) -> String {
    match language {
        Language::Zh => format!("没有建议“{word}”；例如：S1 -S2"),
        Language::En => format!("there is no suggestion `{word}`; for example: S1 -S2"),
    }
}

/// `S1 -S2`, `1 -2`, `s1, -s2`: what was accepted and what not; the word that makes no sense else.
fn understood(answer: &str, known: &[&str]) -> Result<Vec<(String, Action)>, String> {
    let words = answer
        .split(|c: char| c.is_whitespace() || c == ',' || c == '，')
        .filter(|word| !word.is_empty());
    words
        .map(|word| {
            let (action, name) = match word.strip_prefix(['-', '−']) {
                Some(name) => (Action::Ignore, name),
                None => (Action::Accept, word),
            };
            let number = name.trim_start_matches(['S', 's']);
            let id = format!("S{number}");
            if known.contains(&id.as_str()) {
                Ok((id, action))
            } else {
                Err(word.to_owned())
            }
        })
        .collect()
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
            Ok(_) => terminal.remark(&match report.language {
                Language::Zh => format!("已记录：{suggestion}"),
                Language::En => format!("noted: {suggestion}"),
            }),
            Err(error) => terminal.remark(&format!("not saved: {}", error.one_line())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_understood_in_several_spellings() {
        let known = ["S1", "S2", "S3"];
        let told = |answer| understood(answer, &known);
        let wanted = vec![
            ("S1".to_owned(), Action::Accept),
            ("S3".to_owned(), Action::Ignore),
        ];
        for answer in ["S1 -S3\n", "1, -3", "s1，-s3\r\n"] {
            assert_eq!(told(answer), Ok(wanted.clone()), "{answer}");
        }
        assert_eq!(told("\n"), Ok(Vec::new()));
        assert_eq!(told("S1 S9"), Err("S9".to_owned()));
        assert_eq!(told("yes"), Err("yes".to_owned()));
    }
}
