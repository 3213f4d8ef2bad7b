//! Finds ONNX Runtime, checks it and loads it once per process.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ort::environment::Environment;

use super::{EmbedError, OnnxModel};
use report::with_causes;

const INSTALL: &str = "install ONNX Runtime 1.24 or newer (`pip install 'onnxruntime>=1.24'`) and name the folder of its \
                       library, `…/site-packages/onnxruntime/capi`, as `runtime` in the configuration";

/// Shared by all sessions: the runtime allows one environment per process, so the first library stays.
static SHARED: Mutex<Option<Environment>> = Mutex::new(None);

/// Loads the runtime for `model`. Loading it this way first turns a missing or old library into an error; creating a session would
/// panic.
pub(super) fn environment(model: &OnnxModel) -> Result<Environment, EmbedError> {
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(environment) = &*shared {
        return Ok(environment.clone());
    }
    let refused = |reason: String| model.unavailable(reason, INSTALL);
    let (path, missing) = match &model.runtime {
        Some(path) if path.is_file() => (Some(path.clone()), String::new()),
        Some(path) => (
            library(path),
            format!("{} holds no ONNX Runtime", path.display()),
        ),
        None => {
            let found = usual_places().iter().find_map(|folder| library(folder));
            (found, "no ONNX Runtime was found".to_owned())
        }
    };
    let path = path.ok_or_else(|| refused(missing))?;
    let environment = ort::init_from(&path)
        .map_err(|error| refused(format!("{}: {}", path.display(), with_causes(&error))))?
        .with_telemetry(false)
        .build()
        .map_err(|error| refused(error.to_string()))?;
    *shared = Some(environment.clone());
    Ok(environment)
}

/// Next to the program, and where systems keep libraries.
fn usual_places() -> Vec<PathBuf> {
    let program = std::env::current_exe().ok();
    let beside = program
        .as_deref()
        .and_then(Path::parent)
        .map(Path::to_owned);
    let usual = ["/usr/lib", "/usr/local/lib", "/opt/homebrew/lib"];
    beside.into_iter().chain(usual.map(PathBuf::from)).collect()
}

/// The library in `folder`, in any version: `libonnxruntime.so.1.24.4`, `libonnxruntime.1.24.4.dylib`,
/// `onnxruntime.dll`. Of several, the last by name.
fn library(folder: &Path) -> Option<PathBuf> {
    let start = format!("{}onnxruntime.", std::env::consts::DLL_PREFIX);
    let extension = std::env::consts::DLL_EXTENSION;
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.strip_prefix(&start)
            .is_some_and(|rest| rest.split('.').any(|part| part == extension))
            && path.is_file()
    };
    let entries = std::fs::read_dir(folder).ok()?;
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(is_library)
        .max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn the_library_of_a_folder_is_found_whatever_its_version() {
        let folder = tempfile::tempdir().expect("a folder");
        let touch = |name: &str| std::fs::write(folder.path().join(name), b"").expect("written");
        touch("libonnxruntime_providers_shared.so");
        assert_eq!(library(folder.path()), None);
        touch("libonnxruntime.so.1.31.1");
        let found = library(folder.path()).expect("found");
        assert!(found.ends_with("libonnxruntime.so.1.31.1"));
        assert_eq!(library(&folder.path().join("absent")), None);
    }
}
