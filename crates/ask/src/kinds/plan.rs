//! Windows, the partitions of exchanges, and who decides their number.

use diagnosis::configuration::bytes;
use job::script::Statement;
use report::format::{Bytes as Size, Number as Count};
use report::measure::book;
use report::{Cause, Text, text};
use runs::{EdgeSummary, OperatorSummary};

use super::{advice, is_whole, stages};
use crate::intent::Intent;
use crate::said::Said;
use crate::subject::Subject;
use crate::word::Word::*;
use crate::word::{Cue, Quantity, Thing};
use crate::{Asked, found, origin, record, thing, verdict};

/// Windows and exchanges named.
const SHOWN: usize = 3;

const THRESHOLD: &str = "spark.sql.autoBroadcastJoinThreshold";

/// Says the columns that windows are partitioned and ordered by.
pub(super) fn window(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let reading = &intent.reading;
    let asks = [
        Key,
        Noun(Thing::Partition),
        Noun(Thing::Column),
        Kind("ORDER BY"),
        Which,
    ];
    if !reading.has(Kind("WINDOW"))
        || !reading.has_any(&asks)
        || reading.has_any(&[Number, Rows, Time])
    {
        return false;
    }
    let begun = said.len();
    let has_window = |s: &&Statement| {
        let text = run.text_of(s).to_uppercase();
        text.contains(" OVER") && text.contains("PARTITION BY")
    };
    let statements = run.statements().iter().filter(has_window);
    for s in statements.take(SHOWN) {
        thing::quote(said, run, s.lines.0, s.lines.1);
    }
    said.len() > begun
}

/// Says the stages that a stage reads from and that read it.
pub(super) fn flow(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let others = [Number, Rows, Bytes, Time, Most, Least, Key, Place];
    let [at] = stages(intent)[..] else {
        return false;
    };
    let asks = intent.asks(Quantity::Flow) && !intent.reading.has_any(&others);
    if !asks || intent.asks_why() {
        return false;
    }
    record::flow(said, run, at);
    true
}

/// Words of questions why a number of vertices is what it is.
const FEW: &str =
    "so few|so many|this many|this few|that many|only|这么少|这么多|那么多|那么少|只有";

/// Causes of too many or too few vertices.
const COUNTS: [Cause; 6] = [
    Cause::ParallelismTooLow,
    Cause::TinyVertices,
    Cause::SmallFiles,
    Cause::Misestimate,
    Cause::LowCardinalityKey,
    Cause::SerialGather,
];

/// Says who decides the number of vertices or partitions of a stage.
pub(super) fn decided(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let reading = &intent.reading;
    let of_number = |at: &usize| {
        let count = run.summary.stages[*at].get(&book::VERTICES);
        reading.numbers().any(|n| Some(n) == count)
    };
    let named = stages(intent);
    let is_count = reading.has_any(&[Noun(Thing::Partition), Noun(Thing::Vertex), Number]);
    // "20 and 15 vertices, why not the same?"
    let differs = is_count && named.len() > 1 && reading.shows(Cue::Differs);
    let text = reading.text();
    let amounts = [
        Rows,
        Bytes,
        Data,
        Time,
        Spread,
        Noun(Thing::Exchange),
        Noun(Thing::Input),
    ];
    let is_few = FEW.split('|').any(|word| text.contains(word)) && !reading.has_any(&amounts);
    let is_few = is_few
        && reading.segments().is_empty()
        && named.len() == 1
        && (is_count || !reading.has_thing());
    let asks = reading.shows(Cue::Origin)
        || intent.asks_why() && (differs || is_few || named.iter().any(of_number));
    let all = 0..run.summary.stages.len();
    let meant: Vec<usize> = match named.is_empty() {
        true => all.filter(of_number).take(1).collect(),
        false => named,
    };
    if !asks || meant.is_empty() || !is_count && !is_few && !meant.iter().any(of_number) {
        return false;
    }
    let begun = said.len();
    for at in meant.into_iter().take(SHOWN) {
        let stage = &run.summary.stages[at];
        let of_count = |f: &&report::Finding| COUNTS.contains(&f.cause) && intent.asks_why();
        let found = crate::stage::findings(run, stage).filter(of_count);
        found.for_each(|f| found::finding(said, f, false));
        origin::vertices(said, run, stage, false);
        origin::partitions(said, run, at);
        let readers = stage.operators.iter().filter_map(|o| o.reads.as_ref());
        for name in readers.take(SHOWN) {
            let input = run.summary.inputs.iter().find(|input| input.name == *name);
            let inputs = input.iter();
            inputs.for_each(|input| thing::describe_input(said, input));
        }
    }
    said.len() > begun
}

