//! Parts of the difference that findings and changes of the plan claim.

use super::contrast::Contrast;
use super::shares::{Factor, GROWTH_OF_ROWS, Part, is_growth};
use super::{
    FindingChange, PlanChange, PlanChangeKind, Reason, ReasonKind, ScriptChange, StageChange,
};
use report::format::{PLACE, Seconds};
use report::{Cause, Text, text};

/// A finding that claims more than this multiple of its estimate says so.
const BEYOND: f64 = 1.25;

/// Takes up to some seconds of the parts that a claim covers.
fn claim(parts: &mut [Part], most: f64, covers: impl Fn(&Part) -> bool) -> f64 {
    let mut taken = 0.0;
    for part in parts.iter_mut().filter(|part| covers(part)) {
        let seconds = part.seconds.min(most - taken);
        part.seconds -= seconds;
        taken += seconds;
    }
    taken
}

/// Findings that only the slower run has, or that cost it more. A finding claims the seconds of its stage up to its estimate,
/// then elsewhere. It then claims the rest of its factors, since the runs measure more than it estimates. It does not claim
/// seconds explained by the input, the tokens or the queue.
pub(super) fn findings(runs: &Contrast<'_>, left: &mut [Part]) -> Vec<Reason> {
    let mut claims: Vec<Claim> = runs
        .seen
        .findings
        .iter()
        .filter_map(|f| Claim::of(runs, f))
        .collect();
    claims.sort_by(|x, y| y.estimate.total_cmp(&x.estimate));
    for pass in [Claim::estimated, Claim::beyond] {
        claims.iter_mut().for_each(|claim| pass(claim, runs, left));
    }
    let reason = |claim: Claim<'_>| {
        let stage = claim.change.stage.as_ref();
        let seconds = runs.delta.map(|_| claim.taken);
        let text = finding(runs, &claim);
        (seconds != Some(0.0)).then(|| Reason {
            cause: Some(claim.change.cause.clone()),
            ..runs.reason(ReasonKind::Finding, seconds, stage, text)
        })
    };
    claims.into_iter().filter_map(reason).collect()
}

/// A finding of the slower run.
struct Claim<'a> {
    change: &'a FindingChange,
    /// Index of its stage.
    stage: Option<usize>,
    /// Seconds that it costs more than in the other run.
    estimate: f64,
    taken: f64,
    is_new: bool,
}

impl<'a> Claim<'a> {
    fn of(runs: &Contrast<'_>, change: &'a FindingChange) -> Option<Claim<'a>> {
        let (more, less) = runs.slower_first(change.seconds.a, change.seconds.b);
        let (id, other) = runs.slower_first(&change.id_a, &change.id_b);
        id.as_ref()?;
        let is_new = other.is_none();
        let estimate = (more.unwrap_or(0.0) - less.unwrap_or(0.0)).max(0.0);
        let name = change.stage.as_ref();
        let stage = runs
            .seen
            .stages
            .iter()
            .position(|s| name.is_some() && runs.name(s) == name);
        (is_new || (estimate > 0.0 && change.seconds.is_notable())).then_some(Claim {
            change,
            stage,
            estimate,
            taken: 0.0,
            is_new,
        })
    }

    fn estimated(&mut self, runs: &Contrast<'_>, left: &mut [Part]) {
        let is_open = |part: &Part| is_open(runs, &self.change.cause, part.factor);
        let at = self.stage;
        self.taken = claim(left, self.estimate, |part| {
            is_open(part) && at.is_some() && part.stage == at
        });
        self.taken += claim(left, self.estimate - self.taken, is_open);
    }

    fn beyond(&mut self, runs: &Contrast<'_>, left: &mut [Part]) {
        if !self.is_new {
            return;
        }
        let (cause, at) = (&self.change.cause, self.stage);
        self.taken += claim(left, f64::INFINITY, |part| {
            let is_elsewhere = part.stage.is_some() && part.factor != Factor::Stage;
            // Settings of parallelism act on every stage; the finding names the worst.
            let here = at.is_none()
                || !is_elsewhere
                || part.stage == at
                || cause.starts_with("parallelism.");
            here && is_open(runs, cause, part.factor) && is_about(cause, part.factor)
        });
    }
}

