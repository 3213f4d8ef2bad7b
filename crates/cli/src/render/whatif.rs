//! Time and cost over tokens or executors on a terminal.

use std::fmt::Write as _;

use diagnosis::whatif::{Curve, Limit, Point, Resource};
use job::script::Dialect;
use report::format::{EXECUTOR, Noun, Number, Seconds, Share, TOKEN};
use report::{Language, Localize, Text, text};

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
    /// Price of an hour of `curve.resource`.
    pub(crate) price: Option<f64>,
}

/// Cells of the longest bar.
const BAR: f64 = 24.0;

const AU: Noun = Noun {
    one: "AU",
    many: "AUs",
    zh: " 个 AU",
};

/// Renders an answer.
pub(crate) fn render(answer: &Answer, language: Language, dialect: Option<Dialect>) -> String {
    let page = Page {
        language,
        noun: noun(answer.curve.resource, dialect),
        answer,
    };
    let mut out = format!("{} · {}\n", report::visible_line(&answer.job), page.now());
    for point in &answer.asked {
        let _ = writeln!(out, "{}", page.asked(point));
    }
    let _ = writeln!(out, "\n{}", page.table().render("  "));
    let _ = writeln!(out, "{}", page.conclusion());
    out
}

fn noun(resource: Resource, dialect: Option<Dialect>) -> Noun {
    match (resource, dialect) {
        (Resource::Executors { .. }, _) => EXECUTOR,
        (Resource::Tokens, Some(Dialect::USql)) => AU,
        (Resource::Tokens, _) => TOKEN,
    }
}

struct Page<'a> {
    language: Language,
    noun: Noun,
    answer: &'a Answer,
}

impl Page<'_> {
    fn say(&self, text: impl Localize) -> String {
        text.localize(self.language)
    }

    fn now(&self) -> String {
        let now = &self.answer.now;
        self.say(text!(
            "现在 {count}，{time}",
            "now {count}, {time}",
            count = self.noun.count(now.count as f64),
            time = Seconds(now.seconds),
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
            "{count}：约 {time}（{change}；{least} 至 {most}），{cost}",
            "{count}: about {time} ({change}; {least} to {most}), {cost}",
            count = self.noun.count(point.count as f64),
            time = Seconds(point.seconds),
            change = change,
            least = least,
            most = most,
            cost = self.cost(point),
        ))
    }

    fn cost(&self, point: &Point) -> Text {
        let unit = match self.answer.curve.resource {
            Resource::Executors { .. } => Noun {
                one: "core-hour",
                many: "core-hours",
                zh: " 核小时",
            },
            Resource::Tokens if self.noun.one == AU.one => Noun {
                one: "AU-hour",
                many: "AU-hours",
                zh: " AU 小时",
            },
            Resource::Tokens => Noun {
                one: "token-hour",
                many: "token-hours",
                zh: " 令牌小时",
            },
        };
        let hours = unit.count(point.hours);
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
            ("成本", "cost"),
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
        let marks = [
            (curve.now, ("现在", "now")),
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

    /// The sufficient count, the count without further gain, and the reason.
    fn conclusion(&self) -> String {
        let curve = &self.answer.curve;
        let enough = text!(
            "超过 {enough} 后不再变快",
            "beyond {enough} nothing changes",
            enough = self.noun.count(curve.enough as f64),
        );
        let all = match curve.would_do < curve.now {
            true => text!(
                "{count} 就够（最多慢 5 %）；{enough}",
                "{count} would do (at most 5 % longer); {enough}",
                count = self.noun.count(curve.would_do as f64),
                enough = enough,
            ),
            false => enough,
        };
        self.say(match &curve.limit {
            None => all,
            Some(limit) => text!(
                "{all}：{why}",
                "{all}: {why}",
                all = all,
                why = self.limit(limit),
            ),
        })
    }

    fn limit(&self, limit: &Limit) -> Text {
        let is_spark = self.answer.curve.resource != Resource::Tokens;
        let (vertex_zh, vertex_en) = if is_spark {
            ("Task", "task")
        } else {
            ("顶点", "vertex")
        };
        match limit {
            Limit::Serial { stage, seconds } => text!(
                "{stage} 只有一个 {vertex_zh}，用 {time}",
                "{stage} is a single {vertex_en} of {time}",
                time = Seconds(*seconds),
            ),
            Limit::LargestVertex { stage, seconds } => text!(
                "{stage} 最慢的 {vertex_zh} 用 {time}",
                "the slowest {vertex_en} of {stage} takes {time}",
                time = Seconds(*seconds),
            ),
            Limit::Stage { stage, seconds } => text!(
                "{stage} 已经全部同时运行，用 {time}",
                "all of {stage} runs at once and takes {time}",
                time = Seconds(*seconds),
            ),
            Limit::Between { seconds } if is_spark => text!(
                "Driver 在各 Stage 之间用 {time}",
                "the driver takes {time} between the stages",
                time = Seconds(*seconds),
            ),
            Limit::Between { seconds } => text!(
                "各阶段之间的交接用 {time}",
                "handing over between the stages takes {time}",
                time = Seconds(*seconds),
            ),
        }
    }
}
