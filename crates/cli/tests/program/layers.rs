//! Dependencies point one way: between crates, and between the modules of each.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::support::root;

/// Each crate with the crates of the workspace that it may need. The last two are for tests only.
const LAYERS: [(&str, &str); 18] = [
    ("report", ""),
    ("job", "report"),
    ("rewrite", "report job"),
    ("failure", "report job"),
    ("diagnosis", "report job rewrite failure"),
    ("advice", "report job rewrite failure diagnosis"),
    ("indexer", "report"),
    ("llm", "report"),
    ("equivalence", "report job"),
    ("runs", "report job"),
    ("render", "report runs"),
    (
        "agent",
        "report job diagnosis advice equivalence indexer llm",
    ),
    ("ask", "report job diagnosis runs agent"),
    (
        "server",
        "report job diagnosis advice equivalence indexer llm runs render agent ask",
    ),
    (
        "batch",
        "report job diagnosis advice equivalence indexer llm runs render agent ask",
    ),
    (
        "scopeagent",
        "report job diagnosis advice equivalence indexer llm runs render agent ask server batch",
    ),
    ("simulator", "job"),
    ("testkit", "report job indexer"),
];

type Graph = BTreeMap<String, BTreeSet<String>>;

/// The crates of the workspace with the crates of the workspace that they need outside of tests.
fn crates() -> Graph {
    let folders = ["crates", "dev"].map(|f| fs::read_dir(root().join(f)).expect("crates"));
    let manifests: Vec<toml::Table> = folders
        .into_iter()
        .flatten()
        .map(|entry| entry.expect("an entry").path().join("Cargo.toml"))
        .filter_map(|path| fs::read_to_string(path).ok())
        .map(|text| text.parse().expect("a manifest"))
        .collect();
    let name = |manifest: &toml::Table| manifest["package"]["name"].as_str().map(str::to_owned);
    let names: BTreeSet<String> = manifests.iter().filter_map(name).collect();
    manifests
        .iter()
        .map(|manifest| {
            let needed = ["dependencies", "build-dependencies"]
                .iter()
                .filter_map(|kind| manifest.get(*kind)?.as_table())
                .flat_map(|table| table.keys().cloned())
                .filter(|dependency| names.contains(dependency));
            (name(manifest).expect("a name"), needed.collect())
        })
        .collect()
}

#[test]
fn crates_need_only_what_is_below_them() {
    let layers = BTreeMap::from(LAYERS);
    let crates = crates();
    let known: BTreeSet<&str> = crates.keys().map(String::as_str).collect();
    assert_eq!(known, layers.keys().copied().collect());
    for (name, mut needed) in crates {
        let allowed: Vec<&str> = layers[name.as_str()].split(' ').collect();
        needed.retain(|dependency| !allowed.contains(&dependency.as_str()));
        assert!(needed.is_empty(), "{name} must not need {needed:?}");
    }
}

/// The files of a folder, without tests. Files of subfolders have the name of their subfolder.
fn modules(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("sources").flatten() {
        let path = entry.path();
        let name = path.file_stem().expect("a name").to_string_lossy();
        if path.is_dir() {
            let below = modules(&path).into_iter();
            found.extend(below.map(|(_, text)| (name.to_string(), text)));
        } else if !["lib", "main", "tests"].contains(&name.as_ref()) {
            let text = fs::read_to_string(&path).expect("a source");
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            found.push((name.to_string(), code.replace("super::super::", "above::")));
        }
    }
    found
}

/// The modules of a folder, each with the modules of the same folder that it names after `prefix`.
fn imports(folder: &Path, prefix: &str) -> Graph {
    let mut graph = Graph::new();
    for (module, code) in modules(folder) {
        let named = code.split(prefix).skip(1).filter_map(|rest| {
            let end = rest.find(|c: char| c != '_' && !c.is_ascii_alphanumeric());
            let name = &rest[..end.unwrap_or(rest.len())];
            let is_module = name.starts_with(|c: char| c.is_ascii_lowercase());
            (is_module && name != module).then(|| name.to_owned())
        });
        graph.entry(module.clone()).or_default().extend(named);
    }
    // A folder's own module names those below it.
    graph.remove("mod");
    graph
}

/// The nodes that come back to themselves.
fn circle(graph: &Graph) -> Vec<&String> {
    let comes_back = |start: &&String| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![*start]);
        while let Some(node) = open.pop() {
            for next in graph.get(node).into_iter().flatten() {
                if next == *start {
                    return true;
                }
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        false
    };
    graph.keys().filter(comes_back).collect()
}

fn check_below(folder: &Path, prefix: &str, circles: &mut Vec<String>) {
    let graph = imports(folder, prefix);
    let found = circle(&graph);
    if !found.is_empty() {
        circles.push(format!("{}: {found:?}", folder.display()));
    }
    for entry in fs::read_dir(folder).expect("sources").flatten() {
        if entry.path().is_dir() && entry.file_name() != "bin" {
            check_below(&entry.path(), "super::", circles);
        }
    }
}

#[test]
fn no_module_needs_itself_by_way_of_others() {
    let mut circles = Vec::new();
    for entry in fs::read_dir(root().join("crates"))
        .expect("crates")
        .flatten()
    {
        let sources = entry.path().join("src");
        if sources.is_dir() {
            check_below(&sources, "crate::", &mut circles);
        }
    }
    assert!(circles.is_empty(), "{}", circles.join("\n"));
}
