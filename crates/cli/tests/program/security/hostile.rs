//! Job folders made to break readers: each is analyzed within 2 GiB of addresses and 20 s of processor
//! time.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::support::{Answer, User, case, copy, expert_flags, items};

const KIB_OF_ADDRESSES: u64 = 2 << 20;
const SECONDS: u64 = 20;

/// Analyzes a folder within the limits; the answer is the JSON report or an error.
fn bounded(user: &User, job: &Path) -> Answer {
    let process = user.process();
    let mut command = Command::new("sh");
    if cfg!(target_os = "linux") {
        // a POSIX shell takes one limit at a time
        let limit =
            format!("ulimit -v {KIB_OF_ADDRESSES} && ulimit -t {SECONDS} && exec \"$0\" \"$@\"");
        command.arg("-c").arg(limit).arg(process.get_program());
    } else {
        command = Command::new(process.get_program());
    }
    for (name, value) in process.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    command.current_dir(user.home.path()).args(expert_flags());
    command.args([
        "analyze",
        "--no-store",
        "--reasoner",
        "offline",
        "--format",
        "json",
    ]);
    command.arg(job);
    let mut command = assert_cmd::Command::from_std(command);
    // a process that waits uses no processor time
    command.timeout(Duration::from_secs(8 * SECONDS));
    Answer::of(&mut command)
}

/// Analyzes a folder; it results in a report, or is refused as no job.
#[track_caller]
fn survives(name: &str, fill: impl FnOnce(&Path)) -> Option<Value> {
    let user = User::new();
    let job = user.path("job");
    fs::create_dir(&job).expect("made");
    fill(&job);
    let answer = bounded(&user, &job);
    assert!(!answer.err.contains("panicked"), "{name}: {}", answer.err);
    assert!(matches!(answer.code, Some(0 | 3)), "{name}: {answer:#?}");
    let report = (answer.code == Some(0)).then(|| answer.json());
    let largest = report.as_ref().map_or(0.0, largest);
    assert!(largest <= MOST, "{name}: {largest} is no measured number");
    report
}

/// Sums of possible counts and times are below this.
const MOST: f64 = 1e18;

/// The largest number of a report, of any meaning.
fn largest(report: &Value) -> f64 {
    match report {
        Value::Number(number) => number.as_f64().map_or(0.0, f64::abs),
        Value::Array(all) => all.iter().map(largest).fold(0.0, f64::max),
        Value::Object(fields) => fields.values().map(largest).fold(0.0, f64::max),
        _ => 0.0,
    }
}

/// The messages of a report about unreadable files.
fn messages(report: &Value) -> String {
    let diagnostics = items(&report["diagnostics"]).iter();
    let messages = diagnostics.filter_map(|d| d["message"].as_str());
    messages.collect::<Vec<_>>().join("\n")
}

fn write(folder: &Path, name: &str, fill: impl FnOnce(&mut dyn Write)) {
    let mut file = BufWriter::new(File::create(folder.join(name)).expect("created"));
    fill(&mut file);
    file.flush().expect("written");
}

/// The pieces in a row: a beginning, a piece for each number, an end.
fn row(
    folder: &Path,
    name: &str,
    begin: &str,
    n: usize,
    piece: impl Fn(usize) -> String,
    end: &str,
) {
    write(folder, name, |out| {
        out.write_all(begin.as_bytes()).expect("written");
        for i in 0..n {
            out.write_all(piece(i).as_bytes()).expect("written");
        }
        out.write_all(end.as_bytes()).expect("written");
    });
}

/// The text with every whole number between quotes, after a colon or in brackets replaced.
fn with_numbers(text: &str, number: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let end = rest[at..].find(|c: char| !c.is_ascii_digit());
        let end = end.map_or(rest.len(), |n| at + n);
        let before = rest[..at].chars().next_back();
        let after = rest[end..].chars().next();
        let is_value = matches!(
            (before, after),
            (Some('"' | '\''), Some('"' | '\''))
                | (Some(':' | ' ' | '['), Some(',' | '}' | ']' | '\n' | '\r'))
                | (Some(','), Some(',' | '\n' | '\r') | None)
                | (Some('>'), Some('<'))
        );
        out += &rest[..at];
        out += if is_value { number } else { &rest[at..end] };
        rest = &rest[end..];
    }
    out + rest
}

#[test]
fn no_number_brings_it_down() {
    for number in [
        "9223372036854775807",
        "-1",
        "NaN",
        "1e308",
        "4294967295",
        "0",
    ] {
        survives(number, |job| {
            copy(&case("join-hot-key-skew"), job);
            for entry in fs::read_dir(job).expect("listed") {
                let path = entry.expect("an entry").path();
                let Ok(text) = fs::read_to_string(&path) else {
                    continue;
                };
                let is_script = path.extension().is_some_and(|e| e == "script");
                if !is_script {
                    fs::write(&path, with_numbers(&text, number)).expect("written");
                }
            }
        });
    }
}

