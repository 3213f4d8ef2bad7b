//! JSON texts whose keys stand in one order, whatever features other crates of a build switch on.

use serde_json::Value;

/// The value with the keys of every object sorted: `serde_json` keeps the order of insertion where
/// some crate of the build asks for it, and the committed cases must not depend on that.
pub(crate) fn sorted(mut value: Value) -> Value {
    value.sort_all_objects();
    value
}
