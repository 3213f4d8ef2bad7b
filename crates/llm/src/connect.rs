//! Makes a model from its profile in the configuration.

use std::sync::Arc;

use secrecy::SecretString;

use crate::client::Server;
use crate::model::Model;
use crate::profile::{LlmConfig, Profile};
use crate::target::ClientError;
use crate::transcript::Transcript;
use crate::transport::Transport;

/// Fetches the key that the `api_key…` fields of a profile refer to; `None` if they are absent.
pub type Keys<'a> = dyn Fn(&Profile) -> Result<Option<SecretString>, String> + 'a;

#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("{}", report::say!("没有配置 LLM：请添加 `[llm.profiles.NAME]` 和 `[llm] default = \"NAME\"`", "no LLM is configured: add `[llm.profiles.NAME]` and `[llm] default = \"NAME\"`"))]
    NoProfile,
    #[error("{}", report::say!("没有配置 `{name}`；已配置：{known}", "there is no profile `{name}`; configured are: {known}"))]
    Unknown { name: String, known: String },
    #[error("{}", report::say!("`[llm.steps]` 中没有步骤 `{step}`；步骤为 think1 至 think5 和 hypotheses", "`[llm.steps]` has no step `{step}`; steps are think1 to think5 and hypotheses", step = .0))]
    UnknownStep(String),
    #[error("{}", report::say!("`max_cost` 须为金额，不能是 {cost}", "`max_cost` must be an amount of money, not {cost}", cost = .0.to_string()))]
    Cost(f64),
    #[error("{}", report::say!("设置了 `max_cost`，但配置 `{profile}` 没有价格，无法计算", "`max_cost` is set, but profile `{profile}` has no prices to count with", profile = .0))]
    NoPrices(String),
    #[error("{}", report::say!("配置 `{profile}` 的 `{field}` 须为价格，不能是 {value}", "`{field}` of profile `{profile}` must be a price, not {value}"))]
    Price {
        profile: String,
        field: &'static str,
        value: f64,
    },
    #[error("{}", report::say!("无法取得配置 `{profile}` 的密钥：{reason}", "the key of profile `{profile}` cannot be fetched: {reason}"))]
    Key { profile: String, reason: String },
    #[error("{}", report::say!("配置 `{profile}` 无法使用", "profile `{profile}` cannot be used"))]
    Client {
        profile: String,
        source: ClientError,
    },
}

impl LlmConfig {
    /// The named profile, else the default, else the only one.
    pub fn profile(&self, name: Option<&str>) -> Result<(&str, &Profile), ConnectError> {
        let only = self.profiles.keys().next().map(String::as_str);
        let only = only.filter(|_| self.profiles.len() == 1);
        let name = name
            .or(self.default.as_deref())
            .or(only)
            .ok_or(ConnectError::NoProfile)?;
        let found = self.profiles.get_key_value(name).ok_or_else(|| {
            let known: Vec<&str> = self.profiles.keys().map(String::as_str).collect();
            ConnectError::Unknown {
                name: name.to_owned(),
                known: match known.is_empty() {
                    true => report::say!("无", "none"),
                    false => known.join(", "),
                },
            }
        })?;
        Ok((found.0, found.1))
    }

    /// Checks that the cost of a run with this profile can be counted and limited.
    fn check_cost(&self, name: &str, profile: &Profile) -> Result<(), ConnectError> {
        let is_amount = |amount: &f64| amount.is_finite() && *amount >= 0.0;
        let prices = [
            ("price_per_million_in", profile.price_per_million_in),
            ("price_per_million_out", profile.price_per_million_out),
        ];
        for (field, price) in prices {
            if let Some(value) = price.filter(|price| !is_amount(price)) {
                let profile = name.to_owned();
                return Err(ConnectError::Price {
                    profile,
                    field,
                    value,
                });
            }
        }
        match self.max_cost {
            Some(cap) if !is_amount(&cap) => Err(ConnectError::Cost(cap)),
            Some(_) if profile.price(0, 0).is_none() => {
                Err(ConnectError::NoPrices(name.to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// The model of a profile; its calls are recorded in `transcript`.
    pub fn model(
        &self,
        name: Option<&str>,
        keys: &Keys<'_>,
        transcript: Option<&Transcript>,
    ) -> Result<Model, ConnectError> {
        let (name, profile) = self.profile(name)?;
        self.check_cost(name, profile)?;
        let key = keys(profile).map_err(|reason| ConnectError::Key {
            profile: name.to_owned(),
            reason,
        })?;
        let server = Server::new(profile, key.as_ref()).map_err(|source| ConnectError::Client {
            profile: name.to_owned(),
            source,
        })?;
        let mut transport: Arc<dyn Transport> = Arc::new(server);
        if let Some(transcript) = transcript {
            transport = transcript.record(transport);
        }
        Ok(Model::new(profile.clone(), transport))
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
            .model(name, &keys, None)
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
        let without = LlmConfig {
            default: Some("x".to_owned()),
            ..LlmConfig::default()
        };
        assert_eq!(
            error(&without, None),
            "there is no profile `x`; configured are: none"
        );
    }

    #[test]
    fn a_limit_that_cannot_be_kept_is_an_error() {
        for (from, to, said) in [
            ("max_cost = 0.5", "max_cost = nan", "not NaN"),
            ("max_cost = 0.5", "max_cost = -1.0", "not -1"),
            ("price_per_million_out = 15.0", "", "has no prices"),
            (
                "price_per_million_in = 3.0",
                "price_per_million_in = inf",
                "not inf",
            ),
        ] {
            let config = toml::from_str(&CONFIG.replace(from, to)).expect("readable");
            let error = error(&config, None);
            assert!(error.contains(said), "{to}: {error}");
        }
    }

    #[test]
    fn misspelt_fields_are_not_ignored() {
        let misspelt = CONFIG.replace("base_url", "base_ulr");
        assert!(toml::from_str::<LlmConfig>(&misspelt).is_err());
    }
}
