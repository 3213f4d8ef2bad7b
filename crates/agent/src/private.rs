//! Private data with `--redact`: every name, value and word that comes from the files of a job and
//! is not one of the program's words.
//!
//! In quoted texts (the script, errors, files), every word is private. In the program's own
//! sentences about a job, its names are known from the model.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use job::Job;
use job::model::JobError;
use job::script::own_words;
use llm::{Mask, is_word_part};

use job::model::CodeExcerpt;

/// Shortest number that may be a value rather than a count.
const SHORTEST_NUMBER: usize = 5;

/// Words of the program's own sentences, formats and prompts.
struct Public {
    words: HashSet<&'static str>,
    in_lower_case: HashSet<String>,
    chinese: &'static str,
}

fn public() -> &'static Public {
    static PUBLIC: OnceLock<Public> = OnceLock::new();
    PUBLIC.get_or_init(|| {
        let words = include_str!(concat!(env!("OUT_DIR"), "/words.txt"));
        Public {
            words: words.lines().collect(),
            in_lower_case: words.lines().map(str::to_ascii_lowercase).collect(),
            chinese: include_str!(concat!(env!("OUT_DIR"), "/chinese.txt")),
        }
    })
}

/// The mask of a job as far as it has been read.
pub(crate) fn mask(job: &Job) -> Mask {
    let mut mask = Mask::default();
    let path = job.path.display().to_string();
    name(&mut mask, "path", &path);
    words(&mut mask, &path);
    for file in &job.files {
        if !is_public(&file.name) {
            name(&mut mask, "file", &file.name);
        }
        words(&mut mask, &file.name);
    }
    let info = job.info.name.iter().chain(&job.info.id);
    for text in info.chain(job.info.other.values()) {
        name(&mut mask, "job", text);
        words(&mut mask, text);
    }
    let statements = job.script.iter().flat_map(|s| &s.statements);
    let inputs = statements.clone().flat_map(|s| &s.query.inputs);
    let rowsets = statements.filter_map(|s| s.target.as_ref());
    for text in rowsets.chain(inputs.map(|input| &input.name)) {
        name(&mut mask, "rowset", text);
    }
    for text in job.private_names() {
        name(&mut mask, "name", &text);
        words(&mut mask, &text);
    }
    for stage in &job.stages {
        for operator in &stage.operators {
            words(&mut mask, &operator.class_name);
            words(&mut mask, &operator.args);
        }
        for stream in stage.reads.iter().chain(&stage.writes) {
            words(&mut mask, stream);
        }
    }
    // stages may share one list of machines
    let machines = job
        .stages
        .iter()
        .filter_map(|s| Some(&s.runs.as_ref()?.machines));
    let lists: HashMap<_, _> = machines.map(|list| (Arc::as_ptr(list), list)).collect();
    let machines: BTreeSet<&str> = lists
        .values()
        .flat_map(|l| l.iter().map(|m| &**m))
        .collect();
    for machine in machines {
        name(&mut mask, "machine", machine);
    }
    if let Some(script) = &job.script {
        for text in own_words(&script.text) {
            name(&mut mask, "text", &text);
        }
        words(&mut mask, &script.text);
    }
    for text in job.errors.iter().flat_map(texts_of) {
        quoted(&mut mask, text);
    }
    for class in job.codegen.iter().flat_map(|c| &c.classes) {
        class
            .expressions
            .iter()
            .for_each(|text| words(&mut mask, text));
    }
    mask
}

/// Adds the words and long numbers of an error, which may quote a row.
pub(crate) fn quoted(mask: &mut Mask, error: &str) {
    words(mask, error);
    numbers(mask, error);
}

/// Adds the words of quoted code, and the texts and comments in it.
pub(crate) fn code(mask: &mut Mask, excerpts: &[CodeExcerpt]) {
    for line in excerpts.iter().flat_map(|e| &e.lines) {
        for text in own_words(line) {
            name(mask, "text", &text);
        }
        words(mask, line);
    }
}

/// The mask of names that are known from a saved run, each with the prefix of its placeholder, and of the words and long
/// numbers of texts. As in any mask, words of the program are left.
pub fn mask_of<'a>(
    names: impl Iterator<Item = (&'a str, &'static str)>,
    texts: impl Iterator<Item = &'a str>,
) -> Mask {
    let mut mask = Mask::default();
    for (text, kind) in names {
        name(&mut mask, kind, text);
    }
    texts.for_each(|text| quoted(&mut mask, text));
    mask
}

