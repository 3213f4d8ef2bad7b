//! The rules on event logs, reduced to the events that a rule reads.

use job::Catalogue;
use report::Language;
use serde_json::json;

use crate::event_log::{Log, in_turn, ms, tasks};
use advice::diagnose;
use diagnosis::Settings;

fn causes(log: &Log) -> Vec<&'static str> {
    let catalogue = Catalogue::builtin();
    let found = diagnose(&log.read(), &catalogue, &Settings::default(), Language::En);
    found.findings.iter().map(|f| f.cause.code()).collect()
}

const EVEN: [u64; 4] = [1_000_000; 4];
const ONE_LARGE: [u64; 4] = [9_000_000, 1_000_000, 1_000_000, 1_000_000];

#[test]
fn shuffles_of_rdds_are_skewed_like_those_of_plans() {
    let python = [
        ("PythonRDD", "mapPartitions"),
        ("ShuffledRDD", "partitionBy"),
    ];
    for (written_at, bytes, seconds, expected) in [
        (
            "groupByKey at a.py:3",
            ONE_LARGE,
            [18.0, 2.0, 2.0, 2.0],
            vec!["skew.group_hot_key"],
        ),
        (
            "join at a.py:3",
            ONE_LARGE,
            [18.0, 2.0, 2.0, 2.0],
            vec!["skew.join_hot_key"],
        ),
        ("groupByKey at a.py:3", EVEN, [6.0, 6.0, 6.0, 6.0], vec![]),
    ] {
        let end = 3.2 + seconds[0];
        let log = Log::new(&[2, 2])
            .stage(
                written_at,
                &[("PairwiseRDD", "")],
                4,
                0,
                &tasks(1.0, &[2.0; 4], &EVEN),
            )
            .stage(
                "sum at a.py:3",
                &python,
                4,
                0,
                &tasks(3.1, &seconds, &bytes),
            )
            .end(end);
        assert_eq!(causes(&log), expected, "{written_at} {bytes:?}");
    }
}

#[test]
fn few_partitions_of_an_rdd_leave_slots_idle_unless_the_action_needs_no_more() {
    for (partitions, seconds, expected) in [
        (2, 12.0, true),
        // take() looks at some partitions of many
        (40, 12.0, false),
        // and short tasks are not worth more of them
        (2, 1.0, false),
    ] {
        let log = Log::new(&[3, 3])
            .stage(
                "sum at a.py:3",
                &[("PythonRDD", "map")],
                partitions,
                0,
                &tasks(1.0, &[seconds; 2], &EVEN[..2]),
            )
            .end(seconds + 1.5);
        let found = causes(&log).contains(&"parallelism.too_low");
        assert_eq!(found, expected, "{partitions} {seconds}");
    }
}

#[test]
fn small_files_cost_what_opening_them_takes_where_no_scan_is_timed() {
    const MB: u64 = 1 << 20;
    for (files, expected) in [(2_500, vec!["io.small_files"]), (60, vec![])] {
        let log = Log::new(&[2, 2])
            .scan(files, 3 * MB)
            .stage("save at a.py:3", &[], 4, 0, &tasks(1.0, &[6.0; 4], &[0; 4]))
            .end(7.5);
        assert_eq!(causes(&log), expected, "{files}");
    }
}

#[test]
fn a_driver_keeps_executors_waiting_after_start_up_whatever_it_does() {
    const MB: u64 = 1 << 20;
    let parquet = "parquet at NativeMethodAccessorImpl.java:0";
    for (first, result, read, expected) in [
        ("collect at a.py:3", 8 * MB, EVEN, vec!["driver.bottleneck"]),
        ("collect at a.py:3", 1000, EVEN, vec!["driver.bottleneck"]),
        // the driver looked for a schema, and loads its code
        (parquet, 8 * MB, [0; 4], vec![]),
    ] {
        let log = Log::new(&[2, 2])
            .stage(
                first,
                &[("PythonRDD", "map")],
                4,
                result,
                &tasks(1.0, &[4.0; 4], &read),
            )
            .stage(
                "sum at a.py:9",
                &[("PythonRDD", "map")],
                4,
                0,
                &tasks(12.0, &[4.0; 4], &EVEN),
            )
            .end(16.1);
        assert_eq!(causes(&log), expected, "{first} {result}");
    }
}

