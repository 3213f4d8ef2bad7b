//! Makes a job: injects causes into a template, runs it with and without each, and keeps it if it shows what it should.

use crate::cause::{Cause, Site};
use crate::csharp;
use crate::decoy::{self, DECOYS, Decoy};
use crate::mechanism::{self, Mechanism};
use crate::near_miss::{self, NearMiss};
use crate::outcome::{Failure, Ids, Outcome};
use crate::physical::Physical;
use crate::plan::{Dialect, Op, Spec};
use crate::request::{Kind, Mechanisms, Request};
use crate::rng::{Rng, mix};
use crate::schedule::{self, Run, State, Why};
use crate::script::{self, Style};
use crate::symptoms::symptoms;
use crate::templates::{Scale, Slots, TEMPLATES, Template, USUAL, build};
use crate::trial::{VERTEX_LIMIT_S, trial};
use crate::words::USERS;

/// A cause must cost at least this share of the run to count. The report's own threshold is 2 %; causes in
/// between are not scored.
const COSTS_AT_LEAST: f64 = 0.07;
/// Seeds tried until a job shows what it should.
const TRIES: u64 = 60;
/// A job before its files are written.
pub(crate) struct Draft {
    pub(crate) outcome: Outcome,
    pub(crate) sites: Vec<Site>,
    /// Name of the near miss.
    pub(crate) near_miss: Option<&'static str>,
    /// Seconds that removing each cause saves, in the order of the sites.
    pub(crate) saved: Vec<f64>,
    /// Seconds saved by removing all causes together.
    pub(crate) saved_together: f64,
    /// Other causes that are present to some extent.
    pub(crate) symptoms: Vec<Cause>,
    pub(crate) decoys: Vec<&'static str>,
    pub(crate) rng: Rng,
}

/// Simulates until the job satisfies the request; `None` if no seed does.
pub(crate) fn draft(request: &Request) -> Option<Draft> {
    (0..TRIES).find_map(|i| attempt(request, mix(request.seed ^ mix(i))))
}

/// Choices that define a job.
struct Choice {
    template: Template,
    dialect: Dialect,
    mechanisms: Vec<&'static Mechanism>,
    near_miss: Option<&'static NearMiss>,
}

fn choose(request: &Request, rng: &mut Rng, seed: u64) -> Option<Choice> {
    let dialect = request.dialect.unwrap_or(if rng.chance(0.3) {
        Dialect::Usql
    } else {
        Dialect::Scope
    });
    // Apart from the other draws, so that a job is the same whether there is a choice or not.
    let mut apart = Rng::new(seed ^ 0x3ec4);
    let mut mechanisms = Vec::new();
    for &cause in &request.causes {
        let of_cause = mechanism::allowed(cause, &request.mechanisms);
        mechanisms.push(*of_cause.get(apart.index(of_cause.len().max(1)))?);
    }
    let near_miss = match request.near_miss {
        None => None,
        Some(cause) => {
            let of_cause = near_miss::allowed(cause, &request.mechanisms);
            Some(*of_cause.get(apart.index(of_cause.len().max(1)))?)
        }
    };
    let mut allowed = TEMPLATES.to_vec();
    if request.mechanisms == Mechanisms::Tuned {
        allowed.truncate(USUAL);
    }
    allowed.retain(|t| t.fits(dialect));
    for mechanism in &mechanisms {
        allowed.retain(|t| mechanism.templates(dialect).contains(t));
    }
    if let Some(near) = near_miss {
        allowed.retain(|t| near.templates.contains(t));
    }
    if allowed.is_empty() {
        return None;
    }
    Some(Choice {
        template: allowed[rng.index(allowed.len())],
        dialect,
        mechanisms,
        near_miss,
    })
}

/// Simulates a job twice at the same seed: with its causes, and without them.
pub(crate) fn twins(request: &Request) -> Option<(Draft, Draft)> {
    (0..TRIES).find_map(|i| {
        let seed = mix(request.seed ^ mix(i));
        let with = attempt(request, seed)?;
        Some((without_causes(request, seed)?, with))
    })
}

fn without_causes(request: &Request, seed: u64) -> Option<Draft> {
    let Start {
        base,
        slots,
        decoys,
        choice,
        mut rng,
    } = start(request, seed)?;
    let (spec, sites) = with(&base, &slots, &[], request)?;
    let (physical, run) = trial(&spec, &[], &sites);
    let sound = Request {
        kind: Kind::None,
        causes: Vec::new(),
        ..request.clone()
    };
    let outcome = outcome(&sound, spec, physical, run, &sites, &mut rng);
    Some(Draft {
        outcome,
        sites,
        near_miss: choice.near_miss.map(|n| n.name),
        saved: Vec::new(),
        saved_together: 0.0,
        symptoms: Vec::new(),
        decoys,
        rng,
    })
}

