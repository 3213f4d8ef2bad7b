//! The resources and settings of a job, for a prompt.

use job::Job;
use report::format::TOKEN;
use report::{Language, Localize};

/// Settings that decide how an application runs.
const ABOUT_WORK: [&str; 10] = [
    "spark.sql.adaptive",
    "spark.sql.shuffle",
    "spark.sql.autoBroadcast",
    "spark.sql.files",
    "spark.default.parallelism",
    "spark.executor.",
    "spark.driver.m",
    "spark.dynamicAllocation",
    "spark.memory",
    "spark.s",
];

/// Settings of an application that a prompt lists.
const SETTINGS: usize = 30;

/// The resources and settings of the job: tokens of a SCOPE job, settings of a Spark application. Values that could be private,
/// such as paths, are left out.
pub(crate) fn lines(job: &Job, language: Language) -> Vec<String> {
    let tokens = job
        .info
        .tokens
        .filter(|_| job.spark.is_none())
        .map(f64::from);
    let tokens = tokens.map(|n| TOKEN.count(n).localize(language));
    let of_spark = job.spark.iter().flat_map(|spark| &spark.configuration);
    let is_number = |value: &str| {
        let number = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let (digits, unit) = (number.trim_start_matches('-'), value.len() - number.len());
        !digits.is_empty() && unit <= 2 && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.')
    };
    let is_plain = |value: &str| {
        matches!(value, "true" | "false")
            || value.starts_with("org.apache.spark.")
            || is_number(value)
    };
    let is_about_work = |key: &str| ABOUT_WORK.iter().any(|prefix| key.starts_with(prefix));
    let of_spark = of_spark.filter(|(key, value)| is_about_work(key) && is_plain(value));
    let of_spark = of_spark
        .map(|(key, value)| format!("{key} = {value}"))
        .take(SETTINGS);
    tokens.into_iter().chain(of_spark).collect()
}
