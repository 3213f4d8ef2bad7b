//! `scopeagent init` writes a configuration; `completions`, `man` and `schema` print documentation.

use std::fs;
use std::path::Path;

use crate::args::{Cli, Init, Target};
use crate::config::{PROJECT_FILE, user_file};
use crate::exit::{Exit, TABLE};
use crate::terminal::Terminal;
use report::say;
use server::{Error, ErrorKind, Explain, Result, builtin_documents, error};

/// Every key, commented out, with its meaning.
const TEMPLATE: &str = include_str!("scopeagent.toml");

/// How to write a page of the knowledge folder.
const GUIDE: &str = include_str!("knowledge.md");

/// Writes the configuration and the knowledge folder; existing files are not changed.
pub(crate) fn run(args: &Init, terminal: &Terminal) -> Result<Exit> {
    let file = match args.user {
        true => user_file()?,
        false => args.folder.join(PROJECT_FILE),
    };
    if file.exists() {
        let path = file.display();
        return Err(error!(
            Usage: "`{path}` 已存在", "`{path}` already exists";
            "请直接编辑，或移走后再运行 `scopeagent init`", "edit it, or move it away and run `scopeagent init` again"
        ));
    }
    if args.user {
        write_new(&file, TEMPLATE)?;
        let file = file.display().to_string();
        terminal.remark(&say!("已写入 `{file}`", "wrote `{file}`"));
        return Ok(Exit::Success);
    }
    let mut written = 0;
    for (path, text) in builtin_documents() {
        written += usize::from(write_new(&args.folder.join("knowledge").join(path), text)?);
    }
    let guide = args.folder.join("knowledge/README.md");
    write_new(&guide, GUIDE)?;
    write_new(&file, TEMPLATE)?;
    terminal.remark(&say!(
        "已写入 `{file}`，并在 `{folder}` 下写入 {written} 个文档；`{guide}` 说明如何撰写",
        "wrote `{file}` and {written} documents under `{folder}`; `{guide}` says how to write one",
        file = file.display().to_string(),
        folder = args.folder.join("knowledge").display().to_string(),
        guide = guide.display().to_string()
    ));
    Ok(Exit::Success)
}

/// Writes a file unless it exists; returns whether it was written.
fn write_new(path: &Path, text: &str) -> Result<bool> {
    if path.exists() {
        return Ok(false);
    }
    let parent = path.parent().map_or(Ok(()), fs::create_dir_all);
    let written = parent.and_then(|()| fs::write(path, text));
    let file = path.display();
    let hint = say!("`{file}` 不可写", "`{file}` is not writable");
    written.explain(ErrorKind::Other, hint).map(|()| true)
}

pub(crate) fn completions(shell: clap_complete::Shell, terminal: &Terminal) -> Result<Exit> {
    let mut out = Vec::new();
    clap_complete::generate(shell, &mut Cli::localized(), "scopeagent", &mut out);
    terminal.print(&String::from_utf8_lossy(&out))?;
    Ok(Exit::Success)
}

pub(crate) fn schema(target: &Target, terminal: &Terminal) -> Result<Exit> {
    let schema = super::json(&report::schema())?;
    terminal.out(target).write(&schema)?;
    Ok(Exit::Success)
}

/// Prints the man page, or writes one per command into a folder.
pub(crate) fn man(dir: Option<&Path>, terminal: &Terminal) -> Result<Exit> {
    if let Some(dir) = dir {
        let written =
            fs::create_dir_all(dir).and_then(|()| clap_mangen::generate_to(Cli::localized(), dir));
        let folder = dir.display();
        let hint = say!(
            "`{folder}` 须是可写的目录",
            "`{folder}` must be a writable folder"
        );
        written.explain(ErrorKind::Other, hint)?;
        return Ok(Exit::Success);
    }
    let mut out = Vec::new();
    let page = clap_mangen::Man::new(Cli::localized());
    page.render(&mut out)
        .map_err(|e| Error::from_source(ErrorKind::Other, &e))?;
    terminal.print(&(String::from_utf8_lossy(&out).into_owned() + &exit_statuses()))?;
    Ok(Exit::Success)
}

/// The section on exit statuses, as roff.
fn exit_statuses() -> String {
    let rows = TABLE.map(|(exit, text)| {
        let text = text.replace('-', "\\-");
        format!(".TP\n{}\n{text}\n", exit as u8)
    });
    format!(".SH \"EXIT STATUS\"\n{}", rows.concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn the_template_is_valid_with_and_without_its_comments() {
        toml::from_str::<Config>(TEMPLATE).expect("as written");
        let lines = TEMPLATE.lines();
        let lines = lines.map(|line| line.strip_prefix("#: ").unwrap_or(line));
        let uncommented = lines.collect::<Vec<_>>().join("\n");
        toml::from_str::<Config>(&uncommented).expect("with every key set");
    }
}
