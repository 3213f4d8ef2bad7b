//! The program of a Spark application: the statements, method calls and queries of a PySpark script, the queries of a
//! SQL file; of other languages only the text.

mod batches;
mod find;
mod link;
mod needs;
mod number;
mod own;
mod part;
mod pipeline;
mod site;
pub mod sql;
mod stream;
pub mod syntax;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};

pub use find::{Place, only};
pub use needs::{Actions, Scope};
pub use number::Number;
pub use part::Part;
pub use stream::Stream;
use syntax::Syntax;

use crate::link::Lines;
use crate::script::{ScriptDiff, Span};

/// Most expressions that the text of one query is looked for in.
const MOST_TEXTS: usize = 100;

/// A program that was next to the log.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Program {
    pub file: String,
    pub text: String,
    pub language: Language,
    /// The tree of a Python program.
    pub syntax: Syntax,
    pub statements: Vec<Statement>,
    /// In the order of their method names in the text.
    pub calls: Vec<Call>,
    pub queries: Vec<Query>,
    line_starts: Vec<usize>,
    /// Statements by the name that they assign, in order.
    assigning: HashMap<String, Vec<usize>>,
    /// Positions of the calls by their nodes.
    call_at: HashMap<usize, usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    Python,
    Sql,
    #[default]
    Other,
}

/// A simple statement, or the head of a compound one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    pub span: Span,
    /// The only name that it assigns.
    pub target: Option<String>,
    /// Node of the value that it assigns.
    pub value: Option<usize>,
    /// Name of the function with the statement in its body.
    pub function: Option<String>,
    /// The definitions of the functions around it, innermost first.
    pub scopes: Vec<usize>,
    /// Names that it reads, also within strings of a query.
    pub reads: BTreeSet<String>,
}

/// A call of a method or a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Node of the whole call, with its receiver.
    pub node: usize,
    /// `join`; empty for a call of a call's result.
    pub name: String,
    /// Node of the object; `None` for a function.
    pub receiver: Option<usize>,
    pub arguments: Vec<Argument>,
    /// From the dot of the method to its closing parenthesis.
    pub span: Span,
    pub statement: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    pub keyword: Option<String>,
    /// Node of the value.
    pub node: usize,
}

/// Text of SQL, in a file or in a string of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    pub span: Span,
    pub statement: usize,
    /// Texts that are filled in.
    pub filled: Vec<Span>,
}

impl Program {
    pub fn parse(file: &str, text: &str) -> Program {
        let mut program = Program {
            file: file.to_owned(),
            text: text.trim_start_matches('\u{feff}').to_owned(),
            ..Program::default()
        };
        let breaks = memchr::memchr_iter(b'\n', program.text.as_bytes());
        program.line_starts = std::iter::once(0).chain(breaks.map(|at| at + 1)).collect();
        program.language = language(&program.text);
        match program.language {
            Language::Python => program.read_python(),
            Language::Sql => program.read_sql(),
            Language::Other => {}
        }
        program
    }

    /// Whether the whole text parses.
    pub fn is_sound(&self) -> bool {
        match self.language {
            Language::Python => !self.syntax.faulty,
            Language::Sql => true,
            Language::Other => false,
        }
    }

    pub fn slice(&self, span: &Span) -> &str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    pub fn text_of(&self, node: usize) -> &str {
        self.slice(&self.syntax.span(node))
    }

    /// The value of a string without placeholders and escapes.
    pub fn string(&self, node: usize) -> Option<&str> {
        let syntax = &self.syntax;
        let plain = |at: usize| !matches!(syntax.kind(at), "interpolation" | "escape_sequence");
        let is_text = syntax.kind(node) == "string" && syntax.subtree(node).all(plain);
        is_text.then(|| self.slice(&self.content(node)))
    }

    /// The text between the quotes of a string.
    fn content(&self, node: usize) -> Span {
        let span = self.syntax.span(node);
        let of_kind = |kind| {
            let mut children = self.syntax.children(node);
            children.find(|at| self.syntax.kind(*at) == kind)
        };
        let start = of_kind("string_start").map_or(span.start, |at| self.syntax.span(at).end);
        let end = of_kind("string_end").map_or(span.end, |at| self.syntax.span(at).start);
        start..end.max(start)
    }

