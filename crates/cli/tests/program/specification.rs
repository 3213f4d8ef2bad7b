//! `docs/specification.md`: the table of the specification's sections.

use std::collections::BTreeSet;
use std::path::Path;

use testkit::knowledge::root;

/// Names of all test functions below a folder.
fn tests(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            tests(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(&path).expect("a source file");
            let names = text.split("fn ").skip(1);
            let names = names.filter_map(|rest| rest.split_once("()").map(|(name, _)| name));
            found.extend(names.map(str::to_owned));
        }
    }
}

#[test]
fn sections_1_to_10_of_the_specification_name_tests_that_exist_and_are_named_after_them() {
    let mut known = BTreeSet::new();
    tests(&root().join("crates"), &mut known);
    let table = std::fs::read_to_string(root().join("docs/specification.md")).expect("the table");
    let rows: Vec<&str> = table
        .lines()
        .filter(|line| line.starts_with("| "))
        .skip(1)
        .collect();
    assert!(rows.len() > 12);
    for row in rows {
        let named = row.rsplit('|').nth(1).unwrap_or_default();
        let named: Vec<&str> = named
            .split(',')
            .map(|n| n.trim().trim_matches('`'))
            .collect();
        assert!(named.iter().all(|name| known.contains(*name)), "{row}");
        let section = row.split('|').nth(1).unwrap_or_default().trim();
        let own = match section {
            "background" => "background_".to_owned(),
            number => format!("section_{}_", number.replace('.', "_")),
        };
        assert!(named.iter().any(|name| name.starts_with(&own)), "{row}");
    }
}
