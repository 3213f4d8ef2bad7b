//! Mechanisms: the ways a cause arises and becomes visible.
//!
//! A mechanism changes the plan, the data or the cluster, never the times: its cost follows from the model that also
//! runs the job without it. Rules were tuned on the first mechanism of each cause; the others are held out.

mod run;
mod shuffle;
mod skew;
mod work;

use crate::cause::{Cause, Site};
use crate::data::Column;
use crate::plan::{Dialect, NodeId, Op, Spec, Udo};
use crate::request::Mechanisms;
use crate::rng::{Rng, hash_text};
use crate::templates::{Slots, Template};

pub(crate) use skew::heat;

/// One way a cause arises.
pub(crate) struct Mechanism {
    pub(crate) cause: Cause,
    /// Unique name.
    pub(crate) name: &'static str,
    /// Jobs that can have it, by dialect.
    scope: &'static [Template],
    usql: &'static [Template],
    /// Injects it into a job; `None` if the job has no place for it.
    inject: fn(&mut Place<'_>) -> Option<Spot>,
    /// Undoes the effect on the plan but keeps the data; `None` if that equals the job before the
    /// injection.
    cure: Option<fn(&mut Spec)>,
}

impl Mechanism {
    const fn new(
        cause: Cause,
        name: &'static str,
        templates: &'static [Template],
        inject: fn(&mut Place<'_>) -> Option<Spot>,
    ) -> Self {
        Self {
            cause,
            name,
            scope: templates,
            usql: templates,
            inject,
            cure: None,
        }
    }

    /// Only some templates, or none, can have it in U-SQL.
    const fn in_usql(mut self, templates: &'static [Template]) -> Self {
        self.usql = templates;
        self
    }

    const fn cured_by(mut self, cure: fn(&mut Spec)) -> Self {
        self.cure = Some(cure);
        self
    }

    /// Jobs that can have it.
    pub(crate) fn templates(&self, dialect: Dialect) -> &'static [Template] {
        match dialect {
            Dialect::Scope => self.scope,
            Dialect::Usql => self.usql,
        }
    }

    pub(crate) fn has_cure(&self) -> bool {
        self.cure.is_some()
    }

    /// Undoes the harm in a job that has the cause.
    pub(crate) fn cure(&self, spec: &mut Spec) {
        if let Some(cure) = self.cure {
            cure(spec);
        }
    }
}

/// Every mechanism; mechanisms of one cause are neighbors.
pub(crate) fn all() -> impl Iterator<Item = &'static Mechanism> {
    let families: [&'static [Mechanism]; 4] = [skew::ALL, shuffle::ALL, work::ALL, run::ALL];
    families.into_iter().flatten()
}

/// Mechanisms of a cause that a request allows.
pub(crate) fn allowed(cause: Cause, mechanisms: &Mechanisms) -> Vec<&'static Mechanism> {
    let of_cause = all().filter(|m| m.cause == cause).enumerate();
    let allowed = of_cause.filter(|(i, m)| mechanisms.allow(m.name, *i == 0));
    allowed.map(|(_, m)| m).collect()
}

/// Place of a cause, before the cause is named.
pub(crate) struct Spot {
    node: Option<NodeId>,
    also: Vec<NodeId>,
    writers: bool,
    root: Option<Cause>,
}

impl Spot {
    /// In the stage of a statement.
    fn at(node: NodeId) -> Self {
        Self {
            node: Some(node),
            also: Vec::new(),
            writers: false,
            root: None,
        }
    }

    /// In the job as a whole.
    fn everywhere() -> Self {
        Self {
            node: None,
            ..Self::at(0)
        }
    }

    /// These statements are right as well.
    fn or(mut self, nodes: &[NodeId]) -> Self {
        self.also.extend(nodes);
        self
    }

    /// Stages that write the exchange are right as well.
    fn or_writers(mut self) -> Self {
        self.writers = true;
        self
    }

    /// The job failed because of this cause.
    fn because_of(mut self, root: Cause) -> Self {
        self.root = Some(root);
        self
    }
}

/// The job that a mechanism changes.
pub(crate) struct Place<'a> {
    spec: &'a mut Spec,
    slots: &'a Slots,
    rng: Rng,
    /// How strong to make it; about 1.
    size: f64,
}

impl Place<'_> {
    /// The statement that does most of the work.
    fn main(&self) -> NodeId {
        let s = self.slots;
        let first = s.by_key.or(s.join).or(s.udo).or(s.small_join);
        first.unwrap_or(s.clean)
    }

    /// The key column of the events.
    fn key(&mut self) -> Option<&mut Column> {
        self.spec.tables[self.slots.fact].column_mut(&self.slots.key)
    }

    fn udo(&mut self) -> Option<&mut Udo> {
        match &mut self.spec.nodes[self.slots.udo?].op {
            Op::Reduce { udo, .. } | Op::Process { udo, .. } => Some(udo),
            _ => None,
        }
    }

    /// Whether the job is of the small kind, with tens of vertices.
    fn small(&self) -> bool {
        self.spec.env.max_partitions < 40
    }
}

/// Injects a cause into the job.
pub(crate) fn inject(
    spec: &mut Spec,
    slots: &Slots,
    mechanism: &Mechanism,
    size: f64,
) -> Option<Site> {
    let mut place = Place {
        rng: Rng::new(spec.seed ^ hash_text(11, mechanism.cause.code())),
        spec,
        slots,
        size,
    };
    let spot = (mechanism.inject)(&mut place)?;
    Some(Site {
        cause: mechanism.cause,
        mechanism: mechanism.name,
        node: spot.node,
        also: spot.also,
        writers: spot.writers,
        root: spot.root,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cause::CAUSES;

    #[test]
    fn every_cause_has_three_mechanisms_with_names_of_their_own() {
        let mut names: Vec<&str> = all().map(|m| m.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        for (cause, code) in CAUSES {
            let of_cause = all().filter(|m| m.cause == cause).count();
            assert!(of_cause >= 3, "{code}: {of_cause}");
        }
    }
}
