use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::Field;

use super::*;
use crate::fixture::{bare, failed, known, rows};

/// The cells of a row by column.
fn cells<R: Row>(row: &R) -> Vec<(&'static str, Cell<'_>)> {
    let names = R::columns().into_iter().map(|(name, ..)| name);
    names.zip(row.cells()).collect()
}

fn of<'a>(cells: &[(&'static str, Cell<'a>)], name: &str) -> Cell<'a> {
    let found = cells.iter().find(|(known, _)| *known == name);
    found.expect(name).1.clone()
}

fn text(text: &str) -> Cell<'_> {
    Cell::Text(text.into())
}

#[test]
fn a_report_becomes_rows_with_what_its_owner_needs() {
    let rows = rows(known());
    let job = cells(&*rows.job);
    for (name, expected) in [
        ("job_id", text("id-1")),
        ("owner", text("mei")),
        ("queue", text("batch")),
        ("week", Cell::Date(jiff::civil::date(2026, 1, 12))),
        ("script_hash", text("aa")),
        ("elapsed_seconds", Cell::Real(300.0)),
        ("avoidable_seconds", Cell::Real(90.0)),
        ("cost", Cell::Real(2.5)),
        ("cost_unit", text("AU-hour")),
        (
            "causes",
            text("skew.join_hot_key, memory.spill, failure.user_code"),
        ),
        ("first_line", Cell::Integer(12)),
        ("suggestion", text("hint `Joined`")),
        ("missing_file", text("profile")),
        ("tries", Cell::Null),
    ] {
        assert_eq!(of(&job, name), expected, "{name}");
    }
    let findings: Vec<_> = rows.findings.iter().map(cells).collect();
    let column = |name: &str| -> Vec<Cell<'_>> { findings.iter().map(|f| of(f, name)).collect() };
    // two to one, and together the job's avoidable time; an unknown saving stays unknown
    assert_eq!(
        column("avoidable_seconds"),
        [Cell::Real(60.0), Cell::Real(30.0), Cell::Null]
    );
    assert_eq!(
        column("stage_role"),
        [text("Combine"), text("Aggregate"), Cell::Null]
    );
    assert_eq!(
        column("diff_verified"),
        [Cell::Boolean(true), Cell::Null, Cell::Null]
    );
    assert_eq!(column("owner"), [text("mei"), text("mei"), text("mei")]);
    let segment = cells(&rows.segments[1]);
    assert_eq!(of(&segment, "cause"), text("skew.join_hot_key"));
    assert_eq!(of(&segment, "seconds"), Cell::Real(300.0));
}

#[test]
fn unknown_is_null_and_never_zero() {
    let known = [
        "key",
        "uri",
        "report",
        "status",
        "verdict",
        "problem_type",
        "findings",
    ];
    for (name, cell) in cells(&*rows(bare()).job) {
        assert_eq!(
            cell == Cell::Null,
            !known.contains(&name),
            "{name}: {cell:?}"
        );
    }
    let failure = rows(failed("too large"));
    let failure = cells(&*failure.job);
    assert_eq!(of(&failure, "reason"), text("too large"));
    assert_eq!(of(&failure, "findings"), Cell::Null);
}

#[test]
fn parquet_and_csv_hold_the_rows() {
    let folder = tempfile::tempdir().expect("folder");
    let mut tables = Tables::create(folder.path()).expect("tables");
    for result in [known(), bare(), failed("too large")] {
        tables.add(&rows(result)).expect("rows");
    }
    let paths = tables.finish(&[ClusterRow::default()]).expect("files");
    assert_eq!(paths.len(), 8);
    let counts = ["jobs", "findings", "segments", "clusters"].map(|name| {
        let file = File::open(folder.path().join(format!("{name}.parquet"))).expect("a file");
        let reader = SerializedFileReader::new(file).expect("Parquet");
        let rows = reader.get_row_iter(None).expect("rows");
        let rows: Vec<_> = rows.map(|row| row.expect("a row")).collect();
        if name == "jobs" {
            let column = |name: &str| {
                let of = |row: &::parquet::record::Row| {
                    row.get_column_iter()
                        .find(|(known, _)| *known == name)
                        .map(|(_, field)| field.clone())
                };
                rows.iter().filter_map(of).collect::<Vec<Field>>()
            };
            let seconds = [Field::Double(90.0), Field::Null, Field::Null];
            assert_eq!(column("avoidable_seconds"), seconds);
            let submitted = Field::TimestampMillis(1_768_433_400_000);
            assert_eq!(column("submitted"), [submitted, Field::Null, Field::Null]);
            assert_eq!(
                column("week"),
                [Field::Date(20_465), Field::Null, Field::Null]
            );
        }
        let csv = fs::read_to_string(folder.path().join(format!("{name}.csv"))).expect("CSV");
        assert_eq!(csv.lines().count(), rows.len() + 1, "{name}");
        rows.len()
    });
    assert_eq!(counts, [3, 3, 2, 1]);
}

#[test]
fn an_unfinished_table_has_no_name() {
    let folder = tempfile::tempdir().expect("folder");
    let mut tables = Tables::create(folder.path()).expect("tables");
    tables.add(&rows(known())).expect("rows");
    drop(tables);
    assert_eq!(fs::read_dir(folder.path()).expect("folder").count(), 0);
}

#[test]
fn every_column_is_documented() {
    let docs = include_str!("../../../../docs/batch.md");
    let all = [
        JobRow::columns(),
        FindingRow::columns(),
        SegmentRow::columns(),
        ClusterRow::columns(),
    ];
    for (name, kind, unit, about) in all.into_iter().flatten() {
        let line = format!("| `{name}` | {} | {unit} | {about} |", kind.sql());
        assert!(docs.contains(&line), "docs/batch.md lacks: {line}");
    }
}
