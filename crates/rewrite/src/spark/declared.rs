//! The Python function that a program declares as a row-wise UDF.

use job::code::{Call, Program, only};

/// The kind of value of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Whole,
    Real,
    Truth,
    /// The value of a column.
    Unknown,
}

impl Kind {
    /// Whether the value may be a text.
    pub(super) fn may_be_text(self) -> bool {
        matches!(self, Kind::Text | Kind::Unknown)
    }
}

/// A function of rows: its parameters, its statements or its only expression, and its declared type.
pub(super) struct Function<'p> {
    pub(super) parameters: Vec<&'p str>,
    pub(super) body: Vec<usize>,
    pub(super) returns: Option<Kind>,
    pub(super) kind: String,
}

/// The definition behind a call: decorated, assigned from `udf(…)`, or called as `udf(…)(…)`.
pub(super) fn definition<'p>(program: &'p Program, call: &Call) -> Option<Function<'p>> {
    if let Some(made) = made_by(program, call) {
        return of_udf(program, made);
    }
    let syntax = &program.syntax;
    let node = program.function_with(|name| name == call.name)?;
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

/// The function or lambda that a call applies to rows: passed to it, or declared as a UDF of its name.
pub(super) fn code_of(program: &Program, call: &Call) -> Option<usize> {
    let made = made_by(program, call).and_then(|made| passed_to(program, made));
    made.or_else(|| passed_to(program, call))
        .or_else(|| program.function_named_by(call))
}

/// The call that makes the UDF of another call.
fn made_by<'p>(program: &'p Program, call: &Call) -> Option<&'p Call> {
    let made = program.syntax.child(call.node, "function");
    made.and_then(|at| program.call_of(at)).or_else(|| {
        only(program.calls.iter().filter(|c| {
            let target = program.statements[c.statement].target.as_deref();
            c.name.ends_with("udf") && target == Some(call.name.as_str())
        }))
    })
}

/// The function or lambda in the first argument of a call.
fn passed_to(program: &Program, call: &Call) -> Option<usize> {
    let code = call.arguments.first()?.node;
    let is_lambda = program.syntax.kind(code) == "lambda";
    let named = || program.function_with(|name| name == program.text_of(code));
    is_lambda.then_some(code).or_else(named)
}

fn of_udf<'p>(program: &'p Program, made: &Call) -> Option<Function<'p>> {
    let syntax = &program.syntax;
    let kind = returned(program, made, 1)?;
    let mut arguments = made.arguments.iter();
    arguments
        .next()
        .filter(|a| made.name == "udf" && a.keyword.is_none())?;
    let code = passed_to(program, made)?;
    if syntax.kind(code) != "lambda" {
        return of_definition(program, code, kind);
    }
    Some(Function {
        parameters: parameters(program, syntax.child(code, "parameters")?)?,
        body: vec![syntax.child(code, "body")?],
        returns: kind_of(&kind),
        kind,
    })
}

/// A function, without its description.
fn of_definition(program: &Program, node: usize, kind: String) -> Option<Function<'_>> {
    let syntax = &program.syntax;
    let body = syntax.child(node, "body")?;
    let is_text = |at: &usize| {
        syntax.kind(*at) == "comment"
            || syntax.kind(*at) == "expression_statement"
                && syntax.children(*at).all(|c| syntax.kind(c) == "string")
    };
    Some(Function {
        parameters: parameters(program, syntax.child(node, "parameters")?)?,
        body: syntax.children(body).filter(|at| !is_text(at)).collect(),
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
