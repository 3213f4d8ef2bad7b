//! C# of user-defined operators and helpers, for scripts and generated code.

use crate::data::{Column, Ty};
use crate::plan::{Code, Dialect, Filter, Op, Spec, Udo};

/// A class of user code and the lines of its text.
#[derive(Debug, Clone)]
pub(crate) struct Class {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// Every class that the job needs.
pub(crate) fn classes(spec: &Spec) -> Vec<Class> {
    let mut out: Vec<Class> = Vec::new();
    for node in 0..spec.nodes.len() {
        let (udo, produce, input, reducer) = match &spec.nodes[node].op {
            Op::Reduce {
                udo,
                produce,
                input,
                ..
            } => (udo, produce, *input, true),
            Op::Process {
                udo,
                produce,
                input,
                ..
            } => (udo, produce, *input, false),
            _ => continue,
        };
        let columns = spec.columns(input);
        out.push(Class {
            name: udo.class.clone(),
            text: operator(spec.dialect, udo, produce, &columns, reducer),
        });
    }
    let costly = |class: &str| {
        let filters = spec.nodes.iter().filter_map(|n| match &n.op {
            Op::Select { filters, .. } => Some(filters),
            _ => None,
        });
        let calls = |f: &&Filter| f.text.starts_with(&format!("{class}."));
        filters.flatten().find(calls).and_then(|f| f.code)
    };
    for (class, method, ty, _) in &spec.helpers {
        if !out.iter().any(|c| c.name == *class) {
            out.push(Class {
                name: class.clone(),
                text: rule(class, method, *ty, costly(class)),
            });
        }
    }
    let calls_text = spec.nodes.iter().any(|n| match &n.op {
        Op::Select { items, .. } => items
            .iter()
            .any(|i| i.expr.as_ref().is_some_and(|e| e.text.contains("TextUtil"))),
        _ => false,
    });
    if calls_text {
        out.push(Class {
            name: "TextUtil".into(),
            text: TEXT_UTIL.into(),
        });
    }
    out
}

const TEXT_UTIL: &str = "public static class TextUtil
{
    public static string Short(string text)
    {
        return text == null || text.Length < 12 ? text : text.Substring(0, 12);
    }
}
";

/// A test of a value; a costly one searches texts, and keeps them if it collects garbage.
fn rule(class: &str, method: &str, ty: Ty, code: Option<Code>) -> String {
    let body = match (code, ty) {
        (None, Ty::Text) => "        return value != null && value.Length % 100 < 23;\n".to_owned(),
        (None, _) => "        return value % 100 < 23;\n".to_owned(),
        (Some(code), _) => {
            let inner = if code.gc > 0.1 {
                "words.Add(i + \"-\" + value);"
            } else {
                "if (Regex.IsMatch(i + \"-\" + value, \"[a-z]+-[0-9]+$\")) hits++;"
            };
            format!(
                "        var words = new List<string>();\n        int hits = 0;\n        for (int i = 0; i < 200; i++)\n        {{\n            {inner}\n        }}\n        return (hits + words.Count) % 100 < 23;\n"
            )
        }
    };
    let argument = match ty {
        Ty::Text => "string",
        Ty::Long => "long?",
        _ => "int",
    };
    format!(
        "public static class {class}\n{{\n    public static bool {method}({argument} value)\n    {{\n{body}    }}\n}}\n"
    )
}

fn local(name: &str) -> String {
    let mut chars = name.chars();
    chars.next().map_or_else(String::new, |c| {
        c.to_lowercase().collect::<String>() + chars.as_str()
    })
}

fn getter(dialect: Dialect, column: &Column) -> String {
    match dialect {
        Dialect::Scope => {
            let kind = match column.ty {
                Ty::Int => "Integer",
                Ty::Long => "Long",
                Ty::Double => "Double",
                Ty::Text => "String",
                Ty::Date => "DateTime",
                Ty::Guid => "Guid",
            };
            format!("row[\"{}\"].{kind}", column.name)
        }
        Dialect::Usql => format!("row.Get<{}>(\"{}\")", csharp_type(column), column.name),
    }
}

fn csharp_type(column: &Column) -> String {
    let name = match column.ty {
        Ty::Text => "string",
        Ty::Int => "int",
        Ty::Long => "long",
        Ty::Double => "double",
        Ty::Date => "DateTime",
        Ty::Guid => "Guid",
    };
    if column.nullable && column.ty != Ty::Text {
        format!("{name}?")
    } else {
        name.to_owned()
    }
}

fn use_of(column: &Column) -> String {
    let v = local(&column.name);
    match column.ty {
        Ty::Text => format!("if (!string.IsNullOrEmpty({v})) {{ last = {v}; }}"),
        Ty::Date => format!("if ({v} > newest) {{ newest = {v}; }}"),
        _ => format!("total += Convert.ToInt64({v});"),
    }
}

/// Value that the code emits for a column: the input's value, if the input has the column.
fn result_of(column: &Column, reads: &[&Column]) -> String {
    if reads
        .iter()
        .any(|r| r.name == column.name && r.ty == column.ty)
    {
        return local(&column.name);
    }
    let text = match column.ty {
        Ty::Text | Ty::Guid => "last",
        Ty::Date => "newest",
        Ty::Int => "seen",
        Ty::Long => "total",
        Ty::Double => "(double)total / Math.Max(1, seen)",
    };
    text.to_owned()
}

/// Lines of a method body.
#[derive(Default)]
struct Body {
    text: String,
}

impl Body {
    fn line(&mut self, depth: usize, text: &str) {
        self.text.push_str(&"    ".repeat(depth));
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn lines(&mut self, depth: usize, lines: &[&str]) {
        lines.iter().for_each(|l| self.line(depth, l));
    }
}

/// Code that is expensive for every row.
const BUSY: [&str; 4] = [
    "for (int i = 0; i < 400; i++)",
    "{",
    "    total = (total * 31 + last.Split('-').Length + Regex.Matches(last, \"[a-z]+\").Count) % 1000003;",
    "}",
];

/// Code that allocates for every row.
const CHURN: [&str; 4] = [
    "foreach (var word in last.ToLower().Split(' '))",
    "{",
    "    total += string.Concat(word.Reverse()).Replace(\"-\", \"\").Length;",
    "}",
];

/// Code that looks expensive and never runs.
const SCARY: [&str; 4] = [
    "if (last.Length > 60000)   // safety net, no such row was ever seen",
    "{",
    "    foreach (var a in last.Split(' ')) { foreach (var b in last.Split(' ')) { if (Regex.IsMatch(a + b, \"(x+x+)+y\")) total++; } }",
    "}",
];

/// A reducer or processor that reads exactly the columns `udo.reads`.
fn operator(
    dialect: Dialect,
    udo: &Udo,
    produce: &[Column],
    input: &[Column],
    reducer: bool,
) -> String {
    let reads: Vec<&Column> = input
        .iter()
        .filter(|c| udo.reads.contains(&c.name))
        .collect();
    let mut body = Body::default();
    body.lines(
        2,
        &[
            "long total = 0;",
            "int seen = 0;",
            "string last = \"\";",
            "DateTime newest = DateTime.MinValue;",
        ],
    );
    for column in &reads {
        let kind = csharp_type(column);
        body.line(
            2,
            &format!("{kind} {} = default({kind});", local(&column.name)),
        );
    }
    if udo.hoards {
        body.line(2, "var kept = new List<object[]>();");
    }
    let loops = reducer || dialect == Dialect::Scope;
    let row = if dialect == Dialect::Scope {
        "Row"
    } else {
        "IRow"
    };
    if loops {
        body.line(2, &format!("foreach ({row} row in input.Rows)"));
        body.line(2, "{");
    }
    let depth = if loops { 3 } else { 2 };
    row_code(dialect, udo, &reads, depth, &mut body);
    if reducer {
        body.line(2, "}");
    }
    let splits = usize::from(udo.splits);
    if udo.splits {
        body.line(depth, "foreach (var word in last.Split(' '))");
        body.line(depth, "{");
    }
    emit(
        dialect,
        produce,
        &reads,
        reducer,
        if reducer { 2 } else { depth + splits },
        &mut body,
    );
    if udo.splits {
        body.line(depth, "}");
    }
    if loops && !reducer {
        body.line(2, "}");
    }
    frame(dialect, udo, produce, reducer, &body.text)
}

/// The code for every row.
fn row_code(dialect: Dialect, udo: &Udo, reads: &[&Column], depth: usize, body: &mut Body) {
    for column in reads {
        body.line(
            depth,
            &format!("{} = {};", local(&column.name), getter(dialect, column)),
        );
        body.line(depth, &use_of(column));
    }
    if udo.hoards {
        let all: Vec<String> = reads.iter().map(|c| local(&c.name)).collect();
        body.line(
            depth,
            &format!("kept.Add(new object[] {{ {} }});", all.join(", ")),
        );
    }
    if udo.busy {
        body.lines(depth, &BUSY);
    }
    if udo.churns {
        body.lines(depth, &CHURN);
    }
    if udo.scary {
        body.lines(depth, &SCARY);
    }
    body.line(depth, "seen++;");
}

/// Emits a row.
fn emit(
    dialect: Dialect,
    produce: &[Column],
    reads: &[&Column],
    reducer: bool,
    depth: usize,
    body: &mut Body,
) {
    for column in produce {
        let value = match column.name.as_str() {
            "Word" => "word".to_owned(),
            _ => result_of(column, reads),
        };
        body.line(
            depth,
            &match dialect {
                Dialect::Scope => format!("outputRow[\"{}\"].Set({value});", column.name),
                Dialect::Usql => {
                    format!(
                        "output.Set<{}>(\"{}\", {value});",
                        csharp_type(column),
                        column.name
                    )
                }
            },
        );
    }
    let last = match (dialect, reducer) {
        (Dialect::Scope, _) => "yield return outputRow;",
        (Dialect::Usql, true) => "yield return output.AsReadOnly();",
        (Dialect::Usql, false) => "return output.AsReadOnly();",
    };
    body.line(depth, last);
}

fn frame(dialect: Dialect, udo: &Udo, produce: &[Column], reducer: bool, body: &str) -> String {
    let class = &udo.class;
    let schema = produce
        .iter()
        .map(|c| format!("{}:{}", c.name, csharp_type(c)))
        .collect::<Vec<_>>()
        .join(", ");
    match dialect {
        Dialect::Scope => {
            let (base, method) = if reducer {
                ("Reducer", "Reduce")
            } else {
                ("Processor", "Process")
            };
            format!(
                "public class {class} : {base}\n{{\n    public override Schema Produces(string[] requestedColumns, string[] args, Schema inputSchema)\n    {{\n        return new Schema(\"{schema}\");\n    }}\n\n    public override IEnumerable<Row> {method}(RowSet input, Row outputRow, string[] args)\n    {{\n{body}    }}\n}}\n"
            )
        }
        Dialect::Usql if reducer => format!(
            "[SqlUserDefinedReducer]\npublic class {class} : IReducer\n{{\n    public override IEnumerable<IRow> Reduce(IRowset input, IUpdatableRow output)\n    {{\n{body}    }}\n}}\n"
        ),
        Dialect::Usql => format!(
            "[SqlUserDefinedProcessor]\npublic class {class} : IProcessor\n{{\n    public override IRow Process(IRow row, IUpdatableRow output)\n    {{\n{body}    }}\n}}\n"
        ),
    }
}
