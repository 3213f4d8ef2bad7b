//! Sets of jobs for scoring: a fixed mix of kinds and causes.

use crate::cause::{CAUSES, Cause};
use crate::folder::{SimulatedJob, simulate_as};
use crate::mechanism;
use crate::near_miss;
use crate::plan::Dialect;
use crate::request::{Kind, Mechanisms, Request};
use crate::rng::{Rng, hash_text, mix};
use crate::templates::{Scale, Template};
use crate::truth::can_be_withheld;

/// Share of each kind in a set: mostly single causes, a fifth healthy.
const MIX: [(Kind, f64); 5] = [
    (Kind::Single, 0.46),
    (Kind::None, 0.22),
    (Kind::Two, 0.12),
    (Kind::Withheld, 0.1),
    (Kind::Failed, 0.1),
];

/// A mechanism of a cause or of a near miss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    /// The cause.
    pub cause: Cause,
    /// Name of the mechanism.
    pub name: &'static str,
    /// Rules were tuned on it.
    pub tuned: bool,
    /// The job is healthy and only resembles the cause.
    pub near_miss: bool,
}

/// Every mechanism: first of the causes, then of the near misses.
pub fn ways() -> Vec<Way> {
    let causes = mechanism::all().map(|m| (m.cause, m.name, false));
    let near = near_miss::all().map(|n| (n.cause, n.name, true));
    let mut out: Vec<Way> = Vec::new();
    for (cause, name, near_miss) in causes.chain(near) {
        let tuned = !out
            .iter()
            .any(|w| w.cause == cause && w.near_miss == near_miss);
        out.push(Way {
            cause,
            name,
            tuned,
            near_miss,
        });
    }
    out
}

/// A set of jobs: the same seed and index give the same job.
#[derive(Debug, Clone)]
pub struct Set {
    /// Seed.
    pub seed: u64,
    /// Size of the jobs.
    pub scale: Scale,
    /// Mechanisms to choose from.
    pub mechanisms: Mechanisms,
}

impl Set {
    /// The `index`-th job of the set, or one with `only` this cause.
    pub fn job(&self, index: usize, only: Option<Cause>) -> Option<SimulatedJob> {
        let name = format!("job-{index:03}");
        // Some pairs of causes do not fit together; another draw does.
        (0..20).find_map(|again| {
            let mut rng = Rng::new(seed_of(self.seed, index) ^ again);
            let request = match only {
                Some(cause) => Request {
                    scale: self.scale,
                    ..Request::single(cause, rng.next())
                },
                None => draw(&mut rng, index, self.scale),
            };
            let request = Request {
                mechanisms: self.mechanisms.clone(),
                ..request
            };
            simulate_as(&request, &name, "testkit")
        })
    }

    /// The `index`-th of the healthy jobs that resemble a cause.
    pub fn near_miss(&self, index: usize, cause: Cause) -> Option<SimulatedJob> {
        let request = Request {
            near_miss: Some(cause),
            scale: self.scale,
            mechanisms: self.mechanisms.clone(),
            ..Request::healthy(seed_of(self.seed, index))
        };
        simulate_as(&request, &format!("job-{index:03}"), "testkit")
    }
}

/// The `index`-th job of the set of this seed with tuned mechanisms, or one with `only` this cause.
pub fn job_of_set(
    seed: u64,
    index: usize,
    only: Option<Cause>,
    scale: Scale,
) -> Option<SimulatedJob> {
    let set = Set {
        seed,
        scale,
        mechanisms: Mechanisms::Tuned,
    };
    set.job(index, only)
}

/// The `index`-th job with two causes of the set of this seed.
pub fn pair_of_set(seed: u64, index: usize, scale: Scale) -> Option<SimulatedJob> {
    let name = format!("job-{index:03}");
    (0..20).find_map(|again| {
        let mut rng = Rng::new(seed_of(seed, index) ^ again);
        let request = draw_kind(Kind::Two, &mut rng, index, scale);
        simulate_as(&request, &name, "testkit")
    })
}

fn draw(rng: &mut Rng, index: usize, scale: Scale) -> Request {
    let mut point = rng.unit();
    let mut kind = Kind::Single;
    for (candidate, share) in MIX {
        if point < share {
            kind = candidate;
            break;
        }
        point -= share;
    }
    draw_kind(kind, rng, index, scale)
}

fn draw_kind(kind: Kind, rng: &mut Rng, index: usize, scale: Scale) -> Request {
    let running: Vec<Cause> = CAUSES
        .iter()
        .map(|c| c.0)
        .filter(|c| !c.is_fatal())
        .collect();
    let causes = match kind {
        // Every cause in turn, so that a set of some size has them all.
        Kind::Single => vec![running[(index + rng.index(3)) % running.len()]],
        Kind::Two => pair(rng, &running),
        Kind::None => Vec::new(),
        Kind::Withheld => {
            let all = can_be_withheld();
            vec![all[rng.index(all.len())]]
        }
        Kind::Failed => vec![[Cause::UserCode, Cause::Compile, Cause::Limit][rng.index(3)]],
    };
    let near_miss =
        (kind == Kind::None && rng.chance(0.6)).then(|| running[rng.index(running.len())]);
    // A U-SQL script does not contain the C#, so only the C# file tells what it reads.
    let hidden_code = kind == Kind::Withheld && causes == [Cause::UnusedColumns];
    Request {
        kind,
        causes,
        near_miss,
        mechanisms: Mechanisms::Tuned,
        scale,
        dialect: hidden_code.then_some(Dialect::Usql),
        tidy: false,
        seed: rng.next(),
    }
}

/// Two causes that a template can show together and that do not hide each other.
fn pair(rng: &mut Rng, running: &[Cause]) -> Vec<Cause> {
    let family = |c: Cause| match c {
        // These change the partitions of the same exchange, or the same user code.
        Cause::TooLow
        | Cause::TinyVertices
        | Cause::Misestimate
        | Cause::Spill
        | Cause::LowCardinalityKey => 1,
        Cause::HeapPressure | Cause::CpuBound => 2,
        Cause::VertexRetries | Cause::EstimateTooLow | Cause::SlowMachine => 3,
        Cause::JoinHotKey | Cause::GroupHotKey | Cause::NullOrDefaultKey => 1,
        other => 10 + other as i32,
    };
    for _ in 0..40 {
        let (a, b) = (
            running[rng.index(running.len())],
            running[rng.index(running.len())],
        );
        let shared = templates(a).any(|t| templates(b).any(|u| t == u));
        if a != b && shared && family(a) != family(b) {
            return vec![a, b];
        }
    }
    vec![Cause::QueueWait, Cause::SmallFiles]
}

/// Jobs that can have a cause.
fn templates(cause: Cause) -> impl Iterator<Item = &'static Template> {
    let tuned = mechanism::allowed(cause, &Mechanisms::Tuned);
    tuned.into_iter().flat_map(|m| m.templates(Dialect::Scope))
}

/// Seed of the `index`-th job of a set.
fn seed_of(seed: u64, index: usize) -> u64 {
    mix(hash_text(seed, "job") ^ index as u64)
}
