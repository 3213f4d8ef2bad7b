//! Readable roots of the server: folders, and Spark History Servers.
//!
//! Links and `..` are resolved first. A path outside is refused with the same words whether it exists or not, and an address without
//! a request.

use std::fmt;
use std::path::{Path, PathBuf};

use report::say;
use url::Url;

use crate::error::{Error, ErrorKind, Explain, Result};

/// Real paths of folders and addresses of History Servers that may be read, with everything below them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    folders: Vec<PathBuf>,
    servers: Vec<Url>,
}

/// A job that may be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Admitted {
    /// The real path of a folder or a file.
    Local(PathBuf),
    /// The address of an application on a History Server.
    Remote(String),
}

#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// The real path.
    Inside(PathBuf),
    /// In a root, but it does not exist.
    Missing,
    Outside,
}

impl fmt::Display for Admitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Admitted::Local(path) => path.display().fmt(f),
            Admitted::Remote(address) => f.write_str(address),
        }
    }
}

impl Roots {
    /// # Errors
    /// If one is neither an existing folder nor the address of a server.
    pub fn new(roots: &[PathBuf]) -> Result<Roots> {
        let address = |root: &PathBuf| root.to_str().and_then(address);
        let local = roots.iter().filter(|root| address(root).is_none());
        let real: Result<Vec<PathBuf>> = local.map(|root| real_folder(root)).collect();
        Ok(Roots {
            folders: real?,
            servers: roots.iter().filter_map(address).collect(),
        })
    }

    /// Admits a name from a client: an address or a path.
    pub(crate) fn admit(&self, named: &str) -> Result<Admitted> {
        if named.is_empty() {
            let error = say!("没有给出作业", "no job is given");
            return Err(Error::new(ErrorKind::Usage, error).hint(say!(
                "请给出 {listed} 中的目录或日志",
                "give a folder or a log in {listed}",
                listed = self.listed()
            )));
        }
        match address(named) {
            Some(url) if self.serve(&url) => Ok(Admitted::Remote(named.to_owned())),
            Some(_) => Err(self.refusal(named)),
            None => self.folder(named).map(Admitted::Local),
        }
    }

    /// The real path of a name from a client; a relative path is looked up in each root.
    pub(crate) fn folder(&self, named: &str) -> Result<PathBuf> {
        let path = Path::new(named);
        let mut missing = 0;
        for root in &self.folders {
            match self.place(&root.join(path)) {
                Place::Inside(real) => return Ok(real),
                Place::Missing => missing += 1,
                Place::Outside => {}
            }
        }
        if missing > 0 && missing == self.folders.len() {
            return Err(error!(
                Input: "`{named}` 不存在", "`{named}` does not exist";
                "相对路径从 {listed} 开始", "relative paths start at {listed}", listed = self.listed()
            ));
        }
        Err(self.refusal(named))
    }

    fn refusal(&self, named: &str) -> Error {
        error!(
            Input: "`{named}` 不在本服务可以读取的目录中", "`{named}` is outside the folders that this server may read";
            "可读取 {listed}；用 `--root DIR`、`--root URL` 或配置中 `[mcp]` 的 `allowed_roots` 增加目录和 History Server", "it may read {listed}; allow more folders and History Servers with `--root DIR` and `--root URL`, or `allowed_roots` of `[mcp]` in the configuration", listed = self.listed()
        )
    }

    /// Whether the job of a saved run is in a root, even if it no longer exists.
    pub(crate) fn cover(&self, job: &str) -> bool {
        match address(job) {
            Some(url) => self.serve(&url),
            None => {
                let path = Path::new(job);
                path.is_absolute() && self.place(path) != Place::Outside
            }
        }
    }

    /// Whether an address belongs to an allowed server.
    fn serve(&self, url: &Url) -> bool {
        self.servers.iter().any(|root| {
            let rest = url.path().strip_prefix(root.path().trim_end_matches('/'));
            root.origin() == url.origin()
                && rest.is_some_and(|r| r.is_empty() || r.starts_with('/'))
        })
    }

