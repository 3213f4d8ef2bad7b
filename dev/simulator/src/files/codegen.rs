//! `__ScopeCodeGen__.dll.cs`: generated code with the user's classes.

use crate::outcome::Outcome;
use crate::physical::{Kind, PhysOp};
use crate::plan::Op;

/// Writes the file.
pub(crate) fn write(o: &Outcome) -> String {
    let mut text = String::from(
        "using Microsoft.SCOPE.Types;\nusing ScopeRuntime;\nusing System;\nusing System.Collections.Generic;\nusing System.Linq;\nusing System.Text.RegularExpressions;\n\n",
    );
    for class in &o.classes {
        text.push_str(&class.text);
        text.push('\n');
    }
    text.push_str("public class ___Scope_Generated_Classes___\n{\n");
    for (_, stage) in o.physical.live() {
        for op in stage.ops.iter().filter(|op| op.kind == Kind::ManagedFilter) {
            transformer(o, op, &mut text);
        }
    }
    text.push_str("}\n");
    text
}

/// Line (1-based) of the first statement inside the method of a class, for stack traces.
pub(crate) fn line_in(o: &Outcome, class: &str) -> usize {
    let text = write(o);
    let from = text
        .lines()
        .position(|l| l.contains(&format!("class {class} ")))
        .unwrap_or(0);
    let body = text
        .lines()
        .skip(from)
        .position(|l| l.trim_start().starts_with("total "))
        .unwrap_or(6);
    from + body + 1
}

fn transformer(o: &Outcome, op: &PhysOp, text: &mut String) {
    let Op::Select { items, filters, .. } = &o.spec.nodes[op.node].op else {
        return;
    };
    text.push_str(&format!(
        "\tpublic class SqlFilterTransformer_{} : IProcessor\n\t{{\n",
        op.uid
    ));
    text.push_str("\t\tpublic override IRow Process(IRow inRow, IUpdatableRow outRow)\n\t\t{\n");
    text.push_str("\t\t\tint exceptionIndex = 0;\n");
    for (i, c) in op.columns.iter().enumerate() {
        text.push_str(&format!(
            "\t\t\t{} col_{} = row.GetInternal<{}>({i});\n",
            c.ty.clr(),
            c.name,
            c.ty.clr()
        ));
    }
    let shown = |t: &str| t.replace('"', "\"\"");
    let conditions: Vec<String> = filters.iter().map(|f| f.text.clone()).collect();
    text.push_str(&format!(
        "\t\t\tif ({})\n\t\t\t{{\n",
        if conditions.is_empty() {
            "true".into()
        } else {
            conditions.join(" && ")
        }
    ));
    for (i, c) in op.columns.iter().enumerate() {
        let value = items
            .iter()
            .find(|item| item.name == c.name)
            .and_then(|item| item.expr.as_ref())
            .map_or_else(|| format!("col_{}", c.name), |e| e.text.clone());
        text.push_str(&format!(
            "\t\t\t\toutput.SetInternal<{}>({i}, ({value}));\n\t\t\t\texceptionIndex++;\n",
            c.ty.clr()
        ));
    }
    text.push_str("\t\t\t}\n\t\t\treturn output.AsReadOnly();\n\t\t}\n\t\tpublic static string[] exceptionsInfo =\n\t\t{\n");
    for f in filters {
        text.push_str(&format!("\t\t\t@\"{}\",\n", shown(&f.text)));
    }
    for item in items.iter().filter_map(|i| i.expr.as_ref()) {
        text.push_str(&format!("\t\t\t@\"{}\",\n", shown(&item.text)));
    }
    text.push_str("\t\t};\n\t}\n");
}
