//! The reasoner that asks a language model: the model of each step, by the configuration, and its budget.

use std::collections::BTreeMap;

use futures::FutureExt;
use futures::future::BoxFuture;

use crate::progress::Observer;
use crate::reasoner::{Answer, Reasoner, ReasonerError, Task};
use crate::step::StepId;
use report::{Engine, ReasonerKind};

use super::task::Call;
use llm::{ConnectError, Keys, LlmConfig, LlmOptions, Model, Transcript};

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

    fn reason<'a>(
        &'a self,
        task: Task<'a>,
        observer: &'a mut dyn Observer,
    ) -> BoxFuture<'a, Result<Answer, ReasonerError>> {
        let call = Call::new(self.model(task.step()), &self.options, task);
        call.conclude(observer).boxed()
    }
}

/// A reasoner for a profile, with the profiles that `[llm.steps]` names for single steps. A profile
/// named by the caller is used for all steps.
///
/// # Errors
/// If a profile or step is unknown, or a profile lacks something.
pub fn connect(
    config: &LlmConfig,
    name: Option<&str>,
    keys: &Keys<'_>,
    transcript: Option<&Transcript>,
    options: LlmOptions,
) -> Result<LlmReasoner, ConnectError> {
    let mut reasoner = LlmReasoner::new(config.model(name, keys, transcript)?, options);
    if name.is_none() {
        for (step, other) in &config.steps {
            let id =
                StepId::from_id(step).ok_or_else(|| ConnectError::UnknownStep(step.clone()))?;
            reasoner = reasoner.with_step(id, config.model(Some(other), keys, transcript)?);
        }
    }
    Ok(reasoner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_steps_are_named() {
        let mut config = LlmConfig::default();
        let mut profile = llm::Profile::new(llm::Provider::Compatible, "llama-3");
        profile.base_url = Some("http://localhost:8080/v1".to_owned());
        config.profiles.insert("small".to_owned(), profile);
        config.steps.insert("think9".to_owned(), "small".to_owned());
        let error = connect(&config, None, &|_| Ok(None), None, LlmOptions::default()).err();
        assert!(error.is_some_and(|e| e.to_string().contains("think9")));
    }
}
