//! Settings in suggestions for real Spark applications.

use std::path::{Path, PathBuf};

use job::Catalogue;
use report::{Language, Setting, Suggestion, SuggestionKind};

use advice::diagnose;
use diagnosis::Settings;

/// The suggestions for an event log.
fn suggested(path: &Path) -> Vec<Suggestion> {
    let job = job::load(path).expect("a log");
    let catalogue = Catalogue::builtin();
    let found = diagnose(&job, &catalogue, &Settings::default(), Language::En);
    let all = found.suggestions.into_iter();
    all.map(|s| s.suggestion).collect()
}

/// All logs of the development sets.
fn logs() -> Vec<PathBuf> {
    let sets = ["spark-dev", "spark-dev2"].into_iter();
    let folders = sets.filter_map(testkit::shared);
    let logs = folders.filter_map(|set| std::fs::read_dir(set.join("logs")).ok());
    logs.flatten().flatten().map(|entry| entry.path()).collect()
}

/// The error in a setting, if any.
fn wrong(setting: &Setting) -> Option<&'static str> {
    let current = setting.current.as_deref();
    Some(match setting {
        s if s.suggested.is_empty() || s.reason.is_empty() => "is incomplete",
        s if current.is_some_and(|now| now.eq_ignore_ascii_case(&s.suggested)) => {
            "repeats the value in force"
        }
        s if s.current.is_some() != s.source.is_some() => "has no source",
        s if s.key == "spark.sql.adaptive.enabled" && s.source.as_deref() != Some("log") => {
            "is the default of these versions"
        }
        _ => return None,
    })
}

#[test]
fn every_change_of_parameters_has_a_value_that_is_not_in_force() {
    let mut wrongs: Vec<String> = Vec::new();
    for log in logs() {
        let name = log
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        for suggestion in suggested(&log) {
            let title = &suggestion.title;
            if suggestion.kind == SuggestionKind::Parameter && suggestion.settings.is_empty() {
                wrongs.push(format!("{name}: {title} has no setting"));
            }
            let text = suggestion.texts().cloned().collect::<String>();
            for vague in ["say)", "for example", "two or three times", "2–3"] {
                if text.contains(vague) {
                    wrongs.push(format!("{name}: {title} says {vague}"));
                }
            }
            let settings = suggestion.settings.iter();
            let bad = settings.filter_map(|s| Some(format!("{name}: {} {}", s.key, wrong(s)?)));
            wrongs.extend(bad);
        }
    }
    assert!(wrongs.is_empty(), "{}", wrongs.join("\n"));
}

#[test]
fn values_follow_from_the_measured_sizes() {
    let Some(set) = testkit::shared("spark-dev") else {
        return;
    };
    for (log, key, from, to) in [
        // adaptive execution is on, and the largest partition has 12.2 MiB, six times the median
        (
            "app-20261122005831-0000.zstd",
            "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes",
            3.0,
            11.0,
        ),
        // adaptive execution is off
        (
            "app-20261122005702-0000.zstd",
            "spark.sql.adaptive.enabled",
            0.0,
            0.0,
        ),
        (
            "app-20261122010333-0000.zstd",
            "spark.sql.autoBroadcastJoinThreshold",
            10.0,
            10.0,
        ),
    ] {
        let all = suggested(&set.join("logs").join(log));
        let mut settings = all.iter().flat_map(|s| &s.settings);
        let setting = settings.find(|s| s.key == key);
        let setting = setting.unwrap_or_else(|| panic!("{log} gets no {key}: {all:#?}"));
        let number = setting.suggested.trim_end_matches("MB").parse::<f64>();
        let fits = number.map_or(setting.suggested == "true", |n| (from..=to).contains(&n));
        assert!(fits, "{log}: {setting:?}");
    }
}
