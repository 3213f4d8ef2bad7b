//! Replaces calls of a row-wise Python function by expressions of columns.
//!
//! The function must return one expression that has the same value in Spark for all values that are not null. For nulls, the
//! operators of a translated expression return null where Python throws, so a run without an exception has the same
//! rows; comparisons, which Python answers for None, are translated so that they never return null.

use job::code::{Call, Program, only};

use super::{Rewrite, function};

/// Deepest expression that is translated.
const MOST_DEPTH: usize = 40;

/// The kind of value of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Whole,
    Real,
    Truth,
    /// The value of a column.
    Unknown,
}

/// A function of rows: its parameters, the expression that it returns, and its declared type.
struct Function<'p> {
    parameters: Vec<&'p str>,
    body: usize,
    returns: Option<Kind>,
    kind: String,
}

/// Replaces all calls of the function that is called at `call`.
pub(crate) fn builtin(program: &Program, call: &Call) -> Option<Rewrite> {
    let own = definition(program, call)?;
    let mut rewrite = Rewrite {
        reorders: true,
        ..Rewrite::default()
    };
    let same = |other: &&Call| match call.name.as_str() {
        "" => other.node == call.node,
        name => other.name == name && other.receiver.is_none(),
    };
    for call in program.calls.iter().filter(same) {
        if !is_named(program, call) {
            return None;
        }
        let columns = call
            .arguments
            .iter()
            .map(|a| column(program, a.node, &mut rewrite));
        let columns: Vec<String> = columns.collect::<Option<_>>()?;
        let parameters: Vec<(&str, String)> = own.parameters.iter().copied().zip(columns).collect();
        if parameters.len() != own.parameters.len() || parameters.len() != call.arguments.len() {
            return None;
        }
        let mut translation = Translation {
            program,
            parameters,
            rewrite: &mut rewrite,
        };
        let (text, kind) = translation.expression(own.body, 0)?;
        let text = match (own.returns?, kind) {
            (Kind::Text, Kind::Text) | (Kind::Truth, Kind::Truth) | (Kind::Real, Kind::Real) => {
                text
            }
            (Kind::Whole | Kind::Real, Kind::Unknown) | (Kind::Whole, Kind::Whole) => {
                format!("({text}).cast(\"{}\")", own.kind)
            }
            _ => return None,
        };
        rewrite.replace(call.statement, program.syntax.span(call.node), text);
    }
    Some(rewrite)
}

/// Whether the program names the column that a call makes: otherwise the text of the expression is its name.
fn is_named(program: &Program, call: &Call) -> bool {
    let above = program.syntax.upward(call.node).skip(1);
    let calls = above.filter_map(|at| program.call_of(at));
    let mut naming = calls.filter_map(|c| match c.name.as_str() {
        "withColumn" | "alias" | "filter" | "where" => Some(true),
        "select" | "selectExpr" | "agg" | "groupBy" | "groupby" => Some(false),
        _ => None,
    });
    naming.next() == Some(true)
}

/// A column that is passed to a function.
fn column(program: &Program, node: usize, rewrite: &mut Rewrite) -> Option<String> {
    let text = program.text_of(node);
    match program.string(node) {
        Some(_) => Some(format!("{}({text})", function(program, "col", rewrite)?)),
        None if matches!(
            program.syntax.kind(node),
            "call" | "attribute" | "subscript"
        ) =>
        {
            Some(text.to_owned())
        }
        None => None,
    }
}

/// The definition behind a call: decorated, assigned from `udf(…)`, or called as `udf(…)(…)`.
fn definition<'p>(program: &'p Program, call: &Call) -> Option<Function<'p>> {
    let syntax = &program.syntax;
    if call.name.is_empty() {
        let made = program.call_of(syntax.child(call.node, "function")?)?;
        return of_udf(program, made);
    }
    let mut declared = program.calls.iter().filter(|c| {
        c.name == "udf"
            && program.statements[c.statement].target.as_deref() == Some(call.name.as_str())
    });
    if let Some(made) = declared.next() {
        return of_udf(program, made).filter(|_| declared.next().is_none());
    }
    let node = named(program, &call.name)?;
    let decorated = syntax.nodes[node].parent;
    let children = syntax.children(decorated);
    let decorator = only(children.filter(|at| syntax.kind(*at) == "decorator"))?;
    let inner = syntax.children(decorator).next()?;
    let kind = match program.call_of(inner) {
        Some(made) if made.name == "udf" => returned(program, made, 0),
        None if matches!(program.text_of(inner), "udf" | "F.udf") => Some("string".to_owned()),
        _ => None,
    };
    of_definition(program, node, kind?)
}

