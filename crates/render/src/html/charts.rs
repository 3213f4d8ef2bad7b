//! Histograms over vertices, and the use of tokens over time.

use report::measure::book;
use runs::{Histogram, RunSummary, StageSummary, Timeline};

use super::escape::escape;
use super::svg::{Tenths, label, title};
use crate::words::Words;
use report::format::{Bytes, Seconds, TOKEN};
use report::text;

const HISTOGRAM: (f64, f64) = (330.0, 75.0);
const TIMELINE: (f64, f64) = (920.0, 180.0);
/// Space over the timeline for the number of tokens.
const TOP: f64 = 18.0;
/// Space over a histogram for the two lines of its heading.
const HEADING: f64 = 30.0;
/// Space under a chart for its axis.
const AXIS: f64 = 18.0;
/// Relative difference of the extremes below which values are called even.
const EVEN: f64 = 0.05;
/// Hues of stages, as different as their number allows; the style sets saturation and lightness.
const HUE_STEP: f64 = 137.5;
/// The first stage is blue, because red is for findings.
const FIRST_HUE: f64 = 212.0;
/// Stages named next to the timeline; the others have tooltips.
const KEYS: usize = 12;

/// Histograms of run time and bytes over the vertices of a stage, if they are known.
pub(super) fn spread(stage: &StageSummary, words: Words) -> String {
    let time = stage.run_ms.as_ref().map(|h| {
        let unit = |ms: f64| words.say(Seconds(ms / 1000.0));
        histogram(
            h,
            &words.in_engine(words.run_time_per_vertex()),
            words,
            unit,
        )
    });
    let bytes = stage.vertex_bytes_read.as_ref().map(|h| {
        let unit = |n: f64| words.say(Bytes(n));
        histogram(
            h,
            &words.in_engine(words.bytes_read_per_vertex()),
            words,
            unit,
        )
    });
    [time, bytes].into_iter().flatten().collect()
}

/// A histogram with its mean marked; a logarithmic height keeps a lone slow vertex visible. Values that hardly differ are a sentence:
/// drawn over the whole width they would look like skew.
fn histogram(
    data: &Histogram,
    caption: &str,
    words: Words,
    unit: impl Fn(f64) -> String,
) -> String {
    let (width, height) = HISTOGRAM;
    let most = data.counts.iter().copied().max().unwrap_or(0);
    let scale = f64::from(most).ln_1p().max(f64::MIN_POSITIVE);
    let bin = width / data.counts.len() as f64;
    let span = (data.max - data.min) / data.counts.len() as f64;
    let details = format!(
        "{} · {} {} · {}",
        words.say(
            words
                .vertex()
                .count(f64::from(data.counts.iter().sum::<u32>()))
        ),
        words.mean(),
        unit(data.mean),
        words.logarithmic()
    );
    let mut out = format!(
        r#"<svg class="histogram" viewBox="0 0 {width} {h}" width="{width}" height="{h}" role="img" aria-label="{label}">"#,
        h = HEADING + height + AXIS,
        label = escape(&format!("{caption} · {details}"))
    );
    out += &label(0.0, 11.0, "caption", "start", caption);
    out += &label(0.0, 25.0, "caption", "start", &details);
    if data.max - data.min <= EVEN * data.max {
        let (least, most) = (unit(data.min), unit(data.max));
        let even = match least == most {
            true => text!("都是 {least}", "all of them: {least}"),
            false => text!("很均匀：{least} 至 {most}", "even: {least} to {most}"),
        };
        return out + &label(0.0, HEADING + 18.0, "axis", "start", &words.say(even)) + "</svg>";
    }
    for (i, count) in data.counts.iter().enumerate().filter(|(_, n)| **n > 0) {
        let tall = f64::from(*count).ln_1p() / scale * height;
        let from = data.min + span * i as f64;
        out += &format!(
            r#"<rect x="{:.1}" y="{:.1}" width="{:.1}" height="{tall:.1}">{}</rect>"#,
            i as f64 * bin,
            HEADING + height - tall,
            (bin - 1.0).max(1.0),
            title(&format!("{} – {}: {count}", unit(from), unit(from + span)))
        );
    }
    if data.max > data.min {
        let x = (data.mean - data.min) / (data.max - data.min) * width;
        out += &format!(
            r#"<line class="mean" x1="{x:.1}" x2="{x:.1}" y1="{HEADING}" y2="{:.1}">{}</line>"#,
            HEADING + height,
            title(&unit(data.mean))
        );
    }
    let base = HEADING + height + AXIS - 4.0;
    let least = unit(data.min);
    let start = match data.min > 0.0 {
        true => words.say(text!("{least}（不从 0 起）", "{least} (not from 0)")),
        false => least,
    };
    out += &label(0.0, base, "axis", "start", &start);
    out += &label(width, base, "axis", "end", &unit(data.max));
    out + "</svg>"
}

