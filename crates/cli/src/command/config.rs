//! `scopeagent config show`: every value that is set, and where it comes from.

use serde_json::{Value, json};

use crate::args::ConfigCommand;
use crate::config::Layers;
use crate::exit::Exit;
use crate::render::table::{Align, Table};
use crate::terminal::Terminal;
use server::Result;

pub(crate) fn run(command: &ConfigCommand, layers: &Layers, terminal: &Terminal) -> Result<Exit> {
    let ConfigCommand::Show { format } = command;
    let entries = layers.entries();
    let entries = entries.map(|(key, value, origin)| (key, masked(key, value), origin.to_string()));
    let entries: Vec<_> = entries.collect();
    let json = |(key, value, origin): &_| json!({ "key": key, "value": value, "origin": origin });
    let values: Vec<Value> = entries.iter().map(json).collect();
    super::show(terminal, *format, &values, || {
        if entries.is_empty() {
            return "nothing is configured; all values are built-in\n".to_owned();
        }
        let mut table = Table::new(&["key", "value", "from"].map(|name| (name, Align::Left)));
        for (key, value, origin) in entries {
            table.row(vec![key.to_owned(), value, origin]);
        }
        table.render("")
    })?;
    Ok(Exit::Success)
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
