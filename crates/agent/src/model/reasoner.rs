//! The reasoner that asks a language model: which model for which step, and what it may cost.

use std::collections::BTreeMap;

use futures::FutureExt;
use futures::future::BoxFuture;

use crate::progress::Observer;
use crate::reasoner::{Answer, Reasoner, ReasonerError, Task};
use crate::step::StepId;
use report::{Engine, ReasonerKind};

use super::context;
use super::task::Call;
use llm::{Lane, LlmOptions};

/// Reasons by asking a language model.
pub struct LlmReasoner {
    main: Lane,
    lanes: BTreeMap<StepId, Lane>,
    options: LlmOptions,
}

impl LlmReasoner {
    /// A reasoner that asks one model.
    pub fn new(main: Lane, options: LlmOptions) -> LlmReasoner {
        context::warm_up();
        LlmReasoner {
            main,
            lanes: BTreeMap::new(),
            options,
        }
    }

    /// Asks another model for one step.
    pub fn with_step(mut self, step: StepId, lane: Lane) -> LlmReasoner {
        self.lanes.insert(step, lane);
        self
    }

    fn lane(&self, step: StepId) -> &Lane {
        self.lanes.get(&step).unwrap_or(&self.main)
    }
}

impl Reasoner for LlmReasoner {
    fn engine(&self) -> Engine {
        Engine {
            reasoner: ReasonerKind::Llm,
            provider: Some(self.main.profile.provider.name().to_owned()),
            model: Some(self.main.profile.model.clone()),
            fallback: None,
        }
    }

    fn can_repair(&self) -> bool {
        true
    }

    fn reason<'a>(
        &'a self,
        task: Task<'a>,
        observer: &'a mut dyn Observer,
    ) -> BoxFuture<'a, Result<Answer, ReasonerError>> {
        let call = Call::new(self.lane(task.step()), &self.options, task);
        call.conclude(observer).boxed()
    }
}