/// Says the shuffled data that a stage reads and writes.
pub(super) fn shuffled(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let reading = &intent.reading;
    let named = stages(intent);
    let sides = [reading.has(In), reading.has(Out)];
    let others = [Rows, Time, Most, Least, Mean, Key, Noun(Thing::Partition)];
    let asks = reading.has(Noun(Thing::Exchange)) && sides.contains(&true);
    if !asks || named.is_empty() || reading.has_any(&others) || intent.asks_why() {
        return false;
    }
    let begun = said.len();
    let vertex = run.vertex();
    for at in named {
        let name = &run.summary.stages[at].name;
        let edges = [&run.channels().into[at], &run.channels().out_of[at]];
        for (n, edges) in edges.into_iter().enumerate().filter(|(n, _)| sides[*n]) {
            let edges = edges.iter().map(|edge| &run.summary.edges[*edge]);
            let known = edges.filter_map(|e| Some((e, e.values.value(&book::BYTES_CROSSING)?)));
            let known: Vec<_> = known.collect();
            let mut ids = Vec::new();
            for (e, value) in &known {
                let name = |at: usize| run.summary.stages.get(at).map_or("", |s| s.name.as_str());
                let between = format!("{} → {}", name(e.from), name(e.to));
                ids.extend(said.evidence_of(&book::BYTES_CROSSING, value, &between, vertex));
            }
            let bytes = Size(known.iter().map(|(_, value)| value.number()).sum());
            let sentence = match n {
                0 => text!(
                    "{name} 的 Shuffle 读取：{bytes}",
                    "Shuffle read of {name}: {bytes}",
                    bytes = bytes
                ),
                _ => text!(
                    "{name} 的 Shuffle 写出：{bytes}",
                    "Shuffle written by {name}: {bytes}",
                    bytes = bytes
                ),
            };
            if !known.is_empty() {
                said.cite(sentence, &ids);
            }
        }
    }
    said.len() > begun
}

/// Says whether the inputs of joins are shuffled: “join 两边都重新分区了吗”.
pub(super) fn reshuffled(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let reading = &intent.reading;
    let asks = reading.has(Kind("JOIN"))
        && reading.has_any(&[Noun(Thing::Exchange), Noun(Thing::Partition)]);
    let others = [Number, Rows, Bytes, Time, Most, Kind("WHERE")];
    if !asks || !reading.asks_yes_no() || reading.has_any(&others) || reading.shows(Cue::Would) {
        return false;
    }
    let columns: Vec<&String> = intent
        .subjects
        .iter()
        .filter_map(|s| match s {
            Subject::Column(name) => Some(name),
            _ => None,
        })
        .collect();
    let is_meant = |o: &&OperatorSummary| {
        record::is_join(o)
            && (columns.is_empty() || o.keys.iter().any(|key| columns.contains(&key)))
    };
    let named = stages(intent);
    let all = run.summary.stages.iter().enumerate();
    let all = all.filter(|(at, _)| named.is_empty() || named.contains(at));
    let joins: Vec<(usize, String)> = all
        .flat_map(|(at, s)| {
            s.operators
                .iter()
                .filter(is_meant)
                .map(move |o| (at, o.name_in(&s.name)))
        })
        .collect();
    let moved = |at: usize| {
        let edges = run.channels().into[at]
            .iter()
            .map(|edge| &run.summary.edges[*edge]);
        edges
            .filter(|e| !matches!(e.exchange.as_str(), "broadcast" | "one_to_one" | "unknown"))
            .count()
    };
    said.affirm(joins.iter().any(|(at, _)| moved(*at) > 0));
    for (at, name) in joins.iter().take(SHOWN) {
        if run.channels().into[*at].is_empty() {
            said.say(text!(
                "{name} 在读取输入的阶段中完成，输入不经过 Shuffle",
                "{name} runs where its inputs are read, without an exchange"
            ));
        }
        record::flow(said, run, *at);
        let stage = &run.summary.stages[*at];
        let readers = stage.operators.iter().filter_map(|o| o.reads.as_ref());
        let inputs = readers.filter_map(|name| run.summary.inputs.iter().find(|i| i.name == *name));
        for (input, layout) in inputs.filter_map(|i| Some((&i.name, i.layout.as_ref()?))) {
            said.say(text!(
                "{input} 的存储：{layout}",
                "{input} is stored by {layout}"
            ));
        }
    }
    !joins.is_empty()
}

