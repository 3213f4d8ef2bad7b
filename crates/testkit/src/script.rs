//! Prints a plan as a SCOPE or U-SQL script and remembers the lines of every statement.

use crate::csharp::Class;
use crate::data::{Column, TableKind};
use crate::plan::{Dialect, Hint, JoinKind, NodeId, Op, Spec};
use crate::rng::Rng;

/// How a script is laid out; meaning does not change.
#[derive(Debug, Clone)]
pub(crate) struct Style {
    /// One column a line.
    pub(crate) tall: bool,
    /// Chinese comments.
    pub(crate) chinese: bool,
    /// Comments at all.
    pub(crate) comments: bool,
    /// CRLF line ends.
    pub(crate) crlf: bool,
    /// Byte order mark.
    pub(crate) bom: bool,
    /// C# stands in the script.
    pub(crate) inline_code: bool,
    /// Author in the header.
    pub(crate) user: String,
    /// Blank lines between statements.
    pub(crate) airy: bool,
}

impl Style {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        Self {
            tall: rng.chance(0.65),
            chinese: rng.chance(0.5),
            comments: rng.chance(0.8),
            crlf: rng.chance(0.15),
            bom: rng.chance(0.3),
            inline_code: rng.chance(0.75),
            user: rng.pick(crate::words::USERS).to_owned(),
            airy: rng.chance(0.7),
        }
    }
}

/// A printed script.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub(crate) file: String,
    pub(crate) text: String,
    /// First and last line (1-based) of every node.
    pub(crate) lines: Vec<(usize, usize)>,
    /// First and last line of every class that stands in the script.
    pub(crate) class_lines: Vec<(String, (usize, usize))>,
}

struct Printer<'a> {
    spec: &'a Spec,
    style: &'a Style,
    out: Vec<String>,
}

