//! The stage DAG: one column per layer, channels as curves as wide as the bytes that crossed, stages
//! colored by their share of the time.

use report::measure::book;
use runs::{EdgeSummary, RunSummary, StageSummary};

use super::svg::{label, squeezed, title};
use crate::words::Words;
use report::format::{Bytes, Seconds, Share};
use report::text;

const BOX_WIDTH: f64 = 190.0;
const BOX_HEIGHT: f64 = 58.0;
const GAP_X: f64 = 96.0;
const GAP_Y: f64 = 26.0;
const MARGIN: f64 = 14.0;
/// Widths of the thinnest and the widest channel.
const CHANNEL: (f64, f64) = (1.2, 14.0);
/// Characters of a stage name that fit into its box, and next to the ids of findings.
const NAME: usize = 22;
const NAME_BY_MARK: usize = 18;
/// Width of the smaller text in a box, per column of a terminal, and the space for it.
const COLUMN: f64 = 5.4;
const ROOM: f64 = BOX_WIDTH - 16.0;

/// Stages that are drawn, the hot and the longest ones; a graph of more is unreadable.
const DRAWN: usize = 40;
/// Stages in a column; a layer with more takes several columns.
const TALLEST: usize = 12;

/// Position of each stage.
struct Places {
    at: Vec<(f64, f64)>,
    width: f64,
    height: f64,
}

/// Draws the DAG; `hot` are the stages in findings with the id of each.
pub(super) fn draw(summary: &RunSummary, hot: &[(String, String)], words: Words) -> String {
    if summary.stages.is_empty() {
        return String::new();
    }
    let whole = summary;
    let summary = &longest(whole, hot);
    let places = place(summary);
    let most = summary
        .edges
        .iter()
        .filter_map(|e| e.get(&book::BYTES_CROSSING))
        .fold(0.0, f64::max);
    // Sizes are written last, so that no channel runs through them.
    let channels: String = summary
        .edges
        .iter()
        .map(|edge| channel(edge, &places, most, words))
        .collect();
    let sizes: String = summary
        .edges
        .iter()
        .map(|edge| size_of(edge, &places, words))
        .collect();
    let boxes: String = summary
        .stages
        .iter()
        .enumerate()
        .map(|(i, stage)| stage_box(stage, whole.share(stage), places.at[i], hot, words))
        .collect();
    let drawn = format!(
        r#"<svg class="dag" viewBox="0 0 {w:.0} {h:.0}" width="{w:.0}" height="{h:.0}" style="--natural:{w:.0}px" role="group" aria-label="{label}">{channels}{boxes}{sizes}</svg>"#,
        w = places.width,
        h = places.height,
        label = words.in_engine(words.stage_graph())
    );
    match whole.stages.len() - summary.stages.len() {
        0 => drawn,
        more => {
            let note = words.in_engine(text!(
                "未画出其余 {more} 个用时更短的阶段。",
                "{more} shorter stages are left out."
            ));
            format!("{drawn}<p class=\"legend\">{note}</p>")
        }
    }
}

/// The stages that are drawn, with the channels between them.
fn longest(summary: &RunSummary, hot: &[(String, String)]) -> RunSummary {
    let is_hot = |i: usize| hot.iter().any(|(name, _)| *name == summary.stages[i].name);
    let share = |i: usize| summary.share(&summary.stages[i]).unwrap_or(0.0);
    let mut kept: Vec<usize> = (0..summary.stages.len()).collect();
    kept.sort_by(|a, b| {
        let by_heat = is_hot(*b).cmp(&is_hot(*a));
        by_heat.then(share(*b).total_cmp(&share(*a)))
    });
    kept.truncate(DRAWN);
    kept.sort_unstable();
    let edge = |edge: &EdgeSummary| {
        let from = kept.binary_search(&edge.from).ok()?;
        let to = kept.binary_search(&edge.to).ok()?;
        let edge = edge.clone();
        Some(EdgeSummary { from, to, ..edge })
    };
    RunSummary {
        edges: summary.edges.iter().filter_map(edge).collect(),
        stages: kept.iter().map(|i| summary.stages[*i].clone()).collect(),
        ..RunSummary::default()
    }
}

