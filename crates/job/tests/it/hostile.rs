//! Bad input: nothing panics, nothing is lost that stands before the fault, nothing outside the
//! folder is read.

use std::path::Path;

use job::model::{FileKind, Severity};
use job::{Job, OpenError, Options, TextError};

fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).expect("written");
    }
    folder
}

fn load(files: &[(&str, &[u8])]) -> Job {
    job::load(folder(files).path()).expect("a job")
}

const STATISTICS: &str =
    "<AggregatedStats><SV1_Extract><Output opId='4' rowCount='10'/></SV1_Extract><SV2_Aggregate>";

#[test]
fn folders_that_are_no_jobs_are_named_with_a_remedy() {
    let of = |path: &Path| {
        job::open(path, &Options::default())
            .map(|_| ())
            .expect_err("no job")
    };
    let empty = folder(&[]);
    assert!(matches!(
        of(&empty.path().join("no")),
        OpenError::Missing(_)
    ));
    assert!(matches!(of(empty.path()), OpenError::Empty(_)));
    let file = folder(&[("a.txt", b"hello")]);
    assert!(matches!(
        of(&file.path().join("a.txt")),
        OpenError::NotAFolder(_)
    ));
    let error = of(file.path());
    assert!(matches!(error, OpenError::NoKnownFile { inside: None, .. }));
    assert!(!error.hint().is_empty());
    let parent = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(parent.path().join("job-1")).expect("made");
    std::fs::write(parent.path().join("job-1/x"), STATISTICS).expect("written");
    let error = of(parent.path());
    assert!(error.hint().contains("job-1"), "{}", error.hint());
}

#[test]
fn a_cut_file_keeps_what_it_has() {
    let job = load(&[("stats.xml", STATISTICS.as_bytes())]);
    assert_eq!(
        job.stages[0]
            .counters
            .as_ref()
            .and_then(|c| c.by_op_id(4)?.value("rowCount")),
        Some(10.0)
    );
    let fault = &job.diagnostics[0];
    assert_eq!(fault.severity, Severity::Error);
    assert!(
        fault.file.as_deref() == Some("stats.xml")
            && fault.locator.is_some()
            && fault.hint.is_some()
    );
}

#[test]
fn utf16_and_broken_bytes() {
    let text = "\u{feff}<JobInfo><Name>作业</Name></JobInfo>";
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(load(&[("x", &utf16)]).info.name.as_deref(), Some("作业"));
    let broken = [
        b"<JobInfo><Name>a\xff\xfeb</Name><Id>7</Id></JobInfo>".as_slice(),
        b"\0\0",
    ]
    .concat();
    let job = load(&[("x", &broken)]);
    assert_eq!(job.info.id.as_deref(), Some("7"));
    assert!(
        job.diagnostics
            .iter()
            .any(|d| d.message.contains("not UTF-8"))
    );
}

#[test]
fn bombs_and_deep_nesting_are_bounded() {
    let entities: String = (0..30)
        .map(|n| format!("<!ENTITY e{} \"&e{n};&e{n};\">", n + 1))
        .collect();
    let bomb =
        format!("<!DOCTYPE x [<!ENTITY e0 \"x\">{entities}]><JobInfo><Name>&e30;</Name></JobInfo>");
    assert_eq!(
        load(&[("b", bomb.as_bytes())]).info.name.as_deref(),
        Some("&e30;")
    );
    for (open, close) in [
        ("<ScopeVertices>", "<a>"),
        ("<CSSRelatedInfo>", "<PhyOp Id='p'>"),
        ("{\"tables\":", "["),
    ] {
        let deep = format!("{open}{}", close.repeat(100_000));
        let job = load(&[("d", deep.as_bytes())]);
        assert!(!job.diagnostics.is_empty(), "{open}");
    }
}

#[test]
fn numbers_out_of_range_are_no_numbers() {
    let text = "<AggregatedStats><SV1_X><Output opId='99999999999' rowCount='1e999' maxRowCount='NaN' bytes='5'/></SV1_X></AggregatedStats>";
    let job = load(&[("s", text.as_bytes())]);
    let node = job.stages[0]
        .counters
        .as_ref()
        .map(|c| c.nodes[0].clone())
        .expect("a node");
    assert_eq!(
        (
            node.op_id,
            node.value("rowCount"),
            node.value("maxRowCount"),
            node.value("bytes")
        ),
        (None, None, None, Some(5.0))
    );
}

#[test]
fn nothing_outside_the_folder_is_read() {
    let secret = folder(&[("secret", b"secret")]);
    let inner = folder(&[("stats.xml", STATISTICS.as_bytes())]);
    let reader = job::open(inner.path(), &Options::default()).expect("a job");
    for name in [
        "../secret",
        "/etc/hostname",
        "a/../../secret",
        "..",
        "",
        "a\\..\\b",
    ] {
        assert!(
            matches!(
                reader.text(name, 100),
                Err(TextError::Outside(_) | TextError::Unknown(_))
            ),
            "{name}"
        );
    }
    assert_eq!(
        reader.text("stats.xml", 16).expect("inside"),
        "<AggregatedStats"
    );
    #[cfg(unix)]
    {
        let link = inner.path().join("Error");
        std::os::unix::fs::symlink(secret.path().join("secret"), &link).expect("linked");
        let reader = job::open(inner.path(), &Options::default()).expect("a job");
        assert!(reader.files().iter().all(|f| f.name != "Error"));
        assert!(
            reader
                .job()
                .diagnostics
                .iter()
                .any(|d| d.file.as_deref() == Some("Error"))
        );
        assert!(reader.text("Error", 10).is_err());
        // exchanged after it was listed
        std::fs::remove_file(inner.path().join("stats.xml")).expect("removed");
        std::os::unix::fs::symlink(secret.path().join("secret"), inner.path().join("stats.xml"))
            .expect("linked");
        assert!(matches!(
            reader.text("stats.xml", 10),
            Err(TextError::Outside(_))
        ));
        let mut reader = reader;
        let read = reader.read(&["stats.xml"]);
        assert_eq!((read[0].parser, reader.job().stages.len()), (None, 0));
    }
}

#[test]
fn a_file_is_read_once_and_the_answer_names_its_reader() {
    let folder = folder(&[
        (
            "stats.xml",
            b"<AggregatedStats><SV1_X a='1'/></AggregatedStats>",
        ),
        ("notes.txt", b"hello"),
    ]);
    let mut reader = job::open(folder.path(), &Options::default()).expect("a job");
    let first = reader.read(&["stats.xml", "notes.txt", "absent"]);
    assert_eq!(
        first
            .iter()
            .map(|f| (f.file.as_str(), f.parser))
            .collect::<Vec<_>>(),
        [("stats.xml", Some("runtime_statistics"))]
    );
    assert!(reader.read(&["stats.xml"]).is_empty());
    assert_eq!(
        reader
            .files()
            .iter()
            .filter(|f| f.kind == FileKind::Unknown)
            .count(),
        1
    );
}
