//! Which level of structured output a model supports, by provider and model name.

use crate::profile::{Level, Profile, Provider};

/// Model prefixes that differ from their provider's default; the first match counts.
const EXCEPTIONS: &[(Provider, &str, Level)] = &[
    (Provider::OpenAi, "gpt-3.5", Level::Tool),
    (Provider::OpenAi, "gpt-4-", Level::Tool),
    (Provider::Azure, "gpt-35", Level::Tool),
    (Provider::Anthropic, "claude-2", Level::Text),
    (Provider::Anthropic, "claude-3", Level::Tool),
    (Provider::Anthropic, "claude-opus-4-0", Level::Tool),
    (Provider::Anthropic, "claude-sonnet-4-0", Level::Tool),
    (Provider::Gemini, "gemini-1.0", Level::JsonObject),
    (Provider::Gemini, "gemma", Level::Text),
];

/// The level to start with: the configured one, otherwise the strongest that the model is known to
/// support.
pub fn first(profile: &Profile) -> Level {
    profile
        .structured_output
        .unwrap_or_else(|| known(profile.provider, &profile.model))
}

/// Whether to offer tools: to every model that supports more than plain text.
pub fn has_tools(profile: &Profile) -> bool {
    first(profile) != Level::Text
}

fn known(provider: Provider, model: &str) -> Level {
    let exception = EXCEPTIONS
        .iter()
        .find(|(p, prefix, _)| *p == provider && model.starts_with(prefix));
    if let Some((_, _, level)) = exception {
        return *level;
    }
    match provider {
        // Both support only `json_object`; DeepSeek refuses forced tool calls while reasoning.
        Provider::DeepSeek | Provider::Qwen | Provider::QwenIntl => Level::JsonObject,
        _ => Level::Schema,
    }
}

pub fn weaker(level: Level) -> Option<Level> {
    match level {
        Level::Schema => Some(Level::Tool),
        Level::Tool => Some(Level::JsonObject),
        Level::JsonObject => Some(Level::Text),
        Level::Text => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_follow_provider_and_model() {
        for (provider, model, expected) in [
            (Provider::OpenAi, "gpt-4o-mini", Level::Schema),
            (Provider::OpenAi, "gpt-3.5-turbo", Level::Tool),
            (Provider::Anthropic, "claude-3-opus-20240229", Level::Tool),
            (Provider::DeepSeek, "deepseek-reasoner", Level::JsonObject),
            (Provider::Qwen, "qwen-max", Level::JsonObject),
            (Provider::Compatible, "llama-3", Level::Schema),
        ] {
            assert_eq!(first(&Profile::new(provider, model)), expected, "{model}");
        }
        let mut own = Profile::new(Provider::OpenAi, "gpt-4o");
        own.structured_output = Some(Level::Text);
        assert_eq!(first(&own), Level::Text);
    }

    #[test]
    fn weakening_ends() {
        let mut level = Level::Schema;
        let mut steps = 0;
        while let Some(next) = weaker(level) {
            level = next;
            steps += 1;
        }
        assert_eq!((level, steps), (Level::Text, 3));
    }
}
