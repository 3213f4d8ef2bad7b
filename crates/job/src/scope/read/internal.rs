//! `ScopeInternalStatistics.xml`: metadata of the inputs. The metadata of structured streams is a
//! base64 block with readable XML between binary pages.
//!
//! The format of the pages is not documented. The page with the partitions is recognized by its sums:
//! offsets add up to lengths, and rows to the row count in the XML.

use std::cell::Cell;

use base64::Engine;

use super::tables::name_of;
use super::{Input, count};
use crate::bounds::{self, Quota};
use crate::model::{Clustering, ColumnStatistics, Job, StoredPartition};
use crate::problem::Problem;
use crate::xml::{Node, tree};

/// A structured stream has at most some ten thousand partitions.
const MAX_PARTITIONS: usize = 100_000;
/// Numbers read while searching for the partition page: well below a second.
const MAX_WORK: usize = 50_000_000;

pub(crate) fn read(input: &Input<'_>, job: &mut Job) {
    let (document, fault) = tree(input.text);
    let all = document.descendants();
    if let Some(block) = all.iter().find(|n| n.name == "SStreamMetaData") {
        let mut packed = block.text.clone();
        packed.retain(|c| !c.is_ascii_whitespace());
        match base64::engine::general_purpose::STANDARD.decode(&packed) {
            Ok(bytes) => streams(input, &bytes, job),
            Err(error) => {
                let problem = Problem::Metadata(error.to_string());
                job.note(input.name, Some("SStreamMetaData".to_owned()), &problem);
            }
        }
    }
    for owner in &all {
        let is_file = |n: &&Node| n.name == "FileMetadata" || n.name == "StreamsetInfo";
        for file in owner.children.iter().filter(is_file) {
            length(input, owner, file, job);
        }
    }
    job.fault(input.name, fault);
}

/// Length of an input file: outputs are listed with a length of -1.
fn length(input: &Input<'_>, owner: &Node, node: &Node, job: &mut Job) {
    let path = owner.field("Path").or_else(|| node.field("VcName"));
    let (Some(path), Some(bytes)) = (path, node.field("Length").and_then(count)) else {
        return;
    };
    let Some(table) = job.table_mut(Some(path), None, &name_of(path), input.name) else {
        return;
    };
    table.path.get_or_insert_with(|| path.to_owned());
    if table.bytes.is_none() {
        table.bytes = Some(bytes);
        let place = format!("{}[@VcName={path}]/@Length", node.name);
        table.sources.insert("bytes", input.at(place));
    }
}

/// Each stream: pages, `<Schema>`s, `<Statistics>`, and the schema of the table.
fn streams(input: &Input<'_>, bytes: &[u8], job: &mut Job) {
    let mut begin = 0;
    while let Some((at, statistics, end)) = element(bytes, begin, "Statistics") {
        // without this limit, a stream without a schema would get the next stream's
        let next = memchr::memmem::find(&bytes[end..], b"<Statistics>");
        let next = next.map_or(bytes.len(), |n| end + n);
        let schema = element(&bytes[..next], end, "Schema");
        let own = schema.as_ref().map(|(_, node, _)| node);
        stream(input, &bytes[begin..at], &statistics, own, job);
        begin = schema.map_or(end, |(_, _, end)| end);
    }
}

/// The first element of that name from `from` on: its offset, the element, and the offset of its end.
fn element(bytes: &[u8], from: usize, name: &str) -> Option<(usize, Node, usize)> {
    let rest = bytes.get(from..)?;
    let start = memchr::memmem::find(rest, format!("<{name}>").as_bytes())?;
    let close = format!("</{name}>");
    let end = start + memchr::memmem::find(&rest[start..], close.as_bytes())? + close.len();
    let text = String::from_utf8_lossy(&rest[start..end]);
    let node = tree(&text).0.children.into_iter().next()?;
    Some((from + start, node, from + end))
}

