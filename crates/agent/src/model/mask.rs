//! What of a job must not leave the machine: its paths, names and literals.

use llm::{Mask, literals};

use crate::view::View;

/// Masks the names, paths and literals of a job.
pub(super) fn mask(view: &View) -> Mask {
    let job = view.job.name.iter().chain(&view.job.id);
    let rowsets = view
        .statements
        .iter()
        .flat_map(|s| s.inputs.iter().chain(&s.target));
    let script = view.script.iter().flat_map(|s| literals(&s.text));
    let literals: Vec<String> = script.collect();
    let path = std::iter::once((view.job.path.as_str(), "path"));
    let names = path
        .chain(job.map(|name| (name.as_str(), "job")))
        .chain(rowsets.map(|name| (name.as_str(), "rowset")))
        .chain(
            view.private_names
                .iter()
                .map(|name| (name.as_str(), "name")),
        )
        .chain(literals.iter().map(|literal| (literal.as_str(), "literal")));
    Mask::of_names(names)
}
