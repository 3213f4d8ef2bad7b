//! What of a job must not leave the machine: its paths, names and literals.

use llm::{Mask, literals};

use crate::facts::Facts;

pub(super) fn mask(facts: &Facts) -> Mask {
    let (job, outline) = (&facts.job, &facts.outline);
    let statements = outline.statements.iter();
    let rowsets = statements.flat_map(|s| s.inputs.iter().chain(&s.target));
    let script = outline.script.iter().flat_map(|s| literals(&s.text));
    let literals: Vec<String> = script.collect();
    let names = [(&job.path, "path")]
        .into_iter()
        .chain(job.name.iter().chain(&job.id).map(|name| (name, "job")))
        .chain(rowsets.map(|name| (name, "rowset")))
        .chain(outline.private_names.iter().map(|name| (name, "name")))
        .chain(literals.iter().map(|literal| (literal, "literal")));
    Mask::of_names(names.map(|(name, kind)| (name.as_str(), kind)))
}