/// Another run of a sound job, changed before it is compiled.
pub(crate) fn changed(first: &Draft, change: impl Fn(&mut Spec)) -> Draft {
    let mut spec = first.outcome.spec.clone();
    change(&mut spec);
    let (physical, run) = trial(&spec, &[], &[]);
    let mut rng = Rng::new(spec.noise());
    let before = &first.outcome;
    let days = (spec.env.luck % 1000) as i64;
    let outcome = Outcome {
        spec,
        physical,
        run,
        script: before.script.clone(),
        style: before.style.clone(),
        classes: before.classes.clone(),
        ids: Ids {
            job: rng.guid(),
            submitted: before.ids.submitted + 86_400 * days,
            ..before.ids.clone()
        },
        failure: None,
    };
    Draft {
        outcome,
        decoys: first.decoys.clone(),
        rng,
        sites: Vec::new(),
        near_miss: None,
        saved: Vec::new(),
        saved_together: 0.0,
        symptoms: Vec::new(),
    }
}

/// A job before causes are injected.
struct Start {
    base: Spec,
    slots: Slots,
    decoys: Vec<&'static str>,
    choice: Choice,
    rng: Rng,
}

fn start(request: &Request, seed: u64) -> Option<Start> {
    let mut rng = Rng::new(seed);
    let choice = choose(request, &mut rng, seed)?;
    let (mut base, slots) = build(choice.template, choice.dialect, request.scale, seed);
    if request.scale != Scale::Huge && rng.chance(0.25) {
        decoy::harmless_helper(&mut base, &slots);
    }
    read_everything(&mut base);
    if let Some(near) = choice.near_miss {
        near.apply(&mut base, &slots)?;
    }
    let decoys = decoys(request, &mut base, &slots, &mut rng);
    Some(Start {
        base,
        slots,
        decoys,
        choice,
        rng,
    })
}

fn attempt(request: &Request, seed: u64) -> Option<Draft> {
    let Start {
        base,
        slots,
        decoys,
        choice,
        mut rng,
    } = start(request, seed)?;
    let mechanisms = &choice.mechanisms;
    let (spec, sites) = with(&base, &slots, mechanisms, request)?;
    let (physical, run) = trial(&spec, &request.causes, &sites);
    // Seconds saved without some of the causes: as if the job never had them, or cured.
    let without = |removed: &[&'static Mechanism]| {
        let is_removed = |m: &Mechanism| removed.iter().any(|r| r.name == m.name);
        let mut left = mechanisms.clone();
        left.retain(|m| !is_removed(m) || m.has_cure());
        let (mut without, _) = with(&base, &slots, &left, request)?;
        removed.iter().for_each(|m| m.cure(&mut without));
        let queued = without.env.queue_s != spec.env.queue_s;
        let queue_s = if queued { spec.env.queue_s } else { 0.0 };
        Some(run.elapsed - trial(&without, &[], &[]).1.elapsed + queue_s)
    };
    let (mut saved, mut saved_together) = (Vec::new(), 0.0);
    if !request.fails() {
        for &mechanism in mechanisms {
            saved.push(without(&[mechanism])?);
        }
        saved_together = match saved.as_slice() {
            [] => 0.0,
            [only] => *only,
            _ => without(mechanisms)?,
        };
    }
    let symptoms = symptoms(&spec, &slots, run.elapsed, request);
    if !shows(request, &spec, &run, &saved, &symptoms) {
        return None;
    }
    let outcome = outcome(request, spec, physical, run, &sites, &mut rng);
    Some(Draft {
        outcome,
        sites,
        near_miss: choice.near_miss.map(|n| n.name),
        saved,
        saved_together,
        symptoms,
        decoys,
        rng,
    })
}

/// User code reads all its input columns, unless a cause restricts them.
fn read_everything(spec: &mut Spec) {
    for node in 0..spec.nodes.len() {
        let Some(&input) = spec.inputs(node).first() else {
            continue;
        };
        let columns = spec.columns(input).into_iter().map(|c| c.name).collect();
        if let Op::Reduce { udo, .. } | Op::Process { udo, .. } = &mut spec.nodes[node].op {
            udo.reads = columns;
        }
    }
}

/// The base job with some causes; `None` if it has no place for one.
fn with(
    base: &Spec,
    slots: &Slots,
    mechanisms: &[&Mechanism],
    request: &Request,
) -> Option<(Spec, Vec<Site>)> {
    let mut spec = base.clone();
    let size = if request.scale == Scale::Small {
        1.4
    } else {
        1.0
    };
    let injected = mechanisms
        .iter()
        .map(|m| mechanism::inject(&mut spec, slots, m, size));
    let sites = injected.collect::<Option<Vec<Site>>>()?;
    if mechanisms.iter().any(|m| m.cause == Cause::Limit)
        && slots.join.is_none()
        && let Some(node) = slots.udo
    {
        lengthen(&mut spec, node);
    }
    Some((spec, sites))
}

