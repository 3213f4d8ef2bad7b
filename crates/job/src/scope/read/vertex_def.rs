//! `ScopeVertexDef.xml`: stages, their operators and channels.

use super::schema::{Arguments, arguments, columns};
use super::{Input, StageIndex, count, parts, truth};
use crate::bounds::{CHANNELS_PER_OPERATOR, OPERATORS_PER_STAGE, Quota};
use crate::model::{Channel, Job, Operator, OperatorKind};
use crate::xml::{Tag, each_tag};

/// Reads the definition. Its operators replace the operators of an earlier definition of the stage.
pub(crate) fn read(input: &Input<'_>, job: &mut Job) {
    let mut stage: Option<usize> = None;
    let mut index = StageIndex::of(job, input.name);
    let fault = each_tag(input.text, |tag| {
        open(&tag, input, job, &mut index, &mut stage);
    });
    job.fault(input.name, fault);
}

fn open(
    tag: &Tag<'_>,
    input: &Input<'_>,
    job: &mut Job,
    index: &mut StageIndex,
    stage: &mut Option<usize>,
) {
    if tag.name() == "ScopeVertex" {
        let Some(name) = tag.get("id").filter(|id| !id.is_empty()) else {
            return;
        };
        let native = tag.get("nativeOnly").is_some_and(|v| truth(&v));
        *stage = index.at(job, &name);
        if let Some(found) = stage.and_then(|at| job.stages.get_mut(at)) {
            found.native_only = Some(native);
            found.defined_in = Some(input.name.to_owned());
            found.operators.clear();
        }
        return;
    }
    let Some(at) = *stage else { return };
    match tag.name() {
        "operator" => add_operator(tag, input.name, job, at),
        "input" | "output" => add_channel(tag, input.name, job, at),
        "EstimatedLimitMemory" => {
            job.stages[at].memory_limit = tag.get("processMemory").and_then(|v| count(&v));
        }
        _ => {}
    }
}

fn add_operator(tag: &Tag<'_>, file: &str, job: &mut Job, stage: usize) {
    if job.stages[stage].operators.len() >= OPERATORS_PER_STAGE {
        job.left_out(Quota::Operators, OPERATORS_PER_STAGE, file);
    } else if job.keeps(Quota::Operators, 1, file) {
        job.stages[stage].operators.push(operator(tag));
    }
}

fn add_channel(tag: &Tag<'_>, file: &str, job: &mut Job, stage: usize) {
    if !job.keeps(Quota::Channels, 1, file) {
        return;
    }
    let mut channel = channel(tag);
    job.shorten(Quota::Columns, &mut channel.schema, file);
    let Some(operator) = job.stages[stage].operators.last_mut() else {
        return;
    };
    let side = match tag.name() {
        "input" => &mut operator.inputs,
        _ => &mut operator.outputs,
    };
    if side.len() < CHANNELS_PER_OPERATOR {
        side.push(channel);
    } else {
        job.left_out(Quota::Channels, CHANNELS_PER_OPERATOR, file);
    }
}

fn operator(tag: &Tag<'_>) -> Operator {
    let text = |name| tag.get(name).unwrap_or_default();
    let (id, class_name, args) = (text("id"), text("className"), text("args"));
    let arguments = arguments(&args);
    let signature = tag
        .get("signature")
        .and_then(|s| s.split('!').next().map(str::to_owned));
    let line = tag.get("line").and_then(|v| v.parse().ok());
    Operator {
        uid: tag.get("uid").and_then(|v| v.parse().ok()),
        kind: kind(&id, &class_name, &arguments),
        keys: arguments.keys,
        right_keys: arguments.right_keys,
        partition_count: arguments.count,
        signature: signature.filter(|s| !s.is_empty()),
        file: tag.get("file"),
        line: line.filter(|line| *line > 0),
        inputs: Vec::new(),
        outputs: Vec::new(),
        id,
        class_name,
        args,
    }
}

