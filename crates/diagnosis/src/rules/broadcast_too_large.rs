//! Rule for `broadcast.too_large`: the driver collects, builds and distributes a side that is too large
//! for a copy on every executor.

use std::collections::BTreeSet;

use job::model::{Application, Exchange};

use super::support::{Symptom, rule};
use crate::alternatives::cost::Rates;
use crate::configuration::{BROADCAST, DEFAULT_BROADCAST, broadcast_limit};
use crate::facts::fact;
use crate::impact::{Cover, Fix, Saved, StageWork, shorten_handover};
use crate::measurements::driver::elapsed_s;
use crate::rule::Examination;
use crate::settings::MIN_SHARE;
use crate::view::View;
use report::format::{Bytes, ROW, Seconds};
use report::{Cause, Evidence, Localize, Text, text};

/// Size of rows in memory, which is measured, over their stored size, to which the limit
/// applies.
const IN_MEMORY: f64 = 4.0;

rule! { RULE = BroadcastTooLarge, examine;
    "广播的一侧太大：收集、构建和分发它占了运行时间", "a broadcast side is too large: collecting, building and distributing it takes the run's time";
    needs RuntimeCounters;
    helps VertexEvents, Script;
    thresholds MIN_SHARE;
    unless "广播的数据在 spark.sql.autoBroadcastJoinThreshold 之内", "the broadcast data is within spark.sql.autoBroadcastJoinThreshold";
    unless "不广播就要重分区的另一侧更贵", "without it the other side would be shuffled, which costs more";
    unless "广播与其他阶段同时进行，没有耽误运行", "the broadcast runs in parallel with other stages and does not delay the run";
    cleared "没有得不偿失的大广播", "no large broadcast costs more than it saves";
}

fn examine(view: &View<'_>, result: &mut Examination) {
    let Some(app) = view.job.spark.as_deref() else {
        return;
    };
    let ended_by_it = view
        .failure()
        .is_some_and(|f| f.class.cause() == Cause::BroadcastTooLarge);
    let rates = Rates::of(view);
    for exchange in app.exchanges.iter().filter(|e| e.is_broadcast()) {
        let limit = broadcast_limit(app, Some(exchange.execution)).max(DEFAULT_BROADCAST);
        let of_limit = exchange.data_bytes.unwrap_or(0.0) / limit / IN_MEMORY;
        let driver_s = driver_s(view, app, exchange);
        let saved_s = driver_s - shuffle_s(view, &rates, exchange);
        let is_large = of_limit > 1.0 && saved_s > 0.0;
        if !view.failed() && is_large {
            result.found(view, symptom(view, app, exchange, driver_s, saved_s));
        } else if !is_large && !ended_by_it {
            result.under(of_limit.min(0.99), || evidence(view, app, exchange));
        }
    }
    super::failure::or_ended_by(view, result);
}

/// Seconds on the driver: building, distributing, and collecting beyond the time of the stages that compute the rows.
fn driver_s(view: &View<'_>, app: &Application, exchange: &Exchange) -> f64 {
    let mut above = BTreeSet::new();
    let mut open = exchange.writers.clone();
    // a later plan may contain the exchange as part of a cached result
    let execution = |s: usize| app.stages.get(s).and_then(|s| s.execution);
    let writer = open.first().and_then(|s| execution(*s));
    while let Some(stage) = open.pop() {
        let is_own = writer.is_some() && execution(stage) == writer;
        if is_own && above.insert(stage) {
            open.extend(view.job.edges_into(stage).map(|e| e.from));
        }
    }
    let span = |s: &usize| app.stages[*s].submitted_ms.zip(app.stages[*s].completed_ms);
    let spans = above.iter().filter_map(span);
    let seconds = |ms: i64| ms as f64 / 1000.0;
    let cover = Cover::of(spans.map(|(from, to)| (seconds(from), seconds(to))));
    let stages_s = cover.within(f64::MIN, f64::MAX);
    let driver_ms = exchange.build_ms.unwrap_or(0.0) + exchange.broadcast_ms.unwrap_or(0.0);
    let collect_s = exchange.collect_ms.unwrap_or(0.0) / 1000.0 - stages_s;
    collect_s.max(0.0) + driver_ms / 1000.0
}

/// Seconds to shuffle the other side without the broadcast.
fn shuffle_s(view: &View<'_>, rates: &Rates, exchange: &Exchange) -> f64 {
    let Some(run) = &view.run else {
        return 0.0;
    };
    let readers = exchange.readers.iter().filter_map(|s| run.stages.get(*s));
    let bytes: f64 = readers.map(StageWork::bytes).sum();
    bytes * rates.moving() / run.tokens.max(1) as f64 / 1000.0
}

fn symptom(
    view: &View<'_>,
    app: &Application,
    exchange: &Exchange,
    driver_s: f64,
    seconds: f64,
) -> Symptom {
    let share = elapsed_s(view).map(|all| (seconds / all).min(1.0));
    let readers = exchange.readers.clone();
    let fix = Fix::work(move |stages| {
        for reader in &readers {
            shorten_handover(&mut stages[*reader], seconds);
        }
    });
    let rows = exchange.rows.map_or_else(Text::default, |n| {
        text!("（{rows}）", " ({rows})", rows = ROW.count(n))
    });
    Symptom {
        stage: exchange.readers.first().copied(),
        lines: None,
        summary: text!(
            "广播了 {size}{rows}：Driver 收集、构建和分发它用了 {time}",
            "{size}{rows} are broadcast: the driver takes {time} to collect, build and distribute them",
            size = Bytes(exchange.data_bytes.unwrap_or(0.0)),
            rows = rows,
            time = Seconds(driver_s),
        ),
        evidence: evidence(view, app, exchange),
        saved: share.filter(|_| !view.failed()).map(|share| Saved {
            seconds,
            share,
            fix,
        }),
        method: "time of the broadcast on the driver, less the time to shuffle the other side",
        strength: 0.9,
    }
}

fn evidence(view: &View<'_>, app: &Application, exchange: &Exchange) -> Vec<Evidence> {
    let Some(execution) = app.executions.get(exchange.execution) else {
        return Vec::new();
    };
    let source = app.at_line(execution.line);
    let limit = broadcast_limit(app, Some(exchange.execution));
    let size = exchange.data_bytes.map(|bytes| {
        fact! { view, "data size", bytes, "bytes", source.clone();
        "广播的数据为 {size}", "{size} are broadcast", size = Bytes(bytes) }
        .expecting(format!(
            "<= {} ({BROADCAST})",
            Bytes(limit).localize(view.language)
        ))
    });
    let times = [
        ("time to collect", exchange.collect_ms),
        ("time to build", exchange.build_ms),
        ("time to broadcast", exchange.broadcast_ms),
    ];
    let times = times.into_iter().filter_map(|(metric, ms)| {
        let ms = ms?;
        Some(fact! { view, metric, ms, "ms", source.clone();
        "{metric} 为 {time}", "{metric} is {time}", time = Seconds(ms / 1000.0) })
    });
    size.into_iter().chain(times).collect()
}