    /// The value of an integer literal.
    pub fn integer(&self, node: usize) -> Option<u64> {
        let is_number = self.syntax.kind(node) == "integer";
        is_number.then(|| self.text_of(node).replace('_', "").parse().ok())?
    }

    pub fn lines(&self, span: &Span) -> Lines {
        let line = |at: usize| self.line_starts.partition_point(|start| *start <= at) as u32;
        Lines {
            first: line(span.start),
            last: line(span.end.saturating_sub(1).max(span.start)),
        }
    }

    /// The innermost statement on a line.
    pub fn statement_at(&self, line: u32) -> Option<usize> {
        let all = 0..self.statements.len();
        all.filter(|at| self.lines(&self.statements[*at].span).contains(line))
            .min_by_key(|at| self.statements[*at].span.len())
    }

    /// The query with a piece of text.
    pub fn query_of(&self, span: &Span) -> Option<&Query> {
        let mut queries = self.queries.iter();
        queries.find(|query| query.span.contains(&span.start))
    }

    pub fn argument(&self, call: &Call, position: usize, keyword: &str) -> Option<usize> {
        let mut named = call.arguments.iter();
        let named = named.find(|a| a.keyword.as_deref() == Some(keyword));
        let by_position = || {
            let found = call.arguments.get(position)?;
            found.keyword.is_none().then_some(found)
        };
        named.or_else(by_position).map(|a| a.node)
    }

    pub fn call_of(&self, node: usize) -> Option<&Call> {
        self.calls.get(*self.call_at.get(&node)?)
    }

    /// Diff between the program and a changed one.
    pub fn diff(&self, changed: &str) -> ScriptDiff {
        // a script from elsewhere has an absolute name
        let absolute = self.file.starts_with('/') || self.file.contains('\\');
        let last = self.file.rsplit(['/', '\\']).next().filter(|_| absolute);
        let name = last.unwrap_or(&self.file);
        let (old, new) = (format!("a/{name}"), format!("b/{name}"));
        crate::script::diff((&old, &self.text), (&new, changed))
    }

    fn read_python(&mut self) {
        self.syntax = Syntax::parse(&self.text);
        let mut statement_of: Vec<usize> = Vec::with_capacity(self.syntax.nodes.len());
        for node in 0..self.syntax.nodes.len() {
            let parent = self.syntax.nodes[node].parent;
            let in_block = node > 0 && matches!(self.syntax.kind(parent), "module" | "block");
            let statement = match in_block && self.syntax.kind(node) != "comment" {
                true => {
                    self.statements.push(self.statement(node));
                    self.statements.len() - 1
                }
                false => statement_of.get(parent).copied().unwrap_or_default(),
            };
            statement_of.push(statement);
            if self.syntax.kind(node) == "call" {
                self.calls.extend(self.call(node, statement));
            }
        }
        self.calls
            .sort_by_key(|call| (call.span.start, call.span.end));
        let nodes = self.calls.iter().map(|call| call.node);
        self.call_at = nodes.zip(0..).collect();
        for (at, statement) in self.statements.iter().enumerate() {
            if let Some(target) = &statement.target {
                let assigning = self.assigning.entry(target.clone()).or_default();
                assigning.push(at);
            }
        }
        let sql = self.calls.iter().filter(|call| call.name == "sql");
        let queries = sql.flat_map(|call| {
            let text = call.arguments.first().map(|a| a.node);
            text.map_or_else(Vec::new, |at| self.texts(at, call.statement))
        });
        self.queries = queries.collect();
        for query in &self.queries {
            let words = sql::tokens(&self.text, &query.span);
            let words = words.iter().map(|t| self.text[t.span.clone()].to_owned());
            self.statements[query.statement].reads.extend(words);
        }
    }

