//! Placeholder of the checks: nothing is found yet.

use crate::conclusion::Conclusion;
use crate::report::Suggestion;
use crate::view::View;

/// What became of the claims.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) claims: u32,
    pub(crate) dropped: u32,
    pub(crate) unverified: u32,
    pub(crate) remarks: Vec<String>,
    pub(crate) proposed: Vec<Suggestion>,
}

pub(crate) fn faults(_: &[Conclusion], _: &View) -> Vec<String> {
    Vec::new()
}

pub(crate) fn clean(_: &mut [Conclusion], _: &View) -> Outcome {
    Outcome::default()
}
