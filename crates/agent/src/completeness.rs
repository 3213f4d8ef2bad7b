//! What the rules still lack, as a request for files, and THINK 4 in fixed wording with the marks
//! of the specification.
//!
//! Pure: the chain reads the files, and the offline reasoner hands the same request in.

use serde_json::Value;

use crate::conclusion::{FileRequest, WantedFile};
use crate::facts::StepInput;
use crate::wording::{citing, sentence};
use report::format::figure;
use report::{Language, codes};

/// What the rules would have read, in the form of a request: first what they cannot decide
/// without, then what could still change a judgement.
pub(crate) fn request(input: &StepInput) -> FileRequest {
    let mut files: Vec<WantedFile> = Vec::new();
    let lacking = input
        .facts
        .found
        .missing
        .iter()
        .filter(|m| m.information.present)
        .map(|m| WantedFile {
            file: m.information.file.clone(),
            reason: m.information.reason.clone(),
        });
    for wanted in lacking.chain(input.facts.found.helpful.iter().cloned()) {
        let unread = input
            .facts
            .outline
            .unread
            .iter()
            .any(|u| u.file == wanted.file);
        if unread && files.iter().all(|f| f.file != wanted.file) {
            files.push(wanted);
        }
    }
    FileRequest {
        needs_files: !files.is_empty(),
        basis: round(input, &files),
        experiences: experience(input),
        files,
        lookups: Vec::new(),
    }
}

/// Experience on what was found and on what a missing file would decide.
pub(crate) fn experience(input: &StepInput) -> Vec<String> {
    let missing = input
        .facts
        .found
        .missing
        .iter()
        .flat_map(|m| m.information.would_decide.iter().copied());
    let found = input.facts.found.findings.iter().map(|f| f.cause);
    let causes: Vec<&str> = found.chain(missing).map(|c| c.code()).collect();
    input.experience_on(&causes)
}

/// One round in the form of the specification: needed or not, which files, why.
fn round(input: &StepInput, files: &[WantedFile]) -> String {
    let language = input.facts.language;
    let needed = match (language, files.is_empty()) {
        (Language::Zh, false) => "【需要文件】: 是",
        (Language::Zh, true) => "【需要文件】: 否",
        (Language::En, false) => "[Files needed]: yes",
        (Language::En, true) => "[Files needed]: no",
    };
    let mut lines = vec![needed.to_owned()];
    if !files.is_empty() {
        lines.push(match language {
            Language::Zh => "【文件列表】:".to_owned(),
            Language::En => "[Files]:".to_owned(),
        });
        lines.extend(files.iter().map(|f| format!("- {}: {}", f.file, f.reason)));
    }
    lines.push(match language {
        Language::Zh => format!("【推断依据】: {}", basis(input)),
        Language::En => format!("[Basis]: {}", basis(input)),
    });
    lines.join("\n")
}

fn basis(input: &StepInput) -> String {
    let c = &input.facts.found.completeness;
    let (score, minimum) = (figure(c.score), figure(c.minimum));
    let progress = figure((c.progress * 100.0).round());
    match input.facts.language {
        Language::Zh => {
            format!("信息充足度 {score}（下限 {minimum}），已能判定 {progress}% 的规则。")
        }
        Language::En => format!(
            "information score {score} (at least {minimum}), {progress}% of the rules decided."
        ),
    }
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
    let mut lines: Vec<String> = rounds
        .iter()
        .filter_map(|r| round_line(r, language))
        .collect();
    if !last.is_empty() {
        lines.push(last.to_owned());
    }
    lines.push(ending(ended, language).to_owned() + &citing(cited, language));
    for missing in &input.facts.found.missing {
        let m = &missing.information;
        let causes = codes(&m.would_decide);
        let reason = sentence(&m.reason, language);
        lines.push(match (language, m.present) {
            (Language::Zh, false) => format!(
                "- 缺少 {}（文件夹中没有）：{reason}它能判定 {causes}。",
                m.file
            ),
            (Language::Zh, true) => format!("- 未读 {}：{reason}它能判定 {causes}。", m.file),
            (Language::En, false) => format!(
                "- {} is not in the folder: {reason} It would decide {causes}.",
                m.file
            ),
            (Language::En, true) => format!(
                "- {} was not read: {reason} It would decide {causes}.",
                m.file
            ),
        });
    }
    lines.join("\n")
}

fn round_line(round: &Value, language: Language) -> Option<String> {
    let files: Vec<&str> = round["files"]
        .as_array()?
        .iter()
        .filter_map(|f| f["file"].as_str())
        .collect();
    let number = &round["round"];
    (!files.is_empty()).then(|| match language {
        Language::Zh => format!("第 {number} 轮读取：{}。", files.join("、")),
        Language::En => format!("Round {number} read {}.", files.join(", ")),
    })
}

fn ending(ended: &str, language: Language) -> &'static str {
    match (ended, language) {
        ("sufficient", Language::Zh) => "信息已经充足，停止读取。",
        ("sufficient", Language::En) => "The information suffices; reading ended.",
        ("nothing_left", Language::Zh) => "文件夹中没有能进一步判定的文件，停止读取。",
        ("nothing_left", Language::En) => "No file of the folder would decide more; reading ended.",
        (_, Language::Zh) => "已到轮数上限，停止读取。",
        (_, Language::En) => "The limit of rounds is reached; reading ended.",
    }
}
