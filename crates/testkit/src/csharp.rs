//! C# of user-defined operators and helpers, as it stands in scripts and in generated code.

use crate::data::{Column, Ty};
use crate::plan::{Dialect, Op, Spec, Udo};

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
            } => (udo, produce, *input, false),
            _ => continue,
        };
        let columns = spec.columns(input);
        out.push(Class {
            name: udo.class.clone(),
            text: operator(spec.dialect, udo, produce, &columns, reducer),
        });
    }
    for (class, method, ..) in &spec.helpers {
        if !out.iter().any(|c| c.name == *class) {
            out.push(Class {
                name: class.clone(),
                text: rule(class, method),
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

fn rule(class: &str, method: &str) -> String {
    format!(
        "public static class {class}\n{{\n    public static bool {method}(int value)\n    {{\n        return value % 100 < 23;\n    }}\n}}\n"
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

fn result_of(column: &Column) -> &'static str {
    match column.ty {
        Ty::Text | Ty::Guid => "last",
        Ty::Date => "newest",
        Ty::Int => "seen",
        Ty::Long => "total",
        Ty::Double => "(double)total / Math.Max(1, seen)",
    }
}

/// A reducer or processor that reads exactly the columns of `udo.reads`.
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
    let mut body = String::new();
    let add = |body: &mut String, depth: usize, text: &str| {
        body.push_str(&"    ".repeat(depth));
        body.push_str(text);
        body.push('\n');
    };
    for line in [
        "long total = 0;",
        "int seen = 0;",
        "string last = \"\";",
        "DateTime newest = DateTime.MinValue;",
    ] {
        add(&mut body, 2, line);
    }
    if udo.hoards {
        add(&mut body, 2, "var kept = new List<object[]>();");
    }
    let rows = if reducer || dialect == Dialect::Scope {
        add(
            &mut body,
            2,
            if dialect == Dialect::Scope {
                "foreach (Row row in input.Rows)"
            } else {
                "foreach (IRow row in input.Rows)"
            },
        );
        add(&mut body, 2, "{");
        3
    } else {
        2
    };
    for column in &reads {
        add(
            &mut body,
            rows,
            &format!("var {} = {};", local(&column.name), getter(dialect, column)),
        );
        add(&mut body, rows, &use_of(column));
    }
    if udo.hoards {
        let all: Vec<String> = reads.iter().map(|c| local(&c.name)).collect();
        add(
            &mut body,
            rows,
            &format!("kept.Add(new object[] {{ {} }});", all.join(", ")),
        );
    }
    if udo.busy {
        for line in [
            "for (int i = 0; i < 400; i++)",
            "{",
            "    total = (total * 31 + last.Split('-').Length + Regex.Matches(last, \"[a-z]+\").Count) % 1000003;",
            "}",
        ] {
            add(&mut body, rows, line);
        }
    }
    if udo.scary {
        for line in [
            "if (last.Length > 60000)   // safety net, no such row was ever seen",
            "{",
            "    foreach (var a in last.Split(' ')) { foreach (var b in last.Split(' ')) { if (Regex.IsMatch(a + b, \"(x+x+)+y\")) total++; } }",
            "}",
        ] {
            add(&mut body, rows, line);
        }
    }
    add(&mut body, rows, "seen++;");
    emit(dialect, produce, reducer, &mut body, rows, &add);
    frame(dialect, udo, produce, reducer, &body)
}

fn emit(
    dialect: Dialect,
    produce: &[Column],
    reducer: bool,
    body: &mut String,
    rows: usize,
    add: &dyn Fn(&mut String, usize, &str),
) {
    let per_row = !reducer;
    let depth = if per_row { rows } else { 2 };
    if !per_row {
        add(body, 2, "}");
    }
    let target = if dialect == Dialect::Scope {
        "outputRow"
    } else {
        "output"
    };
    for column in produce {
        let value = result_of(column);
        let line = match dialect {
            Dialect::Scope => format!("{target}[\"{}\"].Set({value});", column.name),
            Dialect::Usql => format!(
                "{target}.Set<{}>(\"{}\", {value});",
                csharp_type(column),
                column.name
            ),
        };
        add(body, depth, &line);
    }
    let last = match (dialect, reducer) {
        (Dialect::Scope, _) => "yield return outputRow;",
        (Dialect::Usql, true) => "yield return output.AsReadOnly();",
        (Dialect::Usql, false) => "return output.AsReadOnly();",
    };
    add(body, depth, last);
    if per_row && dialect == Dialect::Scope {
        add(body, 2, "}");
    }
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
