//! Sets Spark's settings in a program.

use job::code::{Program, only, sql};
use report::Setting;

use super::{Rewrite, lines_after};
use job::script::Span;

/// Changes the settings that the program sets itself, and sets the others where the session is created. `None` if one
/// of them can only be set at the start of the application.
pub fn set(program: &Program, settings: &[&Setting]) -> Option<Rewrite> {
    let mut rewrite = Rewrite {
        // with Arrow, a NaN of pandas becomes null
        reorders: settings.iter().any(|s| s.key.contains(".arrow.")),
        ..Rewrite::default()
    };
    let mut new = Vec::new();
    for setting in settings {
        match value_of(program, &setting.key) {
            Some((value, is_in_query)) => {
                // Spark would keep the quotes of a value in a query
                let text = match is_in_query {
                    true => setting.suggested.clone(),
                    false => like(program.slice(&value), &setting.suggested),
                };
                rewrite.replace(0, value, text);
            }
            None if setting.is_of_session() => {
                new.push(format!("(\"{}\", \"{}\")", setting.key, setting.suggested));
            }
            None => return None,
        }
    }
    if !new.is_empty() {
        add(program, &new, &mut rewrite)?;
    }
    (!rewrite.edits.is_empty()).then_some(rewrite)
}

/// Whether the program sets a setting.
pub fn sets(program: &Program, key: &str) -> bool {
    value_of(program, key).is_some()
}

/// The value of a setting where the program sets it last: `config(key, value)`, `set(key, value)`, `{key: value}`,
/// `(key, value)`, or `SET key = value` in a query; and whether it is in a query.
fn value_of(program: &Program, key: &str) -> Option<(Span, bool)> {
    let syntax = &program.syntax;
    let mut keys = (0..syntax.nodes.len()).filter(|at| program.string(*at) == Some(key));
    let value = |at: usize| {
        let above = syntax.nodes[at].parent;
        let is_setter = || {
            let call = program.call_of(syntax.nodes[above].parent);
            call.is_some_and(|c| matches!(c.name.as_str(), "config" | "set" | "setIfMissing"))
        };
        match syntax.kind(above) {
            "argument_list" if !is_setter() => None,
            "argument_list" | "tuple" => {
                let mut parts = syntax.children(above);
                (parts.next() == Some(at)).then_some(())?;
                parts.next().filter(|_| parts.next().is_none())
            }
            _ if syntax.nodes[at].field == Some("key") => syntax.child(above, "value"),
            _ => None,
        }
    };
    let in_code = keys.rfind(|at| value(*at).is_some()).and_then(value);
    in_code.map(|at| (syntax.span(at), false)).or_else(|| {
        let of_query = |span: &Span| {
            let tokens = sql::tokens(&program.text, span);
            let is = |at: usize, text: &str| {
                program.text[tokens[at].span.clone()].eq_ignore_ascii_case(text)
            };
            let fits = tokens.len() > 3 && is(0, "SET") && is(1, key) && is(2, "=");
            let last = tokens.last().filter(|_| fits)?;
            // `64MB` is two tokens
            let end = tokens[3..]
                .iter()
                .find(|t| program.text[t.span.clone()] == *";");
            let end = end.map_or(last.span.end, |t| t.span.start);
            Some((tokens[3].span.start..end, true))
        };
        program
            .queries
            .iter()
            .rev()
            .find_map(|query| of_query(&query.span))
    })
}

/// A value in the form of the one that it replaces.
fn like(old: &str, value: &str) -> String {
    let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    match old.chars().next() {
        Some(c) if is_number(value) && (c.is_ascii_digit() || is_number(old)) => value.to_owned(),
        Some('\'') => format!("'{value}'"),
        _ => format!("\"{value}\""),
    }
}

/// Whether an expression is a session.
pub(super) fn is_session(value: &str) -> bool {
    value.contains("builder") && value.trim_end().ends_with(".getOrCreate()")
}

