//! Rule for `memory.spill`: sorts or hash tables that go to disk.
//!
//! The cost is the time of the spilling operators minus what the same rows take in memory, by the
//! pace of this job's own sorts that did not spill.

use job::facts::value;
use job::info::Information;

use super::support::{Symptom, both};
use crate::impact::scale_run;
use crate::measurements::sizing::too_few;
use crate::measurements::spill::{MIN_SLOWDOWN, ms, surplus_ms};
use crate::rule::{About, Examination, Rule};
use crate::view::View;
use report::format::{Bytes, Seconds};
use report::{Cause, text};

/// The rule.
pub(crate) struct Spill;

static ABOUT: About = About {
    cause: Cause::Spill,
    what: both(
        "排序或哈希表溢出到磁盘",
        "sorts or hash tables spill to disk",
    ),
    needs: &[Information::RuntimeCounters, Information::StageGraph],
    helps: &[Information::MemoryEstimate, Information::StageStatistics],
    thresholds: &[&MIN_SLOWDOWN],
    counter_evidence: &[
        both(
            "输入倾斜：只有热点顶点溢出",
            "skewed input: only the hot vertex spills",
        ),
        both(
            "分区太少或估计错误：溢出只是后果",
            "too few partitions or a wrong estimate: spilling follows from it",
        ),
        both(
            "溢出很轻，几乎不花时间",
            "light spilling that costs next to nothing",
        ),
    ],
};

impl Rule for Spill {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn examine(&self, view: &View<'_>) -> Examination {
        let mut result = Examination::default();
        for stage in 0..view.job.stages.len() {
            if let Some(symptom) = spilling(view, stage) {
                result.found(view, symptom);
            }
        }
        // Without counters, more temporary data than output still shows it.
        for (index, stage) in view
            .job
            .stages
            .iter()
            .enumerate()
            .filter(|(at, _)| view.facts[*at].counted.is_none())
        {
            if let Some((temp, written)) = excess_temp(view, index) {
                let reason = text!(
                    "{stage} 的临时数据（{size}）多于其输出（{size_2}），但没有计数器说明溢出的代价",
                    "{stage} wrote {size} of temporary data for {size_2} of output; without counters the cost of spilling is unknown",
                    stage = stage.name,
                    size = Bytes(temp),
                    size_2 = Bytes(written)
                );
                result.lacks(Information::MemoryUse, view, Some(index), reason);
            }
        }
        result.cleared_by(text!(
            "没有算子溢出到磁盘，或溢出由倾斜、分区过少引起",
            "no operator spills, or spilling follows from skew or too few partitions"
        ))
    }
}

/// Temporary and output bytes of a stage, where there are more temporary ones.
fn excess_temp(view: &View<'_>, stage: usize) -> Option<(f64, f64)> {
    let stated = view.facts[stage].stated.as_ref()?;
    let (temp, written) = (value(&stated.temp_written)?, value(&stated.bytes_written)?);
    (temp > written * 1.5).then_some((temp, written))
}

fn spilling(view: &View<'_>, stage: usize) -> Option<Symptom> {
    let surplus = surplus_ms(view, stage);
    // Vertices with far too much data each spill because they are too few.
    if surplus <= 0.0 || view.is_uneven(stage) || too_few(view, stage, false).is_some() {
        return None;
    }
    let counted = view.facts[stage].operators.iter();
    let node = counted
        .filter(|o| o.has_spilled())
        .max_by(|a, b| ms(a).total_cmp(&ms(b)))?;
    let fraction = view.fraction(stage, surplus);
    let operator = view.job.stages[stage]
        .operators
        .iter()
        .position(|o| o.uid.is_some() && o.uid == node.uid);
    let mut evidence = Vec::new();
    evidence.extend(
        view.measured(&node.spilled, "buckets")
            .map(|f| f.expecting("0")),
    );
    evidence.extend(view.measured(&node.own_ms, "ms"));
    evidence.extend(view.measured(&node.rows, "rows"));
    let slow = ms(node) / (ms(node) - surplus).max(1.0);
    Some(Symptom {
        cause: Cause::Spill,
        stage: Some(stage),
        lines: operator.and_then(|o| view.lines(stage, o)),
        summary: text!(
            "{stage} 的 {node} 溢出到磁盘，耗时 {time}，是内存中排序的 {slow:.1} 倍",
            "{node} in {stage} spills to disk: {time} of work, {slow:.1} times what it takes in memory",
            stage = view.name(stage),
            node = &*node.name,
            time = Seconds(ms(node) / 1000.0)
        ),
        evidence,
        saved: view.saved(move |stages| scale_run(&mut stages[stage], 1.0 - fraction)),
        method: "schedule replayed with the spilling operators at their pace in memory",
        strength: 0.5 + 0.5 * (surplus / ms(node).max(1.0)).min(1.0),
    })
}