/// Counts that a reader of one stage would reserve memory for.
#[test]
fn counts_of_one_stage_size_nothing() {
    let huge = i64::MAX;
    let counters = format!(
        "<AggregatedStats><SV1_Extract><Extractor opId='1' rowCount='{huge}' bytes='{huge}'/>\
         <Time elapsedTime='9000000'/><InputStatistics totalBytes='{huge}'/></SV1_Extract></AggregatedStats>"
    );
    let stages = format!(
        "{{\"stages\": [{{\"stageName\": \"SV1_Extract\", \"totalCount\": {huge}, \"succeededCount\": {huge}, \
         \"dataRead\": {huge}, \"totalSucceededTime\": \"PT9000S\"}}]}}"
    );
    let line = format!(
        "---HiPriTime A,B,SV1_Extract[0],Completed,m,2024-01-01 00:00:00.000 UTC,2024-01-01 00:00:01.000 UTC,\
         2024-01-01 00:00:02.000 UTC,2024-01-01 00:00:03.000 UTC,2024-01-01 03:00:00.000 UTC,x,{huge},{huge}\n"
    );
    for (file, text) in [
        ("__ScopeRuntimeStatistics__.xml", &counters),
        ("JobStatistics.json", &stages),
        ("profile", &line),
    ] {
        survives(file, |job| {
            fs::write(job.join(file), text).expect("written")
        });
    }
}

#[test]
fn a_script_of_doubling_joins_has_no_columns() {
    let report = survives("joins", |job| {
        // linking a plan to the script searches for columns
        copy(&case("join-hot-key-skew"), job);
        let join = |n: usize| {
            format!(
                "r{} = SELECT l.*, r.* FROM r{n} AS l INNER JOIN r{n} AS r ON l.a == r.a;\n",
                n + 1
            )
        };
        let first = "r0 = EXTRACT a, b, c FROM @in USING DefaultTextExtractor;\n";
        row(
            job,
            "scope.script",
            first,
            60,
            join,
            "OUTPUT r60 TO @out;\n",
        );
    });
    assert!(report.is_some());
}

#[test]
fn long_scripts_are_read_in_part_and_said_so() {
    let report = survives("statements", |job| {
        row(
            job,
            "scope.script",
            "A = SELECT x FROM t;\n",
            1_000_000,
            |_| "a=b;".to_owned(),
            "",
        );
    });
    let report = report.expect("a report");
    assert!(
        messages(&report).contains("too long"),
        "{}",
        messages(&report)
    );
    let report = survives("one token", |job| {
        fs::write(job.join("scope.script"), "A = SELECT x FROM t;\n").expect("written");
        let file = File::options().append(true).open(job.join("scope.script"));
        file.and_then(|file| file.set_len(256 << 20))
            .expect("a sparse file");
    });
    let report = report.expect("a report");
    assert!(
        messages(&report).contains("only the first"),
        "{}",
        messages(&report)
    );
    survives("columns", |job| {
        row(
            job,
            "scope.script",
            "A = SELECT a",
            400_000,
            |n| format!(",a{n}"),
            " FROM t GROUP BY a;\n",
        );
    });
    survives("parameters", |job| {
        row(
            job,
            "scope.script",
            "A = SELECT x FROM t WHERE (",
            100_000,
            |_| "a=>".to_owned(),
            "a);\n",
        );
    });
}

#[test]
fn twenty_thousand_stages_are_analyzed() {
    let report = survives("stages", |job| {
        let defined = |n: usize| {
            let from = n.saturating_sub(1);
            format!(
                "<ScopeVertex id='SV{n}_X'><operator id='Extract_{n}' uid='{n}' className='ScopeSorter_1' args='-keys A'>\
                 <input id='SV{from}_out0' uid='{from}' schema='A:int'/><output id='SV{n}_out0' uid='{n}' schema='A:int'/>\
                 </operator></ScopeVertex>"
            )
        };
        row(
            job,
            "ScopeVertexDef.xml",
            "<ScopeVertices>",
            20_000,
            defined,
            "</ScopeVertices>",
        );
        let counted = |n: usize| {
            format!(
                "<SV{n}_X><Sort opId='{n}' rowCount='1000' maxRowCount='900' exclusiveTime='60000' maxSpillBucketCount='3'/>\
                 <Output opId='{n}' rowCount='1000' bytes='9000000'/><Time elapsedTime='90000'/></SV{n}_X>"
            )
        };
        row(
            job,
            "__ScopeRuntimeStatistics__.xml",
            "<AggregatedStats>",
            20_000,
            counted,
            "</AggregatedStats>",
        );
        let stated = |n: usize| {
            let comma = if n > 0 { "," } else { "" };
            format!(
                "{comma}{{\"stageName\":\"SV{n}_X\",\"totalCount\":20,\"succeededCount\":20,\"dataRead\":9000000,\
                 \"maxVertexDataRead\":8000000,\"totalSucceededTime\":\"PT90S\"}}"
            )
        };
        row(
            job,
            "JobStatistics.json",
            "{\"stages\":[",
            20_000,
            stated,
            "]}",
        );
        fs::write(
            job.join("scope.script"),
            "A = SELECT x FROM t;\nOUTPUT A TO @o;\n",
        )
        .expect("written");
    });
    assert_eq!(report.expect("a report")["job"]["stages"], 20_000);
}

