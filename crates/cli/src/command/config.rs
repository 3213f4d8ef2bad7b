//! `scopeagent config show`: every value that is set, and where it comes from.

use serde_json::json;

use crate::args::{ConfigCommand, Format};
use crate::config::Layers;
use crate::exit::Exit;
use crate::render::table::{Align, Table};
use crate::terminal::Terminal;
use server::Result;

/// Runs the command.
pub(crate) fn run(command: &ConfigCommand, layers: &Layers, terminal: &Terminal) -> Result<Exit> {
    let ConfigCommand::Show { format } = command;
    match format {
        Format::Json => {
            let entries: Vec<_> = layers
                .entries()
                .map(|(key, value, origin)| json!({ "key": key, "value": masked(key, value), "origin": origin.to_string() }))
                .collect();
            terminal.print(&super::json(&entries)?)?;
        }
        Format::Text => {
            let mut table = Table::new(&[
                ("key", Align::Left),
                ("value", Align::Left),
                ("from", Align::Left),
            ]);
            for (key, value, origin) in layers.entries() {
                table.row(vec![key.to_owned(), masked(key, value), origin.to_string()]);
            }
            let text = table.render("");
            terminal.print(if text.is_empty() {
                "nothing is configured; all values are built-in\n"
            } else {
                &text
            })?;
        }
    }
    Ok(Exit::Success)
}

/// The value, with keys and headers of LLM servers hidden.
fn masked(key: &str, value: &toml::Value) -> String {
    let secret = key.ends_with(".api_key") || key.contains(".headers.");
    if secret {
        "***".to_owned()
    } else {
        value.to_string()
    }
}
