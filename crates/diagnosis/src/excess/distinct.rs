//! Several distinct counts in one aggregation: Spark copies each row once for every count, and once for the other functions.

use std::collections::BTreeMap;

use job::model::{Application, SparkNode};
use report::format::{Number, ROW, TIME};
use report::{Cause, text};

use super::shares::{TASKS, shares};
use super::{Excess, Unclaimed, stages_named};
use crate::facts::fact;
use crate::measurements::plan_parts::{input_of, rows_from};

/// Metric of the rows that an expansion writes, in evidence.
pub const EXPANDED: &str = "rows copied for distinct counts";

/// Column that tells the copies apart; the copies of `GROUPING SETS` and `CUBE` have `spark_grouping_id`.
const COPY: &str = " gid#";

/// Fewest copies of a row that matter.
const MIN_COPIES: f64 = 3.0;

/// Copies that approximate counts would cost at most: they need no copy, but keep a sketch for each group.
const APPROXIMATE: f64 = 2.0;

struct Expansion<'a> {
    node: &'a SparkNode,
    rows: f64,
    copies: f64,
    line: u64,
}

pub(super) fn excess(unclaimed: &Unclaimed<'_>) -> Option<Excess> {
    let view = unclaimed.view;
    let app = view.job.spark.as_deref()?;
    let of_stage = expansions(app);
    let share = |stage: usize, _| Some(1.0 - APPROXIMATE / of_stage.get(&stage)?.copies);
    let shares = shares(unclaimed, &TASKS[1..], share)?;
    let worst = of_stage.get(&shares.worst.0)?;
    let summary = text!(
        "{names} 为多个 count(distinct) 把每行复制 {copies}；这些副本多用 {time}",
        "{names} copy each row {copies} for several count(distinct); the copies take {time}",
        names = stages_named(view, &shares.stages),
        copies = TIME.count(worst.copies.round()),
        time = shares.seconds(),
    );
    let source = app.at_line(worst.line);
    let evidence = fact! { view, EXPANDED, worst.node.metric("number of output rows")?, "count", source;
    "Expand 把 {rows}变成 {all}", "Expand turns {rows} into {all}", rows = ROW.count(worst.rows), all = Number(worst.rows * worst.copies) };
    Some(Excess {
        method: "time with the copied rows, less the share of two copies",
        ..shares.excess(Cause::CostlyExpression, summary, [evidence], 0.7)
    })
}

/// The expansions of distinct counts, by the stages that handle their copies.
fn expansions(app: &Application) -> BTreeMap<usize, Expansion<'_>> {
    let mut of_stage = BTreeMap::new();
    for execution in &app.executions {
        let plan = execution.plan.as_slice();
        let nodes = plan.iter().enumerate();
        for (at, node) in nodes.filter(|(_, n)| n.name.trim() == "Expand") {
            let rows = input_of(plan, at).and_then(|below| rows_from(plan, below));
            let Some((rows, copied)) = rows.zip(node.metric("number of output rows")) else {
                continue;
            };
            let copies = copied / rows.max(1.0);
            let with_copies = plan[..at].iter().filter(|n| n.text.contains(COPY));
            let with_copies: Vec<&SparkNode> = with_copies.collect();
            if with_copies.is_empty() || copies < MIN_COPIES {
                continue;
            }
            for stage in with_copies
                .into_iter()
                .chain([node])
                .flat_map(|n| &n.stages)
            {
                let line = execution.line;
                of_stage.entry(*stage).or_insert(Expansion {
                    node,
                    rows,
                    copies,
                    line,
                });
            }
        }
    }
    of_stage
}
