//! Records of a run that are no numbers: the neighbours of a stage, how joins are run, arguments and columns of operators, readers of inputs and caches, lost
//! attempts.

use report::format::{Names, Seconds, TIME, list, without_stop};
use report::measure::book;
use report::{Localize, Text, text};
use runs::{ColumnSummary, EdgeSummary, InputSummary, OperatorSummary, StageSummary};

use crate::Asked;
use crate::said::{self, Said};

/// The name of an operator in the run-time statistics: `MergeJoin` of `SV3_Combine/MergeJoin[@opId=20]/@rowCount`.
pub(crate) fn in_statistics(o: &OperatorSummary) -> Option<String> {
    let own = [&book::OPERATOR_ROWS, &book::OWN_TIME].into_iter();
    let mut sources = own.filter_map(|measure| o.values.value(measure)?.source());
    sources.find_map(|source| {
        let locator = source.locator?;
        let (element, _) = locator.split_once("[@opId")?;
        element.rsplit('/').next().map(str::to_owned)
    })
}

/// Says how a join is run, and how its inputs come.
pub(crate) fn strategy(said: &mut Said<'_>, run: &Asked<'_>, at: usize, operator: usize) {
    let stage = &run.summary.stages[at];
    let o = &stage.operators[operator];
    let own =
        o.id.rsplit_once('_')
            .map_or(o.id.as_str(), |(base, _)| base);
    let kind = in_statistics(o).unwrap_or_else(|| own.to_owned());
    let name = runs::with_keys(&o.name_in(&stage.name), &o.keys);
    said.say(text!("{name} 是 {kind}", "{name} is a {kind}"));
    flow(said, run, at);
}

/// Says the arguments of an operator in the plan.
pub(crate) fn arguments(said: &mut Said<'_>, stage: &str, o: &OperatorSummary) {
    let (name, args) = (o.name_in(stage), o.args.trim());
    if !args.is_empty() {
        said.say(text!("{name}：`{args}`", "{name}: `{args}`"));
    }
}

/// Says the columns of a thing.
pub(crate) fn columns(said: &mut Said<'_>, name: &str, columns: &[String]) {
    if columns.is_empty() {
        return;
    }
    let (count, shown) = (columns.len(), columns.join(", "));
    said.say(text!(
        "{name} 有 {count} 列：{shown}",
        "{name} has {count} columns: {shown}"
    ));
}

/// Says the format of an input.
pub(crate) fn format(said: &mut Said<'_>, input: &InputSummary) {
    if let Some(format) = &input.format {
        let name = &input.name;
        said.say(text!(
            "{name} 的格式：{format}",
            "The format of {name}: {format}"
        ));
    }
}

/// The columns of an input: from its metadata, else from its reader.
pub(crate) fn columns_of(run: &Asked<'_>, input: &InputSummary) -> Vec<String> {
    let typed = |c: &ColumnSummary| match &c.type_name {
        Some(kind) => format!("{}: {kind}", c.name),
        None => c.name.clone(),
    };
    let own: Vec<String> = input.columns.iter().map(typed).collect();
    let reader = readers(run, input).next();
    match reader.filter(|_| own.is_empty()) {
        Some((_, o)) => o.columns.clone(),
        None => own,
    }
}

/// The operators that read an input, with their stages.
pub(crate) fn readers<'a>(
    run: &'a Asked<'_>,
    input: &'a InputSummary,
) -> impl Iterator<Item = (&'a str, &'a OperatorSummary)> {
    let stages = run.summary.stages.iter();
    let all = stages.flat_map(|s| s.operators.iter().map(move |o| (s.name.as_str(), o)));
    all.filter(|(_, o)| o.reads.as_ref() == Some(&input.name))
}

/// Says the number of reads of an input, and the operators that read it.
pub(crate) fn reads(said: &mut Said<'_>, run: &Asked<'_>, input: &InputSummary) {
    let by: Vec<String> = readers(run, input)
        .map(|(stage, o)| format!("{stage}/{}", o.id))
        .collect();
    let (name, count) = (&input.name, by.len());
    if count > 0 {
        let by = list(&by, said.language());
        said.say(text!(
            "{name} 被读取 {count} 次：{by}",
            "Times that {name} is read: {count}, by {by}"
        ));
    }
}

/// Attempts named.
const ATTEMPTS: usize = 8;

