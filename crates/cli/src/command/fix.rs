//! `scopeagent fix`: shows a suggestion's diff, steps or settings, or applies the diff to the script.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use report::{Setting, Suggestion, say};
use server::{Error, ErrorKind, Explain, Result, error};

use crate::args::{Fix, SettingForm};
use crate::config::Config;
use crate::exit::Exit;
use crate::terminal::Terminal;
use ::render::Words;
use ::render::style;

/// Byte order mark that some editors put before UTF-8.
const MARK: &str = "\u{feff}";

pub(crate) fn run(args: &Fix, config: &Config, terminal: &Terminal) -> Result<Exit> {
    let store = super::runs::open(config)?;
    let row = super::runs::find(&store, &args.run)?;
    let report = super::runs::report(&store, &row.run_id)?;
    let suggestion = suggestion(&report.suggestions, &args.suggestion, &row.run_id)?;
    if let Some(form) = args.form {
        return settings(suggestion, form, terminal);
    }
    if let (None, false) = (&suggestion.diff, args.write) {
        return by_hand(suggestion, terminal);
    }
    let diff = diff(suggestion)?;
    if !args.write {
        terminal.print(&style::diff(diff.lines(), ""))?;
        terminal.remark(Words::new(report::interface()).check_of(suggestion));
        return Ok(Exit::Success);
    }
    let summary = store.summary(&row.run_id)?.unwrap_or_default();
    let script = summary.script.ok_or_else(|| {
        let run = &row.run_id;
        error!(
            Input: "运行 `{run}` 没有保存脚本", "run `{run}` was saved without its script";
            "请重新分析该作业", "analyze the job again"
        )
    })?;
    let path = match &args.script {
        Some(path) => path.clone(),
        None => Path::new(&row.job).join(&script.file),
    };
    let backup = apply(&path, &script.text, diff)?;
    let (path, backup, run) = (path.display(), backup.display(), &row.run_id);
    let id = &suggestion.id;
    terminal.remark(&say!(
        "已修改 `{path}`，原文保存在 `{backup}`；`scopeagent feedback {run} accept {id}` 可记录采用",
        "changed `{path}`; the original is in `{backup}`; `scopeagent feedback {run} accept {id}` records it"
    ));
    Ok(Exit::Success)
}

fn suggestion<'a>(all: &'a [Suggestion], id: &str, run: &str) -> Result<&'a Suggestion> {
    all.iter()
        .find(|s| s.id.eq_ignore_ascii_case(id))
        .ok_or_else(|| {
            let known: Vec<&str> = all.iter().map(|s| s.id.as_str()).collect();
            let known = known.join(", ");
            error!(Input: "运行 `{run}` 没有建议 `{id}`", "run `{run}` has no suggestion `{id}`")
                .hint(match all {
                    [] => say!("这次运行没有建议", "it has none"),
                    _ => say!("有：{known}", "it has {known}"),
                })
        })
}

/// Prints the steps of a suggestion without a diff.
fn by_hand(suggestion: &Suggestion, terminal: &Terminal) -> Result<Exit> {
    let steps = suggestion.steps.iter().enumerate();
    let steps: String = steps
        .map(|(n, step)| format!("{}. {step}\n", n + 1))
        .collect();
    let settings = written(&suggestion.settings, SettingForm::Conf);
    terminal.print(&format!("{}\n{steps}{settings}", suggestion.title))?;
    Ok(Exit::Success)
}

/// Prints the settings of a suggestion.
fn settings(suggestion: &Suggestion, form: SettingForm, terminal: &Terminal) -> Result<Exit> {
    if suggestion.settings.is_empty() {
        let id = &suggestion.id;
        return Err(error!(
            Input: "建议 `{id}` 没有可用的设置", "suggestion `{id}` has no settings";
            "去掉 --as 可看它的步骤", "without --as its steps are shown"
        ));
    }
    terminal.print(&written(&suggestion.settings, form))?;
    Ok(Exit::Success)
}

/// Settings, one per line. A running session takes only some of them; the others are for its start.
fn written(settings: &[Setting], form: SettingForm) -> String {
    let line = |setting: &Setting| {
        let (key, value) = (&setting.key, &setting.suggested);
        match (form, setting.is_of_session()) {
            (SettingForm::Conf, _) => format!("--conf {key}={value}\n"),
            (SettingForm::Properties, _) => format!("{key} {value}\n"),
            (SettingForm::Python, true) => format!("spark.conf.set({key:?}, {value:?})\n"),
            (SettingForm::Python, false) => {
                format!("SparkSession.builder.config({key:?}, {value:?})\n")
            }
            (SettingForm::Sql, true) => format!("SET {key}={value};\n"),
            (SettingForm::Sql, false) => {
                let at_start = say!("应用启动时才能设置", "only at the start of the application");
                format!("-- {key}={value}: {at_start}\n")
            }
        }
    };
    settings.iter().map(line).collect()
}

fn diff(suggestion: &Suggestion) -> Result<&str> {
    suggestion.diff.as_deref().ok_or_else(|| {
        let id = &suggestion.id;
        error!(
            Input: "建议 `{id}` 没有 diff", "suggestion `{id}` has no diff";
            "请按它的步骤手工修改", "its steps have to be done by hand"
        )
    })
}

/// Applies a diff to a script that is unchanged since its analysis. Returns the path of the backup.
fn apply(path: &Path, analyzed: &str, diff: &str) -> Result<PathBuf> {
    let file = path.display();
    let unreadable = say!(
        "用 `--script FILE` 指定脚本；它须是 UTF-8 文本",
        "`--script FILE` names another file; it must be UTF-8"
    );
    let now = fs::read_to_string(path).map_err(|e| {
        let error = say!(
            "无法读取脚本 `{file}`",
            "the script `{file}` cannot be read"
        );
        let mut error = Error::new(ErrorKind::Input, error).hint(&unreadable);
        error.causes.push(e.to_string());
        error
    })?;
    let (mark, text) = match now.strip_prefix(MARK) {
        Some(text) => (MARK, text),
        None => ("", now.as_str()),
    };
    let changed = agent::apply_diff(text, diff).filter(|_| text == analyzed);
    let changed = changed.ok_or_else(|| {
        error!(
            Input: "`{file}` 在分析之后有改动，diff 未应用", "`{file}` changed since it was analyzed; the diff was not applied";
            "请重新分析该作业", "analyze the job again"
        )
    })?;
    let backup = free_name(path);
    fs::copy(path, &backup)
        .and_then(|_| replace(path, &format!("{mark}{changed}")))
        .explain(
            ErrorKind::Other,
            say!(
                "`{file}` 所在目录须可写",
                "the folder of `{file}` must be writable"
            ),
        )?;
    Ok(backup)
}

/// Replaces the content of a file at once, so that a crash leaves the old text or the new one.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let path = fs::canonicalize(path)?;
    // A rename would not ask whether the file may be written.
    fs::OpenOptions::new().write(true).open(&path)?;
    let mut new = path.clone().into_os_string();
    new.push(".new");
    let new = PathBuf::from(new);
    let mut file = fs::File::create(&new)?;
    file.write_all(text.as_bytes())?;
    file.set_permissions(fs::metadata(&path)?.permissions())?;
    file.sync_all()?;
    fs::rename(&new, &path)
}

/// `NAME.bak`, or with a number if there is one already.
fn free_name(path: &Path) -> PathBuf {
    let named = |n: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(".bak");
        if n > 1 {
            name.push(n.to_string());
        }
        PathBuf::from(name)
    };
    (1..).map(named).find(|p| !p.exists()).unwrap_or_default()
}
