//! The sections of a chunk: short subsections of a document share one.

use super::markdown::units;
use super::slug;
use crate::document::line_at;
use crate::model::Chunk;

/// The id of a section: its document, and the slugs of its headings, outermost first.
pub fn section_id(document: &str, headings: &[impl AsRef<str>]) -> String {
    let slugs: Vec<String> = headings.iter().map(|h| slug(h.as_ref())).collect();
    format!("{document}#{}", slugs.join("/"))
}

impl Chunk {
    /// One chunk per heading; the first keeps the id.
    pub fn sections(&self) -> Vec<Chunk> {
        let units = units(&self.text, 0);
        let shown = units.first().map_or(0, |first| first.path.len());
        let above = self.heading_path.len().saturating_sub(shown);
        let section = |(n, unit): (usize, &super::markdown::Unit)| {
            let mut path = self.heading_path.clone();
            let mut id = self.id.clone();
            if n > 0 {
                path.truncate(above);
                path.extend(unit.path.iter().map(|heading| heading.title.clone()));
                id = section_id(&self.document, &path);
            }
            Chunk {
                id,
                heading_path: path,
                text: own(&self.text[unit.range.clone()]).to_owned(),
                line: self.line + line_at(self.text.as_bytes(), unit.range.start) - 1,
                ..self.clone()
            }
        };
        units.iter().enumerate().map(section).collect()
    }

    /// The chunk reduced to some of its sections; `None` without any of them.
    pub fn with_sections(&self, keep: impl Fn(&Chunk) -> bool) -> Option<Chunk> {
        let mut kept = self.sections();
        let all = kept.len();
        kept.retain(keep);
        match kept.len() == all {
            true => Some(self.clone()),
            false => joined(kept),
        }
    }

    /// The chunk with one of its sections first, under the id of that section; `None` without it.
    pub(crate) fn led_by(&self, id: &str) -> Option<Chunk> {
        let mut sections = self.sections();
        let at = sections.iter().position(|section| section.id == id)?;
        sections[..=at].rotate_right(1);
        joined(sections)
    }
}

/// The text of a section without the headings above its own.
fn own(text: &str) -> &str {
    let mut own = text.trim();
    while let Some((heading, below)) = own.split_once('\n') {
        let below = below.trim_start();
        if !heading.starts_with('#') || !below.starts_with('#') {
            break;
        }
        own = below;
    }
    own
}

/// Sections as one chunk, with the id of the first.
fn joined(sections: Vec<Chunk>) -> Option<Chunk> {
    let texts: Vec<&str> = sections.iter().map(|section| &*section.text).collect();
    let text = texts.join("\n\n");
    let first = sections.into_iter().next()?;
    Some(Chunk { text, ..first })
}

#[cfg(test)]
mod tests {
    use super::super::chunks;
    use crate::document::Source;

    #[test]
    fn each_section_of_a_chunk_has_its_own_id_and_text() {
        let text = "# Files\n\n## Fix\n\nFirst.\n\n### Group (U-SQL)\n\nGroup them.\n\n```usql\n### no heading\n```\n\n### Compact\n\nMerge them.\n";
        let source = Source::new("experience/files.md", text.to_owned());
        let [chunk] = &chunks(&source)[..] else {
            panic!("one short chunk");
        };
        let sections = chunk.sections();
        let of = |part: &dyn Fn(&crate::model::Chunk) -> String| -> Vec<String> {
            sections.iter().map(part).collect()
        };
        let ids = ["fix", "fix/group-u-sql", "fix/compact"];
        let ids = ids.map(|id| format!("experience/files.md#{id}"));
        assert_eq!(of(&|s| s.id.clone()), ids);
        let paths = ["Fix", "Fix › Group (U-SQL)", "Fix › Compact"];
        assert_eq!(of(&|s| s.heading_path.join(" › ")), paths);
        let lines: Vec<usize> = sections.iter().map(|s| s.line).collect();
        // The first begins with its chunk, at the title.
        assert_eq!(lines, [chunk.line, 7, 15]);

        let without = chunk.with_sections(|s| !s.id.ends_with("u-sql"));
        let without = without.expect("other sections");
        assert_eq!(
            without.text,
            "## Fix\n\nFirst.\n\n### Compact\n\nMerge them."
        );
        assert!(chunk.with_sections(|_| false).is_none());

        let led = chunk.led_by("experience/files.md#fix/compact");
        let led = led.expect("a section of this name");
        assert_eq!(led.id, ids[2]);
        let start = "### Compact\n\nMerge them.\n\n## Fix\n\nFirst.\n\n### Group";
        assert!(led.text.starts_with(start), "{}", led.text);
    }
}
