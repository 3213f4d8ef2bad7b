//! Bad input: no panic, no loss of data before the fault, no read outside the
//! folder.

use std::path::Path;

use job::model::DiagnosticSeverity::{self, Error, Warning};
use job::model::FileKind;
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

/// Asserts that a diagnostic names file, place and remedy of a fault.
#[track_caller]
fn assert_reported(
    job: &Job,
    severity: DiagnosticSeverity,
    file: &str,
    place: Option<&str>,
    message: &str,
) {
    let mut all = job.diagnostics.iter();
    let found = all.find(|d| d.message.en.contains(message));
    let found = found.unwrap_or_else(|| panic!("no `{message}`: {:?}", job.diagnostics));
    let at = (found.file.as_deref(), found.locator.as_deref());
    assert_eq!(
        (found.severity, at),
        (severity, (Some(file), place)),
        "{found:?}"
    );
    let hint = found.hint.as_ref().expect("every problem has a remedy");
    let texts = [&found.message.zh, &hint.zh, &hint.en];
    assert!(texts.iter().all(|text| !text.is_empty()), "{found:?}");
}

const STATISTICS: &str =
    "<AggregatedStats><SV1_Extract><Output opId='4' rowCount='10'/></SV1_Extract><SV2_Aggregate>";

#[test]
fn folders_that_are_no_jobs_are_named_with_a_remedy() {
    let of = |path: &Path| job::load(path).map(drop).expect_err("no job");
    let empty = folder(&[]);
    let missing = of(&empty.path().join("no"));
    assert!(matches!(missing, OpenError::Missing(_)));
    assert!(matches!(of(empty.path()), OpenError::Empty(_)));
    let file = folder(&[("a.txt", b"hello")]);
    let not_a_folder = of(&file.path().join("a.txt"));
    assert!(matches!(not_a_folder, OpenError::NotAFolder(_)));
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
    let counters = job.stages[0].counters.as_ref().expect("counters");
    let output = counters.by_op_id(4).expect("an output");
    assert_eq!(output.value("rowCount"), Some(10.0));
    let message = "ends with 2 elements still open";
    assert_reported(&job, Error, "stats.xml", Some("line 1"), message);
}

#[test]
fn utf16_and_broken_bytes() {
    let text = "\u{feff}<JobInfo><Name>作业</Name></JobInfo>";
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(load(&[("x", &utf16)]).info.name.as_deref(), Some("作业"));
    let script = "\u{feff}a = SELECT 作业 FROM b;\nOUTPUT a TO \"/x\";\n";
    let utf16: Vec<u8> = script.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let job = load(&[("scope.script", &utf16)]);
    assert_eq!(job.script.map(|s| s.statements.len()), Some(2));
    assert_eq!(job.diagnostics, []);
    let broken = [
        b"<JobInfo><Name>a\xff\xfeb</Name><Id>7</Id></JobInfo>".as_slice(),
        b"\0\0",
    ]
    .concat();
    let job = load(&[("x", &broken)]);
    assert_eq!(job.info.id.as_deref(), Some("7"));
    let message = "contains bytes that are not UTF-8";
    assert_reported(&job, Warning, "x", None, message);
    let message = "contains NUL characters";
    assert_reported(&job, Warning, "x", Some("line 1"), message);
}

