//! Rule for `shuffle.unaligned_input`: large inputs stored on other keys than every consumer
//! needs, repartitioned in each run.

use job::info::Information;
use job::model::ExchangeKind;

use super::support::{Symptom, both};
use crate::measurements::exchange::measured_write;
use crate::properties::cost::Rates;
use crate::properties::repartition::{Layout, Stored, layouts};
use crate::rule::{About, Examination, Rule};
use crate::settings::Threshold;
use crate::view::View;
use report::format::Bytes;
use report::{Cause, Evidence, text};

/// Bytes that must be repartitioned because of the layout.
pub(crate) static MIN_BYTES: Threshold = Threshold {
    name: "unaligned_input.min_bytes",
    default: 1e9,
    unit: "bytes",
    reason_zh: "小输入的重分区不值得改存储布局",
    reason_en: "repartitioning a small input is not worth another stored layout",
    source: "judgement; the replayed saving decides",
};

/// The rule.
pub(crate) struct UnalignedInput;

static ABOUT: About = About {
    cause: Cause::UnalignedInput,
    what: both(
        "大输入的存储分区键与所有使用者需要的键不同，每次运行都要重分区",
        "large inputs stored on other keys than every consumer needs, repartitioned in each run",
    ),
    needs: &[Information::StageGraph, Information::StoredLayout],
    helps: &[Information::RuntimeCounters],
    thresholds: &[&MIN_BYTES],
    counter_evidence: &[
        both(
            "输入没有按任何键分区存储",
            "the input is not stored by any key",
        ),
        both(
            "另一侧也要重分区，改一张表没有用",
            "the other side has to be repartitioned as well, so that one table changes nothing",
        ),
        both(
            "分区键已与使用者一致",
            "the stored keys are those that the consumer needs",
        ),
    ],
};

impl Rule for UnalignedInput {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn examine(&self, view: &View<'_>) -> Examination {
        let mut result = Examination::default();
        let mut found = layouts(view, &Rates::of(view));
        found.retain(|l| l.moved_bytes >= view.limit(&MIN_BYTES));
        for layout in &found {
            result.offer(view, symptom(view, layout));
        }
        lacking(view, &mut result);
        result.exchanges(view, |e| {
            e.exchange == ExchangeKind::Hash && view.extracts(e.from).next().is_some()
        });
        result.cleared_by(text!(
            "没有按其他键分区存储、且所有使用者都要重分区的大输入",
            "no large inputs that are stored on other keys and repartitioned by every consumer"
        ))
    }
}

/// Large exchanges of structured streams whose layout no file gives.
fn lacking(view: &View<'_>, result: &mut Examination) {
    let moved = view.job.edges.iter().filter(|e| {
        let large = e.bytes_written.is_some_and(|b| b >= view.limit(&MIN_BYTES));
        e.exchange == ExchangeKind::Hash && large && !view.failed()
    });
    for edge in moved {
        let unknown = view.extracts(edge.from).any(|(_, o)| {
            let table = view.table_of(edge.from, o);
            o.class_name.contains("SStream") && table.is_none_or(|t| t.clustering.is_none())
        });
        if !unknown {
            continue;
        }
        let reason = text!(
            "不知道 {stage} 读取的数据按哪些键存储，无法判断重分区能否避免",
            "on which keys the data that {stage} reads is stored is unknown, and so is whether it has to be repartitioned",
            stage = view.name(edge.from)
        );
        result.lacks(Information::StoredLayout, view, Some(edge.to), reason);
        // Another layout saves at most the exchange.
        if let Some(last) = result.undecided.last_mut() {
            last.share_at_stake *= view.fraction(edge.to, view.exchange_ms(edge));
        }
    }
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
    let stored = |s: &Stored<'_>| format!("{} ({})", s.table.name, keys_of(s));
    let stored: Vec<String> = layout.inputs.iter().map(stored).collect();
    Symptom {
        cause: Cause::UnalignedInput,
        stage: main.map(|e| e.from),
        lines: consumer.and_then(|(op, _)| view.lines(layout.stage, op)),
        summary: text!(
            "{stage} 按 {keys} 重分区了 {size}，因为输入按其他键存储：{stored}",
            "{stage} repartitions {size} on {keys} because its inputs are stored on other keys: {stored_2}",
            stage = view.name(layout.stage),
            keys = main.map(|e| e.keys.join(", ")).unwrap_or_default(),
            size = Bytes(layout.moved_bytes),
            stored = stored.join("，"),
            stored_2 = stored.join(", ")
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

fn keys_of(stored: &Stored<'_>) -> String {
    let clustering = stored.table.clustering.as_ref();
    clustering.map(|c| c.keys.join(", ")).unwrap_or_default()
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
        let sentence = text!(
            "{table}（{id}）按 {keys} 存储",
            "{table} ({id}) is stored on {keys}",
            table = stored.table.name,
            id = stored.extract.id,
            keys = keys
        );
        view.word("clustering keys", &keys, source.clone(), sentence)
            .expecting(edge.keys.join(", "))
    }));
    facts
}
