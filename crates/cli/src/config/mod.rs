//! Configuration in layers: built-in values, the user's file, the project's file, the environment, flags. Later layers win, key by key.

mod file;
mod layers;
mod models;
mod project;
mod schema;
mod secrets;
mod trust;

use std::path::{Path, PathBuf};

pub(crate) use file::ConfigFile;
pub(crate) use layers::{Layers, Origin};
pub(crate) use models::{Embedder, EmbedderProvider};
pub(crate) use project::{Jobs, PROJECT_FILE, nearest, needing_approval};
pub(crate) use schema::Config;
pub(crate) use secrets::{is_secret, learn_url};
pub(crate) use trust::Approvals;

use server::{Result, error};

/// Reads every layer. `explicit` is `--config FILE`, which replaces the project's file and is trusted.
pub(crate) fn load(
    explicit: Option<&Path>,
    flags: toml::Table,
    jobs: &Jobs<'_>,
) -> Result<(Config, Layers)> {
    secrets::learn_environment();
    let mut layers = Layers::default();
    let trusted = |path: PathBuf| ConfigFile::read(&path).map(|file| (file.path, file.table));
    if let Some((path, values)) = user_file()
        .ok()
        .filter(|p| p.is_file())
        .map(trusted)
        .transpose()?
    {
        layers.add(values, &Origin::File(path));
    }
    if let Some(path) = explicit {
        let (path, values) = trusted(path.to_owned())?;
        layers.add(values, &Origin::File(path));
    } else if let Some(path) = nearest(jobs) {
        let values = project::admitted(ConfigFile::read(&path)?)?;
        layers.add(values, &Origin::File(path));
    }
    layers.add(flags, &Origin::Flag);
    secrets::learn(layers.merged());
    let config = layers.config().map_err(|e| {
        error!(
            Usage: "配置无效：{e}", "invalid configuration: {e}";
            "`scopeagent config show` 列出每个值及其来源", "`scopeagent config show` lists every value and where it comes from"
        )
    })?;
    let here = std::env::current_dir().unwrap_or_default();
    let is_in_job = jobs.contain(&here);
    Ok((
        Config {
            is_in_job,
            ..config
        },
        layers,
    ))
}

/// `$XDG_CONFIG_HOME/scopeagent/config.toml`, or the platform's equivalent.
///
/// # Errors
/// If the system names no home folder.
pub(crate) fn user_file() -> Result<PathBuf> {
    let folders = platform_folders().ok_or_else(|| {
        error!(
            Usage: "没有存放配置的目录：未设置 HOME", "there is no folder for your configuration: HOME is not set";
            "请设置 HOME 或 XDG_CONFIG_HOME", "set HOME or XDG_CONFIG_HOME"
        )
    })?;
    Ok(folders.config_dir().join("config.toml"))
}

/// Folder for the index of the built-in knowledge and the run store.
pub(crate) fn data_folder(config: &Config) -> PathBuf {
    config
        .data
        .clone()
        .or_else(|| Some(platform_folders()?.data_dir().to_path_buf()))
        .unwrap_or_else(|| PathBuf::from(".scopeagent"))
}

fn platform_folders() -> Option<directories::ProjectDirs> {
    directories::ProjectDirs::from("", "", "scopeagent")
}
