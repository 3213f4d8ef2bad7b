//! Small programs with small logs: the lines of findings, and the diffs.

use advice::diagnose;
use diagnosis::{Diagnosis, Settings};
use job::Catalogue;
use report::{Finding, Language, SameResult, Suggestion};

use crate::event_log::{Log, tasks};

fn diagnosed(log: &Log, program: &str) -> Diagnosis {
    let job = log.read_with(Some(program));
    let (catalogue, settings) = (Catalogue::builtin(), Settings::default());
    diagnose(&job, &catalogue, &settings, Language::En)
}

fn finding<'d>(found: &'d Diagnosis, cause: &str) -> &'d Finding {
    let mut all = found.findings.iter();
    all.find(|f| f.cause.code() == cause).expect(cause)
}

/// The lines that the diff for a finding removes and adds, and whether it keeps the result.
fn diff<'d>(found: &'d Diagnosis, finding: &Finding) -> Option<(Vec<&'d str>, SameResult)> {
    let own = |s: &&Suggestion| s.finding.as_deref() == Some(finding.id.as_str());
    let mut own = found.suggestions.iter().map(|s| &s.suggestion).filter(own);
    let (text, verified) = own.find_map(|s| Some((s.diff.as_deref()?, s.verified.as_ref()?)))?;
    let is_change =
        |l: &&str| l.starts_with(['+', '-']) && !(l.starts_with("+++") || l.starts_with("---"));
    Some((
        text.lines().filter(is_change).collect(),
        verified.same_result,
    ))
}

/// A query that one task of four slots runs, because its plan merges the partitions.
fn merged() -> Log {
    let plan = [
        ("Coalesce", "Coalesce 1"),
        (
            "Project",
            "Project [sha2(cast(note#1 as binary), 512) AS seal#2]",
        ),
        ("Scan parquet ", "FileScan parquet [note#1]"),
    ];
    let log = Log::new(&[2, 2]).plan(&plan, 1_000_000);
    log.stage(
        "csv at NativeMethodAccessorImpl.java:0",
        &[("CoalescedRDD", "Coalesce")],
        1,
        0,
        &tasks(1.0, &[60.0], &[200_000_000]),
    )
    .end(62.0)
}

#[test]
fn the_hint_that_merges_partitions_is_removed_and_no_shuffle_is_added_before_it() {
    const QUERY: &str = r#"from pyspark.sql import SparkSession
spark = SparkSession.builder.appName("a").getOrCreate()
spark.read.parquet("/data/notes").createOrReplaceTempView("notes")
seals = spark.sql("""
    SELECT /*+ COALESCE(1) */ sha2(note, 512) AS seal
    FROM notes
""")
seals.write.csv("/out/seals")
"#;
    let (found, call) = (
        diagnosed(&merged(), QUERY),
        QUERY.replace("/*+ COALESCE(1) */ ", ""),
    );
    let few = finding(&found, "parallelism.too_low");
    assert_eq!(few.script_lines, Some([5, 5]));
    let (lines, same) = diff(&found, few).expect("a diff");
    assert_eq!(
        lines,
        [
            "-    SELECT /*+ COALESCE(1) */ sha2(note, 512) AS seal",
            "+    SELECT sha2(note, 512) AS seal"
        ]
    );
    assert_eq!(same, SameResult::Proven);
    let call = call.replace("seals.write", "seals.coalesce(N).write");
    let found = diagnosed(&merged(), &call.replace("seals = ", "N = 1\nseals = "));
    let few = finding(&found, "parallelism.too_low");
    let (lines, _) = diff(&found, few).expect("a diff");
    assert_eq!(few.script_lines, Some([9, 9]));
    assert_eq!(lines[1], "+seals.write.csv(\"/out/seals\")");
    // the place of the merge is not in the program
    let found = diagnosed(&merged(), &call.replace(".coalesce(N)", ""));
    assert_eq!(diff(&found, finding(&found, "parallelism.too_low")), None);
}
