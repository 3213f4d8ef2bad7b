//! Jobs that resemble a cause and must not be reported. Rules were tuned on the first near miss of each cause.

mod data;
mod work;

use crate::cause::Cause;
use crate::compile::compile;
use crate::data::Clustering;
use crate::decoy::{Decoy, decoy};
use crate::plan::{Ending, Fails, Filter, Op, Place, Spec};
use crate::request::Mechanisms;
use crate::rng::Rng;
use crate::templates::{Slots, Template};

/// A way to resemble a cause.
pub(crate) struct NearMiss {
    pub(crate) cause: Cause,
    /// Unique name.
    pub(crate) name: &'static str,
    /// Jobs that can have it.
    pub(crate) templates: &'static [Template],
    apply: fn(&mut Spec, &Slots, &mut Rng) -> Option<()>,
}

impl NearMiss {
    /// Makes the job resemble the cause; `None` if it has no place for it.
    pub(crate) fn apply(&self, spec: &mut Spec, slots: &Slots) -> Option<()> {
        let mut rng = Rng::new(spec.seed ^ 0x9ea2);
        (self.apply)(spec, slots, &mut rng)
    }
}

/// Near misses of a cause that a request allows.
pub(crate) fn allowed(cause: Cause, mechanisms: &Mechanisms) -> Vec<&'static NearMiss> {
    let of_cause = all().filter(|n| n.cause == cause).enumerate();
    let allowed = of_cause.filter(|(i, n)| mechanisms.allow(n.name, *i == 0));
    allowed.map(|(_, n)| n).collect()
}

const fn near(
    cause: Cause,
    name: &'static str,
    templates: &'static [Template],
    apply: fn(&mut Spec, &Slots, &mut Rng) -> Option<()>,
) -> NearMiss {
    NearMiss {
        cause,
        name,
        templates,
        apply,
    }
}

/// Needs no change of the job.
fn as_it_is(_: &mut Spec, _: &Slots, _: &mut Rng) -> Option<()> {
    Some(())
}

/// Every near miss; near misses of one cause are neighbors.
pub(crate) fn all() -> impl Iterator<Item = &'static NearMiss> {
    data::ALL.iter().chain(work::ALL)
}

fn filter(text: &str, uses: &str, keeps: f64) -> Filter {
    Filter {
        text: text.to_owned(),
        uses: vec![uses.to_owned()],
        keeps,
        believed: keeps,
        ..Filter::default()
    }
}

fn uneven(s: &mut Spec, at: &Slots, r: &mut Rng, range: (f64, f64)) -> Option<()> {
    let split = s.env.split_bytes;
    let t = &mut s.tables[at.fact];
    let n = ((t.bytes() / split).ceil() as usize).max(6);
    let weights = (0..n).map(|_| r.range(range.0, range.1)).collect();
    t.clustering = Clustering {
        kind: "range",
        keys: vec!["EventTime".into()],
        partitions: n as u32,
        weights,
    };
    Some(())
}

/// Sets the memory to a factor of the largest vertex's need.
fn memory(s: &mut Spec, factor: f64) -> Option<()> {
    let physical = compile(s);
    let ops = physical.live().flat_map(|(_, s)| &s.ops);
    let held = ops.flat_map(|o| o.held.clone()).fold(0.0, f64::max);
    s.env.sort_memory = held * factor;
    Some(())
}

/// Two attempts in a hundred fail.
fn failing(s: &mut Spec, r: &mut Rng, ending: Ending) -> Option<()> {
    s.env.fails = Some(Fails {
        place: Place::Anywhere,
        rate: r.range(0.015, 0.025),
        ending,
    });
    Some(())
}

fn scary(s: &mut Spec, at: &Slots, _: &mut Rng) -> Option<()> {
    decoy(s, at, Decoy::ScaryCode).then_some(())
}

fn fan(s: &mut Spec, at: &Slots, rows: f64) -> Option<()> {
    let Op::Join { fan_out, .. } = &mut s.nodes[at.join?].op else {
        return None;
    };
    *fan_out = rows;
    Some(())
}
