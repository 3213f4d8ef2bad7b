//! Configuration in layers: built-in values, the user's file, the project's file, the environment, flags. Later layers win, key by key.

mod layers;
mod models;
mod schema;

use std::path::{Path, PathBuf};

pub(crate) use layers::{Layers, Origin};
pub(crate) use models::{Embedder, EmbedderProvider};
pub(crate) use schema::Config;

use server::{Error, ErrorKind, Result};

/// The project's file, in the current folder or the nearest one above.
pub(crate) const PROJECT_FILE: &str = "scopeagent.toml";

/// Reads every layer. `explicit` is `--config FILE` and replaces the project's file.
pub(crate) fn load(explicit: Option<&Path>, flags: toml::Table) -> Result<(Config, Layers)> {
    let mut layers = Layers::default();
    if let Some(path) = user_file().filter(|p| p.is_file()) {
        layers.add_file(&path, Origin::User)?;
    }
    match explicit {
        Some(path) => layers.add_file(path, Origin::Project)?,
        None => {
            if let Some(path) = project_file() {
                layers.add_file(&path, Origin::Project)?;
            }
        }
    }
    layers.add(flags, &Origin::Flag);
    let config = layers.config().map_err(|e| {
        Error::new(ErrorKind::Usage, format!("invalid configuration: {e}"))
            .hint("`scopeagent config show` lists every value and where it comes from")
    })?;
    Ok((config, layers))
}

/// `$XDG_CONFIG_HOME/scopeagent/config.toml`, or the platform's equivalent.
pub(crate) fn user_file() -> Option<PathBuf> {
    Some(platform_folders()?.config_dir().join("config.toml"))
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

fn project_file() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors()
        .map(|dir| dir.join(PROJECT_FILE))
        .find(|path| path.is_file())
}
