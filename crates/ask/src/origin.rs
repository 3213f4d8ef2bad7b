//! The number of vertices of a stage, and where it comes from.

use job::model::SHUFFLE_PARTITIONS;
use job::script::Hint;
use report::measure::book;
use report::{JobEngine, text};

use crate::Asked;
use crate::intent::Intent;
use crate::said::Said;
use runs::StageSummary;

/// Says how many vertices a stage has, and how many of them ran to their end if not all did.
pub(crate) fn vertices(
    said: &mut Said<'_>,
    run: &Asked<'_>,
    stage: &StageSummary,
    with_failed: bool,
) {
    let Some(ended) = stage.values.value(&book::VERTICES) else {
        return;
    };
    let planned = stage.values.value(&book::PLANNED);
    let Some(planned) = planned.filter(|n| n.number() > ended.number()) else {
        return said.say_value(&book::VERTICES, ended, &stage.name, run.vertex());
    };
    let (name, vertex) = (&stage.name, run.vertex());
    let both = [(&book::PLANNED, planned), (&book::VERTICES, ended)];
    let ids = said.evidence_of_all(&both, name, vertex);
    let sentence = text!(
        "{name} 有 {all}，其中 {ended} 个运行到结束",
        "{name} has {all}; {ended} of them ran to their end",
        all = vertex.count(planned.number()),
        ended = report::format::Number(ended.number())
    );
    said.cite(sentence, &ids);
    if let Some(failed) = stage.values.value(&book::FAILED).filter(|_| with_failed) {
        said.say_value(&book::FAILED, failed, name, vertex);
    }
}

/// Says how many vertices of the stages did not run to their end. Returns false if no file tells.
pub(crate) fn unfinished(said: &mut Said<'_>, run: &Asked<'_>) -> bool {
    let stages = || run.summary.stages.iter();
    let begun = said.len();
    let lacks = |s: &&StageSummary| {
        let both = s.get(&book::PLANNED).zip(s.get(&book::VERTICES));
        both.is_some_and(|(planned, ended)| planned > ended)
    };
    stages()
        .filter(lacks)
        .for_each(|s| vertices(said, run, s, true));
    // a failed job may have ended before a stage that is known
    let may_lack = run.report.job.state.is_bad();
    if said.len() == begun && !may_lack && stages().any(|s| s.get(&book::PLANNED).is_some()) {
        said.say(text!(
            "所有顶点都运行到结束",
            "All vertices ran to their end"
        ));
    }
    said.len() > begun
}

/// Whether a question has the number of vertices of a stage, as in "why 636 vertices?".
pub(crate) fn is_asked(stage: &StageSummary, intent: &Intent) -> bool {
    let count = stage.get(&book::VERTICES);
    intent.asks_why() && count.is_some_and(|n| intent.reading.numbers().any(|stated| stated == n))
}

/// Says the partitions that a stage reads, and the hint or setting that decides their number.
pub(crate) fn partitions(said: &mut Said<'_>, run: &Asked<'_>, at: usize) {
    let stages = &run.summary.stages;
    let name = |stage: usize| stages.get(stage).map_or("", |s| s.name.as_str());
    let vertices = stages[at].get(&book::VERTICES);
    let mut counts: Vec<f64> = vertices.into_iter().collect();
    for edge in run.channels().into[at].iter().take(3) {
        let edge = &run.summary.edges[*edge];
        if let Some(value) = edge.values.value(&book::PARTITIONS) {
            counts.push(value.number());
            let between = format!("{} → {}", name(edge.from), name(edge.to));
            said.say_value(&book::PARTITIONS, value, &between, run.vertex());
        }
    }
    // fewer tasks than partitions: AQE or a coalesce merges them
    let is_merged = |n: &f64| vertices.is_some_and(|vertices| vertices < *n);
    if run.report.job.engine == Some(JobEngine::Spark) && counts.iter().any(is_merged) {
        said.say(text!(
            "{name} 的 Task 少于分区：AQE 或 coalesce 合并了分区",
            "{name} has fewer tasks than partitions: AQE or a coalesce merged them",
            name = stages[at].name
        ));
    }
    let is_count = |text: &str| text.trim().parse().is_ok_and(|n: f64| counts.contains(&n));
    let is_set = |hint: &&Hint| {
        let value = hint.value.as_deref().unwrap_or_default().to_uppercase();
        let names = hint.name.contains("PARTITION") || value.contains("PARTITION");
        names && value.split(|c: char| !c.is_ascii_digit()).any(is_count)
    };
    let mut hints = run.statements().iter().flat_map(|s| &s.hints);
    if let (Some(hint), Some(script)) = (hints.find(is_set), &run.summary.script) {
        let before = script.text.get(..hint.span.start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let (name, value) = (&hint.name, hint.value.as_deref().unwrap_or_default());
        return said.say(text!(
            "脚本第 {line} 行的提示 {name}={value} 定下了这个数目",
            "the hint {name}={value} in script line {line} sets this number"
        ));
    }
    let script = run
        .summary
        .script
        .iter()
        .flat_map(|s| s.text.lines().zip(1..));
    let is_call = |line: &str| {
        let code = line.split('#').next().unwrap_or(line).to_lowercase();
        let parts = code.split(|c: char| !c.is_ascii_digit());
        (code.contains("partition") || code.contains("coalesce"))
            && parts.filter(|p| p.len() > 1).any(is_count)
    };
    let is_spark = run.report.job.engine == Some(JobEngine::Spark);
    for (line, at) in script
        .filter(|(line, _): &(&str, u32)| is_spark && is_call(line))
        .take(2)
    {
        let line = line.trim();
        said.say(text!(
            "脚本第 {at} 行定下了这个数目：`{line}`",
            "script line {at} sets this number: `{line}`"
        ));
    }
    let setting = run.summary.settings.get(SHUFFLE_PARTITIONS);
    if let Some([value, _]) = setting.filter(|[value, _]| is_count(value)) {
        said.say(text!(
            "{key} = {value} 定下了分区数",
            "{key} = {value} sets the number of partitions",
            key = SHUFFLE_PARTITIONS
        ));
    }
}
