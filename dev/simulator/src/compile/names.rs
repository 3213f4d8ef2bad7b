//! Names of stages, operators and channels.

use crate::physical::{Exchange, Kind, PhysOp, Physical, Stage};

/// Names stages and numbers operators, channels and plan groups.
pub(super) fn identify(physical: &mut Physical) {
    let order = topological(physical);
    let (mut number, mut uid, mut serial) = (0, 0, 0);
    for stage in order {
        serial += 1;
        let name = stage_name(&physical.stages[stage], serial);
        let s = &mut physical.stages[stage];
        s.name = name;
        for op in &mut s.ops {
            uid += 1;
            op.uid = uid;
            if op.kind != Kind::Output {
                uid += 1;
            }
            op.out_uid = uid;
            op.id = format!("{}_{number}", op_prefix(op));
            op.group = (number, 1 + number % 4);
            number += 1;
        }
    }
    // Files list stages by number.
    let position = |s: &Stage| {
        s.name[2..]
            .split('_')
            .next()
            .and_then(|n| n.parse::<usize>().ok())
            .unwrap_or(usize::MAX)
    };
    let mut index: Vec<usize> = (0..physical.stages.len()).collect();
    index.sort_by_key(|&i| {
        if physical.stages[i].dead {
            usize::MAX
        } else {
            position(&physical.stages[i])
        }
    });
    let mut map = vec![0; index.len()];
    for (new, &old) in index.iter().enumerate() {
        map[old] = new;
    }
    physical.stages = index.iter().map(|&i| physical.stages[i].clone()).collect();
    for c in &mut physical.channels {
        c.from_stage = map[c.from_stage];
        c.to_stage = map[c.to_stage];
    }
    physical.stages.retain(|s| !s.dead);
}

/// Orders stages after their inputs.
fn topological(physical: &Physical) -> Vec<usize> {
    let mut out: Vec<usize> = Vec::new();
    let live: Vec<usize> = physical.live().map(|(i, _)| i).collect();
    while out.len() < live.len() {
        let next = live
            .iter()
            .find(|&&s| !out.contains(&s) && physical.parents(s).iter().all(|p| out.contains(p)));
        match next {
            Some(&s) => out.push(s),
            None => break,
        }
    }
    out
}

fn op_prefix(op: &PhysOp) -> &'static str {
    match op.kind {
        Kind::Get => "GetSStream",
        Kind::Extract => "Extract",
        Kind::MergeJoin => "Join",
        Kind::HashJoin => "HashJoin",
        Kind::PartialAggregate => "PartialAggregate",
        Kind::Aggregate => "Aggregate",
        Kind::Reduce => "Reduce",
        Kind::Partition(Exchange::Hash) => "Partition",
        Kind::Partition(_) => "Split",
        Kind::Union => "Concatenate",
        Kind::Output => "SStreamOutput",
        Kind::Filter | Kind::ManagedFilter | Kind::Sort | Kind::Process => "Process",
    }
}

fn stage_name(stage: &Stage, serial: usize) -> String {
    let mut name = format!("SV{serial}");
    let has = |kinds: &[Kind]| stage.ops.iter().any(|o| kinds.contains(&o.kind));
    let parts: [(&[Kind], &str); 5] = [
        (&[Kind::Get, Kind::Extract], "Extract"),
        (&[Kind::Aggregate], "Aggregate"),
        (&[Kind::MergeJoin, Kind::HashJoin], "Combine"),
        (&[Kind::Reduce], "Reduce"),
        (&[Kind::Partition(Exchange::Hash)], "Split"),
    ];
    for (kinds, part) in parts {
        if has(kinds) {
            name.push('_');
            name.push_str(part);
        }
    }
    if !name.contains('_') {
        name.push_str("_Process");
    }
    name
}
