//! `[n]_vcmd.xml` / `vcmdStart*.xml`: exact lengths of the inputs of one vertex.

use super::{Input, StageIndex, count};
use crate::model::{Job, VertexInput};
use crate::problem::Problem;
use crate::xml::tree;

/// Inputs kept of one stage. A cluster job may have a command file for each of thousands of vertices.
const MAX_INPUTS: usize = 100_000;

pub(crate) fn read(input: &Input<'_>, job: &mut Job) {
    let (document, fault) = tree(input.text);
    let root = document.child("vertexCommand");
    let arguments = root.and_then(|r| r.field("vertexArg")).unwrap_or_default();
    let stage = arguments
        .split_whitespace()
        .skip_while(|w| *w != "-scopeVertex")
        .nth(1);
    let at = stage.and_then(|stage| StageIndex::of(job).at(job, stage));
    match (root, at) {
        (Some(root), Some(at)) => {
            let inputs = root.child("inputs").map_or(&[][..], |n| &n.children);
            let kept = &mut job.stages[at].vertex_inputs;
            let room = MAX_INPUTS.saturating_sub(kept.len());
            kept.extend(inputs.iter().take(room).map(|node| {
                VertexInput {
                    file: input.name.to_owned(),
                    channel: node
                        .field("name")
                        .and_then(|n| n.split('[').next())
                        .unwrap_or_default()
                        .to_owned(),
                    path: node.field("path").unwrap_or_default().to_owned(),
                    bytes: node.field("length").and_then(count),
                }
            }));
        }
        _ if fault.is_none() => {
            let place = "vertexCommand/@vertexArg".to_owned();
            job.note(input.name, Some(place), &Problem::NoStage);
        }
        _ => {}
    }
    job.fault(input.name, fault);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_inputs() {
        let text = "<vertexCommand vertexArg='E.dll -scopeVertex SV3 -vertexNumber 0'><inputs>\
            <input name='SV1_out0[0,0]' path='p' length='12'/></inputs></vertexCommand>";
        let mut job = Job::default();
        read(&Input::new("v.xml", text), &mut job);
        let input = &job.stages[0].vertex_inputs[0];
        assert_eq!(input.channel, "SV1_out0");
        assert_eq!(input.bytes, Some(12));
        read(&Input::new("w.xml", "<vertexCommand/>"), &mut job);
        assert_eq!(job.diagnostics.len(), 1);
    }
}
