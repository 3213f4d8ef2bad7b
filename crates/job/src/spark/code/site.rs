//! Call sites of a log, as `collect at job.py:12`.

use super::Program;
use crate::text::base_name;

impl Program {
    /// Method and line of a call site in the program.
    pub(super) fn site<'s>(&self, site: &'s str) -> Option<(&'s str, u32)> {
        let (method, place) = site.split_once(" at ")?;
        let (file, line) = place.rsplit_once(':')?;
        let is_own = base_name(file) == base_name(&self.file);
        let line = line.trim().parse().ok();
        Some((method, line.filter(|line| is_own && *line > 0)?))
    }
}
