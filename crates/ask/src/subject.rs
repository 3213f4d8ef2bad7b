//! Parts of a run that a question names, and names that the run lacks with the nearest ones that it has.

use report::{Text, text};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Subject {
    Job,
    /// By its index in the summary.
    Stage(usize),
    /// By the indices of its stage and its own.
    Operator(usize, usize),
    Input(usize),
    Column(String),
    File(String),
    /// A setting of Spark by its key.
    Setting(String),
    Finding(String),
    Suggestion(String),
    Evidence(String),
    Lines(u32, u32),
}

/// The kind that a word next to a name gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Stage,
    Operator,
    Input,
    Column,
    File,
    /// A value of a column.
    Value,
    /// Any kind of name that the run should know.
    Any,
}

/// A name that the run does not have.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unknown {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// The nearest names, nearest first.
    pub(crate) near: Vec<Near>,
    /// Names of its kind where none is near.
    pub(crate) others: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Near {
    pub(crate) alike: f64,
    pub(crate) name: String,
    pub(crate) subject: Subject,
}

impl Unknown {
    /// That the run has no such thing, and the names nearest to it.
    pub(crate) fn sentence(&self) -> Text {
        let name = &self.name;
        let kind = match self.kind {
            Kind::Stage => text!("阶段 ", "stage "),
            Kind::Operator => text!("算子 ", "operator "),
            Kind::Input => text!("输入 ", "input "),
            Kind::Column => text!("列 ", "column "),
            Kind::File => text!("文件 ", "file "),
            Kind::Value | Kind::Any => text!(" ", ""),
        };
        let missing = text!(
            "这次运行中没有{kind}`{name}`",
            "this run has no {kind}`{name}`",
            kind = kind
        );
        let quoted = |names: &mut dyn Iterator<Item = &String>| {
            let names: Vec<String> = names.map(|n| format!("`{n}`")).collect();
            Text {
                zh: names.join("、"),
                en: names.join(", "),
            }
        };
        let hint = match (self.near.is_empty(), self.others.is_empty()) {
            (false, _) => text!(
                "；相近的有：{near}",
                "; the nearest: {near}",
                near = quoted(&mut self.near.iter().map(|n| &n.name))
            ),
            (true, false) => text!(
                "；有：{others}",
                "; there are {others}",
                others = quoted(&mut self.others.iter())
            ),
            (true, true) => Text::default(),
        };
        text!(
            "{missing}{hint}",
            "{missing}{hint}",
            missing = missing,
            hint = hint
        )
    }
}
