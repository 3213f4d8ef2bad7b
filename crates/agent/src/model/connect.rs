//! From a configuration to a reasoner: the default model, and other models for single steps.

use llm::{ConnectError, Keys, LlmConfig, LlmOptions, Transcript};

use crate::step::StepId;

use super::reasoner::LlmReasoner;

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
