//! Rewritten scripts, refused scripts, and the results of the checks.

mod checks;
mod rewrites;

use equivalence::{Facts, Judgment};
use job::model::{ColumnStatistics, Table};
use job::script::Script;

use super::Rewrite;

/// Tables for executing scripts before and after a rewrite.
const TABLES: [(&str, &[(&str, &str)]); 3] = [
    ("@l", &[("K", "long?"), ("A", "long"), ("U", "long?")]),
    ("@r", &[("K", "long?"), ("B", "long")]),
    (
        "@t",
        &[
            ("K", "long"),
            ("U", "long"),
            ("X", "long"),
            ("Time", "DateTime"),
        ],
    ),
];

fn tables() -> Vec<Table> {
    let tables = TABLES.map(|(path, columns)| Table {
        path: Some(path.to_owned()),
        columns: columns
            .iter()
            .map(|(name, type_name)| ColumnStatistics {
                name: (*name).to_owned(),
                type_name: Some((*type_name).to_owned()),
                ..ColumnStatistics::default()
            })
            .collect(),
        ..Table::default()
    });
    tables.into()
}

fn parse(text: &str) -> Script {
    let script = Script::parse("scope.script", text.to_owned());
    assert_eq!(script.errors, [], "in {text}");
    script
}

/// The new text. It must pass every check and, if its tables are known, give the same rows.
fn applied(script: &Script, rewrite: Option<Rewrite>) -> String {
    let Some(rewrite) = rewrite else {
        panic!("not rewritten:\n{}", script.text)
    };
    let text = rewrite.apply(&script.text).expect("the edits fit together");
    let checked = rewrite.checked(script, &|_| None);
    assert!(checked.is_some(), "a check fails on:\n{text}");
    if script.text.contains("@t)") || script.text.contains("@l)") {
        let facts = Facts {
            tables: &tables(),
            reads: &|_| None,
            rewrites: &[],
        };
        let found = equivalence::execute(script, &parse(&text), &facts);
        assert!(
            matches!(found, Judgment::Proven | Judgment::Tested),
            "{found:?}\n{text}"
        );
    }
    text
}
