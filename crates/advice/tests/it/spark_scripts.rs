//! Applications with the script that they ran: the lines of the findings, and the diffs.

use advice::diagnose;
use diagnosis::{Diagnosis, Settings};
use job::{Catalogue, Options};
use report::Language;

/// Diagnoses a log with its script; `None` without the shared logs.
fn of_log(set: &str, log: &str) -> Option<Diagnosis> {
    let folder = testkit::shared(set)?;
    let id = log.trim_end_matches(".zstd");
    let mut scripts = std::fs::read_dir(folder.join("scripts").join(id)).expect("a script");
    let script = scripts.next().expect("a script").expect("a script").path();
    let mut reader = job::open(&folder.join("logs").join(log), &Options::default()).expect("a log");
    reader.use_script(&script).expect("the script");
    reader.read_all();
    let job = reader.into_job();
    let (catalogue, settings) = (Catalogue::builtin(), Settings::default());
    Some(diagnose(&job, &catalogue, &settings, Language::En))
}

#[test]
fn findings_name_the_lines_of_the_script_and_diffs_change_them() {
    for (set, log, cause, line, added) in [
        (
            "spark-dev",
            "app-20261122005702-0000.zstd",
            "skew.join_hot_key",
            36,
            "+spark.conf.set(\"spark.sql.adaptive.enabled\", \"true\")",
        ),
        (
            "spark-dev",
            "app-20261122010333-0000.zstd",
            "shuffle.missed_broadcast",
            19,
            "+    SELECT /*+ BROADCAST(r) */ p.category_id",
        ),
        (
            "spark-dev",
            "app-20261122010429-0000.zstd",
            "shuffle.redundant_repartition",
            12,
            "+orders = orders.withColumn(\"weekend\"",
        ),
        (
            "spark-dev",
            "app-20261122010901-0000.zstd",
            "udo.cpu_bound",
            30,
            "",
        ),
        (
            "spark-dev",
            "app-20261122010945-0000.zstd",
            "parallelism.too_low",
            26,
            "+    .csv(f\"{LAKE}/orders\").repartition(4))",
        ),
        (
            "spark-dev",
            "app-20261122011543-0000",
            "failure.user_code",
            18,
            "",
        ),
        (
            "spark-dev",
            "app-20261122011559-0000.zstd",
            "broadcast.too_large",
            18,
            "+    SELECT o.store_id",
        ),
        (
            "spark-dev",
            "app-20261122011738-0000.zstd",
            "driver.bottleneck",
            12,
            "",
        ),
        (
            "spark-dev",
            "app-20261122011809-0000.zstd",
            "cache.ineffective",
            11,
            "+    .where(\"edit > 10\")).cache()",
        ),
        (
            "spark-dev2",
            "eventlog_v2_app-20261122014206-0000",
            "parallelism.tiny_vertices",
            10,
            "+readings = table(\"readings\").repartition(",
        ),
        (
            "spark-dev2",
            "eventlog_v2_app-20261122021011-0000",
            "shuffle.redundant_repartition",
            15,
            "+",
        ),
        (
            "spark-dev2",
            "eventlog_v2_app-20261122021131-0000",
            "shuffle.missed_broadcast",
            16,
            "+    .join(F.broadcast(flagged), \"order_id\", \"left\")",
        ),
    ] {
        let Some(found) = of_log(set, log) else {
            return;
        };
        let mut findings = found.findings.iter();
        let finding = findings.find(|f| f.cause.code() == cause).expect(log);
        assert_eq!(
            finding.script_lines.map(|lines| lines[0]),
            Some(line),
            "{log}"
        );
        let own = found.suggestions.iter().map(|s| &s.suggestion);
        let own = own.filter(|s| s.finding.as_deref() == Some(finding.id.as_str()));
        let diffs: Vec<&str> = own.filter_map(|s| s.diff.as_deref()).collect();
        let changes = diffs
            .iter()
            .any(|diff| diff.lines().any(|l| l.starts_with(added)));
        assert_eq!(changes, !added.is_empty(), "{log}: {diffs:?}");
    }
}

#[test]
fn a_slow_executor_has_no_line() {
    if let Some(found) = of_log("spark-dev", "app-20261122011400-0000.zstd") {
        assert_eq!(found.findings[0].cause.code(), "failure.slow_machine");
        assert_eq!(found.findings[0].script_lines, None);
    }
}
