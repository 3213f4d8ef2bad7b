//! `ScopeVertexDef.xml`: stages, operators and channels.

use super::xml::{Attrs, Xml, a, whole};
use crate::outcome::Outcome;
use crate::physical::{Exchange, Kind, PhysOp, Source, Stage, schema};
use crate::plan::Op;
use crate::rng::{hash_text, mix};

/// Writes the file.
pub(crate) fn write(o: &Outcome) -> String {
    let mut x = Xml::new(!o.spec.seed.is_multiple_of(3));
    x.open(
        "ScopeVertices",
        &vec![
            a("helperAssembly", "__ScopeCodeGen__.dll"),
            a("signatureVersion", 1),
        ],
    );
    for (i, stage) in o.physical.live() {
        let mut attrs = vec![a("id", &stage.name), a("cppReady", "true")];
        if !stage.managed {
            attrs.push(a("nativeOnly", "true"));
        }
        x.open("ScopeVertex", &attrs);
        x.leaf("EstimatedLimitMemory", &memory(o, stage, 1.0));
        x.leaf("EstimatedOptimalMemory", &memory(o, stage, 0.62));
        let mut inputs = 0;
        for (k, op) in stage.ops.iter().enumerate() {
            operator(o, &mut x, i, k, op, &mut inputs);
        }
        x.close("ScopeVertex");
    }
    x.close("ScopeVertices");
    x.text
}

/// Bytes that the compiler reserves for a stage.
pub(crate) fn engine_memory(o: &Outcome) -> f64 {
    o.spec.env.sort_memory * 1.25
}

fn memory(o: &Outcome, stage: &Stage, share: f64) -> Attrs {
    let engine = engine_memory(o) * share;
    let managed = if stage.managed { 1.25e9 * share } else { 0.0 };
    vec![
        whole("processMemory", engine + managed + 2.0e8 * share),
        whole("managedMemory", managed),
        whole("engineMemory", engine),
        whole("engineIOMemory", 33_554_432.0),
        whole("engineOperatorMemory", engine * 0.8),
        whole("minEngineOperatorMemory", 16_777_216.0),
        whole(
            "adapterMemory",
            if stage.managed { 8_388_608.0 } else { 0.0 },
        ),
    ]
}

/// Class of an operator as the compiler names it.
pub(crate) fn class_name(o: &Outcome, op: &PhysOp) -> String {
    let numbered = |name: &str| format!("{name}_{}", op.uid);
    match op.kind {
        Kind::Get => "ScopeRuntime.SStreamExtractor".into(),
        Kind::Extract => "ScopeRuntime.DefaultTextExtractor".into(),
        Kind::Filter | Kind::ManagedFilter => numbered("SqlFilterTransformer"),
        Kind::Sort => numbered("ScopeSorter"),
        Kind::MergeJoin => numbered("ScopeCombineWrapper"),
        Kind::HashJoin => numbered("ScopeHashJoinWrapper"),
        Kind::PartialAggregate => numbered("ScopeHashGrouper"),
        Kind::Aggregate => numbered("SqlGrouper"),
        Kind::Partition(Exchange::Hash) => numbered("ScopePartitioner"),
        Kind::Partition(_) => "ScopeRuntime.Splitter".into(),
        Kind::Union => "ScopeRuntime.Concatenator".into(),
        Kind::Output => "ScopeRuntime.SStreamOutputter".into(),
        Kind::Reduce | Kind::Process => match &o.spec.nodes[op.node].op {
            Op::Reduce { udo, .. } | Op::Process { udo, .. } => udo.class.clone(),
            _ => String::new(),
        },
    }
}

fn arguments(o: &Outcome, op: &PhysOp) -> Option<String> {
    let keys = op.keys.join(",");
    Some(match op.kind {
        Kind::Partition(Exchange::Hash) => {
            let count = op.channel.map_or(1, |c| o.physical.channels[c].count);
            format!("-hash {keys} -count {count}")
        }
        Kind::Partition(Exchange::Gather) => "-merge".into(),
        Kind::Partition(Exchange::Broadcast) => "-broadcast".into(),
        Kind::MergeJoin | Kind::HashJoin => format!("-key {keys}"),
        Kind::Sort | Kind::PartialAggregate | Kind::Aggregate | Kind::Reduce
            if !keys.is_empty() =>
        {
            format!("-keys {keys}")
        }
        _ => return None,
    })
}