/// Whether a finding of this cause may explain a factor at all.
fn is_open(runs: &Contrast<'_>, cause: &str, factor: Factor) -> bool {
    match factor {
        Factor::Tokens => false,
        Factor::Queue => cause.starts_with("queue."),
        Factor::Compile => false,
        // A stage's reads do not show the size of the inputs: an application may read more of the same data.
        Factor::Input => {
            !runs.is_stored() && ["io.", "cache."].iter().any(|p| cause.starts_with(p))
        }
        _ => true,
    }
}

/// Whether a cause acts on a factor.
fn is_about(cause: &str, factor: Factor) -> bool {
    use Factor::{Driver, Imbalance, Input, Lost, PerRow, Rest, Rows, Stage, Start, Vertices};
    let group = cause.split('.').next().unwrap_or_default();
    match group {
        "parallelism" => matches!(
            factor,
            Vertices | Start | Driver | Imbalance | Rows | PerRow | Rest
        ),
        "skew" => matches!(factor, Imbalance | Rest),
        "failure" => matches!(factor, Lost | Imbalance | Rest),
        "cache" | "io" => matches!(
            factor,
            Input | Rows | Stage | Start | Vertices | Driver | Rest
        ),
        "shuffle" | "join" | "cardinality" => matches!(factor, Rows | Stage | PerRow | Rest),
        "memory" | "gc" | "udo" | "compute" => matches!(factor, PerRow | Imbalance | Rest),
        "driver" | "overhead" | "allocation" => matches!(factor, Driver | Rest),
        _ => false,
    }
}

fn finding(runs: &Contrast<'_>, claim: &Claim<'_>) -> Text {
    let change = claim.change;
    let (slow, fast) = runs.names();
    let (more, less) = runs.slower_first(change.seconds.a, change.seconds.b);
    let stage = change.stage.as_ref();
    let place = stage.map_or_else(Text::default, |s| text!("{s} 的", " in {s}"));
    let named = named(&change.cause);
    let in_both = change.id_a.is_some() && change.id_b.is_some();
    match (more, less.filter(|_| in_both)) {
        (Some(more), Some(less)) => text!(
            "{place}{named}在 {slow} 中约耗时 {time}，在 {fast} 中约 {before}",
            "{named}{place} costs about {time} in {slow} and {before} in {fast}",
            named = named,
            place = place,
            time = Seconds(more),
            before = Seconds(less)
        ),
        (Some(more), None) if claim.taken > BEYOND * more => text!(
            "{place}{named}只在 {slow} 中出现（估计 {time}，实际差 {taken}）",
            "{named}{place} occurs only in {slow} (estimated at {time}; where it acts, the runs differ by {taken})",
            named = named,
            place = place,
            time = Seconds(more),
            taken = Seconds(claim.taken)
        ),
        (Some(more), None) => text!(
            "{place}{named}只在 {slow} 中出现，约耗时 {time}",
            "{named}{place} occurs only in {slow} and costs about {time}",
            named = named,
            place = place,
            time = Seconds(more)
        ),
        _ => text!(
            "{place}{named}只在 {slow} 中出现",
            "{named}{place} occurs only in {slow}",
            named = named,
            place = place
        ),
    }
}

/// A cause by its title and its code; one of another version by its code.
fn named(code: &str) -> Text {
    match Cause::from_code(code) {
        Some(cause) => text!(
            "“{title}”（`{code}`）",
            "{title} (`{code}`)",
            title = cause.title()
        ),
        None => text!("`{code}`", "`{code}`"),
    }
}

/// Settings shown of those that changed.
const SETTINGS: usize = 3;

/// Changed settings of an application claim what no finding does, apart from the input, the resources and the waits.
pub(super) fn settings(runs: &Contrast<'_>, left: &mut [Part]) -> Option<Reason> {
    let (slow, fast) = (&runs.slow.summary.settings, &runs.fast.summary.settings);
    // a priority changes the wait for capacity only
    let slow = slow.iter().filter(|(key, _)| *key != "priority");
    let changed = slow.filter_map(|(key, [here, _])| {
        let [there, _] = fast.get(key)?;
        (here != there).then_some((key, here, there))
    });
    let changed: Vec<_> = changed.collect();
    let (in_slow, in_fast) = runs.names();
    let shown = changed.iter().take(SETTINGS).map(|(key, here, there)| {
        text!(
            "{key} 在 {in_slow} 中为 {here}，在 {in_fast} 中为 {there}",
            "{key} is {here} in {in_slow}, {there} in {in_fast}"
        )
    });
    let shown: Vec<Text> = shown.collect();
    let seconds = claim(left, f64::INFINITY, |part| {
        use Factor::{Capacity, Compile, Input, Lost, Queue, Tokens};
        let is_apart = matches!(
            part.factor,
            Capacity | Compile | Input | Lost | Queue | Tokens
        );
        !changed.is_empty() && !is_apart
    });
    let text = text!(
        "设置不同：{shown}",
        "the settings differ: {shown}",
        shown = Text::joined(&shown, ["；", "; "])
    );
    (seconds > 0.0).then(|| runs.reason(ReasonKind::Settings, Some(seconds), None, text))
}

