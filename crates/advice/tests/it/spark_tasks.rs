//! The rules on the memory of executors, and on rows that tasks read from storage.

use advice::diagnose;
use diagnosis::Settings;
use job::Catalogue;
use report::Language;
use serde_json::{Value, json};

use crate::event_log::{Log, ms, tasks};

fn causes(log: &Log) -> Vec<&'static str> {
    let catalogue = Catalogue::builtin();
    let found = diagnose(&log.read(), &catalogue, &Settings::default(), Language::En);
    found.findings.iter().map(|f| f.cause.code()).collect()
}

/// Changes the metrics of every task.
fn change_tasks(log: &mut Log, change: impl Fn(&mut Value)) {
    let ends = log.lines.iter_mut();
    let ends = ends.filter(|l| l["Event"] == "SparkListenerTaskEnd");
    ends.for_each(|end| change(&mut end["Task Metrics"]));
}

#[test]
fn memory_is_too_much_only_if_neither_tasks_nor_collections_need_it() {
    const GB: u64 = 1_000_000_000;
    for (given, peak, spilled, expected) in [
        (4 * GB, GB / 10, 0, vec!["memory.over_provisioned"]),
        (4 * GB, GB, 0, vec![]),
        (4 * GB, GB / 10, GB, vec![]),
        // an executor of 1 GiB is as small as they get
        (GB / 2, GB / 100, 0, vec![]),
    ] {
        let mut log = Log::new(&[2, 2])
            .plan(
                &[
                    ("Sort", "Sort [a#1]"),
                    ("Scan json ", "FileScan json [a#1]"),
                ],
                1000,
            )
            .stage(
                "save at a.py:3",
                &[("MapPartitionsRDD", "map")],
                4,
                0,
                &tasks(1.0, &[8.0; 4], &[80_000_000; 4]),
            );
        log = ["0", "1"].iter().fold(log, |log, executor| {
            log.event(json!({"Event": "SparkListenerBlockManagerAdded", "Timestamp": ms(0.5), "Maximum Memory": given,
                "Block Manager ID": {"Executor ID": executor, "Host": "h", "Port": 7}}))
        });
        change_tasks(&mut log, |metrics| {
            metrics["Peak Execution Memory"] = json!(peak);
            metrics["Memory Bytes Spilled"] = json!(spilled / 100);
        });
        assert_eq!(causes(&log.end(9.2)), expected, "{given} {peak} {spilled}");
    }
}

#[test]
fn functions_of_rdds_are_slow_by_the_rows_that_they_read_from_storage() {
    for (rows, expected) in [(50_000, vec!["udo.cpu_bound"]), (1_000_000, vec![])] {
        let rdds = [("PythonRDD", "map"), ("HadoopRDD", "textFile")];
        let mut log = Log::new(&[2, 2]).cpu(0.05).stage(
            "sum at a.py:3",
            &rdds,
            4,
            0,
            &tasks(1.0, &[8.0; 4], &[3_000_000; 4]),
        );
        change_tasks(&mut log, |metrics| {
            let bytes = metrics["Shuffle Read Metrics"]["Local Bytes Read"].clone();
            metrics["Input Metrics"] = json!({"Bytes Read": bytes, "Records Read": rows});
            metrics["Shuffle Read Metrics"] = json!({});
        });
        assert_eq!(causes(&log.end(9.2)), expected, "{rows}");
    }
}
