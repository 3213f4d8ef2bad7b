//! The rules, one file a cause, and the thresholds that they use.

use std::sync::LazyLock;

use crate::rule::Rule;
use crate::settings::{FILES_PER_ROUND, MIN_RELEVANCE, MIN_SHARE, Threshold};

/// Every rule, in the order of the contract.
pub fn rules() -> &'static [&'static dyn Rule] {
    &[]
}

/// Every threshold: those of the whole diagnosis first, then those of the rules.
pub fn thresholds() -> &'static [&'static Threshold] {
    static ALL: LazyLock<Vec<&'static Threshold>> = LazyLock::new(|| {
        let mut all = vec![&MIN_SHARE, &MIN_RELEVANCE, &FILES_PER_ROUND];
        for threshold in rules()
            .iter()
            .flat_map(|r| r.about().thresholds.iter().copied())
        {
            if !all.iter().any(|known| known.name == threshold.name) {
                all.push(threshold);
            }
        }
        all
    });
    &ALL
}