#[test]
fn deep_and_wide_documents_are_bounded() {
    for (name, file, begin, n, piece, end, said) in [
        (
            "deep XML",
            "ScopeVertexDef.xml",
            "<ScopeVertices>",
            200_000,
            "<a>",
            "",
            "nested deeper than",
        ),
        (
            "many elements",
            "JobInfo.xml",
            "<JobInfo>",
            300_000,
            "<a/>",
            "</JobInfo>",
            "has more than",
        ),
        (
            "deep JSON",
            "tables.json",
            "{\"tables\":",
            200_000,
            "[",
            "",
            "recursion limit",
        ),
        (
            "many values",
            "tables.json",
            "{\"tables\":[],\"more\":[0",
            600_000,
            ",{\"\":0}",
            "]}",
            "more than 1000000 values",
        ),
        (
            "attributes",
            "JobInfo.xml",
            "<JobInfo",
            300_000,
            " a='1'",
            "/>",
            "",
        ),
        (
            "counters",
            "stats.xml",
            "<AggregatedStats><SV1_X>",
            200_000,
            "<a b=''/>",
            "</SV1_X></AggregatedStats>",
            "",
        ),
        (
            "texts",
            "stats.xml",
            "<AggregatedStats><SV1_X",
            200_000,
            " a=''",
            "/></AggregatedStats>",
            "",
        ),
        (
            "operators",
            "def.xml",
            "<ScopeVertices><ScopeVertex id='SV1_X'>",
            200_000,
            "<operator/>",
            "</ScopeVertex></ScopeVertices>",
            "operators; the rest are left out",
        ),
        (
            "columns",
            "def.xml",
            "<ScopeVertices><ScopeVertex id='SV1_X'><operator id='a'><input id='b' schema='",
            200_000,
            "a,",
            "'/></operator></ScopeVertex></ScopeVertices>",
            "",
        ),
        (
            "streams",
            "streams.xml",
            "<SStreams><SStream id='a' path='/x/a.ss'/>",
            200_000,
            "<SStream id='a'/>",
            "</SStreams>",
            "",
        ),
        (
            "one line",
            "profile",
            "---HiPriTime ",
            1_000_000,
            "A,B,",
            "",
            "too long to read",
        ),
        (
            "tokens",
            "tables.json",
            "{\"tables\":[{\"name\":\"T\",\"columns\":[{\"name\":\"c\",\"top_values\":[0",
            200_000,
            ",{\"value\":1,\"count\":1}",
            "]}]}]}",
            "",
        ),
    ] {
        let report = survives(name, |job| {
            row(job, file, begin, n, |_| piece.to_owned(), end);
            fs::write(job.join("scope.script"), "A = SELECT x FROM t;\n").expect("written");
        });
        let messages = messages(&report.expect("a report"));
        assert!(messages.contains(said), "{name}: {messages}");
    }
}

/// A dataset of many channels that many stages read multiplies.
#[test]
fn lists_that_multiply_are_bounded() {
    let report = survives("datasets", |job| {
        write(job, "Algebra.xml", |out| {
            out.write_all(b"<ScriptAndGraph><graph><dataset id='d'>")
                .expect("written");
            for n in 0..20_000 {
                write!(out, "<element id='c{n}'/>").expect("written");
            }
            out.write_all(b"</dataset>").expect("written");
            for n in 0..20_000 {
                write!(out, "<process id='SV{n}_X'><input id='d'/></process>").expect("written");
            }
            out.write_all(b"</graph></ScriptAndGraph>")
                .expect("written");
        });
    });
    let report = report.expect("a report");
    assert!(
        messages(&report).contains("channels; the rest are left out"),
        "{}",
        messages(&report)
    );
}

#[cfg(unix)]
#[test]
fn pipes_links_and_devices_are_not_opened() {
    use std::os::unix::fs::symlink;
    let report = survives("pipes", |job| {
        copy(&case("healthy"), job);
        for name in ["profile2", "logs/profile"] {
            fs::create_dir_all(job.join("logs")).expect("made");
            let made = Command::new("mkfifo").arg(job.join(name)).status();
            assert!(made.is_ok_and(|status| status.success()));
        }
        symlink("/dev/zero", job.join("Error")).expect("a link");
        symlink("/etc/passwd", job.join("tables2.json")).expect("a link");
        symlink("/", job.join("diagnosticstreams")).expect("a link");
        std::os::unix::net::UnixListener::bind(job.join("socket")).expect("a socket");
    });
    let report = report.expect("a report");
    let read = report["files_read"].to_string();
    assert!(
        !read.contains("passwd") && !read.contains("profile2"),
        "{read}"
    );
    assert!(messages(&report).contains("a link is not followed"));
}
