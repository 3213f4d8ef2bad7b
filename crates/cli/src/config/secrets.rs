//! The secrets in a configuration, made known so that no output shows them.

use toml::{Table, Value};
use url::Url;

/// Variables with the address of a proxy, which may contain a password.
const PROXIES: [&str; 6] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
];

/// Name parts of headers and parameters with secret values.
const SECRET_NAMES: [&str; 7] = [
    "auth", "key", "token", "secret", "cookie", "password", "sig",
];

/// Makes known the keys, the secret headers, and the passwords in addresses.
///
/// Only for files that apply: other files could make the program hide any text.
pub(super) fn learn(table: &Table) {
    for (name, value) in table {
        match value {
            Value::Table(inner) if name == "headers" => learn_headers(inner),
            Value::Table(inner) => learn(inner),
            Value::String(key) if name == "api_key" => llm::remember(key),
            Value::String(variable) if name == "api_key_env" => learn_variable(variable),
            Value::String(text) => learn_url(text),
            _ => {}
        }
    }
}

fn learn_variable(name: &str) {
    if let Ok(key) = std::env::var(name) {
        llm::remember(&key);
    }
}

pub(super) fn learn_environment() {
    for name in PROXIES {
        if let Ok(address) = std::env::var(name) {
            learn_url(&address);
        }
    }
}

fn learn_headers(headers: &Table) {
    for (name, value) in headers {
        if let (true, Some(value)) = (is_secret(name), value.as_str()) {
            llm::remember(value);
            // `Bearer KEY`
            if let Some((_, key)) = value.split_once(' ') {
                llm::remember(key);
            }
        }
    }
}

/// Makes known the password in an address.
pub(crate) fn learn_url(text: &str) {
    let Ok(url) = Url::parse(text) else {
        return;
    };
    // A name without a password is a token.
    let user = Some(url.username()).filter(|_| url.password().is_none());
    for part in url.password().into_iter().chain(user) {
        llm::remember(part);
        // As it was before the address was encoded.
        let pair = format!("a={}", part.replace('+', "%2B"));
        let decoded = url::form_urlencoded::parse(pair.as_bytes()).next();
        if let Some((_, part)) = decoded {
            llm::remember(&part);
        }
    }
    for (name, value) in url.query_pairs() {
        if is_secret(&name) {
            llm::remember(&value);
        }
    }
}

/// Whether the name suggests a secret value.
pub(crate) fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    SECRET_NAMES.iter().any(|part| name.contains(part))
}
