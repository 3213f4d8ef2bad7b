//! `scopeagent trust`: shows the effects of a project's file, and approves it.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::args::Trust;
use crate::config::{Approvals, ConfigFile, Jobs, PROJECT_FILE, nearest, needing_approval};
use crate::exit::Exit;
use crate::render::table::{Table, columns};
use crate::terminal::Terminal;
use server::{Result, error};

/// Effects of keys, by the last part of their name.
const EFFECTS: &[(&str, &str)] = &[
    ("api_key_command", "runs this command"),
    (
        "api_key_env",
        "sends this environment variable to the server",
    ),
    ("api_key", "is sent to the server"),
    ("base_url", "sends requests to this address"),
    ("provider", "sends requests to this provider"),
    ("prompts", "replaces the prompts"),
    ("runtime", "loads this library into the program"),
    ("cache", "reads and writes models here"),
    (
        "allowed_roots",
        "lets MCP clients read these folders and servers",
    ),
    ("data", "saves runs and indexes here"),
    ("knowledge", "reads documents outside the project"),
    ("index", "writes an index outside the project"),
];

pub(crate) fn run(args: &Trust, terminal: &Terminal) -> Result<Exit> {
    if args.list {
        return list(args, terminal);
    }
    let path = chosen(args.path.as_deref())?;
    let mut approvals = Approvals::load()?;
    let shown = path.display();
    if args.revoke {
        let remark = match approvals.remove(&path)? {
            true => format!("`{shown}` is no longer approved"),
            false => format!("`{shown}` was not approved"),
        };
        terminal.remark(&remark);
        return Ok(Exit::Success);
    }
    let file = ConfigFile::read(&path)?;
    show(args, &file, terminal)?;
    if terminal.is_interactive() && !confirmed(terminal) {
        terminal.remark(&report::say!(
            "没有批准 `{shown}`",
            "`{shown}` is not approved"
        ));
        return Ok(Exit::Success);
    }
    approvals.add(&file)?;
    terminal.remark(&report::say!(
        "已批准 `{shown}`，直到它改变；`scopeagent trust --revoke` 撤销批准",
        "`{shown}` is approved until it changes; `scopeagent trust --revoke` withdraws the approval"
    ));
    Ok(Exit::Success)
}

/// The named file, the file in the named folder, or the nearest file.
fn chosen(named: Option<&Path>) -> Result<PathBuf> {
    match named {
        Some(folder) if folder.is_dir() => Ok(folder.join(PROJECT_FILE)),
        Some(file) => Ok(file.to_owned()),
        None => nearest(&Jobs::default()).ok_or_else(|| {
            error!(
                Usage: "此处及上级目录中没有 `{PROJECT_FILE}`", "there is no `{PROJECT_FILE}` here or in a folder above";
                "请给出文件的路径", "give the path of the file"
            )
        }),
    }
}

fn show(args: &Trust, file: &ConfigFile, terminal: &Terminal) -> Result<()> {
    let needed = needing_approval(file);
    let rows = needed.iter().map(|(key, value)| {
        let value = super::config::masked(key, value);
        [
            key.escape_debug().to_string(),
            value,
            effect(key).to_owned(),
        ]
    });
    let rows: Vec<[String; 3]> = rows.collect();
    let value = json!({
        "path": file.path.display().to_string(),
        "blake3": file.hash,
        "needs_approval": rows.iter().map(|[key, value, effect]| {
            json!({ "key": key, "value": value, "effect": effect })
        }).collect::<Vec<_>>(),
    });
    super::show(terminal, args.format, &value, || {
        if rows.is_empty() {
            return format!(
                "`{}` sets nothing that needs an approval\n",
                file.path.display()
            );
        }
        let mut table = Table::new(&columns("key|value|what it does"));
        rows.iter().for_each(|row| table.row(row.to_vec()));
        table.render("")
    })
}

fn effect(key: &str) -> &'static str {
    let name = key.rsplit('.').next().unwrap_or(key);
    let known = EFFECTS.iter().find(|(known, _)| *known == name);
    known.map_or("configures models", |(_, effect)| effect)
}

fn confirmed(terminal: &Terminal) -> bool {
    terminal.prompt("Approve this file? [y/N] ");
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

fn list(args: &Trust, terminal: &Terminal) -> Result<Exit> {
    let approvals = Approvals::load()?;
    let files = approvals.list();
    super::show(terminal, args.format, &files, || {
        if files.is_empty() {
            return "no file is approved\n".to_owned();
        }
        let mut table = Table::new(&columns("file|approved"));
        for file in files {
            let path = file.path.display().to_string();
            table.row(vec![path, file.approved_at.clone()]);
        }
        table.render("")
    })?;
    Ok(Exit::Success)
}
