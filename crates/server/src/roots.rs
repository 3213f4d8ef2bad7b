//! The folders that the server may read, and whether a path is in them.
//!
//! Links and `..` are resolved first. A path outside is refused in the same words whether it exists or not.

use std::path::{Path, PathBuf};

use report::say;

use crate::error::{Error, ErrorKind, Explain, Result};

/// Real paths of folders that may be read, with everything below them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots(Vec<PathBuf>);

#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// The real path.
    Inside(PathBuf),
    /// In a root, but there is nothing.
    Missing,
    Outside,
}

impl Roots {
    /// # Errors
    /// If one is not an existing folder.
    pub fn new(folders: &[PathBuf]) -> Result<Roots> {
        let real: Result<Vec<PathBuf>> = folders.iter().map(|root| real_folder(root)).collect();
        real.map(Roots)
    }

    /// The real path of what a client names; a relative path is looked up in each root.
    pub(crate) fn admit(&self, named: &str) -> Result<PathBuf> {
        let path = Path::new(named);
        let mut missing = 0;
        for root in &self.0 {
            match self.place(&root.join(path)) {
                Place::Inside(real) => return Ok(real),
                Place::Missing => missing += 1,
                Place::Outside => {}
            }
        }
        if missing > 0 && missing == self.0.len() {
            return Err(Error::new(
                ErrorKind::Input,
                say!("`{named}` 不存在", "`{named}` does not exist"),
            )
            .hint(say!(
                "相对路径从 {listed} 开始",
                "relative paths start at {listed}",
                listed = self.listed()
            )));
        }
        let error = say!(
            "`{named}` 不在本服务可以读取的目录中",
            "`{named}` is outside the folders that this server may read"
        );
        Err(Error::new(ErrorKind::Input, error).hint(say!(
            "可读取 {listed}；用 `--root DIR` 或配置中 `[mcp]` 的 `allowed_roots` 增加目录",
            "it may read {listed}; allow more with `--root DIR`, or `allowed_roots` of `[mcp]` in the configuration",
            listed = self.listed()
        )))
    }

    /// Whether an absolute path is in a root, even if it no longer exists.
    pub(crate) fn cover(&self, path: &Path) -> bool {
        path.is_absolute() && self.place(path) != Place::Outside
    }

    /// The intersection of these roots and other folders.
    pub(crate) fn narrowed(&self, folders: &[PathBuf]) -> Roots {
        let real: Vec<PathBuf> = folders
            .iter()
            .filter_map(|folder| folder.canonicalize().ok())
            .collect();
        let mut common = Vec::new();
        for root in &self.0 {
            for folder in &real {
                let inner = if folder.starts_with(root) {
                    folder
                } else if root.starts_with(folder) {
                    root
                } else {
                    continue;
                };
                if !common.contains(inner) {
                    common.push(inner.clone());
                }
            }
        }
        Roots(common)
    }

    pub(crate) fn named(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(PathBuf::as_path)
    }

    /// The roots for a sentence.
    pub(crate) fn listed(&self) -> String {
        if self.0.is_empty() {
            return say!(
                "（无：客户端的目录与允许的目录没有交集）",
                "nothing: the client's roots and the allowed roots have no folder in common"
            );
        }
        let names = self.0.iter().map(|root| format!("`{}`", root.display()));
        names.collect::<Vec<_>>().join(", ")
    }

    fn place(&self, path: &Path) -> Place {
        let within = |real: &Path| self.0.iter().any(|root| real.starts_with(root));
        // Where nothing exists, the existing part of the path decides.
        let existing = path.ancestors().find_map(|part| part.canonicalize().ok());
        match (path.canonicalize(), existing) {
            (Ok(real), _) if within(&real) => Place::Inside(real),
            (Err(_), Some(real)) if within(&real) => Place::Missing,
            _ => Place::Outside,
        }
    }
}

