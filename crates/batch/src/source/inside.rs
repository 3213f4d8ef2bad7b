//! Maps a name from an archive or a listing to a file below a folder.

use std::path::{Path, PathBuf};

use super::Bounds;

/// Returns where to write an entry, or why its name is refused. Separators are `/`; a name must stay below `folder` on every system.
pub(super) fn inside(folder: &Path, name: &str, bounds: &Bounds) -> Result<PathBuf, String> {
    let mut path = folder.to_owned();
    let mut depth = 0;
    let relative = name.strip_suffix('/').unwrap_or(name);
    for part in relative.split('/') {
        let is_bad = |c: char| c == '\\' || c == ':' || c.is_control();
        match part {
            "." => continue,
            "" | ".." => return Err(outside(name)),
            part if cfg!(windows) && part.contains(is_bad) || part.contains(['\\', '\0']) => {
                return Err(outside(name));
            }
            part => path.push(part),
        }
        depth += 1;
        if depth > bounds.depth + 1 {
            let most = bounds.depth;
            return Err(report::say!(
                "`{name}` 的目录超过 {most} 层",
                "`{name}` is more than {most} folders deep"
            ));
        }
    }
    Ok(path)
}

fn outside(name: &str) -> String {
    report::say!(
        "条目 `{name}` 的名称不指向作业内的文件",
        "its entry `{name}` has no name for a file inside the job"
    )
}