/// An application that fails in a task, without the end of the application in its log.
fn failed(class: &str, description: &str) -> Log {
    let even = tasks(1.0, &[4.0; 4], &EVEN);
    let info = json!({"Stage ID": 1, "Stage Attempt ID": 0, "Stage Name": "save at A", "Number of Tasks": 4, "RDD Info": [],
        "Submission Time": ms(6.0), "Completion Time": ms(8.0), "Failure Reason": description});
    Log::new(&[2, 2])
        .stage("sum at a.py:3", &[("MapPartitionsRDD", "map")], 4, 0, &even)
        .event(json!({"Event": "SparkListenerJobStart", "Job ID": 1, "Submission Time": ms(6.0), "Stage Infos": [info], "Stage IDs": [1], "Properties": {}}))
        .event(json!({"Event": "SparkListenerStageSubmitted", "Stage Info": info}))
        .event(json!({"Event": "SparkListenerTaskEnd", "Stage ID": 1, "Stage Attempt ID": 0,
            "Task End Reason": {"Reason": "ExceptionFailure", "Class Name": class, "Description": description,
                "Full Stack Trace": format!("{class}: {description}\n\tat org.apache.spark.sql.errors.QueryExecutionErrors$.x(A.scala:1)")},
            "Task Info": {"Task ID": 2000, "Index": 0, "Attempt": 3, "Launch Time": ms(6.0), "Executor ID": "0", "Host": "h", "Finish Time": ms(8.0), "Failed": true},
            "Task Metrics": {"Executor Run Time": 1900, "Executor CPU Time": 1_000_000_000}}))
        .event(json!({"Event": "SparkListenerStageCompleted", "Stage Info": info}))
        .event(json!({"Event": "SparkListenerJobEnd", "Job ID": 1, "Completion Time": ms(8.1),
            "Job Result": {"Result": "JobFailed", "Exception": {"Message": description}}}))
        .event(json!({"Event": "SparkListenerExecutorRemoved", "Timestamp": ms(8.6), "Executor ID": "0", "Removed Reason": "Worker shutting down"}))
}

#[test]
fn what_an_expression_throws_is_the_code_of_the_user_and_going_is_no_loss() {
    for (class, description) in [
        (
            "org.apache.spark.SparkArithmeticException",
            "[DIVIDE_BY_ZERO] Division by zero.",
        ),
        (
            "org.apache.spark.SparkNumberFormatException",
            "[CAST_INVALID_INPUT] The value 'x' cannot be cast",
        ),
        (
            "org.apache.spark.SparkRuntimeException",
            "[USER_RAISED_EXCEPTION] no such account",
        ),
    ] {
        assert_eq!(
            causes(&failed(class, description)),
            ["failure.user_code"],
            "{class}"
        );
    }
}

/// A failure with its innermost cause below a frame of the engine.
fn caused_by(class: &str, description: &str, cause: &str, frame: &str) -> Log {
    let mut log = failed(class, description);
    for line in &mut log.lines {
        if let Some(stack) = line.pointer_mut("/Task End Reason/Full Stack Trace") {
            *stack = json!(format!(
                "{class}: {description}\n\tat org.apache.spark.sql.execution.datasources.FileScanRDD.hasNext(F.scala:1)\n\
                 Caused by: {cause}\n\tat java.base/java.lang.Double.parseDouble(Double.java:651)\n\tat {frame}(U.scala:1)"
            ));
        }
    }
    log
}

#[test]
fn a_value_that_no_parser_reads_is_the_code_of_the_user_and_a_broken_disk_is_not() {
    let (class, read) = (
        "org.apache.spark.SparkException",
        "[FAILED_READ_FILE.NO_HINT]",
    );
    let number = "java.lang.NumberFormatException: For input string: \"broken\"";
    for (cause, frame, expected) in [
        (
            number,
            "org.apache.spark.sql.catalyst.csv.UnivocityParser.convert",
            vec!["failure.user_code"],
        ),
        (
            "java.lang.RuntimeException: order 7 has a negative price",
            "org.apache.spark.sql.catalyst.expressions.GeneratedClass$Iterator.next",
            vec!["failure.user_code"],
        ),
        (
            "java.io.IOException: Input/output error",
            "org.apache.spark.sql.catalyst.csv.UnivocityParser.convert",
            vec!["failure.input"],
        ),
    ] {
        assert_eq!(
            causes(&caused_by(class, read, cause, frame)),
            expected,
            "{cause} {frame}"
        );
    }
}

#[test]
fn memory_that_a_task_is_denied_and_settings_that_it_exceeds_are_limits() {
    for description in [
        "Can't acquire 134217728 bytes memory to build hash relation, got 46300698 bytes.",
        "Serialized task 8:0 was 3141661 bytes, which exceeds max allowed: spark.rpc.message.maxSize (1048576 bytes).",
    ] {
        let log = failed("org.apache.spark.SparkException", description);
        assert_eq!(causes(&log), ["failure.limit"], "{description}");
    }
}

