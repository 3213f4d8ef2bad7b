//! Parts of the difference that no finding claims, by the factors that were measured.

use super::contrast::Contrast;
use super::shares::{Factor, Part, is_growth};
use super::totals::total;
use super::{ComparedRun, Reason, ReasonKind, StageChange};
use report::format::{Ratio, Seconds, TOKEN, VERTEX};
use report::measure::{Measure, book};
use report::{Text, text};

/// Slower rows in stages with this share of the slower rows' seconds are the machines' doing.
const EVERYWHERE: f64 = 0.8;

/// Makes a reason of the parts of some factors; `None` if the runs lack the numbers for a sentence.
type Describe = fn(&Contrast<'_>, &[Part]) -> Option<Reason>;

/// The factors that no finding and no change of the plan claims, each with its largest stage.
pub(super) fn measured(runs: &Contrast<'_>, left: &[Part]) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = Vec::new();
    let kinds: [(&[Factor], Describe); 11] = [
        (&[Factor::Input], data),
        (&[Factor::Tokens], tokens),
        (&[Factor::Queue], queue),
        (&[Factor::Compile], compilation),
        (&[Factor::Capacity, Factor::Start], waits),
        (&[Factor::Lost], lost_work),
        (&[Factor::Rows, Factor::Stage], rows),
        (&[Factor::Vertices], vertices),
        (&[Factor::Imbalance], imbalance),
        (&[Factor::PerRow], per_row),
        (&[Factor::Driver], driver),
    ];
    let mut rest = Vec::new();
    for part in left.iter().filter(|part| part.seconds > 0.0) {
        if part.factor == Factor::Rest {
            rest.push(*part);
        }
    }
    for (factors, describe) in kinds {
        let of_kind = left
            .iter()
            .filter(|part| factors.contains(&part.factor) && part.seconds > 0.0);
        let of_kind: Vec<Part> = of_kind.copied().collect();
        match describe(runs, &of_kind).filter(|_| !of_kind.is_empty()) {
            Some(reason) => reasons.push(reason),
            None => rest.extend(of_kind),
        }
    }
    if !rest.is_empty() {
        reasons.push(unknown(runs, Some(sum(&rest))));
    }
    reasons
}

fn sum(parts: &[Part]) -> f64 {
    parts.iter().map(|part| part.seconds).sum()
}

/// The stage with the most seconds.
fn largest<'c>(runs: &Contrast<'c>, parts: &[Part]) -> Option<&'c StageChange> {
    let with_stage = parts.iter().filter(|part| part.stage.is_some());
    let most = with_stage.max_by(|x, y| x.seconds.total_cmp(&y.seconds))?;
    runs.seen.stages.get(most.stage?)
}

fn data(runs: &Contrast<'_>, parts: &[Part]) -> Option<Reason> {
    let (measure, [more, less]) = runs.input().filter(|(_, [more, less])| more > less)?;
    let amount = |n: f64| measure.shown(n, VERTEX);
    let (slow, fast) = runs.names();
    let text = text!(
        "{slow} 的输入是 {fast} 的 {ratio}（{more} 对 {less}）",
        "{slow} read {ratio} the input of {fast} ({more} vs. {less})",
        ratio = Ratio(more / less),
        more = amount(more),
        less = amount(less)
    );
    Some(runs.reason(ReasonKind::Data, Some(sum(parts)), None, text))
}

fn tokens(runs: &Contrast<'_>, parts: &[Part]) -> Option<Reason> {
    let [few, many] = runs.tokens()?;
    let (slow, fast) = runs.names();
    let text = text!(
        "{slow} 只有 {few}，{fast} 有 {many}",
        "{slow} ran with {few}, {fast} with {many}",
        few = TOKEN.count(few),
        many = TOKEN.count(many)
    );
    Some(runs.reason(ReasonKind::Tokens, Some(sum(parts)), None, text))
}

