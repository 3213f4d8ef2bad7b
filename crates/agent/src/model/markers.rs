//! The marks of THINK 4's answer without JSON: `【需要文件】: 是`, `【文件列表】:`.
//!
//! Full-width and ASCII punctuation, bold, square brackets and English names count alike; the last
//! marks win, since a model may quote the template first.

use crate::conclusion::{FileRequest, WantedFile};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Needed,
    Files,
    Basis,
}

/// Names of the marks, lower case.
const NAMES: &[(&str, Mark)] = &[
    ("需要文件", Mark::Needed),
    ("是否需要文件", Mark::Needed),
    ("files needed", Mark::Needed),
    ("needs files", Mark::Needed),
    ("文件列表", Mark::Files),
    ("files", Mark::Files),
    ("file list", Mark::Files),
    ("推断依据", Mark::Basis),
    ("依据", Mark::Basis),
    ("basis", Mark::Basis),
    ("reason", Mark::Basis),
];

/// Reads a request; `None` if there is no mark that says whether files are needed.
pub(crate) fn read(answer: &str) -> Option<FileRequest> {
    let mut needed = None;
    let mut files: Vec<WantedFile> = Vec::new();
    let mut basis = String::new();
    let mut current = None;
    for line in answer.lines() {
        if let Some((mark, rest)) = mark_of(line) {
            current = Some(mark);
            match mark {
                Mark::Needed => {
                    // A later mark starts over: the earlier text was a quotation.
                    needed = yes_or_no(rest).or(needed);
                    files.clear();
                    basis.clear();
                }
                Mark::Files => files.extend(listed(rest)),
                Mark::Basis => basis = rest.to_owned(),
            }
            continue;
        }
        match current {
            Some(Mark::Files) => files.extend(listed(line)),
            Some(Mark::Basis) if !line.trim().is_empty() => {
                basis.push_str(if basis.is_empty() { "" } else { "\n" });
                basis.push_str(line.trim());
            }
            Some(Mark::Needed) if needed.is_none() => needed = yes_or_no(line),
            _ => {}
        }
    }
    let needed = needed?;
    let mut seen = std::collections::BTreeSet::new();
    files.retain(|f| seen.insert(f.file.clone()));
    if !needed {
        files.clear();
    }
    Some(FileRequest {
        needs_files: needed,
        files,
        basis,
        ..FileRequest::default()
    })
}

/// The mark at the start of a line, and the text after its colon.
fn mark_of(line: &str) -> Option<(Mark, &str)> {
    let bare = line.trim().trim_start_matches(['*', '#', ' ', '-', '`']);
    let opened = bare.strip_prefix(['【', '[', '［', '〔']);
    let (name, rest) = match opened {
        Some(inner) => {
            let end = inner.find(['】', ']', '］', '〕'])?;
            let close = inner[end..].chars().next()?.len_utf8();
            (&inner[..end], &inner[end + close..])
        }
        // Without brackets a mark needs its colon, or prose would count.
        None => {
            let end = bare.find([':', '：'])?;
            (&bare[..end], &bare[end..])
        }
    };
    let name = name.trim().trim_matches('*').trim().to_lowercase();
    let mark = NAMES.iter().find(|(n, _)| *n == name)?.1;
    let rest = rest.trim_start_matches(['*', ' ', ':', '：', '`']).trim();
    Some((mark, rest))
}

fn yes_or_no(text: &str) -> Option<bool> {
    let word = text
        .trim()
        .trim_matches(['*', '`', '.', '。', '"', '「', '」', ' '])
        .to_lowercase();
    if word.contains('/') {
        return None;
    }
    let yes = ["是", "yes", "true", "需要"];
    let no = ["否", "no", "false", "不", "无"];
    if no.iter().any(|n| word.starts_with(n)) {
        return Some(false);
    }
    yes.iter().any(|y| word.starts_with(y)).then_some(true)
}

