//! Jobs with the rewrites that the rules suggest for them.

use std::path::{Path, PathBuf};
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

fn of_folder(folder: PathBuf, name: &str) -> Option<Rewritten> {
    let job = job::load(&folder).expect("loads");
    let text = job.script.as_ref()?.text.clone();
    let found = diagnosis::diagnose(
        &job,
        &Catalogue::builtin(),
        &Settings::default(),
        Language::En,
    );
    let suggestions = found.suggestions.into_iter().map(|s| s.suggestion);
    let changed = suggestions.filter_map(|s| Some((s.title, patched(&text, s.diff.as_deref()?))));
    Some(Rewritten {
        name: name.to_owned(),
        changed: changed.collect(),
        job,
    })
}

/// Applies a unified diff strictly: context and removed lines must be where they are said to be.
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
