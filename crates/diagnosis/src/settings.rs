//! Thresholds of the rules: each with its default, unit, reason and source, all of them settable.
//!
//! A threshold is declared next to the rule that uses it and listed by [`crate::thresholds`]. It
//! does not know where configuration files live; the caller hands over their text.

use std::collections::BTreeMap;

use report::StaticText;
use thiserror::Error;

/// A number that a rule compares facts with.
#[derive(Debug)]
pub struct Threshold {
    /// Dotted name in the configuration: `skew.max_over_mean`.
    pub name: &'static str,
    /// Value without configuration.
    pub default: f64,
    /// Unit of the value: `ratio`, `share`, `bytes`, `s`, `rows`, `files`.
    pub unit: &'static str,
    pub reason: StaticText,
    /// Source of the default: documentation, calibration, physics.
    pub source: &'static str,
}

/// A threshold as a table: its default, unit and dotted name; the reason in both languages; the source.
macro_rules! threshold {
    ($(#[$doc:meta])* $vis:vis $constant:ident = $default:literal, $unit:literal, $name:literal; $zh:literal, $en:literal; $source:literal) => {
        $(#[$doc])*
        $vis static $constant: $crate::settings::Threshold = $crate::settings::Threshold {
            name: $name,
            default: $default,
            unit: $unit,
            reason: report::StaticText { zh: $zh, en: $en },
            source: $source,
        };
    };
}
pub(crate) use threshold;

threshold! {
    /// Least share of the run for a finding; a smaller cause is a note.
    pub MIN_SHARE = 0.05, "share", "min_share";
    "消除后节省不到 5 % 的原因不值得改动，且低于同一作业两次运行之间的波动", "a saving under 5 % is not worth a change, and is within the noise between two runs of the same job";
    "report contract (reporting threshold); run-to-run variation"
}

/// Least seconds of time without a known mechanism that are reported or asked about: two runs of the same job differ by more than a
/// second.
pub(crate) const LEAST_UNKNOWN_S: f64 = 3.0;

/// Savings below this many seconds are never reported, even as a large share of the run.
pub(crate) const LEAST_SECONDS: f64 = 1.5;

threshold! {
    /// Least relevance of a recommended file.
    pub MIN_RELEVANCE = 0.3, "share", "completeness.min_relevance";
    "规格第 5 节规定的相关度阈值", "relevance threshold of section 5 of the specification";
    "specification"
}

threshold! {
    /// Files recommended in one round.
    pub FILES_PER_ROUND = 3.0, "files", "completeness.files_per_round";
    "规格第 5 节：每轮最多三个文件", "section 5 of the specification: at most three files a round";
    "specification"
}

/// Errors in a table of thresholds.
#[derive(Debug, Error)]
pub enum SettingsError {
    #[error("{}", report::say!("阈值不是有效的 TOML：{error}", "thresholds are not valid TOML: {error}", error = .0.to_string()))]
    Syntax(#[from] toml::de::Error),
    /// No rule knows the name.
    #[error("{}", report::say!("没有阈值 `{name}`{nearest}", "unknown threshold `{name}`{nearest}", nearest = .nearest.map(|n| report::text!("，是否想写 `{n}`？", ", did you mean `{n}`?")).unwrap_or_default()))]
    Unknown {
        name: String,
        /// The most similar known name.
        nearest: Option<&'static str>,
    },
    #[error("{}", report::say!("阈值 `{name}` 须为数字，单位 {unit}", "threshold `{name}` must be a number, in {unit}"))]
    NotANumber {
        name: String,
        /// Unit that it is given in.
        unit: &'static str,
    },
    /// Negative or not finite.
    #[error("{}", report::say!("阈值 `{name}` 须为不小于 0 的数，不能是 {value}", "threshold `{name}` must be a finite number of at least 0, got {value}"))]
    OutOfRange { name: String, value: f64 },
    #[error("{}", report::say!("阈值 `{name}` 须在 0 与 1 之间，不能是 {value}", "threshold `{name}` is a share, so it must be between 0 and 1, got {value}"))]
    NoShare { name: String, value: f64 },
}

/// Values that differ from the defaults.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    overrides: BTreeMap<&'static str, f64>,
}

impl Settings {
    /// Reads thresholds from TOML text: `min_share = 0.05`, `[skew]` `max_over_mean = 4`.
    ///
    /// # Errors
    /// Text that is not TOML, an unknown name, a value that is not a number of at least 0.
    pub fn from_toml(text: &str) -> Result<Settings, SettingsError> {
        Settings::from_table(&toml::from_str::<toml::Table>(text)?)
    }

    /// Reads thresholds from a parsed table; nested tables spell dotted names.
    ///
    /// # Errors
    /// As [`Settings::from_toml`].
    pub fn from_table(table: &toml::Table) -> Result<Settings, SettingsError> {
        let mut settings = Settings::default();
        settings.read("", table)?;
        Ok(settings)
    }

    /// Sets one threshold by name.
    ///
    /// # Errors
    /// An unknown name, a value that is not a finite number of at least 0, a share above 1.
    pub fn set(&mut self, name: &str, value: f64) -> Result<(), SettingsError> {
        let threshold = find(name)?;
        if !value.is_finite() || value < 0.0 {
            return Err(SettingsError::OutOfRange {
                name: name.to_owned(),
                value,
            });
        }
        if threshold.unit == "share" && value > 1.0 {
            return Err(SettingsError::NoShare {
                name: name.to_owned(),
                value,
            });
        }
        self.overrides.insert(threshold.name, value);
        Ok(())
    }

    /// The value in force.
    pub fn get(&self, threshold: &Threshold) -> f64 {
        self.overrides
            .get(threshold.name)
            .copied()
            .unwrap_or(threshold.default)
    }

    fn read(&mut self, prefix: &str, table: &toml::Table) -> Result<(), SettingsError> {
        for (key, value) in table {
            let name = if prefix.is_empty() {
                key.clone()
            } else {
                format!("{prefix}.{key}")
            };
            match value {
                toml::Value::Table(inner) => self.read(&name, inner)?,
                toml::Value::Float(v) => self.set(&name, *v)?,
                toml::Value::Integer(v) => self.set(&name, *v as f64)?,
                _ => {
                    let unit = find(&name)?.unit;
                    return Err(SettingsError::NotANumber { name, unit });
                }
            }
        }
        Ok(())
    }
}

fn find(name: &str) -> Result<&'static Threshold, SettingsError> {
    crate::thresholds()
        .iter()
        .copied()
        .find(|t| t.name == name)
        .ok_or_else(|| SettingsError::Unknown {
            name: name.to_owned(),
            nearest: nearest(name),
        })
}

/// The known name that shares the longest ending or beginning with `name`.
fn nearest(name: &str) -> Option<&'static str> {
    let shared = |a: &mut dyn Iterator<Item = u8>, b: &mut dyn Iterator<Item = u8>| {
        a.zip(b).take_while(|(a, b)| a == b).count()
    };
    let common = |known: &str| {
        let head = shared(&mut known.bytes(), &mut name.bytes());
        head.max(shared(&mut known.bytes().rev(), &mut name.bytes().rev()))
    };
    crate::thresholds()
        .iter()
        .map(|t| (common(t.name), t.name))
        .filter(|(n, _)| *n >= 4)
        .max()
        .map(|(_, n)| n)
}
