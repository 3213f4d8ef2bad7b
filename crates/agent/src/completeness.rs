//! What the rules still lack, as a request for files, and THINK 4 in fixed wording with the marks
//! of the specification.
//!
//! Pure: the chain reads the files, and the offline reasoner makes the same request.

use serde_json::Value;

use crate::conclusion::{FileRequest, WantedFile};
use crate::facts::StepInput;
use crate::wording::{citing, sentence};
use report::format::{Share, figure};
use report::{Language, codes, text};

/// What the rules would have read: first what they cannot decide without, then what could still
/// change a conclusion.
pub(crate) fn request(input: &StepInput) -> FileRequest {
    let facts = &input.facts;
    let missing = facts.found.missing.iter().map(|m| &m.information);
    let lacking = missing.filter(|m| m.present).map(|m| WantedFile {
        file: m.file.clone(),
        reason: m.reason.clone(),
    });
    let mut files: Vec<WantedFile> = Vec::new();
    for wanted in lacking.chain(facts.found.helpful.iter().cloned()) {
        let is_unread = facts.outline.unread.iter().any(|u| u.file == wanted.file);
        if is_unread && files.iter().all(|f| f.file != wanted.file) {
            files.push(wanted);
        }
    }
    FileRequest {
        needs_files: !files.is_empty(),
        basis: round(input, &files),
        experiences: experience(input),
        missing: Vec::new(),
        files,
        lookups: Vec::new(),
    }
}

/// Experience on what was found and on what a missing file would decide.
pub(crate) fn experience(input: &StepInput) -> Vec<String> {
    let found = &input.facts.found;
    let missing = found
        .missing
        .iter()
        .flat_map(|m| &m.information.would_decide);
    let causes = found.findings.iter().map(|f| &f.cause).chain(missing);
    let causes: Vec<&str> = causes.map(|c| c.code()).collect();
    input.experience_on(&causes)
}

/// One round in the form of the specification: needed or not, which files, why.
fn round(input: &StepInput, files: &[WantedFile]) -> String {
    let language = input.facts.language;
    let mut lines = Vec::new();
    if files.is_empty() {
        lines.push(
            language
                .select("【需要文件】: 否", "[Files needed]: no")
                .to_owned(),
        );
    } else {
        lines.push(
            language
                .select("【需要文件】: 是", "[Files needed]: yes")
                .to_owned(),
        );
        lines.push(language.select("【文件列表】:", "[Files]:").to_owned());
        lines.extend(files.iter().map(|f| format!("- {}: {}", f.file, f.reason)));
    }
    let c = &input.facts.found.completeness;
    let (score, minimum) = (figure(c.score), figure(c.minimum));
    let basis = text!(
        "【推断依据】: 信息充足度 {score}（下限 {minimum}），已能判定 {progress} 的规则。",
        "[Basis]: information score {score} (minimum {minimum}), {progress} of the rules decided.",
        progress = Share((c.progress * 100.0).round() / 100.0)
    );
    lines.push(basis.into(language));
    lines.join("\n")
}

/// The whole of THINK 4: what was read in which round, how it ended, what is still missing.
pub(crate) fn summary(
    input: &StepInput,
    last: &str,
    rounds: &[Value],
    ended: &str,
    cited: &[String],
) -> String {
    let language = input.facts.language;
    let rounds = rounds.iter().filter_map(|r| round_line(r, language));
    let mut lines: Vec<String> = rounds.collect();
    if !last.is_empty() {
        lines.push(last.to_owned());
    }
    lines.push(ending(ended, language).to_owned() + &citing(cited, language));
    for missing in &input.facts.found.missing {
        let m = &missing.information;
        let (file, causes) = (&m.file, codes(&m.would_decide));
        let reason = sentence(&m.reason, language);
        let line = if m.present {
            text!(
                "- 未读 {file}：{reason}补齐后可判断：{causes}。",
                "- {file} was not read: {reason} Needed to check for {causes}."
            )
        } else {
            text!(
                "- 缺少 {file}（文件夹中没有）：{reason}补齐后可判断：{causes}。",
                "- {file} is not in the folder: {reason} Needed to check for {causes}."
            )
        };
        lines.push(line.into(language));
    }
    lines.join("\n")
}

fn round_line(round: &Value, language: Language) -> Option<String> {
    let files = round["files"].as_array()?.iter();
    let names: Vec<&str> = files.filter_map(|f| f["file"].as_str()).collect();
    let (number, files) = (&round["round"], names.join(language.select("、", ", ")));
    let line = text!(
        "第 {number} 轮读取：{files}。",
        "Round {number} read {files}."
    );
    (!names.is_empty()).then(|| line.into(language))
}

fn ending(ended: &str, language: Language) -> &'static str {
    match ended {
        "sufficient" => language.select(
            "信息已经充足，停止读取。",
            "There is enough information; reading ended.",
        ),
        "nothing_left" => language.select(
            "文件夹中没有能进一步判断的文件，停止读取。",
            "No other file in the folder would help; reading ended.",
        ),
        _ => language.select(
            "已到轮数上限，停止读取。",
            "The maximum number of rounds is reached; reading ended.",
        ),
    }
}