fn stream(
    input: &Input<'_>,
    before: &[u8],
    statistics: &Node,
    schema: Option<&Node>,
    job: &mut Job,
) {
    let pages_end = memchr::memmem::find(before, b"<Schema>").unwrap_or(before.len());
    let pages = &before[..pages_end];
    let Some(path) = path_in(pages) else { return };
    let whole = |parent: &str, name: &str| statistics.child(parent)?.field(name).and_then(count);
    let rows = whole("Partition", "RowCount");
    let n = whole("Partition", "PartitionCount");
    let partitions = rows
        .zip(n)
        .and_then(|(rows, n)| partitions(pages, rows, usize::try_from(n).ok()?));
    let at = |place: &str| input.at(format!("SStreamMetaData {}: {place}", name_of(&path)));
    let partitions = partitions.filter(|p| job.keeps(Quota::Partitions, p.len(), input.name));
    let mut columns = columns(statistics, schema, rows);
    job.shorten(Quota::Columns, &mut columns, input.name);
    let Some(table) = job.table_mut(Some(&path), None, &name_of(&path), input.name) else {
        return;
    };
    table.path.get_or_insert_with(|| path.clone());
    if let Some(rows) = rows {
        table.rows = Some(rows);
        let place = at("Statistics/Partition/RowCount");
        table.sources.insert("rows", place);
    }
    if let Some(bytes) = whole("Partition", "DataSize").filter(|_| table.bytes.is_none()) {
        table.bytes = Some(bytes);
        let place = at("Statistics/Partition/DataSize");
        table.sources.insert("bytes", place);
    }
    if let Some(partitions) = partitions {
        table.partitions = partitions;
        table.sources.insert("partitions", at("partition page"));
        table.sources.insert("partition_rows", at("partition page"));
    }
    if table.columns.is_empty() {
        table.columns = columns;
        table.sources.insert("columns", at("Statistics/Columns"));
    }
    if let Some(schema) = schema
        && table.clustering.is_none()
    {
        table.clustering = Some(clustering(schema, n));
        let place = at("Schema/PartitionKey");
        table.sources.insert("clustering", place);
    }
}

fn columns(statistics: &Node, schema: Option<&Node>, rows: Option<u64>) -> Vec<ColumnStatistics> {
    let types = |name: &str| {
        let mut all = schema?.child("Columns")?.all("Column");
        let own = all.find(|c| c.field("Name") == Some(name))?;
        own.field("Type").map(str::to_owned)
    };
    let listed = statistics.child("Columns").map_or(&[][..], |n| &n.children);
    let of = |node: &Node| {
        let name = node.field("Name")?.to_owned();
        let value = |field: &str| node.field(field).and_then(count);
        let (size, present) = (value("TotalNotNullColumnSize"), value("NotNullColumnCount"));
        let width = size.zip(present.filter(|n| *n > 0));
        Some(ColumnStatistics {
            type_name: types(&name),
            avg_width: width.map(|(size, n)| size as f64 / n as f64),
            nulls: rows.zip(present).and_then(|(rows, n)| rows.checked_sub(n)),
            name,
            ..ColumnStatistics::default()
        })
    };
    listed.iter().filter_map(of).collect()
}

fn clustering(schema: &Node, partitions: Option<u64>) -> Clustering {
    let names = |parent: &str| -> Vec<String> {
        let columns = schema.child(parent).into_iter();
        let columns = columns.flat_map(|k| k.all("Column"));
        let names = columns.filter_map(|c| c.field("Name"));
        names.map(str::to_owned).collect()
    };
    let key = schema.child("PartitionKey");
    let kind = key.and_then(|k| k.field("PartitionType"));
    // `HashPartition`, `RangePartition`
    let kind = kind.map(|k| k.to_lowercase().trim_end_matches("partition").to_owned());
    Clustering {
        kind: kind.unwrap_or_else(|| "none".to_owned()),
        keys: names("PartitionKey"),
        sorted_by: names("SortKey"),
        partitions: partitions.and_then(bounds::parts),
    }
}

/// The stream's path: the longest readable run, preceded by its length in seven-bit groups.
fn path_in(pages: &[u8]) -> Option<String> {
    let readable = |b: &u8| (0x20..0x7f).contains(b);
    let (mut best, mut at) = (0..0, 0);
    while at < pages.len() {
        let length = pages[at..].iter().take_while(|b| readable(b)).count();
        if length > best.len() {
            best = at..at + length;
        }
        at += length + 1;
    }
    let start = best.start;
    let stated = match pages.get(start.checked_sub(2)?..start)? {
        [low, high] if *low >= 0x80 => usize::from(low & 0x7f) | usize::from(*high) << 7,
        [_, one] => usize::from(*one),
        _ => return None,
    };
    let run = &pages[best];
    // a one-byte length that is readable itself belongs to the run
    let text = match (5..=run.len()).contains(&stated) {
        true => &run[..stated],
        false => run,
    };
    let text = String::from_utf8_lossy(text).into_owned();
    text.contains(['/', '\\']).then_some(text)
}

