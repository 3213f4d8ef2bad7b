//! Broadcasts a collection that a Python function looks values up in, so that a worker loads it once instead of once per task.

use std::collections::BTreeSet;

use job::code::{Call, Program, Statement, only};

use super::columns::identifiers;
use super::declared::code_of;
use super::settings::is_session;
use super::{Rewrite, lines_after};

/// Names of a session and of a context in the code around a function.
const SESSIONS: [&str; 3] = ["spark", "session", "spark_session"];
const CONTEXTS: [&str; 3] = ["sc", "spark_context", "sparkContext"];

/// Functions that make a collection of their arguments.
const COLLECTIONS: [&str; 6] = ["dict", "list", "set", "tuple", "frozenset", "fromkeys"];

/// Methods of a collection that do not change it.
const READING: [&str; 4] = ["get", "keys", "values", "items"];

/// Statements and lists that give a name another meaning.
const BINDING: &str =
    "parameters|lambda_parameters|typed_parameter|global_statement|delete_statement";

/// Broadcasts the only collection of unknown size that the function of a call, or a function that it calls, looks values up in.
pub fn broadcast(program: &Program, call: &Call) -> Option<Rewrite> {
    let syntax = &program.syntax;
    let mut open = vec![code_of(program, call)?];
    let mut codes = BTreeSet::new();
    let mut found = Vec::new();
    while let Some(code) = open.pop() {
        if !codes.insert(code) {
            continue;
        }
        let called = syntax.subtree(code).filter_map(|at| program.call_of(at));
        open.extend(called.filter_map(|c| program.function_with(|name| name == c.name)));
        let names = syntax.subtree(code).filter(|at| is_looked_up(program, *at));
        let names: BTreeSet<&str> = names.map(|at| program.text_of(at)).collect();
        found.extend(names.into_iter().map(|name| (code, name)));
    }
    let changes = found.into_iter();
    only(changes.filter_map(|(code, name)| of_name(program, code, &codes, name)))
}

fn of_name(program: &Program, code: usize, codes: &BTreeSet<usize>, name: &str) -> Option<Rewrite> {
    let syntax = &program.syntax;
    let is_scope = |at: &usize| matches!(syntax.kind(*at), "function_definition" | "module");
    // the functions around the code, and the module
    let (scope, at) = syntax
        .upward(code)
        .skip(1)
        .filter(is_scope)
        .find_map(|scope| {
            let own = Some(scope).filter(|at| *at > 0);
            let all = program.statements.iter().enumerate();
            let assigning = all.filter(|(_, s)| {
                s.target.as_deref() == Some(name) && s.scopes.first().copied() == own
            });
            Some((scope, only(assigning)?.0))
        })?;
    let own = &program.statements[at];
    // a function that runs on workers has no context
    if own.scopes.iter().any(|scope| codes.contains(scope)) || has_own_types(program) {
        return None;
    }
    let value = own.value.filter(|value| is_large(program, *value, at))?;
    let mut uses = identifiers(program, scope, name);
    uses.retain(|node| syntax.span(*node).start != own.span.start);
    let is_read = |node: &usize| {
        let above = syntax.nodes[*node].parent;
        let is_item = syntax.kind(above) == "subscript";
        let field = syntax.nodes[if is_item { above } else { *node }].field;
        // its other methods, and functions that get it, may change it
        let is_kept = match syntax.kind(above) {
            "attribute" => {
                let method = program.text_of(above).rsplit('.').next();
                method.is_some_and(|method| READING.contains(&method))
            }
            "argument_list" => {
                let call = program.call_of(syntax.nodes[above].parent);
                call.is_some_and(|call| call.name == "len")
            }
            _ => true,
        };
        is_kept
            && !matches!(field, Some("left" | "name" | "alias"))
            && BINDING.split('|').all(|kind| kind != syntax.kind(above))
    };
    let in_code = |node: &&usize| (code..syntax.nodes[code].end).contains(*node);
    let is_table = uses
        .iter()
        .filter(in_code)
        .all(|at| is_looked_up(program, *at));
    if !is_table || !uses.iter().all(is_read) {
        return None;
    }
    // a broadcast is pickled more strictly than a function
    let mut rewrite = Rewrite {
        reorders: true,
        ..Rewrite::default()
    };
    if let Some(context) = context(program, at) {
        let span = syntax.span(value);
        rewrite.replace(at, span.start..span.start, format!("{context}.broadcast("));
        rewrite.replace(at, span.end..span.end, ")");
    } else {
        // the session comes later
        let mut later = (at + 1..program.statements.len())
            .map(|at| (at, &program.statements[at]))
            .filter(|(_, s)| s.scopes == own.scopes)
            .take_while(|(_, s)| !s.reads.contains(name));
        let (session, context) = later.find_map(|(at, s)| Some((at, of_session(program, s)?)))?;
        let line = format!("{name} = {context}.broadcast({name})");
        lines_after(program, session, &[line], &mut rewrite)?;
    }
    for node in uses {
        let end = syntax.span(node).end;
        rewrite.replace(at, end..end, ".value");
    }
    Some(rewrite)
}

