//! By what stages are ranked: the quantity that a question asks for.

use report::{Text, text};

use super::Asked;
use super::phrases::Quantity;
use crate::StageSummary;

/// By what stages are ranked.
pub(super) struct Order {
    pub(super) what: Text,
    pub(super) unit: &'static str,
    value: fn(&StageSummary) -> Option<f64>,
}

impl Order {
    /// What the question asks for: time unless it says otherwise.
    pub(super) fn of(asked: &[Quantity]) -> Order {
        let asks = |q| asked.contains(&q);
        let order = |what, unit, value| Order { what, unit, value };
        if asks(Quantity::Vertices) {
            let value: fn(&StageSummary) -> Option<f64> = |s| s.vertices.map(|n| n as f64);
            order(text!("顶点最多", "most vertices"), "vertices", value)
        } else if asks(Quantity::Rows) {
            order(text!("读入行数最多", "most rows read"), "rows", |s| {
                s.rows_in
            })
        } else if asks(Quantity::Bytes) {
            order(
                text!("读取字节最多", "most bytes read"),
                "bytes",
                |s| s.bytes_read,
            )
        } else if asks(Quantity::Spread) {
            order(text!("最不均匀", "least even spread"), "ratio", |s| {
                s.max_over_mean
            })
        } else {
            order(text!("用时最长", "longest time"), "s", |s| {
                s.span_ms.map(|ms| ms / 1e3)
            })
        }
    }
}

/// The stages by what the question asks for, most first.
pub(super) fn ranked(run: &Asked<'_>, asked: &[Quantity]) -> Vec<(f64, usize)> {
    let order = Order::of(asked);
    let path = run.on_path();
    let value = |s: &StageSummary| match order.unit {
        // What is off the critical path makes no job longer.
        "s" if !path.is_empty() => path.get(s.name.as_str()).copied(),
        _ => (order.value)(s),
    };
    let stages = run.summary.stages.iter().enumerate();
    let mut ranked: Vec<(f64, usize)> =
        stages.filter_map(|(at, s)| Some((value(s)?, at))).collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    ranked
}
