//! `__ScopeInternalInfo__.xml` (U-SQL: `__SystemInternalInfo__.xml`): the optimizer's trees with its estimates.

use super::xml::{Attrs, Xml, a};
use crate::outcome::Outcome;
use crate::physical::{Exchange, Kind, PhysOp, Source};
use crate::plan::{Hint, JoinKind, NodeId, Op};
use crate::rng::{hash_text, mix};
use std::collections::BTreeSet;

/// Writes the file.
pub(crate) fn write(o: &Outcome) -> String {
    let mut x = Xml::new(true);
    x.open("CSSRelatedInfo", &Vec::new());
    x.open("OptimizerPlanInfo", &vec![a("signatureVersion", 1)]);
    features(o, &mut x);
    costs(o, &mut x);
    x.open("OptimizerTrees", &Vec::new());
    x.open("InputTree", &Vec::new());
    let outputs: Vec<NodeId> = (0..o.spec.nodes.len())
        .filter(|&n| matches!(o.spec.nodes[n].op, Op::Output { .. }))
        .collect();
    let several = outputs.len() > 1;
    if several {
        x.open("LogOp", &vec![a("Id", "LogOp_Sequence")]);
    }
    for &n in &outputs {
        logical(o, &mut x, n);
    }
    if several {
        x.close("LogOp");
    }
    x.close("InputTree");
    x.open("OutputTree", &Vec::new());
    if several {
        x.open("PhyOp", &vec![a("Id", "PhyOp_Sequence")]);
    }
    let mut seen = BTreeSet::new();
    for (s, stage) in o.physical.live() {
        for i in (0..stage.ops.len()).filter(|&i| stage.ops[i].kind == Kind::Output) {
            physical(o, &mut x, s, i, &mut seen);
        }
    }
    if several {
        x.close("PhyOp");
    }
    x.close("OutputTree");
    x.close("OptimizerTrees");
    x.close("OptimizerPlanInfo");
    counters(o, &mut x);
    x.close("CSSRelatedInfo");
    x.text
}

/// `%g` with six digits, as the optimizer prints its numbers.
pub(crate) fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let exponent = libm::floor(libm::log10(value.abs())) as i32;
    if !(-5..6).contains(&exponent) {
        let mantissa = value / libm::pow(10.0, f64::from(exponent));
        let digits = trim(&format!("{mantissa:.5}"));
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    trim(&format!("{value:.*}", (5 - exponent).max(0) as usize))
}

fn trim(text: &str) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text.to_owned()
    }
}

fn features(o: &Outcome, x: &mut Xml) {
    let count = |test: fn(&Op) -> bool| o.spec.nodes.iter().filter(|n| test(&n.op)).count();
    let list: [(&str, usize); 12] = [
        ("TableScan", 0),
        ("PartitionSeek", 0),
        ("PartitionRange", 0),
        ("IndexSeek", 0),
        ("IndexRange", o.spec.tables.len()),
        ("Join", count(|op| matches!(op, Op::Join { .. }))),
        ("GroupByAgg", count(|op| matches!(op, Op::Group { .. }))),
        ("UDProcessor", count(|op| matches!(op, Op::Process { .. }))),
        ("UDReducer", count(|op| matches!(op, Op::Reduce { .. }))),
        ("UDCombiner", 0),
        ("UDMultiProcessor", 0),
        ("Top", 0),
    ];
    for (name, n) in list {
        x.leaf(
            name,
            &vec![
                a("present", if n > 0 { "True" } else { "False" }),
                a("occurrence", n),
            ],
        );
    }
}