    /// The intersection of these roots and other folders. Clients declare folders only, so servers are not narrowed.
    pub(crate) fn narrowed(&self, folders: &[PathBuf]) -> Roots {
        let real: Vec<PathBuf> = folders
            .iter()
            .filter_map(|folder| folder.canonicalize().ok())
            .collect();
        let mut common = Vec::new();
        for root in &self.folders {
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
        Roots {
            folders: common,
            servers: self.servers.clone(),
        }
    }

    pub(crate) fn folders(&self) -> impl Iterator<Item = &Path> {
        self.folders.iter().map(PathBuf::as_path)
    }

    pub(crate) fn servers(&self) -> impl Iterator<Item = &Url> {
        self.servers.iter()
    }

    /// The roots for a sentence.
    pub(crate) fn listed(&self) -> String {
        if self.folders.is_empty() && self.servers.is_empty() {
            return say!(
                "（无：客户端的目录与允许的目录没有交集）",
                "none: the client's roots and the allowed roots have no folder in common"
            );
        }
        let folders = self
            .folders
            .iter()
            .map(|root| format!("`{}`", root.display()));
        let servers = self.servers.iter().map(|root| format!("`{root}`"));
        folders.chain(servers).collect::<Vec<_>>().join(", ")
    }

    fn place(&self, path: &Path) -> Place {
        let within = |real: &Path| self.folders.iter().any(|root| real.starts_with(root));
        // The existing part of a missing path decides.
        let existing = path.ancestors().find_map(|part| part.canonicalize().ok());
        match (path.canonicalize(), existing) {
            (Ok(real), _) if within(&real) => Place::Inside(real),
            (Err(_), Some(real)) if within(&real) => Place::Missing,
            _ => Place::Outside,
        }
    }
}

/// An address of the web, without login, query and fragment.
fn address(text: &str) -> Option<Url> {
    let mut url = Url::parse(text).ok()?;
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    url.set_username("").ok()?;
    url.set_password(None).ok()?;
    url.set_query(None);
    url.set_fragment(None);
    Some(url)
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
    Err(error!(
        Usage: "允许读取的 `{name}` 不是目录", "the allowed root `{name}` is not a folder";
        "请给出包含作业目录的目录", "give the folder that contains the job folders"
    ))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn local(folders: &[PathBuf]) -> Roots {
        Roots {
            folders: folders.to_vec(),
            servers: Vec::new(),
        }
    }

    /// `in/job` with a file and links, `out/secret`; the root is `in`.
    fn tree() -> (tempfile::TempDir, PathBuf, Roots) {
        let folder = tempfile::tempdir().expect("a folder");
        let base = folder.path().canonicalize().expect("real");
        fs::create_dir_all(base.join("in/job")).expect("made");
        fs::create_dir_all(base.join("out/secret")).expect("made");
        let roots = local(&[base.join("in")]);
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
            assert_eq!(roots.folder(path).expect(path), job, "{path}");
        }
        assert_eq!(roots.folder(".").expect("the root itself"), base.join("in"));
        assert!(refusal(&roots, "").contains("no job is given"));
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
        assert_eq!(roots.folder("stays").expect("inside"), base.join("in/job"));
        assert!(refusal(&roots, "leaves").contains("outside"));
        assert!(refusal(&roots, "leaves/secret").contains("outside"));
        assert!(refusal(&roots, "leaves/nothing").contains("outside"));
        let entering = base.join("out/enters").display().to_string();
        assert_eq!(
            roots.folder(&entering).expect("inside"),
            base.join("in/job")
        );
    }

    #[test]
    fn a_missing_path_in_a_root_is_reported_as_missing() {
        let (_folder, base, roots) = tree();
        assert!(refusal(&roots, "no/such/job").contains("does not exist"));
        assert!(roots.cover(&base.join("in/deleted").display().to_string()));
        assert!(!roots.cover(&base.join("out/deleted").display().to_string()));
        assert!(!roots.cover("in/job"), "relative to what?");
    }

    #[test]
    fn folders_of_the_client_narrow_and_never_widen() {
        let (_folder, base, roots) = tree();
        assert_eq!(
            roots.narrowed(&[base.join("in/job"), base.join("out")]),
            local(&[base.join("in/job")])
        );
        assert_eq!(roots.narrowed(std::slice::from_ref(&base)), roots);
        let none = roots.narrowed(&[base.join("out")]);
        assert_eq!(none, local(&[]));
        assert!(none.admit("job").is_err());
    }

    #[test]
    fn servers_are_admitted_by_scheme_host_port_and_path_only() {
        let (_folder, base, _) = tree();
        let roots = ["http://h:18080", "https://gate/spark/"].map(PathBuf::from);
        let roots = Roots::new(&[&roots[..], &[base.join("in")]].concat()).expect("roots");
        for inside in [
            "http://h:18080/history/app-1/jobs/?x#y",
            "HTTP://H:18080/history/app-1",
            "https://gate:443/spark/history/app-1",
        ] {
            assert_eq!(
                roots.admit(inside).expect(inside),
                Admitted::Remote(inside.to_owned())
            );
            assert!(roots.cover(inside), "{inside}");
        }
        for outside in [
            "http://h/history/app-1",
            "https://h:18080/history/app-1",
            "http://h:18080@other/history/app-1",
            "http://h.other:18080/history/app-1",
            "http://127.0.0.1:18080/history/app-1",
            "https://gate/sparkling/history/app-1",
            "https://gate/spark/../admin/history/app-1",
        ] {
            assert!(refusal(&roots, outside).contains("outside"), "{outside}");
            assert!(!roots.cover(outside), "{outside}");
        }
        // folders that a client declares narrow folders
        let narrowed = roots.narrowed(&[base.join("out")]);
        assert!(narrowed.admit("http://h:18080/history/app-1").is_ok());
        assert!(narrowed.admit("job").is_err());
    }

    #[test]
    fn a_root_must_exist() {
        let (_folder, base, roots) = tree();
        assert_eq!(Roots::new(&[base.join("in/../in")]).expect("real"), roots);
        assert!(Roots::new(&[base.join("nothing")]).is_err());
    }
}
