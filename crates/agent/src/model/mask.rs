//! What of a job must not leave the machine: its paths, names and literals.

use llm::{Mask, literals};

use crate::facts::Facts;

/// Masks the names, paths and literals of a job.
pub(super) fn mask(facts: &Facts) -> Mask {
    let job = facts.job.name.iter().chain(&facts.job.id);
    let rowsets = facts
        .outline
        .statements
        .iter()
        .flat_map(|s| s.inputs.iter().chain(&s.target));
    let script = facts.outline.script.iter().flat_map(|s| literals(&s.text));
    let literals: Vec<String> = script.collect();
    let path = std::iter::once((facts.job.path.as_str(), "path"));
    let names = path
        .chain(job.map(|name| (name.as_str(), "job")))
        .chain(rowsets.map(|name| (name.as_str(), "rowset")))
        .chain(
            facts
                .outline
                .private_names
                .iter()
                .map(|name| (name.as_str(), "name")),
        )
        .chain(literals.iter().map(|literal| (literal.as_str(), "literal")));
    Mask::of_names(names)
}