/// Running vertices over time, stages stacked, with the tokens as a line.
pub(super) fn timeline(data: &Timeline, summary: &RunSummary, words: Words) -> String {
    let (width, height) = TIMELINE;
    let slots = data.running.first().map_or(0, Vec::len);
    let stacked: Vec<f32> = (0..slots)
        .map(|t| data.running.iter().map(|row| row[t]).sum())
        .collect();
    let stages = &summary.stages;
    let tokens = summary.get(&book::TOKENS).map(|n| n as f32);
    let most = stacked
        .iter()
        .copied()
        .fold(tokens.unwrap_or(1.0), f32::max)
        .max(1.0);
    let x = |slot: usize| slot as f64 / slots.max(1) as f64 * width;
    let y = |value: f32| height - f64::from(value / most) * (height - TOP);
    let mut out = format!(
        r#"<svg class="timeline" viewBox="0 0 {width} {h}" width="{width}" height="{h}" role="img" aria-label="{label}">"#,
        h = height + AXIS,
        label = words.in_engine(words.timeline())
    );
    let mut below = vec![0.0_f32; slots];
    for (i, row) in data.running.iter().enumerate() {
        let above: Vec<f32> = below.iter().zip(row).map(|(b, r)| b + r).collect();
        let mut points = String::new();
        for (slot, value) in corners(&above).chain(corners(&below).rev()) {
            Tenths(x(slot)).push(&mut points);
            points.push(',');
            Tenths(y(value)).push(&mut points);
            points.push(' ');
        }
        let name = stages.get(i).map_or("", |s| s.name.as_str());
        out += &format!(
            r#"<polygon style="--hue:{:.0}" points="{}">{}</polygon>"#,
            hue(i),
            points.trim_end(),
            title(name)
        );
        below = above;
    }
    if let Some(tokens) = tokens {
        let at = y(tokens);
        out += &format!(r#"<line class="tokens" x1="0" x2="{width}" y1="{at:.1}" y2="{at:.1}"/>"#);
        out += &label(
            width,
            at - 5.0,
            "axis",
            "end",
            &words.in_engine(TOKEN.count(f64::from(tokens))),
        );
    }
    out += &label(0.0, height + 14.0, "axis", "start", "0");
    out += &label(
        width,
        height + 14.0,
        "axis",
        "end",
        &words.say(Seconds(data.span_ms / 1000.0)),
    );
    out + "</svg>" + &key(data, stages)
}

/// Which color is which stage, the busiest first.
fn key(data: &Timeline, stages: &[StageSummary]) -> String {
    let busy = |i: usize| {
        data.running
            .get(i)
            .map_or(0.0, |row| row.iter().sum::<f32>())
    };
    let mut order: Vec<usize> = (0..stages.len()).filter(|i| busy(*i) > 0.0).collect();
    order.sort_by(|a, b| busy(*b).total_cmp(&busy(*a)));
    let item = |i: &usize| {
        format!(
            r#"<li><i style="--hue:{:.0}"></i>{}</li>"#,
            hue(*i),
            escape(&stages[*i].name)
        )
    };
    let items: String = order.iter().take(KEYS).map(item).collect();
    let more = if order.len() > KEYS {
        "<li>…</li>"
    } else {
        ""
    };
    format!(r#"<ul class="key">{items}{more}</ul>"#)
}

/// The hue of a stage.
fn hue(stage: usize) -> f64 {
    (FIRST_HUE + stage as f64 * HUE_STEP) % 360.0
}

/// The corners of a step line: start and end of each stretch of equal values.
fn corners(values: &[f32]) -> impl DoubleEndedIterator<Item = (usize, f32)> {
    let stretches = values.chunk_by(|a, b| a == b);
    let ends = stretches.scan(0, |from, stretch| {
        let start = std::mem::replace(from, *from + stretch.len());
        Some([(start, stretch[0]), (*from, stretch[0])])
    });
    ends.collect::<Vec<_>>().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_hardly_differ_are_a_sentence() {
        let drawn = |min: f64, max: f64| {
            let data = Histogram {
                min,
                max,
                mean: max,
                counts: vec![3, 1],
            };
            let words = Words::new(report::Language::En);
            histogram(&data, "run time", words, |ms| format!("{ms} ms"))
        };
        assert!(drawn(98.0, 100.0).contains("even: 98 ms to 100 ms"));
        assert!(drawn(100.0, 100.0).contains("all of them: 100 ms"));
        for text in [drawn(98.0, 100.0), drawn(100.0, 100.0)] {
            assert!(!text.contains("<rect"), "{text}");
        }
        assert_eq!(drawn(50.0, 100.0).matches("<rect").count(), 2);
    }

    #[test]
    fn equal_values_are_one_step() {
        let steps: Vec<_> = corners(&[0.0, 0.0, 2.0, 0.0]).collect();
        let expected = [(0, 0.0), (2, 0.0), (2, 2.0), (3, 2.0), (3, 0.0), (4, 0.0)];
        assert_eq!(steps, expected);
        assert_eq!(corners(&[]).count(), 0);
    }
}
