//! `__SStreamInfo__.xml` (byte ranges of stored partitions) and `PartitionLastRows.xml` (their
//! rows, which are known to be wrong at times).

use super::tables::name_of;
use super::{Input, count};
use crate::bounds::Quota;
use crate::model::{Job, StoredPartition};
use crate::problem::Problem;
use crate::xml::each_tag;

/// Partitions kept of one stream. SCOPE allows some 10,000.
const MAX_PARTITIONS: usize = 100_000;

/// Reads the byte ranges: `processingGroupInfo="{{0:13627573},{13627573:27258542}}"`.
pub(crate) fn read(input: &Input<'_>, job: &mut Job) {
    let fault = each_tag(input.text, |tag| {
        if tag.name() == "SStream" {
            let (id, path) = (tag.get("id"), tag.get("path"));
            let ranges = ranges(&tag.get("processingGroupInfo").unwrap_or_default());
            stream(input, job, id.as_deref(), path.as_deref(), ranges);
        }
    });
    job.fault(input.name, fault);
}

fn stream(
    input: &Input<'_>,
    job: &mut Job,
    id: Option<&str>,
    path: Option<&str>,
    mut ranges: Vec<u64>,
) {
    job.shorten(Quota::Partitions, &mut ranges, input.name);
    let name = path.map(name_of).or_else(|| id.map(str::to_owned));
    let Some(table) = name.and_then(|name| job.table_mut(path, id, &name, input.name)) else {
        return;
    };
    table.stream_id = id.map(str::to_owned).or(table.stream_id.take());
    table.path = table.path.take().or_else(|| path.map(str::to_owned));
    // decoded metadata has the lengths of the data alone; ranges include block indices
    if table.sources.contains_key("partition_rows") && table.partitions.len() == ranges.len() {
        return;
    }
    if table.partitions.len() != ranges.len() {
        table.partitions = vec![StoredPartition::default(); ranges.len()];
    }
    for (partition, bytes) in table.partitions.iter_mut().zip(&ranges) {
        partition.bytes = *bytes;
    }
    if !ranges.is_empty() {
        let id = id.unwrap_or_default();
        let place = format!("SStream[@id={id}]/@processingGroupInfo");
        table.sources.insert("partitions", input.at(place));
    }
}

/// Lengths of `{{from:to},{from:to}}`.
fn ranges(text: &str) -> Vec<u64> {
    let lengths = text.split('{').filter_map(|piece| {
        let (from, to) = piece.split(['}', '{']).next()?.split_once(':')?;
        count(to)?.checked_sub(count(from)?)
    });
    lengths.take(MAX_PARTITIONS).collect()
}

/// Reads the rows of partitions without a better source: some real files repeat the values of
/// another stream.
pub(crate) fn last_rows(input: &Input<'_>, job: &mut Job) {
    let mut streams: Vec<(String, Vec<u64>)> = Vec::new();
    let fault = each_tag(input.text, |tag| match (tag.name(), streams.last_mut()) {
        ("SStream", _) if job.keeps(Quota::Values, 1, input.name) => {
            streams.push((tag.get("id").unwrap_or_default(), Vec::new()));
        }
        ("Partition", Some((_, rows)))
            if rows.len() < MAX_PARTITIONS && job.keeps(Quota::Partitions, 1, input.name) =>
        {
            rows.extend(tag.get("LastRowId").and_then(|v| count(&v)));
        }
        _ => {}
    });
    for (id, rows) in streams.into_iter().filter(|(_, rows)| !rows.is_empty()) {
        last_rows_of(input, job, &id, &rows);
    }
    job.fault(input.name, fault);
}

fn last_rows_of(input: &Input<'_>, job: &mut Job, id: &str, rows: &[u64]) {
    let Some(table) = job.table_mut(None, Some(id), id, input.name) else {
        return;
    };
    let place = format!("SStream[@id={id}]/Partition/@LastRowId");
    let known: Vec<u64> = table.partitions.iter().filter_map(|p| p.rows).collect();
    if known.is_empty() && (table.partitions.is_empty() || table.partitions.len() == rows.len()) {
        let partitions = &mut table.partitions;
        partitions.resize(rows.len(), StoredPartition::default());
        for (partition, rows) in partitions.iter_mut().zip(rows) {
            partition.rows = Some(*rows);
        }
        table.sources.insert("partition_rows", input.at(place));
    } else if known != rows && !known.is_empty() {
        let problem = Problem::RowsDiffer(id.to_owned(), total(rows), total(&known));
        job.note(input.name, Some(place), &problem);
    }
}

/// Absurd row counts of many partitions may overflow a sum.
fn total(rows: &[u64]) -> u64 {
    rows.iter().fold(0, |sum, n| sum.saturating_add(*n))
}

#[cfg(test)]
mod tests {
    use super::*;

    const INFO: &str = "<SStreams><SStream id='GetSStream_0' path='/a/T.ss' processingGroupInfo='{{0:10},{10:25}}'/></SStreams>";

    #[test]
    fn byte_ranges_become_partitions() {
        let mut job = Job::default();
        read(&Input::new("i.xml", INFO), &mut job);
        let table = &job.tables[0];
        let bytes: Vec<_> = table.partitions.iter().map(|p| p.bytes).collect();
        assert_eq!(bytes, [10, 15]);
        assert_eq!(table.name, "T");
        let rows = "<SStreams><SStream id='GetSStream_0'><Partition id='0' LastRowId='3'/><Partition id='1' LastRowId='4'/></SStream></SStreams>";
        last_rows(&Input::new("r.xml", rows), &mut job);
        assert_eq!(job.tables[0].partitions[1].rows, Some(4));
        last_rows(&Input::new("r2.xml", &rows.replace('4', "9")), &mut job);
        assert_eq!(job.tables[0].partitions[1].rows, Some(4));
        assert_eq!(job.diagnostics.len(), 1);
    }

    #[test]
    fn bad_ranges_are_left_out() {
        assert_eq!(ranges("{{0:10},{20:10},{a:b},{10:"), [10]);
        assert!(ranges("").is_empty());
    }
}
