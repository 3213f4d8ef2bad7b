//! A model with the way to reach it, and what it was found to take.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use crate::level;
use crate::profile::{Level, Profile};
use crate::transport::Transport;

/// A model with the way to reach it.
pub struct Lane {
    /// Its profile.
    pub profile: Profile,
    /// Carries its requests.
    pub transport: Arc<dyn Transport>,
    level: AtomicU8,
    /// Whether the server has refused tools.
    without_tools: AtomicBool,
}

impl Lane {
    /// A lane that begins with the way of structured output that suits the model.
    pub fn new(profile: Profile, transport: Arc<dyn Transport>) -> Lane {
        let level = AtomicU8::new(level::first(&profile) as u8);
        Lane {
            profile,
            transport,
            level,
            without_tools: AtomicBool::new(false),
        }
    }

    pub fn level(&self) -> Level {
        [Level::Schema, Level::Tool, Level::JsonObject, Level::Text]
            .into_iter()
            .find(|l| *l as u8 == self.level.load(Ordering::Relaxed))
            .unwrap_or(Level::Text)
    }

    /// Takes the next weaker way for the rest of the run; whether there is one.
    pub fn weaken(&self, from: Level) -> bool {
        let next = level::weaker(from);
        if let Some(next) = next {
            self.level.store(next as u8, Ordering::Relaxed);
        }
        next.is_some()
    }

    /// Whether tools are offered to the model.
    pub fn has_tools(&self) -> bool {
        level::has_tools(&self.profile) && !self.without_tools.load(Ordering::Relaxed)
    }

    /// Offers no more tools for the rest of the run.
    pub fn drop_tools(&self) {
        self.without_tools.store(true, Ordering::Relaxed);
    }

    pub fn name(&self) -> String {
        format!("{} {}", self.profile.provider.name(), self.profile.model)
    }
}

/// What the reasoner is to do besides asking.
#[derive(Debug, Clone, Default)]
pub struct LlmOptions {
    /// Most that the run may cost, in the currency of the prices.
    pub max_cost: Option<f64>,
    /// Whether paths, names and literals are masked before anything leaves the machine.
    pub redact: bool,
    /// Whether answers are streamed.
    pub stream: bool,
}