/// Sets settings behind the statement that creates the session, or in its builder.
fn add(program: &Program, settings: &[String], rewrite: &mut Rewrite) -> Option<()> {
    let mut sessions = program.statements.iter().enumerate().filter(|(_, s)| {
        let value = s.value.map_or("", |at| program.text_of(at));
        s.function.is_none() && is_session(value)
    });
    if let Some((at, session)) = sessions.next()
        && let Some(name) = session.target.as_deref()
    {
        let line = |setting: &String| format!("{name}.conf.set{setting}");
        let lines: Vec<String> = settings.iter().map(line).collect();
        return lines_after(program, at, &lines, rewrite);
    }
    let created = only(program.calls.iter().filter(|c| c.name == "getOrCreate"))?;
    let before = program.syntax.span(created.receiver?).end;
    program
        .text_of(created.receiver?)
        .contains("builder")
        .then_some(())?;
    let gap = &program.text[before..created.span.start];
    let text: String = settings
        .iter()
        .map(|setting| format!(".config{setting}{gap}"))
        .collect();
    let start = created.span.start;
    rewrite.replace(created.statement, start..start, text);
    Some(())
}

#[cfg(test)]
mod tests {
    use job::code::Program;
    use report::Setting;

    use super::set;

    fn changed(text: &str, key: &str) -> Option<String> {
        let program = Program::parse("a.py", text);
        let setting = Setting {
            key: key.to_owned(),
            current: None,
            source: None,
            suggested: "8".to_owned(),
            unit: None,
            reason: String::new(),
        };
        let rewrite = set(&program, &[&setting])?;
        assert!(rewrite.checked_program(&program).is_some(), "{text}");
        rewrite.apply(text)
    }

    #[test]
    fn a_setting_changes_where_the_program_sets_it() {
        const KEY: &str = "spark.sql.shuffle.partitions";
        for (before, after) in [
            (
                "def s():\n    return SparkSession.builder.config(\"KEY\", 200).getOrCreate()\nimport x\n",
                "def s():\n    return SparkSession.builder.config(\"KEY\", 8).getOrCreate()\nimport x\n",
            ),
            (
                "import x\nc = SparkConf().setAll([('KEY', '200'), (\"b\", \"1\")])\n",
                "import x\nc = SparkConf().setAll([('KEY', '8'), (\"b\", \"1\")])\n",
            ),
            (
                "import x\nfor k, v in {\"KEY\": str(200)}.items():\n    b = b.config(k, v)\n",
                "import x\nfor k, v in {\"KEY\": \"8\"}.items():\n    b = b.config(k, v)\n",
            ),
            ("SET KEY = 200;\nSELECT 1;\n", "SET KEY = 8;\nSELECT 1;\n"),
            // the builder, where no name has the session
            (
                "import x\ndef s():\n    return (SparkSession.builder\n            .appName(\"a\")\n            .getOrCreate())\n",
                "import x\ndef s():\n    return (SparkSession.builder\n            .appName(\"a\")\n            .config(\"KEY\", \"8\")\n            .getOrCreate())\n",
            ),
        ] {
            let [before, after] = [before, after].map(|text| text.replace("KEY", KEY));
            assert_eq!(changed(&before, KEY), Some(after), "{before}");
        }
    }

    #[test]
    fn other_settings_are_not_set() {
        for (text, key) in [
            // only at the start of the application
            (
                "import x\ns = SparkSession.builder.getOrCreate()\n",
                "spark.executor.cores",
            ),
            // the key is read
            (
                "import x\nn = spark.conf.get(\"spark.executor.cores\", 2)\n",
                "spark.executor.cores",
            ),
            (
                "import x\nd = spark.range(9)\n",
                "spark.sql.shuffle.partitions",
            ),
        ] {
            assert_eq!(changed(text, key), None, "{text}");
        }
    }
}