fn costs(o: &Outcome, x: &mut Xml) {
    let rows: f64 = o.spec.tables.iter().map(|t| t.rows * t.believed).sum();
    let bytes: f64 = o.spec.tables.iter().map(|t| t.bytes() * t.believed).sum();
    let moved: f64 = o
        .physical
        .channels
        .iter()
        .map(|c| {
            let op = &o.physical.stages[c.from_stage].ops[c.from_op];
            op.estimate * c.width
        })
        .sum();
    let edges: usize = o
        .physical
        .channels
        .iter()
        .map(|c| o.physical.stages[c.from_stage].vertices * c.count)
        .sum();
    x.open("Costs", &Vec::new());
    x.value("ExtractCardinality", &format!("{rows:.0}"));
    x.value("InputSize", &format!("{bytes:.0}"));
    x.value("NumTable", &o.spec.tables.len().to_string());
    x.value("DataTransferVolume", &format!("{moved:.0}"));
    x.value("Latency", "-1");
    x.value("TotalCost", "-1");
    x.value("EstimatedNumEdges", &edges.to_string());
    x.close("Costs");
}

/// Estimated rows of a node: the rows of its last operator.
fn estimate(o: &Outcome, node: NodeId) -> (f64, f64) {
    let mut found = None;
    for (_, stage) in o.physical.live() {
        for op in stage.ops.iter().filter(|op| {
            op.node == node && !matches!(op.kind, Kind::Partition(_) | Kind::PartialAggregate)
        }) {
            found = Some((op.estimate, op.believed_width()));
        }
    }
    found.unwrap_or_else(|| {
        o.spec
            .inputs(node)
            .first()
            .map_or((1.0, 8.0), |&n| estimate(o, n))
    })
}

fn logical(o: &Outcome, x: &mut Xml, node: NodeId) {
    let mut attrs: Attrs = Vec::new();
    let id = match &o.spec.nodes[node].op {
        Op::Read { table } => {
            attrs.push(a("Table", &o.spec.tables[*table].path));
            attrs.push(a("XMode", "Parallel"));
            "LogOp_Get"
        }
        Op::Select { filters, .. } if filters.is_empty() => "LogOp_Project",
        Op::Select { .. } => "LogOp_Select",
        Op::Join {
            kind: JoinKind::Inner,
            ..
        } => "LogOp_Join",
        Op::Join { .. } => "LogOp_LeftOuterJoin",
        Op::Group { keys, .. } => {
            attrs.push(a("AggregateType", "Normal"));
            attrs.push(a("By", keys.join(",")));
            "LogOp_GbAgg"
        }
        Op::Reduce { key, udo, .. } => {
            attrs.push(a("On", key));
            attrs.push(a("Udf", &udo.class));
            "LogOp_Reduce"
        }
        Op::Process { udo, .. } => {
            attrs.push(a("Udf", &udo.class));
            "LogOp_Process"
        }
        Op::Union { .. } => "LogOp_UnionAll",
        Op::Output { file, order, .. } => {
            attrs.push(a("Table", file));
            if let Some(key) = order {
                attrs.push(a("SortColumn", format!("{key} ASC")));
            }
            "LogOp_Output"
        }
    };
    attrs.insert(0, a("Id", id));
    x.open("LogOp", &attrs);
    let (rows, width) = estimate(o, node);
    x.open("OpInfo", &Vec::new());
    x.leaf(
        "TableGroupProperties",
        &vec![
            a("Grp", format!("{node}.0")),
            a("Remotable", "False"),
            a("Card", short(rows)),
            a("AvgRowLength", format!("{width:.0}")),
        ],
    );
    x.close("OpInfo");
    for input in o.spec.inputs(node) {
        logical(o, x, input);
    }
    x.close("LogOp");
}

fn info(o: &Outcome, x: &mut Xml, op: &PhysOp, skew: f64) {
    let ht = mix(hash_text(o.spec.seed ^ 5, &op.id));
    x.open("OpInfo", &Vec::new());
    x.leaf(
        "TableGroupProperties",
        &vec![
            a("Grp", format!("{}.{}", op.group.0, op.group.1)),
            a("Remotable", "False"),
            a("Card", short(op.estimate)),
            a("AvgRowLength", format!("{:.0}", op.believed_width())),
            a("PrtnSkewFactor", short(skew)),
            a("HT", format!("{ht}:{}::{}", ht % 200, op.sources.len())),
            a("HTS", super::vertex_def::signature(o, op)),
        ],
    );
    let cost = short(op.estimate * op.width() / 4e6 + 5.0);
    x.leaf(
        "Costs",
        &vec![
            a("TotalCosts", &cost),
            a("BubbleCost", &cost),
            a("BubblePartitions", 250),
        ],
    );
    x.close("OpInfo");
}

