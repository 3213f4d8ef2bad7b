//! The resources and settings of a job, for a prompt.

use job::Job;
use report::format::TOKEN;
use report::{Language, Localize};

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
    let of_spark = job
        .spark
        .iter()
        .flat_map(|spark| job::settings::plain(spark));
    let of_spark = of_spark
        .map(|(key, value)| format!("{key} = {value}"))
        .take(SETTINGS);
    tokens.into_iter().chain(of_spark).collect()
}
