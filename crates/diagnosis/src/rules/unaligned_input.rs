//! Rule for `shuffle.unaligned_input`: large inputs stored on other keys than every consumer
//! needs, repartitioned in each run.

use job::model::{Clustering, Edge, ExchangeKind, Operator, Table};

use super::support::{Symptom, lacks, rule};
use crate::alternatives::cost::Rates;
use crate::alternatives::repartition::{Layout, Stored, layouts};
use crate::facts::fact;
use crate::measurements::exchange::measured_write;
use crate::rule::Examination;
use crate::settings::threshold;
use crate::view::View;
use report::format::{Bytes, Names};
use report::{Evidence, Text, text};

threshold! {
    /// Least number of bytes repartitioned because of the layout.
    pub(crate) MIN_BYTES = 1e9, "bytes", "unaligned_input.min_bytes";
    "小输入的重分区不值得改存储布局", "repartitioning a small input is not worth another stored layout";
    "judgment; the replayed saving decides"
}

rule! { RULE = UnalignedInput, examine;
    "大输入的存储分区键与所有使用者需要的键不同，每次运行都要重分区", "large inputs stored on other keys than every consumer needs, repartitioned in each run";
    needs StageGraph, StoredLayout;
    helps RuntimeCounters;
    thresholds MIN_BYTES;
    unless "输入没有按任何键分区存储", "the input is not stored by any key";
    unless "另一侧也要重分区，改一张表没有用", "the other side has to be repartitioned as well, so changing one table does not help";
    unless "分区键已与使用者一致", "the stored keys are those that the consumer needs";
    cleared "没有按其他键分区存储、且所有使用者都要重分区的大输入", "no large input is stored on other keys and repartitioned by every consumer";
}

fn examine(view: &View<'_>, result: &mut Examination) {
    let mut found = layouts(view, &Rates::of(view));
    found.retain(|l| l.moved_bytes >= view.limit(&MIN_BYTES));
    for layout in &found {
        result.offer(view, symptom(view, layout));
    }
    let stored = |e: &&Edge| e.exchange == ExchangeKind::Hash && !view.failed();
    for edge in view.job.edges.iter().filter(stored) {
        let large = edge
            .bytes_written
            .is_none_or(|b| b >= view.limit(&MIN_BYTES));
        if large
            && view
                .extracts(edge.from)
                .any(|(_, o)| !has_layout(view, edge.from, o))
        {
            lacks! { result, view, StoredLayout, Some(edge.to);
            "不知道 {stage} 读取的数据按什么键存储", "the storage keys of the data that {stage} reads are unknown", stage = view.name(edge.from) }
        }
    }
    result.exchanges(view, |e| {
        e.exchange == ExchangeKind::Hash && view.extracts(e.from).next().is_some()
    });
}

/// Whether a file has the stored layout of an operator's input. Text has no stored order.
fn has_layout(view: &View<'_>, stage: usize, extract: &Operator) -> bool {
    let is_text = |t: &Table| t.kind.as_deref() == Some("text");
    extract.id.starts_with("Extract")
        || view
            .table_of(stage, extract)
            .is_some_and(|t| t.clustering.as_ref().is_some_and(Clustering::is_whole) || is_text(t))
}

fn symptom(view: &View<'_>, layout: &Layout<'_>) -> Symptom {
    let edge = |s: &Stored<'_>| &view.job.edges[s.edge];
    let bytes = |s: &Stored<'_>| edge(s).bytes_written.unwrap_or(0.0);
    let largest = layout
        .inputs
        .iter()
        .max_by(|a, b| bytes(a).total_cmp(&bytes(b)));
    let main = largest.map(edge);
    let consumer = main.and_then(|e| view.consumer_of(e));
    let stored = |s: &Stored<'_>| {
        let name = &s.table.name;
        text!(
            "{name}（{keys}）",
            "{name} ({keys})",
            keys = Names(keys_of(s))
        )
    };
    let stored: Vec<Text> = layout.inputs.iter().map(stored).collect();
    let keys: &[String] = main.map_or(&[], |e| &e.keys);
    Symptom {
        stage: main.map(|e| e.from),
        lines: consumer.and_then(|(op, _)| view.lines(layout.stage, op)),
        summary: text!(
            "{stage} 按 {keys} 重分区了 {size}，因为输入按其他键存储：{stored}",
            "{stage} repartitions {size} on {keys} because its inputs are stored on other keys: {stored}",
            stage = view.name(layout.stage),
            keys = Names(keys),
            size = Bytes(layout.moved_bytes),
            stored = Text::joined(&stored, ["、", ", "])
        ),
        evidence: layout
            .inputs
            .iter()
            .flat_map(|s| evidence(view, s))
            .collect(),
        saved: layout.saved.clone(),
        method: "schedule replayed with inputs stored on the consumer's keys",
        strength: 0.8,
    }
}

fn keys_of<'a>(stored: &Stored<'a>) -> &'a [String] {
    let clustering = stored.table.clustering.as_ref();
    clustering.map_or(&[], |c| &c.keys)
}

fn evidence(view: &View<'_>, stored: &Stored<'_>) -> Vec<Evidence> {
    let edge = &view.job.edges[stored.edge];
    let mut facts = measured_write(view, edge);
    facts.truncate(1);
    for bytes in &mut facts {
        bytes.expected = Some("0".to_owned());
    }
    let sources = &stored.table.sources;
    let source = sources.get("clustering").or(sources.values().next());
    let keys = keys_of(stored);
    facts.extend(source.map(|source| {
        fact! { view, "clustering keys", &keys.join(", "), source.clone();
            "{table}（{id}）按 {keys} 存储", "{table} ({id}) is stored on {keys}", table = stored.table.name, id = stored.extract.id, keys = Names(keys) }
        .expecting(edge.keys.join(", "))
    }));
    facts
}