/// Whether a name is used as in `table.get(key)`, `table[key]` and `key in table`.
fn is_looked_up(program: &Program, node: usize) -> bool {
    let syntax = &program.syntax;
    let above = syntax.nodes[node].parent;
    let found = match syntax.kind(above) {
        "attribute" => {
            let called = syntax.nodes[above].field == Some("function");
            called && program.text_of(above) == format!("{}.get", program.text_of(node))
        }
        "subscript" => syntax.child(above, "value") == Some(node),
        "comparison_operator" => {
            let before = syntax.span(above).start..syntax.span(node).start;
            let is_last = syntax.span(node).end == syntax.span(above).end;
            is_last && program.slice(&before).trim_end().ends_with(" in")
        }
        _ => false,
    };
    found && syntax.kind(node) == "identifier"
}

/// Whether the program computes or loads a value, rather than listing its items.
fn is_large(program: &Program, value: usize, statement: usize) -> bool {
    let syntax = &program.syntax;
    let value = program.bound(value, statement);
    let mut nested = syntax.subtree(value).skip(1);
    let is_computed = nested.any(|at| program.call_of(at).is_some());
    match syntax.kind(value) {
        "call" => program.call_of(value).is_some_and(|call| {
            let name = call.name.as_str();
            let is_class = name.starts_with(char::is_uppercase) || name == "compile";
            let is_listed = COLLECTIONS.contains(&name) && !is_computed;
            !is_class && !is_listed && name != "broadcast"
        }),
        "attribute" => true,
        // a comprehension of a dictionary or a set
        "" | "list_comprehension" => is_computed,
        _ => false,
    }
}

/// An expression for the context in front of a statement: of a parameter or a field, or of an earlier statement.
fn context(program: &Program, at: usize) -> Option<String> {
    let syntax = &program.syntax;
    let own = &program.statements[at];
    let named = |node: usize| {
        let name = program.text_of(node);
        let last = name.rsplit('.').next().unwrap_or_default();
        let is_own = syntax.kind(node) == "identifier" || name.starts_with("self.");
        match last {
            _ if CONTEXTS.contains(&last) && is_own => Some(name.to_owned()),
            _ if SESSIONS.contains(&last) && is_own => Some(format!("{name}.sparkContext")),
            _ => None,
        }
    };
    let parameters = own
        .scopes
        .iter()
        .filter_map(|at| syntax.child(*at, "parameters"));
    let is_class = |at: &usize| syntax.kind(*at) == "class_definition";
    let class = own
        .scopes
        .first()
        .and_then(|at| syntax.upward(*at).find(is_class));
    let fields = class.into_iter().flat_map(|at| syntax.subtree(at));
    let fields = fields.filter(|at| syntax.kind(*at) == "attribute");
    let mut nodes = parameters.flat_map(|at| syntax.subtree(at)).chain(fields);
    nodes.find_map(named).or_else(|| {
        let earlier = program.statements[..at].iter().rev();
        let mut visible = earlier.filter(|s| s.scopes.iter().all(|at| own.scopes.contains(at)));
        visible.find_map(|s| of_session(program, s))
    })
}

/// The context that a statement assigns, or the one of the session that it assigns.
fn of_session(program: &Program, statement: &Statement) -> Option<String> {
    let name = statement.target.as_deref()?;
    let value = program.text_of(statement.value?);
    let is_context = value.ends_with(".sparkContext")
        || value.starts_with("SparkContext(")
        || value.starts_with("SparkContext.getOrCreate(");
    match is_session(value) {
        true => Some(format!("{name}.sparkContext")),
        false => is_context.then(|| name.to_owned()),
    }
}