/// Scales the user code so that its longest vertex exceeds the limit.
fn lengthen(spec: &mut Spec, node: usize) {
    let physical = crate::compile::compile(spec);
    let longest = physical.stage_of(node).map_or(1.0, |s| {
        physical.stages[s].run_s.iter().copied().fold(1.0, f64::max)
    });
    if let Op::Reduce { udo, .. } | Op::Process { udo, .. } = &mut spec.nodes[node].op {
        udo.cpu_us *= 1.25 * VERTEX_LIMIT_S / longest;
    }
}

fn shows(request: &Request, spec: &Spec, run: &Run, saved: &[f64], symptoms: &[Cause]) -> bool {
    if request.fails() {
        let ended =
            |a: &schedule::Attempt| matches!(a.why, Why::UserCode | Why::Timeout | Why::TempData);
        return request.causes.contains(&Cause::Compile) || run.attempts.iter().any(ended);
    }
    if request.kind == Kind::None {
        return symptoms.is_empty();
    }
    // A case shows its cause plainly.
    let least = if request.scale == Scale::Small {
        0.12
    } else {
        COSTS_AT_LEAST
    };
    request.causes.iter().zip(saved).all(|(c, s)| {
        let queued = if *c == Cause::QueueWait {
            spec.env.queue_s
        } else {
            0.0
        };
        s / (run.elapsed + queued) > least
    })
}

fn decoys(request: &Request, spec: &mut Spec, slots: &Slots, rng: &mut Rng) -> Vec<&'static str> {
    if request.near_miss.is_some() || request.scale == Scale::Huge {
        return Vec::new();
    }
    let wanted = match request.kind {
        Kind::None => rng.whole(0, 4),
        _ => u64::from(rng.chance(0.35)),
    };
    let mut out: Vec<&'static str> = Vec::new();
    for _ in 0..wanted {
        let (decoy, name) = DECOYS[rng.index(DECOYS.len())];
        // Next to a real cause, only decoys that cannot change its cost.
        let mild = matches!(
            decoy,
            Decoy::Warnings | Decoy::ScaryCode | Decoy::DataGrew | Decoy::UnevenColumn
        );
        if (request.kind == Kind::None || mild)
            && !out.contains(&name)
            && decoy::decoy(spec, slots, decoy)
        {
            out.push(name);
        }
    }
    out
}

fn outcome(
    request: &Request,
    spec: Spec,
    physical: Physical,
    run: Run,
    sites: &[Site],
    rng: &mut Rng,
) -> Outcome {
    let style = Style::draw(rng);
    let classes = csharp::classes(&spec);
    let broken = sites.iter().find(|s| s.cause == Cause::Compile);
    let broken = broken.and_then(|s| s.node.map(|n| (n, s.mechanism)));
    let script = script::print(&spec, &style, &classes, broken);
    let failure = failure(request, &run, sites, &script);
    let ids = Ids {
        job: rng.guid(),
        submitted: 1_735_689_600 + rng.whole(0, 25_000_000) as i64,
        compile_s: rng.range(25.0, 90.0),
        cluster: format!("c{:02}", rng.whole(2, 19)),
        user: USERS[rng.index(USERS.len())].to_owned(),
        priority: 500 + 100 * rng.whole(0, 6) as u32,
    };
    Outcome {
        spec,
        physical,
        run,
        script,
        style,
        classes,
        ids,
        failure,
    }
}

fn failure(
    request: &Request,
    run: &Run,
    sites: &[Site],
    script: &script::Script,
) -> Option<Failure> {
    let site = |cause| sites.iter().find(|s| s.cause == cause);
    if let Some(site) = site(Cause::Compile) {
        let (first, _) = script.lines[site.node?];
        return Some(Failure::Compile {
            line: script.damaged.unwrap_or(first),
            mechanism: site.mechanism,
        });
    }
    if !request.fails() {
        return None;
    }
    let dead = run.attempts.iter().find(|a| {
        matches!(a.why, Why::UserCode | Why::Timeout | Why::TempData) && a.state == State::Failed
    })?;
    if dead.why == Why::TempData {
        return Some(Failure::TempData { stage: dead.stage });
    }
    if dead.why == Why::Timeout {
        return Some(Failure::Timeout {
            stage: dead.stage,
            vertex: dead.vertex,
        });
    }
    let site = site(Cause::UserCode)?;
    Some(Failure::UserCode {
        stage: dead.stage,
        line: script.lines[site.node?].0,
        mechanism: site.mechanism,
    })
}