/// A real run with code that repartitions rows only to repartition them again.
#[test]
fn a_repartition_that_is_handed_on_is_redundant() {
    let Some(logs) = testkit::shared("spark-dev/logs") else {
        return;
    };
    for (log, expected) in [
        ("app-20261122010429-0000.zstd", true),
        ("app-20261122010456-0000.zstd", false),
    ] {
        let job = job::load(&logs.join(log)).expect("a log");
        let found = diagnose(
            &job,
            &Catalogue::builtin(),
            &Settings::default(),
            Language::En,
        );
        let mut causes = found.findings.iter().map(|f| f.cause.code());
        assert_eq!(
            causes.any(|c| c == "shuffle.redundant_repartition"),
            expected,
            "{log}"
        );
    }
}

#[test]
fn waiting_for_python_to_start_is_not_the_code_of_the_user() {
    let plan = [
        ("BatchEvalPython", "BatchEvalPython [f(a#1)]"),
        ("Scan csv ", "FileScan csv [a#1]"),
    ];
    for (cpu, seconds, expected) in [
        // on busy cores all starts take longer, including Python workers
        (0.3, 4.5, vec![]),
        (0.9, 4.5, vec!["udo.cpu_bound"]),
        (0.3, 30.0, vec!["udo.cpu_bound"]),
    ] {
        let log = Log::new(&[2, 2])
            .cpu(cpu)
            .stage(
                "sum at a.py:1",
                &[("MapPartitionsRDD", "map")],
                4,
                0,
                &tasks(1.0, &[4.0; 4], &EVEN),
            )
            .cpu(0.05)
            .plan(&plan, 400)
            .stage(
                "save at a.py:3",
                &[("MapPartitionsRDD", "map")],
                1,
                0,
                &tasks(5.0, &[seconds], &EVEN[..1]),
            )
            .end(5.1 + seconds);
        assert_eq!(causes(&log), expected, "{cpu} {seconds}");
    }
}

#[test]
fn few_files_are_uneven_by_what_they_cost() {
    let bytes = [1_680_000, 360_000, 360_000];
    for (seconds, expected) in [
        ([21.8, 8.5, 7.6], vec!["skew.partition_layout"]),
        // the last part of a file is always smaller
        ([4.4, 1.7, 1.5], vec![]),
    ] {
        let log = Log::new(&[2, 2])
            .plan(&[("Scan csv ", "FileScan csv [a#1]")], 100_000)
            .stage(
                "save at a.py:3",
                &[("MapPartitionsRDD", "map")],
                3,
                0,
                &tasks(1.0, &seconds, &bytes),
            )
            .end(1.1 + seconds[0]);
        assert_eq!(causes(&log), expected, "{seconds:?}");
    }
}

#[test]
fn functions_of_rdds_are_slow_by_the_bytes_that_they_read() {
    const MB: u64 = 1 << 20;
    for (bytes, expected) in [
        (MB / 4, vec!["udo.cpu_bound"]),
        (30 * MB, vec![]),
        // a generator of rows makes any number of them
        (0, vec![]),
    ] {
        let log = Log::new(&[2, 2])
            .cpu(0.05)
            .stage(
                "sum at a.py:3",
                &[("PythonRDD", "map"), ("ParallelCollectionRDD", "")],
                4,
                0,
                &tasks(1.0, &[8.0; 4], &[bytes; 4]),
            )
            .end(9.2);
        assert_eq!(causes(&log), expected, "{bytes}");
    }
}

#[test]
fn jobs_that_start_from_the_same_rdd_and_take_as_long_compute_it_again() {
    let rdds = [("PythonRDD", "map"), ("ParallelCollectionRDD", "")];
    for (cached, lengths, expected) in [
        (false, [6.0, 5.5, 6.2, 6.0], vec!["cache.ineffective"]),
        (true, [6.0, 5.5, 6.2, 6.0], vec![]),
        // functions that take more and less are others
        (false, [6.0, 2.0, 13.0, 25.0], vec![]),
    ] {
        let mut log = Log::new(&[2, 2]).source(3, cached);
        let mut at = 1.0;
        for seconds in lengths {
            log = log.stage(
                "sum at a.py:3",
                &rdds,
                4,
                0,
                &tasks(at, &[seconds; 4], &[0; 4]),
            );
            at += seconds + 0.1;
        }
        assert_eq!(causes(&log.end(at)), expected, "{cached} {lengths:?}");
    }
}

#[test]
fn a_join_that_stays_where_its_rows_are_may_put_out_uneven_ones() {
    let plan = [
        (
            "BroadcastHashJoin",
            "BroadcastHashJoin [a#1], [b#2], Inner, BuildRight",
        ),
        ("Scan csv ", "FileScan csv [a#1]"),
    ];
    for (by_time, expected) in [(true, vec!["skew.join_hot_key"]), (false, vec![])] {
        let log = Log::new(&[2, 2])
            .plan(&plan, 10_000)
            .rows_by_time(by_time)
            .stage(
                "save at a.py:3",
                &[("MapPartitionsRDD", "map")],
                4,
                0,
                &tasks(1.0, &[20.0, 4.0, 4.0, 4.0], &EVEN),
            )
            .end(21.2);
        let found = causes(&log);
        let skewed: Vec<_> = found
            .into_iter()
            .filter(|c| c.starts_with("skew"))
            .collect();
        assert_eq!(skewed, expected);
    }
}

