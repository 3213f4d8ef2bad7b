//! Settings of an application, as numbers.

use job::model::Application;

pub const PARTITIONS: &str = job::model::SHUFFLE_PARTITIONS;
pub const MEMORY: &str = "spark.executor.memory";
pub const OVERHEAD: &str = "spark.executor.memoryOverhead";
pub const ENABLED: &str = "spark.sql.adaptive.enabled";
pub const SKEW_THRESHOLD: &str = "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes";
pub const SKEW_FACTOR: &str = "spark.sql.adaptive.skewJoin.skewedPartitionFactor";
pub const ADVISORY: &str = "spark.sql.adaptive.advisoryPartitionSizeInBytes";
pub const BROADCAST: &str = "spark.sql.autoBroadcastJoinThreshold";
pub(crate) const SPLIT: &str = "spark.sql.files.maxPartitionBytes";
pub(crate) const OPEN_COST: &str = "spark.sql.files.openCostInBytes";
pub(crate) const LOCALITY_WAIT: &str = "spark.locality.wait";

/// Spark's own default of [`BROADCAST`], in bytes.
pub const DEFAULT_BROADCAST: f64 = 10.0 * 1024.0 * 1024.0;

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
    let (value, _) = app.in_force(execution, key)?;
    bytes(&value)
}

/// Bytes of a setting such as `64m`, `10485760b`, `-1`; without a unit they are bytes.
pub fn bytes(text: &str) -> Option<f64> {
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