fn queue(runs: &Contrast<'_>, parts: &[Part]) -> Option<Reason> {
    let (longer, shorter) = (runs.slow.waited()?, runs.fast.waited()?);
    let (slow, fast) = runs.names();
    let (longer, shorter) = (Seconds(longer), Seconds(shorter));
    let text = match runs.is_stored() {
        true => text!(
            "{slow} 排队 {longer}，{fast} 排队 {shorter}",
            "{slow} queued for {longer}, {fast} for {shorter}",
            longer = longer,
            shorter = shorter
        ),
        false => text!(
            "{slow} 在运行前启动和等待 {longer}，{fast} {shorter}",
            "{slow} took {longer} to start and to get executors, {fast} {shorter}",
            longer = longer,
            shorter = shorter
        ),
    };
    Some(runs.reason(ReasonKind::Queue, Some(sum(parts)), None, text))
}

fn compilation(runs: &Contrast<'_>, parts: &[Part]) -> Option<Reason> {
    let (slow, fast) = runs.names();
    let (longer, shorter) = (runs.slow.compiled(), runs.fast.compiled());
    let text = match shorter > 0.0 {
        true => text!(
            "{slow} 编译用时 {longer}，{fast} 编译用时 {shorter}",
            "{slow} compiled for {longer}, {fast} for {shorter}",
            longer = Seconds(longer),
            shorter = Seconds(shorter)
        ),
        false => text!(
            "{slow} 编译用时 {longer}，{fast} 没有编译",
            "{slow} compiled for {longer}, {fast} has no compilation",
            longer = Seconds(longer)
        ),
    };
    Some(runs.reason(ReasonKind::Compile, Some(sum(parts)), None, text))
}

fn waits(runs: &Contrast<'_>, parts: &[Part]) -> Option<Reason> {
    let (slow, _) = runs.names();
    let text = text!(
        "{slow} 的顶点等待机器和启动的时间更长（关键路径上约多 {time}）",
        "vertices in {slow} waited longer for machines and to start (about {time} on the critical path)",
        time = Seconds(sum(parts))
    );
    Some(runs.reason(ReasonKind::Machines, Some(sum(parts)), None, text))
}

fn lost_work(runs: &Contrast<'_>, parts: &[Part]) -> Option<Reason> {
    let lost = |run: &ComparedRun| total(&run.summary, &book::LOST_TIME);
    let (slow, fast) = runs.names();
    let text = text!(
        "失败和重跑的尝试在 {slow} 中耗时 {more}，在 {fast} 中耗时 {less}",
        "lost attempts took {more} in {slow} and {less} in {fast}",
        more = Seconds(lost(runs.slow)?),
        less = Seconds(lost(runs.fast)?)
    );
    Some(runs.reason(ReasonKind::LostWork, Some(sum(parts)), None, text))
}

/// Rows of a stage changed although the input did not.
fn rows(runs: &Contrast<'_>, parts: &[Part]) -> Option<Reason> {
    let stage = largest(runs, parts)?;
    let of = |measure| amounts(runs, stage, measure);
    let text = of(&book::ROWS_IN).or_else(|| of(&book::BYTES_READ))?;
    Some(runs.reason(ReasonKind::Rows, Some(sum(parts)), runs.name(stage), text))
}

fn vertices(runs: &Contrast<'_>, parts: &[Part]) -> Option<Reason> {
    let stage = largest(runs, parts)?;
    let text = amounts(runs, stage, &book::VERTICES)?;
    Some(runs.reason(
        ReasonKind::Vertices,
        Some(sum(parts)),
        runs.name(stage),
        text,
    ))
}

/// An amount of a stage that changed.
fn amounts(runs: &Contrast<'_>, stage: &StageChange, measure: &'static Measure) -> Option<Text> {
    let name = runs.name(stage)?;
    let pair = stage.numbers.get(measure);
    let (more, less) = runs.both(pair).filter(|_| pair.is_notable())?;
    let (slow, fast) = runs.names();
    let shown = |n| measure.shown(n, VERTEX);
    Some(text!(
        "{name} 的{title}在 {slow} 中为 {more}，在 {fast} 中为 {less}",
        "{title} of {name}: {more} in {slow}, {less} in {fast}",
        title = measure.title(VERTEX),
        more = shown(more),
        less = shown(less)
    ))
}

