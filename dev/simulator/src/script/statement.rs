//! Statements.

use super::Printer;
use crate::data::{Column, TableKind};
use crate::plan::{Hint, JoinKind, NodeId, Op};

impl Printer<'_> {
    pub(super) fn columns(&mut self, head: &str, columns: &[String]) {
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

    pub(super) fn statement(&mut self, node: NodeId) {
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
                    "COUNT" if self.scope() && self.style.bare_count => {
                        format!("COUNT() AS {name}")
                    }
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
                let last = self.scope() && self.style.keys_last;
                if last {
                    self.line(&format!("    REDUCE {from}"));
                } else if self.scope() {
                    self.line(&format!("    REDUCE {from} ON {key} PRESORT {presort}"));
                } else {
                    self.line(&format!("    REDUCE {from} PRESORT {presort}"));
                    self.line(&format!("    ON {key}"));
                }
                let columns = self.produced(&produce);
                self.columns("PRODUCE", &columns);
                self.line(&format!("    USING {class}"));
                if last {
                    self.line(&format!("    PRESORT {presort}"));
                    self.line(&format!("    ON {key}"));
                }
                self.finish(node);
            }
            Op::Process {
                input,
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

    pub(super) fn produced(&self, columns: &[Column]) -> Vec<String> {
        let name = |c: &Column| {
            if self.scope() {
                c.name.clone()
            } else {
                format!("{} {}", c.name, c.ty.name())
            }
        };
        columns.iter().map(name).collect()
    }

    pub(super) fn assign(&mut self, node: NodeId) {
        let name = self.name(node);
        self.line(&format!("{name} ="));
    }

    pub(super) fn finish(&mut self, node: NodeId) {
        if let Some(option) = self.option(node) {
            self.line(&format!("    {option}"));
        }
        self.end();
    }

    pub(super) fn read(&mut self, node: NodeId, table: usize) {
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

    pub(super) fn join(
        &mut self,
        node: NodeId,
        sides: (NodeId, NodeId),
        keys: &(String, String),
        kind: JoinKind,
        items: &[(bool, String)],
    ) {
        let (l, r) = self.style.aliases;
        let columns: Vec<String> = items
            .iter()
            .map(|(of_right, n)| format!("{}.{n}", if *of_right { r } else { l }))
            .collect();
        let pair = self.spec.nodes[node].hints.contains(&Hint::Pair);
        let (left, right) = (self.name(sides.0), self.name(sides.1));
        self.assign(node);
        self.columns("SELECT", &columns);
        self.line(&format!("    FROM {left} AS {l}"));
        let kind = if kind == JoinKind::Inner {
            "INNER"
        } else {
            "LEFT OUTER"
        };
        let pair = if pair { "PAIR " } else { "" };
        self.line(&format!("         {kind} {pair}JOIN {right} AS {r}"));
        self.line(&format!("         ON {l}.{} == {r}.{}", keys.0, keys.1));
        self.finish(node);
    }

    pub(super) fn output(
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
}
