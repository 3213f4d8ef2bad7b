//! Prints a plan as a SCOPE or U-SQL script and remembers the lines of every statement.

mod header;
mod statement;

use crate::csharp::Class;
use crate::plan::{Dialect, NodeId, Spec};
use crate::rng::Rng;

/// Layout of a script; it does not change the meaning.
#[derive(Debug, Clone)]
pub(crate) struct Style {
    /// One column per line.
    pub(crate) tall: bool,
    /// Chinese comments.
    pub(crate) chinese: bool,
    /// Comments at all.
    pub(crate) comments: bool,
    /// CRLF line endings.
    pub(crate) crlf: bool,
    /// Byte order mark.
    pub(crate) bom: bool,
    /// C# is part of the script.
    pub(crate) inline_code: bool,
    /// Author in the header.
    pub(crate) user: String,
    /// Blank lines between statements.
    pub(crate) airy: bool,
    /// `COUNT()` instead of `COUNT(*)`.
    pub(crate) bare_count: bool,
    /// Aliases of the two sides of a join.
    pub(crate) aliases: (&'static str, &'static str),
    /// A reducer's `ON` and `PRESORT` follow `USING`.
    pub(crate) keys_last: bool,
    /// A path depends on `#IF`.
    pub(crate) conditional: bool,
    /// Settings and references in the header.
    pub(crate) settings: bool,
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
            bare_count: rng.chance(0.4),
            aliases: [("l", "r"), ("a", "b"), ("e", "d"), ("x", "y")][rng.index(4)],
            keys_last: rng.chance(0.3),
            conditional: rng.chance(0.2),
            settings: rng.chance(0.25),
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
    /// First and last line of every class in the script.
    pub(crate) class_lines: Vec<(String, (usize, usize))>,
    /// Line that does not compile.
    pub(crate) damaged: Option<usize>,
}

struct Printer<'a> {
    spec: &'a Spec,
    style: &'a Style,
    out: Vec<String>,
}

/// Prints the script. The node `broken` does not compile, for the reason that a mechanism names.
pub(crate) fn print(
    spec: &Spec,
    style: &Style,
    classes: &[Class],
    broken: Option<(NodeId, &str)>,
) -> Script {
    let mut p = Printer {
        spec,
        style,
        out: Vec::new(),
    };
    p.header();
    let mut damaged = None;
    let mut lines = vec![(0, 0); spec.nodes.len()];
    for (node, range) in lines.iter_mut().enumerate() {
        p.comment(node);
        let first = p.out.len() + 1;
        p.statement(node);
        *range = (first, p.out.len());
        if let Some((_, how)) = broken.filter(|b| b.0 == node) {
            damaged = p.damage(first, how);
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
        damaged,
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

    /// Ends the statement: puts a semicolon after its last line.
    fn end(&mut self) {
        if let Some(last) = self.out.last_mut() {
            last.push(';');
        }
    }

    /// Misspells a word in the statement that starts at `first`; returns its line.
    fn damage(&mut self, first: usize, how: &str) -> Option<usize> {
        let (word, wrong) = match how {
            "unknown_name" => ("FROM ", "FROM All"),
            "invalid_csharp" => ("RowRules.", "RowRule."),
            _ => ("FROM ", "FORM "),
        };
        let wrong = match self.scope() {
            false if how == "unknown_name" => "FROM @All",
            _ => wrong,
        };
        let lines = self.out.iter_mut().enumerate().skip(first - 1);
        let (i, line) = { lines }.find(|(_, l)| l.contains(word))?;
        let word = if wrong.contains('@') { "FROM @" } else { word };
        *line = line.replace(word, wrong);
        Some(i + 1)
    }
}

/// Name of a U-SQL database.
pub(crate) fn catalogue(realm: &str) -> String {
    realm
        .split('.')
        .map(|p| p[..1].to_uppercase() + &p[1..])
        .collect()
}
