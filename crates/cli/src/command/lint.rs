//! `scopeagent lint`: problems in the knowledge folder, for its curator.

use indexer::Engine;
use indexer::lint::{self, Options, ScriptError, Severity};
use job::script::Script;
use report::{Cause, JobEngine, ProblemType};

use crate::args::{Format, Lint};
use crate::config::Config;
use crate::exit::Exit;
use crate::render::table::{Align, Table, columns};
use crate::terminal::Terminal;
use server::{Error, ErrorKind, Result};

pub(crate) fn run(args: &Lint, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let folder = super::knowledge_folder(config)?;
    let options = options();
    let failed = |e: indexer::BuildError| Error::from_source(ErrorKind::Input, &e);
    if args.coverage {
        let rows = lint::coverage(&folder, &options).map_err(failed)?;
        return coverage(&rows, args.format, terminal);
    }
    if args.fix {
        for fixed in lint::fix(&folder, &options).map_err(failed)? {
            let (file, line, message) = (&fixed.file, fixed.line, &fixed.message);
            terminal.remark(&report::say!(
                "已修正 {file}:{line}：{message}",
                "fixed {file}:{line}: {message}"
            ));
        }
    }
    let findings = lint::lint(&folder, &options).map_err(failed)?;
    super::show(terminal, args.format, &findings, || {
        findings.iter().map(text).collect()
    })?;
    if args.format == Format::Text {
        terminal.remark(&super::count(findings.len(), "finding"));
    }
    Ok(Exit::found(!findings.is_empty()))
}

/// Checks with the causes that jobs can have, by engine, and the parser of scripts.
pub(crate) fn options() -> Options {
    let engines = [
        (JobEngine::Scope, Engine::Scope),
        (JobEngine::Spark, Engine::Spark),
    ];
    let in_jobs_of = |cause: &Cause| {
        let engines = engines.into_iter().filter(|(job, _)| cause.occurs_in(*job));
        engines.map(|(_, engine)| engine).collect()
    };
    let causes = Cause::ALL
        .iter()
        .map(|cause| (cause.code().to_owned(), in_jobs_of(cause)));
    Options {
        problem_types: ProblemType::ALL.map(|p| p.code().to_owned()).to_vec(),
        parse: Some(parse),
        causes: causes.collect(),
    }
}

fn parse(code: &str) -> std::result::Result<(), ScriptError> {
    let script = Script::parse("code", code.to_owned());
    let error = script.errors.first();
    error.map_or(Ok(()), |e| Err((e.line as usize, e.message.clone())))
}

fn text(f: &lint::Finding) -> String {
    let color = match f.severity {
        Severity::Error => anstyle::AnsiColor::Red,
        Severity::Warning => anstyle::AnsiColor::Yellow,
    };
    let fixable = match f.fixable {
        true => " (fixable with --fix)",
        false => "",
    };
    super::finding(&f.file, f.line, color, f.code, &f.message) + fixable + "\n"
}

fn coverage(rows: &[lint::CoverageRow], format: Format, terminal: &Terminal) -> Result<Exit> {
    super::show(terminal, format, &rows, || {
        let mut headings = columns("cause|engine|language|>playbooks");
        headings.extend(indexer::Section::ALL.map(|section| (section.as_str(), Align::Right)));
        let mut table = Table::new(&headings);
        for row in rows {
            let mut cells = vec![
                row.cause.clone(),
                row.engine.as_str().to_owned(),
                row.language.code().to_owned(),
                row.playbooks.to_string(),
            ];
            cells.extend(row.sections.iter().map(|(_, documents)| match documents {
                0 => "–".to_owned(),
                n => n.to_string(),
            }));
            table.row(cells);
        }
        table.render("")
    })?;
    let mut sections = rows.iter().flat_map(|row| &row.sections);
    let gaps = sections.any(|(_, documents)| *documents == 0);
    Ok(Exit::found(gaps))
}
