//! Jobs with the rewrites that the rules suggest for them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use diagnosis::Settings;
use job::script::Script;
use job::{Catalogue, Job};
use report::Language;
use simulator::{CAUSES, COMMITTED, Dialect, Mechanisms, Request, Scale, simulate};

/// Seeds per cause and dialect.
const SEEDS: u64 = 4;

/// A job and the script as changed by each suggested rewrite, with its title.
pub(crate) struct Rewritten {
    pub(crate) name: String,
    pub(crate) job: Job,
    pub(crate) changed: Vec<(String, String)>,
}

impl Rewritten {
    pub(crate) fn script(&self) -> &Script {
        self.job.script.as_ref().expect("a script")
    }
}

/// The committed cases and simulated jobs of every cause in both languages.
pub(crate) fn all() -> &'static [Rewritten] {
    static ALL: OnceLock<Vec<Rewritten>> = OnceLock::new();
    ALL.get_or_init(simulated)
}

fn simulated() -> Vec<Rewritten> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases");
    let committed = COMMITTED
        .iter()
        .map(|name| of_folder(cases.join(name).join("job"), name));
    let mut all: Vec<Rewritten> = committed.flatten().collect();
    for (cause, code) in CAUSES {
        for dialect in [Dialect::Scope, Dialect::Usql] {
            for seed in 0..SEEDS {
                let request = Request {
                    mechanisms: Mechanisms::All,
                    scale: Scale::Small,
                    dialect: Some(dialect),
                    ..Request::single(cause, 900 + seed)
                };
                let Some(simulated) = simulate(&request) else {
                    continue;
                };
                let folder = tempfile::tempdir().expect("a folder");
                simulated.write(folder.path()).expect("writes");
                let name = format!("{code} {dialect:?} {seed}");
                all.extend(of_folder(folder.path().to_path_buf(), &name));
            }
        }
    }
    all
}

/// The jobs of another simulator, if there are any.
pub(crate) fn shared() -> Option<Vec<Rewritten>> {
    let folders = std::fs::read_dir(testkit::shared("jobs-dev")?).expect("listed");
    let folders = folders.map(|entry| entry.expect("an entry").path());
    // Without metadata there are no columns to fill.
    let described = folders.filter(|folder| folder.join("tables.json").is_file());
    let jobs = described.filter_map(|folder| {
        let name = folder.display().to_string();
        of_folder(folder, &name)
    });
    Some(jobs.collect())
}

fn of_folder(folder: PathBuf, name: &str) -> Option<Rewritten> {
    let job = job::load(&folder).expect("loads");
    let script = job.script.clone()?;
    let found = advice::diagnose(
        &job,
        &Catalogue::builtin(),
        &Settings::default(),
        Language::En,
    );
    let suggestions = found.suggestions.into_iter().map(|s| s.suggestion);
    let changed = suggestions.filter_map(|s| {
        let diff = s.diff?;
        let accepted = patch_accepts(&folder.join(&script.file), &diff);
        assert_ne!(accepted, Some(false), "{name}: {}\n{diff}", s.title);
        Some((s.title, patched(&script.text, &diff)))
    });
    Some(Rewritten {
        name: name.to_owned(),
        changed: changed.collect(),
        job,
    })
}

/// `patch --dry-run`; `None` where there is no such program.
fn patch_accepts(script: &Path, diff: &str) -> Option<bool> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("diff");
    std::fs::write(&file, diff).expect("writes");
    let run = Command::new("patch")
        .args(["--dry-run", "--force", "--silent"])
        .arg(script)
        .arg(&file)
        .output()
        .ok()?;
    Some(run.status.success())
}

/// Applies a unified diff strictly: context and removed lines must be at the stated lines.
fn patched(text: &str, diff: &str) -> String {
    let old: Vec<&str> = text.split_inclusive('\n').collect();
    let (mut out, mut at) = (String::new(), 0);
    for line in diff.split_inclusive('\n') {
        if ["---", "+++", "\\"]
            .iter()
            .any(|mark| line.starts_with(mark))
        {
            continue;
        }
        if let Some(head) = line.strip_prefix("@@ -") {
            let first: usize = head
                .split([',', ' '])
                .next()
                .and_then(|n| n.parse().ok())
                .expect("a line");
            let start = first.saturating_sub(1).max(at);
            out.extend(old[at..start].iter().copied());
            at = start;
        } else if let Some(added) = line.strip_prefix('+') {
            out.push_str(added);
        } else {
            assert_eq!(
                old[at].trim_end(),
                line[1.min(line.len())..].trim_end(),
                "line {}",
                at + 1
            );
            if line.starts_with(' ') {
                out.push_str(old[at]);
            }
            at += 1;
        }
    }
    out.extend(old[at..].iter().copied());
    out
}