#[test]
fn a_start_that_waits_for_cores_which_never_come_is_waiting_for_capacity() {
    for (share, expected) in [("1.0", vec!["queue.wait"]), ("0.2", vec![])] {
        let settings = json!({
            "spark.app.submitTime": ms(0.0).to_string(), "spark.cores.max": "8",
            "spark.scheduler.minRegisteredResourcesRatio": share,
            "spark.scheduler.maxRegisteredResourcesWaitingTime": "20s",
        });
        let mut log = Log::new(&[2, 2]);
        log.lines[2]["Spark Properties"] = settings;
        // a driver that is busy itself begins when it likes
        let begin = if share == "1.0" { 20.5 } else { 2.0 };
        let log = log
            .stage(
                "sum at a.py:3",
                &[("MapPartitionsRDD", "map")],
                4,
                0,
                &tasks(begin, &[12.0; 4], &EVEN),
            )
            .end(begin + 12.2);
        assert_eq!(causes(&log), expected, "{share}");
    }
}

#[test]
fn what_dynamic_allocation_keeps_for_a_while_is_not_too_much() {
    for (dynamic, timeout, expected) in [
        ("false", "60s", vec!["allocation.over"]),
        ("true", "60s", vec![]),
        ("true", "2s", vec!["allocation.over"]),
    ] {
        let mut log = Log::new(&[2; 6]);
        log.lines[2]["Spark Properties"] = json!({
            "spark.app.submitTime": ms(0.0).to_string(),
            "spark.dynamicAllocation.enabled": dynamic,
            "spark.dynamicAllocation.executorIdleTimeout": timeout,
        });
        let log = log
            .stage(
                "sum at a.py:3",
                &[("MapPartitionsRDD", "map")],
                4,
                0,
                &tasks(1.0, &[25.0; 2], &EVEN),
            )
            .end(26.5);
        assert_eq!(causes(&log), expected, "{dynamic} {timeout}");
    }
}

#[test]
fn nobody_waits_for_the_driver_of_a_shell() {
    for (call_site, expected) in [
        ("count at a.py:3", vec!["driver.bottleneck"]),
        ("count at <console>:28", vec![]),
    ] {
        let map = [("MapPartitionsRDD", "map")];
        let log = Log::new(&[2, 2])
            .stage(call_site, &map, 4, 0, &tasks(1.0, &[10.0; 4], &EVEN))
            .stage(call_site, &map, 4, 0, &tasks(31.0, &[10.0; 4], &EVEN))
            .end(41.5);
        assert_eq!(causes(&log), expected, "{call_site}");
    }
}

#[test]
fn many_tasks_of_one_slot_wait_for_it_and_not_for_being_sent() {
    for (count, expected) in [(100, Some(20.0)), (20, None)] {
        let tasks = in_turn(count, 0.4);
        let end = 1.7 + count as f64 * 0.4;
        let log = Log::new(&[1])
            .stage(
                "count at A.scala:3",
                &[("MapPartitionsRDD", "map")],
                4,
                0,
                &tasks,
            )
            .end(end);
        let catalogue = Catalogue::builtin();
        let found = diagnose(&log.read(), &catalogue, &Settings::default(), Language::En);
        let findings = found.findings.iter();
        let saved = findings.map(|f| (f.cause.code(), f.impact.as_ref().map(|i| i.seconds_saved)));
        let saved: Vec<_> = saved.collect();
        match (expected, saved.as_slice()) {
            (None, []) => {}
            (Some(expected), [("allocation.under", Some(seconds))]) => {
                assert!((seconds - expected).abs() < 2.0, "{seconds}");
            }
            _ => panic!("{saved:?}"),
        }
    }
}

#[test]
fn a_loop_of_small_jobs_costs_the_time_between_them_even_if_they_compute_longer() {
    let jobs = |count: u32, gap: f64| {
        (0..count).fold(Log::new(&[2]), |log, n| {
            let from = 2.0 + f64::from(n) * (0.6 + gap);
            let tasks = [0, 1].map(|_| (from, from + 0.6, 0, 0, 1000));
            log.stage(
                "lookup at job.py:7",
                &[("PythonRDD", "lookup")],
                2,
                0,
                &tasks,
            )
        })
    };
    assert_eq!(causes(&jobs(60, 0.4)), ["driver.bottleneck"]);
    assert_eq!(causes(&jobs(60, 0.02)), [""; 0]);
}
