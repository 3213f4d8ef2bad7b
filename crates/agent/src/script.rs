//! Identity of a job's script for a batch: exact, and by shape.

use job::Job;
use job::script::{Script, TokenKind};

/// Hexadecimal digits that are kept: enough for billions of scripts.
const DIGITS: usize = 32;

/// Hash of the script's text; `None` without a script.
pub(crate) fn hash(job: &Job) -> Option<String> {
    let mut hasher = blake3::Hasher::new();
    for text in texts(job)? {
        hasher.update(text.as_bytes());
    }
    Some(digits(&hasher))
}

/// Hash of the script's tokens without comments, the value of each literal left out: a job that runs every day with another date in its
/// paths keeps its shape. `None` without a script.
pub(crate) fn shape(job: &Job) -> Option<String> {
    let mut hasher = blake3::Hasher::new();
    match &job.script {
        Some(script) => add(&mut hasher, script),
        None => {
            for text in texts(job)? {
                add(&mut hasher, &Script::parse("", text.to_owned()));
            }
        }
    }
    Some(digits(&hasher))
}

fn texts(job: &Job) -> Option<Vec<&str>> {
    if let Some(script) = &job.script {
        return Some(vec![&script.text]);
    }
    let scripts = job.spark.as_ref()?.scripts.iter();
    let texts: Vec<&str> = scripts.map(|s| s.text.as_str()).collect();
    (!texts.is_empty()).then_some(texts)
}

fn add(hasher: &mut blake3::Hasher, script: &Script) {
    let tokens = script.tree().tokens();
    let meaningful = tokens
        .iter()
        .enumerate()
        .filter(|(_, t)| !t.kind.is_trivia());
    for (at, token) in meaningful {
        match token.kind {
            TokenKind::Number | TokenKind::Text => hasher.update(b"?"),
            _ => hasher.update(script.text[script.tree().token_span(at)].as_bytes()),
        };
        // a character of no token ends it
        hasher.update(b"\0");
    }
}

fn digits(hasher: &blake3::Hasher) -> String {
    let mut digits = hasher.finalize().to_string();
    digits.truncate(DIGITS);
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (String, String) {
        let job = Job {
            script: Some(Script::parse("scope.script", text.to_owned())),
            ..Job::default()
        };
        (hash(&job).expect("a hash"), shape(&job).expect("a shape"))
    }

    #[test]
    fn a_shape_outlives_literals_comments_and_spaces() {
        let today = of(
            "a = EXTRACT x FROM @\"/2026/01/12.tsv\";\nb = SELECT x FROM a WHERE x > 12; // twelve\n",
        );
        let tomorrow =
            of("a = EXTRACT x\n  FROM @\"/2026/01/13.tsv\";\nb = SELECT x FROM a WHERE x > 13;\n");
        assert_ne!(today.0, tomorrow.0);
        assert_eq!(today.1, tomorrow.1);
        let other =
            of("a = EXTRACT x FROM @\"/2026/01/12.tsv\";\nb = SELECT y FROM a WHERE x > 12;\n");
        assert_ne!(today.1, other.1);
        assert_eq!(
            (hash(&Job::default()), shape(&Job::default())),
            (None, None)
        );
    }
}