/// The changed stages and channels claim the rest of their stages, together with the script's change if there is one.
pub(super) fn plan(runs: &Contrast<'_>, left: &mut [Part]) -> Option<Reason> {
    let script = match &runs.seen.script {
        ScriptChange::Changed { added, removed, .. } => Some((*added, *removed)),
        _ => None,
    };
    let changes: Vec<&PlanChange> = (runs.seen.plan.iter())
        .filter(|c| !follows_data(runs, c))
        .collect();
    let first = changes.first().map(|change| described(change));
    let text = match (script, first) {
        (None, None) => return None,
        (None, Some(first)) => text!(
            "{script}执行计划有 {places}变化：{first}",
            "{script}the plan changed in {places}: {first}",
            script = match runs.seen.script {
                ScriptChange::Same => text!("脚本未变，", "the script is unchanged, but "),
                _ => Text::default(),
            },
            places = PLACE.count(changes.len() as f64),
            first = first
        ),
        (Some((added, removed)), first) => text!(
            "脚本有改动（+{added} −{removed} 行）{plan}",
            "the script changed (+{added} −{removed} lines){plan}",
            plan = first.map_or_else(Text::default, |first| text!(
                "，执行计划随之改变：{first}",
                ", and the plan with it: {first}",
                first = first
            ))
        ),
    };
    let touches = |stage: &StageChange| {
        let names = [&stage.a, &stage.b].map(|n| n.as_deref());
        changes.iter().any(|c| {
            let mut places = c.place.split(['→', '/']).map(|p| p.trim());
            places.any(|p| names.contains(&Some(p)))
        })
    };
    let seconds = claim(left, f64::INFINITY, |part| {
        let stage = part.stage.and_then(|at| runs.seen.stages.get(at));
        let is_open = !matches!(
            part.factor,
            Factor::Input | Factor::Tokens | Factor::Capacity
        );
        is_open && (part.factor == Factor::Stage || stage.is_some_and(touches))
    });
    let kind = match script {
        Some(_) => ReasonKind::Script,
        None => ReasonKind::Plan,
    };
    let seconds = runs.delta.map(|_| seconds);
    (script.is_some() || seconds != Some(0.0)).then(|| runs.reason(kind, seconds, None, text))
}

/// Whether a number of partitions changed as the size of the data did, or hardly.
fn follows_data(runs: &Contrast<'_>, change: &PlanChange) -> bool {
    let count = |text: &Option<String>| text.as_ref()?.parse::<f64>().ok();
    let counts = count(&change.a).zip(count(&change.b));
    change.kind == PlanChangeKind::PartitionsChanged
        && counts.is_none_or(|(a, b)| {
            let (more, less) = runs.slower_first(a, b);
            let (grew, input) = ((more / less).ln(), runs.growth().ln());
            grew * input > 0.0 && grew.abs() <= GROWTH_OF_ROWS * input.abs()
                || !is_growth(more / less)
        })
}

fn described(change: &PlanChange) -> Text {
    let place = &change.place;
    match (&change.a, &change.b) {
        (Some(a), Some(b)) => text!("{place} 由 {a} 变为 {b}", "{place} changed from {a} to {b}"),
        _ => {
            let (run, other) = match change.kind {
                PlanChangeKind::StageAppeared
                | PlanChangeKind::ChannelAppeared
                | PlanChangeKind::OperatorAppeared => ("B", "A"),
                _ => ("A", "B"),
            };
            // the other run may have another stage of this name
            text!(
                "{run} 的 {place} 在 {other} 中没有对应",
                "{place} of {run} has no counterpart in {other}"
            )
        }
    }
}
