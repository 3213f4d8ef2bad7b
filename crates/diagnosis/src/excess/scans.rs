//! Partitions of a table that are read although a filter drops most of their rows.

use job::model::{Application, SparkNode};
use report::{Cause, SegmentKind, text};

use super::{Excess, Unclaimed};
use crate::measurements::tasks::scans_of;
use crate::view::View;
use report::format::{Number, Share};

/// Share of the rows from which a filter shows that other partitions need not be read.
pub(super) const MOSTLY_DROPPED: f64 = 0.5;

pub(super) fn excess(unclaimed: &Unclaimed<'_>) -> Option<Excess> {
    let view = unclaimed.view;
    let app = view.job.spark.as_deref()?;
    let kinds = [SegmentKind::Read, SegmentKind::Compute];
    let of_stages = unclaimed.by_stage(&kinds).into_iter();
    let scanned = of_stages.filter_map(|(stage, parts)| {
        let (scan, kept) = unfiltered(view, app, stage)?;
        Some((stage, parts, scan, 1.0 - kept))
    });
    let taken = |parts: &[(usize, f64)], dropped: f64| -> f64 {
        parts.iter().map(|(_, s)| s * dropped).sum()
    };
    let (stage, parts, scan, dropped) =
        scanned.max_by(|a, b| taken(&a.1, a.3).total_cmp(&taken(&b.1, b.3)))?;
    let partitions = scan.metric("number of partitions read")?;
    let (count, share) = (Number(partitions), Share(dropped));
    let sentence = text!(
        "{stage} 读取了表的全部 {count} 个分区，之后的过滤去掉 {share} 的行；扫描没有分区过滤条件",
        "{stage} reads all {count} partitions of a table, and a filter then drops {share} of the rows; the scan has no partition filter",
        stage = view.name(stage),
        count = count,
        share = share,
    );
    let source = job::model::Source {
        file: app.file.clone(),
        locator: Some(format!(
            "{}/{}[{}]/number of partitions read",
            view.name(stage),
            scan.name.trim(),
            scan.uid
        )),
    };
    let evidence = view.number(
        "number of partitions read",
        partitions,
        "count",
        source,
        sentence.clone(),
    );
    Some(Excess {
        cause: Cause::ScanWithoutFilter,
        parts: parts.into_iter().map(|(at, s)| (at, s * dropped)).collect(),
        stages: vec![stage],
        summary: sentence,
        evidence: vec![evidence],
        certainty: 0.75,
        method: "time of the scan, less the share of its rows that a filter drops",
    })
}

/// A scan of a partitioned table without a filter on its partitions, and the share of its rows that the next filter keeps.
fn unfiltered<'a>(
    view: &View<'a>,
    app: &'a Application,
    stage: usize,
) -> Option<(&'a SparkNode, f64)> {
    let plan = app.executions.get(app.stages[stage].execution?)?;
    scans_of(view, stage).find_map(|scanned| {
        let scan = scanned.node;
        let filters = scan
            .metadata
            .get("PartitionFilters")
            .map_or("[]", |f| f.trim());
        scan.metric("number of partitions read")
            .filter(|_| filters == "[]")?;
        let rows = scan.metric("number of output rows")?;
        let mut at = scan.parent;
        while let Some(node) = at.and_then(|at| plan.plan.get(at)) {
            if node.name.trim() == "Filter" {
                let kept = node.metric("number of output rows")? / rows.max(1.0);
                return (kept <= MOSTLY_DROPPED).then_some((scan, kept));
            }
            at = node.parent;
        }
        None
    })
}
