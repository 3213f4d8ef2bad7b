//! Bounds the number of stages, jobs and SQL executions. Over the limit, the cheapest ended ones are forgotten. Their time spans
//! stay, because that time is neither the driver's nor idle.

use super::collect::{Collector, StageState};

/// Limits of what is kept of a log.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Stage attempts, jobs and SQL executions, each. The cheapest are forgotten at a quarter more, to sort them rarely.
    pub(super) things: usize,
    /// Bytes of details.
    pub(super) bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            things: 50_000,
            bytes: 64 << 20,
        }
    }
}

/// Number of latest jobs and executions that stay: they show why an application failed.
pub(super) const LATEST: u32 = 100;
/// Maximum number of intervals.
const MOST_SPANS: usize = 200_000;

/// Time spans of forgotten stages, jobs and executions.
#[derive(Debug, Default)]
pub(super) struct Forgotten {
    pub(super) stages: Spans,
    /// Jobs and executions.
    pub(super) actions: Spans,
    /// Whether most stages, jobs and executions are open, so that new ones have no room.
    all_open: [bool; 3],
}

/// Intervals in milliseconds.
#[derive(Debug, Default)]
pub(super) struct Spans(Vec<(i64, i64)>);

impl Spans {
    pub(super) fn add(&mut self, from: Option<i64>, to: Option<i64>) {
        self.0.extend(from.zip(to).filter(|(from, to)| from < to));
    }

    /// Merges overlapping intervals. If there are too many, also merges close ones.
    pub(super) fn unite(&mut self) {
        let mut gap = 0;
        loop {
            self.0.sort_unstable();
            self.0.dedup_by(|next, before| {
                let joined = next.0 <= before.1 + gap;
                if joined {
                    before.1 = before.1.max(next.1);
                }
                joined
            });
            if self.0.len() <= MOST_SPANS {
                return;
            }
            gap = 1 + 2 * gap;
        }
    }

    pub(super) fn take(&mut self) -> Vec<(i64, i64)> {
        self.unite();
        std::mem::take(&mut self.0)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_united_until_they_are_few() {
        let mut spans = Spans::default();
        for n in 0..1_000_000 {
            spans.add(Some(n * 10), Some(n * 10 + 5));
        }
        spans.add(None, Some(3));
        let united = spans.take();
        assert!(united.len() <= MOST_SPANS, "{}", united.len());
        assert_eq!((united[0].0, united[united.len() - 1].1), (0, 9_999_995));
        let mut few = Spans::default();
        few.add(Some(4), Some(9));
        few.add(Some(1), Some(4));
        few.add(Some(20), Some(30));
        assert_eq!(few.take(), [(1, 9), (20, 30)]);
    }
}