/// Whether a program has types of its own, whose values the workers may not be able to load from a broadcast.
fn has_own_types(program: &Program) -> bool {
    let text = &program.text;
    [
        "namedtuple(",
        "NamedTuple",
        "defaultdict(lambda",
        "@dataclass",
    ]
    .iter()
    .any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use job::code::Program;

    use super::broadcast;

    fn changed(text: &str, method: &str) -> Option<String> {
        let program = Program::parse("a.py", text);
        let call = program.calls.iter().rfind(|call| call.name == method)?;
        let rewrite = broadcast(&program, call)?;
        assert!(rewrite.checked_program(&program).is_some(), "{text}");
        rewrite.apply(text)
    }

    #[test]
    fn a_collection_of_unknown_size_is_broadcast() {
        for (before, method, after) in [
            // of the function around it
            (
                "class A:\n    def g(self):\n        names = self.names\n\n        def at(e):\n            return names.get(e)\n\n        return self.sc.textFile(p).map(at)\n",
                "map",
                "class A:\n    def g(self):\n        names = self.sc.broadcast(self.names)\n\n        def at(e):\n            return names.value.get(e)\n\n        return self.sc.textFile(p).map(at)\n",
            ),
            // of the module, behind the session
            (
                "spark = SparkSession.builder.getOrCreate()\nnames = load(p)\nf = F.udf(lambda k: names[k] if k in names else None)\nprint(len(names))\nr = d.withColumn(\"n\", f(\"k\"))\n",
                "f",
                "spark = SparkSession.builder.getOrCreate()\nnames = spark.sparkContext.broadcast(load(p))\nf = F.udf(lambda k: names.value[k] if k in names.value else None)\nprint(len(names.value))\nr = d.withColumn(\"n\", f(\"k\"))\n",
            ),
            // in front of the session, read by a function that the function calls
            (
                "names = {k: v for k, v in load(p)}\ndef look(k):\n    return names[k]\ndef f(r):\n    return look(r[0])\nsc = SparkContext(conf=c)\nr = sc.textFile(p).map(f)\n",
                "map",
                "names = {k: v for k, v in load(p)}\ndef look(k):\n    return names.value[k]\ndef f(r):\n    return look(r[0])\nsc = SparkContext(conf=c)\nnames = sc.broadcast(names)\nr = sc.textFile(p).map(f)\n",
            ),
        ] {
            assert_eq!(changed(before, method).as_deref(), Some(after), "{before}");
        }
    }

    #[test]
    fn other_names_stay() {
        const HEAD: &str = "sc = SparkContext(conf=c)\n";
        for text in [
            // few items
            "names = {\"a\": 1}\nr = rows.map(lambda k: names.get(k))\n",
            "names = dict(a=1)\nr = rows.map(lambda k: names.get(k))\n",
            // not looked up
            "names = load(p)\nr = rows.map(lambda k: names.find(k))\n",
            "names = load(p)\nr = rows.map(lambda k: (names.get(k), len(names)))\n",
            // filled later, or assigned twice
            "names = load(p)\nnames[\"a\"] = 1\nr = rows.map(lambda k: names.get(k))\n",
            "names = load(p)\nnames = load(q)\nr = rows.map(lambda k: names.get(k))\n",
            "names = load(p)\nnames.update(load(q))\nr = rows.map(lambda k: names.get(k))\n",
            "names = load(p)\nfill(names)\nr = rows.map(lambda k: names.get(k))\n",
            // loaded by the workers
            "def g(part):\n    names = load(p)\n    return [look(k, names.get(k)) for k in part]\nr = rows.map(g)\n",
            // another name in another function
            "names = load(p)\ndef g(names):\n    return names\nr = rows.map(lambda k: names.get(k))\n",
            "names = sc.broadcast(load(p))\nr = rows.map(lambda k: names[k])\n",
        ] {
            assert_eq!(changed(&format!("{HEAD}{text}"), "map"), None, "{text}");
        }
        let without_context = "names = load(p)\nr = rows.map(lambda k: names.get(k))\n";
        assert_eq!(changed(without_context, "map"), None);
    }
}