/// Finds offsets, lengths, data lengths and rows of `n` partitions, each an array of
/// little-endian 64-bit numbers, one array after the other.
fn partitions(pages: &[u8], rows: u64, n: usize) -> Option<Vec<StoredPartition>> {
    if n == 0 || n > MAX_PARTITIONS {
        return None;
    }
    let work = Cell::new(0_usize);
    let word = |at: usize| -> Option<u64> {
        work.set(work.get() + 1);
        Some(u64::from_le_bytes(pages.get(at..at + 8)?.try_into().ok()?))
    };
    let size = n * 8;
    let fits = |at: usize| -> Option<()> {
        let mut expected = 0_u64;
        for i in 0..n {
            let (offset, length) = (word(at + i * 8)?, word(at + size + i * 8)?);
            let data = word(at + 2 * size + i * 8)?;
            if offset != expected || data > length {
                return None;
            }
            expected = expected.checked_add(length)?;
        }
        let add = |sum: u64, i| sum.checked_add(word(at + 3 * size + i * 8)?);
        let sum = (0..n).try_fold(0, add)?;
        (sum == rows && expected > 0).then_some(())
    };
    let last = pages.len().checked_sub(4 * size)?;
    let at = (0..=last)
        .take_while(|_| work.get() < MAX_WORK)
        .find(|at| fits(*at).is_some())?;
    let partition = |i: usize| {
        let (bytes, rows) = (at + 2 * size + i * 8, at + 3 * size + i * 8);
        let (bytes, rows) = (word(bytes)?, word(rows));
        Some(StoredPartition { bytes, rows })
    };
    (0..n).map(partition).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of our own with the shape of the real ones.
    fn block() -> Vec<u8> {
        let mut out = vec![1, 0, 0, 0];
        let path = "/shares/a/T.ss";
        out.push(path.len() as u8);
        out.extend(path.bytes());
        out.extend([0x73, 0x48, 0, 0, 3, 0, 0]);
        for array in [[0_u64, 100], [100, 50], [96, 47], [7, 3]] {
            out.extend(array.iter().flat_map(|n| n.to_le_bytes()));
        }
        out.extend(b"\x01<Schema><Columns/></Schema>\x02");
        out.extend(
            b"<Statistics><Partition><DataSize>143</DataSize><RowCount>10</RowCount><PartitionCount>2</PartitionCount></Partition>\
              <Columns><Column Name=\"K\"><TotalNotNullColumnSize>40</TotalNotNullColumnSize><NotNullColumnCount>8</NotNullColumnCount></Column></Columns></Statistics>",
        );
        out.extend(
            b"\x00<Schema><Columns><Column><Name>K</Name><Type>int?</Type></Column></Columns><PartitionKey PartitionType=\"HashPartition\">\
              <Column><Name>K</Name></Column></PartitionKey><SortKey><Column><Name>K</Name><Order>Asc</Order></Column></SortKey></Schema>",
        );
        out
    }

    #[test]
    fn a_block_gives_rows_partitions_columns_and_keys() {
        let packed = base64::engine::general_purpose::STANDARD.encode(block());
        let text = format!(
            "<StatisticsInfo><SStreamMetaData><![CDATA[{packed}]]></SStreamMetaData><StreamsetInfoRecord>\
            <StreamsetInfo VcName='/shares/b.csv' Length='77'/></StreamsetInfoRecord></StatisticsInfo>"
        );
        let mut job = Job::default();
        read(&Input::new("s.xml", &text), &mut job);
        let table = &job.tables[0];
        assert_eq!(table.path.as_deref(), Some("/shares/a/T.ss"));
        assert_eq!((table.rows, table.bytes), (Some(10), Some(143)));
        let partitions: Vec<_> = table.partitions.iter().map(|p| (p.bytes, p.rows)).collect();
        assert_eq!(partitions, [(96, Some(7)), (47, Some(3))]);
        assert_eq!(table.columns[0].avg_width, Some(5.0));
        assert_eq!(table.columns[0].nulls, Some(2));
        let layout = table.clustering.as_ref().expect("layout");
        assert_eq!(layout.kind, "hash");
        assert_eq!(layout.keys, ["K"]);
        assert_eq!(job.tables[1].bytes, Some(77));
    }

    #[test]
    fn a_broken_block_is_reported() {
        let mut job = Job::default();
        let text =
            "<StatisticsInfo><SStreamMetaData>not base64!</SStreamMetaData></StatisticsInfo>";
        read(&Input::new("s.xml", text), &mut job);
        assert_eq!(job.diagnostics.len(), 1);
        assert!(job.tables.is_empty());
    }
}
