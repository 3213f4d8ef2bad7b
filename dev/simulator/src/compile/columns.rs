//! Column pruning: unused columns are not read.

use crate::plan::{Op, Spec};
use std::collections::BTreeSet;

/// Columns used downstream, for every node.
pub(super) fn needed_columns(spec: &Spec) -> Vec<BTreeSet<String>> {
    let mut needed = vec![BTreeSet::<String>::new(); spec.nodes.len()];
    for node in (0..spec.nodes.len()).rev() {
        let mine = needed[node].clone();
        match &spec.nodes[node].op {
            Op::Read { .. } => {}
            Op::Select {
                input,
                items,
                filters,
            } => {
                for item in items.iter().filter(|i| mine.contains(&i.name)) {
                    match &item.expr {
                        None => drop(needed[*input].insert(item.name.clone())),
                        Some(e) => needed[*input].extend(e.uses.iter().cloned()),
                    }
                }
                needed[*input].extend(filters.iter().flat_map(|f| f.uses.iter().cloned()));
            }
            Op::Join {
                left,
                right,
                keys,
                items,
                ..
            } => {
                for (of_right, name) in items.iter().filter(|i| mine.contains(&i.1)) {
                    needed[if *of_right { *right } else { *left }].insert(name.clone());
                }
                needed[*left].insert(keys.0.clone());
                needed[*right].insert(keys.1.clone());
            }
            Op::Group { input, keys, aggs } => {
                needed[*input].extend(keys.iter().cloned());
                needed[*input].extend(aggs.iter().filter(|a| !a.1.is_empty()).map(|a| a.1.clone()));
            }
            Op::Reduce { input, .. } | Op::Process { input, .. } => {
                let all = spec.columns(*input).into_iter().map(|c| c.name);
                needed[*input].extend(all);
            }
            Op::Union { inputs } => inputs
                .iter()
                .for_each(|&i| needed[i].extend(mine.iter().cloned())),
            Op::Output { input, order, .. } => {
                needed[*input].extend(spec.columns(*input).into_iter().map(|c| c.name));
                needed[*input].extend(order.iter().cloned());
            }
        }
    }
    needed
}
