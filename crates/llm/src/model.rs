//! A model, its transport, and the capabilities learned during the run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use crate::budget::Budget;
use crate::level;
use crate::profile::{Level, Profile};
use crate::transport::Transport;

pub struct Model {
    pub profile: Profile,
    pub transport: Arc<dyn Transport>,
    level: AtomicU8,
    tools_refused: AtomicBool,
}

impl Model {
    pub fn new(profile: Profile, transport: Arc<dyn Transport>) -> Model {
        let level = AtomicU8::new(level::first(&profile) as u8);
        Model {
            profile,
            transport,
            level,
            tools_refused: AtomicBool::new(false),
        }
    }

    pub fn level(&self) -> Level {
        [Level::Schema, Level::Tool, Level::JsonObject, Level::Text]
            .into_iter()
            .find(|l| *l as u8 == self.level.load(Ordering::Relaxed))
            .unwrap_or(Level::Text)
    }

    /// Falls back to the next weaker level for the rest of the run; `false` at the weakest level.
    pub fn weaken(&self, from: Level) -> bool {
        let next = level::weaker(from);
        if let Some(next) = next {
            self.level.store(next as u8, Ordering::Relaxed);
        }
        next.is_some()
    }

    pub fn has_tools(&self) -> bool {
        level::has_tools(&self.profile) && !self.tools_refused.load(Ordering::Relaxed)
    }

    /// Stops offering tools for the rest of the run.
    pub fn drop_tools(&self) {
        self.tools_refused.store(true, Ordering::Relaxed);
    }

    pub fn name(&self) -> String {
        format!("{} {}", self.profile.provider.name(), self.profile.model)
    }
}

/// How models are used in a run.
#[derive(Debug, Clone, Default)]
pub struct LlmOptions {
    /// Limit for the run, in the currency of the prices.
    pub max_cost: Option<f64>,
    pub stream: bool,
    /// Budget of all runs together.
    pub budget: Option<Arc<dyn Budget>>,
}
