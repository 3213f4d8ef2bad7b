//! Bounds the number of stages, jobs and SQL executions. Over the limit, the cheapest ended ones are forgotten. Their time spans
//! stay, because that time is neither the driver's nor idle.

use super::collect::{Collector, StageState};

/// Number of latest jobs and executions that stay: they show why an application failed.
pub(super) const LATEST: u32 = 100;

/// A kind of entity with a limit.
#[derive(Debug, Clone, Copy)]
enum Thing {
    Stage,
    Job,
    Execution,
}

impl Collector {
    /// Whether a stage is known or has room.
    pub(super) fn keeps_stage(&mut self, key: (u32, u32)) -> bool {
        self.stages.contains_key(&key) || self.has_room(Thing::Stage, key.0)
    }

    /// Whether a job is known or has room.
    pub(super) fn keeps_job(&mut self, id: u32) -> bool {
        self.jobs.contains_key(&id) || self.has_room(Thing::Job, id)
    }

    /// Whether an execution is known or has room.
    pub(super) fn keeps_execution(&mut self, id: u32) -> bool {
        self.executions.contains_key(&id) || self.has_room(Thing::Execution, id)
    }

    /// Enforces the limits at the end of a log.
    pub(super) fn trim(&mut self) {
        let last = |id: Option<&u32>| id.copied().unwrap_or(0);
        let (job, execution) = (self.jobs.keys().last(), self.executions.keys().last());
        let (job, execution) = (last(job), last(execution));
        for (thing, id) in [
            (Thing::Stage, 0),
            (Thing::Job, job),
            (Thing::Execution, execution),
        ] {
            self.forget(thing, id);
        }
    }

    fn count(&self, thing: Thing) -> usize {
        match thing {
            Thing::Stage => self.stages.len(),
            Thing::Job => self.jobs.len(),
            Thing::Execution => self.executions.len(),
        }
    }

    /// Whether another entity has room; forgets the cheapest ones if necessary.
    fn has_room(&mut self, thing: Thing, id: u32) -> bool {
        let most = self.limits.things;
        if self.count(thing) < most + most / 4 {
            return true;
        }
        if !self.forgotten.all_open[thing as usize] {
            let forgotten = self.forget(thing, id);
            // a scan that frees little would run again for each new entity
            self.forgotten.all_open[thing as usize] = forgotten < most / 10;
            if forgotten > 0 {
                return true;
            }
        }
        self.left_out = true;
        false
    }

    /// Forgets the cheapest ended entities, down to the limit. `id` is the latest job or execution. Returns the number of forgotten ones.
    fn forget(&mut self, thing: Thing, id: u32) -> usize {
        let surplus = self.count(thing).saturating_sub(self.limits.things);
        if surplus == 0 {
            return 0;
        }
        let is_late = |own: &u32| own.saturating_add(LATEST) > id;
        let forgotten = match thing {
            Thing::Stage => self.forget_stages(surplus),
            Thing::Job => {
                let ended = self
                    .jobs
                    .iter()
                    .filter(|(own, s)| s.job.ended_ms.is_some() && !is_late(own));
                let keys = cheapest(surplus, ended.map(|(id, s)| (s.cost_ms(), *id)));
                for state in keys.iter().filter_map(|id| self.jobs.remove(id)) {
                    let from = Some(state.job.submitted_ms).filter(|at| *at > 0);
                    self.forgotten.actions.add(from, state.job.ended_ms);
                }
                keys.len()
            }
            Thing::Execution => {
                let ended = self.executions.iter();
                let ended =
                    ended.filter(|(own, s)| s.execution.ended_ms.is_some() && !is_late(own));
                let keys = cheapest(surplus, ended.map(|(id, s)| (s.cost_ms(), *id)));
                for id in &keys {
                    self.execution_ms.remove(id);
                    if let Some(state) = self.executions.remove(id) {
                        let own = &state.execution;
                        self.forgotten.actions.add(own.started_ms, own.ended_ms);
                    }
                }
                keys.len()
            }
        };
        self.forgotten.actions.unite();
        self.left_out |= forgotten > 0 && !matches!(thing, Thing::Stage);
        forgotten
    }

    fn forget_stages(&mut self, surplus: usize) -> usize {
        // a stage that never ran only links others
        let ended = self
            .stages
            .iter()
            .filter(|(_, s)| !s.ran || s.completed.is_some());
        let cost = |s: &StageState| if s.ran { 1 + s.cost_ms() } else { 0 };
        let keys = cheapest(surplus, ended.map(|(key, s)| (cost(s), *key)));
        for key in &keys {
            let Some(stage) = self.stages.remove(key) else {
                continue;
            };
            self.execution_of.remove(&key.0);
            self.n_tasks = self.n_tasks.saturating_sub(stage.tasks.kept.len());
            if stage.ran {
                self.forgotten.stages.add(stage.submitted, stage.completed);
                self.left_out = true;
            }
        }
        self.forgotten.stages.unite();
        keys.len()
    }
}

/// The `most` cheapest keys, by cost and key.
fn cheapest<K: Copy + Ord>(most: usize, all: impl Iterator<Item = (u64, K)>) -> Vec<K> {
    let mut all: Vec<(u64, K)> = all.collect();
    all.sort_unstable();
    all.truncate(most);
    all.into_iter().map(|(_, key)| key).collect()
}