fn of_udf<'p>(program: &'p Program, made: &Call) -> Option<Function<'p>> {
    let syntax = &program.syntax;
    let kind = returned(program, made, 1)?;
    let code = made
        .arguments
        .first()
        .filter(|a| made.name == "udf" && a.keyword.is_none())?
        .node;
    match syntax.kind(code) {
        "lambda" => Some(Function {
            parameters: parameters(program, syntax.child(code, "parameters")?)?,
            body: syntax.child(code, "body")?,
            returns: kind_of(&kind),
            kind,
        }),
        "identifier" => of_definition(program, named(program, program.text_of(code))?, kind),
        _ => None,
    }
}

/// The only definition of a function.
fn named(program: &Program, name: &str) -> Option<usize> {
    let syntax = &program.syntax;
    only((0..syntax.nodes.len()).filter(|at| {
        syntax.kind(*at) == "function_definition"
            && syntax
                .child(*at, "name")
                .is_some_and(|own| program.text_of(own) == name)
    }))
}

/// A function whose body is a description, if any, and a `return`.
fn of_definition(program: &Program, node: usize, kind: String) -> Option<Function<'_>> {
    let syntax = &program.syntax;
    let body = syntax.child(node, "body")?;
    let is_text = |at: &usize| {
        syntax.kind(*at) == "comment"
            || syntax.kind(*at) == "expression_statement"
                && syntax.children(*at).all(|c| syntax.kind(c) == "string")
    };
    let step = only(syntax.children(body).filter(|at| !is_text(at)))
        .filter(|at| syntax.kind(*at) == "return_statement")?;
    Some(Function {
        parameters: parameters(program, syntax.child(node, "parameters")?)?,
        body: syntax.children(step).next()?,
        returns: kind_of(&kind),
        kind,
    })
}

fn parameters(program: &Program, node: usize) -> Option<Vec<&str>> {
    let syntax = &program.syntax;
    let name = |at: usize| match syntax.kind(at) {
        "identifier" => Some(program.text_of(at)),
        "typed_parameter" => Some(program.text_of(syntax.children(at).next()?)),
        _ => None,
    };
    syntax.children(node).map(name).collect()
}

/// The declared type of a `udf`, as Spark writes it; a string without one.
fn returned(program: &Program, made: &Call, position: usize) -> Option<String> {
    let Some(node) = program.argument(made, position, "returnType") else {
        return Some("string".to_owned());
    };
    if let Some(text) = program.string(node) {
        return Some(text.trim().to_lowercase());
    }
    let text = program.text_of(node).strip_suffix("()")?;
    let class = text.rsplit('.').next()?.strip_suffix("Type")?;
    Some(match class {
        "Integer" => "int".to_owned(),
        "Long" => "bigint".to_owned(),
        other => other.to_lowercase(),
    })
}

fn kind_of(declared: &str) -> Option<Kind> {
    Some(match declared {
        "string" => Kind::Text,
        "int" | "integer" | "long" | "bigint" => Kind::Whole,
        "double" => Kind::Real,
        "boolean" => Kind::Truth,
        _ => return None,
    })
}

struct Translation<'t, 'p> {
    program: &'p Program,
    /// Name and column of each parameter.
    parameters: Vec<(&'p str, String)>,
    rewrite: &'t mut Rewrite,
}

impl Translation<'_, '_> {
    fn spark(&mut self, name: &str) -> Option<String> {
        function(self.program, name, self.rewrite)
    }

    /// Text and kind of the expression of columns with the same value.
    fn expression(&mut self, node: usize, depth: usize) -> Option<(String, Kind)> {
        let (program, syntax) = (self.program, &self.program.syntax);
        if depth > MOST_DEPTH {
            return None;
        }
        let text = program.text_of(node);
        match syntax.kind(node) {
            "identifier" => {
                let (_, column) = self.parameters.iter().find(|(name, _)| *name == text)?;
                Some((column.clone(), Kind::Unknown))
            }
            "parenthesized_expression" => {
                let (inner, kind) = self.expression(syntax.children(node).next()?, depth + 1)?;
                Some((format!("({inner})"), kind))
            }
            "string" if program.string(node).is_some() => {
                Some((format!("{}({text})", self.spark("lit")?), Kind::Text))
            }
            "integer" => Some((format!("{}({text})", self.spark("lit")?), Kind::Whole)),
            "float" => Some((format!("{}({text})", self.spark("lit")?), Kind::Real)),
            "call" => self.call(node, depth),
            "binary_operator" => self.operation(node, depth),
            "subscript" => self.part(node, depth),
            "comparison_operator" => self.comparison(node, depth),
            "conditional_expression" => self.choice(node, depth),
            _ => None,
        }
    }

