//! Columns of a segment: numbers and facets of its chunks, read without the chunks.

use tantivy::columnar::{ColumnIndex, StrColumn};
use tantivy::fastfield::Column;
use tantivy::{DocId, SegmentReader};

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
        let names = facets.as_ref().map(names).transpose()?;
        Ok(Columns {
            rows: columns.column_opt("row")?,
            pages: columns.column_opt("page")?,
            ids: columns.str("id")?,
            names: names.unwrap_or_default(),
            facets,
        })
    }
}

/// The texts of a column by their number.
pub(crate) fn names(column: &StrColumn) -> tantivy::Result<Vec<String>> {
    let mut names = Vec::with_capacity(column.dictionary().num_terms());
    let mut all = column.dictionary().stream()?;
    while all.advance() {
        names.push(String::from_utf8_lossy(all.key()).into_owned());
    }
    Ok(names)
}

/// The live entries of a segment with a number in this column, which has at most one per entry. Faster than asking for each entry.
pub(crate) fn numbers(column: &Column<u64>, segment: &SegmentReader) -> Vec<(DocId, u64)> {
    let all = all(column, segment);
    all.filter(|(entry, _)| !segment.is_deleted(*entry))
        .collect()
}

/// The entries with a number, dead ones included.
pub(crate) fn all(
    column: &Column<u64>,
    segment: &SegmentReader,
) -> impl Iterator<Item = (DocId, u64)> {
    let entries: Vec<DocId> = match &column.index {
        ColumnIndex::Optional(index) => index.iter_non_null_docs().collect(),
        ColumnIndex::Full => (0..segment.max_doc()).collect(),
        ColumnIndex::Empty { .. } | ColumnIndex::Multivalued(_) => Vec::new(),
    };
    entries.into_iter().zip(values(column))
}

/// The numbers of the entries that have one.
pub(crate) fn values(column: &Column<u64>) -> Vec<u64> {
    let mut values = vec![0; column.values.num_vals() as usize];
    column.values.get_range(0, &mut values);
    values
}
