//! JSON with sorted keys, independent of the features that other crates of a build enable.

use serde_json::Value;

/// Sorts the keys of every object: `serde_json` keeps the insertion order if any crate of the build asks for it,
/// and the committed cases must not depend on that.
pub(crate) fn sorted(mut value: Value) -> Value {
    value.sort_all_objects();
    value
}
