//! One configuration file, read and checked on its own, so that an error names the file and the line.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use toml::Table;

use super::schema::Config;
use super::secrets;
use server::{Error, Result, error};

/// Maximum size of a file: hundreds of times the size of a file with long values for every key.
const MAX_BYTES: u64 = 1 << 20;

pub(crate) struct ConfigFile {
    pub(crate) path: PathBuf,
    pub(crate) table: Table,
    /// BLAKE3 hash of the content.
    pub(crate) hash: String,
}

impl ConfigFile {
    /// # Errors
    /// If the file can't be read, or has an unknown key or a value of a wrong type.
    pub(crate) fn read(path: &Path) -> Result<ConfigFile> {
        let text = text_of(path).map_err(|error| unreadable(path, &error))?;
        let invalid = |error| invalid(path, &text, &error);
        let table: Table = toml::from_str(&text).map_err(invalid)?;
        toml::from_str::<Config>(&text).map_err(|error| {
            // The message quotes the value.
            secrets::learn(&table);
            invalid(error)
        })?;
        Ok(ConfigFile {
            table,
            path: path.to_owned(),
            hash: blake3::hash(text.as_bytes()).to_string(),
        })
    }
}

fn text_of(path: &Path) -> std::io::Result<String> {
    let file = File::open(path)?;
    let is_short = file.metadata()?.is_file() && file.metadata()?.len() <= MAX_BYTES;
    if !is_short {
        let error = report::say!(
            "不是普通文件，或超过 1 MiB",
            "it is not a regular file of at most 1 MiB"
        );
        return Err(std::io::Error::other(error));
    }
    let mut text = String::new();
    file.take(MAX_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    let file = path.display();
    let hint = report::say!(
        "它须是 TOML 文件，不超过 1 MiB；`scopeagent init` 可写出一份",
        "it must be a TOML file of at most 1 MiB; `scopeagent init` writes one"
    );
    error!(Usage: "无法读取配置文件 `{file}`", "the configuration file `{file}` cannot be read")
        .because(error)
        .hint(hint)
}

/// Names the place without quoting the line, which may contain a key.
fn invalid(path: &Path, text: &str, error: &toml::de::Error) -> Error {
    let at = error.span().and_then(|span| text.get(..span.start));
    let line = at.map_or(1, |before| before.matches('\n').count() + 1);
    let (file, reason) = (path.display(), error.message());
    error!(
        Usage: "`{file}` 第 {line} 行：{reason}", "`{file}`, line {line}: {reason}";
        "`scopeagent init` 可写出一份列有所有键的带注释文件", "`scopeagent init` writes a commented file with every known key"
    )
}
