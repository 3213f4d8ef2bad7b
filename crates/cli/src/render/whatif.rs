//! Time and cost over tokens or executors on a terminal.

use std::fmt::Write as _;

use diagnosis::whatif::{Curve, Point};
use report::Localize;
use report::format::Seconds;
use serde::Serialize;
use server::whatif::Told;

use super::table::{Table, columns};

/// The run as it was and with a change, for programs.
#[derive(Debug, Serialize)]
pub(crate) struct Answer<'a> {
    job: &'a str,
    /// The run as it was, by its own replay.
    now: &'a Point,
    /// The run with the change, at the counts that were asked for.
    asked: &'a [Point],
    /// The run with the change, over counts.
    curve: &'a Curve,
    /// Price of an hour of `curve.resource`.
    price: Option<f64>,
}

impl<'a> Answer<'a> {
    pub(crate) fn of(job: &'a str, told: &Told<'a>) -> Answer<'a> {
        Answer {
            job,
            now: &told.replayed.now,
            asked: &told.replayed.asked,
            curve: &told.replayed.curve,
            price: told.price,
        }
    }
}

/// Cells of the longest bar.
const BAR: f64 = 24.0;

/// Renders a replay of a job.
pub(crate) fn render(job: &str, told: &Told<'_>) -> String {
    let mut out = format!("{} · {}\n", report::visible_line(job), told.now());
    // Writing to a string cannot fail.
    for line in told.asked() {
        let _ = writeln!(out, "{line}");
    }
    let _ = writeln!(out, "\n{}", table(told).render("  "));
    out + &told.conclusion() + "\n"
}

fn table(told: &Told<'_>) -> Table {
    let heads = told
        .language
        .select(">数目|>时间||>占用|", ">count|>time||>held|");
    let mut table = Table::new(&columns(heads));
    let curve = &told.replayed.curve;
    let longest = curve.points.iter().map(|p| p.seconds).fold(0.0, f64::max);
    for point in &curve.points {
        let cells = (point.seconds / longest * BAR).round() as usize;
        table.row(vec![
            point.count.to_string(),
            Seconds(point.seconds).localize(told.language),
            "█".repeat(cells.max(1)),
            told.cost(point).into(told.language),
            marks(told, point.count),
        ]);
    }
    table
}

fn marks(told: &Told<'_>, count: usize) -> String {
    let now = match told.replayed.is_changed {
        true => ("现有数目", "present count"),
        false => ("现在", "now"),
    };
    let curve = &told.replayed.curve;
    let marks = [
        (curve.now, now),
        (curve.cheapest, ("最便宜", "cheapest")),
        (curve.balanced, ("均衡", "balanced")),
        (curve.enough, ("最快", "fastest")),
    ];
    let here = marks.into_iter().filter(|(at, _)| *at == count);
    let here: Vec<&str> = here
        .map(|(_, (zh, en))| told.language.select(zh, en))
        .collect();
    here.join(told.language.select("、", ", "))
}
