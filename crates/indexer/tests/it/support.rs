//! A knowledge folder with its index.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use indexer::build::{Summary, update};
use indexer::verify::verify;
use indexer::{BuildError, Index, Query, Rebuild, Settings};
use tempfile::TempDir;

/// Set in a process that a test has started of itself; the folder of its [`World`].
const CHILD: &str = "INDEXER_TEST_CHILD";

pub(crate) struct World {
    folder: PathBuf,
    pub(crate) settings: Settings,
    _temporary: Option<TempDir>,
}

impl World {
    pub(crate) fn new() -> World {
        let folder = TempDir::new().expect("a folder");
        let world = World {
            folder: folder.path().to_owned(),
            settings: Settings::default(),
            _temporary: Some(folder),
        };
        fs::create_dir(world.knowledge()).expect("a folder");
        world
    }

    /// The world of the test that started this process, if one did.
    pub(crate) fn of_parent() -> Option<World> {
        Some(World {
            folder: std::env::var_os(CHILD)?.into(),
            settings: Settings::default(),
            _temporary: None,
        })
    }

    /// This program, to run `test` alone in this world, after `arguments` that start it.
    pub(crate) fn child(&self, arguments: &[&str], test: &str) -> Command {
        let program = std::env::current_exe().expect("this program");
        let mut command = match arguments {
            [] => Command::new(program),
            [starter, arguments @ ..] => {
                let mut command = Command::new(starter);
                command.args(arguments).arg(program);
                command
            }
        };
        command.args(["--exact", test, "--nocapture"]);
        command.env(CHILD, &self.folder);
        command
    }

    pub(crate) fn knowledge(&self) -> PathBuf {
        self.folder.join("knowledge")
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.folder.join("index")
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.knowledge().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("written");
    }

    /// `count` documents that carry the number of their version, so that a mixture shows.
    pub(crate) fn write_version(&self, count: usize, version: usize) {
        for document in 0..count {
            let fix = format!("use salt number{document}x, state version{version}x");
            let text = format!("# Document {document}\n\n## Fix\n\n{fix}\n");
            self.write(&format!("doc{document}.md"), &text);
        }
    }

    pub(crate) fn try_update(&self) -> Result<Summary, BuildError> {
        let (knowledge, index) = (self.knowledge(), self.index());
        update(&knowledge, &index, &self.settings, &mut |_| {})
    }

    pub(crate) fn update(&self) -> Summary {
        self.try_update().expect("updated")
    }

    pub(crate) fn rebuild(&self, rebuild: Rebuild) -> Summary {
        let settings = Settings {
            rebuild,
            ..self.settings.clone()
        };
        update(&self.knowledge(), &self.index(), &settings, &mut |_| {}).expect("updated")
    }

    pub(crate) fn open(&self) -> Index {
        Index::open(&self.index(), &self.settings).expect("opened")
    }

    pub(crate) fn search(&self, text: &str) -> Vec<String> {
        ids(&self.open(), &Query::new(text, 5))
    }

    pub(crate) fn assert_whole(&self, place: &str) {
        let verified = verify(&self.index(), &self.settings, &mut |_| {}).expect("verified");
        assert!(verified.is_whole(), "{place}: {:?}", verified.problems);
    }

    /// Replaces a text of the manifest, as if another version or model had made the index.
    pub(crate) fn change_manifest(&self, from: &str, to: &str) {
        let path = self.index().join("meta.json");
        let meta = fs::read(&path).expect("read");
        let mut meta: serde_json::Value = serde_json::from_slice(&meta).expect("JSON");
        let payload = meta["payload"].as_str().expect("a payload");
        let parts: Vec<&str> = payload.splitn(3, ' ').collect();
        let json = parts[2].replace(from, to);
        let sum = blake3::hash(json.as_bytes()).to_hex();
        meta["payload"] = format!("{} {sum} {json}", parts[0]).into();
        fs::write(path, meta.to_string()).expect("written");
    }

    /// Names of files in the folder of the index.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.index()).expect("listed").flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.collect()
    }

    /// Files of segments and vectors that the last commit does not name.
    pub(crate) fn left_over(&self) -> Vec<String> {
        let meta = fs::read_to_string(self.index().join("meta.json")).expect("read");
        // Tantivy writes the id of a segment with hyphens.
        let meta = meta.replace('-', "");
        let is_named = |name: &String| {
            let segment = name.split('.').next().unwrap_or_default();
            meta.contains(&segment.replace('-', ""))
        };
        let is_data = |name: &String| name.contains('.') && name != "meta.json";
        let mut files = self.files();
        files.retain(|name| is_data(name) && !is_named(name));
        files
    }
}

pub(crate) fn ids(index: &Index, query: &Query<'_>) -> Vec<String> {
    let hits = index.search(query).expect("searched");
    hits.iter().map(|hit| hit.chunk.id.clone()).collect()
}

/// The number that [`World::write_version`] put into `text`.
pub(crate) fn version_of(text: &str) -> usize {
    let number = text
        .split("version")
        .nth(1)
        .and_then(|rest| rest.split('x').next());
    let number = number.and_then(|number| number.parse().ok());
    number.expect("every text has its version")
}

pub(crate) fn fixture(path: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).join(path)
}