fn texts_of(error: &JobError) -> impl Iterator<Item = &String> {
    let other = [
        &error.description,
        &error.details,
        &error.internal,
        &error.resolution,
        &error.script_file,
        &error.machine,
        &error.exception,
        &error.frame,
        &error.row,
        &error.class_name,
        &error.expression,
    ];
    [&error.message]
        .into_iter()
        .chain(other.into_iter().flatten())
}

/// Whether a text has only words of the program.
fn is_public(text: &str) -> bool {
    let mut words = text.split(|c: char| !is_word_part(c));
    text.is_ascii() && words.all(|word| public().words.contains(word))
}

/// Adds a name as a whole.
fn name(mask: &mut Mask, kind: &str, text: &str) {
    let text = text.trim().trim_start_matches('@');
    let is_number = text.bytes().all(|b| b.is_ascii_digit());
    let is_mere_sign = !text.chars().any(char::is_alphanumeric);
    if is_mere_sign || (is_number && text.len() < SHORTEST_NUMBER) {
        return;
    }
    let is_public = match text.is_ascii() {
        true => public().words.contains(text),
        false => public().chinese.contains(text),
    };
    if is_public {
        return;
    }
    let ordinary = &public().in_lower_case;
    mask.add(kind, text, ordinary.contains(&text.to_ascii_lowercase()));
}

/// Adds the words of a text that the program does not use itself. The tags and attributes of XML and
/// the keys of JSON are no content.
pub(crate) fn words(mask: &mut Mask, text: &str) {
    let mut end = 0;
    while let Some(at) = text[end..].find(is_word_part) {
        let start = end + at;
        let length = text[start..].find(|c| !is_word_part(c));
        end = length.map_or(text.len(), |n| start + n);
        let word = &text[start..end];
        let has_letter = word.bytes().any(|b| b.is_ascii_alphabetic());
        let is_own = is_generated(word) || is_structure(&text[..start], &text[end..]);
        if has_letter && !is_own {
            name(mask, "word", word);
        }
    }
    let runs = text.split(|c: char| c.is_ascii() || !c.is_alphabetic());
    for run in runs.filter(|run| run.chars().count() > 1) {
        name(mask, "word", run);
    }
}

/// Whether the compiler gave a name: `SV3_Combine_Reduce`, `Process_5`.
fn is_generated(word: &str) -> bool {
    let is_number = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let mut parts: Vec<&str> = word.split('_').collect();
    let is_stage = parts[0].strip_prefix("SV").is_some_and(is_number);
    let counted = match is_stage {
        true => parts.remove(0),
        false => parts.pop().unwrap_or_default(),
    };
    let is_public = |part: &&str| public().words.contains(*part);
    (is_stage || !counted.is_empty() && is_number(counted))
        && !parts.is_empty()
        && parts.iter().all(|part| is_public(part) || is_number(part))
}

fn is_structure(before: &str, after: &str) -> bool {
    let is_tag = before.ends_with('<') || before.ends_with("</");
    let is_attribute = after.starts_with("=\"");
    let is_key = before.ends_with('"') && after.starts_with("\":");
    is_tag || is_attribute || is_key
}

/// Adds the long numbers of a text, which may be values of a row.
fn numbers(mask: &mut Mask, text: &str) {
    text.split(|c: char| !is_word_part(c))
        .filter(|word| word.bytes().all(|b| b.is_ascii_digit()))
        .for_each(|number| name(mask, "word", number));
}

#[cfg(test)]
mod security {
    use super::*;

    #[test]
    fn words_of_a_quoted_text_are_private_and_those_of_the_program_are_not() {
        let mut mask = Mask::default();
        words(
            &mut mask,
            "<vertex machine=\"CY2PR12-M045\" rows=\"4711\"/> {\"queue\": \"falcon\"} 张三的订单 the stage Stage",
        );
        let hidden = mask.hide("CY2PR12-M045 ran 4711 rows of falcon for 张三的订单 in the stage");
        for private in ["CY2PR12", "M045", "falcon", "张三"] {
            assert!(!hidden.contains(private), "{private} in {hidden}");
        }
        assert!(hidden.contains("ran 4711 rows of"), "{hidden}");
        assert!(hidden.ends_with("in the stage"), "{hidden}");
    }
}