fn physical(
    o: &Outcome,
    x: &mut Xml,
    stage: usize,
    index: usize,
    seen: &mut BTreeSet<(usize, usize)>,
) {
    let op = &o.physical.stages[stage].ops[index];
    if !matches!(op.kind, Kind::Partition(_)) && !seen.insert((stage, index)) {
        let group = format!("{}.{}", op.group.0, op.group.1);
        x.open(
            "PhyOp",
            &vec![a("Id", "PhyOp_SpoolRead"), a("SpoolGrp", group)],
        );
        info(o, x, op, 1.0);
        x.close("PhyOp");
        return;
    }
    let mut attrs = attributes(o, op);
    if let Some(rows) = hinted(o, op) {
        attrs.push(a("RowCountHint", rows));
    }
    x.open("PhyOp", &attrs);
    info(o, x, op, skew_factor(op));
    for source in &op.sources {
        match source {
            Source::Op(i) => physical(o, x, stage, *i, seen),
            Source::Channel(c) => {
                let c = &o.physical.channels[*c];
                physical(o, x, c.from_stage, c.from_op, seen);
            }
            Source::Table(_) => {}
        }
    }
    x.close("PhyOp");
}

fn skew_factor(op: &PhysOp) -> f64 {
    if !matches!(op.kind, Kind::Get | Kind::Extract) {
        return 1.0;
    }
    let mean = op.total() / op.rows.len() as f64;
    op.rows.iter().copied().fold(0.0, f64::max) / mean.max(1.0)
}

fn hinted(o: &Outcome, op: &PhysOp) -> Option<String> {
    let rows = o.spec.nodes[op.node].hints.iter().find_map(|h| match h {
        Hint::RowCount(n) => Some(*n),
        _ => None,
    })?;
    (op.estimate == rows && !matches!(op.kind, Kind::Partition(_))).then(|| format!("{rows:.0}"))
}