#[test]
fn bombs_and_deep_nesting_are_bounded() {
    let entities: String = (0..30)
        .map(|n| format!("<!ENTITY e{} \"&e{n};&e{n};\">", n + 1))
        .collect();
    let bomb =
        format!("<!DOCTYPE x [<!ENTITY e0 \"x\">{entities}]><JobInfo><Name>&e30;</Name></JobInfo>");
    let job = load(&[("b", bomb.as_bytes())]);
    assert_eq!(job.info.name.as_deref(), Some("&e30;"));
    let message = "declares entities, which are not expanded";
    assert_reported(&job, Warning, "b", Some("line 1"), message);
    let too_deep = "nested deeper than 1000 elements";
    for (open, again, message) in [
        ("<ScopeVertices>\n", "<a>", too_deep),
        ("<CSSRelatedInfo>\n", "<PhyOp Id='p'>", too_deep),
        ("<AggregatedStats>\n", "<SV1_X>", too_deep),
        ("{\"tables\":\n", "[", "recursion limit exceeded"),
    ] {
        let deep = format!("{open}{}", again.repeat(100_000));
        let job = load(&[("d", deep.as_bytes())]);
        assert_reported(&job, Error, "d", Some("line 2"), message);
    }
    let deep = format!(
        "a = SELECT {} FROM b;\nc = SELECT d FROM a;\nOUTPUT c TO \"/x\";\n",
        "(".repeat(100_000)
    );
    let job = load(&[("scope.script", deep.as_bytes())]);
    let found = job.diagnostics.first().expect("a diagnostic");
    assert_eq!(found.locator.as_deref(), Some("line 1"), "{found:?}");
}

#[test]
fn numbers_out_of_range_are_no_numbers() {
    let text = "<AggregatedStats><SV1_X><Output opId='99999999999' rowCount='1e999' maxRowCount='NaN' bytes='5'/></SV1_X></AggregatedStats>";
    let job = load(&[("s", text.as_bytes())]);
    let node = &job.stages[0].counters.as_ref().expect("counters").nodes[0];
    let values = ["rowCount", "maxRowCount", "bytes"].map(|name| node.value(name));
    assert_eq!((node.op_id, values), (None, [None, None, Some(5.0)]));
    for (counter, value) in [
        ("opId", "99999999999"),
        ("rowCount", "1e999"),
        ("maxRowCount", "NaN"),
    ] {
        let place = format!("SV1_X/Output/@{counter}");
        let message = format!("`{value}` is out of range for `{counter}`");
        assert_reported(&job, Warning, "s", Some(&place), &message);
    }
    let attempt = "---HiPriTime A-B,C-D,SV1_X[3],Completed,m1,2024-06-27 15:45:06.044 PDT,2024-06-27 15:45:06.084 PDT,\
        2024-06-27 15:45:06.348 PDT,2024-06-27 15:45:07.989 PDT,2024-06-27 15:45:48.233 PDT,2024-06-27 15:45:06.084 PDT,\
        99999999999999999999,45\n";
    let job = load(&[("profile", attempt.as_bytes())]);
    let message = "an attempt that cannot be read";
    assert_reported(&job, Warning, "profile", Some("line 1"), message);
}

#[test]
fn files_larger_than_memory_are_read_in_part() {
    let folder = folder(&[("JobInfo.xml", b"<JobInfo><Name>a</Name>\n")]);
    let huge = |name: &str| {
        let path = folder.path().join(name);
        let file = std::fs::OpenOptions::new().append(true).open(path);
        // sparse: the rest of the line takes no space
        file.and_then(|f| f.set_len(10_000_000_000))
            .expect("a sparse file");
    };
    huge("JobInfo.xml");
    let options = Options {
        max_file_bytes: 1 << 20,
        ..Options::default()
    };
    let mut reader = job::open(folder.path(), &options).expect("a job");
    let read = reader.read_all();
    assert_eq!((read.len(), read[0].bytes), (1, 1 << 20));
    let job = reader.into_job();
    assert_eq!(job.info.name.as_deref(), Some("a"));
    let (file, message) = ("JobInfo.xml", "only the first 1048576 bytes were read");
    assert_reported(&job, Warning, file, None, message);
}

#[test]
fn a_file_that_is_gone_is_reported() {
    let folder = folder(&[
        ("stats.xml", STATISTICS.as_bytes()),
        ("JobInfo.xml", b"<JobInfo><Name>a</Name></JobInfo>"),
    ]);
    let mut reader = job::open(folder.path(), &Options::default()).expect("a job");
    std::fs::remove_file(folder.path().join("stats.xml")).expect("removed");
    let read = reader.read_all();
    let unread = |r: &job::ReadFile| r.file == "stats.xml" && r.parser.is_none();
    assert!(read.iter().any(unread));
    let job = reader.into_job();
    assert_eq!(job.info.name.as_deref(), Some("a"));
    assert_reported(&job, Error, "stats.xml", None, "cannot be read: ");
}

