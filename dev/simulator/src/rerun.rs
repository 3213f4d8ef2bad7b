//! Further runs of a job, each with one thing changed.

use crate::folder::{SimulatedJob, written};
use crate::physical::{Exchange, Physical};
use crate::plan::Spec;
use crate::request::{Kind, Request};
use crate::simulate;

/// How a run differs from the first; factors of 1 change nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Rerun {
    /// Rows of every input.
    pub input: f64,
    /// Tokens.
    pub tokens: f64,
    /// Speed of processors, disks and network.
    pub speed: f64,
    /// Further seconds in the queue.
    pub queue_s: f64,
    /// Whether the optimizer broadcasts no input and gathers nothing early.
    pub plan: bool,
    /// Noise of times and failures.
    pub luck: u64,
}

impl Default for Rerun {
    fn default() -> Rerun {
        Rerun {
            input: 1.0,
            tokens: 1.0,
            speed: 1.0,
            queue_s: 0.0,
            plan: false,
            luck: 0,
        }
    }
}

impl Rerun {
    fn change(&self, spec: &mut Spec) {
        for table in &mut spec.tables {
            table.rows = (table.rows * self.input).round();
        }
        let env = &mut spec.env;
        env.tokens = ((f64::from(env.tokens) * self.tokens).round() as u32).max(1);
        env.cpu /= self.speed;
        env.disk_mbs *= self.speed;
        env.net_mbs *= self.speed;
        env.queue_s += self.queue_s;
        env.luck = self.luck;
        if self.plan {
            env.broadcast_bytes = 0.0;
            env.gather_bytes = 0.0;
        }
    }
}

/// Simulates runs of one job without a cause; `None` if there is no such job, or no other plan where one is asked for.
pub fn simulate_reruns(request: &Request, reruns: &[Rerun]) -> Option<Vec<SimulatedJob>> {
    let sound = Request {
        kind: Kind::None,
        causes: Vec::new(),
        ..request.clone()
    };
    let first = simulate::draft(&sound)?;
    let runs = reruns.iter().map(|rerun| {
        let mut draft = simulate::changed(&first, |spec| rerun.change(spec));
        let is_other = exchanges(&draft.outcome.physical) != exchanges(&first.outcome.physical);
        (rerun.plan == is_other).then(|| written(&sound, &mut draft))
    });
    runs.collect()
}

/// The stages and how rows reach them.
fn exchanges(physical: &Physical) -> (usize, Vec<Exchange>) {
    let channels = physical.channels.iter().map(|c| c.kind);
    (physical.stages.len(), channels.collect())
}