fn real_folder(root: &Path) -> Result<PathBuf> {
    let name = root.display().to_string();
    let hint = say!(
        "允许的目录 `{name}` 必须存在",
        "the allowed root `{name}` must be an existing folder"
    );
    let real = root.canonicalize().explain(ErrorKind::Usage, hint)?;
    if real.is_dir() {
        return Ok(real);
    }
    let error = say!(
        "允许读取的 `{name}` 不是目录",
        "the allowed root `{name}` is not a folder"
    );
    let hint = say!(
        "请给出包含作业目录的目录",
        "give the folder that contains the job folders"
    );
    Err(Error::new(ErrorKind::Usage, error).hint(hint))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// `in/job` with a file and links, `out/secret`; the root is `in`.
    fn tree() -> (tempfile::TempDir, PathBuf, Roots) {
        let folder = tempfile::tempdir().expect("a folder");
        let base = folder.path().canonicalize().expect("real");
        fs::create_dir_all(base.join("in/job")).expect("made");
        fs::create_dir_all(base.join("out/secret")).expect("made");
        let roots = Roots(vec![base.join("in")]);
        (folder, base, roots)
    }

    #[cfg(unix)]
    fn link(to: &Path, at: &Path) {
        std::os::unix::fs::symlink(to, at).expect("a link");
    }

    fn refusal(roots: &Roots, path: &str) -> String {
        roots.admit(path).expect_err(path).to_string()
    }

    #[test]
    fn paths_in_a_root_are_admitted_whatever_their_form() {
        let (_folder, base, roots) = tree();
        let job = base.join("in/job");
        for path in ["job", "./job", "job/../job", &job.display().to_string()] {
            assert_eq!(roots.admit(path).expect(path), job, "{path}");
        }
        assert_eq!(roots.admit(".").expect("the root itself"), base.join("in"));
    }

    #[test]
    fn paths_that_leave_the_roots_are_refused_whether_they_exist_or_not() {
        let (_folder, base, roots) = tree();
        let beside = base.join("in-beside");
        fs::create_dir(&beside).expect("made");
        for path in [
            "..",
            "../out/secret",
            "../out/nothing",
            "job/../../out",
            "/",
            "/nothing/there",
            &beside.display().to_string(),
        ] {
            assert!(refusal(&roots, path).contains("outside"), "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_resolved() {
        let (_folder, base, roots) = tree();
        link(&base.join("out"), &base.join("in/leaves"));
        link(&base.join("in/job"), &base.join("in/stays"));
        link(&base.join("in/job"), &base.join("out/enters"));
        assert_eq!(roots.admit("stays").expect("inside"), base.join("in/job"));
        assert!(refusal(&roots, "leaves").contains("outside"));
        assert!(refusal(&roots, "leaves/secret").contains("outside"));
        assert!(refusal(&roots, "leaves/nothing").contains("outside"));
        let entering = base.join("out/enters").display().to_string();
        assert_eq!(roots.admit(&entering).expect("inside"), base.join("in/job"));
    }

    #[test]
    fn a_missing_path_in_a_root_is_reported_as_missing() {
        let (_folder, base, roots) = tree();
        assert!(refusal(&roots, "no/such/job").contains("does not exist"));
        assert!(roots.cover(&base.join("in/deleted")));
        assert!(!roots.cover(&base.join("out/deleted")));
        assert!(!roots.cover(Path::new("in/job")), "relative to what?");
    }

    #[test]
    fn folders_of_the_client_narrow_and_never_widen() {
        let (_folder, base, roots) = tree();
        assert_eq!(
            roots.narrowed(&[base.join("in/job"), base.join("out")]),
            Roots(vec![base.join("in/job")])
        );
        assert_eq!(roots.narrowed(std::slice::from_ref(&base)), roots);
        let none = roots.narrowed(&[base.join("out")]);
        assert_eq!(none, Roots(Vec::new()));
        assert!(none.admit("job").is_err());
    }

    #[test]
    fn a_root_must_exist() {
        let (_folder, base, roots) = tree();
        assert_eq!(Roots::new(&[base.join("in/../in")]).expect("real"), roots);
        assert!(Roots::new(&[base.join("nothing")]).is_err());
    }
}