    /// The strings that an expression may be: its own, one that is filled with values, one of a name, or those that calls pass.
    fn texts(&self, node: usize, statement: usize) -> Vec<Query> {
        let mut found: Vec<Query> = Vec::new();
        let mut seen = BTreeSet::new();
        let mut filled = Vec::new();
        let mut open = vec![(node, statement)];
        while let Some((node, statement)) = open.pop().filter(|_| seen.len() < MOST_TEXTS) {
            if !seen.insert((node, statement)) {
                continue;
            }
            let bound = self.bound(node, statement);
            filled.extend(self.values_in(bound, statement));
            let inner = match self.syntax.kind(bound) {
                "string" => {
                    found.push(Query {
                        span: self.content(bound),
                        statement,
                        filled: filled.clone(),
                    });
                    None
                }
                // `"…" % values` and `"…".format(values)`
                "binary_operator" => self.syntax.child(bound, "left"),
                "call" => self
                    .call_of(bound)
                    .filter(|call| matches!(call.name.as_str(), "format" | "replace" | "strip"))
                    .and_then(|call| call.receiver),
                "parenthesized_expression" => self.syntax.children(bound).next(),
                _ => None,
            };
            open.extend(inner.map(|inner| (inner, statement)));
            let passed = self.passed_to(node, statement);
            open.extend(passed.map(|(call, at)| (at, self.calls[call].statement)));
        }
        found
    }

    /// The strings that `%` or `format` fill into a text.
    fn values_in(&self, node: usize, statement: usize) -> Vec<Span> {
        let values: Vec<usize> = match self.syntax.kind(node) {
            "binary_operator" => self.syntax.child(node, "right").into_iter().collect(),
            "call" => {
                let call = self.call_of(node).filter(|call| call.name == "format");
                let arguments = call.into_iter().flat_map(|call| &call.arguments);
                arguments.map(|argument| argument.node).collect()
            }
            _ => return Vec::new(),
        };
        let parts = values.into_iter().flat_map(|at| self.syntax.subtree(at));
        let bound = parts.map(|at| self.bound(at, statement));
        bound
            .filter(|at| self.syntax.kind(*at) == "string")
            .map(|at| self.content(at))
            .collect()
    }

    /// The value of a name that an earlier statement assigns once; any other node itself.
    pub fn bound(&self, node: usize, statement: usize) -> usize {
        let name = self.text_of(node);
        if self.syntax.kind(node) != "identifier" || self.is_parameter(name, statement) {
            return node;
        }
        match self.assigned_before(name, statement)[..] {
            [only] => self.statements[only].value.unwrap_or(node),
            _ => node,
        }
    }

    /// Whether a statement is the head of a function or a class.
    pub(super) fn is_definition(&self, statement: usize) -> bool {
        let text = self.slice(&self.statements[statement].span);
        ["def ", "async def ", "class ", "@"]
            .iter()
            .any(|head| text.starts_with(head))
    }

    /// Earlier statements that assign a name for a statement: the ones in the same function, else the ones around it.
    pub(super) fn assigned_before(&self, name: &str, statement: usize) -> Vec<usize> {
        let assigning = self.assigning.get(name).map_or(&[][..], Vec::as_slice);
        let earlier = assigning.partition_point(|at| *at < statement);
        let Some(own) = self.statements.get(statement) else {
            return Vec::new();
        };
        let mut scopes = own.scopes.iter().map(Some).chain([None]);
        let of_scope = |scope: Option<&usize>| -> Vec<usize> {
            let mut seen = assigning[..earlier].to_vec();
            seen.retain(|at| self.statements[*at].scopes.first() == scope);
            seen
        };
        let found = scopes.find_map(|scope| Some(of_scope(scope)).filter(|at| !at.is_empty()));
        found.unwrap_or_default()
    }

