//! `scopeagent config show`: the values in effect, and where each comes from.

use std::path::Path;

use serde_json::{Value, json};
use server::{Documents, Result};

use crate::args::ConfigCommand;
use crate::config::{self, Config, Layers};
use crate::exit::Exit;
use crate::render::table::{Table, columns};
use crate::session;
use crate::terminal::Terminal;

/// Key, value and origin.
type Entry = (String, String, String);

pub(crate) fn run(
    command: &ConfigCommand,
    layers: &Layers,
    config: &Config,
    terminal: &Terminal,
) -> Result<Exit> {
    let ConfigCommand::Show { format, all } = command;
    let set = layers.entries();
    let set =
        set.map(|(key, value, origin)| (key.to_owned(), shown(key, value), origin.to_string()));
    let mut entries: Vec<Entry> = set.collect();
    if *all {
        for (key, value) in built_in(config)? {
            if entries.iter().all(|(set, ..)| *set != key) {
                entries.push((key, value, report::say!("内置", "built-in")));
            }
        }
        entries.sort();
    }
    let json = |(key, value, origin): &_| json!({ "key": key, "value": value, "origin": origin });
    let values: Vec<Value> = entries.iter().map(json).collect();
    super::show(terminal, *format, &values, || {
        if entries.is_empty() {
            return report::say!(
                "没有任何配置，所有值都是内置的（`--all` 全部显示）\n",
                "nothing is configured; all values are built-in (`--all` shows them)\n"
            );
        }
        let heads = report::interface().select("键|值|来源", "key|value|from");
        let mut table = Table::new(&columns(heads));
        for (key, value, origin) in entries {
            table.row(vec![key, value, origin]);
        }
        table.render("")
    })?;
    Ok(Exit::Success)
}

/// Built-in values, with the folders that follow from the configuration.
fn built_in(config: &Config) -> Result<Vec<(String, String)>> {
    let path = |path: &Path| path.display().to_string();
    let knowledge = session::knowledge(config)?;
    let documents = match &knowledge.documents {
        Documents::Folder(folder) => path(folder),
        Documents::Builtin => report::say!("内置", "built-in"),
    };
    let here = std::env::current_dir().unwrap_or_default();
    let user = config::user_file().map_or_else(|e| e.message, |file| path(&file));
    let code = report::interface().code();
    let user_key = report::say!("（用户的文件）", "(user's file)");
    let mut all = vec![
        (&*user_key, user),
        ("ask", "false".to_owned()),
        ("data", path(&config::data_folder(config))),
        ("embedder.provider", "embedded".to_owned()),
        ("index", path(&knowledge.index)),
        ("knowledge", documents),
        (
            "language",
            report::say!("提问的语言，否则 {code}", "the question's, else {code}"),
        ),
        (
            "llm.default",
            report::say!("无（离线规则）", "none (offline rules)"),
        ),
        ("mcp.allowed_roots", path(&here)),
        ("prompts", report::say!("内置", "built-in")),
    ]
    .into_iter()
    .map(|(key, value)| (key.to_owned(), value))
    .collect::<Vec<_>>();
    let thresholds = session::thresholds(config)?;
    all.extend(diagnosis::thresholds().iter().map(|t| {
        let value = thresholds.get(t);
        (format!("diagnosis.{}", t.name), value.to_string())
    }));
    Ok(all)
}

/// The value as it is shown here: a text without its quotes.
fn shown(key: &str, value: &toml::Value) -> String {
    let masked = masked(key, value);
    match value.as_str() {
        Some(text) if masked == value.to_string() => text.to_owned(),
        _ => masked,
    }
}

/// The value, with keys and headers of LLM servers hidden.
pub(super) fn masked(key: &str, value: &toml::Value) -> String {
    let secret = key.ends_with(".api_key") || key.contains(".headers.");
    if secret {
        "***".to_owned()
    } else {
        llm::secrets(&value.to_string())
    }
}
