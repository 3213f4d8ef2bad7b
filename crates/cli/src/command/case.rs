//! `scopeagent case`: resolved cases written from runs, and checked.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use indexer::lint;
use llm::Mask;
use report::format::NAME;
use report::say;
use runs::case::{self, CaseError, Material, NewCase};
use runs::store::Store;
use serde::Serialize;

use crate::args::{CaseCommand, CaseFrom, Format};
use crate::config::Config;
use crate::exit::Exit;
use crate::terminal::Terminal;
use server::{Error, ErrorKind, Explain, Result, error};

/// Folder of the cases in the knowledge folder.
const FOLDER: &str = "cases";

pub(crate) fn run(command: &CaseCommand, config: &Config, terminal: &Terminal) -> Result<Exit> {
    match command {
        CaseCommand::From(args) => from(args, config, terminal),
        CaseCommand::Check { files, format } => check(files, *format, config, terminal),
    }
}

fn from(args: &CaseFrom, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let folder = cases_folder(config)?;
    let (case, mask) = written(args, &super::runs::open(config)?)?;
    let path = folder.join(format!("{}.md", case.id));
    write(&path, &case, args.force)?;
    terminal.print(&format!("{}\n", path.display()))?;
    if args.no_redact {
        terminal.remark(&say!(
            "没有遮盖作业中的名称、路径和字面值",
            "the job's names, paths and literals are not masked"
        ));
    } else {
        terminal.remark(&say!(
            "已遮盖作业中的 {masked}",
            "masked {masked} of the job",
            masked = NAME.count(mask.used_in(&case.text) as f64)
        ));
    }
    terminal.remark(&match case.open {
        0 => say!(
            "请再读一遍；然后用 `scopeagent index` 加入索引",
            "read it once more; then `scopeagent index` adds it to the index"
        ),
        n => say!(
            "请填写标有 `FILL IN` 的 {n} 处；`scopeagent case check` 会列出它们",
            "fill in the places marked `FILL IN` ({n}); `scopeagent case check` lists them"
        ),
    });
    Ok(Exit::Success)
}

fn written(args: &CaseFrom, store: &Store) -> Result<(NewCase, Mask)> {
    let report = super::runs::report(store, &args.run)?;
    let run = report.run_id.clone();
    let summary = store.summary(&run)?;
    let feedback = store.feedback_of(&run)?;
    let after = match &args.after {
        Some(later) => super::runs::report(store, later)?.job.elapsed_seconds,
        None => None,
    };
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let summary = summary.unwrap_or_default();
    let refused = |error: CaseError| {
        let exit = match error {
            CaseError::BadId(_) => ErrorKind::Usage,
            _ => ErrorKind::Input,
        };
        Error::from_source(exit, &error).hint(error.hint())
    };
    let names = match args.no_redact {
        true => Vec::new(),
        false => case::private_names(&report, &summary).map_err(refused)?,
    };
    let texts = case::private_texts(&report, &summary).filter(|_| !args.no_redact);
    let names = names.iter().map(|(name, kind)| (name.as_str(), *kind));
    let mask = agent::mask_of(names, texts);
    let hide = |text: &str| mask.hide(text);
    let case = case::write(&Material {
        report: &report,
        summary: &summary,
        feedback: &feedback,
        after_seconds: after,
        today: &today,
        id: args.id.as_deref(),
        hide: (!args.no_redact).then_some(&hide as _),
    });
    Ok((case.map_err(refused)?, mask))
}

/// Writes a new file; overwrites an existing one only with `force`.
fn write(path: &Path, case: &NewCase, force: bool) -> Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).truncate(true);
    options.create(force).create_new(!force);
    let file = options.open(path);
    let written = file.and_then(|mut file| file.write_all(llm::hide(&case.text).as_bytes()));
    written.map_err(|e| match e.kind() {
        io::ErrorKind::AlreadyExists => {
            let case = path.display();
            error!(
                Input: "案例 `{case}` 已存在", "the case `{case}` already exists";
                "用 --force 覆盖，或用 --id NAME 另取名称", "use --force to overwrite it, or --id NAME for another name"
            )
        }
        _ => Error::from_source(ErrorKind::Input, &e).hint(say!(
            "请检查 `{path}` 是否可写",
            "check that `{path}` can be written",
            path = path.display().to_string()
        )),
    })
}