fn place(summary: &RunSummary) -> Places {
    let layers = layers(summary);
    let deepest = layers.iter().max().map_or(1, |m| m + 1);
    let mut order: Vec<Vec<usize>> = vec![Vec::new(); deepest];
    for (stage, layer) in layers.iter().enumerate() {
        order[*layer].push(stage);
    }
    let tallest = order.iter().map(Vec::len).max().unwrap_or(1);
    let tallest = tallest.min(TALLEST) as f64;
    let height = 2.0 * MARGIN + tallest * BOX_HEIGHT + (tallest - 1.0) * GAP_Y;
    let mut at = vec![(0.0, 0.0); summary.stages.len()];
    let mut columns = 0;
    for (layer, members) in order.iter().enumerate() {
        // A stage is near the mean height of its inputs, so that few channels cross.
        let mean_y = |stage: usize| {
            let from = summary
                .edges
                .iter()
                .filter(|e| e.to == stage && layers[e.from] < layer);
            let ys: Vec<f64> = from.map(|e| at[e.from].1).collect();
            if ys.is_empty() {
                f64::MAX
            } else {
                ys.iter().sum::<f64>() / ys.len() as f64
            }
        };
        let mut keyed: Vec<(f64, usize)> = members.iter().map(|&s| (mean_y(s), s)).collect();
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for column in keyed.chunks(TALLEST) {
            let used = column.len() as f64 * BOX_HEIGHT + (column.len() as f64 - 1.0) * GAP_Y;
            let top = (height - used) / 2.0;
            let x = MARGIN + columns as f64 * (BOX_WIDTH + GAP_X);
            for (row, (_, stage)) in column.iter().enumerate() {
                at[*stage] = (x, top + row as f64 * (BOX_HEIGHT + GAP_Y));
            }
            columns += 1;
        }
    }
    let width = 2.0 * MARGIN + columns as f64 * BOX_WIDTH + (columns as f64 - 1.0) * GAP_X;
    Places { at, width, height }
}