const ADAPTIVE: &str = "spark.sql.adaptive.enabled";

/// Says why a join is no broadcast: the finding and its change, and what the optimizer compares.
pub(super) fn broadcast(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let is_missed = |c: &Cause| *c == Cause::MissedBroadcast;
    let mut findings = run.report.findings.iter();
    let found = findings.find(|f| is_missed(&f.cause));
    let asks = intent.asks_why() && intent.causes.iter().any(is_missed);
    let Some(found) = found.filter(|_| asks) else {
        return false;
    };
    let value = |key: &str| {
        run.summary
            .settings
            .get(key)
            .map(|[value, _]| value.as_str())
    };
    let suggestions = run.report.suggestions.iter();
    let mut own = suggestions.filter(|s| s.finding.as_ref() == Some(&found.id));
    if let Some(threshold) = value(THRESHOLD) {
        let adaptive = match value(ADAPTIVE) {
            Some("false") => text!(
                "，AQE 又已关闭，运行时不会按实际大小改用广播",
                ", and as AQE is off, no join switches to a broadcast by its actual size"
            ),
            _ => Text::default(),
        };
        said.say(text!(
            "优化器按估计大小（过滤之前整张表的大小）与 {key} = {threshold} 比较，因此没有选择广播{adaptive}",
            "The optimizer compares the estimated size, which is that of the whole table before its filters, with {key} = {threshold}{adaptive}",
            key = THRESHOLD,
            adaptive = adaptive
        ));
    } else if let Some(first) = own.next() {
        advice::edits(said, first);
        verdict::suggestion(said, run, first, true);
    }
    found::finding(said, found, true);
    true
}

