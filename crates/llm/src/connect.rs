//! From a configuration to a model: the named profile, its key, its transport.

use std::sync::Arc;

use secrecy::SecretString;

use crate::client::Server;
use crate::lane::Lane;
use crate::profile::{LlmConfig, Profile};
use crate::target::ClientError;
use crate::transcript::Transcript;
use crate::transport::Transport;

/// Fetches the key of a profile from where its `api_key…` fields say; `None` if they say nothing.
pub type Keys<'a> = dyn Fn(&Profile) -> Result<Option<SecretString>, String> + 'a;

/// Why a configuration gives no reasoner.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// No profile is configured.
    #[error("no LLM is configured: add `[llm.profiles.NAME]` and `[llm] default = \"NAME\"`")]
    NoProfile,
    /// The named profile does not exist.
    #[error("there is no profile `{name}`; configured are: {known}")]
    Unknown {
        /// As named.
        name: String,
        /// Those that exist.
        known: String,
    },
    /// `[llm.steps]` names a step that does not exist.
    #[error("`[llm.steps]` has no step `{0}`; steps are think1 to think5 and hypotheses")]
    UnknownStep(String),
    /// The key of a profile cannot be fetched.
    #[error("the key of profile `{profile}` cannot be fetched: {reason}")]
    Key {
        /// The profile.
        profile: String,
        /// Why.
        reason: String,
    },
    /// A profile lacks something.
    #[error("profile `{profile}` cannot be used")]
    Client {
        /// The profile.
        profile: String,
        /// What it lacks.
        source: ClientError,
    },
}

impl LlmConfig {
    /// The profile of that name, or the default one; with only one profile, that one.
    ///
    /// # Errors
    /// If there is none.
    pub fn profile(&self, name: Option<&str>) -> Result<(&str, &Profile), ConnectError> {
        let only = if self.profiles.len() == 1 {
            self.profiles.keys().next().map(String::as_str)
        } else {
            None
        };
        let name = name
            .or(self.default.as_deref())
            .or(only)
            .ok_or(ConnectError::NoProfile)?;
        let found = self
            .profiles
            .get_key_value(name)
            .ok_or_else(|| ConnectError::Unknown {
                name: name.to_owned(),
                known: self.profiles.keys().cloned().collect::<Vec<_>>().join(", "),
            })?;
        Ok((found.0, found.1))
    }

    /// The model of a profile, with calls recorded in `transcript`.
    ///
    /// # Errors
    /// If the profile is unknown or lacks something, or its key cannot be fetched.
    pub fn lane(
        &self,
        name: Option<&str>,
        keys: &Keys<'_>,
        transcript: Option<&Transcript>,
    ) -> Result<Lane, ConnectError> {
        let (name, profile) = self.profile(name)?;
        let key = keys(profile).map_err(|reason| ConnectError::Key {
            profile: name.to_owned(),
            reason,
        })?;
        let server = Server::new(profile, key.as_ref()).map_err(|source| ConnectError::Client {
            profile: name.to_owned(),
            source,
        })?;
        let server: Arc<dyn Transport> = Arc::new(server);
        let transport =
            transcript.map_or_else(|| Arc::clone(&server), |t| t.record(Arc::clone(&server)));
        Ok(Lane::new(profile.clone(), transport))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = r#"
        default = "work"
        max_cost = 0.5

        [steps]
        think1 = "small"

        [profiles.work]
        provider = "anthropic"
        model = "claude-sonnet-4-5"
        api_key_env = "SOME_KEY"
        price_per_million_in = 3.0
        price_per_million_out = 15.0

        [profiles.small]
        provider = "openai_compatible"
        model = "llama-3"
        base_url = "http://localhost:8080/v1"
    "#;

    fn config() -> LlmConfig {
        toml::from_str(CONFIG).expect("the names are an interface")
    }

    fn keys(_: &Profile) -> Result<Option<SecretString>, String> {
        Ok(Some(SecretString::from("key")))
    }

    fn error(config: &LlmConfig, name: Option<&str>) -> String {
        config
            .lane(name, &keys, None)
            .err()
            .map(|e| e.to_string())
            .unwrap_or_default()
    }

    #[test]
    fn profiles_are_read_and_found() {
        let config = config();
        assert_eq!(config.profile(None).expect("the default").0, "work");
        assert_eq!(
            config.profile(Some("small")).expect("it is there").1.model,
            "llama-3"
        );
        assert_eq!(config.profiles["work"].price(1_000_000, 100_000), Some(4.5));
        assert_eq!(error(&config, None), "");
    }

    #[test]
    fn mistakes_name_what_is_there() {
        let config = config();
        assert_eq!(
            error(&config, Some("home")),
            "there is no profile `home`; configured are: small, work"
        );
        assert!(error(&LlmConfig::default(), None).contains("no LLM is configured"));
    }

    #[test]
    fn misspelt_fields_are_not_ignored() {
        let misspelt = CONFIG.replace("base_url", "base_ulr");
        assert!(toml::from_str::<LlmConfig>(&misspelt).is_err());
    }
}