/// Longest way from an input to each stage. A cycle, which no sound file has, is cut off.
fn layers(summary: &RunSummary) -> Vec<usize> {
    let mut layers = vec![0; summary.stages.len()];
    for _ in 0..summary.stages.len() {
        let mut changed = false;
        for edge in summary.edges.iter().filter(|e| e.from != e.to) {
            let least = (layers[edge.from] + 1).min(summary.stages.len() - 1);
            if layers[edge.to] < least {
                layers[edge.to] = least;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    layers
}

fn channel(edge: &EdgeSummary, places: &Places, most: f64, words: Words) -> String {
    let (from, to) = (places.at[edge.from], places.at[edge.to]);
    let (x1, y1) = (from.0 + BOX_WIDTH, from.1 + BOX_HEIGHT / 2.0);
    let (x2, y2) = (to.0, to.1 + BOX_HEIGHT / 2.0);
    let share = edge
        .get(&book::BYTES_CROSSING)
        .filter(|_| most > 0.0)
        .map_or(0.0, |b| (b / most).sqrt());
    let width = CHANNEL.0 + share * (CHANNEL.1 - CHANNEL.0);
    let bend = ((x2 - x1) / 2.0).max(20.0);
    let size = edge
        .get(&book::BYTES_CROSSING)
        .map_or_else(|| "?".to_owned(), |n| words.say(Bytes(n)));
    let keys = if edge.keys.is_empty() {
        String::new()
    } else {
        format!(" ({})", edge.keys.join(", "))
    };
    let told = title(&format!("{}{keys}: {size}", edge.exchange));
    format!(
        r#"<path class="channel {}" d="M{x1:.1},{y1:.1} C{:.1},{y1:.1} {:.1},{y2:.1} {x2:.1},{y2:.1}" stroke-width="{width:.1}">{told}</path>"#,
        edge.exchange,
        x1 + bend,
        x2 - bend
    )
}

/// The bytes of a channel, a third of the way along, where channels into one stage still stand apart.
fn size_of(edge: &EdgeSummary, places: &Places, words: Words) -> String {
    let Some(size) = edge.get(&book::BYTES_CROSSING) else {
        return String::new();
    };
    let (from, to) = (places.at[edge.from], places.at[edge.to]);
    let (x1, y1) = (from.0 + BOX_WIDTH, from.1 + BOX_HEIGHT / 2.0);
    let along = GAP_X * 0.42;
    let rise = (to.1 - from.1).clamp(-1.2 * BOX_HEIGHT, 1.2 * BOX_HEIGHT) * 0.3;
    label(
        x1 + along,
        y1 + rise - 5.0,
        "size",
        "middle",
        &words.say(Bytes(size)),
    )
}

fn stage_box(
    stage: &StageSummary,
    share: Option<f64>,
    (x, y): (f64, f64),
    hot: &[(String, String)],
    words: Words,
) -> String {
    let of_stage = hot.iter().filter(|(name, _)| *name == stage.name);
    let findings: Vec<&str> = of_stage.map(|(_, id)| id.as_str()).collect();
    let finding = findings.first();
    let mut class = String::from("stage");
    if finding.is_some() {
        class.push_str(" hot");
    }
    if stage.critical {
        class.push_str(" critical");
    }
    let percent = share.map_or(0.0, |s| s * 100.0);
    let share = share.map_or_else(|| "–".to_owned(), |s| words.say(Share(s)));
    let busy = stage
        .get(&book::BUSY)
        .map_or_else(|| "–".to_owned(), |ms| words.say(Seconds(ms / 1000.0)));
    let vertices = stage
        .get(&book::VERTICES)
        .map_or_else(|| "–".to_owned(), |n| words.say(words.vertex().count(n)));
    let mut out = format!(
        r#"<g class="{class}" data-stage="{name}" data-findings="{all}" style="--share:{percent:.1}%"><rect x="{x:.1}" y="{y:.1}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="7"/>"#,
        name = super::escape::escape(&stage.name),
        all = findings.join(" ")
    );
    out += &title(&format!("{} · {vertices} · {busy} · {share}", stage.name));
    out += &label(
        x + 10.0,
        y + 23.0,
        "name",
        "start",
        &crate::layout::shorten(&stage.name, finding.map_or(NAME, |_| NAME_BY_MARK)),
    );
    let detail = format!("{vertices} · {busy} · {share}");
    out += &match crate::layout::width(&detail) as f64 * COLUMN > ROOM {
        true => squeezed(x + 10.0, y + 43.0, "detail", ROOM, &detail),
        false => label(x + 10.0, y + 43.0, "detail", "start", &detail),
    };
    let Some(id) = finding else {
        return out + "</g>";
    };
    let mark = match findings.len() {
        1 => (*id).to_owned(),
        several => format!("{id} +{}", several - 1),
    };
    out += &label(x + BOX_WIDTH - 8.0, y + 23.0, "mark", "end", &mark);
    // It leads to its first finding.
    format!(r##"<a href="#{id}">{out}</g></a>"##)
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::measure::{Measure, Value, Values};

    fn values(numbers: &[(&'static Measure, f64)]) -> Values {
        let mut values = Values::default();
        for (measure, number) in numbers {
            values.set(measure, Value::unsaved(*number));
        }
        values
    }

    fn stage(name: &str) -> StageSummary {
        StageSummary {
            name: name.into(),
            values: values(&[(&book::VERTICES, 4.0), (&book::BUSY, 1000.0)]),
            ..StageSummary::default()
        }
    }

    fn edge(from: usize, to: usize) -> EdgeSummary {
        EdgeSummary {
            from,
            to,
            values: values(&[(&book::BYTES_CROSSING, 2048.0)]),
            exchange: "hash".into(),
            keys: vec!["UserId".into()],
        }
    }

    #[test]
    fn stages_stand_right_of_what_feeds_them_and_do_not_overlap() {
        let summary = RunSummary {
            stages: ["a", "b", "c", "d"].map(stage).into(),
            edges: vec![edge(0, 2), edge(1, 2), edge(2, 3), edge(0, 3)],
            ..RunSummary::default()
        };
        let places = place(&summary);
        for e in &summary.edges {
            assert!(places.at[e.from].0 + BOX_WIDTH < places.at[e.to].0);
        }
        assert_eq!(places.at[0].0, places.at[1].0);
        assert!((places.at[0].1 - places.at[1].1).abs() >= BOX_HEIGHT);
    }

    #[test]
    fn a_cycle_is_drawn_and_ends() {
        let summary = RunSummary {
            stages: ["a", "b"].map(stage).into(),
            edges: vec![edge(0, 1), edge(1, 0)],
            ..RunSummary::default()
        };
        assert!(draw(&summary, &[], Words::new(report::Language::En)).contains("</svg>"));
    }

    #[test]
    fn of_many_stages_the_hot_and_the_longest_are_drawn_in_columns_of_a_screen() {
        let summary = RunSummary {
            stages: (0..120).map(|n| stage(&format!("Stage {n}"))).collect(),
            ..RunSummary::default()
        };
        let hot = [("Stage 117".to_owned(), "F1".to_owned())];
        let drawn = draw(&summary, &hot, Words::new(report::Language::En));
        assert_eq!(drawn.matches("<g class=").count(), DRAWN);
        assert!(drawn.contains(r#"data-stage="Stage 117""#), "{drawn}");
        assert!(drawn.contains("80 shorter stages are left out."), "{drawn}");
        assert!(place(&longest(&summary, &hot)).height < 1100.0);
    }

    #[test]
    fn the_hot_stage_is_marked() {
        let summary = RunSummary {
            stages: vec![stage("SV1"), stage("SV2")],
            ..RunSummary::default()
        };
        let drawn = draw(
            &summary,
            &[("SV2".into(), "F1".into())],
            Words::new(report::Language::En),
        );
        assert_eq!(drawn.matches("stage hot").count(), 1);
        assert!(
            drawn.contains(r#"class="stage hot" data-stage="SV2""#),
            "{drawn}"
        );
    }

    #[test]
    fn a_stage_of_two_findings_shows_both_and_long_details_fit_its_box() {
        let busy = StageSummary {
            values: values(&[(&book::VERTICES, 125_000.0), (&book::BUSY, 3.5e8)]),
            ..stage("SV1")
        };
        let summary = RunSummary {
            stages: vec![busy, stage("SV2")],
            ..RunSummary::default()
        };
        let hot = ["F1", "F3"].map(|id| ("SV2".to_owned(), id.to_owned()));
        let drawn = draw(&summary, &hot, Words::new(report::Language::En));
        assert!(drawn.contains(">F1 +1<"), "{drawn}");
        assert!(drawn.contains(r#"data-findings="F1 F3""#), "{drawn}");
        assert_eq!(drawn.matches("textLength").count(), 1, "{drawn}");
    }
}
