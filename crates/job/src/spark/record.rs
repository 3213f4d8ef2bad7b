//! Records jobs, stages and cached data of events.

use super::collect::Collector;
use super::event::{self, StageInfo};
use super::lineage::Lineage;
use super::texts::{self, cut};
use crate::model::CachedData;

/// Maximum number of cached RDDs.
const MOST_CACHED: usize = 20_000;
/// Skipped stages kept of a job: the latest.
const MOST_SKIPPED: usize = 1_000;
/// Maximum number of pairs of cached RDD and stage.
const MOST_USERS: usize = 200_000;

impl Collector {
    pub(super) fn job_start(&mut self, event: &event::JobStart<'_>) {
        for info in event.stages.iter() {
            self.stage(info, false);
        }
        let properties = &event.properties;
        self.app.interactive |= !properties.notebook.0.is_empty();
        self.check(&[event.time]);
        if let Some(execution) = properties.execution.count() {
            let stages = event.stages.iter().map(|s| (s.id.id(), execution as u32));
            self.execution_of.extend(stages);
        }
        let line = self.line;
        if !self.keeps_job(event.id.id()) {
            return;
        }
        let state = self.jobs.entry(event.id.id()).or_default();
        state.stages = event.stages.iter().map(|s| s.id.id()).collect();
        state.execution = properties.execution.count().map(|id| id as u32);
        let job = &mut state.job;
        job.id = event.id.id();
        job.submitted_ms = event.time.time().unwrap_or(0);
        job.description = properties.description.kept(texts::DESCRIPTION);
        let last = event.stages.iter().max_by_key(|s| s.id.id());
        let call_site = properties.call_site.kept(texts::NAME);
        job.call_site = call_site.or_else(|| last.and_then(|s| s.name.kept(texts::NAME)));
        job.line = line;
        let more = state.detail_bytes();
        self.details(more);
    }

    pub(super) fn job_end(&mut self, event: &event::JobEnd<'_>) {
        self.check(&[event.time]);
        if !self.keeps_job(event.id.id()) {
            return;
        }
        let state = self.jobs.entry(event.id.id()).or_default();
        let job = &mut state.job;
        job.id = event.id.id();
        job.ended_ms = event.time.time();
        job.succeeded = Some(event.result.result.0 == "JobSucceeded");
        job.error = event.result.exception.message.kept(texts::ERROR);
        let more = job.error.as_ref().map_or(0, String::len);
        if state.stages.len() > MOST_SKIPPED {
            let ran = |id: &u32| self.stages.get(&(*id, 0)).is_some_and(|s| s.ran);
            let (mut own, mut skipped): (Vec<u32>, Vec<u32>) =
                state.stages.drain(..).partition(ran);
            skipped.sort_unstable();
            own.extend(skipped.iter().rev().take(MOST_SKIPPED));
            own.shrink_to_fit();
            state.stages = own;
        }
        self.details(more);
    }

    /// Takes what an event says of a stage; `ran` if it was submitted rather than planned.
    pub(super) fn stage(&mut self, info: &StageInfo<'_>, ran: bool) {
        let key = (info.id.id(), info.attempt.id());
        self.check(&[info.submitted, info.completed]);
        self.cached_data(info);
        if !self.keeps_stage(key) {
            return;
        }
        let (line, part) = (self.line, self.parts.len().saturating_sub(1));
        let stage = self.stages.entry(key).or_default();
        let before = stage.detail_bytes();
        let (name, error) = match stage.tasks.is_shed() {
            true => (texts::SHORT, texts::SHORT_ERROR),
            false => (texts::NAME, texts::ERROR),
        };
        stage.name = cut(&info.name.0, name);
        stage.n_tasks = info.tasks.id();
        stage.parents.clone_from(&info.parents.0);
        stage.parents.shrink_to_fit();
        stage.last_rdd = info.rdds.last.map(|(id, _)| id);
        stage.lineage = Lineage::of(&info.rdds);
        stage.of_library |= info.details.0.contains("org.apache.spark.ml");
        stage.submitted = stage.submitted.or(info.submitted.time());
        stage.completed = stage.completed.or(info.completed.time());
        stage.failure = stage.failure.take().or_else(|| info.failure.kept(error));
        if ran {
            stage.ran = true;
            (stage.line, stage.part) = (line, part);
        }
        // where the ends of tasks are lost, the totals of the stage are still there
        let lost = stage.tasks.counts.completed < u64::from(stage.n_tasks);
        if info.completed.time().is_some() && lost && !stage.tasks.is_shed() {
            let values = info.accumulables.iter().filter(|a| a.is_of_plan());
            stage.accumulators = values
                .filter_map(|a| Some((a.id.or_zero(), a.value.0?)))
                .collect();
        }
        let more = stage.detail_bytes().saturating_sub(before);
        self.details(more);
    }

    /// Record of a cached RDD; `None` if there is no room.
    pub(super) fn cached_as(&mut self, rdd: u32) -> Option<&mut CachedData> {
        if self.cached.len() >= MOST_CACHED && !self.cached.contains_key(&rdd) {
            self.left_out = true;
            return None;
        }
        Some(self.cached.entry(rdd).or_default())
    }

    fn cached_data(&mut self, info: &StageInfo<'_>) {
        for rdd in &info.rdds.cached {
            let id = rdd.id.id();
            let Some(known) = self.cached_as(id) else {
                continue;
            };
            known.rdd = id;
            if known.name.is_empty() {
                known.name = cut(rdd.name.0.lines().next().unwrap_or_default(), texts::NAME);
            }
            known.partitions = rdd.partitions.id();
            known.cached = known.cached.max(rdd.cached.id());
            known.memory_bytes = known.memory_bytes.max(rdd.memory.or_zero());
            known.disk_bytes = known.disk_bytes.max(rdd.disk.or_zero());
            let user = (id, info.id.id());
            if self.cached_by.len() < MOST_USERS {
                self.cached_by.insert(user);
            }
        }
    }
}
