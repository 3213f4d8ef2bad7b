//! `scopeagent lint`: what a curator should fix in the knowledge folder.

use indexer::lint::{self, Options, Severity};
use report::Cause;

use crate::args::{Format, Lint};
use crate::config::Config;
use crate::exit::Exit;
use crate::render::table::{Align, Table};
use crate::terminal::Terminal;
use server::{Documents, Error, ErrorKind, Result};

/// Runs the command.
pub(crate) fn run(args: &Lint, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let Documents::Folder(folder) = crate::session::knowledge(config)?.documents else {
        return Err(
            Error::new(ErrorKind::Input, "there is no knowledge folder to check")
                .hint("give one with --knowledge DIR; `scopeagent init` creates one"),
        );
    };
    let options = Options {
        causes: Cause::ALL.iter().map(|c| c.code().to_owned()).collect(),
    };
    let failed = |e: indexer::BuildError| Error::from_source(ErrorKind::Input, &e);
    if args.coverage {
        return coverage(
            &lint::coverage(&folder, &options).map_err(failed)?,
            args.format,
            terminal,
        );
    }
    if args.fix {
        for fixed in lint::fix(&folder, &options).map_err(failed)? {
            terminal.remark(&format!(
                "fixed {}:{}: {}",
                fixed.file, fixed.line, fixed.message
            ));
        }
    }
    let findings = lint::lint(&folder, &options).map_err(failed)?;
    match args.format {
        Format::Json => terminal.print(&super::json(&findings)?)?,
        Format::Text => {
            for f in &findings {
                let color = match f.severity {
                    Severity::Error => anstyle::AnsiColor::Red,
                    Severity::Warning => anstyle::AnsiColor::Yellow,
                }
                .on_default();
                let fixable = if f.fixable {
                    " (fixable with --fix)"
                } else {
                    ""
                };
                terminal.print(&format!(
                    "{}:{}: {color}{}{color:#}: {}{fixable}\n",
                    f.file, f.line, f.code, f.message
                ))?;
            }
            terminal.remark(&super::count(findings.len(), "finding"));
        }
    }
    Ok(if findings.is_empty() {
        Exit::Success
    } else {
        Exit::Found
    })
}

fn coverage(rows: &[lint::CoverageRow], format: Format, terminal: &Terminal) -> Result<Exit> {
    if format == Format::Json {
        terminal.print(&super::json(&rows)?)?;
    } else {
        let mut headings = vec![
            ("cause", Align::Left),
            ("language", Align::Left),
            ("playbooks", Align::Right),
        ];
        headings.extend(indexer::Section::ALL.map(|section| (section.as_str(), Align::Right)));
        let mut table = Table::new(&headings);
        for row in rows {
            let mut cells = vec![
                row.cause.clone(),
                row.language.code().to_owned(),
                row.playbooks.to_string(),
            ];
            cells.extend(row.sections.iter().map(|(_, documents)| {
                if *documents == 0 {
                    "–".to_owned()
                } else {
                    documents.to_string()
                }
            }));
            table.row(cells);
        }
        terminal.print(&table.render(""))?;
    }
    let filled = rows
        .iter()
        .all(|row| row.sections.iter().all(|(_, documents)| *documents > 0));
    Ok(if filled { Exit::Success } else { Exit::Found })
}