/// Prints the script. `broken` leaves out the comma of a column list of that node: it no longer compiles.
pub(crate) fn print(
    spec: &Spec,
    style: &Style,
    classes: &[Class],
    broken: Option<NodeId>,
) -> Script {
    let mut p = Printer {
        spec,
        style,
        out: Vec::new(),
    };
    p.header();
    let mut lines = vec![(0, 0); spec.nodes.len()];
    for (node, range) in lines.iter_mut().enumerate() {
        p.comment(node);
        let first = p.out.len() + 1;
        p.statement(node);
        *range = (first, p.out.len());
        if broken == Some(node) {
            p.damage(first);
        }
        if style.airy {
            p.line("");
        }
    }
    let mut class_lines = Vec::new();
    if spec.dialect == Dialect::Scope && style.inline_code && !classes.is_empty() {
        p.line("#CS");
        p.line("using System.Text.RegularExpressions;");
        p.line("using System.Collections.Generic;");
        for class in classes {
            p.line("");
            let first = p.out.len() + 1;
            class.text.lines().for_each(|l| p.line(l));
            class_lines.push((class.name.clone(), (first, p.out.len())));
        }
        p.line("#ENDCS");
    }
    let end = if style.crlf { "\r\n" } else { "\n" };
    let mut text = p.out.join(end) + end;
    if style.bom {
        text.insert(0, '\u{feff}');
    }
    let file = match spec.dialect {
        Dialect::Scope => "scope.script".to_owned(),
        Dialect::Usql => format!("{}.usql", spec.job_name.split('_').next().unwrap_or("Job")),
    };
    Script {
        file,
        text,
        lines,
        class_lines,
    }
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        self.out.push(text.to_owned());
    }

    fn scope(&self) -> bool {
        self.spec.dialect == Dialect::Scope
    }

    fn name(&self, node: NodeId) -> String {
        let name = &self.spec.nodes[node].name;
        if self.scope() {
            name.clone()
        } else {
            format!("@{name}")
        }
    }

    fn header(&mut self) {
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
                (true, _) => self.line(&format!(
                    "#DECLARE {}Path string = @\"{}\";",
                    t.name, t.path
                )),
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

    fn comment(&mut self, node: NodeId) {
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

    fn hints(&mut self, node: NodeId) {
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
                Hint::LowDistinctness(c) => format!("[LOWDISTINCTNESS({c})]"),
                Hint::Pair => continue,
            };
            self.line(&text);
        }
    }

    /// `OPTION(…)` at the end of a U-SQL statement.
    fn option(&self, node: NodeId) -> Option<String> {
        if self.scope() {
            return None;
        }
        self.spec.nodes[node].hints.iter().find_map(|h| match h {
            Hint::RowCount(n) => Some(format!("OPTION(ROWCOUNT={n:.0})")),
            _ => None,
        })
    }

    fn columns(&mut self, head: &str, columns: &[String]) {
        if !self.style.tall || columns.len() < 2 {
            self.line(&format!("    {head} {}", columns.join(", ")));
            return;
        }
        let pad = " ".repeat(head.len() + 5);
        for (i, c) in columns.iter().enumerate() {
            let comma = if i + 1 < columns.len() { "," } else { "" };
            let start = if i == 0 {
                format!("    {head} ")
            } else {
                pad.clone()
            };
            self.line(&format!("{start}{c}{comma}"));
        }
    }

    /// Ends the statement: puts a semicolon after its last line.
    fn end(&mut self) {
        if let Some(last) = self.out.last_mut() {
            last.push(';');
        }
    }

    fn statement(&mut self, node: NodeId) {
        self.hints(node);
        match self.spec.nodes[node].op.clone() {
            Op::Read { table } => self.read(node, table),
            Op::Select {
                input,
                items,
                filters,
            } => {
                let columns: Vec<String> = items
                    .iter()
                    .map(|i| {
                        i.expr
                            .as_ref()
                            .map_or_else(|| i.name.clone(), |e| format!("{} AS {}", e.text, i.name))
                    })
                    .collect();
                self.assign(node);
                self.columns("SELECT", &columns);
                let from = self.name(input);
                self.line(&format!("    FROM {from}"));
                if !filters.is_empty() {
                    let all: Vec<String> = filters.iter().map(|f| f.text.clone()).collect();
                    let and = if self.scope() { " AND " } else { " && " };
                    self.line(&format!("    WHERE {}", all.join(and)));
                }
                self.finish(node);
            }
            Op::Join {
                left,
                right,
                keys,
                kind,
                items,
                ..
            } => self.join(node, (left, right), &keys, kind, &items),
            Op::Group { input, keys, aggs } => {
                let mut columns = keys.clone();
                columns.extend(aggs.iter().map(|(f, arg, name)| match *f {
                    "COUNT" => format!("COUNT(*) AS {name}"),
                    "COUNTD" => format!("COUNT(DISTINCT {arg}) AS {name}"),
                    _ => format!("{f}({arg}) AS {name}"),
                }));
                self.assign(node);
                self.columns("SELECT", &columns);
                let from = self.name(input);
                self.line(&format!("    FROM {from}"));
                if !keys.is_empty() {
                    self.line(&format!("    GROUP BY {}", keys.join(", ")));
                }
                self.finish(node);
            }
            Op::Reduce {
                input,
                key,
                presort,
                produce,
                udo,
                ..
            } => {
                self.assign(node);
                let from = self.name(input);
                let class = if self.scope() {
                    format!("{}()", udo.class)
                } else {
                    format!("new Code.{}()", udo.class)
                };
                if self.scope() {
                    self.line(&format!("    REDUCE {from} ON {key} PRESORT {presort}"));
                } else {
                    self.line(&format!("    REDUCE {from} PRESORT {presort}"));
                    self.line(&format!("    ON {key}"));
                }
                let columns = self.produced(&produce);
                self.columns("PRODUCE", &columns);
                self.line(&format!("    USING {class}"));
                self.finish(node);
            }
            Op::Process {
                input,
                produce,
                udo,
            } => {
                self.assign(node);
                let from = self.name(input);
                let class = if self.scope() {
                    format!("{}()", udo.class)
                } else {
                    format!("new Code.{}()", udo.class)
                };
                self.line(&format!("    PROCESS {from}"));
                let columns = self.produced(&produce);
                self.columns("PRODUCE", &columns);
                self.line(&format!("    USING {class}"));
                self.finish(node);
            }
            Op::Union { inputs } => {
                self.assign(node);
                for (i, input) in inputs.iter().enumerate() {
                    if i > 0 {
                        self.line("    UNION ALL");
                    }
                    let name = self.name(*input);
                    self.line(&format!("    SELECT * FROM {name}"));
                }
                self.finish(node);
            }
            Op::Output {
                input,
                file,
                clustered,
                order,
            } => {
                self.output(node, input, &file, clustered.as_deref(), order.as_deref());
            }
        }
    }

    fn produced(&self, columns: &[Column]) -> Vec<String> {
        let name = |c: &Column| {
            if self.scope() {
                c.name.clone()
            } else {
                format!("{} {}", c.name, c.ty.name())
            }
        };
        columns.iter().map(name).collect()
    }

    fn assign(&mut self, node: NodeId) {
        let name = self.name(node);
        self.line(&format!("{name} ="));
    }

    fn finish(&mut self, node: NodeId) {
        if let Some(option) = self.option(node) {
            self.line(&format!("    {option}"));
        }
        self.end();
    }

    fn read(&mut self, node: NodeId, table: usize) {
        let t = self.spec.tables[table].clone();
        let name = self.name(node);
        match (self.scope(), t.kind) {
            (true, TableKind::Text) | (false, TableKind::Text) => {
                self.assign(node);
                let columns: Vec<String> = t.columns.iter().map(Column::schema).collect();
                let columns = if self.scope() {
                    columns
                } else {
                    columns.iter().map(|c| c.replacen(':', " ", 1)).collect()
                };
                self.columns("EXTRACT", &columns);
                self.line(&format!("    FROM @{}Path", t.name));
                let with = if self.scope() {
                    "DefaultTextExtractor()"
                } else {
                    "Extractors.Tsv()"
                };
                self.line(&format!("    USING {with};"));
            }
            (true, _) => self.line(&format!("{name} = SSTREAM @{}Path;", t.name)),
            (false, _) => {
                self.assign(node);
                let columns: Vec<String> = t.columns.iter().map(|c| c.name.clone()).collect();
                self.columns("SELECT", &columns);
                self.line(&format!("    FROM dbo.{}", t.name));
                self.finish(node);
            }
        }
    }

    fn join(
        &mut self,
        node: NodeId,
        sides: (NodeId, NodeId),
        keys: &(String, String),
        kind: JoinKind,
        items: &[(bool, String)],
    ) {
        let columns: Vec<String> = items
            .iter()
            .map(|(r, n)| format!("{}.{n}", if *r { "r" } else { "l" }))
            .collect();
        let pair = self.spec.nodes[node].hints.contains(&Hint::Pair);
        let (left, right) = (self.name(sides.0), self.name(sides.1));
        self.assign(node);
        self.columns("SELECT", &columns);
        self.line(&format!("    FROM {left} AS l"));
        let kind = if kind == JoinKind::Inner {
            "INNER"
        } else {
            "LEFT OUTER"
        };
        let pair = if pair { "PAIR " } else { "" };
        self.line(&format!("         {kind} {pair}JOIN {right} AS r"));
        self.line(&format!("         ON l.{} == r.{}", keys.0, keys.1));
        self.finish(node);
    }

    fn output(
        &mut self,
        node: NodeId,
        input: NodeId,
        file: &str,
        clustered: Option<&str>,
        order: Option<&str>,
    ) {
        let is_output = |n: &crate::plan::Node| matches!(n.op, Op::Output { .. });
        let target = self.spec.nodes[..node]
            .iter()
            .filter(|n| is_output(n))
            .count();
        let from = self.name(input);
        let stream = self.scope() && file.ends_with(".ss");
        self.line(&format!("OUTPUT {from}"));
        self.line(&format!(
            "TO {}@Target{target}",
            if stream { "SSTREAM " } else { "" }
        ));
        match (clustered, order) {
            (_, Some(key)) if self.scope() && !stream => self.line(&format!("    ORDER BY {key}")),
            (_, Some(key)) if self.scope() => self.line(&format!("    SORTED BY {key}")),
            (_, Some(key)) => self.line(&format!("    ORDER BY {key}")),
            (Some(key), None) => {
                self.line(&format!("    CLUSTERED BY {key}"));
                self.line(&format!("    SORTED BY {key}"));
            }
            (None, None) => {}
        }
        if !self.scope() {
            self.line("USING Outputters.Tsv()");
        } else if !stream {
            self.line("USING DefaultTextOutputter()");
        }
        self.end();
    }

    /// Breaks the statement that starts at `first`: FROM is misspelt.
    fn damage(&mut self, first: usize) {
        for line in self.out.iter_mut().skip(first - 1) {
            if line.contains("FROM ") {
                *line = line.replace("FROM ", "FORM ");
                return;
            }
        }
    }
}

/// Name of a U-SQL database.
pub(crate) fn catalogue(realm: &str) -> String {
    realm
        .split('.')
        .map(|p| p[..1].to_uppercase() + &p[1..])
        .collect()
}