fn operator(o: &Outcome, x: &mut Xml, stage: usize, index: usize, op: &PhysOp, inputs: &mut usize) {
    let native = matches!(
        op.kind,
        Kind::Get
            | Kind::Extract
            | Kind::Output
            | Kind::Union
            | Kind::Partition(Exchange::Gather | Exchange::Broadcast)
    );
    let mut attrs = vec![
        a("id", &op.id),
        a("uid", op.uid),
        a(
            "assemblyName",
            if native {
                "ScopeRuntime.exe"
            } else {
                "__ScopeCodeGen__.dll"
            },
        ),
        a("className", class_name(o, op)),
    ];
    if let Some(args) = arguments(o, op) {
        attrs.push(a("args", args));
    }
    if !matches!(op.kind, Kind::Partition(_)) {
        attrs.push(a(
            "signature",
            format!("{}!{}!Strict", signature(o, op), op.group.0),
        ));
    }
    attrs.push(a("file", &o.script.file));
    attrs.push(a("line", o.script.lines[op.node].0.max(1)));
    x.open("operator", &attrs);
    for source in &op.sources {
        input(o, x, stage, op, *source, inputs);
    }
    output(o, x, stage, index, op);
    x.close("operator");
}

/// First part of the signature, repeated in the optimizer's plan.
pub(crate) fn signature(o: &Outcome, op: &PhysOp) -> u64 {
    mix(hash_text(o.spec.seed, &op.id))
}

fn input(o: &Outcome, x: &mut Xml, stage: usize, op: &PhysOp, source: Source, inputs: &mut usize) {
    match source {
        Source::Op(i) => {
            let from = &o.physical.stages[stage].ops[i];
            x.leaf(
                "input",
                &vec![
                    a("id", data_name(from)),
                    a("uid", from.out_uid),
                    a("schema", from.schema()),
                ],
            );
        }
        Source::Table(t) => {
            let schema = schema(&o.spec.tables[t].columns);
            let attrs = vec![
                a("id", &op.id),
                a("uid", op.uid),
                a("schema", schema),
                a("inputIndex", *inputs),
                a("numberOfInputs", "ALL"),
                a("useInputDataName", "true"),
            ];
            *inputs += 1;
            x.leaf("input", &attrs);
        }
        Source::Channel(c) => {
            let channel = &o.physical.channels[c];
            let from = &o.physical.stages[channel.from_stage].ops[channel.from_op];
            let attrs = vec![
                a("id", channel_name(o, c)),
                a("uid", from.out_uid),
                a("schema", from.schema()),
                a("inputIndex", *inputs),
                a(
                    "numberOfInputs",
                    o.physical.stages[channel.from_stage].vertices,
                ),
            ];
            *inputs += 1;
            x.leaf("input", &attrs);
        }
    }
}

fn data_name(op: &PhysOp) -> String {
    format!("{}_Data0", op.id)
}

/// Operators that write out of a stage, by index.
pub(crate) fn writers(stage: &Stage) -> Vec<usize> {
    (0..stage.ops.len())
        .filter(|&i| matches!(stage.ops[i].kind, Kind::Partition(_) | Kind::Output))
        .collect()
}

/// Name of a channel: its stage and its position among the outputs.
pub(crate) fn channel_name(o: &Outcome, channel: usize) -> String {
    let c = &o.physical.channels[channel];
    output_name(&o.physical.stages[c.from_stage], c.from_op)
}

fn output_name(stage: &Stage, op: usize) -> String {
    let place = writers(stage).iter().position(|&w| w == op).unwrap_or(0);
    format!("{}_out{place}", stage.name)
}

fn output(o: &Outcome, x: &mut Xml, stage: usize, index: usize, op: &PhysOp) {
    let s = &o.physical.stages[stage];
    let mut attrs = match op.kind {
        Kind::Partition(_) | Kind::Output => {
            let place = writers(s).iter().position(|&w| w == index).unwrap_or(0);
            let count = op.channel.map_or(1, |c| match o.physical.channels[c].kind {
                Exchange::Hash => o.physical.channels[c].count,
                _ => 1,
            });
            vec![
                a("id", output_name(s, index)),
                a("uid", op.out_uid),
                a("schema", op.schema()),
                a("outputIndex", place),
                a("numberOfOutputs", count),
            ]
        }
        _ => vec![
            a("id", data_name(op)),
            a("uid", op.out_uid),
            a("schema", op.schema()),
        ],
    };
    if op.kind == Kind::Output {
        attrs.push(a("finalOutput", "true"));
    }
    x.leaf("output", &attrs);
}
