//! Imports of the crate run one way: no module needs, in any number of steps, what needs it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::support;

/// Every module with the modules of the same level that it names, unit tests left out.
fn imports(folder: &Path, prefix: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, text) in sources(folder) {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let named = code.split(prefix).skip(1).filter_map(|rest| {
            let name: String = rest
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
                .collect();
            (name.starts_with(|c: char| c.is_ascii_lowercase()) && name != module).then_some(name)
        });
        found.entry(module.clone()).or_default().extend(named);
    }
    found
}

/// The files of a folder, with those of a folder below under its name.
fn sources(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the sources").flatten() {
        let path = entry.path();
        let name = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            let below = sources(&path).into_iter();
            found.extend(below.map(|(_, text)| (name.clone(), text)));
        } else if !matches!(name.as_str(), "lib" | "mod") {
            found.push((name, std::fs::read_to_string(&path).expect("a source")));
        } else if name == "mod" {
            // A folder's own module belongs to the folder.
            found.push((name, std::fs::read_to_string(&path).expect("a source")));
        }
    }
    found
}

fn reachable(from: &str, imports: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(module) = open.pop() {
        for next in imports.get(&module).into_iter().flatten() {
            if seen.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    seen
}

#[test]
fn no_module_imports_itself_by_way_of_others() {
    let src = support::root().join("crates/agent/src");
    for (folder, prefix) in [
        (src.clone(), "crate::"),
        (src.join("llm"), "super::"),
        (src.join("analyze"), "super::"),
    ] {
        let imports = imports(&folder, prefix);
        assert!(imports.len() > 4, "{}: {imports:?}", folder.display());
        for module in imports.keys() {
            assert!(
                !reachable(module, &imports).contains(module),
                "{}: `{module}` comes back to itself: {imports:?}",
                folder.display()
            );
        }
    }
}
