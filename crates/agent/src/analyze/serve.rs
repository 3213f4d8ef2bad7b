//! Serves a reasoner's requests in THINK 4: files of the folder, and look-ups.
//!
//! The bounds are the same for every form of request (tools, a structured answer, the marks of the
//! specification): a few files per round, a few look-ups, each cut to size, all inside the folder.

use crate::conclusion::{Lookup, WantedFile};
use crate::experience::Bounds;
use crate::facts::StepInput;
use crate::outline::ListedFile;
use crate::prompts::fence;
use crate::tools::{self, ToolRequest};
use llm::{ToolCall, ToolResult};
use report::format::cut;
use report::{Language, Localize, Text, text};

use super::run::Run;

/// Files that THINK 4 reads in one round. The specification allows three.
const FILES_PER_ROUND: usize = 3;

/// Look-ups served in one round; more would crowd out the files.
pub(super) const LOOKUPS_PER_ROUND: usize = 4;

pub(super) struct Chosen {
    pub(super) wanted: WantedFile,
    pub(super) by: &'static str,
}

/// Files for this round: those asked for that are in the folder and were not shown before. The
/// rules only ask for unread ones; a reasoner may also want the text of one that was parsed.
pub(super) fn choose(input: &StepInput, asked: &[WantedFile], by: &'static str) -> Vec<Chosen> {
    let mut chosen: Vec<Chosen> = Vec::new();
    for wanted in asked {
        let name = shown_name(wanted);
        let is_new = is_known(input, &wanted.file)
            && !was_shown(input, &name)
            && chosen.iter().all(|c| shown_name(&c.wanted) != name);
        if is_new && chosen.len() < FILES_PER_ROUND {
            chosen.push(Chosen {
                wanted: wanted.clone(),
                by,
            });
        }
    }
    chosen
}

fn shown_name(wanted: &WantedFile) -> String {
    tools::shown_name(&wanted.file, wanted.part.as_deref())
}

fn is_known(input: &StepInput, name: &str) -> bool {
    input.reading.read.iter().any(|read| read == name)
        || input.facts.outline.unread.iter().any(|u| u.file == name)
}

fn was_shown(input: &StepInput, name: &str) -> bool {
    input.reading.excerpts.iter().any(|e| e.name == name)
}

/// Look-ups for this round: those that were not served before.
pub(super) fn new_lookups<'r>(input: &StepInput, asked: &'r [Lookup]) -> Vec<&'r Lookup> {
    let mut chosen: Vec<&Lookup> = Vec::new();
    for lookup in asked {
        let is_new = !was_shown(input, &tools::name(lookup)) && !chosen.contains(&lookup);
        if is_new && chosen.len() < LOOKUPS_PER_ROUND {
            chosen.push(lookup);
        }
    }
    chosen
}

pub(super) fn look_up(run: &mut Run<'_>, lookups: &[&Lookup], input: &StepInput) {
    let bounds = Bounds {
        mask: input.facts.mask.as_ref(),
        cancel: &run.services.cancel,
    };
    for lookup in lookups {
        run.folder.look_up(lookup, bounds);
    }
}

/// Quotes the files that the reasoner requested; files for the rules are in the facts.
pub(super) fn quote(run: &mut Run<'_>, chosen: &[Chosen]) {
    for Chosen { wanted, .. } in chosen.iter().filter(|c| c.by == "reasoner") {
        if let Err(error) = run.folder.quote(&wanted.file, wanted.part.as_deref()) {
            run.notebook.warn(error.to_string(), None);
        }
    }
}

/// The result of each call, after the round was served. `before` has the facts at the time of the
/// call.
pub(super) fn results(run: &Run<'_>, calls: &[ToolCall], before: &StepInput) -> Vec<ToolResult> {
    let result = |call: &ToolCall| ToolResult {
        id: call.id.clone(),
        name: call.name.clone(),
        text: result(run, call, before),
    };
    calls.iter().map(result).collect()
}

fn result(run: &Run<'_>, call: &ToolCall, before: &StepInput) -> String {
    let refusal = |text: Text| refusal(text, before.facts.language);
    match tools::read(call) {
        Ok(ToolRequest::ListFiles) => listing(&run.input_without_experience()),
        Ok(ToolRequest::Read(files)) if files.is_empty() => {
            refusal(text!("没有指定文件", "no file was named"))
        }
        Ok(ToolRequest::Read(files)) => {
            let texts: Vec<String> = files.iter().map(|f| text_of(run, f, before)).collect();
            texts.join("\n")
        }
        Ok(ToolRequest::LookUp(lookup)) => {
            quoted(run, &tools::name(&lookup)).unwrap_or_else(|| {
                refusal(text!(
                    "未查询：每轮最多 {LOOKUPS_PER_ROUND} 次查询；请再次请求",
                    "not looked up: at most {LOOKUPS_PER_ROUND} look-ups a turn; ask again"
                ))
            })
        }
        Ok(ToolRequest::Submit(_)) => refusal(text!(
            "未接受：同一轮还调用了其他工具；请先看它们的结果",
            "not taken: other tools were called in the same turn; look at what they gave first"
        )),
        Err(mistake) => refusal(mistake),
    }
}

/// The reason why a call got no result. It repeats names from the call, so it is fenced like data.
fn refusal(text: Text, language: Language) -> String {
    let text: String = text.into(language);
    fence(&text, "error")
}

fn text_of(run: &Run<'_>, wanted: &WantedFile, before: &StepInput) -> String {
    let refusal = |text: Text| refusal(text, before.facts.language);
    let name = &wanted.file;
    if !is_known(before, name) {
        let name = cut(name, 200);
        return refusal(text!(
            "`{name}` 不在作业目录中；list_files 列出其中的文件",
            "`{name}` is not in the job folder; list_files names what is"
        ));
    }
    let name = &shown_name(wanted);
    if was_shown(before, name) {
        return refusal(text!("`{name}` 已经给出过", "`{name}` was shown before"));
    }
    quoted(run, name).unwrap_or_else(|| {
        refusal(text!(
            "未读取 `{name}`：每轮最多 {FILES_PER_ROUND} 个文件，且文件必须可读",
            "`{name}` was not read: at most {FILES_PER_ROUND} files a turn, and it must be readable"
        ))
    })
}

fn quoted(run: &Run<'_>, name: &str) -> Option<String> {
    let excerpt = run.folder.excerpt(name)?;
    let cut = Some(excerpt.cut_bytes).filter(|bytes| *bytes > 0);
    let left_out = cut.map(|bytes| text!("（省略 {bytes} 字节）", " ({bytes} bytes left out)"));
    let left_out = left_out.localize(run.folder.facts().language);
    let text = &excerpt.text;
    Some(fence(&format!("{name}{left_out}\n\n{text}"), "file"))
}

fn listing(input: &StepInput) -> String {
    let outline = &input.facts.outline;
    let unread = outline
        .unread
        .iter()
        .map(|file| (file, ("未读", "not read")));
    let read = outline.parsed.iter().map(|file| (file, ("已读", "read")));
    let line = |(listed, (zh, en)): (&ListedFile, (&str, &str))| -> String {
        let (file, bytes, about) = (&listed.file, listed.bytes, &listed.description);
        let line = text!(
            "{file}（{bytes} 字节，{zh}）：{about}",
            "{file} ({bytes} bytes, {en}): {about}"
        );
        line.into(input.facts.language)
    };
    let lines: Vec<String> = unread.chain(read).map(line).collect();
    fence(&lines.join("\n"), "files")
}
