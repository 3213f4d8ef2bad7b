//! Settings of Spark: the value in force, and the value that this run needs.

use report::{Language, Setting, Text};

use super::case::Case;
use crate::measurements::configuration::{BROADCAST, bytes};

pub(super) const MIB: f64 = 1024.0 * 1024.0;

/// A setting with a computed value.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    setting: Setting,
    reason: Text,
}

impl Wanted {
    pub(super) fn setting(&self) -> &Setting {
        &self.setting
    }

    pub(super) fn into(self, language: Language) -> Setting {
        Setting {
            reason: self.reason.into(language),
            ..self.setting
        }
    }
}

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
    ("spark.sql.files.maxPartitionBytes", &[(0, "128MB")]),
    ("spark.sql.files.openCostInBytes", &[(0, "4MB")]),
    (MEMORY, &[(0, "1g")]),
    ("spark.driver.memory", &[(0, "1g")]),
    ("spark.driver.maxResultSize", &[(0, "1g")]),
    ("spark.memory.fraction", &[(0, "0.6")]),
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
];

pub(super) const PARTITIONS: &str = "spark.sql.shuffle.partitions";
pub(super) const MEMORY: &str = "spark.executor.memory";
pub(super) const ENABLED: &str = "spark.sql.adaptive.enabled";
pub(super) const SKEW_THRESHOLD: &str =
    "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes";
pub(super) const SKEW_FACTOR: &str = "spark.sql.adaptive.skewJoin.skewedPartitionFactor";
pub(super) const ADVISORY: &str = "spark.sql.adaptive.advisoryPartitionSizeInBytes";

/// Units of the settings that Spark writes without one.
const UNITS: [(&str, &str); 2] = [
    ("spark.sql.broadcastTimeout", "s"),
    ("spark.rpc.message.maxSize", "MiB"),
];

impl Case<'_> {
    /// Version of Spark, 3.2 as 302; `None` if the log lacks it.
    pub(super) fn version(&self) -> Option<u32> {
        let mut parts = self.job.spark.as_ref()?.version.as_deref()?.split('.');
        let (major, minor): (u32, u32) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some(major.checked_mul(100)?.saturating_add(minor.min(99)))
    }

    /// The value of a setting in force, and its origin.
    pub(super) fn current(&self, key: &str) -> Option<(String, String)> {
        let app = self.job.spark.as_deref()?;
        let execution = self
            .stage
            .and_then(|stage| app.stages.get(stage)?.execution);
        if let Some(set) = app.setting(execution, key) {
            return Some((set.trim().to_owned(), "log".to_owned()));
        }
        let (_, values) = DEFAULTS.iter().find(|(known, _)| *known == key)?;
        match (self.version(), values) {
            (Some(version), values) => {
                let since = values.iter().rev().find(|(since, _)| *since <= version)?;
                let version = format!("default of {}.{}", version / 100, version % 100);
                Some((since.1.to_owned(), version))
            }
            (None, [(_, only)]) => Some(((*only).to_owned(), "default".to_owned())),
            (None, _) => None,
        }
    }

    /// The value of a setting in force; empty if unknown.
    pub(super) fn value(&self, key: &str) -> String {
        self.current(key)
            .map_or_else(String::new, |(value, _)| value)
    }

    /// The bytes or the number of a setting in force.
    pub(super) fn number(&self, key: &str) -> Option<f64> {
        bytes(&self.value(key))
    }

    pub(super) fn is_on(&self, key: &str) -> bool {
        self.value(key).eq_ignore_ascii_case("true")
    }

    /// A setting with its new value; `None` if the value is in force.
    pub(super) fn set(
        &self,
        key: &'static str,
        suggested: impl ToString,
        reason: Text,
    ) -> Option<Wanted> {
        self.set_from(key, self.current(key), suggested, reason)
    }

    /// The same for a setting with a computed default: its value in force, and the value's origin.
    pub(super) fn set_from(
        &self,
        key: &'static str,
        current: Option<(String, String)>,
        suggested: impl ToString,
        reason: Text,
    ) -> Option<Wanted> {
        let (current, source) = current.unzip();
        let unit = UNITS.iter().find(|(known, _)| *known == key);
        let setting = Setting {
            key: key.to_owned(),
            unit: unit.map(|(_, unit)| (*unit).to_owned()),
            current,
            source,
            suggested: suggested.to_string(),
            reason: String::new(),
        };
        let same = |now: &String| {
            let (a, b) = (bytes(now), bytes(&setting.suggested));
            now.eq_ignore_ascii_case(&setting.suggested) || (a.is_some() && a == b)
        };
        let repeats = setting.current.as_ref().is_some_and(same);
        (!repeats).then_some(Wanted { setting, reason })
    }
}

/// A size as Spark reads it, rounded down to whole MB or KB, at least 1 KB.
pub(super) fn size(bytes: f64) -> String {
    match bytes {
        b if b >= MIB => format!("{}MB", (b / MIB).floor()),
        b => format!("{}KB", (b / 1024.0).floor().max(1.0)),
    }
}

/// A size as Spark reads it, rounded up to whole MB.
pub(super) fn size_above(bytes: f64) -> String {
    format!("{}MB", (bytes / MIB).ceil().max(1.0))
}

/// Memory of an executor or of the driver, rounded up to 512 MB.
pub(super) fn memory(bytes: f64) -> String {
    let halves = (bytes / MIB / 512.0).ceil().max(1.0);
    match halves % 2.0 == 0.0 {
        true => format!("{}g", halves / 2.0),
        false => format!("{}m", halves * 512.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_as_spark_reads_them() {
        assert_eq!(size(6.9 * MIB), "6MB");
        assert_eq!(size(700.0 * 1024.0), "700KB");
        assert_eq!(size_above(12.2 * MIB), "13MB");
        assert_eq!(memory(4.0 * 1024.0 * MIB), "4g");
        assert_eq!(memory(1.2 * 1024.0 * MIB), "1536m");
        assert_eq!(bytes(&memory(3.7e9)), Some(3.5 * 1024.0 * MIB));
    }
}
