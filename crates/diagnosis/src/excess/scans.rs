//! Reading all partitions or row groups of a table, with a filter that then drops most of their rows.

use jiff::Timestamp;
use job::model::{Application, SparkNode};
use report::{Cause, SegmentKind, Text, text};

use super::late::MOSTLY_DROPPED;
use super::{Excess, Unclaimed};
use crate::facts::at;
use crate::measurements::plan_parts::conjuncts;
use crate::measurements::tasks::scans_of;
use crate::view::View;
use report::format::{Number, Share};

pub(super) fn excess(unclaimed: &Unclaimed<'_>) -> Option<Excess> {
    let view = unclaimed.view;
    let app = view.job.spark.as_deref()?;
    let kinds = [SegmentKind::Read, SegmentKind::Compute];
    let of_stages = unclaimed.by_stage(&kinds).into_iter();
    let scanned = of_stages.filter_map(|(stage, parts)| {
        let found = unfiltered(view, app, stage)?;
        Some((stage, parts, found))
    });
    let taken = |parts: &[(usize, f64)], found: &Unfiltered<'_>| -> f64 {
        parts.iter().map(|(_, s)| s * (1.0 - found.kept)).sum()
    };
    let (stage, parts, found) =
        scanned.max_by(|a, b| taken(&a.1, &a.2).total_cmp(&taken(&b.1, &b.2)))?;
    let dropped = 1.0 - found.kept;
    let (metric, count, sentence) = found.said(view, stage)?;
    let scan = found.scan;
    let place = format!(
        "{}/{}[{}]/{metric}",
        view.name(stage),
        scan.name.trim(),
        scan.uid
    );
    let source = at(&app.file, place);
    let evidence = view.number(metric, count, "count", source, sentence.clone());
    Some(Excess {
        cause: Cause::ScanWithoutFilter,
        parts: parts.into_iter().map(|(at, s)| (at, s * dropped)).collect(),
        stages: vec![stage],
        summary: sentence,
        evidence: vec![evidence],
        certainty: match (found.hidden, found.days) {
            (None, None) => 0.75,
            _ => 0.6,
        },
        method: "time of the scan, less the share of its rows that a filter drops",
    })
}

/// A scan that reads rows which the next filter drops, although the layout of the table could have kept it from reading them.
struct Unfiltered<'a> {
    scan: &'a SparkNode,
    /// Share of the rows that the filter keeps.
    kept: f64,
    /// The condition that hides a range of a column from the statistics of the files; none if no partition is chosen.
    hidden: Option<&'a str>,
    /// Days that the filter selects, where the scan itself drops the other rows and does not count them.
    days: Option<f64>,
}

impl Unfiltered<'_> {
    /// A metric with its value, and a sentence with them.
    fn said(&self, view: &View<'_>, stage: usize) -> Option<(&'static str, f64, Text)> {
        let (name, share) = (view.name(stage), Share(1.0 - self.kept));
        if let Some(condition) = self.hidden {
            let metric = "number of output rows";
            let rows = self.scan.metric(metric)?;
            let sentence = text!(
                "{name} 读取了表的全部 {count} 行，之后的过滤 {condition} 去掉 {share}；条件是列的函数，扫描无法用文件的统计信息跳过数据",
                "{name} reads all {count} rows of a table, and the filter {condition} then drops {share} of them; it compares a function of the column, so the scan cannot skip data by the statistics of the files",
                count = Number(rows),
                share = share,
            );
            return Some((metric, rows, sentence));
        }
        let metric = "number of partitions read";
        let partitions = self.scan.metric(metric)?;
        if let Some(days) = self.days {
            let sentence = text!(
                "{name} 解析了表的全部 {count} 个分区，而过滤只要 {days} 天的行；扫描没有分区过滤条件",
                "{name} parses all {count} partitions of a table, and the filter selects the rows of {days} days; the scan has no partition filter",
                count = Number(partitions),
                days = Number(days),
            );
            return Some((metric, partitions, sentence));
        }
        let sentence = text!(
            "{name} 读取了表的全部 {count} 个分区，之后的过滤去掉 {share} 的行；扫描没有分区过滤条件",
            "{name} reads all {count} partitions of a table, and a filter then drops {share} of the rows; the scan has no partition filter",
            count = Number(partitions),
            share = share,
        );
        Some((metric, partitions, sentence))
    }
}

