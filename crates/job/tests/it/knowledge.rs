//! The parser accepts every script in the knowledge base, because users copy these scripts. Deliberately
//! wrong code is in fences of another language.

use std::fs;
use std::path::{Path, PathBuf};

use job::script::{Dialect, Script, hints};

fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../knowledge");
    let folders = ["experience", "cases"].map(|folder| root.join(folder));
    let files = folders
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flatten();
    let paths = files.filter_map(|entry| Some(entry.ok()?.path()));
    paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect()
}

/// Code of the fences in `language`, with their first lines.
fn fences(text: &str, language: &str) -> Vec<(usize, String)> {
    let open = format!("```{language}");
    let mut found = Vec::new();
    let mut current: Option<(usize, String)> = None;
    for (number, line) in text.lines().enumerate() {
        match &mut current {
            Some(_) if line.trim() == "```" => found.extend(current.take()),
            Some((_, code)) => {
                code.push_str(line);
                code.push('\n');
            }
            None if line.trim() == open => current = Some((number + 2, String::new())),
            None => {}
        }
    }
    found
}

#[test]
fn scripts_of_the_knowledge_base_parse_and_use_known_hints() {
    let mut checked = 0;
    for path in documents() {
        let text = fs::read_to_string(&path).expect("a readable document");
        for (language, file, dialect) in [
            ("scope", "scope.script", Dialect::Scope),
            ("usql", "a.usql", Dialect::USql),
        ] {
            for (line, code) in fences(&text, language) {
                let place = format!("{}:{line}", path.display());
                let script = Script::parse(file, code);
                assert_eq!(script.errors, [], "{place}\n{}", script.text);
                assert_eq!(script.dialect, dialect, "{place}\n{}", script.text);
                for hint in script
                    .statements
                    .iter()
                    .flat_map(|statement| &statement.hints)
                {
                    assert_eq!(hints::problem(hint), None, "{place}");
                }
                checked += 1;
            }
        }
    }
    assert!(
        checked > 50,
        "only {checked} scripts found in the knowledge base"
    );
}
