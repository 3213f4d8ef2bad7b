//! The head of a script, comments and hints.

use super::{Printer, catalogue};
use crate::data::TableKind;
use crate::plan::{Hint, NodeId, Op};

impl Printer<'_> {
    pub(super) fn header(&mut self) {
        let (user, job) = (self.style.user.clone(), self.spec.job_name.clone());
        if self.style.comments {
            self.line(&match self.style.chinese {
                true => format!("// 作业 {job},维护人 {user}"),
                false => format!("// {job}, maintained by {user}"),
            });
            self.line("");
        }
        let outputs: Vec<String> = self
            .spec
            .nodes
            .iter()
            .filter_map(|n| match &n.op {
                Op::Output { file, .. } => Some(file.clone()),
                _ => None,
            })
            .collect();
        self.settings();
        let base = format!("/local/{user}/{}", job.split('_').next().unwrap_or("Job"));
        if self.scope() {
            self.line(&format!("#DECLARE OutRoot string = @\"{base}\";"));
        } else {
            self.line(&format!("USE DATABASE {};", catalogue(&self.spec.realm)));
            self.line("");
            self.line(&format!("DECLARE @OutRoot string = \"{base}\";"));
        }
        for t in self.spec.tables.clone() {
            match (self.scope(), t.kind) {
                (true, _) => self.declare_path(&t.name, &t.path),
                (false, TableKind::Text) => {
                    self.line(&format!("DECLARE @{}Path string = \"{}\";", t.name, t.path))
                }
                _ => {}
            }
        }
        for (i, file) in outputs.iter().enumerate() {
            let (mark, quote) = if self.scope() {
                ("#DECLARE ", "")
            } else {
                ("DECLARE @", "")
            };
            self.line(&format!(
                "{mark}Target{i} string = @OutRoot + \"/{file}\";{quote}"
            ));
        }
        self.line("");
    }

    /// Path of an input; the first one sometimes has another value for local runs.
    pub(super) fn declare_path(&mut self, name: &str, path: &str) {
        let line = format!("#DECLARE {name}Path string = @\"{path}\";");
        let first = self.spec.tables.first().is_some_and(|t| t.name == name);
        if !(first && self.style.conditional) {
            return self.line(&line);
        }
        self.line("#IF (LOCAL)");
        self.line(&format!(
            "#DECLARE {name}Path string = @\"D:\\samples\\{name}.ss\";"
        ));
        self.line("#ELSE");
        self.line(&line);
        self.line("#ENDIF");
    }

    pub(super) fn settings(&mut self) {
        if !self.style.settings {
            return;
        }
        if self.scope() {
            self.line("REFERENCE @\"/shares/lib/Common.Text.dll\";");
            self.line("USING Common.Text;");
        } else {
            self.line("SET @@FeaturePreviews = \"InputFileGrouping:on\";");
        }
        self.line("");
    }

    pub(super) fn comment(&mut self, node: NodeId) {
        if !self.style.comments {
            return;
        }
        let n = &self.spec.nodes[node];
        let text = n.comment.clone().or_else(|| {
            let (zh, en) = match &n.op {
                Op::Read { .. } => ("输入", "Input"),
                Op::Select { filters, .. } if !filters.is_empty() => {
                    ("只保留有效行", "Keep the rows that count")
                }
                Op::Join { .. } => ("补充维度信息", "Add the attributes"),
                Op::Group { .. } => ("汇总", "Totals"),
                Op::Reduce { .. } => ("按键归并", "Fold the rows of each key"),
                Op::Process { .. } => ("逐行打分", "Score every row"),
                Op::Output { .. } => ("落盘", "Write"),
                _ => return None,
            };
            Some(if self.style.chinese { zh } else { en }.to_owned())
        });
        // Not every statement has one.
        if let Some(text) = text
            && (node.is_multiple_of(2) || n.comment.is_some())
        {
            self.line(&format!("// {text}"));
        }
    }

    pub(super) fn hints(&mut self, node: NodeId) {
        if !self.scope() {
            return;
        }
        let key = match &self.spec.nodes[node].op {
            Op::Group { keys, .. } => keys.join(", "),
            Op::Reduce { key, .. } => key.clone(),
            Op::Join { keys, .. } => keys.0.clone(),
            _ => String::new(),
        };
        for hint in self.spec.nodes[node].hints.clone() {
            let text = match hint {
                Hint::RowCount(n) => format!("[ROWCOUNT={n:.0}]"),
                Hint::RowSize(n) => format!("[ROWSIZE={n}]"),
                Hint::PartitionCount(n) => format!("[PARTITION=(PARTITIONCOUNT={n})]"),
                Hint::Repartition(n) => {
                    format!(
                        "[PARTITION({key})=(PARTITIONFUNCTION=HASH, PARTITIONCOUNT={n}, REQUIRED=true)]"
                    )
                }
                Hint::Serial => "[PARTITION=(PARTITIONFUNCTION=SERIAL)]".to_owned(),
                Hint::SkewJoin => "[SKEWJOIN=(SKEW=FROMLEFT, REPARTITION=SPLITJOIN)]".to_owned(),
                Hint::Pair => continue,
            };
            self.line(&text);
        }
    }

    /// `OPTION(…)` at the end of a U-SQL statement.
    pub(super) fn option(&self, node: NodeId) -> Option<String> {
        if self.scope() {
            return None;
        }
        self.spec.nodes[node].hints.iter().find_map(|h| match h {
            Hint::RowCount(n) => Some(format!("OPTION(ROWCOUNT={n:.0})")),
            _ => None,
        })
    }
}