fn unfiltered<'a>(view: &View<'a>, app: &'a Application, stage: usize) -> Option<Unfiltered<'a>> {
    let plan = app.executions.get(app.stages[stage].execution?)?;
    scans_of(view, stage).find_map(|scanned| {
        let scan = scanned.node;
        let metadata = |name: &str| scan.metadata.get(name).map_or("[]", |f| f.trim());
        let is_whole = metadata("PartitionFilters") == "[]";
        let partitions = scan.metric("number of partitions read");
        let partitioned = partitions.is_some();
        let rows = scan.metric("number of output rows")?;
        let mut at = scan.parent;
        while let Some(node) = at.and_then(|at| plan.plan.get(at)) {
            if node.name.trim() == "Filter" {
                let kept = node.metric("number of output rows")? / rows.max(1.0);
                let has_statistics = matches!(metadata("Format"), "Parquet" | "ORC");
                let hidden = hidden_range(&node.text).filter(|_| has_statistics && !partitioned);
                let could_skip = is_whole && (partitioned || hidden.is_some());
                // a scan of text drops the rows itself, after it parsed them
                let is_text = matches!(metadata("Format"), "JSON" | "CSV");
                let days = partitions.filter(|_| is_text && kept > MOSTLY_DROPPED);
                let days = days.and_then(|partitions| Some((days_of(&node.text)?, partitions)));
                let kept = days.map_or(kept, |(days, partitions)| days / partitions.max(1.0));
                return (could_skip && kept <= MOSTLY_DROPPED).then_some(Unfiltered {
                    scan,
                    kept,
                    hidden,
                    days: days.map(|(days, _)| days),
                });
            }
            at = node.parent;
        }
        None
    })
}

/// Functions that keep the order of the dates that they take: a comparison of their result is a range of the column.
const OF_DATES: [&str; 7] = [
    "date_format(",
    "year(",
    "to_date(",
    "date_trunc(",
    "trunc(",
    "cast(",
    "gettimestamp(",
];

/// A condition of a filter that compares such a function of a column with a constant.
fn hidden_range(filter: &str) -> Option<&str> {
    let conditions = conjuncts(filter.strip_prefix("Filter ")?).into_iter();
    let mut hidden = conditions.filter(|condition| {
        let compared = condition.rsplit_once(" = ");
        let compared = compared.or_else(|| condition.rsplit_once(" IN "));
        let Some((function, constant)) = compared.filter(|(_, c)| !c.contains('#')) else {
            return false;
        };
        let function = function.trim_start_matches('(');
        let is_date = !function.starts_with("cast(") || function.contains(" as date)");
        let ordered = OF_DATES.iter().any(|f| function.starts_with(f)) && is_date;
        ordered && function.matches('#').count() == 1 && !constant.is_empty()
    });
    hidden.next()
}

/// Days between the bounds of a column of times in the condition of a filter.
fn days_of(filter: &str) -> Option<f64> {
    let bound = |condition: &str, operators: [&str; 2]| -> Option<(String, Timestamp)> {
        let (column, value) = operators.iter().find_map(|o| condition.split_once(o))?;
        let value = value.trim_end_matches(')').trim();
        let midnight = format!("{value}T00:00:00Z");
        let time = [format!("{value}Z"), midnight]
            .iter()
            .find_map(|t| t.parse().ok())?;
        Some((column.trim_start_matches('(').to_owned(), time))
    };
    let conditions = conjuncts(filter.strip_prefix("Filter ")?);
    let of = |operators| conditions.iter().filter_map(move |c| bound(c, operators));
    let mut ranges = of([" >= ", " > "]).filter_map(|(column, first)| {
        let (_, last) = of([" <= ", " < "]).find(|(other, _)| *other == column)?;
        Some(last.duration_since(first).as_secs_f64() / 86_400.0)
    });
    ranges.next().filter(|days| *days > 0.0).map(f64::ceil)
}

#[cfg(test)]
mod tests {
    use super::{days_of, hidden_range};

    #[test]
    fn days_between_two_bounds_of_a_column() {
        for (filter, days) in [
            (
                "Filter ((isnotnull(at#1) AND (at#1 >= 2024-05-25 00:00:00)) AND (at#1 < 2024-05-27 00:00:00))",
                Some(2.0),
            ),
            (
                "Filter ((at#1 > 2024-05-25) AND (at#1 <= 2024-05-26))",
                Some(1.0),
            ),
            (
                "Filter ((at#1 >= 2024-05-25) AND (other#2 < 2024-05-27))",
                None,
            ),
            ("Filter ((n#1 >= 5) AND (n#1 < 7))", None),
            ("Filter (at#1 >= 2024-05-25 00:00:00)", None),
        ] {
            assert_eq!(days_of(filter), days, "{filter}");
        }
    }

    #[test]
    fn a_function_of_a_date_hides_a_range_of_it() {
        for (filter, hidden) in [
            (
                "Filter (isnotnull(at#1) AND (date_format(at#1, yyyy-MM-dd, Some(UTC)) = 2024-03-05))",
                true,
            ),
            ("Filter (cast(at#1 as date) = 2024-03-05)", true),
            ("Filter (cast(name#1 as int) = 7)", false),
            ("Filter (year(at#1) = year(other#2))", false),
            ("Filter (at#1 >= 2024-03-05 00:00:00)", false),
            ("Filter ((year(at#1) = 2024) OR (kind#2 = a))", false),
        ] {
            assert_eq!(hidden_range(filter).is_some(), hidden, "{filter}");
        }
    }
}
