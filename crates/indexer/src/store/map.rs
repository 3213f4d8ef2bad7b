//! Read-only memory maps; the only place that creates them.

use std::io;
use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;

use super::files::open_regular;

/// The bytes of an immutable file.
pub(crate) struct Map(Option<Mmap>);

impl Map {
    /// An empty file maps to zero bytes.
    #[expect(
        unsafe_code,
        reason = "segments are written once under a new name, never changed in place and only ever unlinked, so the \
                  mapped bytes stay as they are"
    )]
    pub(crate) fn open(path: &Path) -> io::Result<Map> {
        let (file, size) = open_regular(path)?;
        if size == 0 {
            return Ok(Map(None));
        }
        // SAFETY: see the reason above; no code of this program writes to a segment after it was closed.
        let map = unsafe { Mmap::map(&file)? };
        Ok(Map(Some(map)))
    }
}

impl Deref for Map {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}