    fn call(&mut self, node: usize, depth: usize) -> Option<(String, Kind)> {
        let program = self.program;
        let call = program.call_of(node)?;
        let of = match (call.receiver, call.arguments.as_slice()) {
            (Some(receiver), _) => receiver,
            (None, [only]) if only.keyword.is_none() => only.node,
            _ => return None,
        };
        let (own, kind) = self.expression(of, depth + 1)?;
        let is_text = matches!(kind, Kind::Text | Kind::Unknown);
        let strings: Option<Vec<&str>> = call
            .arguments
            .iter()
            .map(|a| program.string(a.node))
            .collect();
        let method = (call.receiver.is_some(), call.name.as_str());
        let name = match (method, strings.as_deref()) {
            ((true, name @ ("upper" | "lower")), Some([])) if is_text => name,
            // Spark's own trim removes blanks only, and its `\s` fewer characters than Python
            ((true, "strip"), Some([])) if is_text => {
                let replace = self.spark("regexp_replace")?;
                return Some((
                    format!(
                        "{replace}({own}, r\"(?U)^[\\s\\x1c-\\x1f]+|[\\s\\x1c-\\x1f]+$\", \"\")"
                    ),
                    Kind::Text,
                ));
            }
            ((true, name @ ("startswith" | "endswith")), Some([_])) if is_text => {
                let argument = program.text_of(call.arguments[0].node);
                return Some((format!("({own}).{name}({argument})"), Kind::Truth));
            }
            ((true, "replace"), Some([from, to]))
                if is_text && from.chars().count() == 1 && to.chars().count() == 1 =>
            {
                let texts: Vec<&str> = call
                    .arguments
                    .iter()
                    .map(|a| program.text_of(a.node))
                    .collect();
                return Some((
                    format!("{}({own}, {})", self.spark("translate")?, texts.join(", ")),
                    Kind::Text,
                ));
            }
            ((false, "len"), _) if is_text => {
                return Some((format!("{}({own})", self.spark("length")?), Kind::Whole));
            }
            ((false, "abs"), _) if kind != Kind::Text => {
                return Some((format!("{}({own})", self.spark("abs")?), kind));
            }
            ((false, "float"), _) if kind == Kind::Whole => {
                return Some((format!("({own}).cast(\"double\")"), Kind::Real));
            }
            _ => return None,
        };
        Some((format!("{}({own})", self.spark(name)?), Kind::Text))
    }

    fn operation(&mut self, node: usize, depth: usize) -> Option<(String, Kind)> {
        let (program, syntax) = (self.program, &self.program.syntax);
        let (left, right) = (syntax.child(node, "left")?, syntax.child(node, "right")?);
        let between = syntax.span(left).end..syntax.span(right).start;
        let operator = program.slice(&between).trim().to_owned();
        let (a, kind_a) = self.expression(left, depth + 1)?;
        let (b, kind_b) = self.expression(right, depth + 1)?;
        let kinds = [kind_a, kind_b];
        if kinds.contains(&Kind::Truth) {
            return None;
        }
        if kinds.contains(&Kind::Text) {
            // Python joins texts with texts only
            let joins = operator == "+"
                && kinds
                    .iter()
                    .all(|k| matches!(k, Kind::Text | Kind::Unknown));
            return joins
                .then_some(())
                .and_then(|()| Some((format!("{}({a}, {b})", self.spark("concat")?), Kind::Text)));
        }
        let kind = match (operator.as_str(), kind_a, kind_b) {
            ("/", _, _) => Kind::Real,
            // the sign of Python's remainder is the one of the divisor
            ("%", _, Kind::Whole) if program.integer(right).is_some_and(|n| n > 0) => {
                let kind = if kind_a == Kind::Real {
                    Kind::Real
                } else {
                    Kind::Unknown
                };
                return Some((format!("{}({a}, {b})", self.spark("pmod")?), kind));
            }
            ("+" | "-" | "*", Kind::Real, _) | ("+" | "-" | "*", _, Kind::Real) => Kind::Real,
            ("+" | "-" | "*", Kind::Unknown, _) | ("+" | "-" | "*", _, Kind::Unknown) => {
                Kind::Unknown
            }
            ("+" | "-" | "*", _, _) => Kind::Whole,
            _ => return None,
        };
        Some((format!("({a} {operator} {b})"), kind))
    }

