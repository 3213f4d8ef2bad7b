//! A passage in the dialect of the job: without code and sentences about other dialects.

use report::JobEngine;

/// A dialect: the language of its code blocks, and its names.
type Dialect = (JobEngine, &'static str, &'static [&'static str]);

const DIALECTS: [Dialect; 3] = [
    (JobEngine::Scope, "scope", &["SCOPE"]),
    (JobEngine::Usql, "usql", &["U-SQL", "ADLA"]),
    (JobEngine::Spark, "", &["Spark", "PySpark"]),
];

/// Whether a text names dialects, and only others than the job's.
pub(super) fn names_others(text: &str, own: JobEngine) -> bool {
    let names = |(_, _, names): &&Dialect| names.iter().any(|name| text.contains(name));
    let mut named = DIALECTS.iter().filter(names).peekable();
    named.peek().is_some() && named.all(|(engine, ..)| *engine != own)
}

/// The text without code blocks of other dialects, and without sentences that name only others.
pub(super) fn own_text(text: &str, own: JobEngine) -> String {
    let is_other = |language: &str| {
        let known = DIALECTS.iter().find(|(_, tag, _)| *tag == language);
        !language.is_empty() && known.is_some_and(|(engine, ..)| *engine != own)
    };
    let mut kept: Vec<String> = Vec::new();
    let (mut in_code, mut is_left_out) = (false, false);
    for line in text.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            if !in_code {
                is_left_out = is_other(language.trim());
            }
            in_code = !in_code;
            if !is_left_out {
                kept.push(line.to_owned());
            }
        } else if in_code {
            kept.extend((!is_left_out).then(|| line.to_owned()));
        } else {
            kept.extend(own_sentences(line, own));
        }
    }
    kept.join("\n")
}

/// A line of prose without sentences about other dialects; `None` if none is left. Headings were chosen before.
fn own_sentences(line: &str, own: JobEngine) -> Option<String> {
    if line.starts_with('#') {
        return Some(line.to_owned());
    }
    let sentences = line.split_inclusive(['。', '；']);
    let sentences = sentences.flat_map(|part| part.split_inclusive(". "));
    let kept: String = sentences.filter(|s| !names_others(s, own)).collect();
    let is_empty = kept.trim_matches(|c: char| !c.is_alphanumeric()).is_empty();
    (!is_empty || kept == line).then_some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_sentences_of_other_dialects_are_left_out() {
        let text = "Declare it recursive. In U-SQL, name the attribute. SCOPE and U-SQL reduce again.\n\n```usql\n@a = SELECT 1;\n```\n\n```scope\nA = SELECT 1;\n```\n- In Spark: cast.\n合并文件。U-SQL 中写作提示。";
        let scope = "Declare it recursive. SCOPE and U-SQL reduce again.\n\n\n```scope\nA = SELECT 1;\n```\n合并文件。";
        assert_eq!(own_text(text, JobEngine::Scope), scope);
        let usql = own_text(text, JobEngine::Usql);
        assert!(
            usql.contains("@a") && !usql.contains("A = SELECT"),
            "{usql}"
        );
        assert!(usql.contains("U-SQL 中写作提示"), "{usql}");
    }
}
