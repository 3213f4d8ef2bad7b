//! Settings of Spark: the value in force, and the value that this run needs.

use report::{Language, Setting, Text};

use crate::case::Case;
use diagnosis::configuration::bytes;
pub(crate) use diagnosis::configuration::{
    ADVISORY, ENABLED, MEMORY, OVERHEAD, PARTITIONS, SKEW_FACTOR, SKEW_THRESHOLD,
};

pub(crate) const MIB: f64 = 1024.0 * 1024.0;

/// A setting with a computed value.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    setting: Setting,
    reason: Text,
}

impl Wanted {
    pub(crate) fn setting(&self) -> &Setting {
        &self.setting
    }

    pub(crate) fn into(self, language: Language) -> Setting {
        Setting {
            reason: self.reason.into(language),
            ..self.setting
        }
    }
}

/// Units of the settings that Spark writes without one.
const UNITS: [(&str, &str); 2] = [
    ("spark.sql.broadcastTimeout", "s"),
    ("spark.rpc.message.maxSize", "MiB"),
];

impl Case<'_> {
    /// Version of Spark, 3.2 as 302; `None` if the log lacks it.
    pub(crate) fn release(&self) -> Option<u32> {
        self.job.spark.as_ref()?.release()
    }

    /// The value of a setting in force, and its origin.
    pub(crate) fn current(&self, key: &'static str) -> Option<(String, String)> {
        let app = self.job.spark.as_deref()?;
        let execution = self
            .stage
            .and_then(|stage| app.stages.get(stage)?.execution);
        app.in_force(execution, app.name_of(key))
    }

    /// The value of a setting in force; empty if unknown.
    pub(crate) fn value(&self, key: &'static str) -> String {
        self.current(key)
            .map_or_else(String::new, |(value, _)| value)
    }

    /// The bytes or the number of a setting in force.
    pub(crate) fn number(&self, key: &'static str) -> Option<f64> {
        bytes(&self.value(key))
    }

    pub(crate) fn is_on(&self, key: &'static str) -> bool {
        self.value(key).eq_ignore_ascii_case("true")
    }

    /// A setting with its new value; `None` if the value is in force, or the version has no such setting.
    pub(crate) fn set(
        &self,
        key: &'static str,
        suggested: impl ToString,
        reason: Text,
    ) -> Option<Wanted> {
        self.set_from(key, self.current(key), suggested, reason)
    }

    /// The same for a setting with a computed default: its value in force, and the value's origin.
    pub(crate) fn set_from(
        &self,
        key: &'static str,
        current: Option<(String, String)>,
        suggested: impl ToString,
        reason: Text,
    ) -> Option<Wanted> {
        let app = self.job.spark.as_deref();
        let (current, source) = current.unzip();
        let unit = UNITS.iter().find(|(known, _)| *known == key);
        let setting = Setting {
            key: app.map_or(key, |app| app.name_of(key)).to_owned(),
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
        (!repeats && app.is_none_or(|app| app.has_setting(key)))
            .then_some(Wanted { setting, reason })
    }
}

/// A size as Spark reads it, rounded down to whole MB or KB, at least 1 KB.
pub(crate) fn size(bytes: f64) -> String {
    match bytes {
        b if b >= MIB => format!("{}MB", (b / MIB).floor()),
        b => format!("{}KB", (b / 1024.0).floor().max(1.0)),
    }
}

/// A size as Spark reads it, rounded up to whole MB.
pub(crate) fn size_above(bytes: f64) -> String {
    format!("{}MB", (bytes / MIB).ceil().max(1.0))
}

/// Memory of an executor or of the driver, rounded up to 512 MB.
pub(crate) fn memory(bytes: f64) -> String {
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