/// Says the attempts of a stage without a result, and their messages.
pub(crate) fn attempts(said: &mut Said<'_>, stage: &StageSummary) {
    let shown = stage.lost.iter().take(ATTEMPTS).map(|lost| {
        let (vertex, machine, ran) = (
            &lost.vertex,
            &lost.machine,
            Seconds(lost.ran_ms as f64 / 1e3),
        );
        let state = match lost.state.as_str() {
            "revoked" => text!("被收回", "revoked"),
            _ => text!("失败", "failed"),
        };
        text!(
            "{vertex}（{machine}，{state}，运行 {ran}）",
            "{vertex} on {machine} ({state} after {ran})",
            state = state,
            ran = ran
        )
        .into(said.language())
    });
    let shown: Vec<String> = shown.collect();
    if !shown.is_empty() {
        let shown = list(&shown, said.language());
        said.say(text!(
            "没有结果的尝试：{shown}",
            "Attempts without a result: {shown}"
        ));
    }
    for (message, count) in &stage.messages {
        let (name, message) = (&stage.name, without_stop(message));
        said.say(text!(
            "{name} 中出现 {count} 次：{message}",
            "{times} in {name}: {message}",
            times = TIME.count(*count as f64)
        ));
    }
}

pub(crate) fn is_join(o: &OperatorSummary) -> bool {
    matches!(o.kind.as_str(), "join" | "combine")
}

pub(crate) fn is_output(o: &OperatorSummary) -> bool {
    o.kind == "output"
}

/// Whether an operator reads cached data.
pub(crate) fn reads_cache(o: &OperatorSummary) -> bool {
    o.id.starts_with("InMemoryTableScan")
}

/// Says which stages read cached data, and how many rows. Returns false if none does.
pub(crate) fn cache(said: &mut Said<'_>, run: &Asked<'_>) -> bool {
    let stages = run.summary.stages.iter();
    let readers = stages.flat_map(|s| s.operators.iter().map(move |o| (s, o)));
    let readers: Vec<_> = readers.filter(|(_, o)| reads_cache(o)).collect();
    if readers.is_empty() {
        return false;
    }
    let shown = readers.iter().map(|(stage, o)| {
        let rows = o.get(&book::OPERATOR_ROWS);
        match rows.map(|n| book::OPERATOR_ROWS.shown(n, run.vertex())) {
            Some(rows) => text!(
                "{name}（{rows}）",
                "{name} ({rows})",
                name = stage.name,
                rows = rows
            ),
            None => text!("{name}", "{name}", name = stage.name),
        }
        .into(said.language())
    });
    let shown: Vec<String> = shown.collect();
    said.say(text!(
        "读取缓存的阶段：{shown}",
        "Stages that read a cache: {shown}",
        shown = crate::said::names(&shown, said.language())
    ));
    true
}

/// Says the stages it reads from and the stages that read it.
pub(crate) fn flow(said: &mut Said<'_>, run: &Asked<'_>, at: usize) {
    let (name, stages) = (&run.summary.stages[at].name, &run.summary.stages);
    let language = said.language();
    let named = |edges: &[usize], other: fn(&EdgeSummary) -> usize| {
        let edges = edges.iter().map(|edge| &run.summary.edges[*edge]);
        let named = edges.filter_map(|edge| {
            let (other, kind) = (&stages.get(other(edge))?.name, &edge.exchange);
            let keys = match Names(&edge.keys).localize(language) {
                none if none.is_empty() => Text::default(),
                keys => text!("，键 {keys}", " on {keys}"),
            };
            let text = text!(
                "{other}（{kind}{keys}）",
                "{other} ({kind}{keys})",
                keys = keys
            );
            Some(text.into(language))
        });
        let mut named: Vec<String> = named.collect();
        named.dedup();
        said::names(&named, language)
    };
    let channels = run.channels();
    let from = named(&channels.into[at], |edge| edge.from);
    let to = named(&channels.out_of[at], |edge| edge.to);
    let from = match from.is_empty() {
        true => text!("{name} 直接读取输入", "{name} reads the inputs of the job"),
        false => text!(
            "{name} 读取 {from} 的输出",
            "{name} reads from {from}",
            from = from
        ),
    };
    said.say(from);
    if !to.is_empty() {
        said.say(text!(
            "它的输出由 {to} 读取",
            "What it writes is read by {to}",
            to = to
        ));
    }
}
