//! `[n]_vcmd.xml` / `vcmdStart*.xml`: the stage of a vertex.

use super::{Input, StageIndex};
use crate::model::Job;
use crate::problem::Problem;
use crate::xml::tree;

pub(crate) fn read(input: &Input<'_>, job: &mut Job) {
    let (document, fault) = tree(input.text);
    let root = document.child("vertexCommand");
    let arguments = root.and_then(|r| r.field("vertexArg")).unwrap_or_default();
    let mut words = arguments.split_whitespace();
    let stage = words.find(|w| *w == "-scopeVertex").and(words.next());
    let at = stage.and_then(|stage| StageIndex::of(job, input.name).at(job, stage));
    if at.is_none() && fault.is_none() {
        let place = "vertexCommand/@vertexArg".to_owned();
        job.note(input.name, Some(place), &Problem::NoStage);
    }
    job.fault(input.name, fault);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_its_stage() {
        let mut job = Job::default();
        let text = "<vertexCommand vertexArg='E.dll -scopeVertex SV3 -vertexNumber 0'/>";
        read(&Input::new("v.xml", text), &mut job);
        assert_eq!(job.stages[0].name, "SV3");
        read(&Input::new("w.xml", "<vertexCommand/>"), &mut job);
        assert_eq!(job.diagnostics.len(), 1);
    }
}
