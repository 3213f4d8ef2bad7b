//! Everything that the files of a job folder are written from.

use crate::csharp::Class;
use crate::physical::Physical;
use crate::plan::Spec;
use crate::schedule::{Run, State};
use crate::script::{Script, Style};

/// A job that ran.
pub(crate) struct Outcome {
    pub(crate) spec: Spec,
    pub(crate) physical: Physical,
    pub(crate) run: Run,
    pub(crate) script: Script,
    pub(crate) style: Style,
    pub(crate) classes: Vec<Class>,
    pub(crate) ids: Ids,
    /// `None`: succeeded.
    pub(crate) failure: Option<Failure>,
}

/// Why a job failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    UserCode {
        stage: usize,
        line: usize,
        mechanism: &'static str,
    },
    Compile {
        line: usize,
        mechanism: &'static str,
    },
    Timeout {
        stage: usize,
        vertex: usize,
    },
    TempData {
        stage: usize,
    },
}

/// Identity of a job.
#[derive(Debug, Clone)]
pub(crate) struct Ids {
    pub(crate) job: String,
    /// Submission, seconds since 1970 (UTC).
    pub(crate) submitted: i64,
    pub(crate) compile_s: f64,
    pub(crate) cluster: String,
    pub(crate) user: String,
    pub(crate) priority: u32,
}

impl Outcome {
    /// Vertices of a stage that completed.
    pub(crate) fn done(&self, stage: usize) -> Vec<usize> {
        self.run.completed[stage]
            .iter()
            .enumerate()
            .filter(|(_, d)| **d)
            .map(|(i, _)| i)
            .collect()
    }

    /// Run seconds of the attempt of a vertex that completed, start-up included.
    pub(crate) fn seconds(&self, stage: usize, vertex: usize) -> f64 {
        self.run
            .attempts
            .iter()
            .find(|a| a.stage == stage && a.vertex == vertex && a.state == State::Completed)
            .map_or(0.0, |a| a.ended - a.started)
    }

    /// Seconds from submission to the start of the run.
    pub(crate) fn before_start(&self) -> f64 {
        self.ids.compile_s + self.spec.env.queue_s
    }

    /// GUID of a vertex attempt.
    pub(crate) fn vertex_guid(&self, stage: usize, vertex: usize, version: u32) -> String {
        let place = crate::rng::hash_text(self.spec.seed, &self.physical.stages[stage].name);
        let high = crate::rng::mix(place ^ crate::rng::mix(vertex as u64));
        crate::rng::guid(high, crate::rng::mix(high ^ u64::from(version)))
    }
}

/// A time of day in the zone of the cluster (UTC-7, as daylight saving time there).
pub(crate) struct Clock {
    pub(crate) year: i64,
    pub(crate) month: i64,
    pub(crate) day: i64,
    pub(crate) second_of_day: f64,
}

/// Hours between the cluster's clock and UTC.
const ZONE_HOURS: i64 = -7;

impl Clock {
    /// Converts seconds since 1970 (UTC), given as whole part and rest.
    pub(crate) fn at(whole: i64, rest: f64) -> Self {
        // To whole milliseconds first: adding a fraction below the resolution of the text must not show.
        let millis = whole * 1000 + libm::round(rest * 1000.0) as i64 + ZONE_HOURS * 3_600_000;
        let days = millis.div_euclid(86_400_000);
        let second_of_day = millis.rem_euclid(86_400_000) as f64 / 1000.0;
        // Civil date from days, with years that begin in March.
        let z = days + 719_468;
        let era = z.div_euclid(146_097);
        let doe = z.rem_euclid(146_097);
        let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
        let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
        let mp = (5 * doy + 2) / 153;
        let month = if mp < 10 { mp + 3 } else { mp - 9 };
        let year = yoe + era * 400 + i64::from(month <= 2);
        Self {
            year,
            month,
            day: doy - (153 * mp + 2) / 5 + 1,
            second_of_day,
        }
    }

    fn parts(&self) -> (i64, i64, f64) {
        let s = self.second_of_day;
        let hour = (s / 3600.0) as i64;
        let minute = ((s - hour as f64 * 3600.0) / 60.0) as i64;
        (
            hour,
            minute,
            s - hour as f64 * 3600.0 - minute as f64 * 60.0,
        )
    }

    /// `2024-05-02 03:04:05.678 PDT`.
    pub(crate) fn profile(&self) -> String {
        let (h, m, s) = self.parts();
        format!(
            "{:04}-{:02}-{:02} {h:02}:{m:02}:{s:06.3} PDT",
            self.year, self.month, self.day
        )
    }

    /// `2024-05-02T03:04:05.6780000-07:00`.
    pub(crate) fn iso(&self) -> String {
        let (h, m, s) = self.parts();
        format!(
            "{:04}-{:02}-{:02}T{h:02}:{m:02}:{s:010.7}-07:00",
            self.year, self.month, self.day
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn civil_date() {
        assert_eq!(
            Clock::at(1_714_644_245, 0.678).profile(),
            "2024-05-02 03:04:05.678 PDT"
        );
        assert_eq!(
            Clock::at(951_868_800 - 1, 0.0).iso(),
            "2000-02-29T16:59:59.0000000-07:00"
        );
    }
}