/// The folder of cases; creates a missing folder.
fn cases_folder(config: &Config) -> Result<PathBuf> {
    let folder = super::knowledge_folder(config)?.join(FOLDER);
    let hint = say!(
        "`{folder}` 须是可写的目录",
        "`{folder}` must be a writable folder",
        folder = folder.display().to_string()
    );
    fs::create_dir_all(&folder).explain(ErrorKind::Input, hint)?;
    Ok(folder)
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct Fault {
    file: String,
    line: usize,
    code: String,
    message: String,
}

fn check(files: &[PathBuf], format: Format, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let mut faults = match files {
        [] => faults_of(&markdown_in(&cases_folder(config)?)?)?,
        _ => faults_of(files)?,
    };
    faults.sort();
    faults.dedup();
    let yellow = anstyle::AnsiColor::Yellow;
    let text = |f: &Fault| super::finding(&f.file, f.line, yellow, &f.code, &f.message) + "\n";
    super::show(terminal, format, &faults, || {
        faults.iter().map(text).collect()
    })?;
    if format == Format::Text {
        terminal.remark(&super::count(faults.len(), "finding"));
    }
    Ok(Exit::found(!faults.is_empty()))
}

fn markdown_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(|e| unreadable(folder, &e))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect();
    files.sort();
    Ok(files)
}

/// Faults in the form of each case, and lint findings about it.
fn faults_of(files: &[PathBuf]) -> Result<Vec<Fault>> {
    let mut faults = Vec::new();
    let mut linted: Vec<(PathBuf, Vec<lint::Finding>)> = Vec::new();
    for path in files {
        let text = fs::read_to_string(path).map_err(|e| unreadable(path, &e))?;
        let fault = |line, code: &str, message| Fault {
            file: path.display().to_string(),
            line,
            code: code.to_owned(),
            message,
        };
        let in_form = case::check(&text).into_iter();
        faults.extend(in_form.map(|f| fault(f.line, f.code, f.message)));
        let (knowledge, name) = in_knowledge(path)?;
        if linted.iter().all(|(folder, _)| *folder != knowledge) {
            linted.push((knowledge.clone(), lint_of(&knowledge)?));
        }
        let known = linted.iter().filter(|(folder, _)| *folder == knowledge);
        let found = known
            .flat_map(|(_, found)| found)
            .filter(|f| f.file == name);
        faults.extend(found.map(|f| fault(f.line, f.code, f.message.clone())));
    }
    Ok(faults)
}

fn lint_of(knowledge: &Path) -> Result<Vec<lint::Finding>> {
    let options = super::lint::options();
    lint::lint(knowledge, &options).map_err(|e| Error::from_source(ErrorKind::Input, &e))
}

/// The knowledge folder that a case is in, and the case's name there.
fn in_knowledge(path: &Path) -> Result<(PathBuf, String)> {
    let whole = path.canonicalize().map_err(|e| unreadable(path, &e))?;
    let name = whole.file_name().map(|n| n.to_string_lossy().into_owned());
    let cases = whole.parent().filter(|p| p.ends_with(FOLDER));
    match (cases.and_then(Path::parent), name) {
        (Some(knowledge), Some(name)) => Ok((knowledge.to_path_buf(), format!("{FOLDER}/{name}"))),
        _ => {
            let path = path.display();
            Err(error!(
                Usage: "`{path}` 不在知识库的 `{FOLDER}` 目录中", "`{path}` is not in the `{FOLDER}` folder of a knowledge folder";
                "案例位于 KNOWLEDGE/cases/NAME.md", "cases are KNOWLEDGE/cases/NAME.md"
            ))
        }
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    let path = path.display();
    error!(
        Input: "无法读取 `{path}`：{error}", "`{path}` cannot be read: {error}";
        "请检查名称；不给文件时检查知识库中的所有案例", "check the name; without a file, every case in the knowledge folder is checked"
    )
}