/// Kind of an operator. The class is more specific than the id (`Process_4` may be a sort); the
/// arguments of a partitioner name its method.
fn kind(id: &str, class_name: &str, arguments: &Arguments) -> OperatorKind {
    use OperatorKind as K;
    let class = class_name.rsplit('.').next().unwrap_or(class_name);
    let class = class.trim_end_matches(is_number);
    let id = id.trim_end_matches(is_number);
    let partitioner = match () {
        () if arguments.has("hash") => Some(K::HashPartition),
        () if arguments.has("range") => Some(K::RangePartition),
        () if arguments.has("broadcast") => Some(K::Broadcast),
        () if arguments.has("merge") => Some(K::Gather),
        () => None,
    };
    match (id, class) {
        ("Split", _) => partitioner.unwrap_or(K::Split),
        ("Partition", _) | (_, "ScopePartitioner" | "Splitter") => {
            partitioner.unwrap_or(K::Partition)
        }
        (_, "ScopeSorter") => K::Sort,
        (_, "ScopeSequenceProject") => K::Window,
        ("PartialAggregate", _) => K::PartialAggregate,
        ("Aggregate", _) | (_, "SqlGrouper") => K::Aggregate,
        (_, "ScopeHashGrouper") => K::PartialAggregate,
        ("Join" | "HashJoin", _) | (_, "ScopeCombineWrapper" | "ScopeHashJoinWrapper") => K::Join,
        ("GetSStream" | "Extract" | "RowGenerator", _) => K::Extract,
        ("Output" | "SStreamOutput" | "SStreamMetadataOutput", _) => K::Output,
        ("Reduce", _) => K::Reduce,
        ("Combine", _) => K::Combine,
        ("Concatenate" | "Union", _) => K::Union,
        (_, class) if class.contains("Top") && class.starts_with("Scope") => K::Top,
        (_, "SqlFilterTransformer" | "SqlTransformer") => K::Transform,
        ("Process", _) => K::Process,
        _ => K::Other,
    }
}

fn is_number(c: char) -> bool {
    c == '_' || c.is_ascii_digit()
}

fn channel(tag: &Tag<'_>) -> Channel {
    let count = tag.get_any(&["numberOfInputs", "numberOfOutputs"]);
    Channel {
        id: tag.get("id").unwrap_or_default(),
        uid: tag.get("uid").and_then(|v| v.parse().ok()),
        schema: columns(&tag.get("schema").unwrap_or_default()),
        count: count.and_then(|v| parts(&v)),
        is_final: tag.get("finalOutput").is_some_and(|v| truth(&v)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_by_class_id_and_arguments() {
        use OperatorKind as K;
        for (operator, expected) in [
            ("Process_4 ScopeSorter_9 -keys A", K::Sort),
            ("Process_2 ScopeHashGrouper_9 -keys A", K::PartialAggregate),
            ("Process_4 SqlGrouper_3 ", K::Aggregate),
            (
                "Partition_1 ScopePartitioner_3 -hash A -count 3",
                K::HashPartition,
            ),
            ("Split_1 ScopeRuntime.Splitter -broadcast", K::Broadcast),
            ("Split_1 ScopeRuntime.Splitter ", K::Split),
            ("Process_1 SqlFilterTransformer_3 ", K::Transform),
            ("Process_1 MyProcessor 5", K::Process),
            ("GetSStream_0 ScopeRuntime.SStreamExtractor ", K::Extract),
            ("Other_0 X ", K::Other),
        ] {
            let parts: Vec<&str> = operator.splitn(3, ' ').collect();
            let found = kind(parts[0], parts[1], &arguments(parts[2]));
            assert_eq!(found, expected, "{operator}");
        }
    }

    #[test]
    fn a_cut_definition_keeps_its_stages() {
        let text = "<ScopeVertices><ScopeVertex id='SV1' nativeOnly='true'><operator id='Extract_0' uid='1'>\
                    <output id='c' uid='2' schema='a:int?' finalOutput='true'/></operator></ScopeVertex><ScopeVer";
        let mut job = Job::default();
        read(&Input::new("f", text), &mut job);
        assert_eq!(job.stages.len(), 1);
        assert_eq!(job.stages[0].operators[0].outputs[0].uid, Some(2));
        assert!(job.stages[0].operators[0].outputs[0].is_final);
        assert_eq!(job.diagnostics.len(), 1);
    }
}
