//! Sets of jobs for scoring: a fixed mix of kinds and causes.

use crate::cause::{CAUSES, Cause};
use crate::folder::{SimulatedJob, simulate_as};
use crate::inject;
use crate::plan::Dialect;
use crate::request::{Kind, Request};
use crate::rng::{Rng, hash_text, mix};
use crate::templates::Scale;
use crate::truth::can_be_withheld;

/// Share of each kind in a set: mostly single causes, a fifth healthy.
const MIX: [(Kind, f64); 5] = [
    (Kind::Single, 0.46),
    (Kind::None, 0.22),
    (Kind::Two, 0.12),
    (Kind::Withheld, 0.1),
    (Kind::Failed, 0.1),
];

/// The `index`-th job of the set of this seed, or one with `only` this cause.
pub fn job_of_set(
    seed: u64,
    index: usize,
    only: Option<Cause>,
    scale: Scale,
) -> Option<SimulatedJob> {
    let name = format!("job-{index:03}");
    // Some pairs of causes do not fit together; another draw does.
    (0..20).find_map(|again| {
        let mut rng = Rng::new(seed_of(seed, index) ^ again);
        let request = match only {
            Some(cause) => Request {
                scale,
                ..Request::single(cause, rng.next())
            },
            None => draw(&mut rng, index, scale),
        };
        simulate_as(&request, &name, "testkit")
    })
}

/// The `index`-th of the healthy jobs that resemble a cause.
pub fn near_miss_of_set(
    seed: u64,
    index: usize,
    cause: Cause,
    scale: Scale,
) -> Option<SimulatedJob> {
    let request = Request {
        near_miss: Some(cause),
        scale,
        ..Request::healthy(seed_of(seed, index))
    };
    simulate_as(&request, &format!("job-{index:03}"), "testkit")
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
        let shared = inject::templates(a)
            .iter()
            .any(|t| inject::templates(b).contains(t));
        if a != b && shared && family(a) != family(b) {
            return vec![a, b];
        }
    }
    vec![Cause::QueueWait, Cause::SmallFiles]
}

/// Seed of the `index`-th job of a set.
fn seed_of(seed: u64, index: usize) -> u64 {
    mix(hash_text(seed, "job") ^ index as u64)
}