    fn statement(&self, node: usize) -> Statement {
        let syntax = &self.syntax;
        let span = syntax.span(node);
        let body = syntax
            .child(node, "body")
            .or_else(|| syntax.child(node, "consequence"));
        let definition = syntax.child(node, "definition");
        let body = body.or_else(|| syntax.child(definition?, "body"));
        // a compound statement ends with its head: the statements of its body count themselves
        let end = body.map_or(span.end, |body| syntax.span(body).start);
        let head = self.text[span.start..end].trim_end().len();
        let assignment = syntax
            .children(node)
            .find(|at| syntax.kind(*at) == "assignment");
        let left = assignment.and_then(|at| syntax.child(at, "left"));
        let target = left.filter(|at| syntax.kind(*at) == "identifier");
        let above = syntax.upward(node).skip(1);
        let scopes: Vec<usize> = above
            .filter(|at| syntax.kind(*at) == "function_definition")
            .collect();
        let function = scopes.first().and_then(|at| syntax.child(*at, "name"));
        let of_self = |at: usize| {
            let object = syntax.child(syntax.nodes[at].parent, "object");
            object.is_some_and(|at| self.text_of(at) == "self")
        };
        let reads = syntax.subtree(node).filter(|at| {
            let own = &syntax.nodes[*at];
            own.kind == "identifier"
                && own.span.end <= end
                && Some(*at) != target
                && (own.field != Some("attribute") || of_self(*at))
                && !(own.field == Some("name") && syntax.kind(own.parent) == "keyword_argument")
        });
        Statement {
            span: span.start..span.start + head,
            target: target.map(|at| self.text_of(at).to_owned()),
            value: assignment.and_then(|at| syntax.child(at, "right")),
            function: function.map(|at| self.text_of(at).to_owned()),
            scopes,
            reads: reads.map(|at| self.text_of(at).to_owned()).collect(),
        }
    }

    fn call(&self, node: usize, statement: usize) -> Option<Call> {
        let syntax = &self.syntax;
        let function = syntax.child(node, "function")?;
        let (receiver, name, start) = match syntax.kind(function) {
            "attribute" => {
                let receiver = syntax.child(function, "object")?;
                let name = syntax.child(function, "attribute")?;
                let rest = &self.text[syntax.span(receiver).end..];
                let dot = rest.find('.')?;
                (Some(receiver), Some(name), syntax.span(receiver).end + dot)
            }
            "identifier" => (None, Some(function), syntax.span(function).start),
            // `udf(f, "string")("name")`
            "call" => (None, None, syntax.span(function).start),
            _ => return None,
        };
        let list = syntax.child(node, "arguments")?;
        let arguments = syntax
            .children(list)
            .filter(|at| syntax.kind(*at) != "comment");
        let argument = |at: usize| match syntax.kind(at) {
            "keyword_argument" => Some(Argument {
                keyword: Some(self.text_of(syntax.child(at, "name")?).to_owned()),
                node: syntax.child(at, "value")?,
            }),
            _ => Some(Argument {
                keyword: None,
                node: at,
            }),
        };
        Some(Call {
            node,
            name: name.map_or("", |at| self.text_of(at)).to_owned(),
            receiver,
            arguments: arguments.filter_map(argument).collect(),
            span: start..syntax.span(node).end,
            statement,
        })
    }

    fn read_sql(&mut self) {
        let tokens = sql::tokens(&self.text, &(0..self.text.len()));
        let ends = |t: &sql::Token| self.text[t.span.clone()] == *";";
        for part in tokens.split(ends).filter(|part| !part.is_empty()) {
            let span = part[0].span.start..part[part.len() - 1].span.end;
            let words = part.iter().map(|t| self.text[t.span.clone()].to_owned());
            self.queries.push(Query {
                span: span.clone(),
                statement: self.statements.len(),
                filled: Vec::new(),
            });
            self.statements.push(Statement {
                span,
                target: None,
                value: None,
                function: None,
                scopes: Vec::new(),
                reads: words.collect(),
            });
        }
    }
}

/// The language of a program, by its content.
fn language(text: &str) -> Language {
    if text.contains("import org.apache.spark") {
        return Language::Other;
    }
    const FIRST: [&str; 10] = [
        "SELECT", "WITH", "INSERT", "CREATE", "SET", "CACHE", "USE", "DROP", "MERGE", "REFRESH",
    ];
    let tokens = sql::tokens(text, &(0..text.floor_char_boundary(20_000)));
    let first = tokens.first().map(|t| &text[t.span.clone()]);
    let is_sql = first.is_some_and(|first| FIRST.iter().any(|w| w.eq_ignore_ascii_case(first)));
    let python = ["import ", "from "]
        .iter()
        .any(|w| text.lines().any(|l| l.trim_start().starts_with(w)));
    match (is_sql, python) {
        (true, false) => Language::Sql,
        (false, true) => Language::Python,
        // a keyword of SQL may begin a Python program only as a name
        _ => match Syntax::parse(text).faulty {
            true => Language::Other,
            false => Language::Python,
        },
    }
}
