//! The small inputs in `../shared/cases`: cause, place and advice.

use std::path::Path;

use job::Catalogue;

use advice::diagnose;
use diagnosis::{Diagnosis, Settings};
use report::{Language, Verdict};

struct Expected {
    path: &'static str,
    /// Code of the first cause; `healthy` or `insufficient` without one.
    first: &'static str,
    /// Parts of findings, advice and remarks about time.
    says: &'static [&'static str],
    never: &'static [&'static str],
}

const CASES: [Expected; 16] = [
    Expected {
        path: "spark/real_coalesce1",
        first: "parallelism.too_low",
        says: &["coalesce(1) in the code", "remove coalesce"],
        never: &["gzip", "spark.sql.adaptive"],
    },
    Expected {
        path: "spark/M5_repartition1_as_spark31.zstd",
        first: "parallelism.too_low",
        says: &["repartition(1) in the code", "remove this repartition"],
        never: &["gzip", "spark.sql.shuffle.partitions"],
    },
    Expected {
        path: "spark/M3_no_parent_ids",
        first: "healthy",
        says: &["the work of Stage 0"],
        never: &["between the stages"],
    },
    Expected {
        path: "spark/M4_no_end",
        first: "insufficient",
        says: &["lacks the end of the application", "the work of Stage 0"],
        never: &["when the job was submitted"],
    },
    Expected {
        path: "spark/real_stream.zstd",
        first: "parallelism.tiny_vertices",
        says: &["a new checkpoint", "ended without an error: by stop()"],
        never: &["spark.sql.adaptive.enabled", "hint COALESCE"],
    },
    Expected {
        path: "public/no_parent_ids_1.3.zstd",
        first: "healthy",
        says: &["the work of Stage 0"],
        never: &["between the stages"],
    },
    Expected {
        path: "public/databricks_insert_and_repartition1.zstd",
        first: "driver.commit",
        says: &["repartition(1) in the code"],
        never: &["gzip"],
    },
    Expected {
        path: "public/locality_wait_1.5.zstd",
        first: "straggler.unexplained",
        says: &["slots are idle", "spark.locality.wait"],
        never: &["wait for capacity", "another queue"],
    },
    Expected {
        path: "scope/two_sorts_one_stage",
        first: "memory.spill",
        says: &["Sort[13], Sort[15] (lines 34–43), Sort[19] (lines 46–54)"],
        never: &["4484446.0 times"],
    },
    Expected {
        path: "spark/M1_late_executor_tail",
        first: "queue.wait",
        says: &["driver works on its own; the longest wait is 15 s"],
        never: &["no file shows"],
    },
    Expected {
        path: "spark/M2_early_executor_tail",
        first: "driver.bottleneck",
        says: &["the longest wait is 15 s"],
        never: &["no file shows"],
    },
    Expected {
        path: "spark/R03_yarn_physical",
        first: "failure.limit",
        says: &["on attempts that failed"],
        never: &["no task runs for 1 min"],
    },
    Expected {
        path: "spark/real_hang",
        first: "straggler.unexplained",
        says: &[
            "on a similar amount of data",
            "the machine, a lock or the code",
            "thread dump",
        ],
        never: &["skew"],
    },
    Expected {
        path: "spark/real_loop.zstd",
        first: "driver.bottleneck",
        says: &["120 jobs of the same kind", "one query over all values"],
        never: &["wait for capacity"],
    },
    Expected {
        path: "scope/script_shifted_by_a_blank_line",
        first: "shuffle.late_filter",
        says: &["the filter on LatencyMs"],
        never: &["not the one that ran"],
    },
    Expected {
        path: "public/sem_feed_shifted_account.zstd",
        first: "driver.bottleneck",
        says: &["starting the driver and the first executor takes"],
        never: &["no file shows"],
    },
];

fn texts(found: &Diagnosis) -> String {
    let mut texts: Vec<String> = found.findings.iter().map(|f| f.summary.clone()).collect();
    for s in found.suggestions.iter().map(|s| &s.suggestion) {
        texts.push(s.title.clone());
        texts.extend(s.steps.iter().chain(&s.cons).cloned());
        texts.extend(s.settings.iter().map(|s| s.key.clone()));
    }
    texts.extend(found.missing.iter().map(|m| m.information.reason.clone()));
    texts.extend(found.time.iter().flat_map(|t| t.remarks.clone()));
    texts.join("\n")
}

fn wrong(folder: &Path, expected: &Expected) -> Option<String> {
    let job = job::load(&folder.join(expected.path)).expect("a job");
    let (catalogue, settings) = (Catalogue::builtin(), Settings::default());
    let found = diagnose(&job, &catalogue, &settings, Language::En);
    let first = match (found.findings.first(), found.verdict) {
        (Some(finding), _) => finding.cause.code(),
        (None, Verdict::Healthy) => "healthy",
        (None, _) => "insufficient",
    };
    let texts = texts(&found);
    let lacks = expected.says.iter().filter(|part| !texts.contains(**part));
    let has = expected.never.iter().filter(|part| texts.contains(**part));
    let faults: Vec<&&str> = lacks.chain(has).collect();
    (first != expected.first || !faults.is_empty())
        .then(|| format!("{}: {first}, {faults:?}\n{texts}", expected.path))
}

#[test]
fn the_shared_cases_have_the_right_outcome() {
    let Some(folder) = testkit::shared("cases") else {
        return;
    };
    let wrong: Vec<String> = CASES.iter().filter_map(|c| wrong(&folder, c)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
