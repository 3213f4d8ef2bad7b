//! Columns of a segment: numbers and facets of its chunks, read without the chunks.

use tantivy::SegmentReader;
use tantivy::columnar::StrColumn;
use tantivy::fastfield::Column;

/// The columns of a segment; absent if it has questions only.
pub(super) struct Columns {
    pub(super) rows: Option<Column<u64>>,
    pub(super) pages: Option<Column<u64>>,
    pub(super) ids: Option<StrColumn>,
    pub(super) facets: Option<StrColumn>,
    /// By their number in the column of facets.
    pub(super) names: Vec<String>,
}

impl Columns {
    pub(super) fn open(segment: &SegmentReader) -> tantivy::Result<Columns> {
        let columns = segment.fast_fields();
        let facets = columns.str("facet")?;
        let mut names = Vec::new();
        if let Some(facets) = &facets {
            let mut all = facets.dictionary().stream()?;
            while all.advance() {
                names.push(String::from_utf8_lossy(all.key()).into_owned());
            }
        }
        Ok(Columns {
            rows: columns.column_opt("row")?,
            pages: columns.column_opt("page")?,
            ids: columns.str("id")?,
            facets,
            names,
        })
    }
}