fn imbalance(runs: &Contrast<'_>, parts: &[Part]) -> Option<Reason> {
    let stage = largest(runs, parts)?;
    let name = runs.name(stage)?;
    let (ratio, before) = runs.both(stage.numbers.get(&book::RUN_MAX_OVER_MEAN))?;
    let (slow, fast) = runs.names();
    let text = text!(
        "{name} 最慢的顶点在 {slow} 中是均值的 {ratio}，在 {fast} 中是 {before}",
        "the slowest vertex of {name} took {ratio} the mean in {slow}, {before} in {fast}",
        ratio = Ratio(ratio),
        before = Ratio(before)
    );
    Some(runs.reason(ReasonKind::Imbalance, Some(sum(parts)), Some(name), text))
}

/// The stage that lost the most time to slower rows, or the machines if rows took longer in nearly every stage.
fn per_row(runs: &Contrast<'_>, parts: &[Part]) -> Option<Reason> {
    let (slow, fast) = runs.names();
    let slower = |stage: &StageChange| {
        let rows = runs.both(stage.numbers.get(&book::ROWS_IN));
        let rows = rows.or_else(|| runs.both(stage.numbers.get(&book::BYTES_READ)))?;
        let busy = runs.both(stage.numbers.get(&book::BUSY))?;
        let ratio = (busy.0 / rows.0) / (busy.1 / rows.1);
        ratio.is_finite().then_some(ratio)
    };
    let stage = largest(runs, parts)?;
    let name = runs.name(stage)?;
    let Some(ratio) = slower(stage) else {
        let text = amounts(runs, stage, &book::BUSY)?;
        return Some(runs.reason(ReasonKind::WorkPerRow, Some(sum(parts)), Some(name), text));
    };
    let alike = |r: f64| is_growth(r) && r > 1.0 && !is_growth((r / ratio).powf(0.5));
    let busy = |s: &StageChange| runs.both(s.numbers.get(&book::BUSY)).map_or(0.0, |b| b.1);
    let all: f64 = runs.seen.stages.iter().map(busy).sum();
    let stages = runs
        .seen
        .stages
        .iter()
        .filter(|s| slower(s).is_some_and(alike));
    let (count, same) = stages.fold((0, 0.0), |(n, sum), s| (n + 1, sum + busy(s)));
    if count > 1 && same >= EVERYWHERE * all {
        let text = text!(
            "各阶段处理每行的时间在 {slow} 中约是 {fast} 的 {slower}：机器较慢或被占用",
            "each row took about {slower} as long in {slow} as in {fast}, in nearly every stage: slower or busier machines",
            slower = Ratio(ratio)
        );
        return Some(runs.reason(ReasonKind::Machines, Some(sum(parts)), None, text));
    }
    let text = text!(
        "{name} 处理每行的时间在 {slow} 中是 {fast} 的 {slower}",
        "each row of {name} took {slower} as long in {slow} as in {fast}",
        slower = Ratio(ratio)
    );
    Some(runs.reason(ReasonKind::WorkPerRow, Some(sum(parts)), Some(name), text))
}

fn driver(runs: &Contrast<'_>, parts: &[Part]) -> Option<Reason> {
    let (slow, _) = runs.names();
    let text = text!(
        "{slow} 在阶段之外（作业管理器、空闲）多用 {time}",
        "{slow} spent {time} more outside of stages, in the job manager or idle",
        time = Seconds(sum(parts))
    );
    Some(runs.reason(ReasonKind::Driver, Some(sum(parts)), None, text))
}

/// The unexplained rest, with the stage that grew the most as the place to look.
pub(super) fn unknown(runs: &Contrast<'_>, left: Option<f64>) -> Reason {
    let sign = if runs.slow_is_b { 1.0 } else { -1.0 };
    let grown = |s: &StageChange| s.weight_seconds * sign;
    let stages = runs.seen.stages.iter();
    let most = stages.max_by(|x, y| grown(x).total_cmp(&grown(y)));
    let most = most.filter(|s| grown(s) > 0.0);
    let name = most.and_then(|s| runs.name(s));
    let (slow, _) = runs.names();
    let text = match name.zip(most.map(grown)) {
        Some((stage, seconds)) => text!(
            "没有单一原因；{stage} 在 {slow} 中多用的时间最多（{by}）",
            "no single cause; {stage} takes the most more in {slow} ({by})",
            by = Seconds(seconds)
        ),
        None => text!(
            "保存的数据不足以判断原因",
            "the saved data does not show why"
        ),
    };
    runs.reason(ReasonKind::Unknown, left, name, text)
}
