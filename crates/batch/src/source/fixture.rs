//! Opens jobs in tests of allowed and forbidden writes.

use std::fs;
use std::path::Path;

use super::{Bounds, Sources};
use crate::error::Result;
use crate::location::Access;

/// Where an opened job came from, if its files are copies, and the names of its files.
pub(crate) type Seen = (Option<String>, Vec<String>);

/// Opens a job with `here` around the temporary folder, and closes it. The test fails if a file remains inside or outside of
/// that folder.
pub(crate) async fn opened(
    here: &Path,
    access: Access,
    bounds: Bounds,
    place: &str,
) -> Result<Seen> {
    let temporary = here.join("temporary");
    fs::create_dir(&temporary).expect("made");
    let count = |folder: &Path| fs::read_dir(folder).expect("a folder").count();
    let before = count(here);
    let sources = Sources::new(access, &temporary, bounds);
    let opened = sources.open(place).await;
    drop(sources);
    let seen = opened.map(|job| {
        let entries = fs::read_dir(&job.path).expect("a folder").flatten();
        let names = entries.map(|e| e.file_name().display().to_string());
        let mut names: Vec<String> = names.collect();
        names.sort();
        (job.origin.clone(), names)
    });
    assert_eq!(count(&temporary), 0, "{place}: temporary files remain");
    assert_eq!(count(here), before, "{place}: written outside");
    seen
}
