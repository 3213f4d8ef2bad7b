//! Settings of an application, as numbers.

use job::model::Application;

pub(crate) const PARTITIONS: &str = "spark.sql.shuffle.partitions";
pub(crate) const MEMORY: &str = "spark.executor.memory";
pub(crate) const OVERHEAD: &str = "spark.executor.memoryOverhead";
pub(crate) const ENABLED: &str = "spark.sql.adaptive.enabled";
pub(crate) const SKEW_THRESHOLD: &str =
    "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes";
pub(crate) const SKEW_FACTOR: &str = "spark.sql.adaptive.skewJoin.skewedPartitionFactor";
pub(crate) const ADVISORY: &str = "spark.sql.adaptive.advisoryPartitionSizeInBytes";
pub(crate) const BROADCAST: &str = "spark.sql.autoBroadcastJoinThreshold";
pub(crate) const SPLIT: &str = "spark.sql.files.maxPartitionBytes";
pub(crate) const OPEN_COST: &str = "spark.sql.files.openCostInBytes";
pub(crate) const LOCALITY_WAIT: &str = "spark.locality.wait";

/// Defaults of Spark: each value from a version (3.2 is 302) on.
const DEFAULTS: &[(&str, &[(u32, &str)])] = &[
    (PARTITIONS, &[(0, "200")]),
    (ENABLED, &[(0, "false"), (302, "true")]),
    ("spark.sql.adaptive.skewJoin.enabled", &[(300, "true")]),
    (SKEW_THRESHOLD, &[(300, "256MB")]),
    (SKEW_FACTOR, &[(300, "5")]),
    (
        "spark.sql.adaptive.forceOptimizeSkewedJoin",
        &[(303, "false")],
    ),
    (ADVISORY, &[(300, "64MB")]),
    (
        "spark.sql.adaptive.coalescePartitions.enabled",
        &[(300, "true")],
    ),
    (
        "spark.sql.adaptive.coalescePartitions.parallelismFirst",
        &[(302, "true")],
    ),
    (
        "spark.sql.adaptive.coalescePartitions.minPartitionSize",
        &[(302, "1MB")],
    ),
    (BROADCAST, &[(0, "10MB")]),
    ("spark.sql.broadcastTimeout", &[(0, "300")]),
    (SPLIT, &[(0, "128MB")]),
    (OPEN_COST, &[(0, "4MB")]),
    (MEMORY, &[(0, "1g")]),
    ("spark.driver.memory", &[(0, "1g")]),
    ("spark.driver.maxResultSize", &[(0, "1g")]),
    ("spark.memory.fraction", &[(0, "0.6")]),
    (LOCALITY_WAIT, &[(0, "3s")]),
    ("spark.speculation", &[(0, "false")]),
    ("spark.dynamicAllocation.enabled", &[(0, "false")]),
    ("spark.dynamicAllocation.minExecutors", &[(0, "0")]),
    ("spark.dynamicAllocation.maxExecutors", &[(0, "infinity")]),
    ("spark.kryoserializer.buffer.max", &[(0, "64m")]),
    ("spark.rpc.message.maxSize", &[(0, "128")]),
    ("spark.decommission.enabled", &[(301, "false")]),
    ("spark.storage.decommission.enabled", &[(301, "false")]),
    (
        "spark.storage.decommission.shuffleBlocks.enabled",
        &[(301, "true")],
    ),
    (
        "spark.python.worker.faulthandler.enabled",
        &[(302, "false")],
    ),
];

/// Settings by another name before a version.
const RENAMED: [(&str, u32, &str); 2] = [
    (OVERHEAD, 203, "spark.yarn.executor.memoryOverhead"),
    (
        "spark.driver.memoryOverhead",
        203,
        "spark.yarn.driver.memoryOverhead",
    ),
];

/// Spark's own default of [`BROADCAST`], in bytes.
pub(crate) const DEFAULT_BROADCAST: f64 = 10.0 * 1024.0 * 1024.0;

/// Version of Spark, 3.2 as 302; `None` if the log lacks it.
pub(crate) fn version(app: &Application) -> Option<u32> {
    let mut parts = app.version.as_deref()?.split('.');
    let (major, minor): (u32, u32) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some(major.checked_mul(100)?.saturating_add(minor.min(99)))
}

/// The name of a setting in the version of the application.
pub(crate) fn name_of(app: &Application, key: &'static str) -> &'static str {
    let before = |since: u32| version(app).is_some_and(|version| version < since);
    let mut renamed = RENAMED.iter();
    let old = renamed.find(|(new, since, _)| *new == key && before(*since));
    old.map_or(key, |(_, _, old)| old)
}

/// Whether a setting exists in the version of the application, as far as its version is known.
pub(crate) fn exists(app: &Application, key: &str) -> bool {
    let since = defaults_of(key).map(|values| values[0].0);
    since
        .zip(version(app))
        .is_none_or(|(since, version)| since <= version)
}

/// The value of a setting in force, and its origin: `log`, or the default of a version.
pub(crate) fn in_force(
    app: &Application,
    execution: Option<usize>,
    key: &'static str,
) -> Option<(String, String)> {
    if let Some(set) = app.setting(execution, name_of(app, key)) {
        return Some((set.trim().to_owned(), "log".to_owned()));
    }
    match (version(app), defaults_of(key)?) {
        (Some(version), values) => {
            let since = values.iter().rev().find(|(since, _)| *since <= version)?;
            let version = format!("default of {}.{}", version / 100, version % 100);
            Some((since.1.to_owned(), version))
        }
        (None, [(_, only)]) => Some(((*only).to_owned(), "default".to_owned())),
        (None, _) => None,
    }
}

fn defaults_of(key: &str) -> Option<&'static [(u32, &'static str)]> {
    let mut known = DEFAULTS.iter();
    known
        .find(|(known, _)| *known == key)
        .map(|(_, values)| *values)
}

/// Largest side in bytes that Spark broadcasts automatically; Spark's default if broadcasting is off.
pub(crate) fn broadcast_limit(app: &Application, execution: Option<usize>) -> f64 {
    let set = bytes_in_force(app, execution, BROADCAST);
    set.filter(|b| *b > 0.0).unwrap_or(DEFAULT_BROADCAST)
}

/// Value in bytes of a setting in force; `None` if it is unknown or no size.
pub(crate) fn bytes_in_force(
    app: &Application,
    execution: Option<usize>,
    key: &'static str,
) -> Option<f64> {
    let (value, _) = in_force(app, execution, key)?;
    bytes(&value)
}

/// Bytes of a setting such as `64m`, `10485760b`, `-1`; without a unit they are bytes.
pub(crate) fn bytes(text: &str) -> Option<f64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..]
        .trim_end_matches("ib")
        .trim_end_matches('b')
    {
        "" => 1.0,
        "k" => 1024.0,
        "m" => 1024.0_f64.powi(2),
        "g" => 1024.0_f64.powi(3),
        "t" => 1024.0_f64.powi(4),
        _ => return None,
    };
    Some(digits.trim().parse::<f64>().ok()? * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_spark_reads_them() {
        for (text, expected) in [
            ("-1", Some(-1.0)),
            ("10485760b", Some(10_485_760.0)),
            ("64m", Some(67_108_864.0)),
            ("2GB", Some(2_147_483_648.0)),
            ("1kib", Some(1024.0)),
            ("much", None),
        ] {
            assert_eq!(bytes(text), expected, "{text}");
        }
    }
}
