//! Arguments of `scopeagent whatif`.

use clap::Args;
use server::whatif::{Amount, Factor};

use super::localized::named;
use super::{Format, Target};

#[derive(Debug, Args)]
pub(crate) struct WhatIf {
    /// Id of the run or the start of it, `last`, or a job folder or event log.
    /// ‖ 运行编号或其开头、`last`，或作业目录、事件日志。
    pub(crate) run: String,
    /// Tokens of a SCOPE or U-SQL job: a number, a factor of the present one, or a range, e.g. 60, 2x, 50..400.
    /// ‖ SCOPE 或 U-SQL 作业的令牌数：数目、现有数目的倍数或范围，如 60、2x、50..400。
    #[arg(long, value_name = "N", conflicts_with_all = ["executors", "cores"])]
    pub(crate) tokens: Option<Amount>,
    /// Executors of a Spark application: a number, a factor or a range.
    /// ‖ Spark 应用的 Executor 数：数目、倍数或范围。
    #[arg(long, value_name = "N")]
    pub(crate) executors: Option<Amount>,
    /// Cores of each executor.
    /// ‖ 每个 Executor 的核数。
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) cores: Option<u32>,
    /// Factor of the input, e.g. 3x; work is assumed to grow with it.
    /// ‖ 输入的倍数，如 3x；假定工作量与输入成正比。
    #[arg(long, value_name = "FACTOR", default_value = "1x")]
    pub(crate) input: Factor,
    /// Suggestions or findings that are applied, e.g. S1,F2.
    /// ‖ 已应用的建议或已修复的发现，如 S1,F2。
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub(crate) fix: Vec<String>,
    /// Setting of a Spark application: spark.sql.shuffle.partitions, spark.executor.instances or spark.executor.cores.
    /// ‖ Spark 应用的设置：spark.sql.shuffle.partitions、spark.executor.instances 或 spark.executor.cores。
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Price of one token-hour, AU-hour or core-hour.
    /// ‖ 每令牌小时、AU 小时或核小时的价格。
    #[arg(long, value_name = "PRICE", value_parser = price)]
    pub(crate) price: Option<f64>,
    /// Output format.
    /// ‖ 输出格式。
    #[arg(long, short, value_name = "FORMAT", default_value = "text", value_parser = named::<Format>())]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) target: Target,
}

fn price(text: &str) -> Result<f64, String> {
    let price = text
        .parse()
        .ok()
        .filter(|p: &f64| p.is_finite() && *p >= 0.0);
    price.ok_or_else(|| report::say!("应为不小于 0 的数", "a number of at least 0 is needed"))
}