    /// `text[2:5]` with numbers that are not negative.
    fn part(&mut self, node: usize, depth: usize) -> Option<(String, Kind)> {
        let (program, syntax) = (self.program, &self.program.syntax);
        let slice = syntax
            .child(node, "subscript")
            .filter(|at| syntax.kind(*at) == "slice")?;
        let (first, last) = program.text_of(slice).split_once(':')?;
        let first: u64 = if first.trim().is_empty() {
            0
        } else {
            first.trim().parse().ok()?
        };
        let last: u64 = last.trim().parse().ok()?;
        let (own, kind) = self.expression(syntax.child(node, "value")?, depth + 1)?;
        let length = last.saturating_sub(first);
        let is_text = matches!(kind, Kind::Text | Kind::Unknown);
        let substring = self.spark("substring").filter(|_| is_text)?;
        Some((
            format!("{substring}({own}, {}, {length})", first + 1),
            Kind::Text,
        ))
    }

    fn comparison(&mut self, node: usize, depth: usize) -> Option<(String, Kind)> {
        let (program, syntax) = (self.program, &self.program.syntax);
        let mut sides = syntax.children(node);
        let (left, right) = (
            sides.next()?,
            sides.next().filter(|_| sides.next().is_none())?,
        );
        let between = syntax.span(left).end..syntax.span(right).start;
        let operator = program.slice(&between).trim().to_owned();
        let (a, _) = self.expression(left, depth + 1)?;
        let none = syntax.kind(right) == "none";
        let text = match operator.as_str() {
            "is" if none => format!("({a}).isNull()"),
            "is not" if none => format!("({a}).isNotNull()"),
            "in" if matches!(syntax.kind(right), "tuple" | "list") => {
                let literals = syntax
                    .children(right)
                    .all(|at| matches!(syntax.kind(at), "string" | "integer"));
                let list = program
                    .text_of(right)
                    .trim_matches(['(', ')', '[', ']'])
                    .trim_end_matches(',');
                let (coalesce, lit) = (
                    self.spark("coalesce")?,
                    self.spark("lit").filter(|_| literals)?,
                );
                format!("{coalesce}(({a}).isin({list}), {lit}(False))")
            }
            "==" => format!("({a}).eqNullSafe({})", self.expression(right, depth + 1)?.0),
            "!=" => format!(
                "~({a}).eqNullSafe({})",
                self.expression(right, depth + 1)?.0
            ),
            "<" | "<=" | ">" | ">=" => {
                format!("({a} {operator} {})", self.expression(right, depth + 1)?.0)
            }
            _ => return None,
        };
        Some((text, Kind::Truth))
    }

    /// `a if condition else b`.
    fn choice(&mut self, node: usize, depth: usize) -> Option<(String, Kind)> {
        let syntax = &self.program.syntax;
        let mut parts = syntax.children(node);
        let (yes, condition, no) = (parts.next()?, parts.next()?, parts.next()?);
        let (condition, kind) = self.expression(condition, depth + 1)?;
        let when = self.spark("when").filter(|_| kind == Kind::Truth)?;
        let is_none = |at: usize| syntax.kind(at) == "none";
        if is_none(no) {
            let (yes, kind) = self.expression(yes, depth + 1)?;
            return Some((format!("{when}({condition}, {yes})"), kind));
        }
        let (b, kind_b) = self.expression(no, depth + 1)?;
        if is_none(yes) {
            return Some((format!("{when}(~({condition}), {b})"), kind_b));
        }
        let (a, kind_a) = self.expression(yes, depth + 1)?;
        let kind = match kind_a {
            Kind::Unknown => kind_b,
            kind_a => kind_a,
        };
        let alike = kind_a == kind_b || kind_a == Kind::Unknown || kind_b == Kind::Unknown;
        alike.then(|| (format!("{when}({condition}, {a}).otherwise({b})"), kind))
    }
}
