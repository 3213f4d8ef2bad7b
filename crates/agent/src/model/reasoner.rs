//! The reasoner that asks a language model: the model of each step, and its budget.

use std::collections::BTreeMap;

use futures::FutureExt;
use futures::future::BoxFuture;

use crate::progress::Observer;
use crate::reasoner::{Answer, Reasoner, ReasonerError, Task};
use crate::step::StepId;
use report::{Engine, ReasonerKind};

use super::task::Call;
use llm::{LlmOptions, Model};

pub struct LlmReasoner {
    main: Model,
    models: BTreeMap<StepId, Model>,
    options: LlmOptions,
}

impl LlmReasoner {
    pub fn new(main: Model, options: LlmOptions) -> LlmReasoner {
        LlmReasoner {
            main,
            models: BTreeMap::new(),
            options,
        }
    }

    /// Asks another model for one step.
    pub fn with_step(mut self, step: StepId, model: Model) -> LlmReasoner {
        self.models.insert(step, model);
        self
    }

    fn model(&self, step: StepId) -> &Model {
        self.models.get(&step).unwrap_or(&self.main)
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
        let call = Call::new(self.model(task.step()), &self.options, task);
        call.conclude(observer).boxed()
    }
}