fn ascending(keys: &[String]) -> String {
    keys.iter()
        .map(|k| format!("{k} ASC"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn attributes(o: &Outcome, op: &PhysOp) -> Attrs {
    let node = &o.spec.nodes[op.node].op;
    let mut out = vec![];
    let id = match op.kind {
        Kind::Get | Kind::Extract => {
            read_attributes(o, op, &mut out);
            if op.kind == Kind::Get {
                "PhyOp_Range"
            } else {
                "PhyOp_Extract"
            }
        }
        Kind::Filter | Kind::ManagedFilter => {
            if let Op::Select { filters, .. } = node {
                let all: Vec<&str> = filters.iter().map(|f| f.text.as_str()).collect();
                out.push(a("Predicate", all.join(" && ")));
                if filters.is_empty() {
                    "PhyOp_ComputeScalar"
                } else {
                    "PhyOp_Filter"
                }
            } else {
                "PhyOp_Filter"
            }
        }
        Kind::Sort => {
            out.push(a("SortColumn", ascending(&op.keys)));
            "PhyOp_Sort"
        }
        Kind::MergeJoin | Kind::HashJoin => {
            if let Op::Join { keys, kind, .. } = node {
                let broadcast = op.kind == Kind::HashJoin;
                let join = if *kind == JoinKind::Inner {
                    "x_jtInner"
                } else {
                    "x_jtLeftOuter"
                };
                out.push(a("JoinType", join));
                out.push(a(
                    "ParallelJoinType",
                    if broadcast { "BroadcastRight" } else { "Pair" },
                ));
                out.push(a("LeftKey", format!("{} ASC", keys.0)));
                out.push(a("RightKey", format!("{} ASC", keys.1)));
            }
            if op.kind == Kind::MergeJoin {
                "PhyOp_MergeJoin"
            } else {
                "PhyOp_HashJoin"
            }
        }
        Kind::PartialAggregate => {
            out.push(a("AggregateType", "Local"));
            out.push(a("By", op.keys.join(",")));
            "PhyOp_HashGbAgg"
        }
        Kind::Aggregate => {
            out.push(a("AggregateType", "Global"));
            out.push(a("GroupOnly", "False"));
            out.push(a("On", ascending(&op.keys)));
            if let Op::Group { aggs, .. } = node
                && aggs.iter().any(|g| g.0 == "COUNTD")
            {
                out.push(a("Distinct", "True"));
            }
            "PhyOp_StreamGbAgg"
        }
        Kind::Reduce | Kind::Process => {
            if let Op::Reduce { udo, .. } | Op::Process { udo, .. } = node {
                out.push(a("Udf", &udo.class));
            }
            if op.kind == Kind::Reduce {
                out.push(a("On", ascending(&op.keys)));
                "PhyOp_Reduce"
            } else {
                "PhyOp_Process"
            }
        }
        Kind::Union => "PhyOp_UnionAll",
        Kind::Partition(exchange) => {
            exchange_attributes(o, op, exchange, &mut out);
            "PhyOp_Exchange"
        }
        Kind::Output => {
            if let Op::Output { file, .. } = node {
                out.push(a("Table", file));
            }
            let columns: Vec<&str> = op.columns.iter().map(|c| c.name.as_str()).collect();
            out.push(a("XMode", "Parallel"));
            out.push(a("Out", columns.join(",")));
            "PhyOp_Output"
        }
    };
    out.insert(0, a("Id", id));
    out
}

fn read_attributes(o: &Outcome, op: &PhysOp, out: &mut Attrs) {
    let Some(Source::Table(t)) = op.sources.first() else {
        return;
    };
    let table = &o.spec.tables[*t];
    let c = &table.clustering;
    let kind = match c.kind {
        "hash" => "Hash",
        "range" => "Range",
        _ => "Nil",
    };
    out.push(a("Table", &table.path));
    out.push(a("XMode", "Parallel"));
    out.push(a("PartitionType", kind));
    out.push(a("Partitioning", c.keys.join(",")));
    let count = op.rows.len();
    out.push(a(
        "Partitions",
        if c.partitions > 0 {
            count.to_string()
        } else {
            format!("{count}(EST)")
        },
    ));
    if c.partitions > 0 {
        out.push(a("SortColumn", ascending(&c.keys)));
    }
}

fn exchange_attributes(o: &Outcome, op: &PhysOp, exchange: Exchange, out: &mut Attrs) {
    let count = op.channel.map_or(1, |c| o.physical.channels[c].count);
    let (name, partition, mode) = match exchange {
        Exchange::Hash => ("Repartition", "Hash", "Parallel"),
        Exchange::Gather => ("Gather", "Serial", "Serial"),
        Exchange::Broadcast => ("Broadcast", "Broadcast", "All"),
    };
    out.push(a("ExchangeType", name));
    out.push(a("PartitionType", partition));
    out.push(a(
        "Partitioning",
        if exchange == Exchange::Broadcast {
            String::new()
        } else {
            op.keys.join(",")
        },
    ));
    out.push(a(
        "Partitions",
        if exchange == Exchange::Hash { count } else { 1 },
    ));
    out.push(a("XMode", mode));
}

fn counters(o: &Outcome, x: &mut Xml) {
    x.open("ScopeCounters", &Vec::new());
    let total = o.ids.compile_s;
    for (name, share) in [
        ("Overall", 1.0),
        ("FrontEndRun", 0.2),
        ("Optimizer", 0.17),
        ("CodeCompiling", 0.3),
        ("EstimateMemorySize", 0.0001),
    ] {
        x.leaf(
            "Counter",
            &vec![
                a("Name", name),
                a("Value", short(total * share)),
                a("Unit", "second"),
                a("Intervals", 1),
            ],
        );
    }
    x.close("ScopeCounters");
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn six_digits() {
        assert_eq!(short(1_047_020.0), "1.04702e+06");
        assert_eq!(short(142_378.0), "142378");
        assert_eq!(short(12.5), "12.5");
        assert_eq!(short(10.7719), "10.7719");
        assert_eq!(short(0.0), "0");
    }
}
