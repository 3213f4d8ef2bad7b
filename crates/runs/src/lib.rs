//! Saved runs: their store, feedback on their suggestions, comparison of two of them, and resolved
//! cases written from them.

pub mod budget;
pub mod case;
pub mod compare;
pub mod feedback;
pub mod history;
pub mod store;
mod summary;

pub use summary::*;

/// The name that a value of an enum has in JSON.
fn code(value: &impl serde::Serialize) -> Option<String> {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(code)) => Some(code),
        _ => None,
    }
}

/// `hash (UserId, Day)`.
pub fn with_keys(kind: &str, keys: &[String]) -> String {
    match keys {
        [] => kind.to_owned(),
        keys => format!("{kind} ({})", keys.join(", ")),
    }
}

/// The sum; `None` for an empty list or an unknown part.
fn sum(parts: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let parts: Option<Vec<f64>> = parts.collect();
    parts.filter(|p| !p.is_empty()).map(|p| p.iter().sum())
}