#[cfg(unix)]
#[test]
fn an_unreadable_file_is_reported() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    let folder = folder(&[
        ("stats.xml", STATISTICS.as_bytes()),
        ("JobInfo.xml", b"<JobInfo><Name>a</Name></JobInfo>"),
    ]);
    let path = folder.path().join("stats.xml");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).expect("set");
    if std::fs::read(&path).is_err() {
        let job = job::load(folder.path()).expect("a job");
        assert_eq!(job.info.name.as_deref(), Some("a"));
        assert_reported(&job, Error, "stats.xml", None, "cannot be read: ");
        return;
    }
    // root can read every file, so run the test again as the user `nobody`
    const AGAIN: &str = "SCOPEAGENT_TEST_AS_NOBODY";
    const NOBODY: u32 = 65_534;
    let own = std::env::current_exe().expect("a path");
    let run = std::process::Command::new(own)
        .args(["--exact", "hostile::an_unreadable_file_is_reported"])
        .env(AGAIN, "1")
        .uid(NOBODY)
        .gid(NOBODY)
        .output();
    match run {
        Ok(run) if std::env::var_os(AGAIN).is_none() => {
            let said = String::from_utf8_lossy(&run.stdout);
            assert!(run.status.success() && said.contains("1 passed"), "{said}");
        }
        _ => testkit::skip(
            "an unreadable file",
            "this user can read every file and cannot become another",
        ),
    }
}

#[test]
fn nothing_outside_the_folder_is_read() {
    let secret = folder(&[("secret", b"secret")]);
    let inner = folder(&[("stats.xml", STATISTICS.as_bytes())]);
    let reader = job::open(inner.path(), &Options::default()).expect("a job");
    for name in "../secret /etc/hostname a/../../secret .. a\\..\\b"
        .split(' ')
        .chain([""])
    {
        match reader.text(name, 100) {
            Err(TextError::Outside(_) | TextError::Unknown(_)) => {}
            other => panic!("{name}: {other:?}"),
        }
    }
    let inside = reader.text("stats.xml", 16).expect("inside");
    assert_eq!(inside, "<AggregatedStats");
    #[cfg(unix)]
    {
        let link = inner.path().join("Error");
        std::os::unix::fs::symlink(secret.path().join("secret"), &link).expect("linked");
        let reader = job::open(inner.path(), &Options::default()).expect("a job");
        assert!(reader.files().iter().all(|f| f.name != "Error"));
        let message = "a link is not followed";
        assert_reported(reader.job(), Warning, "Error", None, message);
        assert!(reader.text("Error", 10).is_err());
        // exchanged after it was listed
        std::fs::remove_file(inner.path().join("stats.xml")).expect("removed");
        std::os::unix::fs::symlink(secret.path().join("secret"), inner.path().join("stats.xml"))
            .expect("linked");
        let exchanged = reader.text("stats.xml", 10);
        match exchanged {
            Err(TextError::Unreadable { source, .. }) => {
                assert!(source.to_string().contains("become a link"), "{source}");
            }
            other => panic!("{other:?}"),
        }
        let mut reader = reader;
        let read = reader.read(&["stats.xml"]);
        assert_eq!((read[0].parser, reader.job().stages.len()), (None, 0));
        let message = "it has become a link, which is not followed";
        assert_reported(reader.job(), Error, "stats.xml", None, message);
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
    let [only] = first.as_slice() else {
        panic!("{first:?}");
    };
    assert_eq!(
        (&*only.file, only.parser),
        ("stats.xml", Some("runtime_statistics"))
    );
    assert!(reader.read(&["stats.xml"]).is_empty());
    let unknown = reader
        .files()
        .iter()
        .filter(|f| f.kind == FileKind::Unknown);
    assert_eq!(unknown.count(), 1);
}
