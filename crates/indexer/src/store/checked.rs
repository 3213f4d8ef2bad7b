//! States of the files whose checksums were right, so that they are compared again only after a change: a cache.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use super::files::read_regular;
use super::stamp::State;

const CHECKED: &str = "CHECKED";

/// Files of a commit and their states.
pub(crate) struct Files {
    states: Vec<(String, State)>,
    /// Not later than any state was read.
    listed: SystemTime,
}

impl Files {
    /// `None` if the state of one is unknown.
    pub(crate) fn of(folder: &Path, names: &[String]) -> Option<Files> {
        let listed = SystemTime::now();
        let state = |name: &String| {
            let about = fs::symlink_metadata(folder.join(name)).ok()?;
            Some((name.clone(), State::of(&about)?))
        };
        Some(Files {
            states: names.iter().map(state).collect::<Option<_>>()?,
            listed,
        })
    }

    fn text(&self) -> Option<Vec<u8>> {
        let is_settled = |(_, state): &(String, State)| state.is_settled(self.listed);
        let is_settled = self.states.iter().all(is_settled);
        is_settled.then(|| serde_json::to_vec(&self.states).ok())?
    }

    pub(crate) fn are_known(&self, folder: &Path) -> bool {
        let text = self.text();
        text.is_some_and(|text| {
            read_regular(&folder.join(CHECKED)).is_ok_and(|known| known == text)
        })
    }

    /// Records that the checksums are right. Without the note they are compared again.
    pub(crate) fn note(&self, folder: &Path) {
        if let Some(text) = self.text() {
            let _ = fs::write(folder.join(CHECKED), text);
        }
    }
}
