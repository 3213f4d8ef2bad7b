//! Settings of Spark: the values in force, set or by default.

use super::Application;

/// Number of partitions of an exchange.
pub const SHUFFLE_PARTITIONS: &str = "spark.sql.shuffle.partitions";

/// Defaults of Spark: each value from a version (3.2 is 302) on.
const DEFAULTS: &[(&str, &[(u32, &str)])] = &[
    (SHUFFLE_PARTITIONS, &[(0, "200")]),
    ("spark.sql.adaptive.enabled", &[(0, "false"), (302, "true")]),
    ("spark.sql.adaptive.skewJoin.enabled", &[(300, "true")]),
    (
        "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes",
        &[(300, "256MB")],
    ),
    (
        "spark.sql.adaptive.skewJoin.skewedPartitionFactor",
        &[(300, "5")],
    ),
    (
        "spark.sql.adaptive.forceOptimizeSkewedJoin",
        &[(303, "false")],
    ),
    (
        "spark.sql.adaptive.advisoryPartitionSizeInBytes",
        &[(300, "64MB")],
    ),
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
    ("spark.sql.autoBroadcastJoinThreshold", &[(0, "10MB")]),
    ("spark.sql.broadcastTimeout", &[(0, "300")]),
    ("spark.sql.files.maxPartitionBytes", &[(0, "128MB")]),
    ("spark.sql.files.openCostInBytes", &[(0, "4MB")]),
    ("spark.executor.memory", &[(0, "1g")]),
    ("spark.driver.memory", &[(0, "1g")]),
    ("spark.driver.maxResultSize", &[(0, "1g")]),
    ("spark.memory.fraction", &[(0, "0.6")]),
    (
        "spark.shuffle.spill.numElementsForceSpillThreshold",
        &[(0, "2147483647")],
    ),
    ("spark.locality.wait", &[(0, "3s")]),
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
    ("spark.task.maxFailures", &[(0, "4")]),
    ("spark.task.cpus", &[(0, "1")]),
    ("spark.stage.maxConsecutiveAttempts", &[(0, "4")]),
    ("spark.memory.storageFraction", &[(0, "0.5")]),
    ("spark.sql.ansi.enabled", &[(300, "false"), (400, "true")]),
    (
        "spark.sql.execution.arrow.pyspark.enabled",
        &[(300, "false")],
    ),
];

/// Settings by another name before a version.
const RENAMED: [(&str, u32, &str); 2] = [
    (
        "spark.executor.memoryOverhead",
        203,
        "spark.yarn.executor.memoryOverhead",
    ),
    (
        "spark.driver.memoryOverhead",
        203,
        "spark.yarn.driver.memoryOverhead",
    ),
];

/// Settings that decide how an application runs.
const ABOUT_WORK: [&str; 14] = [
    "spark.sql.",
    "spark.cores.max",
    "spark.locality",
    "spark.network",
    "spark.rdd",
    "spark.reducer",
    "spark.task.",
    "spark.default.parallelism",
    "spark.executor.",
    "spark.driver.m",
    "spark.dynamicAllocation",
    "spark.memory",
    "spark.python.",
    "spark.s",
];

impl Application {
    /// Version of Spark, 3.2 as 302; `None` if the log lacks it.
    pub fn release(&self) -> Option<u32> {
        let mut parts = self.version.as_deref()?.split('.');
        let (major, minor): (u32, u32) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some(major.checked_mul(100)?.saturating_add(minor.min(99)))
    }

    /// The name of a setting in the version of the application.
    pub fn name_of(&self, key: &'static str) -> &'static str {
        let before = |since: u32| self.release().is_some_and(|version| version < since);
        let mut renamed = RENAMED.iter();
        let old = renamed.find(|(new, since, _)| *new == key && before(*since));
        old.map_or(key, |(_, _, old)| old)
    }

    /// Whether the version of the application has a setting, as far as both are known.
    pub fn has_setting(&self, key: &str) -> bool {
        let mut known = DEFAULTS.iter();
        let since = known.find(|(known, _)| *known == key);
        let since = since.map(|(_, values)| values[0].0);
        since
            .zip(self.release())
            .is_none_or(|(since, version)| since <= version)
    }

    /// The value of a setting in force in an execution, and its origin: the log, or the default of the version.
    pub fn in_force(&self, execution: Option<usize>, key: &str) -> Option<(String, String)> {
        match self.setting(execution, key) {
            Some(set) => Some((set.trim().to_owned(), "log".to_owned())),
            None => self.default_of(key),
        }
    }

    /// The default of a setting in the version of the application, and its origin.
    pub fn default_of(&self, key: &str) -> Option<(String, String)> {
        let (_, values) = DEFAULTS.iter().find(|(known, _)| *known == key)?;
        match (self.release(), values) {
            (Some(version), values) => {
                let since = values.iter().rev().find(|(since, _)| *since <= version)?;
                let version = format!("default of {}.{}", version / 100, version % 100);
                Some((since.1.to_owned(), version))
            }
            (None, [(_, only)]) => Some(((*only).to_owned(), "default".to_owned())),
            (None, _) => None,
        }
    }

    /// The settings about its work that are set, without values that could be private, such as paths.
    pub fn plain_settings(&self) -> impl Iterator<Item = (&String, &String)> {
        let is_about_work = |key: &str| ABOUT_WORK.iter().any(|prefix| key.starts_with(prefix));
        let set = self.configuration.iter();
        set.filter(move |(key, value)| is_about_work(key) && is_plain(value))
    }

    /// The plain settings and those with a known default: key, value and origin.
    pub fn settings(&self) -> impl Iterator<Item = (String, [String; 2])> {
        let set = self.plain_settings().map(|(key, _)| key.as_str());
        let known = DEFAULTS.iter().map(|(key, _)| *key);
        let known = known.filter(|key| self.configuration.get(*key).is_none_or(|v| is_plain(v)));
        let version = self.version.iter();
        let version = version.map(|v| (VERSION.to_owned(), [v.clone(), "log".to_owned()]));
        let in_force = set.chain(known).filter_map(|key| {
            let (value, origin) = self.in_force(None, key)?;
            Some((key.to_owned(), [value, origin]))
        });
        version.chain(in_force)
    }
}

/// The key of the version of Spark that ran the application.
const VERSION: &str = "spark.version";

/// Whether a value is a switch, a number, an amount or a class of Spark.
fn is_plain(value: &str) -> bool {
    let number = value.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let (digits, unit) = (number.trim_start_matches('-'), value.len() - number.len());
    let is_number =
        !digits.is_empty() && unit <= 2 && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    is_number || matches!(value, "true" | "false") || value.starts_with("org.apache.spark.")
}
