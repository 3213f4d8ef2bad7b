//! Time and cost over tokens or executors on a terminal.

use std::fmt::Write as _;

use diagnosis::whatif::{Curve, Point};
use job::Job;
use report::format::{Noun, Number, Seconds, Share};
use report::{Cost, JobEngine, Language, Localize, Text, text};

use serde::Serialize;

use super::table::{Align, Table};

/// The run as it was and with a change.
#[derive(Debug, Serialize)]
pub(crate) struct Answer {
    pub(crate) job: String,
    /// The run as it was, by its own replay.
    pub(crate) now: Point,
    /// The run with the change, at the counts that were asked for.
    pub(crate) asked: Vec<Point>,
    /// The run with the change, over counts.
    pub(crate) curve: Curve,
    /// Whether the curve is of a changed run.
    #[serde(skip)]
    pub(crate) is_changed: bool,
    /// Of the run as it was.
    #[serde(skip)]
    pub(crate) cost: Option<Cost>,
    /// Price of an hour of `curve.resource`.
    pub(crate) price: Option<f64>,
}

/// Cells of the longest bar.
const BAR: f64 = 24.0;

/// Renders an answer.
pub(crate) fn render(answer: &Answer, language: Language, job: &Job) -> String {
    let [noun, hours] = job.engine().unwrap_or(JobEngine::Scope).resource();
    let page = Page {
        language,
        noun,
        hours,
        answer,
    };
    let mut out = format!("{} · {}\n", report::visible_line(&answer.job), page.now());
    for point in &answer.asked {
        let _ = writeln!(out, "{}", page.asked(point));
    }
    let _ = writeln!(out, "\n{}", page.table().render("  "));
    let _ = writeln!(out, "{}", page.say(answer.curve.conclusion(noun)));
    out
}

struct Page<'a> {
    language: Language,
    noun: Noun,
    hours: Noun,
    answer: &'a Answer,
}

impl Page<'_> {
    fn say(&self, text: impl Localize) -> String {
        text.localize(self.language)
    }

    fn now(&self) -> String {
        let now = &self.answer.now;
        let cost = self.answer.cost.as_ref();
        let cost = cost.and_then(|cost| cost.used(Some(now.hours)));
        self.say(text!(
            "现在 {count}，{time}，{cost}",
            "now {count}, {time}, {cost}",
            count = self.noun.count(now.count as f64),
            time = Seconds(now.seconds),
            cost = cost.unwrap_or_else(|| self.cost(now)),
        ))
    }

    /// One answer in a sentence.
    fn asked(&self, point: &Point) -> String {
        let now = &self.answer.now;
        let change = point.seconds / now.seconds - 1.0;
        let change = match change {
            c if c.abs() < 0.005 => text!("不变", "no change"),
            c if c < 0.0 => text!("快 {share}", "{share} less", share = Share(-c)),
            c => text!("慢 {share}", "{share} more", share = Share(c)),
        };
        let [least, most] = point.between.map(Seconds);
        self.say(text!(
            "{count}：约 {time}（{change}；{least} 至 {most}），占用 {cost}",
            "{count}: about {time} ({change}; {least} to {most}), holds {cost}",
            count = self.noun.count(point.count as f64),
            time = Seconds(point.seconds),
            change = change,
            least = least,
            most = most,
            cost = self.cost(point),
        ))
    }

    fn cost(&self, point: &Point) -> Text {
        let hours = self.hours.count(point.hours);
        match self.answer.price {
            None => text!("{hours}", "{hours}", hours = hours),
            Some(price) => text!(
                "{hours}，合 {money}",
                "{hours}, costs {money}",
                hours = hours,
                money = Number(price * point.hours),
            ),
        }
    }

    fn table(&self) -> Table {
        let heads = [
            ("数目", "count"),
            ("时间", "time"),
            ("", ""),
            ("占用", "held"),
            ("", ""),
        ];
        let heads = heads.map(|(zh, en)| self.language.select(zh, en));
        let mut table = Table::new(&[
            (heads[0], Align::Right),
            (heads[1], Align::Right),
            (heads[2], Align::Left),
            (heads[3], Align::Right),
            (heads[4], Align::Left),
        ]);
        let curve = &self.answer.curve;
        let longest = curve.points.iter().map(|p| p.seconds).fold(0.0, f64::max);
        for point in &curve.points {
            let cells = (point.seconds / longest * BAR).round() as usize;
            table.row(vec![
                point.count.to_string(),
                self.say(Seconds(point.seconds)),
                "█".repeat(cells.max(1)),
                self.say(self.cost(point)),
                self.marks(curve, point.count),
            ]);
        }
        table
    }

    fn marks(&self, curve: &Curve, count: usize) -> String {
        let now = match self.answer.is_changed {
            true => ("现有数目", "present count"),
            false => ("现在", "now"),
        };
        let marks = [
            (curve.now, now),
            (curve.cheapest, ("最便宜", "cheapest")),
            (curve.balanced, ("均衡", "balanced")),
            (curve.enough, ("最快", "fastest")),
        ];
        let here = marks.into_iter().filter(|(at, _)| *at == count);
        let here: Vec<&str> = here
            .map(|(_, (zh, en))| self.language.select(zh, en))
            .collect();
        here.join(self.language.select("、", ", "))
    }
}