/// Files of one line: a bullet with its reason, or names between commas.
fn listed(line: &str) -> Vec<WantedFile> {
    let line = line.trim();
    if line.is_empty() || line.starts_with("```") {
        return Vec::new();
    }
    let item = without_bullet(line);
    let parts = item.split_once(['：']).or_else(|| split_colon(item));
    let (head, reason) = parts.unwrap_or((item, ""));
    let names = head.split([',', '，', '、', ';', '；']);
    let wanted = names.filter_map(file_name).map(|file| WantedFile {
        file,
        part: None,
        reason: reason.trim().to_owned(),
    });
    wanted.collect()
}

/// The colon of a Windows drive is no separator.
fn split_colon(item: &str) -> Option<(&str, &str)> {
    let at = item.find(": ").or_else(|| {
        item.find(':')
            .filter(|at| !item[at + 1..].starts_with(['\\', '/']))
    })?;
    Some((&item[..at], &item[at + 1..]))
}

fn without_bullet(line: &str) -> &str {
    let line = line.trim_start_matches(['-', '*', '•', '·', '+', ' ']);
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let after = &line[digits..];
    if digits > 0 && (after.starts_with(['.', ')', '、', '）'])) {
        let rest = after.trim_start_matches(['.', ')', '、', '）']);
        return rest.trim_start();
    }
    line
}

/// A name without marks and without a note in brackets behind it.
fn file_name(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text.trim_matches(['`', '*', '"', '\'', '“', '”', ' ']);
    let text = match text.find(['（', '(']) {
        Some(at) if at > 0 => text[..at].trim_end(),
        _ => text,
    };
    let name = text.trim_matches(['`', '*', '"', ' ', '。']);
    let none = ["无", "none", "n/a", "-", "（无）", "(none)"];
    (!name.is_empty() && !none.contains(&name.to_lowercase().as_str())).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(answer: &str) -> Vec<String> {
        let request = read(answer).unwrap_or_default();
        request.files.into_iter().map(|f| f.file).collect()
    }

    #[test]
    fn section_5_2_the_form_of_the_specification_is_read() {
        let answer = "【需要文件】: 是\n【文件列表】:\n- profile: 各顶点的行数\n- tables.json: 热点值\n\n【推断依据】: 需要分布";
        let request = read(answer).expect("marks");
        assert!(request.needs_files);
        let (first, second) = (&request.files[0], &request.files[1]);
        assert_eq!(
            (first.file.as_str(), first.reason.as_str()),
            ("profile", "各顶点的行数")
        );
        assert_eq!(second.file, "tables.json");
        assert_eq!(request.basis, "需要分布");
    }

    #[test]
    fn punctuation_and_layout_may_vary() {
        for answer in [
            "**【需要文件】：是**\n**【文件列表】：**\n1. `profile`：分布\n2. tables.json（元数据）",
            "[Files needed]: yes\n[Files]:\n* profile - x\n* tables.json",
            "需要文件：是\n文件列表：profile、tables.json",
            "## 【需要文件】: 是\n```\n【文件列表】:\n- profile\n- tables.json\n```",
            "【需要文件】: 是/否\n(template above)\n【需要文件】: 是\n【文件列表】: profile, tables.json",
        ] {
            let found = files(answer);
            for file in ["profile", "tables.json"] {
                assert!(
                    found.iter().any(|f| f.starts_with(file)),
                    "{answer}: {found:?}"
                );
            }
        }
    }

    #[test]
    fn no_means_no_files_whatever_is_listed() {
        let request =
            read("【需要文件】: 否\n【文件列表】:\n- 无\n【推断依据】: 够了").expect("marks");
        assert!(!request.needs_files && request.files.is_empty());
        assert_eq!(request.basis, "够了");
    }

    #[test]
    fn text_without_marks_is_no_request() {
        assert_eq!(read("I think the files: are fine"), None);
        assert_eq!(read(""), None);
    }

    #[test]
    fn yes_without_files_is_kept_as_such() {
        let request = read("【需要文件】: 是\n【文件列表】:\n").expect("marks");
        assert!(request.needs_files && request.files.is_empty());
    }
}
