//! Information that the rules still lack, as a request for files, and THINK 4 in fixed wording with
//! the marks of the specification.
//!
//! Pure: the chain reads the files, and the offline reasoner makes the same request.

use serde_json::{Value, json};

use crate::conclusion::{FileRequest, WantedFile};
use crate::facts::{Facts, StepInput};
use crate::outline::ListedFile;
use crate::wording::{citing, labeled, named, sentence};
use report::format::{Share, figure, without_stop};
use report::{Evidence, Finding, Language, Localize, RuleResult, Text, text};

/// Files that the rules would read: first for their open decisions, then for conclusions that could
/// still change.
pub(crate) fn request(input: &StepInput) -> FileRequest {
    let facts = &input.facts;
    let missing = facts.found.missing.iter().map(|m| &m.information);
    let lacking = missing.filter(|m| m.present).map(|m| WantedFile {
        file: m.file.clone(),
        reason: m.reason.clone(),
        part: None,
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

/// Experience on the findings and on the undecided causes.
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
    let needed = match files.is_empty() {
        true => text!("【需要文件】: 否", "[Files needed]: no"),
        false => text!(
            "【需要文件】: 是\n【文件列表】:",
            "[Files needed]: yes\n[Files]:"
        ),
    };
    let mut lines = vec![needed.into(language)];
    lines.extend(files.iter().map(|f| format!("- {}: {}", f.file, f.reason)));
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

/// The whole of THINK 4: files of each round, reason for its end, missing information.
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
    let threshold = input.facts.found.threshold;
    let recommended = recommended(&input.facts);
    lines.extend(
        recommended
            .iter()
            .filter_map(|file| recommendation(file, threshold, language)),
    );
    for missing in &input.facts.found.missing {
        let m = &missing.information;
        let (file, causes) = (&m.file, report::codes(&m.would_decide));
        let reason = sentence(&m.reason, language);
        let line = if m.present {
            text!(
                "- 未读 {file}：{reason}补齐后可判断：{causes}。",
                "- {file} was not read: {reason} Needed to check for {causes}."
            )
        } else if m.without_it {
            text!(
                "- {file} 中没有这项信息：{reason}补齐后可判断：{causes}。",
                "- {file} does not hold it: {reason} Needed to check for {causes}."
            )
        } else {
            text!(
                "- 缺少 {file}（文件夹中没有）：{reason}补齐后可判断：{causes}。{from}",
                "- {file} is not in the folder: {reason} Needed to check for {causes}.{from}",
                from = (m.from.as_ref())
                    .map(|from| text!("可从这里取得：{from}。", " Get it from: {from}."))
            )
        };
        lines.push(line.into(language));
    }
    lines.join("\n")
}

fn round_line(round: &Value, language: Language) -> Option<String> {
    let files = round["files"].as_array()?.iter();
    let files: Vec<String> = files.filter_map(|file| chosen(file, language)).collect();
    let (number, files) = (&round["round"], named(&files, language)?);
    let found = key_findings_of(round, language).map(|f| text!("得到：{f}。", " It gave: {f}."));
    let line = text!(
        "第 {number} 轮读取：{files}。{found}",
        "Round {number} read {files}.{found}",
        found = found
    );
    Some(line.into(language))
}

/// The key findings of a round in a row; `None` without any.
pub(crate) fn key_findings_of(round: &Value, language: Language) -> Option<String> {
    let found = round["key_findings"].as_array()?.iter();
    let found = found.filter_map(Value::as_str).map(without_stop);
    let found = found.collect::<Vec<_>>().join(language.select("；", "; "));
    Some(found).filter(|found| !found.is_empty())
}

/// A file that was read, with what it was chosen by.
fn chosen(file: &Value, language: Language) -> Option<String> {
    let name = file["file"].as_str()?;
    let relevance = file["relevance"].as_f64();
    let relevance = relevance.map(|r| figure((r * 100.0).round() / 100.0));
    let parser = file["parser"].as_str();
    let by = [
        relevance.map(|relevance| text!("相关度 {relevance}", "relevance {relevance}")),
        parser.map(|parser| text!("解析器 {parser}", "parser {parser}")),
    ];
    let by: Vec<Text> = by.into_iter().flatten().collect();
    let all = Text::joined(&by, ["，", ", "]);
    let by = (!by.is_empty()).then(|| text!("（{all}）", " ({all})", all = all));
    Some(name.to_owned() + &by.localize(language))
}

/// Facts of a round that are named; the evidence list has them all.
const KEY_FACTS: usize = 3;

/// Effects of reading `files`: causes found, causes ruled out, and added evidence.
pub(crate) fn key_findings(before: &Facts, now: &Facts, files: &[&str]) -> Vec<String> {
    let (then, found) = (&before.found, &now.found);
    let is_new = |f: &&Finding| then.findings.iter().all(|known| known.cause != f.cause);
    let new = found.findings.iter().filter(is_new);
    let mut changes: Vec<String> = new
        .map(|f| labeled(f.cause.code(), &f.summary, now.language))
        .collect();
    let then_cleared: Vec<&str> = then.causes(RuleResult::Cleared).collect();
    let mut ruled_out: Vec<&str> = found.causes(RuleResult::Cleared).collect();
    ruled_out.retain(|code| !then_cleared.contains(code));
    if let Some(causes) = named(&ruled_out, now.language) {
        changes.push(text!("排除 {causes}", "rules out {causes}").into(now.language));
    }
    let is_known = |e: &Evidence| then.evidence.iter().any(|known| known.text == e.text);
    let facts = found
        .evidence
        .iter()
        .filter(|e| files.contains(&e.source.file.as_str()) && !is_known(e));
    changes.extend(facts.take(KEY_FACTS).map(|e| e.text.clone()));
    changes
}

/// Files that no rule needs but that are relevant enough to look at, most relevant first.
pub(crate) fn recommended(facts: &Facts) -> Vec<Value> {
    let is_enough =
        |file: &&ListedFile| file.relevance >= facts.found.threshold && file.relevance > 0.0;
    let files = facts.outline.unread.iter().filter(is_enough);
    let entry = |file: &ListedFile| {
        json!({
            "file": file.file,
            "relevance": file.relevance,
            "reason": file.reason,
            "parser": file.parser,
        })
    };
    files.map(entry).collect()
}

fn recommendation(file: &Value, threshold: f64, language: Language) -> Option<String> {
    let name = chosen(file, language)?;
    let reason = sentence(file["reason"].as_str()?, language);
    let line = text!(
        "- 建议查看 {name}，阈值 {threshold}：{reason}",
        "- Worth a look: {name}, threshold {threshold}: {reason}",
        threshold = figure(threshold)
    );
    Some(line.into(language))
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