/// Says how much data each partition of the exchanges gets.
pub(super) fn each(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let reading = &intent.reading;
    let is_setting =
        |s: &Subject| matches!(s, Subject::Setting(key) if key == job::model::SHUFFLE_PARTITIONS);
    let asks = reading.has(Noun(Thing::Partition))
        && reading.has_any(&[Each, Mean])
        && reading.has_any(&[Data, Bytes, Rows])
        && !reading.has(Noun(Thing::Input));
    let named = stages(intent);
    if !asks || named.is_empty() && !is_whole(intent) && !intent.subjects.iter().any(is_setting) {
        return false;
    }
    let count = |e: &EdgeSummary| e.values.get(&book::PARTITIONS).filter(|n| *n > 0.0);
    let edges = run
        .summary
        .edges
        .iter()
        .filter(|e| named.is_empty() || named.contains(&e.to) || named.contains(&e.from));
    let known = edges.filter_map(|e| Some((e, count(e)?, e.values.get(&book::BYTES_CROSSING)?)));
    let mut known: Vec<(&EdgeSummary, f64, f64)> = known.collect();
    known.sort_by(|a, b| b.2.total_cmp(&a.2));
    let vertex = run.vertex();
    let name = |at: usize| run.summary.stages.get(at).map_or("", |s| s.name.as_str());
    for (edge, partitions, bytes) in known.iter().take(SHOWN) {
        let between = format!("{} → {}", name(edge.from), name(edge.to));
        let values = [&book::PARTITIONS, &book::BYTES_CROSSING];
        let values = values
            .iter()
            .filter_map(|m| Some((*m, edge.values.value(m)?)));
        let ids = said.evidence_of_all(&values.collect::<Vec<_>>(), &between, vertex);
        let rows = edge
            .values
            .get(&book::ROWS_CROSSING)
            .map(|rows| rows / partitions);
        let rows = match rows {
            Some(rows) => text!(
                "、{rows} 行",
                " and {rows} rows",
                rows = Count(rows.round())
            ),
            None => Text::default(),
        };
        said.cite(
            text!(
                "{between}：{count} 个分区，平均每个 {size}{rows}",
                "{between}: {count} partitions with {size}{rows} each on average",
                count = Count(*partitions),
                size = Size(bytes / partitions),
                rows = rows
            ),
            &ids,
        );
    }
    !known.is_empty()
}

/// Says how much data is broadcast, for a question whether a broadcast is a problem.
pub(super) fn too_large(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let reading = &intent.reading;
    let is_judged =
        intent.asks(Quantity::Verdict) && reading.asks_yes_no() && !reading.shows(Cue::Would);
    let edges = run
        .summary
        .edges
        .iter()
        .filter(|e| e.exchange == "broadcast");
    let edges: Vec<&EdgeSummary> = edges.collect();
    if !reading.has(Kind("BROADCAST"))
        || !is_judged
        || edges.is_empty()
        || reading.has(Kind("JOIN"))
    {
        return false;
    }
    let is_large = |f: &&report::Finding| f.cause == Cause::BroadcastTooLarge;
    let found = run.report.findings.iter().find(is_large);
    said.affirm(found.is_some());
    found.iter().for_each(|f| found::finding(said, f, true));
    let name = |at: usize| run.summary.stages.get(at).map_or("", |s| s.name.as_str());
    for e in edges.iter().take(SHOWN) {
        let between = format!("{} → {}", name(e.from), name(e.to));
        for measure in [&book::ROWS_CROSSING, &book::BYTES_CROSSING] {
            if let Some(value) = e.values.value(measure) {
                said.say_value(measure, value, &between, run.vertex());
            }
        }
    }
    said.len() > 0
}

/// Says whether an input is small enough to be broadcast.
pub(super) fn fits(said: &mut Said<'_>, run: &Asked<'_>, intent: &Intent) -> bool {
    let reading = &intent.reading;
    let [Subject::Input(at)] = intent.subjects[..] else {
        return false;
    };
    let is_about = reading.points_back() || reading.has(Kind("BROADCAST"));
    let limit = run
        .summary
        .settings
        .get(THRESHOLD)
        .and_then(|[value, _]| Some((value, bytes(value)?)));
    let input = &run.summary.inputs[at];
    let bytes = input.values.value(&book::STORED_BYTES);
    let (Some((limit, most)), Some(bytes)) = (limit, bytes) else {
        return false;
    };
    if !reading.shows(Cue::Fits) || !(intent.is_polar() || reading.asks_yes_no()) || !is_about {
        return false;
    }
    said.affirm(bytes.number() <= most);
    let ids = said.evidence_of(&book::STORED_BYTES, bytes, &input.name, run.vertex());
    said.cite(
        text!(
            "{name} 在存储中有 {size}，{key} = {limit}",
            "{name} has {size} in storage, and {key} is {limit}",
            name = input.name,
            size = Size(bytes.number()),
            key = THRESHOLD
        ),
        &ids,
    );
    true
}
