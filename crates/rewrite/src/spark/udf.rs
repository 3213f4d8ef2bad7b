//! Replaces calls of a row-wise Python function by expressions of columns.
//!
//! The function must consist of assignments, `if` and `return` with expressions that have the same value in Spark for all values that are not null. For nulls, the
//! operators of a translated expression return null where Python throws, so a run without an exception has the same
//! rows; comparisons, which Python answers for None, are translated so that they never return null.

use job::code::{Call, Program, only};

use super::declared::{Kind, definition};
use super::{Rewrite, function};

/// Deepest expression that is translated.
const MOST_DEPTH: usize = 40;

/// Most statements that are translated; each branch repeats the ones after it.
const MOST_STEPS: usize = 200;

/// Most functions that pass on the column of a call.
const MOST_FUNCTIONS: usize = 3;

/// Text and kind of an expression of columns; `None` is null.
pub(super) type Value = Option<(String, Kind)>;

/// Replaces all calls of the function that is called at `call`.
pub fn builtin(program: &Program, call: &Call) -> Option<Rewrite> {
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
        if !is_named(program, call, 0) {
            return None;
        }
        let columns = call
            .arguments
            .iter()
            .map(|a| column(program, a.node, &mut rewrite));
        let columns: Vec<String> = columns.collect::<Option<_>>()?;
        if columns.len() != own.parameters.len() || columns.len() != call.arguments.len() {
            return None;
        }
        let named = own.parameters.iter().copied().zip(columns);
        let mut translation = Translation {
            program,
            statement: call.statement,
            names: named
                .map(|(name, column)| (name, column, Kind::Unknown))
                .collect(),
            rewrite: &mut rewrite,
            steps: 0,
        };
        let (text, kind) = translation.result(&own.body, 0)??;
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

/// Whether the program names the column that a call makes: otherwise the text of the expression is its name. The column that
/// a function returns is named where the function is called.
fn is_named(program: &Program, call: &Call, depth: usize) -> bool {
    let syntax = &program.syntax;
    let above = || syntax.upward(call.node).skip(1);
    let mut naming = above()
        .filter_map(|at| program.call_of(at))
        .filter_map(|c| match c.name.as_str() {
            "withColumn" | "alias" | "filter" | "where" => Some(true),
            "select" | "selectExpr" | "agg" | "groupBy" | "groupby" => Some(false),
            _ => None,
        });
    naming.next().unwrap_or_else(|| {
        let is_returned = above()
            .next()
            .is_some_and(|at| syntax.kind(at) == "return_statement");
        let mut around = above().filter(|at| syntax.kind(*at) == "function_definition");
        let name = around.next().and_then(|at| syntax.child(at, "name"));
        let name = name.map(|at| program.text_of(at)).filter(|_| is_returned);
        let calls = || {
            program
                .calls
                .iter()
                .filter(|c| Some(c.name.as_str()) == name)
        };
        let is_near = depth < MOST_FUNCTIONS && calls().next().is_some();
        is_near && calls().all(|c| is_named(program, c, depth + 1))
    })
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

pub(super) struct Translation<'t, 'p> {
    pub(super) program: &'p Program,
    /// The statement of the call that is translated.
    pub(super) statement: usize,
    /// Parameters and assigned names, with their expressions; the last one of a name counts.
    names: Vec<(&'p str, String, Kind)>,
    rewrite: &'t mut Rewrite,
    steps: usize,
}

impl<'p> Translation<'_, 'p> {
    pub(super) fn spark(&mut self, name: &str) -> Option<String> {
        function(self.program, name, self.rewrite)
    }

    /// The value that statements return, or the value of a lambda.
    fn result(&mut self, steps: &[usize], depth: usize) -> Option<Value> {
        let (program, syntax) = (self.program, &self.program.syntax);
        let Some((step, rest)) = steps.split_first() else {
            return Some(None);
        };
        self.steps += 1;
        if depth > MOST_DEPTH || self.steps > MOST_STEPS {
            return None;
        }
        match syntax.kind(*step) {
            "comment" => self.result(rest, depth),
            "return_statement" => match syntax.children(*step).next() {
                Some(value) => self.value(value, depth),
                None => Some(None),
            },
            "expression_statement" => {
                let assignment = only(syntax.children(*step))?;
                let name = syntax.child(assignment, "left")?;
                let is_plain =
                    syntax.kind(assignment) == "assignment" && syntax.kind(name) == "identifier";
                let value = syntax.child(assignment, "right").filter(|_| is_plain)?;
                let (text, kind) = self.expression(value, depth + 1)?;
                self.names.push((program.text_of(name), text, kind));
                self.result(rest, depth + 1)
            }
            "if_statement" => {
                let other = |at: &usize| syntax.nodes[*at].field == Some("alternative");
                let clauses: Vec<usize> = [*step]
                    .into_iter()
                    .chain(syntax.children(*step).filter(other))
                    .collect();
                self.branch(&clauses, rest, depth + 1)
            }
            // the expression of a lambda
            _ => self.value(*step, depth),
        }
    }

    /// The value of the first branch of an `if`, its `elif` and its `else` with a true condition, with the statements after them.
    fn branch(&mut self, clauses: &[usize], rest: &[usize], depth: usize) -> Option<Value> {
        let syntax = &self.program.syntax;
        let Some((clause, others)) = clauses.split_first() else {
            return self.result(rest, depth);
        };
        let block = syntax
            .child(*clause, "consequence")
            .or_else(|| syntax.child(*clause, "body"))?;
        let steps: Vec<usize> = syntax.children(block).chain(rest.iter().copied()).collect();
        let known = self.names.len();
        let condition = match syntax.child(*clause, "condition") {
            Some(condition) => Some(self.truth(condition, depth)?),
            None => None,
        };
        let yes = self.result(&steps, depth)?;
        self.names.truncate(known);
        let Some(condition) = condition else {
            return Some(yes);
        };
        let no = self.branch(others, rest, depth + 1)?;
        self.names.truncate(known);
        self.choice(&condition, yes, no)
    }

    fn truth(&mut self, node: usize, depth: usize) -> Option<String> {
        let (text, kind) = self.expression(node, depth + 1)?;
        (kind == Kind::Truth).then_some(text)
    }

    pub(super) fn value(&mut self, node: usize, depth: usize) -> Option<Value> {
        let syntax = &self.program.syntax;
        match syntax.kind(node) {
            "none" => Some(None),
            "conditional_expression" => {
                let mut parts = syntax.children(node);
                let (yes, condition, no) = (parts.next()?, parts.next()?, parts.next()?);
                let condition = self.truth(condition, depth)?;
                let (yes, no) = (self.value(yes, depth + 1)?, self.value(no, depth + 1)?);
                self.choice(&condition, yes, no)
            }
            _ => Some(Some(self.expression(node, depth + 1)?)),
        }
    }

    /// Text and kind of the expression of columns with the same value.
    pub(super) fn expression(&mut self, node: usize, depth: usize) -> Option<(String, Kind)> {
        let (program, syntax) = (self.program, &self.program.syntax);
        if depth > MOST_DEPTH {
            return None;
        }
        let text = program.text_of(node);
        match syntax.kind(node) {
            "identifier" => {
                let mut named = self.names.iter().rev();
                let (_, column, kind) = named.find(|(name, ..)| *name == text)?;
                Some((column.clone(), *kind))
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
            "conditional_expression" => self.value(node, depth)?,
            "not_operator" => {
                let own = self.truth(syntax.child(node, "argument")?, depth)?;
                Some((format!("~({own})"), Kind::Truth))
            }
            "boolean_operator" => {
                let (left, right) = (syntax.child(node, "left")?, syntax.child(node, "right")?);
                let between = syntax.span(left).end..syntax.span(right).start;
                let both = program.slice(&between).trim() == "and";
                let (a, b) = (self.truth(left, depth)?, self.truth(right, depth)?);
                Some((
                    format!("({a} {} {b})", if both { '&' } else { '|' }),
                    Kind::Truth,
                ))
            }
            _ => None,
        }
    }

    fn call(&mut self, node: usize, depth: usize) -> Option<(String, Kind)> {
        let program = self.program;
        let call = program.call_of(node)?;
        if let Some(special) = self.special_call(call, depth) {
            return Some(special);
        }
        let of = match (call.receiver, call.arguments.as_slice()) {
            (Some(receiver), _) => receiver,
            (None, [only]) if only.keyword.is_none() => only.node,
            _ => return None,
        };
        let (own, kind) = self.expression(of, depth + 1)?;
        let is_text = kind.may_be_text();
        let strings: Option<Vec<&str>> = call
            .arguments
            .iter()
            .map(|a| program.string(a.node))
            .collect();
        let method = (call.receiver.is_some(), call.name.as_str());
        let name = match (method, strings.as_deref()) {
            ((true, name @ ("upper" | "lower")), Some([])) if is_text => name,
            // Spark's own trim removes blanks only, and its `\s` fewer characters than Python
            ((true, side @ ("strip" | "lstrip" | "rstrip")), Some([])) if is_text => {
                const BLANKS: &str = "[\\s\\x1c-\\x1f]+";
                let pattern = match side {
                    "lstrip" => format!("^{BLANKS}"),
                    "rstrip" => format!("{BLANKS}$"),
                    _ => format!("^{BLANKS}|{BLANKS}$"),
                };
                let replace = self.spark("regexp_replace")?;
                let text = format!("{replace}({own}, r\"(?U){pattern}\", \"\")");
                return Some((text, Kind::Text));
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
            let joins = operator == "+" && kinds.iter().all(|k| k.may_be_text());
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
        let slice = syntax.child(node, "subscript")?;
        if syntax.kind(slice) != "slice" {
            return self.item(node, depth);
        }
        let (first, last) = program.text_of(slice).split_once(':')?;
        let first: u64 = if first.trim().is_empty() {
            0
        } else {
            first.trim().parse().ok()?
        };
        let last: u64 = last.trim().parse().ok()?;
        let (own, kind) = self.expression(syntax.child(node, "value")?, depth + 1)?;
        let length = last.saturating_sub(first);
        let is_text = kind.may_be_text();
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
        let (a, kind) = self.expression(left, depth + 1)?;
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
            "in" | "not in" if syntax.kind(left) == "string" && kind == Kind::Text => {
                let (text, of) = self.expression(right, depth + 1)?;
                let is_text = of.may_be_text();
                let not = if operator == "in" { "" } else { "~" };
                is_text.then(|| format!("{not}({text}).contains({})", program.text_of(left)))?
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

    fn choice(&mut self, condition: &str, yes: Value, no: Value) -> Option<Value> {
        let when = self.spark("when")?;
        let chosen = match (yes, no) {
            (None, None) => return Some(None),
            (Some((a, kind)), None) => (format!("{when}({condition}, {a})"), kind),
            (None, Some((b, kind))) => (format!("{when}(~({condition}), {b})"), kind),
            (Some((a, kind_a)), Some((b, kind_b))) => {
                let kind = match kind_a {
                    Kind::Unknown => kind_b,
                    kind_a => kind_a,
                };
                let alike = kind_a == kind_b || kind_a == Kind::Unknown || kind_b == Kind::Unknown;
                alike.then(|| (format!("{when}({condition}, {a}).otherwise({b})"), kind))?
            }
        };
        Some(Some(chosen))
    }
}
