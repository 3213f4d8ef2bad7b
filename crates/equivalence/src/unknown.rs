//! Reasons why it is unknown whether two scripts give the same rows.

use report::{Text, text};

/// The first obstacle; `code` is text of the script or a name in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unknown {
    /// The original or the changed script has syntax errors.
    NotParsed,
    /// The change touches C#, a user-defined operator or a call that cannot be executed.
    UserCode { code: String },
    /// The change touches a statement that affects other statements: a setting, a reference, a
    /// branch of `#IF`.
    Environment { code: String },
    /// The change touches the path or layout of an output.
    Layout { code: String },
    /// A clause or expression is not executed.
    NotExecuted { line: u32, code: String },
    /// The script does not determine which rows it takes.
    Undetermined { line: u32 },
    /// No generated row exercises a part of the change.
    NotExercised { line: u32, code: String },
    /// The result is the same only if null keys match in joins, or only if they don't.
    NullKeys,
    /// Too many statements, columns, rows or steps.
    TooLarge,
    /// The changed script fails on rows that the original script can process.
    Fails { why: String },
}

impl Unknown {
    /// The reason as a clause, in both languages.
    pub fn text(&self) -> Text {
        match self {
            Unknown::NotParsed => text!("脚本没有完全解析", "the script was not fully parsed"),
            Unknown::UserCode { code } => text!(
                "改动涉及无法执行的用户代码 `{code}`",
                "the change involves user code that cannot be executed: `{code}`"
            ),
            Unknown::Environment { code } => text!(
                "改动涉及影响其他语句的内容：`{code}`",
                "the change involves something that other statements depend on: `{code}`"
            ),
            Unknown::Layout { code } => text!(
                "改动涉及输出的位置或存储方式：`{code}`",
                "the change involves the path or layout of an output: `{code}`"
            ),
            Unknown::NotExecuted { line, code } => text!(
                "第 {line} 行无法执行：`{code}`",
                "line {line} cannot be executed: `{code}`"
            ),
            Unknown::Undetermined { line } => text!(
                "第 {line} 行没有确定取哪些行",
                "line {line} does not determine which rows it takes"
            ),
            Unknown::NotExercised { line, code } => text!(
                "生成的数据没有触及第 {line} 行的 `{code}`",
                "the generated rows do not exercise line {line}: `{code}`"
            ),
            Unknown::NullKeys => text!(
                "结果取决于连接时空值键是否相等",
                "the result depends on whether null keys match in joins"
            ),
            Unknown::TooLarge => {
                text!("脚本太大，未执行", "the script is too large to be executed")
            }
            Unknown::Fails { why } => text!(
                "改后的脚本在生成的数据上出错：{why}",
                "the changed script fails on generated rows: {why}"
            ),
        }
    }
}

/// Text of a script in one line, cut after a few words.
pub(crate) fn excerpt(code: &str) -> String {
    const MOST: usize = 60;
    let line: Vec<&str> = code.split_whitespace().collect();
    let line = line.join(" ").replace('`', "'");
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
